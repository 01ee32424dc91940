# SPDX-License-Identifier: Apache-2.0
"""Every public sequence of bets that a menu allows, as a flat tree without cards.

Where cards are dealt the tree has one child, whatever the cards are; a hold'em tree repeats what follows for
every board.
"""

from __future__ import annotations

import bisect
import dataclasses
import enum
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from equipoise.core.errors import GameTooLargeError
from equipoise.core.formatting import brief_repr
from equipoise.games.holdem.betting import (
    NOBODY,
    BettingRules,
    BettingState,
    Stage,
    Street,
    apply_action,
    initial_betting,
    next_street,
)
from equipoise.games.holdem.menus import Menu, check_menu, menu_actions

__all__ = [
    "DEALING",
    "NO_PARENT",
    "BettingNode",
    "BettingTree",
    "NodeCounts",
    "NodeKind",
    "add_to_root",
    "betting_tree",
    "count_nodes",
    "cut_betting",
]

NO_PARENT: Final = -1
DEALING: Final = -1  # the action that leads from the end of a round into the next one


class NodeKind(enum.Enum):
    """What a node of a betting tree is.

    >>> from collections import Counter
    >>> from equipoise.games.holdem import parse_menu
    >>> rules = BettingRules(stacks=(10, 10), pot=4, first_street=Street.RIVER)
    >>> Counter(node.kind.name for node in betting_tree(rules, parse_menu("100%, a")).nodes)
    Counter({'DECISION': 4, 'SHOWDOWN': 3, 'FOLD': 2})
    """

    DECISION = "decision"
    STREET_END = "street end"
    FOLD = "fold"
    SHOWDOWN = "showdown"


KINDS = {
    Stage.ACT: NodeKind.DECISION,
    Stage.DEAL: NodeKind.STREET_END,
    Stage.FOLD: NodeKind.FOLD,
    Stage.SHOWDOWN: NodeKind.SHOWDOWN,
}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class BettingNode:
    """One public sequence of bets: what led to it, where the betting stands, what leads on.

    >>> from equipoise.games.holdem import parse_menu
    >>> rules = BettingRules(stacks=(10, 10), pot=4, first_street=Street.RIVER)
    >>> betting_tree(rules, parse_menu("100%, a")).root.actions
    (1, 12)
    """

    index: int
    parent: int  # NO_PARENT at the root
    action: int  # that led here from the parent, DEALING after cards and at the root
    kind: NodeKind
    state: BettingState  # pot, stacks and actor
    actions: tuple[int, ...]  # at a decision: fold (0), call (1), totals raised to; ascending
    children: tuple[int, ...]  # in the order of the actions; at a street end the one that follows the deal
    folder: int  # whose fold ended the hand, NOBODY at other nodes


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class BettingTree:
    """All sequences of bets from one root, in depth-first pre-order: node 0 is the root, parents come first.

    >>> from equipoise.games.holdem import parse_menu
    >>> rules = BettingRules(stacks=(10, 10), pot=4, first_street=Street.RIVER)
    >>> tree = betting_tree(rules, parse_menu("100%, a"))
    >>> len(tree.nodes), tree.root.kind.name
    (9, 'DECISION')
    """

    rules: BettingRules
    menu: Menu
    nodes: tuple[BettingNode, ...]

    __repr__ = brief_repr

    @property
    def root(self) -> BettingNode:
        """Returns the node from which the tree grows."""
        return self.nodes[0]


class NodeCounts(NamedTuple):
    """How many nodes of each kind a tree has."""

    decisions: int
    showdowns: int
    folds: int
    street_ends: int


class _Entry(NamedTuple):
    """A node that is not finished: its children are not numbered yet."""

    parent: int
    action: int
    state: BettingState


def betting_tree(
    rules: BettingRules,
    menu: Menu,
    *,
    root: BettingState | None = None,
    is_one_round: bool = False,
    max_nodes: int = 1_000_000,
) -> BettingTree:
    """Returns every sequence of bets that a menu allows.

    Args:
        rules: Of the hand.
        menu: What the tree offers.
        root: Where the tree starts; by default where the hand does.
        is_one_round: Whether the tree stops where the root's round ends, as trees with value functions do.
        max_nodes: Refuse menus whose tree has more nodes.
    """
    check_menu(rules, menu)
    root = initial_betting(rules) if root is None else root
    entries: list[_Entry] = []
    actions: list[tuple[int, ...]] = []
    children: list[list[int]] = []
    pending = [_Entry(NO_PARENT, DEALING, root)]
    while pending:
        if len(entries) == max_nodes:
            raise GameTooLargeError(
                f"menu gives a betting tree of more than {max_nodes} nodes; offer fewer sizes, or add 'cap: 3'"
            )
        entry = pending.pop()
        index, state = len(entries), entry.state
        if entry.parent != NO_PARENT:
            children[entry.parent].append(index)
        entries.append(entry)
        actions.append(_actions(rules, menu, state, root))
        children.append([])
        pending += [_Entry(index, a, apply_action(rules, state, a)) for a in reversed(actions[index])]
        if state.stage is Stage.DEAL and not is_one_round:
            pending.append(_Entry(index, DEALING, next_street(rules, state)))
    nodes = (_finish(index, entries, actions[index], children[index]) for index in range(len(entries)))
    return BettingTree(rules=rules, menu=menu, nodes=tuple(nodes))


