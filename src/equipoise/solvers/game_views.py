# SPDX-License-Identifier: Apache-2.0
"""What a solved two-player game says at a public state: reach, strategy, values of private states; also as JSON.

Everything is exact and by pairs of private states, which suits games small enough to be walked; keys: docs/cli.md.
"""

from __future__ import annotations

import difflib
import functools
import threading
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.games.base import CHANCE
from equipoise.games.public import PublicGame
from equipoise.trees.public import PublicTree
from equipoise.trees.public_edges import find_children, relation_matrices
from equipoise.trees.vector import TreeStrategy, follow_reach

__all__ = ["GameViews", "StateView", "as_numbers", "describe_state", "find_public_state", "mean_of_known"]

MOST_PAIRS: Final = 20_000_000  # of private states, over all public states: beyond that there are no values

FloatArray = npt.NDArray[np.float64]
Pair = tuple[FloatArray, FloatArray]


class StateView(NamedTuple):
    """A public state.

    >>> from equipoise.runs import solve
    >>> views = solve("kuhn", iterations=100).run.views()
    >>> view = views.view(0)
    >>> view.probability, view.strategy.shape
    (1.0, (3, 2))
    """

    node: int
    reach: Pair  # [H] of each player's own play
    mass: Pair  # [H] of what each private state meets: the other's reach, weighted by chance
    values: Pair  # [H] utility from the whole game, given that it is held here; NaN where nothing is met
    strategy: FloatArray | None  # [H, A] of the actor, if a player moves
    action_values: FloatArray | None  # [H, A]

    def __repr__(self) -> str:
        return f"<StateView of public state {self.node}, which play comes to with probability {self.probability:.4g}>"

    @property
    def probability(self) -> float:
        """Returns how likely play comes here."""
        return float(self.reach[0] @ self.mass[0])


class GameViews:
    """Public states of a game under a strategy; the payoffs of all of them are found at once, when first asked for.

    >>> from equipoise.runs import solve
    >>> views = solve("kuhn", iterations=100).run.views()
    >>> views.name_private(0, 0)
    ['J:', 'Q:', 'K:']
    """

    def __init__(
        self, tree: PublicTree, strategy: FloatArray, make_public: Callable[[], PublicGame[Any]] | None = None
    ) -> None:
        """Keeps what is played.

        Args:
            tree: of the game.
            strategy: `[C]` of both players.
            make_public: makes the public game of the tree, which names information states of who does not move.
        """
        self._make_public = make_public
        self.tree, self.strategy = tree, TreeStrategy(tree, strategy)
        self.has_values = int(tree.num_private.astype(np.int64).prod(axis=1).sum()) <= MOST_PAIRS
        self.view = functools.lru_cache(1024)(self._view)
        self._filling = threading.Lock()

    def name_private(self, node: int, player: int) -> list[str] | None:
        """Returns `[H]` the information states of a player, None where they have no names."""
        tree = self.tree
        if player == tree.actor[node]:
            return [tree.infoset_labels[row] for row in np.flatnonzero(tree.infoset_node == node).tolist()]
        if self._public is None:
            return None
        state, count = tree.states[node], int(tree.num_private[node, player])
        return [self._public.infostate(state, player, private) for private in range(count)]

    @functools.cached_property
    def _public(self) -> PublicGame[Any] | None:
        return None if self._make_public is None else self._make_public()

    def _view(self, node: int) -> StateView:
        tree, actor = self.tree, int(self.tree.actor[node])
        held = np.ones(int(tree.num_private[0, 0])), np.ones(int(tree.num_private[0, 1]))
        reach = follow_reach(tree, self.strategy, held, node)
        joint = tree.joint_at(node)
        mass = joint.mass(0, reach[1]), joint.mass(1, reach[0])
        values = np.full(reach[0].size, np.nan), np.full(reach[1].size, np.nan)
        strategy = self.strategy.probabilities(node) if actor >= 0 else None
        action_values = None if strategy is None else np.full(strategy.shape, np.nan)
        if self.has_values:
            payoff = self.payoffs[node]
            values = _given(payoff[0], 0, reach[1], mass[0]), _given(payoff[1], 1, reach[0], mass[1])
        if self.has_values and action_values is not None:
            for action in range(int(tree.num_actions[node])):
                taken = self._payoff_of_action(node, actor, action)
                action_values[:, action] = _given(taken, actor, reach[1 - actor], mass[actor])
            action_values[~tree.legal_at(node)] = np.nan
        return StateView(node, reach, mass, values, strategy, action_values)

    @functools.cached_property
    def payoffs(self) -> list[FloatArray]:
        """Returns `[2, H0, H1]` by node what each player gets from there on, times the joint weight of the pair."""
        tree = self.tree
        with self._filling:
            out = [np.zeros((2, *map(int, counts))) for counts in tree.num_private]
            for terminal, node in enumerate(tree.terminal_node.tolist()):
                pairs, _, payoff = tree.pairs_at(terminal)
                out[node][:, pairs[0], pairs[1]] = payoff
            for node in range(len(out) - 1, 0, -1):  # ids ascend from parent to child
                above = int(tree.parent[node])
                actor = int(tree.actor[above])
                policy = self.strategy.probabilities(above) if actor >= 0 else None
                out[above] += self._lift(node, out[node], actor, policy)
        return out

    def _payoff_of_action(self, node: int, actor: int, action: int) -> FloatArray:
        """Returns `[H0, H1]` what the actor gets, times joint weight, if it always takes one action."""
        always = np.zeros((int(self.tree.num_private[node, actor]), int(self.tree.num_actions[node])))
        always[:, action] = 1.0
        children = find_children(self.tree, node).tolist()
        total: FloatArray = sum(
            (self._lift(child, self.payoffs[child], actor, always) for child in children),
            start=np.zeros_like(self.payoffs[node]),
        )[actor]
        return total

    def _lift(self, node: int, payoff: FloatArray, actor: int, policy: FloatArray | None) -> FloatArray:
        """Returns `[2, H0, H1]` above the edge into a node payoffs below it."""
        first, second = (
            relation_matrices(self.tree, node, player, policy if player == actor else None) for player in (0, 1)
        )
        lifted: FloatArray = first @ payoff @ second.T
        return lifted


