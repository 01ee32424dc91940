# SPDX-License-Identifier: Apache-2.0
"""Public states after which the same game follows: what a function of beliefs need not tell apart.

In Liar's Dice only the last bid matters, in Leduc the pot, the card and the betting of the round; nobody has to say so:
two states are of one kind if their subtrees agree in relations, legal actions and payoffs, chance's weights up to a
factor and players up to their names. Nothing here knows a game.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable
from typing import Final

import numpy as np
import numpy.typing as npt

from equipoise.core.formatting import brief_repr
from equipoise.games.base import CHANCE, TERMINAL
from equipoise.trees.public import PublicTree

__all__ = ["PublicKinds", "find_kinds"]

DIGITS: Final = 10  # to which weights and payoffs must agree

IntArray = npt.NDArray[np.int32]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PublicKinds:
    """Kinds of a tree's public states, numbered in the order in which nodes show them; terminals have none."""

    kind: IntArray  # [N] -1 at terminals
    first_player: npt.NDArray[np.int8]  # [N] the player who stands first in the kind
    node: IntArray  # [K] the first node of each kind

    __repr__ = brief_repr

    @property
    def num_kinds(self) -> int:
        """Returns K."""
        return int(self.node.size)


def find_kinds(tree: PublicTree) -> PublicKinds:
    """Returns what kind each public state of a tree is; the player to move stands first."""
    names = _Names(tree)
    kinds: dict[int, int] = {}
    kind = np.full(tree.num_nodes, -1, np.int32)
    first_player = np.zeros(tree.num_nodes, np.int8)
    nodes: list[int] = []
    for node in range(tree.num_nodes):
        actor = int(tree.actor[node])
        if actor == TERMINAL:
            continue
        first = actor if actor != CHANCE else int(names.of[node][0] not in kinds and names.of[node][1] in kinds)
        name = names.of[node][first]
        if name not in kinds:
            kinds[name] = len(nodes)
            nodes.append(node)
        kind[node], first_player[node] = kinds[name], first
    return PublicKinds(kind=kind, first_player=first_player, node=np.array(nodes, np.int32))


class _Names:
    """Numbers of subtrees, equal where these agree; one for each player who may stand first."""

    def __init__(self, tree: PublicTree) -> None:
        self.tree = tree
        self.of: list[tuple[int, int]] = [(-1, -1)] * tree.num_nodes
        self._numbers: dict[Hashable, int] = {}
        self._scale = np.ones(tree.num_nodes)
        children: list[list[int]] = [[] for _ in range(tree.num_nodes)]
        for node in range(1, tree.num_nodes):
            children[tree.parent[node]].append(node)
        terminal = {int(node): place for place, node in enumerate(tree.terminal_node)}
        for node in range(tree.num_nodes - 1, -1, -1):
            if node in terminal:
                self.of[node] = self._name_terminal(node, terminal[node])
            else:
                self.of[node] = self._name_inner(node, children[node])

    def _number(self, key: Hashable) -> int:
        return self._numbers.setdefault(key, len(self._numbers))

    def _name_terminal(self, node: int, terminal: int) -> tuple[int, int]:
        pairs, chance, payoff = self.tree.pairs_at(terminal)
        self._scale[node] = scale = float(chance.sum())
        named = []
        for first in (0, 1):
            order = np.lexsort((pairs[1 - first], pairs[first]))
            place = [first, 1 - first]
            numbers = np.round(np.concatenate([chance[None], payoff[place]])[:, order] / scale, DIGITS) + 0.0
            named.append(self._number((pairs[place][:, order].tobytes(), numbers.tobytes())))
        return named[0], named[1]

    def _name_inner(self, node: int, children: list[int]) -> tuple[int, int]:
        tree, actor = self.tree, int(self.tree.actor[node])
        self._scale[node] = scale = self._scale[children[0]]
        legal = tree.legal_at(node).tobytes() if actor != CHANCE else b""
        named = []
        for first in (0, 1):
            mover = actor if actor == CHANCE else int(actor != first)
            below = tuple(
                (
                    self.of[child][first],
                    round(float(self._scale[child] / scale), DIGITS),
                    self._relation(child, first),
                    self._relation(child, 1 - first),
                )
                for child in children
            )
            counts = tree.num_private[node][[first, 1 - first]].tobytes()
            named.append(self._number((mover, int(tree.num_actions[node]), legal, counts, below)))
        return named[0], named[1]

    def _relation(self, child: int, player: int) -> bytes:
        tree = self.tree
        entries = slice(*tree.relation_start[2 * child + player : 2 * child + player + 2].tolist())
        weight = np.round(tree.relation_weight[entries], DIGITS)
        parts = (tree.relation_private[entries], tree.relation_action[entries], tree.relation_target[entries], weight)
        return b"|".join(part.tobytes() for part in parts)
