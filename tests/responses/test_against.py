# SPDX-License-Identifier: Apache-2.0
import functools
import re

import numpy as np
import pytest

from equipoise.core.errors import AbandonedError, CheckpointError, ConfigError
from equipoise.games.registry import make_game
from equipoise.responses.against import AgainstSolver, SeatLearner
from equipoise.responses.exact import AbstractBestResponse, BestResponse, LibraryResponse, StaticResponse
from equipoise.responses.mixtures import MixedResponse
from equipoise.responses.on_tree import OnTree
from equipoise.responses.outcomes import report_seats, solve_against
from equipoise.responses.sampled import UCTResponse
from equipoise.solvers.best_response import evaluate
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rules import CFR, DCFR, CFRPlus, LinearCFR
from equipoise.solvers.sequence_lp import solve_sequence_lp
from equipoise.trees.cache import load_or_build_public_tree
from equipoise.trees.history import build_history_tree
from equipoise.trees.merging import group_infosets, merge_infosets
from tests.reference.response_oracles import best_value_against_set
from tests.reference.rules import RULES

KUHN = build_history_tree(make_game("kuhn"))
LEDUC = build_history_tree(make_game("leduc", merge_suits=True))
ON_KUHN, ON_LEDUC = OnTree(KUHN), OnTree(LEDUC)


def random_strategy(seed, on_tree=ON_LEDUC):
    return on_tree.kernel.normalize(np.random.default_rng(seed).exponential(size=on_tree.kernel.num_table_cells))


@functools.cache
def small_tree(make_tree):
    return make_tree(make_game("leduc", ranks=2, merge_suits=True))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
@pytest.mark.parametrize("make_tree", [build_history_tree, load_or_build_public_tree])
@pytest.mark.parametrize("player", [0, 1])
def test_learning_is_a_sweep_of_one_player(rule, make_tree, player):
    tree = small_tree(make_tree)
    sweep, alone = (CFRSolver(tree, rule, is_alternating=False) for _ in range(2))
    rng = np.random.default_rng(4)
    for solver in (sweep, alone):
        solver.iterate(3)
    regrets = np.abs(rng.normal(size=sweep.tables.regret_sum.size))
    for solver in (sweep, alone):
        solver.tables.regret_sum[:] = regrets  # away from exact ties
    own = np.flatnonzero(sweep.kernel.is_own(player)[: sweep.kernel.num_table_cells])
    values = alone.kernel.terminal_values(player, alone.tables.realization)
    utility = alone.kernel.learn(rule.kernel, np.array([rule.discounts(4)]), alone.tables, player, values, first_t=4)
    expected = evaluate(tree, sweep.current_strategy()).values[player]
    sweep.iterate(1)
    assert utility == pytest.approx([expected], abs=1e-12)
    for name in ("regret_sum", "strategy_sum", "strategy"):
        ours, theirs = getattr(alone.tables, name), getattr(sweep.tables, name)
        np.testing.assert_allclose(ours[own], theirs[own], rtol=1e-9, atol=1e-12)


def test_several_updates_at_once_are_single_ones_in_a_row():
    once, single = (
        SeatLearner(LEDUC, StaticResponse(LEDUC, random_strategy(1)), seat=0, rule=DCFR()) for _ in range(2)
    )
    once.updates_per_response = 7
    once.iterate(7)
    for _ in range(7):
        single.iterate(1)
    np.testing.assert_allclose(once.tables.strategy_sum, single.tables.strategy_sum)
    assert once.measure_regret() == pytest.approx(single.measure_regret())
    assert once.weight_sum == pytest.approx(single.weight_sum)
    assert once.effective_iterations == pytest.approx(single.effective_iterations)


def test_weights_decide_how_many_iterations_a_mean_rests_on():
    response = StaticResponse(KUHN, random_strategy(1, ON_KUHN))
    plain, linear = (SeatLearner(KUHN, response, seat=0, rule=rule) for rule in (CFR(), LinearCFR()))
    for learner in (plain, linear):
        learner.iterate(50)
    assert plain.effective_iterations == pytest.approx(50)
    weights = np.arange(1, 51)
    assert linear.effective_iterations == pytest.approx(weights.sum() ** 2 / (weights**2).sum())


