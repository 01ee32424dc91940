# SPDX-License-Identifier: Apache-2.0
"""Files of runs on the command line: shown, evaluated, resumed to the bit, refused where they make no sense."""

import csv
import io
import os

import numpy as np
import pytest

import equipoise as package
from equipoise.core import checkpoint
from equipoise.core.checkpoint import Kind
from equipoise.runs import keeping
from equipoise.solvers.solution_file import SolvedGame


def test_result_file_is_evaluated_and_shown(equipoise):
    solved = equipoise("solve", "kuhn", "-n", 500, "--out", "kuhn.eq", "--json").json
    evaluated = equipoise("evaluate", "kuhn.eq", "--json").json
    for key in ("game", "rule", "iterations", "exploitability", "nash_conv", "game_value", "num_histories", "seed"):
        assert evaluated[key] == solved[key]
    assert evaluated["best_response_values"] == solved["best_response_values"]
    text = equipoise("evaluate", "kuhn.eq").out
    assert "best response" in text
    assert os.listdir() == ["kuhn.eq"]


def test_a_strategy_saved_from_python_is_evaluated_and_shown(equipoise):
    solution = package.solve(package.make_game("kuhn", players=3), iterations=20)
    solution.strategy.save("three.eq")
    evaluated = equipoise("evaluate", "three.eq", "--json").json
    assert evaluated["exploitability"] == pytest.approx(solution.exploitability)
    assert (evaluated["game"], evaluated["rule"]) == ("kuhn", None)
    assert equipoise("show", "three.eq", "--player", 2, "--json").json["num_matching"] == 16


def test_show_filters_and_formats(equipoise):
    equipoise("solve", "kuhn", "-n", 100, "--out", "kuhn.eq")
    everything = equipoise("show", "kuhn.eq", "--json").json
    assert everything["num_matching"] == len(everything["rows"]) == 12
    assert all(sum(row["actions"].values()) == pytest.approx(1) for row in everything["rows"])
    assert len(equipoise("show", "kuhn.eq", "--infostate", "K:", "--json").json["rows"]) == 4
    assert len(equipoise("show", "kuhn.eq", "--infostate", "?:p", "--json").json["rows"]) == 3
    assert len(equipoise("show", "kuhn.eq", "--player", 1, "--limit", 2, "--json").json["rows"]) == 2
    table = list(csv.DictReader(io.StringIO(equipoise("show", "kuhn.eq", "--csv").out)))
    assert len(table) == 24
    assert set(table[0]) == {"player", "infostate", "action", "probability"}
    outcome = equipoise("show", "kuhn.eq", "--limit", 3)
    assert "check" in outcome.out
    assert "3 of 12 information states" in outcome.err
    nothing = equipoise("show", "kuhn.eq", "-i", "nothing")
    assert "no information state matches 'nothing'; they look like 'J:'" in nothing.err
    assert equipoise("show", "kuhn.eq", "--csv", "--json").code == 2
    assert "--grid is a picture for people" in equipoise("show", "kuhn.eq", "--csv", "--grid").err


def test_another_kind_of_file_is_refused(equipoise):
    checkpoint.save("tree.eq", Kind.TREE, {}, {})
    outcome = equipoise("show", "tree.eq")
    assert outcome.code == 2
    assert "holds a tree, expected a game's run or a strategy" in outcome.err


def test_other_rules_of_the_game_are_refused(equipoise):
    equipoise("solve", "kuhn", "-n", 1, "--out", "kuhn.eq")
    content = checkpoint.load("kuhn.eq")
    metadata = {**content.metadata, "game_version": 99}
    checkpoint.save("old.eq", Kind.RUN, metadata, {**content.arrays, **content.strings})
    assert "under version 99 of kuhn" in equipoise("evaluate", "old.eq").err
    assert "game version 99, asked for 1" in equipoise("solve", "kuhn", "--out", "old.eq", "--resume").err


