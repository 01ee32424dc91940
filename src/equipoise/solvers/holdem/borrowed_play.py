# SPDX-License-Identifier: Apache-2.0
"""What players do in one solved spot as locks of another: "plays as in that file here"."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from equipoise.core.errors import ConfigError
from equipoise.games.holdem.betting_tree import BettingTree, NodeKind, betting_tree
from equipoise.games.holdem.cards import format_board
from equipoise.games.holdem.hands import format_hand
from equipoise.games.holdem.line_notation import Line, format_line, name_actions, parse_decision
from equipoise.games.holdem.spot_file import SpotFile, SpotLock
from equipoise.solvers.holdem.solved_spot import SolvedSpot
from equipoise.trees.holdem.places import HoldemPlace

__all__ = ["borrow_locks"]

DECIMALS: Final = 4  # of shares that are borrowed: hands that differ by less share a lock


def borrow_locks(file: SpotFile, source: SolvedSpot, text: str, *, seat: int | None = None) -> tuple[SpotLock, ...]:
    """Returns locks that let hands play in a spot what they play in a solved one, at a line.

    Hands that the solved spot's range lacks stay free. Shares are taken to four decimals.

    Args:
        file: of the spot that is to be solved.
        source: what is played; the same board, and the same actions at the line.
        text: a decision.
        seat: lock all decisions of this player from the line on, to the end of its street; None: the one decision.
    """
    spot, other = file.spot, source.spot
    if (spot.deck, spot.board) != (other.deck, other.board):
        raise ConfigError(
            f"{source.path} is solved on {format_board(other.board)}, the spot is on {format_board(spot.board)}"
        )
    betting = betting_tree(spot.betting_rules, spot.menu)
    line = parse_decision(text, betting, spot.board, spot.deck)
    found: list[SpotLock] = []
    for node in _list_nodes(betting, line.node, seat):
        found += _borrow_at(file, source, betting, Line(node, line.board))
    if not found:
        raise ConfigError(f"nothing to take over from {source.path} at {text!r}: no hand of the range plays there")
    return tuple(found)


def _list_nodes(betting: BettingTree, node: int, seat: int | None) -> Iterator[int]:
    """Yields the one decision, or those of a player from there on within the street."""
    if seat is None:
        yield node
        return
    street, waiting = betting.nodes[node].state.street, [node]
    while waiting:
        here = betting.nodes[waiting.pop(0)]
        if here.kind is not NodeKind.DECISION or here.state.street != street:
            continue
        if here.state.actor == seat:
            yield here.index
        waiting += here.children


def _borrow_at(file: SpotFile, source: SolvedSpot, betting: BettingTree, line: Line) -> Iterator[SpotLock]:
    text = format_line(betting, line)
    theirs = parse_decision(text, source.tree.betting, source.spot.board, source.spot.deck)
    names, their_names = name_actions(betting, line.node), name_actions(source.tree.betting, theirs.node)
    if names != their_names:
        raise ConfigError(
            f"{source.path} has other actions at {text or 'root'!r}: {', '.join(their_names)}, the spot has "
            f"{', '.join(names)}"
        )
    actor = betting.nodes[line.node].state.actor
    played = source.strategy.probabilities(HoldemPlace(*theirs))
    in_range = file.spot.ranges[actor].without(line.board).weights > 0
    in_theirs = source.spot.ranges[actor].without(line.board).weights > 0
    hands = np.flatnonzero(in_range & in_theirs & (played.sum(axis=1) > 0))
    alike: dict[tuple[float, ...], list[int]] = {}
    for hand in hands.tolist():
        alike.setdefault(tuple(np.round(played[hand], DECIMALS).tolist()), []).append(hand)
    for shares, group in alike.items():
        total = sum(shares)
        play = {name: share / total for name, share in zip(names, shares, strict=True) if share > 0}
        yield SpotLock(line=text, hands=", ".join(format_hand(hand, file.spot.deck) for hand in group), play=play)
