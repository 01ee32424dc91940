# SPDX-License-Identifier: Apache-2.0
"""An agent that plays by values of beliefs: subgames solved once a game, one iteration of each played throughout."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from equipoise.agents.base import Observation, PolicyAgent, PublicDecision
from equipoise.core.errors import InvalidStateError, UnknownNameError
from equipoise.core.interruption import never
from equipoise.games.base import Game
from equipoise.games.parameters import parse_parameters, parse_value
from equipoise.learning.rebel.playthroughs import PlayedAverage, measure_playthroughs, play_through
from equipoise.learning.rebel.runs import NET, POLICY, RebelRun, find_run
from equipoise.learning.rebel.self_play import BeliefSearcher
from equipoise.learning.values.net_files import NetFile
from equipoise.responses.forms import SequenceForm
from equipoise.trees.public_edges import read_policy

__all__ = ["AveragedPlay", "RebelAgent", "digest_run", "game_of_run", "make_rebel_agent"]

FloatArray = npt.NDArray[np.float64]

OPTIONS: Final = ("iterations", "horizon")


class RebelAgent(PolicyAgent):
    """Safe play without a gate: an iteration of every search is drawn, and both players are believed to play by it.

    Paper: Brown et al. 2020, "Combining Deep Reinforcement Learning and Search for Imperfect-Information Games"; Brown
        2020, PhD thesis, section 5.3.4.
    Departs from the paper: iterations are drawn as often as they count in the average, whatever the rule.
    Checked by: tests/apps/test_train_rebel.py.
    """

    is_fixed = False  # what it plays is drawn, once a game

    def __init__(self, searcher: BeliefSearcher, *, name: str = "rebel") -> None:
        """Keeps how it searches."""
        self.searcher, self.name = searcher, name
        tree = searcher.game.tree
        self._node = {label: node for node, label in enumerate(tree.public_labels)}
        self._strategy = tree.legal_share.copy()
        self._reach: dict[int, FloatArray] = {}  # by solved root's leaf, `[2, width]` by player
        self._solved: set[int] = set()
        self._first_policies: npt.NDArray[np.float32] | None = None
        self.begin_game(0)

    def begin_game(self, seat: int) -> None:
        """Forgets what was drawn."""
        game = self.searcher.game
        self._solved = set()
        self._reach = {0: np.ones((2, game.width)) * game.is_live[0]}

    def probabilities(self, observation: Observation, *, rng: np.random.Generator) -> Sequence[float]:
        """Returns `[A]` what the iteration of this game says."""
        node = self._find(observation.public_state)
        private = self._number(node, observation.seat, [observation.infostate])[0]
        tree = self.searcher.game.tree
        row = self._rows(node, rng)[private]
        legal = read_policy(tree, node, tree.legal_share)[private] > 0
        shares: list[float] = row[legal].tolist()
        return shares

    def public_strategy(self, decision: PublicDecision, *, rng: np.random.Generator) -> FloatArray:
        """Returns `[H, A]` what the iteration of this game says for each private state."""
        node = self._find(decision.public_state)
        return self._rows(node, rng)[self._number(node, decision.seat, decision.infostates)]

    def measure(
        self,
        playthroughs: int,
        *,
        rng: np.random.Generator,
        on_progress: Callable[[float], None] | None = None,
        is_interrupted: Callable[[], bool] = never,
    ) -> PlayedAverage:
        """Returns how exploitable the agent is over so many playthroughs, see `measure_playthroughs`."""
        return measure_playthroughs(
            self.searcher, playthroughs, rng=rng, on_progress=on_progress, is_interrupted=is_interrupted
        )

    def average(
        self,
        playthroughs: int,
        *,
        rng: np.random.Generator,
        is_interrupted: Callable[[], bool] = never,
    ) -> AveragedPlay:
        """Returns what others meet who do not know the draws: the average of so many playthroughs, as an agent."""
        tree = self.searcher.game.tree
        sums = play_through(self.searcher, playthroughs, rng=rng, is_interrupted=is_interrupted).sums
        return AveragedPlay(self.searcher, SequenceForm(tree).play(sums), name=self.name)

    def _find(self, label: str) -> int:
        if label not in self._node:
            raise InvalidStateError(f"{self.searcher.game.public.spec.label} has no public state {label!r}")
        return self._node[label]

    def _number(self, node: int, seat: int, infostates: Sequence[str]) -> list[int]:
        """Returns the private states of some information states of a node."""
        public, state = self.searcher.game.public, self.searcher.game.tree.states[node]
        number = {public.infostate(state, seat, k): k for k in range(public.num_private(state, seat))}
        missing = next((name for name in infostates if name not in number), None)
        if missing is not None:
            raise InvalidStateError(f"{public.spec.label} has no information state {missing!r} of player {seat} there")
        return [number[name] for name in infostates]

    def _rows(self, node: int, rng: np.random.Generator) -> FloatArray:
        """Returns `[H, A]` what is played at a node, after all searches on the way."""
        tree = self.searcher.game.tree
        way = [node]
        while way[-1] != 0:
            way.append(int(tree.parent[way[-1]]))
        for root in reversed(way):
            if root in self._reach and root not in self._solved:
                self._solve(root, rng)
        return read_policy(tree, node, self._strategy)

    def _solve(self, root: int, rng: np.random.Generator) -> None:
        """Solves the subgame at a root and writes one of its iterations into the strategy of this game."""
        game = self.searcher.game
        kind, arrays = game.kind_at(root), game.subgames[game.kind_at(root)].arrays
        places = [game.first_player_at(root), 1 - game.first_player_at(root)]
        weighted = self._reach[root][places] * arrays.root_weight
        mass = weighted.sum(axis=1, keepdims=True)
        belief = np.where(mass > 0.0, weighted / np.where(mass > 0.0, mass, 1.0), arrays.root_weight)
        iteration = self.searcher.draw_iterations(1, rng=rng)
        policy = self._play_iteration(root, kind, belief.astype(np.float32), iteration)
        self._strategy[game.table_cells(root)] = policy
        self._solved.add(root)
        for leaf in game.nodes_of(root)[1].tolist():
            self._reach[leaf] = self._reach_below(root, leaf)

    def _play_iteration(
        self, root: int, kind: int, belief: npt.NDArray[np.float32], iteration: npt.NDArray[np.int32]
    ) -> npt.NDArray[np.float32]:
        if root != 0:
            only: npt.NDArray[np.float32] = self._search(kind, belief, iteration)[0]
            return only
        if self._first_policies is None:  # every game begins alike: all its iterations are kept
            every = np.arange(self.searcher.first_iteration, self.searcher.recipe.iterations + 1, dtype=np.int32)
            self._first_policies = self._search(kind, belief, every)
        first: npt.NDArray[np.float32] = self._first_policies[iteration[0] - self.searcher.first_iteration]
        return first

    def _search(
        self, kind: int, belief: npt.NDArray[np.float32], iteration: npt.NDArray[np.int32]
    ) -> npt.NDArray[np.float32]:
        return self.searcher.play(kind, belief[None], np.zeros(iteration.size, np.int32), iteration)

    def _reach_below(self, root: int, leaf: int) -> FloatArray:
        """Returns `[2, width]` both players' reach of a leaf, from that of the root."""
        tree = self.searcher.game.tree
        way = [leaf]
        while way[-1] != root:
            way.append(int(tree.parent[way[-1]]))
        reach = [self._reach[root][player, : tree.num_private[root, player]] for player in (0, 1)]
        for above, below in zip(way[:0:-1], way[-2::-1], strict=True):
            actor = int(tree.actor[above])
            for player in (0, 1):
                policy = read_policy(tree, above, self._strategy) if player == actor else None
                reach[player] = tree.push_reach(above, below, player, reach[player], policy)
        out = np.zeros((2, self.searcher.game.width))
        for player in (0, 1):
            out[player, : reach[player].size] = reach[player]
        return out


