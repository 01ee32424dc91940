# SPDX-License-Identifier: Apache-2.0
"""Gates above hold'em trees: their plain twin, and what safe search of a spot promises."""

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
from equipoise.search.gadgets import Distribution, Given, Maxmargin, Reach, Resolve, SoftGate
from equipoise.search.holdem import HoldemSearch, find_mass, measure_alternatives
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rules import CFRPlus, tabulate_discounts
from equipoise.trees.holdem.tree import build_holdem_tree
from tests.reference.gates import ReferenceGate

METHODS = {
    GateKind.RESOLVING: lambda given: Resolve(alternatives=given, share=0.5),
    GateKind.MAXMARGIN: lambda given: Maxmargin(alternatives=given),
    GateKind.BEST_RESPONSE: lambda given: Resolve(
        alternatives=given, distribution=Distribution(deviation=3.0, gate=SoftGate.BEST_RESPONSE)
    ),
    GateKind.HEDGE: lambda given: Resolve(alternatives=given, distribution=Distribution(deviation=3.0)),
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
        mass = find_mass(spot_tree, player)
        for row, hand in enumerate(mine[::7]):
            free = [not set(cards[hand]) & set(cards[other]) for other in others]
            assert mass[7 * row] == pytest.approx(reach[: others.size][free].sum())
        assert np.all(mass[mine.size :] == 0.0)


@pytest.mark.parametrize("kind", GateKind, ids=lambda kind: kind.name)
@pytest.mark.parametrize("num_threads", [1, 2])
def test_gates_equal_their_twin(spot_tree, blueprint, kind, num_threads):
    values = measure_alternatives(spot_tree, blueprint.tables.strategy_sum, 0)
    search = HoldemSearch(tree=spot_tree, searcher=1, method=METHODS[kind](Given(values)))
    solver = search.solver(dtype=np.float64, num_threads=num_threads)
    solver.is_alternating = False
    solver.iterate(6)

    gate = solver.gate
    twin = ReferenceGate(kind, gate.mass, values, gate.deviation, gate.prior, gate.share)
    tree = build_holdem_tree(river())  # its range is overwritten with what the twin lets in
    plain = CFRSolver(tree, CFRPlus(gamma=1.0), dtype=np.float64, is_alternating=False)
    rule = plain.rule
    for t in range(1, 7):
        tree.arrays.root_reach[0][:] = twin.reach()
        entering = HoldemKernel(tree.arrays).values(plain.tables.regret_sum, is_best=False)[0]
        entering = np.pad(entering, (0, gate.mass.size - entering.size), mode="edge")
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
    values = measure_alternatives(spot_tree, blueprint.tables.strategy_sum, 0)
    least = {}
    for name, method in (("resolve", Resolve), ("maxmargin", Maxmargin)):
        search = HoldemSearch(tree=spot_tree, searcher=1, method=method(alternatives=Given(values)))
        solver = search.solver(dtype=np.float64)
        solver.iterate(400)
        least[name] = search.margins(solver).min()
    assert least["resolve"] > -0.05  # of a pot of 20
    assert least["maxmargin"] > least["resolve"] - 0.02
    assert least["maxmargin"] > -0.02


def test_what_is_mixed_in_is_a_reach(spot_tree):
    # on the scale of the gate, whose shares are 0 to 1: a range that sums to 1 would count for nothing
    rows = spot_tree.arrays.num_rows(0, 1)
    method = Resolve(alternatives=Given(np.zeros(rows)), share=0.2)
    search = HoldemSearch(tree=spot_tree, searcher=0, method=method)
    held = spot_tree.spot.live_weights(1)[spot_tree.hands[0][1]]
    np.testing.assert_array_equal(search.solver().gate.prior[: held.size], held)
    given = np.linspace(0, 1, rows)
    other = HoldemSearch(tree=spot_tree, searcher=0, method=method, prior=given)
    np.testing.assert_array_equal(other.solver().gate.prior, given)
    with pytest.raises(ConfigError, match="prior must have shape"):
        HoldemSearch(tree=spot_tree, searcher=0, method=method, prior=np.zeros(3))


def test_runs_begin_again(spot_tree, blueprint):
    values = measure_alternatives(spot_tree, blueprint.tables.strategy_sum, 0)
    solver = HoldemSearch(tree=spot_tree, searcher=1, method=Resolve(alternatives=Given(values))).solver()
    solver.iterate(5)
    first = solver.gate.reach.copy(), solver.tables.strategy_sum.copy()
    solver.reset()
    solver.iterate(5)
    np.testing.assert_array_equal(solver.gate.reach, first[0])
    np.testing.assert_array_equal(solver.tables.strategy_sum, first[1])


def test_what_a_spot_cannot_know_is_refused(spot_tree):
    good = Given(np.zeros(spot_tree.arrays.num_rows(0, 0)))
    for method, message in (
        (Resolve(), "knows nothing of what was above it"),
        (Maxmargin(alternatives=good, reach=Reach()), "knows nothing of what was above it"),
        (Maxmargin(alternatives=Given(np.zeros(3))), "alternatives must have shape"),
    ):
        with pytest.raises(ConfigError, match=message):
            HoldemSearch(tree=spot_tree, searcher=1, method=method)
    search = HoldemSearch(tree=spot_tree, searcher=1, method=Resolve(alternatives=good, distribution=Distribution()))
    with pytest.raises(ConfigError, match="needs the deviation"):
        search.solver()
