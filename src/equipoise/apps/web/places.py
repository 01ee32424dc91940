# SPDX-License-Identifier: Apache-2.0
"""Places of solved spots as a page asks for them; what they say comes from `solvers.holdem`, and is kept as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from equipoise.apps.amount_units import AmountUnit
from equipoise.apps.show_spot import HandChoice, SpotReport
from equipoise.apps.web.errors import ApiError
from equipoise.apps.web.library import Library, OpenFile
from equipoise.core.errors import EquipoiseError
from equipoise.core.records import make_finite
from equipoise.games.holdem.line_notation import Line, parse_decision
from equipoise.solvers.holdem.description import describe_spot_node
from equipoise.solvers.holdem.gains import describe_gain
from equipoise.solvers.holdem.runouts import describe_runouts
from equipoise.solvers.holdem.solved_spot import LARGEST_READ_BYTES, SolvedSpot

__all__ = ["Places"]

MOST_ANSWERS: Final = 400  # kept of each file


class Places:
    """What solved spots say, by id and line; lines are tokens joined by commas, or as an address has them."""

    def __init__(self, library: Library) -> None:
        self.library = library

    def describe_node(self, id: str, line: str, *, has_values: bool = True) -> bytes:
        """Returns a place as JSON."""
        return self._answer(id, ("node", line, has_values), lambda solved: describe_spot_node(solved, line), has_values)

    def describe_cards(self, id: str, line: str) -> bytes:
        """Returns every next card as JSON."""
        return self._answer(id, ("cards", line), lambda solved: describe_runouts(solved, line))

    def describe_gain(self, id: str, line: str, *, respects_locks: bool) -> bytes:
        """Returns what best responses would win more as JSON."""
        key = ("gain", line, respects_locks)
        return self._answer(id, key, lambda solved: describe_gain(solved, line, respects_locks=respects_locks))

    def describe_equities(self, id: str, line: str) -> dict[str, Any]:
        """Returns both ranges from their weakest to their strongest hand."""
        node = json.loads(self.describe_node(id, line))
        if node["kind"] != "decision":
            raise ApiError(409, f"nobody acts at {line!r}: equities are of decisions", field="line", got=line)
        return {"solution": id, "line": node["line"], "players": [_sort_range(player) for player in node["players"]]}

    def compare(self, id: str, other: str, line: str) -> dict[str, Any]:
        """Returns a place in two solutions, with what differs."""
        first = json.loads(self.describe_node(id, line))
        try:
            second = json.loads(self.describe_node(other, line))
        except ApiError as error:
            if error.field != "line":
                raise
            raise ApiError(409, f"{other} has no such line: {error.message}", field="with", got=other) from None
        return {
            "line": first["line"],
            "player": first["player"],
            "first": first,
            "second": second,
            "actions": _compare_actions(first, second),
            "cells": _compare_cells(first, second),
        }

    def write_csv(self, id: str, line: str) -> str:
        """Returns a decision as CSV, a line a hand."""
        with self.library.opened_spot(id) as (file, solved):
            self._read_values(file, solved)
            place = _parse(solved, line)
            return SpotReport(solved, place, HandChoice(), has_values=False, unit=AmountUnit.CHIPS).as_csv()

    def _answer(
        self, id: str, key: tuple[Any, ...], describe: Callable[[SolvedSpot], dict[str, Any]], has_values: bool = True
    ) -> bytes:
        """Returns an answer as JSON, kept while the file is open and as it was."""
        with self.library.opened_spot(id) as (file, solved):
            if key in file.answers:
                file.answers.move_to_end(key)
                return file.answers[key]
            if has_values:
                self._read_values(file, solved)
            try:
                found = {"solution": id, **describe(solved)}
            except EquipoiseError as error:
                raise ApiError.of(error, field="line") from None
            answer = json.dumps(make_finite(found), allow_nan=False, separators=(",", ":")).encode()
            file.answers[key] = answer
            while len(file.answers) > MOST_ANSWERS:
                file.answers.popitem(last=False)
            return answer

    def _read_values(self, file: OpenFile, solved: SolvedSpot) -> None:
        """Reads the whole table, which values need, if there is room for it."""
        is_small = solved.strategy_sum.num_bytes <= LARGEST_READ_BYTES
        if solved.views.kernel is None and (is_small or self.library.may_read_whole(file.listed)):
            solved.read_values()
            file.answers.clear()


def _parse(solved: SolvedSpot, line: str) -> Line:
    spot = solved.spot
    try:
        return parse_decision(line, solved.tree.betting, spot.board, spot.deck)
    except EquipoiseError as error:
        raise ApiError.of(error, field="line") from None


def _sort_range(player: dict[str, Any]) -> dict[str, Any]:
    """Returns a range from weak to strong with the share of it that ends at each hand."""
    known = [place for place, equity in enumerate(player["equity"]) if equity is not None and player["odds"][place] > 0]
    known.sort(key=lambda place: (player["equity"][place], player["hands"][place]))
    odds = np.array([player["odds"][place] for place in known])
    shares = np.cumsum(odds) / odds.sum() if odds.size else odds
    return {
        "hands": [player["hands"][place] for place in known],
        "share": shares.tolist(),
        "equity": [player["equity"][place] for place in known],
    }


def _compare_actions(first: dict[str, Any], second: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns the actions of both, in the order of the first and then those that only the second has."""
    ours, theirs = ({one["id"]: one for one in node["actions"]} for node in (first, second))
    rows = []
    for id in dict.fromkeys([*ours, *theirs]):
        shares = [side[id]["frequency"] if id in side else None for side in (ours, theirs)]
        before, after = shares
        rows.append(
            {
                "id": id,
                "name": (ours.get(id) or theirs[id])["name"],
                "first": shares[0],
                "second": shares[1],
                "difference": None if before is None or after is None else after - before,
            }
        )
    return rows


def _compare_cells(first: dict[str, Any], second: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns by class of hole cards how often each action is taken, actions as in `_compare_actions`."""
    if first["player"] is None or first["player"] != second["player"]:
        return []
    ids = [row["id"] for row in _compare_actions(first, second)]
    sides = [_spread_cells(node, ids) for node in (first, second)]
    rows = []
    for name in sides[0]:
        ours, theirs = sides[0][name], sides[1].get(name)
        difference = None
        if ours is not None and theirs is not None:
            difference = max(abs((a or 0.0) - (b or 0.0)) for a, b in zip(ours, theirs, strict=True))
        rows.append({"name": name, "first": ours, "second": theirs, "difference": difference})
    return rows


def _spread_cells(node: dict[str, Any], ids: list[str]) -> dict[str, list[float | None] | None]:
    """Returns by class the shares of some actions, None where nobody holds the class."""
    grid = node["players"][node["player"]]["grid"]
    columns = {action["id"]: place for place, action in enumerate(node["actions"])}
    found: dict[str, list[float | None] | None] = {}
    for name, cell in zip(grid["names"], grid["frequency"], strict=True):
        is_held = any(share is not None for share in cell)
        found[name] = [cell[columns[id]] if id in columns else None for id in ids] if is_held else None
    return found
