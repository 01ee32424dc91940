# SPDX-License-Identifier: Apache-2.0
"""Study `lemonade-stand`: seats of independently solved equilibria, put together."""

from __future__ import annotations

import dataclasses
import itertools
import statistics
from collections.abc import Iterator
from typing import Final

from equipoise.games.registry import parse_game
from equipoise.runs.solution import solve
from equipoise.solvers.best_response import evaluate
from equipoise.solvers.strategy import TabularStrategy, combine_seats
from equipoise.studies.study import Claim, Conclusion, Measured, Point, Size, Step, Study, Verdict, judge
from equipoise.trees.history import HistoryTree, build_history_tree

__all__ = ["LEMONADE_STAND", "LemonadeConfiguration"]

SECTION: Final = "section 2.2 and Fig. 2.1"
ALONE: Final = "every seat of one run"
TOGETHER: Final = "each seat of another run"
LARGE: Final = 10.0  # times what single runs have: no equilibrium to speak of


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class LemonadeConfiguration:
    """Games, runs and their length."""

    games: tuple[str, ...] = ("lemonade_stand", "kuhn", "leduc")
    runs: int = 4  # solved independently: one a seed
    iterations: int = 20_000  # of external sampling


def measure(configuration: LemonadeConfiguration) -> Iterator[Step]:
    """Yields exploitability of single runs, and of profiles whose seats come from different runs."""
    total = len(configuration.games) * configuration.runs
    for place, name in enumerate(configuration.games):
        game = parse_game(name)
        tree = build_history_tree(game)
        found: list[TabularStrategy] = []
        for seed in range(configuration.runs):
            run = solve(game, method="external", iterations=configuration.iterations, seed=seed)
            found.append(run.strategy)
            value = _exploitability(tree, found[-1])
            point = Point(panel=name, curve=ALONE, x=1, y=value, run=seed)
            done = place * configuration.runs + seed + 1
            yield Step(fraction=min(done / total, 0.99), text=f"{name}, run {seed + 1}", points=(point,))
        mixed = [
            Point(panel=name, curve=TOGETHER, x=1, y=_exploitability(tree, combine_seats(seats)), run=number)
            for number, seats in enumerate(itertools.permutations(found, game.spec.num_players))
        ]
        yield Step(fraction=(place + 1) / len(configuration.games), text=f"{name}, together", points=tuple(mixed))


def _exploitability(tree: HistoryTree, strategy: TabularStrategy) -> float:
    return evaluate(tree, strategy.to_tree(tree)).exploitability


def conclude(configuration: LemonadeConfiguration, measured: Measured) -> Conclusion:
    """Returns exploitability of single and of combined runs, and a verdict on both statements of the text."""
    rows, claims = [], []
    for name in configuration.games:
        alone, together = (measured.runs(name, curve, 1) for curve in (ALONE, TOGETHER))
        spec = parse_game(name).spec
        is_safe = spec.num_players == 2 and spec.is_zero_sum
        rows.append(
            {
                "game": name,
                "players": spec.num_players,
                "sum zero": "yes" if spec.is_zero_sum else "no",
                "one run": statistics.median(alone) if alone else None,
                "seats of several": statistics.median(together) if together else None,
                "worst": max(together, default=None),
                "paper": None,
            }
        )
        claims.append(_judge(name, alone, together, is_safe=is_safe))
    notes = (
        "Exploitability is what a player gains by changing alone, on average over players, in units of utility.",
        "Runs sample (external sampling): that is how they come to different equilibria. Full-width CFR begins "
        "everywhere alike and always finds the same one.",
        "Every way to seat different runs is tried.",
    )
    return Conclusion(rows=tuple(rows), claims=tuple(claims), notes=notes)


def _judge(name: str, alone: list[float], together: list[float], *, is_safe: bool) -> Claim:
    """Returns the verdict on what becomes of equilibria whose seats come from different solutions."""
    verdict, ours = Verdict.NOT_MEASURED, "nothing"
    if alone and together:
        middle, limit = statistics.median(together), LARGE * max(alone)
        # a seat gains at most what both solutions are off together, so that the worst is at most twice the worst
        verdict = judge(max(together) <= 2 * max(alone) if is_safe else middle > limit)
        num_whole = sum(value <= limit for value in together)
        ours = (
            f"{statistics.median(alone):.2g} before, {middle:.2g} after; {num_whole} of {len(together)} still are one"
        )
    stated = "are an equilibrium again" if is_safe else "are unlikely to be an equilibrium"
    test = "at most twice the worst run" if is_safe else f"median above {LARGE:g} times the worst run"
    return Claim(
        statement=f"{name}: seats of equilibria that were computed independently {stated} ({test})",
        source=SECTION,
        verdict=verdict,
        ours=ours,
    )


LEMONADE_STAND: Final = Study(
    name="lemonade-stand",
    title="Seats of independently solved equilibria, put together",
    source="Brown 2020, thesis section 2.2, Fig. 2.1",
    x_label="",
    y_label="exploitability",
    sizes={
        Size.QUICK: LemonadeConfiguration(),
        Size.FULL: LemonadeConfiguration(runs=8, iterations=500_000),
    },
    measure=measure,
    conclude=conclude,
    is_log_y=False,
)
