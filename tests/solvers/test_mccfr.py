# SPDX-License-Identifier: Apache-2.0
from collections import Counter

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games.base import CHANCE
from equipoise.games.registry import make_game
from equipoise.solvers.best_response import evaluate
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.mccfr import (
    Discounting,
    DiscountKind,
    MCCFRConfig,
    MCCFRSolver,
    Scheme,
    lay_out_for_sampling,
)
from equipoise.solvers.rules import CFR
from equipoise.solvers.sampled_pruning import LIBRATUS
from equipoise.trees.history import build_history_tree

KUHN = build_history_tree(make_game("kuhn"))
KUHN3 = build_history_tree(make_game("kuhn", players=3))
LEDUC = build_history_tree(make_game("leduc"))
BLOCKING = {
    "deck": "tiny",
    "board": "ThJhQsKs",
    "pot": 4,
    "stacks": "6,6",
    "small_blind": 1,
    "big_blind": 2,
    "menu": "a",
    "ranges": "AhAs, KhJs:0.5 | AhKh, AsTs, AhTs",
}
NO_STAKES = build_history_tree(make_game("matrix", payoffs="0,0;0,0"))  # external sampling touches 9 nodes an iteration


def make_solver(tree, scheme=Scheme.EXTERNAL, *, seed=1, **options):
    return MCCFRSolver(tree, MCCFRConfig(scheme=scheme, **options), rng=np.random.default_rng(seed))


