# SPDX-License-Identifier: Apache-2.0
"""`equipoise show` and `equipoise evaluate` for solved hold'em spots."""

from __future__ import annotations

import csv
import dataclasses
import fnmatch
import io
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
from rich.console import Group, RenderableType
from rich.text import Text

from equipoise.apps.amount_units import Amounts, AmountUnit, format_percent
from equipoise.apps.grid import render_grid
from equipoise.apps.output import make_table
from equipoise.core.checkpoint import Kind
from equipoise.core.errors import ConfigError, ParseError, UnknownNameError
from equipoise.games.holdem.cards import format_board
from equipoise.games.holdem.hand_classes import CLASSES, DRAWS, classify_hands
from equipoise.games.holdem.hands import format_hand, hands_of
from equipoise.games.holdem.line_notation import Line, find_action, format_line, name_actions
from equipoise.games.holdem.lock_notation import parse_lock
from equipoise.solvers.best_response import Evaluation, evaluate
from equipoise.solvers.holdem.class_table import mark_class, tabulate_classes
from equipoise.solvers.holdem.description import SolvedPlaces, describe_place
from equipoise.solvers.holdem.gains import describe_gain
from equipoise.solvers.holdem.locked_views import play_with_locks
from equipoise.solvers.holdem.solved_spot import SolvedSpot
from equipoise.trees.holdem.places import HoldemPlace

__all__ = ["SHOWN", "EndReport", "GainReport", "HandChoice", "SpotReport", "evaluate_spot", "format_columns"]

SHOWN: Final = (Kind.RUN, Kind.STRATEGY, Kind.SPOT)  # kinds of files that are evaluated and shown
LEAST_FREQUENCY: Final = 0.0005  # of an action: what the few hands that take it by mistake are worth says nothing


def evaluate_spot(solved: SolvedSpot, *, num_threads: int) -> tuple[dict[str, Any], Evaluation]:
    """Returns what the file of a solved spot says of the run, and its exact evaluation in chips."""
    sums, kernel = solved.strategy_sum.read(), solved.kernel
    evaluation = evaluate(solved.tree, sums, kernel=kernel, num_threads=num_threads)
    described = {**solved.describe(), "exploitability_without_locks": None}
    if solved.locks:
        free = evaluate(solved.tree, sums, kernel=kernel, respects_locks=False, num_threads=num_threads)
        described["exploitability_without_locks"] = free.exploitability
    return described, evaluation


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class HandChoice:
    """Which hands are shown, of whom, and in which order."""

    player: int | None = None  # None: who acts
    pattern: str | None = None  # text or glob in the cards or the class of hole cards
    made: str | None = None  # one of `CLASSES`
    draw: str | None = None  # one of `DRAWS`
    sort: str | None = None  # a column; None: the strongest ranks first


