# SPDX-License-Identifier: Apache-2.0
"""CFR in games whose payoffs depend on parameters, and the transfer of what it learnt from one point to another.

Not for games whose tree changes with the parameters: what is transferred is replayed, and needs the same decisions.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from equipoise.core import checkpoint
from equipoise.core.checkpoint import Kind
from equipoise.core.errors import CheckpointError, ConfigError
from equipoise.core.files import StrPath
from equipoise.core.formatting import run_repr
from equipoise.games.registry import parse_game
from equipoise.kernels.arrays import draw_generator
from equipoise.kernels.parametric import ChanceArrays, ParametricKernel
from equipoise.solvers.best_response import Evaluation, bind_history_kernel, evaluate
from equipoise.solvers.saved_state import name_tables, overwrite_tables, read_array, read_number
from equipoise.trees.parametric import ParametricTree, build_parametric_tree, group_by_chance

__all__ = [
    "ParametricSolver",
    "TransferReport",
    "increase_weight",
    "load_parametric_run",
    "potential_weight",
]

FloatArray = npt.NDArray[np.float64]
FORMAT: Final = "run under parameters"
RANDOM: Final = "random_words"


def increase_weight(increase: float, *, num_actions: int, iterations: float, payoff: float) -> float:
    """Returns the weight of old iterations from the largest increase of average regret, (4.52).

    Args:
        increase: delta of (4.51), largest increase of an action's average regret; at least 0.
        num_actions: most actions of an information set.
        iterations: effective ones so far, T.
        payoff: the payoff range, or less: the average payoff, as the thesis's experiments take it.

    >>> round(increase_weight(0.0071, num_actions=3, iterations=1e6, payoff=5.0), 3)
    0.126
    """
    if not payoff > 0:
        raise ConfigError(f"payoff must be above 0, got {payoff}")
    root = math.sqrt(iterations)
    return 1.0 / (1.0 + 2.0 * increase * math.sqrt(num_actions) * root / payoff + (increase * root / payoff) ** 2)


def potential_weight(before: FloatArray, after: FloatArray) -> float:
    """Returns the ratio of two tables' potentials, at most 1: the weight that keeps what regret matching guarantees.

    >>> potential_weight(np.array([1.0, -2.0]), np.array([2.0, -5.0]))
    0.25
    """
    old, new = (float(np.sum(np.maximum(table, 0.0) ** 2)) for table in (before, after))
    return min(1.0, old / new) if new > 0 else 1.0


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class TransferReport:
    """What a transfer found and did.

    >>> TransferReport(increase=0.01, weight=0.125, potential_ratio=0.3, iterations=125.0).weight
    0.125
    """

    increase: float  # delta, largest increase of an action's average regret
    weight: float  # by which everything so far was multiplied
    potential_ratio: float  # the weight that potentials would have given, over both players
    iterations: float  # effective ones after it


class ParametricSolver:
    """A run of CFR at one point of a game's parameters, whose regrets are known at every other point.

    Paper: Brown 2020, thesis [B20] section 4.2.1 to 4.2.3; Brown & Sandholm 2014, "Regret Transfer and Parameter
        Optimization", AAAI.
    Symbols: theta -> point; R_alpha, R_beta -> regret_sum by terms; T -> iterations; w -> weight; L of (4.51) ->
        increase; U -> payoff.
    Departs from the paper: payoffs are polynomials, not affine alone; what was done is multiplied by the weight, where
        the thesis divides what follows (its footnote 5: the same); Corollary 5 prints its difference with the signs
        reversed.
    Checked by: tests/solvers/test_parametric.py.

    >>> from equipoise.trees import build_parametric_tree
    >>> tree = build_parametric_tree("leduc(merge_suits=true)", ["raise_sizes"])
    >>> run = ParametricSolver(tree)
    >>> run.iterate(200)
    >>> report = run.transfer((2.125, 4.125), payoff=5.0)
    >>> 0 < report.weight < 1, run.point
    (True, (2.125, 4.125))
    """

    def __init__(
        self,
        tree: ParametricTree,
        point: Sequence[float] | None = None,
        *,
        is_alternating: bool = True,
        rng: np.random.Generator | None = None,
        groups: ChanceArrays | None = None,
    ) -> None:
        """Begins a run.

        Args:
            tree: the game.
            point: of the parameters; the tree's base if None.
            is_alternating: whether the second player sees the first one's update of the same iteration.
            rng: draws chance, one deal an update; None: every iteration takes all of it.
            groups: of the tree's terminals by chance, if they are known already.
        """
        self.tree = tree
        self.is_alternating = is_alternating
        self._history = bind_history_kernel(tree.tree)
        self._is_sampled = rng is not None
        self.random_words = np.ones(4, np.uint64) if rng is None else draw_generator(rng)
        source = tree.tree
        self.kernel = ParametricKernel(
            self._history,
            terminal_sequence=source.terminal_sequence,
            infoset_start=source.infoset_start,
            first_sequence=source.first_sequence,
            num_actions=source.num_actions,
            parent_sequence=source.parent_sequence,
            payoff=tree.payoff,
            chance=source.terminal_chance,
            groups=group_by_chance(source) if groups is None else groups,
        )
        self.tables = self.kernel.allocate_tables()
        self.iterations = 0.0  # effective: what was done, weighted
        self.iterations_run = 0
        self.move(tree.base if point is None else point)

    __repr__ = run_repr

    @property
    def iteration(self) -> int:
        """Returns how many iterations were run."""
        return self.iterations_run

    @property
    def num_actions(self) -> int:
        """Returns the most actions of an information set."""
        return int(self.tree.tree.num_actions.max(initial=1))

    def iterate(self, num_iterations: int) -> None:
        """Runs iterations at the point where the run is."""
        words = self.random_words if self._is_sampled else None
        self.kernel.iterate(
            self.tables, self._term, num_iterations, is_alternating=self.is_alternating, random_words=words
        )
        self.iterations += num_iterations
        self.iterations_run += num_iterations

    def regrets(self, point: Sequence[float] | None = None) -> FloatArray:
        """Returns `[Q]` the regrets that the same play has at a point, by default where the run is."""
        return self._combine(self._term if point is None else self.tree.terms(point))

    def _combine(self, term: FloatArray) -> FloatArray:
        found = np.zeros(self.kernel.num_sequences)
        for k in range(term.size):  # in a fixed order, whatever the processor
            found += self.tables.regret_sum[:, k] * term[k]
        return found

    def increase_at(self, point: Sequence[float]) -> float:
        """Returns delta of (4.51): by how much an action's average regret is larger at a point than here, at most."""
        if self.iterations <= 0:
            return 0.0
        return max(0.0, float(self._combine(self.tree.terms(point) - self._term).max())) / self.iterations

    def move(self, point: Sequence[float]) -> None:
        """Goes on at another point, as if all that was done had been done there; nothing is weighted."""
        self.point = self.tree.check_point(point)
        self._term = self.tree.terms(self.point)
        self.kernel.play(self.tables, self._term)

    def discount(self, weight: float) -> None:
        """Multiplies regrets, averages and the count of iterations by a weight."""
        if not 0 <= weight <= 1:
            raise ConfigError(f"a weight of what was done must be between 0 and 1, got {weight:g}")
        self.tables.regret_sum[...] *= weight
        self.tables.strategy_sum[...] *= weight
        self.iterations *= weight

    def transfer(
        self, point: Sequence[float], *, payoff: float | None = None, weight: float | None = None
    ) -> TransferReport:
        """Goes on at another point with the regrets of the same play there, weighted; returns by how much.

        Args:
            point: of the parameters.
            payoff: U of (4.52), from which the weight follows; by default the mean payoff of the game's ends.
            weight: of what was done, in place of the formula's.
        """
        scale = mean_payoff(self.tree, self.point) if payoff is None else payoff
        increase, before = self.increase_at(point), self.regrets()
        found = increase_weight(increase, num_actions=self.num_actions, iterations=self.iterations, payoff=scale)
        used = found if weight is None else weight
        self.move(point)
        ratio = potential_weight(before, self.regrets())
        self.discount(used)
        return TransferReport(increase=increase, weight=used, potential_ratio=ratio, iterations=self.iterations)

    def average_strategy(self) -> FloatArray:
        """Returns `[Q]` the average strategies."""
        return self._history.normalize(self.tables.strategy_sum)

    def value(self, player: int = 0, point: Sequence[float] | None = None) -> float:
        """Returns what the average strategies earn a player at a point, by default where the run is."""
        reach = self._history.realize(self.average_strategy())
        source = self.tree.tree
        weight = source.terminal_chance * reach[source.terminal_sequence[0]] * reach[source.terminal_sequence[1]]
        earned = float(np.sum(weight * self.tree.utility(self.point if point is None else point)))
        return earned if player == 0 else -earned

    def evaluate(self) -> Evaluation:
        """Returns the exact quality of the average strategies at the point where the run is."""
        return evaluate(self.tree.at(self.point), self.average_strategy())

    def save(self, path: StrPath) -> None:
        """Writes the run to a file from which `load_parametric_run` goes on to the bit."""
        metadata: dict[str, Any] = {
            "format": FORMAT,
            "game": self.tree.tree.game_label,
            "parameters": list(self.tree.names),
            "point": list(self.point),
            "iterations_run": self.iterations_run,
            "is_alternating": self.is_alternating,
            "is_sampled": self._is_sampled,
        }
        arrays = {**name_tables(self.tables), RANDOM: self.random_words, "iterations": np.array(self.iterations)}
        checkpoint.save(path, Kind.TABLE, metadata, arrays)


