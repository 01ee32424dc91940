# SPDX-License-Identifier: Apache-2.0
"""The public form of any small two-player game, by enumerating its histories.

Histories are grouped by what everybody has seen (public states) and by what each player has seen (private states). All
of chance's probability goes into the joint weights, so every relation has weight one. A chance move after which
everybody has seen the same (a deal) is no public state of its own: it is part of the edge into the next one, and at
the beginning of the game the initial private states are those after it.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import GameTooLargeError, InvalidGameError
from equipoise.games.base import CHANCE, TERMINAL, ActionClass, Game, GameSpec
from equipoise.games.public import NO_ACTION, PublicEdge, Relation
from equipoise.trees.history import estimate_num_histories

__all__ = ["DEFAULT_MAX_HISTORIES", "DerivedPublicGame", "derive_public_game"]

DEFAULT_MAX_HISTORIES: Final = 2_000_000

FloatArray = npt.NDArray[np.float64]
Step = tuple[int, int]  # private state above and action taken, NO_ACTION for a player who did not move


@dataclasses.dataclass(slots=True)
class _PublicNode:
    """A public state while its histories are enumerated."""

    label: str
    actor: int
    parent: int
    children: list[int] = dataclasses.field(default_factory=list)
    private: tuple[dict[str, int], dict[str, int]] = dataclasses.field(default_factory=lambda: ({}, {}))
    step: tuple[list[Step], list[Step]] = dataclasses.field(default_factory=lambda: ([], []))  # into each private state
    actions: list[tuple[int, ...]] = dataclasses.field(default_factory=list)  # [H] of the actor's private states
    named: dict[int, tuple[str, ActionClass]] = dataclasses.field(default_factory=dict)  # by action
    joint: dict[tuple[int, int], list[float]] = dataclasses.field(default_factory=dict)  # chance, payoffs of both


class DerivedPublicGame:
    """A `PublicGame` made by `derive_public_game`; its public states are numbers, parents before children."""

    def __init__(self, spec: GameSpec, nodes: list[_PublicNode], num_histories: int) -> None:
        self.spec = spec
        self.num_histories = num_histories
        self._nodes = nodes
        self._labels = [tuple(tuple(node.private[player]) for player in (0, 1)) for node in nodes]
        self._columns = [tuple(sorted({action for row in node.actions for action in row})) for node in nodes]

    @property
    def num_public_states(self) -> int:
        """Returns the number of public states; they are numbered from 0."""
        return len(self._nodes)

    def initial_state(self) -> int:
        """Returns the public state before anything has happened."""
        return 0

    def actor(self, state: int) -> int:
        """Returns the player to move (from 0), `CHANCE` or `TERMINAL`."""
        return self._nodes[state].actor

    def num_private(self, state: int, player: int) -> int:
        """Returns the number of private states that a player can be in."""
        return len(self._nodes[state].private[player])

    def legal_actions(self, state: int) -> tuple[int, ...]:
        """Returns the actions that some private state of the actor has, ascending."""
        return self._columns[state]

    def legality(self, state: int) -> npt.NDArray[np.bool_]:
        """Returns `[H, A]` which of those actions each private state of the actor has."""
        rows = self._nodes[state].actions
        return np.array([[action in row for action in self._columns[state]] for row in rows], np.bool_)

    def edges(self, state: int) -> tuple[PublicEdge[int], ...]:
        """Returns one edge per public observation that can follow."""
        node = self._nodes[state]
        column = {action: index for index, action in enumerate(self._columns[state])}
        column[NO_ACTION] = NO_ACTION

        def relation(steps: list[Step]) -> Relation:
            return Relation(
                private=np.array([private for private, _ in steps], np.int32),
                action=np.array([column[action] for _, action in steps], np.int32),
                target=np.arange(len(steps), dtype=np.int32),
                weight=np.ones(len(steps)),
            )

        steps = ((child, self._nodes[child].step) for child in node.children)
        return tuple(PublicEdge(child, (relation(first), relation(second))) for child, (first, second) in steps)

    def joint_weights(self, state: int) -> FloatArray:
        """Returns `[H0, H1]` chance's probability of each pair of private states."""
        weights: FloatArray = self._joint(state)[0]
        return weights

    def payoffs(self, state: int) -> FloatArray:
        """Returns `[2, H0, H1]` the sum over histories of chance's probability times utility."""
        return self._joint(state)[1:]

    def _joint(self, state: int) -> FloatArray:
        node = self._nodes[state]
        out = np.zeros((3, len(node.private[0]), len(node.private[1])))
        pairs = np.array(list(node.joint), np.int64)
        out[:, pairs[:, 0], pairs[:, 1]] = np.array(list(node.joint.values())).T
        return out

    def infostate(self, state: int, player: int, private: int) -> str:
        """Returns the information state that a private state is."""
        return self._labels[state][player][private]

    def public_state(self, state: int) -> str:
        """Returns all that everybody has seen."""
        return self._nodes[state].label

    def action_name(self, state: int, action: int) -> str:
        """Returns a short word for an action of the actor."""
        return self._nodes[state].named[action][0]

    def action_class(self, state: int, action: int) -> ActionClass:
        """Returns the kind of move that an action is."""
        return self._nodes[state].named[action][1]


