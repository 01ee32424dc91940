# SPDX-License-Identifier: Apache-2.0
"""Streets of hold'em whose ends an evaluator values: against tables, the whole spot and the other layout."""

import dataclasses
import itertools

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games.holdem.betting import CALL, Street
from equipoise.games.holdem.betting_tree import NodeKind, betting_tree
from equipoise.games.holdem.cards import DECKS, parse_board, parse_deck
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.menu_notation import parse_menu
from equipoise.games.holdem.ranges import Range, parse_range
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.games.holdem.strength import evaluate_hand
from equipoise.kernels.frontier import BeliefBatch
from equipoise.search.gadgets import Given, Maxmargin, Resolve, Unsafe
from equipoise.search.holdem.depth_limit import PLAIN, LeafChoices, limit_depth
from equipoise.search.holdem.equity_leaves import EquityLeaves, equity_leaves
from equipoise.search.holdem.leaves import AfterDeal, HoldemRest, HoldemState, bind_lines, trace_line
from equipoise.search.holdem.profile import HoldemProfile
from equipoise.search.holdem.subgame import HoldemSubgame
from equipoise.search.leaves import FixedLeaves, HeldLeaves, NoisyLeaves, ResolvedLeaves, ZeroLeaves
from equipoise.search.limits import ActionLimit, RoundLimit
from equipoise.search.nested import NestedSearch
from equipoise.search.posing import pose
from equipoise.search.profiles import Reply
from equipoise.search.resolving import SubgameSolver
from equipoise.search.settings import SearchSettings
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rules import CFRPlus
from equipoise.trees.holdem.places import HoldemPlace, SpotPlaces
from equipoise.trees.holdem.tree import build_holdem_tree, plan_first_street
from equipoise.trees.joint import CardRemoval
from equipoise.trees.vector import TreeStrategy, UniformStrategy, follow_reach

DECK = DECKS["royal"]
SPOT = HoldemSpot(
    deck=DECK,
    board=parse_board("ThJhQsKc", DECK),
    pot=20,
    big_blind=2,
    stacks=(47, 47),
    menu=parse_menu("100%, a; turn cap: 2; river cap: 1"),
    ranges=(parse_range("AcAd,AhTs:0.93,JJ:0.53,KdQd:0.81", DECK), parse_range("AhKh:0.91,TT,AsJs:0.37", DECK)),
)
BLUEPRINT = TreeStrategy(
    tree := build_holdem_tree(SPOT, merges_suits=False),
    np.random.default_rng(3).random(tree.arrays.num_cells),
)


def fixed():
    return FixedLeaves(HoldemRest.of(BLUEPRINT), BLUEPRINT)


def street(evaluator):
    """Returns the turn alone, and its lines valued by an evaluator."""
    tree = plan_first_street(SPOT).build()
    return tree, bind_lines(tree, (), evaluator)


def run(tree, frontier, iterations=15, **options):
    solver = CFRSolver(tree, CFRPlus(), dtype=np.float64, frontier=frontier, **options)
    solver.iterate(iterations)
    return solver


def batch_at(spot, nodes, seed=1):
    """Returns beliefs at nodes of a spot's betting, drawn."""
    betting, rng = betting_tree(spot.betting_rules, spot.menu), np.random.default_rng(seed)
    deck, size = spot.deck, (len(nodes), spot.deck.num_hands)
    held = [np.asarray(spot.live_weights(player) > 0) for player in (0, 1)]
    return BeliefBatch(
        states=[HoldemState(trace_line(betting, node), betting.nodes[node].state, tuple(spot.board)) for node in nodes],
        reach=(rng.random(size) * held[0], rng.random(size) * held[1]),
        num_private=np.full((len(nodes), 2), deck.num_hands, np.int32),
        joint=[CardRemoval(deck, tuple(spot.board))] * len(nodes),
    )