def _given(payoff: FloatArray, player: int, other: FloatArray, mass: FloatArray) -> FloatArray:
    """Returns `[H]` what a player's private states get on average over what they meet; NaN where that is nothing."""
    earned = payoff @ other if player == 0 else other @ payoff
    values: FloatArray = np.full(mass.size, np.nan)
    np.divide(earned, mass, out=values, where=mass > 0)
    return values


def find_public_state(tree: PublicTree, text: str) -> int:
    """Returns the node of a public state by its label, or `root`; an unknown one raises with the nearest labels."""
    cleaned = text.strip()
    if cleaned in ("", "root") and cleaned not in tree.public_labels:
        return 0
    if cleaned not in tree.public_labels:
        near = difflib.get_close_matches(cleaned, tree.public_labels, n=3, cutoff=0.4)
        shown = near or [label for label in tree.public_labels if label][:3]
        said = (
            f"did you mean {', '.join(map(repr, shown))}?" if near else f"they look like {', '.join(map(repr, shown))}"
        )
        raise ConfigError(f"unknown public state {text!r}; {said}")
    return tree.public_labels.index(cleaned)


def describe_state(views: GameViews, text: str) -> dict[str, Any]:
    """Returns a public state as JSON values, None for what cannot be said; `text` is its label or `root`."""
    tree = views.tree
    view = views.view(find_public_state(tree, text))
    node, actor = view.node, int(tree.actor[view.node])
    players = []
    for player in (0, 1):
        odds = view.reach[player] * view.mass[player]
        players.append(
            {
                "infostates": views.name_private(node, player),
                "reach": view.reach[player].tolist(),
                "odds": odds.tolist(),
                "ev": as_numbers(view.values[player]),
                "summary": {"ev": mean_of_known(view.values[player], odds)},
            }
        )
    return {
        "line": tree.public_labels[node],
        "kind": _kind(actor),
        "player": actor if actor >= 0 else None,
        "reach": view.probability,
        "has_values": views.has_values,
        "path": [_describe_step(views, above, below) for above, below in tree.way_to(node)],
        "actions": _describe_actions(tree, view, actor),
        "children": [_describe_child(tree, child) for child in find_children(tree, node).tolist()],
        "players": players,
        "strategy": None if view.strategy is None else view.strategy.tolist(),
        "action_ev": None if view.action_values is None else [as_numbers(row) for row in view.action_values],
    }


def _describe_actions(tree: PublicTree, view: StateView, actor: int) -> list[dict[str, Any]]:
    if view.strategy is None or view.action_values is None:
        return []
    odds = view.reach[actor] * view.mass[actor]
    total = odds.sum()
    return [
        {
            "name": name,
            "frequency": float(odds @ view.strategy[:, column] / total) if total > 0 else None,
            "ev": mean_of_known(view.action_values[:, column], odds * view.strategy[:, column]),
        }
        for column, name in enumerate(tree.action_labels[view.node])
    ]


def _describe_child(tree: PublicTree, node: int) -> dict[str, Any]:
    """Returns where an edge leads, and the actions after which it does; none if chance decides."""
    above = int(tree.parent[node])
    actor = int(tree.actor[above])
    actions: list[str] = []
    if actor >= 0:
        entries = slice(*tree.relation_start[2 * node + actor : 2 * node + actor + 2].tolist())
        actions = [tree.action_labels[above][column] for column in np.unique(tree.relation_action[entries])]
    return {"line": tree.public_labels[node], "actions": actions, "kind": _kind(int(tree.actor[node]))}


def _describe_step(views: GameViews, above: int, below: int) -> dict[str, Any]:
    tree = views.tree
    actor = int(tree.actor[above])
    return {
        "line": tree.public_labels[above],
        "kind": _kind(actor),
        "player": actor if actor >= 0 else None,
        "taken": _describe_child(tree, below)["actions"],
    }


def _kind(actor: int) -> str:
    if actor >= 0:
        return "decision"
    return "chance" if actor == CHANCE else "terminal"


def mean_of_known(column: FloatArray, odds: FloatArray) -> float | None:
    """Returns the average of what is known, None if nobody is there."""
    known = (odds > 0) & ~np.isnan(column)
    total = odds[known].sum()
    return float(odds[known] @ column[known] / total) if total > 0 else None


def as_numbers(column: FloatArray) -> list[float | None]:
    """Returns a column as JSON values, None where a number is not known."""
    is_known = ~np.isnan(column)
    return [number if known else None for number, known in zip(column.tolist(), is_known.tolist(), strict=True)]
