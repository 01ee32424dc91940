# SPDX-License-Identifier: Apache-2.0
"""Curves of pruned CFR on the two Leduc games of the thesis: against nodes, against iterations, cost and memory."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from equipoise.core.errors import ConfigError
from equipoise.evaluation.plots import PanelLabels
from equipoise.games.leduc import Leduc, Leduc5
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.pruning import PrunedSolver, Pruning, PruningKind
from equipoise.solvers.rules import Rule
from equipoise.studies.curves import crossing, evaluation_grid
from equipoise.studies.study import Measured, Point, Step
from equipoise.trees.cache import load_or_build_history_tree
from equipoise.trees.history import HistoryTree

__all__ = [
    "ALTERNATING",
    "AT_ITERATIONS",
    "AT_NODES",
    "AT_WALKED",
    "BYTES",
    "CONVENTIONS",
    "COST",
    "GAMES",
    "LEDUC",
    "LEDUC_5",
    "REGRETS",
    "SIMULTANEOUS",
    "UPDATES",
    "PrunedConfiguration",
    "Variant",
    "final_speedup",
    "label_pruned_axes",
    "last_point",
    "measure_pruned_curves",
    "panel_name",
    "tabulate_curves",
]

LEDUC: Final = "Leduc"
LEDUC_5: Final = "Leduc-5"
GAMES: Final = {"leduc": (LEDUC, Leduc(merge_suits=True)), "leduc5": (LEDUC_5, Leduc5())}
SIMULTANEOUS: Final = "simultaneous"
ALTERNATING: Final = "alternating"
UPDATES: Final = (SIMULTANEOUS, ALTERNATING)

AT_NODES: Final = "exploitability against nodes"
AT_WALKED: Final = "exploitability against nodes of walks alone"
AT_ITERATIONS: Final = "exploitability against iterations"
COST: Final = "nodes per iteration"
BYTES: Final = "memory"
REGRETS: Final = "regrets"
LABELS: Final[Mapping[str, PanelLabels]] = {
    AT_NODES: PanelLabels("nodes touched", "total exploitability (chips per game)"),
    AT_WALKED: PanelLabels("nodes touched by walks", "total exploitability (chips per game)"),
    AT_ITERATIONS: PanelLabels("iterations", "total exploitability (chips per game)"),
    COST: PanelLabels("iterations", "nodes touched per iteration"),
    BYTES: PanelLabels("iterations", "bytes in use, share of the first", is_log_y=False),
    REGRETS: PanelLabels("iterations", "regrets that are followed, share of all", is_log_y=False),
}

CONVENTIONS: Final = (
    "The thesis prints curves, not numbers, and does not say how players are updated: both kinds are run. Its "
    "implementation walks the tree once an iteration, which points to simultaneous updates.",
    "Nodes are histories visited, terminals and all that pruning itself costs included, in two passes an iteration, "
    "one a player. Exploitability is the sum over both players.",
    "Column 'beside': how many times fewer nodes than the same algorithm without what is studied, after the same "
    "iterations. Numbers for words such as 'comparable' are ours, and stand with the claim.",
)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class PrunedConfiguration:
    """What is solved and for how long."""

    games: tuple[str, ...] = tuple(GAMES)
    iterations: tuple[int, ...] = (100_000, 30_000)  # of each game
    updates: tuple[str, ...] = UPDATES

    def __post_init__(self) -> None:
        if len(self.iterations) != len(self.games):
            raise ConfigError(f"iterations must be given for each of {len(self.games)} games, got {self.iterations}")
        for names, known in ((self.games, tuple(GAMES)), (self.updates, UPDATES)):
            unknown = [name for name in names if name not in known]
            if unknown:
                raise ConfigError(f"expected any of {', '.join(known)}, got {unknown[0]!r}")

    @property
    def horizons(self) -> dict[str, int]:
        """Returns the iterations by the game's title."""
        return {GAMES[name][0]: count for name, count in zip(self.games, self.iterations, strict=True)}

    def horizon_of(self, game: str, variant: Variant) -> int:
        """Returns the iterations of a variant in a game, by its title."""
        return self.horizons[game]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """A curve: a rule under a kind of pruning."""

    name: str
    rule: Rule
    pruning: Pruning
    beside: str = ""  # curve without what this one adds
    is_best_so_far: bool = False  # the lowest exploitability so far is drawn, as the thesis does with linear averages
    games: tuple[str, ...] = (LEDUC, LEDUC_5)  # titles of those in which it runs
    updates: tuple[str, ...] = UPDATES  # under which it runs

    def start(self, tree: HistoryTree, updates: str) -> CFRSolver[HistoryTree] | PrunedSolver:
        """Returns a run; one that prunes nothing is the solver that does not know how to."""
        is_alternating = updates == ALTERNATING
        if self.pruning == Pruning(kind=PruningKind.NONE):
            return CFRSolver(tree, self.rule, is_alternating=is_alternating)
        return PrunedSolver(tree, self.rule, pruning=self.pruning, is_alternating=is_alternating)


def panel_name(game: str, updates: str, quantity: str) -> str:
    """Returns the title of a panel.

    >>> panel_name(LEDUC, ALTERNATING, BYTES)
    'Leduc, alternating: memory'
    """
    return f"{game}, {updates}: {quantity}"


