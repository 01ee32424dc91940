# SPDX-License-Identifier: Apache-2.0
"""Locks on hold'em decisions: what chosen hands do there, whatever a solver would choose.

A lock names a decision of the betting tree, one board or all boards of its street, and the hands. Nothing here knows
how a tree lays its tables out.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.core.formatting import brief_repr
from equipoise.games.holdem.betting_tree import BettingTree, NodeKind
from equipoise.games.holdem.cards import SUITS, check_board, format_board
from equipoise.games.holdem.hands import format_hand, hands_of
from equipoise.games.holdem.isomorphism import CardArray, hand_permutation, relabel_board
from equipoise.games.holdem.spot import HoldemSpot

__all__ = ["LockTable", "NodeLock", "compile_locks"]

FloatArray = npt.NDArray[np.float64]
Place: TypeAlias = tuple[int, tuple[int, ...] | None]  # decision, and the board if there is only one

TOLERANCE: Final = 1e-6  # of probabilities that should sum to 1


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NodeLock:
    """Fixed probabilities at one decision.

    >>> from equipoise.games.holdem import parse_board, parse_range
    >>> from equipoise import HoldemSpot
    >>> from equipoise.solvers import CFRSolver
    >>> from equipoise.trees import build_holdem_tree
    >>> ranges = parse_range("AA, KQs"), parse_range("JJ, QQ")
    >>> spot = HoldemSpot(board=parse_board("Ks7h2d5cJs"), pot=20, stacks=(40, 40), ranges=ranges)
    >>> tree = build_holdem_tree(spot)
    >>> always_check = [1.0] + [0.0] * (len(tree.betting.root.actions) - 1)
    >>> solver = CFRSolver(tree, locks=[NodeLock(node=0, strategy=always_check)])
    >>> solver.iterate(10)
    >>> solver.evaluate().exploitability >= 0
    True
    """

    node: int  # of the betting tree
    strategy: npt.ArrayLike  # [A] the same for all hands, or [H, A] in the order of `hands`
    hands: Sequence[int] | None = None  # numbers of hands; None: all of the player's range
    board: Sequence[int] | None = None  # None: every board of the decision's street

    __repr__ = brief_repr


class LockedHands:
    """What all locks of one place say, by number of a hand."""

    def __init__(self, num_hands: int, num_actions: int) -> None:
        self.is_locked = np.zeros(num_hands, np.bool_)  # [H]
        self.strategy = np.zeros((num_hands, num_actions))  # [H, A]

    def is_relabelled(self, other: LockedHands, numbers: npt.NDArray[np.int32]) -> bool:
        """Returns whether `other` says the same of hands `numbers` `[H]` as this of hands 0, 1, ..."""
        return np.array_equal(other.is_locked[numbers], self.is_locked) and np.array_equal(
            other.strategy[numbers], self.strategy
        )


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class LockTable:
    """Locks that have been checked, by place."""

    spot: HoldemSpot
    places: dict[Place, LockedHands]

    def keep_symmetries(self, permutations: CardArray) -> CardArray:
        """Returns the relabellings of suits `[G, 4]` out of a group that leave the locks as they are."""
        kept: CardArray = permutations[[self._is_symmetric(permutation) for permutation in permutations]]
        return kept

    def check_symmetries(self, permutations: CardArray) -> None:
        """Raises `ConfigError` unless all relabellings of a group leave the locks as they are."""
        for permutation in permutations:
            if not self._is_symmetric(permutation):
                changed = "".join(SUITS[suit] for suit in range(len(SUITS)) if permutation[suit] != suit)
                raise ConfigError(
                    f"the locks tell the suits {changed} apart, which the tree merges; "
                    "build it with build_holdem_tree(spot, locks=...)"
                )

    def find(self, node: int, board: tuple[int, ...]) -> LockedHands | None:
        """Returns what is locked at a decision on a board."""
        everywhere = self.places.get((node, None))
        here = self.places.get((node, board))
        if everywhere is None or here is None:
            return here or everywhere
        both = LockedHands(*everywhere.strategy.shape)
        both.is_locked = everywhere.is_locked | here.is_locked
        both.strategy = everywhere.strategy + here.strategy  # no hand is locked in both
        return both

    def _is_symmetric(self, permutation: npt.NDArray[np.uint8]) -> bool:
        numbers = hand_permutation(permutation, self.spot.deck)
        for (node, board), locked in self.places.items():
            image = None if board is None else relabel_board(board, permutation, self.spot.board)
            other = self.places.get((node, image))
            if other is None or not locked.is_relabelled(other, numbers):
                return False
        return True


def compile_locks(spot: HoldemSpot, betting: BettingTree, locks: Sequence[NodeLock]) -> LockTable:
    """Returns locks by place; `ConfigError` says which of them is impossible, and why."""
    table = LockTable(spot, {})
    num_hands = hands_of(spot.deck).num_hands
    for number, lock in enumerate(locks):
        try:
            place = _place(spot, betting, lock)
            hands = _hands(spot, betting.nodes[lock.node].state.actor, place[1], lock.hands)
            num_actions = len(betting.nodes[lock.node].actions)
            strategy = _strategy(lock.strategy, hands.size, num_actions)
            _check_free(table, place, hands)
        except ConfigError as error:
            raise ConfigError(f"lock {number} (node {lock.node}): {error}") from None
        locked = table.places.setdefault(place, LockedHands(num_hands, num_actions))
        locked.is_locked[hands] = True
        locked.strategy[hands] = strategy
    return table


def _place(spot: HoldemSpot, betting: BettingTree, lock: NodeLock) -> Place:
    if not 0 <= lock.node < len(betting.nodes):
        raise ConfigError(f"node must be 0 to {len(betting.nodes) - 1}")
    node = betting.nodes[lock.node]
    if node.kind is not NodeKind.DECISION:
        raise ConfigError(f"node must be a decision, this one is a {node.kind.value}")
    if lock.board is None:
        return lock.node, None
    board = tuple(int(card) for card in lock.board)
    check_board(board, spot.deck)
    expected = node.state.street.num_board_cards
    if len(board) != expected:
        raise ConfigError(f"board must have {expected} cards at this decision, got {format_board(board)}")
    size = len(spot.board)
    if set(board[:size]) != set(spot.board):
        raise ConfigError(f"board must begin with {format_board(spot.board)}, got {format_board(board)}")
    return lock.node, relabel_board(board, range(len(SUITS)), spot.board)


def _hands(
    spot: HoldemSpot, player: int, board: tuple[int, ...] | None, hands: Sequence[int] | None
) -> npt.NDArray[np.int64]:
    possible = spot.live_weights(player) > 0
    if board is not None:
        possible &= ~hands_of(spot.deck).blocked(board)
    if hands is None:
        return np.flatnonzero(possible)
    numbers = np.array(hands, np.int64).reshape(-1)
    if not numbers.size:
        raise ConfigError("hands must name at least one hand, got none; leave it out to lock all")
    if numbers.min() < 0 or numbers.max() >= possible.size:
        raise ConfigError(f"hands must be numbers 0 to {possible.size - 1}, got {numbers.min()} to {numbers.max()}")
    if np.unique(numbers).size != numbers.size:
        raise ConfigError("hands must be different, got one twice")
    if not possible[numbers].all():
        shown = format_hand(int(numbers[~possible[numbers]][0]), spot.deck)
        raise ConfigError(f"hands must be in the range of player {player} and not on the board, got {shown}")
    return numbers


def _strategy(strategy: npt.ArrayLike, num_hands: int, num_actions: int) -> FloatArray:
    """Returns `[H, A]` probabilities that sum to 1 exactly."""
    given: FloatArray = np.array(strategy, np.float64)
    if given.shape not in ((num_actions,), (num_hands, num_actions)):
        raise ConfigError(
            f"strategy must have shape ({num_actions},) or ({num_hands}, {num_actions}), got {given.shape}"
        )
    rows: FloatArray = np.broadcast_to(given, (num_hands, num_actions))
    if not (np.isfinite(rows).all() and (rows >= 0).all() and (np.abs(rows.sum(axis=1) - 1) <= TOLERANCE).all()):
        raise ConfigError("strategy must be probabilities that sum to 1 for every hand")
    normalized: FloatArray = rows / rows.sum(axis=1, keepdims=True)
    return normalized


def _check_free(table: LockTable, place: Place, hands: npt.NDArray[np.int64]) -> None:
    """Raises `ConfigError` if a hand is locked already, here or on one of the boards that the place covers."""
    node, board = place
    for (other, other_board), locked in table.places.items():
        if other == node and (board is None or other_board in (None, board)) and locked.is_locked[hands].any():
            shown = format_hand(int(hands[locked.is_locked[hands]][0]), table.spot.deck)
            raise ConfigError(f"hand {shown} is locked there already")
