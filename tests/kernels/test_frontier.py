# SPDX-License-Identifier: Apache-2.0
"""Leaves valued from outside, in both kernels: against trees that go on, with threads, gates and watched values."""

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games.registry import make_game
from equipoise.kernels.frontier import Frontier, LeafValues
from equipoise.kernels.gates import GateKind, RootGate
from equipoise.search.holdem.depth_limit import PLAIN, LeafChoices, limit_depth
from equipoise.search.leaves import FixedLeaves, ZeroLeaves
from equipoise.search.public import PublicProfile
from equipoise.solvers.best_response import evaluate
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rules import CFR, DCFR, CFRPlus, tabulate_discounts
from equipoise.trees.derive import derive_public_game
from equipoise.trees.history import build_history_tree
from equipoise.trees.holdem.tree import build_holdem_tree
from equipoise.trees.public import build_public_tree
from equipoise.trees.vector import TreeStrategy
from tests.search.blueprints import random_strategy
from tests.solvers.test_holdem import spot

TREE = build_public_tree(derive_public_game(make_game("leduc")))
HISTORIES = build_history_tree(make_game("kuhn"))
ROOTS = [int(node) for node in np.flatnonzero((TREE.actor >= 0) & (TREE.actor[TREE.parent] == -1))]


def cut(evaluate):
    """Returns Leduc's first round, and its frontier."""
    trunk = PublicProfile(TREE, random_strategy(TREE, 8)).subgame(0, leaves=ROOTS)
    leaves = trunk.part.leaves.tolist()
    first, second = ([trunk.tree.private_cells(leaf, player) for leaf in leaves] for player in (0, 1))
    states = [TREE.states[node] for node in trunk.part.nodes[trunk.part.leaves]]
    return trunk, Frontier(evaluate, (first, second), states=states, joint=[None] * len(leaves))


@pytest.mark.usefixtures("any_team")
@pytest.mark.parametrize("num_threads", [1, 2, 3])
@pytest.mark.parametrize("is_alternating", [True, False])
def test_given_values_are_added_to_what_is_backed_up(is_alternating, num_threads):
    rng = np.random.default_rng(1)
    given = []

    def evaluate(batch):
        given.append([rng.normal(size=own.shape) for own in batch.reach])
        return LeafValues((given[-1][0], given[-1][1]))

    trunk, frontier = cut(evaluate)
    solver = CFRSolver(
        trunk.tree,
        DCFR(),
        is_alternating=is_alternating,
        num_threads=num_threads,
        frontier=frontier,
        watched=[0],
        root_reach=trunk.beliefs.reach,
        kernel=trunk.kernel,
    )
    twin = CFRSolver(trunk.tree, DCFR(), kernel=trunk.kernel)
    solver.iterate(2)
    solver.iterate(3)
    assert len(given) == (10 if is_alternating else 5)
    tables, kernel = twin.tables, twin.kernel
    for t in range(1, 6):
        ends = []
        for player in (0, 1):
            asked = given[2 * (t - 1) + player if is_alternating else t - 1]
            cfv = kernel.terminal_values(player, tables.realization)
            own = slice(*frontier.start[player : player + 2])
            cfv[frontier.cells[own]] += asked[player].ravel()[frontier.places[own]]
            ends.append(cfv)
            if is_alternating:
                kernel.learn(DCFR().kernel, tabulate_discounts(DCFR(), t, 1), tables, player, cfv, first_t=t)
        if not is_alternating:
            for player in (0, 1):
                kernel.learn(DCFR().kernel, tabulate_discounts(DCFR(), t, 1), tables, player, ends[player], first_t=t)
    np.testing.assert_allclose(solver.tables.regret_sum, tables.regret_sum, atol=1e-12)
    np.testing.assert_allclose(solver.tables.strategy_sum, tables.strategy_sum, atol=1e-12)


