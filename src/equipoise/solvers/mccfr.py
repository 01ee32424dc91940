# SPDX-License-Identifier: Apache-2.0
"""Monte Carlo CFR over a history tree, for any number of players."""

from __future__ import annotations

import abc
import dataclasses
import enum
from typing import Any, Final, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.core.formatting import run_repr, settings_repr
from equipoise.games.base import CHANCE, TERMINAL
from equipoise.kernels.arrays import draw_generator
from equipoise.kernels.calls import check_integer
from equipoise.kernels.sampling import NO_NODE_LIMIT, SamplingArrays, SamplingKernel, SamplingTables, Scheme
from equipoise.kernels.skipping import SkipKind
from equipoise.solvers.baselines import BaselineKey, Baselines, lay_out_baselines
from equipoise.solvers.best_response import Evaluation, bind_history_kernel, evaluate
from equipoise.solvers.rules import DCFR
from equipoise.solvers.sampled_pruning import SampledPruning, prune_tree
from equipoise.solvers.saved_state import SavedArrays, name_tables, overwrite_tables, read_count
from equipoise.trees.history import HistoryTree

__all__ = [
    "DiscountKind",
    "Discounting",
    "MCCFRConfig",
    "MCCFRSolver",
    "PeriodFactors",
    "SampledRun",
    "Scheme",
    "check_plain",
    "lay_out_for_sampling",
]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int32]


class DiscountKind(enum.Enum):
    """What happens to the sums when a period ends."""

    NONE = "none"
    LINEAR = "linear"  # after period n everything is multiplied by n / (n + 1): period n weighs n
    INITIAL = "initial"  # after period 1, once, by a fixed factor
    ITERATIONS = "iterations"  # iteration t adds t times what it found, from the first on: no periods
    FLOORED = "floored"  # as CFR+: negative regrets become 0, and period n of the average weighs n
    DISCOUNTED = "discounted"  # as DCFR(3/2, 0, 2): positive and negative regrets and the average each by a factor


UNEVEN: Final = frozenset((DiscountKind.FLOORED, DiscountKind.DISCOUNTED))  # negative regrets by another factor
DISCOUNTED: Final = DCFR()


