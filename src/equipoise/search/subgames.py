# SPDX-License-Identifier: Apache-2.0
"""A blueprint on a public tree, and its subgames: the part from a public state on with both players' reaches there.

Values are counterfactual unless said otherwise: those of a player at the root are weighted by `mass`, how likely chance
and the other player come to each private state. Nothing here searches.
"""

from __future__ import annotations

import dataclasses
import functools

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.kernels.public import PublicKernel
from equipoise.search.beliefs import PublicBelief
from equipoise.solvers.best_response import Evaluation, bind_public_kernel, evaluate
from equipoise.trees.public import PublicTree
from equipoise.trees.public_pairs import joint_weights
from equipoise.trees.subtree import Subtree, cut_subtree

__all__ = ["Blueprint", "Subgame"]

FloatArray = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Subgame:
    """What is played from a public state on.

    Of hold'em the same thing is a `HoldemSpot`: its ranges are the reaches, its board and pot the public state.
    """

    part: Subtree
    node: int  # of the whole tree
    beliefs: PublicBelief  # at the root, unnormalised
    blueprint: FloatArray  # [C] both players' strategy here
    kernel: PublicKernel

    @property
    def tree(self) -> PublicTree:
        """Returns the public tree of the subgame."""
        return self.part.tree

    def mass(self, player: int) -> FloatArray:
        """Returns `[H]` how likely chance and the other player come to each of a player's private states."""
        return self.beliefs.mass(player)

    def realize(self, strategy: FloatArray, *, reach: tuple[FloatArray, FloatArray] | None = None) -> FloatArray:
        """Returns `[C]` reaches under a strategy, from the beliefs' reaches at the root or others."""
        root = np.zeros(self.kernel.num_cells)
        for cells, own in zip(self.kernel.root_cells, reach or self.beliefs.reach, strict=True):
            root[cells] = own
        return self.kernel.realize(strategy, root_reach=root)

    def best_values(self, player: int, strategy: FloatArray) -> FloatArray:
        """Returns `[H]` what a player's best response earns at the root against the other's strategy `[C]`."""
        reach = self.realize(strategy)
        _, best = self.kernel.best_response(player, reach)
        return self.kernel.strategy_values(player, best, reach)[self.kernel.root_cells[player]]

    def strategy_values(self, player: int, own: FloatArray, strategy: FloatArray) -> FloatArray:
        """Returns `[H]` what a player's own strategy `[C]` earns at the root against the other's strategy `[C]`."""
        reach = self.realize(strategy)
        return self.kernel.strategy_values(player, own, reach)[self.kernel.root_cells[player]]


class _Cuts:
    """What blueprints on one tree share: its kernel, its parts with theirs, joint weights."""

    def __init__(self, tree: PublicTree) -> None:
        self.tree = tree
        self._parts: dict[int, tuple[Subtree, PublicKernel]] = {}
        self._joint: dict[int, FloatArray] = {}

    @functools.cached_property
    def kernel(self) -> PublicKernel:
        return bind_public_kernel(self.tree)

    def joint(self, node: int) -> FloatArray:
        if node not in self._joint:
            self._joint[node] = joint_weights(self.tree, node)
        return self._joint[node]

    def part(
        self, node: int, leaves: npt.ArrayLike, without: npt.ArrayLike, landmarks: npt.ArrayLike
    ) -> tuple[Subtree, PublicKernel]:
        """Returns a part and its kernel; those that go on to the end of the game are kept."""
        is_plain = all(np.size(given) == 0 for given in (leaves, without, landmarks))
        if is_plain and node in self._parts:
            return self._parts[node]
        part = cut_subtree(self.tree, node, leaves=leaves, without=without, landmarks=landmarks)
        found = part, bind_public_kernel(part.tree)
        if is_plain:
            self._parts[node] = found
        return found