@pytest.mark.parametrize(
    ("changes", "command", "message"),
    [
        ({"threads": "two"}, "solve", "threads cannot be 'two'"),
        ({"method": ["cfr"]}, "solve", "method cannot be"),
        ({"parameters": "players"}, "solve", "parameters cannot be 'players'"),
        ({"progress": [{}]}, "solve", "does not describe its run"),
        ({"progress": [5]}, "solve", "does not describe its run"),
        ({"game": True}, "evaluate", "does not describe its game"),
        ({"parameters": "players"}, "evaluate", "does not describe its game"),
        ({"game_version": None}, "evaluate", "under version None of kuhn"),
    ],
)
def test_a_whole_file_that_makes_no_sense_is_refused(equipoise, changes, command, message):
    equipoise("solve", "kuhn", "-n", 1, "--out", "kuhn.eq")
    content = checkpoint.load("kuhn.eq")
    checkpoint.save("odd.eq", Kind.RUN, {**content.metadata, **changes}, {**content.arrays, **content.strings})
    odd = ["solve", "kuhn", "--resume", "--out", "odd.eq"] if command == "solve" else [command, "odd.eq"]
    outcome = equipoise(*odd)
    assert outcome.code == 2
    assert message in outcome.err


def test_existing_result_is_not_overwritten_unasked(equipoise):
    equipoise("solve", "kuhn", "-n", 10, "--out", "kuhn.eq")
    outcome = equipoise("solve", "kuhn", "-n", 20, "--out", "kuhn.eq")
    assert outcome.code == 2
    assert "kuhn.eq exists: give --resume" in outcome.err
    assert SolvedGame.load("kuhn.eq").progress[-1].iteration == 10
    assert equipoise("solve", "kuhn", "-n", 20, "--out", "kuhn.eq", "--overwrite").code == 0
    assert SolvedGame.load("kuhn.eq").progress[-1].iteration == 20


@pytest.mark.parametrize(
    "options",
    [
        ["--rule", "dcfr"],
        ["--rule", "pcfr+", "--updates", "simultaneous"],
        ["--rule", "hedge"],
        ["--rule", "dcfr", "--threads", "2"],
        ["--form", "vector", "--rule", "pcfr+"],
        ["--rule", "cfr", "--prune", "rbp(5)"],
        ["--rule", "lcfr", "--prune", "zero-reach-brp(5,0.1)", "--updates", "simultaneous"],
        ["--method", "external", "--rule", "lcfr(500)", "--seed", "3"],
        ["--method", "outcome", "--rule", "cfr"],  # without a rule, periods depend on the iterations asked for
        ["--method", "external", "--form", "game", "--rule", "lcfr(500)", "--seed", "3"],
        ["--method", "outcome", "--form", "game", "--rule", "cfr"],
        ["--method", "egt"],
        ["--method", "egt", "--rule", "thresholded(0.01)"],
        ["--rule", "thresholded(2)-hedge"],
        ["--rule", "thresholded(2)-hedge", "--prune", "rbp"],
        ["--method", "flop"],
    ],
    ids=" ".join,
)
def test_a_resumed_run_equals_an_uninterrupted_one_to_the_bit(equipoise, options):
    command = ("solve", "leduc", "-p", "merge_suits=true", *options, "--json")
    equipoise(*command, "-n", 90, "--out", "straight.eq")
    equipoise(*command, "-n", 37, "--out", "halted.eq")
    resumed = equipoise("solve", "leduc", "-n", 90, "--out", "halted.eq", "--resume", "--json").json
    straight, halted = SolvedGame.load("straight.eq"), SolvedGame.load("halted.eq")
    assert halted.config == straight.config
    assert straight.state.keys() == halted.state.keys()
    for name, table in straight.state.items():
        np.testing.assert_array_equal(halted.state[name], table, err_msg=name)
    np.testing.assert_array_equal(halted.table.probability, straight.table.probability)
    assert resumed["iterations"] == 90
    assert [record["iteration"] for record in resumed["progress"]].count(37) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["kuhn", "--rule", "cfr"], "rule dcfr, asked for cfr"),
        (["kuhn", "--updates", "simultaneous"], "updates alternating, asked for simultaneous"),
        (["kuhn", "--seed", "4"], "seed 0, asked for 4"),
        (["kuhn", "--method", "external"], "method cfr, asked for external"),
        (["kuhn", "-p", "players=3"], "parameters players=2, asked for players=3"),
        (["leduc"], "game kuhn, asked for leduc"),
    ],
)
def test_another_run_is_not_resumed(equipoise, options, message):
    equipoise("solve", "kuhn", "-n", 10, "--out", "kuhn.eq")
    outcome = equipoise("solve", *options, "-n", 20, "--out", "kuhn.eq", "--resume")
    assert outcome.code == 2
    assert message in outcome.err
    assert SolvedGame.load("kuhn.eq").progress[-1].iteration == 10


