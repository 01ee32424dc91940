# SPDX-License-Identifier: Apache-2.0
"""An agent that searches every decision anew from what its last search found, without a tree of the whole game."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from equipoise.agents.base import Observation, PolicyAgent, PublicDecision
from equipoise.agents.holdem.hands import check_holdem_game
from equipoise.agents.public_paths import PublicPaths
from equipoise.agents.search import HoldemGround
from equipoise.core.errors import InvalidStateError
from equipoise.games.holdem.rules import Holdem
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.games.holdem.spot_game import game_of_spot
from equipoise.games.public import MergesInfostates, PublicGame
from equipoise.search.continual import ContinualSearch, ContinualSettings, HoldemChain
from equipoise.search.profiles import Stage
from equipoise.trees.holdem.places import HoldemPlace, HoldemStrategy
from equipoise.trees.vector import Strategy

__all__ = ["ContinualAgent"]

FloatArray = npt.NDArray[np.float64]


class ContinualAgent(PolicyAgent):
    """Plays by continual re-solving: a public game, of which it expands no more than searches look at, or by hands.

    What it does depends on public states alone, so that it is one fixed strategy, searched where it is asked for.

    >>> from equipoise.games import make_game
    >>> from equipoise.runs import match
    >>> from equipoise.trees import derive_public_game
    >>> agent = ContinualAgent(derive_public_game(make_game("kuhn")), search=ContinualSettings(iterations=20))
    >>> match(agent, "uniform", game="kuhn", hands=20).num_hands
    20
    """

    def __init__(
        self,
        game: PublicGame[Any] | HoldemSpot,
        *,
        rules: Holdem | None = None,
        blueprint: Strategy[Any] | HoldemStrategy | None = None,
        search: ContinualSettings | None = None,
        name: str = "continual",
    ) -> None:
        """Keeps the rules.

        Args:
            game: what is played, over public states, or a spot of hold'em with the bets that searches consider.
            rules: of hold'em: the game of the same cards and chips, by default the spot's own; it may offer more bets.
            blueprint: what is played before the first search; None: it begins with the game.
            search: how decisions are searched.
            name: for tables of results.
        """
        self.game, self.name = game, name
        searches = [ContinualSearch(game, seat, search, blueprint=blueprint) for seat in (0, 1)]
        self._play: _PublicPlay | _HandPlay
        if isinstance(game, HoldemSpot):
            check_holdem_game(game, rules or game_of_spot(game))
            self._play = _HandPlay([search.chain for search in searches], game, name)
        else:
            self._play = _PublicPlay(game, searches)

    def begin_game(self, seat: int) -> None:
        """Goes back to the beginning."""
        self._play.begin_game()

    def observe(self, observation: Observation) -> None:
        """Follows the game, so that no public state needs to be looked for from the beginning."""
        self._play.observe(observation.public_state)

    def probabilities(self, observation: Observation, *, rng: np.random.Generator) -> Sequence[float]:
        """Returns `[A]` what the last search on the way says."""
        return self._play.shares(observation)

    def count_searched(self, observation: Observation) -> int | None:
        """Returns how many betting nodes the last search on the way has, None where it is no search of hold'em."""
        found = self.find_stage(observation)
        return None if found is None else len(found[0].profile.betting.nodes)  # type: ignore[attr-defined]  # of hold'em

    def find_stage(self, observation: Observation) -> tuple[Stage[HoldemPlace], HoldemPlace] | None:
        """Returns the last search on the way to a decision, and the decision in it; None but in hold'em."""
        if not isinstance(self._play, _HandPlay):
            return None
        return self._play.stage_at(observation.seat, observation.public_state)

    def find_values(self, observation: Observation) -> FloatArray | None:
        """Returns `[A]` what actions are worth by the last search, as `ContinualSearch.values_at`; None in hold'em."""
        return self._play.values(observation) if isinstance(self._play, _PublicPlay) else None

    def public_actions(self, decision: PublicDecision) -> tuple[int, ...]:
        """Returns what some private state may do: of hold'em the bets that its last search has."""
        return self._play.actions(decision) if isinstance(self._play, _HandPlay) else decision.actions

    def public_strategy(self, decision: PublicDecision, *, rng: np.random.Generator) -> FloatArray:
        """Returns `[H, A]` what each private state does."""
        return self._play.rows(decision)


class _HandPlay(HoldemGround):
    """Hold'em by hands; a seat's first search is run when it is to move."""

    def __init__(self, chains: Sequence[Any], spot: HoldemSpot, name: str) -> None:
        super().__init__((), spot, name)
        self._chains: Sequence[HoldemChain] = chains

    def walk_of(self, seat: int) -> Any:
        """Returns a seat's searches."""
        return self._chains[seat].walk


class _PublicPlay:
    """A public game, over its rules."""

    def __init__(self, game: PublicGame[Any], searches: Sequence[ContinualSearch]) -> None:
        self.game, self._searches = game, searches
        self._paths = PublicPaths(game)

    def begin_game(self) -> None:
        """Goes back to the beginning."""
        self._paths.begin_game()

    def observe(self, label: str) -> None:
        """Follows the game."""
        self._paths.observe(label)

    def shares(self, observation: Observation) -> list[float]:
        """Returns `[A]` what is played at an information state."""
        path, private, is_legal = self._find(observation)
        shares: list[float] = self._searches[observation.seat].policy_at(path)[private, is_legal].tolist()
        return shares

    def values(self, observation: Observation) -> FloatArray | None:
        """Returns `[A]` what actions are worth at an information state; None where that is not known."""
        path, private, is_legal = self._find(observation)
        values = self._searches[observation.seat].values_at(path)
        return None if values is None else values[private, is_legal]

    def _find(self, observation: Observation) -> tuple[tuple[int, ...], int, npt.NDArray[np.bool_]]:
        """Returns the way to an information state, its private state and which actions of the public one it has."""
        path = self._paths.locate(observation.public_state)
        private = self._number(observation.seat, path, [observation.infostate])[0]
        return path, private, self.game.legality(self._paths.state_at(path))[private]

    def rows(self, decision: PublicDecision) -> FloatArray:
        """Returns `[H, A]` what each private state does."""
        path = self._paths.locate(decision.public_state)
        return self._searches[decision.seat].policy_at(path)[self._number(decision.seat, path, decision.infostates)]

    def _number(self, seat: int, path: tuple[int, ...], infostates: Sequence[str]) -> list[int]:
        """Returns the private states of some information states."""
        state = self._paths.state_at(path)
        number = {self.game.infostate(state, seat, k): k for k in range(self.game.num_private(state, seat))}
        if isinstance(self.game, MergesInfostates):
            infostates = [self.game.merge_infostate(seat, name) for name in infostates]
        missing = [name for name in infostates if name not in number]
        if missing:
            raise InvalidStateError(
                f"{self.game.spec.label} has no information state {missing[0]!r} of player {seat} at "
                f"{self.game.public_state(state)!r}"
            )
        return [number[name] for name in infostates]
