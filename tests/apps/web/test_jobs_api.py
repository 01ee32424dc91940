# SPDX-License-Identifier: Apache-2.0
import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time

import pytest

from equipoise import load
from equipoise.apps.web import jobs
from equipoise.apps.web.events import EventLog
from equipoise.apps.web.job_text import JobSpec
from equipoise.core.errors import CheckpointError
from tests.apps.web.asking import HOST, SPOT, refusal, wait_for

LONG = SPOT | {"board": "Ks7h2d5c", "iterations": 10_000_000, "target": "0"}
RANGES = {"oop": "random", "ip": "random"}


def submit(client, **form):
    answer = client.post("/api/jobs", json={"kind": "solve", **form})
    assert answer.status_code == 202, answer.text
    return answer.json()["id"]


def test_a_spot_is_solved_to_its_target_and_can_be_walked(client):
    id = submit(client, spot=SPOT | {"target": "1% pot"})
    job = wait_for(client, id, "done", "failed")
    assert (job["state"], job["stopped_by"], job["error"]) == ("done", "target", None)
    assert job["points"][-1]["percent_of_pot"] <= 1
    assert job["percent_target"] == pytest.approx(1)
    assert client.get(f"/api/solutions/{job['solution']}/node", params={"line": "x"}).json()["player"] == 1


def test_a_game_is_solved(client):
    id = submit(client, game="kuhn", parameters={"players": 2}, iterations=20, rule="cfr+")
    assert wait_for(client, id, "done", "failed")["progress"]["iteration"] == 20
    assert client.get(f"/api/solutions/{id}").json()["rule"] == "cfr+"


@pytest.mark.parametrize(
    "game", ["/etc/passwd", "mine.py:Game", "equipoise.games.kuhn:Kuhn", "openspiel:kuhn_poker", "game.efg", "x;ls"]
)
def test_games_that_are_not_listed_are_refused(client, game):
    answer = client.post("/api/jobs", json={"kind": "solve", "game": game})
    assert (answer.status_code, refusal(answer)["field"]) == (422, "game")


@pytest.mark.parametrize("field", ["rule", "method"])
@pytest.mark.parametrize("code", ["mine.py:Class", "equipoise.solvers.rules:DCFR", "/etc/passwd", "x;ls"])
def test_rules_and_methods_of_somebody_elses_code_are_refused(client, field, code):
    answer = client.post("/api/jobs", json={"kind": "solve", "game": "kuhn", field: code})
    assert (answer.status_code, refusal(answer)["field"]) == (422, field)


@pytest.mark.parametrize(
    ("field", "form"),
    [
        ("title", {"spot": SPOT, "title": "two\nlines"}),
        ("title", {"game": "kuhn", "title": "two\nlines"}),
        ("rule", {"spot": SPOT | {"rule": "mine.py:Class"}}),
        ("precision", {"spot": SPOT | {"precision": "float16"}}),
        ("iterations", {"spot": SPOT, "iterations": 2**70}),
        ("iterations", {"game": "kuhn", "iterations": 0}),
        ("seconds", {"game": "kuhn", "seconds": -1}),
        ("target", {"spot": SPOT, "target": "soon"}),
        ("count", {"kind": "flops", "spot": SPOT, "count": -1}),
        ("count", {"kind": "flops", "spot": SPOT, "count": 0}),
        ("flops", {"kind": "flops", "spot": SPOT, "flops": []}),
        ("line", {"kind": "flops", "spot": SPOT, "flops": ["8s7h2d"], "line": "x,q"}),
        ("line", {"kind": "flops", "spot": SPOT, "flops": ["8s7h2d"], "line": ["x", "x"]}),
    ],
)
def test_what_cannot_be_done_is_refused_and_leaves_no_job(client, field, form):
    before = len(client.get("/api/jobs").json()["jobs"])
    answer = client.post("/api/jobs", json={"kind": "solve", **form})
    assert (answer.status_code, refusal(answer)["field"]) == (422, field)
    assert len(client.get("/api/jobs").json()["jobs"]) == before


def test_a_job_that_never_began_is_cancelled_when_it_is_stopped(serve):
    client = serve(files=())
    first, second = submit(client, spot=LONG), submit(client, spot=SPOT)
    client.post(f"/api/jobs/{second}/pause")
    assert client.post(f"/api/jobs/{second}/stop").json()["state"] == "cancelled"
    client.post(f"/api/jobs/{first}/cancel")


