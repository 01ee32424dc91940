# SPDX-License-Identifier: Apache-2.0
"""How many threads a run takes that is not told."""

from pathlib import Path

import pytest

from equipoise.runs import threads
from equipoise.runs.threads import ThreadTrial, team_sizes

RIVER = Path(__file__).parents[2] / "examples" / "spots" / "river.toml"


class Clockwork:
    """A solver whose iterations take what a table says, on a clock of its own."""

    def __init__(self, seconds):
        self.seconds, self.num_threads, self.iteration, self.now, self.sizes = seconds, 1, 0, 0.0, []

    def iterate(self, num_iterations):
        self.iteration += num_iterations
        self.now += num_iterations * self.seconds[self.num_threads]
        self.sizes += [self.num_threads] * num_iterations


def run_trial(seconds, monkeypatch):
    solver = Clockwork(seconds)
    monkeypatch.setattr(threads.time, "perf_counter", lambda: solver.now)
    trial = ThreadTrial(solver, num_cores=max(seconds))
    for _ in range(100):
        trial.iterate(10)
    assert trial.is_over
    assert solver.iteration == 1000
    return solver


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        ({1: 1.0, 2: 0.6, 4: 0.4}, 4),
        ({1: 1.0, 2: 0.6, 4: 0.9}, 2),
        ({1: 1.0, 2: 1.3}, 1),  # never slower than one
        ({1: 1.0, 2: 0.97}, 1),  # a second core for next to nothing
        ({1: 0.02, 2: 0.012}, 2),
        ({1: 1e-4, 2: 0.6e-4}, 1),  # too short to be worth it
        ({1: 1.0}, 1),
    ],
)
def test_as_many_are_taken_as_help(seconds, expected, monkeypatch):
    solver = run_trial(seconds, monkeypatch)
    assert solver.num_threads == expected
    assert solver.sizes[-1] == expected


def test_a_trial_is_short(monkeypatch):
    assert run_trial({1: 10.0, 2: 6.0}, monkeypatch).sizes.count(1) == 1


def test_sizes_begin_with_one():
    assert team_sizes(1) == (1,)
    assert team_sizes(8) == (1, 2, 4, 8)


@pytest.mark.parametrize("what", ["kuhn", RIVER])
def test_a_resumed_run_keeps_its_threads_unless_told_otherwise(equipoise, what):
    given = ("solve", what, "--out", "run.eq", "--quiet", "--json")
    assert equipoise(*given, "-n", 2, "--threads", 3).json["threads"] == 3
    assert equipoise(*given, "-n", 4, "--resume").json["threads"] == 3
    assert equipoise(*given, "-n", 6, "--resume", "--threads", 1).json["threads"] == 1


def test_results_do_not_depend_on_the_trial(equipoise):
    found = [
        equipoise("solve", "leduc", "-n", "300", "--json", "--quiet", *more).json["exploitability"]
        for more in ((), ("--threads", "1"), ("--threads", "2"))
    ]
    assert len(set(found)) == 1
