# SPDX-License-Identifier: Apache-2.0
"""A range by what players call its hands: how much of it is top pair, what that is worth and what it does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError, UnknownNameError
from equipoise.games.holdem.hand_classes import CLASSES, DRAWS, classify_hands
from equipoise.solvers.game_views import mean_of_known
from equipoise.solvers.holdem.view import NodeView

__all__ = ["find_hand_class", "mark_class", "tabulate_classes"]

BoolArray = npt.NDArray[np.bool_]


def find_hand_class(text: str, names: Sequence[str]) -> int:
    """Returns which of `CLASSES` or `DRAWS` a text names; capitals, `-` and a plural do not matter.

    >>> CLASSES[find_hand_class("Top-pair", CLASSES)], CLASSES[find_hand_class("sets", CLASSES)]
    ('top pair', 'set')
    """
    plain = {_simplify(name): place for place, name in enumerate(names)}
    given = _simplify(text)
    for spelling in (given, given.removesuffix("s")):
        if spelling in plain:
            return plain[spelling]
    raise UnknownNameError("hand class", text, names)


def _simplify(text: str) -> str:
    return " ".join(text.lower().replace("-", " ").split())


def mark_class(view: NodeView, player: int, *, made: str | None = None, draw: str | None = None) -> BoolArray:
    """Returns `[H]` which of a player's hands at a decision are of a class, a draw, or both; all if none is named."""
    shown = view.players[player]
    is_kept = np.ones(shown.hands.size, np.bool_)
    if made is None and draw is None:
        return is_kept
    if not view.board:
        raise ConfigError("hands have classes and draws from the flop on; before it use their names, as in 'AKs'")
    found = classify_hands(tuple(view.board), view.deck)
    if made is not None:
        is_kept &= found.classes[shown.hands] == find_hand_class(made, CLASSES)
    if draw is not None:
        is_kept &= found.draws[shown.hands] == find_hand_class(draw, DRAWS)
    return is_kept


def tabulate_classes(view: NodeView, player: int) -> dict[str, list[dict[str, Any]]]:
    """Returns a player's range at a decision by class and by draw, the strongest first; those that are there.

    Each has `name`, `combos`, `share` of the range (by how likely hands are), `equity`, `ev` in chips, and of the
    player who acts `frequency` by action, else None.
    """
    if not view.board:
        raise ConfigError("hands have classes and draws from the flop on")
    found = classify_hands(tuple(view.board), view.deck)
    hands = view.players[player].hands
    return {
        "classes": _tabulate(view, player, found.classes[hands], CLASSES),
        "draws": _tabulate(view, player, found.draws[hands], DRAWS),
    }


def _tabulate(view: NodeView, player: int, numbers: npt.NDArray[np.int8], names: Sequence[str]) -> list[dict[str, Any]]:
    shown = view.players[player]
    total = shown.odds.sum()
    rows = []
    for number, name in enumerate(names):
        odds = np.where(numbers == number, shown.odds, 0.0)
        if not odds.any():
            continue
        frequency = (odds @ view.strategy / odds.sum()).tolist() if player == view.actor else None
        rows.append(
            {
                "name": name,
                "combos": float(shown.weights[numbers == number].sum()),
                "share": float(odds.sum() / total),
                "equity": mean_of_known(shown.equities, odds),
                "ev": mean_of_known(shown.values, odds),
                "frequency": frequency,
            }
        )
    return rows
