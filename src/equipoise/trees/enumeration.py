# SPDX-License-Identifier: Apache-2.0
"""Enumerates a two-player game and files every history under its public state and both players' private states.

Everything is numbered in order of first encounter and kept in flat arrays, because this runs once per history.
`equipoise.trees.derive` makes a public game of it.
"""

from __future__ import annotations

import sys
from array import array
from typing import Any, Final

import numpy as np

from equipoise.core.errors import GameTooLargeError, InvalidGameError
from equipoise.games.base import CHANCE, TERMINAL, ActionClass, Game
from equipoise.games.public import NO_ACTION
from equipoise.trees.history import PROGRESS_EVERY, OnProgress, estimate_num_histories, read_returns

__all__ = ["ROOT", "Enumeration", "PrivateStates"]

ROOT: Final = -1  # parent of the root, and the step into its private states


class PrivateStates:
    """One player's private states while histories are enumerated, in order of first encounter.

    A *step* is a private state with what the player does there: the first number of a private state stands for
    waiting, the following ones for its actions.
    """

    def __init__(self) -> None:
        self.index: dict[str, int] = {}
        self.node = array("i")  # public state
        self.step_above = array("i")  # step into it, ROOT at the root
        self.first_step = array("i")
        self.actions: list[tuple[int, ...]] = []
        self.step_action = array("q")  # NO_ACTION for waiting
        self.step_name: list[str] = []
        self.step_class: list[ActionClass] = []
        self.menus: dict[tuple[int, ...], tuple[int, ...]] = {}  # so that equal tuples are one

    def open(self, label: str, node: int, step: int, actions: tuple[int, ...]) -> int:
        """Returns the number of a new private state."""
        private = len(self.node)
        self.index[label] = private
        self.node.append(node)
        self.step_above.append(step)
        self.first_step.append(len(self.step_action))
        self.actions.append(self.menus.setdefault(actions, actions))
        self.step_action.append(NO_ACTION)
        self.step_action.extend(actions)
        self.step_name.append("")
        self.step_class.append(ActionClass.OTHER)
        return private


