# SPDX-License-Identifier: Apache-2.0
"""Hold'em in buckets: sweeps against their twin, exact evaluation against trees, runs whose exploitability falls."""

import dataclasses
import functools

import numpy as np
import pytest

from equipoise.core.errors import ConfigError, GameTooLargeError
from equipoise.games.holdem.betting import Street
from equipoise.games.holdem.cards import DECKS, FULL_DECK, parse_board
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.menu_notation import parse_menu
from equipoise.games.holdem.ranges import Range, parse_range
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.kernels.holdem.sampling import RunoutKernel, StrategyPair
from equipoise.solvers.best_response import evaluate
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.driver import run
from equipoise.solvers.holdem.bucketed import BucketedSolver, Runouts, evaluate_bucketed
from equipoise.solvers.holdem.mccfr import make_sampling_tables
from equipoise.solvers.mccfr import Discounting, DiscountKind, MCCFRConfig, Scheme
from equipoise.solvers.rules import CFR
from equipoise.trees.holdem.bucketed import build_bucketed_tree
from equipoise.trees.holdem.tree import build_holdem_tree
from tests.reference.bucketed_holdem import EveryHandItself, ReferenceSweep, StrengthPercentiles

SMALL = DECKS["small"]


def small_spot(board, ranges="AA, KQ, 99, JT:0.5|QQ+, AJ, T9", menu="100%, a / a", **changes):
    first, second = (parse_range(text, SMALL) for text in ranges.split("|"))
    fields = {"pot": 20, "stacks": (60, 60), "big_blind": 10, "deck": SMALL, **changes}
    return HoldemSpot(board=parse_board(board, SMALL), ranges=(first, second), menu=parse_menu(menu), **fields)


def preflop_spot(deck=DECKS["tiny"], last_street=Street.FLOP, menu="a", **changes):
    fields = {"stacks": (40, 40), "big_blind": 10, "small_blind": 5, "deck": deck, **changes}
    ranges = (Range.random(deck), Range.random(deck))
    return HoldemSpot(board=(), ranges=ranges, menu=parse_menu(menu), last_street=last_street, **fields)


SPOTS = {
    "river": small_spot("9hThQhKhAc"),
    "turn": small_spot("9hThQhKc"),
    "flop": small_spot("9hTcQs"),
    "preflop to flop": preflop_spot(menu="100%, a"),
    "turn with rake": dataclasses.replace(small_spot("9hThQhKc"), rake_rate=0.05, rake_cap=3.0),
    "preflop to turn": preflop_spot(last_street=Street.TURN, stacks=(30, 40)),
}


@functools.cache
def bucketed(name, num_buckets=5):
    spot = SPOTS[name]
    return build_bucketed_tree(spot, StrengthPercentiles(spot.deck, num_buckets, spot.last_street.num_board_cards))


def runouts_of(tree):
    return Runouts(tree, RunoutKernel(tree.arrays))


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("name", SPOTS)
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-10), (np.float32, 1e-4)])
def test_a_sweep_over_a_runout_equals_its_twin(name, player, dtype, tolerance):
    tree = bucketed(name)
    rng = np.random.default_rng(3)
    tables = make_sampling_tables(tree.rows.num_cells, dtype, rng)
    sums = rng.uniform(-0.5, 1.0, tree.rows.num_cells).astype(dtype)
    kernel = RunoutKernel(tree.arrays)
    for cards in list(tree.list_runouts())[::37]:
        twin = ReferenceSweep(tree, cards, player, sums.astype(np.float64))
        tables.regret_sum[:] = tables.strategy_sum[:] = 0.0
        runout = kernel.bind(tree.lay_out(cards))
        played = StrategyPair((sums, sums), tree.reach)
        kernel.update(runout, player, played, tree.reach[player], tables)
        values = kernel.values(runout, player, played)[: tree.hands.size]
        np.testing.assert_allclose(tables.regret_sum, twin.regret, rtol=0, atol=tolerance)
        np.testing.assert_allclose(tables.strategy_sum, twin.average, rtol=0, atol=tolerance)
        np.testing.assert_allclose(values, twin.root_value[tree.hands], rtol=0, atol=10 * tolerance)
        assert np.abs(twin.regret).max() > 0.01


