# SPDX-License-Identifier: Apache-2.0
"""What every tree of public states offers, whatever its layout: solvers, searches and agents are written against it.

A *place* is a public state of a tree: a node of a `PublicTree`, a betting node and a board of a `HoldemTree`. Private
states are numbered by place and player (hands of hold'em as in the deck, at every place). *Sums* are a table over a
tree's cells, in proportion to which actors play; where they lie is the layout's business.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Final, Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.trees.joint import Joint

__all__ = [
    "CellTable",
    "LegalPlaces",
    "Place",
    "Places",
    "Strategy",
    "TreeStrategy",
    "UniformStrategy",
    "VectorTree",
    "follow_reach",
    "play_shares",
]

IntArray = npt.NDArray[np.int32]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

Place = TypeVar("Place", bound=Hashable)
Place_contra = TypeVar("Place_contra", bound=Hashable, contravariant=True)
Tree = TypeVar("Tree", bound="VectorTree[Any]")
Legal = TypeVar("Legal", bound="LegalPlaces[Any]")

KEPT_PLACES: Final = 4096  # whose strategies are at hand


class CellTable(Protocol):
    """Numbers over the cells of a tree: an array, or what reads some of them from a file."""

    def __getitem__(self, cells: npt.NDArray[np.int64], /) -> npt.NDArray[Any]:
        """Returns some cells."""
        ...


class Places(Protocol[Place]):
    """The public states of a two-player game, with vectors of private states; no tables lie beside."""

    @property
    def root_place(self) -> Place:
        """Returns where the tree begins."""
        ...

    def actor_at(self, place: Place) -> int:
        """Returns the player to move, `CHANCE` or `TERMINAL`."""
        ...

    def num_private_at(self, place: Place, player: int) -> int:
        """Returns how many private states a player has."""
        ...

    def legal_at(self, place: Place) -> BoolArray:
        """Returns `[H, A]` which actions each of the actor's private states has; none where it cannot be there."""
        ...

    def way_to(self, place: Place) -> Sequence[tuple[Place, Place]]:
        """Returns the edges from the root to a place, first to last: the places above and below each."""
        ...

    def trace_back(self, place: Place, player: int) -> tuple[IntArray, IntArray]:
        """Returns `[H]` private state and action right above from which each of a player's private states comes."""
        ...

    def push_reach(
        self, above: Place, below: Place, player: int, reach: FloatArray, policy: FloatArray | None = None
    ) -> FloatArray:
        """Returns `[H]` below an edge a player's reach `[H]` above it.

        Args:
            above: where the edge begins.
            below: where it leads.
            player: whose reach.
            reach: `[H]` above.
            policy: `[H, A]` what the player does above, if it moves there.
        """
        ...

    def joint_at(self, place: Place) -> Joint:
        """Returns chance's weights of pairs of private states, beyond what edges carry."""
        ...


class VectorTree(Places[Place], Protocol[Place]):
    """A two-player game as public states, laid out for sweeps: tables over its cells can be read.

    >>> from equipoise.games import make_game
    >>> from equipoise.trees import build_public_tree, derive_public_game
    >>> tree: VectorTree = build_public_tree(derive_public_game(make_game("kuhn")))
    >>> tree.rows_at(np.ones(tree.cells.num_cells), 0).shape
    (3, 2)
    """

    def rows_at(self, sums: CellTable, place: Place) -> FloatArray:
        """Returns `[H, A]` the numbers of a table `[C]` at a decision; zeros for private states that it lacks."""
        ...


def play_shares(tree: VectorTree[Place], sums: CellTable, place: Place) -> FloatArray:
    """Returns `[H, A]` what the actor of a place does if it plays in proportion to a table's positive numbers `[C]`.

    Where there are none it plays all legal actions alike; 0 everywhere for private states that cannot be there.
    """
    legal = tree.legal_at(place)
    sums_here = np.where(legal, np.maximum(tree.rows_at(sums, place), 0.0), 0.0)
    totals = sums_here.sum(axis=1, keepdims=True)
    shares: FloatArray = legal / np.maximum(legal.sum(axis=1, keepdims=True), 1)
    np.divide(sums_here, totals, out=shares, where=totals > 0)
    return shares


