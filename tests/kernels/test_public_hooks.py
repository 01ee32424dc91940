# SPDX-License-Identifier: Apache-2.0
"""Hooks into public sweeps: gates against their plain twin, watched and given values, what is refused."""

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games.registry import make_game
from equipoise.kernels.gates import GateKind, RootGate
from equipoise.kernels.vector import Hooks, WatchedValues
from equipoise.search.public import PublicProfile
from equipoise.solvers.cfr import CFRSolver, allocate_tables
from equipoise.solvers.rules import CFR, DCFR, CFRPlus, tabulate_discounts
from equipoise.trees.derive import derive_public_game
from equipoise.trees.history import build_history_tree
from equipoise.trees.public import build_public_tree
from tests.reference.gates import ReferenceGate, ReferenceGatedCFR
from tests.search.blueprints import random_strategy

GAME = derive_public_game(make_game("leduc"))
TREE = build_public_tree(GAME)
ROOTS = [int(node) for node in np.flatnonzero((TREE.actor >= 0) & (TREE.actor[TREE.parent] == -1))]


def start(subgame, searcher, gate, rule):
    """Returns tables of a run below a gate that has not begun."""
    tables = allocate_tables(subgame.tree, subgame.kernel, rule.kernel)
    tables.strategy[:] = subgame.kernel.normalize(tables.regret_sum)
    reach = [subgame.beliefs.reach[0], subgame.beliefs.reach[1]]
    reach[1 - searcher] = gate.first_reach()
    tables.realization[:] = subgame.realize(tables.strategy, reach=tuple(reach))
    return tables


@pytest.mark.usefixtures("any_team")
@pytest.mark.parametrize("kind", GateKind, ids=lambda kind: kind.name)
@pytest.mark.parametrize("rule", [CFRPlus(gamma=1.0), DCFR(), CFR()], ids=lambda rule: rule.name)
@pytest.mark.parametrize(("searcher", "is_alternating", "share"), [(0, True, 1.0), (1, False, 0.2)])
def test_gates_equal_their_twin(kind, rule, searcher, is_alternating, share):
    subgame = PublicProfile(TREE, random_strategy(TREE, 3)).subgame(ROOTS[7])
    rng = np.random.default_rng(4)
    opponent = 1 - searcher
    mass, size = subgame.mass(opponent).copy(), subgame.mass(opponent).size
    alternative, deviation, prior = rng.normal(size=size), 0.1 + rng.random(size), rng.random(size)
    gate = RootGate(
        kind=kind,
        player=opponent,
        mass=mass,
        alternative=mass * alternative,
        deviation=deviation,
        prior=prior,
        share=share,
        regret=np.zeros((2, size)),
    )
    tables = start(subgame, searcher, gate, rule)
    twin = ReferenceGatedCFR(
        GAME,
        rule,
        ROOTS[7],
        searcher,
        subgame.beliefs.reach[searcher],
        ReferenceGate(kind, mass, alternative, deviation, prior, share),
        is_alternating=is_alternating,
    )
    for first_t, num_iterations, num_threads in ((1, 3, 1), (4, 5, 2)):
        subgame.kernel.iterate(
            rule.kernel,
            tabulate_discounts(rule, first_t, num_iterations),
            tables,
            first_t=first_t,
            is_alternating=is_alternating,
            num_threads=num_threads,
            hooks=Hooks(gate=gate),
        )
    twin.iterate(8)
    np.testing.assert_allclose(
        tables.realization[subgame.kernel.root_cells[opponent]], twin.gate.reach(), rtol=1e-9, atol=1e-12
    )
    keys = zip(subgame.tree.infoset_player().tolist(), subgame.tree.infoset_labels, strict=True)
    bounds = zip(subgame.tree.infoset_start, subgame.tree.infoset_start[1:], strict=False)
    for key, (begin, end) in zip(keys, bounds, strict=True):
        got = tables.strategy_sum[subgame.tree.sequence_cell[begin:end]]
        np.testing.assert_allclose(got, twin.average[key], rtol=1e-8, atol=1e-11)


