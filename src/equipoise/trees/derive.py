# SPDX-License-Identifier: Apache-2.0
"""The public form of any small two-player game, by enumerating its histories.

Histories are grouped by what everybody has seen (public states) and by what each player has seen (private states). All
of chance's probability goes into the joint weights, so every relation has weight one. A chance move after which
everybody has seen the same (a deal) is no public state of its own: it is part of the edge into the next one, and at
the beginning of the game the initial private states are those after it.
"""

from __future__ import annotations

import dataclasses
import itertools
from array import array
from typing import Any

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import InvalidGameError
from equipoise.core.formatting import brief_repr
from equipoise.games.base import CHANCE, TERMINAL, ActionClass, Game, GameSpec
from equipoise.games.public import NO_ACTION, PublicEdge, Relation
from equipoise.trees.descendants import order_depth_first
from equipoise.trees.enumeration import ROOT, Enumeration
from equipoise.trees.history import DEFAULT_MAX_HISTORIES, OnProgress, check_zero_sum_claim
from equipoise.trees.public_arrays import PublicArrays
from equipoise.trees.segments import flatten_ranges, number_within, starts

__all__ = ["DerivedPublicGame", "derive_public_game"]

BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int32]
LongArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DerivedPublicGame:
    """A `PublicGame` made by `derive_public_game`; its public states are numbers, depth first."""

    spec: GameSpec
    num_histories: int
    arrays: PublicArrays
    child_start: IntArray  # [N+1]
    child: IntArray  # [N-1] children in the order of actions
    first_infoset: IntArray  # [N+1] into the arrays' information states
    first_terminal: IntArray  # [N+1] into the arrays' terminals
    private_start: IntArray  # [2N+1] into private_labels: segment 2n + i
    private_labels: tuple[str, ...]  # information states of both players, on turn or off
    column_start: IntArray  # [N+1] into the columns
    column_action: tuple[int, ...]  # action of each column of each public state
    column_class: tuple[ActionClass, ...]
    joint_start: IntArray  # [N+1]
    joint_private: IntArray  # [2, K] pair of private states
    joint_weight: FloatArray  # [K]

    __repr__ = brief_repr

    @property
    def num_public_states(self) -> int:
        """Returns the number of public states; they are numbered from 0."""
        return self.arrays.actor.size

    def initial_state(self) -> int:
        """Returns the public state before anything has happened."""
        return 0

    def actor(self, state: int) -> int:
        """Returns the player to move (from 0), `CHANCE` or `TERMINAL`."""
        return int(self.arrays.actor[state])

    def num_private(self, state: int, player: int) -> int:
        """Returns the number of private states that a player can be in."""
        return int(self.arrays.num_private[state, player])

    def legal_actions(self, state: int) -> tuple[int, ...]:
        """Returns the actions that some private state of the actor has, ascending."""
        return self.column_action[self.column_start[state] : self.column_start[state + 1]]

    def legality(self, state: int) -> BoolArray:
        """Returns `[H, A]` which of those actions each private state of the actor has."""
        arrays, actor = self.arrays, self.actor(state)
        out = np.zeros((self.num_private(state, actor), len(self.legal_actions(state))), np.bool_)
        for infoset, row in enumerate(out, start=int(self.first_infoset[state])):
            row[arrays.sequence_column[arrays.infoset_start[infoset] : arrays.infoset_start[infoset + 1]]] = True
        return out

    def edges(self, state: int) -> tuple[PublicEdge[int], ...]:
        """Returns one edge per public observation that can follow."""
        children = self.child[self.child_start[state] : self.child_start[state + 1]].tolist()
        return tuple(PublicEdge(child, (self._relation(child, 0), self._relation(child, 1))) for child in children)

    def _relation(self, child: int, player: int) -> Relation:
        arrays = self.arrays
        entries = slice(*arrays.relation_start[2 * child + player : 2 * child + player + 2].tolist())
        return Relation(
            private=arrays.relation_private[entries],
            action=arrays.relation_action[entries],
            target=arrays.relation_target[entries],
            weight=arrays.relation_weight[entries],
        )

    def joint_weights(self, state: int) -> FloatArray:
        """Returns `[H0, H1]` chance's probability of each pair of private states."""
        pairs = slice(self.joint_start[state], self.joint_start[state + 1])
        out = np.zeros(self.arrays.num_private[state])
        out[tuple(self.joint_private[:, pairs])] = self.joint_weight[pairs]
        return out

    def payoffs(self, state: int) -> FloatArray:
        """Returns `[2, H0, H1]` the sum over histories of chance's probability times utility."""
        arrays = self.arrays
        terminal = self.first_terminal[state]
        pairs = slice(arrays.payoff_start[terminal], arrays.payoff_start[terminal + 1])
        out = np.zeros((2, *arrays.num_private[state]))
        out[:, arrays.payoff_private[0, pairs], arrays.payoff_private[1, pairs]] = arrays.payoff[:, pairs]
        return out

    def infostate(self, state: int, player: int, private: int) -> str:
        """Returns the information state that a private state is."""
        return self.private_labels[int(self.private_start[2 * state + player]) + private]

    def public_state(self, state: int) -> str:
        """Returns all that everybody has seen."""
        return self.arrays.public_labels[state]

    def action_name(self, state: int, action: int) -> str:
        """Returns a short word for an action of the actor."""
        return self.arrays.action_labels[state][self.legal_actions(state).index(action)]

    def action_class(self, state: int, action: int) -> ActionClass:
        """Returns the kind of move that an action is."""
        return self.column_class[int(self.column_start[state]) + self.legal_actions(state).index(action)]


