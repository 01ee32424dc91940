# SPDX-License-Identifier: Apache-2.0
"""Strategies trained against sampled responses of one strength, evaluated against all: for `cfr-uct` and `cfr-fbr`."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.games.registry import make_game
from equipoise.responses.against import AgainstSolver
from equipoise.responses.on_tree import OnTree
from equipoise.responses.protocol import Response
from equipoise.responses.values import response_value
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rules import CFR
from equipoise.studies.study import Claim, Measured, Point, Step, Verdict
from equipoise.trees.history import HistoryTree, build_history_tree

__all__ = [
    "BASELINE",
    "EVALUATION_SEED",
    "EXPLOITABILITY",
    "HALF_WIDTH",
    "LOSS_TO_BASELINE",
    "MILLI",
    "Cell",
    "Course",
    "Trained",
    "TrainingConfiguration",
    "build_leduc",
    "claim",
    "compare_cells",
    "list_cells",
    "measure_against",
    "read_cell",
    "train_baseline",
]

FloatArray = npt.NDArray[np.float64]

BASELINE: Final = "CFR"
HALF_WIDTH: Final = "± 95 %: "  # before the name of a panel: the intervals of its values
EXPLOITABILITY: Final = "exploitability"
LOSS_TO_BASELINE: Final = "loss to CFR"
MILLI: Final = 1000.0  # values are reported in thousandths of a chip
EVALUATION_SEED: Final = 1_000_003  # no training run has it
CHUNK: Final = 50  # iterations between two looks at the clock


class Trained(NamedTuple):
    """A strategy and how it came about."""

    name: str  # of its curve
    strength: int  # n of the response that it was trained against; 0: none
    run: int  # training seed
    strategy: FloatArray  # [Q]


class Cell(NamedTuple):
    """A mean with its interval, in thousandths of a chip."""

    mean: float
    half_width: float

    @property
    def low(self) -> float:
        """Returns the lower end of the interval."""
        return self.mean - self.half_width

    @property
    def high(self) -> float:
        """Returns the upper end of the interval."""
        return self.mean + self.half_width

    def __str__(self) -> str:
        return f"{self.mean:.0f} ± {self.half_width:.1f}"


def build_leduc() -> HistoryTree:
    """Returns Leduc with suits, as the thesis's count of information sets says."""
    return build_history_tree(make_game("leduc"))


def train_baseline(tree: HistoryTree, iterations: int) -> Trained:
    """Returns the average of plain CFR."""
    solver = CFRSolver(tree, CFR())
    solver.iterate(iterations)
    return Trained(BASELINE, 0, 0, solver.average_strategy())


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class TrainingConfiguration:
    """What is trained, for how long, and how it is evaluated."""

    strengths: tuple[int, ...]  # n of the responses in training: small ones first
    iterations: tuple[int, ...]  # of CFR-f, for each of these
    evaluations: tuple[int, ...]  # n of the responses in evaluation
    num_seeds: int
    num_responses: int
    baseline_iterations: int = 20_000

    def __post_init__(self) -> None:
        if len(self.strengths) != len(self.iterations):
            raise ConfigError(
                f"strengths and iterations must be as many, got {len(self.strengths)} and {len(self.iterations)}"
            )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """A training run, and which share of a study it takes."""

    name: str
    strength: int
    run: int
    response: Response
    iterations: int

    def train(self, tree: HistoryTree) -> Iterator[float | Trained]:
        """Yields the share that is done, and at last the strategy."""
        solver = AgainstSolver(tree, self.response, seed=self.run)
        while solver.iteration < self.iterations:
            solver.iterate(min(CHUNK, self.iterations - solver.iteration))
            yield solver.iteration / self.iterations
        yield Trained(self.name, self.strength, self.run, solver.average_strategy())


