# SPDX-License-Identifier: Apache-2.0
"""A game as searches under many beliefs see it: subgames down to a limit, one form for each kind of public state.

A belief is a share of 1 for each private state of both players: own reach times chance's weight of the state. A value
is what a private state earns for each unit of the other's belief, in units of what the game's ends pay. Nothing here
knows a network or a game's rules.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.core.formatting import brief_repr
from equipoise.games.base import TERMINAL, Game
from equipoise.games.public import HasPublicForm, PublicGame
from equipoise.kernels.belief_search import BeliefFormArrays, BeliefKernel
from equipoise.search.limits import ActionLimit, DepthLimit, RoundLimit
from equipoise.solvers.best_response import bind_public_kernel
from equipoise.trees.derive import derive_public_game
from equipoise.trees.history import estimate_num_histories
from equipoise.trees.public import PublicTree, build_public_tree
from equipoise.trees.public_edges import read_policy
from equipoise.trees.public_kinds import PublicKinds, find_kinds

__all__ = ["BeliefGame", "BeliefSubgame", "find_public_form", "format_horizon", "parse_horizon"]

MAX_NODES: Final = 200_000  # of a public tree whose kinds are found
MAX_HISTORIES: Final = 1e8  # to be expected of a game that is enumerated: far above what can be, and soon refused
NUM_PROBES: Final = 100

IntArray = npt.NDArray[np.int32]
LongArray = npt.NDArray[np.int64]
SingleArray = npt.NDArray[np.float32]
FloatArray = npt.NDArray[np.float64]


def parse_horizon(text: str) -> DepthLimit:
    """Returns where searches end: after so many actions (`2`), or with the round (`round`).

    >>> parse_horizon("2"), parse_horizon("round")
    (ActionLimit(actions=2), RoundLimit(rounds=1, is_after_deal=False))
    """
    if text == "round":
        return RoundLimit()
    if text.isdecimal() and 1 <= int(text) <= 99:
        return ActionLimit(int(text))
    raise ConfigError(f"a horizon is a number of actions from 1 to 99, or `round`, got {text!r}")


def format_horizon(limit: DepthLimit) -> str:
    """Returns what `parse_horizon` reads."""
    return str(limit.actions) if isinstance(limit, ActionLimit) else "round"


def find_public_form(game: Game[Any]) -> PublicGame[Any]:
    """Returns a game of two players over public states; raises `ConfigError` if beliefs have no values there."""
    if game.spec.num_players != 2 or not game.spec.is_zero_sum:
        raise ConfigError(f"values of beliefs are for two players in sum 0, and {game.spec.label} is not such a game")
    if isinstance(game, HasPublicForm):
        return game.public_form()
    expected = estimate_num_histories(game, rng=np.random.default_rng(0), num_probes=NUM_PROBES)
    if expected > MAX_HISTORIES:
        raise ConfigError(
            f"values of beliefs are for games that can be listed, and {game.spec.label} has some {expected:.0e} "
            "histories"
        )
    return derive_public_game(game)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BeliefSubgame:
    """What follows a kind of public state down to the limit, ready to be searched."""

    kind: int
    kernel: BeliefKernel
    decisions: IntArray  # [decisions] nodes of the kind's first state at which players move, in the form's order
    decision_cell: IntArray  # [decisions, 2] first cell of each player's private states there
    decision_scale: FloatArray  # [decisions] chance of them beyond reaches
    leaves: IntArray  # [leaves] its leaves
    leaf_kind: IntArray  # [leaves]

    __repr__ = brief_repr

    @property
    def arrays(self) -> BeliefFormArrays:
        """Returns the form."""
        return self.kernel.arrays

    def spread(
        self, reach: FloatArray, choose: Callable[[int, list[FloatArray]], npt.NDArray[np.floating[Any]]]
    ) -> list[FloatArray]:
        """Carries both players' reach down to the leaves.

        Args:
            reach: `[n, 2, width]` of the root.
            choose: `[n, A * H]` what is played at a decision by its number, given the cells above it.

        Returns:
            `[n, cells]` of each player of the form.
        """
        arrays = self.arrays
        cells = [np.zeros((len(reach), size)) for size in arrays.num_cells.tolist()]
        for place in (0, 1):
            hands = int(arrays.root_hands[place])
            cells[place][:, :hands] = reach[:, place, :hands]
        for what, number in arrays.steps.tolist():
            if what == 1:
                place, begin, end = arrays.transfers[number].tolist()
                entries = slice(begin, end)
                for source, target, weight in zip(
                    arrays.entry_source[entries],
                    arrays.entry_target[entries],
                    arrays.entry_weight[entries],
                    strict=True,
                ):
                    cells[place][:, target] += weight * cells[place][:, source]
                continue
            place, node, action, _, hands, actions = arrays.decisions[number].tolist()
            own = np.tile(cells[place][:, node : node + hands], (1, actions))
            cells[place][:, action : action + hands * actions] = own * choose(number, cells)
        return cells


class BeliefGame:
    """Kinds of public states from which searches begin, and the subgames that follow them.

    Paper: Brown et al. 2020, "Combining Deep Reinforcement Learning and Search for Imperfect-Information Games"; Brown
        2020, PhD thesis, sections 5.3.1 and 5.3.2.
    Symbols: beta -> beliefs `[2, width]`; s_pub -> a kind of public state.
    Departs from the paper: public states after which the same game follows are one, found from the tree; beliefs are
        products of reach and chance's weight, of which a dense joint weight is made where cards block each other.
    Checked by: tests/search/test_belief_games.py, tests/kernels/test_belief_search.py.
    """

    def __init__(self, public: PublicGame[Any], limit: DepthLimit, *, tree: PublicTree | None = None) -> None:
        """Finds the kinds of states at which searches end, beginning with the game.

        Args:
            public: two players in sum 0.
            limit: where searches end.
            tree: of the whole game, if it is there already.
        """
        self.public, self.limit = public, limit
        self.tree = tree or build_public_tree(public, max_nodes=MAX_NODES)
        self.all_kinds: PublicKinds = find_kinds(self.tree)
        self.width = int(self.tree.num_private.max())
        self.unit = _find_unit(self.tree)
        self.subgames: list[BeliefSubgame] = []
        self._numbers: dict[int, int] = {}
        self._paths: dict[int, tuple[IntArray, IntArray]] = {}
        self._collect()

    @classmethod
    def of(cls, game: Game[Any], limit: DepthLimit) -> BeliefGame:
        """Returns a game by its rules."""
        return cls(find_public_form(game), limit)

    @property
    def num_kinds(self) -> int:
        """Returns how many kinds of states searches begin at; the first is the beginning of the game."""
        return len(self.subgames)

    @functools.cached_property
    def is_live(self) -> npt.NDArray[np.bool_]:
        """Returns `[kinds, 2, width]` which private states there are at states of a kind."""
        hands = np.array([subgame.arrays.root_hands for subgame in self.subgames])
        live: npt.NDArray[np.bool_] = np.arange(self.width) < hands[:, :, None]
        return live

    def kind_at(self, node: int) -> int:
        """Returns the kind of a node at which a search begins."""
        return self._numbers[int(self.all_kinds.kind[node])]

    def first_player_at(self, node: int) -> int:
        """Returns the player who stands first in the beliefs of a node."""
        return int(self.all_kinds.first_player[node])

    def with_limit(self, limit: DepthLimit) -> BeliefGame:
        """Returns the same game, its searches ending elsewhere."""
        return BeliefGame(self.public, limit, tree=self.tree)

    def numbers_in(self, other: BeliefGame) -> list[int | None]:
        """Returns the numbers that kinds of this game have in another of the same tree; None if it has them not."""
        return [other._numbers.get(int(kind)) for kind in self._numbers]

    def _collect(self) -> None:
        waiting = [0]
        while waiting:
            nodes, waiting = waiting, []
            for node in nodes:
                kind = int(self.all_kinds.kind[node])
                if kind not in self._numbers:
                    self._numbers[kind] = len(self._numbers)
                    waiting += self.limit.leaves(self.tree, int(self.all_kinds.node[kind])).tolist()
        for kind in self._numbers:
            self.subgames.append(self._lay_out(int(self.all_kinds.node[kind])))

    # --- what chance says of a node, players in the order of the kind ---

    @functools.cache  # noqa: B019 - as long as the game
    def joint_at(self, node: int) -> FloatArray:
        """Returns `[width, width]` chance's weights of pairs, the kind's first player first, as the tree has them."""
        joint = self.public.joint_weights(self.tree.states[node])
        if self.first_player_at(node) == 1:
            joint = joint.T
        out = np.zeros((self.width, self.width))
        out[: joint.shape[0], : joint.shape[1]] = joint
        return out

    def shares_at(self, node: int) -> SingleArray:
        """Returns `[2, width]` each private state's share in chance's weights."""
        joint = self.joint_at(node)
        shares: SingleArray = (np.stack([joint.sum(axis=1), joint.sum(axis=0)]) / joint.sum()).astype(np.float32)
        return shares

    def root_belief(self) -> SingleArray:
        """Returns `[2, width]` what everybody believes when the game begins."""
        return self.shares_at(0)

    # --- layout ---

    def _lay_out(self, node: int) -> BeliefSubgame:
        layout = _Layout(self, node)
        return BeliefSubgame(
            kind=self.kind_at(node),
            kernel=BeliefKernel(layout.arrays()),
            decisions=np.array(layout.decision_nodes, np.int32),
            decision_scale=np.array([self.joint_at(each).sum() for each in layout.decision_nodes]) / layout.total,
            decision_cell=np.array([layout.cell[each] for each in layout.decision_nodes], np.int32).reshape(-1, 2),
            leaves=np.array(layout.leaf_nodes, np.int32),
            leaf_kind=np.array([self.kind_at(leaf) for leaf in layout.leaf_nodes], np.int32),
        )

    def nodes_of(self, node: int) -> tuple[IntArray, IntArray]:
        """Returns the decisions and the leaves of the search that begins at a node, in the order of its subgame."""
        if node not in self._paths:
            decisions, leaves = [], []
            ends = set(self.limit.leaves(self.tree, node).tolist())
            for each in _walk(self.tree, node, ends):
                if each in ends:
                    leaves.append(each)
                elif self.tree.actor[each] >= 0:
                    decisions.append(each)
            self._paths[node] = np.array(decisions, np.int32), np.array(leaves, np.int32)
        return self._paths[node]

    def table_cells(self, node: int) -> LongArray:
        """Returns `[C]` the tree's cell of each cell of the tables of a search that begins at a node."""
        cells = [_cells_at(self.tree, decision) for decision in self.nodes_of(node)[0].tolist()]
        return np.concatenate(cells) if cells else np.zeros(0, np.int64)


