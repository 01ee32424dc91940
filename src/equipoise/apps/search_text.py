# SPDX-License-Identifier: Apache-2.0
"""What a search found, as tables for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Group

from equipoise.apps.output import make_rows
from equipoise.core.formatting import format_duration, format_utility
from equipoise.games.holdem.betting import pot
from equipoise.games.holdem.menus import POSITIONS
from equipoise.runs.search_game import GameSearch
from equipoise.runs.search_spot import SpotSearch

__all__ = ["show_game_search", "show_spot_search"]


def show_game_search(search: GameSearch, limit: int) -> Group:
    """Returns both tables and the price in a line."""
    before, after = search.responses()
    most = limit or None
    parts: list[Any] = []
    decisions = search.decisions()
    if decisions:
        names = list(search.blueprint.tree.action_labels[search.node])
        rows = []
        for row in decisions[:most]:
            shares = [(row["before"].get(name), row["after"].get(name)) for name in names]
            rows.append([row["infostate"], *("" if a is None else f"{a:.3f} > {b:.3f}" for a, b in shares)])
        title = f"player {search.searcher} at {search.request.state!r}, blueprint > now"
        parts.append(make_rows(("information state", *names), rows, title=title))
    keys = ("alternative", "value", "margin")
    margins = [
        (row["private"], *("" if row[key] is None else f"{row[key]:+.4f}" for key in keys))
        for row in search.margins()[:most]
    ]
    title = f"player {search.opponent}, given each private state"
    parts.append(make_rows(("private state", "alternative", "value now", "margin"), margins, title=title))
    least = "" if search.least_margin is None else f"least margin {search.least_margin:+.4f}; "
    parts.append(
        f"{search.request.method}, {search.iterations:,} iterations in {format_duration(search.seconds)}; {least}"
        f"player {search.opponent}'s best response to the whole strategy {format_utility(before)} > "
        f"{format_utility(after)}"
    )
    return Group(*parts)


def show_spot_search(search: SpotSearch, limit: int) -> Group:
    """Returns both tables and the price in a line."""
    most = limit or None
    state = search.root
    where = search.place.describe()
    if search.place.last.total is not None and search.is_expensive:
        where += ", solved from before it on"
    parts: list[Any] = [
        f"{search.spot.name}, {where}: {pot(state):,} in the pot, {min(state.stacks):,} behind, "
        f"{POSITIONS[search.searcher]} searches"
    ]
    names, frequencies = search.actions(), search.frequencies()
    if names:
        rows = [["all", "", *_pair_up(names, frequencies["before"], frequencies["after"])]]
        for row in search.decisions()[:most]:
            rows.append([row["hand"], f"{row['weight']:.3g}", *_pair_up(names, row["before"], row["after"])])
        title = f"{POSITIONS[search.searcher]}, strategy so far > now"
        parts.append(make_rows(("hand", "weight", *names), rows, title=title))
    margins = [
        [row["hand"], f"{row['weight']:.2%}", *(_chips(row[key]) for key in ("alternative", "value", "margin"))]
        for row in search.margins()[:most]
    ]
    title = f"{POSITIONS[search.opponent]}, share of the pot in chips with each hand"
    parts += [make_rows(("hand", "weight", "alternative", "value now", "margin"), margins, title=title), _price(search)]
    return Group(*parts)


def _price(search: SpotSearch) -> str:
    before, after = search.responses()
    least = f"least margin {_chips(search.result.least_margin)} chips; " if search.is_safe else ""
    was = "" if before is None else f"{_chips(before)} > "
    return (
        f"{search.request.method}, {search.iterations:,} iterations in {format_duration(search.seconds)}; {least}"
        f"{POSITIONS[search.opponent]}'s best response takes {was}{_chips(after)} chips of the pot"
    )


def _chips(amount: float | None) -> str:
    """Returns chips to a ten-thousandth, nothing if there are none to say."""
    return "" if amount is None else f"{round(amount, 4) + 0.0:.4g}"


def _pair_up(names: Sequence[str], before: dict[str, float] | None, after: dict[str, float] | None) -> list[str]:
    assert after is not None
    if before is None:
        return [f"{after[name]:.3f}" for name in names]
    return [f"{before[name]:.3f} > {after[name]:.3f}" for name in names]
