# SPDX-License-Identifier: Apache-2.0
"""A public game written out as flat arrays, parents before children: what a public tree is laid out from.

`collect_public_game` asks any public game for its states one at a time and checks what it is told. A derived game
(`equipoise.trees.derive`) has these arrays already. Nothing here knows cells.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable
from typing import Any

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import GameTooLargeError, InvalidGameError
from equipoise.core.formatting import brief_repr
from equipoise.games.base import TERMINAL
from equipoise.games.public import NO_ACTION, PublicGame, Relation, SharesPayoffs
from equipoise.trees.history import OnProgress, check_zero_sum_claim
from equipoise.trees.segments import join, starts

__all__ = ["PublicArrays", "collect_public_game", "too_many_states"]

PROGRESS_EVERY = 1 << 10  # public states between two progress calls

BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int32]
FloatArray = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PublicArrays:
    """Public states, parents first, each with its private states and the edge into it. Axes as `PublicTree`'s."""

    states: tuple[Any, ...]  # [N] as the public game has them
    public_labels: tuple[str, ...]  # [N]
    actor: npt.NDArray[np.int8]  # [N]
    parent: IntArray  # [N] -1 at the root
    depth: IntArray  # [N] edges from the root
    num_private: IntArray  # [N, 2]
    num_actions: IntArray  # [N]
    action_labels: tuple[tuple[str, ...], ...]  # [N][A]
    relation_start: IntArray  # [2N+1] entries of the edge into node n, player i: segment 2n + i; none at the root
    relation_private: IntArray  # [K] private state above
    relation_action: IntArray  # [K] column of the action taken, NO_ACTION for a player who did not move
    relation_target: IntArray  # [K] private state here
    relation_weight: FloatArray  # [K]
    payoff_table: IntArray  # [Z] which of the tables of payoffs holds each terminal's
    payoff_factor: FloatArray  # [Z] factor on them
    payoff_start: IntArray  # [tables + 1]
    payoff_private: IntArray  # [2, K] pair of private states
    payoff_chance: FloatArray  # [K] joint weight of the pair
    payoff: FloatArray  # [2, K] joint weight times each player's utility
    infoset_start: IntArray  # [I+1] into sequence_column; the actors' private states in the order of nodes
    infoset_labels: tuple[str, ...]  # [I]
    sequence_column: IntArray  # [S] column of each legal action of each information state, ascending

    __repr__ = brief_repr


