# SPDX-License-Identifier: Apache-2.0
"""Studies `rebel-liars-dice` and `rebel-leduc`: how exploitable values of beliefs are that self-play has learnt.

Runs that come with the package are measured; `equipoise train rebel` makes them anew, and the card of each says how.
Of trainings in a folder, `-p runs=DIR`, the last tests are read, and the curves that led there.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from equipoise.core.errors import ConfigError
from equipoise.core.runs import RunFolder
from equipoise.evaluation.statistics import big_blind_of
from equipoise.games.base import Game
from equipoise.games.registry import format_game, parse_game
from equipoise.learning.rebel.playthroughs import measure_playthroughs
from equipoise.learning.rebel.runs import SHIPPED, RebelRun, list_shipped
from equipoise.learning.rebel.self_play import BeliefSearcher
from equipoise.learning.rebel.settings import BeliefMethod, RebelSettings, SearchRecipe
from equipoise.search.belief_games import BeliefGame, parse_horizon
from equipoise.solvers.best_response import evaluate
from equipoise.studies.study import Claim, Conclusion, Measured, Point, Size, Step, Study, judge

__all__ = ["REBEL_LEDUC", "REBEL_LIARS_DICE", "RebelConfiguration"]

WHOLE: Final = "99"  # a horizon beyond the end of these games
FULL_CFR, FULL_FP, FULL_FLOP = "full-game CFR", "full-game FP", "full-game FLOP"
LEARNT, LOWER = "ReBeL CFR-D", "ReBeL CFR-D, at least"
SEEDS: Final[Mapping[BeliefMethod, str]] = {  # trainings of a folder
    BeliefMethod.CFR_D: "ReBeL CFR-D, seeds",
    BeliefMethod.FP: "ReBeL FP, seeds",
}
OF_SEEDS: Final = ("deviation", "playthroughs", "CPU minutes", "tested by")  # what is said of trainings alone
SECONDS: Final = "CPU seconds of training"
# Table 5.7 of the thesis: full-game FP, full-game CFR, ReBeL CFR-D, ReBeL FP
PRINTED: Final[Mapping[str, tuple[float, float, float, float]]] = {
    "liars-dice-1x4": (0.012, 0.001, 0.017, 0.041),
    "liars-dice-1x5": (0.024, 0.001, 0.015, 0.020),
    "liars-dice-1x6": (0.039, 0.002, 0.024, 0.040),
    "liars-dice-2x3": (0.057, 0.002, 0.017, 0.020),
}
GAMES: Final[Mapping[str, str]] = {
    "liars-dice-1x4": "liars_dice(dice=1,faces=4)",
    "liars-dice-1x5": "liars_dice(dice=1,faces=5)",
    "liars-dice-1x6": "liars_dice(dice=1,faces=6)",
    "liars-dice-2x3": "liars_dice(dice=2,faces=3)",
    "leduc": "leduc",
}
LEDUC_BOUND: Final = 15.0  # mbb/h


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class RebelConfiguration:
    """Games, and how many playthroughs are averaged."""

    games: tuple[str, ...] = ("liars-dice-1x4",)
    playthroughs: int = 512  # fewer say far too much
    full_updates: int = 1024  # of single players, of the rows that solve the whole game
    runs: str = ""  # folder of trainings, one a seed and method, whose tests are read; none: no folder


def measure(configuration: RebelConfiguration) -> Iterator[Step]:
    """Yields exploitabilities of whole-game solves and of what was learnt."""
    if unknown := [name for name in configuration.games if name not in GAMES]:
        raise ConfigError(f"the games are {', '.join(GAMES)}, got {unknown[0]!r}")
    for number, name in enumerate(configuration.games):
        game = parse_game(GAMES[name])
        scale = _scale(game)
        points = [
            Point(panel=name, curve=curve, x=configuration.full_updates, y=scale * found)
            for curve, found in _solve_whole(game, configuration.full_updates)
        ]
        yield Step(
            fraction=(number + 0.2) / len(configuration.games), text=f"{name}: the whole game", points=tuple(points)
        )
        found_points: list[Point] = []
        if name in list_shipped():
            run = RebelRun.open(SHIPPED / name)
            found = measure_playthroughs(run.searcher(), configuration.playthroughs, rng=np.random.default_rng(1))
            for curve, value in ((LEARNT, found.exploitability), (LOWER, found.lower)):
                found_points.append(Point(panel=name, curve=curve, x=configuration.playthroughs, y=scale * value))
        found_points += _read_trainings(name, game, configuration)
        yield Step(
            fraction=(number + 1) / len(configuration.games), text=f"{name}: playthroughs", points=tuple(found_points)
        )


class _Training(NamedTuple):
    """A training of a folder that was tested to its end."""

    method: BeliefMethod
    seed: int
    tests: list[dict[str, Any]]  # in order; the last one is that of the end
    settings: RebelSettings


def _find_trainings(game: Game[Any], folder: str) -> list[_Training]:
    """Returns the trainings of a game in a folder, by method and seed; those that are not at their end are left out."""
    if not folder:
        return []
    if not Path(folder).is_dir():
        raise ConfigError(f"runs must be a folder of trainings, and {folder} is none")
    found = []
    for path in sorted(Path(folder).iterdir()):
        if not RunFolder.is_run(path):
            continue
        run = RunFolder(path)
        if run.config.get("game") != format_game(game) or "settings" not in run.config:
            continue
        settings = RebelSettings.from_dict(run.config["settings"])
        tests = [event for event in run.events() if event["event"] == "measured"]
        if tests and tests[-1]["examples"] >= settings.examples and settings.test.method in SEEDS:
            found.append(_Training(settings.test.method, settings.seed, tests, settings))
    return sorted(found, key=lambda each: (str(each.method), each.seed))


def _read_trainings(name: str, game: Game[Any], configuration: RebelConfiguration) -> list[Point]:
    """Returns the last tests of trainings, and how exploitable they were on the way."""
    points, scale = [], _scale(game)
    for each in _find_trainings(game, configuration.runs):
        curve, run, last = SEEDS[each.method], each.seed, each.tests[-1]
        points.append(Point(panel=name, curve=curve, x=last["playthroughs"], y=scale * last["exploitability"], run=run))
        for test in each.tests:
            seconds, found = round(test["cpu_seconds"]), scale * test["exploitability"]
            points.append(Point(panel=f"{name}, {SECONDS}", curve=f"{curve} {run}", x=seconds, y=found))
    return points


def _scale(game: Game[Any]) -> float:
    blind = big_blind_of(game)
    return 1.0 if blind is None else 1000.0 / blind


def _solve_whole(game: Game[Any], num_updates: int) -> Iterator[tuple[str, float]]:
    """Yields the exploitability of averages after so many updates of single players, by method."""
    form = BeliefGame.of(game, parse_horizon(WHOLE))
    for curve, method, rule in (
        (FULL_CFR, BeliefMethod.CFR_D, "lcfr"),
        (FULL_FP, BeliefMethod.FP, "lcfr"),
        (FULL_FLOP, BeliefMethod.FP, "optimistic-lcfr"),
    ):
        recipe = SearchRecipe(method=method, rule=rule, iterations=num_updates // 2)
        found = BeliefSearcher(form, recipe).search(0, form.root_belief()[None], wants_policy=True)
        strategy = form.tree.legal_share.copy()
        strategy[form.table_cells(0)] = found.policy[0]
        yield curve, evaluate(form.tree, strategy).exploitability


def _rows(configuration: RebelConfiguration, measured: Measured) -> tuple[dict[str, Any], ...]:
    rows = []
    for name in configuration.games:
        printed = PRINTED.get(name)
        marks = ((FULL_FP, configuration.full_updates, 0), (FULL_CFR, configuration.full_updates, 1))
        for curve, x, place in (
            *marks,
            (FULL_FLOP, configuration.full_updates, -1),
            (LEARNT, configuration.playthroughs, 2),
            (LOWER, configuration.playthroughs, -1),
        ):
            ours = measured.at(name, curve, x)
            rows.append(
                {
                    "game": name,
                    "method": curve,
                    "ours": None if ours is None else round(ours, 5),
                    "printed": None if printed is None or place < 0 else printed[place],
                    **dict.fromkeys(OF_SEEDS),
                }
            )
        rows += _seed_rows(name, configuration, printed)
    return tuple(rows)


def _seed_rows(
    name: str, configuration: RebelConfiguration, printed: tuple[float, ...] | None
) -> Iterator[dict[str, Any]]:
    """Yields the trainings of a folder by method: mean and deviation over seeds."""
    game = parse_game(GAMES[name])
    trainings = _find_trainings(game, configuration.runs)
    for method, place in ((BeliefMethod.CFR_D, 2), (BeliefMethod.FP, 3)):
        own = [each for each in trainings if each.method is method]
        if not own:
            continue
        last = [each.tests[-1] for each in own]
        found = [_scale(game) * test["exploitability"] for test in last]
        minutes = [test["cpu_seconds"] / 60.0 for test in last]
        deviation = round(float(np.std(found, ddof=1)), 5) if len(found) > 1 else None
        tests = "; ".join(dict.fromkeys(str(each.settings.test) for each in own))
        least = min(test["playthroughs"] for test in last)
        yield {
            "game": name,
            "method": f"{SEEDS[method]} {', '.join(str(each.seed) for each in own)}",
            "ours": round(float(np.mean(found)), 5),
            "printed": None if printed is None else printed[place],
            **dict(zip(OF_SEEDS, (deviation, least, round(float(np.mean(minutes)), 1), tests), strict=True)),
        }


def _trained(name: str) -> str:
    """Returns how a run that comes with the package was made."""
    if name not in list_shipped():
        return f"{name}: no run comes with the package, nothing was measured."
    run = RebelRun.open(SHIPPED / name)
    last = run.net.card.get("measured", {})
    spent = float(last.get("cpu_seconds", 0.0)) / 60.0
    return f"{name}: tested by {run.settings.test}; trained in {spent:.1f} CPU minutes ({run.net.card['command']})."


def conclude_dice(configuration: RebelConfiguration, measured: Measured) -> Conclusion:
    """Returns Table 5.7 beside ours."""
    claims = []
    for name in configuration.games:
        ours = measured.at(name, LEARNT, configuration.playthroughs)
        printed = PRINTED[name][2]
        claims.append(
            Claim(
                statement=f"{name}: play by learnt values is at most as exploitable as printed, {printed}",
                source="Table 5.7",
                verdict=judge(None if ours is None else ours <= printed),
                ours="nothing" if ours is None else f"{ours:.4f}",
            )
        )
        if trained := [
            row for row in _seed_rows(name, configuration, PRINTED[name]) if row["method"].startswith(LEARNT)
        ]:
            claims.append(
                Claim(
                    statement=f"{name}: trainings of a folder are so on average, {printed}",
                    source="Table 5.7",
                    verdict=judge(trained[0]["ours"] <= printed),
                    ours=f"{trained[0]['ours']:.4f}",
                )
            )
    notes = (
        "Exploitability of the average of playthroughs, each of which solves every subgame that it comes to and plays "
        "a random iteration: above that of all playthroughs on average. `at least` is what best responses to the other "
        "playthroughs gain on each eighth of them, on average below it.",
        "Rows of whole games: linear CFR, linear fictitious play and FLOP, alternating, with half as many iterations "
        "as updates of single players, which is the convention that the printed figures agree with.",
        *(_trained(name) for name in configuration.games),
    )
    return Conclusion(rows=_rows(configuration, measured), claims=tuple(claims), notes=notes)


def conclude_leduc(configuration: RebelConfiguration, measured: Measured) -> Conclusion:
    """Returns the exploitability on limit Leduc, of which nobody has printed one."""
    ours = measured.at("leduc", LEARNT, configuration.playthroughs)
    claim = Claim(
        statement=f"limit Leduc: play by learnt values is below {LEDUC_BOUND:g} mbb/h (our own mark)",
        source="none: no figure was printed",
        verdict=judge(None if ours is None else ours < LEDUC_BOUND),
        ours="nothing" if ours is None else f"{ours:.1f} mbb/h",
    )
    notes = (
        "Searches of the first round end before the public card, those of the second with the game.",
        _trained("leduc"),
    )
    return Conclusion(rows=_rows(configuration, measured), claims=(claim,), notes=notes)


REBEL_LIARS_DICE: Final = Study(
    x_label="playthroughs or updates",
    measure=measure,
    name="rebel-liars-dice",
    title="Values of beliefs learnt by self-play: Liar's Dice",
    source="Brown 2020, thesis section 5.3.6, Table 5.7",
    y_label="exploitability",
    sizes={
        Size.QUICK: RebelConfiguration(),
        Size.FULL: RebelConfiguration(games=tuple(PRINTED), playthroughs=1024),
    },
    conclude=conclude_dice,
    printed={
        game: {curve: ((None, figures[place]),) for place, curve in enumerate((FULL_FP, FULL_CFR, LEARNT))}
        for game, figures in PRINTED.items()
    },
)
REBEL_LEDUC: Final = Study(
    x_label="playthroughs or updates",
    measure=measure,
    name="rebel-leduc",
    title="Values of beliefs learnt by self-play: limit Leduc",
    source="Brown 2020, thesis section 5.3; no figure is printed for Leduc",
    y_label="exploitability, mbb/h",
    sizes={
        Size.QUICK: RebelConfiguration(games=("leduc",), playthroughs=1024),
        Size.FULL: RebelConfiguration(games=("leduc",), playthroughs=4096),
    },
    conclude=conclude_leduc,
)
