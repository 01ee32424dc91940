# SPDX-License-Identifier: Apache-2.0
"""Methods of safe search: the thesis's examples, the linear program as oracle, and the laws on every layout."""

import dataclasses
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from equipoise.core.errors import ConfigError
from equipoise.games.registry import make_game
from equipoise.kernels.gates import GateKind
from equipoise.search.gadgets import (
    Distribution,
    Estimate,
    Exact,
    GiftBound,
    GiftValues,
    Given,
    Maxmargin,
    Reach,
    Resolve,
    SelfPlay,
    SoftGate,
    Unsafe,
)
from equipoise.search.maxmargin_lp import solve_maxmargin_lp
from equipoise.search.posing import find_gifts, pose
from equipoise.search.public import PublicProfile
from equipoise.search.resolving import SubgameSolver, search_everywhere, solve_subgame, summarize
from equipoise.solvers.best_response import evaluate
from equipoise.solvers.rules import CFR
from equipoise.trees.derive import derive_public_game
from equipoise.trees.public import build_public_tree
from equipoise.trees.vector import TreeStrategy
from tests.reference.pursuit import MAP_A, Pursuit, parse_map
from tests.search.blueprints import random_strategy
from tests.search.fixtures import OneOrTen, coin_toss, make_blueprint, played, second_round, two_coin_tosses
from tests.search.grounds import GROUNDS, LEDUC, UNIFORM, ground

ROOTS = second_round(LEDUC)
OPTIMAL = Given(np.array([0.5, -0.5]))  # what selling pays: Coin Toss's equilibrium values of playing
SAFE = {
    "resolve": Resolve(),
    "maxmargin": Maxmargin(),
    "reach-resolve": Resolve(reach=Reach()),
    "reach-maxmargin": Maxmargin(reach=Reach()),
    "reach-maxmargin-exact": Maxmargin(reach=Reach(bound=GiftBound.EXACT)),
}


@pytest.fixture(params=GROUNDS)
def played_on(request):
    """Returns a blueprint of each layout."""
    return ground(request.param)


@pytest.fixture(params=["leduc-1", "leduc-2"])
def blueprint(request):
    return ground(request.param).profile


@pytest.mark.parametrize(
    ("method", "expected", "value"),
    [
        (Unsafe(), (1, 0, 0), 0.75),
        (Maxmargin(), (5 / 8, 3 / 8, 0), 3 / 8),
        (Maxmargin(reach=Reach()), (1 / 2, 1 / 2, 0), 1 / 4),
        (Maxmargin(alternatives=OPTIMAL), (1 / 4, 3 / 4, 0), 0.0),
        (Resolve(distribution=Distribution(deviation=0.25)), (5 / 8, 3 / 8, 0), 3 / 8),
        (Resolve(distribution=Distribution(deviation=5.0), reach=Reach()), (1 / 2, 1 / 2, 0), 1 / 4),
        (
            Resolve(
                alternatives=OPTIMAL,
                distribution=Distribution(deviation=0.25, gate=SoftGate.BEST_RESPONSE),
            ),
            (1 / 4, 3 / 4, 0),
            0.0,
        ),
    ],
    ids=["unsafe", "maxmargin", "reach", "optimum", "hedge", "reach-hedge", "best-response"],
)
def test_coin_toss(method, expected, value):
    blueprint, node = coin_toss()
    result = solve_subgame(blueprint, node, 1, method, iterations=5000)
    subgame = blueprint.subgame(node)
    np.testing.assert_allclose(played(subgame, result.strategy), expected, atol=2e-3)
    out = blueprint.strategy.copy()
    subgame.part.insert(result.strategy, out, players=(1,))
    assert evaluate(blueprint.tree, out).best_response_values[0] == pytest.approx(value, abs=2e-3)


def test_resolving_coin_toss_keeps_both_margins():
    blueprint, node = coin_toss()
    result = solve_subgame(blueprint, node, 1, Resolve(), iterations=2000)
    np.testing.assert_allclose(result.alternative, (0.0, 0.5), atol=1e-12)  # Figure 5.2
    assert result.least_margin > -1e-3
    subgame = blueprint.subgame(node)
    blueprint_margin = summarize(subgame, pose(blueprint, subgame, 1, Resolve()), subgame.strategy)
    np.testing.assert_allclose(blueprint_margin.margin, 0.0, atol=1e-12)  # the blueprint is a solution itself


