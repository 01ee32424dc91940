# SPDX-License-Identifier: Apache-2.0
"""Subgames of hold'em: the spot that begins where a search does.

Hands are numbered as in the deck. Counterfactual values and masses are on the scale of the tree, on which each player's
range sums to 1. The opponent of a safe search has every hand that it can hold: its weights are the gate's business.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from equipoise.core.formatting import brief_repr
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.kernels.frontier import Frontier
from equipoise.kernels.holdem.leaves import HoldemLeaves
from equipoise.kernels.holdem.sweeps import HoldemKernel
from equipoise.kernels.vector import VectorKernel
from equipoise.search.holdem.leaves import bind_lines
from equipoise.search.leaves import LeafEvaluator
from equipoise.search.profiles import Table
from equipoise.trees.holdem.places import HoldemPlace
from equipoise.trees.holdem.tree import HoldemTree, plan_first_street

__all__ = ["HoldemSubgame"]

FloatArray = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class HoldemSubgame:
    """What is played from a place of a profile on."""

    place: HoldemPlace
    tree: HoldemTree
    reach: tuple[FloatArray, FloatArray]  # [H] both players' there, as far as the strategy so far says
    line: tuple[int, ...] = ()  # actions from the beginning of the hand to the root
    outer: Mapping[int, int]  # the decision of the profile's betting that each of the tree's is; others are new
    sums: Table | None = None  # [C] what both players play in proportion to so far; None: nothing is known
    frontier: HoldemLeaves | Frontier | None = None  # of a tree that is one street alone
    whole: HoldemSubgame | None = None  # to the end of the hand, if this one is one street alone
    num_threads: int = 1
    given_kernel: VectorKernel | None = None  # of the tree with its leaves, if it is not to be the native module's

    __repr__ = brief_repr

    @classmethod
    def of_tree(
        cls, tree: HoldemTree, sums: Table | None = None, *, frontier: HoldemLeaves | Frontier | None = None
    ) -> HoldemSubgame:
        """Returns a whole spot as a subgame; its ranges are the reaches, and must have all that players may hold."""
        reach = np.array(tree.spot.live_weights(0)), np.array(tree.spot.live_weights(1))
        outer = {node: node for node in tree.decisions}
        return cls(place=tree.root_place, tree=tree, reach=reach, outer=outer, sums=sums, frontier=frontier)

    @functools.cached_property
    def kernel(self) -> VectorKernel:
        """Returns the tree as a solver iterates it: in the native module, unless a kernel was given."""
        return self.given_kernel or HoldemKernel(self.tree.arrays, leaves=self.frontier)

    @functools.cached_property
    def strategy(self) -> Table:
        """Returns `[C]` what both players play in proportion to so far, alike where nothing is known."""
        return np.zeros(self.tree.arrays.num_cells, np.float32) if self.sums is None else self.sums

    def mass(self, player: int) -> FloatArray:
        """Returns `[H]` the other's range, summing to 1, less the hands that share a card with each of a player's."""
        tree = self.tree
        other = tree.arrays.root_reach[1 - player]
        numbers, others = tree.hands[0][player], tree.hands[0][1 - player]
        cards = np.asarray(hands_of(tree.spot.deck).cards)
        of_card = np.zeros(int(cards.max()) + 1)
        np.add.at(of_card, cards[others], other[: others.size, None])
        same = np.zeros(len(cards))
        same[others] = other[: others.size]
        mass = np.zeros(tree.spot.deck.num_hands)
        mass[numbers] = other.sum() - of_card[cards[numbers]].sum(axis=1) + same[numbers]
        mass[mass < 1e-12] = 0.0  # sums that cancel
        return mass

    def best_values(self, player: int, strategy: Table) -> FloatArray:
        """Returns `[H]` what a player's best response earns at the root against the other's strategy `[C]`."""
        return self._values(player, strategy, is_best=True)

    def strategy_values(self, player: int, own: Table, strategy: Table) -> FloatArray:
        """Returns `[H]` what a player's own strategy `[C]` earns at the root against the other's strategy `[C]`."""
        table = strategy if own is strategy else self._combine(player, own, strategy)
        return self._values(player, table, is_best=False)

    def _values(self, player: int, table: Table, *, is_best: bool) -> FloatArray:
        out = np.zeros(self.tree.spot.deck.num_hands)
        rows = self.kernel.values(table, is_best=is_best, num_threads=self.num_threads)[player]
        out[self.tree.hands[0][player]] = rows
        return out

    def to_rows(self, player: int, values: FloatArray) -> FloatArray:
        """Returns numbers of a player's hands `[H]` in the order in which the kernel has those of the root."""
        return np.ascontiguousarray(values[self.tree.hands[0][player]])

    @property
    def root_reach(self) -> None:
        """Returns nothing: ranges are the tree's."""
        return None

    def finish(self, sums: Table) -> Table:
        """Returns `[C]` the sums themselves: hands play in proportion to them."""
        return sums

    def _combine(self, player: int, own: Table, other: Table) -> Table:
        """Returns `[C]` what a player does in `own` and the other player in `other`."""
        out = other.copy()
        for cells in self.tree.arrays.own_cells(player):
            out[cells] = own[cells]
        return out

    def end_with_street(self, spot: HoldemSpot, evaluator: LeafEvaluator) -> HoldemSubgame:
        """Returns the first street alone, the lines that leave it valued before the next cards.

        Args:
            spot: with the ranges of the search.
            evaluator: what lines are worth.
        """
        tree = plan_first_street(spot, betting=self.tree.betting).build()
        return dataclasses.replace(
            self,
            tree=tree,
            sums=None,
            frontier=bind_lines(tree, self.line, evaluator),
            whole=self,
        )

    def complete(self, found: Table) -> tuple[HoldemSubgame, Table]:
        """Returns the subgame to the end of the hand, and `[C]` what is played in it once this one was searched."""
        if self.whole is None:
            return self, found
        whole, out = self.whole, self.whole.strategy.copy()
        for inner, decision in self.tree.decisions.items():
            kept = np.zeros((self.tree.spot.deck.num_hands, decision.num_actions))
            kept[self.tree.hands[0][decision.player]] = self.tree.normalize(found, 0, inner)
            out[whole.tree.cells(0, inner)] = kept[whole.tree.hands[0][decision.player]]
        return whole, out

    @property
    def num_bytes(self) -> int:
        """Returns about what keeping it and a strategy takes."""
        return self.tree.arrays.num_bytes + 4 * self.tree.arrays.num_cells
