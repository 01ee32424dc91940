# SPDX-License-Identifier: Apache-2.0
"""A decision of a spot as a square of hand classes: coloured bars of actions, and letters that need no colour."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
from rich.table import Table
from rich.text import Text

from equipoise.games.holdem.hands import hands_of
from equipoise.solvers.spot_view import NodeView

__all__ = ["action_marks", "format_percent", "render_frequencies", "render_grid"]

FloatArray = npt.NDArray[np.float64]

CELL_WIDTH: Final = 5  # thirteen of them and the gaps between are 77 columns
# the sixteen colours that every terminal has; ink and ground
FOLD_COLOUR, CALL_COLOUR, ALL_IN_COLOUR = "bright_white on blue", "black on green", "bright_white on magenta"
NAMED: Final = {
    "fold": ("F", FOLD_COLOUR),
    "check": ("K", CALL_COLOUR),
    "call": ("C", CALL_COLOUR),
    "all-in": ("A", ALL_IN_COLOUR),
}
BET_COLOURS: Final = ("black on yellow", "black on bright_red", "bright_white on red")  # from small to large


def action_marks(actions: Sequence[str]) -> list[tuple[str, str]]:
    """Returns a letter or digit and a style for each action: bets are numbered from the smallest.

    >>> [mark for mark, _ in action_marks(["check", "bet 50%", "bet 100%", "all-in"])]
    ['K', '1', '2', 'A']
    """
    num_bets = sum(action not in NAMED for action in actions)
    marks, number = [], 0
    for action in actions:
        if action in NAMED:
            marks.append(NAMED[action])
            continue
        shade = number * (len(BET_COLOURS) - 1) // max(num_bets - 1, 1)
        number += 1
        marks.append((str(number) if number < 10 else "+", BET_COLOURS[shade]))
    return marks


def format_percent(share: float) -> str:
    """Returns a share as a percentage, or a dash where there is none.

    >>> format_percent(0.4567), format_percent(1.0), format_percent(math.nan)
    ('45.7%', '100.0%', '-')
    """
    return "-" if math.isnan(share) else f"{100 * share:.1f}%"


def render_grid(view: NodeView) -> Table:
    """Returns the square of classes: each has a bar of its actions, its name, and its most frequent action."""
    hands = hands_of(view.tree.spot.deck)
    # a hand that the opponent's cards make impossible here still has a strategy, and its class is shown
    own = view.reach[view.player]
    shares = np.stack([hands.grid(view.strategy[:, a], own) for a in range(len(view.actions))], axis=-1)
    marks = action_marks(view.actions)
    table = Table.grid(padding=(0, 1, 0, 0))
    for _ in range(hands.grid_size):
        table.add_column(width=CELL_WIDTH)
    for row in range(hands.grid_size):
        names = [hands.class_names[row * hands.grid_size + column] for column in range(hands.grid_size)]
        table.add_row(*(_cell(name, shares[row, column], marks) for column, name in enumerate(names)))
    return table


def render_frequencies(view: NodeView) -> Text:
    """Returns one line that explains the marks of the square and says how often each action is taken."""
    text = Text()
    for (mark, style), action, share in zip(
        action_marks(view.actions), view.actions, view.frequencies.tolist(), strict=True
    ):
        text.append(f" {mark} ", f"bold {style}")
        text.append(f" {action} {format_percent(share)}   ")
    return text


def _cell(name: str, shares: FloatArray, marks: Sequence[tuple[str, str]]) -> Text:
    """Returns two lines: the class, and the mark and percentage of its most frequent action, over a bar of all."""
    if np.isnan(shares).any():
        return Text(f"{name:<{CELL_WIDTH}}\n{'.':<{CELL_WIDTH}}", style="dim")
    best = int(shares.argmax())
    lines = f"{name:<{CELL_WIDTH}}", f"{marks[best][0]}{100 * shares[best]:4.0f}"
    text = Text()
    for place, line in enumerate(lines):
        for letter, style in zip(line, _bar(shares, marks), strict=True):
            text.append(letter, f"bold {style}" if place == 0 else style)
        if place == 0:
            text.append("\n")
    return text


def _bar(shares: FloatArray, marks: Sequence[tuple[str, str]]) -> list[str]:
    """Returns the style of each column of a cell, in proportion to the shares."""
    ends = np.cumsum(shares) / max(float(shares.sum()), 1e-12)
    middles = (np.arange(CELL_WIDTH) + 0.5) / CELL_WIDTH
    return [marks[min(int(action), len(marks) - 1)][1] for action in np.searchsorted(ends, middles)]
