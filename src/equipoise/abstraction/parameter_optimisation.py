# SPDX-License-Identifier: Apache-2.0
"""Parameters that find themselves: gradient ascent on a game's value while the game is being solved.

For payoffs that depend on parameters over one tree (`ParametricTree`); bet sizes of hold'em spots are optimised in
`abstraction/bet_sizes.py`, where trees change with them.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence

import numpy as np

from equipoise.core.errors import ConfigError
from equipoise.core.formatting import run_repr
from equipoise.solvers.parametric import ParametricSolver, increase_weight, mean_payoff
from equipoise.trees.parametric import ParametricTree, group_by_chance

__all__ = ["OptimisationConfig", "ParameterOptimiser", "ParameterStep"]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class OptimisationConfig:
    """How parameters are moved; defaults are those of the thesis's experiments on Leduc."""

    player: int = 1  # whose value is made large; Leduc's figures are those of the player who acts last
    iterations: int = 100  # K: after step s a probe is worth K s of them
    rate: float = 50.0  # alpha
    exponent: float = 0.75  # the learning rate falls as s ** -exponent; from 1/2 to 1
    width: float = 1.0  # distance of the probes from the point at step 1, in units of the parameters
    payoff: float | None = None  # U, average payoff; None: the mean stake of the game's ends
    lowest: float = 0.015625  # least value of a parameter
    highest: float = math.inf  # largest
    most_share: float = 0.5  # of a parameter's value that one step may move it by
    samples_chance: bool = False  # both probes then see the same cards

    def __post_init__(self) -> None:
        if self.player not in (0, 1):
            raise ConfigError(f"player must be 0 or 1, got {self.player}")
        if self.iterations < 1:
            raise ConfigError(f"iterations must be at least 1, got {self.iterations}")
        if not 0.5 <= self.exponent <= 1.0:
            raise ConfigError(f"exponent must be between 0.5 and 1, got {self.exponent:g}")
        for name in ("rate", "width", "most_share"):
            if not 0 < getattr(self, name) < math.inf:
                raise ConfigError(f"{name} must be above 0, got {getattr(self, name):g}")
        if self.payoff is not None and not 0 < self.payoff < math.inf:
            raise ConfigError(f"payoff must be above 0, got {self.payoff:g}")
        if not self.lowest < self.highest:
            raise ConfigError(f"lowest must be below highest, got {self.lowest:g} and {self.highest:g}")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ParameterStep:
    """Where a step led."""

    step: int  # s, from 1
    iterations: int  # run so far, by each probe
    point: tuple[float, ...]  # after the step
    gradient: tuple[float, ...]
    value: float  # of the player, midway between the probes
    weight: float  # by which what was done before was multiplied


