# SPDX-License-Identifier: Apache-2.0
"""What every pool with workers of its own must do: the same tests run on processes of this machine and on Ray.

Tasks are expressions, which any worker can evaluate whatever it can import.
"""

import itertools
import time

import pytest

from equipoise.core.errors import ConfigError, WorkerError
from equipoise.core.pool import Supervision

DIE = "__import__('os').kill(__import__('os').getpid(), 9)"


def die_until(path, count, result):
    """Returns a task that kills its worker so many times, counting in a file, and then has a result."""
    write = f"open({str(path)!r}, 'a').write('x')"
    return f"{result} if ({write}, __import__('os').path.getsize({str(path)!r}))[1] > {count} else {DIE}"


class PoolContract:
    """Subclasses have a fixture `pool` of two workers."""

    def test_results_come_in_the_order_of_their_tasks(self, pool):
        tasks = [f"(__import__('time').sleep({0.3 if k == 0 else 0.0}), {k})[1]" for k in range(9)]
        assert list(pool.map(eval, tasks)) == list(range(9))

    def test_results_come_as_they_are_done(self, pool):
        list(pool.map(eval, ["1", "1"]))  # workers are there
        tasks = ["(__import__('time').sleep(1.0), 0)[1]", "1", "2"]
        assert sorted(first := list(pool.map(eval, tasks, in_order=False))) == [0, 1, 2]
        assert first[-1] == 0

    def test_there_may_be_no_end_of_tasks(self, pool):
        taken = []
        tasks = (taken.append(k) or str(k) for k in itertools.count())
        results = pool.map(eval, tasks)
        assert list(itertools.islice(results, 5)) == [0, 1, 2, 3, 4]
        results.close()
        assert len(taken) <= 5 + 4 * pool.num_workers
        assert list(pool.map(eval, ["7"])) == [7]  # what was dropped does not turn up

    def test_maps_may_be_interleaved(self, pool):
        pairs = zip(pool.map(abs, range(-6, 0)), pool.map(str, range(6)), strict=True)
        assert list(pairs) == [(6 - k, str(k)) for k in range(6)]

    @pytest.mark.parametrize("in_order", [True, False])
    def test_a_killed_worker_costs_nothing_but_time(self, pool, tmp_path, in_order):
        tasks = [str(k) for k in range(8)]
        tasks[3] = die_until(tmp_path / "deaths", 2, 3)
        assert sorted(pool.map(eval, tasks, in_order=in_order)) == list(range(8))
        assert (tmp_path / "deaths").stat().st_size == 3

    def test_a_task_that_kills_three_workers_is_given_up(self, pool, tmp_path):
        task = die_until(tmp_path / "deaths", 9, 0)
        with pytest.raises(WorkerError, match=r"^task .* ended its worker 3 times and was given up; the last one"):
            list(pool.map(eval, ["1", task, "2"]))
        assert (tmp_path / "deaths").stat().st_size == 3
        assert list(pool.map(eval, ["5"])) == [5]

    def test_tasks_that_are_given_up_may_be_told_of(self, pool):
        lost = []
        supervision = Supervision(on_lost=lambda task, reason: lost.append((task, reason)))
        assert list(pool.map(eval, ["1", DIE, "2"], supervision=supervision)) == [1, 2]
        assert [task for task, _ in lost] == [DIE]
        assert "is memory short?" in lost[0][1]

    def test_what_a_task_raises_is_raised_in_its_turn(self, pool):
        results = pool.map(int, ["1", "x", "2"])
        assert next(results) == 1
        with pytest.raises(ValueError, match="invalid literal"):
            next(results)

    def test_errors_that_cannot_be_sent_go_as_text(self, pool):
        task = "(_ for _ in ()).throw(__import__('equipoise.core.errors', fromlist=['x']).UnknownNameError('a','b',[]))"
        with pytest.raises((WorkerError, ConfigError), match="unknown a 'b'"):
            list(pool.map(eval, [task]))

    def test_interruption_keeps_what_is_done(self, pool):
        list(pool.map(eval, ["1", "1"]))
        begin = time.monotonic()
        tasks = ["1", "__import__('time').sleep(60)", "2"]
        supervision = Supervision(is_interrupted=Later(3.0))
        assert list(pool.map(eval, tasks, in_order=False, supervision=supervision)) == [1, 2]
        assert time.monotonic() - begin < 30
        assert list(pool.map(eval, ["3"], supervision=supervision)) == []
        pool.close()  # what was dropped would go on to its end

    def test_snapshots_are_taken_also_while_nothing_is_done(self, pool):
        times = []
        supervision = Supervision(snapshot=lambda: times.append(time.monotonic()), snapshot_seconds=0.3)
        list(pool.map(eval, ["__import__('time').sleep(2.0)"], supervision=supervision))
        assert len(times) >= 3
        assert min(later - sooner for sooner, later in itertools.pairwise(times)) >= 0.3

    def test_large_tasks_and_results_pass(self, pool):
        tasks = [bytes([k]) * 3_000_000 for k in range(6)]
        assert [len(result) for result in pool.map(bytes.upper, tasks)] == [3_000_000] * 6

    def test_workers_have_one_thread(self, pool):
        assert list(pool.map(eval, ["__import__('os').environ['OMP_NUM_THREADS']"])) == ["1"]


class Later:
    """A question that is answered yes after some seconds."""

    def __init__(self, seconds):
        self.end = time.monotonic() + seconds

    def __call__(self):
        return time.monotonic() > self.end