def test_gifts_of_two_subgames_are_split():
    blueprint, nodes = two_coin_tosses()
    for node in nodes:
        np.testing.assert_allclose(find_gifts(blueprint, node, 0, Reach()), (0.5, 0.0), atol=1e-12)
        np.testing.assert_allclose(find_gifts(blueprint, node, 0, Reach(is_split=False)), (1.0, 0.0), atol=1e-12)


@pytest.mark.parametrize(("raised", "is_allowed", "worth"), [(1.0, True, 1.0), (0.5, False, 0.5)])
def test_gifts_that_are_not_split_break_safety(raised, is_allowed, worth):
    # Figure 5.4: raised by 1 in both subgames, guessing tails always keeps every margin, and playing heads is worth 1
    blueprint, nodes = two_coin_tosses()
    out = blueprint.strategy.copy()
    for node in nodes:
        subgame = blueprint.subgame(node)
        problem = pose(blueprint, subgame, 1, Resolve(alternatives=Given(np.array([raised, 0.0]))))
        tails = subgame.tree.legal_share * 0
        tails[subgame.tree.sequence_cell] = (0, 1, 0)
        assert (summarize(subgame, problem, tails).least_margin >= 0) == is_allowed
        kept = tails if is_allowed else solve_maxmargin_lp(subgame, problem).strategy
        subgame.part.insert(kept, out, players=(1,))
    after = PublicProfile(blueprint.tree, out)
    playing = after.best_cfv(0)[blueprint.tree.sequence_cell[1]] / 0.5  # heads, play
    assert playing <= worth + 1e-9
    assert (playing > 0.5 + 1e-9) == is_allowed


def test_one_or_ten():
    # section 5.1.5: margins prefer the reply that leaves both sides just below their estimates
    blueprint = make_blueprint(OneOrTen(), {})
    node = blueprint.tree.public_labels.index("guess")
    subgame = blueprint.subgame(node)
    estimates = Given(np.array([1.0, 10.0]))

    def first_reply(method):
        return played(subgame, solve_subgame(blueprint, node, 1, method, iterations=3000).strategy)[0]

    margins = solve_maxmargin_lp(subgame, pose(blueprint, subgame, 1, Maxmargin(alternatives=estimates)))
    assert played(subgame, margins.strategy)[0] == pytest.approx(1.0, abs=1e-9)
    assert first_reply(Resolve(alternatives=estimates)) > 0.45
    # what the opponent expects when it sees N(1, 1) and N(10, 1) first, by the probability of the first reply
    share = np.linspace(0, 1, 2001)
    gain = np.stack([1.01 - 0.02 * share, 9.99 * share]) - np.array([[1.0], [10.0]])
    expected = (gain * stats.norm.cdf(gain) + stats.norm.pdf(gain)).sum(axis=0)
    assert expected[0] < expected[-1] - 0.3  # of the two pure replies the second
    assert 0.6 < share[expected.argmin()] < 0.7  # but no more of it than is of use against the 10
    for gate in SoftGate:
        method = Resolve(alternatives=estimates, distribution=Distribution(deviation=1.0, gate=gate))
        assert first_reply(method) == pytest.approx(share[expected.argmin()], abs=0.02)


@pytest.mark.parametrize("deviation", [1.0, 0.1])
def test_narrower_distributions_come_nearer_to_maxmargin(deviation):
    # section 5.1.10: with a distribution maxmargin needs no gadget of its own; its reply here is the first one, always
    blueprint = make_blueprint(OneOrTen(), {})
    node = blueprint.tree.public_labels.index("guess")
    drawn = Distribution(deviation=deviation, gate=SoftGate.BEST_RESPONSE)
    method = Maxmargin(alternatives=Given(np.array([1.0, 10.0])), distribution=drawn)
    share = np.linspace(0, 1, 20001)
    gain = (np.stack([1.01 - 0.02 * share, 9.99 * share]) - np.array([[1.0], [10.0]])) / deviation
    best = share[(gain * stats.norm.cdf(gain) + stats.norm.pdf(gain)).sum(axis=0).argmin()]
    found = played(blueprint.subgame(node), solve_subgame(blueprint, node, 1, method, iterations=20000).strategy)[0]
    assert found == pytest.approx(best, abs=0.005)
    assert (best > 0.9) == (deviation < 1)


