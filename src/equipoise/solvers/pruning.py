# SPDX-License-Identifier: Apache-2.0
"""CFR that leaves out what cannot matter: partial, regret-based and best-response pruning on a history tree.

Two players, zero sum: elsewhere the bounds on which pruning rests do not hold. Sequences of the tree are pruned, walks
jump over them, and all that a walk does not meet is brought up to date when somebody asks.
"""

from __future__ import annotations

import dataclasses
import enum
import math
from typing import Final

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.core.formatting import run_repr
from equipoise.kernels.pruning import (
    NUM_PLAYERS,
    KernelPruning,
    PastIterations,
    PruningArrays,
    PruningKernel,
    PruningMode,
    ZeroReach,
)
from equipoise.kernels.rules import Fallback, PolicyMap
from equipoise.solvers.best_response import Evaluation, bind_history_kernel, evaluate
from equipoise.solvers.payoffs import payoff_bounds, scale_share
from equipoise.solvers.rules import DCFR, Rule, tabulate_discounts
from equipoise.solvers.saved_state import SavedArrays, read_array, read_count
from equipoise.trees.history import HistoryTree

__all__ = [
    "PrunedSolver",
    "Pruning",
    "PruningKind",
    "PruningStatistics",
    "ZeroReach",
    "check_pruning",
    "estimate_pruned_bytes",
    "lay_out_for_pruning",
]

FloatArray = npt.NDArray[np.float64]


class PruningKind(enum.StrEnum):
    """What is left out of a walk."""

    NONE = "none"  # nothing
    PARTIAL = "partial"  # what the opponent does not reach
    REGRET = "rbp"  # also own actions until their regret could be positive again
    BEST_RESPONSE = "brp"  # also own actions that no play below could have made good, and their tables


MODES = {
    PruningKind.NONE: PruningMode.NONE,
    PruningKind.PARTIAL: PruningMode.PARTIAL,
    PruningKind.REGRET: PruningMode.REGRET,
    PruningKind.BEST_RESPONSE: PruningMode.BEST_RESPONSE,
}

