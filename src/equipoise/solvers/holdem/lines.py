# SPDX-License-Identifier: Apache-2.0
"""The tree of a solved spot as lines with frequencies: how often each is played, cards taken together.

One walk over boards and betting carries both players' reaches down, reading each decision once; what nobody reaches is
left out. Boards that are the same but for the names of suits are walked once and counted as often as they come.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.core.reporting import OnStep, Reporter
from equipoise.games.holdem.betting import Street, pot
from equipoise.games.holdem.betting_tree import BettingNode, NodeKind
from equipoise.games.holdem.cards import format_board
from equipoise.games.holdem.dealing import HAND_SIZE
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.line_notation import format_open_line, shorten_step
from equipoise.solvers.holdem.description import SolvedPlaces
from equipoise.trees.holdem.tree import HoldemTree
from equipoise.trees.vector import CellTable

__all__ = ["Visit", "check_street", "list_lines", "walk_tree"]

FloatArray = npt.NDArray[np.float64]
Pair = tuple[FloatArray, FloatArray]


class Visit(NamedTuple):
    """A node of the betting on a board, as a walk comes by."""

    board: int  # index of the board
    num_boards: int  # that it stands for, suits relabelled
    node: BettingNode
    reach: Pair  # [H] by player and number of a hand
    mass: float  # weight of the pairs of hands that come here, cards' chances and boards stood for included
    strategy: FloatArray | None  # [H, A] at a decision, hands as in the tree's rows of the actor


def walk_tree(
    tree: HoldemTree, sums: CellTable, *, last_street: Street | None = None, on_step: OnStep | None = None
) -> Iterator[Visit]:
    """Yields every node of the betting on every board that the tree keeps, parents first, where somebody comes.

    Args:
        tree: what is played.
        sums: in proportion to which both play.
        last_street: streets behind it are left out; None: all.
        on_step: is told how many boards of the whole are walked.
    """
    last = tree.spot.last_street if last_street is None else last_street
    walk = _Walk(tree, sums, last, on_step)
    first, second = (np.array(tree.spot.live_weights(player)) for player in (0, 1))
    mass = float(first @ hands_of(tree.spot.deck).compatible(second))
    yield from walk.visit_board(0, 1, 1.0, [(tree.betting.root, (first, second), mass)])


class _Walk:
    """Walks boards depth first, all lines that enter one before the next."""

    def __init__(self, tree: HoldemTree, sums: CellTable, last_street: Street, on_step: OnStep | None) -> None:
        self.tree, self.sums, self.last_street, self.on_step = tree, sums, last_street, on_step
        self.hands = hands_of(tree.spot.deck)
        first_street = tree.betting.root.state.street
        self.num_boards = int((tree.arrays.board_field("street") <= last_street - first_street).sum())
        self.num_walked = 0

    def visit_board(
        self, board: int, num_boards: int, chance: float, entering: list[tuple[BettingNode, Pair, float]]
    ) -> Iterator[Visit]:
        """Yields the nodes of a board and of those behind it.

        Args:
            board: index.
            num_boards: that it stands for.
            chance: of its cards given hands, times the boards that it stands for.
            entering: nodes at which lines enter its street, reaches there and their weight without chance.
        """
        if self.on_step is not None:
            self.on_step(self.num_walked / self.num_boards, format_board(self.tree.boards[board]))
        self.num_walked += 1
        leaving: list[tuple[BettingNode, Pair]] = []
        for node, reach, mass in entering:
            yield from self._visit_node(board, num_boards, chance, node, reach, mass, leaving)
        street = self.tree.betting.root.state.street + self.tree.arrays.board(board).street
        if leaving and street < self.last_street:
            yield from self._visit_children(board, num_boards, chance, leaving)

    def _visit_node(
        self,
        board: int,
        num_boards: int,
        chance: float,
        node: BettingNode,
        reach: Pair,
        mass: float,
        leaving: list[tuple[BettingNode, Pair]],
    ) -> Iterator[Visit]:
        is_decision = node.kind is NodeKind.DECISION
        strategy = self.tree.normalize(self.sums, board, node.index) if is_decision else None
        yield Visit(board, num_boards, node, reach, chance * mass, strategy)
        if node.kind is NodeKind.STREET_END:
            leaving.append((node, reach))
        if strategy is None:
            return
        actor = node.state.actor
        held = self.tree.hands[board][actor]
        odds = (reach[actor] * self.hands.compatible(reach[1 - actor]))[held]
        masses = odds @ strategy
        for column, child in enumerate(node.children):
            if masses[column] <= 0:
                continue
            own = np.zeros(self.hands.num_hands)
            own[held] = reach[actor][held] * strategy[:, column]
            below = (own, reach[1]) if actor == 0 else (reach[0], own)
            following = self.tree.betting.nodes[child]
            yield from self._visit_node(board, num_boards, chance, following, below, float(masses[column]), leaving)

    def _visit_children(
        self, board: int, num_boards: int, chance: float, leaving: list[tuple[BettingNode, Pair]]
    ) -> Iterator[Visit]:
        tree = self.tree
        fields = tree.arrays.board(board)
        num_dealt = len(tree.boards[board])
        num_new = len(tree.boards[fields.first_child]) - num_dealt
        of_cards = 1.0 / math.comb(tree.spot.deck.num_cards - num_dealt - 2 * HAND_SIZE, num_new)
        for child in range(fields.first_child, fields.first_child + fields.num_children):
            blocked = self.hands.blocked(tree.boards[child])
            entering = []
            for node, (first, second) in leaving:
                pair = np.where(blocked, 0.0, first), np.where(blocked, 0.0, second)
                mass = float(pair[0] @ self.hands.compatible(pair[1]))
                if mass > 0:
                    entering.append((tree.betting.nodes[node.children[0]], pair, mass))
            num_images = tree.arrays.board(child).num_images
            if entering:
                yield from self.visit_board(child, num_boards * num_images, chance * of_cards * num_images, entering)


def check_street(tree: HoldemTree, street: Street | None) -> None:
    """Raises `ConfigError` if a spot does not have a street; None is any."""
    first, last = tree.betting.root.state.street, tree.spot.last_street
    if street is not None and not first <= street <= last:
        raise ConfigError(
            f"the spot goes from {first.name.lower()} to {last.name.lower()}, got street {street.name.lower()}"
        )


def list_lines(
    solved: SolvedPlaces,
    *,
    street: Street | None = None,
    min_reach: float = 0.0,
    depth: int | None = None,
    reporter: Reporter | None = None,
) -> list[dict[str, Any]]:
    """Returns the lines of a solved spot with how often they are played, cards taken together, in the tree's order.

    Each has `line` (`[*]` where cards came), `street`, `kind`, `player` and `seat` (who acts there, None if nobody
    does), `pot`, `depth` (steps), `reach` (how often it is played) and `frequency` (of its last step, where the line
    before it is played).

    Args:
        solved: a file, or a run under way.
        street: whose lines are listed; None: those of the first street.
        min_reach: rarer lines are left out.
        depth: the most steps of a line, cards not counted; None: any.
        reporter: is told how far it is.
    """
    tree = solved.tree
    check_street(tree, street)
    wanted = tree.betting.root.state.street if street is None else street
    masses = np.zeros(len(tree.betting.nodes))
    with (reporter or Reporter()).task("lines") as on_step:
        for visit in walk_tree(tree, solved.views.sums, last_street=wanted, on_step=on_step):
            masses[visit.node.index] += visit.mass
    found = []
    for node in tree.betting.nodes:
        reach = masses[node.index] / masses[0]
        if node.state.street != wanted or reach < min_reach or reach <= 0:
            continue
        described = _describe_line(solved, node, float(reach), float(masses[max(node.parent, 0)] / masses[0]))
        if depth is None or described["depth"] <= depth:
            found.append(described)
    return found


def _describe_line(solved: SolvedPlaces, node: BettingNode, reach: float, reach_above: float) -> dict[str, Any]:
    steps = format_open_line(solved.tree.betting, node.index)
    actor = node.state.actor if node.kind is NodeKind.DECISION else None
    return {
        "line": ", ".join(steps),
        "ids": [shorten_step(step) for step in steps],
        "street": node.state.street.name.lower(),
        "kind": "deal" if node.kind is NodeKind.STREET_END else node.kind.value,
        "player": actor,
        "seat": None if actor is None else solved.seats[actor],
        "pot": pot(node.state),
        "depth": sum(step != "[*]" for step in steps),
        "reach": reach,
        "frequency": reach / reach_above,
    }
