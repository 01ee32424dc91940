# SPDX-License-Identifier: Apache-2.0
"""Heads-up hold'em over public states, with everything merged that differs by the names of suits alone.

For decks small enough that every pair of hands on every board fits in memory: studies of search are made on these,
because whatever takes a public tree takes them. Full decks have a tree of their own (`equipoise.trees.holdem.tree`).
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Hashable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from equipoise.core.formatting import brief_repr
from equipoise.games.base import CHANCE, TERMINAL, ActionClass, GameSpec
from equipoise.games.holdem.betting import (
    CALL,
    FOLD,
    BettingState,
    Stage,
    Street,
    apply_action,
    initial_betting,
    name_action,
    next_street,
    payoffs,
)
from equipoise.games.holdem.cards import format_board
from equipoise.games.holdem.hands import format_hand, hands_of
from equipoise.games.holdem.isomorphism import (
    CardArray,
    canonical_sets,
    find_stabilizers,
    find_symmetries,
    hand_permutation,
)
from equipoise.games.holdem.menus import menu_actions
from equipoise.games.holdem.rules import Holdem
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.games.holdem.spot_game import spot_of_game
from equipoise.games.holdem.strength import evaluate_boards
from equipoise.games.public import PublicEdge, Relation

__all__ = ["MergedBoard", "MergedState", "SuitMergedHoldem"]

FloatArray = npt.NDArray[np.float64]
LongArray = npt.NDArray[np.int64]
Results = tuple[FloatArray, FloatArray, FloatArray]

_name_hand = functools.cache(format_hand)


class MergedState(NamedTuple):
    """A board that stands for its relabellings, and where the betting stands."""

    board: tuple[int, ...]
    betting: BettingState
    public: str


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class MergedBoard:
    """The private states on a board: hands that no relabelling of suits which keeps the board tells apart."""

    board: tuple[int, ...]
    group: CardArray  # [G, 4] relabellings that keep the board as it was dealt, street by street
    count: int  # how many boards it stands for
    private_of_hand: LongArray  # [deck's hands] -1 where the board blocks the hand
    hand: LongArray  # [H] the lowest hand of each private state
    joint: FloatArray  # [H, H] probability of both players' private states and the boards

    __repr__ = brief_repr

    @property
    def num_private(self) -> int:
        """Returns the number of private states, the same for both players."""
        return self.hand.size


class SuitMergedHoldem:
    """A heads-up hold'em game as a `PublicGame` whose private states and boards are merged by suits.

    Best play does not depend on the names of suits, so values and exploitability are those of the game itself. An
    information state is written as the game writes that of the lowest hand it stands for, on the board that stands for
    its relabellings. All showdowns of a board share their payoffs, and so do all folds.

    Checked by: tests/games/holdem/test_merged_suits.py.
    """

    def __init__(self, game: Holdem) -> None:
        """Keeps the rules; boards are listed when they are asked for."""
        self.game = game
        self.spot: HoldemSpot = spot_of_game(game)
        self.rules = game.betting_rules
        self._boards: dict[tuple[int, ...], MergedBoard] = {}
        self._known_actions: dict[BettingState, tuple[int, ...]] = {}
        self._following: dict[tuple[int, ...], tuple[MergedBoard, ...]] = {}
        root = self.spot.board
        self._pairs = self._list_pairs()
        self._keep(root, find_symmetries(root, self.spot.ranges, self.spot.deck), 1)

    @property
    def spec(self) -> GameSpec:
        """Returns the facts of the game."""
        return self.game.spec

    def initial_state(self) -> MergedState:
        """Returns the state after the blinds and the deal of both hands."""
        start = f"{format_board(self.spot.board)}:" if self.spot.board else ""
        betting = initial_betting(self.rules)
        end = "/" if betting.stage is Stage.DEAL else ""  # blinds put everybody all-in
        return MergedState(self.spot.board, betting, start + end)

    def actor(self, state: MergedState) -> int:
        """Returns the player to move, `CHANCE` or `TERMINAL`."""
        stage = state.betting.stage
        if stage is Stage.DEAL:
            return CHANCE
        return state.betting.actor if stage is Stage.ACT else TERMINAL

    def num_private(self, state: MergedState, player: int) -> int:
        """Returns the number of private states on the board."""
        return self.board(state.board).num_private

    def legal_actions(self, state: MergedState) -> tuple[int, ...]:
        """Returns fold, call and the raises of the menu; every private state has them all."""
        return self._actions(state.betting) if self.actor(state) >= 0 else ()

    def legality(self, state: MergedState) -> npt.NDArray[np.bool_]:
        """Returns `[H, A]` ones."""
        return np.ones((self.num_private(state, 0), len(self.legal_actions(state))), np.bool_)

    def edges(self, state: MergedState) -> tuple[PublicEdge[MergedState], ...]:
        """Returns one edge per action, or per board that can follow."""
        actor = self.actor(state)
        if actor == TERMINAL:
            return ()
        if actor == CHANCE:
            return self._deals(state)
        own = np.arange(self.num_private(state, 0))
        waited = Relation.pick(own)
        edges = []
        for column, action in enumerate(self.legal_actions(state)):
            betting = apply_action(self.rules, state.betting, action)
            word = {FOLD: "f", CALL: "c"}.get(action, f"r{action}") + ("/" if betting.stage is Stage.DEAL else "")
            moved = Relation.pick(own, action=column)
            child = MergedState(state.board, betting, state.public + word)
            edges.append(PublicEdge(child, (moved, waited) if actor == 0 else (waited, moved)))
        return tuple(edges)

    def joint_weights(self, state: MergedState) -> FloatArray:
        """Returns `[H, H]` the probability of both players' private states and of the boards."""
        return self.board(state.board).joint

    def payoffs(self, state: MergedState) -> FloatArray:
        """Returns `[2, H, H]` probability times chips won."""
        if state.betting.stage is Stage.FOLD:
            first = payoffs(state.betting)[0] * self.joint_weights(state)
        else:
            win, tie, loss = _stakes(state.betting)
            wins, ties, losses = self._showdown(state.board)
            first = win * wins + tie * ties + loss * losses
        return np.stack([first, -first])

    def payoff_table(self, state: MergedState) -> tuple[Hashable, float]:
        """Returns the board and how the hand ended, and what player 0 gets (if it wins)."""
        if state.betting.stage is Stage.FOLD:
            paid = payoffs(state.betting)[0]
            return ("fold", state.board, paid == 0), float(paid or 1)
        win, tie, loss = _stakes(state.betting)
        return ("showdown", state.board, tie / win, loss / win), float(win)

    def infostate(self, state: MergedState, player: int, private: int) -> str:
        """Returns the lowest hand of a private state and what is public, as the game writes them."""
        return f"{_name_hand(int(self.board(state.board).hand[private]), self.spot.deck)}|{state.public}"

    def public_state(self, state: MergedState) -> str:
        """Returns the betting with the board in its place."""
        return state.public

    def action_name(self, state: MergedState, action: int) -> str:
        """Returns fold, check, call, all-in, bet or raise with its amount in this round."""
        return name_action(state.betting, action)

    def action_class(self, state: MergedState, action: int) -> ActionClass:
        """Returns fold, call or raise."""
        return {FOLD: ActionClass.FOLD, CALL: ActionClass.CALL}.get(action, ActionClass.RAISE)

    def board(self, board: tuple[int, ...]) -> MergedBoard:
        """Returns the private states of a board that an edge led to."""
        return self._boards[board]

    def strengths(self, board: tuple[int, ...]) -> FloatArray:
        """Returns `[H]` how often each private state wins a showdown on a board, ties half, if everybody comes there.

        The board must have 3 cards at least.
        """
        wins, ties, _ = self._showdown(board)
        shares: FloatArray = (wins + 0.5 * ties).sum(axis=1) / self.board(board).joint.sum(axis=1)
        return shares

    # --- cards ---

    def _list_pairs(self) -> FloatArray:
        """Returns `[hands, hands]` the probability of both players' hands before anything else is dealt."""
        masks = hands_of(self.spot.deck).masks
        first, second = (held.without(self.spot.board).weights for held in self.spot.ranges)
        pairs: FloatArray = np.where(masks[:, None] & masks, 0.0, first[:, None] * second)
        pairs /= pairs.sum()
        return pairs

    def _keep(self, board: tuple[int, ...], group: CardArray, count: int) -> MergedBoard:
        """Files a board with its private states."""
        deck = self.spot.deck
        images = np.stack([hand_permutation(permutation, deck) for permutation in group])
        lowest = images.min(axis=0).astype(np.int64)
        is_live = ~hands_of(deck).blocked(board)
        hand, numbers = np.unique(lowest[is_live], return_inverse=True)
        private_of_hand = np.full(is_live.size, -1)
        private_of_hand[is_live] = numbers
        pairs = self._pairs[np.ix_(is_live, is_live)] * (count / self._count_ways(len(board)))
        joint = _merge_pairs(pairs, numbers, hand.size)
        kept = self._boards[board] = MergedBoard(board, group, count, private_of_hand, hand, joint)
        return kept

    def _count_ways(self, num_cards: int) -> int:
        """Returns in how many ways boards are dealt from the first one on, both hands being known."""
        left = self.spot.deck.num_cards - len(self.spot.board) - 4
        ways, dealt = 1, len(self.spot.board)
        for size in (street.num_board_cards for street in Street):
            if dealt < size <= num_cards:
                ways *= math.comb(left, size - dealt)
                left, dealt = left - (size - dealt), size
        return ways

    def _deals(self, state: MergedState) -> tuple[PublicEdge[MergedState], ...]:
        """Returns one edge per board that can follow."""
        above = self.board(state.board)
        betting = next_street(self.rules, state.betting)
        end = "/" if betting.stage is Stage.DEAL else ""
        edges = []
        for below in self._follow(above):
            dealt = format_board(below.board[len(above.board) :])
            child = MergedState(below.board, betting, f"{state.public}{dealt}:{end}")
            relation = Relation.pick(above.private_of_hand[below.hand])
            edges.append(PublicEdge(child, (relation, relation)))
        return tuple(edges)

    def _follow(self, above: MergedBoard) -> tuple[MergedBoard, ...]:
        """Returns the boards of the next street that stand for all that can follow."""
        if above.board not in self._following:
            street = next(one for one in Street if one.num_board_cards > len(above.board))
            left = [card for card in self.spot.deck.cards if card not in above.board]
            sets, counts = canonical_sets(left, street.num_board_cards - len(above.board), above.group)
            is_kept = find_stabilizers(above.group, sets)
            self._following[above.board] = tuple(
                [
                    self._keep((*above.board, *cards), above.group[kept], above.count * count)
                    for cards, count, kept in zip(sets.tolist(), counts.tolist(), is_kept, strict=True)
                ]
            )
        return self._following[above.board]

    def _showdown(self, board: tuple[int, ...]) -> Results:
        """Returns `[H, H]` the probability of pairs that player 0 wins, of those that split, and of those it loses."""
        merged = self.board(board)
        is_live = merged.private_of_hand >= 0
        numbers = merged.private_of_hand[is_live]
        strength = evaluate_boards([board], self.spot.deck)[0][is_live].astype(np.int64)
        order = np.sign(strength[:, None] - strength)
        pairs = self._pairs[np.ix_(is_live, is_live)] * (merged.count / self._count_ways(len(board)))
        wins, ties, losses = (
            _merge_pairs(np.where(order == result, pairs, 0.0), numbers, merged.num_private) for result in (1, 0, -1)
        )
        return wins, ties, losses

    def _actions(self, betting: BettingState) -> tuple[int, ...]:
        if betting not in self._known_actions:  # every board asks again
            self._known_actions[betting] = menu_actions(self.rules, self.spot.menu, betting)
        return self._known_actions[betting]


def _merge_pairs(pairs: FloatArray, numbers: LongArray, size: int) -> FloatArray:
    """Returns `[size, size]` pairs `[hands, hands]` summed over the hands of the same number."""
    rows = np.zeros((size, len(pairs)))
    np.add.at(rows, numbers, pairs)
    merged = np.zeros((size, size))
    np.add.at(merged, numbers, rows.T)
    return merged.T


def _stakes(betting: BettingState) -> tuple[int, int, int]:
    """Returns what a showdown brings player 0 if it wins, splits and loses."""
    win, tie, loss = (payoffs(betting, strengths)[0] for strengths in ((1, 0), (0, 0), (0, 1)))
    return win, tie, loss
