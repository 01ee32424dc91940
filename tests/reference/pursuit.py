# SPDX-License-Identifier: Apache-2.0
"""A hidden runner and visible chasers on a graph, twice: as a public game whose runner's private state is only where it
stands (paths merge), and as an ordinary game whose runner remembers its path.

Each round the runner moves to a neighbour without a chaser (or is caught if there is none), then the chasers move in
turn to a neighbour without another chaser (or stay if there is none); stepping on the runner catches it. A runner
that survives all rounds wins.
"""

import dataclasses

import numpy as np

from equipoise.games.base import TERMINAL, ActionClass, GameSpec
from equipoise.games.public import NO_ACTION, PublicEdge, Relation

RUNNER, CHASERS = 0, 1
STUCK = 99  # the only action of a runner that cannot move

# stand-ins for the glasses map: specs/player-of-games.md part 11.5
MAP_A = "1-2 1-3 2-4 3-5 4-6 5-6 6-7 6-8 7-9 8-10 9-11 10-11"
MAP_B = "1-2 1-3 2-4 3-5 4-5 5-6 6-7 7-8 7-9 8-10 9-11 10-11"


def parse_map(text):
    neighbours = {}
    for edge in text.split():
        first, second = (int(end) for end in edge.split("-"))
        neighbours.setdefault(first, set()).add(second)
        neighbours.setdefault(second, set()).add(first)
    return {station: tuple(sorted(ends)) for station, ends in neighbours.items()}


@dataclasses.dataclass(frozen=True)
class Place:
    """What everybody sees: the chasers' moves so far, where they are, how far the round is, how it ended."""

    chasers: tuple[int, ...]
    stations: tuple[int, ...]  # where the runner may be
    moves: tuple[int, ...] = ()
    turn: int = 0  # 0 the runner's, 1.. the chasers'
    end: str = ""  # "caught" or "free"