def test_another_version_of_the_program_does_not_resume(equipoise, monkeypatch):
    with monkeypatch.context() as other:
        other.setattr(package, "__version__", "0.0.1")
        equipoise("solve", "kuhn", "-n", 10, "--out", "kuhn.eq")
    outcome = equipoise("solve", "kuhn", "-n", 20, "--out", "kuhn.eq", "--resume")
    assert outcome.code == 2
    assert f"equipoise version 0.0.1, asked for {package.__version__}" in outcome.err
    assert equipoise("evaluate", "kuhn.eq").code == 0


def test_more_threads_resume_to_the_bit(equipoise):
    equipoise("solve", "leduc", "-n", 20, "--out", "whole.eq")
    equipoise("solve", "leduc", "-n", 10, "--out", "leduc.eq")
    outcome = equipoise("solve", "leduc", "-n", 20, "--out", "leduc.eq", "--resume", "--threads", 2)
    assert outcome.code == 0
    resumed, whole = SolvedGame.load("leduc.eq"), SolvedGame.load("whole.eq")
    np.testing.assert_array_equal(resumed.table.probability, whole.table.probability)
    assert resumed.progress[-1].exploitability == whole.progress[-1].exploitability


def test_another_method_is_named_before_its_limits(equipoise):
    equipoise("solve", "kuhn", "-n", 10, "--out", "kuhn.eq", "--threads", 2)
    outcome = equipoise("solve", "kuhn", "-n", 20, "--out", "kuhn.eq", "--resume", "--method", "external")
    assert outcome.code == 2
    assert "kuhn.eq holds another run: method cfr, asked for external" in outcome.err


def test_resume_without_a_file_begins(equipoise):
    outcome = equipoise("solve", "kuhn", "-n", 10, "--out", "new.eq", "--resume")
    assert outcome.code == 0
    assert "starting from the beginning" in outcome.err


def test_resume_of_a_finished_run_does_nothing(equipoise):
    equipoise("solve", "kuhn", "-n", 10, "--out", "kuhn.eq")
    outcome = equipoise("solve", "kuhn", "-n", 5, "--out", "kuhn.eq", "--resume", "--json")
    assert outcome.code == 0
    assert outcome.json["iterations"] == 10
    assert "nothing left to do" in outcome.err


def test_a_broken_file_is_not_resumed_and_stays(equipoise):
    equipoise("solve", "kuhn", "-n", 10, "--out", "kuhn.eq")
    with open("kuhn.eq", "rb") as file:
        half = file.read()[:500]
    with open("kuhn.eq", "wb") as file:
        file.write(half)
    outcome = equipoise("solve", "kuhn", "-n", 20, "--out", "kuhn.eq", "--resume")
    assert outcome.code == 2
    assert "kuhn.eq is truncated" in outcome.err
    assert os.path.getsize("kuhn.eq") == 500


def test_a_disk_that_fills_up_on_the_way_is_said_and_the_run_goes_on(equipoise, monkeypatch):
    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(keeping, "SAVE_EVERY_SECONDS", 0.0)
    monkeypatch.setattr(keeping, "SAVE_SHARE", 1.0)
    equipoise("solve", "kuhn", "-n", 10, "--out", "kuhn.eq")
    before = os.path.getsize("kuhn.eq")
    monkeypatch.setattr(os, "fsync", full)
    outcome = equipoise("solve", "kuhn", "-n", 50, "--out", "kuhn.eq", "--resume")
    assert outcome.code == 1
    assert "exploitability" in outcome.out
    assert "saved in" not in outcome.err
    assert outcome.err.count("not saved, the run goes on") == 1
    assert "error: cannot write kuhn.eq: no space left on device; the previous file is untouched" in outcome.err
    assert os.path.getsize("kuhn.eq") == before
    assert os.listdir() == ["kuhn.eq"]


def test_a_public_state_of_a_game_is_shown(equipoise):
    equipoise("solve", "kuhn", "-n", 200, "--out", "kuhn.eq")
    found = equipoise("show", "kuhn.eq", "--node", "b", "--json").json
    place = found["place"]
    assert (found["game"], place["kind"], place["player"]) == ("kuhn", "decision", 1)
    assert [action["name"] for action in place["actions"]] == ["fold", "call"]
    text = equipoise("show", "kuhn.eq", "--node", "b").out
    assert "b: decision, reached with probability" in text
    assert "K:b" in text
    assert "leads to 'bp', 'bb'" in text
    assert "give it without --line" in equipoise("show", "kuhn.eq", "--node", "b", "--csv").err
    assert "unknown public state" in equipoise("show", "kuhn.eq", "--node", "zzz").err
    assert "--grid is for hold'em spots" in equipoise("show", "kuhn.eq", "--grid").err
