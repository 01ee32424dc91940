# SPDX-License-Identifier: Apache-2.0
"""Both forms of nested search in hold'em, beside those of any game on a river that both can build."""

import dataclasses
import functools

import numpy as np
import pytest

from equipoise.agents.holdem import describe_holdem_decision, hands_by_name
from equipoise.agents.holdem_search import HoldemSearchAgent, HoldemSearchPlan
from equipoise.agents.search import SearchWhen
from equipoise.games.holdem.betting_tree import add_to_root, betting_tree
from equipoise.games.holdem.cards import parse_board, parse_deck
from equipoise.games.holdem.menu_notation import parse_menu
from equipoise.games.holdem.public_text import parse_steps
from equipoise.games.holdem.ranges import Range
from equipoise.games.holdem.rules import HoldemEndgame
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.search.gadgets import Maxmargin, Reach, Resolve, Unsafe
from equipoise.search.holdem_nested import HoldemNestedSearch, HoldemSearchSettings, Reply
from equipoise.search.nested import NestedSearch
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
FEW = 20  # iterations; float32 and float64 part later


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
        self.strategy = self.copy()

    def node(self, label):
        """Returns the decision of the solved spot's betting at a public state, None if it does not know the way."""
        node = 0
        for step in parse_steps(label)[0]:
            here = self.policy.tree.betting.nodes[node]
            if step not in here.actions:
                return None
            node = here.children[here.actions.index(step)]
        return node

    def copy(self):
        """Returns `[C]` over the tree what the solved spot plays."""
        out = self.tree.legal_share.copy()
        for row, label in enumerate(self.tree.infoset_labels):
            hand, _, state = label.partition("|")
            node = self.node(state)
            if node is not None:
                cells = self.tree.sequence_cell[self.tree.infoset_start[row] : self.tree.infoset_start[row + 1]]
                out[cells] = 0.0
                out[cells[self.known(int(self.tree.infoset_node[row]))]] = self.policy.probabilities(
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


SAFE = [Resolve(), Resolve(share=0.2), Maxmargin(), Maxmargin(reach=Reach())]


@pytest.mark.parametrize(("searcher", "line"), PLACES)
@pytest.mark.parametrize(
    ("method", "is_expensive"), [(Unsafe(), True), *((method, form) for method in SAFE for form in (False, True))]
)
def test_replies_are_those_of_small_games(method, is_expensive, searcher, line):
    given = river()
    above = given.tree.public_labels.index(f"{BOARD_TEXT}:{line}")
    node = int(find_children(given.tree, above)[-2])
    small = NestedSearch(given.tree, given.off_tree, searcher, method, iterations=FEW, is_expensive=is_expensive)
    stage = small.reply(small.begin(given.strategy), node)
    everything = given.tree.legal_share.copy()
    stage.part.insert(stage.blueprint.strategy, everything)

    settings = HoldemSearchSettings(method=method, iterations=FEW, is_expensive=is_expensive)
    search = HoldemNestedSearch(given.policy, searcher, settings)
    action = parse_steps(given.tree.public_labels[node])[0][-1]
    found = search.search(
        search.begin(), given.node(given.tree.public_labels[above]), BOARD, Reply(action), is_there=True
    )
    expected = read_policy(given.tree, node, everything)[:, given.known(node)]
    rows = found.stage.policy.probabilities(HoldemPlace(found.node, BOARD))[given.hands(node, searcher)]
    np.testing.assert_allclose(rows, expected, atol=1e-4)
    assert found.stage.betting.nodes[found.node].state.committed[1 - searcher] == action
    if is_expensive:
        best = read_policy(stage.part.tree, 0, stage.blueprint.best_cfv(1 - searcher)).max(axis=1)
        mass = stage.blueprint.beliefs(0).mass(1 - searcher)
        np.testing.assert_allclose(found.value[given.hands(above, 1 - searcher)], best / mass, atol=1e-2)


def test_unsafe_search_always_begins_before_the_action():
    given = river()
    search = HoldemNestedSearch(given.policy, 1, HoldemSearchSettings(method=Unsafe(), iterations=FEW))
    found = search.search(search.begin(), 0, BOARD, Reply(150))
    assert found.stage.betting.root.state.actor == 0
    assert found.stage.betting.nodes[found.node].state.actor == 1


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
    settings = HoldemSearchSettings(method=Maxmargin(), iterations=FEW, is_expensive=True)
    plan = HoldemSearchPlan(search=settings, when=SearchWhen.REPLIES)
    agent = HoldemSearchAgent(given.policy, rules, plan=plan)
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
    assert len(agent._found) == 1
    np.testing.assert_array_equal(rows(150), searched)
    assert len(agent._found) == 1
    stage, node, _ = agent.stage_at(1, f"{BOARD_TEXT}:r150")
    assert stage.betting.root.actions == (1, 83, 150, 300)  # from before the bet on
    raised = stage.betting.nodes[node].actions[2]
    above = stage.betting.nodes[stage.betting.nodes[node].children[2]]
    later, deeper, _ = agent.stage_at(1, f"{BOARD_TEXT}:r150r{raised}r600")  # the menu has no third raise
    assert later.betting.root.actions == (*above.actions, 600)
    assert later.betting.nodes[deeper].state.committed == (600, raised)
    assert len(agent._found) == 2