# [B20] 3.3.6 has 25 for regret-based pruning and says nothing of best-response pruning, which frees more with less
LEAST_WINDOWS: Final = {PruningKind.REGRET: 25.0, PruningKind.BEST_RESPONSE: 5.0}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Pruning:
    """How a run prunes.

    Paper: Brown 2020, thesis sections 3.3 (partial and regret-based pruning, best responses in zero-reach sequences)
        and 3.5 (best-response pruning) [B20].
    Symbols: R(I,a) -> regret_sum; the left side of (3.19) minus its right side, and of (3.31) -> the gate of a pruned
        sequence; sum of v(I) and of pi_-i(I) -> cumulative_value and cumulative_reach; D(I,a) -> below.
    Departs from the paper: windows are T0+1..T1 throughout, T0 being the last iteration in the regret. What a
        player has faced is summed apart from the average wherever the two differ: by weights, or because the first
        of two alternating players is met with its next strategy. Unless `needs_positive` is off, regret-based
        pruning leaves actions alone beside which none has a positive regret, and the largest is played there;
        best-response pruning prunes all others. Under discounting, windows are weighed as negative regrets are. Of
        Hedge (section 3.4.2): the denominator of (3.21) has R^T0, not R^T, and only unpruned actions, U(I,a) is
        weighted by external reach, bounds must not be positive, and sets that nobody reaches keep their strategy.
    Checked by: tests/solvers/test_pruning.py, tests/solvers/test_pruned_hedge.py.

    >>> Pruning(kind=PruningKind.BEST_RESPONSE).kind.value
    'brp'
    """

    kind: PruningKind = PruningKind.REGRET
    # fewest iterations, by the estimate (3.20), for which a sequence is pruned; at least 0; None: as in LEAST_WINDOWS
    threshold: float | None = None
    prunes_leaves: bool | None = (
        None  # sequences with no own information set below; None: all but under rbp with floors
    )
    zero_reach: ZeroReach = ZeroReach.OFF  # where best responses are played
    # rbp: only beside an action with a positive regret, the largest being played where there is none; False: as the
    # thesis, wherever an action is not played, all that are not pruned being played alike where no regret is positive
    needs_positive: bool = True
    walks_once: bool = False  # in an iteration, for both players; for simultaneous updates, with the same results
    discard: float = 0.0  # C of 3.5.2, of best-response pruning: averages at most C / T^exponent are dropped
    discard_exponent: float = 0.5  # 0.5, or 1 for rules that converge faster than 1/sqrt(T)

    def __post_init__(self) -> None:
        for value, kind in ((self.kind, PruningKind), (self.zero_reach, ZeroReach)):
            if not isinstance(value, kind):
                raise ConfigError(f"pruning needs a {kind.__name__}, got {value!r}")
        if self.threshold is not None and not self.threshold >= 0:
            raise ConfigError(f"threshold must be at least 0 iterations, got {self.threshold}")
        if not 0 <= self.discard < math.inf:
            raise ConfigError(f"discard must be at least 0 and finite, got {self.discard}")
        if self.discard and self.kind is not PruningKind.BEST_RESPONSE:
            raise ConfigError(f"discard is for best-response pruning (brp), got {self.discard} with {self.kind}")
        if not self.needs_positive and self.kind is not PruningKind.REGRET:
            raise ConfigError(f"needs_positive is for regret-based pruning (rbp), got False with {self.kind}")
        if not 0 < self.discard_exponent <= 1:
            raise ConfigError(f"discard_exponent must be above 0 and at most 1, got {self.discard_exponent}")

    @property
    def least_window(self) -> float:
        """Returns the fewest iterations for which a sequence is pruned, by estimate."""
        return LEAST_WINDOWS.get(self.kind, 0.0) if self.threshold is None else self.threshold

    @property
    def has_windows(self) -> bool:
        """Returns whether own actions are pruned."""
        return self.kind in (PruningKind.REGRET, PruningKind.BEST_RESPONSE)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class PruningStatistics:
    """What pruning has done so far, and what is pruned now."""

    nodes_touched: int  # histories visited, terminals and all overhead included
    nodes_last_iteration: int
    overhead_nodes: int  # of nodes_touched: visited to begin, to end and to check pruning
    num_pruned: int  # sequences
    num_infosets_pruned: int  # below them
    num_opened: int  # times that pruning began
    num_closed: int  # times that it ended
    num_extended: int  # times that it was due to end and went on
    num_checks: int  # values computed by best-response pruning
    largest_excess: float  # of a true regret over its bound when pruning was due to end; at most rounding


def check_pruning(rule: Rule, pruning: Pruning) -> None:
    """Raises `ConfigError` where the theory does not cover a rule under pruning, and says why."""
    kernel = rule.kernel
    is_hedge, is_thresholded = kernel.policy_map is PolicyMap.HEDGE, rule.discounts(1).threshold > 0
    if kernel.policy_map is PolicyMap.NORMAL_HEDGE:
        raise ConfigError(f"pruning needs regret matching or thresholded Hedge, got rule {rule.name}")
    if is_hedge and not is_thresholded and pruning.kind is not PruningKind.NONE:
        raise ConfigError(
            f"pruning needs actions that are played with probability 0, got rule {rule.name}, which plays all of them; "
            f"thresholded(2)-{rule.name} does not"
        )
    if is_hedge and pruning.zero_reach is not ZeroReach.OFF:
        raise ConfigError(f"best responses in zero-reach sequences need regret matching, got rule {rule.name}")
    if kernel.is_optimistic:
        raise ConfigError(
            f"pruning keeps the strategy of an information set that is not visited, got rule {rule.name}, whose last "
            "regret changes it all the same"
        )
    if not pruning.has_windows:
        return
    if is_hedge and pruning.kind is PruningKind.REGRET:
        return
    if not isinstance(rule, DCFR):
        raise ConfigError(f"{pruning.kind} knows the weights of cfr, cfr+, lcfr and dcfr, got rule {rule.name}")
    if kernel.floors_regrets:
        if rule.alpha != math.inf:
            raise ConfigError(f"{pruning.kind} of floored regrets needs them undiscounted, as in cfr+, got {rule.name}")
    elif rule.beta <= 0:
        raise ConfigError(
            f"{pruning.kind} needs negative regrets that can fall without bound, got rule {rule.name}, which keeps "
            f"them near 0; {'dcfr(1.5,0.5,2)' if pruning.kind is PruningKind.REGRET else 'cfr'} is one for pruning"
        )
    if pruning.kind is PruningKind.BEST_RESPONSE and not (shares_weights(rule) and rule.alpha in (math.inf, rule.beta)):
        raise ConfigError(
            "brp sets regrets as if one strategy had been played all along, which needs the same weights in positive "
            f"and negative regrets and in the average, got rule {rule.name}; cfr, lcfr and dcfr(inf,-inf,0) have them"
        )