class _Deriver:
    """Enumerates a game and files every history under its public and private states."""

    def __init__(self, game: Game[Any], max_histories: int) -> None:
        self.game = game
        self.max_histories = max_histories
        self.num_histories = 0
        self.nodes: list[_PublicNode] = []
        self.node_of_label: dict[str, int] = {}
        self.node_of_infostate: tuple[dict[str, int], dict[str, int]] = ({}, {})

    def fault(self, what: str) -> InvalidGameError:
        return InvalidGameError(f"{self.game.spec.label}: {what}")

    def count(self) -> None:
        self.num_histories += 1
        if self.num_histories > self.max_histories:
            estimate = estimate_num_histories(self.game, rng=np.random.default_rng(0))
            raise GameTooLargeError(
                f"{self.game.spec.label} has more than {self.max_histories:,} histories, the limit given; sampling "
                f"suggests about {estimate:.2g}. What fits: smaller parameters, a higher limit, or a public form "
                f"written by hand"
            )

    def open_node(self, label: str, actor: int, parent: int) -> int:
        """Returns the public state with this label below `parent`, new or known, and checks its laws."""
        known = self.node_of_label.get(label)
        if known is None:
            known = len(self.nodes)
            self.node_of_label[label] = known
            self.nodes.append(_PublicNode(label, actor, parent))
            if parent >= 0:
                self.nodes[parent].children.append(known)
        elif self.nodes[known].actor != actor:
            raise self.fault(f"public state {label!r} has two actors, {self.nodes[known].actor} and {actor}")
        elif self.nodes[known].parent != parent:
            raise self.fault(f"public state {label!r} is reached along two public paths")
        return known

    def enter(self, node_index: int, state: Any, player: int, step: Step) -> int:
        """Returns the player's private state in a node, new or known, and checks its laws."""
        label = self.game.infostate(state, player)
        home = self.node_of_infostate[player].setdefault(label, node_index)
        if home != node_index:
            raise self.fault(
                f"player {player} cannot tell public states {self.nodes[home].label!r} and "
                f"{self.nodes[node_index].label!r} apart at {label!r}"
            )
        node = self.nodes[node_index]
        known = node.private[player].get(label)
        if known is None:
            known = len(node.private[player])
            node.private[player][label] = known
            node.step[player].append(step)
        elif node.step[player][known] != step:
            raise self.fault(f"player {player} forgets what it knew or did at {label!r} (perfect recall is needed)")
        return known

    def visit(self, state: Any, parent: int, steps: tuple[Step, Step], chance: float) -> None:
        """Files a state and everything below."""
        self.count()
        game = self.game
        actor = game.actor(state)
        index = self.open_node(game.public_state(state), actor, parent)
        node = self.nodes[index]
        pair = self.enter(index, state, 0, steps[0]), self.enter(index, state, 1, steps[1])
        weights = node.joint.setdefault(pair, [0.0, 0.0, 0.0])
        weights[0] += chance
        if actor == TERMINAL:
            for player, utility in enumerate(game.returns(state)):
                weights[1 + player] += chance * utility
        elif actor == CHANCE:
            below = (pair[0], NO_ACTION), (pair[1], NO_ACTION)
            for child, probability in self.unfold_chance(state, node.label):
                self.visit(child, index, below, chance * probability)
        else:
            self.check_actions(node, pair[actor], game.legal_actions(state))
            for action in game.legal_actions(state):
                if action not in node.named:
                    node.named[action] = game.action_name(state, action), game.action_class(state, action)
                first = pair[0], action if actor == 0 else NO_ACTION
                second = pair[1], action if actor == 1 else NO_ACTION
                self.visit(game.apply(state, action), index, (first, second), chance)

    def unfold_chance(self, state: Any, label: str) -> Iterator[tuple[Any, float]]:
        """Yields the states after chance's moves, run together while chance goes on and the public sees nothing."""
        for outcome, probability in self.game.chance_outcomes(state):
            child = self.game.apply(state, outcome)
            if self.game.actor(child) == CHANCE and self.game.public_state(child) == label:
                self.count()
                for below, further in self.unfold_chance(child, label):
                    yield below, probability * further
            else:
                yield child, probability

    def check_actions(self, node: _PublicNode, private: int, actions: tuple[int, ...]) -> None:
        """Records the actions of the actor's private state, or checks that they are those recorded."""
        if private == len(node.actions):
            node.actions.append(actions)
        elif node.actions[private] != actions:
            label = list(node.private[node.actor])[private]
            raise self.fault(f"histories in {label!r} have different actions, {node.actions[private]} and {actions}")


