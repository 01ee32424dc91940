# SPDX-License-Identifier: Apache-2.0
"""Study `aivat`: how much luck AIVAT takes out of hands between two blueprints, guesses from a coarser third."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from equipoise.abstraction.bucketed_strategy import BucketedStrategy, BucketRecipe
from equipoise.agents.base import Agent
from equipoise.agents.strategies import StrategyAgent
from equipoise.core.errors import ConfigError, UnknownNameError
from equipoise.evaluation.aivat import Aivat
from equipoise.evaluation.holdem.aivat import HoldemForm
from equipoise.evaluation.holdem.guesses import build_guesses
from equipoise.evaluation.matches import AGENT_STREAM, CHANCE_STREAM
from equipoise.evaluation.play import play_game
from equipoise.games.holdem.cards import DECKS
from equipoise.games.holdem.rules import Holdem, HoldemState
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.games.holdem.spot_game import game_of_spot
from equipoise.solvers.holdem.bucketed import BucketedSolver
from equipoise.studies.study import Claim, Conclusion, Measured, Point, Size, Step, Study, judge
from equipoise.studies.warm_start.runs import make_flop_spot
from equipoise.trees.holdem.bucketed import build_bucketed_tree

__all__ = ["AIVAT", "AivatConfiguration"]

SOURCE: Final = "Burch, Schmid, Moravcik, Morrill & Bowling 2018, arXiv:1612.06915; blueprints and deck are our own"
SEED: Final = 1
RAW: Final = "chips won"  # curves
KNOWN: Final = {"first known": (0,), "second known": (1,), "both known": (0, 1)}
WANTED: Final = {"first known": 1.5, "second known": 1.5, "both known": 3.0}
DIFFERENCE: Final = ", mean less that of chips, in standard errors"  # panel
CHUNK: Final = 200  # hands between two steps
NUM_ERRORS: Final = 4.0

FloatArray = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class AivatConfiguration:
    """Who plays, and how many hands."""

    decks: tuple[str, ...] = ("short", "full")  # of limit hold'em that ends with the flop
    hands: int = 20_000
    buckets: tuple[int, ...] = (100, 30, 8)  # flop buckets of both players and of the guesses
    iterations: tuple[int, ...] = (3000, 1000, 500)  # of each
    samples: int = 100_000  # deals behind the guesses

    def __post_init__(self) -> None:
        for name in self.decks:
            if name not in DECKS:
                raise UnknownNameError("deck", name, DECKS)
        if len(self.buckets) != 3 or len(self.iterations) != 3:
            raise ConfigError(
                f"buckets and iterations are of two players and of the guesses, got {self.buckets}, {self.iterations}"
            )
        if min(*self.buckets, *self.iterations, self.hands - 1, self.samples) < 1:
            raise ConfigError("buckets, iterations and samples must be at least 1, hands at least 2")


def train(spot: HoldemSpot, num_buckets: int, iterations: int, seed: int) -> BucketedStrategy:
    """Returns a blueprint in so many flop buckets."""
    recipe = BucketRecipe(sizes=(None, num_buckets))
    tree = build_bucketed_tree(spot, recipe.build(spot))
    solver = BucketedSolver(tree, rng=np.random.default_rng(seed))
    solver.iterate(iterations)
    return BucketedStrategy.of(solver, recipe)


def measure(configuration: AivatConfiguration) -> Iterator[Step]:
    """Yields deviations of a hand's winnings and of its estimates, in big blinds."""
    share = 1.0 / len(configuration.decks)
    for place, name in enumerate(configuration.decks):
        spot = make_flop_spot(DECKS[name])
        made = []
        for number, (buckets, iterations) in enumerate(
            zip(configuration.buckets, configuration.iterations, strict=True)
        ):
            yield Step(fraction=share * (place + 0.1 * number), text=f"{name}: a blueprint in {buckets} buckets")
            made.append(train(spot, buckets, iterations, SEED + number))
        yield Step(fraction=share * (place + 0.3), text=f"{name}: guesses")
        rng = np.random.default_rng(SEED + 10)
        form = HoldemForm(game_of_spot(spot), build_guesses(made[2], rng=rng, num_samples=configuration.samples))
        agents = [StrategyAgent(one, form.game) for one in made[:2]]
        estimators = {
            curve: Aivat(form, [agent if seat in known else None for seat, agent in enumerate(agents)])
            for curve, known in KNOWN.items()
        }
        won = np.zeros(configuration.hands)
        estimates = {curve: np.zeros(won.size) for curve in KNOWN}
        for begin in range(0, won.size, CHUNK):
            end = min(begin + CHUNK, won.size)
            for hand in range(begin, end):
                won[hand] = _play_hand(form.game, agents, estimators.values(), hand)
                for curve, estimator in estimators.items():
                    estimates[curve][hand] = estimator.estimate()[0]
            yield Step(
                fraction=min(share * (place + 0.4 + 0.6 * end / won.size), 0.999 if end < won.size else 1.0),
                text=f"{name}: {end:,} hands",
                points=tuple(_points(name, won, estimates, spot.big_blind)) if end == won.size else (),
            )


