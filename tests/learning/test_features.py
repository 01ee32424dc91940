# SPDX-License-Identifier: Apache-2.0
"""What networks read: every information state by itself, in its player's row."""

import numpy as np
import pytest

from equipoise.games.registry import make_game
from equipoise.learning.features import encode_texts, lay_out_players
from equipoise.trees.history import build_history_tree

GAMES = {"kuhn": {}, "leduc": {}, "liars_dice": {"faces": 3}, "goofspiel": {"cards": 3}}


@pytest.mark.parametrize("name", GAMES)
def test_information_states_of_a_player_are_told_apart(name):
    tree = build_history_tree(make_game(name, **GAMES[name]))
    features = encode_texts(tree.infoset_labels)
    for player in range(tree.num_players):
        own = features[tree.infoset_start[player] : tree.infoset_start[player + 1]]
        assert len(np.unique(own, axis=0)) == len(own)


def test_the_same_card_is_the_same_feature():
    before, after = encode_texts(["Js|cc/Qs:", "Kh|crrc/Qs:"])
    board = encode_texts(["Js|cc/Qs:", "Kh|crrc/Jh:"])
    assert (before * after).sum() == 3  # the public card, and the first check
    assert (board[0] * board[1]).sum() == 1


def test_tables_hold_every_sequence_once():
    tree = build_history_tree(make_game("kuhn", players=3))
    layout = lay_out_players(tree)
    assert layout.sequence.size == tree.num_actions.sum()
    assert np.unique(layout.cell).size == layout.cell.size
    assert layout.is_legal.reshape(-1)[layout.cell].all()
    values = np.arange(layout.is_legal.size).reshape(layout.is_legal.shape)
    infoset = int(tree.infoset_start[2]) + 3
    place = np.flatnonzero(layout.sequence == tree.first_sequence[infoset])[0]
    assert values[2, 3, 0] == layout.cell[place]
    np.testing.assert_array_equal(layout.features[2, 3], encode_texts(tree.infoset_labels)[infoset])