class Enumeration:
    """Enumerates a game and files every history under its public and private states."""

    def __init__(self, game: Game[Any], max_histories: int, on_progress: OnProgress | None) -> None:
        self.game = game
        self.max_histories = max_histories
        self.on_progress = on_progress
        self.num_histories = 0
        self.next_stop = min(PROGRESS_EVERY, max_histories + 1)  # histories at which to look up
        self.node_index: dict[str, int] = {}  # in order of first encounter
        self.node_actor = array("b")
        self.node_parent = array("i")
        self.players = PrivateStates(), PrivateStates()
        self.pair = array("i"), array("i")  # private states of each history that is filed
        self.chance = array("d")  # probability of each history that is filed
        self.utility = array("d"), array("d")  # of each terminal history

    def run(self) -> None:
        """Files all histories."""
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(max(limit, 2 * self.game.spec.max_length + 2000))
        try:
            self.visit(self.game.initial_state(), ROOT, (ROOT, ROOT), 1.0, 0.0, 1.0)
        finally:
            sys.setrecursionlimit(limit)

    def _fault(self, what: str) -> InvalidGameError:
        return InvalidGameError(f"{self.game.spec.label}: {what}")

    def look_up(self, fraction: float) -> None:
        """Reports progress; raises if there are too many histories."""
        if self.num_histories > self.max_histories:
            estimate = estimate_num_histories(self.game, rng=np.random.default_rng(0))
            raise GameTooLargeError(
                f"{self.game.spec.label} has more than {self.max_histories:,} histories, the limit given; sampling "
                f"suggests about {estimate:.2g}. What fits: smaller parameters, a higher limit, or a public form "
                f"written by hand"
            )
        if self.on_progress is not None:
            self.on_progress(self.num_histories, fraction)
        self.next_stop = min(self.num_histories + PROGRESS_EVERY, self.max_histories + 1)

    def visit(
        self, state: Any, parent: int, steps: tuple[int, int], chance: float, before: float, share: float
    ) -> None:
        """Files a state and everything below; `before` is the share of the tree before it, `share` its own."""
        self.num_histories += 1
        if self.num_histories >= self.next_stop:
            self.look_up(before)
        game = self.game
        actor = game.actor(state)
        label = game.public_state(state)
        node = self.node_index.get(label)
        if node is None:
            node = self.open_node(label, actor, parent)
        elif self.node_actor[node] != actor or self.node_parent[node] != parent:
            raise self._node_fault(node, actor)
        actions = game.legal_actions(state) if actor >= 0 else ()
        first = self.enter(0, state, node, steps[0], actions if actor == 0 else ())
        second = self.enter(1, state, node, steps[1], actions if actor == 1 else ())
        self.pair[0].append(first)
        self.pair[1].append(second)
        self.chance.append(chance)
        if actor == TERMINAL:
            returns = read_returns(game, state)
            self.utility[0].append(returns[0])
            self.utility[1].append(returns[1])
            return
        step, other = self.players[0].first_step[first], self.players[1].first_step[second]
        if actor == CHANCE:
            self.deal(state, label, node, (step, other), chance, before, share)
            return
        share /= len(actions)
        for action in actions:
            if actor == 0:
                step += 1
            else:
                other += 1
            self.visit(game.apply(state, action), node, (step, other), chance, before, share)
            before += share

    def deal(
        self, state: Any, label: str, node: int, steps: tuple[int, int], chance: float, before: float, share: float
    ) -> None:
        """Files what follows chance's moves, run together while chance goes on and the public sees nothing."""
        game = self.game
        outcomes = game.chance_outcomes(state)
        share /= len(outcomes)
        for outcome, probability in outcomes:
            child = game.apply(state, outcome)
            if game.actor(child) == CHANCE and game.public_state(child) == label:
                self.num_histories += 1
                self.deal(child, label, node, steps, chance * probability, before, share)
            else:
                self.visit(child, node, steps, chance * probability, before, share)
            before += share

    def open_node(self, label: str, actor: int, parent: int) -> int:
        """Returns the number of a new public state."""
        node = len(self.node_actor)
        self.node_index[label] = node
        self.node_actor.append(actor)
        self.node_parent.append(parent)
        return node

    def enter(self, player: int, state: Any, node: int, step: int, actions: tuple[int, ...]) -> int:
        """Returns the player's private state in a node, new or known, and checks its laws."""
        label = self.game.infostate(state, player)
        known = self.players[player]
        private = known.index.get(label)
        if private is None:
            private = known.open(label, node, step, actions)
            for action in actions:
                known.step_name.append(self.game.action_name(state, action))
                known.step_class.append(self.game.action_class(state, action))
        elif known.node[private] != node or known.step_above[private] != step or known.actions[private] != actions:
            raise self._private_fault(player, label, private, node, step, actions)
        return private

    def _node_fault(self, node: int, actor: int) -> InvalidGameError:
        label = list(self.node_index)[node]
        if self.node_actor[node] != actor:
            return self._fault(f"public state {label!r} has two actors, {self.node_actor[node]} and {actor}")
        return self._fault(f"public state {label!r} is reached along two public paths")

    def _private_fault(
        self, player: int, label: str, private: int, node: int, step: int, actions: tuple[int, ...]
    ) -> InvalidGameError:
        known = self.players[player]
        if known.node[private] != node:
            labels = list(self.node_index)
            return self._fault(
                f"player {player} cannot tell public states {labels[known.node[private]]!r} and {labels[node]!r} "
                f"apart at {label!r}"
            )
        if known.step_above[private] != step:
            return self._fault(f"player {player} forgets what it knew or did at {label!r} (perfect recall is needed)")
        return self._fault(f"histories in {label!r} have different actions, {known.actions[private]} and {actions}")
