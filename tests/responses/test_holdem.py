# SPDX-License-Identifier: Apache-2.0
"""Responses on a hold'em tree, beside the public tree of the same flop game with 16 cards."""

import dataclasses
import functools

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games.holdem.merged_suits import SuitMergedHoldem
from equipoise.games.holdem.spot_game import spot_of_game
from equipoise.games.registry import parse_game
from equipoise.responses.against import AgainstSolver
from equipoise.responses.exact import BestResponse, LibraryResponse, RandomLibraryResponse, StaticResponse
from equipoise.responses.mixtures import DataBiasedResponse, MimicResponse, MixedResponse
from equipoise.responses.on_tree import OnTree
from equipoise.responses.outcomes import report_seats, solve_against
from equipoise.responses.values import estimate_deviation, response_value
from equipoise.solvers.rules import CFR, DCFR, CFRPlus, PredictiveCFRPlus
from equipoise.trees.holdem.tree import build_holdem_tree
from equipoise.trees.public import build_public_tree
from tests.reference.holdem import PublicTwin

GAME = "flop_holdem(deck=JQKA/cdhs,max_raises=1,1)"
SEATS = pytest.mark.parametrize("seat", [0, 1])
RNG = np.random.default_rng(0)


@functools.cache
def twin():
    game = parse_game(GAME)
    return PublicTwin(build_holdem_tree(spot_of_game(game)), build_public_tree(SuitMergedHoldem(game)))


@functools.cache
def forms():
    """Returns the public tree and the hold'em tree as responses read them."""
    return OnTree(twin().public), OnTree(twin().tree)


@functools.cache
def drawn(seed):
    """Returns a random strategy over both trees."""
    public = forms()[0]
    strategy = public.kernel.normalize(np.random.default_rng(seed).exponential(size=public.form.num_table_cells) ** 3)
    return strategy, twin().to_cells(strategy)


RESPONSES = {
    "best": lambda on_tree, which: BestResponse(on_tree.form),
    "static": lambda on_tree, which: StaticResponse(on_tree.form, drawn(1)[which]),
    "library": lambda on_tree, which: LibraryResponse(on_tree.form, [drawn(seed)[which] for seed in (1, 2, 3)]),
    "drawn": lambda on_tree, which: RandomLibraryResponse(
        on_tree.form, [drawn(seed)[which] for seed in (1, 2, 3)], num_drawn=2
    ),
    "rnr": lambda on_tree, which: MixedResponse(
        on_tree.form, StaticResponse(on_tree.form, drawn(1)[which]), BestResponse(on_tree.form), 0.7
    ),
    "nested": lambda on_tree, which: MixedResponse(
        on_tree.form, RESPONSES["rnr"](on_tree, which), RESPONSES["library"](on_tree, which), 0.4
    ),
}
by_response = pytest.mark.parametrize("make", RESPONSES.values(), ids=RESPONSES)


@SEATS
def test_values_and_best_values_are_the_same(seat):
    public, board = forms()
    ours, theirs = drawn(1)[1], drawn(1)[0]
    assert board.value(ours, seat) == pytest.approx(public.value(theirs, seat), abs=1e-12)
    found, expected = board.evaluate(ours), public.evaluate(theirs)
    assert found.values == pytest.approx(expected.values, abs=1e-12)
    assert found.best_response_values == pytest.approx(expected.best_response_values, abs=1e-12)
    assert board.form.utility_range == public.form.utility_range


@SEATS
def test_plans_are_the_same(seat):
    public, board = forms()
    plan = twin().to_cells(public.form.realize(drawn(2)[0])[: public.form.num_table_cells])
    found = board.form.realize(drawn(2)[1])
    own = board.form.table_cells[seat] & (plan > 0)
    np.testing.assert_allclose(found[own], plan[own], rtol=0, atol=1e-12)


@SEATS
@by_response
def test_answers_earn_the_same(make, seat):
    values = []
    for which, on_tree in enumerate(forms()):
        strategy = drawn(4)[which]
        before = strategy.copy()
        profile = make(on_tree, which).respond(strategy, seat, np.random.default_rng(5))
        np.testing.assert_array_equal(strategy, before)
        np.testing.assert_array_equal(profile[on_tree.table_cells[1 - seat]], before[on_tree.table_cells[1 - seat]])
        values.append(on_tree.value(profile, seat))
    assert values[1] == pytest.approx(values[0], abs=1e-12)


