# SPDX-License-Identifier: Apache-2.0
"""Hands of a hold'em tree that play by bucket: learners and responders that see less than their opponents.

The tree keeps every hand; tables of buckets stand beside it. What a bucket's actions are worth is the sum over its
hands, each with the chance of its cards, so that a player in buckets meets one with all hands, or with other buckets.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.kernels.holdem.arrays import TILE
from equipoise.kernels.rules import Fallback, PolicyMap
from equipoise.responses.forms import BoardForm, Table, Updates
from equipoise.responses.on_tree import OnTree
from equipoise.solvers.rules import Rule
from equipoise.trees.holdem.bucketed import BucketAssigner, BucketedTree, build_bucketed_tree
from equipoise.trees.holdem.tree import Decision, HoldemTree

__all__ = ["BucketBestResponse", "BucketForm", "BucketLearnerTables", "HandBuckets"]

FloatArray = npt.NDArray[np.float64]
LongArray = npt.NDArray[np.int64]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class BucketLearnerTables:
    """The tables of a learner over rows of buckets, as `BucketedTree` lays them out."""

    regret_sum: FloatArray  # [C of buckets]
    strategy_sum: FloatArray  # [C of buckets] weighted by own reach
    last_regret: FloatArray  # [C of buckets], or [0] for rules that are not optimistic


class HandBuckets:
    r"""Which cells of a hold'em tree share a row of buckets, and with what weight.

    >>> from equipoise.abstraction import Percentile, build_buckets
    >>> from equipoise.runs import load_spot
    >>> from equipoise.trees import build_holdem_tree
    >>> text = "deck = 'royal'\nboard = 'AsKsThQd'\npot = 4\nstacks = 4\nranges = {oop = 'JJ, AT', ip = 'QQ, KJ'}"
    >>> spot = load_spot(text).spot
    >>> assigner = build_buckets(Percentile(), spot.deck, sizes=(None, 4, 4, 4))
    >>> buckets = HandBuckets(build_holdem_tree(spot), assigner)
    >>> len(list(buckets.decisions(0)))
    4
    """

    def __init__(self, tree: HoldemTree, assigner: BucketAssigner) -> None:
        """Assigns a bucket to every hand on every board; suits that the tree merges must be merged by buckets too."""
        self.tree = tree
        self.buckets: BucketedTree = build_bucketed_tree(tree.spot, assigner)
        if self.buckets.decisions != tree.decisions:
            raise ConfigError("buckets are for trees that begin where their spot does, with its menu")
        self.num_cells = self.buckets.rows.num_cells
        self.cell_of: LongArray = np.zeros(tree.arrays.num_cells, np.int64)
        self.weight: FloatArray = np.zeros(tree.arrays.num_cells)  # 0 where a table is padded
        self.remembers = True  # whether a hand's bucket tells those of earlier streets
        self._assign()

    def _assign(self) -> None:
        tree, above = self.tree, [-1] * len(self.tree.boards)
        chance, bucket_of = [1.0] * len(tree.boards), []
        known: list[dict[tuple[int, int], int]] = [{} for _ in self.buckets.streets]
        for index, cards in enumerate(tree.boards):
            fields = tree.arrays.board(index)
            buckets = self.buckets.buckets(cards)
            bucket_of.append(buckets)
            if above[index] >= 0:
                self._compare(known[fields.street], bucket_of[above[index]], buckets)
            for child in range(fields.first_child, fields.first_child + fields.num_children):
                above[child] = index
                chance[child] = chance[index] * self._deal_chance(fields.street) * tree.arrays.board(child).num_images
            for node, decision in tree.decisions.items():
                if decision.street == fields.street:
                    self._place(index, node, decision, buckets, chance[index])

    def _deal_chance(self, street: int) -> float:
        """Returns the chance of the cards that follow a street, given both hands."""
        arrays = self.tree.arrays
        first = 2 * TILE * int(arrays.street_field("flat_packs")[:street].sum())
        return float(arrays.flat_scale[first])

    def _compare(self, known: dict[tuple[int, int], int], before: Any, after: Any) -> None:
        """Takes note if hands of one bucket come from different ones."""
        held = after >= 0
        for came, bucket in set(zip(before[held].tolist(), after[held].tolist(), strict=True)):
            self.remembers &= known.setdefault((0, bucket), came) == came

    def _place(self, board: int, node: int, decision: Decision, buckets: Any, chance: float) -> None:
        hands = self.tree.hands[board][decision.player]
        cells = self.tree.cells(board, node)
        num_cells = self.buckets.arrays.street(decision.street).num_cells[decision.player]
        first = self.buckets.rows.first_cell[decision.street][decision.player]
        row = buckets[hands]
        start = first + row // TILE * (num_cells * TILE) + row % TILE
        self.cell_of[cells] = start[:, None] + TILE * (decision.first_cell + np.arange(decision.num_actions))
        own = self.tree.spot.live_weights(decision.player)
        self.weight[cells] = (chance * own[hands] / own.sum())[:, None]

    def decisions(self, player: int) -> Iterator[tuple[int, Decision]]:
        """Yields the decisions of a player, with how many of its own stand above each."""
        nodes = self.tree.betting.nodes
        depth: dict[int, int] = {}
        for node in nodes:  # parents first
            before = depth.get(node.parent, 0)
            parent = self.tree.decisions.get(node.parent)
            depth[node.index] = before + (parent is not None and parent.player == player)
            if node.index in self.tree.decisions and self.tree.decisions[node.index].player == player:
                yield depth[node.index], self.tree.decisions[node.index]

    def block(self, table: FloatArray, decision: Decision) -> FloatArray:
        """Returns `[tiles, A, TILE]` a decision's part of a table of buckets, a view."""
        num_cells = self.buckets.arrays.street(decision.street).num_cells[decision.player]
        first = self.buckets.rows.first_cell[decision.street][decision.player]
        num_rows = self.buckets.rows.num_rows[decision.street][decision.player]
        tiles = table[first : first + num_rows * num_cells].reshape(-1, num_cells, TILE)
        return tiles[:, decision.first_cell : decision.first_cell + decision.num_actions]

    def pool(self, table: Table) -> FloatArray:
        """Returns over buckets the weighted sums of a table `[C]` over hands."""
        return np.bincount(self.cell_of, table * self.weight, minlength=self.num_cells).astype(np.float64)

    def lift(self, table: FloatArray, dtype: npt.DTypeLike = np.float64) -> Table:
        """Returns `[C]` over hands what a table over buckets has."""
        return np.where(self.weight > 0, table[self.cell_of], 0.0).astype(dtype)

    def match(self, sums: FloatArray, fallback: Fallback = Fallback.UNIFORM) -> FloatArray:
        """Returns over buckets probabilities in proportion to what is positive; elsewhere as the fallback says."""
        out = np.zeros_like(sums)
        for decision in self.tree.decisions.values():
            here = self.block(sums, decision)
            positive = np.maximum(here, 0.0)
            total = positive.sum(axis=1, keepdims=True)
            shares = np.full(here.shape, 1.0 / decision.num_actions)
            if fallback is Fallback.ARGMAX:
                shares = _choose(here)
            self.block(out, decision)[:] = np.divide(positive, total, out=shares, where=total > 0)
        return out

    def best_response(self, form: BoardForm, plan: Table, seat: int, *, num_threads: int = 1) -> FloatArray:
        """Returns over buckets a pure answer to the other's plan `[C]`: values are pooled before actions are compared.

        A sweep for each of the player's decisions along a line, the last ones first: below them play is best already.
        Where buckets remember it is the best there is; where they forget, it is best given what they forget.
        """
        answer = np.zeros(self.num_cells)
        found = list(self.decisions(seat))
        for level in range(max((depth for depth, _ in found), default=-1), -1, -1):
            _, values = form.hands.action_values(seat, self.lift(answer, plan.dtype), plan, num_threads=num_threads)
            pooled = self.pool(values)
            for depth, decision in found:
                if depth == level:
                    self.block(answer, decision)[:] = _choose(self.block(pooled, decision))
        return answer