def shares_weights(rule: DCFR) -> bool:
    """Returns whether iterations weigh the same in negative regrets and in the average.

    >>> shares_weights(DCFR(alpha=1.0, beta=1.0, gamma=1.0)), shares_weights(DCFR())
    (True, False)
    """
    return rule.gamma == 0 if math.isinf(rule.beta) else rule.beta == rule.gamma == 1


def estimate_pruned_bytes(tree: HistoryTree) -> int:
    """Returns the most bytes that a pruned run allocates beside the tree, while it lays out its own copy of it."""
    size, num_terminals = tree.size, tree.terminal_node.size
    num_cells = 2 * size.num_histories - num_terminals  # of the copy: nodes that are not terminal, and all children
    rows = 8 * (13 * size.num_infosets + 7 * size.num_sequences)  # tables with their places, and snapshots
    copy = 16 * num_cells + 8 * size.num_histories + 28 * size.num_infosets + 24 * size.num_sequences
    layout = 20 * size.num_histories + 8 * num_cells  # given back when the copy is there
    return int(rows + copy + layout + 8 * num_terminals)  # payoffs once more, to evaluate


class PrunedSolver:
    """A run of CFR with pruning, with the surface of `CFRSolver`.

    >>> from equipoise.games import make_game
    >>> from equipoise.solvers import CFRPlus
    >>> from equipoise.trees import build_history_tree
    >>> solver = PrunedSolver(build_history_tree(make_game("kuhn")), CFRPlus(), pruning=Pruning())
    >>> solver.iterate(100)
    >>> solver.evaluate().exploitability < 0.01
    True
    """

    def __init__(self, tree: HistoryTree, rule: Rule, *, pruning: Pruning, is_alternating: bool = True) -> None:
        if tree.num_players != NUM_PLAYERS or not tree.is_zero_sum:
            what = f"{tree.num_players} players" if tree.num_players != NUM_PLAYERS else "a sum that is not zero"
            raise ConfigError(f"pruning is for two-player zero-sum games, got {tree.game_label} with {what}")
        check_pruning(rule, pruning)
        if pruning.walks_once and is_alternating:
            raise ConfigError("pruning that walks once an iteration needs simultaneous updates, got alternating ones")
        self.tree = tree
        self.rule = rule
        self.pruning = pruning
        self.is_alternating = is_alternating
        self.iteration = 0
        self._evaluator = bind_history_kernel(tree)
        self._kernel = PruningKernel(lay_out_for_pruning(tree), _kernel_pruning(rule, pruning, is_alternating))
        self.first_bytes = self.bytes_in_use  # of the tables before anything is freed

    __repr__ = run_repr

    @property
    def nodes_touched(self) -> int:
        """Returns the histories visited so far, terminals and every overhead of pruning included."""
        return self._kernel.nodes_touched

    @property
    def bytes_in_use(self) -> int:
        """Returns the bytes of the tables that are allocated now."""
        return self._kernel.num_bytes

    @property
    def num_tree_bytes(self) -> int:
        """Returns the bytes of the run's own copy of the tree."""
        return self._kernel.num_tree_bytes

    @property
    def regret_sum(self) -> FloatArray:
        """Returns `[Q]` regrets; upper bounds of those that are pruned, 0 where tables are dropped."""
        return self._kernel.regret_sum()

    @property
    def strategy_sum(self) -> FloatArray:
        """Returns `[Q]` sums of strategies weighted by own reach; 0 where dropped."""
        return self._kernel.strategy_sum()

    def iterate(self, num_iterations: int) -> None:
        """Runs iterations, each of which updates both players once."""
        first_t = self.iteration + 1
        self._kernel.iterate(tabulate_discounts(self.rule, first_t, num_iterations), first_t=first_t)
        self.iteration += num_iterations

    def count_regrets(self) -> int:
        """Returns how many regrets R(I,a) are followed: of tables that are there, and of actions not pruned."""
        state = self._kernel.state()
        has_regrets = state["has_rows"][:, 0] > 0
        owners = self.tree.sequence_infoset()
        is_followed = (owners >= 0) & has_regrets[owners] & (state["regret_cells"][2] > 0)
        return int(is_followed.sum())

    def begin_after(self, past: PastIterations) -> None:
        """Overwrites the run with one that has iterations behind it which it has not run itself."""
        self._kernel.begin_after(past)
        self.iteration = past.iterations

    def average_strategy(self) -> FloatArray:
        """Returns `[Q]` the average strategy, the one that converges."""
        return self._evaluator.normalize(self._kernel.strategy_sum())

    def current_strategy(self) -> FloatArray:
        """Returns `[Q]` the strategy that the next iteration plays; uniform where tables are dropped."""
        return self._kernel.strategy()

    def evaluate(self) -> Evaluation:
        """Returns the exact quality of the average strategy."""
        return evaluate(self.tree, self.average_strategy(), kernel=self._evaluator)

    def state(self) -> dict[str, npt.NDArray[np.generic]]:
        """Returns the arrays from which the run goes on to the bit."""
        return {**self._kernel.state(), "iteration": np.array(self.iteration)}

    def restore(self, state: SavedArrays) -> None:
        """Overwrites the run with a saved state of the same tree, rule and pruning."""
        iteration = read_count(state, "iteration")
        present = self._kernel.state()
        self._kernel.restore(
            {name: read_array(state, name, np.float64, array.shape) for name, array in present.items()}
        )
        self.iteration = iteration

    def statistics(self) -> PruningStatistics:
        """Returns what pruning has done so far."""
        return PruningStatistics(**self._kernel.statistics())