def derive_public_game(
    game: Game[Any], *, max_histories: int = DEFAULT_MAX_HISTORIES, on_progress: OnProgress | None = None
) -> DerivedPublicGame:
    """Returns the public form of a two-player game.

    Paper: Schmid et al. 2021, "Player of Games", arXiv:2112.03178, section 2 and appendix A (factored observations).
    Symbols: s_pub -> public state; S_i(s_pub) -> private states of a player; P_c -> joint weights.
    Departs from the paper: private deals before and between public states are part of the edges, not public states.
    Checked by: tests/trees/test_derive.py.

    Args:
        game: rules with perfect recall, whose public states have one actor each and are known to both players.
        max_histories: enumeration stops here with `GameTooLargeError`.
        on_progress: called now and then with the histories so far and the fraction done.

    >>> from equipoise.games import make_game
    >>> game = derive_public_game(make_game("leduc"))
    >>> game.num_private(game.initial_state(), 0)
    6
    """
    if game.spec.num_players != 2:
        raise InvalidGameError(f"{game.spec.label}: the public form is for 2 players, got {game.spec.num_players}")
    enumeration = Enumeration(game, max_histories, on_progress)
    enumeration.run()
    check_zero_sum_claim(game.spec, np.array(enumeration.utility))
    return _assemble(enumeration)


class _Numbering:
    """Public and private states of an enumeration in their final order, both players' private states in one list."""

    def __init__(self, enumeration: Enumeration) -> None:
        first, second = enumeration.players
        sizes, num_steps = (len(first.node), len(second.node)), (len(first.step_action), len(second.step_action))
        player = np.repeat(np.arange(2), sizes)
        node = _concatenate(first.node, second.node)
        self.first_step = _concatenate(first.first_step, second.first_step) + num_steps[0] * player
        step_above = _concatenate(first.step_above, second.step_above) + num_steps[0] * player
        self.step_action = _concatenate(first.step_action, second.step_action)
        self.step_private = np.repeat(np.arange(node.size), np.diff(self.first_step, append=sum(num_steps)))

        actor, parent = np.array(enumeration.node_actor, np.int8), np.array(enumeration.node_parent, np.int64)
        is_deal = np.append((actor == CHANCE) & (np.bincount(parent[1:], minlength=actor.size) == 1), False)
        # a node below a deal moves up past it; all at once, so that runs of deals take as many rounds as they are long
        while (is_below := is_deal[parent]).any():
            rows = is_below[node]
            step_above[rows] = step_above[self.step_private[step_above[rows]]]
            parent[is_below] = parent[parent[is_below]]
        self.order, self.depth, _, _ = order_depth_first(parent, np.flatnonzero(~is_deal[:-1]))
        rank = np.full(actor.size + 1, ROOT)  # the last one is the root's parent
        rank[self.order] = np.arange(self.order.size)
        self.actor, self.parent = actor[self.order], rank[parent[self.order]]

        self.node = rank[node]  # [members] of each private state; ROOT at deals
        kept = np.flatnonzero(self.node >= 0)
        segment = 2 * self.node + player
        self.private_order = kept[np.argsort(segment[kept], kind="stable")]
        self.num_private = np.bincount(segment[kept], minlength=2 * self.order.size).reshape(-1, 2)
        self.place = np.full(node.size, -1)  # [members] number within the public state and player
        self.place[self.private_order] = number_within(self.num_private.ravel())
        self.step_above = step_above
        self.is_actor = self.actor[self.node] == player  # [members]


def _concatenate(first: array[int], second: array[int]) -> LongArray:
    return np.concatenate([np.array(first, np.int64), np.array(second, np.int64)])


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Columns:
    """The actions of each public state's actor: the columns of its table."""

    start: IntArray  # [N+1]
    action: LongArray
    step: LongArray  # the step that an action was first met as
    of_step: LongArray  # [steps] column within the public state, NO_ACTION for waiting


