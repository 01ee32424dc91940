# SPDX-License-Identifier: Apache-2.0
import json

from equipoise.core.runs import RunFolder
from tests.apps.web.asking import wait_for


def make_run(path, *, rule, is_over=True):
    folder = RunFolder.create(path, "solve", {"game": "leduc", "rule": rule, "limits": {"iterations": 2}})
    with folder.writing():
        folder.record("begin", config={"game": "leduc", "rule": rule, "seed": 0})
        folder.record("progress", iteration=1, seconds=0.5, exploitability=0.4)
        folder.record("progress", iteration=2, seconds=1.0, exploitability=float("nan"))
        if is_over:
            folder.record("end", iteration=2, stopped_by="iterations")


def test_runs_below_the_folder_are_listed_with_their_curves(serve, tmp_path):
    make_run(tmp_path / "runs" / "mine", rule="dcfr")
    make_run(tmp_path / "runs" / "deep" / "er" / "run", rule="cfr+", is_over=False)
    client = serve()
    runs = {run["id"]: run for run in client.get("/api/runs").json()["runs"]}
    assert set(runs) == {"mine", "deep-er-run"}
    assert (runs["mine"]["state"], runs["mine"]["title"]) == ("done", "leduc · dcfr")
    assert runs["deep-er-run"]["state"] == "running"  # written a moment ago
    assert "exploitability" in runs["mine"]["measures"]
    points = client.get("/api/runs/mine/points", params={"after": 1}).json()
    assert [point["number"] for point in points["points"]] == [2, 3, 4]
    assert points["points"][0]["exploitability"] == 0.4
    assert client.get("/api/runs/mine/points", params={"after": points["last"]}).json()["points"] == []


def test_configurations_are_told_apart(serve, tmp_path):
    make_run(tmp_path / "runs" / "one", rule="dcfr")
    make_run(tmp_path / "runs" / "two", rule="cfr+")
    client = serve()
    found = client.get("/api/runs/differences", params={"ids": "one,two"}).json()
    assert found["differ"] == [{"key": "rule", "values": ["dcfr", "cfr+"]}]
    assert found["same"]["limits.iterations"] == 2
    assert client.get("/api/runs/differences", params={"ids": "one,none"}).status_code == 404
    assert client.get("/api/runs/..%2f..").status_code == 404


def test_jobs_are_runs_too(client):
    id = client.post("/api/jobs", json={"kind": "solve", "game": "kuhn", "iterations": 10}).json()["id"]
    wait_for(client, id, "done")
    run = client.get(f"/api/runs/{id}").json()
    assert (run["state"], run["solution"], run["job"], run["config"]["rule"]) == ("done", id, id, "dcfr")


def test_matches_and_trainings_have_curves_and_a_study_has_its_rows(serve, tmp_path):
    match = RunFolder.create(tmp_path / "runs" / "match", "match", {"game": "kuhn", "agents": ["call", "uniform"]})
    training = RunFolder.create(tmp_path / "runs" / "nets", "values", {"preset": "leduc"})
    study = RunFolder.create(tmp_path / "runs" / "study", "study", {"name": "coin-toss"})
    with match.writing(), training.writing(), study.writing():
        match.record("begin")
        result = {"mean": -0.5, "mean_mbb": -500.0, "standard_error_mbb": 20.0, "num_samples": 100}
        match.record("progress", agents=["call", "uniform"], share=1.0, **result)
        training.record("measured", network="river", step=40, rms=0.2)
        training.record("measured", network="turn", step=10, rms=0.3)
        study.record("progress", share=0.5, step="first")
    rows = [{"method": "unsafe", "heads": 1.0}, {"method": "safe", "heads": float("nan"), "seen": [1, 2]}]
    told = {"title": "Search in Coin Toss", "source": "Brown 2020", "rows": rows}
    (study.path / "coin-toss.json").write_text(json.dumps(told))
    (study.path / "broken.json").write_text("{")
    client = serve()
    runs = {run["id"]: run for run in client.get("/api/runs").json()["runs"]}
    assert [runs[id]["title"] for id in ("match", "nets", "study")] == ["kuhn · call v uniform", "nets", "coin-toss"]
    assert runs["match"]["measures"] == ["mean", "mean_mbb", "standard_error_mbb"]
    assert (runs["nets"]["measures"], runs["study"]["measures"]) == (["rms"], [])
    point = client.get("/api/runs/match/points", params={"after": 1}).json()["points"][0]
    assert (point["iteration"], point["mean_mbb"]) == (100, -500)
    assert point["seconds"] > 0
    points = client.get("/api/runs/nets/points").json()["points"]
    assert [(one["network"], one["iteration"]) for one in points] == [("river", 40), ("turn", 10)]
    (table,) = client.get("/api/runs/study").json()["tables"]
    assert table["title"] == "Search in Coin Toss, Brown 2020"
    assert table["columns"] == ["method", "heads", "seen"]
    assert table["rows"] == [["unsafe", 1.0, None], ["safe", None, "[1, 2]"]]
    (table,) = client.get("/api/runs/match").json()["tables"]
    assert table["rows"] == [["call v uniform", -0.5, -500.0, 20.0, 100.0]]
