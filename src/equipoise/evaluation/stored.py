# SPDX-License-Identifier: Apache-2.0
"""Which way a match is played: at once as arrays where every agent is a table or blind, hand by hand elsewhere."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, ClassVar, Final

import numpy as np
import numpy.typing as npt

from equipoise.agents.base import PolicyAgent
from equipoise.agents.simple import ClassAgent, UniformAgent
from equipoise.agents.strategies import StrategyAgent
from equipoise.evaluation.assembly import assemble_strategy
from equipoise.evaluation.batched import BatchedGames
from equipoise.evaluation.holdem.batched import BatchedHoldem, make_rows
from equipoise.evaluation.matches import AgentMaker, ChunkPlayer, DealRange, MatchConfig, RecordedDeals
from equipoise.games.base import Game
from equipoise.games.holdem.betting_tree import betting_tree
from equipoise.games.holdem.rules import ALL_RAISES, Holdem
from equipoise.games.holdem.spot_game import spot_of_game
from equipoise.trees.history import build_history_tree, estimate_num_histories

__all__ = ["StoredStrategies", "can_be_batched"]

FloatArray = npt.NDArray[np.float64]

MAX_BATCHED_HISTORIES: Final = 1_000_000  # beyond it a tree takes longer to build than most matches


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class StoredStrategies:
    """Plays deals between agents that are tables or blind; every process builds its arrays for itself."""

    game: Game[Any]
    makers: tuple[AgentMaker, ...]
    names: tuple[str, ...]
    config: MatchConfig
    plays_singly: ClassVar[bool] = False

    def __call__(self, deals: DealRange) -> FloatArray | RecordedDeals:
        """Returns `[deals, rotations, agents]` what every agent won."""
        return _build_player(self)(deals)


def can_be_batched(game: Game[Any], makers: tuple[AgentMaker, ...]) -> bool:
    """Returns whether `StoredStrategies` can play a match."""
    agents = [maker(game) for maker in makers]
    if isinstance(game, Holdem):
        if len(game.stacks) != 2 or game.menu == ALL_RAISES:
            return False
        spot = spot_of_game(game)
        betting = betting_tree(spot.betting_rules, spot.menu)
        return all(isinstance(agent, PolicyAgent) and make_rows(agent, betting) is not None for agent in agents)
    if not all(isinstance(agent, StrategyAgent | UniformAgent | ClassAgent) for agent in agents):
        return False
    return estimate_num_histories(game, rng=np.random.default_rng(0)) <= MAX_BATCHED_HISTORIES


@functools.lru_cache(4)
def _build_player(stored: StoredStrategies) -> ChunkPlayer:
    game = stored.game
    agents = [maker(game) for maker in stored.makers]
    if isinstance(game, Holdem):
        spot = spot_of_game(game)
        betting = betting_tree(spot.betting_rules, spot.menu)
        first, second = (make_rows(agent, betting) for agent in agents if isinstance(agent, PolicyAgent))
        assert first is not None
        assert second is not None
        return BatchedHoldem(spot=spot, betting=betting, rows=(first, second), config=stored.config)
    tree = build_history_tree(game)
    rng = np.random.default_rng(0)  # tables draw nothing
    strategies = tuple(
        assemble_strategy(agent, game, tree, rng=rng) for agent in agents if isinstance(agent, PolicyAgent)
    )
    return BatchedGames(tree=tree, strategies=strategies, names=stored.names, config=stored.config)
