# SPDX-License-Identifier: Apache-2.0
"""A training by Deep CFR: traversals, memories, regressors. What predicts is handed in; nothing here needs torch."""

from __future__ import annotations

import abc
import dataclasses
import json
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import AbandonedError, ConfigError, NotConvergedError
from equipoise.core.interruption import IsInterrupted, never
from equipoise.kernels.calls import check_integer
from equipoise.learning.columns import ColumnMemory
from equipoise.learning.deep_cfr.memory import make_memory
from equipoise.learning.deep_cfr.regressors import Regressor, match_regrets
from equipoise.learning.deep_cfr.settings import DeepCFRSettings, Weighting
from equipoise.learning.deep_cfr.walks import TreeWalks, Walks
from equipoise.solvers.best_response import Evaluation, bind_history_kernel, evaluate

__all__ = ["DeepCFR", "DeepCFRRecord", "IteratedTraining", "TreeAverage"]

FloatArray = npt.NDArray[np.float64]
AnyArray = npt.NDArray[Any]

STATE_VERSION: Final = 1
MOST_TABULATED: Final = 100_000  # information sets of a tree on which every iteration's strategy is added up


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class DeepCFRRecord:
    """Where a training stands after an iteration."""

    examples: int  # iterations
    step: int  # of all fits
    loss: float  # of the last fit, at its end
    nodes_touched: int
    cpu_seconds: float  # of training so far, tests left out


class IteratedTraining(abc.ABC):
    """A training in iterations, whoever learns in them."""

    settings: DeepCFRSettings
    iteration: int  # so far
    cpu_seconds: float  # of them

    @property
    @abc.abstractmethod
    def step(self) -> int:
        """Returns the updates of weights so far."""

    @property
    @abc.abstractmethod
    def loss(self) -> float:
        """Returns the last loss."""

    @property
    @abc.abstractmethod
    def nodes_touched(self) -> int:
        """Returns the histories visited so far."""

    @abc.abstractmethod
    def iterate(self, num_iterations: int, is_interrupted: IsInterrupted = never) -> None:
        """Runs iterations; raises `AbandonedError` within one once it is interrupted."""

    @property
    def examples(self) -> int:
        """Returns what progress is counted in: iterations."""
        return self.iteration

    @property
    def is_done(self) -> bool:
        """Returns whether all iterations are run."""
        return self.iteration >= self.settings.iterations

    def run(
        self, is_over: Callable[[], bool] = never, *, is_interrupted: IsInterrupted = never
    ) -> Iterator[DeepCFRRecord]:
        """Yields a record after each iteration.

        Args:
            is_over: says whether to stop early; asked before each iteration.
            is_interrupted: says whether to stop at once, within an iteration as well: a state can be kept there, too.
        """
        while not self.is_done and not is_over():
            try:
                self.iterate(1, is_interrupted)
            except AbandonedError:
                return
            yield DeepCFRRecord(
                examples=self.iteration,
                step=self.step,
                loss=self.loss,
                nodes_touched=self.nodes_touched,
                cpu_seconds=self.cpu_seconds,
            )


class TreeAverage:
    """The average of all iterations' strategies on a tree, each weighed by its number: what single Deep CFR plays."""

    def __init__(self, walks: TreeWalks) -> None:
        """Begins with nothing."""
        self.walks = walks
        self.kernel = bind_history_kernel(walks.tree)
        self.total = np.zeros(walks.kernel.num_sequences)

    def add(self, player: int, strategy: FloatArray, weight: float) -> None:
        """Adds one player's part of a strategy `[Q]`, by own reach."""
        start = self.walks.tree.sequence_start
        own = slice(int(start[player]), int(start[player + 1]))
        self.total[own] += weight * self.kernel.realize(strategy)[own]

    def strategy(self) -> FloatArray:
        """Returns `[Q]` the average."""
        return self.kernel.normalize(self.total)


