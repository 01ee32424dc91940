# SPDX-License-Identifier: Apache-2.0
"""Gates above hold'em trees: their plain twin, and what safe search of a spot promises."""

import dataclasses

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games.holdem.cards import DECKS, parse_board
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.menu_notation import parse_menu
from equipoise.games.holdem.ranges import Range, parse_range
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.kernels.gates import GateKind
from equipoise.kernels.holdem.sweeps import HoldemKernel
from equipoise.search.gadgets import Distribution, Estimate, Given, Maxmargin, Resolve, SoftGate
from equipoise.search.holdem.profile import HoldemProfile
from equipoise.search.holdem.subgame import HoldemSubgame
from equipoise.search.posing import measure, pose
from equipoise.search.resolving import SubgameSolver
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rules import CFRPlus, tabulate_discounts
from equipoise.trees.holdem.tree import build_holdem_tree
from equipoise.trees.vector import TreeStrategy
from tests.reference.gates import ReferenceGate

METHODS = {
    GateKind.RESOLVING: Resolve(share=0.5),
    GateKind.MAXMARGIN: Maxmargin(),
    GateKind.BEST_RESPONSE: Resolve(distribution=Distribution(deviation=3.0, gate=SoftGate.BEST_RESPONSE)),
    GateKind.HEDGE: Resolve(distribution=Distribution(deviation=3.0)),
}


def river():
    deck = DECKS["short"]
    return HoldemSpot(
        deck=deck,
        board=parse_board("9cThJsQhKs"),
        pot=20,
        big_blind=2,
        stacks=(40, 40),
        menu=parse_menu("50%, 100%, a / 100%, a"),
        ranges=(Range.random(deck), parse_range("AA,KK,QQ,JJ,TT:0.5,AK:0.5,A9s,QJs,87s", deck)),
    )


@pytest.fixture(scope="module")
def spot_tree():
    return build_holdem_tree(river())


@pytest.fixture(scope="module")
def blueprint(spot_tree):
    solver = CFRSolver(spot_tree, CFRPlus(), dtype=np.float64)
    solver.iterate(3)
    return solver


def test_mass_counts_hands_that_share_no_card(spot_tree):
    cards = hands_of(spot_tree.spot.deck).cards
    for player in (0, 1):
        mine, others = spot_tree.hands[0][player], spot_tree.hands[0][1 - player]
        reach = spot_tree.arrays.root_reach[1 - player]
        subgame = HoldemSubgame.of_tree(spot_tree)
        mass = subgame.to_rows(player, subgame.mass(player))
        for row, hand in enumerate(mine[::7]):
            free = [not set(cards[hand]) & set(cards[other]) for other in others]
            assert mass[7 * row] == pytest.approx(reach[: others.size][free].sum())
        assert np.all(mass[mine.size :] == 0.0)


def begin(tree, sums, searcher, method, **options):
    """Returns a search of a whole spot that has not begun."""
    subgame = HoldemSubgame.of_tree(tree, sums)
    problem = pose(HoldemProfile(TreeStrategy(tree, sums)), subgame, searcher, method)
    return SubgameSolver(subgame, problem, **options)


