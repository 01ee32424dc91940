# SPDX-License-Identifier: Apache-2.0
"""Bet sizes of a hold'em spot that find themselves: which one, two or three sizes lose least, and how much.

The sizes are those of one player's first bet on one street, as fractions of the pot; all else of the spot's menu stays.
Trees change with sizes, so each probe has a tree of its own, and regrets go from tree to tree as they are.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from equipoise.core.errors import ConfigError
from equipoise.core.formatting import run_repr
from equipoise.games.holdem.amounts import scale_menu
from equipoise.games.holdem.betting import Street
from equipoise.games.holdem.menus import BetSize, Menu, SizeKind
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rules import DCFR
from equipoise.trees.holdem.tree import HoldemTree, build_holdem_tree

__all__ = ["BetSizeConfig", "BetSizeSearch", "SizeStep", "SizedSpot", "SizedValue", "full_menu", "round_sizes"]

FINE_CHIPS: Final = 1_000_000  # of the pot that sizes are counted in while they move
CARRIED: Final = 30  # iterations that a run counts as at most once its tree has changed: averages begin anew
PLAIN_SIZES: Final = (0.25, 0.33, 0.4, 0.5, 0.6, 0.66, 0.75, 0.8, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0)  # as people bet
FULL_MENU: Final = (0.1, 0.2, 0.33, 0.5, 0.66, 0.8, 1.0, 1.5, 2.0, 2.5)
MEETING: Final = 0.1  # of two runs whose sizes are closer than this share the worse one ends
LARGEST_MOVE: Final = 0.4  # of a step, in logarithms
FLAT: Final = 0.0005  # of the pot: probes that differ by less say that the size does not matter here
STANDING: Final = 0.01  # a run whose step is shorter, in logarithms, has arrived
SAME_TREE: Final = ("streets", "nodes", "flat_slot", "fold_slot")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class BetSizeConfig:
    """Whose sizes are found, and how."""

    street: Street = Street.TURN
    player: int = 0  # 0: out of position
    num_sizes: int = 1
    lowest: float = 0.1  # of the pot
    highest: float = 2.5
    starts: tuple[float, ...] = (0.33, 0.6, 1.0, 1.6)  # middles of the sizes at the beginning
    steps: int = 8
    least_iterations: int = 12  # of a step
    most_iterations: int = 48
    move: float = 0.35  # the first step goes by a factor e ** move; later ones by less

    def __post_init__(self) -> None:
        if self.player not in (0, 1):
            raise ConfigError(f"player must be 0 or 1, got {self.player}")
        if not 1 <= self.num_sizes <= 4:
            raise ConfigError(f"sizes must be between 1 and 4, got {self.num_sizes}")
        if not 0 < self.lowest < self.highest < math.inf:
            raise ConfigError(f"sizes must be from a positive one to a larger one, got {self.lowest} to {self.highest}")
        if not self.starts or not all(self.lowest <= start <= self.highest for start in self.starts):
            raise ConfigError(f"starts must be between {self.lowest:g} and {self.highest:g} of the pot")
        if not 1 <= self.least_iterations <= self.most_iterations:
            raise ConfigError("least_iterations must be from 1 to most_iterations")
        if self.steps < 1 or not 0 < self.move < math.inf:
            raise ConfigError("steps must be at least 1 and move above 0")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SizedValue:
    """What a player's sizes are worth to it, in shares of the pot."""

    sizes: tuple[float, ...]
    value: float  # what the player takes of the pot, under the average strategies
    gap: float  # the value of the equilibrium is at most this far off
    iterations: int


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SizeStep:
    """Where one step of one start led."""

    start: int
    step: int
    sizes: tuple[float, ...]  # after the step
    value: float  # midway between the probes, of the pot
    iterations: int  # of all probes so far