class ParameterOptimiser:
    """A run of Algorithm 3: two probes a parameter, each with its tables, and steps between them.

    Paper: Brown 2020, thesis [B20] section 4.2.5, Algorithm 3; Brown & Sandholm 2014.
    Symbols: theta -> point; theta_d-, theta_d+ -> probes; K -> iterations; alpha / ell(s) -> rate / s ** exponent; U ->
        payoff; s, t -> step, iterations of the probes.
    Departs from the paper: tables are sums, not averages, and are divided by t where averages are meant; probes are
        kept within the bounds and their real distance divides; a step moves a parameter by a share of its value at
        most, which the first steps of sampled runs would exceed.
    Checked by: tests/abstraction/test_parameter_optimisation.py, study bet-size-optimisation.

    >>> from equipoise.trees import build_parametric_tree
    >>> tree = build_parametric_tree("leduc(merge_suits=true)", ["second_sizes"])
    >>> optimiser = ParameterOptimiser(tree, config=OptimisationConfig(payoff=5.0))
    >>> for _ in range(10):
    ...     taken = optimiser.advance()
    >>> taken.point[0] > 4.5
    True
    """

    def __init__(
        self,
        tree: ParametricTree,
        start: Sequence[float] | None = None,
        *,
        config: OptimisationConfig | None = None,
        rng: np.random.Generator | None = None,
    ) -> None:
        """Begins at a point, the tree's base by default; `rng` draws chance if the configuration samples it."""
        self.tree = tree
        self.config = config = OptimisationConfig() if config is None else config
        self.point = tree.check_point(tree.base if start is None else start)
        for name, value in zip(tree.names, self.point, strict=True):
            if not config.lowest <= value <= config.highest:
                raise ConfigError(
                    f"{name} must be between {config.lowest:g} and {config.highest:g} while it is optimised, "
                    f"got {value:g}"
                )
        if config.samples_chance and rng is None:
            raise ConfigError("an optimisation that samples chance needs rng")
        self.payoff = mean_payoff(tree, self.point) if config.payoff is None else config.payoff
        self.step, self.iterations, self.weighted_iterations = 1, 0, 0.0
        groups = group_by_chance(tree.tree)
        self.probes = [
            ParametricSolver(tree, place, rng=rng if config.samples_chance else None, groups=groups)
            for place in self._places()
        ]
        for probe in self.probes:  # the same cards for all of them
            probe.random_words[...] = self.probes[0].random_words

    __repr__ = run_repr

    @property
    def iteration(self) -> int:
        """Returns the iterations that each probe has run."""
        return self.iterations

    def _places(self) -> list[tuple[float, ...]]:
        """Returns where the probes belong: below and above the point along every parameter."""
        config, places = self.config, []
        for dimension, value in enumerate(self.point):
            for side in (-1.0, 1.0):
                moved = value + side * config.width * self.step**-0.25
                inside = min(max(moved, config.lowest), config.highest)
                places.append((*self.point[:dimension], inside, *self.point[dimension + 1 :]))
        return places

    def advance(self) -> ParameterStep:
        """Runs the iterations of one step, takes it, and returns where it led."""
        config = self.config
        missing = max(0, math.ceil(self.step * config.iterations - self.weighted_iterations))
        for probe in self.probes:
            probe.iterate(missing)
        self.iterations += missing
        self.weighted_iterations += missing
        values = [probe.value(config.player) for probe in self.probes]
        gradient = self._find_gradient(values)
        size = config.rate / self.step**config.exponent
        self.point = tuple(self._move(value, slope * size) for value, slope in zip(self.point, gradient, strict=True))
        taken = self.step
        self.step += 1
        weight = self._carry_over()
        return ParameterStep(
            step=taken,
            iterations=self.iterations,
            point=self.point,
            gradient=gradient,
            value=sum(values) / len(values),
            weight=weight,
        )

    def _find_gradient(self, values: Sequence[float]) -> tuple[float, ...]:
        """Returns central differences of the probes' values, by the distance they really have."""
        found = []
        for dimension in range(len(self.point)):
            below, above = self.probes[2 * dimension : 2 * dimension + 2]
            distance = above.point[dimension] - below.point[dimension]
            found.append((values[2 * dimension + 1] - values[2 * dimension]) / distance)
        return tuple(found)

    def _move(self, value: float, wanted: float) -> float:
        most = self.config.most_share * value
        moved = value + min(max(wanted, -most), most)
        return min(max(moved, self.config.lowest), self.config.highest)

    def _carry_over(self) -> float:
        """Moves the probes with the point, and weighs what they did by the largest increase of any regret."""
        places = self._places()
        increase = max(probe.increase_at(place) for probe, place in zip(self.probes, places, strict=True))
        weight = increase_weight(
            increase,
            num_actions=self.probes[0].num_actions,
            iterations=self.weighted_iterations,
            payoff=self.payoff,
        )
        for probe, place in zip(self.probes, places, strict=True):
            probe.discount(weight)
            probe.move(place)
        self.weighted_iterations *= weight
        return weight

    def run(self, num_iterations: int) -> Iterator[ParameterStep]:
        """Yields steps until each probe has run so many iterations."""
        while self.iterations < num_iterations:
            yield self.advance()

    def describe_point(self) -> str:
        """Returns the parameters by name.

        >>> from equipoise.trees import build_parametric_tree
        >>> ParameterOptimiser(build_parametric_tree("leduc(merge_suits=true)", ["raise_sizes"])).describe_point()
        'first_sizes 2, second_sizes 4'
        """
        return ", ".join(f"{name} {value:.5g}" for name, value in zip(self.tree.names, self.point, strict=True))