def _find_unit(tree: PublicTree) -> float:
    """Returns the root of the mean square of what a game of random moves pays: values are then of the size of 1."""
    kernel = bind_public_kernel(tree)
    reach = kernel.realize(tree.legal_share)
    squares = total = 0.0
    for terminal, node in enumerate(tree.terminal_node.tolist()):
        pairs, chance, payoff = tree.pairs_at(terminal)
        first, second = (reach[tree.private_cells(node, player)][pairs[player]] for player in (0, 1))
        mass = first * second
        total += float((mass * chance).sum())
        squares += float((mass * payoff[0] ** 2 / chance).sum())
    return float(np.sqrt(squares / total)) or 1.0


def _walk(tree: PublicTree, node: int, ends: set[int]) -> Iterator[int]:
    """Yields a node and those below it down to the ends, parents first, in the order of the tree."""
    is_within = {int(tree.parent[node])}  # nodes whose children are yielded
    for each in tree.descendants.of(node).tolist():
        if int(tree.parent[each]) in is_within:
            yield each
            if each not in ends:
                is_within.add(each)
        if each == node:
            is_within.discard(int(tree.parent[node]))


def _cells_at(tree: PublicTree, node: int) -> LongArray:
    """Returns `[A * H]` the cells of a decision's table, action by action."""
    actor = int(tree.actor[node])
    slot = tree.slot[tree.slot_start[2 * node + actor] : tree.slot_start[2 * node + actor + 1]].astype(np.int64)
    rows = int(tree.table_start[node]) + int(tree.stride[node]) * np.arange(int(tree.num_actions[node]))
    cells: LongArray = (rows[:, None] + slot).ravel()
    return cells


