# SPDX-License-Identifier: Apache-2.0
"""The history tree: every history of a game, in depth-first order, as arrays.

Building runs the game's Python rules once per history; nothing after it does. Sequences and information sets of all
players share one numbering each, player after player, in pre-order of each player's forest, so that everything below
a sequence is one contiguous slice. This module does not solve anything.
"""

from __future__ import annotations

import dataclasses
import math
import sys
from array import array
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError, GameTooLargeError, InvalidGameError, InvalidStateError
from equipoise.core.files import format_bytes
from equipoise.core.formatting import shorten_text, show_given
from equipoise.core.markup import MOST_NODES, TreeNode, html_line, join_html, svg_tree
from equipoise.games.base import CHANCE, TERMINAL, ActionClass, Game, GameSpec, check_given_game
from equipoise.kernels.calls import check_integer
from equipoise.trees.segments import flatten_ranges

__all__ = [
    "ACTION_CODES",
    "DEFAULT_MAX_HISTORIES",
    "HistoryTree",
    "TreeSize",
    "build_history_tree",
    "check_zero_sum_claim",
    "estimate_num_histories",
    "order_forests",
]

DEFAULT_MAX_HISTORIES: Final = 20_000_000
BYTES_PER_HISTORY: Final = 56  # measured on Leduc and Liar's Dice: arrays of a finished tree, terminals included
PROGRESS_EVERY: Final = 1 << 14  # histories between two progress calls
DOUBTED_HISTORIES: Final = 1 << 17  # after which sampling is asked whether the limit will be kept, a second's work
# An estimate so much above a limit is believed: it is unbiased, so by Markov's inequality at most one game in this many
# is refused that would have fitted.
HOPELESS_RATIO: Final = 100
LARGEST_SAID: Final = 1e300  # of histories: beyond, products overflow
BEYOND_ANY_TREE: Final = 1e15  # histories; a tree of so many takes 56 PB
ACTION_CODES: Final = {kind: code for code, kind in enumerate(ActionClass)}  # of `HistoryTree.action_class`