def test_reaches_of_all_leaves_come_in_one_batch():
    seen = []
    trunk, frontier = cut(
        lambda batch: seen.append([own.copy() for own in batch.reach]) or ZeroLeaves().evaluate(batch)
    )
    solver = CFRSolver(trunk.tree, CFR(), frontier=frontier, kernel=trunk.kernel, is_alternating=False)
    reach = solver.tables.realization.copy()
    solver.iterate(1)
    for player in (0, 1):
        for leaf, own in enumerate(seen[0][player]):
            cells = trunk.tree.private_cells(int(trunk.part.leaves[leaf]), player)
            np.testing.assert_array_equal(own[: cells.size], reach[cells])
    assert frontier.batch.num_private.shape == (len(ROOTS), 2)


def test_evaluations_ask_for_leaves_too():
    strategy = random_strategy(TREE, 8)
    whole = CFRSolver(TREE, CFR())
    trunk, frontier = cut(FixedLeaves(TREE, strategy).evaluate)
    expected = whole.kernel.values(strategy, is_best=False)
    got = trunk.kernel.values(trunk.part.restrict(strategy), is_best=False, frontier=frontier)
    for player in (0, 1):
        np.testing.assert_allclose(got[player], expected[player], atol=1e-12)
    solver = CFRSolver(trunk.tree, CFR(), frontier=frontier, kernel=trunk.kernel)
    solver.iterate(100)
    assert (
        solver.evaluate().exploitability
        < 0.2 * CFRSolver(trunk.tree, CFR(), frontier=frontier, kernel=trunk.kernel).evaluate().exploitability
    )


@pytest.mark.usefixtures("any_team")
@pytest.mark.parametrize("num_threads", [1, 2])
def test_what_a_callback_raises_comes_out_and_the_kernel_goes_on(num_threads):
    answers = [KeyError("broken"), "nan", "shape", None]

    def evaluate(batch):
        answer = answers[0]
        if isinstance(answer, Exception):
            raise answer
        values = ZeroLeaves().evaluate(batch)
        if answer == "nan":
            values.cfv[0][0, 0] = np.nan
        return LeafValues((values.cfv[0][:1], values.cfv[1])) if answer == "shape" else values

    trunk, frontier = cut(evaluate)
    solver = CFRSolver(trunk.tree, CFR(), frontier=frontier, kernel=trunk.kernel, num_threads=num_threads)
    before = solver.tables.regret_sum.copy()
    for kind, message in ((KeyError, "broken"), (ValueError, "finite numbers"), (ValueError, "shape")):
        with pytest.raises(kind, match=message):
            solver.iterate(1)
        np.testing.assert_array_equal(solver.tables.regret_sum, before)
        answers.pop(0)
    solver.iterate(1)
    assert np.abs(solver.tables.regret_sum).max() > 0


@pytest.mark.parametrize("layout", ["public", "holdem"])
def test_iterations_before_an_exception_count(layout):
    def begin():
        limited = limited_turn() if layout == "holdem" else None
        trunk, frontier = (
            (limited, linear(limited)) if limited else cut(FixedLeaves(TREE, random_strategy(TREE, 8)).evaluate)
        )
        size = trunk.tree.hands[0][1].size if limited else trunk.tree.num_private[0, 1]
        return CFRSolver(
            trunk.tree,
            DCFR(),
            is_alternating=False,
            frontier=frontier,
            watched=[0],
            gate=resolving_gate(size),
            kernel=None if limited else trunk.kernel,
        )

    parted, whole = begin(), begin()
    evaluate, answers = parted.frontier.evaluate, iter([None] * 4)

    def fail_once(batch):
        if next(answers, "over") == "over":
            parted.frontier.evaluate = evaluate
            raise KeyboardInterrupt
        return evaluate(batch)

    parted.frontier.evaluate = fail_once
    parted.iterate(1)
    with pytest.raises(KeyboardInterrupt):
        parted.iterate(20)
    assert parted.iteration == 4
    parted.iterate(6)
    whole.iterate(10)
    state = parted.state()
    for name, expected in whole.state().items():
        np.testing.assert_array_equal(state[name], expected, err_msg=name)


