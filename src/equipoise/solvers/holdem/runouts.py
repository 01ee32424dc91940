# SPDX-License-Identifier: Apache-2.0
"""All cards that may come at once: what both players do first after each of them, and what their ranges are worth.

Cards that are the same but for the names of suits are looked at once. Chips are chips, probabilities 0 to 1, what
cannot be said is None. Keys: docs/spots.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.core.reporting import OnStep, Reporter
from equipoise.games.holdem.betting import CALL, Street, pot
from equipoise.games.holdem.betting_tree import BettingNode, NodeKind
from equipoise.games.holdem.cards import format_card
from equipoise.games.holdem.line_notation import (
    Line,
    format_line,
    name_actions,
    parse_deal,
    parse_line,
    shorten_line,
    shorten_step,
)
from equipoise.solvers.game_views import as_numbers
from equipoise.solvers.holdem.description import SolvedPlaces, summarize_player
from equipoise.trees.holdem.places import HoldemPlace
from equipoise.trees.holdem.tree import HoldemTree

__all__ = ["describe_runouts", "find_deal", "runout_columns"]

FloatArray = npt.NDArray[np.float64]


def describe_runouts(solved: SolvedPlaces, text: str, *, reporter: Reporter | None = None) -> dict[str, Any]:
    """Returns the cards that may come after a line, each with first actions, values and equities.

    Args:
        solved: a file, or a run under way.
        text: a line that ends a street, `check, check` or `check, check, [*]`.
        reporter: is told how many cards have been looked at.
    """
    betting, spot = solved.tree.betting, solved.tree.spot
    line = find_deal(solved.tree, text)
    node = betting.nodes[line.node]
    first = betting.nodes[node.children[0]]
    reply = _find_reply(solved, first)
    with (reporter or Reporter()).task("cards") as on_step:
        cards = _describe_cards(solved, line, first, reply, on_step)
    return {
        "line": shorten_line(betting, line),
        "text": format_line(betting, line),
        "street": Street(node.state.street + 1).name.lower(),
        "board": [format_card(card) for card in line.board],
        "seats": list(solved.seats),
        "pot": pot(node.state),
        "big_blind": spot.big_blind,
        "has_values": solved.views.has_values_after(line.node),
        "player": first.state.actor,
        **_name_ids(solved, first),
        "reply": None if reply is None else {"player": reply.state.actor, "after": "x", **_name_ids(solved, reply)},
        "cards": cards,
        "average": _average(cards),
    }


def find_deal(tree: HoldemTree, text: str) -> Line:
    """Returns where a line ends a street; raises `ConfigError` unless one card comes then and somebody acts."""
    betting, spot = tree.betting, tree.spot
    line = parse_deal(text, betting, spot.board, spot.deck)
    line = parse_line(text, betting, spot.board, spot.deck) if line is None else line
    node = betting.nodes[line.node]
    if node.kind is not NodeKind.STREET_END:
        raise ConfigError(f"no card comes after {text or 'root'!r}: it is a {node.kind.value}")
    if not line.board:
        raise ConfigError("cards are listed one by one, and three come at the flop: add one, as in [Ks7h2d]")
    if betting.nodes[node.children[0]].kind is not NodeKind.DECISION:
        raise ConfigError(f"nobody acts after the card that follows {format_line(betting, line)!r}: all is in")
    return line


def _find_reply(solved: SolvedPlaces, first: BettingNode) -> BettingNode | None:
    """Returns where the other player acts after a check, None if the street ends with it."""
    below = solved.tree.betting.nodes[first.children[first.actions.index(CALL)]]
    return below if below.kind is NodeKind.DECISION else None


def _name_ids(solved: SolvedPlaces, node: BettingNode) -> dict[str, Any]:
    names = name_actions(solved.tree.betting, node.index)
    return {"ids": [shorten_step(name) for name in names], "names": list(names)}


def _describe_cards(
    solved: SolvedPlaces, line: Line, first: BettingNode, reply: BettingNode | None, on_step: OnStep
) -> list[dict[str, Any]]:
    tree = solved.tree
    left = [card for card in tree.spot.deck.cards if card not in line.board]
    groups: dict[int, list[int]] = {}  # by the board that stands for them
    for card in left:
        groups.setdefault(tree.locate((*line.board, card))[0], []).append(card)
    found: dict[int, dict[str, Any]] = {}
    for place, cards in enumerate(groups.values()):
        on_step(place / len(groups), format_card(cards[0]))
        board = (*line.board, cards[0])
        looked_at = _describe_card(solved, board, first, reply)
        found |= {card: {"stands_for": format_card(cards[0]), **looked_at} for card in cards}
    return [
        {
            "card": format_card(card),
            "line": shorten_line(tree.betting, Line(first.index, (*line.board, card))),
            **found[card],
        }
        for card in left
    ]


def _describe_card(
    solved: SolvedPlaces, board: tuple[int, ...], first: BettingNode, reply: BettingNode | None
) -> dict[str, Any]:
    """Returns what is done first on a board, by both players, and what it is worth to them."""
    has_values = solved.views.has_values_after(first.parent)
    view = solved.views.view(HoldemPlace(first.index, board), has_values=has_values)
    sums = [summarize_player(shown, view.pot) for shown in view.players]
    described = {
        "odds": float(view.players[view.actor].odds.sum()),
        "frequency": as_numbers(view.frequencies),
        **{key: [one[key] for one in sums] for key in ("combos", "ev", "equity", "eqr")},
        "reply": None,
    }
    if reply is not None:
        described["reply"] = as_numbers(solved.views.frequencies(HoldemPlace(reply.index, board)))
    return described


def _average(cards: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Returns the means over cards, each as often as it comes."""
    odds = np.array([card["odds"] for card in cards])

    def mean(rows: Sequence[Sequence[float | None] | None]) -> list[float | None] | None:
        if rows[0] is None:
            return None
        table = np.array([[np.nan if number is None else number for number in row or ()] for row in rows], np.float64)
        known = ~np.isnan(table) * odds[:, None]
        totals = known.sum(axis=0)
        sums = (known * np.nan_to_num(table)).sum(axis=0)
        return as_numbers(np.divide(sums, totals, out=np.full(totals.size, np.nan), where=totals > 0))

    return {key: mean([card[key] for card in cards]) for key in ("frequency", "ev", "equity", "eqr", "reply")}


def runout_columns(report: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Returns a report as columns, a row for each card: what `show --csv` writes; EV in chips, None where not known."""
    cards = report["cards"]
    columns: dict[str, list[Any]] = {"card": [card["card"] for card in cards]}
    columns["odds"] = [card["odds"] for card in cards]
    for key in ("equity", "ev", "eqr"):
        for player, seat in enumerate(report["seats"]):
            columns[f"{key} {seat}"] = [card[key][player] for card in cards]
    deciders = [(report, "frequency")] + ([(report["reply"], "reply")] if report["reply"] else [])
    for decider, key in deciders:
        seat = report["seats"][decider["player"]]
        for place, name in enumerate(decider["names"]):
            columns[f"{seat} {name}"] = [card[key][place] for card in cards]
    return columns
