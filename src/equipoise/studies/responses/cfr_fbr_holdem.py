# SPDX-License-Identifier: Apache-2.0
"""Study `cfr-fbr-holdem`: training against frequentist best responses in bucketed limit hold'em, and UCT beside."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.evaluation.plots import PanelLabels
from equipoise.games.holdem.bucketed_limit import MILLI_BLINDS, BucketedLimitHoldem
from equipoise.responses.against import AgainstSolver
from equipoise.responses.lines import LineFBR, Lines, LineUCT
from equipoise.responses.protocol import Response
from equipoise.responses.values import response_value
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rules import CFR
from equipoise.studies.responses.cfr_fbr_claims import (
    CFR_CURVE,
    CPU,
    EXPLOITABILITY,
    FBR_CURVE,
    PLATEAU,
    RACE,
    RACE_MILLISECONDS,
    VALUE,
    WIDTH,
    against_curve,
    judge_race,
    judge_training,
    uct_curve,
)
from equipoise.studies.study import Conclusion, Measured, Point, Size, Step, Study
from equipoise.trees.cache import load_or_build_public_tree

__all__ = ["CFR_FBR_HOLDEM", "HoldemFBRConfiguration"]

SOURCE: Final = "Davis 2015, thesis section 5.2, Figs. 5.3 and 5.4"
SEED: Final = 1
SECONDS_A_STEP: Final = 2.0  # between two lines of progress

FloatArray = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class HoldemFBRConfiguration:
    """What is trained and for how long, and how it is measured."""

    buckets: int = 2  # on every street
    hands: int = 10_000  # that FBR watches, in training and in evaluation
    marks: tuple[int, ...] = (10, 30, 100, 300, 1000)  # updates of each learner at which it is measured
    stale_updates: int = 1200  # that an answer stands for in the second run
    stale_marks: tuple[int, ...] = (1, 3, 10)  # answers after which that run is measured
    draws: int = 20  # of FBR behind a value
    target_updates: int = 100  # of CFR, which make the strategy that FBR and UCT answer in the race
    race_hands: tuple[int, ...] = (1000, 10_000, 100_000)  # of FBR
    race_iterations: tuple[int, ...] = (1000, 10_000, 100_000, 1_000_000)  # of UCT
    explorations: tuple[float, ...] = (2.0, 20.0)  # constants of UCT, in chips
    race_draws: int = 5

    def __post_init__(self) -> None:
        for name in ("marks", "stale_marks", "race_hands", "race_iterations"):
            numbers = getattr(self, name)
            if list(numbers) != sorted(set(numbers)) or min(numbers, default=0) < 1:
                raise ConfigError(f"{name} must be numbers in ascending order, got {', '.join(map(str, numbers))}")
        for name in ("hands", "stale_updates", "target_updates"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")
        if min(self.draws, self.race_draws) < 2:
            raise ConfigError(f"draws and race_draws must be at least 2, got {self.draws} and {self.race_draws}")


class _Learner(Protocol):
    """What is trained."""

    @property
    def iteration(self) -> int: ...

    def iterate(self, num_iterations: int) -> None: ...

    def average_strategy(self) -> FloatArray: ...


class _Bench:
    """The tree, and what is measured on it, in mbb/g."""

    def __init__(self, configuration: HoldemFBRConfiguration) -> None:
        self.configuration = configuration
        self.tree = load_or_build_public_tree(BucketedLimitHoldem(buckets=configuration.buckets))
        self.lines = Lines(self.tree)
        self.fbr = LineFBR(self.lines, configuration.hands)

    def measure(self, curve: str, x: int, strategy: FloatArray, seconds: float) -> tuple[Point, ...]:
        """Returns the value against FBR, its interval, the exploitability and the time that training took."""
        value = response_value(
            self.lines.on_tree, strategy, self.fbr, seed=SEED, num_responses=self.configuration.draws
        )
        exploitability = self.lines.on_tree.evaluate(strategy).exploitability
        figures = {
            VALUE: value.mean * MILLI_BLINDS,
            WIDTH: value.half_width * MILLI_BLINDS,
            EXPLOITABILITY: exploitability * MILLI_BLINDS,
            CPU: seconds,
        }
        return tuple(Point(panel=panel, curve=curve, x=x, y=y) for panel, y in figures.items())

    def race(self, response: Response, curve: str, x: int, strategy: FloatArray) -> tuple[Point, ...]:
        """Returns what a response earns from a strategy, and the milliseconds of CPU time of one answer."""
        on_tree, count = self.lines.on_tree, self.configuration.race_draws
        earned, spent = 0.0, 0.0
        for draw in range(count):
            for seat in (0, 1):
                rng = np.random.default_rng([SEED, draw, seat])
                began = time.process_time()
                answer = response.respond(strategy, seat, rng)
                spent += time.process_time() - began
                earned += on_tree.value(answer, seat)
        scale = 1 / (2 * count)
        return (
            Point(panel=RACE, curve=curve, x=x, y=earned * scale * MILLI_BLINDS),
            Point(panel=RACE_MILLISECONDS, curve=curve, x=x, y=1000 * spent * scale),
        )


def measure(configuration: HoldemFBRConfiguration) -> Iterator[Step]:
    """Yields values against FBR and exploitability of CFR and of CFR-FBR as they train, then the race of responses."""
    yield Step(fraction=0.0, text=f"the tree of {configuration.buckets} buckets a street")
    bench = _Bench(configuration)
    plain = CFRSolver(bench.tree, CFR())
    yield from _train(bench, CFR_CURVE, plain, configuration.marks, (0.0, 0.1))
    target = CFRSolver(bench.tree, CFR())
    target.iterate(configuration.target_updates)
    yield from _race(bench, target.average_strategy(), (0.1, 0.25))
    fresh = AgainstSolver(bench.tree, bench.fbr, seed=SEED)
    yield from _train(bench, against_curve(1), fresh, configuration.marks, (0.25, 0.65))
    updates = configuration.stale_updates
    stale = AgainstSolver(bench.tree, bench.fbr, updates_per_response=updates, seed=SEED)
    marks = tuple(updates * mark for mark in configuration.stale_marks)
    yield from _train(bench, against_curve(updates), stale, marks, (0.65, 1.0))


def _train(
    bench: _Bench, curve: str, learner: _Learner, marks: tuple[int, ...], share: tuple[float, float]
) -> Iterator[Step]:
    """Yields what a learner is worth at the marks; in steps of some seconds, so that progress shows."""
    begin, end = share
    seconds, portion = 0.0, 1
    for mark in marks:
        while learner.iteration < mark:
            began = time.process_time()
            learner.iterate(min(portion, mark - learner.iteration))
            spent = time.process_time() - began
            seconds += spent
            if spent < SECONDS_A_STEP / 2:
                portion *= 2
            done = learner.iteration / marks[-1]
            yield Step(fraction=begin + 0.99 * done * (end - begin), text=f"{curve}: {learner.iteration:,} updates")
        yield Step(
            fraction=begin + (mark / marks[-1]) * (end - begin),
            text=f"{curve}: measured after {mark:,} updates",
            points=bench.measure(curve, mark, learner.average_strategy(), seconds),
        )


def _race(bench: _Bench, strategy: FloatArray, share: tuple[float, float]) -> Iterator[Step]:
    """Yields what FBR and UCT earn from one strategy, by their samples."""
    configuration = bench.configuration
    entries: list[tuple[Response, str, int]] = [
        (LineFBR(bench.lines, hands), FBR_CURVE, hands) for hands in configuration.race_hands
    ]
    entries += [
        (LineUCT(bench.lines, count, exploration=constant), uct_curve(constant), count)
        for constant in configuration.explorations
        for count in configuration.race_iterations
    ]
    begin, end = share
    total = sum(x for _, _, x in entries)
    done = 0
    for response, curve, x in entries:
        done += x
        yield Step(
            fraction=begin + done / total * (end - begin),
            text=f"race: {response.name}",
            points=bench.race(response, curve, x, strategy),
        )


def conclude(configuration: HoldemFBRConfiguration, measured: Measured) -> Conclusion:
    """Returns the figures at the marks beside the thesis's, and a verdict on each of its statements."""
    curves = {
        CFR_CURVE: configuration.marks,
        against_curve(1): configuration.marks,
        against_curve(configuration.stale_updates): tuple(
            configuration.stale_updates * mark for mark in configuration.stale_marks
        ),
    }
    rows = [
        {
            "curve": curve,
            "x": mark,
            "cpu_seconds": measured.at(CPU, curve, mark),
            "value": measured.at(VALUE, curve, mark),
            "half_width": measured.at(WIDTH, curve, mark),
            "exploitability": measured.at(EXPLOITABILITY, curve, mark),
            "paper": None,  # the figures' points are not printed
        }
        for curve, marks in curves.items()
        for mark in marks
    ]
    races = {FBR_CURVE: configuration.race_hands} | {
        uct_curve(constant): configuration.race_iterations for constant in configuration.explorations
    }
    for curve, counts in races.items():
        for count in counts:
            spent = measured.at(RACE_MILLISECONDS, curve, count)
            rows.append(
                {
                    "curve": f"race: {curve}",
                    "x": count,
                    "cpu_seconds": None if spent is None else spent / 1000,
                    "value": measured.at(RACE, curve, count),
                    "half_width": None,
                    "exploitability": None,
                    "paper": -41.0 if curve != FBR_CURVE and count == max(counts) else None,
                }
            )
    trained = (against_curve(1), against_curve(configuration.stale_updates))
    claims = (
        *judge_race(measured, races),
        *judge_training(measured, {curve: curves[curve] for curve in (CFR_CURVE, *trained)}),
    )
    notes = (
        f"mbb/g. Values are of the strategy trained, mean of both seats, against {configuration.draws} answers of "
        f"FBR-{configuration.hands} each evaluated exactly; rows of the race say what the response earns.",
        f"{configuration.buckets} nested percentile buckets a street instead of 5, "
        f"{BucketedLimitHoldem(buckets=configuration.buckets).count_infosets():,} information sets instead of 3.6e6: "
        "the same hands show more of a smaller game. Times are CPU seconds of one core instead of hours of 24 CPUs.",
        "Learners are updated by full-width sweeps under rule cfr, one learner a seat: with no board there is no "
        "public chance to sample. The first CFR-FBR run asks for an answer before every update, as CFR-f is defined; "
        f"in the second an answer stands for {configuration.stale_updates} updates, as in the thesis, to which no "
        "theorem of it applies.",
        "UCT plays with the same buckets as FBR, where the thesis's plays with cards; its constant is not printed. It "
        "answers the strategy of CFR after "
        f"{configuration.target_updates} iterations; the thesis's strategy was exploitable for 282 mbb/g in the real "
        "game. The row of the most iterations stands beside the thesis's 50 million.",
    )
    return Conclusion(rows=tuple(rows), claims=claims, notes=notes)


