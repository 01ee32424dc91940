# SPDX-License-Identifier: Apache-2.0
"""Coin Toss, the fixture on which safe and unsafe search part ways."""

from __future__ import annotations

import dataclasses
import math
from typing import ClassVar, NamedTuple

from equipoise.core.errors import ConfigError
from equipoise.games.base import (
    CHANCE,
    TERMINAL,
    ActionClass,
    GameSpec,
    derived,
    duel_spec,
    illegal_action,
    no_returns,
    parameter,
)
from equipoise.games.parameters import check_parameters

__all__ = ["CoinToss", "CoinTossState"]

SELL, PLAY = 0, 1
HEADS, TAILS, FORFEIT = 0, 1, 2
SIDES = ("heads", "tails")
GUESSES = ("heads", "tails", "forfeit")


class CoinTossState(NamedTuple):
    """The actions so far, chance included."""

    actor: int
    path: tuple[int, ...]
    public: str


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class CoinToss:
    """Coin Toss: player 0 sees a fair coin, sells it or plays; then player 1 guesses its side or forfeits.

    Selling pays player 0 by the side of the coin. A right guess costs player 0 one, a wrong guess or a
    forfeit pays it one. With two subgames a public fair draw after Play leads to one of two alike guessing
    games.

    Paper: Brown 2020, "Equilibrium Finding for Large Adversarial Imperfect-Information Games", PhD thesis,
        section 5.1, Figures 5.1 and 5.4.
    Departs from the paper: it does not print what forfeiting pays; 1 is what its blueprint values imply.

    >>> import equipoise
    >>> round(equipoise.solve(CoinToss(), method="lp").game_value, 3)
    0.0
    """

    name: ClassVar[str] = "coin_toss"

    sell_heads: float = parameter(0.5, "what selling on heads pays player 0")
    sell_tails: float = parameter(-0.5, "what selling on tails pays player 0")
    subgames: int = parameter(1, "number of alike guessing games after Play", low=1, high=2)
    spec: GameSpec = derived()

    def __post_init__(self) -> None:
        check_parameters(self)
        for name in ("sell_heads", "sell_tails"):
            if not math.isfinite(getattr(self, name)):
                raise ConfigError(f"{name} must be finite, got {getattr(self, name)}")
        most = max(1.0, abs(self.sell_heads), abs(self.sell_tails))
        spec = duel_spec(self, most=most, max_length=2 + self.subgames)
        object.__setattr__(self, "spec", spec)

    def initial_state(self) -> CoinTossState:
        """Returns the state before the toss."""
        return CoinTossState(CHANCE, (), "toss")

    def actor(self, state: CoinTossState) -> int:
        """Returns the player to move, `CHANCE` or `TERMINAL`."""
        return state.actor

    def legal_actions(self, state: CoinTossState) -> tuple[int, ...]:
        """Returns sell and play for player 0, the three guesses for player 1."""
        if state.actor < 0:
            return ()
        return (SELL, PLAY) if state.actor == 0 else (HEADS, TAILS, FORFEIT)

    def chance_outcomes(self, state: CoinTossState) -> tuple[tuple[int, float], ...]:
        """Returns the two sides of the coin, or the two subgames."""
        return ((0, 0.5), (1, 0.5)) if state.actor == CHANCE else ()

    def apply(self, state: CoinTossState, action: int) -> CoinTossState:
        """Returns the state after the toss, player 0's choice, the draw of a subgame or the guess."""
        allowed = (0, 1) if state.actor == CHANCE else self.legal_actions(state)
        if action not in allowed:
            raise illegal_action(self, state, action)
        path = (*state.path, action)
        if not state.path:
            return CoinTossState(0, path, "sell or play")
        if state.actor == 0:
            if action == SELL:
                return CoinTossState(TERMINAL, path, "sold")
            return CoinTossState(CHANCE, path, "draw") if self.subgames == 2 else CoinTossState(1, path, "guess")
        if state.actor == CHANCE:
            return CoinTossState(1, path, f"guess in subgame {action + 1}")
        return CoinTossState(TERMINAL, path, f"{state.public}: {GUESSES[action]}")

    def returns(self, state: CoinTossState) -> tuple[float, ...]:
        """Returns what player 0 gets and player 1 pays."""
        if state.actor != TERMINAL:
            raise no_returns(self, state)
        coin, choice, last = state.path[0], state.path[1], state.path[-1]
        if choice == SELL:
            value = self.sell_tails if coin == TAILS else self.sell_heads
        else:
            value = -1.0 if last == coin else 1.0
        return (value, -value)

    def infostate(self, state: CoinTossState, player: int) -> str:
        """Returns what is public, and for player 0 the coin."""
        if player == 0 and state.path:
            return f"{SIDES[state.path[0]]}|{state.public}"
        return state.public

    def public_state(self, state: CoinTossState) -> str:
        """Returns what stands to be decided, or how it ended."""
        return state.public

    def action_name(self, state: CoinTossState, action: int) -> str:
        """Returns a word for the choice, the guess or the outcome."""
        if state.actor == CHANCE:
            return f"subgame {action + 1}" if state.path else SIDES[action]
        return ("sell", "play")[action] if state.actor == 0 else GUESSES[action]

    def action_class(self, state: CoinTossState, action: int) -> ActionClass:
        """Returns `OTHER`."""
        return ActionClass.OTHER

    def describe(self, state: CoinTossState) -> str:
        """Returns the coin and how far the game has come."""
        return f"coin {SIDES[state.path[0]] if state.path else 'not tossed'}, {state.public}"
