# SPDX-License-Identifier: Apache-2.0
"""Classes of a user, as they lie in a file outside the package: a game, agents, and what goes wrong with such."""

import dataclasses
from typing import NamedTuple

from equipoise.agents import PolicyAgent
from equipoise.games import CHANCE, TERMINAL, BaseGame
from equipoise.games.base import parameter

HANDS = ("left", "right")


class Hiding(NamedTuple):
    moves: tuple[int, ...] = ()


@dataclasses.dataclass(frozen=True, kw_only=True)
class CoinInHand(BaseGame[Hiding]):
    """One hides a coin, the other points at a hand.

    Its value is prize / (1 + prize) for the one who points.
    """

    prize: float = parameter(3.0, "what the right hand is worth", low=0.5)

    def initial_state(self):
        return Hiding()

    def actor(self, state):
        return len(state.moves) if len(state.moves) < 2 else TERMINAL

    def legal_actions(self, state):
        return (0, 1) if len(state.moves) < 2 else ()

    def next_state(self, state, action):
        return Hiding((*state.moves, action))

    def utilities(self, state):
        hidden, pointed = state.moves
        won = (1.0, self.prize)[hidden] if hidden == pointed else 0.0
        return (-won, won)

    def infostate(self, state, player):
        own = HANDS[state.moves[player]] if len(state.moves) > player else "nothing"
        return f"{len(state.moves)} moves, own {own}"

    def action_name(self, state, action):
        return HANDS[action]


class ThreeCoins(BaseGame):
    """Chance, three players, no dataclass, a constructor of its own: the odd one out loses to the others."""

    num_players = 3
    min_utility, max_utility, max_length = -2.0, 1.0, 4

    def __init__(self, sides: int = 2, bias: float = 0.5):
        self.sides, self.bias = sides, bias

    def initial_state(self):
        return ()

    def actor(self, state):
        return CHANCE if not state else TERMINAL if len(state) == 4 else len(state) - 1

    def legal_actions(self, state):
        return tuple(range(self.sides)) if self.actor(state) >= 0 else ()

    def chance_outcomes(self, state):
        return () if state else ((0, self.bias), (1, 1 - self.bias))

    def next_state(self, state, action):
        return (*state, action)

    def utilities(self, state):
        coins = state[1:]
        odd = [player for player in range(3) if coins.count(coins[player]) == 1]
        return (0.0, 0.0, 0.0) if len(odd) != 1 else tuple(-2.0 if player in odd else 1.0 for player in range(3))

    def infostate(self, state, player):
        return f"{len(state)} seen, own {state[player + 1 : player + 2]}"


class Endless(CoinInHand):
    def actor(self, state):
        return len(state.moves) % 2

    def legal_actions(self, state):
        return (0, 1)


class RaisingConstructor(CoinInHand):
    def __post_init__(self):
        raise ZeroDivisionError("no coin")


class RaisingRules(CoinInHand):
    def utilities(self, state):
        return self.missing


class RaisingLater(CoinInHand):
    min_utility, max_utility, max_length = -3.0, 3.0, 2

    def next_state(self, state, action):
        if len(state.moves) == 1:
            raise KeyError("lost")
        return Hiding((*state.moves, action))


class HalfAGame(BaseGame):
    pass


class NoGame:
    pass


class NoSpec(CoinInHand):
    spec = "the coin's"


class Pointer(PolicyAgent):
    """Plays the first action as often as it is told."""

    name = "pointer"

    def __init__(self, game, options="0.5"):
        self.share = float(options)

    def probabilities(self, observation, *, rng):
        return [self.share, 1 - self.share]


class Nameless(PolicyAgent):
    def probabilities(self, observation, *, rng):
        return [1.0, *[0.0] * (len(observation.actions) - 1)]


class HalfAnAgent(PolicyAgent):
    pass


class DemandingAgent(Pointer):
    def __init__(self, game, options, more):
        pass