def cut_betting(tree: BettingTree, node: int, *, only: int | None = None) -> BettingTree:
    """Returns what follows a decision as a tree of its own.

    Args:
        tree: The whole.
        node: Where the part starts.
        only: The one action that is left there; None: all of them.
    """
    root = tree.nodes[node]
    kept = [node]
    branches = root.children if only is None else (root.children[root.actions.index(only)],)
    for first in branches:
        last = first + 1
        while last < len(tree.nodes) and tree.nodes[last].parent >= first:  # pre-order: all below stand together
            last += 1
        kept += range(first, last)
    number = {old: new for new, old in enumerate(kept)}
    nodes = [
        dataclasses.replace(
            tree.nodes[old],
            index=new,
            parent=number[tree.nodes[old].parent],
            children=tuple(number[child] for child in tree.nodes[old].children),
        )
        for old, new in number.items()
        if new > 0
    ]
    top = dataclasses.replace(
        root,
        index=0,
        parent=NO_PARENT,
        action=DEALING,
        actions=root.actions if only is None else (only,),
        children=tuple(number[child] for child in branches),
    )
    return dataclasses.replace(tree, nodes=(top, *nodes))


def add_to_root(tree: BettingTree, action: int, *, is_one_round: bool = False) -> BettingTree:
    """Returns a tree whose root offers one more action, behind which its menu goes on.

    Args:
        tree: The whole.
        action: Of the player who acts at the root; one that is offered there changes nothing.
        is_one_round: Whether the tree stops where the root's round ends.
    """
    root = tree.root
    if action in root.actions:
        return tree
    place = bisect.bisect(root.actions, action)
    first = root.children[place] if place < len(root.children) else len(tree.nodes)
    state = apply_action(tree.rules, root.state, action)
    branch = betting_tree(tree.rules, tree.menu, root=state, is_one_round=is_one_round).nodes
    top, *below = _shift(tree.nodes, first, len(branch))
    middle = _shift(branch, 0, first)
    middle[0] = dataclasses.replace(middle[0], parent=0, action=action)
    actions, children = list(root.actions), list(top.children)
    actions.insert(place, action)
    children.insert(place, first)
    top = dataclasses.replace(top, actions=tuple(actions), children=tuple(children))
    return dataclasses.replace(tree, nodes=(top, *below[: first - 1], *middle, *below[first - 1 :]))


def _shift(nodes: Sequence[BettingNode], first: int, by: int) -> list[BettingNode]:
    """Returns nodes whose numbers are higher by so many from one of them on."""

    def moved(number: int) -> int:
        return number + by if number >= first else number

    return [
        dataclasses.replace(
            node, index=moved(node.index), parent=moved(node.parent), children=tuple(map(moved, node.children))
        )
        for node in nodes
    ]


def count_nodes(tree: BettingTree, num_deals: Mapping[Street, int] | None = None) -> NodeCounts:
    """Returns how many nodes of each kind a tree has once cards are dealt.

    Args:
        tree: Without cards.
        num_deals: By street, how many different deals lead into it; 1 if not named.

    >>> from equipoise.games.holdem import parse_menu
    >>> rules = BettingRules(stacks=(10, 10), pot=4, first_street=Street.RIVER)
    >>> count_nodes(betting_tree(rules, parse_menu("100%, a")))
    NodeCounts(decisions=4, showdowns=3, folds=2, street_ends=0)
    """
    num_deals = num_deals or {}
    copies: list[int] = []
    counts = dict.fromkeys(NodeKind, 0)
    for node in tree.nodes:
        factor = copies[node.parent] if node.parent != NO_PARENT else 1
        is_dealt = node.action == DEALING and node.parent != NO_PARENT
        copies.append(factor * num_deals.get(node.state.street, 1) if is_dealt else factor)
        counts[node.kind] += copies[-1]
    return NodeCounts(
        decisions=counts[NodeKind.DECISION],
        showdowns=counts[NodeKind.SHOWDOWN],
        folds=counts[NodeKind.FOLD],
        street_ends=counts[NodeKind.STREET_END],
    )


def _actions(rules: BettingRules, menu: Menu, state: BettingState, root: BettingState) -> tuple[int, ...]:
    if state.stage is not Stage.ACT:
        return ()
    before = root.num_actions if state.street == root.street else 0
    return menu_actions(rules, menu, state, num_actions_before=before)


def _finish(index: int, entries: list[_Entry], actions: tuple[int, ...], children: list[int]) -> BettingNode:
    parent, action, state = entries[index]
    is_fold = state.stage is Stage.FOLD and parent != NO_PARENT
    return BettingNode(
        index=index,
        parent=parent,
        action=action,
        kind=KINDS[state.stage],
        state=state,
        actions=actions,
        children=tuple(children),
        folder=entries[parent].state.actor if is_fold else NOBODY,
    )