@pytest.mark.parametrize("name", ["turn", "turn with rake", "preflop to flop"])
def test_with_a_bucket_for_every_hand_evaluation_is_that_of_the_tree(name):
    spot = SPOTS[name]
    tree = build_holdem_tree(spot, merges_suits=False)
    own = build_bucketed_tree(spot, EveryHandItself(spot))
    sums = np.random.default_rng(4).uniform(size=own.rows.num_cells) ** 3
    expected = evaluate(tree, own.lift(sums, tree))
    got = evaluate_bucketed(runouts_of(own), sums)
    np.testing.assert_allclose(got.values, expected.values, rtol=0, atol=1e-9)
    np.testing.assert_allclose(got.best_response_values, expected.best_response_values, rtol=0, atol=1e-9)
    assert expected.exploitability > 1.0


def test_with_a_bucket_for_every_hand_the_mean_update_is_full_width():
    spot = SPOTS["turn"]
    tree = build_holdem_tree(spot, merges_suits=False)
    own = build_bucketed_tree(spot, EveryHandItself(spot))
    full = CFRSolver(tree, CFR(), dtype=np.float64, is_alternating=False)
    full.iterate(1)
    kernel, zero = RunoutKernel(own.arrays), np.zeros(own.rows.num_cells)
    tables = make_sampling_tables(own.rows.num_cells, np.float64, np.random.default_rng(0))
    for cards in own.list_runouts():
        for player in (0, 1):
            runout = kernel.bind(own.lay_out(cards))
            kernel.update(runout, player, StrategyPair((zero, zero), own.reach), own.reach[player], tables)
    # at the root a hand's regret is that of the tree times the hand's weight
    hands = tree.hands[0][0]
    weights = spot.live_weights(0)
    expected = tree.rows(full.tables.regret_sum, 0, 0) * (weights / weights.sum())[hands][:, None]
    cells = ReferenceSweep.cells(ReferenceCells(own), own.decisions[0], spot.board)[hands]
    np.testing.assert_allclose(tables.regret_sum[cells] / own.num_runouts, expected, rtol=0, atol=1e-10)
    assert np.abs(expected).max() > 0.01


class ReferenceCells:
    def __init__(self, tree):
        self.tree = tree


def test_values_cancel_and_responses_gain():
    tree = bucketed("flop")
    for seed in range(2):
        sums = np.random.default_rng(seed).uniform(size=tree.rows.num_cells) ** 3
        result = evaluate_bucketed(runouts_of(tree), sums)
        assert sum(result.values) == pytest.approx(0.0, abs=1e-9)
        assert all(best > value for best, value in zip(result.best_response_values, result.values, strict=True))


@pytest.mark.parametrize("name", ["flop", "preflop to flop"])
def test_exploitability_inside_the_abstraction_falls(name):
    solver = BucketedSolver(bucketed(name), rng=np.random.default_rng(1), dtype=np.float64)
    figures = []
    for count in (10, 90, 900, 4_000):
        solver.iterate(count)
        figures.append(solver.evaluate().exploitability)
    assert figures[0] > figures[1] > figures[2] > figures[3]
    assert figures[3] < figures[0] / 15


def test_learnt_responses_gain_less_than_best_ones_and_nearly_as_much():
    tree = bucketed("preflop to flop")
    solver = BucketedSolver(tree, rng=np.random.default_rng(1), dtype=np.float64)
    for count in (5, 500):
        solver.iterate(count)
        exact = solver.evaluate()
        estimate = solver.estimate_response(rng=np.random.default_rng(2), num_learnt=3_000)
        assert estimate.gain < exact.exploitability + 3 * estimate.standard_error
        assert estimate.gain > 0.7 * exact.exploitability - 3 * estimate.standard_error
        assert 0 < estimate.standard_error < exact.exploitability


def test_a_lifted_strategy_is_evaluated_on_a_flop_spot():
    tree = build_holdem_tree(SPOTS["flop"], merges_suits=False)
    bucketed_tree = bucketed("flop")
    solver = BucketedSolver(bucketed_tree, rng=np.random.default_rng(1), dtype=np.float64)
    uniform = evaluate(tree, bucketed_tree.lift(solver.tables.strategy_sum, tree))
    assert uniform.exploitability == pytest.approx(CFRSolver(tree).evaluate().exploitability, abs=1e-9)
    solver.iterate(1_000)
    inside, lifted = solver.evaluate(), evaluate(tree, bucketed_tree.lift(solver.tables.strategy_sum, tree))
    # the same hands do the same, so values agree; responses that see the cards gain more than those that see buckets
    assert lifted.values == pytest.approx(inside.values, abs=1e-9)
    assert inside.exploitability < lifted.exploitability < uniform.exploitability / 2


