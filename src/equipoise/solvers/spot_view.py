# SPDX-License-Identifier: Apache-2.0
"""What a solved spot does at one place: who acts, with which hands, and how.

Reads a table of strategies, in memory or in a file, only along the line that leads to the place.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.games.holdem.betting_tree import DEALING, NO_PARENT, BettingNode, NodeKind
from equipoise.games.holdem.equity import compute_equity
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.isomorphism import find_symmetries, fix_card, hand_permutation, next_cards, permute_cards
from equipoise.games.holdem.line_notation import Line, format_line, name_actions, parse_line
from equipoise.games.holdem.ranges import Range
from equipoise.trees.holdem import CellTable, HoldemTree

__all__ = ["NodeView", "find_board", "view_node"]

FloatArray = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NodeView:
    """A decision on a board; arrays over all hands of the deck."""

    tree: HoldemTree
    line: Line
    player: int  # who acts
    actions: tuple[str, ...]  # as `line_notation` writes them
    reach: tuple[FloatArray, FloatArray]  # [H] by player: weight in the range times how often its own play leads here
    strategy: FloatArray  # [H, A] of who acts; NaN for hands that are not in the range or blocked by the board

    @property
    def text(self) -> str:
        """Returns the line as text."""
        return format_line(self.tree.betting, self.line)

    @property
    def weights(self) -> FloatArray:
        """Returns `[H]` how likely each of the actor's hands is here, up to a factor: reach of both players."""
        hands = hands_of(self.tree.spot.deck)
        return self.reach[self.player] * hands.compatible(self.reach[1 - self.player])

    @property
    def frequencies(self) -> FloatArray:
        """Returns `[A]` how often each action is taken; NaN where nobody comes."""
        weights = self.weights
        total = weights.sum()
        if total <= 0:
            return np.full(len(self.actions), np.nan)
        shares: FloatArray = weights @ np.nan_to_num(self.strategy) / total
        return shares

    @property
    def equities(self) -> FloatArray:
        """Returns `[2, H]` the share of the pot that each hand wins if nobody bets again; NaN for hands not here."""
        if self.weights.sum() <= 0:
            return np.full((2, self.strategy.shape[0]), np.nan)
        deck = self.tree.spot.deck
        # an equity does not mind the scale of weights, and products of small ones may underflow
        held = [Range(own / own.max(), deck) for own in self.reach]
        return compute_equity(held[0], held[1], self.line.board, deck).hand_equities


def view_node(tree: HoldemTree, table: CellTable, line: Line | str) -> NodeView:
    """Returns what is played at a place.

    Args:
        tree: the spot.
        table: what both players play in proportion to, over the tree's cells.
        line: the place, or its text.
    """
    spot = tree.spot
    if isinstance(line, str):
        line = parse_line(line, tree.betting, spot.board, spot.deck)
    node = tree.betting.nodes[line.node]
    if node.kind is not NodeKind.DECISION:
        text = format_line(tree.betting, line)
        hint = "; add the next card, as in [7h]" if node.kind is NodeKind.STREET_END else ""
        raise ConfigError(f"nobody acts after {text!r}, it is a {node.kind.value}{hint}")
    blocked = hands_of(spot.deck).blocked(line.board)
    reach = [np.where(blocked, 0.0, spot.ranges[player].weights) for player in (0, 1)]
    for above, below in itertools.pairwise(_path(tree, node)):
        if below.action != DEALING:
            shares = _strategy(tree, table, above, line.board)[:, above.actions.index(below.action)]
            reach[above.state.actor] *= np.nan_to_num(shares)
    return NodeView(
        tree=tree,
        line=line,
        player=node.state.actor,
        actions=name_actions(tree.betting, node.index),
        reach=(reach[0], reach[1]),
        strategy=_strategy(tree, table, node, line.board),
    )


def find_board(tree: HoldemTree, cards: Sequence[int]) -> tuple[int, npt.NDArray[np.int32]]:
    """Returns the tree's board that stands for cards, and `[H]` which hand there stands for each hand here."""
    spot = tree.spot
    numbers = {board: index for index, board in enumerate(tree.boards)}
    board, relabelling = spot.board, np.arange(4, dtype=np.uint8)
    group = find_symmetries(spot.board, spot.ranges, spot.deck)
    for dealt in cards[len(spot.board) :]:
        card = int(permute_cards(dealt, relabelling))
        if (*board, card) not in numbers:
            following = next_cards(board, group, spot.deck)
            place = int(np.flatnonzero(following.cards == card)[0])
            relabelling = following.permutations[place][relabelling]
            card = int(following.representatives[place])
        board, group = (*board, card), fix_card(group, card)
    return numbers[board], hand_permutation(relabelling, spot.deck)


def _path(tree: HoldemTree, node: BettingNode) -> list[BettingNode]:
    """Returns the nodes from the root to a node."""
    path = [node]
    while path[-1].parent != NO_PARENT:
        path.append(tree.betting.nodes[path[-1].parent])
    return path[::-1]


def _strategy(tree: HoldemTree, table: CellTable, node: BettingNode, cards: Sequence[int]) -> FloatArray:
    """Returns `[H, A]` what all hands play at a decision, NaN for those that cannot be there."""
    dealt = cards[: node.state.street.num_board_cards]
    board, stand_in = find_board(tree, dealt)
    num_hands = tree.spot.deck.num_hands
    there = np.full((num_hands, len(node.actions)), np.nan)
    there[tree.hands[board][node.state.actor]] = tree.normalize(table, board, node.index)
    here: FloatArray = there[stand_in]
    here[hands_of(tree.spot.deck).blocked(cards)] = np.nan
    return here