class PeriodFactors(NamedTuple):
    """What sums are multiplied by when a period ends."""

    positive: float  # regrets above 0
    negative: float  # other regrets
    average: float


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Discounting:
    """Discounting of regrets and average by periods of nodes touched.

    Paper: Brown 2020, thesis section 3.1.5 [B20]: "Linear MCCFR" and "Initial Discount MCCFR".
    Symbols: n -> period, from 1.
    Departs from the paper: a period ends with the iteration in which its last node is touched, so that all players'
        sums are discounted at the same moment. CFR+ and DCFR, of which the text says that they do not help here, floor
        and discount when a period ends, not in every iteration.
    Checked by: tests/solvers/test_mccfr.py.
    """

    kind: DiscountKind = DiscountKind.LINEAR
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

    @property
    def has_periods(self) -> bool:
        """Returns whether sums are multiplied when periods end."""
        return self.kind not in (DiscountKind.NONE, DiscountKind.ITERATIONS)

    def weights(self, iteration: int) -> tuple[float, float]:
        """Returns what the iteration after so many adds weighs, and how much more each following one."""
        return (iteration + 1.0, 1.0) if self.kind is DiscountKind.ITERATIONS else (1.0, 0.0)

    def factors(self, period: int) -> PeriodFactors:
        """Returns what regrets and averages are multiplied by when a period ends.

        >>> Discounting(kind=DiscountKind.FLOORED).factors(1)
        PeriodFactors(positive=1.0, negative=0.0, average=0.5)
        """
        if self.kind is DiscountKind.FLOORED:
            return PeriodFactors(1.0, 0.0, period / (period + 1))
        if self.kind is DiscountKind.DISCOUNTED:
            discounts = DISCOUNTED.discounts(period + 1)  # which apply before the next period
            return PeriodFactors(discounts.positive, discounts.negative, discounts.average_decay)
        factor = self.factor(period)
        return PeriodFactors(factor, factor, factor)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class MCCFRConfig:
    """What a run samples, discounts, leaves out and guesses.

    >>> MCCFRConfig(scheme=Scheme.OUTCOME, exploration=0.4).scheme_name
    'outcome'
    """

    scheme: Scheme = Scheme.EXTERNAL
    exploration: float = 0.6  # outcome sampling alone: share of uniform play of the traverser, in (0, 1]
    discounting: Discounting = dataclasses.field(default_factory=Discounting)
    pruning: SampledPruning = dataclasses.field(default_factory=SampledPruning)  # external sampling alone
    baselines: Baselines = dataclasses.field(default_factory=Baselines)  # external and outcome sampling
    traversals: int = 1  # K: of each player in an iteration, under one strategy

    __repr__ = settings_repr

    def __post_init__(self) -> None:
        if not 0 < self.exploration <= 1:
            raise ConfigError(f"exploration must be above 0 and at most 1, got {self.exploration}")
        check_integer("traversals", self.traversals, 1)
        if self.is_pruned and not self.is_plain:
            raise ConfigError(
                "regrets prune iterations of one traversal and one weight, see traversals and discounting"
            )
        if self.is_pruned and self.scheme is not Scheme.EXTERNAL:
            raise ConfigError(f"regrets prune external sampling alone, got {self.scheme_name} sampling")
        if self.is_pruned and self.discounting.kind in UNEVEN:
            raise ConfigError(
                f"sampled runs that are pruned need negative regrets as they are, got {self.discounting.kind.value} "
                "ones"
            )
        if self.has_baselines and self.scheme not in (Scheme.EXTERNAL, Scheme.OUTCOME):
            raise ConfigError(f"baselines are for external and outcome sampling, got {self.scheme_name} sampling")

    @property
    def scheme_name(self) -> str:
        """Returns the scheme in words."""
        return self.scheme.name.lower().replace("_", " ")

    @property
    def is_plain(self) -> bool:
        """Returns whether every iteration is one traversal a player, and adds with the same weight as all others."""
        return self.traversals == 1 and self.discounting.kind is not DiscountKind.ITERATIONS

    @property
    def is_pruned(self) -> bool:
        """Returns whether actions are left out."""
        return self.pruning.kind is not SkipKind.NONE

    @property
    def has_baselines(self) -> bool:
        """Returns whether values are corrected by guesses."""
        return self.baselines.key is not BaselineKey.NONE


def check_plain(config: MCCFRConfig, place: str) -> None:
    """Raises `ConfigError` unless iterations are single traversals of equal weight; others are for history trees."""
    if not config.is_plain:
        raise ConfigError(f"several traversals an iteration and rule lcfr-each are for history trees, got {place}")


class SampledTables(Protocol):
    """What every sampled run keeps; a dataclass of arrays."""

    @property
    def regret_sum(self) -> npt.NDArray[Any]:
        """Returns the sampled regrets, added up."""
        ...

    @property
    def strategy_sum(self) -> npt.NDArray[Any]:
        """Returns the average, not normalised."""
        ...

    @property
    def nodes_touched(self) -> npt.NDArray[np.uint64]:
        """Returns `[1]` the nodes visited so far."""
        ...

    @property
    def missed(self) -> npt.NDArray[Any]:
        """Returns the reach of visits in which actions were left out in a row; empty where nothing goes by it."""
        ...

    @property
    def num_skipped(self) -> npt.NDArray[np.uint64]:
        """Returns `[1]` how often actions were left out so far."""
        ...


Tables = TypeVar("Tables", bound=SampledTables)