@pytest.mark.parametrize("rule", [CFR(), LinearCFR(), DCFR(), CFRPlus()], ids=lambda rule: rule.name)
@pytest.mark.parametrize("seat", [0, 1])
def test_measured_regret_is_that_of_the_definition(rule, seat):
    learner = SeatLearner(KUHN, BestResponse(KUHN), seat=seat, rule=rule)
    answers, earned, weights = [], [], []
    for t in range(1, 30):
        played = learner.current_strategy()
        learner.iterate(1)
        answer = BestResponse(KUHN).respond(played, 1 - seat, np.random.default_rng(0))
        discount = rule.discounts(t)
        weights = [weight * discount.average_decay for weight in weights] + [discount.average_weight]
        answers.append(ON_KUHN.kernel.realize(answer))
        earned.append(ON_KUHN.value(answer, seat))
    mean = np.average(answers, axis=0, weights=weights)
    best, _ = ON_KUHN.kernel.best_response(seat, mean)
    assert learner.measure_regret() == pytest.approx(best - np.average(earned, weights=weights), abs=1e-12)


def test_average_earns_what_iterates_earn_on_average():
    # P13: [D15] eq. (2.2)
    learner = SeatLearner(LEDUC, BestResponse(LEDUC), seat=0, rule=CFR())
    opponent, earned = random_strategy(8), []
    for _ in range(50):
        earned.append(ON_LEDUC.value(ON_LEDUC.combine(learner.current_strategy(), opponent, 1), 0))
        learner.iterate(1)
    average = ON_LEDUC.combine(learner.average_strategy(), opponent, 1)
    assert ON_LEDUC.value(average, 0) == pytest.approx(np.mean(earned), abs=1e-12)


@pytest.mark.parametrize("seat", [0, 1])
def test_a_static_opponent_is_exploited(seat):
    # P9
    model = random_strategy(2)
    solution = solve_against(LEDUC, StaticResponse(LEDUC, model), seat=seat, rule=DCFR(), iterations=300)
    best, _ = ON_LEDUC.kernel.best_response(seat, ON_LEDUC.kernel.realize(model))
    (outcome,) = solution.seats
    assert outcome.average_value.mean == pytest.approx(best, abs=2e-3)
    assert outcome.guarantee.shortfall == outcome.epsilon
    assert outcome.average_value.mean >= best - outcome.epsilon - 1e-12


def test_best_response_training_comes_to_the_value_of_the_game():
    # P9, and P16: the value of Leduc
    solution = solve_against(LEDUC, BestResponse, rule=DCFR(), iterations=1000)
    assert solution.evaluation.exploitability < 0.05
    for outcome, sign in zip(solution.seats, (1, -1), strict=True):
        assert outcome.guarantee.theorem == "Theorem 6"
        assert sign * -0.0856 - outcome.epsilon - 1e-4 <= outcome.average_value.mean <= sign * -0.0856 + 1e-4


def test_alike_abstractions_come_to_the_abstract_equilibrium():
    # P9, with alpha and beta the same
    groups = group_infosets(LEDUC, lambda player, label: (player, label.replace("Q", "J")))
    merged = merge_infosets(LEDUC, groups)
    value = solve_sequence_lp(merged.tree).value
    response = AbstractBestResponse(LEDUC, groups)
    solution = solve_against(LEDUC, response, groups=groups, seat=0, rule=DCFR(), iterations=500)
    (outcome,) = solution.seats
    assert value - outcome.epsilon - 1e-9 <= outcome.average_value.mean <= value + 1e-9
    assert outcome.epsilon < 0.1
    assert "in its abstraction" in outcome.guarantee.statement


@pytest.mark.parametrize("seat", [0, 1])
def test_an_abstracted_learner_comes_to_the_least_exploitable_strategy(seat):
    # P10: CFR-BR against the linear program in which one side alone is merged
    groups = group_infosets(LEDUC, lambda player, label: (player, re.sub("[JQK]", "", label)))
    merged = merge_infosets(LEDUC, groups, players=(seat,))
    value = solve_sequence_lp(merged.tree).value * (1 if seat == 0 else -1)
    solution = solve_against(LEDUC, BestResponse, groups=groups, seat=seat, rule=DCFR(), iterations=500)
    (outcome,) = solution.seats
    assert value - outcome.epsilon - 1e-9 <= outcome.average_value.mean <= value + 1e-9
    assert outcome.average_value.mean > value - 0.07


def test_stale_answers_promise_nothing():
    solution = solve_against(KUHN, BestResponse, updates_per_response=10, iterations=100)
    assert solution.seats[0].guarantee.theorem is None
    assert "10 updates" in solution.seats[0].guarantee.statement


