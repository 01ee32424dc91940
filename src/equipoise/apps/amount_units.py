# SPDX-License-Identifier: Apache-2.0
"""Chips of a spot as players want to read them: big blinds, chips, or percent of the pot."""

from __future__ import annotations

import dataclasses
import enum
import math

__all__ = ["AmountUnit", "Amounts", "format_percent"]


class AmountUnit(enum.StrEnum):
    """What amounts are shown in."""

    BB = "bb"
    CHIPS = "chips"
    POT = "pot"


@dataclasses.dataclass(frozen=True, slots=True)
class Amounts:
    """Formats chips; every column of a table has one unit, named in its head, and one number of decimals."""

    unit: AmountUnit
    big_blind: int
    pot: int  # chips at the place shown

    @property
    def head(self) -> str:
        """Returns the unit as heads of columns have it."""
        return {AmountUnit.BB: "bb", AmountUnit.CHIPS: "chips", AmountUnit.POT: "% pot"}[self.unit]

    def format(self, chips: float | None) -> str:
        """Returns a number in the unit, a dash where it is not known."""
        if chips is None or math.isnan(chips):
            return "-"
        if self.unit is AmountUnit.POT:
            return _plain(100 * chips / self.pot, 1)
        return _plain(chips / self.big_blind, 2) if self.unit is AmountUnit.BB else _plain(chips, 1)

    def say(self, chips: float) -> str:
        """Returns an amount with its unit, for a line of text: `2.5 bb`; of the pot itself never a share."""
        if self.unit is AmountUnit.CHIPS:
            return f"{chips:,.10g} chips"
        return f"{chips / self.big_blind:,.4g} bb"


def _plain(value: float, decimals: int) -> str:
    text = f"{value:,.{decimals}f}"
    return text.lstrip("-") if not float(text.replace(",", "")) else text


def format_percent(share: float | None) -> str:
    """Returns a share of 1 in percent, a dash where it is not known.

    >>> format_percent(0.125), format_percent(None)
    ('12.5%', '-')
    """
    return "-" if share is None or math.isnan(share) else f"{100 * share:.1f}%"
