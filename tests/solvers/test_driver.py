# SPDX-License-Identifier: Apache-2.0
"""The driver on a clock of its own: every figure about time is known beforehand."""

import itertools

import pytest

from equipoise.solvers import driver
from equipoise.solvers.best_response import Evaluation
from equipoise.solvers.driver import LONGEST_CALL_SECONDS, LONGEST_SILENCE_SECONDS, run


class TimedSolver:
    """Iterations cost what `cost` says of their number; exploitability falls as 1 / t; evaluating is free."""

    def __init__(self, cost):
        self.cost = cost
        self.now = 500.0
        self.iteration = 0
        self.calls = []  # seconds that each call took

    nodes_touched = 0

    def iterate(self, num_iterations):
        began = self.now
        for _ in range(num_iterations):
            self.iteration += 1
            self.now += self.cost(self.iteration)
        self.calls.append(self.now - began)

    def evaluate(self):
        gain = 1.0 / self.iteration
        return Evaluation(values=(0.0, 0.0), best_response_values=(gain, gain))


@pytest.fixture
def start(monkeypatch):
    def make(cost):
        solver = TimedSolver(cost)
        monkeypatch.setattr(driver.time, "perf_counter", lambda: solver.now)
        return solver

    return make


def test_calls_stay_short_once_the_cost_is_known(start):
    solver = start(lambda _: 0.01)
    list(run(solver, iterations=1000))
    assert max(solver.calls) <= LONGEST_CALL_SECONDS + 1e-9


def test_time_left_to_the_last_iteration(start):
    records = list(run(start(lambda _: 0.01), iterations=50))
    assert [record.seconds_left for record in records] == pytest.approx(
        [0.01 * (50 - record.iteration) for record in records]
    )


def test_time_left_to_a_target_follows_the_slope(start):
    first, *rest = run(start(lambda _: 0.01), target=1e-2)
    assert first.seconds_left is None  # one point has no slope
    assert rest[-1].iteration == 108  # the first point of the grid that is far enough
    *before, last = rest
    assert [record.seconds_left for record in before] == pytest.approx(
        [0.01 * (100 - record.iteration) for record in before]
    )
    assert last.seconds_left is None


def test_the_nearest_stopping_point_is_announced(start):
    records = list(run(start(lambda _: 0.01), iterations=50, seconds=0.3, target=1e-2))
    assert [record.seconds_left for record in records] == pytest.approx(
        [max(0.0, 0.3 - record.seconds) for record in records]
    )


def test_rates_are_those_since_the_last_record(start):
    records = list(run(start(lambda t: 0.01 if t <= 20 else 0.1), iterations=100))
    rates = {record.iteration: record.iterations_per_second for record in records}
    assert rates[18] == pytest.approx(100.0)
    assert rates[100] == pytest.approx(10.0)


def test_records_come_at_least_every_few_seconds(start):
    records = list(run(start(lambda _: 0.5), iterations=100))
    gaps = [after.seconds - before.seconds for before, after in itertools.pairwise(records)]
    assert max(gaps) <= LONGEST_SILENCE_SECONDS + 0.5 + 1e-9


def test_a_deadline_cuts_the_way_to_an_evaluation_short(start):
    *_, last = run(start(lambda _: 0.01), iterations=10_000, seconds=9.3)
    assert 9.3 <= last.seconds <= 9.3 + LONGEST_CALL_SECONDS


def test_a_solver_that_stands_still_is_asked_once(start):
    solver = start(lambda _: 0.01)
    advance = solver.iterate

    def iterate(num_iterations):
        advance(min(num_iterations, 5 - solver.iteration))
        solver.now += 0.3

    solver.iterate = iterate
    records = list(run(solver, iterations=100))
    assert [record.iteration for record in records] == [1, 2, 3, 4, 5]
    assert len(solver.calls) == 6
