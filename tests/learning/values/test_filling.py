# SPDX-License-Identifier: Apache-2.0
"""Folders that are filled by pools: on several processes and machines, with workers and whole programs killed."""

import contextlib
import errno
import multiprocessing
import os
import signal
import subprocess
import sys
import time

import pytest

from equipoise.core.errors import CheckpointError, WorkerError
from equipoise.core.local_pool import LocalPool
from equipoise.games.holdem.betting import Street
from equipoise.games.holdem.cards import Deck
from equipoise.learning.values.filling import generate
from equipoise.learning.values.generation import SolvedSource
from equipoise.learning.values.labels import Labels
from equipoise.learning.values.shards import ShardFolder
from tests.orphans import assert_they_end

DECK = Deck(ranks="9TJQKA", suits="cdh")
SOURCE = SolvedSource(street=Street.RIVER, labels=Labels(iterations=2), per_shard=5, deck=DECK)

PROGRAM = """
import multiprocessing, sys
from pathlib import Path
from equipoise.core.local_pool import LocalPool
from equipoise.games.holdem.betting import Street
from equipoise.games.holdem.cards import Deck
from equipoise.learning.values.filling import generate
from equipoise.learning.values.generation import SolvedSource
from equipoise.learning.values.labels import Labels
from equipoise.learning.values.shards import ShardFolder

def tell(progress):
    if progress.situations == 10:
        print(*(child.pid for child in multiprocessing.active_children()), flush=True)

if __name__ == "__main__":
    deck = Deck(ranks="9TJQKA", suits="cdh")
    source = SolvedSource(street=Street.RIVER, labels=Labels(iterations=2), per_shard=5, deck=deck)
    folder = ShardFolder(Path(sys.argv[1]), source.config)
    with LocalPool(2) as pool:
        print(generate(folder, source, pool, until=int(sys.argv[2]), on_shard=tell).situations)
"""


class Deadly:
    """A source with shards that kill whoever makes them."""

    per_shard, config = 5, SOURCE.config

    def __init__(self, deadly):
        self.deadly = deadly

    def make(self, number):
        if number in self.deadly:
            os.kill(os.getpid(), signal.SIGKILL)
        return SOURCE.make(number)


@pytest.fixture(scope="module")
def expected():
    """The arrays of shards as one process makes them."""
    return {number: SOURCE.make(number) for number in range(12)}


@pytest.fixture
def folder(tmp_path):
    return ShardFolder(tmp_path / "shards", SOURCE.config)


def assert_right(folder, expected, count):
    """Fails unless the first shards are there and nothing else is, not even hidden."""
    assert folder.numbers() == list(range(count))
    for number in folder.numbers():
        arrays = folder.read(number).arrays
        assert all((arrays[name] == expected[number][name]).all() for name in expected[number])
    assert sorted(place.name for place in folder.path.iterdir()) == [f"{number:06d}.eq" for number in range(count)]


@pytest.mark.parametrize("num_workers", [1, 2])
def test_a_folder_is_filled_whoever_works(folder, expected, num_workers):
    told = []
    with LocalPool(num_workers) as pool:
        generate(folder, SOURCE, pool, until=2)
        last = generate(folder, SOURCE, pool, until=6, on_shard=told.append)
        assert generate(folder, SOURCE, pool, until=6).situations == 0
    assert_right(folder, expected, 6)
    assert [one.situations for one in told] == [5, 10, 15, 20]  # the first two were there
    assert [one.shards for one in told] == [3, 4, 5, 6]
    assert told[1].seconds_left == pytest.approx(told[1].seconds)  # two of four
    assert told[-1].seconds_left == 0.0
    assert last.situations == 20
    assert last.situations_per_second == pytest.approx(20 / last.seconds)


def test_deadlines_end_a_folder_without_end(folder):
    deadline = time.monotonic() + 0.5
    last = generate(folder, SOURCE, LocalPool(), deadline=deadline)
    assert time.monotonic() >= deadline
    assert folder.numbers() == list(range(last.shards))
    assert last.seconds_left == 0.0


