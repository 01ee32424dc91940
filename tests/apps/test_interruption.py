# SPDX-License-Identifier: Apache-2.0
"""Real processes: what a signal leaves behind, and that the run goes on from there to the bit."""

import contextlib
import json
import os
import pty
import select
import signal
import subprocess
import sys
import threading
import time
import tomllib
from pathlib import Path

import numpy as np
import pytest

from equipoise.apps import blueprint, cli, signals, train_blueprint
from equipoise.apps.signals import SignalFlag
from equipoise.games.registry import make_game
from equipoise.responses.against import AgainstSolver
from equipoise.responses.sampled import UCTResponse
from equipoise.runs.game_run import GameRun
from equipoise.solvers.driver import run as drive
from equipoise.solvers.holdem.view import SpotViews
from equipoise.solvers.solution_file import SolvedGame
from equipoise.trees.history import build_history_tree

# lines of progress at once, so that a test can wait for a run that is well under way
PROGRAM = (
    "from equipoise.apps import cli, display, task_display; "
    "display.SECONDS_BETWEEN_LINES = task_display.SECONDS_BETWEEN_LINES = 0.01; cli.main()"
)
COMMAND = [sys.executable, "-c", PROGRAM]
SMALL_SPOT = Path(__file__).parents[2] / "examples/spots/small_preflop.toml"
ENVIRONMENT = {**os.environ, "EQUIPOISE_CACHE": "off"}


def start(directory, *arguments, mark="iterations/s"):
    """Returns a process that has worked for a while, so that it has said what `mark` is a part of."""
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=directory,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    for line in process.stderr:
        if mark in line:
            return process
    pytest.fail("the process ended before it began to solve")


def run(directory, *arguments):
    return subprocess.run(
        [*COMMAND, *arguments], cwd=directory, env=ENVIRONMENT, capture_output=True, text=True, check=True
    )


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
@pytest.mark.parametrize(  # sampling without a rule chooses periods by the iterations asked for
    "method",
    [["cfr"], ["external", "--rule", "cfr"], ["outcome", "--form", "game", "--rule", "cfr"]],
    ids=" ".join,
)
def test_an_interrupted_run_is_kept_and_goes_on_to_the_bit(tmp_path, number, code, method):
    solve = ("solve", "leduc", "-p", "merge_suits=true", "--method", *method)
    process = start(tmp_path, *solve, "--iterations", "1000000000", "--out", "halted.eq", "--json")
    process.send_signal(number)
    out, err = process.communicate(timeout=30)

    result = json.loads(out)
    assert process.returncode == code
    assert result["stopped_by"] == "interrupted"
    assert "go on with: equipoise solve leduc --out halted.eq --resume --iterations 1000000000" in err
    assert "Traceback" not in err
    assert os.listdir(tmp_path) == ["halted.eq"]
    assert SolvedGame.load(tmp_path / "halted.eq").progress[-1].iteration == result["iterations"]

    goal = str(result["iterations"] + 50)
    run(tmp_path, "solve", "leduc", "--out", "halted.eq", "--resume", "--iterations", goal)
    run(tmp_path, *solve, "--out", "straight.eq", "--iterations", goal)
    halted, straight = SolvedGame.load(tmp_path / "halted.eq"), SolvedGame.load(tmp_path / "straight.eq")
    for name, table in straight.state.items():
        np.testing.assert_array_equal(halted.state[name], table, err_msg=name)
    np.testing.assert_array_equal(halted.table.probability, straight.table.probability)


def test_without_a_file_the_result_is_still_told(tmp_path):
    process = start(tmp_path, "solve", "kuhn", "--iterations", "1000000000", "--json")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert json.loads(out)["iterations"] > 0
    assert "nothing was saved (--out FILE keeps a run)" in err


@pytest.mark.parametrize("workers", [1, 2])
def test_an_interrupted_match_is_kept_and_goes_on_to_the_bit(tmp_path, workers):
    match = ("match", "ismcts:2000", "raise", "--game", "kuhn", "--json", "--workers", str(workers))
    process = start(tmp_path, *match, "-n", "1000000000", "--out", "halted.eq", mark="mbb/h")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)

    result = json.loads(out)
    assert process.returncode == 130
    assert result["stopped_by"] == "interrupted"
    assert "the same command with --resume goes on" in err
    assert "Traceback" not in err
    assert os.listdir(tmp_path) == ["halted.eq"]

    goal = str(result["num_hands"] + 20)
    resumed = json.loads(run(tmp_path, *match, "-n", goal, "--out", "halted.eq", "--resume").stdout)
    straight = json.loads(run(tmp_path, *match[:-1], "1", "-n", goal).stdout)
    assert resumed["agents"] == straight["agents"]
    assert resumed["num_hands"] == result["num_hands"] + 20


