# SPDX-License-Identifier: Apache-2.0
"""Searches of a turn by CFR-D and CFR-AVG, and how play of their iterations is measured: the oracle is exact leaves."""

import dataclasses

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.kernels.frontier import BeliefBatch, LeafValues
from equipoise.learning.rebel.holdem.iterations import (
    AveragedLeaves,
    IterationSums,
    push_reaches,
    spread_iterations,
)
from equipoise.learning.rebel.holdem.playthroughs import make_test_spot, measure_turn_endgame
from equipoise.learning.rebel.holdem.settings import HOLDEM_PRESETS, change_holdem_settings
from equipoise.learning.rebel.settings import BeliefMethod
from equipoise.search.holdem.leaves import HoldemRest
from equipoise.search.leaves import ResolvedLeaves
from equipoise.search.random_iteration import iteration_chances
from equipoise.solvers.best_response import evaluate
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rules import LinearCFR
from equipoise.trees.holdem.tree import plan_first_street, plan_holdem_tree

ITERATIONS = 8
SMALL = dataclasses.replace(
    HOLDEM_PRESETS["turn-endgame"], menu="100%; cap: 1", test_stack=400, test_iterations=ITERATIONS
)
CFR = (BeliefMethod.CFR_D, BeliefMethod.CFR_AVG, BeliefMethod.MODIFIED_CFR_AVG)


@pytest.fixture(scope="module")
def whole():
    """Returns the turn and its rivers in one tree."""
    return plan_holdem_tree(make_test_spot(SMALL), merges_suits=False).build()


@pytest.fixture(scope="module")
def exact(whole):
    return ResolvedLeaves(
        HoldemRest(whole.spot, places=whole), iterations=ITERATIONS, rule=LinearCFR(), dtype=np.float32
    )


class _Linear:
    """Leaves worth what the other's reach is by a matrix: values of averages add up to those of iterations."""

    def __init__(self, num_hands):
        self.matrix = np.random.default_rng(3).normal(size=(num_hands, num_hands))

    def evaluate(self, batch):
        return LeafValues((batch.reach[1] @ self.matrix, -batch.reach[0] @ self.matrix.T))


class _AllMeet:
    def mass(self, player, other):
        return np.full(other.shape, other.sum())


def _batches(count, num_hands=5):
    rng = np.random.default_rng(4)
    numbers = np.full((2, 2), num_hands, np.int32)
    return [
        BeliefBatch(
            states=[0, 1],
            reach=(rng.random((2, num_hands)), rng.random((2, num_hands))),
            num_private=numbers,
            joint=[_AllMeet(), _AllMeet()],
        )
        for _ in range(count)
    ]


def test_leaves_linear_in_reach_extrapolate_to_the_present():
    inner, batches = _Linear(5), _batches(4)
    leaves = AveragedLeaves(inner, LinearCFR(), is_modified=True)
    for batch in batches:
        for own, known in zip(leaves.evaluate(batch).cfv, inner.evaluate(batch).cfv, strict=True):
            assert own == pytest.approx(known)


def test_leaves_of_averages_are_scaled_to_who_is_met_now():
    inner, batches = _Linear(5), _batches(3)
    leaves = AveragedLeaves(inner, LinearCFR(), is_modified=False)
    found = [leaves.evaluate(batch) for batch in batches][-1]
    average = sum((t + 1) * batch.reach[1] for t, batch in enumerate(batches))
    present = batches[-1].reach[1]
    scale = present.sum(axis=1, keepdims=True) / average.sum(axis=1, keepdims=True)
    assert found.cfv[0] == pytest.approx(scale * (average @ inner.matrix))


def test_leaves_are_asked_about_the_beliefs_of_the_average(whole):
    asked = []

    class Watching:
        def evaluate(self, batch):
            asked.append(np.stack(batch.reach))
            return LeafValues((np.zeros(batch.reach[0].shape), np.zeros(batch.reach[1].shape)))

    turn = plan_first_street(whole.spot, betting=whole.betting).build()
    run = IterationSums.of_round(turn, LinearCFR(), Watching(), BeliefMethod.CFR_AVG)
    average = run.average(3)
    assert len(asked) == 3  # once an iteration
    live = whole.spot.live_weights(0), whole.spot.live_weights(1)
    reached = push_reaches(turn, average, (np.array(live[0]), np.array(live[1])))
    for place, line in enumerate(turn.leaving_nodes()):
        for player in (0, 1):
            mean = asked[-1][player, place] / asked[-1][player, place].max()
            known = reached[line][player] / reached[line][player].max()
            assert mean == pytest.approx(known, abs=1e-9)


def test_drawn_iterations_are_met_as_often_as_they_count():
    rule, rng = LinearCFR(), np.random.default_rng(0)
    lists = [spread_iterations(rule, 10, 4, rng) for _ in range(2_000)]
    shares = np.bincount(np.concatenate(lists), minlength=11)[1:] / 8_000
    assert shares == pytest.approx(iteration_chances(rule, 10), abs=0.01)
    assert min(len(set(each.tolist())) for each in lists) >= 3  # no list is all of a kind
    assert spread_iterations(rule, 10, 200, rng, first=4).min() == 4


def test_rivers_add_what_their_draws_come_to_on_average(whole):
    """Playthroughs that draw a river's iteration one by one come to what the average of its iterations plays."""
    river = plan_holdem_tree(dataclasses.replace(whole.spot, board=(*whole.spot.board, 0)), merges_suits=False).build()
    mean = IterationSums(CFRSolver(river, LinearCFR(), dtype=np.float64)).average(6)
    run = IterationSums(CFRSolver(river, LinearCFR(), dtype=np.float64))
    single = sum(chance * run.at(t + 1) for t, chance in enumerate(iteration_chances(LinearCFR(), 6)))
    assert mean == pytest.approx(single, abs=1e-12)


@pytest.mark.parametrize("method", CFR)
def test_exact_leaves_play_as_well_as_the_whole_tree_solved_as_long(whole, exact, method):
    solver = CFRSolver(whole, LinearCFR())
    solver.iterate(ITERATIONS)
    settings = dataclasses.replace(SMALL, method=method)
    found = measure_turn_endgame(settings, exact, ITERATIONS, rng=np.random.default_rng(1))
    assert found.playthroughs == ITERATIONS
    assert 0.0 < found.exploitability < 1.25 * evaluate(whole, solver.average_sums).exploitability


def test_only_methods_of_cfr_search_hold_em():
    with pytest.raises(ConfigError, match="got fp"):
        change_holdem_settings(SMALL, {"method": "fp"})
    with pytest.raises(ConfigError, match="warm_start must be 0 by cfr-avg"):
        change_holdem_settings(HOLDEM_PRESETS["holdem"], {"method": "cfr-avg"})