@pytest.mark.parametrize("num_threads", [1, 2])
@pytest.mark.parametrize("is_alternating", [True, False])
def test_fixed_leaves_are_tables_of_one_continuation(is_alternating, num_threads):
    limited = limit_depth(SPOT, BLUEPRINT, 0, LeafChoices(opponent=PLAIN), dtype=np.float64)
    tree, frontier = street(fixed())
    watched = (0, *tree.leaving_nodes())
    options = {"is_alternating": is_alternating, "num_threads": num_threads, "watched": watched}
    expected, found = run(limited.tree, limited.frontier, **options), run(tree, frontier, **options)
    np.testing.assert_allclose(found.tables.regret_sum, expected.tables.regret_sum, atol=1e-6)
    np.testing.assert_allclose(found.average_sums, expected.average_sums, atol=1e-6)
    np.testing.assert_allclose(found.evaluate().nash_conv, expected.evaluate().nash_conv, atol=1e-6)
    for node, player in itertools.product(watched, (0, 1)):
        np.testing.assert_allclose(found.average_values(player, node), expected.average_values(player, node), atol=1e-6)


@pytest.mark.parametrize("num_threads", [1, 2])
@pytest.mark.parametrize("method", [Resolve, Maxmargin])
def test_fixed_leaves_below_a_gate_are_tables_of_one_continuation(method, num_threads):
    chosen = limit_depth(SPOT, BLUEPRINT, 0, LeafChoices(opponent=PLAIN), dtype=np.float64)
    valued = HoldemSubgame.of_tree(BLUEPRINT.tree, BLUEPRINT.table).end_with_street(SPOT, fixed())
    gate = method(alternatives=Given(np.linspace(-5.0, 5.0, DECK.num_hands)))
    runs = []
    for subgame in (chosen, valued):
        problem = pose(HoldemProfile(BLUEPRINT), subgame, 0, gate)
        runs.append(SubgameSolver(subgame, problem, dtype=np.float64, num_threads=num_threads))
        runs[-1].iterate(12)
    np.testing.assert_allclose(runs[1].gate.reach, runs[0].gate.reach, atol=1e-6)
    np.testing.assert_allclose(runs[1].average_sums, runs[0].average_sums, atol=1e-6)
    np.testing.assert_allclose(runs[1].result().margin, runs[0].result().margin, atol=1e-6)


@pytest.mark.parametrize("after", [False, True])
def test_a_search_with_fixed_leaves_is_one_with_a_single_choice(after):
    evaluated, chosen = (
        NestedSearch(HoldemProfile(BLUEPRINT), 1, SearchSettings(method=Resolve(), leaf_iterations=10, **options))
        for options in (
            {"limit": RoundLimit(is_after_deal=after), "leaves": fixed()},
            {"leaf_choices": LeafChoices(opponent=PLAIN)},
        )
    )
    found, expected = (search.search(search.begin(), search.profile.tree.root_place) for search in (evaluated, chosen))
    np.testing.assert_allclose(found.value, expected.value, atol=2e-3)  # tables of choices are rounded to 16 bits
    np.testing.assert_array_equal(found.alternative, expected.alternative)


def test_both_sides_of_the_card_are_the_same():
    nodes = build_holdem_tree(SPOT).leaving_nodes()
    batch = batch_at(SPOT, nodes)
    before, after = fixed().evaluate(batch), AfterDeal(fixed(), SPOT).evaluate(batch)
    for player in (0, 1):
        np.testing.assert_allclose(after.cfv[player], before.cfv[player], atol=1e-12)
        assert np.abs(before.cfv[player]).max() > 1.0


def test_checked_down_hands_are_worth_their_equity():
    betting = build_holdem_tree(SPOT).betting
    node = next(n for n in build_holdem_tree(SPOT).leaving_nodes() if trace_line(betting, n) == (CALL, CALL))
    batch = batch_at(SPOT, [node])
    found = equity_leaves(SPOT).evaluate(batch)
    hands = hands_of(DECK).cards
    own, other = batch.reach[0][0], batch.reach[1][0]
    expected = np.zeros(own.size)
    left = [card for card in DECK.cards if card not in SPOT.board]
    live = np.flatnonzero(~hands_of(DECK).blocked(SPOT.board))  # also hands that are not in the range
    for first, second in itertools.product(live, np.flatnonzero(other)):
        cards = {*hands[first].tolist(), *hands[second].tolist()}
        if len(cards) < 4:
            continue
        for card in (card for card in left if card not in cards):
            full = [evaluate_hand([*SPOT.board, card, *hands[hand].tolist()], DECK) for hand in (first, second)]
            expected[first] += other[second] * np.sign(full[0] - full[1]) * SPOT.pot / 2 / (len(left) - 4)
    np.testing.assert_allclose(found.cfv[0][0], expected, atol=1e-9)


