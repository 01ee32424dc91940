# SPDX-License-Identifier: Apache-2.0
"""Trees as responses read them, whatever their layout: strategies, plans, what a player faces, and learners.

A strategy `[Q]` is a table of what both players do. A plan `[C]` is own reach under a strategy: plans are what is mixed
and averaged. What a player faces is all that the other's plan does to it. Nothing else of the responses knows layouts.
"""

from __future__ import annotations

import abc
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.core.formatting import show_given
from equipoise.games.holdem.betting import payoffs
from equipoise.games.holdem.betting_tree import NodeKind
from equipoise.kernels.arithmetic import dot
from equipoise.kernels.history import HistoryKernel
from equipoise.kernels.holdem.arrays import TILE
from equipoise.kernels.holdem.play import HoldemPlay, Trust
from equipoise.kernels.holdem.sweeps import HoldemKernel
from equipoise.kernels.sweeps import SweepKernel
from equipoise.solvers.best_response import bind_kernel
from equipoise.solvers.payoffs import find_scales
from equipoise.solvers.rules import Rule, tabulate_discounts
from equipoise.trees.history import HistoryTree
from equipoise.trees.holdem.tree import HoldemTree
from equipoise.trees.public import PublicTree

__all__ = ["BoardForm", "PlayForm", "PlayTree", "SequenceForm", "Table", "Updates", "bind_form"]

FloatArray = npt.NDArray[np.float64]
Table: TypeAlias = npt.NDArray[Any]  # of floats
PlayTree: TypeAlias = HistoryTree | PublicTree | HoldemTree


class Updates(NamedTuple):
    """Updates of a learner, one after the other against the same opponent."""

    rule: Rule
    discounts: FloatArray  # [B, 6] as `tabulate_discounts` has them
    first_t: int  # index of the first, from 1

    @classmethod
    def tabulate(cls, rule: Rule, first_t: int, num_updates: int) -> Updates:
        """Returns so many updates by a rule."""
        return cls(rule, tabulate_discounts(rule, first_t, num_updates), first_t)