def test_impossible_private_states_do_not_enter():
    subgame = PublicProfile(TREE, random_strategy(TREE, 3)).subgame(ROOTS[2])
    mass = subgame.mass(0).copy()
    mass[1] = 0.0
    zeros = np.zeros(mass.size)
    gate = RootGate(
        kind=GateKind.MAXMARGIN,
        player=0,
        mass=mass,
        alternative=zeros,
        deviation=zeros,
        prior=zeros,
        regret=np.zeros((2, mass.size)),
    )
    rule = CFRPlus()
    tables = start(subgame, 1, gate, rule)
    assert tables.realization[subgame.kernel.root_cells[0]][1] == 0.0
    subgame.kernel.iterate(
        rule.kernel, tabulate_discounts(rule, 1, 5), tables, first_t=1, is_alternating=True, hooks=Hooks(gate=gate)
    )
    entering = tables.realization[subgame.kernel.root_cells[0]]
    assert entering[1] == 0.0
    assert (entering * mass).sum() == pytest.approx(1.0)


@pytest.mark.usefixtures("any_team")
@pytest.mark.parametrize("num_threads", [1, 2, 3])
@pytest.mark.parametrize("is_alternating", [True, False])
def test_watched_values_are_averaged_as_strategies_are(is_alternating, num_threads):
    tree = build_public_tree(GAME, landmarks=ROOTS)
    rule = DCFR()
    solver = CFRSolver(tree, rule, is_alternating=is_alternating)
    watching = CFRSolver(tree, rule, is_alternating=is_alternating, watched=ROOTS, num_threads=num_threads)
    cells = [np.concatenate([tree.private_cells(root, player) for root in ROOTS]) for player in (0, 1)]
    expected, total = np.zeros(watching.watched.value_sum.size), 0.0
    for t in range(1, 7):
        row = tabulate_discounts(rule, t, 1)
        values = []
        for player in (0, 1):
            cfv = solver.kernel.strategy_values(player, solver.tables.strategy, solver.tables.realization)
            values.append(cfv[cells[player]])
            if is_alternating:
                ends = solver.kernel.terminal_values(player, solver.tables.realization)
                solver.kernel.learn(rule.kernel, row, solver.tables, player, ends, first_t=t)
        if not is_alternating:
            solver.iterate(1)
        expected = expected * row[0, 2] + row[0, 3] * np.concatenate(values)
        total = total * row[0, 2] + row[0, 3]
    watching.iterate(2)
    watching.iterate(4)
    np.testing.assert_allclose(watching.watched.value_sum, expected, atol=1e-12)
    np.testing.assert_array_equal(watching.tables.regret_sum, solver.tables.regret_sum)
    assert watching.watched.weight[0] == total > 1.0
    first = tree.private_cells(ROOTS[0], 1).size
    start = int(watching.watched.player_start[1])
    np.testing.assert_allclose(watching.average_values(1, ROOTS[0]), expected[start : start + first] / total)


def gate_of(**changes):
    fields = {
        "kind": GateKind.RESOLVING,
        "player": 0,
        "mass": np.ones(6),
        "alternative": np.zeros(6),
        "deviation": np.zeros(6),
        "prior": np.zeros(6),
        "regret": np.zeros((2, 6)),
    }
    return RootGate(**{**fields, **changes})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"mass": -np.ones(6)}, "mass must be at least 0, got -1"),
        ({"share": 1.5}, "share must be from 0 to 1, got 1.5"),
        ({"kind": 0}, "a gate needs a GateKind, got 0"),
        ({"prior": np.ones(5)}, r"prior must have shape \(6,\), got \(5,\)"),
        ({"alternative": np.full(6, np.nan)}, "alternative"),
        ({"player": 2}, "player"),
    ],
)
def test_gates_that_make_no_sense_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        gate_of(**changes)


def test_hooks_that_do_not_fit_are_refused():
    small = gate_of(
        mass=np.ones(4), alternative=np.zeros(4), deviation=np.zeros(4), prior=np.zeros(4), regret=np.zeros((2, 4))
    )
    with pytest.raises(ValueError, match=r"mass must have shape \(6,\), got \(4,\)"):
        CFRSolver(TREE, CFR(), gate=small)
    solver = CFRSolver(TREE, CFR())
    solver.watched = WatchedValues([0], ([np.array([10**6], np.int32)], [np.zeros(0, np.int32)]))
    with pytest.raises(ValueError, match="watched cells"):
        solver.iterate(1)
    with pytest.raises(ConfigError, match="watched on trees of public states"):
        CFRSolver(build_history_tree(make_game("kuhn")), CFR(), watched=[0])
