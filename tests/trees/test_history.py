# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

import equipoise
from equipoise.core.errors import GameTooLargeError, InvalidGameError
from equipoise.games.base import CHANCE, TERMINAL
from equipoise.games.kuhn import Kuhn
from equipoise.games.registry import make_game
from equipoise.solvers.best_response import evaluate
from equipoise.trees.history import BEYOND_ANY_TREE, HistoryTree, build_history_tree, estimate_num_histories
from equipoise.trees.segments import flatten_ranges

SMALL_GAMES = [
    ("kuhn", {}),
    ("kuhn", {"players": 3}),
    ("leduc", {"merge_suits": True}),
    ("goofspiel", {"cards": 3}),
    ("liars_dice", {"faces": 3}),
    ("coin_toss", {}),
]


@pytest.fixture(params=SMALL_GAMES, ids=lambda case: f"{case[0]}{case[1] or ''}")
def tree(request):
    name, parameters = request.param
    return build_history_tree(make_game(name, **parameters))


@pytest.mark.parametrize(
    ("name", "parameters", "histories", "terminals", "infosets"),
    [
        ("kuhn", {}, 58, 30, 12),
        ("leduc", {}, 9457, 5520, 936),
        # the specs count the deal of both cards as one node; here the second card is a node of its own (3 more)
        ("leduc", {"merge_suits": True}, 1936 + 3, 1116, 288),
        ("leduc5", {}, 269_560 + 3, 177_684, 34_224),
        ("goofspiel", {"cards": 5}, 26_931, 14_400, 8_052),
        ("liars_dice", {"faces": 6}, 294_883, 147_420, 24_576),
    ],
)
def test_counts_of_the_specs(name, parameters, histories, terminals, infosets):
    size = build_history_tree(make_game(name, **parameters)).size
    assert (size.num_histories, size.num_terminals, size.num_infosets) == (histories, terminals, infosets)


def test_nodes_stand_in_pre_order(tree):
    nodes = np.arange(tree.actor.size)
    assert (tree.parent[1:] < nodes[1:]).all()
    assert (tree.subtree_end[tree.parent[1:]] >= tree.subtree_end[1:]).all()
    assert (tree.subtree_end[tree.actor == TERMINAL] == nodes[tree.actor == TERMINAL] + 1).all()


def test_edges_list_children_in_order(tree):
    for node in range(tree.actor.size):
        children = tree.edge_child[tree.first_edge[node] : tree.first_edge[node + 1]]
        assert children.tolist() == np.flatnonzero(tree.parent == node).tolist()


def test_chance_sums_to_one(tree):
    for node in np.flatnonzero(tree.actor == CHANCE):
        children = tree.edge_child[tree.first_edge[node] : tree.first_edge[node + 1]]
        assert tree.chance_probability[children].sum() == pytest.approx(1.0)


def test_forests_stand_in_pre_order(tree):
    owner = tree.sequence_infoset()
    for infoset in range(tree.num_actions.size):
        below = owner[tree.parent_sequence]  # the set above each set
        inside = np.arange(infoset + 1, tree.infoset_end[infoset])
        assert (below[inside] >= infoset).all()
        outside = np.arange(tree.infoset_end[infoset], tree.num_actions.size)
        assert not np.isin(below[outside], np.arange(infoset, tree.infoset_end[infoset])).any()


def test_sequences_below_an_action_are_one_slice(tree):
    first = tree.first_sequence
    assert (np.diff(first) >= tree.num_actions[:-1]).all()
    for player in range(tree.num_players):
        start, end = tree.sequence_start[player], tree.sequence_start[player + 1]
        sets = slice(tree.infoset_start[player], tree.infoset_start[player + 1])
        covered = flatten_ranges(first[sets], tree.num_actions[sets])
        assert covered.tolist() == list(range(start + 1, end))


def test_terminal_sequences_follow_the_path(tree):
    for z, node in enumerate(tree.terminal_node):
        expected = tree.sequence_start[:-1].copy()
        child, probability = node, 1.0
        seen = set()
        while tree.parent[child] >= 0:
            parent = tree.parent[child]
            actor = tree.actor[parent]
            probability *= tree.chance_probability[child]
            if actor >= 0 and actor not in seen:
                seen.add(actor)
                children = tree.edge_child[tree.first_edge[parent] : tree.first_edge[parent + 1]]
                expected[actor] = tree.first_sequence[tree.infoset[parent]] + np.flatnonzero(children == child)[0]
            child = parent
        assert tree.terminal_sequence[:, z].tolist() == expected.tolist()
        assert tree.terminal_chance[z] == pytest.approx(probability, rel=1e-14)


