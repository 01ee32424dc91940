# SPDX-License-Identifier: Apache-2.0
"""`equipoise show FILE --line '..., [*]'`: every card that may come as a table, CSV, JSON or picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType

from equipoise.apps.amount_units import Amounts, AmountUnit, format_percent
from equipoise.apps.output import make_table
from equipoise.apps.show_spot import format_columns
from equipoise.core.errors import UnknownNameError
from equipoise.core.reporting import Reporter
from equipoise.evaluation.plots import plot_shares
from equipoise.solvers.holdem.runouts import describe_runouts, runout_columns
from equipoise.solvers.holdem.solved_spot import SolvedSpot

__all__ = ["RunoutReport"]


class RunoutReport:
    """What happens after each card that may come."""

    def __init__(
        self, solved: SolvedSpot, text: str, *, sort: str | None, unit: AmountUnit, reporter: Reporter
    ) -> None:
        self.label, self.run = solved.label, solved.describe()
        self.found = describe_runouts(solved, text, reporter=reporter)
        self.amounts = Amounts(unit, self.found["big_blind"], self.found["pot"])
        columns = runout_columns(self.found)
        self.order = _sort_rows(columns, sort)
        self.columns = {name: [column[row] for row in self.order] for name, column in columns.items()}

    def as_csv(self) -> str:
        """Returns a line for each card; EV in chips."""
        return format_columns(self.columns)

    def as_json(self) -> dict[str, Any]:
        """Returns everything under the documented keys."""
        return {**self.run, "label": self.label, "runouts": self.found}

    def as_text(self, limit: int) -> RenderableType:
        """Returns the average over cards, then a row for each card."""
        found = self.found
        pot = f"pot {self.amounts.say(found['pot'])}"
        head = f"{self.label}\n{found['text']}: {len(found['cards'])} cards may come on the {found['street']}, {pot}"
        average = runout_columns({**found, "cards": [{"card": "all", "odds": 0.0, **found["average"]}]})
        shown = {"card": ["all", *self.columns["card"][: limit or None]]}
        left_out = {"card", "odds", f"equity {found['seats'][1]}", *(f"eqr {seat}" for seat in found["seats"])}
        for name in [name for name in self.columns if name not in left_out]:
            column = [average[name][0], *self.columns[name][: limit or None]]
            shown[self._name(name)] = [self._format(name, value) for value in column]
        return Group(head, make_table(shown), self._say_extremes())

    def draw(self, path: Any) -> None:
        """Writes a picture: what both players do first after each card, cards by rank."""
        found = self.found
        cards = sorted(found["cards"], key=lambda card: -"23456789TJQKA".index(card["card"][0]))
        names = [card["card"] for card in cards]
        panels = {
            f"{found['seats'][found['player']]} first": (
                found["names"],
                [card["frequency"] for card in cards],
            )
        }
        if found["reply"] is not None:
            seat = found["seats"][found["reply"]["player"]]
            panels[f"{seat} after a check"] = (found["reply"]["names"], [card["reply"] for card in cards])
        plot_shares(panels, names, path, title=f"{found['text']}, every {found['street']}")

    def _name(self, column: str) -> str:
        return f"{column}, {self.amounts.head}" if column.startswith("ev ") else column

    def _format(self, column: str, value: float | None) -> str:
        return self.amounts.format(value) if column.startswith("ev ") else format_percent(value)

    def _say_extremes(self) -> str:
        """Returns which cards the first player likes most and least; nothing without values."""
        seat = self.found["seats"][0]
        worth = [(value, card) for value, card in zip(*(self.columns[c] for c in (f"ev {seat}", "card")), strict=True)]
        known = sorted(pair for pair in worth if pair[0] is not None)
        if not known:
            return ""
        (least, worst), (most, best) = known[0], known[-1]
        shown = self.amounts.format(most), self.amounts.format(least)
        return f"best card for {seat}: {best} ({shown[0]} {self.amounts.head}), worst: {worst} ({shown[1]})"


def _sort_rows(columns: Mapping[str, Sequence[Any]], sort: str | None) -> list[int]:
    """Returns the order of cards: as they are numbered, or by a column, largest first."""
    rows = list(range(len(columns["card"])))
    if sort is None or sort == "card":
        return rows
    if sort not in columns:
        raise UnknownNameError("column to sort by", sort, columns)
    return sorted(rows, key=lambda row: float("inf") if columns[sort][row] is None else -columns[sort][row])
