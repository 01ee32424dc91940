# SPDX-License-Identifier: Apache-2.0
"""What an agent thinks when it acts: its mix, its range and what all of that would do, the time it took."""

from __future__ import annotations

import time
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from equipoise.agents.base import Agent, NarrowAgent, Observation, PolicyAgent, PublicAgent, PublicDecision
from equipoise.agents.continual import ContinualAgent
from equipoise.agents.holdem.hands import describe_holdem_decision
from equipoise.apps.web.table_text import move_id, name_move, show_cards
from equipoise.apps.web.worths import Worths
from equipoise.core.errors import EquipoiseError
from equipoise.games.base import Game
from equipoise.games.holdem.cards import format_card, parse_board
from equipoise.games.holdem.dealing import parse_ranges
from equipoise.games.holdem.hands import format_hand, hands_of
from equipoise.games.holdem.rules import Holdem
from equipoise.solvers.playouts import draw_index

__all__ = ["Thinker"]

FloatArray = npt.NDArray[np.float64]

LEAST_SHOWN: Final = 1e-6  # of a probability
MANY_ACTIONS: Final = 64


class Thinker:
    """Asks an agent for moves and keeps what it thought."""

    def __init__(self, game: Game[Any], agent: Agent) -> None:
        self.game, self.agent, self._worths = game, agent, Worths(game, agent)
        self._seat = 0
        self._thoughts: list[dict[str, Any]] = []
        self._reach: FloatArray | None = None  # [H] of the agent's hands, hold'em

    def begin_hand(self, seat: int) -> None:
        """Forgets the last hand."""
        self._seat, self._thoughts, self._reach = seat, [], None

    def act(self, state: Any, observation: Observation, *, rng: np.random.Generator) -> int:
        """Returns the agent's move."""
        began = time.perf_counter()
        shares: list[float] | None = None
        agent = self.agent
        if isinstance(agent, PolicyAgent) and type(agent).act is PolicyAgent.act:
            shares = [float(share) for share in agent.probabilities(observation, rng=rng)]
            action = observation.actions[draw_index(shares, rng.random())]
        else:
            action = agent.act(observation, rng=rng)
        seconds = time.perf_counter() - began
        self._thoughts.append(self._describe(state, observation, shares, action, seconds, rng))
        return action

    def list_thoughts(self) -> list[dict[str, Any]]:
        """Returns what the agent thought in this hand."""
        return list(self._thoughts)

    def as_json(self) -> dict[str, Any]:
        """Returns what `recall` needs to go on with this hand."""
        return {"told": self._thoughts, "reach": None if self._reach is None else self._reach.tolist()}

    def recall(self, kept: dict[str, Any]) -> None:
        """Goes on with a hand whose beginning was thought about before."""
        self._thoughts = list(kept["told"])
        self._reach = None if kept["reach"] is None else np.array(kept["reach"], dtype=np.float64)

    def _describe(
        self,
        state: Any,
        observation: Observation,
        shares: list[float] | None,
        action: int,
        seconds: float,
        rng: np.random.Generator,
    ) -> dict[str, Any]:
        game = self.game
        mix = dict(zip(observation.actions, shares or [], strict=False))
        listed = [one for one, share in mix.items() if share > LEAST_SHOWN or len(mix) <= MANY_ACTIONS] or [action]
        worth = self._worths.find(state, observation)
        thought: dict[str, Any] = {
            "public": observation.public_state,
            "street": state.betting.street.name.lower() if isinstance(game, Holdem) else "",
            "board": [format_card(card) for card in state.board] if isinstance(game, Holdem) else [],
            "cards": show_cards(game, state, self._seat),
            "actions": [
                {
                    "id": move_id(game, state, one),
                    "name": name_move(game, state, one),
                    "probability": mix.get(one),
                    "ev": worth.get(one),
                }
                for one in listed
            ],
            "chosen": move_id(game, state, action),
            "range": None,
            "grid": None,
            "num_searched": self._count_searched(observation),
            "seconds": seconds,
        }
        if isinstance(game, Holdem) and isinstance(self.agent, PublicAgent):
            thought |= self._describe_range(state, action, rng)
        return thought

    def _count_searched(self, observation: Observation) -> int | None:
        """Returns how many betting nodes the agent's search had, None if it does not search hold'em."""
        return self.agent.count_searched(observation) if isinstance(self.agent, ContinualAgent) else None

    def _dealt(self) -> FloatArray:
        """Returns `[H]` what the agent may have been dealt."""
        game = self.game
        assert isinstance(game, Holdem)
        if not game.ranges:
            return np.ones(hands_of(game.card_deck).num_hands)
        board = parse_board(game.board, game.card_deck)
        return np.array(parse_ranges(game.ranges, game.card_deck, board)[self._seat].weights)

    def _describe_range(self, state: Any, action: int, rng: np.random.Generator) -> dict[str, Any]:
        """Returns the agent's hands here and what they do; the range is that of all its moves so far."""
        agent = self.agent
        assert isinstance(agent, PublicAgent)
        assert isinstance(self.game, Holdem)
        hands = hands_of(self.game.card_deck)
        try:
            decision: PublicDecision = describe_holdem_decision(self.game, state)
            if isinstance(agent, NarrowAgent):
                decision = decision.narrow(agent.public_actions(decision))
            if len(decision.actions) > MANY_ACTIONS:
                return {}
            table = agent.public_strategy(decision, rng=rng)
        except EquipoiseError:
            return {}
        held = self._dealt() if self._reach is None else self._reach
        held = np.where(hands.blocked(state.board), 0.0, held)
        if action in decision.actions:
            self._reach = held * table[:, decision.actions.index(action)]
        shown = np.flatnonzero(held > LEAST_SHOWN)
        return {
            "range": {
                "hands": [format_hand(hand, self.game.card_deck) for hand in shown.tolist()],
                "weight": held[shown].tolist(),
            },
            "grid": {
                "names": list(hands.class_names),
                "weight": _cells(hands.grid(held).ravel()),
                "actions": [move_id(self.game, state, one) for one in decision.actions],
                "frequency": [
                    list(cell)
                    for cell in zip(*(_cells(hands.grid(column, held).ravel()) for column in table.T), strict=True)
                ],
            },
        }


def _cells(numbers: FloatArray) -> list[float | None]:
    return [None if np.isnan(number) else float(number) for number in numbers]