@pytest.mark.parametrize("updates", [1, 5])
@pytest.mark.parametrize("seat", [None, 1])
def test_runs_go_on_to_the_bit(updates, seat):
    def begin():
        return AgainstSolver(LEDUC, BestResponse(LEDUC), rule=DCFR(), updates_per_response=updates, seat=seat)

    whole, first, second = begin(), begin(), begin()
    whole.iterate(17)
    first.iterate(8)
    second.restore({name: np.array(array) for name, array in first.state().items()})
    second.iterate(9)
    np.testing.assert_array_equal(second.average_strategy(), whole.average_strategy())
    assert second.measure_regrets() == whole.measure_regrets()
    assert second.iteration == whole.iteration == 17
    assert second.nodes_touched == whole.nodes_touched > 0


def test_saved_runs_of_another_tree_are_refused():
    small = AgainstSolver(KUHN, BestResponse(KUHN))
    large = AgainstSolver(LEDUC, BestResponse(LEDUC))
    with pytest.raises(CheckpointError, match="response_reach must have shape"):
        large.restore(small.state())


def test_one_seat_and_the_average_of_answers_are_a_profile():
    solver = AgainstSolver(LEDUC, BestResponse(LEDUC), seat=1, rule=DCFR())
    solver.iterate(500)
    assert solver.evaluate().exploitability < 0.1


def test_library_training_is_within_its_regret_of_the_best():
    # P2 for a finite library, with its linear program
    members = [random_strategy(seed) for seed in range(4)]
    plans = np.array([ON_LEDUC.kernel.realize(member)[ON_LEDUC.own_cells[1]] for member in members])
    optimum = best_value_against_set(LEDUC, plans, 0)
    solver = AgainstSolver(LEDUC, LibraryResponse(LEDUC, members), seat=0)
    response = LibraryResponse(LEDUC, members)
    for _ in range(20):
        solver.iterate(10)
        profile = response.respond(solver.average_strategy(), 1, np.random.default_rng(0))
        value = ON_LEDUC.value(profile, 0)
        assert optimum - solver.measure_regrets()[0] - 1e-9 <= value <= optimum + 1e-9


def test_bad_input_is_refused():
    with pytest.raises(ConfigError, match="seat must be 0 or 1, got 2"):
        AgainstSolver(KUHN, BestResponse(KUHN), seat=2)
    with pytest.raises(ConfigError, match="updates_per_response"):
        AgainstSolver(KUHN, BestResponse(KUHN), updates_per_response=0)
    public = load_or_build_public_tree(make_game("kuhn"))
    with pytest.raises(ConfigError, match="history trees alone"):
        AgainstSolver(public, BestResponse(public), groups=np.arange(12))


class FickleResponse(UCTResponse):
    """Gives up the n-th answer, once."""

    def __init__(self, fails_at):
        super().__init__(KUHN, 50)
        self.num_answers, self.fails_at = 0, fails_at

    def respond(self, strategy, seat, rng):
        self.num_answers += 1
        if self.num_answers == self.fails_at:
            raise AbandonedError("given up")
        return super().respond(strategy, seat, rng)


@pytest.mark.parametrize("fails_at", [1, 7, 15])
def test_a_run_goes_on_to_the_bit_after_an_answer_that_was_given_up(fails_at):
    whole = AgainstSolver(KUHN, UCTResponse(KUHN, 50))
    whole.iterate(20)
    fickle = AgainstSolver(KUHN, FickleResponse(fails_at))
    fickle.iterate(10)  # ten answers of seat 0, then ten of seat 1
    assert fickle.iteration < 10
    again = AgainstSolver(KUHN, UCTResponse(KUHN, 50))
    again.restore(fickle.state())
    for solver in (fickle, again):
        solver.iterate(20 - solver.iteration)
        for name, array in whole.state().items():
            np.testing.assert_array_equal(solver.state()[name], array, err_msg=name)


def test_all_parts_of_a_mixture_hear_an_interruption():
    uct = UCTResponse(KUHN, 10**12)
    solver = AgainstSolver(KUHN, MixedResponse(KUHN, BestResponse(KUHN), uct, 0.5))
    solver.listen(lambda: True)
    solver.iterate(1)
    assert solver.iteration == 0
    (outcome, _) = report_seats(solver)
    assert outcome.average_value is None
    assert outcome.guarantee.theorem is None
    best = AgainstSolver(KUHN, BestResponse(KUHN))
    assert "nothing was learnt yet" in report_seats(best)[0].guarantee.statement


@pytest.mark.parametrize("count", [None, 2.5, -1])
def test_what_is_no_count_of_iterations_is_refused(count):
    both = AgainstSolver(KUHN, BestResponse(KUHN))
    with pytest.raises(ConfigError, match="num_iterations must be"):
        both.iterate(count)
    with pytest.raises(ConfigError, match="num_iterations must be"):
        both.learners[0].iterate(count)