class PlayForm(abc.ABC):
    """A tree of two players as responses read it."""

    label: str  # of the game
    num_nodes: int  # histories or public states
    num_table_cells: int  # Q
    kernel: Any  # of the layout
    tree: Any  # a `PlayTree`
    table_cells: tuple[Any, Any]  # by seat, an index of strategies `[Q]`
    own_cells: tuple[Any, Any]  # by seat, an index of plans `[C]`

    @property
    @abc.abstractmethod
    def utility_range(self) -> float:
        """Returns the distance between the largest and the smallest utility."""

    @abc.abstractmethod
    def uniform(self) -> Table:
        """Returns `[Q]` all actions alike."""

    @abc.abstractmethod
    def realize(self, strategy: Table) -> Table:
        """Returns `[C]` the plans of both players."""

    @abc.abstractmethod
    def play(self, plan: Table) -> Table:
        """Returns `[Q]` a strategy whose plans are in proportion to these `[C]`."""

    @abc.abstractmethod
    def face(self, plan: Table, seat: int, *, num_threads: int = 1) -> Table:
        """Returns what the player in `seat` faces, given the other's plan in `plan` `[C]`."""

    @abc.abstractmethod
    def earn(self, plan: Table, seat: int, facing: Table) -> float:
        """Returns what the plan of the player in `seat` earns."""

    @abc.abstractmethod
    def best_response(self, plan: Table, seat: int, *, num_threads: int = 1) -> tuple[float, Table]:
        """Returns the best that the player in `seat` can earn against a plan `[C]`, and how: a pure strategy `[Q]`."""

    @abc.abstractmethod
    def biased_response(self, strategy: Table, seat: int, model: Table, trust: Table) -> Table:
        """Returns `[Q]` the best answer that follows a model `[Q]` with a probability `[I]` of every row."""

    @abc.abstractmethod
    def row_totals(self, counts: Table) -> Table:
        """Returns `[I]` the sum of a table `[Q]` over the actions of each information set, or hand's decision."""

    def allocate(self, rule: Rule, dtype: npt.DTypeLike | None = None) -> Any:
        """Returns the tables of a learner that has not begun; by default of the layout's usual dtype."""
        chosen = self.kernel.dtypes[0] if dtype is None else np.dtype(dtype)
        if isinstance(self.kernel, HoldemKernel) and chosen == np.int16:
            raise ConfigError("learners against a response need `precision` float32 or float64, got int16")
        self.kernel.check_run(rule.kernel, chosen, name=rule.name, threshold=rule.discounts(1).threshold)
        tables = self.kernel.allocate_tables(rule.kernel, chosen, find_scales(self.tree, rule.kernel))
        self.kernel.begin(tables)
        return tables

    @abc.abstractmethod
    def learn(self, updates: Updates, tables: Any, seat: int, facing: Table, *, num_threads: int = 1) -> FloatArray:
        """Updates the part of the player in `seat` by some updates; returns `[B]` what it earned in each."""

    @abc.abstractmethod
    def current(self, rule: Rule, tables: Any, *, has_played: bool) -> Table:
        """Returns `[Q]` what a learner plays next."""

    def average(self, tables: Any) -> Table:
        """Returns `[Q]` own reach that a learner has summed up, or what is in proportion to it."""
        sums: Table = tables.strategy_sum
        return sums

    def value(self, profile: Table, seat: int) -> float:
        """Returns what the player in `seat` earns under a profile `[Q]`."""
        plan = self.realize(profile)
        return self.earn(plan, seat, self.face(plan, seat))

    def answer(self, strategy: Table, seat: int, *, num_threads: int = 1) -> tuple[float, Table]:
        """Returns the value of the best response to what the other plays in `strategy` `[Q]`, and it as `[Q]`."""
        return self.best_response(self.realize(strategy), seat, num_threads=num_threads)

    def combine(self, strategy: Table, answer: Table, seat: int) -> Table:
        """Returns `[Q]` a profile: `answer` for the player in `seat`, `strategy` for the other."""
        profile = strategy.copy()
        profile[self.table_cells[seat]] = answer[self.table_cells[seat]]
        return profile


