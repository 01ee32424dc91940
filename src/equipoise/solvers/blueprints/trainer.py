# SPDX-License-Identifier: Apache-2.0
"""Linear Monte Carlo CFR of hold'em blueprints in one process: tables and checkpoints; the loop itself is native."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from equipoise.core import checkpoint
from equipoise.core.checkpoint import Checkpoint, Kind
from equipoise.core.errors import CheckpointError, ConfigError
from equipoise.core.files import StrPath, format_bytes
from equipoise.games.holdem.betting import initial_betting
from equipoise.kernels.arrays import draw_generator
from equipoise.kernels.betting import NUM_STREETS
from equipoise.kernels.blueprints import (
    LINE_CELLS,
    BlueprintKernel,
    BlueprintPruning,
    BlueprintTables,
    CardDeals,
    ListedDeals,
    TrainingCounts,
)
from equipoise.kernels.calls import check_num_threads
from equipoise.kernels.skipping import SkipKind
from equipoise.solvers.blueprints.schedule import BlueprintConfig, ScheduledTraining
from equipoise.trees.holdem.flat_betting import FlatBetting

__all__ = ["BlueprintConfig", "BlueprintTrainer", "estimate_bytes"]

LINE_BYTES: Final = 4 * LINE_CELLS

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int32]


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


class BlueprintTrainer(ScheduledTraining):
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
        super().__init__(config)
        check_num_threads(num_threads)
        self.betting, self.deals, self.num_buckets = betting, deals, num_buckets
        betting.check_size(most_bytes)
        self.num_bytes_whole = estimate_bytes(betting, num_buckets, config)
        num_lines = min(self.num_bytes_whole, most_bytes) // LINE_BYTES + 1
        self.tables = BlueprintTables.allocate(betting.counts.subtrees * betting.rules.num_players, num_lines)
        rng = np.random.default_rng(config.seed)
        self.words = np.stack([draw_generator(rng) for _ in range(num_threads)])
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

    def _advance(self, goal: int, pruning: BlueprintPruning | None) -> TrainingCounts:
        step = max(self.config.walk_every, 1)
        return self.kernel.train(
            self.deals,
            self.words,
            -(-(goal - self.num_deals) // (self.num_threads * step)) * step,
            scale=self.config.scale,
            floor=self.config.floor,
            pruning=pruning,
            walk_every=self.config.walk_every,
        )

    def _multiply(self, factor: float) -> None:
        self.kernel.discount(factor, num_threads=self.num_threads)

    def _take_mean(self, share: float) -> None:
        self.kernel.snapshot(share, num_threads=self.num_threads)

    def _explain_full(self) -> str:
        return f"{format_bytes(self.num_bytes)} of {format_bytes(self.num_bytes_whole)}"

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
            "counts": self.counts,
        }
        checkpoint.save(path, Kind.RUN, metadata, content)

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
        self.counts = counts
        if words.shape == self.words.shape:
            self.words[:] = words
        else:
            rng = np.random.default_rng([self.config.seed, self.num_deals])
            self.words = np.stack([draw_generator(rng) for _ in range(self.num_threads)])
        self.kernel = self._bind()
