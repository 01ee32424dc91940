# SPDX-License-Identifier: Apache-2.0
"""Information states in words."""

import pytest

from equipoise.games.registry import parse_game
from equipoise.games.words import explain_infostate
from equipoise.trees.history import build_history_tree

CASES = [
    ("liars_dice(dice=1,faces=3)", 1, "2|", "holds 2; nobody has bid"),
    ("liars_dice(dice=2,faces=4)", 0, "34|1-2 3-4", "holds 34; player 0 bid 1 of face 2, player 1 bid 3 of face 4"),
    ("kuhn", 0, "J:", "holds J; nobody has acted"),
    ("kuhn", 1, "Q:p", "holds Q; player 0 checked"),
    ("kuhn(players=3)", 2, "T:pb", "holds T; player 0 checked, player 1 bet"),
    ("leduc", 0, "Kh|rr", "holds Kh; player 0 bet 2, player 1 raised 2"),
    ("leduc", 1, "Jh|cc/Js:r", "holds Jh; player 0 checked, player 1 checked; Js comes; player 0 bet 4"),
]


@pytest.mark.parametrize(("game", "player", "infostate", "words"), CASES, ids=[case[2] for case in CASES])
def test_words(game, player, infostate, words):
    assert explain_infostate(parse_game(game), player, infostate) == words


@pytest.mark.parametrize(
    "game", ["kuhn", "leduc(ranks=2)", "leduc5(ranks=2)", "leduc_nolimit(ranks=2)", "liars_dice(faces=3)"]
)
def test_every_state_has_words(game):
    rules = parse_game(game)
    tree = build_history_tree(rules)
    for player, infostate in list(zip(tree.infoset_player().tolist(), tree.infoset_labels, strict=True))[::17]:
        assert explain_infostate(rules, player, infostate).startswith("holds ")


def test_other_games_and_states_have_none():
    assert explain_infostate(parse_game("goofspiel"), 0, "whatever") is None
    assert explain_infostate(parse_game("kuhn"), 0, "nonsense") is None
    assert explain_infostate(parse_game("kuhn"), 0, "Z:pb") is None
    assert explain_infostate(parse_game("liars_dice"), 0, "three") is None
