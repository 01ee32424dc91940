# SPDX-License-Identifier: Apache-2.0
"""Study `warm-start`: CFR reset to its own average, started from an abstraction, and played from averages alone."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

from equipoise.core.machine import num_usable_cores
from equipoise.games.holdem.cards import parse_deck
from equipoise.games.matrix import Matrix
from equipoise.games.registry import make_game
from equipoise.solvers.averages_only import AveragesOnlySolver
from equipoise.solvers.best_response import evaluate
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.holdem.bucketed import BucketedSolver
from equipoise.solvers.rules import CFR
from equipoise.solvers.substitution import RegretBound, WarmStart, project_convergence
from equipoise.studies.curves import EvaluatedSolver, Panel, evaluation_grid, measure_curves
from equipoise.studies.study import Point, Size, Step, Study
from equipoise.studies.warm_start.claims import conclude
from equipoise.studies.warm_start.plan import (
    BUCKETS,
    COSTS,
    FLOP,
    FROM_AVERAGES,
    LEDUC,
    MATRICES,
    PLAIN,
    PROJECTED,
    PROJECTION,
    REPORT,
    SAMPLED,
    SEED,
    SOURCE,
    STARTED,
    TIMED,
    WarmStartConfiguration,
    list_matrix_marks,
    list_variants,
)
from equipoise.studies.warm_start.runs import (
    BoardPercentiles,
    HoldemStarts,
    StartedRuns,
    TreeStarts,
    make_flop_spot,
)
from equipoise.trees.history import HistoryTree, build_history_tree
from equipoise.trees.holdem.bucketed import build_bucketed_tree
from equipoise.trees.holdem.tree import HoldemTree, build_holdem_tree

__all__ = ["WARM_START"]


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
        for step in measure_curves([panel], _matrix_solvers(payoffs), marks=list_matrix_marks(configuration)):
            yield dataclasses.replace(step, fraction=(run + step.fraction) / configuration.matrix_games)


def _matrix_solvers(payoffs: npt.NDArray[np.float64]) -> dict[str, Callable[[HistoryTree], EvaluatedSolver]]:
    return {
        PLAIN: lambda tree: CFRSolver(tree, CFR(), is_alternating=False),
        FROM_AVERAGES: lambda _: AveragesOnlySolver(payoffs),
    }


def _measure_leduc(configuration: WarmStartConfiguration) -> Iterator[Step]:
    tree = build_history_tree(make_game("leduc", merge_suits=True))
    for panel, is_alternating in LEDUC.items():
        starts = TreeStarts(CFRSolver(tree, CFR(), is_alternating=is_alternating))
        yield from _measure_resets(configuration, panel, starts, configuration.leduc_iterations)


def _measure_holdem(configuration: WarmStartConfiguration) -> Iterator[Step]:
    tree = build_holdem_tree(make_flop_spot(parse_deck(configuration.deck)))
    solver = CFRSolver(tree, CFR(), num_threads=configuration.threads or num_usable_cores())
    for step in _measure_resets(configuration, FLOP, HoldemStarts(solver), configuration.holdem_iterations):
        yield dataclasses.replace(step, fraction=0.7 * step.fraction)
    for step in _measure_abstraction(configuration, tree, solver):
        yield dataclasses.replace(step, fraction=0.7 + 0.3 * step.fraction)


def _measure_resets(
    configuration: WarmStartConfiguration, panel: str, starts: StartedRuns, iterations: int
) -> Iterator[Step]:
    """Yields Figs. 3.9, 3.11 and 3.12 in one game: the run, its projection, and what resets make of it."""
    resets = configuration.resets_of(panel)
    variants = list(list_variants(configuration, panel))
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
    configuration: WarmStartConfiguration, tree: HoldemTree, solver: CFRSolver[HoldemTree]
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
        value = evaluate(tree, lifted, kernel=solver.kernel, num_threads=solver.num_threads).exploitability
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
