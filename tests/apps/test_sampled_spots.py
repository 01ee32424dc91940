# SPDX-License-Identifier: Apache-2.0
"""Spots solved by sampling on the command line, and the periods of linear discounting that are chosen."""

import re

import numpy as np
import pytest

from equipoise.solvers.holdem.solved_spot import SolvedSpot
from equipoise.solvers.solution_file import SolvedGame

TURN = """
board = "Ks7s2d5d"
pot = 20
stacks = 20
menu = "a / a"
rule = "cfr+"

[ranges]
oop = "AA, KK, QJs, 76s"
ip = "QQ, 77, AQ, T9s"
"""


@pytest.fixture
def turn(equipoise, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "turn.toml").write_text(TURN)
    return "turn.toml"


@pytest.mark.parametrize(("method", "iterations"), [("external", 20_000), ("public-chance", 1000)])
def test_sampling_a_spot_comes_near_what_sweeps_find(equipoise, turn, method, iterations):
    swept = equipoise("solve", turn, "--target", "0.1%", "--json").json
    sampled = equipoise("solve", turn, "--method", method, "-n", iterations, "--seed", 3, "--json").json
    assert (sampled["method"], sampled["seed"], sampled["parameters"]["precision"]) == (method, 3, "float64")
    assert re.fullmatch(r"lcfr\(\d+\)", sampled["rule"])
    assert sampled["exploitability_percent_of_pot"] < 5
    assert sampled["values"] == pytest.approx(swept["values"], abs=0.5)


def test_a_seed_and_a_pruning_decide_what_is_sampled(equipoise, turn):
    command = ("solve", turn, "--method", "external", "-n", 2000, "--json", "--seed")
    values = [equipoise(*command, *more).json["exploitability"] for more in ([1], [1], [2], [1, "--prune", "rbs"])]
    assert values[0] == values[1] != values[2]
    assert values[3] != values[0]


def test_a_sampled_spot_goes_on_to_the_bit_and_is_shown(equipoise, turn):
    command = ("solve", turn, "--method", "external", "--rule", "lcfr(5000)", "--seed", 5)
    equipoise(*command, "-n", 500, "--out", "straight.eq")
    equipoise(*command, "-n", 200, "--out", "halted.eq")
    assert equipoise("solve", turn, "-n", 500, "--out", "halted.eq", "--resume").code == 0
    straight, halted = SolvedSpot.load("straight.eq"), SolvedSpot.load("halted.eq")
    assert straight.config == halted.config
    for name, table in straight.state.items():
        np.testing.assert_array_equal(halted.state[name], table, err_msg=name)
    with SolvedSpot("straight.eq") as stored:  # suits are kept apart: layouts agree
        assert stored.tree.arrays.num_cells
    assert equipoise("show", "straight.eq", "--json").json["frequencies"]
    evaluated = equipoise("evaluate", "straight.eq", "--json").json
    assert evaluated["method"] == "external"


def test_locks_are_not_sampled(equipoise, turn, tmp_path):
    (tmp_path / "locked.toml").write_text(TURN + '[[locks]]\nline = ""\nplay = {check = 1.0}\n')
    outcome = equipoise("solve", "locked.toml", "--method", "public-chance", "-n", 5)
    assert outcome.code == 2
    assert "locks are for method cfr" in outcome.err


@pytest.mark.parametrize("method", ["external", "outcome", "chance", "public-chance"])
def test_linear_discounting_is_the_default_of_sampling_with_a_hundredth_of_the_nodes(equipoise, method):
    found = equipoise("solve", "leduc", "--method", method, "-n", 2000, "--json").json
    period = int(re.fullmatch(r"lcfr\((\d+)\)", found["rule"])[1])
    assert period == pytest.approx(found["nodes_touched"] / 100, rel=0.5)


def test_periods_by_time_are_a_hundredth_of_the_seconds(equipoise):
    found = equipoise("solve", "leduc", "--method", "external", "--seconds", 1, "--json").json
    period = int(re.fullmatch(r"lcfr\((\d+)\)", found["rule"])[1])
    assert 5 < found["nodes_touched"] / period < 500  # by a rate measured beforehand, evaluations not counted


def test_a_saved_run_keeps_its_periods(equipoise):
    equipoise("solve", "kuhn", "--method", "external", "-n", 1000, "--out", "kuhn.eq")
    before = SolvedGame.load("kuhn.eq").config.rule
    for more in ([], ["--rule", "lcfr"]):
        assert equipoise("solve", "kuhn", "-n", 5000, "--out", "kuhn.eq", "--resume", *more).code == 0
        assert SolvedGame.load("kuhn.eq").config.rule == before
    assert "asked for lcfr(7)" in equipoise("solve", "kuhn", "--rule", "lcfr(7)", "--out", "kuhn.eq", "--resume").err
