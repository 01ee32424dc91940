# SPDX-License-Identifier: Apache-2.0
"""Squares of hand classes (13 x 13 for the full deck) that show how often each action is taken.

A cell has two lines: the name of the class, and the action it takes most often with its frequency in percent. On a
terminal with colours the background of a cell is shared among the actions as its frequencies are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
from rich.style import Style
from rich.text import Text

from equipoise.core.errors import ConfigError
from equipoise.core.markup import colour_actions
from equipoise.games.holdem.cards import FULL_DECK, Deck
from equipoise.games.holdem.hands import hands_of

__all__ = ["render_grid"]

CELL_WIDTH: Final = 5
ABSENT: Final = Style(color="#808080")
WEIGHTLESS: Final = 1e-9


def render_grid(
    frequencies: npt.ArrayLike, actions: Sequence[str], *, deck: Deck = FULL_DECK, weights: npt.ArrayLike | None = None
) -> Text:
    """Returns the square of classes as text with a legend, for `rich` to print with or without colours.

    Args:
        frequencies: `[classes, A]` how often each class takes each action; rows sum to 1. Classes in the order of
            `Hands.class_names`.
        actions: `[A]` what the actions are called; those that begin with fold, check or call have colours of their own,
            the others take the colours of raises in their order.
        deck: the cards in play.
        weights: `[classes]` how much of each class there is, 1 unless given; cells without any show a dot.
    """
    hands = hands_of(deck)
    table = np.asarray(frequencies, np.float64)
    if table.shape != (len(hands.class_names), len(actions)):
        raise ConfigError(
            f"frequencies must have shape ({len(hands.class_names)}, {len(actions)}), a row for each class and "
            f"a column for each action, got {table.shape}"
        )
    held = np.ones(len(table)) if weights is None else np.asarray(weights, np.float64)
    held = np.where(hands.class_sizes > 0, held, 0.0)
    colours, letters = colour_actions(actions), _letters(actions)
    size = hands.grid_size
    text = Text()
    for row in range(size):
        for line in range(2):
            for place in range(row * size, (row + 1) * size):
                is_absent = held[place] <= WEIGHTLESS
                content = hands.class_names[place] if line == 0 else _summary(table[place], letters, is_absent)
                text.append_text(_cell(content, table[place], colours, is_absent))
            text.append("\n")
    text.append_text(_legend(table, held * hands.class_sizes, actions, letters, colours))
    return text


def _letters(actions: Sequence[str]) -> list[str]:
    """Returns one letter for each action: its first that no earlier action has, else a digit."""
    letters: list[str] = []
    for position, action in enumerate(actions):
        free = [letter for letter in action.lower() if letter.isalpha() and letter not in letters]
        letters.append(free[0] if free else str(position % 10))
    return letters


def _summary(row: npt.NDArray[np.float64], letters: Sequence[str], is_absent: bool) -> str:
    if is_absent:
        return "."
    most = int(row.argmax())
    return f"{letters[most]}{row[most] * 100:.0f}"


def _cell(content: str, row: npt.NDArray[np.float64], colours: Sequence[str], is_absent: bool) -> Text:
    padded = content.ljust(CELL_WIDTH - 1)
    if is_absent:
        return Text(padded + " ", ABSENT)
    cell = Text()
    ends = np.cumsum(row)
    for place, letter in enumerate(padded):
        middle = (place + 0.5) / len(padded)
        action = min(int(np.searchsorted(ends, middle)), len(colours) - 1)
        cell.append(letter, Style(color="#ffffff", bgcolor=colours[action]))
    return cell.append(" ")


def _legend(
    table: npt.NDArray[np.float64],
    combos: npt.NDArray[np.float64],
    actions: Sequence[str],
    letters: Sequence[str],
    colours: Sequence[str],
) -> Text:
    total = combos.sum()
    shares = combos @ np.where(combos[:, None] > 0, table, 0.0) / total if total > 0 else np.zeros(len(actions))
    legend = Text()
    for action, letter, colour, share in zip(actions, letters, colours, shares, strict=True):
        legend.append(f" {letter} ", Style(color="#ffffff", bgcolor=colour))
        legend.append(f" {action} {share:.1%}   ")
    legend.rstrip()
    return legend
