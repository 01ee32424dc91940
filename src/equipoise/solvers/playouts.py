# SPDX-License-Identifier: Apache-2.0
"""Values from games played out at random: what is left to measure where a game is too large to enumerate.

Every figure comes with its standard error. None of them says how exploitable a strategy is.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from equipoise.core.progress import SampledFigures
from equipoise.games.base import CHANCE, TERMINAL, Game
from equipoise.solvers.strategy import TabularStrategy

__all__ = [
    "Policy",
    "SampledValue",
    "draw_chance",
    "draw_index",
    "move_uniformly",
    "play_out",
    "sample_figures",
    "sample_value",
    "strategy_policy",
]

Policy = Callable[[int, str, int], Sequence[float]]  # player, information state, number of actions -> [A]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SampledValue:
    """A mean over games played."""

    mean: float
    standard_error: float
    num_playouts: int


def move_uniformly(_player: int, _infostate: str, num_actions: int) -> Sequence[float]:
    """Returns `[A]` the same probability for every action."""
    return [1.0 / num_actions] * num_actions


def strategy_policy(strategy: TabularStrategy) -> Policy:
    """Returns the policy of a table, uniform where the table has nothing."""

    def policy(player: int, infostate: str, num_actions: int) -> Sequence[float]:
        probabilities = strategy.probabilities_or_none(player, infostate)
        return move_uniformly(player, infostate, num_actions) if probabilities is None else probabilities.tolist()

    return policy


def draw_index(probabilities: Sequence[float], uniform: float) -> int:
    """Returns which outcome a uniform number in [0, 1) falls on.

    >>> [draw_index([0.25, 0.0, 0.75], uniform) for uniform in (0.0, 0.3, 1 - 1e-16)]
    [0, 2, 2]
    """
    for index, probability in enumerate(probabilities):
        if uniform < probability:
            return index
        uniform -= probability
    return max(index for index, probability in enumerate(probabilities) if probability > 0.0)  # rounding


def draw_chance(game: Game[Any], state: Any, uniform: float) -> int:
    """Returns the chance outcome that a uniform number in [0, 1) falls on."""
    outcomes = game.chance_outcomes(state)
    return outcomes[draw_index([probability for _, probability in outcomes], uniform)][0]


def play_out(game: Game[Any], policies: Sequence[Policy], *, rng: np.random.Generator) -> tuple[float, ...]:
    """Returns each player's utility of one game in which player i follows `policies[i]`."""
    state = game.initial_state()
    while (actor := game.actor(state)) != TERMINAL:
        if actor == CHANCE:
            action = draw_chance(game, state, rng.random())
        else:
            actions = game.legal_actions(state)
            probabilities = policies[actor](actor, game.infostate(state, actor), len(actions))
            action = actions[draw_index(probabilities, rng.random())]
        state = game.apply(state, action)
    return game.returns(state)


def sample_value(
    game: Game[Any], policies: Sequence[Policy], player: int, *, num_playouts: int, rng: np.random.Generator
) -> SampledValue:
    """Returns a player's mean utility over games in which everybody follows `policies`."""
    utilities = np.array([play_out(game, policies, rng=rng)[player] for _ in range(num_playouts)])
    return SampledValue(
        mean=float(utilities.mean()),
        standard_error=float(utilities.std(ddof=1)) / math.sqrt(num_playouts),
        num_playouts=num_playouts,
    )


def sample_figures(
    game: Game[Any],
    policy: Policy,
    *,
    num_infostates: int,
    regret_bound: float | None,
    num_playouts: int,
    rng: np.random.Generator,
) -> SampledFigures:
    """Returns what can be said of a policy, each player's value against opponents that move uniformly included."""
    players = range(game.spec.num_players)
    uniform = [play_out(game, [move_uniformly for _ in players], rng=rng) for _ in range(num_playouts)]
    values = [
        sample_value(
            game,
            [policy if seat == player else move_uniformly for seat in players],
            player,
            num_playouts=num_playouts,
            rng=rng,
        )
        for player in players
    ]
    return SampledFigures(
        num_infostates=num_infostates,
        regret_bound=regret_bound,
        values_against_uniform=tuple(value.mean for value in values),
        standard_errors=tuple(value.standard_error for value in values),
        uniform_values=tuple(np.mean(uniform, axis=0).tolist()),
        num_playouts=num_playouts,
    )
