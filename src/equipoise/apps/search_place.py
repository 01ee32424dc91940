# SPDX-License-Identifier: Apache-2.0
"""Where a search in hold'em begins: the text of a line or a public state, read against a strategy's bets.

Bets that the strategy lacks part the way into stretches. Each is read against the bets that a search behind the last
one would know, so that what is wrong is said before anything is searched.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from equipoise.core.errors import ConfigError, EquipoiseError, ParseError
from equipoise.games.holdem.betting import BettingState, check_action
from equipoise.games.holdem.betting_tree import DEALING, NO_PARENT, BettingTree, NodeKind
from equipoise.games.holdem.cards import check_board, format_board
from equipoise.games.holdem.line_notation import Line, Stretch, format_line, grow_behind, parse_stretches
from equipoise.games.holdem.menus import Menu
from equipoise.games.holdem.public_text import parse_steps
from equipoise.trees.holdem.places import HoldemStrategy

__all__ = ["Place", "find_place", "follow_stretch"]

Board = tuple[int, ...]


class Place(NamedTuple):
    """The way to where a search begins, parted by bets that the strategy lacks; the last action may be one of them."""

    stretches: tuple[Stretch, ...]

    @property
    def last(self) -> Stretch:
        """Returns the part in which the search begins, at its end."""
        return self.stretches[-1]

    @property
    def state(self) -> BettingState:
        """Returns where the betting stands at its end: before the last bet if the strategy lacks it."""
        return self.last.tree.nodes[self.last.line.node].state

    @property
    def strangers(self) -> set[int]:
        """Returns the players who made bets that the strategy lacks."""
        return {
            stretch.tree.nodes[stretch.line.node].state.actor for stretch in self.stretches if stretch.total is not None
        }

    def describe(self) -> str:
        """Returns it in words."""
        words: list[str] = []
        for stretch in self.stretches:
            words.append(format_line(stretch.tree, stretch.line) or ("root" if not words else ""))
            if stretch.total is not None:
                words.append(f"an unknown raise to {stretch.total}")
        return ", then ".join(word for word in words if word)


def find_place(policy: HoldemStrategy, text: str, menu: Menu | None = None) -> Place:
    """Returns where a line (`check, bet 50%`) or a public state (`Ks7h2d5c9h:cr750`) leads.

    Args:
        policy: the strategy; bets may be ones that it does not know.
        text: the line or the public state.
        menu: what searches consider behind such bets; None: what the strategy does.
    """
    spot = policy.tree.spot
    if ":" not in text:
        return Place(parse_stretches(text, policy.tree.betting, spot.board, spot.deck, menu=menu))
    steps, board = parse_steps(text.strip())
    try:
        check_board(board, spot.deck)
    except ConfigError as error:
        raise ParseError(f"state {text!r}: {error}") from None
    if set(board[: len(spot.board)]) != set(spot.board):
        raise ParseError(f"state {text!r} is not on the board of the spot, {format_board(spot.board)}")
    return Place(_part_steps(text, policy.tree.betting, steps, board, menu))


def _part_steps(
    text: str, tree: BettingTree, steps: Sequence[int], board: Board, menu: Menu | None
) -> tuple[Stretch, ...]:
    """Returns the stretches of a public state's steps."""
    found: list[Stretch] = []
    node = 0
    for number, step in enumerate(steps):
        here = tree.nodes[node]
        if step == DEALING and here.kind is NodeKind.STREET_END:
            node = here.children[0]
        elif step in here.actions:
            node = here.children[here.actions.index(step)]
        else:
            _check_unknown(text, tree, node, step)
            found.append(Stretch(tree, Line(node, board[: here.state.street.num_board_cards]), step))
            if number == len(steps) - 1:
                _check_num_cards(text, board, here.state)
                return tuple(found)
            tree, node = grow_behind(tree, node, step, menu), 0
    here = tree.nodes[node]
    if here.kind is not NodeKind.DECISION:
        what = "cards come next" if here.kind is NodeKind.STREET_END else f"the hand is over by {here.kind.value}"
        raise ParseError(f"nobody acts at {text!r}: {what}")
    _check_num_cards(text, board, here.state)
    return (*found, Stretch(tree, Line(node, board), None))


def _check_num_cards(text: str, board: Board, state: BettingState) -> None:
    if len(board) != state.street.num_board_cards:
        raise ParseError(f"{text!r} has {len(board)} cards on the {state.street.name.lower()}")


def _check_unknown(text: str, tree: BettingTree, node: int, step: int) -> None:
    """Raises `ParseError` unless a step that a tree lacks is a bet that the rules allow."""
    here = tree.nodes[node]
    if here.kind is not NodeKind.DECISION:
        raise ParseError(f"state {text!r}: nobody acts before its step {step}, it is a {here.kind.value} there")
    if step == DEALING:
        raise ParseError(f"state {text!r} deals cards where player {here.state.actor} acts")
    try:
        check_action(tree.rules, here.state, step)
    except EquipoiseError as error:
        raise ParseError(f"state {text!r}: {error}") from None


def follow_stretch(stretch: Stretch, betting: BettingTree, node: int) -> int:
    """Returns where a stretch ends in other betting with the same actions, from a node on."""
    actions = []
    here = stretch.tree.nodes[stretch.line.node]
    while here.parent != NO_PARENT:
        actions.append(here.action)
        here = stretch.tree.nodes[here.parent]
    for action in reversed(actions):
        above = betting.nodes[node]
        node = above.children[0 if action == DEALING else above.actions.index(action)]
    return node
