# SPDX-License-Identifier: Apache-2.0
"""Searches in hold'em while it is played: parts of a spot, what is measured in them, and what replies are worth."""

import dataclasses

import numpy as np
import pytest

from equipoise.abstraction.translation import translate_bet
from equipoise.core.errors import ConfigError, GameTooLargeError, ParseError
from equipoise.games.holdem.betting import BettingRules
from equipoise.games.holdem.betting_tree import NodeKind, betting_tree, cut_betting
from equipoise.games.holdem.cards import parse_board, parse_deck
from equipoise.games.holdem.line_notation import grow_behind
from equipoise.games.holdem.menu_notation import parse_menu
from equipoise.games.holdem.public_text import parse_steps
from equipoise.games.holdem.ranges import Range, parse_range
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.search.gadgets import GiftBound, Given, Maxmargin, Reach, Resolve, Unsafe
from equipoise.search.holdem.profile import HoldemProfile, count_deals
from equipoise.search.holdem.subgame import HoldemSubgame
from equipoise.search.nested import NestedSearch
from equipoise.search.posing import find_gifts, measure
from equipoise.search.profiles import Reply, given_there
from equipoise.search.settings import SearchSettings
from equipoise.solvers.best_response import evaluate
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.holdem.view import view_average
from equipoise.solvers.rules import CFRPlus
from equipoise.trees.holdem.places import HoldemPlace, SpotPlaces
from equipoise.trees.holdem.tree import build_holdem_tree
from equipoise.trees.vector import TreeStrategy, UniformStrategy

DECK = parse_deck("6789TJQKA/cdhs")
SIZES = "50%, 100%"


def spot(board="9cThJsQhKs", menu=f"{SIZES}, a", **changes):
    ranges = Range.random(DECK), parse_range("AA,KK,QQ,JJ,TT:0.5,AK:0.5,A9s,QJs,87s,66", DECK)
    fields = {"pot": 20, "big_blind": 2, "stacks": (40, 40), "ranges": ranges, **changes}
    return HoldemSpot(deck=DECK, board=parse_board(board, DECK), menu=parse_menu(menu), **fields)


def solved(given, iterations=3, **options):
    tree = build_holdem_tree(given, **options)
    solver = CFRSolver(tree, CFRPlus(), dtype=np.float64)
    solver.iterate(iterations)
    return TreeStrategy(tree, solver.tables.strategy_sum)


def write(tree, player, table, answer):
    """Overwrites what a player does everywhere in a table; `answer` says so by decision and board."""
    for index, board in enumerate(tree.boards):
        for node, decision in tree.decisions.items():
            if decision.player == player and decision.street == tree.arrays.boards[index, 0]:
                table[tree.cells(index, node)] = answer(node, board)[tree.hands[index][player]]


@pytest.fixture(scope="module")
def river():
    return solved(spot())


def worth(search, stage, node, board, only=None):
    """Returns what the opponent's best response within a stage earns from a decision on, with every action or one."""
    place, profile = HoldemPlace(node, board), stage.profile
    if only is None:
        return measure(profile, profile.subgame(place, search.searcher), search.opponent, Maxmargin()).value
    column = profile.betting.nodes[node].actions.index(only)
    return profile.action_values(place, search.opponent, columns=[column])[:, column]


def gifts_at(search, stage, node, board):
    return find_gifts(stage.profile, HoldemPlace(node, board), search.opponent, search.settings.method.reach)


def test_a_cut_is_the_betting_below():
    betting = betting_tree(spot().betting_rules, spot().menu)
    for node in betting.nodes:
        if node.kind is not NodeKind.DECISION:
            continue
        part = cut_betting(betting, node.index)
        again = betting_tree(betting.rules, betting.menu, root=node.state)
        assert [(one.state, one.actions, one.children, one.kind) for one in part.nodes] == [
            (one.state, one.actions, one.children, one.kind) for one in again.nodes
        ]
        for action in node.actions:
            single = cut_betting(betting, node.index, only=action)
            assert single.root.actions == (action,)
            assert len(single.nodes) <= len(part.nodes) - len(node.actions) + 1


def test_steps_of_public_states():
    assert parse_steps("9cThJsQhKs:cr30c") == ((1, 30, 1), parse_board("9cThJsQhKs"))
    assert parse_steps("r6c/9cThJs:cc/Qh:r30f") == ((6, 1, -1, 1, 1, -1, 30, 0), parse_board("9cThJsQh"))
    for total in ("0", "1", "030", "9" * 5000):  # 0 and 1 stand for fold and call
        with pytest.raises(ParseError, match="is no public state of hold'em"):
            parse_steps(f"9cThJsQhKs:r{total}")


