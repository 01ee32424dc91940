# SPDX-License-Identifier: Apache-2.0
"""Study `self-improver`: an opponent opens by a size that the blueprint lacks, before and after a night's training."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from equipoise.abstraction.blueprints import BlueprintSpec, StoredBlueprint, make_deals, save_blueprint
from equipoise.abstraction.improvement import add_sizes, choose_sizes, count_sizes, midpoint, score_gaps
from equipoise.agents.base import Agent, Observation
from equipoise.agents.holdem.blueprint import BlueprintAgent, Sharpening, game_of_blueprint
from equipoise.core.errors import ConfigError
from equipoise.evaluation.play import play_game
from equipoise.games.holdem.acpc import format_log_line, parse_log_line
from equipoise.games.holdem.records import RecordedHand
from equipoise.games.holdem.rules import Holdem
from equipoise.solvers.blueprints.trainer import BlueprintConfig, BlueprintTrainer
from equipoise.studies.study import Claim, Conclusion, Measured, Point, Size, Step, Study, Verdict

__all__ = ["SELF_IMPROVER", "ImproverConfiguration"]

WON: Final = "won against the opponent"  # panels
GAINED: Final = "gained by the night"
SIZES: Final = "size that was added, percent of the pot"
TODAY: Final = "today's blueprint"  # curves
TONIGHT: Final = "tonight's"
ERROR: Final = ", standard error"
MINE, THEIRS = "mine", "theirs"
MENU: Final = "25%, 300%, a; cap: 2"
PERIODS: Final = 100
MILLI: Final = 1000.0
CONFIDENCE: Final = 1.96
STREAM: Final = 22  # of random numbers, with the run's number behind it


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ImproverConfiguration:
    """How long is trained and played, and what the opponent bets."""

    deals: int = 300_000  # of each training
    log: int = 50  # deals of the day, each from both seats
    hands: int = 8000  # deals that are scored, each from both seats
    opening: int = 310  # to which the opponent raises; the pot is 200 after a call, the menu has 250 and 800
    buckets: int = 20  # of each street
    runs: int = 1  # with other seeds

    def __post_init__(self) -> None:
        if min(self.deals, self.log, self.runs) < 1 or self.hands < 2:
            raise ConfigError("trainings, logs, runs must be at least 1, hands at least 2")


class Opening:
    """Raises to one total whenever nobody has raised before the flop, and plays a blueprint that knows it otherwise."""

    name = "opening"

    def __init__(self, agent: BlueprintAgent, total: int) -> None:
        """Keeps how it goes on."""
        self.agent, self.total = agent, total

    def begin_game(self, seat: int) -> None:
        """Forgets the last hand."""
        self.agent.begin_game(seat)

    def observe(self, observation: Observation) -> None:
        """Takes in what the seat sees."""
        self.agent.observe(observation)

    def act(self, observation: Observation, *, rng: np.random.Generator) -> int:
        """Returns the raise, or what the blueprint does."""
        is_first = "r" not in observation.public_state and ":" not in observation.public_state
        if is_first and self.total in observation.actions:
            return self.total
        return self.agent.act(observation, rng=rng)


def measure(configuration: ImproverConfiguration) -> Iterator[Step]:
    """Yields what the blueprints of day and night win, run by run."""
    for run in range(configuration.runs):
        with tempfile.TemporaryDirectory(prefix="improver-") as folder:
            for step in _measure_run(configuration, run, Path(folder)):
                yield dataclasses.replace(step, fraction=(run + step.fraction) / configuration.runs)


def _measure_run(configuration: ImproverConfiguration, run: int, folder: Path) -> Iterator[Step]:
    spec = BlueprintSpec(
        stacks=(1000, 1000),
        deck="royal",
        menu=MENU,
        abstraction="percentile",
        buckets=(configuration.buckets,) * 3,
    )
    today = _train(configuration, spec, 3 * run, folder / "today.eq")
    theirs = _train(configuration, _with_opening(spec, configuration.opening), 3 * run + 1, folder / "theirs.eq")
    yield Step(fraction=0.3, text="the blueprints of the day")
    game = game_of_blueprint(str(folder / "today.eq"))
    opponent = Opening(theirs, configuration.opening)
    _, log = play(game, (today, opponent), configuration.log, (STREAM, run, 0))
    chosen = choose_sizes(score_gaps(log, spec, {MINE}), count_sizes(log, spec, {MINE}))
    tonight = _train(configuration, add_sizes(spec, chosen), 3 * run + 2, folder / "tonight.eq")
    sizes = tuple(
        Point(panel=SIZES, curve="bet most" if new.is_offensive else "middle of a gap", x=place, y=100 * new.size)
        for place, new in enumerate(chosen)
    )
    yield Step(fraction=0.5, text="tonight's blueprint", points=sizes)
    won = [play(game, (agent, opponent), configuration.hands, (STREAM, run, 1))[0] for agent in (today, tonight)]
    values = {(WON, TODAY): won[0], (WON, TONIGHT): won[1], (GAINED, "difference"): won[1] - won[0]}
    points = []
    for (panel, curve), chips in values.items():
        milli = chips / spec.big_blind * MILLI
        mean, error = float(milli.mean()), float(milli.std(ddof=1) / np.sqrt(len(milli)))
        x = 2 * configuration.hands
        points += [
            Point(panel=panel, curve=curve, x=x, y=mean, run=run),
            Point(panel=panel, curve=curve + ERROR, x=x, y=error, run=run),
        ]
    yield Step(fraction=1.0, text=f"{2 * configuration.hands:,} hands each", points=tuple(points))


def _with_opening(spec: BlueprintSpec, total: int) -> BlueprintSpec:
    """Returns a spec whose first raise may also be the opponent's."""
    pot = 2 * spec.big_blind
    size = 100 * (total - spec.big_blind) / pot
    return dataclasses.replace(spec, menu=f"{MENU}; preflop: 25%, {size:g}%, 300%, a / 25%, 300%, a")


