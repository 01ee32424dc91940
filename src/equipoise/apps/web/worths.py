# SPDX-License-Identifier: Apache-2.0
"""What an agent's actions are worth to the hand that it holds, if it and the other go on as it thinks.

Agents that play a solution know it from that; those that search hold'em from their last search. Of others nothing is
said. Chips are counted as `show` counts them: of hold'em the share of the pot as it stands, folding being worth 0.
"""

from __future__ import annotations

import functools
from typing import Any, Final

import numpy as np

from equipoise.agents.base import Agent, Observation
from equipoise.agents.continual import ContinualAgent
from equipoise.agents.holdem.hands import hands_by_name
from equipoise.agents.search import SearchAgent
from equipoise.agents.strategies import StrategyAgent
from equipoise.core.errors import EquipoiseError
from equipoise.games.base import Game
from equipoise.games.holdem.public_text import lines_of, parse_public_text
from equipoise.games.holdem.rules import Holdem
from equipoise.search.holdem.profile import HoldemProfile
from equipoise.solvers.game_views import GameViews
from equipoise.solvers.holdem.solved_spot import view_strategy
from equipoise.solvers.holdem.view import SpotViews
from equipoise.solvers.strategy import TabularStrategy
from equipoise.trees.cache import load_or_build_public_tree
from equipoise.trees.history import estimate_num_histories
from equipoise.trees.holdem.places import HoldemPlace

__all__ = ["Worths"]

MOST_HISTORIES: Final = 200_000  # of a game whose payoffs are all found


class Worths:
    """Values of the actions of one agent in one game."""

    def __init__(self, game: Game[Any], agent: Agent) -> None:
        self.game, self.agent = game, agent

    def find(self, state: Any, observation: Observation) -> dict[int, float]:
        """Returns what actions are worth at a decision of the agent's, by action; nothing where that is not known."""
        agent = self.agent
        try:
            if isinstance(self.game, Holdem):
                if isinstance(agent, StrategyAgent):
                    return self._read_spot(observation)
                if isinstance(agent, ContinualAgent | SearchAgent):
                    return self._measure_search(agent, state, observation)
            elif isinstance(agent, ContinualAgent):
                values = agent.find_values(observation)
                return {} if values is None else _keep_known(observation.actions, values)
            elif isinstance(agent, StrategyAgent) and isinstance(agent.strategy, TabularStrategy):
                return self._read_game(observation)
        except EquipoiseError:
            pass  # a thought without numbers
        return {}

    def _read_spot(self, observation: Observation) -> dict[int, float]:
        """Returns the values of a solved spot's own strategy."""
        views = self._spot_views
        if views is None:
            return {}
        line, board = parse_public_text(observation.public_state)
        node = lines_of(views.tree.betting).get(line)
        if node is None:
            return {}
        view = views.view(HoldemPlace(node, board))
        hand = self._hand_of(observation)
        found = np.flatnonzero(view.players[view.actor].hands == hand)
        return _keep_known(view.actions, view.action_values[found[0]]) if found.size else {}

    def _hand_of(self, observation: Observation) -> int:
        assert isinstance(self.game, Holdem)
        return hands_by_name(self.game.card_deck)[observation.infostate.partition("|")[0]]

    @functools.cached_property
    def _spot_views(self) -> SpotViews | None:
        assert isinstance(self.agent, StrategyAgent)
        return view_strategy(self.agent.hand_strategy)

    def _measure_search(
        self, agent: ContinualAgent | SearchAgent, state: Any, observation: Observation
    ) -> dict[int, float]:
        """Returns what the last search says that actions are worth if both go on as it found."""
        found = agent.find_stage(observation)
        if found is None:
            return {}
        stage, place = found
        profile = stage.profile
        assert isinstance(profile, HoldemProfile)
        values = profile.action_values(place, observation.seat, response=profile.strategy)
        row = values[self._hand_of(observation)] + state.betting.committed[observation.seat]
        return _keep_known(profile.betting.nodes[place.node].actions, row)

    def _read_game(self, observation: Observation) -> dict[int, float]:
        """Returns the values of a solved game's own strategy."""
        views = self._game_views
        key = observation.seat, observation.infostate
        if views is None or key not in self._rows:
            return {}
        node, private = self._rows[key]
        view = views.view(node)
        assert view.action_values is not None
        legal = views.tree.legal_at(node)[private]
        return _keep_known(observation.actions, view.action_values[private][legal])

    @functools.cached_property
    def _game_views(self) -> GameViews | None:
        assert isinstance(self.agent, StrategyAgent)
        assert isinstance(self.agent.strategy, TabularStrategy)
        if estimate_num_histories(self.game, rng=np.random.default_rng(0)) > MOST_HISTORIES:
            return None
        tree = load_or_build_public_tree(self.game)
        return GameViews(tree, self.agent.strategy.to_tree(tree))

    @functools.cached_property
    def _rows(self) -> dict[tuple[int, str], tuple[int, int]]:
        """Returns the public state and the private one of each information state by player and name."""
        assert self._game_views is not None
        tree = self._game_views.tree
        players = tree.infoset_player().tolist()
        places = zip(tree.infoset_node.tolist(), tree.infoset_private.tolist(), strict=True)
        return dict(zip(zip(players, tree.infoset_labels, strict=True), places, strict=True))


def _keep_known(actions: tuple[int, ...], row: Any) -> dict[int, float]:
    return {action: float(value) for action, value in zip(actions, row, strict=True) if not np.isnan(value)}
