# SPDX-License-Identifier: Apache-2.0
"""`equipoise solve --warm-start`: games and spots go on from saved strategies, and misuse is said in one line."""

import pytest

from equipoise.solvers.solution_file import SolvedGame

LEDUC = ["solve", "leduc(merge_suits=True)", "--rule", "cfr"]
RIVER = """
board = "Ks7s2s5d9h"
pot = 20
stacks = 40
big_blind = 2
menu = "50%, a / a"
rule = "cfr"

[ranges]
oop = "AA, KK, AK, QJs, 76s"
ip = "QQ, 77, AQ, KQ:0.5, T9s"
"""


@pytest.fixture
def leduc(equipoise, tmp_path):
    """Returns a command that starts from a saved run of Leduc."""
    assert equipoise(*LEDUC, "-n", 200, "--out", "start.eq", "-q").code == 0
    return [*LEDUC, "--warm-start", tmp_path / "start.eq"]


def test_a_game_goes_on_from_a_saved_run(equipoise, leduc, tmp_path):
    before = equipoise("evaluate", "start.eq", "--json").json["nash_conv"]
    outcome = equipoise(*leduc, "--warm-start-iterations", 200, "-n", 201, "--out", "on.eq", "--json")
    assert outcome.code == 0
    assert outcome.json["nash_conv"] == pytest.approx(before, rel=0.05)
    assert outcome.json["iterations"] == 201
    assert outcome.json["nodes_touched"] < 30 * outcome.json["num_histories"]  # 2 for the iteration, some to start
    assert outcome.json["warm_start"].startswith("start.eq: 200 iterations, lambda ")
    assert "taken for 200 iterations" in outcome.err
    assert SolvedGame.load(tmp_path / "on.eq").config.warm_start == outcome.json["warm_start"]


def test_a_warm_started_run_is_resumed_to_the_bit(equipoise, leduc):
    details = ["--warm-start-iterations", 100, "--warm-start-lambda", 1e-4, "--warm-start-bound", "reach"]
    assert equipoise(*leduc, *details, "-n", 120, "--out", "part.eq").code == 0
    again = equipoise(*leduc, *details, "-n", 150, "--out", "part.eq", "--resume", "--json")
    assert "--warm-start is for its beginning" in again.err
    whole = equipoise(*leduc, *details, "-n", 150, "--json")
    assert again.json["nash_conv"] == whole.json["nash_conv"]
    assert again.json["warm_start"] == whole.json["warm_start"]


def test_iterations_are_chosen_if_they_are_not_given(equipoise, leduc):
    outcome = equipoise(*leduc, "--warm-start-iterations", "auto", "--seconds", 0.01, "--json")
    assert outcome.code == 0
    assert "(a short run goes as 13.5/T)" in outcome.err


def test_the_vector_form_starts_too(equipoise, leduc):
    outcome = equipoise(*leduc, "--form", "vector", "--warm-start-iterations", 200, "-n", 220, "--json")
    history = equipoise(*leduc, "--warm-start-iterations", 200, "-n", 220, "--json")
    assert outcome.json["nash_conv"] == pytest.approx(history.json["nash_conv"], rel=1e-6)


@pytest.mark.parametrize("pruning", ["partial", "rbp", "brp(25,0.01)"])
def test_pruned_runs_start_too(equipoise, leduc, pruning):
    details = ["--prune", pruning, "--warm-start-iterations", 200]
    whole = equipoise(*leduc, *details[2:], "-n", 201, "--json")
    assert equipoise(*leduc, *details, "-n", 201, "--out", "pruned.eq", "-q").code == 0
    again = equipoise(*leduc, *details, "-n", 300, "--out", "pruned.eq", "--resume", "--json")
    straight = equipoise(*leduc, *details, "-n", 300, "--json")
    assert again.json["progress"][0]["nash_conv"] == pytest.approx(whole.json["nash_conv"], rel=1e-6)
    assert again.json["nash_conv"] == straight.json["nash_conv"] < whole.json["nash_conv"]
    assert again.json["warm_start"].startswith("start.eq: 200 iterations, lambda ")


