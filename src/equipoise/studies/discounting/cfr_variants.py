# SPDX-License-Identifier: Apache-2.0
"""Study `cfr-variants`: what is said in passing of averages by t², of CFR-BR and of what NormalHedge costs."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator
from typing import Final

from equipoise.core.errors import ConfigError
from equipoise.games.registry import parse_game
from equipoise.responses.against import AgainstSolver
from equipoise.responses.exact import BestResponse
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rules import CFR, CFRPlus, NormalHedge, Rule
from equipoise.studies.comparisons import Comparison, compare_along
from equipoise.studies.curves import EvaluatedSolver, Panel, evaluation_grid, measure_curves
from equipoise.studies.study import Claim, Conclusion, Measured, Point, Size, Step, Study, judge
from equipoise.trees.history import HistoryTree, build_history_tree

__all__ = ["CFR_VARIANTS", "CFRVariantsConfiguration"]

SOURCE: Final = "Brown 2020, thesis sections 3.1.1 and 3.3.1; Brown & Sandholm 2019, arXiv:1809.04040"
MARKS: Final = (10, 30, 100, 300, 1000, 3000, 10_000)
START: Final = 10  # iterations before which curves are not compared
LINEAR: Final = CFRPlus(gamma=1.0)
QUADRATIC: Final = CFRPlus(gamma=2.0)
SIMULTANEOUS: Final = "cfr, simultaneous"
RESPONDING: Final = "cfr-br"
SECONDS: Final = "processor seconds an iteration"
ROUNDS: Final = 5  # of which the fastest counts
HEDGED: Final = NormalHedge(base=CFR())

SQUARES: Final = Comparison(
    statement="CFR+ converges faster when iterations of the average weigh t² than when they weigh t",
    above=LINEAR.name,
    below=QUADRATIC.name,
    least=1.0,
    source="thesis section 3.1.1",
)
SLOWER: Final = tuple(
    Comparison(
        statement=f"CFR-BR converges slower than {curve}",
        above=RESPONDING,
        below=curve,
        least=1.0,
        source="thesis section 3.3.1",
    )
    for curve in (CFR().name, SIMULTANEOUS)
)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class CFRVariantsConfiguration:
    """What is solved and for how long."""

    games: tuple[str, ...] = ("leduc", "liars_dice(dice=1,faces=5)", "goofspiel(cards=4)")
    iterations: int = 10_000
    responding_iterations: int = 1000  # of CFR-BR, in which every iteration answers anew

    def __post_init__(self) -> None:
        if min(self.iterations, self.responding_iterations) < START:
            least = min(self.iterations, self.responding_iterations)
            raise ConfigError(f"iterations and responding_iterations must be at least {START}, got {least}")


def measure(configuration: CFRVariantsConfiguration) -> Iterator[Step]:
    """Yields the curves of all variants, then what iterations take."""
    trees = {name: build_history_tree(parse_game(name)) for name in configuration.games}
    makers: dict[str, Callable[[HistoryTree], EvaluatedSolver]] = {
        rule.name: _maker(rule) for rule in (CFR(), LINEAR, QUADRATIC)
    }
    makers[SIMULTANEOUS] = lambda tree: CFRSolver(tree, CFR(), is_alternating=False)
    panels = [Panel(name, tree, configuration.iterations, tree.size.num_histories) for name, tree in trees.items()]
    # the marks of the shorter runs are measured in the longer ones as well
    marks = sorted({*MARKS, *evaluation_grid(configuration.responding_iterations, MARKS)})
    for step in measure_curves(panels, makers, marks=marks):
        yield dataclasses.replace(step, fraction=0.4 * step.fraction)
    slow = [dataclasses.replace(panel, iterations=configuration.responding_iterations) for panel in panels]
    for step in measure_curves(slow, {RESPONDING: _respond}, marks=marks):
        yield dataclasses.replace(step, fraction=0.4 + 0.5 * step.fraction)
    for done, (name, tree) in enumerate(trees.items(), 1):
        points = tuple(
            Point(panel=SECONDS, curve=f"{name}: {rule.name}", x=1, y=seconds) for rule, seconds in _time(tree)
        )
        yield Step(fraction=0.9 + 0.1 * done / len(trees), text=f"{name}: what iterations take", points=points)


def conclude(configuration: CFRVariantsConfiguration, measured: Measured) -> Conclusion:
    """Returns the curves at the marks, and a verdict on each statement."""
    rows = tuple(
        {"game": game, "variant": curve, "iterations": mark, "exploitability": value, "paper": None}
        for game in configuration.games
        for curve in (CFR().name, SIMULTANEOUS, RESPONDING, LINEAR.name, QUADRATIC.name)
        for mark in MARKS
        if (value := measured.at(game, curve, mark)) is not None
    )
    claims = [
        dataclasses.replace(claim, statement=f"{game}: {claim.statement}")
        for game in configuration.games
        for claim in (compare_along(one, game, measured, start=START) for one in (SQUARES, *SLOWER))
    ]
    notes = (
        "The papers give no figures for these; what they were tried on is not said, but for t², which is of the games "
        "of section 3.1. Ours are small games, alternating updates where nothing else is said, payoffs in chips.",
        "CFR-BR: the first player learns, the second responds best in every iteration; judged is the exploitability of "
        "the learner's average together with the average of the answers, after the same iterations. An iteration of it "
        "takes a best response and an update, one of CFR two updates.",
        f"What NormalHedge costs is processor time of 100 iterations over a history tree, the fastest of {ROUNDS}; an "
        "iteration has other work beside the strategies, so this is less than the operations' own ratio.",
    )
    return Conclusion(
        rows=rows, claims=(*claims, *(_cost_claim(game, measured) for game in configuration.games)), notes=notes
    )


def _maker(rule: Rule) -> Callable[[HistoryTree], EvaluatedSolver]:
    return lambda tree: CFRSolver(tree, rule)


def _respond(tree: HistoryTree) -> EvaluatedSolver:
    return AgainstSolver(tree, BestResponse(tree), rule=CFR(), seat=0)


def _time(tree: HistoryTree) -> Iterator[tuple[Rule, float]]:
    """Yields what an iteration takes at least, with regret matching and with NormalHedge, rounds in turns."""
    solvers = [(rule, CFRSolver(tree, rule)) for rule in (CFR(), HEDGED)]
    least = dict.fromkeys((rule for rule, _ in solvers), float("inf"))
    for _ in range(ROUNDS):
        for rule, solver in solvers:
            began = time.process_time()
            solver.iterate(100)
            least[rule] = min(least[rule], (time.process_time() - began) / 100)
    yield from least.items()


def _cost_claim(game: str, measured: Measured) -> Claim:
    """Returns the verdict on what NormalHedge's iterations cost."""
    values = [measured.at(SECONDS, f"{game}: {rule.name}", 1) for rule in (CFR(), HEDGED)]
    known = [value for value in values if value is not None]
    is_measured = len(known) == len(values)
    return Claim(
        statement=f"{game}: NormalHedge is more expensive than regret matching (an iteration takes longer)",
        source="Brown & Sandholm 2019, section NormalHedge for CFR Variants",
        verdict=judge(known[1] > known[0] if is_measured else None),
        ours=f"{known[1] / known[0]:.2f} times" if is_measured else "nothing",
    )


CFR_VARIANTS: Final = Study(
    name="cfr-variants",
    title="Averages by t², CFR-BR beside CFR, and what NormalHedge costs",
    source=SOURCE,
    x_label="iterations",
    y_label="exploitability (chips per game)",
    sizes={
        Size.QUICK: CFRVariantsConfiguration(iterations=1000, responding_iterations=300),
        Size.FULL: CFRVariantsConfiguration(),
    },
    measure=measure,
    conclude=conclude,
    panels=CFRVariantsConfiguration().games,
)
