# SPDX-License-Identifier: Apache-2.0
"""Monte Carlo CFR over a history tree, for any number of players."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.games.base import CHANCE, TERMINAL
from equipoise.kernels.calls import check_integer
from equipoise.kernels.sampling import NO_NODE_LIMIT, SamplingArrays, SamplingKernel, SamplingTables, Scheme
from equipoise.solvers.best_response import Evaluation, bind_history_kernel, evaluate
from equipoise.solvers.saved_state import SavedArrays, name_tables, overwrite_tables, read_count
from equipoise.trees.history import HistoryTree

__all__ = [
    "DiscountKind",
    "Discounting",
    "MCCFRConfig",
    "MCCFRSolver",
    "Scheme",
    "lay_out_for_sampling",
    "run_periods",
]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int32]


class DiscountKind(enum.Enum):
    """What happens to the sums when a period ends."""

    NONE = "none"
    LINEAR = "linear"  # after period n everything is multiplied by n / (n + 1): period n weighs n
    INITIAL = "initial"  # after period 1, once, by a fixed factor


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Discounting:
    """Discounting of regrets and average by periods of nodes touched.

    Paper: Brown 2020, thesis section 3.1.5 [B20]: "Linear MCCFR" and "Initial Discount MCCFR".
    Symbols: n -> period, from 1.
    Departs from the paper: a period ends with the iteration in which its last node is touched, so that all players'
        sums are discounted at the same moment.
    Checked by: tests/solvers/test_mccfr.py.
    """

    kind: DiscountKind = DiscountKind.NONE
    period_nodes: int = 10_000_000  # nodes touched in a period; small games want about a hundredth of the whole run
    initial_factor: float = 0.1  # what INITIAL multiplies by, in [0, 1]

    def __post_init__(self) -> None:
        if self.period_nodes < 1:
            raise ConfigError(f"period_nodes must be at least 1, got {self.period_nodes}")
        if not 0 <= self.initial_factor <= 1:
            raise ConfigError(f"initial_factor must be from 0 to 1, got {self.initial_factor}")

    def factor(self, period: int) -> float:
        """Returns what all sums are multiplied by when a period ends.

        >>> Discounting(kind=DiscountKind.LINEAR).factor(3)
        0.75
        """
        if self.kind is DiscountKind.LINEAR:
            return period / (period + 1)
        if self.kind is DiscountKind.INITIAL and period == 1:
            return self.initial_factor
        return 1.0


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class MCCFRConfig:
    """What a run samples and discounts."""

    scheme: Scheme = Scheme.EXTERNAL
    exploration: float = 0.6  # outcome sampling alone: share of uniform play of the traverser, in (0, 1]
    discounting: Discounting = dataclasses.field(default_factory=Discounting)

    def __post_init__(self) -> None:
        if not 0 < self.exploration <= 1:
            raise ConfigError(f"exploration must be above 0 and at most 1, got {self.exploration}")


class PeriodicRun(Protocol):
    """A sampled run whose sums are discounted by periods of nodes touched."""

    config: MCCFRConfig
    iteration: int
    period: int  # the one under way, from 1

    @property
    def nodes_touched(self) -> int:
        """Returns the nodes visited so far."""
        ...

    @property
    def sums(self) -> Sequence[npt.NDArray[np.floating[Any]]]:
        """Returns the tables that are discounted."""
        ...


def run_periods(run: PeriodicRun, num_iterations: int, sample: Callable[[int, int], int]) -> None:
    """Advances a run and discounts its sums in place whenever a period ends.

    Args:
        run: what is advanced.
        num_iterations: how many iterations.
        sample: runs at most so many iterations, none of which begins beyond a limit of nodes, and returns how many.
    """
    check_integer("num_iterations", num_iterations, 0)
    discounting = run.config.discounting
    is_discounted = discounting.kind is not DiscountKind.NONE
    goal = run.iteration + num_iterations
    while run.iteration < goal:
        node_limit = run.period * discounting.period_nodes if is_discounted else NO_NODE_LIMIT
        run.iteration += sample(goal - run.iteration, node_limit)
        while is_discounted and run.nodes_touched >= run.period * discounting.period_nodes:
            factor = discounting.factor(run.period)
            if factor != 1.0:
                for table in run.sums:
                    np.multiply(table, factor, out=table)
            run.period += 1


def lay_out_for_sampling(tree: HistoryTree) -> SamplingArrays:
    """Returns the arrays of a tree that sampled traversals read."""
    detail = np.where(tree.actor == CHANCE, tree.public_chance, tree.infoset)
    detail[tree.actor == TERMINAL] = np.arange(tree.terminal_node.size, dtype=np.int32)
    edge_slot, first_slot, slot_probability = draw_probabilities(tree)
    return SamplingArrays(
        actor=tree.actor,
        detail=detail,
        first_edge=tree.first_edge,
        edge_child=tree.edge_child,
        edge_probability=tree.chance_probability[tree.edge_child],
        edge_slot=edge_slot,
        first_slot=first_slot,
        slot_probability=slot_probability,
        utility=tree.utility,
        first_sequence=tree.first_sequence,
        num_actions=tree.num_actions,
        num_sequences=int(tree.sequence_start[-1]),
    )


def draw_probabilities(tree: HistoryTree) -> tuple[IntArray, IntArray, FloatArray]:
    """Returns how the outcomes of public states are drawn: as in the mean over the histories of the state.

    Returns:
        edge_slot `[E]` which outcome of its public state an edge is, -1 off public chance; first_slot `[S+1]`; and the
        probability of each outcome.
    """
    child = tree.edge_child
    public_state = tree.public_chance[tree.parent[child]]
    public_state[tree.actor[tree.parent[child]] != CHANCE] = HistoryTree.PRIVATE_CHANCE
    is_public = public_state >= 0
    num_states = int(tree.public_chance.max(initial=-1)) + 1
    pairs = np.stack([public_state[is_public], tree.public_outcome[child[is_public]]], axis=1)
    outcomes, slot = np.unique(pairs, axis=0, return_inverse=True)
    first_slot = np.searchsorted(outcomes[:, 0], np.arange(num_states + 1)).astype(np.int32)
    edge_slot = np.full(child.size, -1, np.int32)
    edge_slot[is_public] = slot.ravel() - first_slot[pairs[:, 0]]
    total = np.bincount(slot.ravel(), weights=tree.chance_probability[child[is_public]], minlength=len(outcomes))
    per_state = np.bincount(outcomes[:, 0], weights=total, minlength=num_states)
    return edge_slot, first_slot, total / per_state[outcomes[:, 0]]


class MCCFRSolver:
    """A run of Monte Carlo CFR: an iteration is one sampled traversal for every player.

    Paper: Lanctot et al. 2009, "Monte Carlo Sampling for Regret Minimization in Extensive Games" (external and outcome
        sampling); Zinkevich et al. 2007 (chance sampling); Johanson et al. 2012, "Efficient Nash Equilibrium
        Approximation through Monte Carlo Counterfactual Regret Minimization" (public chance sampling); Brown 2020,
        thesis section 2.3.6 [B20] for the form used here.
    Symbols: r~ (2.23) -> what a traversal adds to regret_sum; Q -> what a traversal visits; q(z) -> divided out in
        `cf_reach` of native/sampling.hpp.
    Departs from the paper: the listings leave the average open; here, always with own reach: external sampling of two
        players adds the strategy at the opponent's nodes (met with its own reach); outcome sampling of two players
        likewise, divided by the traverser's sampling probability (stochastically weighted); with any other number of
        players, where the reach of third parties would weigh in and may be zero, each player's average comes from one
        extra path an iteration on which the others move uniformly; chance and public-chance sampling add own reach
        times strategy at the traverser's nodes. An information set met several times in one traversal plays one
        strategy and, where it samples, one action. Public outcomes are drawn with their mean probability over the
        histories of the public state and weighted by the ratio. Regret matching falls back on the uniform strategy.
    Checked by: tests/solvers/test_mccfr.py, tests/kernels/test_sampling.py.
    """

    def __init__(self, tree: HistoryTree, config: MCCFRConfig | None = None, *, rng: np.random.Generator) -> None:
        self.tree = tree
        self.config = config or MCCFRConfig()
        if self.config.scheme is Scheme.PUBLIC_CHANCE and not (tree.public_chance >= 0).any():
            raise ConfigError(
                f"public-chance sampling needs chance that everybody sees, and {tree.game_label} has none; "
                "chance sampling is the nearest scheme"
            )
        self.iteration = 0
        self.period = 1  # of nodes touched, the one under way
        self.kernel = bind_history_kernel(tree)
        self.sampling = SamplingKernel(lay_out_for_sampling(tree))
        sequences = int(tree.sequence_start[-1])
        self.tables = SamplingTables(
            regret_sum=np.zeros(sequences),
            strategy_sum=np.zeros(sequences),
            random_words=rng.integers(1, 2**64 - 1, size=4, dtype=np.uint64, endpoint=True),
            nodes_touched=np.zeros(1, np.uint64),
        )

    @property
    def nodes_touched(self) -> int:
        """Returns the histories visited so far, terminals included."""
        return int(self.tables.nodes_touched[0])

    @property
    def sums(self) -> tuple[FloatArray, FloatArray]:
        """Returns the tables that are discounted."""
        return self.tables.regret_sum, self.tables.strategy_sum

    def iterate(self, num_iterations: int) -> None:
        """Runs iterations and discounts the sums whenever a period ends."""
        run_periods(
            self,
            num_iterations,
            lambda count, node_limit: self.sampling.iterate(
                self.config.scheme, self.tables, count, exploration=self.config.exploration, node_limit=node_limit
            ),
        )

    def average_strategy(self) -> FloatArray:
        """Returns `[Q]` the average strategy, the one that converges."""
        return self.kernel.normalize(self.tables.strategy_sum)

    def current_strategy(self) -> FloatArray:
        """Returns `[Q]` the strategy that the next traversal plays."""
        return self.kernel.normalize(np.maximum(self.tables.regret_sum, 0.0))

    def evaluate(self) -> Evaluation:
        """Returns the exact quality of the average strategy."""
        return evaluate(self.tree, self.average_strategy(), kernel=self.kernel)

    def state(self) -> dict[str, npt.NDArray[np.generic]]:
        """Returns the arrays from which the run goes on to the bit."""
        return {
            **name_tables(self.tables),
            "iteration": np.array(self.iteration),
            "period": np.array(self.period),
        }

    def restore(self, state: SavedArrays) -> None:
        """Overwrites the run with a saved state of the same tree and configuration."""
        iteration, period = read_count(state, "iteration"), read_count(state, "period")
        overwrite_tables(name_tables(self.tables), state)
        self.iteration, self.period = iteration, period