class AveragedPlay(RebelAgent):
    """What playthroughs amount to: a strategy without draws."""

    is_fixed = True

    def __init__(self, searcher: BeliefSearcher, strategy: FloatArray, *, name: str) -> None:
        """Keeps the strategy, a table of the tree."""
        super().__init__(searcher, name=name)
        self._average = strategy

    def _rows(self, node: int, rng: np.random.Generator) -> FloatArray:
        return read_policy(self.searcher.game.tree, node, self._average)


def make_rebel_agent(game: Game[Any], text: str) -> RebelAgent:
    """Returns the agent of `RUN[,iterations=N,horizon=N]`."""
    path, *options = [part.strip() for part in text.split(",")]
    run = RebelRun.open(find_run(path))
    run.check_game(game)
    given = parse_parameters(options)
    if unknown := [key for key in given if key not in OPTIONS]:
        raise UnknownNameError("option of rebel", unknown[0], OPTIONS)
    recipe = run.settings.test
    if "iterations" in given:
        recipe = dataclasses.replace(recipe, iterations=int(parse_value("iterations", given["iterations"], int)))
    return RebelAgent(run.searcher(recipe, horizon=given.get("horizon")))


def digest_run(text: str) -> str:
    """Returns a short hash over the weights of a run."""
    folder = find_run(text.partition(",")[0].strip())
    return "-".join(NetFile.at(folder / name).digest for name in (NET, POLICY) if (folder / name).exists())


def game_of_run(text: str) -> Game[Any]:
    """Returns the game that a run's agent plays."""
    return RebelRun.open(find_run(text.partition(",")[0].strip())).game