@pytest.mark.parametrize("layout", ["public", "holdem"])
def test_evaluations_refuse_leaves_that_are_no_numbers(layout):
    limited = limited_turn() if layout == "holdem" else None
    trunk, frontier = (limited, linear(limited)) if limited else cut(ZeroLeaves().evaluate)
    evaluate = frontier.evaluate

    def spoil(batch):
        values = evaluate(batch)
        values.cfv[1][0, 0] = np.nan
        return values

    solver = CFRSolver(trunk.tree, CFR(), frontier=frontier, kernel=None if limited else trunk.kernel)
    frontier.evaluate = spoil
    with pytest.raises(ValueError, match="values of leaves must be finite numbers"):
        solver.evaluate()


def test_a_table_is_evaluated_with_leaves_on_both_layouts():
    limited, (trunk, frontier) = limited_turn(), cut(FixedLeaves(TREE, random_strategy(TREE, 8)).evaluate)
    for solver in (
        CFRSolver(limited.tree, CFRPlus(), dtype=np.float64, frontier=linear(limited)),
        CFRSolver(trunk.tree, CFRPlus(), frontier=frontier, kernel=trunk.kernel),
    ):
        solver.iterate(3)
        sums = solver.average_strategy()
        found = evaluate(solver.tree, sums, frontier=solver.frontier)
        assert found.best_response_values == pytest.approx(solver.evaluate().best_response_values, abs=1e-9)
        with pytest.raises(ConfigError, match="need a tree of public states"):
            evaluate(HISTORIES, np.zeros(0), frontier=solver.frontier)


def test_other_leaves_than_a_holdem_kernel_was_bound_with_are_refused():
    limited = limited_turn()
    solver = CFRSolver(limited.tree, CFRPlus(), frontier=limited.frontier)
    solver.frontier = linear(limited)
    for work in (lambda: solver.iterate(1), solver.evaluate):
        with pytest.raises(ConfigError, match="begin another run"):
            work()


@pytest.mark.parametrize("layout", ["public", "holdem"])
def test_reaches_at_the_root_that_make_no_sense_are_refused(layout):
    tree = build_holdem_tree(TURN) if layout == "holdem" else TREE
    sizes = [own.size for own in tree.hands[0]] if layout == "holdem" else tree.num_private[0].tolist()
    first, second = (np.ones(size) for size in sizes)
    given = [
        ((np.full(sizes[0], np.nan), second), r"root_reach\[0\] must be finite"),
        ((first, -second), r"root_reach\[1\] must be at least 0, got -1"),
        ((first[1:], second), r"root_reach\[0\] must have shape"),
        ((first,), "root_reach must be of both players, got 1"),
    ]
    for reach, message in given:
        with pytest.raises(ValueError, match=message):
            CFRSolver(tree, CFR(), root_reach=reach).iterate(1)


def test_leaves_elsewhere_are_refused():
    solver = CFRSolver(TREE, CFR())
    far = [np.array([10**6], np.int32)]
    solver.frontier = Frontier(ZeroLeaves().evaluate, (far, far), states=["far"])
    with pytest.raises(ValueError, match="cells of leaves"):
        solver.iterate(1)


TURN = spot("Ks7h2d4c", "TT+, A9s+, KQ|99+, AT+, QJs", menu="50%, a / a")


def resolving_gate(size):
    """Returns a gate of the second player at which every alternative is worth nothing."""
    zeros = np.zeros(size)
    return RootGate(
        kind=GateKind.RESOLVING,
        player=1,
        mass=np.ones(size),
        alternative=zeros,
        deviation=zeros,
        prior=zeros,
        regret=np.zeros((2, size)),
    )


def limited_turn():
    """Returns a turn cut before the river, as tables of one continuation and as a function of reaches."""
    tree = build_holdem_tree(TURN, merges_suits=False)
    sums = np.random.default_rng(3).random(tree.arrays.num_cells)
    return limit_depth(TURN, TreeStrategy(tree, sums), 0, LeafChoices(opponent=PLAIN))


