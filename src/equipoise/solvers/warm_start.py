# SPDX-License-Identifier: Apache-2.0
"""Warm starts: from any strategy to the tables of a CFR run that has it as its average after T iterations.

`substitution` chooses T and lambda; this module writes the tables of `CFRSolver` (those of hold'em trees are in
`holdem.warm_start`), `pruned_warm_start` those of pruned runs.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from equipoise.core.memory import check_memory
from equipoise.kernels.public import TerminalGroups
from equipoise.kernels.sweeps import Substitutes
from equipoise.solvers.best_response import bind_kernel
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.holdem.warm_start import write_holdem_start
from equipoise.solvers.payoffs import payoff_ranges
from equipoise.solvers.substitution import (
    ROUNDING,
    TRACE,
    RegretBound,
    RunWeights,
    Substitution,
    WarmStart,
    WarmStartReport,
    check_zero_sum,
    choose_start,
)
from equipoise.trees.history import HistoryTree
from equipoise.trees.holdem.tree import HoldemTree
from equipoise.trees.public import PublicTree
from equipoise.trees.segments import flatten_ranges

__all__ = ["SubstituteRun", "compute_cf_reach", "substitute_run", "warm_start"]

FloatArray = npt.NDArray[np.float64]

PAIR_BYTES: Final = 80  # of a pair of private states at a terminal while it is listed for both players


def warm_start(solver: CFRSolver[Any], strategy: npt.NDArray[Any], config: WarmStart | None = None) -> WarmStartReport:
    """Overwrites a run with one that has `strategy` as its average after T iterations, and goes on at T + 1.

    Paper: Brown & Sandholm 2016, "Strategy-Based Warm Starting for Regret Minimization in Games"; Brown 2020, thesis
        section 3.2 [B20], for all numbers of equations and theorems here.
    Symbols: lambda -> bound_share; v'(I) -> row_value; R' -> regret_sum; sigma -> strategy; pi_-i(I) -> external reach.
    Departs from the paper: the sign in the equation of 3.2.4 is that of (3.6); lambda is the least that Theorem 6
        allows, within 1 % of nash_conv, for both players the same; `reach2` squares the reach in (3.6); regrets of
        exactly zero become 1e-30, so that lambda = 0 begins with best responses; discounted rules take the sums of
        their weights for T, and (sum of weights)^2 / (sum of squares) in (3.6). Theorem 6 covers plain CFR; under other
        rules it is a heuristic.
    Checked by: tests/solvers/test_warm_start.py.

    Args:
        solver: whose tables are overwritten; fresh or not.
        strategy: `[C]` of both players, in the tree's numbering: probabilities, or on hold'em trees what they are in
            proportion to, uniformly where there is nothing; there the run's own averages will do.
        config: how.
    """
    if isinstance(solver.tree, HoldemTree):
        return write_holdem_start(solver, strategy, config)
    tables, found = solver.tables, substitute_run(solver, strategy, config)
    tables.regret_sum[:] = found.scale_regrets()
    # in sequence form: mixing behaviour would weigh what is played by how often it is not met
    tables.strategy_sum[:] = np.where(found.is_played, found.weights.average * found.realization, 0.0)
    solver.begin_after(found.report.iterations, num_passes=found.report.num_passes)
    return found.report


class SubstituteRun(NamedTuple):
    """What T iterations have left behind that could have led to a strategy; means over them."""

    report: WarmStartReport
    weights: RunWeights
    floors_regrets: bool
    is_played: npt.NDArray[np.bool_]  # [Q] which entries of a table are actions
    regret: FloatArray  # [Q]
    realization: FloatArray  # [Q] of the strategy
    value: FloatArray  # [I]
    cf_reach: FloatArray  # [I]

    def scale_regrets(self, *, negative: float | None = None) -> FloatArray:
        """Returns `[Q]` the sums of regrets.

        Args:
            negative: what iterations weigh in negative regrets where a run keeps those that the rule floors.
        """
        # [B20] 3.2.2: R' = T (v'(I,a) - v'(I))
        positive = self.weights.positive * self.regret
        below = (self.weights.negative if negative is None else negative) * self.regret
        scaled = np.where(self.regret > 0, positive, np.where(self.regret < 0, below, TRACE))
        if self.floors_regrets and negative is None:
            scaled = np.maximum(scaled, 0.0)
        return np.where(self.is_played, scaled, 0.0)


def substitute_run(solver: CFRSolver[Any], strategy: FloatArray, config: WarmStart | None) -> SubstituteRun:
    """Returns the run that a warm start makes up; begins `solver` again if T must be found."""
    config, tree = config or WarmStart(), solver.tree
    check_zero_sum(tree.num_players, tree.is_zero_sum)
    given = TreeSubstitution(solver, strategy, config.bound)
    start = choose_start(solver, given, config)
    first, second = (given.substitute(player, start.ratio) for player in (0, 1))
    is_played = _played_cells(tree)
    return SubstituteRun(
        report=dataclasses.replace(start.report, num_passes=given.num_passes),
        weights=start.weights,
        floors_regrets=solver.rule.kernel.floors_regrets,
        is_played=is_played,
        regret=first.regret + second.regret,
        realization=given.realization[: is_played.size],
        value=first.row_value + second.row_value,
        cf_reach=given.cf_reach,
    )


class TreeSubstitution(Substitution):
    """A strategy on a history tree or a public tree."""

    def __init__(self, solver: CFRSolver[Any], strategy: FloatArray, bound: RegretBound) -> None:
        super().__init__(ROUNDING * solver.tree.utility_range)
        self.kernel, self.num_threads = solver.kernel, solver.num_threads
        self.realization = self.kernel.realize(strategy)
        self.cf_reach = compute_cf_reach(solver.tree, self.realization)
        exponent = 1 if bound is RegretBound.REACH else 2
        # the right-hand side of [B20] (3.6), without T
        self.bound = self.cf_reach**exponent * payoff_ranges(solver.tree) ** 2 * _num_actions(solver.tree)
        self.num_passes = 2

    def substitute(self, player: int, ratio: float) -> Substitutes:
        """Returns a player's substitute values and regrets."""
        self.num_passes += 1
        budget = ratio * self.bound
        found: Substitutes = self.kernel.substitute(player, self.realization, budget, num_threads=self.num_threads)
        return found

    def back_up(self, ratio: float) -> tuple[float, float]:
        """Returns v'_i of both players."""
        return self.substitute(0, ratio).value, self.substitute(1, ratio).value


