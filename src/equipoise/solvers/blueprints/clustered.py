# SPDX-License-Identifier: Apache-2.0
"""Blueprints trained by a head, which has the first street, and workers, which have clusters of flops: each its own.

Whatever the number of workers, and wherever they are, a seed gives the same bits: a cluster has its own tables and
random numbers, and the head adds up answers in the order of clusters.
"""

from __future__ import annotations

import dataclasses
import secrets
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from equipoise.core import checkpoint
from equipoise.core.checkpoint import Checkpoint, Kind
from equipoise.core.errors import CheckpointError, ConfigError
from equipoise.core.files import StrPath, format_bytes
from equipoise.core.posts import Posts
from equipoise.games.holdem.betting import initial_betting
from equipoise.kernels.arrays import draw_generator
from equipoise.kernels.blueprint_clusters import Questions, answer, ask, learn
from equipoise.kernels.blueprints import (
    LINE_CELLS,
    BlueprintKernel,
    BlueprintPruning,
    BlueprintTables,
    CardDeals,
    TrainingCounts,
    block_lines,
)
from equipoise.kernels.calls import check_integer
from equipoise.kernels.skipping import SkipKind
from equipoise.solvers.blueprints.schedule import BlueprintConfig, ScheduledTraining
from equipoise.trees.holdem.flat_betting import FlatBetting

__all__ = ["ClusterGround", "ClusteredTrainer"]

LINE_BYTES: Final = 4 * LINE_CELLS
DEALS_A_MESSAGE: Final = 200
STEPS_TO_A_SNAPSHOT: Final = 1000
MULTIPLY: Final = "multiply"  # orders to tables
MEAN: Final = "mean"
NOTHING: Final = np.zeros(0, np.uint8)

IntArray = npt.NDArray[np.int32]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ClusterGround:
    """What is played, as head and workers make it for themselves."""

    betting: FlatBetting
    deals: CardDeals  # with buckets within a cluster
    num_buckets: IntArray  # [players, 4] within a cluster
    flops: tuple[npt.NDArray[np.uint8], ...]  # [flops, 3] of each cluster, whatever the order of suits

    def kernel(self, tables: BlueprintTables, config: BlueprintConfig, *, walked_streets: int) -> BlueprintKernel:
        """Returns training on tables of the head or of a cluster."""
        return BlueprintKernel(
            self.betting.arrays,
            tables,
            posted=initial_betting(self.betting.rules).committed,
            num_buckets=self.num_buckets,
            last_street=self.betting.rules.last_street,
            walked_streets=walked_streets,
            has_snapshots=config.has_snapshots,
            has_missed=config.pruning is SkipKind.REGRET_BASED,
        )

    def lines(self, config: BlueprintConfig) -> npt.NDArray[np.int64]:
        """Returns `[slots]` the lines of each block."""
        return block_lines(
            self.betting.arrays,
            self.num_buckets,
            walked_streets=config.walked_streets,
            has_snapshots=config.has_snapshots,
            has_missed=config.pruning is SkipKind.REGRET_BASED,
        )


class Step(NamedTuple):
    """The one message of an iteration to a worker."""

    number: int  # from 1
    orders: tuple[tuple[str, float], ...]  # to multiply, or to take a mean, before
    questions: Questions
    pruning: BlueprintPruning | None


class Answers(NamedTuple):
    """The one message back, of a cluster."""

    values: npt.NDArray[np.float32]  # [questions]
    fits: IntArray  # [deals] flops of the cluster that the hands leave
    counts: TrainingCounts


class Packed(NamedTuple):
    """What a cluster plays."""

    start: npt.NDArray[np.int64]  # [slots]
    cells: npt.NDArray[np.uint8]


class Behind(NamedTuple):
    """A worker that was replaced has nothing after this step."""

    number: int