def lay_out_for_pruning(tree: HistoryTree) -> PruningArrays:
    """Returns a tree as pruned runs read it."""
    largest, payoff_range = payoff_bounds(tree)
    return PruningArrays(
        actor=tree.actor,
        parent=tree.parent,
        infoset=tree.infoset,
        chance_probability=tree.chance_probability,
        utility=np.ascontiguousarray(tree.utility[0]),
        infoset_start=tree.infoset_start,
        sequence_start=tree.sequence_start,
        first_sequence=tree.first_sequence,
        num_actions=tree.num_actions,
        parent_sequence=tree.parent_sequence,
        largest=largest,
        payoff_range=payoff_range,
    )


def _kernel_pruning(rule: Rule, pruning: Pruning, is_alternating: bool) -> KernelPruning:
    kernel, has_windows, prunes_leaves = rule.kernel, pruning.has_windows, pruning.prunes_leaves
    if prunes_leaves is None:
        prunes_leaves = not (kernel.floors_regrets and pruning.kind is PruningKind.REGRET)
    return KernelPruning(
        mode=MODES[pruning.kind],
        zero_reach=pruning.zero_reach,
        policy_map=kernel.policy_map,
        fallback=Fallback.ARGMAX if has_windows and pruning.needs_positive else kernel.fallback,
        tracks_variance=kernel.tracks_variance,
        scale_share=scale_share(kernel),
        floors_regrets=kernel.floors_regrets,
        is_alternating=is_alternating,
        # Hedge weighs all iterations the same
        shares_weights=shares_weights(rule) if isinstance(rule, DCFR) else kernel.policy_map is PolicyMap.HEDGE,
        walks_once=pruning.walks_once,
        needs_positive=pruning.needs_positive,
        prunes_leaves=prunes_leaves,
        threshold=pruning.least_window,
        discard=pruning.discard,
        discard_exponent=pruning.discard_exponent,
    )