@pytest.mark.slow
def test_jobs_hold_on_go_on_and_stop_within_a_second(client):
    id = submit(client, spot=LONG | {"ranges": RANGES})
    until = time.monotonic() + 20
    while client.get(f"/api/jobs/{id}").json()["progress"] is None:  # nothing can be kept before the first iteration
        assert time.monotonic() < until
    began = time.monotonic()
    assert client.post(f"/api/jobs/{id}/pause").json()["state"] in ("pausing", "paused")
    paused = wait_for(client, id, "paused")
    assert time.monotonic() - began < 3  # seconds; one on a machine that does nothing else
    assert client.get(f"/api/jobs/{id}").json()["progress"] == paused["progress"]
    assert client.post(f"/api/jobs/{id}/resume").json()["state"] == "running"
    client.post(f"/api/jobs/{id}/stop")
    done = wait_for(client, id, "done")
    assert (done["stopped_by"], done["solution"]) == ("interrupted", id)
    saved = load(client.app.state.services.jobs.folder / id / "result.eq")
    assert saved.progress[-1].iteration >= paused["progress"]["iteration"]


@pytest.mark.slow
def test_a_job_that_goes_on_waits_for_its_place(serve):
    client = serve(files=())
    board = client.app.state.services.jobs
    first = submit(client, spot=LONG)
    wait_for(client, first, "running")
    client.post(f"/api/jobs/{first}/pause")
    wait_for(client, first, "paused")
    worker = board.find(first).process
    second = submit(client, spot=LONG)
    wait_for(client, second, "running")
    waiting = client.post(f"/api/jobs/{first}/resume").json()
    assert (waiting["state"], waiting["place_in_queue"]) == ("waiting", 1)
    assert client.post(f"/api/jobs/{first}/resume", json={"iterations": 5}).status_code == 409
    assert client.get(f"/api/jobs/{second}").json()["state"] == "running"
    client.post(f"/api/jobs/{second}/cancel")
    wait_for(client, first, "running")
    assert board.find(first).process is worker  # with what it had in memory
    client.post(f"/api/jobs/{first}/pause")
    wait_for(client, first, "paused")
    third = submit(client, spot=LONG)
    wait_for(client, third, "running")
    client.post(f"/api/jobs/{first}/resume")
    client.post(f"/api/jobs/{first}/stop")  # kept, though it waited
    assert wait_for(client, first, "done")["solution"] == first
    client.post(f"/api/jobs/{third}/cancel")


@pytest.mark.slow
def test_a_worker_that_ends_while_its_job_waits_is_replaced(serve):
    client = serve(files=())
    board = client.app.state.services.jobs
    first = submit(client, spot=LONG)
    wait_for(client, first, "running")
    client.post(f"/api/jobs/{first}/pause")
    wait_for(client, first, "paused")
    second = submit(client, spot=LONG)
    wait_for(client, second, "running")
    client.post(f"/api/jobs/{first}/resume")
    worker = board.find(first).process
    worker.kill()
    until = time.monotonic() + 20
    while board.find(first).process is worker:
        assert time.monotonic() < until
        time.sleep(0.01)
    assert client.get(f"/api/jobs/{first}").json()["state"] == "waiting"
    client.post(f"/api/jobs/{second}/cancel")
    wait_for(client, first, "running")
    client.post(f"/api/jobs/{first}/cancel")


@pytest.mark.parametrize(
    ("state", "told", "after"),
    [
        ("running", "paused", "running"),  # told to go on before it said that it holds on
        ("paused", "running", "paused"),
        ("waiting", "running", "waiting"),
        ("stopping", "paused", "stopping"),
        ("stopping", "done", "done"),
        ("pausing", "paused", "paused"),
        ("building", "running", "running"),
    ],
)
def test_what_a_worker_says_too_late_changes_nothing(serve, state, told, after):
    board = serve(files=()).app.state.services.jobs
    job = board._add(JobSpec(kind="solve", title="late", spot="", request={}), "late", None)
    job.state = state
    board._hear(job, {"type": "state", "state": told})
    assert job.state == after
    board.cancel("late") if after != "done" else board.remove("late")


