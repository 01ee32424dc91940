# SPDX-License-Identifier: Apache-2.0
"""Deep CFR with an exact regressor is sampled CFR, to the bit; memories; states."""

import dataclasses
import itertools

import numpy as np
import pytest

from equipoise.core.errors import AbandonedError, ConfigError, NotConvergedError
from equipoise.games.registry import make_game
from equipoise.learning.deep_cfr.memory import make_memory
from equipoise.learning.deep_cfr.regressors import TableRegressor, match_regrets
from equipoise.learning.deep_cfr.settings import DeepCFRSettings, Fallback, Memory, Sampling, Weighting
from equipoise.learning.deep_cfr.training import DeepCFR
from equipoise.learning.deep_cfr.walks import TreeWalks
from equipoise.solvers.mccfr import Discounting, DiscountKind, MCCFRConfig, MCCFRSolver, Scheme
from equipoise.trees.history import build_history_tree
from equipoise.trees.segments import flatten_ranges, number_within
from tests.reference.regrets import exact_regrets

TREES = {
    "kuhn": build_history_tree(make_game("kuhn")),
    "kuhn3": build_history_tree(make_game("kuhn", players=3)),
    "leduc": build_history_tree(make_game("leduc", ranks=2, max_raises=1)),
    "goofspiel": build_history_tree(make_game("goofspiel", cards=3)),
}
SCHEMES = {Sampling.EXTERNAL: Scheme.EXTERNAL, Sampling.OUTCOME: Scheme.OUTCOME}


def make_run(tree, **changes):
    settings = DeepCFRSettings(traversals=7, capacity=20_000, fallback=Fallback.UNIFORM)
    settings = dataclasses.replace(settings, **changes)
    walks = TreeWalks(tree, settings, rng=np.random.default_rng(3))
    tables = [TableRegressor(tree.num_actions.size, walks.num_actions) for _ in range(tree.num_players)]
    return DeepCFR(walks, settings, tables)


def flatten(run, table):
    """Returns `[Q]` rows by information set as sequences have them."""
    tree, out = run.walks.tree, np.zeros(run.walks.kernel.num_sequences)
    counts = tree.num_actions
    infosets = np.arange(counts.size)
    cells = flatten_ranges(tree.first_sequence, counts)
    out[cells] = table[np.repeat(infosets, counts), number_within(counts)]
    return out


def run_both(tree, sampling, iterations):
    """Returns Deep CFR with tables after some iterations, its regrets and averages, and the same by sampled CFR."""
    run = make_run(tree, sampling=sampling)
    config = MCCFRConfig(
        scheme=SCHEMES[sampling],
        exploration=run.settings.exploration,
        traversals=7,
        discounting=Discounting(kind=DiscountKind.ITERATIONS),
    )
    solver = MCCFRSolver(tree, config, rng=np.random.default_rng(3))
    run.iterate(iterations)
    solver.iterate(iterations)
    average = TableRegressor(tree.num_actions.size, run.walks.num_actions)
    average.fit(run.policy_memory, iterations)
    regrets = sum(flatten(run, one.regret_sum) for one in run.regressors)
    assert run.walks.nodes_touched == solver.nodes_touched
    return solver, regrets, flatten(run, average.regret_sum)


@pytest.mark.parametrize("name", TREES)
def test_a_table_in_place_of_the_net_is_linear_external_sampling_to_the_bit(name):
    tree = TREES[name]
    solver, regrets, averages = run_both(tree, Sampling.EXTERNAL, 12)
    decisions = tree.sequence_infoset() >= 0
    assert np.abs(regrets).max() > 1.0
    assert regrets[decisions].tolist() == solver.tables.regret_sum[decisions].tolist()
    assert averages.tolist() == solver.tables.strategy_sum.tolist()


