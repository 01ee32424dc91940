# SPDX-License-Identifier: Apache-2.0
"""Subgames straight from the rules: from a public state down to leaves, where no tree of the whole game exists.

`PartialGame` is the public game as far as a search looks; a leaf is a terminal there that pays nothing, and what stands
for the rest of the game is said by `leaf_choices.py`. Nothing here searches.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.games.base import CHANCE, TERMINAL, ActionClass, GameSpec
from equipoise.games.public import PublicEdge, PublicGame
from equipoise.kernels.arithmetic import multiply
from equipoise.search.beliefs import PublicBelief
from equipoise.search.leaf_choices import LeafSource, follow_edge
from equipoise.search.leaves import LeafEvaluator
from equipoise.search.limits import DepthLimit, Step
from equipoise.search.public import PublicProfile, PublicSubgame, bind_leaves
from equipoise.solvers.best_response import bind_public_kernel
from equipoise.trees.grafting import attach_choices
from equipoise.trees.joint import DenseJoint
from equipoise.trees.public import DEFAULT_MAX_NODES, PublicTree, TreeFacts, assemble_public_tree
from equipoise.trees.public_arrays import PublicArrays, collect_public_game
from equipoise.trees.subtree import Subtree, to_arrays
from equipoise.trees.vector import Strategy

__all__ = ["PartialGame", "RulesBlueprint", "extract_subgame", "follow_policy"]

FloatArray = npt.NDArray[np.float64]
LongArray = npt.NDArray[np.int64]
Path = tuple[int, ...]


def follow_policy(game: PublicGame[Any], path: Path, policy: Strategy[Any]) -> PublicBelief:
    """Returns the beliefs that edges from the beginning of a game lead to if both players follow a policy."""
    state = game.initial_state()
    reach = [np.ones(game.num_private(state, player)) for player in (0, 1)]
    for place in path:
        actor, edge = game.actor(state), game.edges(state)[place]
        rows = policy.probabilities(state) if actor >= 0 else None
        for player in (0, 1):
            size = game.num_private(edge.child, player)
            taken = rows if player == actor else None
            way = follow_edge(edge.relations[player], size, taken, reach[player].size)
            reach[player] = multiply(reach[player], way)
        state = edge.child
    return PublicBelief(reach=(reach[0], reach[1]), joint=game.joint_weights(state))


class PartialGame:
    """A public game from a state on, down to leaves, at which it is over and pays nothing.

    Where the search is about a state further down (`focus`), all that leads elsewhere on the way is a leaf, unless the
    part is wide.
    """

    def __init__(
        self,
        game: PublicGame[Any],
        root: Any,
        *,
        focus: Path = (),
        limit: DepthLimit | None = None,
        is_wide: bool = False,
    ) -> None:
        """Says where it begins and ends.

        Args:
            game: the whole.
            root: public state where the part begins.
            focus: edges from there to the state that the search is about; limits count from it.
            limit: where the part ends; None: where the game does.
            is_wide: what leads elsewhere goes on as well, and limits count from the root.
        """
        self.game, self.root, self.focus, self.is_wide = game, root, focus, is_wide
        state = root
        for place in () if is_wide else focus:
            state = game.edges(state)[place].child
        self._is_limit = None if limit is None else limit.leaf_test(game, state)

    @property
    def spec(self) -> GameSpec:
        """Returns the facts of the whole game."""
        return self.game.spec

    def initial_state(self) -> Step:
        """Returns where the part begins."""
        return Step(self.root, ())

    def is_leaf(self, step: Step) -> bool:
        """Returns whether the game goes on but the part ends."""
        if self.game.actor(step.state) == TERMINAL:
            return False
        common = min(len(step.path), len(self.focus))
        is_beside = step.path[:common] != self.focus[:common]
        if is_beside and not self.is_wide:
            return True
        if len(step.path) <= len(self.focus) and not is_beside:
            return False
        if self._is_limit is None:
            return False
        return self._is_limit(step if self.is_wide else step._replace(path=step.path[len(self.focus) :]))

    def actor(self, step: Step) -> int:
        """Returns the player to move, `CHANCE` or `TERMINAL`."""
        return TERMINAL if self.is_leaf(step) else self.game.actor(step.state)

    def num_private(self, step: Step, player: int) -> int:
        """Returns the number of a player's private states."""
        return self.game.num_private(step.state, player)

    def legal_actions(self, step: Step) -> tuple[int, ...]:
        """Returns the columns of the actor's table."""
        return self.game.legal_actions(step.state)

    def legality(self, step: Step) -> npt.NDArray[np.bool_]:
        """Returns `[H, A]` which actions each private state has."""
        return self.game.legality(step.state)

    def edges(self, step: Step) -> tuple[PublicEdge[Step], ...]:
        """Returns one edge per public observation; none at leaves."""
        if self.is_leaf(step):
            return ()
        counts = (0, 0)
        if len(step.path) >= len(self.focus) or self.is_wide:
            is_chance = self.game.actor(step.state) == CHANCE
            counts = (step.num_actions + (not is_chance), step.num_deals + is_chance)
        return tuple(
            PublicEdge(Step(edge.child, (*step.path, place), *counts), edge.relations)
            for place, edge in enumerate(self.game.edges(step.state))
        )

    def joint_weights(self, step: Step) -> FloatArray:
        """Returns `[H0, H1]` chance's probability of each pair."""
        return self.game.joint_weights(step.state)

    def payoffs(self, step: Step) -> FloatArray:
        """Returns `[2, H0, H1]` what is paid, nothing at leaves."""
        if self.is_leaf(step):
            return np.zeros((2, self.num_private(step, 0), self.num_private(step, 1)))
        return self.game.payoffs(step.state)

    def infostate(self, step: Step, player: int, private: int) -> str:
        """Returns all that a player knows."""
        return self.game.infostate(step.state, player, private)

    def public_state(self, step: Step) -> str:
        """Returns all that everybody has seen."""
        return self.game.public_state(step.state)

    def action_name(self, step: Step, action: int) -> str:
        """Returns a short word for an action."""
        return self.game.action_name(step.state, action)

    def action_class(self, step: Step, action: int) -> ActionClass:
        """Returns the kind of move that an action is."""
        return self.game.action_class(step.state, action)


