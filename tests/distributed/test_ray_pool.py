# SPDX-License-Identifier: Apache-2.0
"""Ray's workers behave as processes of this machine do: the same tests, on a Ray that is started here."""

import os
import signal

import numpy as np
import pytest

pytest.importorskip("ray", reason="Ray is not installed: pip install 'equipoise[scale]'")

from equipoise.core.errors import ConfigError
from equipoise.distributed.ray_pool import RayPool
from equipoise.games.holdem.betting import Street
from equipoise.games.holdem.cards import Deck
from equipoise.learning.values.filling import generate
from equipoise.learning.values.generation import SolvedSource
from equipoise.learning.values.labels import Labels
from equipoise.learning.values.shards import ShardFolder
from tests.pool_contract import PoolContract

pytestmark = pytest.mark.ray


@pytest.fixture(scope="module")
def pool():
    with RayPool("local", num_workers=2) as pool:
        yield pool


@pytest.mark.parametrize("address", ["127.0.0.1:1", "ray://127.0.0.1:1", "127.0.0.1:x"])
def test_a_cluster_that_is_not_there_is_said_in_one_line(address):
    with pytest.raises(ConfigError, match=rf"^no Ray cluster at '{address}': [^\n]*$"):
        RayPool(address)


def test_a_cluster_that_wants_a_token_is_told_from_one_that_is_not_there(monkeypatch):
    def refuse(**_options):
        raise ConnectionError("Failed to connect") from RuntimeError("RPC error: InvalidAuthToken: it is missing")

    monkeypatch.setattr("equipoise.distributed.ray_pool.ray.init", refuse)
    with pytest.raises(ConfigError, match="it wants a token; with RAY_AUTH_MODE=token Ray sends yours"):
        RayPool("auto")


def test_numbers_of_workers_are_checked():
    with pytest.raises(ConfigError, match="at least one worker, got 0"):
        RayPool("local", num_workers=0)


class TestRayPool(PoolContract):
    """The tests of every pool."""


def test_a_folder_is_filled_though_a_worker_is_killed(pool, tmp_path):
    deck = Deck(ranks="9TJQKA", suits="cdh")
    source = SolvedSource(street=Street.RIVER, labels=Labels(iterations=300), per_shard=5, deck=deck)
    folder = ShardFolder(tmp_path, source.config)
    workers = set(pool.map(eval, ["(__import__('time').sleep(0.5), __import__('os').getpid())[1]"] * 4))
    killed = []

    def kill_one(_progress):
        if not killed:
            killed.append(workers.pop())
            os.kill(killed[0], signal.SIGKILL)

    assert generate(folder, source, pool, until=8, on_shard=kill_one).situations == 40
    assert killed
    for number in range(8):
        assert np.array_equal(folder.read(number).arrays["value"], source.make(number)["value"])
    assert not list(tmp_path.glob(".*"))