@by_response
def test_response_values_are_the_same(make):
    values = [
        response_value(on_tree, drawn(6)[which], make(on_tree, which), num_responses=3)
        for which, on_tree in enumerate(forms())
    ]
    assert values[1].mean == pytest.approx(values[0].mean, abs=1e-12)
    assert values[1].half_width == pytest.approx(values[0].half_width, abs=1e-12)


def test_deviations_are_the_same():
    found = [
        estimate_deviation(on_tree, [drawn(seed)[which] for seed in (1, 2)], RESPONSES["static"](on_tree, which), 0)
        for which, on_tree in enumerate(forms())
    ]
    assert found[1] == pytest.approx(found[0], abs=1e-12)


@functools.cache
def scales():
    """Returns what regrets of the hold'em tree are worth in those of the public tree, by its cells."""
    public, board = forms()
    theirs, ours = drawn(9)
    plan = public.form.realize(theirs)
    cfv = [public.kernel.strategy_values(seat, theirs, plan) for seat in (0, 1)]
    values = [board.form.hands.action_values(seat, ours, ours)[1] for seat in (0, 1)]
    found = np.zeros(public.form.num_table_cells)
    for seat, (cells, places) in zip(twin().public.infoset_player().tolist(), twin().places, strict=True):
        below = np.abs(values[seat][cells[0]]).sum()
        found[places] = np.abs(cfv[seat][places]).sum() / below if below else 0.0
    return found


def begin_alike(public, board):
    """Gives the learners of both runs the same random regrets, all positive for a while.

    Where a learner never comes, or before it has regrets, answers are as good as others to the last bit or but for it.
    """
    for theirs, ours in zip(public.learners, board.learners, strict=True):
        regrets = np.random.default_rng(10).uniform(20, 60, size=theirs.tables.regret_sum.size)
        ours.tables.regret_sum[:] = twin().to_cells(regrets)
        theirs.tables.regret_sum[:] = regrets * scales()
        theirs.tables.strategy[:] = theirs.form.play(theirs.tables.regret_sum)
        theirs.tables.realization[:] = theirs.form.realize(theirs.tables.strategy)
        theirs.iteration = ours.iteration = 6  # what has not begun plays uniformly


def run_both(make, *, iterations, rule, **options):
    """Returns runs over both trees, hold'em in float64."""
    public, board = (
        AgainstSolver(on_tree.form, make(on_tree, which), rule=rule, dtype=np.float64, **options)
        for which, on_tree in enumerate(forms())
    )
    begin_alike(public, board)
    for solver in (public, board):
        solver.iterate(iterations)
    return public, board


@by_response
@pytest.mark.parametrize("rule", [CFR(), DCFR(), PredictiveCFRPlus()], ids=lambda rule: rule.name)
@pytest.mark.parametrize("updates_per_response", [1, 3])
def test_runs_against_responses_are_the_same(make, rule, updates_per_response):
    public, board = run_both(make, iterations=7, rule=rule, updates_per_response=updates_per_response, seed=3)
    expected, found = public.evaluate(), board.evaluate()
    assert found.values == pytest.approx(expected.values, abs=1e-8)
    assert found.best_response_values == pytest.approx(expected.best_response_values, abs=1e-8)
    assert board.measure_regrets() == pytest.approx(public.measure_regrets(), abs=1e-8)
    for ours, theirs in zip(report_seats(board, num_responses=2), report_seats(public, num_responses=2), strict=True):
        assert ours.average_value.mean == pytest.approx(theirs.average_value.mean, abs=1e-8)
        assert ours.current_value.mean == pytest.approx(theirs.current_value.mean, abs=1e-8)
        assert ours.guarantee.theorem == theirs.guarantee.theorem


@SEATS
def test_a_mimic_learns_the_same(seat):
    def make(on_tree, which):
        model = StaticResponse(on_tree.form, drawn(1)[which])
        return MimicResponse(on_tree.form, model, 0.5, seat=1 - seat)

    public, board = run_both(make, iterations=5, rule=CFR(), seat=seat)
    assert board.evaluate().values == pytest.approx(public.evaluate().values, abs=1e-5)  # a mimic has float32