def test_uniform_play_of_leduc_has_the_published_exploitability():
    tree = build_history_tree(make_game("leduc"))
    strategy = np.ones(tree.size.num_sequences)
    for first, count in zip(tree.first_sequence, tree.num_actions, strict=True):
        strategy[first : first + count] = 1.0 / count
    result = evaluate(tree, strategy)
    assert result.exploitability == pytest.approx(2.37361, abs=5e-6)
    assert result.values[0] == pytest.approx(-0.078125, abs=1e-12)


def test_the_count_stops_at_the_limit():
    calls = []
    with pytest.raises(GameTooLargeError, match=r"more than 50,000 histories.*about \d.*9\.1 MB as a tree.*2\.8 MB"):
        build_history_tree(
            make_game("liars_dice", faces=6), max_histories=50_000, on_progress=lambda done, _: calls.append(done)
        )
    assert max(calls) <= 50_000


def test_progress_grows_towards_one():
    seen = []
    build_history_tree(make_game("liars_dice", faces=6), on_progress=lambda done, share: seen.append((done, share)))
    assert seen == sorted(seen)
    assert len(seen) >= 10
    assert 0.8 < seen[-1][1] <= 1.0


def test_knuth_estimate_is_near_the_truth():
    estimate = estimate_num_histories(make_game("leduc"), rng=np.random.default_rng(1), num_probes=4000)
    assert estimate == pytest.approx(9457, rel=0.1)


def test_a_game_that_is_far_too_large_is_not_probed_to_the_end():
    game = make_game("holdem")
    began = []

    class Watched:
        def __getattr__(self, name):
            return getattr(game, name)

        def initial_state(self):
            began.append(0)
            return game.initial_state()

    estimate = estimate_num_histories(Watched(), rng=np.random.default_rng(0))
    assert estimate > BEYOND_ANY_TREE
    assert len(began) < 100


def test_forgetting_is_refused():
    game = _Forgetful(make_game("kuhn"))
    with pytest.raises(InvalidGameError, match="forgets its own moves"):
        build_history_tree(game)


class _Forgetful:
    """Kuhn poker in which player 0 recalls its card but not what was bet."""

    def __init__(self, game):
        self._game = game

    def __getattr__(self, name):
        return getattr(self._game, name)

    def infostate(self, state, player):
        return self._game.infostate(state, player)[:1] if player == 0 else self._game.infostate(state, player)


def _broken(**methods):
    return type(
        "Broken", (Kuhn,), {name: lambda self, *given, answer=answer: answer for name, answer in methods.items()}
    )()


@pytest.mark.parametrize("form", ["history", "vector"])
@pytest.mark.parametrize("returns", [None, (1.0,), (1.0, -1.0, 0.0), ("a", "b"), 3])
def test_returns_that_are_no_number_a_player_are_refused(returns, form):
    with pytest.raises(InvalidGameError, match="returns must be a number for each of 2 players, got") as caught:
        equipoise.solve(_broken(returns=returns), iterations=1, form=form)
    assert "check_game" in str(caught.value)


def test_a_state_in_which_nothing_can_be_done_is_refused():
    for actions in ((), None):
        with pytest.raises(InvalidGameError, match="nothing that player 0 can do in a state that has not ended"):
            equipoise.solve(_broken(legal_actions=actions), iterations=1)
        with pytest.raises(InvalidGameError, match="nothing that chance can do in a state that has not ended"):
            equipoise.solve(_broken(chance_outcomes=actions), iterations=1)


def test_a_game_that_does_not_end_is_refused():
    class Endless(Kuhn):
        def apply(self, state, action):
            return state

    with pytest.raises(InvalidGameError, match="goes on after 6 actions, its max_length is 5"):
        equipoise.solve(Endless(), iterations=1)


def test_public_chance_is_told_from_private():
    tree = build_history_tree(make_game("leduc"))
    boards = tree.public_chance[(tree.actor == CHANCE) & (tree.public_chance >= 0)]
    assert len(set(boards)) == 5  # five ways to reach the board card
    assert boards.size == 5 * 30
    assert tree.public_chance[0] == HistoryTree.PRIVATE_CHANCE


def test_public_outcomes_are_told_apart_across_histories():
    tree = build_history_tree(make_game("leduc"))
    is_drawn = tree.public_outcome >= 0
    node = tree.parent[is_drawn]
    assert (tree.public_chance[node] >= 0).all()
    assert is_drawn.sum() == 5 * 30 * 4  # two of six cards are dead
    outcomes = {
        (state, outcome) for state, outcome in zip(tree.public_chance[node], tree.public_outcome[is_drawn], strict=True)
    }
    assert len(outcomes) == 5 * 6  # one number for one card, whoever holds the others
    assert len({outcome for _, outcome in outcomes}) == 5 * 6
