# SPDX-License-Identifier: Apache-2.0
"""What study `warm-start` runs: its panels, sizes and the ways to go on after a reset."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from equipoise.core.errors import ConfigError
from equipoise.games.holdem.cards import parse_deck
from equipoise.solvers.substitution import RegretBound, WarmStart

__all__ = [
    "BUCKETS",
    "COSTS",
    "FLOP",
    "FORGOTTEN",
    "FROM_AVERAGES",
    "LEDUC",
    "MATRICES",
    "MULTIPLES",
    "NO_SHARE",
    "PAPER_TARGETS",
    "PLAIN",
    "PRINTED_SHARES",
    "PROJECTED",
    "PROJECTION",
    "REPORT",
    "SAMPLED",
    "SEED",
    "SOURCE",
    "STARTED",
    "TEXT",
    "TIMED",
    "UNJUDGED",
    "Variant",
    "WarmStartConfiguration",
    "list_matrix_marks",
    "list_variants",
    "name_lossless",
    "name_multiplied",
    "name_printed",
    "name_projected",
]

SOURCE: Final = "Brown 2020, thesis Figs. 3.8-3.12; Brown & Sandholm 2016"
TEXT: Final = "thesis section 3.2.5"
SEED: Final = 0
MATRICES: Final = "random matrices"
LEDUC: Final = {"Leduc, alternating": True, "Leduc, simultaneous": False}
FLOP: Final = "flop hold'em"
SAMPLED: Final = "flop hold'em from an abstraction"
PLAIN: Final = "cfr"
FROM_AVERAGES: Final = "averages alone"
PROJECTION: Final = "c/T"  # of the first ten iterations
PROJECTED: Final = 10  # iterations
FORGOTTEN: Final = "regrets forgotten"
BUCKETS: Final = "mccfr in buckets"
STARTED: Final = "warm start"
PRINTED_SHARES: Final = (0.05, 0.1, 0.5)  # lambdas of Fig. 3.12 beside 0
MULTIPLES: Final = (2, 10)  # what the last two are to the first, which Fig. 3.9 used after as many iterations
REPORT: Final = "warm starts"  # a panel of what was chosen: x: reset, y: iterations or lambda
COSTS: Final = "CPU seconds of a sweep's worth of nodes"
TIMED: Final = 5  # iterations behind that of full sweeps
NO_SHARE: Final = "lambda 0"  # the same under both bounds
UNJUDGED: Final[list[tuple[str, bool | None]]] = [
    ("lambda 0, 0.05 and 0.1 are virtually identical (within 20 %)", None),
    ("lambda 0.05 is the best by a small margin (within 5 % of the best)", None),
    ("lambda 0.5 is dramatically worse (1.5 times the best)", None),
]
PAPER_TARGETS: Final = {100: 97, 500: 490, 2500: 2310}  # limit flop hold'em, whole


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class WarmStartConfiguration:
    """What is solved and for how long."""

    matrix_games: int = 64  # as published
    matrix_size: int = 100  # as published
    matrix_iterations: int = 1000
    leduc_iterations: int = 10_000
    leduc_resets: tuple[int, ...] = (100, 500, 2500)
    deck: str = "full"  # of flop hold'em
    holdem_iterations: int = 10_000
    holdem_resets: tuple[int, ...] = (100, 500, 2500)
    share_reset: int = 500  # after which lambdas are compared, one of each game's resets
    flop_buckets: int = 5000  # as published
    sampled_sweeps: int = 200  # that Monte Carlo CFR lasts, in full sweeps' worth of nodes
    start_sweeps: int = 2  # after which its average starts full sweeps; 6 core minutes, published, were 2 of theirs
    threads: int = 0  # of hold'em; 0: one per core

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            least = min(value) if isinstance(value, tuple) else value
            if not isinstance(value, str) and least < (field.name != "threads"):
                raise ConfigError(f"{field.name} must be at least {int(field.name != 'threads')}, got {least}")
        for resets, iterations in (
            (self.leduc_resets, self.leduc_iterations),
            (self.holdem_resets, self.holdem_iterations),
        ):
            if max(resets) * 2 > iterations:
                raise ConfigError(f"a reset after {max(resets):,} iterations needs twice as many, got {iterations:,}")
        if self.start_sweeps > self.sampled_sweeps:
            raise ConfigError(f"start_sweeps must be at most sampled_sweeps, got {self.start_sweeps}")
        parse_deck(self.deck)

    def resets_of(self, panel: str) -> tuple[int, ...]:
        """Returns the iterations after which runs of a panel are reset."""
        return self.holdem_resets if panel == FLOP else self.leduc_resets

    def share_reset_of(self, panel: str) -> int:
        """Returns the reset after which lambdas are compared: the one asked for, else the last."""
        resets = self.resets_of(panel)
        return self.share_reset if self.share_reset in resets else resets[-1]


def list_matrix_marks(configuration: WarmStartConfiguration) -> list[int]:
    """Returns the iterations at which runs of matrices are compared."""
    last = configuration.matrix_iterations
    return [mark for mark in (10, 100, 1000) if mark < last] + [last]


class Variant(NamedTuple):
    """A way to go on after a reset."""

    curve: str
    reset: int
    how: WarmStart | None  # None: regrets are forgotten
    multiple: int | None = None  # of the lambda found before under the same bound; None: as `how` says

    def with_lambda(self, found: Mapping[RegretBound, float]) -> WarmStart | None:
        """Returns how, lambda included if it is a multiple of one found."""
        if self.how is None or self.multiple is None:
            return self.how
        return dataclasses.replace(self.how, bound_share=min(self.multiple * found[self.how.bound], 1.0))


def list_variants(configuration: WarmStartConfiguration, panel: str) -> Iterator[Variant]:
    """Yields every way to go on; where lambda is a multiple, after the one that finds it."""
    for reset in configuration.resets_of(panel):
        yield Variant(name_projected(reset), reset, WarmStart(projection_iterations=PROJECTED))
        yield Variant(name_lossless(reset), reset, WarmStart(iterations=reset))
        yield Variant(f"{FORGOTTEN} at {reset}", reset, None)
    reset = configuration.share_reset_of(panel)
    for bound in RegretBound:
        found = WarmStart(iterations=reset, bound=bound)
        yield Variant(name_multiplied(bound, 1), reset, found)
        for multiple in MULTIPLES:
            yield Variant(name_multiplied(bound, multiple), reset, found, multiple)
    for share in (0.0, *PRINTED_SHARES):
        how = WarmStart(iterations=reset, bound=RegretBound.REACH, bound_share=share)
        yield Variant(name_printed(share), reset, how)


def name_projected(reset: int) -> str:
    """Returns the curve of a warm start whose T is projected from the first iterations."""
    return f"reset at {reset}, T projected"


def name_lossless(reset: int) -> str:
    """Returns the curve of a warm start that takes the iterations before it for what they were."""
    return f"reset at {reset}"


def name_printed(share: float) -> str:
    """Returns the curve of one of the thesis's lambdas."""
    return f"lambda {share:g}" if share else NO_SHARE


def name_multiplied(bound: RegretBound, multiple: int) -> str:
    """Returns the curve of a multiple of the lambda found under a bound."""
    return f"{bound}, {multiple} times lambda" if multiple != 1 else f"{bound}, lambda found"