def extract_subgame(
    partial: PartialGame,
    beliefs: PublicBelief,
    searcher: int,
    *,
    watched: tuple[int, ...] | None = None,
    leaves: LeafSource | LeafEvaluator | None = None,
    blueprint: Strategy[Any] | None = None,
    max_nodes: int = DEFAULT_MAX_NODES,
) -> PublicSubgame:
    """Returns what a search looks at as a subgame, without a tree of the whole game.

    States of its tree are `Step`s. Its landmarks are its leaves and the next decisions after the state in focus: where
    the next search may begin.

    Args:
        partial: the part of the game.
        beliefs: where it begins.
        searcher: who searches.
        watched: whose next decisions are landmarks; the searcher's if None.
        leaves: what they are worth; needed if there are any. An evaluator is asked for the game's public states.
        blueprint: what was meant to be played there; uniform play if None.
        max_nodes: a larger part is refused with `GameTooLargeError`.
    """
    arrays = collect_public_game(partial, root=partial.initial_state(), max_nodes=max_nodes)
    spec = partial.spec
    facts = TreeFacts(spec.label, None, spec.is_zero_sum, spec.utility_range)
    ends = [node for node, step in enumerate(arrays.states) if arrays.actor[node] == TERMINAL and partial.is_leaf(step)]
    following = _next_decisions(arrays, (searcher,) if watched is None else watched, partial.focus)
    marked = np.array(sorted({*ends, *following}), np.int64)
    tree = assemble_public_tree(arrays, facts, landmarks=marked)
    part, frontier = _identity(tree, ends), None
    if ends and leaves is None:
        raise ConfigError(f"{spec.label} goes on at {tree.public_labels[ends[0]]!r}: say what leaves are worth")
    if isinstance(leaves, LeafEvaluator):
        states = [arrays.states[leaf].state for leaf in ends]
        joint = [DenseJoint(partial.game.joint_weights(state)) for state in states]
        frontier = bind_leaves(tree, ends, states, joint, leaves) if ends else None
    elif ends and leaves is not None:
        choices = {leaf: leaves.choice(partial.game, arrays.states[leaf].state, searcher) for leaf in ends}
        grown = attach_choices(part, choices)
        # leaves have become choices; where searches may begin they still need cells of their own
        number = {int(old): new for new, old in enumerate(grown.nodes) if old != Subtree.ADDED}
        again = assemble_public_tree(to_arrays(grown.tree), facts, landmarks=[number[int(node)] for node in marked])
        part = dataclasses.replace(grown, tree=again)
    strategy = part.tree.legal_share if blueprint is None else _write_policy(part, partial.game, blueprint)
    return PublicSubgame(
        part=part,
        place=0,
        beliefs=beliefs,
        strategy=strategy,
        kernel=bind_public_kernel(part.tree),
        frontier=frontier,
    )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class RulesBlueprint:
    """A strategy over the rules of a public game, of which no more is ever expanded than what lies below a search."""

    game: PublicGame[Any]
    policy: Strategy[Any]
    max_nodes: int = DEFAULT_MAX_NODES  # most public states below a search

    def grow(self, path: Path, state: Any) -> PublicProfile:
        """Returns it on the tree of what follows a public state, to the end of the game.

        Args:
            path: edges from the beginning of the game to the state.
            state: the state.
        """
        beliefs = follow_policy(self.game, path, self.policy)
        subgame = extract_subgame(
            PartialGame(self.game, state), beliefs, 0, watched=(), blueprint=self.policy, max_nodes=self.max_nodes
        )
        return PublicProfile(subgame.tree, subgame.strategy, root_reach=beliefs.reach, is_grown=True)