def measure_against(
    on_tree: OnTree,
    panel: str,
    baseline: Trained,
    courses: Sequence[Course],
    evaluators: Sequence[tuple[int, Response]],
    *,
    num_responses: int,
    span: tuple[float, float],
    cost: Callable[[int], float],
) -> Iterator[Step]:
    """Yields training runs, and each strategy's value against every response, against CFR and a best response.

    Args:
        on_tree: the game.
        panel: name of the points.
        baseline: the strategy of plain CFR.
        courses: what is trained.
        evaluators: responses by their strength.
        num_responses: draws of each.
        span: shares of the study at which this begins and ends.
        cost: of one answer of a strength, in any unit.
    """
    assert isinstance(on_tree.tree, HistoryTree)
    evaluation = num_responses * sum(cost(strength) for strength, _ in evaluators)
    costs = [evaluation, *(course.iterations * cost(course.strength) + evaluation for course in courses)]
    total, done = sum(costs), 0.0

    def share(part: float) -> float:
        return span[0] + (span[1] - span[0]) * min(1.0, (done + part) / total)

    yield from _evaluate(on_tree, panel, baseline, baseline, evaluators, num_responses, lambda x: share(x * costs[0]))
    done += costs[0]
    for course, whole in zip(courses, costs[1:], strict=True):
        training = whole - evaluation
        for state in course.train(on_tree.tree):
            if isinstance(state, Trained):
                done += training
                yield from _evaluate(
                    on_tree, panel, state, baseline, evaluators, num_responses, lambda x: share(x * evaluation)
                )
                done += evaluation
            else:
                yield Step(fraction=min(0.999, share(state * training)), text=f"training {course.name}")


def _evaluate(
    on_tree: OnTree,
    panel: str,
    trained: Trained,
    baseline: Trained,
    evaluators: Sequence[tuple[int, Response]],
    num_responses: int,
    share: Callable[[float], float],
) -> Iterator[Step]:
    def point(kind: str, x: int, y: float) -> Point:
        return Point(panel=kind, curve=trained.name, x=x, y=y * MILLI, run=trained.run)

    duel = sum(on_tree.value(on_tree.combine(baseline.strategy, trained.strategy, seat), seat) for seat in (0, 1)) / 2
    x = max(trained.strength, 1)
    exploitability = on_tree.evaluate(trained.strategy).exploitability
    points = [
        point(f"{panel}, {EXPLOITABILITY}", x, exploitability),
        point(f"{panel}, {LOSS_TO_BASELINE}", x, -duel),
    ]
    yield Step(fraction=min(0.999, share(0.0)), text=f"evaluating {trained.name}", points=tuple(points))
    for place, (strength, response) in enumerate(evaluators, start=1):
        value = response_value(
            on_tree, trained.strategy, response, seed=EVALUATION_SEED + trained.run, num_responses=num_responses
        )
        yield Step(
            fraction=min(0.999, share(place / len(evaluators))),
            text=f"evaluating {trained.name} against {response.name}",
            points=(
                point(panel, strength, value.mean),
                point(HALF_WIDTH + panel, strength, value.half_width),
            ),
        )


def read_cell(measured: Measured, panel: str, curve: str, x: int) -> list[Cell]:
    """Returns what every training run measured, in the order of means."""
    means, widths = (measured.runs(kind, curve, x) for kind in (panel, HALF_WIDTH + panel))
    # widths of runs differ little; the largest is on the safe side
    return [Cell(mean, max(widths)) for mean in means] if widths else []


def compare_cells(pairs: Sequence[tuple[list[Cell], list[Cell]]], *, margin: float = 0.0) -> Verdict:
    """Returns whether the first cells lie above the second ones in every pair, intervals apart, for all training runs.

    Denied if in some pair all runs lie below, intervals apart; undecided in between.

    Args:
        pairs: of cells by training run.
        margin: by which the first must lie above.
    """
    if not pairs or any(not first or not second for first, second in pairs):
        return Verdict.NOT_MEASURED
    above, below = [], []
    for first, second in pairs:
        above.append(all(one.low > other.high + margin for one in first for other in second))
        below.append(all(one.high < other.low + margin for one in first for other in second))
    if any(below):
        return Verdict.DENIED
    return Verdict.CONFIRMED if all(above) else Verdict.UNDECIDED


def list_cells(cells: Sequence[Cell]) -> str:
    """Returns cells as people read them; of several training runs, all."""
    return " / ".join(map(str, cells)) or "nothing"


def claim(statement: str, source: str, verdict: Verdict, ours: str) -> Claim:
    """Returns a verdict with its numbers."""
    return Claim(statement=statement, source=source, verdict=verdict, ours=ours or "nothing")
