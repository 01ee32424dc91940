# SPDX-License-Identifier: Apache-2.0
"""Whole streets of a solved spot as a file: every decision on every board, hand by hand, written as it is read."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np

from equipoise.core.errors import ConfigError
from equipoise.core.files import StrPath, check_writable, format_bytes, write_atomically
from equipoise.core.reporting import Reporter
from equipoise.games.holdem.betting import Street, pot
from equipoise.games.holdem.betting_tree import NodeKind
from equipoise.games.holdem.cards import format_board
from equipoise.games.holdem.hands import format_hand
from equipoise.games.holdem.line_notation import Line, format_line, name_actions
from equipoise.solvers.game_views import as_numbers
from equipoise.solvers.holdem.lines import Visit, check_street, walk_tree
from equipoise.solvers.holdem.solved_spot import SolvedSpot
from equipoise.trees.holdem.places import HoldemPlace

__all__ = ["EXPORT_COLUMNS", "count_export_rows", "export_spot"]

EXPORT_COLUMNS: Final = (
    "line",
    "board",
    "boards",
    "player",
    "pot",
    "hand",
    "weight",
    "action",
    "frequency",
    "equity",
    "ev",
    "action_ev",
)
SUFFIXES: Final = (".csv", ".json", ".jsonl")
ROW_BYTES: Final = 100  # of CSV at the most, seen on turns; JSON by decision takes less
DIGITS: Final = "{:.6g}"  # of numbers in CSV
VALUE_COLUMNS: Final = 3


def count_export_rows(solved: SolvedSpot, street: Street | None = None) -> int:
    """Returns how many rows of CSV an export may have: hands by actions of every decision on every board."""
    tree = solved.tree
    first = tree.betting.root.state.street
    total = 0
    streets, num_hands = tree.arrays.board_field("street"), tree.arrays.board_field("num_hands")
    for place in range(len(tree.arrays.streets)):
        if street is None or first + place == street:
            cells = np.array(tree.arrays.street(place).num_cells)
            total += int((num_hands[streets == place] * cells).sum())
    return total


def export_spot(
    solved: SolvedSpot,
    path: StrPath,
    *,
    street: Street | None = None,
    has_values: bool = False,
    reporter: Reporter | None = None,
) -> int:
    r"""Writes what every hand does at every decision that is reached, whole or not at all; returns the decisions.

    >>> import tempfile
    >>> import equipoise
    >>> spot = "board = 'Ks7h2d5c9h'\npot = 20\nstacks = 30\nmenu = 'a'\nranges = {oop = 'AA', ip = 'KQ'}"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     equipoise.solve(equipoise.load_spot(spot), iterations=20).save(f"{folder}/spot.eq")
    ...     with SolvedSpot(f"{folder}/spot.eq") as solved:
    ...         print(export_spot(solved, f"{folder}/spot.csv"), "decisions")
    4 decisions

    CSV has a row for each hand and action under `EXPORT_COLUMNS` (without values the last three are left out); JSON a
    list of decisions, JSON lines one on each line, with columns over hands. Boards that differ only by the names of
    suits are there once, `boards` saying how many one stands for.

    Args:
        solved: an open file.
        path: ends in .csv, .json or .jsonl.
        street: the only one; None: all.
        has_values: whether equities and EVs are written too, which takes many times as long.
        reporter: is told the size before, and how far it is.
    """
    reporter, target = reporter or Reporter(), Path(path)
    if target.suffix.lower() not in SUFFIXES:
        raise ConfigError(f"an export must end in {', '.join(SUFFIXES)}, got {target.name!r}")
    check_street(solved.tree, street)
    num_rows = count_export_rows(solved, street)
    num_bytes = num_rows * ROW_BYTES
    reporter.say(f"up to {num_rows:,} rows of a hand and an action, at most about {format_bytes(num_bytes)}")
    check_writable(target, num_bytes=num_bytes)
    if has_values:
        solved.read_values()
    num_written = 0

    def write(file: BinaryIO) -> None:
        nonlocal num_written
        with reporter.task(f"writing {target.name}") as on_step:
            visits = walk_tree(solved.tree, solved.views.sums, last_street=street, on_step=on_step)
            wanted = (visit for visit in visits if _is_wanted(visit, street))
            for text in _format_decisions(solved, wanted, target.suffix.lower(), has_values=has_values):
                num_written += 1
                file.write(text.encode())
            file.write({".json": "\n]\n" if num_written else "[]\n"}.get(target.suffix.lower(), "").encode())

    write_atomically(target, write)
    return num_written


def _is_wanted(visit: Visit, street: Street | None) -> bool:
    return visit.node.kind is NodeKind.DECISION and (street is None or visit.node.state.street == street)


def _format_decisions(solved: SolvedSpot, visits: Iterator[Visit], suffix: str, *, has_values: bool) -> Iterator[str]:
    """Yields each decision as text, with what stands before it in the file."""
    num_columns = len(EXPORT_COLUMNS) - (0 if has_values else VALUE_COLUMNS)
    head = ",".join(EXPORT_COLUMNS[:num_columns]) + "\n" if suffix == ".csv" else "[\n" if suffix == ".json" else ""
    for visit in visits:
        found = _describe_decision(solved, visit, has_values=has_values)
        if suffix == ".csv":
            yield head + _format_rows(found, num_columns)
            head = ""
        elif suffix == ".json":
            yield head + json.dumps(found, allow_nan=False)
            head = ",\n"
        else:
            yield json.dumps(found, allow_nan=False) + "\n"


def _describe_decision(solved: SolvedSpot, visit: Visit, *, has_values: bool) -> dict[str, Any]:
    tree, node = solved.tree, visit.node
    board, actor = tree.boards[visit.board], node.state.actor
    assert visit.strategy is not None
    held = tree.hands[visit.board][actor]
    weights = visit.reach[actor][held]
    rows = np.flatnonzero(weights > 0)[np.argsort(held[weights > 0])]
    described: dict[str, Any] = {
        "line": format_line(tree.betting, Line(node.index, board)),
        "board": format_board(board),
        "boards": visit.num_boards,
        "player": solved.seats[actor],
        "pot": pot(node.state),
        "actions": list(name_actions(tree.betting, node.index)),
        "hands": [format_hand(hand, tree.spot.deck) for hand in held[rows].tolist()],
        "weight": weights[rows].tolist(),
        "strategy": visit.strategy[rows].tolist(),
    }
    if has_values:
        view = solved.views.view(HoldemPlace(node.index, board))
        own = view.players[actor]
        there = own.weights > 0
        described |= {
            "equity": as_numbers(own.equities[there]),
            "ev": as_numbers(own.values[there]),
            "action_ev": [as_numbers(row) for row in view.action_values[there]],
        }
    return described


def _format_rows(found: dict[str, Any], num_columns: int) -> str:
    """Returns a decision as rows of CSV."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    place = [found[name] for name in ("line", "board", "boards", "player", "pot")]
    for row, hand in enumerate(found["hands"]):
        for column, action in enumerate(found["actions"]):
            numbers = [found["strategy"][row][column]]
            if num_columns == len(EXPORT_COLUMNS):
                numbers += [found["equity"][row], found["ev"][row], found["action_ev"][row][column]]
            shown = ("" if number is None else DIGITS.format(number) for number in numbers)
            writer.writerow([*place, hand, DIGITS.format(found["weight"][row]), action, *shown])
    return buffer.getvalue()
