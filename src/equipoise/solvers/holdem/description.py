# SPDX-License-Identifier: Apache-2.0
"""A place in a solved spot as JSON values: what happened, who holds what, what is done and what it is worth.

It is what `equipoise show --json` writes and what a page draws. Chips are chips, probabilities 0 to 1, what cannot be
said is None. Numbers by hand are columns in the order of `hands`. Keys: docs/spots.md.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from equipoise.games.holdem.betting import CALL, FOLD, bet_in_round, pot, pot_after_call, to_call
from equipoise.games.holdem.betting_tree import DEALING, NO_PARENT, BettingNode, NodeKind
from equipoise.games.holdem.cards import format_card
from equipoise.games.holdem.hand_classes import CLASSES, DRAWS, classify_hands
from equipoise.games.holdem.hands import format_hand, hands_of
from equipoise.games.holdem.line_notation import (
    Line,
    format_address,
    format_line,
    name_actions,
    parse_line,
    shorten_line,
    shorten_step,
)
from equipoise.solvers.game_views import as_numbers, mean_of_known
from equipoise.solvers.holdem.view import NodeView, PlayerView, SpotViews
from equipoise.trees.holdem.locks import NodeLock
from equipoise.trees.holdem.places import HoldemPlace
from equipoise.trees.holdem.tree import HoldemTree

__all__ = ["SolvedPlaces", "describe_place", "describe_spot_node", "summarize_player"]

FloatArray = npt.NDArray[np.float64]

LEAST_EQUITY = 0.01  # below it, how well equity is realised says nothing


class SolvedPlaces(Protocol):
    """A spot and what is played in it: a file, or a run under way."""

    @property
    def tree(self) -> HoldemTree:
        """Returns what is played."""
        ...

    @property
    def views(self) -> SpotViews:
        """Returns what is held, played and won at decisions."""
        ...

    @property
    def locks(self) -> tuple[NodeLock, ...]:
        """Returns what players may not choose."""
        ...

    @property
    def seats(self) -> tuple[str, str]:
        """Returns what both players are called."""
        ...


def describe_spot_node(solved: SolvedPlaces, text: str) -> dict[str, Any]:
    """Returns a place of a solved spot; `text` is a line as `parse_line` reads it."""
    spot = solved.tree.spot
    return describe_place(solved, parse_line(text, solved.tree.betting, spot.board, spot.deck))


def describe_place(solved: SolvedPlaces, line: Line) -> dict[str, Any]:
    """Returns a place of a solved spot, be it a decision, the end of a street or of the hand."""
    betting, spot = solved.tree.betting, solved.tree.spot
    node, place = betting.nodes[line.node], HoldemPlace(*line)
    is_decision = node.kind is NodeKind.DECISION
    path = _describe_path(solved.views, line)
    taken = [step["frequency"][step["ids"].index(step["taken"])] for step in path if step["kind"] == "decision"]
    steps = shorten_line(betting, line)
    described = {
        "line": steps,
        "address": format_address(steps),
        "text": format_line(betting, line),
        "kind": "deal" if node.kind is NodeKind.STREET_END else node.kind.value,
        "street": node.state.street.name.lower(),
        "board": [format_card(card) for card in line.board],
        "player": node.state.actor if is_decision else None,
        "seats": list(solved.seats),
        "pot": pot(node.state),
        "to_call": to_call(node.state) if is_decision else 0,
        "stacks": list(node.state.stacks),
        "big_blind": spot.big_blind,
        "reach": None if None in taken else float(np.prod(taken)),
        "has_values": is_decision and solved.views.has_values(place),
        "locked": _find_locked(solved, place) if is_decision else None,
        "path": path,
        "classes": list(CLASSES),
        "draws": list(DRAWS),
    }
    if is_decision:
        return {**described, **_describe_decision(solved, line, solved.views.view(place))}
    return {**described, **_describe_end(solved, line, node)}


def _describe_decision(solved: SolvedPlaces, line: Line, view: NodeView) -> dict[str, Any]:
    """Returns actions, both ranges and what the actor's hands do."""
    own = view.players[view.actor]
    is_there = own.weights > 0
    return {
        "actions": _describe_actions(solved, line, view),
        "players": [_describe_player(solved, line, view, player) for player in (0, 1)],
        "strategy": view.strategy[is_there].tolist(),
        "action_ev": [as_numbers(row) for row in view.action_values[is_there]],
    }


def _describe_actions(solved: SolvedPlaces, line: Line, view: NodeView) -> list[dict[str, Any]]:
    betting = solved.tree.betting
    node = betting.nodes[line.node]
    own = view.players[view.actor]
    found = []
    for column, (action, name) in enumerate(zip(node.actions, name_actions(betting, line.node), strict=True)):
        child = betting.nodes[node.children[column]]
        taken = own.odds * view.strategy[:, column]
        is_raise = action > CALL
        share = (action - node.state.price) / pot_after_call(node.state)
        found.append(
            {
                "id": shorten_step(name),
                "name": name,
                "kind": _kind_of_action(node, action, name),
                "to": action - node.state.base if is_raise else None,
                "pot_share": share if is_raise else None,
                "frequency": as_numbers(view.frequencies)[column],
                "combos": float(own.weights @ view.strategy[:, column]),
                "ev": mean_of_known(view.action_values[:, column], taken),
                "next": "deal" if child.kind is NodeKind.STREET_END else child.kind.value,
                "line": shorten_line(betting, Line(child.index, line.board)),
            }
        )
    return found


def _kind_of_action(node: BettingNode, action: int, name: str) -> str:
    if action == FOLD:
        return "fold"
    if action == CALL:
        return "call" if to_call(node.state) else "check"
    if name == "all-in":
        return "all-in"
    return "raise" if bet_in_round(node.state) else "bet"


