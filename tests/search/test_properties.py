# SPDX-License-Identifier: Apache-2.0
"""The laws of search that hold in every game: the digest's list (thesis-ch5-6, part 8), by number.

1. Safety: `test_gadgets.test_safe_search_never_raises_exploitability`.
2. Margins: `test_gadgets.test_margins_are_ordered`, `test_the_linear_program_agrees`; the gadget's own value: here.
3. Gifts: `test_gadgets.test_gifts_*`, `test_no_gifts_*`.
4. Figure 5.4: `test_gadgets.test_gifts_that_are_not_split_break_safety`.
5. Theorem 20: `test_gadgets.test_theorem_20`; 21: there with random estimates, here in random games too.
6. Distributions: `test_gadgets.test_*_distributions_*`, `test_soft_gates_*`, `test_one_or_ten`.
7. Nested search: `test_nested`; in hold'em `test_holdem_nested`, `test_holdem_forms`.
8. Multi-valued states: `test_multi_valued`.
9. Beliefs: `test_beliefs`, `test_decomposition`; Theorems 23 and 24, Lemmas 16 and 18: here.
10. CFR-AVG: `test_decomposition`.
11. A random iteration: here.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise.core.errors import ConfigError
from equipoise.games.registry import make_game
from equipoise.search.beliefs import PublicBelief
from equipoise.search.gadgets import Given, Maxmargin, Resolve, Unsafe
from equipoise.search.leaves import ResolvedLeaves, batch_beliefs
from equipoise.search.limits import RoundLimit
from equipoise.search.maxmargin_lp import solve_maxmargin_lp
from equipoise.search.posing import pose
from equipoise.search.public import PublicProfile
from equipoise.search.random_iteration import draw_iteration, iteration_chances, solve_sampled
from equipoise.search.resolving import SubgameSolver
from equipoise.solvers.best_response import evaluate
from equipoise.solvers.rules import CFR, DCFR, CFRPlus, LinearCFR
from equipoise.trees.vector import TreeStrategy, follow_reach
from tests.search.blueprints import random_strategy
from tests.search.fixtures import coin_toss, make_blueprint, second_round
from tests.search.grounds import GROUNDS, LEDUC, UNIFORM, ground

ROOTS = second_round(LEDUC)
LEAVES = RoundLimit().leaves(LEDUC, 0)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_gadget_is_worth_minus_the_least_margin(seed):
    # property 2: the opponent's gain over its alternatives, averaged over the run of the gadget game itself
    blueprint = PublicProfile(LEDUC, random_strategy(LEDUC, seed), like=UNIFORM)
    node, searcher, opponent = ROOTS[4 * seed], seed % 2, 1 - seed % 2
    subgame = blueprint.subgame(node)
    problem = pose(blueprint, subgame, searcher, Maxmargin())
    solver = SubgameSolver(subgame, problem, is_alternating=False)
    cells, mass = subgame.kernel.root_cells[opponent], subgame.mass(opponent)
    chosen = np.zeros(mass.size)
    chances = iteration_chances(solver.rule, 1500)
    for chance in chances:
        chosen += chance * solver.tables.realization[cells] * mass  # who enters in this iteration
        solver.iterate(1)
    assert chosen.sum() == pytest.approx(1.0)
    entering = -subgame.beliefs.reach[searcher] @ solver.average_values(searcher)
    least = solve_maxmargin_lp(subgame, problem).least_margin
    assert entering - chosen @ problem.alternative == pytest.approx(-least, abs=0.02)


@settings(max_examples=25, deadline=None)
@given(
    sells=st.tuples(st.floats(-0.9, 0.9), st.floats(-0.9, 0.9)),
    noise=st.tuples(st.floats(-0.4, 0.4), st.floats(-0.4, 0.4)),
)
def test_theorem_21_in_random_games(sells, noise):
    # property 5: whatever selling pays, estimates of what the least exploitable guess leaves cost twice their error
    game = make_game("coin_toss", sell_heads=sells[0], sell_tails=sells[1])
    blueprint = make_blueprint(game, {})
    node = blueprint.tree.public_labels.index("guess")
    subgame = blueprint.subgame(node)
    heads = np.linspace(0, 1, 2001)
    replies = 0.5 * np.maximum(sells[0], 1 - 2 * heads) + 0.5 * np.maximum(sells[1], 2 * heads - 1)
    best = heads[replies.argmin()]
    exact = np.array([1 - 2 * best, 2 * best - 1])
    problem = pose(blueprint, subgame, 1, Maxmargin(alternatives=Given(exact + np.array(noise))))
    out = blueprint.strategy.copy()
    subgame.part.insert(solve_maxmargin_lp(subgame, problem).strategy, out, players=(1,))
    found = evaluate(blueprint.tree, out).best_response_values[0]
    assert found <= replies.min() + 2 * max(map(abs, noise)) + 2e-3


class LeafValue:
    """The value of a Leduc leaf as a function of one player's marginal beliefs, the other's reach held."""

    def __init__(self, leaf, seed, player, iterations=2000):
        self.leaf, self.player = leaf, player
        self.beliefs = PublicProfile(LEDUC, random_strategy(LEDUC, seed), like=UNIFORM).beliefs(leaf)
        self.mass = self.beliefs.mass(player)
        self.marginal = self.beliefs.marginal(player)
        self.evaluator = ResolvedLeaves(LEDUC, iterations=iterations)

    def values(self, marginal):
        """Returns `[H]` what each private state is worth, given that the player is there, for its marginals."""
        reach = list(self.beliefs.reach)
        reach[self.player] = marginal / self.mass
        beliefs = PublicBelief(reach=(reach[0], reach[1]), joint=self.beliefs.joint)
        batch = batch_beliefs([LEDUC.states[self.leaf]], [beliefs])
        return self.evaluator.evaluate(batch).cfv[self.player][0] / self.mass

    def value(self, marginal):
        """Returns the value to the player of marginals that need not sum to 1: renormalised."""
        return marginal @ self.values(marginal) / marginal.sum()


@pytest.mark.parametrize("seed", [2, 3])
def test_theorem_23_by_finite_differences(seed):
    # property 9: v(s | beta) = V(beta) + g . e_s, g the gradient of V extended to beliefs of any sum by renormalising
    leaf = LeafValue(int(LEAVES[2]), seed, 0, iterations=10000)
    values, value = leaf.values(leaf.marginal), leaf.value(leaf.marginal)
    step = 0.003
    for private in range(values.size):
        unit = step * np.eye(values.size)[private]
        slope = (leaf.value(leaf.marginal + unit) - leaf.value(leaf.marginal - unit)) / (2 * step)
        assert value + slope == pytest.approx(values[private], abs=2e-3)
    assert np.ptp(values) > 1  # they differ by far more


def test_theorem_23_on_figure_5_13():
    # a coin that is heads with probability 0.3, seen by player 0: V = -|1 - 2p|, infostate values (+1, -1)
    blueprint, node = coin_toss()
    joint = blueprint.beliefs(node).joint
    mass = joint.sum(axis=1)
    reach = (np.array([0.3, 0.7]) / mass, np.ones(1))
    evaluator = ResolvedLeaves(blueprint.tree, iterations=3000)

    def value(marginal):
        beliefs = PublicBelief(reach=(marginal / mass, reach[1]), joint=joint)
        return evaluator.evaluate(batch_beliefs([blueprint.tree.states[node]], [beliefs])).cfv[0][0] / mass

    found = value(np.array([0.3, 0.7]))
    np.testing.assert_allclose(found, (1.0, -1.0), atol=2e-3)
    assert np.array([0.3, 0.7]) @ found == pytest.approx(-0.4, abs=2e-3)


@pytest.mark.parametrize("player", [0, 1])
def test_values_of_private_states_bound_the_value_of_other_beliefs(player):
    # Lemma 18: V is concave in the player's own beliefs, and values of private states are a supergradient; seen by
    # the other player V is convex in them
    leaf = LeafValue(int(LEAVES[1]), 2, player)
    values = leaf.values(leaf.marginal)
    rng = np.random.default_rng(5)
    for _ in range(5):
        other = rng.dirichlet(np.ones(values.size))
        assert leaf.value(other) <= other @ values + 1e-3


def test_mixtures_of_equilibrium_values_are_equilibrium_values():
    # Theorem 24, where equilibria differ: for an even coin every guess q is one, and values are (1 - 2q, 2q - 1)
    blueprint, node = coin_toss()
    even = Given(np.zeros(2))
    for share in (0.0, 0.3, 1.0):
        values = share * np.array([0.4, -0.4]) + (1 - share) * np.array([-0.2, 0.2])
        subgame = blueprint.subgame(node)
        problem = pose(blueprint, subgame, 1, Resolve(alternatives=Given(values)))
        assert solve_maxmargin_lp(subgame, problem).least_margin == pytest.approx(0.0, abs=1e-9)  # some guess has them
    assert solve_maxmargin_lp(subgame, pose(blueprint, subgame, 1, Resolve(alternatives=even))).least_margin <= 1e-9


@pytest.mark.parametrize("name", GROUNDS)
def test_all_best_responses_are_worth_the_same_where_beliefs_are_positive(name):
    # Lemma 16: of two solutions' best responses each earns what the other does, in each private state
    given = ground(name)
    runs = [given.solver(given.place(3), 1, Unsafe(), rule=rule) for rule in (CFRPlus(), DCFR())]
    for run in runs:
        run.iterate(3000)
    subgame, against = runs[0].subgame, runs[0].average_strategy()
    earned = [subgame.strategy_values(0, run.average_strategy(), against) for run in runs]
    best = subgame.best_values(0, against)
    near = 5e-3 * given.unit
    np.testing.assert_allclose(earned[1], earned[0], atol=near)
    np.testing.assert_allclose(earned[0], best, atol=near)


@pytest.mark.parametrize("name", ["leduc-1", "public", "holdem"])
@pytest.mark.parametrize("is_alternating", [True, False])
@pytest.mark.parametrize("rule", [CFR(), LinearCFR(), DCFR(), CFRPlus(gamma=1.0)], ids=lambda rule: rule.name)
def test_a_random_iteration_is_the_average_as_others_see_it(name, rule, is_alternating):
    # property 11, over all draws of the iteration: own reaches of what is played add up to those of the average
    given = ground(name)
    solver = given.solver(given.place(6), 1, Unsafe(), rule=rule, is_alternating=is_alternating, dtype=np.float64)
    tree, root = solver.tree, solver.subgame.reach

    def reaches(sums):
        strategy = TreeStrategy(tree, sums)
        return np.concatenate(
            [reach for place in given.decisions(tree) for reach in follow_reach(tree, strategy, root, place)]
        )

    expected = 0.0
    for chance in iteration_chances(rule, 30):
        expected = expected + chance * reaches(solver.tables.regret_sum.copy())
        solver.iterate(1)
    np.testing.assert_allclose(reaches(solver.average_sums), expected, atol=1e-12)


def test_iterations_are_drawn_as_often_as_they_count():
    rng = np.random.default_rng(1)
    chances = iteration_chances(LinearCFR(), 5)
    np.testing.assert_allclose(chances, np.arange(1, 6) / 15)
    drawn = np.bincount([draw_iteration(LinearCFR(), 5, rng=rng) for _ in range(3000)], minlength=6)[1:]
    np.testing.assert_allclose(drawn / 3000, chances, atol=0.04)


def test_what_is_drawn_is_one_iterations_profile():
    blueprint = PublicProfile(LEDUC, random_strategy(LEDUC, 3), like=UNIFORM)
    subgame = blueprint.subgame(ROOTS[6])

    def begin():
        return SubgameSolver(subgame, pose(blueprint, subgame, 1, Unsafe()), rule=LinearCFR())

    drawn = draw_iteration(LinearCFR(), 20, rng=np.random.default_rng(8))
    expected = begin()
    expected.iterate(drawn - 1)
    found = solve_sampled(begin(), 20, rng=np.random.default_rng(8))
    np.testing.assert_array_equal(found, expected.tables.strategy)
    with pytest.raises(ConfigError, match="must not have begun, got one after"):
        solve_sampled(expected, 20, rng=np.random.default_rng(8))
    with pytest.raises(ConfigError, match="iterations must be at least 1, got 0"):
        iteration_chances(CFR(), 0)
