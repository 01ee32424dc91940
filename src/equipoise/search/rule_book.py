# SPDX-License-Identifier: Apache-2.0
"""What a public game says of its states, looked up once: searches of one game share it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from equipoise.games.base import TERMINAL
from equipoise.games.public import OpensAlike, PublicEdge, PublicGame
from equipoise.kernels.growing import NodeFacts, Opening

__all__ = ["Children", "RuleBook"]

COLUMNS = ("private", "action", "target")  # of a relation


class Children(Protocol):
    """States that follow another, by edge."""

    def __getitem__(self, edge: int, /) -> Any:
        """Returns the state that an edge leads to."""
        ...


class _LaterChildren:
    """States that are made when they are asked for."""

    __slots__ = ("_found", "_game", "_state")

    def __init__(self, game: OpensAlike, state: Any) -> None:
        self._game, self._state = game, state
        self._found: dict[int, Any] = {}

    def __getitem__(self, edge: int, /) -> Any:
        """Returns the state that an edge leads to."""
        if edge not in self._found:
            self._found[edge] = self._game.child(self._state, edge)
        return self._found[edge]


class RuleBook:
    """What a public game says about its states, as arrays, looked up once; searches of one game share it."""

    def __init__(self, game: PublicGame[Any], *, max_states: int = 200_000) -> None:
        self.game, self._max_states = game, max_states
        self._facts: dict[Any, NodeFacts] = {}
        self._openings: dict[Any, tuple[Opening, Children]] = {}
        self._outlines: dict[Any, Opening] = {}

    def facts(self, state: Any) -> NodeFacts:
        """Returns what a node of a public state is."""
        found = self._facts.get(state)
        if found is None:
            actor = self.game.actor(state)
            payoffs = np.ascontiguousarray(self.game.payoffs(state)) if actor == TERMINAL else None
            joint = np.ascontiguousarray(self.game.joint_weights(state), np.float64)
            found = self._keep(self._facts, state, NodeFacts(actor=actor, joint=joint, payoffs=payoffs))
        return found

    def opening(self, state: Any) -> tuple[Opening, Children]:
        """Returns what can follow a public state, and the states that do."""
        found = self._openings.get(state)
        if found is None:
            found = self._keep(self._openings, state, self._find_opening(state))
        return found

    def _find_opening(self, state: Any) -> tuple[Opening, Children]:
        game = self.game
        name = game.outline(state) if isinstance(game, OpensAlike) else None
        if name is None:
            edges = game.edges(state)
            return self._lay_out(state, edges), [edge.child for edge in edges]
        assert isinstance(game, OpensAlike)
        if name not in self._outlines:
            self._outlines[name] = self._lay_out(state, game.edges(state))
        return self._outlines[name], _LaterChildren(game, state)

    def _lay_out(self, state: Any, edges: Sequence[PublicEdge[Any]]) -> Opening:
        relations = [relation for edge in edges for relation in edge.relations]
        legal = self.game.legality(state) if self.game.actor(state) >= 0 else np.zeros((0, 0), np.bool_)
        columns = [np.concatenate([getattr(one, name) for one in relations]) for name in COLUMNS]
        below = [[self.game.num_private(edge.child, player) for player in (0, 1)] for edge in edges]
        return Opening(
            actor=self.game.actor(state),
            num_private=(self.game.num_private(state, 0), self.game.num_private(state, 1)),
            num_below=np.array(below, np.int32).reshape(-1, 2),
            legal=np.ascontiguousarray(legal),
            sizes=np.array([one.private.size for one in relations], np.int32).reshape(-1, 2),
            places=np.ascontiguousarray(np.stack(columns, axis=1), np.int32),
            weights=np.concatenate([one.weight for one in relations]),
        )

    def _keep(self, table: dict[Any, Any], state: Any, found: Any) -> Any:
        if len(table) >= self._max_states:
            table.clear()
        table[state] = found
        return found
