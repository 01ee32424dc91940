# SPDX-License-Identifier: Apache-2.0
"""Information-set Monte Carlo tree search on the rules themselves, for games too large for a tree."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.games.base import CHANCE, TERMINAL, Game
from equipoise.search.ismcts import ISMCTSConfig, choose_finally
from equipoise.search.worlds import World
from equipoise.solvers.playouts import draw_chance, draw_index

__all__ = ["Found", "RulesISMCTS"]

FloatArray = npt.NDArray[np.float64]

TIE_TOLERANCE: Final = 1e-5  # bounds this close count as equal, as in native/ucb.hpp


class Found(NamedTuple):
    """What a search found at its root, in the order of the legal actions."""

    visits: FloatArray  # [A]
    return_sum: FloatArray  # [A]


class _Row:
    """Statistics of an information state."""

    __slots__ = ("return_sum", "visits")

    def __init__(self, num_actions: int) -> None:
        self.visits = [0] * num_actions
        self.return_sum = [0.0] * num_actions


class RulesISMCTS:
    """The search of `TreeISMCTS` without a tree: from worlds that are given, with statistics in a dictionary.

    >>> import numpy as np
    >>> from equipoise.games import make_game
    >>> kuhn = make_game("kuhn")
    >>> king = kuhn.apply(kuhn.apply(kuhn.initial_state(), 2), 0)  # against a jack; the searcher does not know that
    >>> queen = kuhn.apply(kuhn.apply(kuhn.initial_state(), 2), 1)
    >>> worlds = [World(king, 1.0), World(queen, 1.0)] * 50
    >>> found = RulesISMCTS(kuhn, ISMCTSConfig(num_simulations=100)).search(worlds, rng=np.random.default_rng(0))
    >>> float(found.visits.sum())
    99.0
    """

    def __init__(self, game: Game[Any], config: ISMCTSConfig | None = None) -> None:
        self.game = game
        self.config = config or ISMCTSConfig()

    def search(self, worlds: Sequence[World], *, rng: np.random.Generator) -> Found:
        """Returns what a search from nothing found.

        Args:
            worlds: states of one information state, drawn in proportion to their weights, one a simulation.
            rng: uniform numbers, one for each choice.
        """
        if not worlds:
            raise ConfigError("a search needs a world to start from, got none")
        game, root = self.game, worlds[0].state
        player = game.actor(root)
        total = sum(world.weight for world in worlds)
        shares = [world.weight / total for world in worlds]
        rows: dict[tuple[int, str], _Row] = {}
        for _ in range(self.config.num_simulations):
            self._simulate(worlds[draw_index(shares, rng.random())].state, rows, rng)
        row = rows[player, game.infostate(root, player)]
        return Found(np.array(row.visits, np.float64), np.array(row.return_sum))

    def probabilities(self, worlds: Sequence[World], *, rng: np.random.Generator) -> FloatArray:
        """Returns `[A]` how a search's root is played."""
        found = self.search(worlds, rng=rng)
        return choose_finally(self.config.final, *found, np.array([found.visits.size]), rng=rng)

    def _simulate(self, state: Any, rows: dict[tuple[int, str], _Row], rng: np.random.Generator) -> None:
        """Runs one simulation and adds what it returned to the actions taken."""
        game = self.game
        path: list[tuple[_Row, int, int]] = []
        while (actor := game.actor(state)) != TERMINAL:
            if actor == CHANCE:
                state = game.apply(state, draw_chance(game, state, rng.random()))
                continue
            actions, key = game.legal_actions(state), (actor, game.infostate(state, actor))
            row = rows.get(key)
            if row is None:
                rows[key] = _Row(len(actions))
                state = self._roll_out(state, rng)
                break
            chosen = self._choose(row, rng)
            path.append((row, chosen, actor))
            state = game.apply(state, actions[chosen])
        returns = game.returns(state)
        for row, chosen, player in path:
            row.visits[chosen] += 1
            row.return_sum[chosen] += returns[player]

    def _choose(self, row: _Row, rng: np.random.Generator) -> int:
        """Returns an untried action, or else one of the largest upper confidence bound."""
        best = [action for action, visits in enumerate(row.visits) if visits == 0]
        if not best:
            log_total = math.log(sum(row.visits))
            bounds = [
                total / visits + self.config.exploration * math.sqrt(log_total / visits)
                for total, visits in zip(row.return_sum, row.visits, strict=True)
            ]
            least = max(bounds) - TIE_TOLERANCE
            best = [action for action, bound in enumerate(bounds) if bound > least]
            if len(best) == 1:
                return best[0]
        return best[int(rng.random() * len(best))]

    def _roll_out(self, state: Any, rng: np.random.Generator) -> Any:
        """Returns the state in which uniform play ends."""
        game = self.game
        while (actor := game.actor(state)) != TERMINAL:
            if actor == CHANCE:
                action = draw_chance(game, state, rng.random())
            else:
                actions = game.legal_actions(state)
                action = actions[int(rng.random() * len(actions))]
            state = game.apply(state, action)
        return state