def _choose(values: FloatArray) -> FloatArray:
    """Returns `[tiles, A, TILE]` 1 at the first of the largest actions, 0 elsewhere."""
    chosen = np.zeros(values.shape)
    np.put_along_axis(chosen, values.argmax(axis=1, keepdims=True), 1.0, axis=1)
    return chosen


class BucketForm(BoardForm):
    """A hold'em tree on which the learner plays by bucket; what it faces has all hands."""

    def __init__(self, full: BoardForm, buckets: HandBuckets) -> None:
        if full.kernel.locks is not None:
            raise ConfigError("players in buckets have no locks: those are of hands")
        super().__init__(full.tree, kernel=full.kernel)
        self.buckets = buckets

    def allocate(self, rule: Rule, dtype: npt.DTypeLike | None = None) -> Any:
        """Returns the tables of a learner that has not begun, in float64 over buckets."""
        if rule.kernel.policy_map is not PolicyMap.REGRET_MATCHING or rule.discounts(1).threshold > 0:
            raise ConfigError(f"learners in buckets match regrets, got rule {rule.name}")
        size = self.buckets.num_cells
        return BucketLearnerTables(
            regret_sum=np.zeros(size),
            strategy_sum=np.zeros(size),
            last_regret=np.zeros(size if rule.kernel.is_optimistic else 0),
        )

    def learn(self, updates: Updates, tables: Any, seat: int, facing: Table, *, num_threads: int = 1) -> FloatArray:
        """Updates one player's buckets, a sweep over hands each time."""
        rule, discounts, first_t = updates
        earned = np.zeros(len(discounts))
        for update, (positive, negative, decay, weight, _, _) in enumerate(discounts.tolist()):
            strategy = self._match(rule, tables, has_played=first_t + update > 1)
            table = self.buckets.lift(strategy, facing.dtype)
            values, actions = self.hands.action_values(seat, table, facing, num_threads=num_threads)
            earned[update] = self.tree.mean_value(seat, values)
            plan = self.buckets.pool(self.hands.realize(table))
            self._update(rule, tables, seat, strategy, self.buckets.pool(actions), (positive, negative))
            own = self._own(seat)
            tables.strategy_sum[own] = decay * tables.strategy_sum[own] + weight * plan[own]
        return earned

    def _update(
        self,
        rule: Rule,
        tables: BucketLearnerTables,
        seat: int,
        strategy: FloatArray,
        values: FloatArray,
        discounts: tuple[float, float],
    ) -> None:
        for _, decision in self.buckets.decisions(seat):
            worth, played = self.buckets.block(values, decision), self.buckets.block(strategy, decision)
            gain = worth - (played * worth).sum(axis=1, keepdims=True)
            regret = self.buckets.block(tables.regret_sum, decision)
            regret[:] = regret * np.where(regret > 0, discounts[0], discounts[1]) + gain
            if rule.kernel.floors_regrets:
                np.maximum(regret, 0.0, out=regret)
            if rule.kernel.is_optimistic:
                self.buckets.block(tables.last_regret, decision)[:] = gain

    def _own(self, seat: int) -> npt.NDArray[np.bool_]:
        """Returns which cells of buckets are a player's."""
        own = np.zeros(self.buckets.num_cells, np.bool_)
        for _, decision in self.buckets.decisions(seat):
            self.buckets.block(own, decision)[:] = True  # type: ignore[arg-type]  # a view of any dtype
        return own

    def _match(self, rule: Rule, tables: BucketLearnerTables, *, has_played: bool) -> FloatArray:
        if not has_played:
            return self.buckets.match(np.zeros(self.buckets.num_cells))
        sums = tables.regret_sum + tables.last_regret if rule.kernel.is_optimistic else tables.regret_sum
        return self.buckets.match(sums, rule.kernel.fallback)

    def current(self, rule: Rule, tables: Any, *, has_played: bool) -> Table:
        """Returns `[C]` what every hand's bucket plays next."""
        return self.buckets.lift(self._match(rule, tables, has_played=has_played))

    def average(self, tables: Any) -> Table:
        """Returns `[C]` what every hand's bucket plays on average."""
        return self.buckets.lift(self.buckets.match(tables.strategy_sum))

    def best_response(self, plan: Table, seat: int, *, num_threads: int = 1) -> tuple[float, Table]:
        """Returns the value of the best answer in buckets to a plan `[C]`, and it over hands."""
        answer = self.buckets.best_response(self, plan, seat, num_threads=num_threads)
        best = self.buckets.lift(answer, plan.dtype)
        return self.earn(best, seat, plan), best


class BucketBestResponse(OnTree):
    """The best of the strategies on a hold'em tree that play alike with all hands of a bucket.

    Paper: [D15] 3.3 and 3.4, as `AbstractBestResponse`.
    Symbols: beta -> buckets.
    Departs from the paper: where buckets forget those of earlier streets, which its do not, nothing is claimed.
    Checked by: tests/responses/test_hand_buckets.py.
    """

    deterministic = True

    def __init__(self, full: BoardForm, buckets: HandBuckets, *, name: str = "abstract-best") -> None:
        super().__init__(BucketForm(full, buckets))
        self.name, self.is_pretty_good = name, buckets.remembers

    def respond(self, strategy: Table, seat: int, rng: np.random.Generator) -> Table:
        """Returns `[C]` a pure best response in buckets."""
        return self.combine(strategy, self.form.best_response(strategy, seat)[1], seat)