def test_reaches_are_those_of_the_solver(river):
    tree = river.tree
    solver = CFRSolver(tree, CFRPlus(), dtype=np.float64)
    solver.tables.strategy_sum[:] = river.sums
    stage = NestedSearch(HoldemProfile(river), 0).begin()
    for node in tree.decisions:
        view = view_average(solver, tree.spot.board, node)
        for player, own in enumerate(stage.profile.reach(HoldemPlace(node, tree.spot.board))):
            np.testing.assert_allclose(own[view.players[player].hands], view.players[player].weights, atol=1e-12)


@pytest.mark.parametrize("searcher", [0, 1])
def test_best_responses_from_the_root_are_those_of_the_whole_tree(river, searcher):
    search = NestedSearch(HoldemProfile(river), searcher)
    found = worth(search, search.begin(), 0, river.tree.spot.board)
    whole = HoldemSubgame.of_tree(river.tree, river.sums)
    expected = given_there(whole.best_values(search.opponent, river.sums), whole.mass(search.opponent))
    dealt = search.profile.dealt(search.opponent) > 0
    np.testing.assert_allclose(found[dealt], expected[dealt], atol=1e-4)  # strategies are copied in single precision


@pytest.mark.parametrize("board", ["9cThJsQhKs", "9cThJsQh"])
def test_the_best_action_is_worth_what_the_decision_is(board):
    policy = solved(spot(board, menu="100%, a", stacks=(30, 30)), merges_suits=False)
    search = NestedSearch(HoldemProfile(policy), 1)
    stage, tree = search.begin(), policy.tree
    faced = next(
        node.index
        for node in tree.betting.nodes
        if node.state.num_raises == 1 and node.state.actor == 0 and node.state.street == tree.betting.root.state.street
    )
    for node in (0, faced):
        actions = tree.betting.nodes[node].actions
        each = [worth(search, stage, node, tree.spot.board, only=action) for action in actions]
        found = worth(search, stage, node, tree.spot.board)
        np.testing.assert_allclose(np.max(each, axis=0)[found != 0], found[found != 0], atol=1e-4)
    assert np.all(each[0] == -tree.betting.nodes[faced].state.committed[0])  # folding


class Asked:
    """A policy of which only what hands play can be asked."""

    def __init__(self, policy):
        self.tree, self.probabilities = policy.tree, policy.probabilities


@pytest.mark.parametrize("merges_suits", [True, False])
def test_strategies_are_copied_row_by_row_or_at_once(merges_suits):
    given = spot("9cTcJcQc", menu="100%, a", stacks=(30, 30), ranges=(Range.random(DECK), parse_range("99+, AK", DECK)))
    policy = solved(given, merges_suits=merges_suits)
    assert (len(policy.tree.boards) < 33) == merges_suits
    for searcher in (0, 1):
        found = [
            worth(search := NestedSearch(HoldemProfile(one), searcher), search.begin(), node, given.board)
            for node in (0, policy.tree.betting.root.children[1])
            for one in (policy, Asked(policy))
        ]
        np.testing.assert_allclose(found[0], found[1], atol=1e-4)
        np.testing.assert_allclose(found[2], found[3], atol=1e-4)
        assert np.ptp(found[2]) > 1


@pytest.mark.parametrize("method", [Resolve(), Maxmargin(), Maxmargin(reach=Reach())], ids=["resolve", "max", "reach"])
def test_search_at_every_decision_does_not_raise_what_the_opponent_wins(river, method):
    tree, searcher = river.tree, 1
    search = NestedSearch(HoldemProfile(river), searcher, SearchSettings(method=method, iterations=200))
    first = search.begin()
    table = river.sums.copy()

    def answer(node, board):
        found = search.search(first, HoldemPlace(node, board))
        if found is None:
            return river.probabilities(HoldemPlace(node, board))
        assert found.least_margin > -0.05
        return found.stage.profile.probabilities(HoldemPlace(0, board))

    write(tree, searcher, table, answer)
    before, after = (evaluate(tree, sums).best_response_values[0] for sums in (river.sums, table))
    assert after < before + 0.01