def test_a_sampled_strategy_will_do(equipoise, leduc):
    assert equipoise(*LEDUC[:2], "--method", "external", "-n", 2000, "--out", "sampled.eq", "-q").code == 0
    outcome = equipoise(*LEDUC, "--warm-start", "sampled.eq", "--warm-start-iterations", 50, "-n", 60, "--json")
    assert outcome.code == 0


def test_a_spot_goes_on_from_a_solved_one(equipoise, tmp_path):
    (tmp_path / "river.toml").write_text(RIVER)
    first = equipoise("solve", "river.toml", "-n", 100, "--out", "river.eq", "--json").json
    start = ["solve", "river.toml", "--warm-start", "river.eq", "--warm-start-iterations", 100]
    outcome = equipoise(*start, "-n", 101, "--json")
    assert outcome.code == 0
    assert outcome.json["nash_conv"] == pytest.approx(first["nash_conv"], rel=0.05)
    (tmp_path / "other.toml").write_text(RIVER.replace("pot = 20", "pot = 22"))
    other = equipoise("solve", "other.toml", *start[2:], "-n", 101)
    assert other.code == 2
    assert "river.eq holds another spot: pot 20, expected 22" in other.err
    packed = equipoise(*start, "-n", 101, "--precision", "int16")
    assert packed.code == 2
    assert "use float32 or float64, got int16" in packed.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--warm-start-iterations", 0], "stands for at least 1 iteration, got 0"),
        (["--warm-start-iterations", "many"], "must be auto or a whole number, got 'many'"),
        (["--warm-start-iterations", 10**5], "above what theory allows for this strategy: at most"),
        (["--warm-start-lambda", 2], "lambda must be from 0 to 1, got 2.0"),
        (["--warm-start-lambda", "x"], "must be auto or a number from 0 to 1, got 'x'"),
        (["--warm-start-iterations", 300, "-n", 300], "it must be above 300, got 300"),
        (["--rule", "hedge"], "regrets of regret matching, got rule hedge"),
    ],
)
def test_what_makes_no_sense_is_said(equipoise, arguments, message):
    assert equipoise("solve", "kuhn", "-n", 3, "--out", "kuhn.eq", "-q").code == 0
    outcome = equipoise("solve", "kuhn", "--rule", "cfr", "--warm-start", "kuhn.eq", *arguments)
    assert outcome.code == 2
    assert message in " ".join(outcome.err.split())


def test_other_files_and_methods_are_refused(equipoise):
    assert equipoise("solve", "kuhn", "-n", 3, "--out", "kuhn.eq", "-q").code == 0
    for arguments, message in (
        (["solve", "leduc", "--warm-start", "kuhn.eq"], "holds a strategy for kuhn"),
        (["solve", "kuhn", "--warm-start", "none.eq"], "none.eq"),
        (["solve", "kuhn", "--warm-start", "kuhn.eq", "--method", "egt"], "warm starts are for method cfr"),
        (["solve", "kuhn", "--warm-start-lambda", "0.1"], "--warm-start-lambda needs --warm-start FILE"),
    ):
        outcome = equipoise(*arguments)
        assert outcome.code == 2
        assert message in outcome.err


def test_a_missing_start_is_said_before_a_tree_is_built(equipoise):
    outcome = equipoise("solve", "leduc", "--warm-start", "none.eq")
    assert outcome.code == 2
    assert "histories" not in outcome.err


def test_rules_that_theory_does_not_cover_are_said(equipoise, leduc):
    plain = equipoise(*leduc, "--warm-start-iterations", 200, "-n", 205)
    discounted = equipoise(*leduc, "--rule", "dcfr", "--warm-start-iterations", 200, "-n", 205)
    assert (plain.code, discounted.code) == (0, 0)
    assert "a heuristic" not in plain.err
    assert "under dcfr a warm start is a heuristic" in discounted.err


def test_lambda_below_what_theory_asks_for_is_said(equipoise, leduc):
    outcome = equipoise(*leduc, "--warm-start-iterations", 200, "--warm-start-lambda", 0, "-n", 205)
    assert outcome.code == 0
    assert "less than theory asks for" in outcome.err
