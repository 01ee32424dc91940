# SPDX-License-Identifier: Apache-2.0
"""Study `bucketed-holdem`: hold'em to the river whose hands play by bucket, trained by sampling."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator
from typing import Final

import numpy as np

from equipoise.abstraction import Percentile, build_buckets
from equipoise.core.errors import ConfigError, UnknownNameError
from equipoise.games.holdem.betting import Street
from equipoise.games.holdem.cards import DECKS, FULL_DECK, Deck
from equipoise.games.holdem.menu_notation import parse_menu
from equipoise.games.holdem.ranges import Range
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.solvers.holdem.bucketed import MAX_RUNOUTS, BucketedSolver, evaluate_bucketed
from equipoise.studies.study import Claim, Conclusion, Measured, Point, Size, Step, Study, judge
from equipoise.trees.holdem.bucketed import build_bucketed_tree

__all__ = ["BUCKETED_HOLDEM", "BucketedConfiguration"]

SOURCE: Final = "this project: no paper prints these numbers; Johanson et al. 2012 for the sampling"
SEED: Final = 1
GAIN: Final = "gain of a response"  # curves
ERROR: Final = "its standard error"
NUM_ERRORS: Final = 3.0  # standard errors by which a figure must fall to have fallen


def _everything(deck: Deck) -> tuple[Range, Range]:
    return Range.random(deck), Range.random(deck)


def _limit() -> HoldemSpot:
    return HoldemSpot(
        board=(),
        ranges=_everything(FULL_DECK),
        stacks=(1000, 1000),
        big_blind=2,
        small_blind=1,
        bet_sizes=(2, 2, 4, 4),
        max_raises=(3, 4, 4, 4),
        menu=parse_menu("limit"),
    )


def _no_limit() -> HoldemSpot:
    return HoldemSpot(
        board=(),
        ranges=_everything(FULL_DECK),
        stacks=(5000, 5000),
        big_blind=100,
        small_blind=50,
        menu=parse_menu("75%, a"),
    )


def _small() -> HoldemSpot:
    """Returns no-limit flop hold'em with few enough runouts that responses are exact."""
    deck = DECKS["small"]
    return HoldemSpot(
        board=(),
        deck=deck,
        ranges=_everything(deck),
        stacks=(1000, 1000),
        big_blind=100,
        small_blind=50,
        last_street=Street.FLOP,
        menu=parse_menu("75%, a"),
    )


GAMES: Final = {"limit": _limit, "no-limit": _no_limit, "small-deck": _small}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class BucketedConfiguration:
    """What is trained, and how it is measured."""

    games: tuple[str, ...] = tuple(GAMES)
    marks: tuple[int, ...] = (100, 300, 1000, 3000, 10_000)  # iterations after which responses are measured
    buckets: int = 200  # of each street after the first, percentiles of E[HS²]; small decks have a tenth
    learnt: int = 2000  # runouts from which each response learns
    measured: int = 1000  # fresh runouts on which it is measured

    def __post_init__(self) -> None:
        for name in self.games:
            if name not in GAMES:
                raise UnknownNameError("game of the study", name, GAMES)
        if list(self.marks) != sorted(set(self.marks)) or min(self.marks, default=0) < 1:
            raise ConfigError(f"marks must be iterations in ascending order, got {', '.join(map(str, self.marks))}")
        if self.buckets < 10 or self.learnt < 1 or self.measured < 2:
            raise ConfigError(
                f"buckets must be at least 10, learnt at least 1 and measured at least 2, got {self.buckets}, "
                f"{self.learnt} and {self.measured}"
            )