def price_replies(board, sizes, unknown, methods=()):
    """Returns what an unknown bet gains the first player, replied to by translation to a bet (or none) and by methods.

    Args:
        board: of the river.
        sizes: of all bets, in % of the pot.
        unknown: which of them the strategy lacks.
        methods: of nested search.
    """
    known, full = (
        spot(board, menu=f"{', '.join(f'{one}%' for one in some)}; cap: 1", stacks=(60, 60))
        for some in ([one for one in sizes if one != unknown], sizes)
    )
    policy, tree = solved(known, iterations=1000), build_holdem_tree(full)
    first = policy.tree.betting.root
    bet = tree.betting.root.actions[1 + sizes.index(unknown)]
    images = {0.0: np.eye(2)[[1] * DECK.num_hands]}  # what is taken for no bet is called
    for action, child in zip(first.actions[1:], first.children[1:], strict=True):
        images[(action - 10) / 20] = policy.probabilities(HoldemPlace(child, known.board))

    def translate(among):
        return sum(share * images[size] for size, share in translate_bet((bet - 10) / 20, sorted(among)).items())

    replies = [translate(set(images) - {0.0}), translate(images)]
    for method in methods:
        search = NestedSearch(HoldemProfile(policy), 1, SearchSettings(method=method))
        found = search.search(search.begin(), HoldemPlace(0, known.board), Reply(bet))
        replies.append(found.stage.profile.probabilities(HoldemPlace(found.stage.place.node, known.board)))

    def play(node, reply):
        here = tree.betting.nodes[node]
        if here.parent == 0 and here.action == bet:
            return reply
        image = policy.tree.betting.nodes[first.children[first.actions.index(here.action)]]
        out = np.zeros((DECK.num_hands, len(here.actions)))
        out[:, [here.actions.index(one) for one in image.actions]] = policy.probabilities(
            HoldemPlace(image.index, known.board)
        )
        return out

    gained = []
    for reply in replies:
        table = np.zeros(tree.arrays.num_cells)
        write(tree, 1, table, lambda node, _, reply=reply: play(node, reply))
        gained.append(evaluate(tree, table).best_response_values[0])
    return np.array(gained) - evaluate(policy.tree, policy.sums).best_response_values[0]


def test_small_bets_cost_less_if_they_may_be_taken_for_none():
    to_a_bet, to_a_bet_or_none = price_replies("6c9hJs7h7s", (20, 50, 100), 20)
    assert 0 < to_a_bet_or_none < 0.6 * to_a_bet


def test_replies_to_unknown_bets_cost_nothing_where_translation_does():
    translated, same, maxmargin = price_replies("9cThJsQhKs", (33, 100, 250), 100, [Maxmargin()])
    assert translated == same  # no bet is not among the neighbours
    assert translated > 0.3
    assert maxmargin < 1e-6


@pytest.mark.parametrize("board", ["6c9hJs7h7s", "AcTh8s6h6s"])
def test_resolving_costs_less_than_translation_where_the_bet_is_worth_much(board):
    _, translated, resolved = price_replies(board, (25, 100, 300), 100, [Resolve()])
    assert 0 < resolved < 0.8 * translated


def test_gifts_are_what_folding_would_have_saved(river):
    search = NestedSearch(HoldemProfile(river), 1)
    stage, betting = search.begin(), river.tree.betting
    # check, bet, raise: the opponent faced a bet and could have folded
    check = betting.root.children[0]
    bet = betting.nodes[check].children[1]
    raised = betting.nodes[bet].children[2]
    gifts = gifts_at(search, stage, raised, river.tree.spot.board)
    value = worth(search, stage, bet, river.tree.spot.board, only=betting.nodes[bet].actions[2])
    committed = betting.nodes[bet].state.committed[0]
    call = worth(search, stage, bet, river.tree.spot.board, only=1)  # ends the hand too
    possible = value != 0
    expected = np.maximum(np.maximum(call, -committed), value) - value
    np.testing.assert_allclose(gifts[possible], expected[possible], atol=1e-9)
    assert gifts.min() >= 0
    assert gifts.max() > 0
    assert np.all(gifts_at(search, stage, check, river.tree.spot.board) == 0)  # a check gives nothing away for certain
    exact = NestedSearch(
        HoldemProfile(river), 1, SearchSettings(method=Maxmargin(reach=Reach(bound=GiftBound.EXACT, scale=2.0)))
    )
    assert np.all(gifts_at(exact, stage, raised, river.tree.spot.board) >= 2 * gifts - 1e-6)
    none = NestedSearch(HoldemProfile(river), 1, SearchSettings(method=Maxmargin(reach=Reach(scale=0.0))))
    assert not gifts_at(none, stage, raised, river.tree.spot.board).any()


def test_searches_on_the_river_follow_a_policy_of_the_turn():
    policy = solved(spot("9cThJsQh", menu="100%", stacks=(20, 20)))
    search = NestedSearch(HoldemProfile(policy), 1, SearchSettings(method=Maxmargin(reach=Reach(is_split=False))))
    betting = policy.tree.betting
    dealt = next(node for node in betting.nodes if node.state.street == 3 and node.kind is NodeKind.DECISION)
    found = search.search(search.begin(), HoldemPlace(dealt.index, parse_board("9cThJsQhKs", DECK)))
    assert found.least_margin > -0.05
    assert found.subgame.tree.spot.name == "river 9cThJsQhKs"
    assert found.subgame.num_bytes > 0
    nested = search.search(found.stage, HoldemPlace(0, found.subgame.tree.spot.board), Reply(dealt.state.base + 7))
    assert nested.stage.profile.betting.root.state.committed[0] == dealt.state.base + 7
    assert nested.least_margin > -0.5