def derive_public_game(game: Game[Any], *, max_histories: int = DEFAULT_MAX_HISTORIES) -> DerivedPublicGame:
    """Returns the public form of a two-player game.

    Paper: Schmid et al. 2021, "Player of Games", arXiv:2112.03178, section 2 and appendix A (factored observations).
    Symbols: s_pub -> public state; S_i(s_pub) -> private states of a player; P_c -> joint weights.
    Departs from the paper: private deals before and between public states are part of the edges, not public states.
    Checked by: tests/trees/test_derive.py.

    Args:
        game: rules with perfect recall, whose public states have one actor each and are known to both players.
        max_histories: enumeration stops here with `GameTooLargeError`.
    """
    if game.spec.num_players != 2:
        raise InvalidGameError(f"{game.spec.label}: the public form is for 2 players, got {game.spec.num_players}")
    deriver = _Deriver(game, max_histories)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, 2 * game.spec.max_length + 2000))
    try:
        deriver.visit(game.initial_state(), -1, ((0, NO_ACTION), (0, NO_ACTION)), 1.0)
    finally:
        sys.setrecursionlimit(limit)
    return DerivedPublicGame(game.spec, _fold_deals(deriver.nodes), deriver.num_histories)


def _fold_deals(nodes: list[_PublicNode]) -> list[_PublicNode]:
    """Returns the nodes without chance nodes that have one child, which become part of the edge into it."""
    is_deal = [node.actor == CHANCE and len(node.children) == 1 for node in nodes]
    for node in (node for node, fold in zip(nodes, is_deal, strict=True) if fold):
        below = nodes[node.children[0]]
        below.parent = node.parent
        for player in (0, 1):
            below.step[player][:] = [node.step[player][private] for private, _ in below.step[player]]
    kept = [index for index, fold in enumerate(is_deal) if not fold]
    rank = {index: position for position, index in enumerate(kept)}
    for node in nodes:
        node.children.clear()
    for index in kept:
        node = nodes[index]
        if node.parent >= 0:
            nodes[node.parent].children.append(rank[index])
    for index in kept:
        nodes[index].parent = rank.get(nodes[index].parent, -1)
    return [nodes[index] for index in kept]
