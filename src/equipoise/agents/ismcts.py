# SPDX-License-Identifier: Apache-2.0
"""Agents that search with information-set Monte Carlo tree search at every decision."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from equipoise.agents.base import Agent, Observation, PolicyAgent
from equipoise.core.errors import InvalidStateError
from equipoise.games.base import Game
from equipoise.search.ismcts import ISMCTSConfig, TreeISMCTS, choose_finally
from equipoise.search.rules_ismcts import RulesISMCTS
from equipoise.search.worlds import Event, WorldSampler
from equipoise.solvers.playouts import draw_index
from equipoise.trees.cache import load_or_build_history_tree
from equipoise.trees.history import HistoryTree, estimate_num_histories

__all__ = ["RulesISMCTSAgent", "TreeISMCTSAgent", "make_ismcts_agent"]

MAX_HISTORIES: Final = 300_000  # of a tree that is built for an agent: a few seconds
MAX_WORLDS: Final = 1000  # drawn for one search of the rules


def _name(config: ISMCTSConfig) -> str:
    return f"ismcts:{config.num_simulations},{config.exploration:g},{config.final}"


class TreeISMCTSAgent(PolicyAgent):
    """Searches from each information state that it is asked about, on the game's tree.

    >>> from equipoise.games import make_game
    >>> from equipoise.runs import match
    >>> from equipoise.trees import build_history_tree
    >>> agent = TreeISMCTSAgent(build_history_tree(make_game("kuhn")), ISMCTSConfig(num_simulations=50))
    >>> match(agent, "uniform", game="kuhn", hands=10).num_hands
    10
    """

    is_fixed = False

    def __init__(self, tree: HistoryTree, config: ISMCTSConfig | None = None) -> None:
        self.search = TreeISMCTS(tree, config, rng=np.random.default_rng(0))  # reseeded by every call
        self.name = _name(self.search.config)
        keys = zip(tree.infoset_player().tolist(), tree.infoset_labels, strict=True)
        self._infosets = {key: infoset for infoset, key in enumerate(keys)}

    def probabilities(self, observation: Observation, *, rng: np.random.Generator) -> Sequence[float]:
        """Returns `[A]` what a fresh search says."""
        infoset = self._infosets.get((observation.seat, observation.infostate))
        if infoset is None:
            raise InvalidStateError(
                f"{self.search.tree.game_label} has no information state {observation.infostate!r} of player "
                f"{observation.seat}"
            )
        self.search.reseed(rng)
        self.search.search([infoset])
        tree, tables = self.search.tree, self.search.tables
        first, count = int(tree.first_sequence[infoset]), int(tree.num_actions[infoset])
        cells = slice(first, first + count)
        final = self.search.config.final
        shares: list[float] = choose_finally(
            final, tables.visits[cells], tables.return_sum[cells], np.array([count]), rng=rng
        ).tolist()
        return shares


class RulesISMCTSAgent:
    """Searches the rules themselves, from worlds that fit what its seat has seen: for games too large for a tree.

    >>> from equipoise.games import make_game
    >>> from equipoise.runs import match
    >>> agent = RulesISMCTSAgent(make_game("kuhn"), ISMCTSConfig(num_simulations=20))
    >>> match(agent, "uniform", game="kuhn", hands=10).num_hands
    10
    """

    def __init__(self, game: Game[Any], config: ISMCTSConfig | None = None, *, max_worlds: int = MAX_WORLDS) -> None:
        """Keeps the rules.

        Args:
            game: what is played.
            config: how searches are run.
            max_worlds: at most so many are drawn for a search, and simulations share them.
        """
        self.search = RulesISMCTS(game, config)
        self.name = _name(self.search.config)
        self.max_worlds = max_worlds
        self._seat = 0
        self._events: list[Event] = []

    def begin_game(self, seat: int) -> None:
        """Forgets the last game."""
        self._seat, self._events = seat, []

    def observe(self, observation: Observation) -> None:
        """Remembers what the seat saw after a move that it did not make."""
        self._events.append(Event(infostate=observation.infostate))

    def act(self, observation: Observation, *, rng: np.random.Generator) -> int:
        """Returns an action drawn from what a fresh search says."""
        sampler = WorldSampler(self.search.game, self._seat, self._events)
        num_worlds = min(self.max_worlds, self.search.config.num_simulations)
        worlds = [sampler.sample(rng=rng) for _ in range(num_worlds)]
        chosen = draw_index(self.search.probabilities(worlds, rng=rng).tolist(), rng.random())
        action = observation.actions[chosen]
        self._events = [*self._events, Event(action=action)]
        return action


def make_ismcts_agent(game: Game[Any], config: ISMCTSConfig | None = None) -> Agent:
    """Returns an agent on the game's tree if that is small, else on its rules.

    Without a configuration C is half the distance between the smallest and the largest return: 13 in Leduc.

    >>> from equipoise.games import make_game
    >>> make_ismcts_agent(make_game("kuhn"), ISMCTSConfig(num_simulations=50)).name
    'ismcts:50,13,max-visits'
    """
    config = config or dataclasses.replace(ISMCTSConfig(), exploration=game.spec.utility_range / 2)
    if estimate_num_histories(game, rng=np.random.default_rng(0), num_probes=100) <= MAX_HISTORIES:
        return TreeISMCTSAgent(load_or_build_history_tree(game), config)
    return RulesISMCTSAgent(game, config)
