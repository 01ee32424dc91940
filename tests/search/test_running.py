# SPDX-License-Identifier: Apache-2.0
"""How long searches run: deadlines, averages that begin late, evaluators that change at the end."""

import gc
import math
import weakref

import numpy as np
import pytest

from equipoise.core.errors import ConcurrentUseError, ConfigError
from equipoise.search import running
from equipoise.search.gadgets import Unsafe
from equipoise.search.holdem.subgame import HoldemSubgame
from equipoise.search.leaves import SwitchedLeaves, ZeroLeaves
from equipoise.search.limits import RoundLimit
from equipoise.search.posing import pose
from equipoise.search.resolving import SubgameSolver
from equipoise.search.running import LEAST_ITERATIONS, run_at_once, run_for, run_until
from equipoise.search.settings import SearchSettings
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rules import CFRPlus, DCFRPlus
from equipoise.trees.holdem.tree import build_holdem_tree
from tests.search.grounds import UNIFORM
from tests.search.test_holdem_continual import TURN


class CountedLeaves(ZeroLeaves):
    """Leaves that count how often they are asked, each of which takes what it is said to on a clock of their own."""

    now = 0.0

    def __init__(self, seconds=0.0):
        self.asked, self.seconds = 0, seconds

    def evaluate(self, batch):
        self.asked += 1
        CountedLeaves.now += self.seconds
        return super().evaluate(batch)


@pytest.fixture(autouse=True)
def _clock(monkeypatch):
    monkeypatch.setattr(running.time, "perf_counter", lambda: CountedLeaves.now)


@pytest.fixture(params=["public", "holdem"])
def solver(request):
    """Returns what begins a search that ends with its round, of Leduc or of a turn by hands."""

    def begin(evaluator, rule=None):
        if request.param == "public":
            street = UNIFORM.subgame(0).end_at(RoundLimit(), evaluator)
        else:
            whole = HoldemSubgame.of_tree(build_holdem_tree(TURN, merges_suits=False))
            street = whole.end_with_street(TURN, evaluator)
        return SubgameSolver(street, pose(None, street, 0, Unsafe()), rule=rule or DCFRPlus(), is_alternating=False)

    return begin


def test_a_run_is_as_long_as_it_was_asked_to_be(solver):
    run = solver(leaves := CountedLeaves())
    run_at_once(run, 30)
    assert run.iteration == leaves.asked == 30


def test_a_deadline_ends_a_run_early(solver):
    run = solver(CountedLeaves(seconds=0.002))
    begin = CountedLeaves.now
    run_for(0.3)(run, 10_000)
    assert LEAST_ITERATIONS < run.iteration <= 151
    assert CountedLeaves.now - begin < 0.31


def test_however_late_it_is_some_iterations_are_run(solver):
    run = solver(CountedLeaves())
    run_until(run, 1000, -math.inf, least=7)
    assert run.iteration == 7
    run_until(other := solver(CountedLeaves()), 3, -math.inf, least=7)
    assert other.iteration == 3


def test_late_averages_begin_after_half_of_a_short_run(solver):
    run = solver(CountedLeaves())
    run_at_once(run, 40)
    assert run.rule == DCFRPlus(delay=20)
    run_at_once(long := solver(CountedLeaves()), 250)
    assert long.rule == DCFRPlus()
    direct = solver(CountedLeaves(), DCFRPlus(delay=20))
    direct.iterate(40)
    np.testing.assert_array_equal(run.average_sums, direct.average_sums)


@pytest.mark.parametrize("deadline", [math.inf, -math.inf])
def test_evaluators_change_in_the_last_iterations(solver, deadline):
    first, last = CountedLeaves(), CountedLeaves()
    run = solver(SwitchedLeaves(first, last, num_last=5))
    run_until(run, 20, deadline, least=20)
    assert (first.asked, last.asked) == (15, 5)
    run.evaluate()
    assert first.asked == 15
    run_at_once(short := solver(SwitchedLeaves(first, last, num_last=5)), 3)
    assert short.iteration == 3
    assert first.asked == 15


def test_whoever_asks_after_a_run_that_time_has_cut_short_asks_the_last_one(solver):
    class Slow(CountedLeaves):
        def evaluate(self, batch):
            self.seconds = 1e-4 if self.asked < 4 else 0.05  # later than it seemed at first
            return super().evaluate(batch)

    first, last = Slow(), CountedLeaves()
    run = solver(SwitchedLeaves(first, last, num_last=5))
    run_for(0.2)(run, 1000)
    asked = first.asked
    assert last.asked == 0
    run.evaluate()
    assert (first.asked, last.asked > 0) == (asked, True)


def test_what_does_not_fit_is_refused():
    run = CFRSolver(build_holdem_tree(TURN), CFRPlus())
    with pytest.raises(ConfigError, match="other tables"):
        run.change_rule(DCFRPlus())
    with pytest.raises(ConfigError, match="num_last"):
        SwitchedLeaves(ZeroLeaves(), ZeroLeaves(), num_last=0)
    with pytest.raises(ConfigError, match="seconds"):
        SearchSettings(seconds=0.0)


class CallingLeaves(CountedLeaves):
    """Leaves that call the very run that asks them, once."""

    run = None

    def evaluate(self, batch):
        if self.run is not None and self.asked == 39:
            with pytest.raises(ConcurrentUseError, match="already at work"):
                self.run.iterate(60)  # more than the rows of discounts that are known: new ones take their place
            self.junk = [np.full((64, 6), np.nan) for _ in range(64)]
        return super().evaluate(batch)


def test_a_call_that_is_refused_within_an_iteration_changes_nothing(solver):
    leaves = CallingLeaves()
    run, quiet = solver(leaves), solver(CountedLeaves())
    leaves.run = run
    for _ in range(42):
        run.iterate(1)
        quiet.iterate(1)
    assert len(leaves.junk) == 64
    np.testing.assert_array_equal(run.average_sums, quiet.average_sums)


def test_runs_are_freed_with_their_leaves(solver):
    evaluator = CountedLeaves()
    run = solver(evaluator)
    run.iterate(1)
    run.iterate(1)
    kept = weakref.ref(run), weakref.ref(evaluator)
    del run, evaluator
    gc.collect()
    assert [each() for each in kept] == [None, None]
