# SPDX-License-Identifier: Apache-2.0
"""What best responses would win more at a decision than what is played, hand by hand, without solving anything again.

A best response knows the other player's whole strategy and answers it best from the decision on, on every later street.
Chips are chips, what cannot be said is None. Keys: docs/spots.md.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.games.holdem.cards import format_card
from equipoise.games.holdem.hand_classes import CLASSES, DRAWS, classify_hands
from equipoise.games.holdem.hands import format_hand
from equipoise.games.holdem.line_notation import format_line, parse_decision, shorten_line, shorten_step
from equipoise.solvers.game_views import as_numbers, mean_of_known
from equipoise.solvers.holdem.description import SolvedPlaces
from equipoise.solvers.holdem.view import BestView, NodeView
from equipoise.trees.holdem.places import HoldemPlace

__all__ = ["describe_gain"]

FloatArray = npt.NDArray[np.float64]


def describe_gain(solved: SolvedPlaces, text: str = "", *, respects_locks: bool = True) -> dict[str, Any]:
    """Returns what each player's hands would win more at a decision by answering the other's strategy best.

    Args:
        solved: a file, or a run under way.
        text: a decision, as a line.
        respects_locks: whether whoever answers keeps to its own locks.
    """
    tree = solved.tree
    line = parse_decision(text, tree.betting, tree.spot.board, tree.spot.deck)
    if solved.views.kernel is None:
        raise ConfigError("best responses need the whole table in memory, and it is large: read its values first")
    place = HoldemPlace(*line)
    view, best = solved.views.view(place), solved.views.view_best(place, respects_locks=respects_locks)
    own = view.players[view.actor]
    is_there = own.weights > 0
    answers = _first_best(best.action_values)
    return {
        "line": shorten_line(tree.betting, line),
        "text": format_line(tree.betting, line),
        "board": [format_card(card) for card in line.board],
        "player": view.actor,
        "seats": list(solved.seats),
        "pot": view.pot,
        "big_blind": tree.spot.big_blind,
        "respects_locks": respects_locks,
        "actions": _describe_answers(view, best, answers),
        "players": [_describe_player(solved, view, best, player) for player in (0, 1)],
        "best_action": answers[is_there].tolist(),
        "best_action_ev": [as_numbers(row) for row in best.action_values[is_there]],
        "classes": list(CLASSES),
        "draws": list(DRAWS),
    }


def _first_best(action_values: FloatArray) -> npt.NDArray[np.int64]:
    """Returns `[H]` the first action that is worth most; 0 where nothing is known."""
    found: npt.NDArray[np.int64] = np.nan_to_num(action_values, nan=-np.inf).argmax(axis=1)
    return found


def _describe_answers(view: NodeView, best: BestView, answers: npt.NDArray[np.int64]) -> list[dict[str, Any]]:
    """Returns by action how often it is played, and how often a best response takes it."""
    own = view.players[view.actor]
    total = own.odds.sum()
    played = as_numbers(view.frequencies)
    return [
        {
            "id": shorten_step(name),
            "name": name,
            "frequency": played[column],
            "best_frequency": float(own.odds[answers == column].sum() / total) if total > 0 else None,
            "best_ev": mean_of_known(best.action_values[:, column], own.odds),
        }
        for column, name in enumerate(view.names)
    ]


def _describe_player(solved: SolvedPlaces, view: NodeView, best: BestView, player: int) -> dict[str, Any]:
    shown, gain = view.players[player], best.gains(view)[player]
    is_there = shown.weights > 0
    hands, deck = shown.hands[is_there], solved.tree.spot.deck
    mean = mean_of_known(gain, shown.odds)
    described: dict[str, Any] = {
        "hands": [format_hand(hand, deck) for hand in hands.tolist()],
        "weight": shown.weights[is_there].tolist(),
        "odds": shown.odds[is_there].tolist(),
        "ev": as_numbers(shown.values[is_there]),
        "best_ev": as_numbers(best.values[player][is_there]),
        "gain": as_numbers(gain[is_there]),
        "class": None,
        "draw": None,
        "summary": {
            "gain": mean,
            "gain_share_of_pot": None if mean is None else mean / view.pot,
            "ev": mean_of_known(shown.values, shown.odds),
            "best_ev": mean_of_known(best.values[player], shown.odds),
        },
    }
    if view.board:
        found = classify_hands(tuple(view.board), deck)
        described |= {"class": found.classes[hands].tolist(), "draw": found.draws[hands].tolist()}
    return described
