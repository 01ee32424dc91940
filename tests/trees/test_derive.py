# SPDX-License-Identifier: Apache-2.0
"""Deriving the public form: its counts, its laws, and what it says about games that break them."""

import dataclasses

import numpy as np
import pytest

from equipoise.core.errors import GameTooLargeError, InvalidGameError
from equipoise.games.base import CHANCE, TERMINAL, ActionClass, GameSpec
from equipoise.games.registry import make_game
from equipoise.trees.derive import derive_public_game
from equipoise.trees.public import build_public_tree
from tests.reference.public import ReferencePublicCFR

GAMES = {
    "kuhn": {},
    "leduc": {"merge_suits": True},
    "goofspiel": {"cards": 3, "prizes": "random", "reveal_bids": False},
    "liars_dice": {"faces": 3},
    "phantom_tic_tac_toe": {"rows": 2, "columns": 2},
}


class Changed:
    """A game with some of its methods replaced."""

    def __init__(self, game, **methods):
        self._game = game
        for name, method in methods.items():
            setattr(self, name, method)

    def __getattr__(self, name):
        return getattr(self._game, name)


@dataclasses.dataclass(frozen=True)
class Figure11:
    """Fig 11 of the digest: `i`, then `j` or `l`, which player 0 cannot tell apart and player 1 can."""

    @property
    def spec(self):
        return GameSpec(
            name="figure11",
            version=1,
            num_players=2,
            parameters={},
            is_zero_sum=True,
            min_utility=-1.0,
            max_utility=1.0,
            max_length=3,
        )

    def initial_state(self):
        return ""

    def actor(self, state):
        return (0, 1, 0, TERMINAL)[len(state)]

    def legal_actions(self, state):
        return ((0,), (0, 1), (0, 1), ())[len(state)]

    def chance_outcomes(self, state):
        return ()

    def apply(self, state, action):
        return state + ("i", "jl", "xy")[len(state)][action]

    def returns(self, state):
        utility = 1.0 if state in ("ijx", "ily") else -1.0
        return utility, -utility

    def infostate(self, state, player):
        return state.replace("l", "?").replace("j", "?") if player == 0 else state

    def public_state(self, state):
        return f"{len(state)}" + state[2:]

    def action_name(self, state, action):
        return ("i", "jl", "xy")[len(state)][action]

    def action_class(self, state, action):
        return ActionClass.OTHER

    def describe(self, state):
        return state


@pytest.mark.parametrize(
    ("name", "decisions", "chance", "terminals", "infosets"),
    [("kuhn", 4, 0, 5, 12), ("leduc", 186, 5, 274, 936)],  # specs/player-of-games.md part 17
)
def test_counts_of_the_digest(name, decisions, chance, terminals, infosets):
    size = build_public_tree(derive_public_game(make_game(name))).size
    assert (size.num_decisions, size.num_chance, size.num_terminals) == (decisions, chance, terminals)
    assert size.num_infosets == infosets


def test_figure_11_one_information_state_against_two():
    game = derive_public_game(Figure11())
    after_both = 2  # public states: nothing, i, i and one of j, l
    assert game.public_state(after_both) == "2"
    assert [game.num_private(after_both, player) for player in (0, 1)] == [1, 2]
    np.testing.assert_array_equal(game.joint_weights(after_both), [[1.0, 1.0]])


@pytest.mark.parametrize("name", GAMES)
def test_edges_conserve_mass(name):
    game = derive_public_game(make_game(name, **GAMES[name]))
    twin = ReferencePublicCFR(game, rule=None)
    rng = np.random.default_rng(3)
    twin.strategy = {key: rng.dirichlet(np.ones(len(row))) for key, row in twin.strategy.items()}

    def check(state, reaches):
        mass = reaches[0] @ game.joint_weights(state) @ reaches[1]
        below = list(twin.below(state, reaches))
        for edge, child_reaches in below:
            check(edge.child, child_reaches)
        if below:
            masses = [child[0] @ game.joint_weights(edge.child) @ child[1] for edge, child in below]
            assert sum(masses) == pytest.approx(mass, abs=1e-12)
        return mass

    assert check(game.initial_state(), twin.root_reaches()) == pytest.approx(1.0)


def test_chance_moves_that_show_nothing_are_part_of_the_edge():
    game = derive_public_game(make_game("kuhn"))
    assert game.actor(game.initial_state()) == 0
    assert game.num_private(game.initial_state(), 1) == 3
    assert not any(game.actor(state) == CHANCE for state in range(game.num_public_states))


def test_names_and_classes_come_from_the_game():
    game = derive_public_game(make_game("kuhn"))
    rules = make_game("kuhn")
    dealt = rules.apply(rules.apply(rules.initial_state(), 0), 1)
    root = game.initial_state()
    assert game.public_state(root) == rules.public_state(dealt)
    assert game.infostate(root, 0, 0) == rules.infostate(dealt, 0)
    for action in game.legal_actions(root):
        assert game.action_name(root, action) == rules.action_name(dealt, action)
        assert game.action_class(root, action) == rules.action_class(dealt, action)


def test_two_actors_in_one_public_state_are_named():
    game = make_game("kuhn")
    with pytest.raises(InvalidGameError, match="public state 'same' has two actors"):
        derive_public_game(Changed(game, public_state=lambda state: "same"))


def test_a_public_state_reached_twice_is_named():
    broken = Changed(
        Figure11(),
        public_state=lambda state: "end" if len(state) == 3 else state,
        infostate=lambda state, player: state,
    )
    with pytest.raises(InvalidGameError, match="public state 'end' is reached along two public paths"):
        derive_public_game(broken)


def test_a_player_that_misses_public_news_is_named():
    game = make_game("kuhn")
    with pytest.raises(InvalidGameError, match="player 0 cannot tell public states"):
        derive_public_game(Changed(game, infostate=lambda state, player: "blind"))


def test_a_player_that_forgets_is_named():
    def infostate(state, player):
        return f"{len(state)}" + state[2:]

    with pytest.raises(InvalidGameError, match="player 1 forgets what it knew or did at '2'"):
        derive_public_game(Changed(Figure11(), infostate=infostate))


def test_different_actions_in_one_information_state_are_named():
    def legal_actions(state):
        return (0,) if state == "il" else Figure11().legal_actions(state)

    with pytest.raises(InvalidGameError, match=r"histories in 'i\?' have different actions"):
        derive_public_game(Changed(Figure11(), legal_actions=legal_actions))


def test_three_players_are_refused():
    with pytest.raises(InvalidGameError, match="for 2 players, got 3"):
        derive_public_game(make_game("kuhn", players=3))


def test_the_limit_stops_enumeration():
    with pytest.raises(GameTooLargeError, match="more than 50 histories"):
        derive_public_game(make_game("kuhn"), max_histories=50)
    assert derive_public_game(make_game("kuhn"), max_histories=58).num_histories == 58