class SizedSpot:
    """A hold'em spot in which one player's first bets of a street have given sizes.

    >>> from equipoise.games.holdem import parse_board, parse_menu, parse_range
    >>> ranges = parse_range("AA, QQ"), parse_range("KK")
    >>> spot = HoldemSpot(
    ...     board=parse_board("Jc7h2d5c3s"), pot=20, big_blind=1, stacks=(40, 40), ranges=ranges, menu=parse_menu("50%")
    ... )
    >>> sized = SizedSpot(spot, BetSizeConfig(street=Street.RIVER))
    >>> sized.with_sizes((0.75,)).menu.rounds[Street.RIVER][0].sizes[0][0].amount
    75.0
    """

    def __init__(self, spot: HoldemSpot, config: BetSizeConfig) -> None:
        street = spot.betting_rules.first_street
        if not street <= config.street <= spot.last_street:
            raise ConfigError(
                f"the spot is played from {street.name.lower()} to {spot.last_street.name.lower()}, and sizes of the "
                f"{config.street.name.lower()} are asked for"
            )
        if spot.bet_sizes:
            raise ConfigError("a spot with limit betting has no sizes to find")
        if spot.rake_rate:
            raise ConfigError("sizes are found in spots without rake: with it the players' values do not sum to zero")
        if street is Street.PREFLOP:
            raise ConfigError("sizes are found in spots after the flop")
        self.config = config
        self.spot = _cut_finely(spot)
        reach = min(self.spot.behind) / self.spot.root_pot
        # sizes that reach the stack are all-in, and all the same
        self.highest = min(config.highest, 0.97 * reach) if config.street is street else config.highest
        # nobody bets less than a big blind
        self.lowest = max(config.lowest, self.spot.big_blind / self.spot.root_pot)
        if self.highest <= self.lowest:
            raise ConfigError(
                f"stacks of {reach:.3g} pots and a big blind of {self.spot.big_blind / self.spot.root_pot:.3g} "
                f"leave no room for sizes of {config.lowest:g} to {config.highest:g} of the pot"
            )

    def bound(self, size: float) -> float:
        """Returns a size, or the nearest one that can be bet."""
        return min(max(size, self.lowest), self.highest)

    def with_sizes(self, sizes: Sequence[float]) -> HoldemSpot:
        """Returns the spot with these sizes, in shares of the pot."""
        bets = tuple(BetSize(SizeKind.POT, 100.0 * size) for size in sorted(sizes))
        return dataclasses.replace(self.spot, menu=_replace_first(self.spot.menu, self.config, bets))

    def build(self, sizes: Sequence[float]) -> HoldemTree:
        """Returns the tree with these sizes."""
        return build_holdem_tree(self.with_sizes(sizes))

    def solve(
        self, sizes: Sequence[float], *, gap: float = 0.001, most_iterations: int = 2000, num_threads: int = 1
    ) -> SizedValue:
        """Returns the value of sizes, solved from nothing until it is known to `gap` of the pot."""
        probe = _Probe(self, tuple(sizes), num_threads)
        found = probe.measure()
        while found.gap > gap and probe.solver.iteration < most_iterations:
            probe.iterate(max(10, probe.solver.iteration // 4))
            found = probe.measure()
        return found


def _cut_finely(spot: HoldemSpot) -> HoldemSpot:
    """Returns the spot in chips so small that sizes move evenly."""
    scale = max(1, FINE_CHIPS // max(spot.pot, 1))
    return dataclasses.replace(
        spot,
        pot=spot.pot * scale,
        stacks=(spot.stacks[0] * scale, spot.stacks[1] * scale),
        big_blind=spot.big_blind * scale,
        small_blind=None if spot.small_blind is None else spot.small_blind * scale,
        ante=spot.ante * scale,
        menu=scale_menu(spot.menu, scale),
    )


def _replace_first(menu: Menu, config: BetSizeConfig, bets: tuple[BetSize, ...]) -> Menu:
    """Returns a menu with other sizes for the first bet of one player on one street."""
    rounds = list(menu.rounds)
    pair = list(rounds[config.street])
    own = pair[config.player]
    donk = None if own.donk is None else bets
    pair[config.player] = dataclasses.replace(own, sizes=(bets, *(own.sizes[1:] or own.sizes[:1])), donk=donk)
    rounds[config.street] = (pair[0], pair[1])
    return dataclasses.replace(menu, rounds=tuple(rounds))


class _Probe:
    """A run at some sizes; it goes on at others with its regrets."""

    def __init__(self, sized: SizedSpot, sizes: tuple[float, ...], num_threads: int) -> None:
        self.sized, self.sizes, self.num_threads = sized, sizes, num_threads
        self.tree = sized.build(sizes)
        self.solver = CFRSolver(self.tree, DCFR(), num_threads=num_threads)
        self.iterations = 0

    def iterate(self, num_iterations: int) -> None:
        self.solver.iterate(num_iterations)
        self.iterations += num_iterations

    def move(self, sizes: tuple[float, ...]) -> None:
        """Goes on at other sizes; regrets come along if the betting has the same shape there."""
        tree = self.sized.build(sizes)
        solver = CFRSolver(tree, DCFR(), num_threads=self.num_threads)
        if all(np.array_equal(getattr(self.tree.arrays, name), getattr(tree.arrays, name)) for name in SAME_TREE):
            solver.tables.regret_sum[...] = self.solver.tables.regret_sum
            solver.begin_after(min(self.solver.iteration, CARRIED))
        self.sizes, self.tree, self.solver = sizes, tree, solver

    def measure(self) -> SizedValue:
        """Returns what the sizes are worth, with bounds from best responses."""
        found = self.solver.evaluate()
        pot, player = self.sized.spot.root_pot, self.sized.config.player
        high = found.best_response_values[player]
        low = sum(found.values) - found.best_response_values[1 - player]
        value = found.values[player]
        return SizedValue(
            sizes=self.sizes,
            value=value / pot + 0.5,
            gap=max(high - value, value - low) / pot,
            iterations=self.iterations,
        )


class BetSizeSearch:
    """A search for sizes from several starts: two probes a size, solved and moved together.

    Paper: Brown 2020, thesis [B20] sections 4.2.5 and 4.2.6, Algorithm 3 as it is run on no-limit hold'em.
    Symbols: theta -> logarithms of sizes; K -> iterations of a step.
    Departs from the paper: every deal is in each iteration, where the thesis draws the same cards for both probes; rule
        DCFR; sizes move in logarithms, so that a first offset cannot make them negative, and the largest gradient of
        the first step is made one move; regrets go to new sizes as they stand and weigh as 30 iterations at most, for
        hold'em's kernel keeps no coefficients; a step is taken once the sign of each derivative is certain by the
        probes' best responses (the thesis: significant), within bounds; a start ends once another is certainly
        better, or where two meet.
    Checked by: tests/abstraction/test_bet_sizes.py, study bet-size-optimisation.

    >>> from equipoise.games.holdem import parse_board, parse_menu, parse_range
    >>> ranges = parse_range("AA, QQ"), parse_range("KK")
    >>> spot = HoldemSpot(
    ...     board=parse_board("Jc7h2d5c3s"), pot=20, big_blind=1, stacks=(40, 40), ranges=ranges, menu=parse_menu("50%")
    ... )
    >>> search = BetSizeSearch(SizedSpot(spot, BetSizeConfig(street=Street.RIVER, starts=(0.5,), steps=3)))
    >>> [step.sizes[0] > 0.5 for step in search.run()][-1]
    True
    """

    def __init__(self, sized: SizedSpot, *, num_threads: int = 1) -> None:
        self.sized = sized
        self.num_threads = num_threads
        config = sized.config
        self.runs = [
            _Run(sized, number, _spread(start, config.num_sizes, sized.lowest, sized.highest), num_threads)
            for number, start in enumerate(dict.fromkeys(map(sized.bound, config.starts)))
        ]

    __repr__ = run_repr

    @property
    def iteration(self) -> int:
        """Returns the iterations of all probes."""
        return sum(run.iterations for run in self.runs)

    @property
    def best(self) -> tuple[float, ...]:
        """Returns the sizes of the run that is worth most."""
        return max(self.runs, key=lambda run: run.value).sizes

    @property
    def ends(self) -> tuple[tuple[float, ...], ...]:
        """Returns where the starts are, or where they ended."""
        return tuple(run.sizes for run in self.runs)

    def run(self) -> Iterator[SizeStep]:
        """Yields every step of every start that still goes on."""
        for _ in range(self.sized.config.steps):
            for one in self.runs:
                if one.is_on:
                    taken = one.advance()
                    yield dataclasses.replace(taken, iterations=self.iteration)
            self._end_runs()

    def _end_runs(self) -> None:
        """Ends runs that are certainly worse than another, or go where a better one goes."""
        ranked = sorted(self.runs, key=lambda run: -run.value)
        for place, worse in enumerate(ranked):
            for better in ranked[:place]:
                is_beaten = worse.value + worse.gap < better.value - better.gap
                distance = max(abs(math.log(a / b)) for a, b in zip(worse.sizes, better.sizes, strict=True))
                if is_beaten or distance < MEETING:
                    worse.is_on = False


class _Run:
    """One start: a point and two probes a size."""

    def __init__(self, sized: SizedSpot, number: int, sizes: tuple[float, ...], num_threads: int) -> None:
        self.sized, self.number, self.sizes = sized, number, sizes
        self.step, self.rate, self.is_on = 1, 0.0, True
        self.value, self.gap = -math.inf, math.inf
        self.probes = [_Probe(sized, place, num_threads) for place in self._places()]

    @property
    def iterations(self) -> int:
        return sum(probe.iterations for probe in self.probes)

    def _places(self) -> list[tuple[float, ...]]:
        width = 0.5 * self.sized.config.move * self.step**-0.25
        places = []
        for dimension, size in enumerate(self.sizes):
            for side in (-width, width):
                moved = self.sized.bound(size * math.exp(side))
                places.append((*self.sizes[:dimension], moved, *self.sizes[dimension + 1 :]))
        return places

    def advance(self) -> SizeStep:
        config = self.sized.config
        found = self._settle()
        gradient = []
        for dimension in range(len(self.sizes)):
            below, above = found[2 * dimension : 2 * dimension + 2]
            distance = math.log(above.sizes[dimension] / below.sizes[dimension])
            gradient.append((above.value - below.value) / distance)
        self.value = sum(one.value for one in found) / len(found)
        self.gap = max(one.gap for one in found)
        steepest = max(map(abs, gradient))
        if not self.rate and steepest > 0:
            self.rate = config.move / steepest
        factor = self.rate / self.step**0.75
        moves = [min(max(slope * factor, -LARGEST_MOVE), LARGEST_MOVE) for slope in gradient]
        before = self.sizes
        self.sizes = tuple(
            sorted(self.sized.bound(size * math.exp(move)) for size, move in zip(self.sizes, moves, strict=True))
        )
        taken, self.step = self.step, self.step + 1
        moved = max(abs(math.log(new / old)) for new, old in zip(self.sizes, before, strict=True))
        differences = [abs(above.value - below.value) for below, above in zip(found[::2], found[1::2], strict=True)]
        self.is_on = moved >= STANDING and (taken == 1 or max(differences) >= FLAT)
        if taken < config.steps and self.is_on:
            for probe, place in zip(self.probes, self._places(), strict=True):
                probe.move(place)
        return SizeStep(start=self.number, step=taken, sizes=self.sizes, value=self.value, iterations=0)

    def _settle(self) -> list[SizedValue]:
        """Runs the probes, in turns, until every derivative has a certain sign or enough has been spent."""
        config, done = self.sized.config, 0
        while True:
            for probe in self.probes:
                probe.iterate(config.least_iterations)
            done += config.least_iterations
            found = [probe.measure() for probe in self.probes]
            pairs = zip(found[::2], found[1::2], strict=True)
            is_certain = all(abs(above.value - below.value) > above.gap + below.gap for below, above in pairs)
            if is_certain or done + config.least_iterations > config.most_iterations:
                return found


def _spread(middle: float, num_sizes: int, lowest: float, highest: float) -> tuple[float, ...]:
    """Returns sizes around a middle one, each half as large again as the one before, within bounds."""
    sizes = [middle * 1.6 ** (k - (num_sizes - 1) / 2) for k in range(num_sizes)]
    if sizes[-1] > highest:
        sizes = [size * highest / sizes[-1] for size in sizes]
    return tuple(max(size, lowest * 1.05**k) for k, size in enumerate(sizes))


def round_sizes(sizes: Sequence[float]) -> tuple[float, ...]:
    """Returns the nearest sizes that people bet, each once.

    >>> round_sizes([0.71, 0.74, 1.31])
    (0.75, 1.25)
    """
    nearest = {min(PLAIN_SIZES, key=lambda plain: abs(math.log(plain / size))) for size in sizes}
    return tuple(sorted(nearest))


def full_menu(sized: SizedSpot) -> tuple[float, ...]:
    """Returns the sizes of a full menu of ten that bounds and stacks allow.

    >>> from equipoise.games.holdem import parse_board, parse_range
    >>> spot = HoldemSpot(
    ...     board=parse_board("Jc7h2d5c3s"),
    ...     pot=20,
    ...     big_blind=1,
    ...     stacks=(20, 20),
    ...     ranges=(parse_range("AA"), parse_range("KK")),
    ... )
    >>> full_menu(SizedSpot(spot, BetSizeConfig(street=Street.RIVER, starts=(0.5,))))
    (0.1, 0.2, 0.33, 0.5, 0.66, 0.8)
    """
    return tuple(size for size in FULL_MENU if sized.lowest <= size <= sized.highest)
