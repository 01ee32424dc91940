# SPDX-License-Identifier: Apache-2.0
"""Study `modicum-ladder`: a blueprint, one value at leaves, four values at leaves; Table 5.5 on a small deck."""

from __future__ import annotations

import dataclasses
import itertools
import math
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

from equipoise.abstraction.blueprints import BlueprintSpec, StoredBlueprint
from equipoise.agents.base import Agent
from equipoise.agents.bots.modicum import MODICUM
from equipoise.agents.holdem.blueprint import BlueprintAgent, Sharpening, game_of_blueprint
from equipoise.agents.holdem.endgame import EndgameAgent
from equipoise.agents.holdem.rounds import RoundAgent
from equipoise.core.errors import ConfigError
from equipoise.games.holdem.betting import Street
from equipoise.studies.blueprints.contests import contest, find, judge_interval, points_of, train_file
from equipoise.studies.study import Claim, Conclusion, Measured, Size, Step, Study

__all__ = ["MODICUM_LADDER", "LadderConfiguration"]

BLUEPRINT: Final = "blueprint"  # curves
NAIVE: Final = "one value"
FOUR: Final = "four values"
LADDER: Final = (BLUEPRINT, NAIVE, FOUR)
PURE, MIXED = "against pure play", "against mixed play"  # panels
PRINTED: Final[Mapping[str, Mapping[str, float]]] = {  # Table 5.5, mbb a hand
    PURE: {BLUEPRINT: -57.0, NAIVE: -10.0, FOUR: 6.0},
    MIXED: {BLUEPRINT: -11.0, NAIVE: -1.0, FOUR: 11.0},
}
MENU: Final = "100%, a; cap: 2"
STACKS: Final = (2000, 2000)
SEED: Final = 55


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class LadderConfiguration:
    """How long is trained, searched and played."""

    deals: int = 100_000  # of each blueprint
    hands: int = 200  # of each of six matches
    search_deals: int = 3000  # of a round's search
    iterations: int = 40  # of a solve to the end
    buckets: int = 6  # of each street, of the machine
    opponent_buckets: int = 20

    def __post_init__(self) -> None:
        if self.deals < 1 or self.hands < 4:
            raise ConfigError("deals must be at least 1 and hands at least 4")


def measure(configuration: LadderConfiguration) -> Iterator[Step]:
    """Yields what each rung wins against two blueprints."""
    with tempfile.TemporaryDirectory(prefix="ladder-") as folder:
        own, *others = (
            train_file(_spec(size), configuration.deals, seed, Path(folder) / f"{seed}.eq")
            for seed, size in enumerate(
                (configuration.buckets, configuration.opponent_buckets, configuration.opponent_buckets)
            )
        )
        yield Step(fraction=0.1, text="the blueprints")
        game = game_of_blueprint(str(own))
        opponents = {PURE: Sharpening(purified_from=Street.FLOP), MIXED: Sharpening()}
        done = 0
        for (panel, sharpening), path in zip(opponents.items(), others, strict=True):
            for name, make in _rungs(configuration, own).items():
                opponent = BlueprintAgent(StoredBlueprint(path), sharpening, name="opponent")
                found = contest((make(), opponent), game, hands=configuration.hands, seed=SEED)
                done += 1
                yield Step(
                    fraction=0.1 + 0.9 * (done / (2 * len(LADDER))),
                    text=f"{name} {panel}",
                    points=tuple(points_of(panel, name, found, configuration.hands)),
                )


def _spec(buckets: int) -> BlueprintSpec:
    return BlueprintSpec(stacks=STACKS, deck="royal", menu=MENU, abstraction="percentile", buckets=(buckets,) * 3)


def _rungs(configuration: LadderConfiguration, path: Path) -> dict[str, Callable[[], Agent]]:
    """Returns what makes the agents of the ladder, all of one blueprint."""

    def plan() -> BlueprintAgent:
        return BlueprintAgent(StoredBlueprint(path), Sharpening(), name=BLUEPRINT)

    def search(bias: float, name: str) -> Agent:
        assert MODICUM.rounds is not None
        assert MODICUM.search is not None
        settings = dataclasses.replace(MODICUM.rounds.rounds, deals=configuration.search_deals, bias=bias)
        early = RoundAgent(plan(), dataclasses.replace(MODICUM.rounds, menu=MENU, rounds=settings), name=name)
        late = dataclasses.replace(MODICUM.search, menu="100%, a", iterations=configuration.iterations)
        return EndgameAgent(early, late, name=name)

    assert MODICUM.rounds is not None
    four = MODICUM.rounds.rounds.bias
    return {BLUEPRINT: plan, NAIVE: lambda: search(1.0, NAIVE), FOUR: lambda: search(four, FOUR)}


def conclude(configuration: LadderConfiguration, measured: Measured) -> Conclusion:
    """Returns Table 5.5, and whether each rung is above the one before."""
    rows, claims = [], []
    for panel in (PURE, MIXED):
        found = {name: find(measured, panel, name, configuration.hands, 2) for name in LADDER}
        rows += [
            {
                "panel": panel,
                "curve": name,
                "ours": one.mean,
                "standard_error": one.standard_error,
                "p_value": one.p_value,
                "paper": PRINTED[panel][name],
            }
            for name, one in found.items()
            if one is not None
        ]
        for lower, upper in itertools.pairwise(LADDER):
            one, other = found[upper], found[lower]
            gain = None if one is None or other is None else one.mean - other.mean
            error = None if one is None or other is None else math.hypot(one.standard_error, other.standard_error)
            claims.append(
                Claim(
                    statement=f"{panel}, {upper} win{'s' * (upper == BLUEPRINT)} more than {lower}",
                    source="Table 5.5",
                    verdict=judge_interval(gain, error),
                    ours="nothing" if gain is None or error is None else f"{gain:.0f} more, standard error {error:.0f}",
                )
            )
    notes = (
        "Two players, 20 cards, blinds of 50 and 100 in stacks of 2,000. In place of Baby Tartanian8 and Slumbot two "
        "blueprints in more buckets, one pure from the flop on. One value: the continuations that the opponent chooses "
        "among are all the blueprint; in both, solves to the end from the turn on are the same. Means over both seats "
        "of the same deals, without AIVAT; differences are judged as if matches were independent.",
    )
    return Conclusion(rows=tuple(rows), claims=tuple(claims), notes=notes)


MODICUM_LADDER: Final = Study(
    name="modicum-ladder",
    title="Blueprint, depth-limited search with one value and with four, on a small deck",
    source="Brown 2020 (thesis), section 5.2.3, Table 5.5",
    x_label="hands",
    y_label="mbb a hand",
    sizes={
        Size.QUICK: LadderConfiguration(),
        Size.FULL: LadderConfiguration(deals=1_000_000, hands=10_000, search_deals=20_000, iterations=150),
    },
    measure=measure,
    conclude=conclude,
    is_log_y=False,
)
