# SPDX-License-Identifier: Apache-2.0
"""`equipoise show` and `equipoise evaluate` for solved hold'em spots."""

from __future__ import annotations

import csv
import fnmatch
import io
import math
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from equipoise.apps.grid import render_grid
from equipoise.core.checkpoint import Kind
from equipoise.games.holdem.cards import format_board
from equipoise.games.holdem.hands import format_hand, hands_of
from equipoise.games.holdem.line_notation import Line, format_line, name_actions
from equipoise.games.holdem.menus import POSITIONS
from equipoise.solvers.best_response import Evaluation, evaluate
from equipoise.solvers.holdem.description import describe_place
from equipoise.solvers.holdem.solved_spot import SolvedSpot
from equipoise.trees.holdem.places import HoldemPlace

__all__ = ["SHOWN", "EndReport", "SpotReport", "evaluate_spot"]

SHOWN: Final = (Kind.RUN, Kind.STRATEGY, Kind.SPOT)  # kinds of files that are evaluated and shown


def evaluate_spot(solved: SolvedSpot, *, num_threads: int) -> tuple[dict[str, Any], Evaluation]:
    """Returns what the file of a solved spot says of the run, and its exact evaluation in chips."""
    sums, kernel = solved.strategy_sum.read(), solved.kernel
    evaluation = evaluate(solved.tree, sums, kernel=kernel, num_threads=num_threads)
    described = {**solved.describe(), "exploitability_without_locks": None}
    if solved.locks:
        free = evaluate(solved.tree, sums, kernel=kernel, respects_locks=False, num_threads=num_threads)
        described["exploitability_without_locks"] = free.exploitability
    return described, evaluation


class SpotReport:
    """What a solved spot does at one place, as a table, a grid, CSV or JSON.

    Values need the whole table; of a large file they are left out unless asked for.
    """

    def __init__(self, solved: SolvedSpot, line: Line, pattern: str | None, *, has_values: bool) -> None:
        self.label, self.run, self.spot = solved.label, solved.describe(), solved.spot
        self.betting, self.line = solved.tree.betting, line
        if has_values:
            solved.read_values()
        self.solved, self.is_valued = solved, solved.views.kernel is not None
        self.view = solved.views.view(HoldemPlace(*self.line))
        self.actions = name_actions(self.betting, self.line.node)
        self.own = self.view.players[self.view.actor]
        self.rows = list(_matching_rows(self, pattern))  # the strongest ranks first

    @property
    def place(self) -> str:
        """Returns the line as text."""
        return format_line(self.betting, self.line)

    def as_text(self, *, has_grid: bool, limit: int) -> RenderableType:
        """Returns the place, how often each action is taken, and a grid or a table of hands."""
        view, stacks = self.view, self.betting.nodes[self.line.node].state.stacks
        worth = f", worth {self.own.value:.4g}" if self.is_valued else ""
        where = f"on {format_board(view.board)}" if view.board else "before the flop"
        place = (
            f"{self.label}\n{self.place or 'root'}: {POSITIONS[view.actor]} acts {where}, "
            f"{view.pot:,} in the pot{worth}, {min(stacks):,} behind\n"
        )
        if has_grid:
            return Group(place, self._as_grid())
        shares = zip(self.actions, view.frequencies.tolist(), strict=True)
        said = "   ".join(f"{action} {_format_percent(share)}" for action, share in shares)
        return Group(place, said, self._as_table(limit))

    def as_json(self, limit: int) -> dict[str, Any]:
        """Returns everything under the documented keys."""
        view = self.view
        return {
            **self.run,
            "label": self.label,
            "node": self.place,
            "player": view.actor,
            "board": format_board(view.board),
            "pot": view.pot,
            "value": self.own.value,
            "actions": list(self.actions),
            "frequencies": view.frequencies.tolist(),
            "place": describe_place(self.solved, self.line),
            "num_matching": len(self.rows),
            "rows": [self._describe(row) for row in self.rows[: limit or None]],
        }

    def as_csv(self) -> str:
        """Returns a line for every hand: weight, equity, value and the probability of each action."""
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        writer.writerow(["hand", "weight", "equity", "value", *self.actions])
        for row in self.rows:
            found = self._describe(row)
            numbers = [found["weight"], found["equity"], found["value"], *found["strategy"].values()]
            writer.writerow([found["hand"], *("" if math.isnan(number) else repr(number) for number in numbers)])
        return buffer.getvalue()

    def _describe(self, row: int) -> dict[str, Any]:
        return {
            "hand": format_hand(int(self.own.hands[row]), self.spot.deck),
            "weight": float(self.own.weights[row]),
            "equity": float(self.own.equities[row]),
            "value": float(self.own.values[row]),
            "strategy": dict(zip(self.actions, self.view.strategy[row].tolist(), strict=True)),
        }

    def _as_grid(self) -> Text:
        """Returns the square of classes, hands within a class weighted by how likely they are here."""
        shares, present = self.view.grid()
        return render_grid(shares, self.actions, deck=self.spot.deck, weights=present)

    def _as_table(self, limit: int) -> Table:
        table = Table()
        for name in ("hand", "weight", "equity", "value", *self.actions):
            table.add_column(name, justify="left" if name == "hand" else "right")
        for row in self.rows[: limit or None]:
            found = self._describe(row)
            shares = (_format_percent(share) for share in found["strategy"].values())
            value = "-" if math.isnan(found["value"]) else f"{found['value']:.4g}"
            table.add_row(found["hand"], f"{found['weight']:.3g}", _format_percent(found["equity"]), value, *shares)
        return table


class EndReport:
    """A place of a solved spot where nobody acts, as text or JSON: cards come next, or the hand is over."""

    def __init__(self, solved: SolvedSpot, line: Line) -> None:
        self._solved, self._place = solved, describe_place(solved, line)

    def as_text(self) -> str:
        """Returns the place, how many combinations each player still has, and how to go on."""
        place = self._place
        board = "".join(place["board"])
        where = f"on {board}" if board else "before the flop"
        ranges = zip(POSITIONS, place["players"], strict=True)
        left = "   ".join(f"{name} {player['summary']['combos']:.4g} combinations" for name, player in ranges)
        text = f"{self._solved.label}\n{place['text']}: {place['kind']} {where}, {place['pot']:,} in the pot\n{left}"
        cards = place["cards"]
        if cards:
            return f"{text}\nadd a card, as in '{place['text']}, [{cards[0]['card']}]'"
        return f"{text}\nadd the flop, as in [Ks7h2d]" if place["kind"] == "deal" else text

    def as_json(self) -> dict[str, Any]:
        """Returns everything under the keys of a decision; none of them has hands in `rows`."""
        place = self._place
        return {
            **self._solved.describe(),
            "label": self._solved.label,
            "node": place["text"],
            "player": None,
            "board": "".join(place["board"]),
            "pot": place["pot"],
            "value": None,
            "actions": [],
            "frequencies": [],
            "place": place,
            "num_matching": 0,
            "rows": [],
        }


def _format_percent(share: float) -> str:
    return "-" if math.isnan(share) else f"{100 * share:.1f}%"


def _matching_rows(report: SpotReport, pattern: str | None) -> Iterator[int]:
    """Yields the actor's hands that are there and whose cards or class match a text or a glob."""
    hands = hands_of(report.spot.deck)
    for row in np.flatnonzero(report.own.weights > 0)[::-1].tolist():
        hand = int(report.own.hands[row])
        names = format_hand(hand, hands.deck), hands.class_names[hands.classes[hand]]
        if pattern is None or any(pattern in name or fnmatch.fnmatchcase(name, pattern) for name in names):
            yield row
