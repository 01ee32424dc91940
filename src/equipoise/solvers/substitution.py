# SPDX-License-Identifier: Apache-2.0
"""Substitute values of a strategy, and the choice of T and lambda that a warm start from it makes.

The papers and departures are those of `warm_start`, which writes the tables.
"""

from __future__ import annotations

import abc
import dataclasses
import enum
import math
from typing import Final, NamedTuple, Protocol

from equipoise.core.errors import ConfigError
from equipoise.core.formatting import brief_repr
from equipoise.kernels.rules import PolicyMap
from equipoise.solvers.best_response import Evaluation
from equipoise.solvers.rules import Rule

__all__ = [
    "ROUNDING",
    "TRACE",
    "RegretBound",
    "RunWeights",
    "Start",
    "StartedSolver",
    "Substitution",
    "WarmStart",
    "WarmStartReport",
    "check_zero_sum",
    "choose_start",
    "project_convergence",
]

TRACE: Final = 1e-30  # what regrets of exactly zero become, so that best actions are played where none is positive
EXCESS_PRECISION: Final = 0.01  # by which the sum of values may fall short of 0, relative to nash_conv
MOST_SEARCHES: Final = 100
MOST_ITERATIONS: Final = 10**15  # that numbers of 64 bits still count one by one
MOST_WEIGHTS: Final = 10**6  # that are added up one by one, in a second or two
ROUNDING: Final = 1e-13  # of sums of values, relative to the payoff range


class RegretBound(enum.StrEnum):
    """What the regrets of an information set I are bounded by, times payoff range squared, actions and iterations."""

    REACH = "reach"  # external reach of I: [B20] (3.6) as printed
    REACH_SQUARED = "reach2"  # its square: a closer estimate of squared regrets, as [B20] 3.2.4 invites


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class WarmStart:
    """How a run is started from a strategy.

    >>> WarmStart(iterations=100).bound.value
    'reach2'
    """

    iterations: int | None = None  # T that the strategy stands for; None: by a short run's convergence
    bound_share: float | None = None  # lambda, 0 to 1; None: the least by which substitute values sum to 0 or less
    bound: RegretBound = RegretBound.REACH_SQUARED
    projection_iterations: int = 10  # of the short run ([B20] 3.2.3)

    def __post_init__(self) -> None:
        if self.iterations is not None and self.iterations < 1:
            raise ConfigError(f"a warm start stands for at least 1 iteration, got {self.iterations}")
        if self.iterations is not None and self.iterations > MOST_ITERATIONS:
            raise ConfigError(
                f"a warm start stands for at most {MOST_ITERATIONS:,} iterations, got {self.iterations:,}"
            )
        if self.bound_share is not None and not 0 <= self.bound_share <= 1:
            raise ConfigError(f"lambda must be from 0 to 1, got {self.bound_share}")
        if self.projection_iterations < 1:
            raise ConfigError(f"projection_iterations must be at least 1, got {self.projection_iterations}")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class WarmStartReport:
    """What a warm start chose, and what it found out about the strategy.

    >>> from equipoise.games import make_game
    >>> from equipoise.solvers import CFRPlus, CFRSolver
    >>> from equipoise.solvers.warm_start import warm_start
    >>> from equipoise.trees import build_history_tree
    >>> tree = build_history_tree(make_game("kuhn"))
    >>> first = CFRSolver(tree, CFRPlus())
    >>> first.iterate(100)
    >>> report = warm_start(CFRSolver(tree, CFRPlus()), first.average_strategy())
    >>> report.iterations > 0
    True
    """

    iterations: int  # T
    bound: RegretBound
    bound_share: float  # lambda
    substitute_values: tuple[float, float]  # v'_i of both players
    nash_conv: float  # of the strategy
    projection: float | None  # c of nash_conv = c/T after the short run, None if T was given
    is_plain: bool  # whether iterations of the rule weigh the same, as [B20] Theorem 6 takes for granted
    num_passes: int  # over the tree, one player each, short run included

    __repr__ = brief_repr

    @property
    def is_covered(self) -> bool:
        """Returns whether substitute values sum to at most 0, as the theorem asks."""
        return sum(self.substitute_values) <= 0


class RunWeights(NamedTuple):
    """What T iterations of a rule weigh in its sums."""

    positive: float  # in positive regrets
    negative: float  # in negative regrets
    squares: float  # sum of the squared weights in positive regrets
    average: float  # in the strategy sum

    @property
    def effective(self) -> float:
        """Returns how many iterations of equal weight have the same bound on their mean regret: T for plain CFR."""
        return self.positive**2 / self.squares

    @classmethod
    def of(cls, rule: Rule, iterations: int) -> RunWeights:
        """Returns the weights after some iterations of a rule, at most as many as `most_iterations` says."""
        if has_equal_weights(rule):
            return cls(*[float(iterations)] * len(cls._fields))
        positive = negative = squares = average = 0.0
        for t in range(1, iterations + 1):
            discounts = rule.discounts(t)
            positive = positive * discounts.positive + 1.0
            negative = negative * discounts.negative + 1.0
            squares = squares * discounts.positive**2 + 1.0
            average = average * discounts.average_decay + discounts.average_weight
        return cls(positive, negative, squares, average)


def has_equal_weights(rule: Rule) -> bool:
    """Returns whether all iterations of a rule weigh 1 in all of its sums, as in plain CFR."""
    # factors depend on t by exponents, under which only the first few iterations can be alike
    return all(rule.discounts(t)[: len(RunWeights._fields)] == (1.0, 1.0, 1.0, 1.0) for t in (1, 2, 3))


