# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games.base import CHANCE
from equipoise.games.registry import make_game
from equipoise.solvers.best_response import evaluate
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.payoffs import payoff_ranges
from equipoise.solvers.rules import (
    CFR,
    DCFR,
    CFRPlus,
    Hedge,
    LinearCFR,
    Optimistic,
    PredictiveCFRPlus,
)
from equipoise.trees.history import build_history_tree
from equipoise.trees.segments import flatten_ranges
from tests.reference.cfr import ReferenceCFR, best_response_value, regret_matching
from tests.reference.rules import RULES

GAMES = {
    "kuhn": make_game("kuhn"),
    "kuhn3": make_game("kuhn", players=3),
    "goofspiel3": make_game("goofspiel", cards=3),
    "matrix": make_game("matrix", payoffs="1,0.9,-2;-0.7,1,3"),
}


def build_pair(game, rule, *, is_alternating=True):
    tree = build_history_tree(game)
    twin = ReferenceCFR(game, rule, is_alternating=is_alternating)
    return CFRSolver(tree, rule, is_alternating=is_alternating), twin


def flatten(tree, table):
    """Returns a dictionary of the twin as an array over the tree's sequences; ones at empty sequences."""
    flat = np.ones(tree.size.num_sequences)
    for infoset, key in enumerate(zip(tree.infoset_player().tolist(), tree.infoset_labels, strict=True)):
        first = tree.first_sequence[infoset]
        flat[first : first + tree.num_actions[infoset]] = table[key]
    return flat


def start_from_random_regrets(solver, twin):
    """Gives both the same regrets and strategies: from all zeros, exact ties are broken by last bits."""
    rng = np.random.default_rng(5)
    for infoset, key in enumerate(zip(solver.tree.infoset_player().tolist(), solver.tree.infoset_labels, strict=True)):
        first, count = solver.tree.first_sequence[infoset], solver.tree.num_actions[infoset]
        twin.regret[key] = (
            np.abs(rng.normal(size=count)) if solver.rule.kernel.floors_regrets else rng.normal(size=count)
        )
        twin.strategy[key] = rng.dirichlet(np.ones(count))
        solver.tables.regret_sum[first : first + count] = twin.regret[key]
        solver.tables.strategy[first : first + count] = twin.strategy[key]
    solver.tables.realization[:] = solver.kernel.realize(solver.tables.strategy)


@pytest.mark.parametrize("name", GAMES)
def test_payoff_ranges_are_those_of_the_game(name):
    solver, twin = build_pair(GAMES[name], CFR())
    keys = zip(solver.tree.infoset_player().tolist(), solver.tree.infoset_labels, strict=True)
    np.testing.assert_array_equal(payoff_ranges(solver.tree), [twin.payoff_range(key) for key in keys])


@pytest.mark.parametrize("is_alternating", [True, False], ids=["alternating", "simultaneous"])
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule.name}-{rule.kernel.fallback.name}")
@pytest.mark.parametrize("name", GAMES)
def test_equals_the_blackboard_over_twenty_iterations(name, rule, is_alternating):
    solver, twin = build_pair(GAMES[name], rule, is_alternating=is_alternating)
    start_from_random_regrets(solver, twin)
    num_iterations = 8 if name == "kuhn3" else 20
    solver.iterate(num_iterations)
    twin.iterate(num_iterations)
    inner = solver.tree.sequence_infoset() >= 0
    # NormalHedge and Hedge magnify last bits; regret matching does not
    tolerance = 1e-5 if rule.kernel.policy_map else 1e-9
    got = solver.tables
    np.testing.assert_allclose(got.regret_sum[inner], flatten(solver.tree, twin.regret)[inner], atol=tolerance)
    np.testing.assert_allclose(got.strategy_sum[inner], flatten(solver.tree, twin.average)[inner], atol=tolerance)
    np.testing.assert_allclose(got.strategy[inner], flatten(solver.tree, twin.strategy)[inner], atol=tolerance)