class _Layout:
    """Lays a subgame out in cells: what an edge only passes on, or picks in order, stays where it is."""

    def __init__(self, game: BeliefGame, root: int) -> None:
        self.game, self.tree, self.root = game, game.tree, root
        self.first = game.first_player_at(root)
        self.total = float(game.joint_at(root).sum())
        self.num_cells = [int(self.tree.num_private[root, player]) for player in self._players]
        self.cell: dict[int, list[int]] = {root: [0, 0]}  # first cell of each place
        self.action_cell: dict[int, int] = {}
        self.steps: list[tuple[int, int]] = []
        self.decisions: list[tuple[int, ...]] = []
        self.transfers: list[tuple[int, int, int]] = []
        self.entries: tuple[list[Any], list[Any], list[Any]] = ([], [], [])  # sources, targets, weights
        self.num_entries = 0
        self.legal: list[FloatArray] = []
        self.num_table_cells = 0
        self.gains: tuple[list[FloatArray], list[FloatArray]] = ([], [])
        self.leaf_nodes: list[int] = []
        self.decision_nodes: list[int] = []
        decisions, leaves = game.nodes_of(root)
        self._ends = set(leaves.tolist())
        self._terminal = {int(node): place for place, node in enumerate(self.tree.terminal_node)}
        for node in _walk(self.tree, root, self._ends):
            self._add(node)
        assert self.decision_nodes == decisions.tolist(), "both walks go the same way"

    @property
    def _players(self) -> tuple[int, int]:
        return self.first, 1 - self.first

    def _add(self, node: int) -> None:
        if node != self.root:
            self.cell[node] = [self._enter(node, place) for place in (0, 1)]
        actor = int(self.tree.actor[node])
        if actor == TERMINAL:
            self._add_gains(node)
        elif node in self._ends:
            self.leaf_nodes.append(node)
        elif actor >= 0:
            self._add_decision(node, int(actor != self.first))

    def _enter(self, node: int, place: int) -> int:
        """Returns the first cell of a player's private states below an edge."""
        tree, player = self.tree, self._players[place]
        entries = slice(*tree.relation_start[2 * node + player : 2 * node + player + 2].tolist())
        private, action = tree.relation_private[entries], tree.relation_action[entries]
        target, weight = tree.relation_target[entries], tree.relation_weight[entries]
        parent = int(tree.parent[node])
        if int(tree.actor[parent]) == player:
            source = self.action_cell[parent] + action * int(tree.num_private[parent, player]) + private
        else:
            source = self.cell[parent][place] + private
        count = int(tree.num_private[node, player])
        if target.size == count and (weight == 1.0).all():
            ordered = source[np.argsort(target, kind="stable")]
            if np.array_equal(np.sort(target), np.arange(count)) and (np.diff(ordered) == 1).all():
                return int(ordered[0])
        begin = self.num_cells[place]
        self.num_cells[place] += count
        self.steps.append((1, len(self.transfers)))
        self.transfers.append((place, self.num_entries, self.num_entries + target.size))
        self.num_entries += target.size
        for parts, values in zip(self.entries, (source, begin + target, weight), strict=True):
            parts.append(values)
        return begin

    def _add_decision(self, node: int, place: int) -> None:
        tree = self.tree
        hands, actions = int(tree.num_private[node, self._players[place]]), int(tree.num_actions[node])
        self.action_cell[node] = begin = self.num_cells[place]
        self.num_cells[place] += hands * actions
        self.steps.append((0, len(self.decisions)))
        self.decisions.append((place, self.cell[node][place], begin, self.num_table_cells, hands, actions))
        self.num_table_cells += hands * actions
        self.legal.append(read_policy(tree, node, tree.legal_share).T.ravel())
        self.decision_nodes.append(node)

    def _add_gains(self, node: int) -> None:
        pairs, _, payoff = self.tree.pairs_at(self._terminal[node])
        scale = self.total * self.game.unit
        for place, player in enumerate(self._players):
            own = self.cell[node][place] + pairs[player]
            other = self.cell[node][1 - place] + pairs[1 - player]
            self.gains[place].append(np.stack([own, other, payoff[player] / scale]))

    def _gain_rows(self, place: int) -> dict[str, npt.NDArray[Any]]:
        """Returns what terminals pay, row by row of a player's cells."""
        found = np.concatenate(self.gains[place], axis=1) if self.gains[place] else np.zeros((3, 0))
        found = found[:, found[2] != 0.0]
        found = found[:, np.lexsort((found[1], found[0]))]
        cell, start = np.unique(found[0], return_index=True)
        return {
            f"gain_cell_{place}": cell.astype(np.int32),
            f"gain_start_{place}": np.append(start, found.shape[1]).astype(np.int32),
            f"gain_other_{place}": np.ascontiguousarray(found[1].astype(np.int32)),
            f"gain_weight_{place}": np.ascontiguousarray(found[2].astype(np.float32)),
        }

    def arrays(self) -> BeliefFormArrays:
        """Returns the form."""
        game, tree = self.game, self.tree
        kinds = list(dict.fromkeys(game.kind_at(leaf) for leaf in self.leaf_nodes))
        sample = {game.kind_at(leaf): leaf for leaf in reversed(self.leaf_nodes)}
        totals = [float(game.joint_at(leaf).sum()) for leaf in self.leaf_nodes]
        players = {leaf: [game.first_player_at(leaf), 1 - game.first_player_at(leaf)] for leaf in self.leaf_nodes}
        root_joint = game.joint_at(self.root)
        shape = (len(kinds), game.width, game.width)
        joints = [game.joint_at(sample[kind]) / game.joint_at(sample[kind]).sum() for kind in kinds]
        joined = [np.concatenate(parts) if parts else np.zeros(0) for parts in self.entries]
        return BeliefFormArrays(
            num_cells=np.array(self.num_cells, np.int32),
            steps=np.array(self.steps, np.int32).reshape(-1, 2),
            decisions=np.array(self.decisions, np.int32).reshape(-1, 6),
            transfers=np.array(self.transfers, np.int32).reshape(-1, 3),
            entry_source=joined[0].astype(np.int32),
            entry_target=joined[1].astype(np.int32),
            entry_weight=joined[2].astype(np.float32),
            **self._gain_rows(0),
            **self._gain_rows(1),
            legal_share=(np.concatenate(self.legal) if self.legal else np.zeros(0)).astype(np.float32),
            leaf_cell=np.array([self.cell[leaf] for leaf in self.leaf_nodes], np.int32).reshape(-1, 2),
            leaf_kind=np.array([kinds.index(game.kind_at(leaf)) for leaf in self.leaf_nodes], np.int32),
            leaf_swapped=np.array([players[leaf][0] != self.first for leaf in self.leaf_nodes], np.int8),
            leaf_scale=(np.array(totals) / self.total).astype(np.float32),
            kind_row=np.array(kinds, np.int32),
            kind_hands=np.array(
                [tree.num_private[sample[kind]][players[sample[kind]]] for kind in kinds], np.int32
            ).reshape(-1, 2),
            kind_weight=np.array([game.shares_at(sample[kind]) for kind in kinds], np.float32).reshape(
                -1, 2, game.width
            ),
            kind_joint=np.ascontiguousarray(np.array(joints).reshape(shape)),
            root_hands=np.array([tree.num_private[self.root, player] for player in self._players], np.int32),
            root_weight=game.shares_at(self.root),
            root_joint=np.ascontiguousarray(root_joint / root_joint.sum()),
        )
