# SPDX-License-Identifier: Apache-2.0
"""Studies `pog-leduc` and `pog-glasses`: how exploitable play by searches of trees that grow is, exactly.

Runs that come with the package are measured; `equipoise train pog` makes them anew, and the card of each says how.
"""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from equipoise.core.errors import ConfigError
from equipoise.evaluation.statistics import big_blind_of
from equipoise.games.registry import parse_game
from equipoise.learning.pog.games import SelfPlayGame
from equipoise.learning.pog.measuring import measure_composed
from equipoise.learning.pog.runs import SHIPPED, PogRun, list_shipped
from equipoise.search.continual import ContinualSettings
from equipoise.search.gadgets import Resolve
from equipoise.search.growing_tree import Growth
from equipoise.search.leaves import ZeroLeaves
from equipoise.studies.study import Claim, Conclusion, Measured, Point, Size, Step, Study, judge
from equipoise.trees.public import build_public_tree

__all__ = ["POG_GLASSES", "POG_LEDUC", "PogGamesConfiguration"]

AT_ONCE, IN_TURN, NO_NET = "learnt at once", "learnt in turn", "values of 0 at once"
CURVES: Final = (AT_ONCE, IN_TURN, NO_NET)
FIGURE: Final = "Figure 7 (curves without figures); the mark is our own"
GAMES: Final[Mapping[str, str]] = {
    "leduc": "leduc",
    "glasses-a": "glasses(board=glasses-a)",
    "glasses-b": "glasses(board=glasses-b)",
}
# what others are exploitable for in Leduc, mbb/h: Table 5 and Figure 15 of the paper
OTHERS: Final[Mapping[str, float]] = {"A2C": 78.0, "IS-MCTS": 465.0, "DQN": 900.0, "Q-learning": 1300.0}


class Mark(NamedTuple):
    """A mean that is to be reached."""

    game: str
    curve: str
    simulations: int
    most: float


MARKS: Final = (
    Mark("leduc", AT_ONCE, 100, 66.0),
    Mark("leduc", IN_TURN, 100, 47.0),
    Mark("leduc", AT_ONCE, 400, 26.0),
    Mark("glasses-a", AT_ONCE, 100, 0.12),
    Mark("glasses-a", AT_ONCE, 400, 0.035),
    Mark("glasses-b", AT_ONCE, 100, 0.10),
    Mark("glasses-b", AT_ONCE, 400, 0.05),
)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class PogGamesConfiguration:
    """Games, budgets of searches, and seeds of walks for each budget."""

    games: tuple[str, ...]
    simulations: tuple[int, ...] = (25, 100)
    seeds: tuple[int, ...] = (2, 2)
    curves: tuple[str, ...] = CURVES
    share: float = 0.2  # of the gate in what enters: alpha

    def __post_init__(self) -> None:
        if unknown := [name for name in self.games if name not in GAMES]:
            raise ConfigError(f"the games are {', '.join(GAMES)}, got {unknown[0]!r}")
        if unknown := [name for name in self.curves if name not in CURVES]:
            raise ConfigError(f"the curves are {', '.join(CURVES)}, got {unknown[0]!r}")
        if len(self.seeds) != len(self.simulations) or min(self.simulations, default=0) < 1:
            raise ConfigError(
                f"there must be as many numbers of seeds as of simulations, all at least 1, got {len(self.seeds)} and "
                f"{len(self.simulations)}"
            )
        if min(self.seeds) < 1:
            raise ConfigError(f"seeds must be at least 1, got {min(self.seeds)}")


def measure(configuration: PogGamesConfiguration) -> Iterator[Step]:
    """Yields the exploitability of composed strategies, seed by seed."""
    budgets = tuple(zip(configuration.simulations, configuration.seeds, strict=True))
    # a search costs about the square of its simulations, in steps that the network rules their number
    whole = sum(count * seeds for count, seeds in budgets) * len(configuration.games) * len(configuration.curves)
    done = 0
    for name in configuration.games:
        game = SelfPlayGame(parse_game(GAMES[name]))
        tree, scale = build_public_tree(game.form), _scale(name)
        for curve in configuration.curves:
            searches = _settings(name, curve, configuration.share)
            for count, seeds in budgets:
                for seed in range(seeds):
                    done += count
                    points: tuple[Point, ...] = ()
                    if searches is not None:
                        growth = dataclasses.replace(searches.growth or Growth(), simulations=count)
                        search = dataclasses.replace(searches, growth=growth)
                        (found,) = measure_composed(game.form, tree, search, (seed,))
                        points = (Point(panel=name, curve=curve, x=count, y=scale * found.exploitability, run=seed),)
                    text = f"{name}: {curve}, PoG({count},1), seed {seed}"
                    yield Step(fraction=done / whole, text=text, points=points)


def _settings(name: str, curve: str, share: float) -> ContinualSettings | None:
    """Returns how decisions are searched; None if no run of the game comes with the package."""
    if curve == NO_NET:
        growth = Growth(first_children=0, exploration=1.25)
        return ContinualSettings(growth=growth, leaves=ZeroLeaves(), method=Resolve(share=share), is_watchful=True)
    if name not in list_shipped():
        return None
    run = PogRun.open(SHIPPED / name)
    growth = dataclasses.replace(run.settings.growth, per_sweep=1.0, is_alternating=curve == IN_TURN)
    return run.play(growth, share=share)


def _scale(name: str) -> float:
    blind = big_blind_of(parse_game(GAMES[name]))
    return 1.0 if blind is None else 1000.0 / blind


