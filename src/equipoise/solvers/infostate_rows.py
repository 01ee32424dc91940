# SPDX-License-Identifier: Apache-2.0
"""What is done at some information states, by name: a dictionary that is short to look at."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from equipoise.core.errors import ConfigError
from equipoise.core.formatting import show_given
from equipoise.core.markup import MOST_ROWS, html_line, html_table, join_html

if TYPE_CHECKING:
    from equipoise.solvers.strategy import TabularStrategy

__all__ = ["InfostateRows", "find_rows", "html_rows", "list_columns"]

MOST_NAMES: Final = 3  # that a message shows


class InfostateRows(dict[str, dict[str, float]]):
    """The probability of each action by name, at information states by name.

    >>> InfostateRows({"K:": {"check": 0.25, "bet": 0.75}, "Q:": {"check": 1.0, "bet": 0.0}})
    <InfostateRows of 2 information states: 'K:' check 25.0%, bet 75.0%, ...>
    """

    def __repr__(self) -> str:
        name, row = next(iter(self.items()), ("", {}))
        first = f": {name!r} " + ", ".join(f"{action} {share:.1%}" for action, share in row.items()) if row else ""
        more = ", ..." if len(self) > 1 else ""
        return f"<InfostateRows of {len(self):,} information state{'s' * (len(self) != 1)}{first}{more}>"

    def _repr_html_(self) -> str:
        return join_html(html_line(f"{len(self):,} information states"), html_rows(self, len(self)))


def find_rows(strategy: TabularStrategy, text: str) -> list[int]:
    """Returns the information states of a strategy that have a text in their name, or match it as a glob.

    Raises `ConfigError` if there is none.
    """
    names = enumerate(strategy.infostates)
    rows = [row for row, name in names if text in name or fnmatch.fnmatchcase(name, text)]
    if text and not rows:
        known = ", ".join(repr(name) for name in strategy.infostates[:MOST_NAMES])
        raise ConfigError(f"no information state matches {show_given(text)}; they look like {known}")
    return rows


def list_columns(strategy: TabularStrategy, rows: Sequence[int]) -> dict[str, list[Any]]:
    """Returns some information states of a strategy as columns, an action in each row: player, infostate, action."""
    columns: dict[str, list[Any]] = {"player": [], "infostate": [], "action": [], "probability": []}
    for row in rows:
        for action, share in strategy.row(row).items():
            values = int(strategy.player[row]), strategy.infostates[row], action, share
            for column, value in zip(columns.values(), values, strict=True):
                column.append(value)
    return columns


def html_rows(rows: Mapping[str, Mapping[str, float]], num_rows: int) -> str:
    """Returns a table of information states and their actions, of the first few; `num_rows` is how many there are."""
    shown = dict(list(rows.items())[:MOST_ROWS])
    actions = list(dict.fromkeys(action for row in shown.values() for action in row))
    cells: list[list[Any]] = [
        [name, *(f"{row[action]:.1%}" if action in row else "" for action in actions)] for name, row in shown.items()
    ]
    return html_table(["information state", *actions], cells, num_rows=num_rows)