@pytest.mark.parametrize(("board", "last"), [("ThJhQs", "river"), ("", "river"), ("ThJhQs", "turn")])
def test_equity_is_a_street_that_is_checked_down(board, last):
    deck = parse_deck("TJQKA/chs" if board else "TJQKA/ch")
    chips = {"pot": 20} if board else {}
    spot = dataclasses.replace(
        SPOT, deck=deck, board=parse_board(board, deck), pot=chips.get("pot", 0), menu=parse_menu("100%; cap: 1"),
        ranges=(Range.random(deck), Range.random(deck)), last_street=Street[last.upper()],
    )  # fmt: skip
    betting, ends = betting_tree(spot.betting_rules, spot.menu), (NodeKind.STREET_END, NodeKind.SHOWDOWN)
    street = betting.root.state.street
    nodes = [node.index for node in betting.nodes if node.kind in ends and node.state.street == street]
    batch = batch_at(spot, nodes)
    rest = HoldemRest(spot, menu=parse_menu("none"))
    checked = FixedLeaves(rest, UniformStrategy(SpotPlaces(spot, betting))).evaluate(batch)
    found = EquityLeaves(deck, num_board_cards=spot.last_street.num_board_cards).evaluate(batch)
    for player in (0, 1):
        np.testing.assert_allclose(found.cfv[player], checked.cfv[player], atol=1e-4)
        assert np.abs(found.cfv[player]).max() > 1.0


REDUCED = dataclasses.replace(SPOT, menu=parse_menu("100%; cap: 1"), ranges=(Range.random(DECK), Range.random(DECK)))
FULL = HoldemSpot(
    board=parse_board("Qs7h2d9c"),
    pot=20,
    big_blind=2,
    stacks=(40, 40),
    menu=parse_menu("100%; cap: 1"),
    ranges=(parse_range("QQ,AQs,JTs,87s,A5s:0.5"), parse_range("99,KQs,T8s,A7s,66:0.5")),  # 17 and 19 hands
)


@pytest.mark.parametrize(("spot", "iterations"), [(REDUCED, 40), (FULL, 60)], ids=["reduced", "full"])
def test_a_turn_with_solved_rivers_is_the_whole_turn(spot, iterations):
    whole = CFRSolver(build_holdem_tree(spot), CFRPlus(), dtype=np.float64)
    whole.iterate(300)
    tree = plan_first_street(spot).build()
    cut = run(tree, bind_lines(tree, (), ResolvedLeaves(HoldemRest(spot), iterations=60)), iterations)
    values = whole.evaluate().values
    assert cut.evaluate().values == pytest.approx(values, abs=1e-3 * spot.pot)
    checked_down = run(tree, bind_lines(tree, (), equity_leaves(spot)), iterations)
    assert checked_down.evaluate().values != pytest.approx(values, abs=5e-3 * spot.pot)  # rivers do matter
    # and the whole turn's own lines are worth there what they are in the whole
    played = TreeStrategy(whole.tree, whole.average_sums)
    exact = ResolvedLeaves(HoldemRest(spot), iterations=200)
    fixed_rivers = FixedLeaves(HoldemRest.of(played), played)
    found, expected = (leaf_totals(tree, played, leaves) for leaves in (exact, fixed_rivers))
    np.testing.assert_allclose(found, expected, atol=1e-3 * spot.pot)


def test_a_street_is_the_same_whether_later_streets_are_listed_or_not():
    found = []
    for is_one_round in (False, True):
        tree = plan_first_street(SPOT, is_one_round=is_one_round).build()
        solver = CFRSolver(tree, frontier=bind_lines(tree, (), equity_leaves(SPOT)))
        solver.iterate(20)
        found.append((len(tree.betting.nodes), solver.average_sums))
    assert found[0][0] > found[1][0]
    np.testing.assert_array_equal(found[0][1], found[1][1])


