# SPDX-License-Identifier: Apache-2.0
"""The public tree: a two-player game as public states with one vector per player, as arrays.

Nodes are public states, numbered so that parents come before children; a player's private states are numbered within
each node. Strategies convert to and from the history tree's numbering, so that both forms compare and are saved alike.
This module does not solve anything.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.core.formatting import shorten_text
from equipoise.core.markup import MOST_NODES, TreeNode, html_line, join_html, svg_tree
from equipoise.games.base import CHANCE, TERMINAL
from equipoise.games.public import PublicGame
from equipoise.kernels.arithmetic import dot, multiply
from equipoise.kernels.public import Cells, TerminalGroups
from equipoise.trees.derive import DerivedPublicGame
from equipoise.trees.descendants import Descendants
from equipoise.trees.history import HistoryTree, OnProgress
from equipoise.trees.joint import DenseJoint
from equipoise.trees.public_arrays import PublicArrays, collect_public_game, too_many_states
from equipoise.trees.public_edges import read_policy, relation_matrices, trace_back
from equipoise.trees.public_layout import lay_out
from equipoise.trees.public_pairs import joint_weights
from equipoise.trees.segments import flatten_ranges, number_within
from equipoise.trees.terminals import group_terminals
from equipoise.trees.vector import CellTable

__all__ = [
    "DEFAULT_MAX_NODES",
    "PublicTree",
    "PublicTreeSize",
    "TreeFacts",
    "assemble_public_tree",
    "build_public_tree",
]

DEFAULT_MAX_NODES: Final = 2_000_000
COLLECTING_SHARE: Final = 0.9  # of the time that building takes, where a game is asked for every state

IntArray = npt.NDArray[np.int32]
FloatArray = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class PublicTreeSize:
    """How large a public tree is.

    >>> from equipoise.games import make_game
    >>> from equipoise.trees import derive_public_game
    >>> size = build_public_tree(derive_public_game(make_game("kuhn"))).size
    >>> size.num_decisions, size.num_terminals, size.num_infosets
    (4, 5, 12)
    """

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


class TreeFacts(NamedTuple):
    """What a tree knows of its game as a whole."""

    game_label: str
    num_histories: int | None  # of the game that it is derived from, None if there is none
    is_zero_sum: bool
    utility_range: float  # distance between the game's smallest and largest return


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PublicTree:
    """A two-player game as public states.

    Axes: N nodes, I information states (a decision node's private states, in order of nodes), S information states'
    actions, K entries of relations or payoffs, C cells, R rows (see docs/notation.md). Tables and strategies are `[C]`
    over the cells of decisions, `cells.num_table_cells` of them, an [A, H] block per node; reaches and values are `[C]`
    over all cells.

    >>> from equipoise.games import make_game
    >>> from equipoise.trees import derive_public_game
    >>> tree = build_public_tree(derive_public_game(make_game("kuhn")))
    >>> tree.num_nodes, tree.public_labels[:3]
    (9, ('', 'p', 'pp'))
    """

    num_players: ClassVar = 2
    ROOT = -1  # parent of the root
    NO_CELL = -1  # first cell of a table that a node has not

    game_label: str
    num_histories: int | None  # of the game that it is derived from, None if there is none
    is_zero_sum: bool
    utility_range: float  # distance between the game's smallest and largest return
    landmarks: IntArray  # nodes with cells of their own: `node_values` can say what they are worth
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
    payoff_table: IntArray  # [Z] which of the tables of payoffs holds each terminal's
    payoff_factor: FloatArray  # [Z] factor on them
    payoff_start: IntArray  # [tables + 1]
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
    _descendants: list[Descendants] = dataclasses.field(default_factory=list, init=False, repr=False)  # once asked for

    @property
    def descendants(self) -> Descendants:
        """Returns which nodes lie below which."""
        if not self._descendants:
            self._descendants.append(Descendants(self.parent))
        return self._descendants[0]

    def __repr__(self) -> str:
        return f"<PublicTree of {shorten_text(self.game_label, 80)}: {self.size}>"

    def _repr_html_(self) -> str:
        nodes = []
        for node in range(self.num_nodes if self.num_nodes <= MOST_NODES else 0):
            actor = int(self.actor[node])
            who = "chance" if actor == CHANCE else "end" if actor < 0 else str(actor)
            nodes.append(TreeNode(int(self.parent[node]), f"{who}: {self.public_labels[node]}"))
        return join_html(html_line(repr(self)), svg_tree(nodes))

    @property
    def num_nodes(self) -> int:
        """Returns N, the public states."""
        return int(self.actor.size)

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

    def pairs_at(self, terminal: int) -> tuple[IntArray, FloatArray, FloatArray]:
        """Returns `[2, P]` the pairs of private states of a terminal, `[P]` their joint weights, `[2, P]` payoffs.

        Payoffs are weighted, as everywhere in a public tree.
        """
        table = self.payoff_table[terminal]
        entries = slice(self.payoff_start[table], self.payoff_start[table + 1])
        payoff = self.payoff_factor[terminal] * self.payoff[:, entries]
        return self.payoff_private[:, entries], self.payoff_chance[entries], payoff

    def mean_value(self, player: int, values: FloatArray) -> float:
        """Returns a player's utility from its counterfactual values `[H]` at the root of a whole game."""
        return dot(np.ones(values.size), values)

    def private_cells(self, node: int, player: int) -> IntArray:
        """Returns `[H]` the cell of each of a player's private states at a node."""
        segment = 2 * node + player
        cells: IntArray = self.slot[self.slot_start[segment] : self.slot_start[segment + 1]] + np.int32(
            self.block_start[node, player]
        )
        return cells

    def node_values(self, node: int, player: int, cfv: FloatArray) -> FloatArray:
        """Returns `[H]` a player's counterfactual values at the root or a landmark, from those of all cells `[C]`."""
        if node != 0 and node not in self.landmarks:
            raise ConfigError(
                f"node {node} of {self.game_label} is no landmark: its cells are those of other nodes too"
            )
        values: FloatArray = cfv[self.private_cells(node, player)]
        return values

    # --- as a `VectorTree`; places are nodes ---

    @property
    def root_place(self) -> int:
        """Returns the root."""
        return 0

    def actor_at(self, place: int) -> int:
        """Returns the player to move at a node, `CHANCE` or `TERMINAL`."""
        return int(self.actor[place])

    def num_private_at(self, place: int, player: int) -> int:
        """Returns how many private states a player has at a node."""
        return int(self.num_private[place, player])

    def legal_at(self, place: int) -> npt.NDArray[np.bool_]:
        """Returns `[H, A]` which actions each of the actor's private states has."""
        legal: npt.NDArray[np.bool_] = read_policy(self, place, self.legal_share) > 0
        return legal

    def way_to(self, place: int) -> list[tuple[int, int]]:
        """Returns the edges from the root to a node, first to last."""
        edges = []
        while place != 0:
            above = int(self.parent[place])
            edges.append((above, place))
            place = above
        return edges[::-1]

    def trace_back(self, place: int, player: int) -> tuple[IntArray, IntArray]:
        """Returns `[H]` private state and action above from which each of a player's private states comes."""
        return trace_back(self, place, player)

    def push_reach(
        self, above: int, below: int, player: int, reach: FloatArray, policy: FloatArray | None = None
    ) -> FloatArray:
        """Returns `[H]` below an edge a player's reach `[H]` above it."""
        return multiply(reach, relation_matrices(self, below, player, policy))

    def joint_at(self, place: int) -> DenseJoint:
        """Returns chance's weights of pairs of private states, found anew at every call from the terminals below."""
        return DenseJoint(joint_weights(self, place))

    def rows_at(self, sums: CellTable, place: int) -> FloatArray:
        """Returns `[H, A]` the numbers of a table `[C]` at a decision."""
        return read_policy(self, place, sums)

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


def build_public_tree(
    game: PublicGame[Any],
    *,
    root: Any = None,
    max_nodes: int = DEFAULT_MAX_NODES,
    landmarks: npt.ArrayLike = (),
    on_progress: OnProgress | None = None,
) -> PublicTree:
    """Returns the tree of every public state of a public game.

    Args:
        game: a public game, written by hand or derived.
        root: public state to start from; the initial one if none is given. Reaches at a root with several private
            states are set by the caller, one by default.
        max_nodes: a larger tree is refused with `GameTooLargeError`.
        landmarks: nodes whose values will be asked for (`PublicTree.node_values`).
        on_progress: called now and then with the public states so far and the fraction done.

    >>> from equipoise.games import make_game
    >>> from equipoise.trees import derive_public_game
    >>> build_public_tree(derive_public_game(make_game("leduc"))).size.num_decisions
    186
    """
    if root is None and isinstance(game, DerivedPublicGame):
        arrays, collected = game.arrays, 0.0
        if arrays.actor.size > max_nodes:
            raise too_many_states(game, max_nodes)
    else:
        collected = COLLECTING_SHARE
        arrays = collect_public_game(
            game,
            root=game.initial_state() if root is None else root,
            max_nodes=max_nodes,
            on_progress=on_progress and (lambda num_nodes, done: on_progress(num_nodes, collected * done)),
        )
    size = arrays.actor.size
    return assemble_public_tree(
        arrays,
        TreeFacts(
            game_label=game.spec.label,
            num_histories=game.num_histories if isinstance(game, DerivedPublicGame) else None,
            is_zero_sum=game.spec.is_zero_sum,
            utility_range=game.spec.utility_range,
        ),
        landmarks=landmarks,
        on_level=on_progress and (lambda done: on_progress(done, collected + (1.0 - collected) * done / size)),
    )


def assemble_public_tree(
    arrays: PublicArrays,
    facts: TreeFacts,
    *,
    landmarks: npt.ArrayLike = (),
    on_level: Callable[[int], None] | None = None,
) -> PublicTree:
    """Returns the finished tree: what the game is, and where it stands."""
    marked = np.unique(np.asarray(landmarks, np.int32))
    marked = marked[marked != 0]  # the root has cells of its own anyway
    if marked.size and not 0 < marked[0] <= marked[-1] < arrays.actor.size:
        raise ConfigError(
            f"landmarks must be nodes from 0 to {arrays.actor.size - 1}, got {marked[0]} and {marked[-1]}"
        )
    layout = lay_out(arrays, landmarks=marked, on_level=on_level)
    decisions = np.flatnonzero(arrays.actor >= 0).astype(np.int32)
    actor = arrays.actor[decisions].astype(np.int32)
    num_infosets = arrays.num_private[decisions, actor]
    infoset_node = np.repeat(decisions, num_infosets)
    infoset_slot = layout.slot[flatten_ranges(layout.slot_start[2 * decisions + actor], num_infosets)]
    num_legal = np.diff(arrays.infoset_start)
    node = np.repeat(infoset_node, num_legal)
    row = layout.table_cell[node] + arrays.sequence_column * layout.stride[node]
    sequence_cell = row + np.repeat(infoset_slot, num_legal)
    legal_share = np.zeros(layout.cells.num_table_cells)
    legal_share[sequence_cell] = np.repeat(1.0 / num_legal, num_legal)
    return PublicTree(
        game_label=facts.game_label,
        num_histories=facts.num_histories,
        is_zero_sum=facts.is_zero_sum,
        utility_range=facts.utility_range,
        landmarks=marked,
        states=arrays.states,
        public_labels=arrays.public_labels,
        actor=arrays.actor,
        parent=arrays.parent,
        num_private=arrays.num_private,
        num_actions=arrays.num_actions,
        action_labels=arrays.action_labels,
        relation_start=arrays.relation_start,
        relation_private=arrays.relation_private,
        relation_action=arrays.relation_action,
        relation_target=arrays.relation_target,
        relation_weight=arrays.relation_weight,
        terminal_node=np.flatnonzero(arrays.actor == TERMINAL).astype(np.int32),
        payoff_table=arrays.payoff_table,
        payoff_factor=arrays.payoff_factor,
        payoff_start=arrays.payoff_start,
        payoff_private=arrays.payoff_private,
        payoff_chance=arrays.payoff_chance,
        payoff=arrays.payoff,
        infoset_node=infoset_node,
        infoset_private=number_within(num_infosets).astype(np.int32),
        infoset_row=np.repeat(layout.table_row[decisions], num_infosets) + infoset_slot,
        infoset_start=arrays.infoset_start,
        infoset_labels=arrays.infoset_labels,
        sequence_cell=sequence_cell,
        table_start=layout.table_cell,
        stride=layout.stride,
        block_start=layout.view_cell.reshape(-1, 2),
        slot_start=layout.slot_start,
        slot=layout.slot,
        legal_share=legal_share,
        cells=layout.cells,
        terminals=group_terminals(arrays, layout),
    )
