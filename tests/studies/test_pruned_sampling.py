# SPDX-License-Identifier: Apache-2.0
"""Study `pruned-sampling` on small games, its races, and what its numbers amount to."""

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games.registry import make_game
from equipoise.solvers.mccfr import MCCFRConfig, MCCFRSolver, Scheme
from equipoise.solvers.sampled_pruning import LIBRATUS
from equipoise.studies.comparisons import Comparison, compare_means
from equipoise.studies.sampled_races import Race, measure_noise, run_race
from equipoise.studies.sampling.pruned_sampling import (
    BASELINE_CURVES,
    HOLDEM,
    LIBRATUS_CURVE,
    NOISE,
    OUTCOME,
    OUTCOME_INFOSET,
    PLAIN,
    PLURIBUS_CURVE,
    PRUNED_SAMPLING,
    RBS,
    VALUES,
    PrunedSamplingConfiguration,
    cost,
    timed,
)
from equipoise.studies.study import Measured, Point, Verdict
from equipoise.trees.history import build_history_tree

LEDUC = build_history_tree(make_game("leduc"))
SMALL = PrunedSamplingConfiguration(
    game="leduc", nodes=1_000_000, baseline_nodes=1_000_000, runs=2, noise_samples=200, menu="a", sweep=("-2/20",)
)


def test_the_study_on_small_games():
    result = PRUNED_SAMPLING.run(SMALL)
    assert not result.is_partial
    rows = {(row["panel"], row["curve"], row["nodes"]): row for row in result.conclusion.rows}
    panels = {"leduc", timed("leduc"), cost("leduc"), HOLDEM, timed(HOLDEM), cost(HOLDEM), VALUES, NOISE}
    assert {panel for panel, _, _ in rows} == panels
    assert all(row["ours"] > 0 for row in rows.values())
    assert rows["leduc", PLAIN, 1_000_000]["ours"] < rows["leduc", PLAIN, 300_000]["ours"]
    assert rows["leduc", PLAIN, 1_000_000]["standard_error"] > 0
    # the last half has not begun at the first mark: nothing is left out yet, whatever the seed
    assert rows[timed("leduc"), PLAIN, 300_000]["ours"] == rows["leduc", PLAIN, 300_000]["ours"]
    assert {claim.verdict for claim in result.conclusion.claims} <= {
        Verdict.CONFIRMED,
        Verdict.DENIED,
        Verdict.UNDECIDED,
    }
    assert set(result.curves[NOISE]) == set(BASELINE_CURVES)


def test_processor_time_is_that_of_the_first_solver():
    config = {"plain": MCCFRConfig(), "pruned": MCCFRConfig(pruning=LIBRATUS)}
    makers = {name: (lambda rng, c=c: MCCFRSolver(LEDUC, c, rng=rng)) for name, c in config.items()}
    race = Race(panel="nodes", timed_panel="time", makers=makers, scale=2.0)
    steps = list(run_race(race, marks=(10_000, 40_000), runs=2, seed=1))
    points = [point for step in steps for point in step.points]
    assert steps[-1].fraction == 1.0
    assert len(points) == 2 * 2 * 2 * 2
    for run in (0, 1):
        first = {p.x: p.y for p in points if (p.panel, p.curve, p.run) == ("nodes", "plain", run)}
        again = {p.x: p.y for p in points if (p.panel, p.curve, p.run) == ("time", "plain", run)}
        assert first == again
        assert first.keys() == {10_000, 40_000}


def test_measuring_noise_leaves_the_run_alone():
    solvers = [MCCFRSolver(LEDUC, MCCFRConfig(scheme=Scheme.OUTCOME), rng=np.random.default_rng(1)) for _ in range(2)]
    for solver in solvers:
        solver.iterate(100)
    assert measure_noise(solvers[0], 50) > 0
    for solver in solvers:
        solver.iterate(100)
    for name, array in solvers[1].state().items():
        np.testing.assert_array_equal(solvers[0].state()[name], array)


def fill(panel, curve, values, x=10):
    return [Point(panel=panel, curve=curve, x=x, y=value, run=run) for run, value in enumerate(values)]


@pytest.mark.parametrize(
    ("below", "verdict"),
    [
        ((1.0, 1.1, 0.9), Verdict.CONFIRMED),
        ((4.0, 4.1, 3.9), Verdict.DENIED),
        ((1.0, 4.0, 2.0), Verdict.UNDECIDED),
        ((1.0,), Verdict.NOT_MEASURED),
    ],
)
def test_means_of_runs_decide_beyond_two_standard_errors(below, verdict):
    measured = Measured()
    for point in fill("p", "a", (2.0, 2.1, 1.9)) + fill("p", "b", below):
        measured.add(point)
    comparison = Comparison(statement="b is lower", above="a", below="b", source="here", least=1.0)
    assert compare_means(comparison, "p", measured, (10,)).verdict is verdict