@dataclasses.dataclass(frozen=True)
class Pursuit:
    """The rules, and the public game: private states of the runner are stations."""

    neighbours: dict[int, tuple[int, ...]] = dataclasses.field(hash=False)
    runner: int
    chasers: tuple[int, ...]
    num_rounds: int

    @property
    def spec(self):
        return GameSpec(
            name="pursuit",
            version=1,
            num_players=2,
            parameters={"rounds": self.num_rounds},
            is_zero_sum=True,
            min_utility=-1.0,
            max_utility=1.0,
            max_length=self.num_rounds * (1 + len(self.chasers)),
        )

    def runner_moves(self, station, chasers):
        return tuple(end for end in self.neighbours[station] if end not in chasers) or (STUCK,)

    def chaser_moves(self, chasers, index):
        others = chasers[:index] + chasers[index + 1 :]
        return tuple(end for end in self.neighbours[chasers[index]] if end not in others) or (chasers[index],)

    def after_chaser(self, place, move):
        """Returns the public states after a chaser's move that misses, with the runner's stations unfiltered."""
        chasers = (*place.chasers[: place.turn - 1], move, *place.chasers[place.turn :])
        turn = (place.turn + 1) % (1 + len(chasers))
        moves = (*place.moves, move)
        is_over = len(moves) == self.num_rounds * len(chasers)
        return dataclasses.replace(place, chasers=chasers, moves=moves, turn=turn, end="free" if is_over else "")

    def initial_state(self):
        return Place(self.chasers, (self.runner,))

    def actor(self, place):
        if place.end:
            return TERMINAL
        return RUNNER if place.turn == 0 else CHASERS

    def num_private(self, place, player):
        return len(place.stations) if player == RUNNER else 1

    def legal_actions(self, place):
        if place.turn:
            return self.chaser_moves(place.chasers, place.turn - 1)
        moves = {move for station in place.stations for move in self.runner_moves(station, place.chasers)}
        return tuple(sorted(moves))

    def legality(self, place):
        if place.turn:
            return np.ones((1, len(self.legal_actions(place))), bool)
        actions = self.legal_actions(place)
        return np.array([[a in self.runner_moves(s, place.chasers) for a in actions] for s in place.stations])

    def edges(self, place):
        if place.end:
            return ()
        return tuple(self.runner_edges(place) if place.turn == 0 else self.chaser_edges(place))

    def runner_edges(self, place):
        column = {action: index for index, action in enumerate(self.legal_actions(place))}
        steps = [(s, a) for s in place.stations for a in self.runner_moves(s, place.chasers)]
        for ends, label in (([a for _, a in steps if a != STUCK], ""), ([a for _, a in steps if a == STUCK], "caught")):
            if not ends:
                continue
            stations = tuple(sorted(set(ends)))
            entries = [
                (place.stations.index(s), column[a], stations.index(a))
                for s, a in steps
                if (a == STUCK) == (label != "")
            ]
            private, action, target = np.array(entries, np.int32).T
            moved = Relation(private=private, action=action, target=target, weight=np.ones(len(entries)))
            yield PublicEdge(
                dataclasses.replace(place, stations=stations, turn=1, end=label), (moved, Relation.pick([0]))
            )

    def chaser_edges(self, place):
        for column, move in enumerate(self.legal_actions(place)):
            missed = self.after_chaser(place, move)
            for kept, end in (
                ([s for s in place.stations if s == move], "caught"),
                ([s for s in place.stations if s != move], missed.end),
            ):
                if kept:
                    child = dataclasses.replace(missed, stations=tuple(kept), end=end)
                    chosen = Relation.pick([place.stations.index(s) for s in kept], action=NO_ACTION)
                    yield PublicEdge(child, (chosen, Relation.pick([0], action=column)))

    def joint_weights(self, place):
        return np.ones((len(place.stations), 1))

    def payoffs(self, place):
        utility = 1.0 if place.end == "free" else -1.0
        return utility * np.stack([self.joint_weights(place), -self.joint_weights(place)])

    def infostate(self, place, player, private):
        own = f"at {place.stations[private]} " if player == RUNNER else ""
        return own + self.public_state(place)

    def public_state(self, place):
        return f"{place.moves} {place.turn} {place.end}"

    def action_name(self, place, action):
        return str(action)

    def action_class(self, place, action):
        return ActionClass.OTHER


@dataclasses.dataclass(frozen=True)
class Chase:
    """One history: what everybody sees, and the runner's path."""

    place: Place
    path: tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class PathPursuit:
    """The same rules as an ordinary game: the runner remembers its path."""

    pursuit: Pursuit

    @property
    def spec(self):
        return dataclasses.replace(self.pursuit.spec, name="path_pursuit")

    def initial_state(self):
        return Chase(dataclasses.replace(self.pursuit.initial_state(), stations=()), (self.pursuit.runner,))

    def actor(self, state):
        return self.pursuit.actor(state.place)

    def legal_actions(self, state):
        if self.actor(state) == TERMINAL:
            return ()
        if state.place.turn == 0:
            return self.pursuit.runner_moves(state.path[-1], state.place.chasers)
        return self.pursuit.chaser_moves(state.place.chasers, state.place.turn - 1)

    def chance_outcomes(self, state):
        return ()

    def apply(self, state, action):
        place = state.place
        if place.turn == 0:
            end = "caught" if action == STUCK else ""
            return Chase(dataclasses.replace(place, turn=1, end=end), (*state.path, action))
        missed = self.pursuit.after_chaser(place, action)
        return Chase(dataclasses.replace(missed, end="caught") if action == state.path[-1] else missed, state.path)

    def returns(self, state):
        utility = 1.0 if state.place.end == "free" else -1.0
        return utility, -utility

    def infostate(self, state, player):
        return (f"{state.path} " if player == RUNNER else "") + self.public_state(state)

    def public_state(self, state):
        return self.pursuit.public_state(state.place)

    def action_name(self, state, action):
        return str(action)

    def action_class(self, state, action):
        return ActionClass.OTHER

    def describe(self, state):
        return repr(state)