def test_everything_composes(played_on):
    # the gate is that of resolving with the same distribution; gifts, estimates and deviations are what they were
    parts = {
        "reach": Reach(scale=2.0),
        "alternatives": Estimate(played_on.own),
        "distribution": Distribution(gate=SoftGate.BEST_RESPONSE),
    }
    place = played_on.place(7)
    resolve, maxmargin = (played_on.solver(place, 1, kind(**parts)) for kind in (Resolve, Maxmargin))
    assert maxmargin.problem.gate.kind is GateKind.BEST_RESPONSE
    for name in ("alternative", "deviation", "mass"):
        np.testing.assert_array_equal(getattr(maxmargin.problem.gate, name), getattr(resolve.problem.gate, name))
    for solver in (resolve, maxmargin):
        solver.iterate(50)
    np.testing.assert_array_equal(resolve.average_sums, maxmargin.average_sums)
    assert played_on.solver(place, 1, Maxmargin()).problem.gate.kind is GateKind.MAXMARGIN


def test_soft_gates_agree_in_the_limit(played_on):
    deviation = played_on.unit
    found = [
        played_on.search(
            played_on.place(8), 0, Resolve(distribution=Distribution(deviation=deviation, gate=gate)), 2000
        )
        for gate in SoftGate
    ]
    np.testing.assert_allclose(
        found[0].margin[found[0].possible], found[1].margin[found[1].possible], atol=0.15 * played_on.unit
    )
    # as many of Leduc's six hands as of all
    size = found[0].possible.sum() / 6
    assert found[0].margin.sum() == pytest.approx(found[1].margin.sum(), abs=0.1 * played_on.unit * size)


def test_wide_distributions_maximise_the_sum_of_margins(played_on):
    # every private state enters half the time, whatever happens: as from a range that is the same for all
    wide = Resolve(distribution=Distribution(deviation=1e4 * played_on.unit))
    wide, narrow = (played_on.search(played_on.place(3), 1, method, 1500) for method in (wide, Maxmargin()))
    mass = wide.subgame.mass(0)
    assert (mass * wide.margin).sum() >= (mass * narrow.margin).sum() - 1e-4 * played_on.unit * mass.sum()


def test_narrow_distributions_keep_the_margins_of_resolving(played_on):
    narrow = Resolve(distribution=Distribution(deviation=1e-6, gate=SoftGate.BEST_RESPONSE))
    assert played_on.search(played_on.place(5), 1, narrow, 2000).least_margin > -0.02 * played_on.unit


@pytest.mark.parametrize("searcher", [0, 1])
@pytest.mark.parametrize("name", SAFE)
def test_safe_search_never_raises_exploitability(played_on, name, searcher):
    found = played_on.search_at(played_on.places_to_search, searcher, SAFE[name], 100)
    before = played_on.price(played_on.table, searcher)
    assert played_on.price(found, searcher) < before + 1e-3 * played_on.chips


@pytest.mark.parametrize("searcher", [0, 1])
def test_margins_are_ordered(played_on, searcher):
    for number in (1, 11, 21):
        resolved, best = (
            played_on.search(played_on.place(number), searcher, method, 1000).least_margin
            for method in (Resolve(), Maxmargin())
        )
        assert resolved > -0.01 * played_on.unit
        assert best > resolved - 0.01 * played_on.unit


@pytest.mark.parametrize("searcher", [0, 1])
def test_the_linear_program_agrees(blueprint, searcher):
    for node in ROOTS[1::10]:
        subgame = blueprint.subgame(node)
        resolved = solve_subgame(blueprint, node, searcher, Resolve(), iterations=1000)
        problem = pose(blueprint, subgame, searcher, Maxmargin())
        solver = SubgameSolver(subgame, problem)
        solver.iterate(1000)
        best = solve_maxmargin_lp(subgame, problem)
        assert best.least_margin >= resolved.least_margin - 1e-9
        assert best.least_margin == pytest.approx(solver.result().least_margin, abs=0.01)
        assert best.least_margin >= solver.result().least_margin - 1e-9


def test_the_linear_program_serves_merged_private_states():
    game = Pursuit(parse_map(MAP_A), 6, (1, 11), 3)
    tree = build_public_tree(game)
    blueprint = PublicProfile(tree, random_strategy(tree, 5))
    node = next(n for n in range(20, 200) if tree.actor[n] == 0 and tree.num_private[n, 0] > 2)
    subgame = blueprint.subgame(node)
    for searcher in (0, 1):
        problem = pose(blueprint, subgame, searcher, Maxmargin())
        solver = SubgameSolver(subgame, problem)
        solver.iterate(2000)
        exact = solve_maxmargin_lp(subgame, problem).least_margin
        assert exact == pytest.approx(solver.result().least_margin, abs=0.01)
        assert exact >= solver.result().least_margin - 1e-9