@pytest.mark.parametrize("kind", GateKind, ids=lambda kind: kind.name)
@pytest.mark.parametrize("num_threads", [1, 2])
def test_gates_equal_their_twin(spot_tree, blueprint, kind, num_threads):
    sums = blueprint.tables.strategy_sum
    solver = begin(spot_tree, sums, 1, METHODS[kind], dtype=np.float64, num_threads=num_threads, is_alternating=False)
    solver.iterate(6)

    gate = solver.problem.gate
    values = solver.subgame.to_rows(0, solver.problem.alternative)
    twin = ReferenceGate(kind, gate.mass, values, gate.deviation, gate.prior, gate.share)
    tree = build_holdem_tree(river())  # its range is overwritten with what the twin lets in
    plain = CFRSolver(tree, CFRPlus(gamma=1.0), dtype=np.float64, is_alternating=False)
    rule = plain.rule
    for t in range(1, 7):
        tree.arrays.root_reach[0][: gate.mass.size] = twin.reach()
        entering = HoldemKernel(tree.arrays).values(plain.tables.regret_sum, is_best=False)[0]
        plain.kernel.iterate(
            rule.kernel,
            tabulate_discounts(rule, t, 1),
            plain.tables,
            first_t=t,
            is_alternating=False,
            num_threads=1,
        )
        twin.update(entering, rule.discounts(t), rule.kernel)
    np.testing.assert_allclose(solver.gate.reach, twin.reach(), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(solver.tables.strategy_sum, plain.tables.strategy_sum, atol=1e-8)


def test_safe_search_of_a_spot_keeps_every_margin(spot_tree, blueprint):
    least = {}
    for name, method in (("resolve", Resolve()), ("maxmargin", Maxmargin())):
        solver = begin(spot_tree, blueprint.tables.strategy_sum, 1, method, dtype=np.float64)
        solver.iterate(400)
        least[name] = solver.result().least_margin
    assert least["resolve"] > -0.05  # of a pot of 20
    assert least["maxmargin"] > least["resolve"] - 0.02
    assert least["maxmargin"] > -0.02


def test_what_is_mixed_in_is_a_reach(spot_tree):
    # on the scale of the gate, whose shares are 0 to 1: a range that sums to 1 would count for nothing
    subgame = HoldemSubgame.of_tree(spot_tree)
    profile = HoldemProfile(TreeStrategy(spot_tree, subgame.strategy))
    hands = spot_tree.hands[0][1]
    gate = pose(profile, subgame, 0, Resolve(share=0.2)).gate
    np.testing.assert_array_equal(gate.prior[: hands.size], spot_tree.spot.live_weights(1)[hands])
    given = np.linspace(0, 1, spot_tree.spot.deck.num_hands)
    other = dataclasses.replace(subgame, reach=(subgame.reach[0], given))
    np.testing.assert_array_equal(pose(profile, other, 0, Resolve(share=0.2)).gate.prior[: hands.size], given[hands])


def test_runs_begin_again(spot_tree, blueprint):
    solver = begin(spot_tree, blueprint.tables.strategy_sum, 1, Resolve())
    solver.iterate(5)
    first = solver.gate.reach.copy(), solver.tables.strategy_sum.copy()
    solver.reset()
    solver.iterate(5)
    np.testing.assert_array_equal(solver.gate.reach, first[0])
    np.testing.assert_array_equal(solver.tables.strategy_sum, first[1])


def test_estimates_and_deviations_are_measured(spot_tree, blueprint):
    sums, regrets = blueprint.tables.strategy_sum, blueprint.tables.regret_sum
    subgame = HoldemSubgame.of_tree(spot_tree, sums)
    profile = HoldemProfile(TreeStrategy(spot_tree, sums), response=TreeStrategy(spot_tree, regrets))
    exact = measure(profile, subgame, 0, Resolve()).value
    own = measure(profile, subgame, 0, Resolve(alternatives=Estimate(TreeStrategy(spot_tree, sums)))).value
    last = measure(profile, subgame, 0, Resolve(alternatives=Estimate(), distribution=Distribution()))
    both = HoldemKernel(spot_tree.arrays).values(sums, is_best=False)[0]
    mass = subgame.mass(0)
    held = spot_tree.hands[0][0]
    # strategies are copied in single precision
    np.testing.assert_allclose((own * mass)[held], both, atol=1e-6)
    assert np.all(own <= exact + 1e-6)
    assert np.all(last.value <= exact + 1e-6)
    assert np.abs(last.value - own).max() > 1e-3
    np.testing.assert_allclose(last.deviation, exact - last.value, atol=1e-6)


def test_what_a_spot_cannot_know_is_refused(spot_tree):
    sums = HoldemSubgame.of_tree(spot_tree).strategy
    with pytest.raises(ConfigError, match="alternatives must have shape"):
        begin(spot_tree, sums, 1, Maxmargin(alternatives=Given(np.zeros(3))))
    with pytest.raises(ConfigError, match="estimates need a response"):
        begin(spot_tree, sums, 1, Resolve(alternatives=Estimate()))