@pytest.mark.parametrize("rule", [CFR(), CFRPlus(), DCFR(), Optimistic(LinearCFR())], ids=lambda rule: rule.name)
def test_one_iteration_from_random_regrets(rule):
    solver, twin = build_pair(make_game("leduc", merge_suits=True), rule)
    start_from_random_regrets(solver, twin)
    solver.iteration = twin.t = 6
    solver.iterate(1)
    twin.iterate(1)
    inner = solver.tree.sequence_infoset() >= 0
    np.testing.assert_allclose(
        solver.tables.regret_sum[inner], flatten(solver.tree, twin.regret)[inner], rtol=1e-12, atol=1e-13
    )


@pytest.mark.parametrize("name", GAMES)
def test_best_responses_equal_the_blackboard(name):
    game = GAMES[name]
    tree = build_history_tree(game)
    rng = np.random.default_rng(2)
    profile, strategy = {}, np.ones(tree.size.num_sequences)
    for infoset, key in enumerate(zip(tree.infoset_player().tolist(), tree.infoset_labels, strict=True)):
        first, count = tree.first_sequence[infoset], tree.num_actions[infoset]
        profile[key] = strategy[first : first + count] = rng.dirichlet(np.ones(count))
    result = evaluate(tree, strategy)
    expected = [best_response_value(game, player, profile) for player in range(tree.num_players)]
    assert result.best_response_values == pytest.approx(expected, rel=1e-12)
    assert all(best >= value for best, value in zip(result.best_response_values, result.values, strict=True))
    assert sum(result.values) == pytest.approx(0.0, abs=1e-12)


def test_simultaneous_nash_conv_is_the_average_regret():
    # spec part 16, item 3: with uniform weights NashConv(average) = (R_0 + R_1) / T
    solver = CFRSolver(build_history_tree(make_game("leduc", merge_suits=True)), CFR(), is_alternating=False)
    rows, values = [], []
    for _ in range(25):
        strategy = solver.current_strategy()
        rows.append(solver.kernel.realize(strategy))
        values.append(evaluate(solver.tree, strategy, kernel=solver.kernel).values)
        solver.iterate(1)
    mean_reach = np.mean(rows, axis=0)
    regrets = [
        solver.kernel.best_response(player, mean_reach)[0] - np.mean([value[player] for value in values])
        for player in (0, 1)
    ]
    assert solver.evaluate().nash_conv == pytest.approx(sum(regrets), rel=1e-9)


def infoset_cf_reach(tree, strategy, player):
    """Returns `[I]` how likely everybody but the player makes each information set."""
    reach = np.ones(tree.actor.size)
    for node in range(tree.actor.size):
        children = tree.edge_child[tree.first_edge[node] : tree.first_edge[node + 1]]
        reach[children] = reach[node]
        if tree.actor[node] == CHANCE:
            reach[children] *= tree.chance_probability[children]
        elif tree.actor[node] != player and children.size:
            first = tree.first_sequence[tree.infoset[node]]
            reach[children] *= strategy[first : first + children.size]
    own = tree.actor == player
    return np.bincount(tree.infoset[own], weights=reach[own], minlength=tree.num_actions.size)


