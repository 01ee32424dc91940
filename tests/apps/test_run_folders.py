# SPDX-License-Identifier: Apache-2.0
"""`--run DIR`: solves, matches and studies in folders of one form, resumed from them."""

import os
import signal
import time
from pathlib import Path

import numpy as np
import pytest

import equipoise as package
from equipoise.core.runs import RunFolder
from equipoise.solvers.solution_file import SolvedGame
from tests.apps.test_interruption import start
from tests.studies.squares import SQUARES

SPOT = 'board = "Ks7s2d5d9h"\npot = 20\nstacks = 20\nmenu = "a / a"\n[ranges]\noop = "AA, KK"\nip = "QQ, AQ"\n'


def wait_until(is_true, seconds=300):
    """Returns as soon as a question is answered yes; fails if it never is."""
    until = time.monotonic() + seconds
    while not is_true():
        assert time.monotonic() < until
        time.sleep(0.02)


def kinds(folder):
    return [event["event"] for event in RunFolder(folder).events()]


def test_a_solve_in_a_folder_is_resumed_without_being_named_again(equipoise):
    first = equipoise("solve", "leduc", "-p", "ranks=4", "--rule", "cfr+", "-n", 10, "--run", "one", "--json")
    assert first.code == 0
    assert sorted(os.listdir("one")) == ["config.json", "events.jsonl", "result.eq"]
    assert RunFolder("one").config["rule"] == "cfr+"
    assert equipoise("solve", "-n", 30, "--run", "one", "--resume").code == 0
    equipoise("solve", "leduc", "-p", "ranks=4", "--rule", "cfr+", "-n", 30, "--out", "straight.eq")
    halted, straight = SolvedGame.load("one/result.eq"), SolvedGame.load("straight.eq")
    for name, table in straight.state.items():
        np.testing.assert_array_equal(halted.state[name], table, err_msg=name)
    events = RunFolder("one").events()
    assert [event["number"] for event in events] == list(range(1, len(events) + 1))
    assert kinds("one").count("begin") == kinds("one").count("end") == 2
    progress = [event["iteration"] for event in events if event["event"] == "progress"]
    assert progress == sorted(set(progress))
    assert progress[-1] == 30
    assert package.load("one/result.eq").exploitability == pytest.approx(events[-1]["exploitability"])


def test_a_spot_in_a_folder_brings_its_own_copy(equipoise):
    Path("river.toml").write_text(SPOT)
    assert equipoise("solve", "river.toml", "-n", 5, "--run", "one").code == 0
    os.remove("river.toml")
    resumed = equipoise("solve", "-n", 20, "--run", "one", "--resume", "--json")
    assert (resumed.code, resumed.json["iterations"]) == (0, 20)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["solve", "kuhn", "-n", 5, "--run", "one"], "one holds a run: give --resume"),
        (["solve", "kuhn", "--run", "two", "--out", "x.eq"], "--run two has a file of its own: leave out --out"),
        (["solve", "kuhn", "--run", "one", "--resume", "--overwrite"], "give one of them"),
        (["solve", "leduc", "--run", "one", "--resume"], "holds another run: game kuhn, asked for leduc"),
        (["solve", "--run", "two", "--resume"], "two holds no run to go on with: name a game or a spot"),
        (["solve", "nothing", "--run", "two"], "unknown game 'nothing'"),
        (["match", "call", "fold", "-g", "kuhn", "--run", "one", "--resume"], "one holds a solve, expected a match"),
        (["match", "call", "fold", "-g", "kuhn", "--run", "two", "--out", "x.eq"], "has a file of its own"),
        (["reproduce", "--run", "two"], "name a study to run"),
    ],
)
def test_what_a_folder_cannot_be_used_for(equipoise, arguments, message):
    assert equipoise("solve", "kuhn", "-n", 5, "--run", "one").code == 0
    before = kinds("one")
    outcome = equipoise(*arguments)
    assert outcome.code == 2
    assert message in " ".join(outcome.err.split())
    assert kinds("one") == before
    assert not os.path.exists("two")


def test_overwriting_begins_anew(equipoise):
    equipoise("solve", "kuhn", "-n", 5, "--run", "one")
    assert equipoise("solve", "leduc", "-n", 3, "--run", "one", "--overwrite").code == 0
    assert RunFolder("one").config["game"] == "leduc"
    assert kinds("one").count("begin") == 1


def test_an_interrupted_run_says_how_its_folder_goes_on(tmp_path):
    process = start(tmp_path, "solve", "leduc", "-n", "1000000000", "--run", "one")
    reader = RunFolder(tmp_path / "one")
    # readable while it is written; on a busy machine a line may be shown well before its event is kept
    wait_until(lambda: "progress" in [event["event"] for event in reader.events()])
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 130
    assert "go on with: equipoise solve leduc --run one --resume --iterations 1000000000" in err
    assert reader.events()[-1]["stopped_by"] == "interrupted"


def test_a_match_in_a_folder(equipoise):
    command = ("match", "call", "uniform", "-g", "kuhn", "--runner", "hands", "--run", "m", "--json")
    first = equipoise(*command, "-n", 100)
    assert (first.code, first.json["num_hands"]) == (0, 100)
    more = equipoise(*command, "-n", 300, "--resume")
    assert (more.code, more.json["num_hands"]) == (0, 300)
    assert RunFolder("m").kind == "match"
    assert kinds("m").count("begin") == kinds("m").count("end") == 2
    assert "progress" in kinds("m")


def test_a_study_in_a_folder(equipoise, monkeypatch):
    monkeypatch.setattr("equipoise.studies.registry.STUDIES", {"squares": SQUARES})
    assert equipoise("reproduce", "squares", "--run", "s", "--quiet").code == 0
    folder = RunFolder("s")
    assert (folder.kind, folder.config["name"]) == ("study", "squares")
    assert {"squares.json", "squares.txt", "config.json", "events.jsonl"} <= set(os.listdir("s"))
    assert (kinds("s")[0], kinds("s")[1], kinds("s")[-1]) == ("begin", "progress", "end")
    assert equipoise("reproduce", "squares", "--run", "s").code == 2
    assert equipoise("reproduce", "squares", "--run", "s", "--overwrite", "--quiet").code == 0