class Strategy(Protocol[Place_contra]):
    """What both players do at every place of some tree, whatever holds it: a table, buckets, layers, a network.

    >>> from equipoise.games import make_game
    >>> from equipoise.trees import build_public_tree, derive_public_game
    >>> tree = build_public_tree(derive_public_game(make_game("kuhn")))
    >>> strategy: Strategy[int] = UniformStrategy(tree)
    >>> strategy.probabilities(0)
    array([[0.5, 0.5],
           [0.5, 0.5],
           [0.5, 0.5]])
    """

    def probabilities(self, place: Place_contra) -> FloatArray:
        """Returns `[H, A]` what the actor of a place does; 0 everywhere for private states that cannot be there."""
        ...


class TreeStrategy(Generic[Tree]):
    """Play in proportion to a table over a tree, in memory or on disk.

    >>> from equipoise.games import make_game
    >>> from equipoise.solvers import CFRSolver
    >>> from equipoise.trees import build_public_tree, derive_public_game
    >>> tree = build_public_tree(derive_public_game(make_game("kuhn")))
    >>> solver = CFRSolver(tree)
    >>> solver.iterate(100)
    >>> TreeStrategy(tree, solver.average_sums).probabilities(0).shape
    (3, 2)
    """

    def __init__(self, tree: Tree, sums: CellTable) -> None:
        self.tree, self.sums = tree, sums
        self.probabilities: Callable[[Any], FloatArray] = functools.lru_cache(KEPT_PLACES)(self._probabilities)

    def __repr__(self) -> str:
        return f"<TreeStrategy on {self.tree!r}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Returns how it is pickled: without the places that were asked for; a table on disk is refused."""
        if not isinstance(self.sums, np.ndarray):
            raise ConfigError("a strategy that is read from a file cannot be pickled or copied: send the file's name")
        return type(self), (self.tree, self.sums)

    @property
    def table(self) -> npt.NDArray[Any]:
        """Returns `[C]` the table in memory; raises `ConfigError` if parts of it are read as they are asked for."""
        if not isinstance(self.sums, np.ndarray):
            raise ConfigError("the strategy's whole table is needed in memory")
        return self.sums

    def _probabilities(self, place: Any) -> FloatArray:
        shares = play_shares(self.tree, self.sums, place)
        shares.setflags(write=False)  # others are given the same array
        return shares


class LegalPlaces(Protocol[Place_contra]):
    """What says which actions there are: a tree, or the rules alone."""

    def legal_at(self, place: Place_contra) -> BoolArray:
        """Returns `[H, A]` which actions each of the actor's private states has; none where it cannot be there."""
        ...


class UniformStrategy(Generic[Legal]):
    """Every legal action as often: a strategy for whoever has none.

    >>> from equipoise.games import make_game
    >>> from equipoise.trees import build_public_tree, derive_public_game
    >>> tree = build_public_tree(derive_public_game(make_game("kuhn")))
    >>> UniformStrategy(tree).probabilities(0)
    array([[0.5, 0.5],
           [0.5, 0.5],
           [0.5, 0.5]])
    """

    def __init__(self, tree: Legal) -> None:
        self.tree = tree

    def probabilities(self, place: Any) -> FloatArray:
        """Returns `[H, A]` equal shares; 0 everywhere for private states that cannot be there."""
        legal = self.tree.legal_at(place)
        shares: FloatArray = legal / np.maximum(legal.sum(axis=1, keepdims=True), 1)
        return shares


def follow_reach(
    tree: Places[Place], strategy: Strategy[Place], root_reach: tuple[FloatArray, FloatArray], place: Place
) -> tuple[FloatArray, FloatArray]:
    """Returns `[H]` both players' reaches of a place, from those of the root and what they do on the way."""
    reach = [root_reach[0], root_reach[1]]
    for above, below in tree.way_to(place):
        actor = tree.actor_at(above)
        policy = strategy.probabilities(above) if actor >= 0 else None
        for player in (0, 1):
            reach[player] = tree.push_reach(above, below, player, reach[player], policy if player == actor else None)
    return reach[0], reach[1]
