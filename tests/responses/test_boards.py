# SPDX-License-Identifier: Apache-2.0
"""Hands watched on hold'em trees show what is played, and the best response to them grows with their number."""

import functools

import numpy as np
import pytest

from equipoise.core.errors import AbandonedError
from equipoise.games.holdem.betting import CALL, FOLD
from equipoise.games.holdem.hands import hands_of
from equipoise.games.registry import make_game
from equipoise.kernels.holdem.arrays import BoardFields
from equipoise.responses.boards import BoardFBR, Hands, always_call, probe_table
from equipoise.responses.mixtures import trust_counts
from equipoise.responses.on_tree import OnTree
from equipoise.solvers.best_response import bind_history_kernel
from equipoise.trees.history import build_history_tree
from equipoise.trees.holdem.tree import build_holdem_tree
from tests.reference.holdem import HoldemTwin, realize, spot_of, used_cells

TURN = {"deck": "small", "board": "ThJsQhKs", "stacks": (35, 60), "menu": "100%, a / a"}
SPOTS = {
    "turn": {**TURN, "ranges": "AA,AhKh:0.5,QJs|TT,AsJs,AhKh:0.25"},
    "flop": {
        "deck": "TQK/chs",
        "board": "",
        "pot": 0,
        "stacks": (100, 100),
        "bet_sizes": (10, 10),
        "max_raises": (1, 1),
        "last_street": "flop",
        "menu": "limit",
        "ranges": "KK,QTs,KcQh:0.5|TT,KQs,QcTh",
    },
}
by_spot = pytest.mark.parametrize("name", SPOTS)
by_merging = pytest.mark.parametrize("merges_suits", [True, False], ids=["merged", "plain"])


def make_spot(name):
    return make_game("holdem_endgame", **{"pot": 20, "small_blind": 5, "big_blind": 10, **SPOTS[name]})


@functools.cache
def twin(name):
    game = make_spot(name)
    return HoldemTwin(build_holdem_tree(spot_of(game), merges_suits=False), build_history_tree(game))


@functools.cache
def on_tree(name, merges_suits):
    return OnTree(build_holdem_tree(spot_of(make_spot(name)), merges_suits=merges_suits))


@by_spot
def test_actions_are_counted_as_often_as_they_are_played(name):
    pair = twin(name)
    size = int(pair.history.sequence_start[-1])
    strategy = bind_history_kernel(pair.history).normalize(np.random.default_rng(1).uniform(size=size))
    num_hands = 40_000
    counts = Hands(pair.tree).count_actions(
        0, pair.to_cells(strategy), num_hands=num_hands, rng=np.random.default_rng(2)
    )
    found = pair.to_sequences(counts)
    history, plan = pair.history, realize(pair.history, strategy)
    reach = history.terminal_chance * plan[history.terminal_sequence[0]] * plan[history.terminal_sequence[1]]
    expected = np.bincount(history.terminal_sequence[0], reach, minlength=size)
    for infoset in reversed(range(history.infoset_start[0], history.infoset_start[1])):
        first = history.first_sequence[infoset]
        below = expected[first : first + history.num_actions[infoset]].sum()
        expected[history.parent_sequence[infoset]] += below
    own = pair.sequences[pair.sequences < history.sequence_start[1]]
    errors = found[own] - num_hands * expected[own]
    deviations = np.sqrt(np.maximum(num_hands * expected[own], 1.0))
    assert np.abs(errors / deviations).max() < 5
    assert not found[np.setdiff1d(pair.sequences, own)].any()


@by_spot
@by_merging
def test_without_hands_the_model_calls(name, merges_suits):
    board = on_tree(name, merges_suits)
    strategy = np.random.default_rng(3).uniform(size=board.form.num_table_cells).astype(np.float32)
    calls = always_call(board.tree)
    for seat in (0, 1):
        profile = BoardFBR(board.form, 0).respond(strategy, seat, np.random.default_rng(4))
        best, _ = board.form.answer(calls, seat)
        assert board.value(board.combine(profile, calls, 1 - seat), seat) == pytest.approx(best, abs=1e-5)