def _describe_player(solved: SolvedPlaces, line: Line, view: NodeView, player: int) -> dict[str, Any]:
    """Returns a player's range by hand, in sum, and by class of hole cards."""
    shown, deck = view.players[player], solved.tree.spot.deck
    is_there = shown.weights > 0
    hands = shown.hands[is_there]
    described = {
        "hands": [format_hand(hand, deck) for hand in hands.tolist()],
        "weight": shown.weights[is_there].tolist(),
        "odds": shown.odds[is_there].tolist(),
        "equity": as_numbers(shown.equities[is_there]),
        "ev": as_numbers(shown.values[is_there]),
        "class": None,
        "draw": None,
        "summary": summarize_player(shown, view.pot),
        "grid": _describe_grid(solved, view, shown, strategy=view.strategy if player == view.actor else None),
    }
    if line.board:
        found = classify_hands(line.board, deck)
        described |= {"class": found.classes[hands].tolist(), "draw": found.draws[hands].tolist()}
    return described


def summarize_player(shown: PlayerView, pot_chips: int) -> dict[str, Any]:
    """Returns a range in sum: combinations, equity, value in chips, and how much of its equity it realises."""
    equity, value = (mean_of_known(column, shown.odds) for column in (shown.equities, shown.values))
    realized = None
    if equity is not None and value is not None and equity >= LEAST_EQUITY and value >= 0:
        realized = value / (equity * pot_chips)
    return {"combos": float(shown.weights.sum()), "equity": equity, "ev": value, "eqr": realized}


def _describe_grid(
    solved: SolvedPlaces, view: NodeView, shown: PlayerView, *, strategy: FloatArray | None
) -> dict[str, Any]:
    """Returns numbers of the square of hole-card classes, rows from the highest rank: columns over its cells."""
    hands = hands_of(solved.tree.spot.deck)
    num_classes = len(hands.class_names)
    classes = hands.classes[shown.hands]
    free = ~hands.blocked(view.board)
    sizes = np.bincount(hands.classes[free], minlength=num_classes)
    weight = np.bincount(classes, shown.weights, minlength=num_classes)

    def average(column: FloatArray) -> list[float | None]:
        known = shown.odds * ~np.isnan(column)
        sums = np.bincount(classes, known * np.nan_to_num(column), minlength=num_classes)
        totals = np.bincount(classes, known, minlength=num_classes)
        return as_numbers(np.divide(sums, totals, out=np.full(num_classes, np.nan), where=totals > 0))

    shares = None if strategy is None else [average(column) for column in strategy.T]
    return {
        "names": list(hands.class_names),
        "weight": as_numbers(np.divide(weight, sizes, out=np.full(num_classes, np.nan), where=sizes > 0)),
        "equity": average(shown.equities),
        "ev": average(shown.values),
        "frequency": None if shares is None else [list(cell) for cell in zip(*shares, strict=True)],
    }


def _describe_end(solved: SolvedPlaces, line: Line, node: BettingNode) -> dict[str, Any]:
    """Returns both ranges where nobody acts, and which cards may come."""
    deck, betting = solved.tree.spot.deck, solved.tree.betting
    players = []
    for weights in solved.views.reach(HoldemPlace(*line)):
        held = np.flatnonzero(weights > 0)
        players.append(
            {
                "hands": [format_hand(hand, deck) for hand in held.tolist()],
                "weight": weights[held].tolist(),
                "summary": {"combos": float(weights.sum())},
            }
        )
    cards: list[dict[str, Any]] | None = None
    if node.kind is NodeKind.STREET_END and line.board:
        left = [card for card in deck.cards if card not in line.board]
        after = node.children[0]
        cards = [
            {"card": format_card(card), "line": shorten_line(betting, Line(after, (*line.board, card)))}
            for card in left
        ]
    return {"actions": [], "players": players, "strategy": None, "action_ev": None, "cards": cards}


def _describe_path(views: SpotViews, line: Line) -> list[dict[str, Any]]:
    """Returns the steps from the root to a place: decisions with what is done there, and cards that came."""
    betting = views.tree.betting
    steps = []
    below = betting.nodes[line.node]
    while below.parent != NO_PARENT:
        above = betting.nodes[below.parent]
        board = line.board[: above.state.street.num_board_cards]
        step: dict[str, Any] = {"line": shorten_line(betting, Line(above.index, board)), "pot": pot(above.state)}
        if below.action == DEALING:
            new = line.board[len(board) : below.state.street.num_board_cards]
            dealt = {"street": below.state.street.name.lower(), "cards": [format_card(card) for card in new]}
            steps.append({"kind": "deal", **step, **dealt})
        else:
            ids = [shorten_step(name) for name in name_actions(betting, above.index)]
            frequency = as_numbers(views.frequencies(HoldemPlace(above.index, board)))
            taken = ids[above.children.index(below.index)]
            step |= {"player": above.state.actor, "ids": ids, "frequency": frequency, "taken": taken}
            steps.append({"kind": "decision", **step})
        below = above
    return steps[::-1]


def _find_locked(solved: SolvedPlaces, place: HoldemPlace) -> list[str] | None:
    """Returns the hands whose play is fixed at a decision, None if there are none."""
    locks = [
        lock for lock in solved.locks if lock.node == place.node and tuple(lock.board or place.board) == place.board
    ]
    if not locks:
        return None
    everybody = range(solved.tree.spot.deck.num_hands)
    hands = {hand for lock in locks for hand in (everybody if lock.hands is None else lock.hands)}
    return [format_hand(hand, solved.tree.spot.deck) for hand in sorted(hands)]
