# SPDX-License-Identifier: Apache-2.0
"""Study `pluribus-table`: one search among copies of its blueprint, one blueprint among searches, on a small deck."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

from equipoise.abstraction.blueprints import BlueprintSpec, StoredBlueprint
from equipoise.agents.base import Agent
from equipoise.agents.bots.pluribus import PLURIBUS
from equipoise.agents.holdem.blueprint import BlueprintAgent, Sharpening, game_of_blueprint
from equipoise.agents.holdem.rounds import RoundAgent
from equipoise.agents.simple import ClassAgent, UniformAgent
from equipoise.core.errors import ConfigError
from equipoise.games.base import ActionClass
from equipoise.studies.blueprints.contests import contest, find, judge_interval, points_of, train_file
from equipoise.studies.study import Claim, Conclusion, Measured, Size, Step, Study

__all__ = ["PLURIBUS_TABLE", "TableConfiguration"]

TABLE: Final = "the table"  # panel
AMONG_BLUEPRINTS: Final = "one search among blueprints"  # curves
AMONG_SEARCHES: Final = "one blueprint among searches"
AMONG_CALLERS: Final = "one search among call stations"
AMONG_UNIFORM: Final = "one search among uniform players"
PRINTED: Final[Mapping[str, float]] = {AMONG_BLUEPRINTS: 48.0}  # five humans: 48 mbb, standard error 25
SEED: Final = 66


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class TableConfiguration:
    """How many sit there, and how long is trained, searched and played."""

    players: int = 6
    deals: int = 30_000  # of the blueprint
    hands: int = 240  # of each table: deals times seats
    search_deals: int = 1000  # of a round's search
    buckets: int = 8  # of each street

    def __post_init__(self) -> None:
        if not 3 <= self.players <= 6 or self.deals < 1 or self.hands < 2 * self.players:
            raise ConfigError("players are 3 to 6, deals at least 1 and hands at least two for each seat")

    @property
    def spec(self) -> BlueprintSpec:
        """Returns the blueprint's."""
        return BlueprintSpec(
            stacks=(2000,) * self.players,
            deck="royal",
            menu="100%, a; cap: 2",
            crowded={3: "100%; cap: 1"},
            abstraction="percentile",
            buckets=(self.buckets,) * 3,
        )


def measure(configuration: TableConfiguration) -> Iterator[Step]:
    """Yields what the one wins at each table."""
    with tempfile.TemporaryDirectory(prefix="table-") as folder:
        path = train_file(configuration.spec, configuration.deals, 0, Path(folder) / "blueprint.eq")
        yield Step(fraction=0.1, text="the blueprint")
        game = game_of_blueprint(str(path))

        def plan() -> Agent:
            return BlueprintAgent(StoredBlueprint(path), Sharpening(), name="blueprint")

        def search() -> Agent:
            assert PLURIBUS.rounds is not None
            settings = dataclasses.replace(PLURIBUS.rounds.rounds, deals=configuration.search_deals)
            rounds = dataclasses.replace(
                PLURIBUS.rounds,
                menu=configuration.spec.menu,
                crowded=dict(configuration.spec.crowded),
                rounds=settings,
                iterations=20,
            )
            early = BlueprintAgent(StoredBlueprint(path), Sharpening(), name="pluribus")
            return RoundAgent(early, rounds, name="pluribus")

        tables: dict[str, tuple[Callable[[], Agent], Callable[[], Agent]]] = {
            AMONG_BLUEPRINTS: (search, plan),
            AMONG_SEARCHES: (plan, search),
            AMONG_CALLERS: (search, lambda: ClassAgent(ActionClass.CALL)),
            AMONG_UNIFORM: (search, UniformAgent),
        }
        for place, (name, (make_one, make_other)) in enumerate(tables.items(), start=1):
            agents = (make_one(), *(make_other() for _ in range(configuration.players - 1)))
            found = contest(agents, game, hands=configuration.hands, seed=SEED)
            yield Step(
                fraction=0.1 + 0.9 * (place / len(tables)),
                text=name,
                points=tuple(points_of(TABLE, name, found, configuration.hands)),
            )


def conclude(configuration: TableConfiguration, measured: Measured) -> Conclusion:
    """Returns means with standard errors and one-tailed p-values, and what they say."""
    names = (AMONG_BLUEPRINTS, AMONG_SEARCHES, AMONG_CALLERS, AMONG_UNIFORM)
    found = {name: find(measured, TABLE, name, configuration.hands, configuration.players) for name in names}
    rows = [
        {
            "table": name,
            "ours": one.mean,
            "standard_error": one.standard_error,
            "p_value": one.p_value,
            "paper": PRINTED.get(name),
        }
        for name, one in found.items()
        if one is not None
    ]
    claims = []
    for name in names:
        one, sign = found[name], -1.0 if name == AMONG_SEARCHES else 1.0
        claims.append(
            Claim(
                statement=f"{name} {'loses' if sign < 0 else 'wins'}",
                source="wanted here; the thesis (6.6) has professionals in their place",
                verdict=judge_interval(
                    None if one is None else sign * one.mean, None if one is None else one.standard_error
                ),
                ours="nothing"
                if one is None
                else f"{one.mean:.0f} mbb a hand, standard error {one.standard_error:.0f}",
            )
        )
    notes = (
        f"{configuration.players} players, 20 cards, blinds of 50 and 100 in stacks of 2,000. Every deal is played "
        "from every seat; samples are deals; p-values are one-tailed, of no profit. Without AIVAT. The paper's figure "
        "is of Pluribus among five professionals (48 mbb, standard error 25, with AIVAT): no copies of a blueprint.",
    )
    return Conclusion(rows=tuple(rows), claims=tuple(claims), notes=notes)


PLURIBUS_TABLE: Final = Study(
    name="pluribus-table",
    title="Searches, blueprints, call stations and uniform players at a table of six, on a small deck",
    source="Brown 2020 (thesis), section 6.6",
    x_label="hands",
    y_label="mbb a hand",
    sizes={
        Size.QUICK: TableConfiguration(),
        Size.FULL: TableConfiguration(deals=1_000_000, hands=12_000, search_deals=20_000),
    },
    measure=measure,
    conclude=conclude,
    is_log_y=False,
)
