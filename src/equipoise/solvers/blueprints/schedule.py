# SPDX-License-Identifier: Apache-2.0
"""What a training of a blueprint does when: discounts, snapshots and pruning, by the number of deals."""

from __future__ import annotations

import abc
import dataclasses
from typing import Final

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError, GameTooLargeError
from equipoise.kernels.betting import NUM_STREETS
from equipoise.kernels.blueprints import MAX_REGRET, BlueprintPruning, TrainingCounts
from equipoise.kernels.calls import check_integer
from equipoise.kernels.skipping import SkipKind

__all__ = ["BlueprintConfig", "ScheduledTraining"]

NEVER: Final = 2**62


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class BlueprintConfig:
    """How a blueprint is trained.

    Paper: Brown 2020 (thesis) [B20], sections 3.1.5 (linear MCCFR by periods) and 6.3, 6.4, 6.6 (pruning, tables on
        first visit); Lanctot, Waugh, Zinkevich & Bowling 2009 for external sampling.
    Symbols: R -> regrets; n/(n+1) at the end of period n -> period; C -> threshold; K -> softness.
    Departs from the paper: periods are counted in deals, of which every player traverses each; regrets are whole
        numbers between a floor and two thousand million; never are all actions of a decision left
        out. Averages of the first streets are walked for: the player's own actions by its strategy, the others' all
        alike, so that own reach alone weighs them with any number of players; later streets have means of snapshots,
        which own reach does not weigh. Odd chips of a split pot are shared.
    Checked by: tests/solvers/test_blueprints.py.
    """

    scale: float = 1.0  # regret of a chip: more where chips are few, as regrets are whole numbers
    floor: int = -MAX_REGRET  # where regrets stop falling
    period: int = 1_000_000  # deals, after the n-th of which everything is multiplied by n / (n + 1)
    last_discount: int = NEVER  # deals after which nothing is discounted any more
    walked_streets: int = 1  # streets from the first whose averages are walked for, 0 to 4
    walk_every: int = 1  # deals from one walk to the next
    snapshot_every: int = 0  # deals between snapshots of the other streets; 0: they end with what is played last
    first_snapshot: int = 0  # deals before the first
    pruning: SkipKind = SkipKind.NONE  # coin (Pluribus), probabilistic (Libratus), regret based (Baby Tartanian8)
    threshold: int = -300_000_000  # regrets below it may be left out
    softness: float = 100_000_000.0  # probabilistic: half are left out so far below
    probability: float = 0.95  # coin: share of deals that leave actions out
    prune_from: int = 0  # deals before actions are left out
    prune_until: int = NEVER  # deals after which none is
    seed: int = 0

    def __post_init__(self) -> None:
        check_integer("period", self.period, 1)
        check_integer("walked_streets", self.walked_streets, 0, NUM_STREETS)
        for name in ("last_discount", "walk_every", "snapshot_every", "first_snapshot", "prune_from", "prune_until"):
            check_integer(name, getattr(self, name), 0)
        if not (self.scale > 0 and self.softness > 0 and 0 <= self.probability < 1):
            raise ConfigError("scale and softness must be positive, probability at least 0 and below 1")
        if not self.floor <= self.threshold <= 0 and self.pruning is not SkipKind.NONE:
            raise ConfigError(f"threshold must lie between the floor {self.floor} and 0, got {self.threshold}")

    @property
    def has_snapshots(self) -> bool:
        """Returns whether streets that are not walked have averages."""
        return self.snapshot_every > 0

    @property
    def marks(self) -> tuple[tuple[int, int], ...]:
        """Returns from where and how often something happens between two deals."""
        snapshots = ((self.first_snapshot, self.snapshot_every),) if self.has_snapshots else ()
        return ((0, self.period), (self.prune_from, NEVER), (self.prune_until, NEVER), *snapshots)


class ScheduledTraining(abc.ABC):
    """A training that stops where its schedule has something to do; what trains is a subclass's."""

    def __init__(self, config: BlueprintConfig) -> None:
        """Begins at the first deal."""
        self.config = config
        self.num_deals = self.num_touched = self.num_skipped = self.num_periods = self.num_snapshots = 0

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """Returns what was done so far, for files."""
        counts = self.num_deals, self.num_touched, self.num_skipped, self.num_periods, self.num_snapshots
        return np.array(counts, np.int64)

    @counts.setter
    def counts(self, counts: npt.NDArray[np.int64]) -> None:
        self.num_deals, self.num_touched, self.num_skipped, self.num_periods, self.num_snapshots = counts.tolist()

    def train(self, num_deals: int) -> TrainingCounts:
        """Draws so many more deals, rounded up to a whole number for each thread and walk; returns what was done.

        Raises `GameTooLargeError` if the tables have no room for another block; what was learnt stays.
        """
        before = self.num_touched, self.num_skipped
        goal = self.num_deals + num_deals
        begun = self.num_deals
        while self.num_deals < goal:
            self._train_to(min(goal, self._next_mark()))
        return TrainingCounts(
            self.num_deals - begun, self.num_touched - before[0], self.num_skipped - before[1], is_full=False
        )

    def _next_mark(self) -> int:
        """Returns the deal before which something else happens."""
        marks = []
        for first, every in self.config.marks:
            passed = max(self.num_deals - first, -1) // every + 1 if self.num_deals >= first else 0
            marks.append(min(first + passed * every, NEVER))
        return min(mark for mark in marks if mark > self.num_deals)

    def _train_to(self, goal: int) -> None:
        config = self.config
        is_pruned = config.pruning is not SkipKind.NONE and config.prune_from <= self.num_deals < config.prune_until
        pruning = BlueprintPruning(
            kind=config.pruning,
            threshold=config.threshold,
            softness=config.softness,
            probability=config.probability,
        )
        last = self.num_deals
        counts = self._advance(goal, pruning if is_pruned else None)
        self.num_deals += counts.deals
        self.num_touched += counts.touched
        self.num_skipped += counts.skipped
        if counts.is_full:
            raise GameTooLargeError(
                f"tables are full at {self._explain_full()}: allow more memory, or use fewer buckets or sizes"
            )
        self._discount(last)
        self._take_snapshot(last)

    @abc.abstractmethod
    def _advance(self, goal: int, pruning: BlueprintPruning | None) -> TrainingCounts:
        """Trains to a number of deals, or a little further; returns what was done."""

    @abc.abstractmethod
    def _multiply(self, factor: float) -> None:
        """Multiplies regrets, and averages that are walked for, by a factor."""

    @abc.abstractmethod
    def _take_mean(self, share: float) -> None:
        """Moves means of snapshots towards what is played now."""

    @abc.abstractmethod
    def _explain_full(self) -> str:
        """Returns how much of how much the tables take."""

    def _discount(self, last: int) -> None:
        """Multiplies by n / (n + 1) where the n-th period has ended."""
        while self.num_deals // self.config.period > self.num_periods:
            self.num_periods += 1
            if last < self.config.last_discount:
                self._multiply(self.num_periods / (self.num_periods + 1))

    def _take_snapshot(self, last: int) -> None:
        """Adds what is played now to the means, the n-th snapshot weighing n."""
        config = self.config
        if not config.has_snapshots or self.num_deals < max(config.first_snapshot, 1):
            return
        since, before = self.num_deals - config.first_snapshot, last - config.first_snapshot
        if before < 0 or since // config.snapshot_every > before // config.snapshot_every:
            self.num_snapshots += 1
            self._take_mean(2.0 / (self.num_snapshots + 1))
