# SPDX-License-Identifier: Apache-2.0
"""What searches ask of a strategy so far, whatever the layout of its tree: protocols, and nothing that solves.

A *profile* is what both players play from a root on; a *subgame* is a part of it with both players' reaches at its
root, on a tree of its own. Public trees have theirs in `public.py`, hold'em in `holdem/`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from equipoise.games.holdem.betting import Street
from equipoise.kernels.vector import VectorKernel
from equipoise.trees.vector import Place, Places, Strategy, VectorTree

if TYPE_CHECKING:
    from equipoise.search.posing import Standing
    from equipoise.search.settings import SearchSettings

__all__ = ["Opening", "Profile", "Reply", "Stage", "Standpoint", "Subgame", "Table", "given_there"]

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
Table = npt.NDArray[Any]  # [C] over a tree's cells, in proportion to which actors play


class Reply(NamedTuple):
    """An action of the opponent that the strategy so far does not know."""

    action: int  # of hold'em: total raised to; of a public tree: the node of the whole tree that it leads to


class Standpoint(Protocol):
    """Where what is played from a place on is measured; values are counterfactual: weighted by `mass`."""

    @property
    def place(self) -> Any:
        """Returns where in the profile it begins."""
        ...

    @property
    def strategy(self) -> Any:
        """Returns `[C]` the strategy so far here, None if nobody has one."""
        ...

    def mass(self, player: int) -> FloatArray:
        """Returns `[H]` how likely chance and the other player come to each of a player's private states."""
        ...

    def best_values(self, player: int, strategy: Table) -> FloatArray:
        """Returns `[H]` what a player's best response earns at the root against the other's strategy `[C]`."""
        ...

    def strategy_values(self, player: int, own: Table, strategy: Table) -> FloatArray:
        """Returns `[H]` what a player's own strategy `[C]` earns at the root against the other's strategy `[C]`."""
        ...


class Subgame(Standpoint, Protocol):
    """What is played from a place on, on a tree of its own."""

    @property
    def tree(self) -> VectorTree[Any]:
        """Returns the tree of the subgame."""
        ...

    @property
    def reach(self) -> tuple[FloatArray, FloatArray]:
        """Returns `[H]` both players' reaches of the root, as far as the strategy so far says."""
        ...

    @property
    def strategy(self) -> Table:
        """Returns `[C]` the strategy so far here."""
        ...

    def to_rows(self, player: int, values: FloatArray) -> FloatArray:
        """Returns numbers of a player's private states `[H]` in the order in which the tree's kernel has the root's."""
        ...

    @property
    def kernel(self) -> VectorKernel:
        """Returns the tree as the native module reads it."""
        ...

    @property
    def frontier(self) -> Any:
        """Returns what the tree's leaves are worth, None if it goes on to the end of the game."""
        ...

    @property
    def root_reach(self) -> tuple[FloatArray, FloatArray] | None:
        """Returns `[H]` what players enter with where no gate stands; None: the tree's own."""
        ...

    def finish(self, sums: Table) -> Table:
        """Returns `[C]` the sums of a run's averages as a strategy is kept here."""
        ...

    def complete(self, found: Table) -> tuple[Subgame, Table]:
        """Returns the subgame to the end of the game, and `[C]` what is played in it once this one was searched."""
        ...

    @property
    def num_bytes(self) -> int:
        """Returns about what keeping it and a strategy takes."""
        ...


class Opening(NamedTuple):
    """What is solved where a search begins."""

    subgame: Subgame
    private: npt.NDArray[Any]  # [H] which of the opponent's private states where it was opened each of the root's is
    place: Any  # of the subgame's tree: where play is; the root, or behind an action that is solved from before it on


class Profile(Strategy[Place], Protocol[Place]):
    """What both players play from a root on."""

    @property
    def tree(self) -> Places[Place]:
        """Returns the places that it may be asked about."""
        ...

    @property
    def response(self) -> Any:
        """Returns what estimates go by unless they say it: the last iterate of the run that made it, or None."""
        ...

    def reach(self, place: Place) -> tuple[FloatArray, FloatArray]:
        """Returns `[H]` both players' reaches."""
        ...

    def mass(self, place: Place, player: int) -> FloatArray:
        """Returns `[H]` how likely chance and the other player come to each of a player's private states."""
        ...

    def action_values(
        self,
        place: Place,
        player: int,
        *,
        columns: Sequence[int] | None = None,
        response: Any = None,
    ) -> FloatArray:
        """Returns `[H, A]` what the actions of a player at a decision of its own are worth, given that it is there.

        Args:
            place: the decision.
            player: who moves there.
            columns: the actions that are asked for, others have whatever; None: all.
            response: how the player goes on; None: by its best response.
        """
        ...

    def final_actions(self, place: Place) -> BoolArray:
        """Returns `[H, A]` which actions of a decision end the game at once."""
        ...

    def num_outcomes(self, place: Place) -> int:
        """Returns the number of public outcomes of the chance move right above a place, 1 if there is none."""
        ...

    def subgame(self, place: Place, searcher: int) -> Subgame:
        """Returns what is played from a place on; where the searcher never comes, as if it were there."""
        ...

    def standpoint(self, place: Place, searcher: int) -> Standpoint:
        """Returns where the opponent's private states are measured, the subgame if there is one."""
        ...

    def copy(self, strategy: Any, subgame: Any) -> Table:
        """Returns `[C]` over a subgame's tree what a strategy for the profile's tree does there."""
        ...

    def open(
        self, place: Place, searcher: int, reply: Reply | None, settings: SearchSettings, standing: Standing
    ) -> Opening:
        """Returns what is solved where a search begins.

        Args:
            place: where it is, the opponent's decision if it takes an unknown action there.
            searcher: who searches.
            reply: that action, behind which the search begins, or before which in the expensive form.
            settings: of the search.
            standing: what the opponent's private states have at the place.
        """
        ...

    def follow(self, subgame: Any, strategy: Table, response: Table | None) -> Profile[Any]:
        """Returns what is played from where a subgame begins on, `[C]` over its tree, and by what estimates go."""
        ...

    def step(self, place: Place, step: Any) -> Place | None:
        """Returns the place that an action or cards lead to; None where it does not know the action."""
        ...

    def deal(self, place: Place, step: Any) -> Profile[Place] | None:
        """Returns what is known behind a step of chance where the profile itself ends; None where it goes on."""
        ...

    def opens_round(self, place: Place) -> bool:
        """Returns whether chance has just moved in public."""
        ...

    def street_at(self, place: Place) -> Street | None:
        """Returns the street of hold'em; None in other games."""
        ...

    @property
    def keeps_better(self) -> bool:
        """Returns whether what a search found is only played where it is not worse."""
        ...

    def prepare(self, settings: SearchSettings) -> Profile[Place]:
        """Returns the profile with what settings say about searches of it; refuses what it cannot do."""
        ...

    def num_iterations(self, subgame: Any, settings: SearchSettings) -> int:
        """Returns how long a subgame is solved."""
        ...


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Stage(Generic[Place]):
    """A strategy so far: from where on it is played, and what led there."""

    profile: Profile[Place]
    gifts: FloatArray  # [H] what each of the opponent's private states gave away before the profile's root
    place: Place  # where play is: the root, or behind an action that was solved from before it on


def given_there(values: FloatArray, mass: FloatArray) -> FloatArray:
    """Returns `[H]` counterfactual values as those given that a player is there, 0 where it cannot be."""
    return np.divide(values, mass, out=np.zeros(mass.size), where=mass > 0)