IntArray = npt.NDArray[np.int32]
FloatArray = npt.NDArray[np.float64]
OnProgress = Callable[[int, float], None]  # histories so far, fraction of the tree that is done


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class TreeSize:
    """How large a history tree is.

    >>> from equipoise.games import make_game
    >>> size = build_history_tree(make_game("leduc")).size
    >>> size.num_histories, size.num_terminals, size.num_infosets
    (9457, 5520, 936)
    """

    num_histories: int  # every node, terminals included
    num_terminals: int
    num_infosets: int  # of all players
    num_sequences: int  # of all players, empty sequences included
    num_bytes: int  # of the tree's arrays

    def __str__(self) -> str:
        return (
            f"{self.num_histories:,} histories ({self.num_terminals:,} terminal), {self.num_infosets:,} information "
            f"sets, {self.num_sequences:,} sequences, {self.num_bytes / 1e6:,.1f} MB"
        )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HistoryTree:
    """A game as arrays, nodes in depth-first pre-order.

    Axes: N nodes, Z terminals, P players, I information sets, Q sequences (see docs/notation.md).

    >>> from equipoise.games import make_game
    >>> tree = build_history_tree(make_game("kuhn"))
    >>> tree.num_nodes, tree.size.num_infosets
    (58, 12)
    """

    NO_INFOSET = -1  # chance and terminal nodes
    PRIVATE_CHANCE = -1  # chance nodes whose outcome is not wholly public

    game_label: str
    num_players: int
    is_zero_sum: bool
    utility_range: float  # distance between the game's smallest and largest return
    actor: npt.NDArray[np.int8]  # [N] player, CHANCE or TERMINAL
    parent: IntArray  # [N] -1 at the root
    subtree_end: IntArray  # [N] one past the last node below
    infoset: IntArray  # [N] information set of the actor, NO_INFOSET elsewhere
    chance_probability: FloatArray  # [N] of the edge into the node, 1 unless chance moved
    public_chance: IntArray  # [N] at chance nodes with public outcomes: which public state; else PRIVATE_CHANCE
    public_outcome: IntArray  # [N] at children of such nodes: which public state it led to; else PRIVATE_CHANCE
    first_edge: IntArray  # [N+1] into edge_child
    edge_child: IntArray  # [N-1] children in the order of actions
    terminal_node: IntArray  # [Z]
    terminal_sequence: IntArray  # [P, Z] last sequence of each player before the terminal
    terminal_chance: FloatArray  # [Z] product of chance probabilities on the path
    utility: FloatArray  # [P, Z]
    infoset_start: IntArray  # [P+1] player i owns information sets [infoset_start[i], infoset_start[i+1])
    sequence_start: IntArray  # [P+1] likewise; the first of each player is its empty sequence
    first_sequence: IntArray  # [I]
    num_actions: IntArray  # [I]
    parent_sequence: IntArray  # [I]
    infoset_end: IntArray  # [I] one past the last information set below
    infoset_labels: tuple[str, ...]  # [I]
    sequence_labels: tuple[str, ...]  # [Q] names of actions; "" at empty sequences
    action_class: npt.NDArray[np.int8]  # [Q] ACTION_CODES of actions; OTHER at empty sequences

    def __repr__(self) -> str:
        return f"<HistoryTree of {shorten_text(self.game_label, 80)}: {self.size}>"

    def _repr_html_(self) -> str:
        return join_html(html_line(repr(self)), svg_tree(self._nodes()) if self.num_nodes <= MOST_NODES else "")

    def _nodes(self) -> list[TreeNode]:
        """Returns every history as it is drawn: who moves and where, what is won, what was done."""
        terminals = {node: place for place, node in enumerate(self.terminal_node.tolist())}
        found = []
        for node in range(self.num_nodes):
            actor, above = int(self.actor[node]), int(self.parent[node])
            text = "chance" if actor == CHANCE else f"{actor}: {self.infoset_labels[self.infoset[node]]}"
            if actor == TERMINAL:
                text = ", ".join(f"{won:+g}" for won in self.utility[:, terminals[node]])
            found.append(TreeNode(above, text, "" if above < 0 else self._name_edge(above, node)))
        return found

    def _name_edge(self, above: int, node: int) -> str:
        """Returns the action, or the chance, by which a history is followed by another."""
        if self.actor[above] == CHANCE:
            return f"{self.chance_probability[node]:.3g}"
        children = self.edge_child[self.first_edge[above] : self.first_edge[above + 1]].tolist()
        label: str = self.sequence_labels[int(self.first_sequence[self.infoset[above]]) + children.index(node)]
        return label

    @property
    def num_nodes(self) -> int:
        """Returns N, the histories."""
        return int(self.actor.size)

    def mean_value(self, player: int, values: FloatArray) -> float:
        """Returns a player's utility from the counterfactual value `[1]` of its empty sequence."""
        return float(values[0])

    @property
    def size(self) -> TreeSize:
        """Returns the counts and bytes of the tree."""
        arrays = (getattr(self, field.name) for field in dataclasses.fields(self))
        return TreeSize(
            num_histories=self.actor.size,
            num_terminals=self.terminal_node.size,
            num_infosets=self.num_actions.size,
            num_sequences=int(self.sequence_start[-1]),
            num_bytes=sum(value.nbytes for value in arrays if isinstance(value, np.ndarray)),
        )

    def infoset_player(self) -> IntArray:
        """Returns `[I]` the player that each information set belongs to."""
        counts = np.diff(self.infoset_start)
        return np.repeat(np.arange(self.num_players, dtype=np.int32), counts)

    def sequence_infoset(self) -> IntArray:
        """Returns `[Q]` the information set of each sequence, NO_INFOSET at empty sequences."""
        owner = np.full(int(self.sequence_start[-1]), self.NO_INFOSET, np.int32)
        owner[flatten_ranges(self.first_sequence, self.num_actions)] = np.repeat(
            np.arange(self.num_actions.size, dtype=np.int32), self.num_actions
        )
        return owner