class SequenceForm(PlayForm):
    """A history tree or a public tree: plans are reaches of all cells, and a player faces values of terminals."""

    tree: HistoryTree | PublicTree
    kernel: SweepKernel

    def __init__(self, tree: HistoryTree | PublicTree) -> None:
        if not isinstance(tree, HistoryTree | PublicTree):
            raise ConfigError(
                f"a response is over the tree of a game, such as build_history_tree(game), got {show_given(tree)}"
            )
        if tree.num_players != 2:
            raise ConfigError(f"responses are for games of two players, and {tree.game_label} has {tree.num_players}")
        if not tree.is_zero_sum:
            raise ConfigError(f"responses are for zero-sum games, and {tree.game_label} is not")
        self.tree, self.label = tree, tree.game_label
        self.kernel = bind_kernel(tree)
        self.num_nodes, self.num_table_cells = tree.num_nodes, self.kernel.num_table_cells
        self.own_cells = np.flatnonzero(self.kernel.is_own(0)), np.flatnonzero(self.kernel.is_own(1))
        empty = tree.sequence_start[:-1] if isinstance(tree, HistoryTree) else ()
        first, second = (
            np.setdiff1d(cells[cells < self.num_table_cells], empty, assume_unique=True) for cells in self.own_cells
        )
        self.table_cells = first, second

    @property
    def utility_range(self) -> float:
        """Returns the distance between the largest and the smallest utility."""
        return self.tree.utility_range

    def uniform(self) -> Table:
        """Returns `[Q]` all actions alike."""
        return self.kernel.normalize(np.zeros(self.num_table_cells))

    def realize(self, strategy: Table) -> Table:
        """Returns `[C]` the reaches of both players."""
        return self.kernel.realize(strategy)

    def play(self, plan: Table) -> Table:
        """Returns `[Q]` the probabilities of plans `[C]`, or of their first Q numbers."""
        return self.kernel.normalize(np.ascontiguousarray(plan[: self.num_table_cells]))

    def face(self, plan: Table, seat: int, *, num_threads: int = 1) -> Table:
        """Returns `[C]` counterfactual values of the terminals right below each of the player's cells."""
        return self.kernel.terminal_values(seat, plan, num_threads=num_threads)

    def earn(self, plan: Table, seat: int, facing: Table) -> float:
        """Returns the product of a plan and the values of terminals."""
        cells = self.own_cells[seat]
        return dot(plan[cells], facing[cells])

    def best_response(self, plan: Table, seat: int, *, num_threads: int = 1) -> tuple[float, Table]:
        """Returns the value of the best response to a plan `[C]`, and it as a pure strategy `[Q]`."""
        reach = plan.copy()
        own = self.own_cells[seat]
        reach[own] = self.kernel.root_reach()[own]
        return self.kernel.best_response(seat, reach, num_threads=num_threads)

    def biased_response(self, strategy: Table, seat: int, model: Table, trust: Table) -> Table:
        """Returns `[Q]` the best answer that follows a model `[Q]` with a probability `[I]`; on history trees."""
        if not isinstance(self.kernel, HistoryKernel):
            raise ConfigError("data-biased responses need single histories or hold'em hands, got a public tree")
        return self.kernel.biased_response(seat, self.realize(strategy), model, trust)[1]

    def row_totals(self, counts: Table) -> Table:
        """Returns `[I]` the sum of a table `[Q]` over the actions of each information set; on history trees."""
        if not isinstance(self.tree, HistoryTree):
            raise ConfigError("counts need single histories or hold'em hands, got a public tree")
        first = self.tree.first_sequence
        total = np.append(0.0, np.cumsum(counts))
        totals: Table = total[first + self.tree.num_actions] - total[first]
        return totals

    def learn(self, updates: Updates, tables: Any, seat: int, facing: Table, *, num_threads: int = 1) -> FloatArray:
        """Updates one player; what it faces has the work of threads in it already."""
        rule, discounts, first_t = updates
        return self.kernel.learn(rule.kernel, discounts, tables, seat, facing, first_t=first_t)

    def current(self, rule: Rule, tables: Any, *, has_played: bool) -> Table:
        """Returns `[Q]` a copy of the strategy that tables keep."""
        strategy: Table = tables.strategy.copy()
        return strategy