def compute_cf_reach(tree: HistoryTree | PublicTree, realization: FloatArray) -> FloatArray:
    """Returns `[I]` how likely chance and the others reach each information set: what it is worth if all are paid 1."""
    kernel = bind_kernel(_pay_one(tree))
    budget = np.zeros(kernel.num_rows)
    reach = np.zeros(kernel.num_rows)
    for player in range(tree.num_players):
        reach += kernel.substitute(player, realization, budget).row_value
    return reach


def _pay_one(tree: HistoryTree | PublicTree) -> HistoryTree | PublicTree:
    """Returns a tree in which everybody gets 1 wherever it ends."""
    if isinstance(tree, HistoryTree):
        return dataclasses.replace(tree, utility=np.ones_like(tree.utility), is_zero_sum=False)
    num_entries = np.diff(tree.payoff_start)[tree.payoff_table]
    check_memory(int(num_entries.sum()) * PAIR_BYTES, f"a warm start on {tree.game_label}, which lists every pair")
    node = np.repeat(tree.terminal_node, num_entries)
    entry = flatten_ranges(tree.payoff_start[tree.payoff_table], num_entries)
    first, second = (
        tree.block_start[node, player]
        + tree.slot[tree.slot_start[2 * node + player] + tree.payoff_private[player, entry]]
        for player in (0, 1)
    )
    num_pairs = node.size
    empty = np.zeros(0, np.int32)
    terminals = TerminalGroups(
        groups=np.zeros((0, tree.terminals.groups.shape[1]), np.int32),
        group_start=np.zeros(3, np.int32),
        matrix=np.zeros(0),
        dense_own=empty,
        dense_other=empty,
        dense_scale=np.zeros(0),
        sparse_start=np.array([0, num_pairs, 2 * num_pairs], np.int32),
        sparse_own=np.concatenate([first, second]).astype(np.int32),
        sparse_other=np.concatenate([second, first]).astype(np.int32),
        sparse_weight=np.tile(tree.payoff_chance[entry], 2),
    )
    return dataclasses.replace(tree, terminals=terminals)


def _num_actions(tree: HistoryTree | PublicTree) -> FloatArray:
    """Returns `[I]` the legal actions of each information set, over rows on a public tree."""
    if isinstance(tree, HistoryTree):
        return tree.num_actions.astype(np.float64)
    out = np.zeros(tree.cells.num_rows)
    out[tree.infoset_row] = np.diff(tree.infoset_start)
    return out


def _played_cells(tree: HistoryTree | PublicTree) -> npt.NDArray[np.bool_]:
    """Returns `[Q]` which entries of a table are actions, not empty sequences or padding."""
    if isinstance(tree, PublicTree):
        legal: npt.NDArray[np.bool_] = tree.legal_share > 0
        return legal
    is_action = np.ones(int(tree.sequence_start[-1]), np.bool_)
    is_action[tree.sequence_start[:-1]] = False
    return is_action