def leaf_totals(tree, played, leaves):
    """Returns `[2, B]` what lines are worth to both players whose hands come as a strategy plays."""
    root = [tree.spot.live_weights(player) / tree.spot.live_weights(player).sum() for player in (0, 1)]
    places = [HoldemPlace(node, tuple(tree.spot.board)) for node in tree.leaving_nodes()]
    reaches = [follow_reach(played.tree, played, root, place) for place in places]
    batch = batch_at(tree.spot, tree.leaving_nodes())
    batch = dataclasses.replace(batch, reach=tuple(np.array([reach[player] for reach in reaches]) for player in (0, 1)))
    return [(own * values).sum(axis=1) for own, values in zip(batch.reach, leaves.evaluate(batch).cfv, strict=True)]


EVALUATORS = {
    "zero": ZeroLeaves,
    "equity": lambda: equity_leaves(SPOT),
    "fixed": fixed,
    "solved": lambda: ResolvedLeaves(HoldemRest(SPOT), iterations=20),
    "noisy": lambda: NoisyLeaves(fixed(), 1.0, rng=np.random.default_rng(2)),
    "held": lambda: HeldLeaves(fixed()),
}


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("method", [Unsafe(), Resolve(), Maxmargin()], ids=["unsafe", "resolve", "maxmargin"])
@pytest.mark.parametrize("name", EVALUATORS)
def test_every_evaluator_serves_every_search(name, method, after):
    limit = RoundLimit(is_after_deal=after)
    settings = SearchSettings(method=method, leaf_iterations=3, limit=limit, leaves=EVALUATORS[name]())
    search = NestedSearch(HoldemProfile(BLUEPRINT), 0, settings)
    found = search.search(search.begin(), search.profile.tree.root_place)
    rows = found.stage.profile.probabilities(found.stage.place)
    np.testing.assert_allclose(rows[found.subgame.reach[0] > 0].sum(axis=1), 1.0, atol=1e-6)
    before = BLUEPRINT.probabilities(BLUEPRINT.tree.root_place)
    assert np.abs(rows - before)[found.subgame.reach[0] > 0].max() > 0.01


def test_searches_behind_an_unknown_bet_end_with_the_street_too():
    seen = []

    class Watching(ZeroLeaves):
        def evaluate(self, batch):
            seen.append(batch)
            return super().evaluate(batch)

    settings = SearchSettings(method=Resolve(), leaf_iterations=3, limit=RoundLimit(), leaves=Watching())
    search = NestedSearch(HoldemProfile(BLUEPRINT), 1, settings)
    found = search.search(search.begin(), search.profile.tree.root_place, Reply(17))
    assert all(state.line[0] == 17 and state.board == SPOT.board for state in seen[0].states)
    assert {state.pot for state in seen[0].states} >= {20 + 2 * 7}
    assert found.stage.profile.line == (17,)
    assert found.stage.profile.tree.actor_at(found.stage.place) == 1


def test_what_an_evaluator_raises_comes_out_of_a_search():
    class Broken(ZeroLeaves):
        def evaluate(self, batch):
            raise KeyError("broken")

    settings = SearchSettings(limit=RoundLimit(), leaves=Broken(), num_threads=2)
    search = NestedSearch(HoldemProfile(BLUEPRINT), 0, settings)
    with pytest.raises(KeyError, match="broken"):
        search.search(search.begin(), search.profile.tree.root_place)


def test_nonsense_is_refused():
    with pytest.raises(ConfigError, match="a limit needs leaves"):
        SearchSettings(limit=RoundLimit())
    with pytest.raises(ConfigError, match="by an evaluator or by choices"):
        SearchSettings(limit=RoundLimit(), leaves=ZeroLeaves(), leaf_choices=LeafChoices())
    for limit in (ActionLimit(1), RoundLimit(2)):
        with pytest.raises(ConfigError, match="hold'em ends with a street"):
            NestedSearch(HoldemProfile(BLUEPRINT), 0, SearchSettings(limit=limit, leaves=ZeroLeaves()))
    river = batch_at(dataclasses.replace(SPOT, board=parse_board("ThJhQsKcAd", DECK)), [0])
    with pytest.raises(ConfigError, match="no cards to deal"):
        AfterDeal(ZeroLeaves(), SPOT).evaluate(river)