class SampledRun(abc.ABC, Generic[Tables]):
    """A sampled run whose sums are discounted by periods of nodes touched; it goes on from its arrays to the bit."""

    def __init__(self, config: MCCFRConfig, tables: Tables) -> None:
        self.config = config
        self.tables = tables
        self.iteration = 0
        self.period = 1  # of nodes touched, the one under way

    __repr__ = run_repr

    @abc.abstractmethod
    def _sample(self, num_iterations: int, node_limit: int) -> int:
        """Runs at most so many iterations, none of which begins beyond a limit of nodes, and returns how many."""

    @property
    def nodes_touched(self) -> int:
        """Returns the nodes visited so far, ends included; what a node is, the class says."""
        return int(self.tables.nodes_touched[0])

    @property
    def num_skipped(self) -> int:
        """Returns how often an action of the traverser was left out so far."""
        return int(self.tables.num_skipped[0])

    def iterate(self, num_iterations: int) -> None:
        """Runs iterations and discounts the sums whenever a period ends."""
        check_integer("num_iterations", num_iterations, 0)
        discounting = self.config.discounting
        is_discounted = discounting.has_periods
        goal = self.iteration + num_iterations
        while self.iteration < goal:
            node_limit = self.period * discounting.period_nodes if is_discounted else NO_NODE_LIMIT
            self.iteration += self._sample(goal - self.iteration, node_limit)
            while is_discounted and self.nodes_touched >= self.period * discounting.period_nodes:
                self._discount(discounting.factors(self.period))
                self.period += 1

    def _discount(self, factors: PeriodFactors) -> None:
        regret = self.tables.regret_sum
        if factors.positive == factors.negative:
            for table in (regret, self.tables.missed):
                _multiply(table, factors.positive)
        else:
            regret *= np.where(regret > 0, factors.positive, factors.negative).astype(regret.dtype)
        _multiply(self.tables.strategy_sum, factors.average)

    def state(self) -> dict[str, npt.NDArray[np.generic]]:
        """Returns the arrays from which the run goes on to the bit."""
        return {
            **name_tables(self.tables),
            "iteration": np.array(self.iteration),
            "period": np.array(self.period),
        }

    def restore(self, state: SavedArrays) -> None:
        """Overwrites the run with a saved state of the same tree, configuration and dtype."""
        iteration, period = read_count(state, "iteration"), read_count(state, "period")
        overwrite_tables(name_tables(self.tables), state)
        self.iteration, self.period = iteration, period


def _multiply(table: npt.NDArray[Any], factor: float) -> None:
    """Multiplies a table in place."""
    if factor != 1.0:
        np.multiply(table, factor, out=table)


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
        edge_slot `[E]` which outcome of its public state an edge is, -1 off public chance; first_slot `[J+1]`; and the
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


class MCCFRSolver(SampledRun[SamplingTables]):
    """A run of Monte Carlo CFR: an iteration is one sampled traversal for every player, or several.

    Paper: Lanctot et al. 2009, "Monte Carlo Sampling for Regret Minimization in Extensive Games" (external and outcome
        sampling); Zinkevich et al. 2007 (chance sampling); Johanson et al. 2012, "Efficient Nash Equilibrium
        Approximation through Monte Carlo Counterfactual Regret Minimization" (public chance sampling); Brown 2020,
        thesis section 2.3.6 [B20] for the form used here, and 4.1.5 for K traversals under one strategy.
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

    >>> from equipoise.games import make_game
    >>> from equipoise.trees import build_history_tree
    >>> solver = MCCFRSolver(build_history_tree(make_game("kuhn")), rng=np.random.default_rng(0))
    >>> solver.iterate(10_000)
    >>> solver.evaluate().exploitability < 0.05
    True
    """

    def __init__(self, tree: HistoryTree, config: MCCFRConfig | None = None, *, rng: np.random.Generator) -> None:
        config = config or MCCFRConfig()
        if config.scheme is Scheme.PUBLIC_CHANCE and not (tree.public_chance >= 0).any():
            raise ConfigError(
                f"public-chance sampling needs chance that everybody sees, and {tree.game_label} has none; "
                "chance sampling is the nearest scheme"
            )
        sequences = int(tree.sequence_start[-1])
        self.skipping = prune_tree(config.pruning, tree)
        self.baselines = lay_out_baselines(config.baselines, tree)
        tables = SamplingTables(
            regret_sum=np.zeros(sequences),
            strategy_sum=np.zeros(sequences),
            random_words=draw_generator(rng),
            nodes_touched=np.zeros(1, np.uint64),
            missed=np.zeros(sequences if self.skipping.needs_missed else 0),
            baseline=np.zeros((tree.num_players, self.baselines.num_guesses)),
        )
        super().__init__(config, tables)
        self.tree = tree
        self.kernel = bind_history_kernel(tree)
        self.sampling = SamplingKernel(lay_out_for_sampling(tree))

    def _sample(self, num_iterations: int, node_limit: int) -> int:
        return self.sampling.iterate(
            self.config.scheme,
            self.tables,
            num_iterations,
            exploration=self.config.exploration,
            node_limit=node_limit,
            skipping=self.skipping,
            baselines=self.baselines,
            traversals=self.config.traversals,
            weights=self.config.discounting.weights(self.iteration),
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