def _find_columns(numbering: _Numbering) -> _Columns:
    steps = np.flatnonzero(numbering.step_action != NO_ACTION)
    action = numbering.step_action[steps]
    node = numbering.node[numbering.step_private[steps]]
    width = int(action.max(initial=0)) + 1
    keys, first, inverse = np.unique(node * width + action, return_index=True, return_inverse=True)
    start = starts(np.bincount(keys // width, minlength=numbering.order.size))
    of_step = np.full(numbering.step_action.size, NO_ACTION)
    of_step[steps] = inverse - start[node]
    return _Columns(start=start, action=keys % width, step=steps[first], of_step=of_step)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Pairs:
    """Pairs of private states that occur together, by public state, then by player 0's and player 1's."""

    node: LongArray  # [K]
    private: LongArray  # [2, K]
    weight: FloatArray  # [K] chance's probability
    payoff: FloatArray  # [2, K] sum over terminal histories of probability times utility


def _find_pairs(enumeration: Enumeration, numbering: _Numbering) -> _Pairs:
    first = np.array(enumeration.pair[0], np.int64)
    second = np.array(enumeration.pair[1], np.int64) + len(enumeration.players[0].node)
    chance = np.array(enumeration.chance)
    is_kept = numbering.node[first] >= 0
    first, second, chance = first[is_kept], second[is_kept], chance[is_kept]
    row = np.empty(numbering.place.size, np.int64)
    row[numbering.private_order] = np.arange(numbering.private_order.size)
    width = int(numbering.num_private.max())
    keys, index, inverse = np.unique(
        row[first] * width + numbering.place[second], return_index=True, return_inverse=True
    )
    ends = np.flatnonzero(numbering.actor[numbering.node[first]] == TERMINAL)
    payoffs = [
        np.bincount(inverse[ends], weights=chance[ends] * np.array(enumeration.utility[player]), minlength=keys.size)
        for player in (0, 1)
    ]
    weight: FloatArray = np.bincount(inverse, weights=chance, minlength=keys.size).astype(np.float64, copy=False)
    return _Pairs(
        node=numbering.node[first[index]],
        private=numbering.place[np.stack([first[index], second[index]])],
        weight=weight,
        payoff=np.stack(payoffs),
    )


def _assemble(enumeration: Enumeration) -> DerivedPublicGame:
    """Returns the finished game: deals folded into edges, public states depth first."""
    numbering = _Numbering(enumeration)
    columns, pairs = _find_columns(numbering), _find_pairs(enumeration, numbering)
    first, second = enumeration.players
    names, classes = first.step_name + second.step_name, first.step_class + second.step_class
    labels = [*first.index, *second.index]
    column_names = [names[step] for step in columns.step.tolist()]
    num_nodes = numbering.order.size
    counts = numbering.num_private.ravel().copy()
    num_roots = int(counts[:2].sum())
    counts[:2] = 0
    below = numbering.private_order[num_roots:]
    step = numbering.step_above[below]
    infosets = numbering.private_order[numbering.is_actor[numbering.private_order]]
    num_legal = np.diff(numbering.first_step, append=numbering.step_action.size)[infosets] - 1
    ends = np.flatnonzero((numbering.actor[pairs.node] == TERMINAL) & (pairs.weight != 0.0))
    node_labels = list(enumeration.node_index)
    arrays = PublicArrays(
        states=tuple(range(num_nodes)),
        public_labels=tuple([node_labels[node] for node in numbering.order.tolist()]),
        actor=numbering.actor,
        parent=numbering.parent.astype(np.int32),
        depth=numbering.depth,
        num_private=numbering.num_private.astype(np.int32),
        num_actions=np.diff(columns.start),
        action_labels=tuple([tuple(column_names[a:b]) for a, b in itertools.pairwise(columns.start.tolist())]),
        relation_start=starts(counts),
        relation_private=numbering.place[numbering.step_private[step]].astype(np.int32),
        relation_action=columns.of_step[step].astype(np.int32),
        relation_target=numbering.place[below].astype(np.int32),
        relation_weight=np.ones(below.size),
        payoff_table=np.arange(np.count_nonzero(numbering.actor == TERMINAL), dtype=np.int32),
        payoff_factor=np.ones(np.count_nonzero(numbering.actor == TERMINAL)),
        payoff_start=starts(np.bincount(pairs.node[ends], minlength=num_nodes)[numbering.actor == TERMINAL]),
        payoff_private=pairs.private[:, ends].astype(np.int32),
        payoff_chance=pairs.weight[ends],
        payoff=pairs.payoff[:, ends],
        infoset_start=starts(num_legal),
        infoset_labels=tuple([labels[private] for private in infosets.tolist()]),
        sequence_column=columns.of_step[flatten_ranges(numbering.first_step[infosets] + 1, num_legal)].astype(np.int32),
    )
    return DerivedPublicGame(
        spec=enumeration.game.spec,
        num_histories=enumeration.num_histories,
        arrays=arrays,
        child_start=starts(np.bincount(numbering.parent[1:], minlength=num_nodes)),
        child=(np.argsort(numbering.parent[1:], kind="stable") + 1).astype(np.int32),
        first_infoset=starts(np.bincount(numbering.node[infosets], minlength=num_nodes)),
        first_terminal=starts(numbering.actor == TERMINAL),
        private_start=starts(numbering.num_private.ravel()),
        private_labels=tuple([labels[private] for private in numbering.private_order.tolist()]),
        column_start=columns.start,
        column_action=tuple(columns.action.tolist()),
        column_class=tuple([classes[step] for step in columns.step.tolist()]),
        joint_start=starts(np.bincount(pairs.node, minlength=num_nodes)),
        joint_private=pairs.private.astype(np.int32),
        joint_weight=pairs.weight,
    )