class _Recorder:
    """Grows the raw arrays of a tree while the game is enumerated, in order of first encounter."""

    def __init__(self, game: Game[Any], max_histories: int, on_progress: OnProgress | None) -> None:
        self.game = game
        self.max_histories = max_histories
        self.on_progress = on_progress
        self.next_report = PROGRESS_EVERY
        self.is_doubted = max_histories > DOUBTED_HISTORIES
        self.num_players = game.spec.num_players
        self.actor = array("b")
        self.parent = array("i")
        self.subtree_end = array("i")
        self.infoset = array("i")
        self.chance_probability = array("d")
        self.public_chance = array("i")
        self.public_outcome = array("i")
        self.terminal_sequence = [array("i") for _ in range(self.num_players)]
        self.terminal_chance = array("d")
        self.utility = [array("d") for _ in range(self.num_players)]
        self.infoset_index: list[dict[str, int]] = [{} for _ in range(self.num_players)]
        self.infoset_actions: list[tuple[int, ...]] = []
        self.infoset_player: list[int] = []
        self.infoset_names: list[tuple[str, ...]] = []
        self.infoset_classes: list[tuple[int, ...]] = []
        self.infoset_first: list[int] = []  # provisional number of the set's first sequence
        self.infoset_parent: list[int] = []  # provisional number of the sequence above
        self.num_sequences = self.num_players  # provisional 0..P-1 are the empty sequences
        self.public_states: dict[str, int] = {}  # in which chance moves for all to see
        self.public_results: dict[str, int] = {}  # to which such a move leads

    def too_large(self) -> GameTooLargeError:
        spec = self.game.spec
        estimate = estimate_num_histories(self.game, rng=np.random.default_rng(0))
        return GameTooLargeError(
            f"{spec.label} has more than {self.max_histories:,} histories, the limit given; sampling suggests about "
            f"{estimate:.2g}, that is {format_bytes(estimate * BYTES_PER_HISTORY)} as a tree. What fits: smaller "
            f"parameters, or a higher limit (a tree of {self.max_histories:,} histories takes "
            f"{format_bytes(self.max_histories * BYTES_PER_HISTORY)})"
        )

    def refuse_giant(self) -> None:
        expected = estimate_num_histories(self.game, rng=np.random.default_rng(0))
        if expected > HOPELESS_RATIO * self.max_histories:
            raise GameTooLargeError(describe_giant(self.game.spec.label, expected, self.max_histories))

    def visit(
        self,
        state: Any,
        parent: int,
        edge: float,
        chance: float,
        sequences: tuple[int, ...],
        done: tuple[float, float],
    ) -> None:
        """Records a state and everything below; `done` is the share of the tree before it and its own share."""
        game = self.game
        node = len(self.actor)
        if node >= self.max_histories:
            raise self.too_large()
        if self.is_doubted and node >= DOUBTED_HISTORIES:
            self.is_doubted = False
            self.refuse_giant()
        if node >= self.next_report:
            self.next_report += PROGRESS_EVERY
            if self.on_progress is not None:
                self.on_progress(node, done[0])
        actor = game.actor(state)
        self.actor.append(actor)
        self.parent.append(parent)
        self.subtree_end.append(node + 1)
        self.chance_probability.append(edge)
        self.public_chance.append(HistoryTree.PRIVATE_CHANCE)
        self.public_outcome.append(HistoryTree.PRIVATE_CHANCE)
        if actor == TERMINAL:
            self.infoset.append(HistoryTree.NO_INFOSET)
            self.terminal_chance.append(chance)
            for player, utility in enumerate(read_returns(game, state)):
                self.utility[player].append(utility)
                self.terminal_sequence[player].append(sequences[player])
            return
        before, share = done
        if actor == CHANCE:
            self.infoset.append(HistoryTree.NO_INFOSET)
            outcomes = game.chance_outcomes(state)
            share /= len(outcomes)
            children = [(game.apply(state, outcome), probability) for outcome, probability in outcomes]
            self.public_chance[node], public_outcomes = self.public_indices(state, [child for child, _ in children])
            for (child, probability), public_outcome in zip(children, public_outcomes, strict=True):
                child_node = len(self.actor)
                self.visit(child, node, probability, chance * probability, sequences, (before, share))
                self.public_outcome[child_node] = public_outcome
                before += share
        else:
            actions = game.legal_actions(state)
            infoset = self.find_infoset(state, actor, actions, sequences[actor])
            self.infoset.append(infoset)
            first = self.infoset_first[infoset]
            share /= len(actions)
            for offset, action in enumerate(actions):
                below = (*sequences[:actor], first + offset, *sequences[actor + 1 :])
                self.visit(game.apply(state, action), node, 1.0, chance, below, (before, share))
                before += share
        self.subtree_end[node] = len(self.actor)

    def find_infoset(self, state: Any, player: int, actions: tuple[int, ...], parent: int) -> int:
        """Returns the provisional number of the information set that the actor is in, and checks its laws."""
        label = self.game.infostate(state, player)
        infoset = self.infoset_index[player].get(label)
        if infoset is None:
            infoset = len(self.infoset_actions)
            self.infoset_index[player][label] = infoset
            self.infoset_actions.append(actions)
            self.infoset_player.append(player)
            self.infoset_names.append(tuple(self.game.action_name(state, action) for action in actions))
            self.infoset_classes.append(
                tuple(ACTION_CODES[self.game.action_class(state, action)] for action in actions)
            )
            self.infoset_first.append(self.num_sequences)
            self.infoset_parent.append(parent)
            self.num_sequences += len(actions)
        elif self.infoset_parent[infoset] != parent:
            raise InvalidGameError(
                f"{self.game.spec.label}: player {player} forgets its own moves at {label!r} (perfect recall is needed)"
            )
        elif self.infoset_actions[infoset] != actions:
            raise InvalidGameError(
                f"{self.game.spec.label}: histories in {label!r} have different actions, {actions} and "
                f"{self.infoset_actions[infoset]}"
            )
        return infoset

    def public_indices(self, state: Any, children: list[Any]) -> tuple[int, list[int]]:
        """Returns numbers for the public states of a chance node and of its children if all see the outcome."""
        try:
            names = [self.game.public_state(child) for child in children]
            if len(set(names)) == len(names):
                results = [self.public_results.setdefault(name, len(self.public_results)) for name in names]
                name = self.game.public_state(state)
                return self.public_states.setdefault(name, len(self.public_states)), results
        except InvalidStateError:  # a game that cannot tell what is public: nothing is sampled as public
            pass
        return HistoryTree.PRIVATE_CHANCE, [HistoryTree.PRIVATE_CHANCE] * len(children)


