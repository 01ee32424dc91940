# SPDX-License-Identifier: Apache-2.0
"""What a search in hold'em begins with and ends with: the strategy so far, from somewhere in a hand on, and a result.

Values by hand are given that it is held, in chips won since the hand began; hands are numbered as in the deck.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt

from equipoise.games.holdem.betting_tree import NO_PARENT, BettingNode, BettingTree, NodeKind
from equipoise.games.holdem.hands import hands_of
from equipoise.trees.holdem.places import HoldemPlace, HoldemStrategy
from equipoise.trees.holdem.tree import HoldemTree

__all__ = ["Board", "HoldemResult", "HoldemStage"]

FloatArray = npt.NDArray[np.float64]
Board = tuple[int, ...]  # cards


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HoldemStage:
    """What is played from somewhere on: the root of its policy's betting."""

    policy: HoldemStrategy
    reach: tuple[FloatArray, FloatArray]  # [H] both players' there
    gifts: FloatArray  # [H] what each of the opponent's hands gave away before

    @property
    def betting(self) -> BettingTree:
        """Returns the bets that it knows."""
        return self.policy.tree.betting

    def reach_at(self, node: int, board: Board) -> tuple[FloatArray, FloatArray]:
        """Returns `[H]` both players' reaches of a node of the betting, without the hands that the board blocks."""
        reach = [own.copy() for own in self.reach]
        for above, below in self.path(node):
            strategy = self.policy.probabilities(HoldemPlace(above.index, board[: above.state.street.num_board_cards]))
            reach[above.state.actor] *= strategy[:, above.children.index(below)]
        blocked = hands_of(self.policy.tree.spot.deck).blocked(board)
        for own in reach:
            own[blocked] = 0.0
        return reach[0], reach[1]

    def path(self, node: int) -> list[tuple[BettingNode, int]]:
        """Returns the decisions above a node, first to last, each with the node that its action led to."""
        found = []
        below = self.betting.nodes[node]
        while below.parent != NO_PARENT:
            above = self.betting.nodes[below.parent]
            if above.kind is NodeKind.DECISION:
                found.append((above, below.index))
            below = above
        return found[::-1]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HoldemResult:
    """What a search in hold'em found."""

    searcher: int
    stage: HoldemStage
    node: int  # of its betting, where play is: the root, but behind an unknown action that was solved from before it on
    tree: HoldemTree
    alternative: FloatArray  # [H] what staying out was worth to the opponent, gifts included; zeros if unsafe
    value: FloatArray  # [H] what its best response earns now
    possible: npt.NDArray[np.bool_]  # [H] what the opponent can hold

    @property
    def num_bytes(self) -> int:
        """Returns about what keeping it takes."""
        return self.tree.arrays.num_bytes + 4 * self.tree.arrays.num_cells

    @property
    def margin(self) -> FloatArray:
        """Returns `[H]` how much less than its alternative every hand of the opponent can get now."""
        return self.alternative - self.value

    @property
    def least_margin(self) -> float:
        """Returns the least margin of the hands that the opponent can hold."""
        return float(self.margin[self.possible].min())

    def opponent_weights(self) -> FloatArray:
        """Returns `[H]` how likely the opponent's hands are, as far as its strategy so far says."""
        reach, opponent = self.stage.reach, 1 - self.searcher
        own = reach[opponent] if reach[opponent].any() else self.possible.astype(np.float64)
        odds = own * hands_of(self.tree.spot.deck).compatible(reach[self.searcher]) * self.possible
        weights: FloatArray = odds / odds.sum() if odds.sum() > 0 else odds
        return weights

    def responses(self) -> tuple[float, float]:
        """Returns what the opponent's best response earns over its hands, before (0 if unsafe) and now."""
        weights = self.opponent_weights()
        return float(weights @ (self.alternative - self.stage.gifts)), float(weights @ self.value)