def _mean(values: Sequence[float]) -> float | None:
    return statistics.fmean(values) if values else None


def _round(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.4g}")


def _rows(configuration: PogGamesConfiguration, measured: Measured) -> tuple[dict[str, Any], ...]:
    rows = []
    for name in configuration.games:
        for curve in configuration.curves:
            for count in configuration.simulations:
                found = measured.runs(name, curve, count)
                marks = [mark.most for mark in MARKS if mark[:3] == (name, curve, count)]
                rows.append(
                    {
                        "game": name,
                        "play": curve,
                        "simulations": count,
                        "mean": _round(_mean(found)),
                        "min": _round(min(found, default=None)),
                        "max": _round(max(found, default=None)),
                        "seeds": len(found),
                        "mark": marks[0] if marks else None,
                    }
                )
    return tuple(rows)


def conclude(configuration: PogGamesConfiguration, measured: Measured) -> Conclusion:
    """Returns means over seeds, and verdicts on marks and on the order of budgets."""
    claims = []
    for mark in MARKS:
        if mark.game not in configuration.games:
            continue
        ours = _mean(measured.runs(mark.game, mark.curve, mark.simulations))
        claims.append(
            Claim(
                statement=f"{mark.game}: PoG({mark.simulations},1) {mark.curve}: at most {mark.most:g} on average",
                source=FIGURE,
                verdict=judge(None if ours is None else ours <= mark.most),
                ours=_say(ours),
            )
        )
    for name in configuration.games:
        claims += _claim_orders(name, configuration, measured)
    return Conclusion(rows=_rows(configuration, measured), claims=tuple(claims), notes=_notes(configuration))


def _claim_orders(name: str, configuration: PogGamesConfiguration, measured: Measured) -> list[Claim]:
    few, many = min(configuration.simulations), max(configuration.simulations)
    less, more = (_mean(measured.runs(name, AT_ONCE, count)) for count in (few, many))
    nothing = _mean(measured.runs(name, NO_NET, many))
    falls = None if less is None or more is None or few == many else more < less
    helps = None if more is None or nothing is None else more < nothing
    claims = [
        Claim(
            statement=f"{name}: exploitability falls from {few} to {many} simulations",
            source="section 4.1, Figure 7",
            verdict=judge(falls),
            ours=f"{_say(less)}, then {_say(more)}",
        ),
        Claim(
            statement=f"{name}: at {many} simulations learnt values are better than values of 0",
            source="section 4.1, Figure 7: it falls with training",
            verdict=judge(helps),
            ours=f"{_say(more)} against {_say(nothing)}",
        ),
    ]
    ours = _mean(measured.runs(name, AT_ONCE, 100)) if name == "leduc" else None
    for other, figure in OTHERS.items() if name == "leduc" else ():
        claims.append(
            Claim(
                statement=f"leduc: PoG(100,1) is less exploitable than {other}, printed as {figure:g}",
                source="section C.4, Table 5 and Figure 15",
                verdict=judge(None if ours is None else ours < figure),
                ours=_say(ours),
            )
        )
    return claims


def _say(value: float | None) -> str:
    return "nothing" if value is None else f"{value:.4g}"


def _notes(configuration: PogGamesConfiguration) -> tuple[str, ...]:
    return (
        "A search at every public state, each from what the one before it found at both players' turns, composed and "
        "measured exactly; a seed draws all walks of all searches. Figures are means over seeds on one network.",
        f"What enters is {configuration.share:g} the gate's and else the last search's range (alpha of B.1.1).",
        *(_trained(name) for name in configuration.games),
    )


def _trained(name: str) -> str:
    if name not in list_shipped():
        return f"{name}: no run comes with the package, learnt values were not measured."
    card = PogRun.open(SHIPPED / name).net.card
    spent = float(card.get("measured", {}).get("cpu_seconds", 0.0)) / 60.0
    return f"{name}: trained in {spent:.1f} CPU minutes ({card['command']}), commit {card.get('commit', 'unknown')}."


POG_LEDUC: Final = Study(
    name="pog-leduc",
    title="Player of Games in limit Leduc: exploitability of play by search",
    source="Schmid et al. 2021, Player of Games, arXiv:2112.03178, section 4.1, Figure 7a",
    x_label="simulations of a search",
    y_label="exploitability, mbb/h",
    sizes={
        Size.QUICK: PogGamesConfiguration(games=("leduc",), simulations=(25, 100), seeds=(1, 1)),
        Size.FULL: PogGamesConfiguration(games=("leduc",), simulations=(10, 25, 100, 400), seeds=(50, 50, 50, 50)),
    },
    measure=measure,
    conclude=conclude,
    printed={"leduc": {name: ((None, figure),) for name, figure in OTHERS.items()}},
)
POG_GLASSES: Final = Study(
    name="pog-glasses",
    title="Player of Games on two rings of stations: exploitability of play by search",
    source="Schmid et al. 2021, Player of Games, arXiv:2112.03178, section 4.1, Figure 7b (its map is not published)",
    x_label="simulations of a search",
    y_label="exploitability",
    sizes={
        Size.QUICK: PogGamesConfiguration(games=("glasses-b",), simulations=(25,), seeds=(1,)),
        Size.FULL: PogGamesConfiguration(
            games=("glasses-a", "glasses-b"), simulations=(25, 100, 400), seeds=(12, 12, 12)
        ),
    },
    measure=measure,
    conclude=conclude,
)