def linear(limited):
    """Returns a frontier whose values are those of the tables: reaches times payoffs."""
    tables, tree = limited.frontier.tables, limited.tree
    rows = [hands.size for hands in tree.hands[0]]
    payoff, chance = {}, tree.arrays.flat_scale
    for table, (first, count, *_) in enumerate(tables.tables.tolist()):
        for leaf in range(first, first + count):
            line = int(tables.lines[leaf])
            scale = tables.scale[leaf] * chance[line]
            payoff[line] = [
                scale * tables.payoffs(player, table)[0, : rows[1 - player], 0, : rows[player]] for player in (0, 1)
            ]

    def evaluate(batch):
        values = [np.zeros(own.shape) for own in batch.reach]
        for line, pays in payoff.items():
            for player in (0, 1):
                values[player][line] = batch.reach[1 - player][line] @ pays[player]
        return LeafValues((values[0], values[1]))

    cells = tree.leaf_cells(0), tree.leaf_cells(1)
    return Frontier(evaluate, cells, states=tree.leaving_nodes())


@pytest.mark.parametrize("num_threads", [1, 2])
@pytest.mark.parametrize("is_alternating", [True, False])
def test_holdem_lines_valued_from_outside_are_tables_of_one_continuation(is_alternating, num_threads):
    limited = limited_turn()
    runs = [
        CFRSolver(
            limited.tree,
            CFRPlus(),
            dtype=np.float64,
            is_alternating=is_alternating,
            num_threads=num_threads,
            frontier=frontier,
            watched=(0, *limited.tree.leaving_nodes()),
        )
        for frontier in (limited.frontier, linear(limited))
    ]
    for run in runs:
        run.iterate(5)
        run.iterate(10)
    np.testing.assert_allclose(runs[1].tables.regret_sum, runs[0].tables.regret_sum, atol=1e-6)
    np.testing.assert_allclose(runs[1].average_sums, runs[0].average_sums, atol=1e-6)
    np.testing.assert_allclose(runs[1].evaluate().nash_conv, runs[0].evaluate().nash_conv, atol=1e-6)
    for node in runs[0].watched.places:
        for player in (0, 1):
            np.testing.assert_allclose(
                runs[1].average_values(player, node), runs[0].average_values(player, node), atol=1e-6
            )
    with pytest.raises(ConfigError, match="leave the first street"):
        CFRSolver(limited.tree, frontier=limited.frontier, watched=[1])


def test_watched_root_values_of_holdem_are_those_of_the_strategies_played():
    tree = build_holdem_tree(TURN)
    watching, plain = (
        CFRSolver(tree, CFR(), dtype=np.float64, is_alternating=False, watched=watched) for watched in ([0], [])
    )
    watching.iterate(4)
    expected = [0.0, 0.0]
    for _ in range(4):
        values = plain.kernel.values(plain.tables.regret_sum, is_best=False)
        expected = [total + own / 4 for total, own in zip(expected, values, strict=True)]
        plain.iterate(1)
    for player in (0, 1):
        np.testing.assert_allclose(watching.average_values(player), expected[player], atol=1e-9)
    np.testing.assert_array_equal(watching.tables.regret_sum, plain.tables.regret_sum)


def test_a_frontier_below_a_gate():
    limited, runs = limited_turn(), []
    size = limited.tree.hands[0][1].size
    for frontier in (limited.frontier, linear(limited)):
        gate = resolving_gate(size)
        runs.append(CFRSolver(limited.tree, CFRPlus(), dtype=np.float64, num_threads=2, frontier=frontier, gate=gate))
        runs[-1].iterate(12)
    np.testing.assert_allclose(runs[1].gate.reach, runs[0].gate.reach, atol=1e-6)
    np.testing.assert_allclose(runs[1].average_sums, runs[0].average_sums, atol=1e-6)
    assert np.ptp(runs[0].gate.reach) > 0.1
