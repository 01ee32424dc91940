# SPDX-License-Identifier: Apache-2.0
"""Linear Monte Carlo CFR of hold'em blueprints: schedules, averages, checkpoints; the loop itself is native."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from equipoise.core import checkpoint
from equipoise.core.checkpoint import Checkpoint, Kind
from equipoise.core.errors import CheckpointError, ConfigError, GameTooLargeError
from equipoise.core.files import StrPath, format_bytes
from equipoise.games.holdem.betting import initial_betting
from equipoise.kernels.arrays import draw_generator
from equipoise.kernels.betting import NUM_STREETS
from equipoise.kernels.blueprints import (
    LINE_CELLS,
    MAX_REGRET,
    BlueprintKernel,
    BlueprintPruning,
    BlueprintTables,
    CardDeals,
    ListedDeals,
    TrainingCounts,
)
from equipoise.kernels.calls import check_integer, check_num_threads
from equipoise.kernels.skipping import SkipKind
from equipoise.trees.holdem.flat_betting import FlatBetting

__all__ = ["BlueprintConfig", "BlueprintTrainer", "estimate_bytes"]

NEVER: Final = 2**62
LINE_BYTES: Final = 4 * LINE_CELLS

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int32]


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


def estimate_bytes(betting: FlatBetting, num_buckets: IntArray, config: BlueprintConfig) -> int:
    """Returns what tables take once every block has been visited, within a line a block."""
    counts = betting.counts
    num_parts = 1 + (config.walked_streets > 0 or config.has_snapshots) + (config.pruning is SkipKind.REGRET_BASED)
    total = num_parts * LINE_BYTES * counts.subtrees * betting.rules.num_players  # what parts of blocks round up to
    for street in range(NUM_STREETS):
        a_cell = 4 + (4 if street < config.walked_streets else 2 if config.has_snapshots else 0)
        a_cell += 2 if config.pruning is SkipKind.REGRET_BASED else 0
        total += counts.actions[street] * int(num_buckets[:, street].max()) * a_cell
    return total


class BlueprintTrainer:
    """A training that goes on from where it is.

    >>> from equipoise.games.holdem import BettingRules, Street
    >>> from equipoise.trees.holdem.flat_betting import MenuByPlayers
    >>> rules = BettingRules(stacks=(9, 9), pot=2, small_blind=0, big_blind=1, bet_sizes=(1,), max_raises=(1,),
    ...     first_street=Street.RIVER)
    >>> betting = FlatBetting(rules=rules, menus=MenuByPlayers.parse("min"))
    >>> cards = [(a, b) for a in range(3) for b in range(3) if a != b]
    >>> deals = ListedDeals(np.ones(6), np.repeat(np.array(cards, np.uint16)[:, :, None], 4, axis=2),
    ...     np.array(cards, np.uint16))
    >>> config = BlueprintConfig(scale=1000.0, period=1000, walked_streets=4)
    >>> kuhn = BlueprintTrainer(betting, deals, np.full((2, 4), 3, np.int32), config)
    >>> kuhn.train(20_000).is_full, kuhn.num_deals
    (False, 20000)
    >>> bool(kuhn.average(0)[2, 1] > kuhn.average(0)[1, 1])  # the king is bet more often than the queen
    True
    """

    def __init__(
        self,
        betting: FlatBetting,
        deals: CardDeals | ListedDeals,
        num_buckets: IntArray,
        config: BlueprintConfig,
        *,
        num_threads: int = 1,
        most_bytes: int = 1 << 33,
    ) -> None:
        """Allocates tables, whose memory is taken as they are visited.

        Args:
            betting: the tree.
            deals: what is drawn from.
            num_buckets: `[players, 4]` by street.
            config: of the training.
            num_threads: that share the tables without locks; bits depend on their number and, beyond one, on chance.
            most_bytes: that tables may take.
        """
        check_num_threads(num_threads)
        self.betting, self.deals, self.config, self.num_buckets = betting, deals, config, num_buckets
        betting.check_size(most_bytes)
        self.num_bytes_whole = estimate_bytes(betting, num_buckets, config)
        num_lines = min(self.num_bytes_whole, most_bytes) // LINE_BYTES + 1
        self.tables = BlueprintTables.allocate(betting.counts.subtrees * betting.rules.num_players, num_lines)
        rng = np.random.default_rng(config.seed)
        self.words = np.stack([draw_generator(rng) for _ in range(num_threads)])
        self.num_deals = self.num_touched = self.num_skipped = self.num_periods = self.num_snapshots = 0
        self.kernel = self._bind()

    def _bind(self) -> BlueprintKernel:
        return BlueprintKernel(
            self.betting.arrays,
            self.tables,
            posted=initial_betting(self.betting.rules).committed,
            num_buckets=self.num_buckets,
            last_street=self.betting.rules.last_street,
            walked_streets=self.config.walked_streets,
            has_snapshots=self.config.has_snapshots,
            has_missed=self.config.pruning is SkipKind.REGRET_BASED,
        )

    @property
    def num_threads(self) -> int:
        """Returns how many threads work."""
        return len(self.words)

    @property
    def num_bytes(self) -> int:
        """Returns what tables take now."""
        return int(self.tables.next_line[0]) * LINE_BYTES

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
        config, step = self.config, max(self.config.walk_every, 1)
        each = -(-(goal - self.num_deals) // (self.num_threads * step)) * step
        is_pruned = config.pruning is not SkipKind.NONE and config.prune_from <= self.num_deals < config.prune_until
        pruning = BlueprintPruning(
            kind=config.pruning,
            threshold=config.threshold,
            softness=config.softness,
            probability=config.probability,
        )
        counts = self.kernel.train(
            self.deals,
            self.words,
            each,
            scale=config.scale,
            floor=config.floor,
            pruning=pruning if is_pruned else None,
            walk_every=config.walk_every,
        )
        last = self.num_deals
        self.num_deals += counts.deals
        self.num_touched += counts.touched
        self.num_skipped += counts.skipped
        if counts.is_full:
            raise GameTooLargeError(
                f"tables are full at {format_bytes(self.num_bytes)} of {format_bytes(self.num_bytes_whole)}: "
                "allow more memory, or use fewer buckets or sizes"
            )
        self._discount(last)
        self._take_snapshot(last)

    def _discount(self, last: int) -> None:
        """Multiplies by n / (n + 1) where the n-th period has ended."""
        while self.num_deals // self.config.period > self.num_periods:
            self.num_periods += 1
            if last < self.config.last_discount:
                self.kernel.discount(self.num_periods / (self.num_periods + 1), num_threads=self.num_threads)

    def _take_snapshot(self, last: int) -> None:
        """Adds what is played now to the means, the n-th snapshot weighing n."""
        config = self.config
        if not config.has_snapshots or self.num_deals < max(config.first_snapshot, 1):
            return
        since, before = self.num_deals - config.first_snapshot, last - config.first_snapshot
        if before < 0 or since // config.snapshot_every > before // config.snapshot_every:
            self.num_snapshots += 1
            self.kernel.snapshot(2.0 / (self.num_snapshots + 1), num_threads=self.num_threads)

    def pack(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
        """Returns what is played, see `BlueprintKernel.pack`."""
        return self.kernel.pack(has_average=self.num_snapshots > 0, num_threads=self.num_threads)

    def average(self, node: int) -> FloatArray:
        """Returns `[buckets, A]` the average of a decision on a street that is walked for; uniform if unvisited."""
        arrays = self.betting.arrays
        slot, offset = int(arrays.nodes[node, 1]), int(arrays.nodes[node, 2])
        num_actions, street = int(arrays.num_actions[node]), int(arrays.street[slot])
        num_buckets = int(self.num_buckets[slot % len(self.num_buckets), street])
        if street >= self.config.walked_streets:
            raise ConfigError(
                f"street {street} has no average that is walked for: {self.config.walked_streets} streets have"
            )
        line, width = int(self.tables.base[slot]), int(arrays.width[slot])
        if not line:
            return np.full((num_buckets, num_actions), 1.0 / num_actions)
        cells = width * num_buckets
        first = (line - (-cells // LINE_CELLS)) * LINE_CELLS
        rows = self.tables.arena[first : first + cells].view(np.float32).reshape(num_buckets, width)
        sums = rows[:, offset : offset + num_actions].astype(np.float64)
        totals = sums.sum(axis=1, keepdims=True)
        return np.where(totals > 0, sums / np.where(totals > 0, totals, 1.0), 1.0 / num_actions)

    def save(self, path: StrPath, metadata: dict[str, Any]) -> None:
        """Writes everything that training needs to go on, atomically."""
        used = int(self.tables.next_line[0]) * LINE_CELLS
        content: dict[str, npt.NDArray[Any]] = {
            "base": self.tables.base,
            "arena": self.tables.arena[:used],
            "words": self.words,
            "counts": np.array(self._counts, np.int64),
        }
        checkpoint.save(path, Kind.RUN, metadata, content)

    @property
    def _counts(self) -> Sequence[int]:
        return (self.num_deals, self.num_touched, self.num_skipped, self.num_periods, self.num_snapshots)

    def restore(self, saved: Checkpoint) -> None:
        """Goes on from what `save` wrote; the tree and the settings must be the same.

        With another number of threads, generators are drawn anew.
        """
        arrays = saved.arrays
        try:
            base, arena, words, counts = (arrays[name] for name in ("base", "arena", "words", "counts"))
        except KeyError as error:
            raise CheckpointError(f"the checkpoint has no array {error}") from None
        if base.shape != self.tables.base.shape or len(arena) > len(self.tables.arena):
            raise CheckpointError(
                f"the checkpoint has {len(base):,} blocks and {arena.nbytes:,} bytes of tables; this training has "
                f"room for {len(self.tables.base):,} and {self.tables.arena.nbytes:,}"
            )
        self.tables.base[:] = base
        self.tables.arena[: len(arena)] = arena
        self.tables.next_line[0] = len(arena) // LINE_CELLS
        self.num_deals, self.num_touched, self.num_skipped, self.num_periods, self.num_snapshots = counts.tolist()
        if words.shape == self.words.shape:
            self.words[:] = words
        else:
            rng = np.random.default_rng([self.config.seed, self.num_deals])
            self.words = np.stack([draw_generator(rng) for _ in range(self.num_threads)])
        self.kernel = self._bind()
