# SPDX-License-Identifier: Apache-2.0
"""Study `scotland-yard`: trees that grow against the game's usual program, as Mr. X and as the detectives.

The network comes with the package, or is a folder of one's own; the opponent is `hunt`, with more and more simulations.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from equipoise.core.errors import ConfigError
from equipoise.evaluation.statistics import Estimate, estimate_mean
from equipoise.games.registry import format_game
from equipoise.games.scotland_yard import ScotlandYard
from equipoise.learning.pog.runs import PogRun, find_run
from equipoise.runs.matches import match
from equipoise.studies.study import Claim, Conclusion, Measured, Point, Size, Step, Study, Verdict, judge

__all__ = ["SCOTLAND_YARD", "PogYardConfiguration"]

FUGITIVE_PLAY, DETECTIVE_PLAY = "as Mr. X", "as the detectives"
ROLES: Final = (FUGITIVE_PLAY, DETECTIVE_PLAY)  # in the order of a deal's two games
PANEL: Final = "games won"
TIME, SECONDS = "time", "CPU seconds of a game, both sides"
FIGURE: Final = "section 4.2, Figure 10 (against PimBot, with 400 simulations; its other points are not printed)"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class PogYardConfiguration:
    """A run of Scotland Yard, its simulations, those of the opponent, and games against each."""

    run: str = "scotland-yard"
    simulations: int = 100
    opponent: tuple[int, ...] = (4, 16)
    games: int = 4
    features: str = ""  # of the opponent, switched off: greedy=false,coalition=false

    def __post_init__(self) -> None:
        if not self.opponent or min(*self.opponent, self.simulations) < 1:
            raise ConfigError(
                "simulations must be at least 1, got "
                f"{', '.join(map(str, (self.simulations, *self.opponent))) if self.opponent else 'none'}"
            )
        if self.games < 2 or self.games % 2:
            raise ConfigError(f"games must be an even number of at least 2, every deal in both roles, got {self.games}")


def measure(configuration: PogYardConfiguration) -> Iterator[Step]:
    """Yields wins in both roles, deal by deal."""
    name, count = configuration.run, configuration.simulations
    _open(name)
    deals = configuration.games // 2
    whole, done = deals * len(configuration.opponent), 0
    for budget in configuration.opponent:
        other = ",".join(filter(None, (f"hunt:{budget}", configuration.features)))
        for deal in range(deals):
            began = time.process_time()
            result = match(f"pog:{name},s={count}", other, hands=2, seed=1 + deal)
            spent = time.process_time() - began
            won = result.utility[0, :, 0]
            points = [
                Point(panel=PANEL, curve=role, x=budget, y=100.0 * float(won[place] > 0), run=deal)
                for place, role in enumerate(ROLES)
            ]
            points.append(Point(panel=TIME, curve=SECONDS, x=budget, y=spent / 2.0, run=deal))
            done += 1
            text = f"{name}: PoG({count},1) against {other}, deal {deal + 1}"
            yield Step(fraction=done / whole, text=text, points=tuple(points))


def _open(name: str) -> PogRun:
    run = PogRun.open(find_run(name))
    if not isinstance(run.game.game, ScotlandYard):
        raise ConfigError(f"the run must be one of Scotland Yard, {name} is one of {format_game(run.game.game)}")
    return run


def _estimate(shares: Sequence[float]) -> Estimate | None:
    return estimate_mean(np.array(shares)) if len(shares) > 1 else None


def _pairs(measured: Measured, budget: int) -> list[float]:
    """Returns the share of won games of each deal, both roles together."""
    both = zip(*(measured.runs(PANEL, role, budget) for role in ROLES), strict=False)
    return [sum(pair) / 2.0 for pair in both]


def conclude(configuration: PogYardConfiguration, measured: Measured) -> Conclusion:
    """Returns shares of won games with intervals, by role and budget."""
    rows: list[dict[str, Any]] = []
    claims = []
    for budget in configuration.opponent:
        both = _estimate(_pairs(measured, budget))
        shares = {role: measured.runs(PANEL, role, budget) for role in ROLES}
        spent = measured.runs(TIME, SECONDS, budget)
        row: dict[str, Any] = {
            "opponent": f"hunt:{budget}",
            "won, %": None if both is None else round(both.mean, 1),
            "± (95 %)": None if both is None else round(both.half_width, 1),
        }
        for role, found in shares.items():
            row[role] = f"{sum(1 for share in found if share > 0)} of {len(found)}"
        row["CPU s a game"] = round(sum(spent) / len(spent), 1) if spent else None
        rows.append(row)
        claims.append(
            Claim(
                statement=f"PoG({configuration.simulations},1) wins more than half of its games against {budget} "
                "simulations",
                source=FIGURE,
                verdict=_judge(both),
                ours="nothing" if both is None else f"{both.mean:.1f} ± {both.half_width:.1f} %",
            )
        )
    return Conclusion(rows=tuple(rows), claims=tuple(claims), notes=_notes(configuration.run))


def _judge(found: Estimate | None) -> Verdict:
    if found is None:
        return Verdict.NOT_MEASURED
    first, last = found.interval
    return Verdict.UNDECIDED if first <= 50.0 <= last else judge(found.mean > 50.0)


def _notes(name: str) -> tuple[str, ...]:
    card = _open(name).net.card
    return (
        "Every deal of start cards is played in both roles; intervals are over deals. The opponent supposes where "
        "Mr. X is (one tree for all suppositions, categories of stations, coalitions, greedy playouts, filters), with "
        "numbers of our own.",
        f"{name}: {card.get('command', 'made by hand')}, commit {card.get('commit', 'unknown')}.",
    )


SCOTLAND_YARD: Final = Study(
    name="scotland-yard",
    title="Player of Games in Scotland Yard, against searches that suppose where Mr. X is",
    source="Schmid et al. 2021, Player of Games, arXiv:2112.03178, section 4.2, Figure 10",
    x_label="simulations of the opponent",
    y_label="games won, %",
    is_log_y=False,
    panels=(PANEL,),
    sizes={
        Size.QUICK: PogYardConfiguration(run="glasses-b", simulations=25, opponent=(10, 40)),
        Size.FULL: PogYardConfiguration(opponent=(10, 100, 1_000, 10_000), games=60),
    },
    measure=measure,
    conclude=conclude,
)