def _label_panel(panel: str) -> PanelLabels:
    labels = {
        VALUE: ("updates of each learner", "value against FBR (mbb/g)"),
        EXPLOITABILITY: ("updates of each learner", "exploitability (mbb/g)"),
        RACE: ("hands of FBR, iterations of UCT", "earned by the response (mbb/g)"),
    }
    return PanelLabels(*labels[panel], is_log_y=False)


CFR_FBR_HOLDEM: Final = Study(
    name="cfr-fbr-holdem",
    title="Bucketed limit hold'em: CFR and CFR-FBR against frequentist best responses, and UCT beside those",
    source=SOURCE,
    x_label="updates of each learner",
    y_label="mbb/g",
    sizes={
        Size.QUICK: HoldemFBRConfiguration(),
        Size.FULL: HoldemFBRConfiguration(
            buckets=3,
            marks=(10, 30, 100, 300, 1000, 3000),
            stale_marks=(1, 3, 10, 30),
            race_hands=(1000, 10_000, 100_000, 1_000_000),
            race_iterations=(1000, 10_000, 100_000, 1_000_000, 10_000_000),
        ),
    },
    measure=measure,
    conclude=conclude,
    is_log_y=False,
    panels=(VALUE, EXPLOITABILITY, RACE),
    own_labels=_label_panel,
    printed={
        EXPLOITABILITY: {against_curve(HoldemFBRConfiguration().stale_updates): ((None, PLATEAU),)},
        RACE: {"UCT, its constant not printed": ((50e6, -41.0),)},
    },
    seed=SEED,
)