class Blueprint:
    """A strategy for a whole public tree, with what searches ask of it again and again."""

    def __init__(
        self,
        tree: PublicTree,
        strategy: FloatArray,
        *,
        root_reach: tuple[FloatArray, FloatArray] | None = None,
        like: Blueprint | None = None,
    ) -> None:
        """Keeps a strategy.

        Args:
            tree: of a zero-sum game, or of a part of one.
            strategy: `[C]` both players'.
            root_reach: `[H]` both players' reaches of the root, ones if None: the tree is a whole game.
            like: another blueprint on the same tree, whose parts and kernels are used again.
        """
        if not tree.is_zero_sum:
            raise ConfigError(f"search needs a zero-sum game, and {tree.game_label} is not")
        if strategy.shape != tree.legal_share.shape:
            raise ConfigError(
                f"a strategy on {tree.game_label} must have shape {tree.legal_share.shape}, got {strategy.shape}"
            )
        self.tree = tree
        self.strategy = strategy
        self.root_reach = root_reach
        self._best_cfv: dict[int, FloatArray] = {}
        self._response_cfv: dict[int, tuple[FloatArray, FloatArray]] = {}  # the last response asked for, its values
        self._beliefs: dict[int, PublicBelief] = {}
        if like is not None and like.tree is not tree:
            raise ConfigError("a blueprint can only share parts with one on the same tree")
        self._cuts: _Cuts = like._cuts if like is not None else _Cuts(tree)

    @property
    def kernel(self) -> PublicKernel:
        """Returns the kernel of the whole tree."""
        return self._cuts.kernel

    @functools.cached_property
    def realization(self) -> FloatArray:
        """Returns `[C]` both players' reaches."""
        if self.root_reach is None:
            return self.kernel.realize(self.strategy)
        root = np.zeros(self.kernel.num_cells)
        for cells, own in zip(self.kernel.root_cells, self.root_reach, strict=True):
            root[cells] = own
        return self.kernel.realize(self.strategy, root_reach=root)

    def evaluate(self) -> Evaluation:
        """Returns the exact quality of the strategy."""
        return evaluate(self.tree, self.strategy, kernel=self.kernel)

    def beliefs(self, node: int) -> PublicBelief:
        """Returns the beliefs at a node."""
        if node not in self._beliefs:
            first, second = (self.realization[self.tree.private_cells(node, player)] for player in (0, 1))
            self._beliefs[node] = PublicBelief(reach=(first, second), joint=self._cuts.joint(node))
        return self._beliefs[node]

    def best_cfv(self, player: int) -> FloatArray:
        """Returns `[C]` values of all cells of a player that responds best everywhere, reached or not."""
        if player not in self._best_cfv:
            _, best = self.kernel.best_response(player, self.realization)
            self._best_cfv[player] = self.kernel.strategy_values(player, best, self.realization)
        return self._best_cfv[player]

    def response_cfv(self, player: int, response: FloatArray) -> FloatArray:
        """Returns `[C]` values of all cells of a player that plays `response` `[C]`, which must not change later."""
        known = self._response_cfv.get(player)
        if known is None or known[0] is not response:  # every subgame asks for the same
            known = response, self.kernel.strategy_values(player, response, self.realization)
            self._response_cfv[player] = known
        return known[1]

    def subgame(
        self,
        node: int,
        *,
        leaves: npt.ArrayLike = (),
        without: npt.ArrayLike = (),
        landmarks: npt.ArrayLike = (),
    ) -> Subgame:
        """Returns what is played from a node on.

        Args:
            node: of the tree, any at which the game is not over.
            leaves: nodes of the tree at which it ends early (see `limits`).
            without: nodes of the tree that are left out, with the actions that lead there.
            landmarks: nodes of the tree whose values will be asked for.
        """
        part, kernel = self._cuts.part(node, leaves, without, landmarks)
        return Subgame(
            part=part,
            node=node,
            beliefs=self.beliefs(node),
            blueprint=part.restrict(self.strategy),
            kernel=kernel,
        )