def test_an_interrupted_agent_is_judged_by_the_seeds_so_far(tmp_path):
    evaluate = ("evaluate", "ismcts:1000", "--game", "kuhn", "--seeds", "1000000", "--json")
    process = start(tmp_path, *evaluate, mark="seeds, mean")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert 0 < len(json.loads(out)["seeds"]) < 1_000_000
    assert "of 1000000 seeds" in err


def test_an_interrupted_comparison_tells_what_it_has(tmp_path):
    process = start(tmp_path, "compare", "kuhn", "--rules", "dcfr,cfr", "--iterations", "1000000000", "--json")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert [row["rule"] for row in json.loads(out)["rows"]] == ["dcfr"]
    assert "interrupted after 1 of 2" in err


def test_the_first_signal_is_a_flag_and_the_second_an_exception():
    with SignalFlag() as flag:
        assert not flag()
        assert flag.exit_code == 0
        os.kill(os.getpid(), signal.SIGINT)
        assert flag()
        assert flag.exit_code == 130
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_a_signal_after_the_work_is_no_traceback(monkeypatch):
    """It may come while handlers are put back; what was done stays done."""
    restore = signals._restore

    def restore_late(previous):
        with contextlib.ExitStack() as stack:
            stack.callback(restore, previous)
            os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(signals, "_restore", restore_late)
    monkeypatch.setattr(cli, "_run", lambda: 3)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 3


def test_ctrl_c_is_heard_within_a_single_long_answer():
    tree = build_history_tree(make_game("kuhn"))
    solver = AgainstSolver(tree, UCTResponse(tree, 10**10))  # a quarter of an hour
    with SignalFlag() as flag:
        timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        began = time.monotonic()
        (record,) = drive(solver, iterations=5, is_interrupted=flag)
    assert time.monotonic() - began < 30  # a moment, on a machine that does nothing else
    assert record.iteration == 0
    assert flag.exit_code == 130


def test_what_nohup_has_ignored_stays_ignored():
    previous = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with SignalFlag() as flag:
            os.kill(os.getpid(), signal.SIGHUP)
            assert not flag()
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, previous)


class Terminal:
    """A process on a terminal of its own."""

    def __init__(self, directory, *arguments):
        self.master, slave = pty.openpty()
        self.process = subprocess.Popen(
            [*COMMAND, *arguments],
            cwd=directory,
            env={**ENVIRONMENT, "TERM": "xterm"},
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        )
        os.close(slave)
        self.text = b""

    def read_until(self, mark):
        """Reads what is shown until a text is met, or the process ends."""
        deadline = time.monotonic() + 60
        while mark not in self.text and time.monotonic() < deadline:
            if not select.select([self.master], [], [], 1.0)[0]:
                continue
            try:
                self.text += os.read(self.master, 1 << 16)
            except OSError:  # the process has ended
                return
        assert mark in self.text

    def finish(self):
        with contextlib.suppress(AssertionError):
            self.read_until(b"never shown")
        return self.process.wait(timeout=30)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
@pytest.mark.parametrize(
    ("arguments", "mark"),
    [
        (["leduc", "-p", "ranks=20"], b"building"),
        (["leduc", "-p", "ranks=9", "--method", "lp"], b"solving to iteration 1"),
        (["kuhn", "-n", "1000000000"], b"elapsed"),
    ],
    ids=["tree", "lp", "solver"],
)
def test_every_end_restores_the_cursor_and_is_said(tmp_path, arguments, mark, number, code):
    terminal = Terminal(tmp_path, "solve", *arguments)
    terminal.read_until(mark)
    terminal.read_until(b"\x1b[?25l")
    terminal.process.send_signal(number)
    assert terminal.finish() == code
    assert terminal.text.rindex(b"\x1b[?25h") > terminal.text.rindex(b"\x1b[?25l")
    assert b"interrupted" in terminal.text
    assert b"Traceback" not in terminal.text


def test_a_closed_terminal_keeps_the_run(tmp_path):
    terminal = Terminal(tmp_path, "solve", "kuhn", "-n", "1000000000", "--out", "kuhn.eq")
    terminal.read_until(b"elapsed")
    os.close(terminal.master)  # writing fails from now on
    terminal.process.send_signal(signal.SIGHUP)
    assert terminal.process.wait(timeout=30) == 1  # nobody was there to take the result
    assert SolvedGame.load(tmp_path / "kuhn.eq").stopped_by == "interrupted"
    assert os.listdir(tmp_path) == ["kuhn.eq"]