class DeepCFR(IteratedTraining):
    """A run of Deep CFR, whatever predicts.

    Paper: Brown 2020, PhD thesis, Algorithms 1 and 2 [B20].
    Symbols: T, K -> settings; M_V -> memories; M_Pi -> policy_memory; V -> regressors.
    Departs from the paper: any number of players; an information set that a traversal meets again plays the same action
        on trees; exact ties for the largest advantage share (the first iteration is uniform).
    Checked by: tests/learning/deep_cfr/test_training.py.

    >>> from equipoise.games import make_game
    >>> from equipoise.learning.deep_cfr.regressors import TableRegressor
    >>> from equipoise.trees import build_history_tree
    >>> tree = build_history_tree(make_game("kuhn"))
    >>> settings = DeepCFRSettings(traversals=100, capacity=100_000)
    >>> walks = TreeWalks(tree, settings, rng=np.random.default_rng(0))
    >>> run = DeepCFR(walks, settings, [TableRegressor(12, 2), TableRegressor(12, 2)])
    >>> run.iterate(100)
    >>> run.evaluate().exploitability < 0.05
    True
    """

    def __init__(self, walks: Walks, settings: DeepCFRSettings, regressors: Sequence[Regressor]) -> None:
        """Begins a training; there is a regressor for each player."""
        if len(regressors) != walks.num_players:
            raise ConfigError(f"there must be {walks.num_players} regressors, one a player, got {len(regressors)}")
        self.walks, self.settings, self.regressors = walks, settings, list(regressors)
        self.rng = np.random.default_rng([settings.seed, 23])
        dtype = regressors[0].dtype
        shapes = {
            "place": walks.place_shape,
            "is_legal": ((walks.num_actions,), np.bool_),
            "target": ((walks.num_actions,), dtype),
            "weight": ((), dtype),
        }

        def remember(purpose: str) -> ColumnMemory:
            return make_memory(settings.memory, settings.capacity, shapes, purpose=purpose, rng=self.rng)

        self.memories = [remember("regrets") for _ in range(walks.num_players)]
        self.policy_memory = remember("strategies")
        self.iteration = 0
        self.stage = 0  # of the iteration under way: three for each player
        self.cpu_seconds = 0.0
        self.average: TreeAverage | None = None
        if isinstance(walks, TreeWalks) and walks.tree.num_actions.size <= MOST_TABULATED:
            self.average = TreeAverage(walks)

    @property
    def step(self) -> int:
        """Returns the steps of all fits so far."""
        return self.iteration * self.walks.num_players * self.settings.steps

    @property
    def loss(self) -> float:
        """Returns the mean loss of the last fits at their ends, NaN if nobody says."""
        losses = [getattr(one, "loss", math.nan) for one in self.regressors]
        return float(np.mean(losses))

    @property
    def nodes_touched(self) -> int:
        """Returns the histories that traversals visited so far."""
        return self.walks.nodes_touched

    def iterate(self, num_iterations: int, is_interrupted: IsInterrupted = never) -> None:
        """Runs iterations: for every player in turn, traversals and a fit.

        Raises `AbandonedError` once it is interrupted: the traversals or the fit under way are undone, and come next.
        """
        check_integer("num_iterations", num_iterations, 0)
        for _ in range(num_iterations):
            began = time.process_time()
            try:
                self._finish_iteration(is_interrupted)
            finally:
                self.cpu_seconds += time.process_time() - began

    def _finish_iteration(self, is_interrupted: IsInterrupted) -> None:
        """Runs the stages of an iteration that are left."""
        weight = float(self.iteration + 1) if self.settings.weighting is Weighting.LINEAR else 1.0
        stages = [
            lambda player: self._add_to_average(player, weight),
            lambda player: self._traverse(player, weight, is_interrupted),
            lambda player: self._fit(player, is_interrupted),
        ]
        while self.stage < len(stages) * self.walks.num_players:
            if is_interrupted():
                raise AbandonedError("an iteration was interrupted")
            player, number = divmod(self.stage, len(stages))
            stages[number](player)
            self.stage += 1
        self.iteration, self.stage = self.iteration + 1, 0

    def play(self, player: int, place: AnyArray, is_legal: npt.NDArray[np.bool_]) -> FloatArray:
        """Returns `[B, A]` what a player does now."""
        advantage = self.regressors[player].predict(place, is_legal)
        if not np.isfinite(advantage).all():
            raise NotConvergedError(
                f"player {player}'s advantages are no numbers after {self.iteration:,} iterations: lower the rate, "
                f"{self.settings.rate:g}"
            )
        return match_regrets(advantage, is_legal, self.settings.fallback)

    def _traverse(self, player: int, weight: float, is_interrupted: IsInterrupted) -> None:
        if self.average is not None:
            self._tabulate()  # after going on, strategies are asked for in the batches in which they were
        before = self.walks.state()
        try:
            found = self.walks.collect(player, self.play, self.settings.traversals, is_interrupted=is_interrupted)
        except AbandonedError:
            self.walks.restore(before)
            raise
        weights = np.full(len(found.place), weight)
        self.memories[player].append(
            {"place": found.place, "is_legal": found.is_legal, "target": found.regret, "weight": weights}
        )
        self.policy_memory.append(
            {
                "place": found.met_place,
                "is_legal": found.met_is_legal,
                "target": found.met_strategy,
                "weight": weight * found.met_weight,
            }
        )

    def _fit(self, player: int, is_interrupted: IsInterrupted) -> None:
        before = self.regressors[player].state()
        try:
            self.regressors[player].fit(self.memories[player], self.iteration + 1, is_interrupted=is_interrupted)
        except AbandonedError:
            self.regressors[player].restore(before)
            raise
        self.walks.forget(player)

    def _add_to_average(self, player: int, weight: float) -> None:
        """Adds what the next player does while this one traverses: every player once an iteration."""
        if self.average is not None:
            other = (player + 1) % self.walks.num_players
            self.average.add(other, self._tabulate(), weight)

    def _tabulate(self) -> FloatArray:
        assert isinstance(self.walks, TreeWalks)
        return self.walks.tabulate(self.play)

    def evaluate(self, strategy: FloatArray | None = None) -> Evaluation:
        """Returns the exact quality of a strategy `[Q]`, that of the average of all iterations if None."""
        if self.average is None:
            raise ConfigError("exact figures need a tree that is small enough")
        assert isinstance(self.walks, TreeWalks)
        found = self.average.strategy() if strategy is None else strategy
        return evaluate(self.walks.tree, found, kernel=self.average.kernel)

    # --- kept states ---

    def state(self) -> dict[str, AnyArray]:
        """Returns all that a run needs to go on to the bit."""
        arrays: dict[str, AnyArray] = {
            "progress": np.array([STATE_VERSION, self.iteration, self.cpu_seconds]),
            "stage": np.array([self.stage]),
            "rng": np.frombuffer(json.dumps(self.rng.bit_generator.state).encode(), np.uint8).copy(),
        }
        for prefix, part in self._parts():
            arrays |= {f"{prefix}.{name}": array for name, array in part.state().items()}
        if self.average is not None:
            arrays["average"] = self.average.total.copy()
        return arrays

    def restore(self, arrays: Mapping[str, AnyArray]) -> None:
        """Goes back to a state of a run with the same settings."""
        try:
            version, iteration, self.cpu_seconds = arrays["progress"].tolist()
            if version != STATE_VERSION:
                raise ConfigError(f"the training was saved in form {version:g}, this version reads {STATE_VERSION}")
            for prefix, part in self._parts():
                start = f"{prefix}."
                part.restore({name[len(start) :]: array for name, array in arrays.items() if name.startswith(start)})
            self.rng.bit_generator.state = json.loads(bytes(arrays["rng"].tobytes()))
            if self.average is not None:
                self.average.total[:] = arrays["average"]
            self.iteration, self.stage = int(iteration), int(arrays["stage"][0]) if "stage" in arrays else 0
        except (KeyError, RuntimeError, ValueError) as error:
            raise ConfigError(f"the saved training is of another one: {error}") from None

    def _parts(self) -> list[tuple[str, Any]]:
        memories = [(f"memory{player}", memory) for player, memory in enumerate(self.memories)]
        regressors = [(f"regressor{player}", one) for player, one in enumerate(self.regressors)]
        return [("walks", self.walks), ("policy", self.policy_memory), *memories, *regressors]
