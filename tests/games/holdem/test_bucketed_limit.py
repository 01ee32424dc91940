# SPDX-License-Identifier: Apache-2.0
"""Bucketed limit hold'em: sizes, betting, what chance deals, and the same game over public states."""

import numpy as np
import pytest

from equipoise.core.errors import ConfigError, IllegalActionError
from equipoise.games import CHANCE, check_game, make_game
from equipoise.games.holdem.bucket_law import find_law
from equipoise.games.holdem.bucketed_limit import MILLI_BLINDS, BucketedLimitHoldem
from equipoise.games.public import HasPublicForm, SharesPayoffs
from equipoise.solvers.best_response import evaluate
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.payoffs import payoff_ranges
from equipoise.solvers.rules import CFRPlus
from equipoise.solvers.strategy import TabularStrategy
from equipoise.solvers.warm_start import compute_cf_reach
from equipoise.trees.cache import load_or_build_public_tree
from equipoise.trees.history import build_history_tree
from equipoise.trees.public import build_public_tree

SMALL = BucketedLimitHoldem(buckets=2, streets=2, max_raises=(1, 1, 0, 0))


@pytest.fixture(scope="module")
def trees():
    """The small variant by enumeration and by lines of betting."""
    return build_history_tree(SMALL), build_public_tree(SMALL.public_form())


@pytest.fixture(scope="module")
def whole_tree():
    """All streets with two buckets."""
    return load_or_build_public_tree(BucketedLimitHoldem(buckets=2))


def random_strategy(tree, seed):
    rng = np.random.default_rng(seed)
    strategy = np.ones(tree.size.num_sequences)
    for first, count in zip(tree.first_sequence, tree.num_actions, strict=True):
        strategy[first : first + count] = rng.dirichlet(np.ones(count))
    return strategy


def fixed_strategy(tree, wanted):
    """Returns the strategy that takes the first action on a list of first words that is legal."""
    out = np.zeros(tree.cells.num_table_cells)
    out[tree.legal_share == 0] = 0.0
    names = tree.sequence_labels()
    for start, end in zip(tree.infoset_start[:-1], tree.infoset_start[1:], strict=True):
        words = [name.partition(" ")[0] for name in names[start:end]]
        out[tree.sequence_cell[start + words.index(next(word for word in wanted if word in words))]] = 1.0
    return out


@pytest.mark.parametrize(("buckets", "count"), [(2, 96_056), (3, 476_934), (5, 3_624_290)])
def test_information_states_are_counted_without_building(buckets, count):
    assert BucketedLimitHoldem(buckets=buckets).count_infosets() == count


def test_lines_of_betting_are_those_of_limit_holdem():
    assert BucketedLimitHoldem().count_decisions() == [8, 70, 630, 5670]


def test_every_history_of_a_small_variant_conforms():
    report = check_game(SMALL, rng=np.random.default_rng(1))

    assert report.is_complete
    assert sum(report.num_infosets) == SMALL.count_infosets()
    assert (report.min_utility, report.max_utility) == (-6.0, 6.0)


@pytest.mark.parametrize("streets", [1, 3, 4])
def test_random_games_conform(streets):
    game = BucketedLimitHoldem(buckets=3, streets=streets)

    check_game(game, rng=np.random.default_rng(2), max_states=500, num_playthroughs=30)


def test_chance_deals_the_joint_law():
    law, state = find_law(3), BucketedLimitHoldem().initial_state()
    game = BucketedLimitHoldem()
    chance = 1.0
    for wanted in (2, 0):
        assert game.actor(state) == CHANCE
        chance *= dict(game.chance_outcomes(state))[wanted]
        state = game.apply(state, wanted)
    assert chance == pytest.approx(law.pair_weights(0)[2, 0], rel=1e-12)
    for action in (1, 1):  # limp, check
        state = game.apply(state, action)
    for wanted in (1, 2):
        chance *= dict(game.chance_outcomes(state))[wanted]
        state = game.apply(state, wanted)
    assert chance == pytest.approx(law.pair_weights(1)[7, 2], rel=1e-12)
    assert game.infostate(state, 0) == "21|cc/"