@pytest.mark.parametrize(
    ("last", "said", "verdict"),
    [
        (2.0, "2.41 times", Verdict.CONFIRMED),  # there at the geometric middle of half and end
        (3.0, "1.58 times", Verdict.UNDECIDED),
        (4.0, "1.00 times", Verdict.UNDECIDED),
        (8.0, "0.50 times", Verdict.UNDECIDED),  # unpruned sampling is there at the half
    ],
)
def test_a_speedup_is_measured_in_nodes_after_the_half(last, said, verdict):
    measured = Measured()
    configuration = PrunedSamplingConfiguration(nodes=1_000_000, baseline_nodes=300_000)
    marks = configuration.marks_within(configuration.nodes)
    assert marks == (300_000, 500_000, 1_000_000)
    for curve, values in ((PLAIN, (16.0, 8.0, 4.0)), (LIBRATUS_CURVE, (16.0, 8.0, last))):
        for mark, value in zip(marks, values, strict=True):
            measured.add(Point(panel="leduc5", curve=curve, x=mark, y=value))
    claims = PRUNED_SAMPLING.conclude(configuration, measured).claims
    claim = next(one for one in claims if "leduc5: libratus: " in one.statement and "after the half" in one.statement)
    assert (claim.ours, claim.verdict) == (said, verdict)


def test_a_run_as_long_as_ours_can_be_denies():
    configuration = PrunedSamplingConfiguration()
    measured = Measured()
    for curve, value in ((PLAIN, 300.0), (LIBRATUS_CURVE, 290.0)):
        measured.add(Point(panel=cost("leduc5"), curve=curve, x=configuration.nodes, y=value))
    claims = PRUNED_SAMPLING.conclude(configuration, measured).claims
    claim = next(one for one in claims if "leduc5: libratus: " in one.statement and "touch at least" in one.statement)
    assert claim.verdict is Verdict.DENIED


def test_iterations_are_cheaper_by_what_they_touch_in_the_last_half():
    measured = Measured()
    configuration = PrunedSamplingConfiguration(nodes=1_000_000, baseline_nodes=300_000)
    for curve, value in ((PLAIN, 300.0), (LIBRATUS_CURVE, 120.0)):
        measured.add(Point(panel=cost("leduc5"), curve=curve, x=1_000_000, y=value))
    claims = PRUNED_SAMPLING.conclude(configuration, measured).claims
    claim = next(one for one in claims if "leduc5: libratus: " in one.statement and "touch at least" in one.statement)
    assert (claim.ours, claim.verdict) == ("2.50 times fewer", Verdict.CONFIRMED)


def test_pluribus_is_compared_with_pruning_as_libratus_does_it():
    measured = Measured()
    configuration = PrunedSamplingConfiguration(nodes=1_000_000, baseline_nodes=300_000)
    for curve, values in (("libratus, as early as pluribus", (16.0, 8.0, 4.0)), (PLURIBUS_CURVE, (8.0, 4.0, 2.0))):
        for mark, value in zip(configuration.marks_within(1_000_000), values, strict=True):
            measured.add(Point(panel=timed("leduc5"), curve=curve, x=mark, y=value))
    claims = PRUNED_SAMPLING.conclude(configuration, measured).claims
    claim = next(one for one in claims if one.statement.startswith("leduc5, equal processor time: pluribus's changes"))
    assert (claim.ours, claim.verdict) == ("2.00 times", Verdict.CONFIRMED)


@pytest.mark.parametrize("text", ["-2", "-2/x", "2/5", "-1/0"])
def test_constants_that_cannot_be_are_refused(text):
    with pytest.raises(ConfigError):
        PrunedSamplingConfiguration(sweep=(text,))


@pytest.mark.parametrize(
    ("ratios", "verdict"), [((2.0, 3.0), Verdict.CONFIRMED), ((2.0, 1.5), Verdict.DENIED), ((0.5, 3.0), Verdict.DENIED)]
)
def test_the_noise_must_fall_and_go_on_falling(ratios, verdict):
    measured = Measured()
    configuration = PrunedSamplingConfiguration(nodes=300_000, baseline_nodes=1_000_000)
    for mark, ratio in zip((300_000, 1_000_000), ratios, strict=True):
        measured.add(Point(panel=NOISE, curve=OUTCOME, x=mark, y=ratio))
        measured.add(Point(panel=NOISE, curve=OUTCOME_INFOSET, x=mark, y=1.0))
    assert PRUNED_SAMPLING.conclude(configuration, measured).claims[-1].verdict is verdict


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("nodes=10", "nodes and baseline_nodes must be at least 300,000, got 10"),
        ("runs=1", "must be at least 2, got 1"),
    ],
)
def test_bad_settings_are_refused(equipoise, setting, said):
    outcome = equipoise("reproduce", "pruned-sampling", "-p", setting)
    assert outcome.code == 2
    assert said in " ".join(outcome.err.split())


def test_regret_based_sampling_is_turned_off_at_half_of_the_last_mark():
    prunings = PrunedSamplingConfiguration(nodes=20_000_000).prunings()
    assert prunings[RBS].end_node > 10**18
    assert prunings["rbs, off for the last half"].end_node == prunings[LIBRATUS_CURVE].first_node == 5_000_000
