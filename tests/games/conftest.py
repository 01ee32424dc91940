# SPDX-License-Identifier: Apache-2.0
"""What the tests of games share: counting and averaging over whole trees."""

from typing import NamedTuple

import pytest

from equipoise.games import CHANCE, TERMINAL


class Counts(NamedTuple):
    histories: int
    terminals: int
    infosets: tuple[int, ...]


def count_states(game):
    """Returns how many histories, terminals and information states (by player) a game has."""
    num_histories = num_terminals = 0
    infosets = [set() for _ in range(game.spec.num_players)]
    stack = [game.initial_state()]
    while stack:
        state = stack.pop()
        num_histories += 1
        actor = game.actor(state)
        if actor == TERMINAL:
            num_terminals += 1
        elif actor >= 0:
            infosets[actor].add(game.infostate(state, actor))
        actions = game.legal_actions(state) or [outcome for outcome, _ in game.chance_outcomes(state)]
        stack.extend(game.apply(state, action) for action in actions)
    return Counts(num_histories, num_terminals, tuple(map(len, infosets)))


def uniform_value(game, state=None):
    """Returns what player 0 expects when everybody plays every action with equal probability."""
    state = game.initial_state() if state is None else state
    actor = game.actor(state)
    if actor == TERMINAL:
        return game.returns(state)[0]
    if actor == CHANCE:
        return sum(p * uniform_value(game, game.apply(state, a)) for a, p in game.chance_outcomes(state))
    legal = game.legal_actions(state)
    return sum(uniform_value(game, game.apply(state, a)) for a in legal) / len(legal)


def play(game, *actions):
    """Returns the state after actions, chance outcomes included."""
    state = game.initial_state()
    for action in actions:
        state = game.apply(state, action)
    return state


@pytest.fixture(name="count_states")
def _count_states():
    return count_states


@pytest.fixture(name="uniform_value")
def _uniform_value():
    return uniform_value


@pytest.fixture(name="play")
def _play():
    return play