def most_iterations(rule: Rule) -> int:
    """Returns the most iterations of a rule that a warm start can stand for."""
    return MOST_ITERATIONS if has_equal_weights(rule) else MOST_WEIGHTS


class StartedSolver(Protocol):
    """A run that can be begun again and measured."""

    @property
    def rule(self) -> Rule:
        """Returns the rule."""
        ...

    def reset(self) -> None:
        """Begins the run again."""
        ...

    def iterate(self, num_iterations: int) -> None:
        """Runs iterations."""
        ...

    def evaluate(self) -> Evaluation:
        """Returns the exact quality of the average strategy."""
        ...


class Substitution(abc.ABC):
    """A strategy on a tree, and its substitute values under any budget."""

    def __init__(self, tolerance: float) -> None:
        self.tolerance = tolerance  # below which sums of values are zero but for rounding
        self.num_passes = 0
        self._known: dict[float, tuple[float, float]] = {}

    @abc.abstractmethod
    def back_up(self, ratio: float) -> tuple[float, float]:
        """Returns v'_i of both players where squared regrets sum to `ratio` times their bound: lambda / T."""

    def values(self, ratio: float) -> tuple[float, float]:
        """Returns the same, backed up once for each ratio."""
        if ratio not in self._known:
            self._known[ratio] = self.back_up(ratio)
        return self._known[ratio]

    def excess(self, ratio: float) -> float:
        """Returns the sum of both values, 0 within rounding; it falls as the ratio grows."""
        total = sum(self.values(ratio))
        return 0.0 if abs(total) <= self.tolerance else total

    def find_ratio(self) -> float:
        """Returns about the least ratio by which the values sum to 0 or less; one over it is the largest T.

        What lambda costs grows about as its root, in which false positions (with the Illinois weights) are soon there.
        """
        first = self.excess(0.0)
        if first <= 0:
            return 0.0
        slack = EXCESS_PRECISION / 2 * first  # the sum is to lie at -slack, give or take as much
        low, high = 0.0, 1.0  # at 1 the strategy's own values are within the bound, and sum to 0
        above, below = first + slack, self.excess(1.0) + slack
        kept = 0.0  # sign of the end that the last step left where it was
        for _ in range(MOST_SEARCHES):
            root = low + (high - low) * above / (above - below)
            found = self.excess(root**2) + slack
            if abs(found) <= slack:
                return root**2
            if found > 0:
                low, above, below = root, found, below / (2 if kept < 0 else 1)
            else:
                high, below, above = root, found, above / (2 if kept > 0 else 1)
            kept = -found
        return high**2


def project_convergence(solver: StartedSolver, num_iterations: int) -> float:
    """Begins a run again and returns c for which c/T fits its nash_conv after T of the first iterations."""
    solver.reset()
    total = 0.0
    for t in range(1, num_iterations + 1):
        solver.iterate(1)
        total += t * solver.evaluate().nash_conv
    return total / num_iterations


class Start(NamedTuple):
    """What `choose_start` chose."""

    report: WarmStartReport
    ratio: float  # lambda over the effective iterations
    weights: RunWeights


def choose_start(solver: StartedSolver, given: Substitution, config: WarmStart) -> Start:
    """Returns T, lambda and weights of a warm start; begins the run again if T must be found."""
    if solver.rule.kernel.policy_map is not PolicyMap.REGRET_MATCHING:
        raise ConfigError(f"warm starts set the regrets of regret matching, got rule {solver.rule.name}")
    nash_conv = max(given.excess(0.0), 0.0)
    iterations, projection = config.iterations, None
    if iterations is None:
        if not nash_conv:
            raise ConfigError("nothing is left to gain against this strategy: give the iterations that it stands for")
        projection = project_convergence(solver, config.projection_iterations)
        given.num_passes += 6 * config.projection_iterations  # two to update, four to evaluate
        iterations = min(max(1, round(projection / nash_conv)), most_iterations(solver.rule))
    elif iterations > most_iterations(solver.rule):
        raise ConfigError(
            f"weights of {solver.rule.name} are added up for at most {most_iterations(solver.rule):,} iterations, "
            f"got {iterations:,}"
        )
    weights = RunWeights.of(solver.rule, iterations)
    if given.excess(1 / weights.effective) > 0:
        most = math.floor(iterations / (given.find_ratio() * weights.effective))
        if config.iterations is not None:
            raise ConfigError(
                f"a warm start to {iterations:,} iterations is above what theory allows for this strategy: "
                f"at most {most:,} under bound {config.bound}"
            )
        iterations, weights = most, RunWeights.of(solver.rule, most)
    share = config.bound_share
    if share is None:
        share = min(given.find_ratio() * weights.effective, 1.0)
    ratio = share / weights.effective
    report = WarmStartReport(
        iterations=iterations,
        bound=config.bound,
        bound_share=share,
        substitute_values=given.values(ratio),
        nash_conv=nash_conv,
        projection=projection,
        is_plain=weights == (iterations,) * len(weights) and not solver.rule.kernel.floors_regrets,
        num_passes=given.num_passes,
    )
    return Start(report, ratio, weights)


def check_zero_sum(num_players: int, is_zero_sum: bool) -> None:
    """Raises `ConfigError` unless the sum of substitute values means something."""
    if num_players != 2 or not is_zero_sum:
        kind = "zero-sum" if is_zero_sum else "not zero-sum"
        raise ConfigError(f"warm starts need two players and a zero-sum game, got {num_players} players, {kind}")
