# SPDX-License-Identifier: Apache-2.0
"""What a machine of the thesis's chapter 6 is made of: how its blueprint is trained, and what it does when it plays."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Final

from equipoise.abstraction.blueprints import BlueprintSpec
from equipoise.agents.holdem.blueprint import Sharpening
from equipoise.agents.holdem.endgame import EndgameSearch
from equipoise.agents.holdem.rounds import RoundSearch
from equipoise.core.errors import ConfigError, UnknownNameError

__all__ = ["Machine", "uneven_menu"]

SEATS: Final = ("oop", "ip")  # heads-up: seat 0 acts first after the flop


def uneven_menu(own: int, few: str, many: str, *, cap: int) -> str:
    """Returns a menu in which one seat of two has few sizes while the other has many.

    >>> uneven_menu(1, "100%", "50%, 100%", cap=3)
    'oop: 50%, 100%; ip: 100%; cap: 3'
    """
    places = [f"{place}: {few if seat == own else many}" for seat, place in enumerate(SEATS)]
    return "; ".join([*places, f"cap: {cap}"])


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """A preset: every part is data that may be replaced."""

    name: str
    title: str  # a line for lists
    sizes: Mapping[str, tuple[BlueprintSpec, ...]]  # minutes, cpu, paper: one blueprint, or one for each seat
    pruning: str = "none"  # as `train blueprint --prune`
    sharpening: Sharpening = dataclasses.field(default_factory=Sharpening)
    rounds: RoundSearch | None = None  # solves rounds from their beginning; None: plays its blueprint
    search: EndgameSearch | None = None  # solves the rest of a hand from a street on; None: goes on as before

    @property
    def is_by_seat(self) -> bool:
        """Returns whether each seat has a blueprint of its own."""
        return len(next(iter(self.sizes.values()))) > 1

    def find_spec(self, size: str, seat: int | None = None) -> BlueprintSpec:
        """Returns what is trained for a size, of machines that tell seats apart for a seat."""
        if size not in self.sizes:
            raise UnknownNameError(f"size of {self.name}", size, self.sizes)
        specs = self.sizes[size]
        if self.is_by_seat != (seat is not None):
            wanted = (
                f"one for each seat: `seat` 0 or `seat` {len(specs) - 1}" if self.is_by_seat else "one for all seats"
            )
            raise ConfigError(f"{self.name} has blueprints for {wanted}")
        if seat is not None and not 0 <= seat < len(specs):
            raise ConfigError(f"seats of {self.name} are 0 to {len(specs) - 1}, got {seat}")
        return specs[seat or 0]