class SpotReport:
    """What a solved spot does at one place, as a table, a grid, CSV or JSON.

    Values need the whole table; of a large file they are left out unless asked for.
    """

    def __init__(
        self, solved: SolvedSpot, line: Line, choice: HandChoice, *, has_values: bool, unit: AmountUnit
    ) -> None:
        self.label, self.run, self.spot = solved.label, solved.describe(), solved.spot
        self.betting, self.line, self.seats = solved.tree.betting, line, solved.seats
        place = HoldemPlace(*self.line)
        if has_values and not solved.views.has_values(place):
            solved.read_values()
        self.solved, self.is_valued = solved, solved.views.has_values(place)
        self.view = solved.views.view(place)
        self.actions = name_actions(self.betting, self.line.node)
        self.player = self.view.actor if choice.player is None else choice.player
        self.own, self.is_actor = self.view.players[self.player], self.player == self.view.actor
        self.amounts = Amounts(unit, self.spot.big_blind, self.view.pot)
        self.described = describe_place(solved, line)
        self.rows = _choose_rows(self, choice)

    @property
    def place(self) -> str:
        """Returns the line as text."""
        return format_line(self.betting, self.line)

    def as_text(self, *, has_grid: bool, has_classes: bool, limit: int) -> RenderableType:
        """Returns the place, both ranges, what each action is worth, and a grid or a table of hands or classes."""
        parts: list[RenderableType] = [f"{self.label}\n{self.say_place()}", self._as_ranges()]
        if has_grid:
            return Group(*parts, self._as_grid())
        parts.append(self._as_actions())
        if has_classes:
            found = tabulate_classes(self.view, self.player)
            return Group(*parts, *(self._as_classes(name, found[name]) for name in ("classes", "draws")))
        return Group(*parts, self._as_table(limit))

    def as_json(self, limit: int, *, has_classes: bool = False) -> dict[str, Any]:
        """Returns everything under the documented keys."""
        view = self.view
        return {
            **self.run,
            "label": self.label,
            "node": self.place,
            "player": view.actor,
            "board": format_board(view.board),
            "pot": view.pot,
            "value": view.players[view.actor].value,
            "actions": list(self.actions),
            "frequencies": view.frequencies.tolist(),
            "place": self.described,
            **({"by_class": tabulate_classes(view, self.player)} if has_classes else {}),
            "num_matching": len(self.rows),
            "rows": [self._describe(row) for row in self.rows[: limit or None]],
        }

    def as_csv(self, *, has_classes: bool = False) -> str:
        """Returns a line for every hand, or for every class; EV in chips."""
        if has_classes:
            found = tabulate_classes(self.view, self.player)
            return format_columns(self._class_columns([*found["classes"], *found["draws"]]))
        rows = [self._describe(row) for row in self.rows]
        columns: dict[str, list[Any]] = {
            name: [row[name] for row in rows] for name in ("hand", "weight", "equity", "value")
        }
        for name in self.actions if self.is_actor else ():
            columns[name] = [row["strategy"][name] for row in rows]
        for name in self.actions if self.is_actor else ():
            columns[f"ev {name}"] = [row["action_ev"][name] for row in rows]
        if self.view.board:
            columns |= {name: [row[name] for row in rows] for name in ("class", "draw")}
        return format_columns(columns)

    def say_place(self) -> str:
        """Returns in a line who acts where, for how much."""
        view, stacks = self.view, self.betting.nodes[self.line.node].state.stacks
        where = f"on {format_board(view.board)}" if view.board else "before the flop"
        chips = "" if self.amounts.unit is AmountUnit.CHIPS else f" ({view.pot:,} chips)"
        call = self.described["to_call"]
        asked = f", {self.amounts.say(call)} to call" if call else ""
        reach = self.described["reach"]
        seen = "" if not self.place or reach is None else f", {format_percent(reach)} of hands come here"
        return (
            f"{self.place or 'root'}: {self.seats[view.actor]} acts {where}, pot {self.amounts.say(view.pot)}{chips}"
            f"{asked}, {self.amounts.say(min(stacks))} behind{seen}"
        )

    def _as_ranges(self) -> RenderableType:
        """Returns both ranges in sum."""
        sums = [player["summary"] for player in self.described["players"]]
        shares = [None if one["ev"] is None else one["ev"] / self.view.pot for one in sums]
        return make_table(
            {
                "player": self.seats,
                "combos": [f"{one['combos']:.1f}" for one in sums],
                "equity": [format_percent(one["equity"]) for one in sums],
                f"EV {self.amounts.head}": [self.amounts.format(one["ev"]) for one in sums],
                "EV/pot": [format_percent(share) for share in shares],
                "EQR": [format_percent(one["eqr"]) for one in sums],
            },
            spare=("EV/pot", "combos"),
        )

    def _as_actions(self) -> RenderableType:
        """Returns how often each action is taken, by how much, and what it is worth to the hands that take it."""
        actions = self.described["actions"]
        worth = [one["ev"] if (one["frequency"] or 0.0) >= LEAST_FREQUENCY else None for one in actions]
        return make_table(
            {
                "action": [one["name"] for one in actions],
                f"to {self._size_head}": ["" if one["to"] is None else self._format_size(one["to"]) for one in actions],
                "to/pot": ["" if one["pot_share"] is None else f"{100 * one['pot_share']:.0f}%" for one in actions],
                "frequency": [format_percent(one["frequency"]) for one in actions],
                "combos": [f"{one['combos']:.1f}" for one in actions],
                f"EV {self.amounts.head}": [self.amounts.format(chips) for chips in worth],
            },
            spare=("to/pot", "combos", f"to {self._size_head}"),
        )

    @property
    def _size_head(self) -> str:
        return "chips" if self.amounts.unit is AmountUnit.CHIPS else "bb"

    def _format_size(self, chips: int) -> str:
        return f"{chips:,}" if self.amounts.unit is AmountUnit.CHIPS else f"{chips / self.spot.big_blind:,.4g}"

    def _describe(self, row: int) -> dict[str, Any]:
        hand = int(self.own.hands[row])
        described: dict[str, Any] = {
            "hand": format_hand(hand, self.spot.deck),
            "weight": float(self.own.weights[row]),
            "equity": float(self.own.equities[row]),
            "value": float(self.own.values[row]),
            "strategy": None,
            "action_ev": None,
            "class": None,
            "draw": None,
        }
        if self.is_actor:
            view = self.view
            described["strategy"] = dict(zip(self.actions, view.strategy[row].tolist(), strict=True))
            described["action_ev"] = dict(zip(self.actions, view.action_values[row].tolist(), strict=True))
        if self.view.board:
            found = classify_hands(tuple(self.view.board), self.spot.deck)
            described |= {"class": CLASSES[found.classes[hand]], "draw": DRAWS[found.draws[hand]]}
        return described

    def _as_grid(self) -> Text:
        """Returns the square of classes, hands within a class weighted by how likely they are here."""
        shares, present = self.view.grid()
        return render_grid(shares, self.actions, deck=self.spot.deck, weights=present)

    def _as_table(self, limit: int) -> RenderableType:
        """Returns hands; under each action how often it is taken and what it is worth."""
        unit, amounts = self.amounts.head, self.amounts
        rows = [self._describe(row) for row in self.rows[: limit or None]]
        columns = {"hand": [row["hand"] for row in rows], "weight": [format_percent(row["weight"]) for row in rows]}
        if self.view.board:
            named = [f"{row['class']}, {row['draw']}".removesuffix(", none") for row in rows]
            columns["made, draw"] = named
        columns["equity"] = [format_percent(row["equity"]) for row in rows]
        columns[f"EV {unit}"] = [amounts.format(row["value"]) for row in rows]
        for name in self.actions if self.is_actor else ():
            shares = [format_percent(row["strategy"][name]) for row in rows]
            worth = [amounts.format(row["action_ev"][name]) for row in rows]
            width = max(map(len, worth), default=0)
            columns[f"{name}, {unit}"] = [f"{a} {b:>{width}}" for a, b in zip(shares, worth, strict=True)]
        return make_table(columns, texts=("made, draw",), spare=("weight", "equity", "made, draw"))

    def _class_columns(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
        columns = {key: [row[key] for row in rows] for key in ("name", "combos", "share", "equity", "ev")}
        for place, name in enumerate(self.actions if self.is_actor else ()):
            columns[name] = [row["frequency"][place] for row in rows]
        return columns

    def _as_classes(self, title: str, rows: Sequence[Mapping[str, Any]]) -> RenderableType:
        columns = {
            title: [row["name"] for row in rows],
            "combos": [f"{row['combos']:.1f}" for row in rows],
            "share": [format_percent(row["share"]) for row in rows],
            "equity": [format_percent(row["equity"]) for row in rows],
            f"EV {self.amounts.head}": [self.amounts.format(row["ev"]) for row in rows],
        }
        for place, name in enumerate(self.actions if self.is_actor else ()):
            columns[name] = [format_percent(row["frequency"][place]) for row in rows]
        return make_table(columns, spare=("share",))


class GainReport:
    """What best responses would win more at a decision, as a table, CSV or JSON."""

    def __init__(self, report: SpotReport, *, respects_locks: bool, locks: Sequence[str] = ()) -> None:
        self.report = report
        shown: SolvedPlaces = report.solved
        if locks:
            shown = play_with_locks(report.solved, tuple(map(parse_lock, locks)))
        self.found = describe_gain(shown, report.place, respects_locks=respects_locks)
        own = self.found["players"][report.player]
        wanted = {format_hand(int(report.own.hands[row]), report.spot.deck) for row in report.rows}
        places = [place for place, hand in enumerate(own["hands"]) if hand in wanted]
        self.places = sorted(places, key=lambda place: -(own["gain"][place] or 0.0))  # what gains most first

    def as_json(self) -> dict[str, Any]:
        """Returns everything under the documented keys."""
        return {**self.report.run, "label": self.report.label, "gain": self.found}

    def as_columns(self) -> dict[str, list[Any]]:
        """Returns a row for every hand; EV in chips."""
        own = self.found["players"][self.report.player]
        named = {"hand": "hands", "weight": "weight", "value": "ev", "best value": "best_ev", "gain": "gain"}
        columns = {name: [own[key][place] for place in self.places] for name, key in named.items()}
        if self.report.is_actor:
            answers = self.found["best_action"]
            columns["best action"] = [self.report.actions[answers[place]] for place in self.places]
        return columns

    def as_text(self, limit: int) -> RenderableType:
        """Returns who could win how much, and which hands would."""
        report, amounts = self.report, self.report.amounts
        lines = [report.label, report.say_place()]
        for seat, player in zip(report.seats, self.found["players"], strict=True):
            gain = player["summary"]["gain"]
            more = "-" if gain is None else f"{amounts.say(gain)} ({100 * gain / report.view.pot:.2f}% of the pot)"
            lines.append(f"{seat} could win {more} more by a best response from here on")
        columns = {name: column[: limit or None] for name, column in self.as_columns().items()}
        shown = {"hand": columns["hand"], "weight": [format_percent(share) for share in columns["weight"]]}
        for head, name in (("EV", "value"), ("best EV", "best value"), ("gain", "gain")):
            shown[f"{head} {amounts.head}"] = [amounts.format(chips) for chips in columns[name]]
        if report.is_actor:
            shown["best action"] = columns["best action"]
        return Group("\n".join(lines), make_table(shown, texts=("best action",)))


class EndReport:
    """A place of a solved spot where nobody acts, as text or JSON: cards come next, or the hand is over."""

    def __init__(self, solved: SolvedSpot, line: Line) -> None:
        self._solved, self._place = solved, describe_place(solved, line)

    def as_text(self) -> str:
        """Returns the place, how many combinations each player still has, and how to go on."""
        place = self._place
        board = "".join(place["board"])
        where = f"on {board}" if board else "before the flop"
        ranges = zip(place["seats"], place["players"], strict=True)
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


def format_columns(columns: Mapping[str, Sequence[Any]]) -> str:
    """Returns columns as CSV; nothing where a number is not known."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(columns)
    for row in zip(*columns.values(), strict=True):
        writer.writerow(["" if _is_unknown(cell) else repr(cell) if isinstance(cell, float) else cell for cell in row])
    return buffer.getvalue()


def _is_unknown(cell: Any) -> bool:
    return cell is None or (isinstance(cell, float) and math.isnan(cell))


def _choose_rows(report: SpotReport, choice: HandChoice) -> list[int]:
    """Returns the hands that are there and asked for, the strongest ranks first or by a column, largest first."""
    is_kept = mark_class(report.view, report.player, made=choice.made, draw=choice.draw)
    rows = [row for row in _matching_rows(report, choice.pattern) if is_kept[row]]
    if choice.sort is None or choice.sort == "hand":
        return rows
    column = _find_column(report, choice.sort)
    return sorted(rows, key=lambda row: math.inf if np.isnan(column[row]) else -column[row])


def _find_column(report: SpotReport, name: str) -> Any:
    """Returns `[H]` what hands are sorted by."""
    own = report.own
    known = {"ev": own.values, "equity": own.equities, "weight": own.weights}
    if name in known:
        if name == "ev" and not report.is_valued:
            raise ConfigError("the file is large and its values are not read: give --values to sort by ev")
        return known[name]
    if report.is_actor:
        try:
            action = find_action(name, report.betting, report.line.node)
        except ParseError:
            pass
        else:
            return report.view.strategy[:, report.view.actions.index(action)]
    there = report.actions if report.is_actor else ()
    raise UnknownNameError("column to sort by", name, [*known, "hand", *there])


def _matching_rows(report: SpotReport, pattern: str | None) -> Iterator[int]:
    """Yields the hands that are there and whose cards or class match a text or a glob."""
    hands = hands_of(report.spot.deck)
    for row in np.flatnonzero(report.own.weights > 0)[::-1].tolist():
        hand = int(report.own.hands[row])
        names = format_hand(hand, hands.deck), hands.class_names[hands.classes[hand]]
        if pattern is None or any(pattern in name or fnmatch.fnmatchcase(name, pattern) for name in names):
            yield row