def test_showdown_follows_the_law():
    game = BucketedLimitHoldem(buckets=2, streets=1)
    state = game.initial_state()
    for action in (1, 0, 1, 1):
        state = game.apply(state, action)
    win, tie, loss = find_law(2).showdown_weights(0)[:, 1, 0]

    expected = np.array([win, tie, loss]) / (win + tie + loss)
    np.testing.assert_allclose([share for _, share in game.chance_outcomes(state)], expected, rtol=1e-12)
    assert [game.returns(game.apply(state, result))[0] for result in range(3)] == [2.0, 0.0, -2.0]


def test_always_fold_loses_three_quarters_of_a_blind(whole_tree):
    evaluation = evaluate(whole_tree, fixed_strategy(whole_tree, ["fold", "check"]))

    assert MILLI_BLINDS * evaluation.exploitability == pytest.approx(750.0, abs=1e-9)


def test_call_down_pays_what_the_law_says(whole_tree):
    # every pot is two blinds, and the seats are alike: nobody wins
    evaluation = evaluate(whole_tree, fixed_strategy(whole_tree, ["check", "call"]))

    np.testing.assert_allclose(evaluation.values, 0.0, atol=1e-12)


def test_whole_tree_has_one_matrix_for_folds_and_one_for_showdowns(whole_tree):
    assert whole_tree.size.num_infosets == 96_056
    assert len(whole_tree.payoff_start) - 1 == 5
    assert len(whole_tree.terminals.groups) == 2 * 4  # folds before the flop pay too few pairs for a matrix


@pytest.mark.parametrize("seed", [1, 2])
def test_lines_pay_what_histories_pay(trees, seed):
    history, public = trees
    strategy = random_strategy(history, seed)

    ours = evaluate(public, public.strategy_from_history(history, strategy))
    theirs = evaluate(history, strategy)

    np.testing.assert_allclose(ours.values, theirs.values, atol=1e-13)
    np.testing.assert_allclose(ours.best_response_values, theirs.best_response_values, atol=1e-13)


def test_both_forms_solve_alike(trees):
    curves = []
    for tree in trees:
        solver = CFRSolver(tree, CFRPlus())
        solver.iterate(30)
        curves.append(solver.evaluate().exploitability)

    assert curves[0] == pytest.approx(curves[1], rel=1e-9)


def test_what_other_solvers_read_of_shared_payoffs(trees):
    history, public = trees
    strategy = random_strategy(history, 4)
    vector = public.strategy_from_history(history, strategy)
    order = [history.infoset_labels.index(label) for label in public.infoset_labels]

    reach = compute_cf_reach(public, CFRSolver(public, CFRPlus()).kernel.realize(vector))
    expected = compute_cf_reach(history, CFRSolver(history, CFRPlus()).kernel.realize(strategy))
    np.testing.assert_allclose(reach[public.infoset_row], expected[order], atol=1e-13)
    # a pair of private states counts with its mean utility: no wider than the histories' range
    assert (payoff_ranges(public)[public.infoset_row] <= payoff_ranges(history)[order] + 1e-12).all()


def test_strategies_go_from_one_form_to_the_other(trees):
    history, public = trees
    strategy = random_strategy(history, 9)

    table = TabularStrategy.from_tree(public, public.strategy_from_history(history, strategy))

    np.testing.assert_allclose(table.to_tree(history), strategy)


def test_forms_are_offered():
    assert isinstance(SMALL, HasPublicForm)
    assert isinstance(SMALL.public_form(), SharesPayoffs)
    assert not isinstance(make_game("leduc"), HasPublicForm)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"buckets": 7}, "buckets must be between 1 and 6, got 7"),
        ({"streets": 5}, "streets must be between 1 and 4, got 5"),
        ({"max_raises": "3,4"}, "max_raises must be 4 numbers from 0 to 9, got 3,4"),
        ({"max_raises": "3,4,4,10"}, "from 0 to 9, got 3,4,4,10"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    with pytest.raises(ConfigError, match=message):
        make_game("bucketed_limit_holdem", **parameters)


def test_illegal_moves_are_refused(play):
    with pytest.raises(IllegalActionError, match="outcome 3 is not possible"):
        play(SMALL, 3)
    with pytest.raises(IllegalActionError, match=r"action 8 is not legal for player 1; legal: 0 .fold., 1 .call., 4"):
        play(SMALL, 0, 0, 8)
