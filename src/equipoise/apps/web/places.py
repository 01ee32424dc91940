# SPDX-License-Identifier: Apache-2.0
"""Places of solved spots as a page asks for them; what they say comes from `solvers.holdem`, and is kept as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from equipoise.apps.amount_units import AmountUnit
from equipoise.apps.show_spot import HandChoice, SpotReport
from equipoise.apps.web.errors import ApiError, naming_id
from equipoise.apps.web.library import Library
from equipoise.apps.web.models.spots import LockForm
from equipoise.apps.web.spots import read_locks
from equipoise.apps.web.whole_spots import Wish
from equipoise.core.errors import AbandonedError, EquipoiseError
from equipoise.core.records import make_finite
from equipoise.games.holdem.line_notation import Line, parse_decision
from equipoise.solvers.holdem.description import describe_spot_node
from equipoise.solvers.holdem.gains import describe_gain
from equipoise.solvers.holdem.locked_views import LockedPlaces, play_with_locks
from equipoise.solvers.holdem.runouts import describe_runouts
from equipoise.solvers.holdem.solved_spot import SolvedSpot

__all__ = ["Places"]


HAS_VALUES: Final = b'"has_values":true'  # in an answer: nothing more is to be waited for


class Places:
    """What solved spots say, by id and line; lines are tokens joined by commas, or as an address has them."""

    def __init__(self, library: Library) -> None:
        self.library = library

    def describe_node(self, id: str, line: str, *, has_values: bool = True, wish: Wish | None = None) -> bytes:
        """Returns a place as JSON; of large files with the values of their first street, others if wished for."""

        def describe(solved: SolvedSpot) -> dict[str, Any]:
            return describe_spot_node(solved, line)

        known = self._answer(id, ("node", line), describe, has_values=False)
        if not has_values or HAS_VALUES in known:
            return known
        return self._answer(id, ("node", line), describe, wish=wish)

    def describe_cards(self, id: str, line: str, *, has_values: bool = True, wish: Wish | None = None) -> bytes:
        """Returns every next card as JSON, as `describe_node` does."""
        return self._answer(id, ("cards", line), lambda solved: describe_runouts(solved, line), has_values, wish)

    def describe_gain(self, id: str, line: str, *, respects_locks: bool, wish: Wish | None = None) -> bytes:
        """Returns what best responses would win more as JSON."""
        key = ("gain", line, respects_locks)
        return self._answer(
            id, key, lambda solved: describe_gain(solved, line, respects_locks=respects_locks), wish=wish
        )

    def describe_gain_against(self, id: str, line: str, forms: Sequence[LockForm], wish: Wish | None = None) -> bytes:
        """Returns what best responses would win more if some hands played as told, nothing solved again, as JSON."""
        key = ("gain against", line, json.dumps([form.model_dump() for form in forms]))
        return self._answer(id, key, lambda solved: describe_gain(_play_as_told(solved, forms), line), wish=wish)

    def describe_equities(self, id: str, line: str) -> dict[str, Any]:
        """Returns both ranges from their weakest to their strongest hand."""
        node = json.loads(self.describe_node(id, line, has_values=False))
        if node["kind"] != "decision":
            raise ApiError(409, f"nobody acts at {line!r}: equities are of decisions", field="line", got=line)
        return {"solution": id, "line": node["line"], "players": [_sort_range(player) for player in node["players"]]}

    def compare(
        self, id: str, other: str, line: str, *, has_values: bool = True, wish: Wish | None = None
    ) -> dict[str, Any]:
        """Returns a place in two solutions, with what differs."""
        first = json.loads(self.describe_node(id, line, has_values=has_values, wish=wish))
        try:
            with naming_id("with"):
                second = json.loads(self.describe_node(other, line, has_values=has_values, wish=wish))
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

        def write(solved: SolvedSpot) -> dict[str, Any]:
            place = _parse(solved, line)
            report = SpotReport(solved, place, HandChoice(), has_values=False, unit=AmountUnit.CHIPS)
            return {"csv": report.as_csv()}

        return str(json.loads(self._answer(id, ("csv", line), write))["csv"])

    def _answer(
        self,
        id: str,
        key: tuple[Any, ...],
        describe: Callable[[SolvedSpot], dict[str, Any]],
        has_values: bool = True,
        wish: Wish | None = None,
    ) -> bytes:
        """Returns an answer as JSON, kept while the file is open and as it was.

        Small files are read whole. Of large ones others may ask for strategies while values are found.
        """
        wish = wish or Wish()
        while True:
            with self.library.opened_spot(id) as (file, solved):
                found = file.find_answer((*key, True)) or (None if has_values else file.find_answer((*key, False)))
                if found is not None:
                    return found
                can_wait = has_values and (file.has_whole or self.library.has_room(solved.strategy_sum.num_bytes))
                if not (solved.is_large and can_wait):
                    return file.keep_answer((*key, not solved.is_large), _encode(id, describe, solved))
                whole = file.open_whole()
            self.library.make_room()
            try:
                return file.keep_answer((*key, True), whole.answer(lambda solved: _encode(id, describe, solved), wish))
            except AbandonedError:
                if wish.is_gone:
                    raise ApiError(409, "nobody waits for it any more", code="given_up") from None
                # the file has changed: its new contents are asked


def _encode(id: str, describe: Callable[[SolvedSpot], dict[str, Any]], solved: SolvedSpot) -> bytes:
    try:
        found = {"solution": id, **describe(solved)}
    except AbandonedError:
        raise
    except EquipoiseError as error:
        raise ApiError.of(error, field="line") from None
    return json.dumps(make_finite(found), allow_nan=False, separators=(",", ":")).encode()


def _play_as_told(solved: SolvedSpot, forms: Sequence[LockForm]) -> LockedPlaces:
    if solved.is_large:
        raise ApiError(409, "this file is too large to be played otherwise: lock the hands and solve again", field="id")
    try:
        return play_with_locks(solved, read_locks(solved.file, forms))
    except EquipoiseError as error:
        raise ApiError.of(error, field="locks") from None


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