def test_what_is_too_large_to_list_is_measured_against_uniform_play():
    spot = preflop_spot(FULL_DECK)  # 22,100 flops
    tree = build_bucketed_tree(spot, StrengthPercentiles(FULL_DECK, 20, last_size=3))
    solver = BucketedSolver(tree, rng=np.random.default_rng(1))
    start = solver.evaluate()
    assert start.num_infostates == 0
    assert start.values_against_uniform == pytest.approx(start.uniform_values, abs=1e-3)
    *_, last = run(solver, iterations=30)
    figures = last.sampled
    assert last.exploitability is None
    assert figures.num_infostates > 50
    for value, error, before in zip(
        figures.values_against_uniform, figures.standard_errors, figures.uniform_values, strict=True
    ):
        assert value > before + 3 * error > before
    state = {name: array.tobytes() for name, array in solver.state().items()}
    assert solver.evaluate() == solver.evaluate()
    assert state == {name: array.tobytes() for name, array in solver.state().items()}


def test_strategies_are_those_of_buckets():
    tree = bucketed("flop")
    solver = BucketedSolver(tree, rng=np.random.default_rng(1))
    solver.iterate(50)
    board = (*SPOTS["flop"].board, parse_board("9hTcQsKc")[-1])
    node = next(node for node, decision in tree.decisions.items() if decision.street == 1)
    strategy, buckets = solver.average_strategy(node, board), tree.buckets(board)
    blocked = hands_of(SMALL).blocked(board)
    np.testing.assert_array_equal(strategy[blocked], 0.0)
    np.testing.assert_allclose(strategy[~blocked].sum(axis=1), 1.0, rtol=1e-6)
    for bucket in range(5):
        assert np.unique(strategy[buckets == bucket], axis=0).shape[0] == 1
    with pytest.raises(ConfigError, match="not on the street of board"):
        solver.average_strategy(0, board)


def test_a_resumed_run_goes_on_to_the_bit():
    discounting = Discounting(kind=DiscountKind.LINEAR, period_nodes=2_000)
    config = MCCFRConfig(scheme=Scheme.PUBLIC_CHANCE, discounting=discounting)
    whole, first, second = (
        BucketedSolver(bucketed("turn"), config, rng=np.random.default_rng(seed)) for seed in (1, 1, 9)
    )
    whole.iterate(100)
    first.iterate(40)
    second.restore({name: array.copy() for name, array in first.state().items()})
    second.iterate(60)
    assert {name: array.tobytes() for name, array in second.state().items()} == {
        name: array.tobytes() for name, array in whole.state().items()
    }
    assert whole.period > 3


def test_runouts_are_counted_listed_and_sorted():
    tree = bucketed("preflop to turn")
    runouts = list(tree.list_runouts())
    assert len(runouts) == len(set(runouts)) == tree.num_runouts == 120 * 7
    assert all(tree.sort_runout(cards) == cards for cards in runouts)
    assert tree.sort_runout((38, 35, 51, 34)) == (35, 38, 51, 34)


class WrongBuckets(StrengthPercentiles):
    def assign(self, board):
        return super().assign(board) + 1


def test_what_cannot_be_is_refused():
    tree = bucketed("turn")
    rng = np.random.default_rng(0)
    with pytest.raises(ConfigError, match="by public chance sampling, got external sampling"):
        BucketedSolver(tree, MCCFRConfig(), rng=rng)
    with pytest.raises(ConfigError, match="dtype must be float32 or float64 for sampling, got int16"):
        BucketedSolver(tree, rng=rng, dtype=np.int16)
    with pytest.raises(ConfigError, match="buckets of turn hands must be 0 to 4, got 1 to 5"):
        BucketedSolver(build_bucketed_tree(SPOTS["turn"], WrongBuckets(SMALL, 5)), rng=rng).iterate(1)
    with pytest.raises(ConfigError, match="same betting and the same deck"):
        tree.lift(np.zeros(tree.rows.num_cells), build_holdem_tree(SPOTS["river"]))
    large = build_bucketed_tree(preflop_spot(FULL_DECK), StrengthPercentiles(FULL_DECK, 5))
    with pytest.raises(GameTooLargeError, match=r"20,000 at most, from board none there are 22,100; use estimate"):
        evaluate_bucketed(runouts_of(large), np.zeros(large.rows.num_cells))
    with pytest.raises(ConfigError, match="two to measure, got 1, 1"):
        BucketedSolver(tree, rng=rng).estimate_response(rng=rng, num_learnt=1, num_measured=1)