class BoardForm(PlayForm):
    """A hold'em tree: plans are tables like any other, and a player faces the other's."""

    tree: HoldemTree
    kernel: HoldemKernel

    def __init__(self, tree: HoldemTree, *, kernel: HoldemKernel | None = None) -> None:
        """Binds a tree; a kernel may bring locks, to which everybody keeps."""
        if tree.spot.rake_rate:
            raise ConfigError("responses are for zero-sum games, and a spot with rake is not")
        self.tree, self.label = tree, tree.spot.name
        self.kernel = kernel or bind_kernel(tree)
        self.hands = HoldemPlay(self.kernel)
        self.num_nodes, self.num_table_cells = tree.num_nodes, tree.arrays.num_cells
        owner = np.zeros(self.num_table_cells, np.bool_)
        for run in self.tree.arrays.own_cells(1):
            owner[run] = True
        self.table_cells = self.own_cells = ~owner, owner

    @property
    def utility_range(self) -> float:
        """Returns the distance between the largest and the smallest utility, in chips."""
        return measure_range(self.tree)

    def uniform(self) -> Table:
        """Returns `[C]` nothing, which is played as all actions alike."""
        return np.zeros(self.num_table_cells, np.float32)

    def realize(self, strategy: Table) -> Table:
        """Returns `[C]` own reach of every action."""
        return self.hands.realize(strategy)

    def play(self, plan: Table) -> Table:
        """Returns the plan itself: tables are played in proportion."""
        return plan

    def face(self, plan: Table, seat: int, *, num_threads: int = 1) -> Table:
        """Returns the plan itself: sweeps read it."""
        return plan

    def earn(self, plan: Table, seat: int, facing: Table) -> float:
        """Returns chips per hand."""
        own = plan.astype(facing.dtype, copy=False)
        return self.tree.mean_value(seat, self.hands.values(seat, own, facing))

    def best_response(self, plan: Table, seat: int, *, num_threads: int = 1) -> tuple[float, Table]:
        """Returns the value of the best response to a plan `[C]` in chips per hand, and it as a pure strategy `[C]`."""
        values, best = self.hands.best_response(seat, plan, num_threads=num_threads)
        return self.tree.mean_value(seat, values), best

    def biased_response(self, strategy: Table, seat: int, model: Table, trust: Table) -> Table:
        """Returns the best answer `[C]` that follows a model `[C]` with probability `[R]` at each hand's decision."""
        given = Trust(
            model=self.hands.normalize(model.astype(strategy.dtype, copy=False)),
            weight=trust.astype(strategy.dtype, copy=False),
        )
        return self.hands.best_response(seat, strategy, trust=given)[1]

    def row_totals(self, counts: Table) -> Table:
        """Returns `[R]` the sum of a table `[C]` over the actions of each hand's decision."""
        parts = [
            np.add.reduceat(counts[run].reshape(-1, cells, TILE), first, axis=1).ravel()
            for run, cells, first in self._decisions()
        ]
        return np.concatenate(parts)

    def spread_rows(self, rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Returns `[C]` numbers of hands' decisions `[R]` at each of their actions."""
        out = np.zeros(self.num_table_cells, rows.dtype)
        start = 0
        for run, cells, first in self._decisions():
            num_tiles = (run.stop - run.start) // (cells * TILE)
            here = rows[start : start + num_tiles * first.size * TILE].reshape(num_tiles, -1, TILE)
            counts = np.diff(np.append(first, cells))
            out[run] = np.repeat(here, counts, axis=1).ravel()
            start += here.size
        return out

    def _decisions(self) -> Iterator[tuple[slice, int, npt.NDArray[np.intp]]]:
        """Yields for each board and player its cells, how many a hand has, and the first of each decision."""
        for run, nodes in self.tree.arrays.table_blocks():
            if nodes.size:
                first_cell, num_actions, _ = nodes.T
                yield run, int(num_actions.sum()), first_cell.astype(np.intp)

    def learn(self, updates: Updates, tables: Any, seat: int, facing: Table, *, num_threads: int = 1) -> FloatArray:
        """Updates one player, a sweep each time."""
        rule, discounts, first_t = updates
        other = facing.astype(tables.regret_sum.dtype, copy=False)
        values = self.hands.learn(rule.kernel, discounts, tables, seat, other, first_t=first_t, num_threads=num_threads)
        return np.array([self.tree.mean_value(seat, row) for row in values])

    def current(self, rule: Rule, tables: Any, *, has_played: bool) -> Table:
        """Returns `[C]` the probabilities that regrets make."""
        return self.hands.current_strategy(rule.kernel, tables, has_played=has_played)

    def value(self, profile: Table, seat: int) -> float:
        """Returns chips per hand."""
        return self.earn(profile, seat, profile)

    def answer(self, strategy: Table, seat: int, *, num_threads: int = 1) -> tuple[float, Table]:
        """Returns the best response to a strategy, for which its plan is not needed."""
        return self.best_response(strategy, seat, num_threads=num_threads)


def bind_form(tree: PlayTree) -> PlayForm:
    """Returns a tree as responses read it."""
    return BoardForm(tree) if isinstance(tree, HoldemTree) else SequenceForm(tree)


def measure_range(tree: HoldemTree) -> float:
    """Returns the distance between the largest and the smallest utility of a spot without rake, in chips."""
    won: list[float] = []
    for node in tree.betting.nodes:
        if node.kind in (NodeKind.FOLD, NodeKind.SHOWDOWN):
            won += [value for winner in ((1, 0), (0, 1)) for value in payoffs(node.state, winner)]
    return max(won) - min(won)