class Call(NamedTuple):
    """What a worker is told."""

    run: str  # of which it is
    prepare: Callable[[], ClusterGround]
    config: BlueprintConfig
    clusters: tuple[int, ...]  # that it has
    most_lines: int  # of a cluster's tables
    snapshot: tuple[str, int]  # folder and step from which a worker that holds nothing begins; step 0: at nothing
    after: int = 0  # the step that the worker has done last
    steps: tuple[Step, ...] = ()  # one, or all those that it has missed
    saves: bool = False  # after them
    packs: bool = False


_held: dict[tuple[str, tuple[int, ...]], _Worker] = {}  # by run and clusters: in a worker's process there is one


def work(call: Call) -> list[Answers] | list[Packed] | Behind:
    """Returns the answers of a worker's clusters to the last step."""
    worker = _held.get((call.run, call.clusters))
    if worker is None:
        worker = _held[call.run, call.clusters] = _Worker(call)
    if worker.number != call.after:
        return Behind(worker.number)
    answers: list[Answers] = []
    for step in call.steps:
        answers = worker.take(step)
    if call.saves:
        worker.save(Path(call.snapshot[0]))
    return worker.pack() if call.packs else answers


class _Worker:
    """A worker's clusters."""

    def __init__(self, call: Call) -> None:
        self.ground, self.config = call.prepare(), call.config
        folder, self.number = call.snapshot
        self.clusters = [_Cluster(self.ground, call.config, number, call.most_lines) for number in call.clusters]
        for cluster in self.clusters if self.number else ():
            cluster.restore(_part(Path(folder), self.number, cluster.number))

    def take(self, step: Step) -> list[Answers]:
        self.number = step.number
        return [cluster.take(step) for cluster in self.clusters]

    def save(self, folder: Path) -> None:
        _part(folder, self.number, 0).parent.mkdir(parents=True, exist_ok=True)
        for cluster in self.clusters:
            cluster.save(_part(folder, self.number, cluster.number))

    def pack(self) -> list[Packed]:
        return [cluster.pack() for cluster in self.clusters]


class _Cluster:
    """One cluster's tables."""

    def __init__(self, ground: ClusterGround, config: BlueprintConfig, number: int, most_lines: int) -> None:
        self.ground, self.config, self.number = ground, config, number
        self.words = draw_generator(np.random.default_rng([config.seed, number]))
        self.num_means = 0
        self._bind(BlueprintTables.allocate(len(ground.betting.arrays.width), most_lines))

    def _bind(self, tables: BlueprintTables) -> None:
        self.tables = tables
        self.kernel = self.ground.kernel(tables, self.config, walked_streets=self.config.walked_streets)

    def take(self, step: Step) -> Answers:
        self.num_means += follow(self.kernel, step.orders)
        values, fits, counts = answer(
            self.kernel,
            self.ground.deals,
            self.ground.flops[self.number],
            step.questions,
            self.words,
            scale=self.config.scale,
            floor=self.config.floor,
            pruning=step.pruning,
        )
        return Answers(values, fits, counts)

    def pack(self) -> Packed:
        return Packed(*self.kernel.pack(has_average=self.num_means > 0))

    def save(self, path: Path) -> None:
        used = int(self.tables.next_line[0]) * LINE_CELLS
        content: dict[str, npt.NDArray[Any]] = {
            "base": self.tables.base,
            "arena": self.tables.arena[:used],
            "words": self.words,
        }
        checkpoint.save(path, Kind.RUN, {"means": self.num_means}, content)

    def restore(self, path: Path) -> None:
        saved = checkpoint.load(path, Kind.RUN)
        fill_tables(self.tables, saved)
        self.words[:] = saved.arrays["words"]
        self.num_means = int(saved.metadata["means"])
        self._bind(self.tables)


def follow(kernel: BlueprintKernel, orders: Sequence[tuple[str, float]]) -> int:
    """Does what a head orders to tables; returns how many means were taken."""
    for name, number in orders:
        if name == MULTIPLY:
            kernel.discount(number)
        else:
            kernel.snapshot(number)
    return sum(name == MEAN for name, _ in orders)