@pytest.mark.parametrize("name", ["kuhn", "goofspiel3", "matrix"])
def test_regrets_keep_the_chain_of_bounds(name):
    # [B20] (2.19) to (2.21)
    tree, num_iterations = build_history_tree(GAMES[name]), 40
    solver, ranges, owner = CFRSolver(tree, CFR(), is_alternating=False), payoff_ranges(tree), tree.infoset_player()
    squares, reaches, values = np.zeros(tree.num_actions.size), [], []
    for _ in range(num_iterations):
        strategy = solver.current_strategy()
        squares += sum(infoset_cf_reach(tree, strategy, player) ** 2 for player in (0, 1))
        reaches.append(solver.kernel.realize(strategy))
        values.append(evaluate(tree, strategy).values)
        solver.iterate(1)
    taken = flatten_ranges(tree.first_sequence, tree.num_actions)
    rows = np.r_[0, np.cumsum(tree.num_actions)[:-1]]
    positive = np.maximum(solver.tables.regret_sum[taken], 0.0)
    largest, bound = np.maximum.reduceat(positive, rows), ranges * np.sqrt(tree.num_actions * squares)
    assert np.all(np.sqrt(np.add.reduceat(positive**2, rows)) <= bound + 1e-9)
    for player in (0, 1):
        best = solver.kernel.best_response(player, np.mean(reaches, axis=0))[0]
        regret = num_iterations * (best - np.mean(values, axis=0)[player])
        own = owner == player
        loosest = ranges[own] @ np.sqrt(num_iterations * tree.num_actions[own])
        assert 0 < regret <= largest[own].sum() + 1e-9 <= bound[own].sum() + 2e-9 <= loosest + 3e-9