@pytest.mark.parametrize(
    ("tree", "scheme", "iterations", "bound"),
    [
        (KUHN, Scheme.EXTERNAL, 100_000, 0.006),
        (KUHN, Scheme.OUTCOME, 200_000, 0.012),
        (KUHN, Scheme.CHANCE, 100_000, 0.006),
        (LEDUC, Scheme.EXTERNAL, 100_000, 0.12),
        (LEDUC, Scheme.OUTCOME, 400_000, 0.4),
        (LEDUC, Scheme.CHANCE, 20_000, 0.25),
        (LEDUC, Scheme.PUBLIC_CHANCE, 4_000, 0.12),
    ],
)
def test_every_scheme_converges(tree, scheme, iterations, bound):
    solver = make_solver(tree, scheme)
    solver.iterate(iterations // 50)
    early = solver.evaluate().exploitability
    solver.iterate(iterations - iterations // 50)
    late = solver.evaluate()
    assert late.exploitability < min(bound, early / 3)
    assert late.values[0] == pytest.approx(-1 / 18 if tree is KUHN else -0.0856064, abs=late.nash_conv)


@pytest.mark.parametrize("scheme", [Scheme.EXTERNAL, Scheme.OUTCOME, Scheme.CHANCE])
def test_average_regret_falls_with_three_players(scheme):
    solver = make_solver(KUHN3, scheme)

    def average_regret():
        positive = np.maximum(solver.tables.regret_sum, 0.0)
        # an upper bound of all players' average regrets: the largest regret of every information set
        return np.maximum.reduceat(positive, KUHN3.first_sequence).sum() / solver.iteration

    solver.iterate(1_000)
    early, early_gap = average_regret(), solver.evaluate().nash_conv
    solver.iterate(99_000)
    assert average_regret() < early / 4
    assert solver.evaluate().nash_conv < early_gap / 4


def test_public_chance_sampling_of_a_whole_public_tree_is_less_noisy_than_chance_sampling():
    chance, public = make_solver(LEDUC, Scheme.CHANCE), make_solver(LEDUC, Scheme.PUBLIC_CHANCE)
    chance.iterate(1_000)
    public.iterate(1_000)
    assert public.evaluate().exploitability < chance.evaluate().exploitability / 2


def test_chance_sampling_without_chance_is_full_width_cfr():
    tree = build_history_tree(make_game("goofspiel", cards=3))
    sampled, full = make_solver(tree, Scheme.CHANCE), CFRSolver(tree, CFR())
    sampled.tables.regret_sum[:] = full.tables.regret_sum[:] = np.random.default_rng(0).uniform(
        -1, 1, full.kernel.num_sequences
    )
    full.tables.strategy[:] = sampled.current_strategy()
    full.tables.realization[:] = full.kernel.realize(full.tables.strategy)
    sampled.iterate(2)
    full.iterate(2)
    decisions = tree.sequence_infoset() >= 0
    np.testing.assert_allclose(sampled.tables.regret_sum[decisions], full.tables.regret_sum[decisions], atol=1e-12)
    np.testing.assert_allclose(sampled.average_strategy(), full.average_strategy(), atol=1e-12)


@pytest.mark.parametrize("num_periods", [1, 2, 5, 40])
def test_linear_discounting_weighs_period_n_by_n(num_periods):
    linear = Discounting(kind=DiscountKind.LINEAR, period_nodes=90)
    solver = make_solver(NO_STAKES, discounting=linear)
    seen = []
    for _ in range(num_periods):
        before = solver.tables.strategy_sum.copy()
        solver.iterate(9)
        assert solver.period == len(seen) + 1
        seen.append(float((solver.tables.strategy_sum - before).sum()))
        solver.iterate(1)
    # two strategies an iteration, ten iterations a period, period n weighs n / N before the last period's own factor
    expected = 2 * 10 * sum(n / num_periods for n in range(1, num_periods + 1)) * num_periods / (num_periods + 1)
    assert solver.tables.strategy_sum.sum() == pytest.approx(expected)
    assert seen == pytest.approx([18.0] * num_periods)  # what is added is never discounted within its period


def test_linear_discounting_of_regrets_on_synthetic_input():
    linear = Discounting(kind=DiscountKind.LINEAR)
    contribution = np.eye(12)  # period n adds 1 to entry n
    regret = np.zeros(12)
    for n in range(1, 13):
        regret += contribution[n - 1]
        if n < 12:
            regret *= linear.factor(n)
    np.testing.assert_allclose(regret, np.arange(1, 13) / 12)


def test_initial_discounting_happens_once():
    initial = Discounting(kind=DiscountKind.INITIAL, period_nodes=90)
    solver = make_solver(NO_STAKES, discounting=initial)
    solver.iterate(10)
    assert solver.tables.strategy_sum.sum() == pytest.approx(2.0)
    solver.iterate(20)
    assert solver.tables.strategy_sum.sum() == pytest.approx(42.0)
    assert solver.period == 4


def test_floors_and_uneven_discounts_are_those_of_the_full_width_rules():
    # [BS19] DCFR(3/2, 0, 2) after period n: n^1.5 / (n^1.5 + 1), 1/2, (n / (n + 1))^2
    uneven = Discounting(kind=DiscountKind.DISCOUNTED).factors(3)
    assert uneven == pytest.approx((3**1.5 / (3**1.5 + 1), 0.5, (3 / 4) ** 2))
    assert Discounting(kind=DiscountKind.FLOORED).factors(3) == pytest.approx((1.0, 0.0, 3 / 4))
    for kind in (DiscountKind.FLOORED, DiscountKind.DISCOUNTED):
        plain = make_solver(LEDUC, discounting=Discounting(kind=DiscountKind.NONE))
        solver = make_solver(LEDUC, discounting=Discounting(kind=kind, period_nodes=1000))
        while solver.period == 1:
            solver.iterate(1)
        plain.iterate(solver.iteration)
        factors, before = solver.config.discounting.factors(1), plain.tables.regret_sum
        expected = before * np.where(before > 0, factors.positive, factors.negative)
        np.testing.assert_array_equal(solver.tables.regret_sum, expected)
        assert (before < 0).any()
        np.testing.assert_array_equal(solver.tables.strategy_sum, plain.tables.strategy_sum * factors.average)


def test_runs_that_are_pruned_keep_their_negative_regrets():
    floored = Discounting(kind=DiscountKind.FLOORED)
    with pytest.raises(ConfigError, match="need negative regrets as they are, got floored"):
        MCCFRConfig(discounting=floored, pruning=LIBRATUS)


def test_periods_shorter_than_an_iteration_all_count():
    linear = Discounting(kind=DiscountKind.LINEAR, period_nodes=3)
    solver = make_solver(NO_STAKES, discounting=linear)
    solver.iterate(1)
    assert solver.period == 4
    assert solver.tables.strategy_sum.sum() == pytest.approx(2 * (1 / 2) * (2 / 3) * (3 / 4))


@pytest.mark.parametrize("kind", [kind for kind in DiscountKind if kind is not DiscountKind.NONE])
def test_discounting_still_converges(kind):
    solver = make_solver(LEDUC, discounting=Discounting(kind=kind, period_nodes=50_000))
    solver.iterate(60_000)
    assert solver.evaluate().exploitability < 0.12
    assert solver.period > 20


@pytest.mark.parametrize("scheme", list(Scheme))
def test_a_resumed_run_goes_on_to_the_bit(scheme):
    options = {"discounting": Discounting(kind=DiscountKind.LINEAR, period_nodes=5_000)}
    whole, first = (make_solver(LEDUC, scheme, **options) for _ in range(2))
    second = make_solver(LEDUC, scheme, seed=99, **options)
    whole.iterate(300)
    first.iterate(130)
    second.iterate(7)  # what it did before must not matter
    second.restore({name: array.copy() for name, array in first.state().items()})
    second.iterate(170)
    assert {name: array.tobytes() for name, array in second.state().items()} == {
        name: array.tobytes() for name, array in whole.state().items()
    }


def test_calls_of_any_length_give_the_same_run():
    whole, parts = make_solver(LEDUC), make_solver(LEDUC)
    whole.iterate(50)
    for _ in range(50):
        parts.iterate(1)
    assert whole.tables.regret_sum.tobytes() == parts.tables.regret_sum.tobytes()


def test_seeds_matter():
    runs = [make_solver(KUHN, seed=seed) for seed in (1, 1, 2)]
    for solver in runs:
        solver.iterate(50)
    first, again, other = (solver.average_strategy().tobytes() for solver in runs)
    assert first == again != other


def test_public_outcomes_are_drawn_by_their_mean_probability():
    arrays = lay_out_for_sampling(LEDUC)
    assert np.diff(arrays.first_slot).tolist() == [6] * 5  # betting lines that see the public card
    np.testing.assert_allclose(arrays.slot_probability, 1 / 6)


def test_public_outcomes_of_unequal_probability_are_drawn_by_their_mean():
    # whoever holds an ace keeps the other aces from coming
    tree = build_history_tree(make_game("holdem_endgame", **BLOCKING))
    arrays = lay_out_for_sampling(tree)
    for state in range(arrays.first_slot.size - 1):
        nodes = np.flatnonzero((tree.actor == CHANCE) & (tree.public_chance == state))
        total = Counter()
        for node in nodes:
            for edge in range(tree.first_edge[node], tree.first_edge[node + 1]):
                total[arrays.edge_slot[edge]] += tree.chance_probability[tree.edge_child[edge]] / nodes.size
        drawn = arrays.slot_probability[arrays.first_slot[state] : arrays.first_slot[state + 1]]
        np.testing.assert_allclose(drawn, [total[slot] for slot in range(drawn.size)], rtol=1e-12)
    assert np.ptp(drawn) > 0.05  # the river's


def test_public_chance_is_refused_where_there_is_none():
    with pytest.raises(ConfigError, match=r"kuhn\(players=2\) has none"):
        make_solver(KUHN, Scheme.PUBLIC_CHANCE)


def test_an_untouched_run_is_uniform():
    solver = make_solver(KUHN)
    assert solver.evaluate() == evaluate(KUHN, solver.kernel.normalize(np.zeros(solver.kernel.num_sequences)))


@pytest.mark.parametrize("bad", [{"exploration": 0.0}, {"exploration": 1.5}])
def test_bad_configurations_are_refused(bad):
    with pytest.raises(ConfigError, match="exploration must be"):
        MCCFRConfig(**bad)


@pytest.mark.parametrize("bad", [{"period_nodes": 0}, {"initial_factor": -0.1}])
def test_bad_discounting_is_refused(bad):
    with pytest.raises(ConfigError, match=next(iter(bad))):
        Discounting(**bad)
