# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games.registry import parse_game
from equipoise.search.belief_games import BeliefGame, find_public_form, format_horizon, parse_horizon
from equipoise.trees.derive import derive_public_game
from equipoise.trees.public import build_public_tree
from equipoise.trees.public_kinds import find_kinds


def make_tree(text):
    return build_public_tree(derive_public_game(parse_game(text)))


def test_in_liars_dice_only_the_last_bid_matters():
    tree = make_tree("liars_dice(dice=1,faces=3)")
    kinds = find_kinds(tree)
    last_bid = {
        node: tree.public_labels[node].split(" ")[-1] for node in range(tree.num_nodes) if tree.actor[node] >= 0
    }
    assert kinds.num_kinds == len(set(last_bid.values()))
    assert len({(int(kinds.kind[node]), bid) for node, bid in last_bid.items()}) == kinds.num_kinds
    assert all(kinds.first_player[node] == tree.actor[node] for node in last_bid)


def test_states_with_other_payoffs_are_of_other_kinds():
    tree = make_tree("leduc")
    kinds = find_kinds(tree)
    chance = [node for node in range(tree.num_nodes) if tree.actor[node] == -1]
    pots = {tree.public_labels[node].count("r"): int(kinds.kind[node]) for node in chance}
    assert len(chance) == 5
    assert len(set(pots.values())) == 3


@pytest.mark.parametrize(
    ("text", "horizon"), [("kuhn", "1"), ("leduc", "2"), ("leduc", "round"), ("goofspiel(cards=3)", "2")]
)
def test_searches_of_all_kinds_cover_the_game(text, horizon):
    game = BeliefGame.of(parse_game(text), parse_horizon(horizon))
    waiting, seen = [0], []
    while waiting:
        node = waiting.pop()
        decisions, leaves = game.nodes_of(node)
        subgame = game.subgames[game.kind_at(node)]
        assert subgame.leaf_kind.tolist() == [game.kind_at(leaf) for leaf in leaves.tolist()]
        assert game.table_cells(node).size == subgame.arrays.legal_share.size
        seen += decisions.tolist()
        waiting += leaves.tolist()
    assert sorted(seen) == np.flatnonzero(game.tree.actor >= 0).tolist()


def test_a_horizon_reads_back():
    assert [format_horizon(parse_horizon(text)) for text in ("3", "round")] == ["3", "round"]
    with pytest.raises(ConfigError, match="a number of actions from 1 to 99, or `round`, got 'deep'"):
        parse_horizon("deep")


def test_three_players_have_no_values_of_beliefs():
    with pytest.raises(ConfigError, match="two players in sum 0"):
        find_public_form(parse_game("kuhn(players=3)"))