class _Collector:
    """Asks a public game for everything, a state at a time."""

    def __init__(self, game: PublicGame[Any], max_nodes: int, on_progress: OnProgress | None) -> None:
        self.game = game
        self.max_nodes = max_nodes
        self.on_progress = on_progress
        self.states: list[Any] = []
        self.actor: list[int] = []
        self.parent: list[int] = []
        self.depth: list[int] = []
        self.num_private: list[tuple[int, int]] = []
        self.action_labels: list[tuple[str, ...]] = []
        self.relations: list[Relation] = []
        self.num_legal: list[npt.NDArray[np.int64]] = []
        self.columns: list[npt.NDArray[np.int64]] = []
        self.infoset_labels: list[str] = []
        self.payoffs: list[tuple[npt.NDArray[np.int64], FloatArray, FloatArray]] = []  # tables
        self.payoff_tables: dict[Hashable, int] = {}
        self.terminals: list[tuple[int, float]] = []  # table and factor

    def fault(self, state: Any, what: str) -> InvalidGameError:
        return InvalidGameError(f"{self.game.spec.label}: {what} at {self.game.public_state(state)!r}")

    def collect(self, root: Any) -> None:
        """Appends a state and everything below, depth first."""
        pending: list[tuple[int, Any, tuple[Relation, ...], float, float]] = [(-1, root, (), 0.0, 1.0)]
        while pending:
            parent, state, relations, before, share = pending.pop()
            node = len(self.states)
            if self.on_progress is not None and node % PROGRESS_EVERY == 0 and node:
                self.on_progress(node, before)
            self.add(state, parent, relations)
            edges = self.game.edges(state)
            share /= max(1, len(edges))
            pending.extend(
                (node, edges[k].child, edges[k].relations, before + k * share, share)
                for k in reversed(range(len(edges)))
            )

    def add(self, state: Any, parent: int, relations: tuple[Relation, ...]) -> None:
        """Appends one state."""
        game = self.game
        if len(self.states) >= self.max_nodes:
            raise too_many_states(game, self.max_nodes)
        actor, num_private = game.actor(state), (game.num_private(state, 0), game.num_private(state, 1))
        for player, relation in enumerate(relations):
            self.check_relation(state, parent, player, relation, num_private[player])
        self.action_labels.append(())
        if actor >= 0:
            self.add_decision(state, actor, num_private[actor])
        elif actor == TERMINAL:
            self.add_payoffs(state, num_private)
        self.states.append(state)
        self.actor.append(actor)
        self.parent.append(parent)
        self.depth.append(self.depth[parent] + 1 if parent >= 0 else 0)
        self.num_private.append(num_private)
        self.relations.extend(relations)

    def check_relation(self, state: Any, parent: int, player: int, relation: Relation, num_private: int) -> None:
        is_actor = self.actor[parent] == player
        actions = (0, len(self.action_labels[parent])) if is_actor else (NO_ACTION, 0)
        # lists: on the few private states of small games they beat NumPy's reductions by far
        for name, values, (low, high) in (
            ("private states", relation.private.tolist(), (0, self.num_private[parent][player])),
            ("targets", relation.target.tolist(), (0, num_private)),
            ("actions", relation.action.tolist(), actions),
        ):
            if not values or min(values) < low or max(values) >= high:
                raise self.fault(state, f"player {player}'s relation needs {name} from {low} to {high - 1}")

    def add_decision(self, state: Any, actor: int, num_private: int) -> None:
        """Appends what the actor's private states may do."""
        game = self.game
        actions, legality = game.legal_actions(state), game.legality(state)
        if legality.shape != (num_private, len(actions)):
            raise self.fault(state, f"legality has shape {legality.shape}")
        if not legality.any(axis=1).all():
            raise self.fault(state, f"private state {int(np.argmin(legality.any(axis=1)))} has no action")
        self.action_labels[-1] = tuple(game.action_name(state, action) for action in actions)
        self.num_legal.append(legality.sum(axis=1))
        self.columns.append(np.nonzero(legality)[1])
        self.infoset_labels.extend(game.infostate(state, actor, private) for private in range(num_private))

    def add_payoffs(self, state: Any, num_private: tuple[int, int]) -> None:
        """Appends a terminal's payoffs, without the pairs that cannot be."""
        name, factor = (None, 1.0)
        if isinstance(self.game, SharesPayoffs):
            name, factor = self.game.payoff_table(state)
            if not factor:
                raise self.fault(state, "the factor on shared payoffs is 0")
        table = len(self.payoffs) if name is None else self.payoff_tables.setdefault(name, len(self.payoffs))
        self.terminals.append((table, factor))
        if table < len(self.payoffs):
            return
        chance, payoffs = self.game.joint_weights(state), self.game.payoffs(state) / factor
        if chance.shape != num_private or payoffs.shape != (2, *num_private):
            raise self.fault(state, f"payoffs have shape {payoffs.shape}, expected {(2, *num_private)}")
        pairs = np.argwhere(chance != 0.0).T
        self.payoffs.append((pairs, chance[pairs[0], pairs[1]], payoffs[:, pairs[0], pairs[1]]))


def too_many_states(game: PublicGame[Any], max_nodes: int) -> GameTooLargeError:
    """Returns the error for a game that has more public states than the limit."""
    return GameTooLargeError(f"{game.spec.label} has more than {max_nodes:,} public states, the limit given")


def collect_public_game(
    game: PublicGame[Any], *, root: Any, max_nodes: int, on_progress: OnProgress | None = None
) -> PublicArrays:
    """Returns a public game from a public state on as arrays; stops at `max_nodes` with `GameTooLargeError`."""
    collector = _Collector(game, max_nodes, on_progress)
    collector.collect(root)
    relations, payoffs = collector.relations, collector.payoffs
    payoff_chance = join([chance for _, chance, _ in payoffs], np.float64)
    payoff = join([payoff for _, _, payoff in payoffs], np.float64, axis=1)
    check_zero_sum_claim(game.spec, payoff / payoff_chance)
    return PublicArrays(
        states=tuple(collector.states),
        public_labels=tuple(game.public_state(state) for state in collector.states),
        actor=np.array(collector.actor, np.int8),
        parent=np.array(collector.parent, np.int32),
        depth=np.array(collector.depth, np.int32),
        num_private=np.array(collector.num_private, np.int32).reshape(-1, 2),
        num_actions=np.array([len(labels) for labels in collector.action_labels], np.int32),
        action_labels=tuple(collector.action_labels),
        relation_start=starts([0, 0, *(relation.weight.size for relation in relations)]),
        relation_private=join([relation.private for relation in relations], np.int32),
        relation_action=join([relation.action for relation in relations], np.int32),
        relation_target=join([relation.target for relation in relations], np.int32),
        relation_weight=join([relation.weight for relation in relations], np.float64),
        payoff_table=np.array([table for table, _ in collector.terminals], np.int32),
        payoff_factor=np.array([factor for _, factor in collector.terminals], np.float64),
        payoff_start=starts([chance.size for _, chance, _ in payoffs]),
        payoff_private=join([pairs for pairs, _, _ in payoffs], np.int32, axis=1),
        payoff_chance=payoff_chance,
        payoff=payoff,
        infoset_start=starts(join(collector.num_legal, np.int64)),
        infoset_labels=tuple(collector.infoset_labels),
        sequence_column=join(collector.columns, np.int32),
    )