def build_history_tree(
    game: Game[Any],
    *,
    max_histories: int = DEFAULT_MAX_HISTORIES,
    on_progress: OnProgress | None = None,
) -> HistoryTree:
    """Returns the tree of every history of a game.

    Args:
        game: rules with perfect recall.
        max_histories: enumeration stops here with `GameTooLargeError`, soon if sampling suggests far more.
        on_progress: called now and then with the histories so far and the fraction done.

    >>> from equipoise.games.kuhn import Kuhn
    >>> build_history_tree(Kuhn()).num_nodes
    58
    """
    check_given_game(game)
    check_integer("max_histories", max_histories, 1)
    recorder = _Recorder(game, max_histories, on_progress)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, game.spec.max_length + 2000))
    try:
        root_sequences = tuple(range(recorder.num_players))
        recorder.visit(game.initial_state(), -1, 1.0, 1.0, root_sequences, (0.0, 1.0))
    finally:
        sys.setrecursionlimit(limit)
    return _assemble(recorder)


def _assemble(recorder: _Recorder) -> HistoryTree:
    """Returns the finished tree: provisional numbers replaced by forest pre-order."""
    num_players = recorder.num_players
    order, subtree_sizes = order_forests(
        recorder.infoset_parent,
        recorder.infoset_first,
        [len(actions) for actions in recorder.infoset_actions],
        range(num_players),
    )
    num_infosets = len(order)
    rank = np.empty(num_infosets, np.int32)
    rank[order] = np.arange(num_infosets, dtype=np.int32)
    counts = np.array([len(recorder.infoset_actions[k]) for k in order], np.int32)
    players = np.array([recorder.infoset_player[k] for k in order], np.int32)
    infoset_start = np.searchsorted(players, np.arange(num_players + 1)).astype(np.int32)
    # every player's segment opens with its empty sequence
    first_sequence = (np.cumsum(counts) - counts + players + 1).astype(np.int32)
    sequence_start = np.zeros(num_players + 1, np.int32)
    sequence_start[1:] = [1 + counts[players == player].sum() for player in range(num_players)]
    sequence_start = np.cumsum(sequence_start).astype(np.int32)

    renumber = np.empty(recorder.num_sequences, np.int32)  # provisional sequence -> final
    renumber[:num_players] = sequence_start[:-1]
    provisional_first = np.array([recorder.infoset_first[k] for k in order], np.int32)
    renumber[flatten_ranges(provisional_first, counts)] = flatten_ranges(first_sequence, counts)

    labels = [""] * recorder.num_sequences
    infoset_labels = [""] * num_infosets
    for index in recorder.infoset_index:
        for label, provisional in index.items():
            infoset_labels[rank[provisional]] = label
    for k, first in zip(order, first_sequence, strict=True):
        labels[first : first + len(recorder.infoset_names[k])] = recorder.infoset_names[k]

    action_class = np.full(recorder.num_sequences, ACTION_CODES[ActionClass.OTHER], np.int8)
    for k, first in zip(order, first_sequence, strict=True):
        action_class[first : first + len(recorder.infoset_classes[k])] = recorder.infoset_classes[k]

    actor = _as_array(recorder.actor, np.int8)
    parent = _as_array(recorder.parent, np.int32)
    infoset = _as_array(recorder.infoset, np.int32)
    is_decision = infoset >= 0
    infoset[is_decision] = rank[infoset[is_decision]]
    edges = np.argsort(parent[1:], kind="stable") + 1
    first_edge = np.zeros(actor.size + 1, np.int32)
    np.cumsum(np.bincount(parent[1:], minlength=actor.size), out=first_edge[1:])
    spec = recorder.game.spec
    utility = np.stack([_as_array(row, np.float64) for row in recorder.utility])
    check_zero_sum_claim(spec, utility)
    return HistoryTree(
        game_label=spec.label,
        num_players=num_players,
        is_zero_sum=spec.is_zero_sum,
        utility_range=spec.utility_range,
        actor=actor,
        parent=parent,
        subtree_end=_as_array(recorder.subtree_end, np.int32),
        infoset=infoset,
        chance_probability=_as_array(recorder.chance_probability, np.float64),
        public_chance=_as_array(recorder.public_chance, np.int32),
        public_outcome=_as_array(recorder.public_outcome, np.int32),
        first_edge=first_edge,
        edge_child=edges.astype(np.int32),
        terminal_node=np.flatnonzero(actor == TERMINAL).astype(np.int32),
        terminal_sequence=renumber[np.stack([_as_array(row, np.int32) for row in recorder.terminal_sequence])],
        terminal_chance=_as_array(recorder.terminal_chance, np.float64),
        utility=utility,
        infoset_start=infoset_start,
        sequence_start=sequence_start,
        first_sequence=first_sequence,
        num_actions=counts,
        parent_sequence=renumber[np.array([recorder.infoset_parent[k] for k in order], np.int32)],
        infoset_end=np.arange(num_infosets, dtype=np.int32) + np.array(subtree_sizes, np.int32),
        infoset_labels=tuple(infoset_labels),
        sequence_labels=tuple(labels),
        action_class=action_class,
    )


