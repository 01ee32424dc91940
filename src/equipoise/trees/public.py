# SPDX-License-Identifier: Apache-2.0
"""The public tree: a two-player game as public states with one vector per player, as arrays.

Nodes are public states, numbered so that parents come before children; a player's private states are numbered within
each node. Building runs the public game once per node. Strategies convert to and from the history tree's numbering, so
that both forms compare and are saved alike. This module does not solve anything.
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar, Final

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError, GameTooLargeError, InvalidGameError
from equipoise.games.base import CHANCE, TERMINAL
from equipoise.games.public import NO_ACTION, PublicEdge, PublicGame, Relation
from equipoise.kernels.public import Cells, TerminalGroups
from equipoise.trees.history import HistoryTree, flatten_ranges
from equipoise.trees.public_layout import Block, BlockPlanner, View
from equipoise.trees.terminals import TerminalPlanner

__all__ = ["DEFAULT_MAX_NODES", "PublicTree", "PublicTreeSize", "build_public_tree"]

DEFAULT_MAX_NODES: Final = 2_000_000

BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int32]
FloatArray = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class PublicTreeSize:
    """How large a public tree is."""

    num_decisions: int  # public states in which a player moves
    num_chance: int
    num_terminals: int
    num_infosets: int  # private states of the actors
    num_cells: int  # numbers of one reach table, both players, padding included
    num_bytes: int  # of the tree's arrays

    def __str__(self) -> str:
        return (
            f"{self.num_decisions:,} decision, {self.num_chance:,} chance and {self.num_terminals:,} terminal public "
            f"states, {self.num_infosets:,} information states, {self.num_cells:,} cells, "
            f"{self.num_bytes / 1e6:,.1f} MB"
        )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PublicTree:
    """A two-player game as public states.

    Axes: N nodes, I information states (a decision node's private states, in order of nodes), S information states'
    actions, K entries of relations or payoffs, C cells, R rows (see docs/notation.md). Tables and strategies are `[C]`
    over the cells of decisions, `cells.num_table_cells` of them, an [A, H] block per node; reaches and values are `[C]`
    over all cells.
    """

    num_players: ClassVar = 2
    ROOT = -1  # parent of the root
    NO_CELL = -1  # first cell of a table that a node has not

    game_label: str
    is_zero_sum: bool
    utility_range: float  # distance between the game's smallest and largest return
    states: tuple[Any, ...]  # [N] public states as the public game has them
    public_labels: tuple[str, ...]  # [N]
    actor: npt.NDArray[np.int8]  # [N] player, CHANCE or TERMINAL
    parent: IntArray  # [N] ROOT at the root
    num_private: IntArray  # [N, 2]
    num_actions: IntArray  # [N] columns of the actor's table, 0 unless a player moves
    action_labels: tuple[tuple[str, ...], ...]  # [N][A]
    relation_start: IntArray  # [2N+1] entries of the edge into node n, player i: segment 2n + i; none at the root
    relation_private: IntArray  # [K] private state above
    relation_action: IntArray  # [K] column of the action taken, NO_ACTION for a player who did not move
    relation_target: IntArray  # [K] private state here
    relation_weight: FloatArray  # [K]
    terminal_node: IntArray  # [Z]
    payoff_start: IntArray  # [Z+1]
    payoff_private: IntArray  # [2, K] pair of private states
    payoff_chance: FloatArray  # [K] joint weight of the pair
    payoff: FloatArray  # [2, K] joint weight times each player's utility
    infoset_node: IntArray  # [I]
    infoset_private: IntArray  # [I]
    infoset_row: IntArray  # [I] row of the tables that are kept per information state
    infoset_start: IntArray  # [I+1] into sequence_cell
    infoset_labels: tuple[str, ...]  # [I]
    sequence_cell: IntArray  # [S] table cell of each legal action of each information state, actions ascending
    table_start: IntArray  # [N] first cell of the node's table, NO_CELL unless a player moves
    stride: IntArray  # [N] cells from one action's row to the next
    block_start: IntArray  # [N, 2] first cell of each player's reach and values
    slot_start: IntArray  # [2N+1] segments of `slot`, as relation_start
    slot: IntArray  # cell of each private state, from block_start
    legal_share: FloatArray  # [table cells] 1 / number of legal actions where legal, 0 elsewhere and at padding
    cells: Cells
    terminals: TerminalGroups

    @property
    def size(self) -> PublicTreeSize:
        """Returns the counts and bytes of the tree."""
        parts: tuple[PublicTree | Cells | TerminalGroups, ...] = (self, self.cells, self.terminals)
        arrays = (getattr(part, field.name) for part in parts for field in dataclasses.fields(part))
        return PublicTreeSize(
            num_decisions=int(np.count_nonzero(self.actor >= 0)),
            num_chance=int(np.count_nonzero(self.actor == CHANCE)),
            num_terminals=self.terminal_node.size,
            num_infosets=self.infoset_node.size,
            num_cells=self.cells.num_cells,
            num_bytes=sum(value.nbytes for value in arrays if isinstance(value, np.ndarray)),
        )

    def private_cells(self, node: int, player: int) -> IntArray:
        """Returns `[H]` the cell of each of a player's private states at a node."""
        segment = 2 * node + player
        cells: IntArray = self.slot[self.slot_start[segment] : self.slot_start[segment + 1]] + np.int32(
            self.block_start[node, player]
        )
        return cells

    def infoset_player(self) -> IntArray:
        """Returns `[I]` the player that each information state belongs to."""
        return self.actor[self.infoset_node].astype(np.int32)

    def sequence_labels(self) -> tuple[str, ...]:
        """Returns `[S]` the name of each legal action of each information state."""
        node = np.repeat(self.infoset_node, np.diff(self.infoset_start))
        column = (self.sequence_cell - self.table_start[node]) // self.stride[node]
        pairs = zip(node.tolist(), column.tolist(), strict=True)
        return tuple(self.action_labels[node][column] for node, column in pairs)

    def strategy_to_history(self, tree: HistoryTree, strategy: FloatArray) -> FloatArray:
        """Returns `[Q]` a strategy `[C]` in the numbering of the same game's history tree."""
        out = np.ones(int(tree.sequence_start[-1]))
        out[self._history_sequences(tree)] = strategy[self.sequence_cell]
        return out

    def strategy_from_history(self, tree: HistoryTree, strategy: FloatArray) -> FloatArray:
        """Returns `[C]` a history tree's strategy `[Q]`; padding gets the uniform one."""
        out = self.legal_share.copy()
        out[self.sequence_cell] = strategy[self._history_sequences(tree)]
        return out

    def _history_sequences(self, tree: HistoryTree) -> npt.NDArray[np.int64]:
        """Returns `[S]` the history tree's number of each of this tree's (information state, action) pairs."""
        players = tree.infoset_player().tolist()
        known = {key: infoset for infoset, key in enumerate(zip(players, tree.infoset_labels, strict=True))}
        keys = list(zip(self.infoset_player().tolist(), self.infoset_labels, strict=True))
        missing = next((key for key in keys if key not in known), None)
        if missing is not None or len(known) != len(keys):
            raise ConfigError(
                f"{self.game_label} and {tree.game_label} must have the same information states, got {len(keys)} and "
                f"{len(known)}" + (f"; {missing[1]!r} of player {missing[0]} is in one alone" if missing else "")
            )
        infosets = np.array([known[key] for key in keys], np.int32)
        counts = np.diff(self.infoset_start)
        if not np.array_equal(counts, tree.num_actions[infosets]):
            culprit = self.infoset_labels[int(np.argmax(counts != tree.num_actions[infosets]))]
            raise ConfigError(f"both trees must have the same actions at {culprit!r}")
        return flatten_ranges(tree.first_sequence[infosets], tree.num_actions[infosets])


class _Builder:
    """Grows the arrays of a tree, a node at a time."""

    def __init__(self, game: PublicGame[Any], max_nodes: int) -> None:
        self.game = game
        self.max_nodes = max_nodes
        self.planner = BlockPlanner()
        self.terminals = TerminalPlanner()
        self.states: list[Any] = []
        self.actor: list[int] = []
        self.parent: list[int] = []
        self.relations: list[tuple[Relation, ...]] = []
        self.legality: list[BoolArray] = []  # of decision nodes
        self.tables: list[Block | None] = []
        self.views: list[tuple[View, View]] = []
        self.payoffs: list[tuple[npt.NDArray[np.int64], FloatArray, FloatArray]] = []  # of terminal nodes

    def fault(self, state: Any, what: str) -> InvalidGameError:
        return InvalidGameError(f"{self.game.spec.label}: {what} at {self.game.public_state(state)!r}")

    def grow(self, state: Any) -> None:
        """Adds a state and everything below, depth first."""
        first = self.planner.open_root(0, self.game.num_private(state, 0))
        second = self.planner.open_root(1, self.game.num_private(state, 1))
        self.add(state, PublicTree.ROOT, (), (first, second))
        pending = [(0, edge) for edge in reversed(self.game.edges(state))]
        while pending:
            parent, edge = pending.pop()
            node = len(self.states)
            self.add(edge.child, parent, edge.relations, self.follow(parent, edge))
            pending.extend((node, below) for below in reversed(self.game.edges(edge.child)))

    def add(self, state: Any, parent: int, relations: tuple[Relation, ...], views: tuple[View, View]) -> None:
        """Appends one node."""
        if len(self.states) >= self.max_nodes:
            raise GameTooLargeError(
                f"{self.game.spec.label} has more than {self.max_nodes:,} public states, the limit given"
            )
        actor = self.game.actor(state)
        table = None
        legality = np.empty((views[0].slot.size, 0), np.bool_)
        if actor >= 0:
            legality = self.game.legality(state)
            if legality.shape != (views[actor].slot.size, len(self.game.legal_actions(state))):
                raise self.fault(state, f"legality has shape {legality.shape}")
            if not legality.any(axis=1).all():
                raise self.fault(state, f"private state {int(np.argmin(legality.any(axis=1)))} has no action")
            view, table = self.planner.open_decision(views[actor], legality.shape[1], is_masked=not legality.all())
            views = (view, views[1]) if actor == 0 else (views[0], view)
        elif actor == TERMINAL:
            self.add_payoffs(state, views)
        self.states.append(state)
        self.actor.append(actor)
        self.parent.append(parent)
        self.relations.append(relations)
        self.legality.append(legality)
        self.tables.append(table)
        self.views.append(views)

    def add_payoffs(self, state: Any, views: tuple[View, View]) -> None:
        """Appends a terminal's payoffs, without the pairs that cannot be."""
        chance, payoffs = self.game.joint_weights(state), self.game.payoffs(state)
        shape = (views[0].slot.size, views[1].slot.size)
        if chance.shape != shape or payoffs.shape != (2, *shape):
            raise self.fault(state, f"payoffs have shape {payoffs.shape}, expected {(2, *shape)}")
        pairs = np.argwhere(chance != 0.0).T
        self.payoffs.append((pairs, chance[pairs[0], pairs[1]], payoffs[:, pairs[0], pairs[1]]))
        for player in (0, 1):
            matrix = payoffs[player] if player == 0 else payoffs[player].T
            self.terminals.add(views[player], views[1 - player], matrix)

    def follow(self, parent: int, edge: PublicEdge[Any]) -> tuple[View, View]:
        """Returns both players' views of a child."""
        first, second = (self.follow_player(parent, edge, player) for player in (0, 1))
        return first, second

    def follow_player(self, parent: int, edge: PublicEdge[Any], player: int) -> View:
        """Returns a player's view of a child, and checks its relation."""
        relation = edge.relations[player]
        num_private = self.game.num_private(edge.child, player)
        view, table = self.views[parent][player], self.tables[parent]
        is_actor = self.actor[parent] == player
        actions = (0, table.num_actions) if is_actor and table else (NO_ACTION, 0)
        # lists: on the few private states of small games they beat NumPy's reductions by far
        for name, values, (low, high) in (
            ("private states", relation.private.tolist(), (0, view.slot.size)),
            ("targets", relation.target.tolist(), (0, num_private)),
            ("actions", relation.action.tolist(), actions),
        ):
            if not values or min(values) < low or max(values) >= high:
                raise self.fault(edge.child, f"player {player}'s relation needs {name} from {low} to {high - 1}")
        slot = view.slot[relation.private]
        if is_actor and table is not None:
            slot = slot + relation.action * np.int32(table.stride)
            view = View(table, 0, table.num_cells, view.slot)
        return self.planner.follow(view, slot, relation.target, relation.weight, num_private)


def build_public_tree(game: PublicGame[Any], *, root: Any = None, max_nodes: int = DEFAULT_MAX_NODES) -> PublicTree:
    """Returns the tree of every public state of a public game.

    Args:
        game: a public game, written by hand or derived.
        root: public state to start from; the initial one if none is given. Reaches at a root with several private
            states are set by the caller, one by default.
        max_nodes: building stops here with `GameTooLargeError`.
    """
    builder = _Builder(game, max_nodes)
    builder.grow(game.initial_state() if root is None else root)
    return _assemble(builder)


def _assemble(builder: _Builder) -> PublicTree:
    """Returns the finished tree: blocks and views replaced by numbers of cells."""
    game, num_nodes = builder.game, len(builder.states)
    cells = builder.planner.assign_cells()
    actor = np.array(builder.actor, np.int8)
    views = [view for pair in builder.views for view in pair]
    relations = [relation for pair in builder.relations for relation in pair]
    counts = [0, 0, *(relation.weight.size for relation in relations)]
    legal_share = np.zeros(cells.num_table_cells)
    rows: list[IntArray] = []
    sequence_cells: list[npt.NDArray[np.int64]] = []
    num_legal: list[npt.NDArray[np.int64]] = []
    infoset_labels: list[str] = []
    decisions = np.flatnonzero(actor >= 0).tolist()
    for node in decisions:
        table, legality, view = builder.tables[node], builder.legality[node], builder.views[node][actor[node]]
        assert table is not None
        private, action = np.nonzero(legality)
        sequence_cell = table.first_cell + action * table.stride + view.slot[private]
        sequence_cells.append(sequence_cell)
        num_legal.append(legality.sum(axis=1))
        legal_share[sequence_cell] = (1.0 / num_legal[-1])[private]
        rows.append(table.first_row + view.slot)
        state, player = builder.states[node], int(actor[node])
        infoset_labels.extend(game.infostate(state, player, index) for index in range(view.slot.size))
    num_private = np.array([view.slot.size for view in views], np.int32).reshape(num_nodes, 2)
    num_infosets = [int(num_private[node, actor[node]]) for node in decisions]
    tables = builder.tables
    return PublicTree(
        game_label=game.spec.label,
        is_zero_sum=game.spec.is_zero_sum,
        utility_range=game.spec.utility_range,
        states=tuple(builder.states),
        public_labels=tuple(game.public_state(state) for state in builder.states),
        actor=actor,
        parent=np.array(builder.parent, np.int32),
        num_private=num_private,
        num_actions=np.array([table.num_actions if table else 0 for table in tables], np.int32),
        action_labels=tuple(
            tuple(game.action_name(state, action) for action in game.legal_actions(state)) if table else ()
            for state, table in zip(builder.states, tables, strict=True)
        ),
        relation_start=_starts(counts),
        relation_private=_join([relation.private for relation in relations], np.int32),
        relation_action=_join([relation.action for relation in relations], np.int32),
        relation_target=_join([relation.target for relation in relations], np.int32),
        relation_weight=_join([relation.weight for relation in relations], np.float64),
        terminal_node=np.flatnonzero(actor == TERMINAL).astype(np.int32),
        payoff_start=_starts([chance.size for _, chance, _ in builder.payoffs]),
        payoff_private=_join([pairs for pairs, _, _ in builder.payoffs], np.int32, axis=1),
        payoff_chance=_join([chance for _, chance, _ in builder.payoffs], np.float64),
        payoff=_join([payoff for _, _, payoff in builder.payoffs], np.float64, axis=1),
        infoset_node=np.repeat(np.array(decisions, np.int32), num_infosets),
        infoset_private=_join([np.arange(count) for count in num_infosets], np.int32),
        infoset_row=_join(rows, np.int32),
        infoset_start=_starts(_join(num_legal, np.int64).tolist()),
        infoset_labels=tuple(infoset_labels),
        sequence_cell=_join(sequence_cells, np.int32),
        table_start=np.array([table.first_cell if table else PublicTree.NO_CELL for table in tables], np.int32),
        stride=np.array([table.stride if table else 0 for table in tables], np.int32),
        block_start=np.array([view.first_cell for view in views], np.int32).reshape(num_nodes, 2),
        slot_start=_starts([view.slot.size for view in views]),
        slot=_join([view.slot for view in views], np.int32),
        legal_share=legal_share,
        cells=cells,
        terminals=builder.terminals.group(),
    )


def _starts(counts: list[int]) -> IntArray:
    """Returns where each of consecutive segments starts, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)


def _join(parts: list[Any], dtype: npt.DTypeLike, *, axis: int = 0) -> npt.NDArray[Any]:
    """Returns the concatenation of parts along an axis (of two, if it is the last), empty if there are none."""
    empty = np.empty((2, 0) if axis else 0, dtype)
    return np.ascontiguousarray(np.concatenate([empty, *parts], axis=axis).astype(dtype, copy=False))