@SEATS
def test_restricted_nash_without_a_model_is_an_equilibrium(seat):
    board = forms()[1]
    villain = StaticResponse(board.form, drawn(1)[1])
    solver = AgainstSolver(
        board.form, MixedResponse(board.form, villain, BestResponse(board.form), 0.0), rule=CFRPlus(), seat=seat
    )
    solver.iterate(400)
    assert solver.evaluate().exploitability < 0.02 * board.form.utility_range


@SEATS
def test_restricted_nash_with_a_model_alone_is_a_best_response(seat):
    board = forms()[1]
    table = drawn(1)[1]
    villain = StaticResponse(board.form, table)
    solver = AgainstSolver(
        board.form, MixedResponse(board.form, villain, BestResponse(board.form), 1.0), rule=CFRPlus(), seat=seat
    )
    solver.iterate(200)
    best, _ = board.form.answer(table, seat)
    earned = board.value(board.combine(table, solver.average_strategy().astype(table.dtype), seat), seat)
    assert earned == pytest.approx(best, abs=1e-3 * board.form.utility_range)


def test_a_higher_probability_wins_more_and_risks_more():
    board = forms()[1]
    table = drawn(1)[1]
    won, lost = [], []
    for probability in (0.2, 0.6, 0.95):
        response = MixedResponse(board.form, StaticResponse(board.form, table), BestResponse(board.form), probability)
        solver = AgainstSolver(board.form, response, rule=CFRPlus(), seat=0)
        solver.iterate(200)
        average = solver.average_strategy().astype(np.float64)
        won.append(board.value(board.combine(average, table, 1), 0))
        lost.append(board.form.answer(average, 1)[0])
    assert won == sorted(won)
    assert lost == sorted(lost)


@pytest.mark.parametrize("name", ["best", "drawn", "rnr"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_run_goes_on_to_the_bit(name, dtype):
    board = forms()[1]

    def begin():
        options = {"rule": DCFR(), "dtype": dtype, "updates_per_response": 2, "seed": 4}
        return AgainstSolver(board.form, RESPONSES[name](board, 1), **options)

    whole, first, second = begin(), begin(), begin()
    whole.iterate(7)
    first.iterate(3)
    second.restore({key: np.array(value) for key, value in first.state().items()})
    second.iterate(4)
    assert whole.state().keys() == second.state().keys()
    for key, value in whole.state().items():
        np.testing.assert_array_equal(second.state()[key], value)


def test_solve_against_takes_a_hold_em_tree():
    solution = solve_against(twin().tree, BestResponse, iterations=30)
    assert solution.seats[0].guarantee.theorem == "Theorem 6"
    place = twin().tree.root_place
    np.testing.assert_allclose(solution.strategy.probabilities(place).sum(axis=1), 1.0, atol=1e-6)


@SEATS
def test_full_trust_is_the_model_and_none_a_best_response(seat):
    board = forms()[1]
    strategy, model = drawn(7)[1], drawn(8)[1]
    num_rows = board.form.row_totals(model).size
    for trust, expected in ((1.0, model), (0.0, board.form.answer(strategy, seat)[1])):
        answer = DataBiasedResponse(board.form, model, np.full(num_rows, trust)).respond(strategy, seat, RNG)
        profile = board.combine(strategy, expected, seat)
        assert board.value(answer, seat) == pytest.approx(board.value(profile, seat), abs=1e-12)


def test_a_spot_with_rake_is_refused():
    spot = dataclasses.replace(twin().tree.spot, rake_rate=0.05, rake_cap=3)
    with pytest.raises(ConfigError, match="zero-sum"):
        OnTree(build_holdem_tree(spot))


def test_tables_of_16_bits_and_groups_are_refused():
    board = forms()[1]
    with pytest.raises(ConfigError, match="float32 or float64, got int16"):
        AgainstSolver(board.form, BestResponse(board.form), dtype=np.int16)
    with pytest.raises(ConfigError, match="history trees alone"):
        AgainstSolver(board.form, BestResponse(board.form), groups=[0])