def test_ctrl_c_while_the_program_loads_is_quiet(tmp_path):
    # the import is held up where it would take its time, so that the signal comes in the middle of it
    program = (
        "import os, signal, sys\n"
        "class Meddler:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'equipoise.apps.cli': os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Meddler())\n"
        "from equipoise.apps.entry import main\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "games"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_the_console_script_is_the_entry():
    with open(os.path.join(os.path.dirname(__file__), "..", "..", "pyproject.toml"), "rb") as file:
        assert tomllib.load(file)["project"]["scripts"] == {"equipoise": "equipoise.apps.entry:main"}


def test_an_interrupted_comparison_tells_what_came_before_the_program(tmp_path):
    process = subprocess.Popen(
        [*COMMAND, "compare", "leduc", "-p", "ranks=9", "--rules", "dcfr,lp", "-n", "3", "--json"],
        cwd=tmp_path, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    for line in process.stderr:
        if line.startswith("lp: tables"):
            break
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert [row["rule"] for row in json.loads(out)["rows"]] == ["dcfr"]
    assert "interrupted after 1 of 2" in err


def test_of_two_runs_onto_one_file_the_second_is_refused(tmp_path):
    first = start(tmp_path, "solve", "kuhn", "-n", "1000000000", "--out", "kuhn.eq")
    for option in ([], ["--resume"], ["--overwrite"]):
        second = subprocess.run(
            [*COMMAND, "solve", "kuhn", "-n", "10", "--out", "kuhn.eq", *option],
            cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert second.returncode == 2
        assert "error: cannot write kuhn.eq: another process is at work on it" in second.stderr
    first.send_signal(signal.SIGINT)
    first.communicate(timeout=30)
    assert SolvedGame.load(tmp_path / "kuhn.eq").progress[-1].iteration > 10
    assert os.listdir(tmp_path) == ["kuhn.eq"]


def test_a_lock_left_behind_by_a_killed_run_blocks_nobody(tmp_path):
    killed = start(tmp_path, "solve", "kuhn", "-n", "1000000000", "--out", "kuhn.eq")
    killed.kill()
    killed.communicate()
    assert os.listdir(tmp_path) == [".kuhn.eq.lock"]
    run(tmp_path, "solve", "kuhn", "-n", "10", "--out", "kuhn.eq")
    assert os.listdir(tmp_path) == ["kuhn.eq"]


@pytest.mark.parametrize(
    ("arguments", "owner", "name", "said"),
    [
        (["train", "blueprint", "royal", "-o", "run"], train_blueprint, "make_deals", "give --resume to go on"),
        (["blueprint", SMALL_SPOT, "-o", "b.eq"], blueprint.BucketRecipe, "build", "nothing is trained or saved yet"),
    ],
    ids=["train blueprint", "blueprint"],
)
def test_card_buckets_are_left_at_once(equipoise, monkeypatch, arguments, owner, name, said):
    def make(*_, **__):
        signal.raise_signal(signal.SIGINT)
        pytest.fail("the work went on")

    monkeypatch.setattr(owner, name, make)
    outcome = equipoise(*arguments)
    assert outcome.code == 130
    assert said in outcome.err


@pytest.mark.parametrize(("num_signals", "is_kept"), [(1, True), (2, False)])
def test_a_signal_while_it_is_saved_is_answered(equipoise, monkeypatch, tmp_path, num_signals, is_kept):
    save = GameRun.save

    def save_under_signals(self, path):
        for _ in range(num_signals):
            signal.raise_signal(signal.SIGINT)
        save(self, path)

    monkeypatch.setattr(GameRun, "save", save_under_signals)
    outcome = equipoise("solve", "kuhn", "-n", "5", "--out", "kuhn.eq")
    assert outcome.code == 130
    assert "stopping once it is saved; Ctrl-C again leaves it unsaved" in outcome.err
    assert (tmp_path / "kuhn.eq").exists() == is_kept
    assert ("saved in kuhn.eq" in outcome.err) == is_kept
    assert "exploitability" in outcome.out or not is_kept


def test_the_pass_over_a_large_table_before_it_is_saved_hears_signals(equipoise, monkeypatch):
    def find(self):
        assert threading.current_thread() is not threading.main_thread()
        return find_slots(self)

    find_slots = SpotViews.find_first_slots
    monkeypatch.setattr(SpotViews, "find_first_slots", find)
    monkeypatch.setattr("equipoise.runs.spot_run.LARGEST_READ_BYTES", 0)
    assert equipoise("solve", SMALL_SPOT, "-n", "2", "--out", "spot.eq").code == 0