def test_gifts_are_never_negative_and_bounded_by_exact_ones(played_on):
    most = []
    for number in range(0, 30, 7):
        place = played_on.place(number)
        for opponent in (0, 1):
            lower, exact = (find_gifts(played_on.profile, place, opponent, Reach(bound=bound)) for bound in GiftBound)
            assert np.all(lower >= 0)
            assert np.all(exact >= lower - played_on.rounding * played_on.chips)
            most.append(exact.max())
    assert max(most) > 0


def test_gifts_raise_alternatives_in_proportion(played_on):
    place = played_on.place(4)
    plain, *raised = (
        played_on.solver(place, 1, Maxmargin(reach=Reach(bound=GiftBound.EXACT, scale=scale))).problem.alternative
        for scale in (0.0, 1.0, 3.0)
    )
    assert np.all(raised[0] >= plain)
    np.testing.assert_allclose(raised[1] - plain, 3 * (raised[0] - plain), atol=1e-12 * played_on.chips)


@pytest.mark.parametrize("bound", GiftBound)
def test_no_gifts_reproduce_maxmargin_bit_for_bit(played_on, bound):
    plain, scaled = (
        played_on.search(played_on.place(6), 0, method, 100).strategy
        for method in (Maxmargin(), Maxmargin(reach=Reach(bound=bound, scale=0.0)))
    )
    np.testing.assert_array_equal(plain, scaled)


def test_theorem_20(blueprint):
    # if the best response to the new strategy comes to I_1, it has lost mass(I_1) times I_1's reach margin
    method = Maxmargin(reach=Reach())
    after = PublicProfile(LEDUC, search_everywhere(blueprint, ROOTS, 1, method, iterations=150), like=UNIFORM)
    _, best = after.kernel.best_response(0, after.realization)
    response = after.kernel.realize(np.where(np.arange(best.size) < LEDUC.cells.cell_start[1], best, after.strategy))
    checked = 0
    for node in ROOTS:
        reached = response[LEDUC.private_cells(node, 0)] > 0
        if not reached.any():
            continue
        subgame = blueprint.subgame(node)
        problem = pose(blueprint, subgame, 1, method)
        result = summarize(subgame, problem, subgame.part.restrict(after.strategy))
        without = after.strategy.copy()
        subgame.part.insert(subgame.strategy, without, players=(1,))
        gained = evaluate(LEDUC, without).best_response_values[0] - after.evaluate().best_response_values[0]
        owed = subgame.mass(0) * result.margin
        assert np.all(gained >= owed[reached] - 1e-9)
        checked += 1
    assert checked > 0


@settings(max_examples=25, deadline=None)
@given(noise=st.tuples(st.floats(-0.4, 0.4), st.floats(-0.4, 0.4)))
def test_theorem_21(noise):
    # errors of estimates cost at most twice the largest of them; what is least exploitable loses nothing in Coin Toss
    blueprint, node = coin_toss()
    subgame = blueprint.subgame(node)
    problem = pose(blueprint, subgame, 1, Maxmargin(alternatives=Given(OPTIMAL.values + np.array(noise))))
    out = blueprint.strategy.copy()
    subgame.part.insert(solve_maxmargin_lp(subgame, problem).strategy, out, players=(1,))
    assert evaluate(blueprint.tree, out).best_response_values[0] <= 2 * max(map(abs, noise)) + 1e-9


def test_the_best_response_is_an_exact_estimate(blueprint):
    subgame = blueprint.subgame(ROOTS[2])
    _, best = blueprint.kernel.best_response(0, blueprint.realization)
    exact = pose(blueprint, subgame, 1, Resolve(alternatives=Exact())).alternative
    estimated = pose(blueprint, subgame, 1, Resolve(alternatives=Estimate(TreeStrategy(LEDUC, best)))).alternative
    np.testing.assert_allclose(estimated, exact, atol=1e-12)


def test_estimates_are_what_the_response_earns(played_on):
    own, played, exact = (
        played_on.solver(played_on.place(2), 1, Resolve(alternatives=alternatives)).problem.alternative
        for alternatives in (Estimate(played_on.own), SelfPlay(), Exact())
    )
    rounding = played_on.rounding * played_on.chips
    np.testing.assert_allclose(own, played, atol=rounding)
    assert np.all(own <= exact + rounding)
    assert np.any(own < exact - 0.1 * played_on.unit)
    # deviations of a distribution are how far estimates are from what is exact
    method = Resolve(alternatives=Estimate(played_on.own), distribution=Distribution())
    solver = played_on.solver(played_on.place(2), 1, method)
    expected = solver.subgame.to_rows(0, exact - own)
    np.testing.assert_allclose(solver.problem.gate.deviation, expected, atol=rounding)