def label_pruned_axes(panel: str) -> PanelLabels:
    """Returns what the axes of a panel count and measure."""
    return LABELS[panel.partition(": ")[2]]


def measure_pruned_curves(
    configuration: PrunedConfiguration, variants: Sequence[Variant], *, marks: Sequence[int]
) -> Iterator[Step]:
    """Yields every quantity of every variant in every game, under both kinds of updates.

    Args:
        configuration: games, iterations and updates.
        variants: in the order in which they are drawn.
        marks: iterations that must be among the points.
    """
    trees = {title: load_or_build_history_tree(game) for title, game in map(GAMES.__getitem__, configuration.games)}
    runs = [
        (game, updates, variant)
        for game, updates, variant in itertools.product(trees, configuration.updates, variants)
        if game in variant.games and updates in variant.updates
    ]
    # a sweep's time is not that of its nodes: what is looked up, updated and evaluated counts as well
    costs = [trees[game].actor.size * configuration.horizon_of(game, variant) for game, _, variant in runs]
    for index, (game, updates, variant) in enumerate(runs):
        horizon = configuration.horizon_of(game, variant)
        for t, points in _measure_run(variant, trees[game], game, updates, evaluation_grid(horizon, marks)):
            done = sum(costs[:index]) + costs[index] * t / horizon
            is_last = index == len(runs) - 1 and t == horizon
            yield Step(
                fraction=1.0 if is_last else done / sum(costs),
                text=f"{game}, {updates}, {variant.name}: {t:,} iterations",
                points=points,
            )


def _measure_run(
    variant: Variant, tree: HistoryTree, game: str, updates: str, grid: Sequence[int]
) -> Iterator[tuple[int, tuple[Point, ...]]]:
    solver = variant.start(tree, updates)
    lowest = math.inf
    for t in grid:
        nodes, before = solver.nodes_touched, solver.iteration
        solver.iterate(t - before)
        value = solver.evaluate().nash_conv
        lowest = min(lowest, value)
        drawn = lowest if variant.is_best_so_far else value
        places: dict[str, tuple[int, float]] = {
            AT_NODES: (solver.nodes_touched, drawn),
            AT_ITERATIONS: (t, drawn),
            COST: (t, (solver.nodes_touched - nodes) / (t - before)),
        }
        if isinstance(solver, PrunedSolver) and solver.pruning.walks_once:
            places[AT_WALKED] = (solver.nodes_touched - solver.statistics().overhead_nodes, drawn)
        if isinstance(solver, PrunedSolver) and solver.pruning.kind is PruningKind.BEST_RESPONSE:
            places[BYTES] = (t, solver.bytes_in_use / solver.first_bytes)
            places[REGRETS] = (t, solver.count_regrets() / (tree.size.num_sequences - tree.num_players))
        yield (
            t,
            tuple(
                Point(panel=panel_name(game, updates, quantity), curve=variant.name, x=x, y=y)
                for quantity, (x, y) in places.items()
            ),
        )


def last_point(measured: Measured, panel: str, curve: str) -> tuple[int, float] | None:
    """Returns the last point of a curve, None if it has none."""
    points = measured.panels().get(panel, {}).get(curve, [])
    return points[-1] if points else None


def final_speedup(measured: Measured, panel: str, slow: str, fast: str) -> float | None:
    """Returns how many times as far one curve has to go as another to the lowest level that both come down to."""
    curves = measured.panels().get(panel, {})
    if not curves.get(slow) or not curves.get(fast):
        return None
    level = max(min(y for _, y in curves[name]) for name in (slow, fast))
    far, near = crossing(curves[slow], level), crossing(curves[fast], level)
    return None if far is None or not near else far / near


def tabulate_curves(
    configuration: PrunedConfiguration, variants: Sequence[Variant], measured: Measured, marks: Sequence[int]
) -> Iterator[dict[str, str | int | float | None]]:
    """Yields a row a curve and mark: what it costs, what it gives, and that beside the curve it is compared with."""
    panels = measured.panels()
    for game, updates in itertools.product(configuration.horizons, configuration.updates):
        quantities = (AT_NODES, AT_ITERATIONS, BYTES, REGRETS)
        costs, levels, memory, regrets = (panels.get(panel_name(game, updates, one), {}) for one in quantities)
        # both panels have the same points in the same order
        nodes = {
            name: dict(zip([t for t, _ in levels[name]], [count for count, _ in points], strict=True))
            for name, points in costs.items()
        }
        rows = ((variant, mark) for variant in variants for mark in {*marks, configuration.horizon_of(game, variant)})
        for variant, mark in sorted(rows, key=lambda row: (variants.index(row[0]), row[1])):
            count = nodes.get(variant.name, {}).get(mark)
            if count is None:
                continue
            other = nodes.get(variant.beside, {}).get(mark)
            yield {
                "game": game,
                "updates": updates,
                "algorithm": variant.name,
                "iterations": mark,
                "total exploitability": dict(levels[variant.name])[mark],
                "nodes": count,
                "beside": other / count if other else None,
                "memory": dict(memory.get(variant.name, [])).get(mark),
                "regrets": dict(regrets.get(variant.name, [])).get(mark),
            }
