# SPDX-License-Identifier: Apache-2.0
"""One round of a hand's betting from its beginning, with what was done in it so far; each line has an image elsewhere.

Whoever has folded by now does nothing but what was done: such players fold or check wherever else a line brings them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection
from typing import Final, Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import GameTooLargeError
from equipoise.games.holdem.betting import (
    CALL,
    FOLD,
    BettingRules,
    BettingState,
    Stage,
    apply_action,
    next_street,
    to_call,
)
from equipoise.games.holdem.menus import menu_actions
from equipoise.kernels.round_search import CONTINUATIONS, RoundArrays
from equipoise.trees.holdem.flat_betting import MenuByPlayers

__all__ = ["LeafPlace", "RoundLine", "RoundTree", "build_round"]

T = TypeVar("T")
ENDS: Final = {Stage.FOLD: 1, Stage.SHOWDOWN: 2}
SIDE_POTS: Final = 3
NO_STEP: Final = -1


class LeafPlace(NamedTuple):
    """Where a blueprint goes on behind a leaf."""

    node: int  # of its tree
    paid: tuple[int, ...]  # chips put in by its players


class RoundLine(NamedTuple):
    """What was done in a round so far, and who has folded by now."""

    begin: BettingState  # when the round began
    steps: tuple[int, ...] = ()
    folded: frozenset[int] = frozenset()
    steady: frozenset[int] = frozenset()  # who does not choose at leaves and goes on as the blueprint is


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class RoundTree:
    """The betting of a round; node 0 is its beginning."""

    states: tuple[BettingState, ...]
    actions: tuple[tuple[int, ...], ...]  # at decisions: fold (0), call (1), totals; empty elsewhere
    first: tuple[int, ...]  # child of a decision's first action
    arrays: RoundArrays

    def child(self, node: int, action: int) -> int:
        """Returns where an action leads."""
        return self.first[node] + self.actions[node].index(action)


class _Builder(Generic[T]):
    def __init__(
        self,
        rules: BettingRules,
        menus: MenuByPlayers,
        line: RoundLine,
        follow: Callable[[T, int], T],
        place: Callable[[T, BettingState], LeafPlace | None],
        most_nodes: int,
    ) -> None:
        self.rules, self.menus, self.line, self.follow, self.place = rules, menus, line, follow, place
        self.most_nodes = most_nodes
        self.states: list[BettingState] = [line.begin]
        self.actions: list[tuple[int, ...]] = [()]
        self.first, self.packed = [0], [[0, 0, 0, line.begin.street << 2]]
        self.width = [0] * rules.num_players
        self.side_pots: list[tuple[int, ...]] = []
        self.leaves: list[tuple[LeafPlace, list[int], BettingState]] = []

    def grow(self, node: int, image: T, place_on_line: int) -> None:
        state, seat = self.states[node], self.states[node].actor
        actions = self.choose(state, place_on_line)
        first = len(self.states)
        if first + len(actions) > self.most_nodes:
            raise GameTooLargeError(f"the round has more than {self.most_nodes:,} nodes; search with fewer sizes")
        self.actions[node], self.first[node] = actions, first
        self.packed[node][:3] = first, seat, self.width[seat]
        kinds = (actions[0] == FOLD) << 7 | (CALL in actions) << 8
        self.packed[node][3] |= seat << 4 | kinds | len(actions) << 9
        self.width[seat] += len(actions)
        for action in actions:
            after = apply_action(self.rules, state, action)
            self.states.append(after)
            self.actions.append(())
            self.first.append(0)
            self.packed.append([0, 0, 0, after.street << 2 | after.committed[seat] << 14])
        for child, action in enumerate(actions, first):
            is_on_line = place_on_line != NO_STEP and self.line.steps[place_on_line : place_on_line + 1] == (action,)
            self.finish(child, self.follow(image, action), place_on_line + 1 if is_on_line else NO_STEP)

    def choose(self, state: BettingState, place_on_line: int) -> tuple[int, ...]:
        """Returns what is offered at a decision."""
        done = self.line.steps[place_on_line : place_on_line + 1] if place_on_line != NO_STEP else ()
        if state.actor in self.line.folded:
            return done or ((FOLD,) if to_call(state) else (CALL,))
        offered = menu_actions(self.rules, self.menus.at(state.is_folded.count(False)), state)
        return tuple(sorted({*offered, *done}))

    def finish(self, node: int, image: T, place_on_line: int) -> None:
        state = self.states[node]
        if state.stage is Stage.ACT:
            self.grow(node, image, place_on_line)
            return
        leaf = self.place(image, state) if _goes_on(self.rules, state) else None
        if leaf is not None:
            self.packed[node][0] = len(self.leaves)
            self.leaves.append((leaf, self._choices(state), state))
            return
        ending = ENDS[Stage.FOLD if state.stage is Stage.FOLD else Stage.SHOWDOWN]
        first = sum(state.committed)
        if ending != ENDS[Stage.FOLD] and len({state.committed[seat] for seat in _left(state)}) > 1:
            ending, first = SIDE_POTS, len(self.side_pots)
            self.side_pots.append(state.committed)
        self.packed[node][0], self.packed[node][1] = first, sum(1 << seat for seat in _left(state))
        self.packed[node][3] |= ending

    def _choices(self, state: BettingState) -> list[int]:
        places = [-1] * self.rules.num_players
        for seat in sorted(set(_left(state)) - self.line.steady):
            places[seat] = self.width[seat]
            self.width[seat] += len(CONTINUATIONS)
        return places

    def finished(self) -> RoundTree:
        num_players, num_leaves = self.rules.num_players, len(self.leaves)

        def ints(values: object, *shape: int) -> npt.NDArray[np.int32]:
            return np.array(values, np.int32).reshape(*shape)

        scale = [sum(state.committed) / sum(leaf.paid) for leaf, _, state in self.leaves]
        arrays = RoundArrays(
            nodes=np.array(self.packed, np.int64).astype(np.uint32).view(np.int32).reshape(-1, 4),
            side_pots=ints(self.side_pots, -1, num_players),
            width=ints(self.width, num_players),
            fixed_row=np.full(len(self.states), -1, np.int32),
            fixed=np.zeros(0, np.float32),
            leaf_node=ints([leaf.node for leaf, _, _ in self.leaves], num_leaves),
            leaf_offset=ints([places for _, places, _ in self.leaves], num_leaves, num_players),
            leaf_paid=ints([state.committed for _, _, state in self.leaves], num_leaves, num_players),
            image_paid=ints([leaf.paid for leaf, _, _ in self.leaves], num_leaves, num_players),
            leaf_scale=np.array(scale, np.float32),
            paid=ints(self.line.begin.committed, num_players),
        )
        return RoundTree(states=tuple(self.states), actions=tuple(self.actions), first=tuple(self.first), arrays=arrays)


def build_round(
    rules: BettingRules,
    menus: MenuByPlayers,
    line: RoundLine,
    image: T,
    *,
    follow: Callable[[T, int], T],
    place: Callable[[T, BettingState], LeafPlace | None],
    most_nodes: int = 200_000,
) -> RoundTree:
    """Returns the betting of a round; raises `GameTooLargeError` if it has more nodes than allowed.

    Args:
        rules: of the hand.
        menus: what is considered; what was done is added where it was done.
        line: the round so far.
        image: of its beginning.
        follow: returns the image after an action.
        place: returns where a blueprint goes on behind the round's end; None: nobody bets any more.
        most_nodes: of the tree.
    """
    builder = _Builder(rules, menus, line, follow, place, most_nodes)
    builder.grow(0, image, 0)
    return builder.finished()


def _left(state: BettingState) -> Collection[int]:
    return [seat for seat, is_folded in enumerate(state.is_folded) if not is_folded]


def _goes_on(rules: BettingRules, state: BettingState) -> bool:
    """Returns whether bets may follow the end of a round."""
    while state.stage is Stage.DEAL:
        state = next_street(rules, state)
    return state.stage is Stage.ACT