def check_tree(tree: object, *kinds: type) -> None:
    """Raises `ConfigError` unless a tree of one of these kinds is given, and not what it could be built from."""
    if not isinstance(tree, kinds):
        raise ConfigError(f"tree must be a tree such as build_history_tree(game), got {show_given(tree)}")


def check_zero_sum_claim(spec: GameSpec, utility: FloatArray) -> None:
    """Raises `InvalidGameError` if a game says that it is zero-sum, but its returns `[P, Z]` do not sum to zero.

    Solvers of zero-sum trees may look at one player's payoffs alone: a false claim would go unnoticed.
    """
    if not spec.is_zero_sum:
        return
    is_zero = np.abs(utility.sum(axis=0)) <= 1e-9 * max(spec.utility_range, 1.0)  # not a number is not zero either
    if not is_zero.all():
        returns = utility[:, int(np.argmin(is_zero))].tolist()
        raise InvalidGameError(f"{spec.label} says that it is zero-sum, but its returns do not sum to zero: {returns}")


def order_forests(
    parent: Sequence[int], first: Sequence[int], num_actions: Sequence[int], roots: Sequence[int]
) -> tuple[list[int], list[int]]:
    """Returns information sets in forest pre-order, one player's after the other's, and the sizes of their subtrees.

    Args:
        parent: `[I]` the sequence above each information set, in any numbering of sequences.
        first: `[I]` its first sequence.
        num_actions: `[I]` its sequences.
        roots: `[P]` the players' empty sequences.
    """
    below: dict[int, list[int]] = {}
    for infoset, above in enumerate(parent):
        below.setdefault(above, []).append(infoset)
    order: list[int] = []
    sizes: list[int] = []
    for root in roots:
        stack = [(infoset, False, 0) for infoset in reversed(below.get(root, []))]
        while stack:
            infoset, is_done, position = stack.pop()
            if is_done:
                sizes[position] = len(order) - position
                continue
            stack.append((infoset, True, len(order)))
            order.append(infoset)
            sizes.append(0)
            for sequence in reversed(range(first[infoset], first[infoset] + num_actions[infoset])):
                stack.extend((child, False, 0) for child in reversed(below.get(sequence, [])))
    return order, sizes


