# SPDX-License-Identifier: Apache-2.0
"""The loop on a device against the native module: the same run, whatever the rule, the gate and the leaves."""

import dataclasses
import functools

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games.holdem.cards import DECKS, parse_board
from equipoise.games.holdem.menu_notation import parse_menu
from equipoise.games.holdem.ranges import Range
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.kernels.gates import GateKind, RootGate
from equipoise.kernels.rules import Fallback
from equipoise.search.gadgets import Resolve
from equipoise.search.holdem.equity_leaves import equity_leaves
from equipoise.search.holdem.leaves import bind_lines
from equipoise.search.holdem.profile import HoldemProfile
from equipoise.search.holdem.subgame import HoldemSubgame
from equipoise.search.posing import pose
from equipoise.search.resolving import SubgameSolver
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rules import CFR, DCFR, CFRPlus, DCFRPlus, Hedge, LinearCFR, PredictiveCFRPlus
from equipoise.trees.holdem.tree import build_holdem_tree, plan_first_street
from equipoise.trees.vector import TreeStrategy

torch = pytest.importorskip("torch")

from equipoise.learning.device.kernel import TorchKernel  # noqa: E402  # needs torch

DECK = DECKS["royal"]
RULES = [CFR(), CFRPlus(), LinearCFR(), DCFR(), DCFRPlus(delay=2), PredictiveCFRPlus(), CFR(fallback=Fallback.ARGMAX)]
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA"))]
FEW = 12  # iterations: rounding has not been magnified yet


def weigh(seed):
    """Returns a range in which some hands are missing and others are likelier than others."""
    rng = np.random.default_rng(seed)
    return Range(rng.random(DECK.num_hands) * (rng.random(DECK.num_hands) < 0.7), DECK)


def make_spot(board, seed=1, **options):
    chips = {"pot": 20, "big_blind": 2, "stacks": (90, 90), **options}
    menu = parse_menu("50%, 100%, a; cap: 3")
    return HoldemSpot(
        deck=DECK, board=parse_board(board, DECK), menu=menu, ranges=(weigh(seed), weigh(seed + 1)), **chips
    )


@functools.cache
def river(seed=1, board="ThJhQsKcAd", **options):
    return build_holdem_tree(make_spot(board, seed, **options), merges_suits=False)


@functools.cache
def turn():
    return plan_first_street(make_spot("ThJhQsKc")).build()


