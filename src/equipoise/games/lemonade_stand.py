# SPDX-License-Identifier: Apache-2.0
"""The Lemonade Stand Game: everybody picks a point on a ring and wants to be far from everybody else."""

from __future__ import annotations

import dataclasses
from typing import ClassVar, NamedTuple

from equipoise.games.base import TERMINAL, ActionClass, GameSpec, derived, illegal_action, no_returns, parameter
from equipoise.games.parameters import check_parameters, parameters_of

__all__ = ["LemonadeStand", "LemonadeState"]


class LemonadeState(NamedTuple):
    """Where stands are, as far as players have chosen."""

    stands: tuple[int, ...]  # by player


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class LemonadeStand:
    """The Lemonade Stand Game: players choose a point on a ring at the same time; far from others is good.

    A player's utility is the distance to the nearest other stand, in points along the ring. Equilibria in which nobody
    draws space players evenly, and there are as many as places to begin: seats of different ones do not fit together.

    Paper: Brown 2020, "Equilibrium Finding for Large Adversarial Imperfect-Information Games", PhD thesis, section
        2.2 and Figure 2.1, after Zinkevich, Bowling & Wunder 2011.
    Departs from the paper: the ring has finitely many points, and utility is the distance itself, as the figure has it
        (the text of section 2.2 lets whoever is farthest win).
    Checked by: tests/games/test_lemonade_stand.py.
    """

    name: ClassVar[str] = "lemonade_stand"

    points: int = parameter(12, "places on the ring", low=2, high=100)
    players: int = parameter(3, "how many stands", low=2, high=6)
    spec: GameSpec = derived()

    def __post_init__(self) -> None:
        check_parameters(self)
        spec = GameSpec(
            name=self.name,
            version=1,
            num_players=self.players,
            parameters=parameters_of(self),
            is_zero_sum=False,
            min_utility=0.0,
            max_utility=float(self.points // 2),
            max_length=self.players,
        )
        object.__setattr__(self, "spec", spec)

    def initial_state(self) -> LemonadeState:
        """Returns the empty ring."""
        return LemonadeState(())

    def actor(self, state: LemonadeState) -> int:
        """Returns the next player to choose, or `TERMINAL`."""
        return len(state.stands) if len(state.stands) < self.players else TERMINAL

    def legal_actions(self, state: LemonadeState) -> tuple[int, ...]:
        """Returns every point: others' choices are not seen."""
        return tuple(range(self.points)) if len(state.stands) < self.players else ()

    def chance_outcomes(self, state: LemonadeState) -> tuple[tuple[int, float], ...]:
        """Returns nothing: there is no chance."""
        return ()

    def apply(self, state: LemonadeState, action: int) -> LemonadeState:
        """Returns the state with one more stand."""
        if action not in self.legal_actions(state):
            raise illegal_action(self, state, action)
        return LemonadeState((*state.stands, action))

    def returns(self, state: LemonadeState) -> tuple[float, ...]:
        """Returns each player's distance to the nearest other stand."""
        if len(state.stands) < self.players:
            raise no_returns(self, state)
        return tuple(
            float(min(self._distance(own, other) for k, other in enumerate(state.stands) if k != player))
            for player, own in enumerate(state.stands)
        )

    def infostate(self, state: LemonadeState, player: int) -> str:
        """Returns the player's own stand, and how many have chosen."""
        own = str(state.stands[player]) if player < len(state.stands) else "-"
        return f"{own}|{self.public_state(state)}"

    def public_state(self, state: LemonadeState) -> str:
        """Returns how many have chosen."""
        return f"{len(state.stands)} chosen"

    def action_name(self, state: LemonadeState, action: int) -> str:
        """Returns the point."""
        return str(action)

    def action_class(self, state: LemonadeState, action: int) -> ActionClass:
        """Returns that no point is a fold, a call or a raise."""
        return ActionClass.OTHER

    def describe(self, state: LemonadeState) -> str:
        """Returns where the stands are."""
        return f"stands at {', '.join(map(str, state.stands)) or 'no point yet'} of {self.points}"

    def _distance(self, one: int, other: int) -> int:
        around = abs(one - other)
        return min(around, self.points - around)
