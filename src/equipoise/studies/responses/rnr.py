# SPDX-License-Identifier: Apache-2.0
"""Study `rnr`: what restricted Nash responses take from a model, and what that costs; the thesis has theory alone."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.games.registry import make_game
from equipoise.responses.against import AgainstSolver
from equipoise.responses.exact import AbstractBestResponse, BestResponse, StaticResponse
from equipoise.responses.mixtures import MimicResponse, MixedResponse
from equipoise.responses.on_tree import OnTree
from equipoise.responses.protocol import Response
from equipoise.solvers.rules import CFR
from equipoise.solvers.sequence_lp import solve_sequence_lp
from equipoise.studies.study import Claim, Conclusion, Measured, Point, Size, Step, Study, judge
from equipoise.trees.history import HistoryTree, build_history_tree
from equipoise.trees.merging import group_infosets

__all__ = ["RNR", "RNRConfiguration"]

FloatArray = npt.NDArray[np.float64]

SOURCE: Final = "Davis 2015, thesis sections 2.6 and 4.3 (theory); the figures are ours"
SEAT: Final = 0
PERCENT: Final = 100  # p is counted in hundredths
MILLI: Final = 1000.0
GAINED, GIVEN, OBJECTIVE, REGRET = "earned from the model", "exploitability", "objective", "regret"  # panels
EXPLICIT, MIMIC, SAMPLED = "best response", "mimic", "sampled mimic"  # curves
BLIND: Final = "blind best response"
CHUNK: Final = 50
SLACK: Final = 5.0  # thousandths of a chip by which a figure may fall and still not have fallen
MIMIC_SLACK: Final = 20.0  # by which a mimic may miss the objective beyond the learners' regrets


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class RNRConfiguration:
    """How long each probability is trained."""

    percents: tuple[int, ...]  # of the model in the mixture, 0 to 100
    iterations: int

    def __post_init__(self) -> None:
        if not all(0 <= percent <= PERCENT for percent in self.percents):
            raise ConfigError(f"percents must be from 0 to {PERCENT}, got {self.percents}")


class _Laboratory:
    """Leduc with suits, a player that moves uniformly, and ways to mix it with something that hits back."""

    def __init__(self) -> None:
        self.tree: HistoryTree = build_history_tree(make_game("leduc"))
        self.on_tree = OnTree(self.tree)
        kernel = self.on_tree.kernel
        self.model = kernel.normalize(np.zeros(kernel.num_table_cells))
        self.static = StaticResponse(self.tree, self.model, name="model")
        self.best = BestResponse(self.tree)
        # sees the betting, and of cards whether the own one pairs the board
        self.blind = AbstractBestResponse(self.tree, group_infosets(self.tree, _see_pairs), name=BLIND)
        self.game_value = solve_sequence_lp(self.tree).value * (1 if SEAT == 0 else -1)

    def ways(self) -> dict[str, Callable[[float], Response]]:
        """Returns the mixtures by name."""
        return {
            EXPLICIT: lambda share: MixedResponse(self.tree, self.static, self.best, share),
            MIMIC: lambda share: MimicResponse(self.tree, self.static, share, seat=1 - SEAT, rule=CFR()),
            SAMPLED: lambda share: MimicResponse(
                self.tree, self.static, share, seat=1 - SEAT, rule=CFR(), is_sampled=True
            ),
            BLIND: lambda share: MixedResponse(self.tree, self.static, self.blind, share),
        }

    def value_against(self, strategy: FloatArray, response: Response) -> float:
        answer = response.respond(strategy, 1 - SEAT, np.random.default_rng(0))
        return self.on_tree.value(answer, SEAT)


def _see_pairs(player: int, label: str) -> tuple[int, bool, str]:
    card, _, rest = label.partition("|")
    betting, _, flop = rest.partition("/")
    return player, bool(flop) and flop[0] == card[0], betting + "/" + flop.partition(":")[2]


def measure(configuration: RNRConfiguration) -> Iterator[Step]:
    """Yields every mixture at every probability."""
    laboratory = _Laboratory()
    ways = laboratory.ways()
    jobs = list(itertools.product(ways.items(), configuration.percents))
    for done, ((name, make), percent) in enumerate(jobs):
        share = percent / PERCENT
        solver = AgainstSolver(laboratory.tree, make(share), seat=SEAT)
        text = f"{name}, p = {share:g}"
        while solver.iteration < configuration.iterations:
            solver.iterate(min(CHUNK, configuration.iterations - solver.iteration))
            part = solver.iteration / configuration.iterations
            yield Step(fraction=min(0.999, (done + part) / len(jobs)), text=text)
        strategy = solver.average_strategy()
        gained = laboratory.value_against(strategy, laboratory.static)
        worst = laboratory.value_against(strategy, laboratory.blind if name == BLIND else laboratory.best)
        given = laboratory.game_value - laboratory.value_against(strategy, laboratory.best)
        figures = {
            GAINED: gained,
            GIVEN: given,
            OBJECTIVE: share * gained + (1 - share) * worst,
            REGRET: solver.measure_regrets()[SEAT],
        }
        points = [Point(panel=panel, curve=name, x=percent, y=y * MILLI) for panel, y in figures.items()]
        yield Step(fraction=min(0.999, (done + 1) / len(jobs)), text=text, points=tuple(points))
    yield Step(fraction=1.0, text="done")


def conclude(configuration: RNRConfiguration, measured: Measured) -> Conclusion:
    """Returns both columns at every probability, and a verdict on what theory says of them."""
    rows: list[dict[str, Any]] = [
        {
            "mixed with": name,
            "p": percent / PERCENT,
            **{panel: measured.at(panel, name, percent) for panel in (GAINED, GIVEN, OBJECTIVE, REGRET)},
        }
        for name in (EXPLICIT, MIMIC, SAMPLED, BLIND)
        for percent in configuration.percents
    ]
    claims = [
        _rises(configuration, measured, name, panel) for name in (EXPLICIT, MIMIC, SAMPLED) for panel in (GAINED, GIVEN)
    ]
    claims += [_agree(configuration, measured, name) for name in (MIMIC, SAMPLED)]
    claims.append(_frontier(configuration, measured))
    notes = (
        "Leduc with suits, the learner in the first seat, a model that moves uniformly. Thousandths of a chip.",
        f"A column has not fallen if it falls by at most {SLACK:g} from one p to the next (regret is left at the end).",
        f"Mimics agree if their objective is within {MIMIC_SLACK:g} and both regrets of the one with a best response; "
        "a mimic's own regret is not measured.",
        "Row 'blind best response': the safe set is measured by a responder that sees no card but whether its own "
        "pairs the board; exploitability is still that of a best response.",
    )
    return Conclusion(rows=tuple(rows), claims=tuple(claims), notes=notes)


def _series(configuration: RNRConfiguration, measured: Measured, panel: str, name: str) -> list[float | None]:
    return [measured.at(panel, name, percent) for percent in configuration.percents]


def _known(values: Sequence[float | None]) -> list[float] | None:
    known = [value for value in values if value is not None]
    return known if len(known) == len(values) and known else None


def _rises(configuration: RNRConfiguration, measured: Measured, name: str, panel: str) -> Claim:
    values = _known(_series(configuration, measured, panel, name))
    is_rising = None if values is None else all(y >= x - SLACK for x, y in itertools.pairwise(values))
    return Claim(
        statement=f"with a {name}: {panel} does not fall as p grows (R20)",
        source="theorem 5, section 2.6",
        verdict=judge(is_rising),
        ours="nothing" if values is None else ", ".join(f"{value:.0f}" for value in values),
    )


def _agree(configuration: RNRConfiguration, measured: Measured, name: str) -> Claim:
    ours, exact = (_known(_series(configuration, measured, OBJECTIVE, way)) for way in (name, EXPLICIT))
    regret, other = (_known(_series(configuration, measured, REGRET, way)) for way in (name, EXPLICIT))
    is_close, listed = None, "nothing"
    if ours is not None and exact is not None and regret is not None and other is not None:
        gaps = [abs(a - b) for a, b in zip(ours, exact, strict=True)]
        limits = [MIMIC_SLACK + a + b for a, b in zip(regret, other, strict=True)]
        is_close = all(gap <= limit for gap, limit in zip(gaps, limits, strict=True))
        listed = ", ".join(f"{gap:.0f} of {limit:.0f}" for gap, limit in zip(gaps, limits, strict=True))
    return Claim(
        statement=f"a {name} comes to the objective of a best response, within regret (R20)",
        source="theorem 13, section 4.3.1",
        verdict=judge(is_close),
        ours=listed,
    )


def _frontier(configuration: RNRConfiguration, measured: Measured) -> Claim:
    middle = [percent for percent in configuration.percents if 0 < percent < PERCENT]
    blind, best = ([measured.at(GAINED, name, percent) for percent in middle] for name in (BLIND, EXPLICIT))
    first, second = _known(blind), _known(best)
    is_moved = (
        None if first is None or second is None else all(x >= y - SLACK for x, y in zip(first, second, strict=True))
    )
    return Claim(
        statement="with safety measured by a weaker response, a strategy takes more from the model",
        source="corollary 1, section 4.3",
        verdict=judge(is_moved),
        ours="nothing"
        if first is None or second is None
        else "; ".join(
            f"{x:.0f}, best response {y:.0f} at p = {percent / PERCENT:g}"
            for percent, x, y in zip(middle, first, second, strict=True)
        ),
    )


RNR: Final = Study(
    name="rnr",
    title="Restricted Nash responses to a uniform player in Leduc",
    source=SOURCE,
    x_label="p, percent",
    y_label="thousandths of a chip per game",
    sizes={
        Size.QUICK: RNRConfiguration(percents=(10, 50, 90), iterations=1000),
        Size.FULL: RNRConfiguration(percents=(1, 10, 25, 50, 75, 90, 100), iterations=10_000),
    },
    measure=measure,
    conclude=conclude,
    is_log_y=False,
    panels=(GAINED, GIVEN),
)
