# SPDX-License-Identifier: Apache-2.0
"""Continual re-solving by hands: the same searches as on a public tree, and an exact price."""

import dataclasses
import functools

import numpy as np
import pytest

from equipoise.agents.continual import ContinualAgent
from equipoise.agents.holdem.hands import describe_holdem_decision
from equipoise.agents.notation import parse_agent
from equipoise.agents.simple import UniformAgent
from equipoise.core.errors import InvalidStateError
from equipoise.evaluation.matches import play_game
from equipoise.games.holdem.betting import CALL
from equipoise.games.holdem.cards import parse_board, parse_deck
from equipoise.games.holdem.menu_notation import parse_menu
from equipoise.games.holdem.ranges import Range
from equipoise.games.holdem.rules import HoldemEndgame
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.search.continual import ContinualSearch, ContinualSettings
from equipoise.search.gadgets import Resolve, SelfPlay, Unsafe
from equipoise.search.holdem.depth_limit import LeafChoices
from equipoise.search.holdem.profile import HoldemProfile
from equipoise.search.posing import measure
from equipoise.search.public import PublicProfile
from equipoise.search.settings import SearchSettings
from equipoise.search.walks import SearchWalk
from equipoise.solvers.best_response import evaluate
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rules import CFRPlus
from equipoise.trees.holdem.places import HoldemPlace
from equipoise.trees.holdem.tree import build_holdem_tree
from equipoise.trees.vector import TreeStrategy
from tests.search.river import BOARD, BOARD_TEXT, FEW, river

DECK = parse_deck("TJQKA/cd")
TURN = HoldemSpot(
    deck=DECK,
    board=parse_board("TcJdQcKd", DECK),
    pot=20,
    big_blind=2,
    stacks=(30, 30),
    ranges=(Range.random(DECK), Range.random(DECK)),
    menu=parse_menu("100%; cap: 1"),
)
GATE = Resolve(share=0.2)


def steps_to(tree, place):
    """Returns the actions and cards that lead to a place."""
    steps = []
    for above, below in tree.way_to(place):
        here = tree.betting.nodes[above.node]
        is_move = tree.actor_at(above) >= 0
        steps.append(here.actions[here.children.index(below.node)] if is_move else below.board[len(above.board) :])
    return steps


@functools.cache
def solved():
    solver = CFRSolver(build_holdem_tree(TURN, merges_suits=False), CFRPlus())
    solver.iterate(20)
    return solver


@functools.cache
def price(method, *, has_blueprint=False, **options):
    """Returns what a best response wins from continual re-solving in both seats, in chips per hand."""
    known = TreeStrategy(solved().tree, solved().tables.strategy_sum) if has_blueprint else None
    tree = build_holdem_tree(TURN, merges_suits=False)
    table = np.zeros(tree.arrays.num_cells)
    settings = ContinualSettings(method=method, iterations=200, holdem=SearchSettings(early_iterations=200, **options))
    for seat in (0, 1):
        search = ContinualSearch(TURN, seat, settings, blueprint=known)
        for index, board in enumerate(tree.boards):
            for node, decision in tree.decisions.items():
                if decision.player == seat and decision.street == tree.arrays.boards[index, 0]:
                    rows = search.policy_at(steps_to(tree, HoldemPlace(node, board)))
                    table[tree.cells(index, node)] = rows[tree.hands[index][seat]]
    return evaluate(tree, table).exploitability


def test_values_of_the_search_before_make_it_safe():
    assert price(GATE) < 0.01 * TURN.pot
    assert price(Unsafe()) > 3 * price(GATE)


def test_a_street_at_a_time_with_choices_at_its_end():
    limited = {"leaf_choices": LeafChoices(), "leaf_iterations": 200}
    blueprint = solved().evaluate().exploitability
    assert price(GATE, has_blueprint=True, **limited) < 0.5 * blueprint
    assert price(GATE, **limited) > blueprint  # leaves of uniform play say little


@pytest.mark.parametrize("line", ["", "c", "r83", "cr83"])
def test_searches_are_those_of_a_public_tree(line):
    given = river()
    plan = ContinualSettings(method=GATE, iterations=8).plan  # float32 and float64 part later
    small = PublicProfile(given.tree, given.strategy)
    node = given.tree.public_labels.index(f"{BOARD_TEXT}:{line}")
    seat = int(given.tree.actor[node])
    walk = SearchWalk(PublicProfile.without(given.tree, given.strategy, given.off_tree), seat, plan)
    stage, place = walk.stage_at([below for _, below in small.tree.way_to(node)], line)
    by_hand = SearchWalk(HoldemProfile(given.policy), seat, plan)
    tree = given.policy.tree
    found, at = by_hand.stage_at(steps_to(tree, HoldemPlace(given.node(f"{BOARD_TEXT}:{line}"), BOARD)), line)
    rows = found.profile.probabilities(at)[given.hands(node, seat)]
    np.testing.assert_allclose(rows, stage.profile.probabilities(place), atol=1e-3)
    assert len(by_hand.found) == len(walk.found) > 0


def test_alternatives_are_what_both_averages_earn():
    solver = solved()
    profile = HoldemProfile(TreeStrategy(solver.tree, solver.tables.strategy_sum))
    place = profile.tree.root_place
    standing = measure(profile, profile.subgame(place, 1), 0, Resolve(alternatives=SelfPlay()))
    weights = profile.mass(place, 0) * TURN.live_weights(0)
    assert standing.value @ weights / weights.sum() == pytest.approx(solver.evaluate().values[0], abs=1e-4)


def test_agents_meet_bets_outside_the_tree():
    chips = {"deck": "TJQKA/cd", "board": "TcJdQcKd", "pot": 20, "big_blind": 2, "small_blind": 1, "stacks": (30, 30)}
    rules = HoldemEndgame(menu="all", **chips)
    settings = ContinualSettings(iterations=20, holdem=SearchSettings(early_iterations=5))
    agent = ContinualAgent(TURN, rules=rules, search=settings)
    rng = np.random.default_rng(1)
    for seats in ([agent, UniformAgent()], [UniformAgent(), agent]):
        assert abs(sum(play_game(rules, seats, chance=rng, rng=rng))) < 1e-9
    state = rules.initial_state()
    for action in (*[card for card in DECK.cards if card not in TURN.board][:4], 17):
        state = rules.apply(state, action)
    rows = agent.public_strategy(describe_holdem_decision(rules, state), rng=rng)
    np.testing.assert_allclose(rows.sum(axis=1)[rows.any(axis=1)], 1.0, atol=1e-6)
    assert parse_agent("continual:10", dataclasses.replace(rules, menu="100%")).name == "continual"
    with pytest.raises(InvalidStateError, match="player 1 does not act"):
        ContinualSearch(TURN, 1, settings).policy_at([])


def test_a_blueprint_is_played_until_its_own_decision():
    given = river()
    search = ContinualSearch(given.policy.tree.spot, 1, ContinualSettings(iterations=FEW), blueprint=given.policy)
    rows = search.policy_at([CALL])
    assert np.abs(rows - given.policy.probabilities(HoldemPlace(given.node(f"{BOARD_TEXT}:c"), BOARD))).max() > 1e-3
