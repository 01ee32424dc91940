# SPDX-License-Identifier: Apache-2.0
"""Runs of Monte Carlo CFR on hold'em trees: they converge, discount by periods, and resume to the bit."""

import functools

import numpy as np
import pytest

from equipoise.core.errors import CheckpointError, ConfigError
from equipoise.games.holdem.cards import DECKS, parse_board
from equipoise.games.holdem.menu_notation import parse_menu
from equipoise.games.holdem.ranges import parse_range
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.driver import run
from equipoise.solvers.holdem.mccfr import HoldemMCCFRSolver
from equipoise.solvers.mccfr import Discounting, DiscountKind, MCCFRConfig, Scheme
from equipoise.trees.holdem.tree import build_holdem_tree

by_scheme = pytest.mark.parametrize("scheme", [Scheme.EXTERNAL, Scheme.PUBLIC_CHANCE])


@functools.cache
def tree(*, merges_suits=False, board="9hThQhKh", ranges="AA, KQ, 99, JT:0.5|QQ+, AJ, T9"):
    deck = DECKS["small"]
    first, second = (parse_range(text, deck) for text in ranges.split("|"))
    spot = HoldemSpot(
        board=parse_board(board, deck),
        pot=20,
        stacks=(60, 60),
        ranges=(first, second),
        menu=parse_menu("100%, a / a"),
        big_blind=10,
        deck=deck,
    )
    return build_holdem_tree(spot, merges_suits=merges_suits)


def make_solver(scheme, *, seed=1, dtype=np.float64, spot_tree=None, **options):
    config = MCCFRConfig(scheme=scheme, **options)
    return HoldemMCCFRSolver(spot_tree or tree(), config, rng=np.random.default_rng(seed), dtype=dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("scheme", "iterations"), [(Scheme.EXTERNAL, 300_000), (Scheme.PUBLIC_CHANCE, 10_000)])
def test_both_schemes_converge_to_the_value(scheme, iterations, dtype):
    solver = make_solver(scheme, dtype=dtype)
    solver.iterate(iterations // 50)
    early = solver.evaluate().exploitability
    solver.iterate(iterations - iterations // 50)
    late = solver.evaluate()
    exact = CFRSolver(tree(), dtype=np.float64)
    exact.iterate(500)
    assert late.exploitability < min(0.5, early / 3)
    assert late.values[0] == pytest.approx(exact.evaluate().values[0], abs=2 * late.exploitability + 0.01)


def test_public_chance_sampling_converges_on_merged_suits():
    solver = make_solver(Scheme.PUBLIC_CHANCE, spot_tree=tree(merges_suits=True))
    solver.iterate(10_000)
    assert solver.evaluate().exploitability < 0.5


@pytest.mark.parametrize("kind", [DiscountKind.LINEAR, DiscountKind.INITIAL])
@by_scheme
def test_discounting_multiplies_both_tables_when_a_period_ends(scheme, kind):
    discounting = Discounting(kind=kind, period_nodes=1)
    plain, discounted = make_solver(scheme), make_solver(scheme, discounting=discounting)
    plain.iterate(1)
    discounted.iterate(1)
    factor = discounting.initial_factor if kind is DiscountKind.INITIAL else 1 / discounted.period
    assert discounted.period == discounted.nodes_touched + 1
    for name in ("regret_sum", "strategy_sum"):
        expected = getattr(plain.tables, name)
        assert expected.any()
        np.testing.assert_allclose(getattr(discounted.tables, name), expected * factor, rtol=1e-12)


def test_linear_discounting_is_ahead_at_equal_nodes():
    gaps = {}
    for kind in (DiscountKind.NONE, DiscountKind.LINEAR):
        gaps[kind] = 0.0
        for seed in range(5):
            discounting = Discounting(kind=kind, period_nodes=20_000)
            solver = make_solver(Scheme.EXTERNAL, seed=seed, discounting=discounting)
            solver.iterate(40_000)
            gaps[kind] += solver.evaluate().exploitability
    assert gaps[DiscountKind.LINEAR] < gaps[DiscountKind.NONE]


@by_scheme
def test_a_resumed_run_goes_on_to_the_bit(scheme):
    options = {"discounting": Discounting(kind=DiscountKind.LINEAR, period_nodes=5_000), "dtype": np.float32}
    whole, first = (make_solver(scheme, **options) for _ in range(2))
    second = make_solver(scheme, seed=99, **options)
    whole.iterate(300)
    first.iterate(130)
    second.iterate(7)  # what it did before must not matter
    second.restore({name: array.copy() for name, array in first.state().items()})
    second.iterate(170)
    assert {name: array.tobytes() for name, array in second.state().items()} == {
        name: array.tobytes() for name, array in whole.state().items()
    }
    with pytest.raises(CheckpointError, match=r"saved regret_sum must have shape .* of float64, got .* of float32"):
        make_solver(scheme).restore(whole.state())


@by_scheme
def test_the_driver_runs_it(scheme):
    solver = make_solver(scheme)
    records = list(run(solver, iterations=500))
    assert records[-1].iteration == 500
    assert records[-1].nodes_touched == solver.nodes_touched > 0


def test_strategies_are_read_by_node_and_board():
    solver = make_solver(Scheme.EXTERNAL)
    solver.iterate(100)
    strategy = solver.average_strategy()
    assert strategy.shape == (solver.tree.hands[0][0].size, 3)
    np.testing.assert_allclose(strategy.sum(axis=1), 1.0)


def test_what_is_not_offered_is_refused():
    with pytest.raises(ConfigError, match="by external or public chance sampling, got outcome sampling"):
        make_solver(Scheme.OUTCOME)
    for dtype in (np.int16, np.float16):
        with pytest.raises(ConfigError, match="dtype must be float32 or float64 for sampling, got"):
            make_solver(Scheme.EXTERNAL, dtype=dtype)
    with pytest.raises(ConfigError, match="build it with merges_suits=False"):
        make_solver(Scheme.EXTERNAL, spot_tree=tree(merges_suits=True))