@by_merging
def test_more_hands_earn_more(merges_suits):
    board = on_tree("turn", merges_suits)
    strategy = board.form.uniform()
    best, _ = board.form.answer(strategy, 0)
    earned = [
        np.mean(
            [
                board.value(BoardFBR(board.form, count).respond(strategy, 0, np.random.default_rng(seed)), 0)
                for seed in range(4)
            ]
        )
        for count in (0, 100, 30_000)
    ]
    assert earned[0] < earned[1] < earned[2] <= best + 1e-9
    assert earned[2] > best - 0.05 * (best - earned[0])


def test_merged_hands_share_what_they_showed():
    board = on_tree("flop", True)
    hands = Hands(board.tree)
    player = board.tree.decisions[0].player
    counts = hands.count_actions(player, probe_table(board.tree), num_hands=300, rng=np.random.default_rng(5))
    for index in range(len(board.tree.boards)):
        first = board.tree.arrays.boards[index, BoardFields._fields.index(f"first_hand_{player}")]
        for node, decision in board.tree.decisions.items():
            if decision.player != player or decision.street != board.tree.arrays.boards[index, 0]:
                continue
            rows = board.tree.rows(counts, index, node)
            orbit = board.tree.arrays.value_row[first : first + len(rows)]
            np.testing.assert_array_equal(rows, rows[orbit])
    # the root's rows are counted once for each hand of their orbit
    root = board.tree.rows(counts, 0, 0)
    first = board.tree.arrays.boards[0, BoardFields._fields.index(f"first_hand_{player}")]
    orbit = board.tree.arrays.value_row[first : first + len(root)]
    assert (root.sum(axis=1) / np.bincount(orbit)[orbit]).sum() == pytest.approx(300)


def test_deals_share_no_card():
    hands = Hands(on_tree("flop", True).tree)
    pairs, runouts = hands.deal(500, np.random.default_rng(6))
    cards = np.concatenate([hands.cards[pairs].reshape(500, -1), runouts], axis=1)
    assert all(len(set(row)) == cards.shape[1] for row in cards.tolist())
    assert {card for row in cards.tolist() for card in row} == set(hands.deck.cards)
    weights = [hands.tree.spot.live_weights(player) for player in (0, 1)]
    assert all((weights[player][pairs[:, player]] > 0).all() for player in (0, 1))
    assert hands_of(hands.deck).cards.shape == hands.cards.shape


def test_probes_never_fold_and_callers_always_call():
    tree = on_tree("turn", True).tree
    for node, decision in tree.decisions.items():
        board = next(i for i, fields in enumerate(tree.arrays.boards) if fields[0] == decision.street)
        actions = np.array(tree.betting.nodes[node].actions)
        probe, call = (tree.normalize(table, board, node) for table in (probe_table(tree), always_call(tree)))
        expected = (actions != FOLD) / (actions != FOLD).sum()
        np.testing.assert_allclose(probe, np.tile(expected, (len(probe), 1)))
        np.testing.assert_array_equal(call, np.tile(actions == CALL, (len(call), 1)))


def test_rows_are_summed_and_spread():
    board = on_tree("turn", True)
    table = np.random.default_rng(7).uniform(size=board.form.num_table_cells)
    totals = board.form.spread_rows(board.form.row_totals(table))
    shares = board.form.hands.normalize(table)
    used = used_cells(board.tree)
    np.testing.assert_allclose((table / totals)[used], shares[used], rtol=1e-12)
    trust = trust_counts(board.form, np.full(board.form.num_table_cells, 2.0), most=0.8)
    assert trust.shape == (board.tree.arrays.num_node_rows,)
    assert set(np.round(trust, 6)) <= {0.32, 0.48, 0.64}  # two, three or four actions


def test_watching_can_be_interrupted():
    board = on_tree("turn", True)
    response = BoardFBR(board.form, 10)
    response.listen(lambda: True)
    with pytest.raises(AbandonedError):
        response.respond(always_call(board.tree), 0, np.random.default_rng(8))