def _play_hand(game: Holdem, agents: Sequence[Agent], estimators: Iterable[Aivat], hand: int) -> float:
    """Returns what the first player wins in a hand that all estimators hear."""

    def hear(state: HoldemState) -> None:
        for estimator in estimators:
            estimator.hear(state)

    chance, rng = (np.random.default_rng([SEED, stream, hand]) for stream in (CHANCE_STREAM, AGENT_STREAM))
    return play_game(game, agents, chance=chance, rng=rng, expects_all_ins=False, on_state=hear)[0]


def _points(name: str, won: FloatArray, estimates: dict[str, FloatArray], big_blind: int) -> Iterator[Point]:
    size = won.size
    yield Point(panel=name, curve=RAW, x=size, y=float(won.std(ddof=1)) / big_blind)
    for curve, values in estimates.items():
        yield Point(panel=name, curve=curve, x=size, y=float(values.std(ddof=1)) / big_blind)
        difference = values - won
        errors = float(difference.mean() / (difference.std(ddof=1) / np.sqrt(size)))
        yield Point(panel=name + DIFFERENCE, curve=curve, x=size, y=errors)


def conclude(configuration: AivatConfiguration, measured: Measured) -> Conclusion:
    """Returns deviations with and without AIVAT."""
    rows, claims = [], []
    for name in configuration.decks:
        for curve in (RAW, *KNOWN):
            ratio = measured.ratio(name, RAW, curve, configuration.hands)
            rows.append(
                {
                    "deck": name,
                    "estimate": curve,
                    "ours": measured.at(name, curve, configuration.hands),
                    "times_less": ratio,
                    "paper": None,
                }
            )
            if curve in KNOWN:
                claims.append(
                    Claim(
                        statement=f"{name}: deviations are at least {WANTED[curve]:g} times less, {curve}",
                        source="wanted here",
                        verdict=judge(None if ratio is None else ratio >= WANTED[curve]),
                        ours="nothing" if ratio is None else f"{ratio:.2f} times",
                    )
                )
                errors = measured.at(name + DIFFERENCE, curve, configuration.hands)
                claims.append(
                    Claim(
                        statement=f"{name}: unbiased, {curve}: the means differ by at most {NUM_ERRORS:g} errors",
                        source="theorem of the paper; listed exactly on small games in tests/evaluation",
                        verdict=judge(None if errors is None else abs(errors) <= NUM_ERRORS),
                        ours="nothing" if errors is None else f"{errors:+.2f} standard errors of the difference",
                    )
                )
    notes = (
        "Standard deviations of one hand of limit flop hold'em in big blinds, no duplicate deals, seats not swapped.",
        f"Blueprints in {configuration.buckets[0]} and {configuration.buckets[1]} flop buckets, guesses from one in "
        f"{configuration.buckets[2]}.",
    )
    return Conclusion(rows=tuple(rows), claims=tuple(claims), notes=notes)


AIVAT: Final = Study(
    name="aivat",
    title="AIVAT on limit flop hold'em: how much luck it takes out of hands between two blueprints",
    source=SOURCE,
    x_label="hands",
    y_label="standard deviation of a hand (big blinds)",
    sizes={
        Size.QUICK: AivatConfiguration(decks=("short",), hands=1000),
        Size.FULL: AivatConfiguration(),
    },
    measure=measure,
    conclude=conclude,
    panels=tuple(DECKS),
    is_log_y=False,
    seed=SEED,
)
