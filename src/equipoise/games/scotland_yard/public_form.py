# SPDX-License-Identifier: Apache-2.0
"""Scotland Yard over public states, built as they are asked for: the full board has far too many for a tree.

Mr. X's private state is his station. The way he came is left out: all that pays or limits him later (stations,
tickets, rounds) is open or follows from the station, so nothing is lost, and a range is a number for each station.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from equipoise.games.base import CHANCE, ActionClass, GameSpec
from equipoise.games.public import PublicEdge, Relation
from equipoise.games.scotland_yard.game import NOWHERE, ScotlandYard, ScotlandYardState
from equipoise.games.scotland_yard.situation import DETECTIVES, FUGITIVE, PASS, Situation

__all__ = ["ScotlandYardPublicGame", "YardPublicState"]

FloatArray = npt.NDArray[np.float64]


class YardPublicState(NamedTuple):
    """What everybody knows: the open part, and where Mr. X can be."""

    actor: int
    situation: Situation
    possible: tuple[int, ...]  # stations of Mr. X, ascending: his private states
    chance: float  # probability of the start cards drawn so far


@dataclasses.dataclass(frozen=True, slots=True)
class ScotlandYardPublicGame:
    """`PublicGame` of Scotland Yard with Mr. X's station as his private state; the detectives have one.

    Chance's probability is in the joint weights; relations have weight one. Several moves of Mr. X that look alike
    (the same ticket) share an edge, and several of his stations may lead to one: relations are many-to-one. A
    detective's move has two edges where it may be a capture.
    """

    game: ScotlandYard

    @property
    def spec(self) -> GameSpec:
        """Returns the facts of the game."""
        return self.game.spec

    def initial_state(self) -> YardPublicState:
        """Returns the public state before the start cards, or before the first move where starts are given."""
        state = self.game.initial_state()
        return YardPublicState(state.actor, state.situation, (state.station,), 1.0)

    def actor(self, state: YardPublicState) -> int:
        """Returns the player to move, `CHANCE` or `TERMINAL`."""
        return state.actor

    def num_private(self, state: YardPublicState, player: int) -> int:
        """Returns how many stations Mr. X can be at; 1 for the detectives."""
        return len(state.possible) if player == FUGITIVE else 1

    def legal_actions(self, state: YardPublicState) -> tuple[int, ...]:
        """Returns the moves that Mr. X has from some station, or those of the detective whose turn it is."""
        if state.actor == DETECTIVES:
            return self.game.yard.detective_actions(state.situation)
        return tuple(sorted(set().union(*self._moves(state)))) if state.actor == FUGITIVE else ()

    def legality(self, state: YardPublicState) -> npt.NDArray[np.bool_]:
        """Returns `[H, A]` which moves Mr. X has from each station; all ones for a detective."""
        actions = self.legal_actions(state)
        if state.actor == DETECTIVES:
            return np.ones((1, len(actions)), np.bool_)
        return np.array([[action in moves for action in actions] for moves in map(set, self._moves(state))], np.bool_)

    def edges(self, state: YardPublicState) -> tuple[PublicEdge[YardPublicState], ...]:
        """Returns one edge per public observation that can follow; none at terminal states."""
        if state.actor == CHANCE:
            return self._draws(state)
        if state.actor == FUGITIVE:
            return self._escapes(state)
        return self._chases(state) if state.actor == DETECTIVES else ()

    def joint_weights(self, state: YardPublicState) -> FloatArray:
        """Returns `[H, 1]` the probability of the start cards."""
        return np.full((len(state.possible), 1), state.chance)

    def payoffs(self, state: YardPublicState) -> FloatArray:
        """Returns `[2, H, 1]` joint weight times utility of each player at a terminal state."""
        sign = 1.0 if state.situation.winner == FUGITIVE else -1.0
        weights = self.joint_weights(state) * sign
        return np.stack([weights, -weights])

    def infostate(self, state: YardPublicState, player: int, private: int) -> str:
        """Returns Mr. X's station for himself, then all that is public."""
        public = state.situation.public
        return f"{state.possible[private] or ''}|{public}" if player == FUGITIVE else f"|{public}"

    def merge_infostate(self, player: int, infostate: str) -> str:
        """Returns an information state without the way that Mr. X came."""
        way, bar, public = infostate.partition("|")
        return f"{way.split()[-1]}{bar}{public}" if player == FUGITIVE and way else infostate

    def public_state(self, state: YardPublicState) -> str:
        """Returns what `ScotlandYard.public_state` says."""
        return state.situation.public

    def action_name(self, state: YardPublicState, action: int) -> str:
        """Returns the ticket and the station it leads to."""
        return self.game.action_name(ScotlandYardState(state.actor, state.situation, NOWHERE, ""), action)

    def action_class(self, state: YardPublicState, action: int) -> ActionClass:
        """Returns `OTHER`."""
        return ActionClass.OTHER

    def find_private(self, state: YardPublicState, inside: ScotlandYardState, player: int) -> int:
        """Returns the private state of a player in a state of the game, which lies in the public state."""
        return state.possible.index(inside.station) if player == FUGITIVE else 0

    def _moves(self, state: YardPublicState) -> list[tuple[int, ...]]:
        return [self.game.yard.fugitive_actions(state.situation, station) for station in state.possible]

    def _draws(self, state: YardPublicState) -> tuple[PublicEdge[YardPublicState], ...]:
        """Returns an edge for each start card of a detective; one for all of Mr. X's, whose card nobody else sees."""
        before = ScotlandYardState(CHANCE, state.situation, NOWHERE, "")
        outcomes = self.game.chance_outcomes(before)
        share = state.chance / len(outcomes)
        after = [self.game.apply(before, station) for station, _ in outcomes]
        keep = Relation.pick([0])
        if after[0].actor == FUGITIVE:
            child = YardPublicState(FUGITIVE, after[0].situation, tuple(one.station for one in after), share)
            return (PublicEdge(child, (Relation.pick([0] * len(after)), keep)),)
        return tuple(
            PublicEdge(YardPublicState(CHANCE, one.situation, (NOWHERE,), share), (keep, keep)) for one in after
        )

    def _escapes(self, state: YardPublicState) -> tuple[PublicEdge[YardPublicState], ...]:
        """Returns an edge for each ticket (and station, where he shows himself) that Mr. X may use."""
        yard = self.game.yard
        columns = {action: column for column, action in enumerate(self.legal_actions(state))}
        by_child: dict[Situation, list[tuple[int, int, int]]] = defaultdict(list)
        for private, (station, moves) in enumerate(zip(state.possible, self._moves(state), strict=True)):
            for action in moves:
                target = station if action == PASS else yard.move_of(action).station
                by_child[yard.after_fugitive(state.situation, action)].append((private, columns[action], target))
        edges = []
        for situation, ways in by_child.items():
            possible = tuple(sorted({target for _, _, target in ways}))
            private, column, target = np.array(ways, np.int32).T
            relation = Relation(
                private=private.copy(),
                action=column.copy(),
                target=np.searchsorted(possible, target).astype(np.int32),
                weight=np.ones(len(ways)),
            )
            child = YardPublicState(situation.actor, situation, possible, state.chance)
            edges.append(PublicEdge(child, (relation, Relation.pick([0]))))
        return tuple(edges)

    def _chases(self, state: YardPublicState) -> tuple[PublicEdge[YardPublicState], ...]:
        """Returns one or two edges for each move of the detective: Mr. X is elsewhere, Mr. X is caught."""
        yard, edges = self.game.yard, []
        for column, action in enumerate(self.legal_actions(state)):
            target = NOWHERE if action == PASS else yard.move_of(action).station
            for is_capture in (False, True):
                kept = [n for n, station in enumerate(state.possible) if (station == target) is is_capture]
                if not kept:
                    continue
                situation = yard.after_detective(state.situation, action, is_capture=is_capture)
                possible = tuple(state.possible[private] for private in kept)
                child = YardPublicState(situation.actor, situation, possible, state.chance)
                edges.append(PublicEdge(child, (Relation.pick(kept), Relation.pick([0], action=column))))
        return tuple(edges)