def measure(configuration: BucketedConfiguration) -> Iterator[Step]:
    """Yields what responses inside the abstraction gain against the average strategy, in mbb/g."""
    for place, name in enumerate(configuration.games):
        done = place / len(configuration.games)
        yield Step(fraction=done, text=f"{name}: card buckets (a minute for the full deck, unless they are cached)")
        spot = GAMES[name]()
        is_small = spot.deck is not FULL_DECK
        count = configuration.buckets // 10 if is_small else configuration.buckets
        buckets = build_buckets(Percentile(), spot.deck, sizes=(None, count, count, count))
        solver = BucketedSolver(build_bucketed_tree(spot, buckets), rng=np.random.default_rng(SEED))
        for mark in configuration.marks:
            # by steps of some seconds, so that progress shows and Ctrl-C is heard
            while solver.iteration < mark:
                solver.iterate(min(100, mark - solver.iteration))
                share = solver.iteration / configuration.marks[-1] / len(configuration.games)
                text = f"{name}: {solver.iteration:,} iterations"
                yield Step(fraction=min(done + share, 0.999), text=text)
            gain, error = _measure_response(solver, configuration)
            yield Step(
                fraction=done + mark / configuration.marks[-1] / len(configuration.games),
                text=f"{name}: response after {mark:,} iterations",
                points=(
                    Point(panel=name, curve=GAIN, x=mark, y=gain * 1000 / spot.big_blind),
                    Point(panel=f"{name}, errors", curve=ERROR, x=mark, y=error * 1000 / spot.big_blind),
                ),
            )


def _measure_response(solver: BucketedSolver, configuration: BucketedConfiguration) -> tuple[float, float]:
    """Returns what responses gain, in chips, with the standard error: exactly where runouts can be listed."""
    if solver.tree.num_runouts <= MAX_RUNOUTS:
        return evaluate_bucketed(solver.runouts, solver.tables.strategy_sum).exploitability, 0.0
    estimate = solver.estimate_response(
        rng=np.random.default_rng(SEED + 1), num_learnt=configuration.learnt, num_measured=configuration.measured
    )
    return estimate.gain, estimate.standard_error


def conclude(configuration: BucketedConfiguration, measured: Measured) -> Conclusion:
    """Returns the gains at the marks, and whether they fall."""
    rows = tuple(
        {
            "game": name,
            "iterations": mark,
            "ours": measured.at(name, GAIN, mark),
            "standard_error": measured.at(f"{name}, errors", ERROR, mark),
            "paper": None,
        }
        for name in configuration.games
        for mark in configuration.marks
    )
    notes = (
        "Gains in mbb/g, of responses that see buckets and betting, not cards; nash_conv / 2.",
        "On the full deck responses learn by the same sampling and are measured on fresh runouts: a lower bound on the "
        "exploitability inside the abstraction. Where runouts can be listed the gain is exact.",
        f"Percentile buckets of E[HS²] without recall, {configuration.buckets} a street (a tenth for small decks), 169 "
        "classes before the flop; public chance sampling, plain MCCFR.",
    )
    return Conclusion(rows=rows, claims=tuple(_claims(configuration, measured)), notes=notes)


def _claims(configuration: BucketedConfiguration, measured: Measured) -> Iterator[Claim]:
    for name in configuration.games:
        gains = [measured.at(name, GAIN, mark) for mark in configuration.marks]
        errors = [measured.at(f"{name}, errors", ERROR, mark) for mark in configuration.marks]
        known = [
            (gain, error) for gain, error in zip(gains, errors, strict=True) if gain is not None and error is not None
        ]
        falls = all(
            later < earlier - NUM_ERRORS * float(np.hypot(first, second))
            for (earlier, first), (later, second) in itertools.pairwise(known)
        )
        yield Claim(
            statement=f"{name}: exploitability inside the abstraction falls from mark to mark "
            f"(by more than {NUM_ERRORS:g} standard errors)",
            source=SOURCE,
            verdict=judge(falls if len(known) > 1 else None),
            ours=", ".join(f"{gain:.3g} ± {error:.2g}" for gain, error in known) or "nothing",
        )


BUCKETED_HOLDEM: Final = Study(
    name="bucketed-holdem",
    title="Hold'em to the river in 200 buckets a street: what responses inside the abstraction gain",
    source=SOURCE,
    x_label="iterations of public chance sampling",
    y_label="gain of a response (mbb/g)",
    sizes={
        Size.QUICK: BucketedConfiguration(marks=(30, 100), learnt=200, measured=150),
        Size.FULL: BucketedConfiguration(),
    },
    measure=measure,
    conclude=conclude,
    panels=tuple(GAMES),
    seed=SEED,
)
