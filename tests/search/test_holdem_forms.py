# SPDX-License-Identifier: Apache-2.0
"""Both forms of nested search in hold'em, beside those of any game on a river that both can build."""

import dataclasses
import functools

import numpy as np
import pytest

from equipoise.agents.holdem.hands import describe_holdem_decision, hands_by_name
from equipoise.agents.search import SearchAgent, SearchPlan, SearchWhen
from equipoise.games.holdem.betting_tree import add_to_root, betting_tree
from equipoise.games.holdem.cards import parse_board, parse_deck
from equipoise.games.holdem.menu_notation import parse_menu
from equipoise.games.holdem.public_text import parse_steps
from equipoise.games.holdem.ranges import Range
from equipoise.games.holdem.rules import HoldemEndgame
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.search.gadgets import Distribution, Estimate, GiftBound, Maxmargin, Reach, Resolve, Unsafe
from equipoise.search.holdem.profile import HoldemProfile
from equipoise.search.nested import NestedSearch
from equipoise.search.profiles import Reply
from equipoise.search.public import PublicProfile
from equipoise.search.settings import SearchSettings
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rules import CFRPlus
from equipoise.trees.derive import derive_public_game
from equipoise.trees.holdem.places import HoldemPlace
from equipoise.trees.holdem.tree import build_holdem_tree
from equipoise.trees.public import build_public_tree
from equipoise.trees.public_edges import find_children, read_policy
from equipoise.trees.subtree import find_private_labels
from equipoise.trees.vector import TreeStrategy

DECK_TEXT, BOARD_TEXT = "QKA/cdhs", "QcKhAsQhKs"
DECK = parse_deck(DECK_TEXT)
BOARD = parse_board(BOARD_TEXT, DECK)
HAND_OF = hands_by_name(DECK)
FEW = 10  # iterations; float32 and float64 part later


class River:
    """A river of twelve cards solved for bets of 33 % and 250 % of the pot, and its tree with bets of 100 % too."""

    def __init__(self):
        chips = {"pot": 100, "big_blind": 10, "stacks": (4000, 4000)}
        self.game = HoldemEndgame(
            deck=DECK_TEXT, board=BOARD_TEXT, small_blind=5, menu="33%, 100%, 250%; cap: 2", **chips
        )
        self.tree = build_public_tree(derive_public_game(self.game))
        self.off_tree = [
            int(find_children(self.tree, node)[-2])
            for node in np.flatnonzero(self.tree.num_actions > 3)  # all three sizes: the middle one
        ]
        ranges = Range.random(DECK), Range.random(DECK)
        spot = HoldemSpot(deck=DECK, board=BOARD, menu=parse_menu("33%, 250%; cap: 2"), ranges=ranges, **chips)
        solver = CFRSolver(build_holdem_tree(spot), CFRPlus(), dtype=np.float64)
        solver.iterate(30)
        self.policy = TreeStrategy(solver.tree, solver.tables.strategy_sum)
        self.last = TreeStrategy(solver.tree, solver.tables.regret_sum)
        self.strategy = self.copy(self.policy)

    def node(self, label):
        """Returns the decision of the solved spot's betting at a public state, None if it does not know the way."""
        node = 0
        for step in parse_steps(label)[0]:
            here = self.policy.tree.betting.nodes[node]
            if step not in here.actions:
                return None
            node = here.children[here.actions.index(step)]
        return node

    def profiles(self):
        """Returns the solved spot and its last iterate on both trees."""
        small = PublicProfile.without(self.tree, self.strategy, self.off_tree)
        small.response = TreeStrategy(small.tree, small.ground.restrict(self.copy(self.last)))
        return small, HoldemProfile(self.policy, response=self.last)

    def copy(self, policy):
        """Returns `[C]` over the tree what a strategy of the solved spot plays."""
        out = self.tree.legal_share.copy()
        for row, label in enumerate(self.tree.infoset_labels):
            hand, _, state = label.partition("|")
            node = self.node(state)
            if node is not None:
                cells = self.tree.sequence_cell[self.tree.infoset_start[row] : self.tree.infoset_start[row + 1]]
                out[cells] = 0.0
                out[cells[self.known(int(self.tree.infoset_node[row]))]] = policy.probabilities(
                    HoldemPlace(node, BOARD)
                )[HAND_OF[hand]].tolist()
        return out

    def known(self, node):
        """Returns which of a node's actions are no bets of the pot."""
        return [place for place, child in enumerate(find_children(self.tree, node)) if int(child) not in self.off_tree]

    def hands(self, node, player):
        """Returns the deck's numbers of a player's private states at a node."""
        return [HAND_OF[label.partition("|")[0]] for label in find_private_labels(self.tree, node, player)]


@functools.cache
def river():
    return River()


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


def test_unsafe_search_always_begins_before_the_action():
    given = river()
    search = NestedSearch(HoldemProfile(given.policy), 1, SearchSettings(method=Unsafe(), iterations=FEW))
    found = search.search(search.begin(), HoldemPlace(0, BOARD), Reply(150))
    assert found.stage.profile.betting.root.state.actor == 0
    assert found.stage.profile.betting.nodes[found.stage.place.node].state.actor == 1


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
