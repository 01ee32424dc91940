# SPDX-License-Identifier: Apache-2.0
import os
import pickle
import signal
import subprocess
import sys
import time

import pytest

from equipoise.core import local_pool
from equipoise.core.errors import ConfigError, WorkerError
from equipoise.core.local_pool import LocalPool
from equipoise.core.pool import Supervision
from tests.orphans import assert_they_end, kill_after_line
from tests.pool_contract import Later, PoolContract

PROGRAM = """
import time
from equipoise.core.local_pool import LocalPool
pool = LocalPool(2)
pids = set(pool.map(eval, ["__import__('os').getpid()"] * 8))
print(*pids, flush=True)
list(pool.map(time.sleep, [300.0] * 2))
"""

CAREFREE = """
from equipoise.core.local_pool import LocalPool
print(list(LocalPool(2).map(abs, [-1, -2])))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_workers_end_with_whoever_started_them(tmp_path):
    line = kill_after_line(PROGRAM, directory=tmp_path)
    assert_they_end([int(pid) for pid in line.split()])


@pytest.fixture(scope="module")
def pool():
    with LocalPool(2) as pool:
        yield pool


class TestLocalPool(PoolContract):
    def test_a_worker_that_dies_idle_is_replaced(self, pool):
        pids = set(pool.map(eval, ["__import__('os').getpid()"] * 8))
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        assert list(pool.map(abs, range(-4, 0))) == [4, 3, 2, 1]

    def test_what_cannot_be_sent_is_an_error_at_once(self, pool):
        with pytest.raises((AttributeError, pickle.PicklingError), match="pickle"):
            list(pool.map(abs, [lambda: 1]))
        assert list(pool.map(abs, [-1])) == [1]

    def test_closing_does_not_wait_and_the_pool_may_begin_again(self):
        with LocalPool(2) as pool:
            list(pool.map(abs, [1, 2]))
            begin = time.monotonic()
            tasks = ["__import__('time').sleep(60)"]
            assert list(pool.map(eval, tasks, supervision=Supervision(is_interrupted=Later(0.3)))) == []
            pool.close()
            assert time.monotonic() - begin < 20
            assert list(pool.map(abs, [-3])) == [3]


def test_ctrl_c_is_not_for_workers_that_are_about_to_begin(monkeypatch, capfd):
    class Struck(local_pool._Worker):
        def __init__(self):
            super().__init__()
            os.kill(self.process.pid, signal.SIGINT)

    monkeypatch.setattr(local_pool, "_Worker", Struck)
    with LocalPool(1, in_process=False) as pool:
        assert list(pool.map(eval, ["1", "2", "__import__('signal').pthread_sigmask(0, [])"])) == [1, 2, set()]
    assert capfd.readouterr().err == ""


def test_one_worker_is_the_process_itself_unless_told_otherwise():
    own = "__import__('os').getpid()"
    assert list(LocalPool().map(eval, [own])) == [os.getpid()]
    with LocalPool(1, in_process=False) as pool:
        assert list(pool.map(eval, [own])) != [os.getpid()]


def test_one_process_is_supervised_as_far_as_it_can_be():
    taken = []
    supervision = Supervision(
        snapshot=lambda: taken.append("snapshot"), snapshot_seconds=0.0, is_interrupted=lambda: len(taken) > 3
    )
    assert list(LocalPool().map(lambda task: taken.append(task) or task, range(9), supervision=supervision)) == [0, 1]
    assert taken == [0, "snapshot", 1, "snapshot"]


def test_numbers_of_workers_are_checked():
    with pytest.raises(ConfigError, match="at least one worker, got 0"):
        LocalPool(0)
    with pytest.raises(ConfigError, match="one process is one worker, got 2"):
        LocalPool(2, in_process=True)


def test_programs_that_begin_themselves_anew_are_told_how_not_to(tmp_path):
    place = tmp_path / "carefree.py"
    place.write_text(CAREFREE)
    ended = subprocess.run([sys.executable, place], capture_output=True, text=True, check=False, timeout=120)
    assert ended.returncode == 1
    assert WorkerError.__name__ in ended.stderr.splitlines()[-1]
    assert 'below `if __name__ == "__main__":`' in ended.stderr