class WeightedCFR(ReferenceCFR):
    """CFR as the textbook has it: nothing is discounted, what iteration t adds is weighted."""

    def __init__(self, game, *, regret_power, average_power, is_floored):
        super().__init__(game, CFR())
        self.regret_power, self.average_power, self.is_floored = regret_power, average_power, is_floored

    def update(self, cfv, reach):
        for key, values in cfv.items():
            sigma = self.strategy[key]
            regret = self.regret[key] + self.t**self.regret_power * (values - sigma @ values)
            self.regret[key] = np.maximum(regret, 0.0) if self.is_floored else regret
            self.average[key] = self.average[key] + self.t**self.average_power * reach[key] * sigma
            self.strategy[key] = regret_matching(self.regret[key])


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize(
    ("rule", "textbook"),
    [
        (DCFR(alpha=math.inf, beta=math.inf, gamma=0), {"regret_power": 0, "average_power": 0, "is_floored": False}),
        (DCFR(alpha=math.inf, beta=-math.inf, gamma=1), {"regret_power": 0, "average_power": 1, "is_floored": True}),
        (DCFR(alpha=math.inf, beta=-math.inf, gamma=2), {"regret_power": 0, "average_power": 2, "is_floored": True}),
        (DCFR(alpha=1, beta=1, gamma=1), {"regret_power": 1, "average_power": 1, "is_floored": False}),
        (DCFR(alpha=1, beta=-math.inf, gamma=1), {"regret_power": 1, "average_power": 1, "is_floored": True}),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_settings_of_dcfr_are_the_textbook_s_variants(name, rule, textbook):
    solver, twin = CFRSolver(build_history_tree(GAMES[name]), rule), WeightedCFR(GAMES[name], **textbook)
    start_from_random_regrets(solver, twin)  # strategies off the ties that regrets of zero would leave
    solver.tables.regret_sum[:] = 0.0
    twin.regret = {key: np.zeros_like(regret) for key, regret in twin.regret.items()}
    for _ in range(30):
        solver.iterate(1)
        twin.iterate(1)
        np.testing.assert_allclose(solver.current_strategy(), flatten(solver.tree, twin.strategy), atol=1e-10)
    expected = solver.kernel.normalize(flatten(solver.tree, twin.average))
    np.testing.assert_allclose(solver.average_strategy(), expected, atol=1e-10)


@pytest.mark.parametrize("game", ["leduc", "liars_dice", "goofspiel", "kuhn"])
@pytest.mark.parametrize("num_threads", [2, 3, 7])
@pytest.mark.parametrize("is_alternating", [True, False])
def test_threads_change_no_bit(game, num_threads, is_alternating):
    parameters = {"liars_dice": {"faces": 4}, "goofspiel": {"cards": 4}, "kuhn": {"players": 3}}
    tree = build_history_tree(make_game(game, **parameters.get(game, {})))
    alone = CFRSolver(tree, DCFR(), is_alternating=is_alternating)
    team = CFRSolver(tree, DCFR(), is_alternating=is_alternating, num_threads=num_threads)
    alone.iterate(20)
    team.iterate(20)
    np.testing.assert_array_equal(team.tables.regret_sum, alone.tables.regret_sum)
    np.testing.assert_array_equal(team.average_strategy(), alone.average_strategy())
    assert team.evaluate() == alone.evaluate()


def test_iterations_in_one_call_or_many_are_the_same_to_the_bit():
    tree = build_history_tree(make_game("leduc", merge_suits=True))
    whole, pieces = CFRSolver(tree, DCFR()), CFRSolver(tree, DCFR())
    whole.iterate(60)
    for count in (1, 9, 50):
        pieces.iterate(count)
    np.testing.assert_array_equal(whole.tables.regret_sum, pieces.tables.regret_sum)
    np.testing.assert_array_equal(whole.tables.strategy_sum, pieces.tables.strategy_sum)


@pytest.mark.parametrize("rule", [DCFR(), PredictiveCFRPlus(), Hedge()], ids=lambda rule: rule.name)
def test_a_restored_run_goes_on_to_the_bit(rule):
    tree = build_history_tree(make_game("kuhn"))
    whole, first, second = (CFRSolver(tree, rule) for _ in range(3))
    whole.iterate(40)
    first.iterate(15)
    second.restore({name: value.copy() for name, value in first.state().items()})
    second.iterate(25)
    assert second.iteration == 40
    for name, value in whole.state().items():
        np.testing.assert_array_equal(second.state()[name], value)


def test_kuhn_converges_to_its_value():
    solver = CFRSolver(build_history_tree(make_game("kuhn")), DCFR())
    solver.iterate(2000)
    result = solver.evaluate()
    assert result.values[0] == pytest.approx(-1 / 18, abs=1e-4)
    assert 0 <= result.exploitability < 1e-4


def test_swapping_players_negates_the_game():
    # the matrix transposed and negated is the same game seen from the other seat
    mine = CFRSolver(build_history_tree(make_game("matrix", payoffs="1,-2,0;-1,3,0.5")), CFR(), is_alternating=False)
    theirs = CFRSolver(build_history_tree(make_game("matrix", payoffs="-1,1;2,-3;0,-0.5")), CFR(), is_alternating=False)
    mine.iterate(50)
    theirs.iterate(50)
    assert mine.evaluate().values[0] == pytest.approx(theirs.evaluate().values[1])
    np.testing.assert_allclose(mine.average_strategy()[1:3], theirs.average_strategy()[5:7])


def test_every_history_is_touched_once_per_player_and_iteration():
    solver = CFRSolver(build_history_tree(GAMES["kuhn3"]), CFR())
    solver.iterate(4)
    assert solver.nodes_touched == 4 * 3 * solver.tree.size.num_histories


def test_thread_count_must_be_positive():
    with pytest.raises(ConfigError, match="num_threads must be between 1 and 256, got 0"):
        CFRSolver(build_history_tree(make_game("kuhn")), CFR(), num_threads=0)


@pytest.mark.parametrize("count", [None, 2.5, "x", -1, True])
@pytest.mark.parametrize("num_before", [0, 3])
def test_what_is_no_count_of_iterations_is_refused_by_the_first_call_and_by_bound_steps(num_before, count):
    solver = CFRSolver(build_history_tree(make_game("kuhn")), CFR())
    solver.iterate(num_before)
    with pytest.raises(ConfigError, match="num_iterations must be"):
        solver.iterate(count)
    assert solver.iteration == num_before


def test_exploitability_is_averaged_over_all_players():
    solver = CFRSolver(build_history_tree(make_game("kuhn", players=3)), CFR())
    result = solver.evaluate()
    gains = [best - value for best, value in zip(result.best_response_values, result.values, strict=True)]
    assert result.nash_conv == pytest.approx(sum(gains))
    assert result.exploitability == pytest.approx(sum(gains) / 3)