@pytest.mark.slow
def test_a_finished_job_goes_on_to_new_limits(client):
    id = submit(client, spot=SPOT, iterations=10)
    wait_for(client, id, "done")
    client.post(f"/api/jobs/{id}/resume", json={"iterations": 30})
    until = time.monotonic() + 20
    while client.get(f"/api/jobs/{id}").json()["progress"]["iteration"] < 30:
        assert time.monotonic() < until
    assert wait_for(client, id, "done")["points"][-1]["iteration"] == 30


def test_a_cancelled_job_leaves_nothing(client):
    id = submit(client, spot=LONG)
    wait_for(client, id, "running")
    assert client.post(f"/api/jobs/{id}/cancel").json()["state"] == "cancelled"
    assert client.get(f"/api/solutions/{id}").status_code == 404
    time.sleep(0.1)
    assert client.get(f"/api/jobs/{id}").json()["state"] == "cancelled"


def test_what_is_done_is_not_cancelled(client):
    id = submit(client, spot=SPOT, iterations=5)
    wait_for(client, id, "done")
    answer = client.post(f"/api/jobs/{id}/cancel")
    assert (answer.status_code, refusal(answer)["code"]) == (409, "conflict")
    assert client.get(f"/api/solutions/{id}").status_code == 200


@pytest.mark.slow
def test_a_cancelled_save_leaves_no_part(client):
    id = submit(client, spot=LONG)
    wait_for(client, id, "running")
    folder = client.app.state.services.jobs.folder / id
    part = folder / f".result.eq.{'0' * 12}.tmp"
    part.write_bytes(b"as a worker that was killed while it saved leaves it")
    client.post(f"/api/jobs/{id}/cancel")
    assert [path.name for path in folder.iterdir() if path.suffix in (".tmp", ".eq")] == []


def test_a_job_without_its_folder_is_forgotten_and_hides_no_other(client):
    kept, gone = (submit(client, spot=SPOT, iterations=5) for _ in range(2))
    for id in (kept, gone):
        wait_for(client, id, "done")
    shutil.rmtree(client.app.state.services.jobs.folder / gone)
    listed = [job["id"] for job in client.get("/api/jobs").json()["jobs"]]
    assert kept in listed
    assert gone not in listed
    assert client.get(f"/api/jobs/{gone}").status_code == 404


def test_a_new_job_has_neither_id_nor_name_of_one_that_was_removed(client):
    old = submit(client, spot=SPOT, iterations=5)
    wait_for(client, old, "done")
    client.patch(f"/api/solutions/{old}", json={"name": "the old one"})
    assert client.delete(f"/api/jobs/{old}").status_code == 204
    assert old not in json.loads((client.app.state.services.settings.runs / "titles.json").read_text())
    assert submit(client, spot=SPOT, iterations=5) != old