def test_interruptions_keep_what_is_there(folder, expected):
    done = []
    with LocalPool(2) as pool:
        generate(folder, SOURCE, pool, on_shard=done.append, is_interrupted=lambda: len(done) >= 3)
    assert 3 <= len(done) <= 5
    assert not list(folder.path.glob(".*"))
    generate(folder, SOURCE, LocalPool(), until=8)
    assert_right(folder, expected, 8)


def test_a_killed_worker_costs_its_shard_and_no_more(folder, expected):
    killed = []

    def kill_one(progress):
        if progress.shards in (2, 5):
            victim = multiprocessing.active_children()[0]
            killed.append(victim.pid)
            os.kill(victim.pid, signal.SIGKILL)

    with LocalPool(2) as pool:
        assert generate(folder, SOURCE, pool, until=12, on_shard=kill_one).situations == 60
    assert len(set(killed)) == 2
    assert_right(folder, expected, 12)


def test_a_shard_that_kills_its_workers_is_left_out_and_said(folder):
    with (
        LocalPool(2) as pool,
        pytest.raises(WorkerError, match=r"^shards \[1\] are missing: task 1 ended its worker 3 times and .* SIGKILL"),
    ):
        generate(folder, Deadly([1]), pool, until=5)
    assert folder.numbers() == [0, 2, 3, 4]
    assert not list(folder.path.glob(".*"))


@pytest.mark.slow  # starts nine processes
def test_workers_that_die_of_everything_end_it(folder):
    with LocalPool(2) as pool, pytest.raises(WorkerError, match=r"^shards \[\d, \d, \d\] were given up: task"):
        generate(folder, Deadly(range(99)), pool)
    assert not list(folder.path.iterdir())


@contextlib.contextmanager
def begin_program(folder, count):
    command = [sys.executable, "-c", PROGRAM, str(folder.path), str(count)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:  # a test that fails does not wait for all its shards
            process.kill()


def test_a_killed_program_goes_on_where_it_was(folder, expected):
    with begin_program(folder, 100_000) as process:
        workers = [int(pid) for pid in process.stdout.readline().split()]
        process.kill()
    assert_they_end(workers)
    left = len(folder.numbers())
    assert left >= 2
    begin = time.monotonic()
    generate(folder, SOURCE, LocalPool(), until=max(left, 12))
    assert time.monotonic() - begin < 60  # the dead program's claims keep nobody waiting
    assert folder.numbers() == list(range(max(left, 12)))
    assert not list(folder.path.glob(".*"))
    for number in range(12):
        assert (folder.read(number).arrays["value"] == expected[number]["value"]).all()


def test_ctrl_c_ends_in_order(folder):
    with begin_program(folder, 100_000) as process:
        workers = [int(pid) for pid in process.stdout.readline().split()]
        process.send_signal(signal.SIGINT)
        process.wait(60)
    assert_they_end(workers)
    assert len(folder.numbers()) >= 2
    assert not list(folder.path.glob(".*"))


def test_programs_share_a_folder(folder, expected):
    with begin_program(folder, 12) as first, begin_program(folder, 12) as second:
        made = [int(process.stdout.read().split()[-1]) for process in (first, second)]
    assert sum(made) == 60  # each shard once
    assert_right(folder, expected, 12)


def test_a_full_disk_is_said_in_a_line_and_nothing_is_lost(folder, monkeypatch):
    generate(folder, SOURCE, LocalPool(), until=2)

    def refuse(_descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with LocalPool(2) as pool, monkeypatch.context() as disk:
        disk.setattr(os, "fsync", refuse)
        with pytest.raises(CheckpointError, match=r"^cannot write [^\n]*\.eq: no space left on device$"):
            generate(folder, SOURCE, pool, until=9)
    assert folder.numbers() == [0, 1]
    assert not list(folder.path.glob(".*"))
    generate(folder, SOURCE, LocalPool(), until=4)
    assert folder.numbers() == [0, 1, 2, 3]


def test_files_that_may_not_grow_are_no_disk_either(folder):
    # the system itself refuses in the middle of a file
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))\n"
    command = [sys.executable, "-c", limit + PROGRAM, str(folder.path), "4"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert "CheckpointError: cannot write" in ended.stderr.splitlines()[-1]
    assert ended.stderr.splitlines()[-1].endswith("file too large")
    assert not list(folder.path.iterdir())
