# SPDX-License-Identifier: Apache-2.0
"""The driver on a clock of its own: every figure about time is known beforehand."""

import itertools

import pytest

from equipoise.solvers import driver
from equipoise.solvers.best_response import Evaluation
from equipoise.solvers.driver import (
    EARLY_ITERATIONS,
    LONGEST_CALL_SECONDS,
    LONGEST_SILENCE_SECONDS,
    SOLVING_PER_EVALUATION,
    run,
)


class TimedSolver:
    """Iterations cost what `cost` says of their number; exploitability falls as 1 / t."""

    def __init__(self, cost, evaluation_cost):
        self.cost = cost
        self.evaluation_cost = evaluation_cost
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
        self.now += self.evaluation_cost
        gain = 1.0 / self.iteration
        return Evaluation(values=(0.0, 0.0), best_response_values=(gain, gain))


@pytest.fixture
def start(monkeypatch):
    def make(cost, evaluation_cost=0.0):
        solver = TimedSolver(cost, evaluation_cost)
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


def test_early_slopes_are_not_believed_where_a_typical_one_is_known(start):
    records = list(run(start(lambda _: 0.01), target=1e-3, typical_slope=-2.0))
    early = [record for record in records[1:] if record.iteration < EARLY_ITERATIONS]
    # at slope -2 the number of iterations to 1 / 1000 is that of t (1000 / t)^(1/2)
    expected = [0.01 * ((1000 * record.iteration) ** 0.5 - record.iteration) for record in early]
    assert [record.seconds_left for record in early] == pytest.approx(expected)
    late = [record for record in records[:-1] if record.iteration >= EARLY_ITERATIONS]
    assert [record.seconds_left for record in late] == pytest.approx([0.01 * (1000 - r.iteration) for r in late])


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


def test_long_evaluations_are_a_small_share_and_words_come_in_between(start):
    said = []
    solver = start(lambda _: 1.0, evaluation_cost=5.0)
    records = list(run(solver, iterations=200, on_advance=said.append))
    assert len(records) * 5.0 * SOLVING_PER_EVALUATION <= 200 + 2 * 5.0 * SOLVING_PER_EVALUATION
    assert all(record.evaluated_at is None for record in records)
    words = sorted([*records, *said], key=lambda record: record.seconds)
    gaps = [after.seconds - before.seconds for before, after in itertools.pairwise(words)]
    assert max(gaps) <= LONGEST_SILENCE_SECONDS + 1.0 + 5.0
    assert {record.evaluated_at for record in said} <= {record.iteration for record in records}
    by_iteration = {record.iteration: record.exploitability for record in records}
    assert all(record.exploitability == by_iteration[record.evaluated_at] for record in said)


def test_a_target_that_is_near_is_not_missed_by_a_long_evaluation(start):
    *_, last = run(start(lambda _: 1.0, evaluation_cost=5.0), target=1e-2)
    assert 100 <= last.iteration <= 106  # the slope says where; one evaluation's worth of solving at most too far


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


def test_who_interrupts_before_the_first_iteration_waits_for_no_evaluation(start, monkeypatch):
    solver = start(lambda _: 1.0, evaluation_cost=10.0)
    monkeypatch.setattr(TimedSolver, "can_stop", True, raising=False)
    monkeypatch.setattr(TimedSolver, "stop", lambda _: None, raising=False)
    assert list(run(solver, iterations=5, is_interrupted=lambda: True)) == []
    assert solver.now == 500.0


class QuickTimedSolver(TimedSolver):
    """One that can be evaluated quickly, which says a little too much or too little."""

    can_evaluate_quickly = True
    error = 0.0

    def __init__(self, cost, evaluation_cost):
        super().__init__(cost, evaluation_cost)
        self.asked = []  # iterations at which it was evaluated, exact ones negative

    def evaluate(self):
        self.asked.append(-self.iteration)
        return super().evaluate()

    def evaluate_quickly(self):
        self.asked.append(self.iteration)
        gain = 1.0 / self.iteration + self.error
        return Evaluation(values=(0.0, 0.0), best_response_values=(gain, gain))


@pytest.fixture
def start_quick(monkeypatch):
    solver = QuickTimedSolver(lambda _: 0.01, 0.0)
    monkeypatch.setattr(driver.time, "perf_counter", lambda: solver.now)
    return solver


def test_far_from_a_target_quick_evaluations_are_few_and_an_exact_one_decides(start_quick):
    records = list(run(start_quick, target=1e-2))
    assert start_quick.asked == [1, 2, 4, 8, 16, 30, 46, 62, 73, 82, 91, 96, 102, -102]
    assert [record.iteration for record in records] == start_quick.asked[:-1]


@pytest.mark.parametrize(("error", "asked"), [(-6e-4, [96, -96, 102, -102]), (2e-4, [96, 102, 108, -108])])
def test_what_ends_a_run_is_exact(start_quick, error, asked):
    start_quick.error = error
    *_, record = run(start_quick, target=1e-2)
    assert record.exploitability == 1 / record.iteration <= 1e-2
    assert start_quick.asked[-4:] == asked


@pytest.mark.parametrize("limits", [{"iterations": 60}, {"seconds": 0.6}])
def test_a_run_that_misses_its_target_ends_with_exact_figures(start_quick, limits):
    records = list(run(start_quick, target=1e-3, **limits))
    assert start_quick.asked[-1] == -records[-1].iteration
    assert all(asked > 0 for asked in start_quick.asked[:-1])


def test_without_a_target_every_point_is_exact(start_quick):
    list(run(start_quick, iterations=20))
    assert all(asked < 0 for asked in start_quick.asked)