def _write_policy(part: Subtree, game: PublicGame[Any], policy: Strategy[Any]) -> FloatArray:
    """Returns `[C]` a policy over a part's tree; choices at leaves are even."""
    tree = part.tree
    out = tree.legal_share.copy()
    ends = set(part.whole.landmarks[part.whole.actor[part.whole.landmarks] == TERMINAL].tolist())
    for node in np.flatnonzero(tree.actor >= 0).tolist():
        if part.nodes[node] != Subtree.ADDED and int(part.nodes[node]) not in ends:
            rows = policy.probabilities(tree.states[node].state)
            slot = tree.slot[tree.slot_start[2 * node + int(tree.actor[node])] :][: len(rows)]
            first = tree.table_start[node] + tree.stride[node] * np.arange(rows.shape[1])
            out[slot[:, None] + first] = rows
    return out


def _next_decisions(arrays: PublicArrays, players: tuple[int, ...], focus: Path) -> list[int]:
    """Returns some players' decisions below the state in focus that follow no other one below it."""
    found, is_past = [], np.zeros(arrays.actor.size, np.bool_)
    for node in range(1, arrays.actor.size):
        step = arrays.states[node]
        if len(step.path) <= len(focus):
            continue
        is_past[node] = is_past[arrays.parent[node]]
        if arrays.actor[node] in players and not is_past[node]:
            found.append(node)
            is_past[node] = True
    return found


def _identity(tree: PublicTree, leaves: list[int]) -> Subtree:
    """Returns a tree as the whole part of itself."""
    return Subtree(
        whole=tree,
        tree=tree,
        nodes=np.arange(tree.actor.size),
        leaves=np.array(leaves, np.int64),
        infosets=np.arange(tree.infoset_node.size),
        sequences=np.arange(tree.sequence_cell.size),
    )
