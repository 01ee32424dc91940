# SPDX-License-Identifier: Apache-2.0
"""Hooks into public sweeps: gates against their plain twin, watched and given values, what is refused."""

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games.registry import make_game
from equipoise.kernels.gates import GateKind, RootGate
from equipoise.kernels.public_hooks import CellList, PublicHooks
from equipoise.search.public import PublicProfile
from equipoise.solvers.cfr import CFRSolver, allocate_tables
from equipoise.solvers.rules import CFR, DCFR, CFRPlus, tabulate_discounts
from equipoise.trees.derive import derive_public_game
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
        leave=mass * alternative,
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
    hooks = PublicHooks(subgame.kernel, gate=gate)
    for first_t, num_iterations, num_threads in ((1, 3, 1), (4, 5, 2)):
        hooks.iterate(
            rule.kernel,
            tabulate_discounts(rule, first_t, num_iterations),
            tables,
            first_t=first_t,
            is_alternating=is_alternating,
            num_threads=num_threads,
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
        leave=zeros,
        deviation=zeros,
        prior=zeros,
        regret=np.zeros((2, mass.size)),
    )
    rule = CFRPlus()
    tables = start(subgame, 1, gate, rule)
    assert tables.realization[subgame.kernel.root_cells[0]][1] == 0.0
    PublicHooks(subgame.kernel, gate=gate).iterate(
        rule.kernel, tabulate_discounts(rule, 1, 5), tables, first_t=1, is_alternating=True
    )
    entering = tables.realization[subgame.kernel.root_cells[0]]
    assert entering[1] == 0.0
    assert (entering * mass).sum() == pytest.approx(1.0)


@pytest.mark.parametrize("is_alternating", [True, False])
def test_watched_values_are_averaged_as_strategies_are(is_alternating):
    tree = build_public_tree(GAME, landmarks=ROOTS)
    rule = DCFR()
    solver, watching = (CFRSolver(tree, rule, is_alternating=is_alternating) for _ in range(2))
    cells = [np.concatenate([tree.private_cells(root, player) for root in ROOTS]) for player in (0, 1)]
    hooks = PublicHooks(watching.kernel, watched=CellList.of_players(*cells))
    expected, total = np.zeros(hooks.value_sum.size), 0.0
    for t in range(1, 7):
        row = tabulate_discounts(rule, t, 1)
        values = []
        for player in (0, 1):
            cfv = solver.kernel.strategy_values(player, solver.tables.strategy, solver.tables.realization)
            values.append(cfv[cells[player]])
            if is_alternating:
                PublicHooks(solver.kernel).iterate(
                    rule.kernel, row, solver.tables, first_t=t, is_alternating=True, players=(player,)
                )
        if not is_alternating:
            solver.iterate(1)
        expected = expected * row[0, 2] + row[0, 3] * np.concatenate(values)
        total = total * row[0, 2] + row[0, 3]
    hooks.iterate(
        rule.kernel, tabulate_discounts(rule, 1, 6), watching.tables, first_t=1, is_alternating=is_alternating
    )
    np.testing.assert_allclose(hooks.value_sum, expected, atol=1e-12)
    np.testing.assert_array_equal(watching.tables.regret_sum, solver.tables.regret_sum)
    assert total > 1.0


@pytest.mark.parametrize("player", [0, 1])
def test_given_values_are_added_to_what_is_backed_up(player):
    subgame = PublicProfile(TREE, random_strategy(TREE, 8)).subgame(0, leaves=ROOTS)
    tables = allocate_tables(subgame.tree, subgame.kernel, CFR().kernel)
    tables.strategy[:] = subgame.strategy
    tables.realization[:] = reach = subgame.realize(subgame.strategy)
    plain = subgame.strategy_values(player, subgame.strategy, subgame.strategy)
    given = CellList.of_players(
        *(np.concatenate([subgame.tree.private_cells(leaf, side) for leaf in subgame.part.leaves]) for side in (0, 1))
    )
    hooks = PublicHooks(subgame.kernel, given=given, watched=CellList.of_players(*subgame.kernel.root_cells))
    hooks.given_value[:] = np.random.default_rng(1).normal(size=hooks.given_value.size)
    hooks.iterate(CFR().kernel, tabulate_discounts(CFR(), 1, 1), tables, first_t=1, is_alternating=False)
    own = slice(*given.start[player : player + 2])
    expected = plain.sum() + reach[given.cells[own]] @ hooks.given_value[own]
    assert hooks.value_sum[slice(*hooks.watched.start[player : player + 2])].sum() == pytest.approx(expected)


def gate_of(**changes):
    fields = {
        "kind": GateKind.RESOLVING,
        "player": 0,
        "mass": np.ones(6),
        "leave": np.zeros(6),
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
        ({"leave": np.full(6, np.nan)}, "leave"),
        ({"player": 2}, "player"),
    ],
)
def test_gates_that_make_no_sense_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        gate_of(**changes)


def test_hooks_that_do_not_fit_are_refused():
    solver = CFRSolver(TREE, CFR())
    with pytest.raises(ValueError, match=r"mass must have shape \(6,\), got \(4,\)"):
        PublicHooks(
            solver.kernel,
            gate=gate_of(
                mass=np.ones(4),
                leave=np.zeros(4),
                deviation=np.zeros(4),
                prior=np.zeros(4),
                regret=np.zeros((2, 4)),
            ),
        )
    with pytest.raises(ValueError, match="watched cells"):
        PublicHooks(solver.kernel, watched=CellList.of_players(np.array([10**6], np.int32), np.zeros(0, np.int32)))
    with pytest.raises(ConfigError, match=r"players must be both or one of them, got \(1, 0\)"):
        PublicHooks(solver.kernel).iterate(
            CFR().kernel,
            tabulate_discounts(CFR(), 1, 1),
            solver.tables,
            first_t=1,
            is_alternating=True,
            players=(1, 0),
        )
