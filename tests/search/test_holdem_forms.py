# SPDX-License-Identifier: Apache-2.0
"""Both forms of nested search in hold'em, beside those of any game on a river that both can build."""

import dataclasses

import numpy as np
import pytest

from equipoise.agents.holdem.hands import describe_holdem_decision
from equipoise.agents.search import SearchAgent, SearchPlan, SearchWhen
from equipoise.games.holdem.betting_tree import add_to_root, betting_tree
from equipoise.games.holdem.menu_notation import parse_menu
from equipoise.games.holdem.public_text import parse_steps
from equipoise.search.gadgets import Distribution, Estimate, GiftBound, Maxmargin, Reach, Resolve, Unsafe
from equipoise.search.holdem.profile import HoldemProfile
from equipoise.search.nested import NestedSearch
from equipoise.search.profiles import Reply
from equipoise.search.settings import SearchSettings
from equipoise.trees.holdem.places import HoldemPlace
from equipoise.trees.public_edges import find_children, read_policy
from tests.search.river import BOARD, BOARD_TEXT, DECK, FEW, river

PLACES = [(1, ""), (0, "c"), (0, "r83")]  # who searches, and where the other bets or raises the pot


SAFE = [
    Resolve(),
    Resolve(share=0.2),
    Maxmargin(),
    Maxmargin(reach=Reach()),
    Resolve(alternatives=Estimate()),
    Resolve(alternatives=Estimate(), distribution=Distribution(), reach=Reach()),
    Maxmargin(alternatives=Estimate(), distribution=Distribution(), reach=Reach(bound=GiftBound.EXACT)),
]


@pytest.mark.parametrize(("searcher", "line"), PLACES)
@pytest.mark.parametrize(
    ("method", "is_expensive"), [(Unsafe(), True), *((method, form) for method in SAFE for form in (False, True))]
)
def test_replies_are_those_of_small_games(method, is_expensive, searcher, line):
    given = river()
    above = given.tree.public_labels.index(f"{BOARD_TEXT}:{line}")
    node = int(find_children(given.tree, above)[-2])
    settings = SearchSettings(method=method, iterations=FEW, is_expensive=is_expensive)
    small, search = (NestedSearch(profile, searcher, settings) for profile in given.profiles())
    first = small.begin()
    inner = int(np.searchsorted(first.profile.ground.nodes, above))
    twin = small.search(first, inner, Reply(node))
    everything = given.tree.legal_share.copy()
    twin.stage.profile.ground.insert(twin.strategy, everything)

    action = parse_steps(given.tree.public_labels[node])[0][-1]
    place = HoldemPlace(given.node(given.tree.public_labels[above]), BOARD)
    found = search.search(search.begin(), place, Reply(action), is_there=True)
    expected = read_policy(given.tree, node, everything)[:, given.known(node)]
    rows = found.stage.profile.probabilities(HoldemPlace(found.stage.place.node, BOARD))[given.hands(node, searcher)]
    np.testing.assert_allclose(rows, expected, atol=1e-4)
    assert found.stage.profile.betting.nodes[found.stage.place.node].state.committed[1 - searcher] == action
    if is_expensive:
        profile = twin.stage.profile
        best = read_policy(profile.tree, 0, profile.best_cfv(1 - searcher)).max(axis=1)
        mass = profile.beliefs(0).mass(1 - searcher)
        np.testing.assert_allclose(found.value[given.hands(above, 1 - searcher)], best / mass, atol=1e-2)
    hands = given.hands(node if found.stage.place.node == 0 else above, 1 - searcher)
    np.testing.assert_allclose(found.alternative[hands], twin.alternative, atol=1e-3)
    np.testing.assert_allclose(found.value[hands], twin.value, atol=1e-2, rtol=5e-4)
    np.testing.assert_allclose(found.stage.gifts[hands], twin.stage.gifts, atol=1e-3)
    np.testing.assert_allclose(found.opponent_weights()[hands], twin.opponent_weights(), atol=1e-6)
    np.testing.assert_allclose(found.responses(), twin.responses(), atol=1e-2, rtol=5e-4)


def test_a_new_action_of_the_root_is_a_branch_in_its_place():
    given = river().policy.tree.spot
    whole = betting_tree(given.betting_rules, parse_menu("33%, 100%, 250%; cap: 1"))
    for gone in (2, 3, 4):  # the smallest, the middle and the largest bet
        sizes = ", ".join(size for place, size in enumerate(("33%", "100%", "250%")) if place + 1 != gone - 1)
        part = betting_tree(given.betting_rules, parse_menu(f"{sizes}; cap: 1"))
        # the other player's bets behind a check lack the size as well: compare the root's branches
        action = whole.root.actions[gone - 1]
        more = add_to_root(part, action)
        assert more.root.actions == whole.root.actions
        assert [node.index for node in more.nodes] == list(range(len(more.nodes)))
        assert list(more.root.children) == sorted(more.root.children)  # in pre-order, as all trees are
        for node in more.nodes[1:]:
            above = more.nodes[node.parent]
            assert above.children.index(node.index) == (0 if node.action < 0 else above.actions.index(node.action))
        branch, same = (tree.nodes[tree.root.children[gone - 1] :][:3] for tree in (more, whole))
        assert [(one.state, one.actions, one.kind, one.folder) for one in branch] == [
            (one.state, one.actions, one.kind, one.folder) for one in same
        ]
    assert add_to_root(whole, 150) is whole


def test_other_branches_keep_the_strategy_and_later_bets_are_nested_upon_the_last_search():
    given = river()
    rules = dataclasses.replace(given.game, menu="all")
    settings = SearchSettings(method=Maxmargin(), iterations=FEW, is_expensive=True)
    plan = SearchPlan(search=settings, when=SearchWhen.REPLIES)
    agent = SearchAgent(HoldemProfile(given.policy), game=rules, plan=plan)
    rng = np.random.default_rng(0)
    hole = [card for card in DECK.cards if card not in BOARD][:4]

    def rows(*actions):
        state = rules.initial_state()
        for action in (*hole, *actions):
            state = rules.apply(state, action)
        return agent.public_strategy(describe_holdem_decision(rules, state), rng=rng)

    before = rows(83)
    searched = rows(150)
    np.testing.assert_array_equal(rows(83), before)
    assert sum(len(walk.found) for walk in agent.ground.walks) == 1
    np.testing.assert_array_equal(rows(150), searched)
    assert sum(len(walk.found) for walk in agent.ground.walks) == 1
    stage, (node, _) = agent.ground.stage_at(1, f"{BOARD_TEXT}:r150")
    assert stage.profile.betting.root.actions == (1, 83, 150, 300)  # from before the bet on
    raised = stage.profile.betting.nodes[node].actions[2]
    above = stage.profile.betting.nodes[stage.profile.betting.nodes[node].children[2]]
    later, (deeper, _) = agent.ground.stage_at(1, f"{BOARD_TEXT}:r150r{raised}r600")  # the menu has no third raise
    assert later.profile.betting.root.actions == (*above.actions, 600)
    assert later.profile.betting.nodes[deeper].state.committed == (600, raised)
    assert sum(len(walk.found) for walk in agent.ground.walks) == 2