def load_parametric_run(path: StrPath) -> ParametricSolver:
    """Returns a run that `ParametricSolver.save` wrote.

    Raises:
        CheckpointError: the file is damaged, or holds something else.

    >>> import pathlib, tempfile
    >>> from equipoise.trees import build_parametric_tree
    >>> run = ParametricSolver(build_parametric_tree("leduc(merge_suits=true)", ["raise_sizes"]))
    >>> run.iterate(10)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run.save(pathlib.Path(folder, "run.eq"))
    ...     load_parametric_run(pathlib.Path(folder, "run.eq"))
    <ParametricSolver after 10 iterations>
    """
    saved = checkpoint.load(path, Kind.TABLE)
    facts = saved.metadata
    if facts.get("format") != FORMAT:
        raise CheckpointError(f"{path} is not a {FORMAT}: only such a run keeps what regrets are at other points")
    try:
        tree = build_parametric_tree(parse_game(facts["game"]), facts["parameters"])
        point, count = [float(value) for value in facts["point"]], int(facts["iterations_run"])
        rng = np.random.default_rng(0) if facts["is_sampled"] else None
        run = ParametricSolver(tree, point, is_alternating=bool(facts["is_alternating"]), rng=rng)
    except (KeyError, TypeError, ValueError) as error:
        raise CheckpointError(f"{path} does not say which run it is of: {error}") from None
    overwrite_tables(name_tables(run.tables), saved.arrays)
    run.random_words[...] = read_array(saved.arrays, RANDOM, np.uint64, (4,))
    run.iterations, run.iterations_run = read_number(saved.arrays, "iterations"), count
    return run


def mean_payoff(tree: ParametricTree, point: Sequence[float]) -> float:
    """Returns the mean stake of a game's ends at a point, each counting once: U where nobody says otherwise."""
    return float(np.abs(tree.utility(point)).mean()) or 1.0