def _as_array(values: array[Any], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Returns a copy of a growing array as a NumPy array."""
    return np.array(np.frombuffer(values, dtype=dtype)) if len(values) else np.empty(0, dtype)


def format_count(count: float) -> str:
    """Returns an estimate in words, also where it is too large for a number."""
    return f"about {count:.2g}" if math.isfinite(count) else f"more than {LARGEST_SAID:.0e}"


def format_tree_bytes(num_histories: float, bytes_per_history: float = BYTES_PER_HISTORY) -> str:
    """Returns what a tree of so many histories takes, also where it is too large for a number."""
    if not math.isfinite(num_histories):
        return f"more than {format_bytes(LARGEST_SAID)}"
    return format_bytes(num_histories * bytes_per_history)


def describe_giant(
    label: str, expected: float, limit: int, format_size: Callable[[float], str] = format_tree_bytes
) -> str:
    """Returns why a game of so many expected histories is refused, and what would fit."""
    return (
        f"{label} is too large: sampling suggests {format_count(expected)} histories, that is {format_size(expected)} "
        f"as a tree. What fits: smaller parameters with at most {limit:,} histories ({format_size(limit)})"
    )


def estimate_num_histories(game: Game[Any], *, rng: np.random.Generator, num_probes: int = 1000) -> float:
    """Returns an unbiased estimate of the number of histories from random probes.

    Once the estimate cannot but exceed what any tree holds, the mean of the probes so far is returned: Go is known to
    be too large after one of them.

    Paper: Knuth 1975, "Estimating the efficiency of backtrack programs".
    Symbols: the product of branching factors along a random path, summed over its nodes.
    Departs from the paper: nothing.
    Checked by: tests/trees/test_history.py.

    >>> from equipoise.games import make_game
    >>> 5000 < estimate_num_histories(make_game("leduc"), rng=np.random.default_rng(0)) < 15000
    True
    """
    check_given_game(game)
    total = 0.0
    for probe in range(num_probes):
        if total > BEYOND_ANY_TREE * num_probes:
            return total / probe
        state, width, length = game.initial_state(), 1.0, 0
        total += width
        while (actor := game.actor(state)) != TERMINAL:
            actions = _list_moves(game, state, actor)
            width *= len(actions)
            total += width
            state = game.apply(state, actions[int(rng.integers(len(actions)))])
            length += 1
            if length > game.spec.max_length:
                raise _break_law(
                    game, f"it goes on after {length:,} actions, its max_length is {game.spec.max_length:,}"
                )
    return total / num_probes


def read_returns(game: Game[Any], state: Any) -> tuple[float, ...]:
    """Returns the utilities at the end of a game; raises `InvalidGameError` unless it is a number for each player.

    >>> from equipoise.games import make_game
    >>> game = make_game("rock_paper_scissors")
    >>> read_returns(game, game.apply(game.apply(game.initial_state(), 1), 0))  # paper wraps rock
    (1.0, -1.0)
    """
    given = game.returns(state)
    try:
        utilities = tuple(map(float, given))
    except (TypeError, ValueError):
        utilities = ()
    if len(utilities) != game.spec.num_players:
        raise _break_law(
            game, f"returns must be a number for each of {game.spec.num_players} players, got {show_given(given)}"
        )
    return utilities


def _list_moves(game: Game[Any], state: Any, actor: int) -> Sequence[int]:
    """Returns the actions or outcomes in a state that has not ended; raises `InvalidGameError` if there are none."""
    if actor == CHANCE:
        moves: Sequence[int] | None = [outcome for outcome, _ in game.chance_outcomes(state) or ()]
    else:
        moves = game.legal_actions(state)
    if moves is None or len(moves) == 0:
        who = "chance" if actor == CHANCE else f"player {actor}"
        raise _break_law(game, f"there is nothing that {who} can do in a state that has not ended")
    return moves


def _break_law(game: Game[Any], what: str) -> InvalidGameError:
    return InvalidGameError(f"{game.spec.label}: {what} (equipoise.check_game lists every law that is broken)")
