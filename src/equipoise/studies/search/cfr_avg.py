# SPDX-License-Identifier: Apache-2.0
"""Study `cfr-avg`: CFR-D and CFR-AVG with leaves that are solved exactly, Figure 5.12 (left) on stand-ins."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator
from typing import Final

from equipoise.search.decomposition import DecomposedSolver, Decomposition
from equipoise.search.leaves import ResolvedLeaves
from equipoise.search.limits import RoundLimit
from equipoise.solvers.best_response import evaluate
from equipoise.solvers.rules import LinearCFR
from equipoise.studies.search.search_games import describe_games, make_public_game, round_value
from equipoise.studies.study import Claim, Conclusion, Measured, Point, Size, Step, Study, judge
from equipoise.trees.public import build_public_tree

__all__ = ["CFR_AVG", "CFRAverageConfiguration"]

FIGURE: Final = "Fig. 5.12, left; section 5.3.9"
MODIFIED, PLAIN, SOUND = (
    str(kind) for kind in (Decomposition.MODIFIED_CFR_AVG, Decomposition.CFR_D, Decomposition.CFR_AVG)
)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class CFRAverageConfiguration:
    """Games, marks at which runs are measured, and how exactly leaves are solved."""

    games: tuple[str, ...] = ("leduc", "flop-least")  # of two rounds
    marks: tuple[int, ...] = (10, 30, 100)
    leaf_iterations: int = 100
    composed_iterations: int = 500  # of the safe searches below the trunk, whose quality is measured


def measure(configuration: CFRAverageConfiguration) -> Iterator[Step]:
    """Yields the exploitability of the composed strategy at every mark, for each decomposition."""
    work = max(configuration.marks)
    total = len(configuration.games) * len(Decomposition) * work
    for number, game in enumerate(configuration.games):
        tree = build_public_tree(make_public_game(game))
        leaves = RoundLimit().leaves(tree, 0)
        for index, kind in enumerate(Decomposition, start=number * len(Decomposition)):
            solver = DecomposedSolver(
                tree,
                leaves,
                ResolvedLeaves(tree, iterations=configuration.leaf_iterations),
                kind=kind,
                rule=LinearCFR(),
            )
            for mark in sorted(configuration.marks):
                solver.iterate(mark - solver.iteration)
                value = evaluate(tree, solver.compose(iterations=configuration.composed_iterations)).exploitability
                point = Point(panel=game, curve=str(kind), x=mark, y=value)
                fraction = (index * work + mark) / total
                yield Step(fraction=fraction, text=f"{game}, {kind}: {mark:,} iterations", points=(point,))


def conclude(configuration: CFRAverageConfiguration, measured: Measured) -> Conclusion:
    """Returns the curves at the marks, and a verdict on their order at the first and at the last."""
    marks = sorted(configuration.marks)
    rows = tuple(
        {
            "game": game,
            "iterations": mark,
            **{str(kind): round_value(measured.at(game, str(kind), mark)) for kind in Decomposition},
        }
        for game in configuration.games
        for mark in marks
    )
    claims = []
    for game, mark in itertools.product(configuration.games, (marks[0], marks[-1])):
        for better, worse in ((MODIFIED, PLAIN), (PLAIN, SOUND)):
            ratio = measured.ratio(game, worse, better, mark)
            claims.append(
                Claim(
                    statement=f"{game}: {better} is better than {worse} after {mark:,} iterations",
                    source=FIGURE,
                    verdict=judge(None if ratio is None else ratio > 1),
                    ours="nothing" if ratio is None else f"{worse} / {better} = {ratio:.3g}",
                )
            )
    notes = (
        "Leaves are the ends of the first round; each is solved by CFR+ for the beliefs that are asked for, from "
        "nothing. Below the trunk's averages both players search safely with the leaves' average values as "
        "alternatives, and the whole is measured.",
        "Linear CFR with both players updated at once, where the thesis alternates.",
        "Extrapolation multiplies what two solutions of a leaf differ by with the number of iterations: values of an "
        "equilibrium are not unique, and modified CFR-AVG stops falling where they jump.",
        *describe_games(configuration.games),
    )
    return Conclusion(rows=rows, claims=tuple(claims), notes=notes)


CFR_AVG: Final = Study(
    name="cfr-avg",
    title="CFR-D and CFR-AVG with leaves solved exactly",
    source="Brown 2020, thesis section 5.3.9, Fig. 5.12",
    x_label="iterations",
    y_label="exploitability",
    sizes={
        Size.QUICK: CFRAverageConfiguration(),
        Size.FULL: CFRAverageConfiguration(
            marks=(10, 30, 100, 300, 1000, 3000), leaf_iterations=500, composed_iterations=2000
        ),
    },
    measure=measure,
    conclude=conclude,
)