def _train(configuration: ImproverConfiguration, spec: BlueprintSpec, seed: int, path: Path) -> BlueprintAgent:
    every = max(1, configuration.deals // PERIODS)
    config = BlueprintConfig(period=every, snapshot_every=5 * every, first_snapshot=configuration.deals // 4, seed=seed)
    trainer = BlueprintTrainer(spec.betting, make_deals(spec), spec.num_buckets, config)
    trainer.train(configuration.deals)
    save_blueprint(path, spec, trainer, {})
    return BlueprintAgent(StoredBlueprint(path), Sharpening())


def play(
    game: Holdem, agents: Sequence[Agent], num_deals: int, seed: tuple[int, ...]
) -> tuple[np.ndarray[Any, np.dtype[np.float64]], list[RecordedHand]]:
    """Returns `[deals]` the chips a hand that the first agent wins, mean over both seats, and what was played."""
    won, hands = np.zeros(num_deals), []
    for number in range(num_deals):
        for seat in (0, 1):
            states: list[Any] = []
            result = play_game(
                game,
                [agents[seat], agents[1 - seat]],
                chance=np.random.default_rng([*seed, number]),
                rng=np.random.default_rng([*seed, number, seat]),
                on_state=states.append,
                expects_all_ins=False,
            )
            won[number] += result[seat] / 2
            line = format_log_line(game, states[-1], 2 * number + seat, (MINE, THEIRS)[:: 1 if seat == 0 else -1])
            hands.append(parse_log_line(line, game.betting_rules))
    return won, hands


def conclude(configuration: ImproverConfiguration, measured: Measured) -> Conclusion:
    """Returns what was won, and whether the night paid."""
    rows = [
        {"panel": panel, "curve": curve, "hands or place": x, "ours": y, "paper": None}
        for panel, curves in measured.panels().items()
        for curve, points in curves.items()
        for x, y in points
    ]
    x = 2 * configuration.hands
    intervals = [
        (mean - CONFIDENCE * error, mean + CONFIDENCE * error)
        for mean, error in zip(
            _by_run(measured, "difference", x), _by_run(measured, "difference" + ERROR, x), strict=True
        )
    ]
    verdict = Verdict.NOT_MEASURED
    if intervals:
        verdict = Verdict.UNDECIDED
        if all(low > 0 for low, _ in intervals):
            verdict = Verdict.CONFIRMED
        elif all(high < 0 for _, high in intervals):
            verdict = Verdict.DENIED
    claims = (
        Claim(
            statement="a night's training with the sizes of the day's log lowers the loss against who bets them",
            source="thesis section 6.4",
            verdict=verdict,
            ours="; ".join(f"{low:.0f} to {high:.0f} mbb a hand" for low, high in intervals) or "nothing",
        ),
    )
    notes = (
        "Two players, 20 cards, blinds of 50 and 100 in stacks of 1,000, all streets, buckets on each. The opponent's "
        "first raise is always the same, and a blueprint trained with it plays on; ours lacks it and takes it for a "
        f"neighbour by the pseudo-harmonic mapping ({100 * midpoint(0.25, 3.0):.0f} % is as often either). The log's "
        "sizes are chosen as Libratus did; then the whole blueprint is trained anew for as many deals, where Libratus "
        "solved for the answers alone. Hands are the same for both, from both seats; 95 % intervals of the difference.",
    )
    return Conclusion(rows=tuple(rows), claims=claims, notes=notes)


def _by_run(measured: Measured, curve: str, x: int) -> list[float]:
    """Returns the values of all runs in their order."""
    found = [measured.of_run(run).at(GAINED, curve, x) for run in range(len(measured.runs(GAINED, curve, x)))]
    return [value for value in found if value is not None]


SELF_IMPROVER: Final = Study(
    name="self-improver",
    title="A night's training with the sizes that the day's opponent bet",
    source="Brown 2020 (thesis), section 6.4",
    x_label="hands",
    y_label="mbb a hand",
    sizes={
        Size.QUICK: ImproverConfiguration(),
        Size.FULL: ImproverConfiguration(deals=1_000_000, log=1000, hands=10_000, runs=3),
    },
    measure=measure,
    conclude=conclude,
    panels=(WON, GAINED),
    is_log_y=False,
)
