# SPDX-License-Identifier: Apache-2.0
"""Training by head and workers: the same bits wherever clusters lie, through deaths and restarts; what it learns."""

from __future__ import annotations

import dataclasses
import functools
import os
import signal
from pathlib import Path

import numpy as np
import pytest

from equipoise.abstraction.blueprints import BlueprintSpec, StoredBlueprint, make_cluster_ground, save_blueprint
from equipoise.core import checkpoint
from equipoise.core.checkpoint import Kind
from equipoise.core.errors import CheckpointError, ConfigError
from equipoise.core.posts import HerePosts, LocalPosts
from equipoise.kernels.skipping import SkipKind
from equipoise.solvers.blueprints.clustered import ClusteredTrainer
from equipoise.solvers.blueprints.trainer import BlueprintConfig, BlueprintTrainer
from equipoise.studies.blueprints.reduced import ReducedHoldem, packed_rows

SPEC = BlueprintSpec(
    stacks=(600, 600),
    small_blind=5,
    big_blind=10,
    deck="tiny",
    last_street="flop",
    menu="100%; cap: 2",
    abstraction="percentile",
    buckets=(4,),
    clusters=3,
)
CONFIG = BlueprintConfig(scale=100.0, period=300, walked_streets=1, walk_every=2, snapshot_every=250)
PREPARE = functools.partial(make_cluster_ground, SPEC)


OPENED: list[ClusteredTrainer] = []


def make_trainer(posts, config: BlueprintConfig = CONFIG, prepare=PREPARE, **options) -> ClusteredTrainer:
    """Returns a training that is closed when the test ends."""
    given = {"deals_a_message": 50, "steps_to_a_snapshot": 4} | options
    OPENED.append(ClusteredTrainer(prepare, config, posts, **given))
    return OPENED[-1]


@pytest.fixture(autouse=True)
def _close_all():
    yield
    while OPENED:
        OPENED.pop().close()


@functools.cache
def serial():
    """Returns what is played, and what the head holds, after 1,000 deals without workers."""
    trainer = make_trainer(HerePosts())
    trainer.train(1_000)
    return trainer.pack(), trainer.tables.arena.copy()


def assert_is_serial(trainer: ClusteredTrainer) -> None:
    (start, cells), arena = serial()
    own = trainer.pack()
    assert np.array_equal(own[0], start)
    assert np.array_equal(own[1], cells)
    assert np.array_equal(trainer.tables.arena, arena)


def get_pid(_message: int) -> int:
    return os.getpid()


@pytest.mark.parametrize("num_workers", [1, 2, 5])
def test_posts_of_one_process_hold_clusters_apart(num_workers: int) -> None:
    trainer = make_trainer(HerePosts(num_workers))
    assert trainer.num_workers == min(num_workers, 3)
    for num_deals in (100, 50, 850):
        trainer.train(num_deals)
    assert trainer.num_deals == 1_000
    assert_is_serial(trainer)


def test_a_worker_equals_the_serial_run_also_when_it_is_killed() -> None:
    """One process has all clusters; it is killed between messages, and restored from its last snapshot."""
    with LocalPosts(1) as posts:
        trainer = make_trainer(posts)
        trainer.train(350)  # seven messages: three since the snapshot
        (pid,) = posts.ask(get_pid, {0: 0}).values()
        os.kill(pid, signal.SIGKILL)
        trainer.train(650)
        assert_is_serial(trainer)
        assert posts.ask(get_pid, {0: 0}) != {0: pid}


def test_two_processes_equal_the_serial_run() -> None:
    with LocalPosts(2) as posts:
        trainer = make_trainer(posts)
        trainer.train(1_000)
        assert_is_serial(trainer)


def test_a_saved_training_goes_on_with_other_workers(tmp_path: Path) -> None:
    first = make_trainer(HerePosts(2), folder=tmp_path)
    first.train(450)
    first.save(tmp_path / "state.eq", {})
    first.train(300)  # lost
    second = make_trainer(HerePosts(1), folder=tmp_path)
    second.restore(checkpoint.load(tmp_path / "state.eq", Kind.RUN))
    assert second.num_deals == 450
    second.train(550)
    assert_is_serial(second)
    assert len([path for path in tmp_path.iterdir() if path.is_dir()]) == 2  # its own last, and the state's
    with pytest.raises(ConfigError, match="folder"):
        make_trainer(HerePosts()).save(tmp_path / "state.eq", {})
    other = dataclasses.replace(SPEC, clusters=2)
    with pytest.raises(CheckpointError, match="clusters"):
        make_trainer(HerePosts(), prepare=functools.partial(make_cluster_ground, other)).restore(
            checkpoint.load(tmp_path / "state.eq", Kind.RUN)
        )


def test_what_is_saved_is_a_blueprint_of_the_spec(tmp_path: Path) -> None:
    trainer = make_trainer(HerePosts())
    trainer.train(400)
    save_blueprint(tmp_path / "blueprint.eq", SPEC, trainer, {})
    stored = StoredBlueprint(tmp_path / "blueprint.eq")
    decisions = np.flatnonzero(stored.betting.arrays.ending == 0).tolist()
    shapes = {stored.rows(node).shape[0] for node in decisions}
    assert shapes == set(SPEC.num_buckets[0, :2].tolist())
    assert sum(stored.rows(node).std() > 0.05 for node in decisions) > len(decisions) / 2


def test_clusters_prune(tmp_path: Path) -> None:
    config = dataclasses.replace(CONFIG, pruning=SkipKind.REGRET_BASED, threshold=-20_000, prune_from=500)
    trainer = make_trainer(HerePosts(), config)
    assert trainer.train(500).skipped == 0
    assert trainer.train(4_000).skipped > 100


def test_it_learns_what_one_process_learns_from_as_many_boards() -> None:
    """Exact gains fall, and are about those of the trainer that draws one flop a deal."""
    game = ReducedHoldem(buckets=0, clusters=3)
    config = BlueprintConfig(scale=100.0, period=1000, walked_streets=4)
    trainer = make_trainer(HerePosts(), config, game.ground, deals_a_message=20, steps_to_a_snapshot=10_000)
    found = []
    for num_deals in (4_000, 64_000):
        trainer.train(num_deals - trainer.num_deals)
        found.append(game.measure(packed_rows(game.betting, game.num_buckets, trainer.pack())).nash_conv)
    assert trainer.num_deals == 64_000
    plain = BlueprintTrainer(game.betting, game.deals, game.num_buckets, dataclasses.replace(config, period=3000))
    plain.train(3 * 64_000)
    expected = game.measure(plain.average).nash_conv
    assert found[1] < found[0] / 2
    assert found[1] < 1.3 * expected
