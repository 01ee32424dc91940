# SPDX-License-Identifier: Apache-2.0
"""`equipoise show` and `equipoise evaluate` for solved hold'em spots."""

from __future__ import annotations

import csv
import fnmatch
import io
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from equipoise.apps.grid import render_grid
from equipoise.core.checkpoint import CheckpointReader, Kind
from equipoise.core.provenance import version
from equipoise.games.holdem.betting import pot
from equipoise.games.holdem.cards import format_board
from equipoise.games.holdem.hands import format_hand, hands_of
from equipoise.games.holdem.menus import POSITIONS
from equipoise.solvers.best_response import Evaluation
from equipoise.solvers.holdem import evaluate_holdem
from equipoise.solvers.holdem_file import StoredSpot
from equipoise.solvers.spot_view import NodeView, view_node

__all__ = ["SpotReport", "evaluate_spot", "is_spot_file"]


def is_spot_file(path: Path) -> bool:
    """Returns whether a file holds a solved spot; raises `CheckpointError` if it is none of ours."""
    with CheckpointReader(path) as reader:
        return reader.kind is Kind.SPOT


def evaluate_spot(path: Path, *, num_threads: int) -> tuple[str, dict[str, Any], Evaluation]:
    """Returns the name of a solved spot, what its file says of the run, and its exact evaluation in chips."""
    with StoredSpot(path) as stored:
        evaluation = evaluate_holdem(stored.tree, stored.strategy_sum[:], num_threads=num_threads)
        return _label(stored), _describe_file(stored), evaluation


class SpotReport:
    """What a solved spot does at one place, as a table, a grid, CSV or JSON."""

    def __init__(self, path: Path, line: str, pattern: str | None) -> None:
        with StoredSpot(path) as stored:
            self.label, self.run = _label(stored), _describe_file(stored)
            self.view: NodeView = view_node(stored.tree, stored.strategy_sum, line)
        self.equities = self.view.equities[self.view.player]
        self.hands = list(_matching_hands(self.view, pattern))  # numbers, the strongest ranks first

    def as_text(self, *, has_grid: bool, limit: int) -> RenderableType:
        """Returns the place, how often each action is taken, and a grid or a table of hands."""
        view = self.view
        state = view.tree.betting.nodes[view.line.node].state
        place = (
            f"{self.label}\n{view.text or 'root'}: {POSITIONS[view.player]} acts on {format_board(view.line.board)}, "
            f"{pot(state):,} in the pot, {min(state.stacks):,} behind\n"
        )
        if has_grid:
            return Group(place, self._as_grid())
        shares = zip(view.actions, view.frequencies.tolist(), strict=True)
        return Group(
            place, "   ".join(f"{action} {_format_percent(share)}" for action, share in shares), self._as_table(limit)
        )

    def as_json(self, limit: int) -> dict[str, Any]:
        """Returns everything under the documented keys."""
        view = self.view
        return {
            **self.run,
            "label": self.label,
            "node": view.text,
            "player": view.player,
            "board": format_board(view.line.board),
            "pot": pot(view.tree.betting.nodes[view.line.node].state),
            "actions": list(view.actions),
            "frequencies": view.frequencies.tolist(),
            "num_matching": len(self.hands),
            "rows": [self._row(hand) for hand in self.hands[: limit or None]],
        }

    def as_csv(self) -> str:
        """Returns a line for every hand: weight, equity and the probability of each action."""
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        writer.writerow(["hand", "weight", "equity", *self.view.actions])
        for hand in self.hands:
            row = self._row(hand)
            equity = "" if np.isnan(row["equity"]) else repr(row["equity"])
            writer.writerow([row["hand"], repr(row["weight"]), equity, *map(repr, row["strategy"].values())])
        return buffer.getvalue()

    def _row(self, hand: int) -> dict[str, Any]:
        view = self.view
        return {
            "hand": format_hand(hand, view.tree.spot.deck),
            "weight": float(view.reach[view.player][hand]),
            "equity": float(self.equities[hand]),
            "strategy": dict(zip(view.actions, view.strategy[hand].tolist(), strict=True)),
        }

    def _as_grid(self) -> Text:
        """Returns the square of classes, hands within a class weighted by how likely they are here."""
        view, deck = self.view, self.view.tree.spot.deck
        hands, weights = hands_of(deck), view.weights / max(float(view.weights.max()), 1e-300)
        shares = [hands.grid(view.strategy[:, action], weights).ravel() for action in range(len(view.actions))]
        return render_grid(
            np.nan_to_num(np.stack(shares, axis=1)),
            view.actions,
            deck=deck,
            weights=np.nan_to_num(hands.grid(weights).ravel()),
        )

    def _as_table(self, limit: int) -> Table:
        table = Table()
        for name in ("hand", "weight", "equity", *self.view.actions):
            table.add_column(name, justify="left" if name == "hand" else "right")
        for hand in self.hands[: limit or None]:
            row = self._row(hand)
            shares = (_format_percent(share) for share in row["strategy"].values())
            table.add_row(row["hand"], f"{row['weight']:.3g}", _format_percent(row["equity"]), *shares)
        return table


def _format_percent(share: float) -> str:
    return "-" if math.isnan(share) else f"{100 * share:.1f}%"


def _label(stored: StoredSpot) -> str:
    spot = stored.file.spot
    last = stored.progress[-1]
    share = (
        ""
        if last.exploitability is None
        else f", exploitable by {100 * last.exploitability / spot.pot:.3g}% of the pot"
    )
    street = spot.betting_rules.first_street.name.lower()
    return f"{street} {format_board(spot.board)}, pot {spot.pot:,}, after {last.iteration:,} iterations{share}"


def _describe_file(stored: StoredSpot) -> dict[str, Any]:
    config = stored.config
    return {
        "game": config.game,
        "rule": config.rule,
        "method": config.method,
        "iterations": stored.progress[-1].iteration,
        "seed": config.seed,
        "version": version(),
        "solved_by_version": config.equipoise_version,
        "solved_by_commit": stored.reader.metadata.get("commit"),
    }


def _matching_hands(view: NodeView, pattern: str | None) -> Iterator[int]:
    """Yields the actor's hands that are in its range here and whose cards or class match a text or a glob."""
    hands = hands_of(view.tree.spot.deck)
    for hand in np.flatnonzero(view.reach[view.player] > 0)[::-1].tolist():
        names = format_hand(hand, hands.deck), hands.class_names[hands.classes[hand]]
        if pattern is None or any(pattern in name or fnmatch.fnmatchcase(name, pattern) for name in names):
            yield hand
