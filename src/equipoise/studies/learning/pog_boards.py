# SPDX-License-Identifier: Apache-2.0
"""Studies `pog-boards` and `pog-scaling`: trees that grow where nothing is hidden, against UCT and AlphaZero's search.

The networks come with the package; whoever plays draws the first moves, so that no two games need be the same.
"""

from __future__ import annotations

import dataclasses
import itertools
import statistics
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from equipoise.core.errors import ConfigError
from equipoise.evaluation.ratings import Ratings, fit_elo
from equipoise.evaluation.statistics import Estimate, estimate_mean
from equipoise.learning.pog.runs import PogRun, find_run
from equipoise.runs.matches import match
from equipoise.studies.study import Claim, Conclusion, Measured, Point, Size, Step, Study, Verdict, judge

__all__ = ["POG_BOARDS", "POG_SCALING", "PogBoardsConfiguration", "PogScalingConfiguration"]

UCT, ALPHA_ZERO, DOUBLED = "against UCT", "against AlphaZero's search", "against half of it"
POG: Final = "pog:{run},s={count},c={per_sweep:g},k={children}"
AGENTS: Final = {UCT: "uct:{count}", ALPHA_ZERO: "mcts:{run},s={count}"}
AT_ONCE: Final = 10  # games between two looks at whether to stop


def _check(simulations: Sequence[int], games: int, per_sweep: float, children: int) -> None:
    if children < 0:
        raise ConfigError(f"children of a leaf must be at least 0, got {children}")
    if not 0.0 < per_sweep < float("inf"):
        raise ConfigError(f"walks for each sweep must be above 0 and finite, got {per_sweep:g}")
    if not simulations or min(simulations) < 1:
        raise ConfigError(f"simulations must be at least 1, got {', '.join(map(str, simulations)) or 'none'}")
    if games < 2 or games % 2:
        raise ConfigError(f"games must be an even number of at least 2, every deal in both seats, got {games}")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class PogBoardsConfiguration:
    """A run of a board game (of the package, or a folder), simulations of both sides, and games of each match."""

    run: str = "connect-four"
    simulations: tuple[int, ...] = (50,)
    games: int = 20
    per_sweep: float = 1.0  # c: simulations of PoG for each sweep
    children: int = 0  # k: actions that a leaf of PoG gets; 0: all
    opponents: tuple[str, ...] = tuple(AGENTS)

    def __post_init__(self) -> None:
        _check(self.simulations, self.games, self.per_sweep, self.children)
        if unknown := [name for name in self.opponents if name not in AGENTS]:
            raise ConfigError(f"the opponents are {', '.join(AGENTS)}, got {unknown[0]!r}")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class PogScalingConfiguration:
    """A run of a board game, a ladder of simulations, and games between neighbours on it."""

    run: str = "connect-four"
    simulations: tuple[int, ...] = (10, 20, 40)
    games: int = 20
    per_sweep: float = 1.0  # c: simulations for each sweep
    children: int = 0  # k: actions that a leaf gets; 0: all

    def __post_init__(self) -> None:
        _check(self.simulations, self.games, self.per_sweep, self.children)


def _play(first: str, second: str, panel: str, curve: str, count: int, games: int) -> Iterator[tuple[float, Point]]:
    """Yields the share of points of the first agent, deal by deal, each played in both seats."""
    half = PogRun.open(find_run(panel)).game.game.spec.utility_range / 2.0
    for begun in range(0, games, AT_ONCE):
        some = min(AT_ONCE, games - begun)
        result = match(first, second, hands=some, seed=count + begun)
        won = result.utility[..., 0].mean(axis=1) / half
        for place, share in enumerate((1.0 + won) / 2.0):
            run = begun // 2 + place
            yield (begun + some) / games, Point(panel=panel, curve=curve, x=count, y=100.0 * float(share), run=run)


def measure_boards(configuration: PogBoardsConfiguration) -> Iterator[Step]:
    """Yields shares of points at equal simulations."""
    name = configuration.run
    pairs = list(itertools.product(configuration.opponents, configuration.simulations))
    for number, (who, count) in enumerate(pairs):
        other = AGENTS[who].format(count=count, run=name)
        ours = POG.format(run=name, count=count, per_sweep=configuration.per_sweep, children=configuration.children)
        for share, point in _play(ours, other, name, who, count, configuration.games):
            text = f"{name}: {_name(count, configuration.per_sweep)} {who}"
            yield Step(fraction=(number + share) / len(pairs), text=text, points=(point,))


def measure_scaling(configuration: PogScalingConfiguration) -> Iterator[Step]:
    """Yields shares of points of searches against those of the number of simulations before."""
    name, ladder = configuration.run, sorted(configuration.simulations)
    for number, (few, many) in enumerate(itertools.pairwise(ladder)):
        per_sweep = configuration.per_sweep
        first, second = (
            POG.format(run=name, count=count, per_sweep=per_sweep, children=configuration.children)
            for count in (many, few)
        )
        for share, point in _play(first, second, name, DOUBLED, many, configuration.games):
            text = f"{name}: {_name(many, per_sweep)} against {_name(few, per_sweep)}"
            yield Step(fraction=(number + share) / (len(ladder) - 1), text=text, points=(point,))


def _name(count: int, per_sweep: float) -> str:
    return f"PoG({count},{per_sweep:g})"


def _estimate(shares: Sequence[float]) -> Estimate | None:
    return estimate_mean(np.array(shares)) if len(shares) > 1 else None


def _say(found: Estimate | None) -> str:
    return "nothing" if found is None else f"{found.mean:.1f} ± {found.half_width:.1f} %"