@pytest.mark.parametrize("name", TREES)
def test_a_table_in_place_of_the_net_is_linear_outcome_sampling(name):
    # weights and sampling probabilities are multiplied in another order: the same to a rounding
    tree = TREES[name]
    solver, regrets, averages = run_both(tree, Sampling.OUTCOME, 12)
    decisions = tree.sequence_infoset() >= 0
    assert np.abs(regrets).max() > 1.0
    np.testing.assert_allclose(regrets[decisions], solver.tables.regret_sum[decisions], rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(averages, solver.tables.strategy_sum, rtol=1e-12, atol=1e-9)


def test_uniform_weights_are_sampled_cfr_without_any():
    tree = TREES["kuhn"]
    run = make_run(tree, weighting=Weighting.UNIFORM)
    config = MCCFRConfig(traversals=7, discounting=Discounting(kind=DiscountKind.NONE))
    solver = MCCFRSolver(tree, config, rng=np.random.default_rng(3))
    run.iterate(9)
    solver.iterate(9)
    regrets = sum(flatten(run, one.regret_sum) for one in run.regressors)
    decisions = tree.sequence_infoset() >= 0
    assert regrets[decisions].tolist() == solver.tables.regret_sum[decisions].tolist()


def test_the_average_of_all_iterations_is_what_meetings_amount_to():
    run = make_run(TREES["kuhn"], traversals=300, capacity=400_000)
    run.iterate(30)
    met = TableRegressor(12, 2)
    met.fit(run.policy_memory, 30)
    sampled = run.average.kernel.normalize(flatten(run, met.regret_sum))
    np.testing.assert_allclose(run.average.strategy(), sampled, atol=0.04)
    assert run.evaluate().exploitability < 0.03


def test_a_run_goes_on_to_the_bit():
    whole, first, second = (make_run(TREES["leduc"], capacity=150) for _ in range(3))
    whole.iterate(6)
    first.iterate(3)
    second.restore(first.state())
    second.iterate(3)
    ours, theirs = whole.state(), second.state()
    for name in ours:
        if name != "progress":
            assert np.array_equal(ours[name], theirs[name]), name


def test_a_state_of_another_run_is_refused():
    state = make_run(TREES["kuhn"]).state()
    with pytest.raises(ConfigError, match="the saved training is of another one"):
        make_run(TREES["leduc"]).restore(state)


def test_advantages_that_are_no_numbers_end_a_run():
    run = make_run(TREES["kuhn"])
    run.regressors[1].regret_sum[:] = np.nan
    with pytest.raises(NotConvergedError, match="player 1's advantages are no numbers after 0 iterations"):
        run.iterate(1)


def test_regret_matching_and_both_fallbacks():
    legal = np.array([[True, True, False], [True, True, False]])
    advantage = np.array([[1.0, 3.0, 9.0], [-3.0, -1.0, 9.0]])
    assert match_regrets(advantage, legal, Fallback.ARGMAX).tolist() == [[0.25, 0.75, 0.0], [0.0, 1.0, 0.0]]
    assert match_regrets(advantage, legal, Fallback.UNIFORM)[1].tolist() == [0.5, 0.5, 0.0]
    assert match_regrets(np.zeros((1, 3)), legal[:1], Fallback.ARGMAX).tolist() == [[0.5, 0.5, 0.0]]


def test_a_reservoir_keeps_early_and_late_samples_alike():
    rng = np.random.default_rng(0)
    counts = np.zeros(10)
    for _ in range(400):
        memory = make_memory(Memory.RESERVOIR, 50, {"value": ((), np.int64)}, purpose="numbers", rng=rng)
        for begin in range(0, 1000, 125):
            memory.append({"value": np.arange(begin, begin + 125)})
        counts += np.bincount(memory.columns["value"] // 100, minlength=10)
    # 2,000 expected in each tenth, with a deviation of some 43: chi-square with 9 degrees, 27.9 at 0.1 %
    assert ((counts - 2000) ** 2 / 2000).sum() < 27.9


def test_a_sliding_memory_keeps_the_newest():
    memory = make_memory(Memory.SLIDING, 5, {"value": ((), np.int64)}, purpose="numbers", rng=np.random.default_rng(0))
    memory.append({"value": np.arange(12)})
    assert sorted(memory.columns["value"].tolist()) == [7, 8, 9, 10, 11]


def test_sampled_advantages_are_unbiased_where_they_are_met():
    """Lemma 11: the mean of what is remembered of a place is its advantage, divided by the others' reach."""
    tree = TREES["kuhn"]
    run = make_run(tree)
    start = np.random.default_rng(5).uniform(-0.5, 1.0, run.walks.kernel.num_sequences)
    table = np.zeros((12, 2))
    table[np.arange(12)[:, None], np.arange(2)] = start[tree.first_sequence[:, None] + np.arange(2)]
    for one in run.regressors:
        one.regret_sum[:] = table
    expected, _ = exact_regrets(tree, start)
    found = run.walks.collect(0, run.play, 40_000)
    total = np.zeros((12, 2))
    np.add.at(total, found.place, found.regret)
    visits = np.bincount(found.place, minlength=12)
    own = slice(int(tree.sequence_start[0]), int(tree.sequence_start[1]))
    mean = flatten(run, total / 40_000)[own]
    np.testing.assert_allclose(mean, expected[own], atol=0.03)
    assert (visits[tree.infoset_player() == 0] > 0).sum() > 3


def run_in_pieces(make, *, every, iterations):
    """Returns a run that is interrupted at every `every`-th question, kept, and gone on with from what was kept."""
    run, pieces = make(), 0
    while run.iteration < iterations:
        questions = itertools.count(1)
        try:
            run.iterate(1, lambda questions=questions: next(questions) > every)
        except AbandonedError:
            kept, run, pieces = run.state(), make(), pieces + 1
            run.restore(kept)
    return run, pieces


@pytest.mark.parametrize("name", ["kuhn3", "leduc"])
def test_an_iteration_that_is_interrupted_goes_on_to_the_bit(name):
    whole = make_run(TREES[name])
    whole.iterate(3)
    run, pieces = run_in_pieces(lambda: make_run(TREES[name]), every=4, iterations=3)
    assert pieces >= 3
    for part, array in whole.state().items():
        if part != "progress":
            assert np.array_equal(array, run.state()[part]), part


def test_an_interrupted_run_yields_no_half_iteration():
    run = make_run(TREES["kuhn"], iterations=4)
    questions = itertools.count()
    records = list(run.run(is_interrupted=lambda: next(questions) >= 12))
    assert [record.examples for record in records] == [1]
    assert run.stage > 0