def test_reach_gifts_of_estimates_use_the_same_response(played_on):
    reach = Reach(bound=GiftBound.EXACT)
    found, exact = (
        find_gifts(played_on.profile, played_on.place(9), 0, reach, alternatives)
        for alternatives in (Estimate(played_on.own), Exact())
    )
    assert np.all(found >= 0)
    assert not np.allclose(found, exact)
    as_in_the_paper = dataclasses.replace(reach, values=GiftValues.EXACT)
    asked = find_gifts(played_on.profile, played_on.place(9), 0, as_in_the_paper, Estimate(played_on.own))
    assert np.array_equal(asked, exact)  # whatever the alternatives are


def test_a_mixed_range_begins_between_gate_and_blueprint(played_on):
    solver = played_on.solver(played_on.place(0), 1, Resolve(share=0.2))
    reach = solver.subgame.to_rows(0, solver.subgame.reach[0])
    np.testing.assert_allclose(solver.problem.gate.first_reach(), 0.1 + 0.8 * reach)


@pytest.mark.parametrize(("share", "heads", "least"), [(0.5, 0.75, 0.0), (0.1, 1.0, -0.5)])
def test_a_mixed_range_gives_up_safety_where_that_pays_more(share, heads, least):
    # Heads come 3/4 of the time, tails 1/2: below 1/5 of the gate what they lose outweighs what tails gain
    blueprint, node = coin_toss()
    result = solve_subgame(blueprint, node, 1, Resolve(share=share), iterations=2000)
    np.testing.assert_allclose(played(blueprint.subgame(node), result.strategy), (heads, 1 - heads, 0), atol=2e-3)
    assert result.least_margin == pytest.approx(least, abs=2e-3)


def test_subgames_that_the_searcher_does_not_reach_keep_the_blueprint():
    strategy = random_strategy(LEDUC, 3)
    node = ROOTS[0]  # after check, check
    first = LEDUC.sequence_cell[LEDUC.infoset_start[0] : LEDUC.infoset_start[6]].reshape(6, 2)
    strategy[first] = (0.0, 1.0)  # player 0 always bets
    blueprint = PublicProfile(LEDUC, strategy)
    after = search_everywhere(blueprint, [node], 0, Maxmargin(), iterations=10)
    np.testing.assert_array_equal(after, strategy)


def test_a_run_goes_on_where_it_stopped(played_on):
    parted, whole = (played_on.solver(played_on.place(0), 1, Resolve(), rule=CFR()) for _ in range(2))
    for count in (3, 4):
        parted.iterate(count)
    whole.iterate(7)
    np.testing.assert_array_equal(parted.average_sums, whole.average_sums)
    np.testing.assert_array_equal(parted.average_values(0), whole.average_values(0))


def test_alternatives_of_another_shape_are_refused(played_on):
    place = played_on.place(0)
    shape = played_on.profile.subgame(place, 1).mass(0).shape
    with pytest.raises(ConfigError, match=re.escape(f"alternatives must have shape {shape}, got (2,)")):
        played_on.solver(place, 1, Resolve(alternatives=Given(np.zeros(2))))


def test_nonsense_is_refused(blueprint):
    for make, message in (
        (lambda: Reach(scale=-1.0), "scale of gifts must be at least 0 and finite, got -1"),
        (lambda: Resolve(share=0.0), "share of the gate must be above 0 and at most 1, got 0"),
        (lambda: Distribution(deviation=-1.0), "deviation must be at least 0, got -1"),
        (lambda: solve_subgame(blueprint, ROOTS[0], 1, Resolve(), iterations=0), "iterations must be at least 1"),
        (lambda: PublicProfile(LEDUC, np.zeros(3)), "a strategy on leduc"),
    ):
        with pytest.raises(ConfigError, match=message):
            make()


def test_blueprints_share_parts_of_one_tree_alone(blueprint):
    assert blueprint.subgame(ROOTS[0]).part is UNIFORM.subgame(ROOTS[0]).part
    other = build_public_tree(derive_public_game(make_game("leduc")))
    with pytest.raises(ConfigError, match="on the same tree"):
        PublicProfile(other, other.legal_share, like=UNIFORM)