@pytest.mark.parametrize("does", ["removed", "resumed"])
def test_a_job_that_is_over_needs_no_second_try_though_its_worker_still_leaves(client, does):
    board = client.app.state.services.jobs
    id = submit(client, spot=SPOT, iterations=3)
    wait_for(client, id, "done")
    until_gone = time.monotonic() + 10
    while board.find(id).process is not None:
        assert time.monotonic() < until_gone
        time.sleep(0.01)
    leaving = subprocess.Popen(["sleep", "60"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    board.find(id).process = leaving
    threading.Thread(target=board._follow, args=(board.find(id), leaving), daemon=True).start()
    threading.Timer(0.3, leaving.kill).start()
    if does == "removed":
        assert client.delete(f"/api/jobs/{id}").status_code == 204
    else:
        assert client.post(f"/api/jobs/{id}/resume", json={"iterations": 6}).status_code == 200
        wait_for(client, id, "done")


def test_limits_that_cannot_be_are_refused(client):
    id = submit(client, spot=SPOT, iterations=5)
    wait_for(client, id, "done")
    answer = client.post(f"/api/jobs/{id}/resume", json={"iterations": -1})
    assert answer.status_code == 422
    assert "iterations" in refusal(answer)["message"]
    assert wait_for(client, id, "done")["error"] is None


@pytest.mark.slow
def test_a_job_under_way_takes_no_new_limits_in_silence(client):
    id = submit(client, spot=LONG)
    wait_for(client, id, "running")
    assert client.post(f"/api/jobs/{id}/resume", json={"iterations": 10}).status_code == 409
    client.post(f"/api/jobs/{id}/cancel")


@pytest.mark.slow
def test_the_queue_is_bounded_and_in_order(serve):
    client = serve(most_waiting=1)
    first, second = submit(client, spot=LONG), submit(client, spot=SPOT, iterations=5)
    assert client.get(f"/api/jobs/{second}").json()["place_in_queue"] == 1
    full = client.post("/api/jobs", json={"kind": "solve", "spot": SPOT})
    assert (full.status_code, refusal(full)["code"]) == (429, "busy")
    client.post(f"/api/jobs/{first}/cancel")
    wait_for(client, second, "done")


def test_a_worker_that_takes_more_memory_than_it_may_fails():
    code = (
        "import numpy as np\nfrom equipoise.apps.web import worker\nworker._limit_memory(100_000_000)\n"
        "try:\n    np.ones(10**9)\nexcept MemoryError:\n    print('refused')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "refused\n"


def test_a_job_beyond_its_memory_is_refused(serve):
    answer = serve(job_bytes=10_000).post("/api/jobs", json={"kind": "solve", "spot": SPOT})
    assert (answer.status_code, refusal(answer)["code"]) == (422, "too_large")


@pytest.mark.slow
def test_a_killed_worker_is_told_and_the_job_goes_on(client):
    id = submit(client, spot=LONG)
    wait_for(client, id, "running")
    services = client.app.state.services
    os.kill(services.jobs.find(id).process.pid, signal.SIGKILL)
    job = wait_for(client, id, "interrupted")
    assert (job["error"], job["can_resume"]) == ("the worker ended by signal 9", True)
    client.post(f"/api/jobs/{id}/resume")
    wait_for(client, id, "running")
    client.post(f"/api/jobs/{id}/cancel")


@pytest.mark.slow
def test_a_killed_worker_loses_at_most_what_it_had_not_saved(client):
    id = submit(client, spot=LONG)
    wait_for(client, id, "running")
    client.post(f"/api/jobs/{id}/pause")
    saved = wait_for(client, id, "paused")["progress"]["iteration"]
    client.post(f"/api/jobs/{id}/resume")
    wait_for(client, id, "running")
    jobs = client.app.state.services.jobs
    os.kill(jobs.find(id).process.pid, signal.SIGKILL)
    assert wait_for(client, id, "interrupted")["can_resume"]
    kept = load(jobs.folder / id / "result.eq")
    assert kept.progress[-1].iteration >= saved
    client.post(f"/api/jobs/{id}/resume")
    wait_for(client, id, "running")
    client.post(f"/api/jobs/{id}/stop")
    wait_for(client, id, "done")
    again = load(jobs.folder / id / "result.eq")
    assert again.progress[: len(kept.progress)] == kept.progress  # it went on from there, not from the beginning
    assert len(again.progress) > len(kept.progress)


@pytest.mark.slow
def test_jobs_go_on_after_the_server_was_started_again(serve):
    first = serve(files=())
    id = submit(first, spot=LONG)
    before = wait_for(first, id, "running")
    waiting = submit(first, spot=SPOT, iterations=5)
    process = first.app.state.services.jobs.find(id).process
    serve.stop()
    assert process.poll() is not None  # no worker is left behind
    second = serve(files=())
    assert wait_for(second, id, "running")["created"] == before["created"]
    assert second.get(f"/api/jobs/{waiting}").json()["state"] == "waiting"
    second.post(f"/api/jobs/{id}/stop")
    wait_for(second, waiting, "done")


def test_events_are_numbered_and_none_is_missed(client):
    id = submit(client, spot=SPOT, iterations=40)
    wait_for(client, id, "done")
    events = client.get("/api/events").json()["events"]
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    with client.websocket_connect("/api/events?after=2", headers=HOST) as socket:
        assert socket.receive_json()["type"] == "hello"
        assert [socket.receive_json()["seq"] for _ in events[2:]] == [event["seq"] for event in events[2:]]
    own = client.get(f"/api/jobs/{id}/events", params={"after": 1}).json()["events"]
    assert {event["job"] for event in own} == {id}
    assert own[-1]["state"] == "done"


def test_what_a_listener_sends_is_not_looked_at(client):
    with client.websocket_connect("/api/events", headers=HOST) as socket:
        assert socket.receive_json()["type"] == "hello"
        socket.send_bytes(b"\x00")
        client.app.state.services.events.add("library")
        assert socket.receive_json()["type"] == "library"


def test_who_was_away_too_long_is_told_so(client):
    with client.websocket_connect("/api/events?after=99999", headers=HOST) as socket:
        assert [socket.receive_json()["type"] for _ in range(2)] == ["hello", "reset"]


def test_a_torn_event_is_dropped(tmp_path):
    log = EventLog(tmp_path / "events.jsonl")
    log.add("said", text="one")
    with open(tmp_path / "events.jsonl", "a") as file:
        file.write('{"seq": 2, "ty')
    again = EventLog(tmp_path / "events.jsonl")
    assert again.add("said", text="two") == 2
    assert [json.loads(line)["seq"] for line in (tmp_path / "events.jsonl").read_text().splitlines()] == [1, 2]


def test_events_outlive_a_full_disk(tmp_path, monkeypatch):
    path = tmp_path / "events.jsonl"
    log = EventLog(path)
    log.add("said", text="one")

    def write_half(self, line):
        with open(self.path, "ab") as file:
            file.write(line[: len(line) // 2])
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr(EventLog, "_write", write_half)
        assert log.add("said", text="two") == 2
    assert [event["text"] for event in log.after(0)[0]] == ["one", "two"]
    assert log.add("said", text="three") == 3
    assert [event["text"] for event in EventLog(path).after(0)[0]] == ["one", "two", "three"]


def test_pages_are_told_of_jobs_that_are_removed(client):
    id = submit(client, game="kuhn", iterations=1)
    wait_for(client, id, "done")
    assert client.delete(f"/api/jobs/{id}").status_code == 204
    last = client.get("/api/events").json()["events"][-2:]
    assert [(event["type"], event.get("job")) for event in last] == [("removed", id), ("library", None)]


def test_locked_hands_play_as_painted_in_a_solution_beside(client):
    hands = {"AKs": [1, 0, 0], "AhKd": [0.25, 0.5, 0.25]}
    form = {"kind": "resolve", "solution": "river", "locks": [{"line": [], "hands": hands}], "iterations": 20}
    id = client.post("/api/jobs", json=form).json()["id"]
    job = wait_for(client, id, "done", "cancelled", "failed")
    assert any("begins with the regrets" in text for text in job["said"])
    assert job["progress"]["iteration"] == 30 + 20
    node = client.get(f"/api/solutions/{id}/node").json()
    played = dict(zip(node["players"][0]["hands"], node["strategy"], strict=True))
    assert played["AhKd"] == pytest.approx([0.25, 0.5, 0.25])
    assert played["AhKh"] == pytest.approx([1, 0, 0])
    assert sorted(node["locked"]) == ["AcKc", "AdKd", "AhKd", "AhKh"]
    assert client.get("/api/solutions/river/node").json()["locked"] is None


@pytest.mark.slow
def test_a_report_over_flops_has_a_row_a_flop(client):
    spot = SPOT | {"menu": "75%; cap: 1", "ranges": {"oop": "AA, KQs", "ip": "QQ, AKs"}}
    form = {"kind": "flops", "spot": spot | {"board": ""}, "flops": ["8s7h2d", "Tc5c4h"], "line": ["x"]}
    id = client.post("/api/jobs", json=form | {"iterations": 5}).json()["id"]
    wait_for(client, id, "done", "failed", seconds=60)
    report = client.get(f"/api/flops/{id}").json()
    assert [row["text"] for row in report["rows"]] == ["8s7h2d", "Tc5c4h"]
    assert (report["player"], report["ids"], report["num_done"]) == (1, ["x", "b75p"], 2)
    assert all(sum(row["frequency"]) == pytest.approx(1) for row in report["rows"])
    assert client.get(f"/api/flops/{id}/csv").text.splitlines()[0].startswith("flop,weight,texture,ev oop")


def test_the_example_is_solved_at_the_first_start(serve):
    client = serve(files=(), solves_example=True)
    assert client.get("/api/jobs/example-river").json()["state"] == "done"
    assert client.get("/api/status").json()["first"] == "example-river"
    assert client.get("/api/solutions/example-river/node").json()["kind"] == "decision"


def test_a_server_starts_without_its_example_where_that_cannot_be_kept(serve, monkeypatch):
    def fail(*_arguments):
        raise CheckpointError("cannot write the job: no space left on device")

    monkeypatch.setattr(jobs, "solve_job", fail)
    job = serve(files=(), solves_example=True).get("/api/jobs").json()["jobs"][0]
    assert (job["state"], job["error"]) == ("failed", "cannot write the job: no space left on device")