def run(tree, *, kernel=None, iterations=FEW, rule=None, **options):
    solver = CFRSolver(tree, rule or DCFR(), kernel=kernel, dtype=options.pop("dtype", np.float64), **options)
    solver.iterate(iterations // 2)
    solver.iterate(iterations - iterations // 2)  # a run goes on from its tables
    return solver


def live_cells(tree):
    """Returns the cells of hands that are no padding."""
    return np.concatenate([tree.cells(0, node).ravel() for node in tree.decisions])


def check_alike(one, other, tolerance=1e-9):
    """Checks tables and the quality of what they play."""
    cells = live_cells(one.tree)
    for name in ("regret_sum", "strategy_sum", "last_regret"):
        first, second = getattr(one.tables, name), getattr(other.tables, name)
        if first.size:
            scale = np.abs(first[cells]).max()
            np.testing.assert_allclose(second[cells], first[cells], rtol=0, atol=tolerance * scale)
    expected, found = one.evaluate(), other.evaluate()
    pot = one.tree.spot.pot
    np.testing.assert_allclose(found.values, expected.values, rtol=0, atol=tolerance * pot)
    np.testing.assert_allclose(found.best_response_values, expected.best_response_values, rtol=0, atol=tolerance * pot)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("is_alternating", [True, False])
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_rivers_are_the_native_modules(rule, is_alternating, device):
    tree = river()
    options = {"rule": rule, "is_alternating": is_alternating}
    check_alike(run(tree, **options), run(tree, kernel=TorchKernel(tree.arrays, device=device), **options))


def test_single_precision_agrees_to_a_hundred_thousandth_of_the_pot():
    tree = river()
    options = {"rule": DCFR(), "dtype": np.float32}
    check_alike(run(tree, **options), run(tree, kernel=TorchKernel(tree.arrays), **options), 1e-5)


def test_rake_is_taken():
    tree = river(rake_rate=0.05)
    assert tree.arrays.flat_rake.size
    check_alike(run(tree), run(tree, kernel=TorchKernel(tree.arrays)))


@pytest.mark.parametrize("is_alternating", [True, False])
def test_leaves_are_asked(is_alternating):
    tree = turn()
    solvers = []
    for form in (None, TorchKernel):
        frontier = bind_lines(tree, (), equity_leaves(tree.spot))
        kernel = form and form(tree.arrays, frontier)
        leaving = tree.leaving_nodes()[:2]
        options = {"frontier": frontier, "watched": (0, *leaving), "is_alternating": is_alternating}
        solvers.append(run(tree, kernel=kernel, **options))
    check_alike(*solvers)
    for node in (0, *leaving):
        for player in (0, 1):
            first, second = (solver.average_values(player, node) for solver in solvers)
            np.testing.assert_allclose(second, first, rtol=0, atol=1e-9 * tree.spot.pot)


def make_gate(tree, kind, player=1):
    rng = np.random.default_rng(5)
    size = tree.hands[0][player].size
    return RootGate(
        kind=kind,
        player=player,
        mass=np.where(rng.random(size) < 0.9, rng.random(size), 0.0),
        alternative=rng.normal(size=size),
        deviation=np.where(rng.random(size) < 0.5, rng.random(size), 0.0),
        prior=rng.random(size),
        share=0.9,
        regret=np.zeros((2, size)),
    )


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("kind", list(GateKind))
def test_gates_let_in_the_same(kind, player):
    tree = river()
    gates = [make_gate(tree, kind, player) for _ in range(2)]
    one = run(tree, gate=gates[0])
    other = run(tree, gate=gates[1], kernel=TorchKernel(tree.arrays))
    check_alike(one, other, 1e-7)
    np.testing.assert_allclose(gates[1].reach, gates[0].reach, rtol=1e-7)
    np.testing.assert_allclose(gates[1].regret, gates[0].regret, rtol=1e-7, atol=1e-9)


def test_searches_run_on_any_kernel():
    tree = river()
    sums = run(tree).tables.strategy_sum
    subgame = HoldemSubgame.of_tree(tree, sums)
    problem = pose(HoldemProfile(TreeStrategy(tree, sums)), subgame, 1, Resolve())
    results = []
    for kernel in (None, TorchKernel(tree.arrays)):
        solver = SubgameSolver(dataclasses.replace(subgame, given_kernel=kernel), problem, dtype=np.float64)
        solver.reset()
        solver.iterate(FEW)
        results.append(solver.result())
    np.testing.assert_allclose(results[1].margin, results[0].margin, rtol=0, atol=1e-9 * tree.spot.pot)


def test_a_batch_is_its_subgames():
    trees = [river(), river(3, "TcJdQhKsAs"), river(7, "ThTcTdKcAd", pot=24, stacks=(108, 108))]
    kernel = TorchKernel([tree.arrays for tree in trees])
    alone = [CFRSolver(tree, DCFR(), dtype=np.float64) for tree in trees]
    tables = kernel.allocate_tables(DCFR().kernel, np.float64)
    discounts = alone[0]._find_discounts(1, FEW)
    kernel.iterate_all(DCFR().kernel, discounts, tables, first_t=1, is_alternating=True)
    begin = 0
    for tree, solver in zip(trees, alone, strict=True):
        solver.iterate(FEW)
        own = tables.strategy_sum[begin : begin + tree.arrays.num_cells]
        begin += tree.arrays.num_cells
        cells = live_cells(tree)
        np.testing.assert_allclose(own[cells], solver.tables.strategy_sum[cells], rtol=0, atol=1e-9)


def test_a_saved_run_goes_on():
    tree = river()
    kernel = TorchKernel(tree.arrays)
    whole, half, rest = (CFRSolver(tree, kernel=kernel) for _ in range(3))
    whole.iterate(FEW)
    half.iterate(5)
    rest.restore(half.state())
    rest.iterate(FEW - 5)
    np.testing.assert_array_equal(rest.tables.strategy_sum, whole.tables.strategy_sum)


def test_what_does_not_fit_is_refused():
    tree = river()
    with pytest.raises(ConfigError, match="one street"):
        TorchKernel(build_holdem_tree(make_spot("ThJhQsKc")).arrays)
    with pytest.raises(ConfigError, match="needs leaves"):
        TorchKernel(turn().arrays)
    with pytest.raises(ConfigError, match="the same betting"):
        TorchKernel([tree.arrays, river(stacks=(20, 20)).arrays])
    with pytest.raises(ConfigError, match="no device"):
        TorchKernel(tree.arrays, device="abacus")
    with pytest.raises(ConfigError, match="matches regrets"):
        CFRSolver(tree, Hedge(), kernel=TorchKernel(tree.arrays))
    with pytest.raises(ConfigError, match="dtype must be"):
        CFRSolver(tree, kernel=TorchKernel(tree.arrays), dtype=np.int16)
