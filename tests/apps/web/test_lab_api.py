# SPDX-License-Identifier: Apache-2.0
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
