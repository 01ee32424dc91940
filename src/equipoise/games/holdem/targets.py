# SPDX-License-Identifier: Apache-2.0
"""How far a spot is to be solved, in the units that players use."""

from __future__ import annotations

import dataclasses
import enum
import math
import re
from typing import Final

from equipoise.core.errors import ConfigError, ParseError
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.games.parameters import format_value

__all__ = ["Target", "TargetUnit", "format_target", "parse_target"]

TARGET: Final = re.compile(
    r"(?P<amount>[0-9.]+(?:e[+-]?[0-9]+)?)\s*(?P<unit>%\s*(?:of\s+)?(?:the\s+)?(?:pot)?|mbb|chips?)?"
)


class TargetUnit(enum.Enum):
    """What a target is measured in; the value is the unit as written."""

    POT = "% pot"  # percent of the pot at the root; before the flop of blinds and antes
    MBB = "mbb"  # thousandths of the big blind
    CHIPS = "chips"


@dataclasses.dataclass(frozen=True, slots=True)
class Target:
    """An exploitability to reach."""

    amount: float
    unit: TargetUnit = TargetUnit.CHIPS

    def __post_init__(self) -> None:
        if not 0 <= self.amount < math.inf:
            raise ConfigError(f"a target must be finite and not negative, got {self.amount}")

    def chips(self, spot: HoldemSpot) -> float:
        """Returns the target in chips per hand."""
        scales = {TargetUnit.POT: spot.root_pot / 100, TargetUnit.MBB: spot.big_blind / 1000, TargetUnit.CHIPS: 1.0}
        return self.amount * scales[self.unit]


def parse_target(text: str) -> Target:
    """Returns the exploitability that a text names: chips, or with a unit percent of the pot or mbb.

    >>> parse_target("0.5% pot"), parse_target("20mbb").unit.value, parse_target("3").unit.value
    (Target(amount=0.5, unit=<TargetUnit.POT: '% pot'>), 'mbb', 'chips')
    """
    match = TARGET.fullmatch(text.strip().lower())
    try:
        if match is not None:
            written = match["unit"] or ""
            kind = (
                TargetUnit.POT if written.startswith("%") else TargetUnit.MBB if written == "mbb" else TargetUnit.CHIPS
            )
            return Target(float(match["amount"]), kind)
    except ValueError:  # two decimal points
        pass
    raise ParseError(f"a target is written 0.5% pot, 20 mbb or 3 chips, got {text!r}")


def format_target(target: Target) -> str:
    """Returns a target as `parse_target` reads it.

    >>> format_target(Target(0.5, TargetUnit.POT))
    '0.5% pot'
    """
    space = "" if target.unit is TargetUnit.POT else " "
    return f"{format_value(float(target.amount))}{space}{target.unit.value}"