def _judge_share(found: Estimate | None) -> Verdict:
    """Returns whether a share is above one half, undecided if its interval has both."""
    if found is None:
        return Verdict.NOT_MEASURED
    first, last = found.interval
    return Verdict.UNDECIDED if first <= 50.0 <= last else judge(found.mean > 50.0)


def conclude_boards(configuration: PogBoardsConfiguration, measured: Measured) -> Conclusion:
    """Returns shares of points with intervals."""
    rows: list[dict[str, Any]] = []
    claims = []
    for who in configuration.opponents:
        for count in configuration.simulations:
            shares = measured.runs(configuration.run, who, count)
            found = _estimate(shares)
            rows.append(
                {
                    "game": configuration.run,
                    "match": f"{_name(count, configuration.per_sweep)} {who}",
                    "points, %": None if found is None else round(found.mean, 1),
                    "± (95 %)": None if found is None else round(found.half_width, 1),
                    "games": 2 * len(shares),
                }
            )
            verdict = _judge_share(found)
            if who == ALPHA_ZERO:
                statement = f"with {count} simulations each AlphaZero's search is stronger with the same network"
                flipped = {Verdict.CONFIRMED: Verdict.DENIED, Verdict.DENIED: Verdict.CONFIRMED}
                verdict, source = flipped.get(verdict, verdict), "section 4.2, Table 1 (with networks of its own)"
            else:
                statement, source = f"with {count} simulations each PoG beats UCT", "none: our own mark"
            claims.append(Claim(statement=statement, source=source, verdict=verdict, ours=f"PoG scores {_say(found)}"))
    return Conclusion(rows=tuple(rows), claims=tuple(claims), notes=_notes(configuration.run, configuration.children))


def conclude_scaling(configuration: PogScalingConfiguration, measured: Measured) -> Conclusion:
    """Returns Elo ratings of the ladder."""
    ladder = sorted(configuration.simulations)
    matches = [measured.runs(configuration.run, DOUBLED, many) for many in ladder[1:]]
    per_sweep = configuration.per_sweep
    names = [_name(count, per_sweep) for count in ladder]
    ratings = _rate(names, matches) if all(matches) and len(ladder) > 1 else None
    rows = tuple(
        {
            "game": configuration.run,
            "play": names[place],
            "Elo": None if ratings is None else round(ratings.elo[place]),
            "± (95 %)": None if ratings is None else round(ratings.half_widths[place]),
            "points against the one before, %": _round_mean(matches[place - 1]) if place else None,
        }
        for place in range(len(ladder))
    )
    claims = [
        Claim(
            statement=f"{_name(many, per_sweep)} is stronger than {_name(few, per_sweep)}",
            source="section 4.2, Figure 8",
            verdict=_judge_share(_estimate(shares)),
            ours=_say(_estimate(shares)),
        )
        for (few, many), shares in zip(itertools.pairwise(ladder), matches, strict=True)
    ]
    rises = None if ratings is None else all(np.diff(ratings.elo) > 0)
    elo = "nothing" if ratings is None else ", ".join(f"{one:.0f}" for one in ratings.elo)
    claims.append(
        Claim(
            statement="Elo rises with every step of the ladder",
            source="section 4.2, Figure 8",
            verdict=judge(rises),
            ours=elo,
        )
    )
    return Conclusion(rows=rows, claims=tuple(claims), notes=_notes(configuration.run, configuration.children))


def _rate(names: Sequence[str], matches: Sequence[Sequence[float]]) -> Ratings:
    scores = np.zeros((len(names), len(names)))
    for place, shares in enumerate(matches):
        won = 2.0 * sum(shares) / 100.0  # two games a deal
        scores[place + 1, place], scores[place, place + 1] = won, 2.0 * len(shares) - won
    return fit_elo(names, scores)


def _round_mean(shares: Sequence[float]) -> float | None:
    return round(statistics.fmean(shares), 1) if shares else None


def _notes(name: str, children: int) -> tuple[str, ...]:
    card = PogRun.open(find_run(name)).net.card
    return (
        "Games are played in pairs, each side beginning once. The first four moves of a game are drawn: by shares of "
        "the average policy, of visits in the other searches; after them the favourite is played. A draw is half a "
        "point; intervals are over pairs.",
        f"A new leaf of PoG gets {children or 'all'} of its actions at once.",
        "UCT: uniform playouts, C = 1, wins and losses being 1 and -1, the action of the most visits.",
        f"{name}: {card['command']}, commit {card.get('commit', 'unknown')}.",
    )


POG_BOARDS: Final = Study(
    name="pog-boards",
    title="Player of Games where nothing is hidden: against UCT and AlphaZero's search",
    source="Schmid et al. 2021, Player of Games, arXiv:2112.03178, section 4.2 (chess and Go)",
    x_label="simulations of both sides",
    y_label="points, %",
    is_log_y=False,
    sizes={
        Size.QUICK: PogBoardsConfiguration(),
        Size.FULL: PogBoardsConfiguration(simulations=(25, 50, 100, 200), games=200),
    },
    measure=measure_boards,
    conclude=conclude_boards,
)
POG_SCALING: Final = Study(
    name="pog-scaling",
    title="Player of Games where nothing is hidden: strength by simulations",
    source="Schmid et al. 2021, Player of Games, arXiv:2112.03178, section 4.2, Figure 8",
    x_label="simulations, against half as many",
    y_label="points, %",
    is_log_y=False,
    sizes={
        Size.QUICK: PogScalingConfiguration(),
        Size.FULL: PogScalingConfiguration(simulations=(10, 20, 40, 80, 160), games=200),
    },
    measure=measure_scaling,
    conclude=conclude_scaling,
)