def fill_tables(tables: BlueprintTables, saved: Checkpoint) -> None:
    """Copies tables from a checkpoint; raises `CheckpointError` where they do not fit."""
    try:
        base, arena = saved.arrays["base"], saved.arrays["arena"]
    except KeyError as error:
        raise CheckpointError(f"the checkpoint has no array {error}") from None
    if base.shape != tables.base.shape or len(arena) > len(tables.arena):
        raise CheckpointError(
            f"the checkpoint has {len(base):,} blocks and {arena.nbytes:,} bytes of tables; this training has "
            f"room for {len(tables.base):,} and {tables.arena.nbytes:,}"
        )
    tables.base[:] = base
    tables.arena[: len(arena)] = arena
    tables.next_line[0] = len(arena) // LINE_CELLS


def _part(folder: Path, number: int, cluster: int) -> Path:
    """Returns the file of a cluster after a step."""
    return folder / f"{number:09d}" / f"cluster-{cluster:03d}.eq"


class ClusteredTrainer(ScheduledTraining):
    """A training whose clusters of flops lie with workers.

    Paper: Brown 2020 (thesis) [B20], sections 6.1 and 6.3: a head for the first street, a worker for each cluster, one
        flop of each cluster an iteration, one message each way.
    Symbols: none.
    Departs from the paper: a message has many deals; on the first street others play what they played when it was
        written, and so does the traverser where it walks down, not where values come back. Answers are weighed by
        how many flops of a cluster the hands leave. A worker may have several clusters. At the head no action is
        left out by pruning.
    Checked by: tests/solvers/test_clustered.py, tests/kernels/test_blueprint_clusters.py.
    """

    def __init__(
        self,
        prepare: Callable[[], ClusterGround],
        config: BlueprintConfig,
        posts: Posts,
        *,
        folder: StrPath | None = None,
        most_bytes: int = 1 << 33,
        deals_a_message: int = DEALS_A_MESSAGE,
        steps_to_a_snapshot: int = STEPS_TO_A_SNAPSHOT,
    ) -> None:
        """Sends nothing yet.

        Args:
            prepare: returns the ground; called in every worker's process.
            config: of the training.
            posts: where clusters lie, dealt out in turn.
            folder: of workers' snapshots; None: one of its own, which ends with `close`.
            most_bytes: that all tables may take.
            deals_a_message: of a step.
            steps_to_a_snapshot: after which workers save what they hold; what was sent since is kept by the head.
        """
        super().__init__(config)
        check_integer("deals_a_message", deals_a_message, 1)
        check_integer("steps_to_a_snapshot", steps_to_a_snapshot, 1)
        self.ground, self.posts = prepare(), posts
        if self.ground.betting.rules.first_street != 0 or self.ground.betting.rules.last_street < 1:
            raise ConfigError("training by clusters of flops needs a hand from the blinds to the flop at least")
        self.deals_a_message, self.steps_to_a_snapshot = deals_a_message, steps_to_a_snapshot
        self._own: tempfile.TemporaryDirectory[str] | None = None
        if folder is None:
            self._own = tempfile.TemporaryDirectory(prefix="clusters-")
            folder = self._own.name
        self.folder = Path(folder)
        num_clusters = len(self.ground.flops)
        lines, is_first = self.ground.lines(config), self.ground.betting.arrays.street == 0
        below = int(lines[~is_first].sum())
        self.num_bytes_whole = (int(lines[is_first].sum()) + below * num_clusters) * LINE_BYTES
        most_lines = max(1, min(below, most_bytes // LINE_BYTES // num_clusters)) + 1
        self.tables = BlueprintTables.allocate(len(lines), int(lines[is_first].sum()) + 1)
        self.words = draw_generator(np.random.default_rng(config.seed))
        self.num_touched_here = 0  # by the head, since it began or was restored
        self._step = self._saved = self._stated = 0  # steps: the last one, and those that files are of
        self._sent: list[Step] = []  # since the last snapshot
        self._orders: list[tuple[str, float]] = []  # for the next step
        num_used = min(posts.num_posts, num_clusters)
        call = Call(secrets.token_hex(8), prepare, config, (), most_lines, (str(self.folder), 0))
        self._calls = [call._replace(clusters=tuple(range(post, num_clusters, num_used))) for post in range(num_used)]
        self._bind()

    def _bind(self) -> None:
        self.kernel = self.ground.kernel(self.tables, self.config, walked_streets=min(self.config.walked_streets, 1))

    @property
    def num_workers(self) -> int:
        """Returns how many workers have clusters."""
        return len(self._calls)

    @property
    def num_bytes(self) -> int:
        """Returns what the head's tables take now, beside those of the workers."""
        return int(self.tables.next_line[0]) * LINE_BYTES

    def close(self) -> None:
        """Forgets what is held in this process, and removes a folder of its own."""
        for call in self._calls:
            _held.pop((call.run, call.clusters), None)
        if self._own is not None:
            self._own.cleanup()

    def train(self, num_deals: int) -> TrainingCounts:
        """Draws so many more deals, rounded up to whole messages; returns what was done."""
        goal = -(-(self.num_deals + num_deals) // self.deals_a_message) * self.deals_a_message
        return super().train(goal - self.num_deals)

    def _advance(self, goal: int, pruning: BlueprintPruning | None) -> TrainingCounts:
        """Trains by one message: to the goal, or to the end of a whole one."""
        end = min(goal, (self.num_deals // self.deals_a_message + 1) * self.deals_a_message)
        questions = ask(
            self.kernel,
            self.ground.deals,
            self.words,
            end - self.num_deals,
            first=self.num_deals,
            walk_every=self.config.walk_every,
        )
        answers: list[Answers] = self._ask(self._next_step(questions._replace(taken=NOTHING), pruning))
        is_full = learn(
            self.kernel,
            self.ground.deals,
            questions,
            _weigh(questions, answers),
            scale=self.config.scale,
            floor=self.config.floor,
        )
        if len(self._sent) >= self.steps_to_a_snapshot:
            self._snapshot()
        self.num_touched_here += questions.touched
        return TrainingCounts(
            len(questions.hole),
            questions.touched + sum(one.counts.touched for one in answers),
            sum(one.counts.skipped for one in answers),
            is_full or any(one.counts.is_full for one in answers),
        )

    def _advance_nothing(self) -> None:
        """Sends the orders that wait, and no questions."""
        if self._orders:
            self._ask(self._next_step(_no_questions(self.ground.deals.num_players), None))

    def _next_step(self, questions: Questions, pruning: BlueprintPruning | None) -> Step:
        """Returns what is sent next, which is kept until workers have saved what came of it."""
        self._step += 1
        step = Step(self._step, tuple(self._orders), questions, pruning)
        self._orders = []
        self._sent.append(step)
        return step

    def _ask(self, step: Step | None = None, *, saves: bool = False, packs: bool = False) -> list[Any]:
        """Returns what workers answer, by cluster; those that were replaced are brought up to date."""
        steps = () if step is None else (step,)
        calls = [
            call._replace(snapshot=(str(self.folder), self._saved), saves=saves, packs=packs) for call in self._calls
        ]
        after = self._step - len(steps)
        waiting = {number: call._replace(after=after, steps=steps) for number, call in enumerate(calls)}
        found: list[Any] = [None] * len(self.ground.flops)
        while waiting:
            answers = self.posts.ask(work, waiting)
            waiting = {}
            for number, given in answers.items():
                call = calls[number]
                if isinstance(given, Behind):
                    missed = tuple(one for one in self._sent if one.number > given.number)
                    waiting[number] = call._replace(after=given.number, steps=missed)
                    continue
                for cluster, one in zip(call.clusters, given, strict=False):
                    found[cluster] = one
        return found

    def _multiply(self, factor: float) -> None:
        self._order(MULTIPLY, factor)

    def _take_mean(self, share: float) -> None:
        self._order(MEAN, share)

    def _order(self, name: str, number: float) -> None:
        """Does something to all tables: here now, and at the workers with the next message."""
        follow(self.kernel, [(name, number)])
        self._orders.append((name, number))

    def _explain_full(self) -> str:
        return f"a share of {format_bytes(self.num_bytes_whole)} for each cluster"

    def _snapshot(self) -> None:
        """Lets workers save what they hold."""
        self._ask(saves=True)
        self._saved, self._sent = self._step, []
        self._remove_old()

    def _remove_old(self) -> None:
        """Removes snapshots from which nobody will begin."""
        kept = {f"{number:09d}" for number in (self._saved, self._stated)}
        for path in self.folder.iterdir():
            if path.is_dir() and path.name.isdecimal() and path.name not in kept:
                shutil.rmtree(path)

    def pack(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
        """Returns what is played, as `BlueprintTrainer.pack`; bucket b of cluster c is c times their number plus b."""
        self._advance_nothing()
        parts: list[Packed] = self._ask(packs=True)
        head = Packed(*self.kernel.pack(has_average=self.num_snapshots > 0))
        return _merge(self.ground, head, parts)

    def save(self, path: StrPath, metadata: dict[str, Any]) -> None:
        """Writes what the head holds, after its workers have written theirs; together training goes on from it."""
        if self._own is not None:
            raise ConfigError("a training that is saved needs a folder for what its workers hold")
        self._advance_nothing()
        if self._saved != self._step:
            self._snapshot()
        used = int(self.tables.next_line[0]) * LINE_CELLS
        content: dict[str, npt.NDArray[Any]] = {
            "base": self.tables.base,
            "arena": self.tables.arena[:used],
            "words": self.words,
            "counts": self.counts,
        }
        own = {"step": self._step, "clusters": len(self.ground.flops)}
        checkpoint.save(path, Kind.RUN, {**metadata, **own}, content)
        self._stated = self._step
        self._remove_old()

    def restore(self, saved: Checkpoint) -> None:
        """Goes on from what `save` wrote, with any number of workers, before anything was trained."""
        if saved.metadata.get("clusters") != len(self.ground.flops):
            raise CheckpointError("the checkpoint is not of a training with workers, or of other clusters")
        fill_tables(self.tables, saved)
        self.words[:] = saved.arrays["words"]
        self.counts = saved.arrays["counts"]
        self._step = self._saved = self._stated = int(saved.metadata["step"])
        self._bind()


def _no_questions(num_players: int) -> Questions:
    """Returns an iteration without deals."""
    none = np.zeros((0, 4), np.int32)
    return Questions(np.zeros((0, 2 * num_players), np.uint8), none, none, NOTHING, 0)


def _weigh(questions: Questions, answers: Sequence[Answers]) -> npt.NDArray[np.float32]:
    """Returns `[questions]` the mean of the clusters' answers, each weighing as many flops as the hands leave of it."""
    deal = questions.asked[:, 0]
    total, weight = np.zeros(len(deal)), np.zeros(len(deal))
    for one in answers:
        share = one.fits[deal].astype(np.float64)
        total += share * one.values
        weight += share
    return (total / weight).astype(np.float32)


def _merge(
    ground: ClusterGround, head: Packed, parts: Sequence[Packed]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
    """Returns the rows of all, buckets of a cluster together; rows of clusters that were never visited are zeros."""
    street = ground.betting.arrays.street
    player = np.arange(len(street)) % len(ground.num_buckets)
    cells = ground.betting.arrays.width.astype(np.int64) * ground.num_buckets[player, street]
    has_block = head.start >= 0
    for part in parts:
        has_block = has_block | (part.start >= 0)
    sizes = np.where(has_block, np.where(street == 0, cells, cells * len(parts)), 0)
    start = np.where(has_block, np.cumsum(sizes) - sizes, -1)
    out = np.zeros(int(sizes.sum()), np.uint8)
    for place, part in ((0, head), *enumerate(parts)):
        for slot in np.flatnonzero(part.start >= 0).tolist():
            own, first = int(cells[slot]), int(part.start[slot])
            begin = int(start[slot]) + place * own
            out[begin : begin + own] = part.cells[first : first + own]
    return start, out
