# SPDX-License-Identifier: Apache-2.0
"""Monte Carlo tree search of Scotland Yard that supposes where Mr. X is: the game's usual program, as an opponent.

Not for equilibria: what it supposes it then holds for known, so that its play can be exploited.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections import deque
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.games.base import TERMINAL
from equipoise.games.scotland_yard.board import Board, Transport
from equipoise.games.scotland_yard.situation import BLACK, FUGITIVE, NOBODY, PASS, Situation, Yard
from equipoise.kernels.calls import check_integer

__all__ = ["HuntConfig", "HuntSearch"]

FloatArray = npt.NDArray[np.float64]
# how likely Mr. X is, of stations that are possible, at 1, 2, ... steps from the nearest detective; ours, not printed
CATEGORY_WEIGHTS: Final = (0.2, 0.65, 0.55, 0.4, 0.3)
NUM_WORLDS: Final = 10  # where every supposed station has a tree of its own
QUIET_MOVES: Final = 2  # at the beginning, in which nobody knows where Mr. X is: no black ticket is spent
NEAR: Final = 2  # steps to a detective within which a double move is considered


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class HuntConfig:
    """How a search is run; each of its features can be switched off.

    >>> HuntConfig(num_simulations=500).has_filter
    True
    """

    num_simulations: int = 1000
    exploration: float = 0.5  # C of UCT; a win is 1, a loss 0
    has_one_tree: bool = True  # for all supposed stations; else one for each of ten
    has_categories: bool = True  # stations are supposed by their distance from detectives; else all alike
    has_coalition: bool = True  # a detective earns less by another's catch
    has_greedy_playouts: bool = True  # pieces mostly chase and flee in playouts; else moves are uniform
    has_filter: bool = True  # Mr. X does not consider to waste black tickets and double moves
    others_catch: float = 0.25  # less that a catch of another detective earns
    playout_noise: float = 0.2  # share of uniform moves in greedy playouts

    def __post_init__(self) -> None:
        check_integer("num_simulations", self.num_simulations, 1)
        if not 0 <= self.exploration < math.inf:
            raise ConfigError(f"exploration must be finite and at least 0, got {self.exploration}")
        for name in ("others_catch", "playout_noise"):
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigError(f"{name} must be between 0 and 1, got {getattr(self, name)}")


class _Node:
    """What was tried at a state, as the sequence of moves that leads to it."""

    __slots__ = ("children", "total", "visits")

    def __init__(self) -> None:
        self.visits: dict[int, int] = {}
        self.total: dict[int, float] = {}
        self.children: dict[int, _Node] = {}


class HuntSearch:
    """Upper confidence bounds over moves, from stations that are supposed anew for every simulation.

    Paper: Nijssen & Winands 2012, "Monte Carlo Tree Search for the Hide-and-Seek Game Scotland Yard", IEEE Transactions
        on Computational Intelligence and AI in Games 4(4), as the opponent of Schmid et al. 2021, "Player of Games",
        arXiv:2112.03178, section 4 (PimBot).
    Departs from the paper: known from its abstract alone: its five features are here, their numbers are ours; Mr. X's
        own search supposes that detectives know where he is.
    Checked by: tests/search/test_hunt.py.

    >>> from equipoise.games import make_game
    >>> game = make_game("glasses")
    >>> search = HuntSearch(game.yard, HuntConfig(num_simulations=50))
    >>> situation, rng = game.initial_state().situation, np.random.default_rng(0)
    >>> float(search.visits(situation, (6,), rng=rng).sum())
    50.0
    """

    def __init__(self, yard: Yard, config: HuntConfig | None = None) -> None:
        self.yard, self.config = yard, config or HuntConfig()
        self._steps = count_steps(yard.board)

    def visits(self, situation: Situation, possible: Sequence[int], *, rng: np.random.Generator) -> FloatArray:
        """Returns `[A]` how often each action of whoever moves was taken.

        Args:
            situation: what is open.
            possible: stations where Mr. X can be; his own alone if he is the one who asks.
            rng: supposes stations, and draws moves of playouts.
        """
        actions = self._actions(situation, possible[0])
        weights = self.weigh(situation, possible)
        shares = weights / weights.sum()
        count, worlds = self.config.num_simulations, 1 if self.config.has_one_tree else NUM_WORLDS
        taken = dict.fromkeys(actions, 0)
        for world in range(min(worlds, count)):
            root = _Node()
            fixed = None if self.config.has_one_tree else int(rng.choice(possible, p=shares))
            for _ in range(world, count, worlds):
                station = int(rng.choice(possible, p=shares)) if fixed is None else fixed
                self._simulate(root, situation, station, rng)
            for action, visits in root.visits.items():
                taken[action] += visits
        return np.array([taken[action] for action in actions], np.float64)

    def weigh(self, situation: Situation, possible: Sequence[int]) -> FloatArray:
        """Returns `[H]` how likely stations are supposed to be, up to a factor."""
        if not self.config.has_categories:
            return np.ones(len(possible))
        nearest = [self._nearest(situation, station) for station in possible]
        return np.array([CATEGORY_WEIGHTS[min(max(steps, 1), len(CATEGORY_WEIGHTS)) - 1] for steps in nearest])

    def _simulate(self, node: _Node, situation: Situation, station: int, rng: np.random.Generator) -> None:
        path: list[tuple[_Node, int, int]] = []  # with the piece: a detective's number, NOBODY for Mr. X
        catcher = NOBODY
        while situation.actor != TERMINAL:
            action = self._choose(node, self._considered(situation, station), rng)
            mover = NOBODY if situation.actor == FUGITIVE else situation.mover
            path.append((node, action, mover))
            is_new = action not in node.children
            situation, station, catcher = self._apply(situation, station, action)
            if is_new:
                node.children[action] = _Node()
                situation, station, catcher = self._play_out(situation, station, catcher, rng)
                break
            node = node.children[action]
        for above, action, mover in path:
            above.visits[action] = above.visits.get(action, 0) + 1
            above.total[action] = above.total.get(action, 0.0) + self._earned(situation, catcher, mover)

    def _earned(self, situation: Situation, catcher: int, mover: int) -> float:
        is_caught = situation.winner != FUGITIVE
        if mover == NOBODY:
            return 0.0 if is_caught else 1.0
        if not is_caught:
            return 0.0
        is_others = self.config.has_coalition and catcher not in (NOBODY, mover)
        return 1.0 - self.config.others_catch if is_others else 1.0

    def _choose(self, node: _Node, actions: Sequence[int], rng: np.random.Generator) -> int:
        """Returns an action that was not tried, else the one of the largest upper confidence bound."""
        untried = [action for action in actions if action not in node.visits]
        if untried:
            return untried[int(rng.integers(len(untried)))]
        log_visits = math.log(sum(node.visits[action] for action in actions))
        bounds = [
            node.total[action] / node.visits[action]
            + self.config.exploration * math.sqrt(log_visits / node.visits[action])
            for action in actions
        ]
        return actions[bounds.index(max(bounds))]

    def _actions(self, situation: Situation, station: int) -> tuple[int, ...]:
        if situation.actor == FUGITIVE:
            return self.yard.fugitive_actions(situation, station)
        return self.yard.detective_actions(situation)

    def _considered(self, situation: Situation, station: int) -> Sequence[int]:
        """Returns the actions without those that Mr. X would only waste tickets by."""
        actions = self._actions(situation, station)
        if situation.actor != FUGITIVE or not self.config.has_filter or actions == (PASS,):
            return actions
        is_shown = self.yard.is_reveal(situation)
        is_chased = self._nearest(situation, station) <= NEAR
        by_station = {self.yard.move_of(action).station for action in actions if not self._is_black(action)}
        kept = []
        for action in actions:
            move = self.yard.move_of(action)
            is_waste = move.ticket == BLACK and (is_shown or situation.num_moves < QUIET_MOVES)
            if (is_waste and move.station in by_station) or (move.is_double and not is_chased):
                continue
            kept.append(action)
        return kept or actions

    def _is_black(self, action: int) -> bool:
        return self.yard.move_of(action).ticket == BLACK

    def _apply(self, situation: Situation, station: int, action: int) -> tuple[Situation, int, int]:
        """Returns what a move leads to, Mr. X's station, and which detective has caught him."""
        if situation.actor == FUGITIVE:
            target = station if action == PASS else self.yard.move_of(action).station
            return self.yard.after_fugitive(situation, action), target, NOBODY
        is_capture = action != PASS and self.yard.move_of(action).station == station
        catcher = situation.mover if is_capture else NOBODY
        return self.yard.after_detective(situation, action, is_capture=is_capture), station, catcher

    def _play_out(
        self, situation: Situation, station: int, catcher: int, rng: np.random.Generator
    ) -> tuple[Situation, int, int]:
        config = self.config
        while situation.actor != TERMINAL:
            actions = self._considered(situation, station)
            if config.has_greedy_playouts and rng.random() >= config.playout_noise and actions[0] != PASS:
                action = self._chase_or_flee(situation, station, actions)
            else:
                action = actions[int(rng.integers(len(actions)))]
            situation, station, catcher = self._apply(situation, station, action)
        return situation, station, catcher

    def _chase_or_flee(self, situation: Situation, station: int, actions: Sequence[int]) -> int:
        targets = [self.yard.move_of(action).station for action in actions]
        if situation.actor == FUGITIVE:
            far = [self._nearest(situation, target) for target in targets]
            return actions[far.index(max(far))]
        near = [self._steps[target][station] for target in targets]
        return actions[near.index(min(near))]

    def _nearest(self, situation: Situation, station: int) -> int:
        """Returns the steps to the nearest detective."""
        return min(self._steps[detective][station] for detective in situation.detectives)


@functools.lru_cache(8)
def count_steps(board: Board) -> tuple[tuple[int, ...], ...]:
    """Returns the steps between stations (0 is none) for a detective with all tickets; without a way, all stations.

    >>> from equipoise.games.scotland_yard.board import load_board
    >>> count_steps(load_board("glasses-a"))[1][11]
    6
    """
    rows = []
    for start in range(board.num_stations + 1):
        steps = [board.num_stations] * (board.num_stations + 1)
        if start:
            steps[start] = 0
            waiting = deque([start])
            while waiting:
                here = waiting.popleft()
                for transport in (Transport.TAXI, Transport.BUS, Transport.UNDERGROUND):
                    for near in board.next_stations(here, transport):
                        if steps[near] > steps[here] + 1:
                            steps[near] = steps[here] + 1
                            waiting.append(near)
        rows.append(tuple(steps))
    return tuple(rows)
