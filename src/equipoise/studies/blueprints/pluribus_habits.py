# SPDX-License-Identifier: Apache-2.0
"""Study `pluribus-habits`: six-player blueprints beside the published hands of Pluribus, decision by decision."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from equipoise.abstraction.blueprints import StoredBlueprint
from equipoise.agents.holdem.blueprint import BlueprintAgent, Sharpening
from equipoise.core.errors import ConfigError
from equipoise.evaluation.holdem.records import (
    HABITS,
    RecordedDecision,
    compare,
    compare_decisions,
    count_habits,
)
from equipoise.games.holdem.betting import Street
from equipoise.games.holdem.phh import read_phh
from equipoise.games.holdem.records import RecordedHand
from equipoise.studies.study import Claim, Conclusion, Measured, Point, Size, Step, Study, judge

__all__ = ["PLURIBUS_HABITS", "HabitsConfiguration"]

FILE: Final = "hands.phhs.gz"
PLAYER: Final = "Pluribus"
PUBLIC: Final = 0.668  # the best public blueprint's share
AGREEMENT: Final = "agreement with Pluribus"  # panels
HABIT: Final = "habits"
ALL: Final = "all decisions"
PROFESSIONALS: Final = "the professionals"
CHUNK: Final = 100  # hands from one step to the next


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class HabitsConfiguration:
    """Which blueprints, and which hands."""

    blueprints: tuple[str, ...] = ("",)  # files of `train blueprint`, in the order of their training
    data: str = ""  # directory with hands.phhs.gz
    hands: int = 0  # the first so many; 0: all

    def __post_init__(self) -> None:
        if self.hands < 0:
            raise ConfigError(f"hands must be at least 0, got {self.hands}")


def measure(configuration: HabitsConfiguration) -> Iterator[Step]:
    """Yields the frequencies of players, then agreement and frequencies of each blueprint."""
    if not configuration.data:
        raise ConfigError("study pluribus-habits needs `data` DIR, the directory of the hands of Pluribus")
    if not all(configuration.blueprints):
        raise ConfigError("study pluribus-habits needs the parameter blueprints=FILE[,FILE...], six-player blueprints")
    found = read_phh(Path(configuration.data) / FILE)
    hands = list(itertools.islice(found, configuration.hands or None))
    yield Step(fraction=0.1, text=f"{len(hands):,} hands", points=tuple(_habits_of_players(hands)))
    for place, path in enumerate(configuration.blueprints):
        blueprint = StoredBlueprint(path)
        agent = BlueprintAgent(blueprint, Sharpening())
        deals = int(blueprint.metadata["deals"])
        decisions: list[RecordedDecision] = []
        for first in range(0, len(hands), CHUNK):
            decisions += compare_decisions(agent, hands[first : first + CHUNK], PLAYER)
            done = (place + min(first + CHUNK, len(hands)) / len(hands)) / len(configuration.blueprints)
            if first + CHUNK < len(hands):
                yield Step(fraction=0.1 + 0.9 * done, text=f"{path}: {len(decisions):,} decisions")
        points = tuple(_points(decisions, deals))
        yield Step(fraction=0.1 + 0.9 * done, text=f"{path}: {len(decisions):,} decisions", points=points)


def _habits_of_players(hands: list[RecordedHand]) -> Iterator[Point]:
    counts = count_habits(hands)
    for habit in HABITS:
        for who in (PLAYER, PROFESSIONALS):
            both = [
                pair for (name, of), pair in counts.items() if of == habit.name and (name == PLAYER) == (who == PLAYER)
            ]
            could, did = sum(pair[0] for pair in both), sum(pair[1] for pair in both)
            if could:
                yield Point(panel=HABIT, curve=f"{habit.name}, {who}", x=0, y=did / could)


def _points(decisions: list[RecordedDecision], deals: int) -> Iterator[Point]:
    for street in (None, *Street):
        compared = compare(one for one in decisions if street is None or one.street is street)
        name = ALL if street is None else street.name.lower()
        if compared is not None:
            yield Point(panel=AGREEMENT, curve=name, x=deals, y=compared.share)
            yield Point(panel="decisions", curve=name, x=deals, y=compared.num_decisions)
            yield Point(panel="share given to what was done", curve=name, x=deals, y=compared.mean_share)
    for habit in HABITS:
        shares = [one.shares[habit.action_class] for one in decisions if one.habit == habit]
        if shares:
            yield Point(panel=HABIT, curve=f"{habit.name}, blueprint", x=deals, y=float(sum(shares)) / len(shares))


def conclude(configuration: HabitsConfiguration, measured: Measured) -> Conclusion:
    """Returns agreement by street and the frequencies side by side."""
    panels = measured.panels()
    rows = [
        {
            "what": f"{panel}: {curve}",
            "deals": x,
            "ours": y,
            "paper": PUBLIC if curve == ALL and panel == AGREEMENT else None,
        }
        for panel, curves in panels.items()
        for curve, points in curves.items()
        for x, y in points
    ]
    claims = [_agreement_claim(panels.get(AGREEMENT, {}).get(ALL, []))]
    habits = panels.get(HABIT, {})
    claims += [
        _more_often(
            habits, "limp of the small blind", "limp", "blueprint", "the blueprint limps from the small blind more"
        ),
        _more_often(habits, "limp of the small blind", "limp", PLAYER, "Pluribus limps from the small blind more"),
    ]
    donks = {who: habits.get(f"donk bet, {who}", [(0, None)])[-1][1] for who in (PLAYER, PROFESSIONALS, "blueprint")}
    for who in (PLAYER, "blueprint"):
        ours, theirs = donks[who], donks[PROFESSIONALS]
        claims.append(
            Claim(
                statement=f"{who} bets into the leader of the round before more often than the professionals",
                source="thesis section 6.6",
                verdict=judge(None if ours is None or theirs is None else ours > theirs),
                ours=f"{_percent(ours)} against {_percent(theirs)}",
            )
        )
    notes = (
        "The class (fold, check or call, bet or raise) that the blueprint prefers for the hand that Pluribus held, on "
        "the line that was played; unknown bets are drawn by pseudo-harmonic mapping. 66.8 % is what the best public "
        "blueprint reports.",
        "Shares of habits are those of decisions at which the habit could show; the blueprint's are its mean "
        "probabilities at Pluribus's decisions.",
    )
    return Conclusion(rows=tuple(rows), claims=tuple(claims), notes=notes)


def _agreement_claim(points: list[tuple[int, float]]) -> Claim:
    last = points[-1][1] if points else None
    return Claim(
        statement=f"the blueprint prefers what Pluribus did at more than {PUBLIC:.1%} of its decisions",
        source="wanted here: the best public figure",
        verdict=judge(None if last is None else last > PUBLIC),
        ours=_percent(last),
    )


def _more_often(habits: dict[str, list[tuple[int, float]]], first: str, second: str, who: str, statement: str) -> Claim:
    """Returns whether somebody shows one habit more often than another."""
    found = [habits.get(f"{name}, {who}", []) for name in (first, second)]
    shares = [points[-1][1] if points else None for points in found]
    return Claim(
        statement=f"{statement} often than from elsewhere",
        source="thesis section 6.6",
        verdict=judge(None if None in shares else shares[0] > shares[1]),  # type: ignore[operator]  # None is left out
        ours=f"{_percent(shares[0])} against {_percent(shares[1])}",
    )


def _percent(share: float | None) -> str:
    return "nothing" if share is None else f"{share:.1%}"


PLURIBUS_HABITS: Final = Study(
    name="pluribus-habits",
    title="Six-player blueprints beside the published hands of Pluribus: preferred actions, limping, donk bets",
    source="Brown 2020 (thesis), section 6.6; hands published with Brown & Sandholm 2019",
    x_label="deals of training",
    y_label="share of decisions",
    sizes={Size.QUICK: HabitsConfiguration(hands=500), Size.FULL: HabitsConfiguration()},
    measure=measure,
    conclude=conclude,
    panels=(AGREEMENT, HABIT),
    is_log_y=False,
    data="the hands of Pluribus",
)