def test_a_finer_menu_may_be_searched(river):
    settings = SearchSettings(iterations=50, menu=parse_menu("33%, 66%, 100%, a"))
    found = NestedSearch(HoldemProfile(river), 0, settings).search(
        NestedSearch(HoldemProfile(river), 0).begin(), HoldemPlace(0, river.tree.spot.board)
    )
    assert found.stage.profile.betting.root.actions == (1, 17, 23, 30, 50)


@pytest.mark.parametrize("is_expensive", [False, True])
def test_replies_consider_a_finer_menu_too(river, is_expensive):
    menu = parse_menu("33%, 66%, 100%, a")
    settings = SearchSettings(iterations=5, menu=menu, is_expensive=is_expensive)
    search = NestedSearch(HoldemProfile(river), 1, settings)
    found = search.search(search.begin(), HoldemPlace(0, river.tree.spot.board), Reply(25))
    behind = grow_behind(river.tree.betting, 0, 25, menu)
    assert len(behind.root.actions) > len(grow_behind(river.tree.betting, 0, 25).root.actions)
    assert found.stage.profile.betting.nodes[found.stage.place.node].actions == behind.root.actions


def test_unsafe_search_keeps_both_ranges(river):
    search = NestedSearch(HoldemProfile(river), 1, SearchSettings(method=Unsafe(), iterations=100))
    node = river.tree.betting.root.children[1]
    found = search.search(search.begin(), HoldemPlace(node, river.tree.spot.board))
    reach = search.begin().profile.reach(HoldemPlace(node, river.tree.spot.board))[0]
    np.testing.assert_allclose(found.subgame.tree.spot.ranges[0].weights, reach / reach.max())
    assert search.search(search.begin(), HoldemPlace(0, river.tree.spot.board), Reply(25)) is not None


def test_uniform_hands_are_a_blueprint_too():
    policy = UniformStrategy(SpotPlaces.of(spot()))
    found = NestedSearch(HoldemProfile(policy), 0).search(
        NestedSearch(HoldemProfile(policy), 0).begin(), HoldemPlace(0, policy.tree.spot.board)
    )
    assert found.least_margin > 0  # uniform play is easily improved


def test_places_that_the_searcher_does_not_play_to_are_left(river):
    class Checks(UniformStrategy):
        def probabilities(self, place):
            out = super().probabilities(place)
            out[:, 1:] = 0.0
            return out

    policy = Checks(SpotPlaces.of(spot()))
    search = NestedSearch(HoldemProfile(policy), 0)
    raised = policy.tree.betting.nodes[policy.tree.betting.root.children[1]].children[2]
    assert search.search(search.begin(), HoldemPlace(raised, policy.tree.spot.board)) is None


def test_nonsense_is_refused(river):
    for make, message in (
        (lambda: SearchSettings(iterations=0), "iterations must be at least 1, got 0"),
        (lambda: SearchSettings(early_iterations=0), "early_iterations must be at least 1, got 0"),
        (
            lambda: SearchSettings(method=Resolve(alternatives=Given(np.zeros(2)))),
            "finds its alternatives itself",
        ),
        (
            lambda: NestedSearch(
                HoldemProfile(UniformStrategy(SpotPlaces.of(dataclasses.replace(spot(), rake_rate=0.05)))), 0
            ),
            "the spot has a rake of 0.05",
        ),
    ):
        with pytest.raises(ConfigError, match=message):
            make()
    small = NestedSearch(HoldemProfile(river), 0, SearchSettings(max_bytes=10))
    with pytest.raises(GameTooLargeError, match="searching the river 9cThJsQhKs takes"):
        small.search(small.begin(), HoldemPlace(0, river.tree.spot.board))


def test_deals_are_counted_by_all_their_cards():
    betting = betting_tree(BettingRules(stacks=(4, 4), small_blind=1, big_blind=2), parse_menu("a"))
    numbers = {
        node.state.street.name: count_deals(betting, node.index, 52)
        for node in betting.nodes
        if node.kind is NodeKind.DECISION and betting.nodes[max(node.parent, 0)].kind is NodeKind.STREET_END
    }
    assert numbers == {"FLOP": 22100, "TURN": 49, "RIVER": 48}
    assert count_deals(betting, 0, 52) == 1
