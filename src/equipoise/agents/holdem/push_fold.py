# SPDX-License-Identifier: Apache-2.0
"""An agent that plays a push-or-fold chart at any depth: all its chips or none, before the flop."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from equipoise.agents.base import Observation, PolicyAgent, PublicDecision
from equipoise.agents.holdem.hands import hands_by_name, number_hands
from equipoise.core.errors import ConfigError
from equipoise.games.base import Game
from equipoise.games.holdem.betting import CALL, FOLD, Street
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.public_text import parse_steps
from equipoise.games.holdem.rules import Holdem
from equipoise.solvers.holdem.push_fold import PushFold, PushFoldChart, solve_push_fold

__all__ = ["PushFoldAgent"]

FloatArray = npt.NDArray[np.float64]


@functools.lru_cache(8)
def _solve(stakes: PushFold) -> PushFoldChart:
    return solve_push_fold(stakes)


class PushFoldAgent(PolicyAgent):
    """Moves all in with the chart's hands and folds the others.

    Hands that call a push also answer smaller raises, all in; where nobody has raised, hands that push do so from
    either seat. After the flop, where it comes only by checks, it checks and folds.

    >>> from equipoise.games import make_game
    >>> PushFoldAgent(make_game("holdem", deck="royal", stacks=(1000, 1000))).name
    'pushfold'
    """

    name = "pushfold"

    def __init__(self, game: Game[Any]) -> None:
        """Solves push or fold for the game's chips; showdowns are counted once and kept."""
        if not isinstance(game, Holdem) or game.spec.num_players != 2 or game.board:
            raise ConfigError(f"pushfold plays hold'em heads-up from before the flop, got {game.spec.label}")
        self.deck = game.card_deck
        blind = float(game.big_blind)
        self.chart = _solve(
            PushFold(
                stack_bb=min(game.stacks) / blind,
                small_blind_bb=game.small_blind / blind,
                ante_bb=game.ante / blind,
                deck=self.deck,
            )
        )

    def probabilities(self, observation: Observation, *, rng: np.random.Generator) -> Sequence[float]:
        """Returns `[A]` what the hand does."""
        hand = hands_by_name(self.deck)[observation.infostate.partition("|")[0]]
        row: list[float] = self._rows(observation.public_state, observation.actions)[hand].tolist()
        return row

    def public_strategy(self, decision: PublicDecision, *, rng: np.random.Generator) -> FloatArray:
        """Returns `[H, A]` what every hand does."""
        rows = self._rows(decision.public_state, decision.actions)[number_hands(decision.infostates, self.deck)]
        return np.where(decision.legality, rows, 0.0)

    def _rows(self, public_state: str, actions: tuple[int, ...]) -> FloatArray:
        """Returns `[H, A]` what every hand of the deck does."""
        steps, board = parse_steps(public_state)
        out = np.zeros((self.deck.num_hands, len(actions)))
        passive = actions.index(FOLD if FOLD in actions else CALL)
        if len(board) >= Street.FLOP.num_board_cards:
            out[:, passive] = 1.0
            return out
        is_raised = any(step > CALL for step in steps)
        by_class = self.chart.call if is_raised else self.chart.push
        share = by_class[hands_of(self.deck).classes]
        most = actions[-1]  # all in, or the call of a bet that is
        out[:, actions.index(most)] += share
        out[:, passive] += 1.0 - share
        return out
