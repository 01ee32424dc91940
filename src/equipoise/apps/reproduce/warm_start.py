# SPDX-License-Identifier: Apache-2.0
"""Study `warm-start`: CFR reset to its own average, started from an abstraction, and played from averages alone."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from equipoise.apps.machine import num_usable_cores
from equipoise.apps.reproduce.comparisons import Comparison, Marks, compare
from equipoise.apps.reproduce.curves import EvaluatedSolver, Panel, evaluation_grid, measure_curves
from equipoise.apps.reproduce.study import Claim, Conclusion, Measured, Point, Size, Step, Study, Verdict, judge
from equipoise.apps.reproduce.warm_start_runs import (
    BoardPercentiles,
    HoldemStarts,
    StartedRuns,
    TreeStarts,
    make_flop_spot,
)
from equipoise.core.errors import ConfigError
from equipoise.games.holdem.cards import parse_deck
from equipoise.games.matrix import Matrix
from equipoise.games.registry import make_game
from equipoise.solvers.averages_only import AveragesOnlySolver
from equipoise.solvers.bucketed_holdem import BucketedSolver
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.holdem import HoldemSolver, evaluate_holdem
from equipoise.solvers.rules import CFR
from equipoise.solvers.warm_start import RegretBound, WarmStart, project_convergence
from equipoise.trees.bucketed_holdem import build_bucketed_tree
from equipoise.trees.history import HistoryTree, build_history_tree
from equipoise.trees.holdem import HoldemTree, build_holdem_tree

__all__ = ["WARM_START", "WarmStartConfiguration"]

SOURCE: Final = "Brown 2020, thesis Figs. 3.8-3.12; Brown & Sandholm 2016"
TEXT: Final = "thesis section 3.2.5"
SEED: Final = 0
MATRICES: Final = "random matrices"
LEDUC: Final = {"Leduc, alternating": True, "Leduc, simultaneous": False}
FLOP: Final = "flop hold'em"
SAMPLED: Final = "flop hold'em from an abstraction"
PLAIN: Final = "cfr"
FROM_AVERAGES: Final = "averages alone"
PROJECTION: Final = "c/T"  # of the first ten iterations
PROJECTED: Final = 10  # iterations
FORGOTTEN: Final = "regrets forgotten"
BUCKETS: Final = "mccfr in buckets"
STARTED: Final = "warm start"
PRINTED_SHARES: Final = (0.05, 0.1, 0.5)  # lambdas of Fig. 3.12 beside 0
MULTIPLES: Final = (2, 10)  # what the last two are to the first, which Fig. 3.9 used after as many iterations
REPORT: Final = "warm starts"  # a panel of what was chosen: x: reset, y: iterations or lambda
COSTS: Final = "CPU seconds of a sweep's worth of nodes"
TIMED: Final = 5  # iterations behind that of full sweeps
NO_SHARE: Final = "lambda 0"  # the same under both bounds
UNJUDGED: Final[list[tuple[str, bool | None]]] = [
    ("lambda 0, 0.05 and 0.1 are virtually identical (within 20 %)", None),
    ("lambda 0.05 is the best by a small margin (within 5 % of the best)", None),
    ("lambda 0.5 is dramatically worse (1.5 times the best)", None),
]
PAPER_TARGETS: Final = {100: 97, 500: 490, 2500: 2310}  # limit flop hold'em, whole


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class WarmStartConfiguration:
    """What is solved and for how long."""

    matrix_games: int = 64  # as published
    matrix_size: int = 100  # as published
    matrix_iterations: int = 1000
    leduc_iterations: int = 10_000
    leduc_resets: tuple[int, ...] = (100, 500, 2500)
    deck: str = "full"  # of flop hold'em
    holdem_iterations: int = 10_000
    holdem_resets: tuple[int, ...] = (100, 500, 2500)
    share_reset: int = 500  # after which lambdas are compared, one of each game's resets
    flop_buckets: int = 5000  # as published
    sampled_sweeps: int = 200  # that Monte Carlo CFR lasts, in full sweeps' worth of nodes
    start_sweeps: int = 2  # after which its average starts full sweeps; 6 core minutes, published, were 2 of theirs
    threads: int = 0  # of hold'em; 0: one per core

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            least = min(value) if isinstance(value, tuple) else value
            if not isinstance(value, str) and least < (field.name != "threads"):
                raise ConfigError(f"{field.name} must be at least {int(field.name != 'threads')}, got {least}")
        for resets, iterations in (
            (self.leduc_resets, self.leduc_iterations),
            (self.holdem_resets, self.holdem_iterations),
        ):
            if max(resets) * 2 > iterations:
                raise ConfigError(f"a reset after {max(resets):,} iterations needs twice as many, got {iterations:,}")
        if self.start_sweeps > self.sampled_sweeps:
            raise ConfigError(f"start_sweeps must be at most sampled_sweeps, got {self.start_sweeps}")
        parse_deck(self.deck)

    def resets_of(self, panel: str) -> tuple[int, ...]:
        """Returns the iterations after which runs of a panel are reset."""
        return self.holdem_resets if panel == FLOP else self.leduc_resets

    def share_reset_of(self, panel: str) -> int:
        """Returns the reset after which lambdas are compared: the one asked for, else the last."""
        resets = self.resets_of(panel)
        return self.share_reset if self.share_reset in resets else resets[-1]


def measure(configuration: WarmStartConfiguration) -> Iterator[Step]:
    """Yields all panels in turn."""
    parts = (
        (0.1, _measure_matrices(configuration)),
        (0.05, _measure_leduc(configuration)),
        (0.85, _measure_holdem(configuration)),
    )
    before = 0.0
    for share, steps in parts:
        for step in steps:
            yield dataclasses.replace(step, fraction=before + share * step.fraction)
        before += share
    yield Step(fraction=1.0, text="done")


def _measure_matrices(configuration: WarmStartConfiguration) -> Iterator[Step]:
    """Yields Fig. 3.8."""
    rng = np.random.default_rng(SEED)
    size = configuration.matrix_size
    for run in range(configuration.matrix_games):
        payoffs = rng.uniform(-1, 1, size=(size, size))
        tree = build_history_tree(Matrix(payoffs=tuple(map(tuple, payoffs.tolist()))))
        panel = Panel(MATRICES, tree, configuration.matrix_iterations, 1, run=run)
        for step in measure_curves([panel], _matrix_solvers(payoffs), marks=_matrix_marks(configuration)):
            yield dataclasses.replace(step, fraction=(run + step.fraction) / configuration.matrix_games)


def _matrix_solvers(payoffs: npt.NDArray[np.float64]) -> dict[str, Callable[[HistoryTree], EvaluatedSolver]]:
    return {
        PLAIN: lambda tree: CFRSolver(tree, CFR(), is_alternating=False),
        FROM_AVERAGES: lambda _: AveragesOnlySolver(payoffs),
    }


def _matrix_marks(configuration: WarmStartConfiguration) -> list[int]:
    last = configuration.matrix_iterations
    return [mark for mark in (10, 100, 1000) if mark < last] + [last]


def _measure_leduc(configuration: WarmStartConfiguration) -> Iterator[Step]:
    tree = build_history_tree(make_game("leduc", merge_suits=True))
    for panel, is_alternating in LEDUC.items():
        starts = TreeStarts(CFRSolver(tree, CFR(), is_alternating=is_alternating))
        yield from _measure_resets(configuration, panel, starts, configuration.leduc_iterations)


def _measure_holdem(configuration: WarmStartConfiguration) -> Iterator[Step]:
    tree = build_holdem_tree(make_flop_spot(parse_deck(configuration.deck)))
    solver = HoldemSolver(tree, CFR(), num_threads=configuration.threads or num_usable_cores())
    for step in _measure_resets(configuration, FLOP, HoldemStarts(solver), configuration.holdem_iterations):
        yield dataclasses.replace(step, fraction=0.7 * step.fraction)
    for step in _measure_abstraction(configuration, tree, solver):
        yield dataclasses.replace(step, fraction=0.7 + 0.3 * step.fraction)


class _Variant(NamedTuple):
    """A way to go on after a reset."""

    curve: str
    reset: int
    how: WarmStart | None  # None: regrets are forgotten
    multiple: int | None = None  # of the lambda found before under the same bound; None: as `how` says

    def with_lambda(self, found: Mapping[RegretBound, float]) -> WarmStart | None:
        """Returns how, lambda included if it is a multiple of one found."""
        if self.how is None or self.multiple is None:
            return self.how
        return dataclasses.replace(self.how, bound_share=min(self.multiple * found[self.how.bound], 1.0))


def _variants(configuration: WarmStartConfiguration, panel: str) -> Iterator[_Variant]:
    """Yields every way to go on; where lambda is a multiple, after the one that finds it."""
    for reset in configuration.resets_of(panel):
        yield _Variant(_projected(reset), reset, WarmStart(projection_iterations=PROJECTED))
        yield _Variant(_lossless(reset), reset, WarmStart(iterations=reset))
        yield _Variant(f"{FORGOTTEN} at {reset}", reset, None)
    reset = configuration.share_reset_of(panel)
    for bound in RegretBound:
        found = WarmStart(iterations=reset, bound=bound)
        yield _Variant(_multiplied(bound, 1), reset, found)
        for multiple in MULTIPLES:
            yield _Variant(_multiplied(bound, multiple), reset, found, multiple)
    for share in (0.0, *PRINTED_SHARES):
        how = WarmStart(iterations=reset, bound=RegretBound.REACH, bound_share=share)
        yield _Variant(_printed(share), reset, how)


def _projected(reset: int) -> str:
    return f"reset at {reset}, T projected"


def _lossless(reset: int) -> str:
    return f"reset at {reset}"


def _printed(share: float) -> str:
    return f"lambda {share:g}" if share else NO_SHARE


def _multiplied(bound: RegretBound, multiple: int) -> str:
    return f"{bound}, {multiple} times lambda" if multiple != 1 else f"{bound}, lambda found"


def _measure_resets(
    configuration: WarmStartConfiguration, panel: str, starts: StartedRuns, iterations: int
) -> Iterator[Step]:
    """Yields Figs. 3.9, 3.11 and 3.12 in one game: the run, its projection, and what resets make of it."""
    resets = configuration.resets_of(panel)
    variants = list(_variants(configuration, panel))
    marks = sorted({*range(1, PROJECTED + 1), *resets, *(reset + 1 for reset in resets), *(2 * r for r in resets)})
    total = iterations + sum(variant.reset for variant in variants)
    averages = {}
    found: dict[RegretBound, float] = {}
    for t, value in starts.run(evaluation_grid(iterations, marks)):
        if t in resets:
            averages[t] = starts.copy_average()
        yield _step(panel, PLAIN, t, value, t / total)
    done = iterations
    for variant in variants:
        curve, reset = variant.curve, variant.reset
        start = starts.restart(averages[reset], reset, variant.with_lambda(found))
        text = f"{panel}, {curve}"
        if start is not None:
            if variant.multiple is None:
                found[start.bound] = start.bound_share
            points = (
                Point(panel=REPORT, curve=f"{text}: T", x=reset, y=start.iterations),
                Point(panel=REPORT, curve=f"{text}: lambda", x=reset, y=start.bound_share),
            )
            yield Step(fraction=done / total, text=text, points=points)
            if start.projection is not None:
                projected = tuple(
                    Point(panel=panel, curve=PROJECTION, x=t, y=start.projection / 2 / t)
                    for t in evaluation_grid(iterations, marks)
                )
                yield Step(fraction=done / total, text=text, points=projected)
        for extra, value in starts.continue_run(evaluation_grid(reset, (1,))):
            yield _step(panel, curve, reset + extra, value, (done + extra) / total)
        done += reset


def _step(panel: str, curve: str, x: int, y: float, fraction: float) -> Step:
    point = Point(panel=panel, curve=curve, x=x, y=y)
    return Step(fraction=fraction, text=f"{panel}, {curve}: {x:,}", points=(point,))


def _measure_abstraction(
    configuration: WarmStartConfiguration, tree: HoldemTree, solver: HoldemSolver
) -> Iterator[Step]:
    """Yields Fig. 3.10: everything against nodes touched, in full sweeps' worth."""
    bucketed = build_bucketed_tree(tree.spot, BoardPercentiles(tree.spot.deck, configuration.flop_buckets))
    sampled = BucketedSolver(bucketed, rng=np.random.default_rng(SEED))
    starts = HoldemStarts(solver)
    last = configuration.sampled_sweeps
    grid = evaluation_grid(last, (configuration.start_sweeps,))
    per_sweep = tree.num_public_states / len(bucketed.betting.nodes)
    average, sampled_value = None, 0.0
    seconds = 0.0
    for t in grid:
        began = time.process_time()
        sampled.iterate(round(t * per_sweep) - sampled.iteration)
        seconds += time.process_time() - began
        lifted = bucketed.lift(sampled.tables.strategy_sum, tree)
        value = evaluate_holdem(tree, lifted, kernel=solver.kernel, num_threads=solver.num_threads).exploitability
        if t == configuration.start_sweeps:
            average, sampled_value = lifted, value
        yield _step(SAMPLED, BUCKETS, t, value, t / last / 3)
    assert average is not None
    for t, value in starts.run(grid):
        yield _step(SAMPLED, PLAIN, t, value, (1 + t / last) / 3)
    began = time.process_time()
    solver.iterate(TIMED)
    costs = {BUCKETS: seconds / last, PLAIN: (time.process_time() - began) / TIMED}
    yield Step(
        fraction=2 / 3,
        text=SAMPLED,
        points=tuple(Point(panel=COSTS, curve=name, x=1, y=cost) for name, cost in costs.items()),
    )
    projection = project_convergence(solver, PROJECTED) / 2
    target = max(1, round(projection / sampled_value))
    report = starts.restart(average, configuration.start_sweeps, WarmStart(iterations=target))
    assert report is not None
    del average
    # a sweep updates both players, a pass works for one
    first = configuration.start_sweeps + -(-report.num_passes // 2)
    points = tuple(
        Point(panel=REPORT, curve=f"{SAMPLED}: {name}", x=first, y=value)
        for name, value in (("T", report.iterations), ("lambda", report.bound_share))
    )
    yield Step(fraction=2 / 3, text=SAMPLED, points=points)
    for extra, value in starts.continue_run(evaluation_grid(max(last - first, 1), (1,))):
        yield _step(SAMPLED, STARTED, first + extra, value, (2 + extra / last) / 3)


# --- verdicts ---


def conclude(configuration: WarmStartConfiguration, measured: Measured) -> Conclusion:
    """Returns every run one iteration after its reset and after as many as before, with verdicts on the text."""
    rows = [_matrix_row(measured, mark) for mark in _matrix_marks(configuration)]
    for panel in (*LEDUC, FLOP):
        for curve, reset, *_ in _variants(configuration, panel):
            rows += [_reset_row(measured, panel, curve, reset, at) for at in (reset + 1, 2 * reset)]
    claims = [*_matrix_claims(configuration, measured)]
    for panel in (*LEDUC, FLOP):
        claims += _reset_claims(configuration, measured, panel)
        claims += _projection_claims(configuration, measured, panel)
        claims += _share_claims(configuration, measured, panel)
    claims += _abstraction_claims(configuration, measured)
    whole = " (the thesis's game)" if configuration.deck == "full" else ", a smaller game than the thesis's"
    notes = (
        "Exploitability is nash_conv / 2, in each game's unit; the thesis prints curves, not numbers.",
        f"Flop hold'em is limit hold'em that ends on the flop, deck {configuration.deck}{whole}.",
        "x counts iterations that were run, before a reset and after. T is what the warm start took them for.",
        "Lambda is found under bound reach2 unless said otherwise. The thesis's lambdas are of a scale that it does "
        "not define: its 0.05, 0.1 and 0.5 at iteration 500 are 1, 2 and 10 times the one that it used there "
        "(Fig. 3.9, by search), and its words are tested on such multiples of ours too.",
        f"{SAMPLED}: x is nodes touched over those of one full iteration. Monte Carlo CFR draws public chance; a "
        "hand's bucket is its class and, on the flop, its part of the board's order of strength. The warm start's own "
        f"passes count; the {PROJECTED} iterations of CFR by which T is chosen do not.",
        "Numerical tests of words such as 'virtually identical' are ours, and stand with the claim.",
    )
    return Conclusion(rows=tuple(rows), claims=tuple(claims), notes=notes)


def _matrix_row(measured: Measured, mark: int) -> dict[str, object]:
    return {
        "panel": MATRICES,
        "run": FROM_AVERAGES,
        "at": mark,
        "ours": measured.at(MATRICES, FROM_AVERAGES, mark),
        "cfr": measured.at(MATRICES, PLAIN, mark),
        "T": None,
        "lambda": None,
        "paper": None,
    }


def _reset_row(measured: Measured, panel: str, curve: str, reset: int, at: int) -> dict[str, object]:
    target = measured.at(REPORT, f"{panel}, {curve}: T", reset)
    is_published = panel == FLOP and curve == _projected(reset)
    return {
        "panel": panel,
        "run": curve,
        "at": at,
        "ours": measured.at(panel, curve, at),
        "cfr": measured.at(panel, PLAIN, at),
        "T": None if target is None else int(target),
        "lambda": measured.at(REPORT, f"{panel}, {curve}: lambda", reset),
        "paper": f"T {PAPER_TARGETS[reset]}" if is_published and reset in PAPER_TARGETS else None,
    }


def _matrix_claims(configuration: WarmStartConfiguration, measured: Measured) -> Iterator[Claim]:
    marks = _matrix_marks(configuration)
    medians = [measured.ratio(MATRICES, FROM_AVERAGES, PLAIN, mark) for mark in marks]
    known = [ratio for ratio in medians if ratio is not None]
    yield Claim(
        statement="warm starting every iteration of random matrix games is virtually identical to CFR (median "
        "exploitabilities within 10 % at every mark)",
        source="thesis Fig. 3.8",
        verdict=judge(all(abs(ratio - 1) <= 0.1 for ratio in known) if len(known) == len(marks) else None),
        ours=", ".join(f"{ratio:.3f} at {mark:,}" for ratio, mark in zip(known, marks, strict=False)) or "nothing",
    )


def _reset_claims(configuration: WarmStartConfiguration, measured: Measured, panel: str) -> Iterator[Claim]:
    for reset in configuration.resets_of(panel):
        after = (reset + 1, 2 * reset)
        for curve, source, statement, least in (
            (_projected(reset), "thesis Fig. 3.9", "almost no difference to the uninterrupted run", 1 / 1.1),
            (_lossless(reset), "thesis section 3.2.2", "nothing is lost where T is what was run", 0.0),
        ):
            yield _named(
                panel,
                compare(
                    Comparison(
                        statement=f"reset at {reset}: {statement}",
                        above=curve,
                        below=PLAIN,
                        source=source,
                        least=least,
                        most=1.1,
                    ),
                    panel,
                    measured,
                    after,
                ),
            )
        yield _named(
            panel,
            compare(
                Comparison(
                    statement=f"reset at {reset}: forgetting regrets is much worse than a warm start",
                    above=f"{FORGOTTEN} at {reset}",
                    below=_lossless(reset),
                    source="our ablation",
                    least=1.5,
                    test=Marks.LAST,
                ),
                panel,
                measured,
                after,
            ),
        )


def _projection_claims(configuration: WarmStartConfiguration, measured: Measured, panel: str) -> Iterator[Claim]:
    points = measured.panels().get(panel, {}).get(PROJECTION, [])
    ratios = {t: measured.ratio(panel, PROJECTION, PLAIN, t) for t, _ in points if t >= PROJECTED}
    known = {t: ratio for t, ratio in ratios.items() if ratio is not None}
    c = points[0][1] * points[0][0] if points else None
    last = max(known, default=0)
    yield Claim(
        statement=f"{panel}: c/T, fitted to the first {PROJECTED} iterations, stays accurate to the end (within 25 %)",
        source="thesis Fig. 3.11",
        verdict=judge(all(0.75 <= ratio <= 1.25 for ratio in known.values()) if known else None),
        ours="nothing"
        if c is None or not known
        else f"c = {c:.3g}; projected / actual from {min(known.values()):.2f} to {max(known.values()):.2f}, "
        f"{known[last]:.2f} at {last:,}",
    )


def _share_claims(configuration: WarmStartConfiguration, measured: Measured, panel: str) -> Iterator[Claim]:
    """Yields the words on lambda: as printed, under the printed bound, and in multiples of the one that is found."""
    at = 2 * configuration.share_reset_of(panel)
    names = {"bound reach, as printed": [NO_SHARE, *map(_printed, PRINTED_SHARES)]}
    for bound in RegretBound:
        multiples = [_multiplied(bound, multiple) for multiple in (1, *MULTIPLES)]
        names[f"bound {bound}, for 0.05 the lambda found"] = [NO_SHARE, *multiples]
    for scale, curves in names.items():
        values = [measured.at(panel, curve, at) for curve in curves]
        known = [value for value in values if value is not None]
        listed = ", ".join(f"{curve} {value:.3g}" for curve, value in zip(curves, known, strict=False)) or "nothing"
        for statement, is_true in _judge_shares(known) if len(known) == len(values) else UNJUDGED:
            yield Claim(
                statement=f"{panel}, {scale}: {statement}",
                source="thesis Fig. 3.12",
                verdict=judge(is_true),
                ours=listed,
            )


def _judge_shares(values: Sequence[float]) -> list[tuple[str, bool | None]]:
    """Returns statements with verdicts on exploitabilities under lambda 0, 0.05, 0.1 and 0.5."""
    none, small, middle, large = values
    tests = (
        max(none, small, middle) <= 1.2 * min(none, small, middle),
        small <= 1.05 * min(values),
        large >= 1.5 * min(values),
    )
    return [(statement, is_true) for (statement, _), is_true in zip(UNJUDGED, tests, strict=True)]


def _abstraction_claims(configuration: WarmStartConfiguration, measured: Measured) -> Iterator[Claim]:
    curves = measured.panels().get(SAMPLED, {})
    plain, buckets, started = (dict(curves.get(name, [])) for name in (PLAIN, BUCKETS, STARTED))
    source, early, last = "thesis Fig. 3.10", configuration.start_sweeps, configuration.sampled_sweeps
    is_whole = last in plain and last in buckets and last in started

    def claim(statement: str, is_true: bool | None, ours: str) -> Claim:
        return Claim(statement=statement, source=source, verdict=judge(is_true), ours=ours)

    yield claim(
        f"sampling in buckets improves quickly: after {early} sweeps' worth it is ahead of CFR",
        buckets[early] < plain[early] if early in plain and early in buckets else None,
        _pair(buckets.get(early), plain.get(early)),
    )
    halfway = max((t for t in buckets if t <= last / 2), default=last)
    yield claim(
        "and levels off (the last half of the run gains less than 20 %)",
        buckets[last] >= 0.8 * buckets[halfway] if is_whole else None,
        f"{buckets[halfway]:.3g} at {halfway:,}, {buckets[last]:.3g} at {last:,}" if is_whole else "nothing",
    )
    yield claim(
        "CFR eventually overtakes it",
        plain[last] < buckets[last] if is_whole else None,
        _pair(plain.get(last), buckets.get(last)),
    )
    yield claim(
        "the warm start converges as fast as CFR in the long run (at most 1.1 times CFR at the end)",
        started[last] <= 1.1 * plain[last] if is_whole else None,
        _pair(started.get(last), plain.get(last)),
    )
    yield _earlier_claim(plain, started, is_whole)
    costs = {name: measured.at(COSTS, name, 1) for name in (BUCKETS, PLAIN)}
    yield Claim(
        statement=f"{COSTS}; published: a full one takes 3 core minutes",
        source=source,
        verdict=Verdict.NOT_STATED if None not in costs.values() else Verdict.NOT_MEASURED,
        ours=", ".join(f"{name} {cost:.3g}" for name, cost in costs.items() if cost is not None) or "nothing",
    )


def _pair(ours: float | None, other: float | None) -> str:
    return "nothing" if ours is None or other is None else f"{ours:.3g} against {other:.3g}"


def _earlier_claim(plain: dict[int, float], started: dict[int, float], is_whole: bool) -> Claim:
    """Returns the verdict on reaching a good strategy soon: when CFR first gets where the warm start begins."""
    first = min(started, default=0)
    reached = next((t for t in sorted(plain) if first and plain[t] <= started[first]), None)
    shown = "later than measured" if reached is None else f"at {reached:,}"
    return Claim(
        statement="the warm start reaches a good strategy sooner than CFR, its own passes included",
        source="thesis Fig. 3.10",
        verdict=judge(reached is None or first < reached if is_whole else None),
        ours=f"{started[first]:.3g} at {first:,}, CFR {shown}" if first else "nothing",
    )


def _named(panel: str, claim: Claim) -> Claim:
    return dataclasses.replace(claim, statement=f"{panel}: {claim.statement}")


WARM_START: Final = Study(
    name="warm-start",
    title="Warm starts: CFR reset to its average, from an abstraction, and from averages alone",
    source=SOURCE,
    x_label="iterations",
    y_label="exploitability",
    sizes={
        Size.QUICK: WarmStartConfiguration(
            matrix_games=6,
            deck="9TJQKA/chs",
            holdem_iterations=1000,
            holdem_resets=(50, 100, 300),
            flop_buckets=200,
            sampled_sweeps=40,
        ),
        Size.FULL: WarmStartConfiguration(),
    },
    measure=measure,
    conclude=conclude,
    panels=(MATRICES, *LEDUC, FLOP, SAMPLED),
    seed=SEED,
)
