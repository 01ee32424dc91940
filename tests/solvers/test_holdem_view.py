# SPDX-License-Identifier: Apache-2.0
"""What is shown at a decision agrees with the rules of the game, with the root, and with every name of a suit."""

import dataclasses

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games.holdem.cards import DECKS, parse_board
from equipoise.games.registry import make_game
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.holdem.view import view_average
from equipoise.solvers.rules import CFR
from equipoise.trees.holdem.locks import NodeLock
from equipoise.trees.holdem.tree import build_holdem_tree
from tests.reference.holdem import PairwiseView, expand_table
from tests.solvers.test_holdem import SPOTS, SYMMETRIC, spot, twin


def decisions_of(tree, street):
    return [index for index, decision in tree.decisions.items() if decision.street == street]


@pytest.mark.parametrize(
    ("name", "street", "place"),
    [
        ("small_river", 0, 0),
        ("small_river", 0, 4),
        ("small_turn", 0, 1),
        ("small_turn", 1, 0),
        ("small_turn", 1, -1),
        ("limit_flop", 1, 2),
        ("preflop_to_turn", 1, 1),
    ],
)
def test_a_view_is_what_pairs_of_hands_add_up_to(name, street, place):
    pair = twin(name)
    game = make_game("holdem_endgame", **{"pot": 20, "small_blind": 5, "big_blind": 10, **SPOTS[name]})
    sums = np.random.default_rng(4).uniform(size=int(pair.history.sequence_start[-1])) ** 2
    solver = CFRSolver(pair.tree, dtype=np.float64, num_threads=2)
    solver.tables.strategy_sum[:] = pair.to_cells(sums)
    node = decisions_of(pair.tree, street)[place]
    cards = pair.tree.boards[np.flatnonzero(pair.tree.arrays.boards[:, 0] == street)[-1]]
    view = view_average(solver, cards, node)
    strategy = CFRSolver(pair.history, CFR()).kernel.normalize(sums)
    expected = PairwiseView(pair, game, strategy, cards, node)
    committed = pair.tree.betting.nodes[node].state.committed
    assert view.pot == sum(committed)
    for player, shown in enumerate(view.players):
        # pairs by own hand and other hand
        reach, values = expected.reach[1 - player], expected.values[player] + committed[player]
        showdown = expected.showdown if player == 0 else 1.0 - expected.showdown
        reach, values, showdown = (table if player == 0 else table.T for table in (reach, values, showdown))
        met = reach[shown.hands].sum(axis=1)
        np.testing.assert_allclose(shown.matches, met, rtol=0, atol=1e-12)
        is_met = met > 0
        assert is_met.any()
        for got, pairs in ((shown.values, values), (shown.equities, showdown)):
            means = (reach * pairs)[shown.hands].sum(axis=1)[is_met] / met[is_met]
            np.testing.assert_allclose(got[is_met], means, rtol=0, atol=1e-10)
            assert np.isnan(got[~is_met]).all()
    own = view.players[view.actor]
    np.testing.assert_allclose((view.strategy * view.action_values).sum(axis=1), own.values, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(view.strategy.sum(axis=1).round(12), 1.0)


@pytest.mark.parametrize("rake_rate", [0.0, 0.05])
def test_the_root_is_what_the_evaluation_says(rake_rate):
    table = dataclasses.replace(
        spot("Ks7h2d4c", "TT+, A9s+, KQ|99+, AT+, QJs:0.5", menu="50%, a / a"), rake_rate=rake_rate
    )
    locks = [NodeLock(node=1, strategy=[0.25, 0.5, 0.25])]
    solver = CFRSolver(build_holdem_tree(table, locks=locks), locks=locks)
    solver.iterate(20)
    values = solver.evaluate().values
    shown = [player.value - table.pot / 2 for player in view_average(solver, table.board).players]
    np.testing.assert_allclose(shown, values, rtol=0, atol=1e-9)


def test_both_shares_are_the_pot():
    table = spot("Ks7h2d4c9c", "TT+, A9s+, KQ|99+, AT+, QJs", menu="50%, a / a")
    solver = CFRSolver(build_holdem_tree(table))
    solver.iterate(5)
    views = [view_average(solver, table.board, node) for node in solver.tree.decisions]
    shares = [sum(player.value for player in view.players) for view in views]
    np.testing.assert_allclose(shares, [view.pot for view in views], rtol=0, atol=1e-9)


def test_folding_is_worth_nothing():
    table = spot("Ks7h2d4c9c", "TT+, A9s+, KQ|99+, AT+, QJs", menu="50%, a / a")
    solver = CFRSolver(build_holdem_tree(table))
    solver.iterate(200)
    facing = next(node for node in decisions_of(solver.tree, 0) if 0 in solver.tree.betting.nodes[node].actions)
    view = view_average(solver, table.board, facing)
    assert view.actions[0] == 0
    np.testing.assert_allclose(view.action_values[:, 0], 0.0, atol=1e-9)
    assert np.nanmax(view.action_values[:, 1]) > 0


@pytest.mark.parametrize("case", SYMMETRIC)
def test_any_runout_can_be_looked_at(case):
    board, ranges, others = SYMMETRIC[case]
    fields = {"menu": "100%, a / a; flop: a", "deck": DECKS["small"], "pot": 20, "stacks": (60, 60), **others}
    table = spot(board, ranges, **fields)
    merged, plain = (CFRSolver(build_holdem_tree(table, merges_suits=merges)) for merges in (True, False))
    merged.iterate(10)
    plain.tables.strategy_sum[:] = expand_table(merged.tree, plain.tree, merged.tables.strategy_sum)
    node = decisions_of(plain.tree, plain.tree.arrays.boards[-1, 0])[1]
    last = table.last_street.num_board_cards
    hidden = [cards for cards in plain.tree.boards if cards not in merged.tree.boards and len(cards) == last]
    assert hidden
    for cards in hidden[:: len(hidden) // 5]:
        first, second = (view_average(solver, cards, node) for solver in (merged, plain))
        np.testing.assert_allclose(first.strategy, second.strategy, rtol=0, atol=1e-12)
        for one, other in zip(first.players, second.players, strict=True):
            np.testing.assert_array_equal(one.hands, other.hands)
            for name in ("weights", "matches", "values", "equities"):
                np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=0, atol=1e-10)


def test_a_decision_that_nobody_reaches_has_no_values():
    table = spot("Ks7h2d4c9c", "TT+|99+", menu="a")
    solver = CFRSolver(build_holdem_tree(table, merges_suits=False), locks=[NodeLock(node=0, strategy=[1.0, 0.0])])
    after_all_in = solver.tree.betting.root.children[1]
    view = view_average(solver, table.board, after_all_in)
    assert np.isnan(view.players[1].values).all()
    assert np.isnan(view.players[0].value)
    assert not np.isnan(view.players[0].values).any()


def test_impossible_views_are_refused():
    solver = CFRSolver(build_holdem_tree(spot("Ks7h2d4c", "TT+|99+", menu="a")))
    with pytest.raises(ConfigError, match="the tree has no board Ks7h2d4d; it begins with Ks7h2d4c"):
        view_average(solver, parse_board("Ks7h2d4d"))
    with pytest.raises(ConfigError, match="not on the street of board Ks7h2d4c9"):
        view_average(solver, parse_board("Ks7h2d4c9d"))
    with pytest.raises(ConfigError, match="node must be a decision of the betting tree, got 999"):
        view_average(solver, parse_board("Ks7h2d4c"), 999)
