# SPDX-License-Identifier: Apache-2.0
"""Agents that play a training of Player of Games: a search at every decision, ended by its network."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from equipoise.agents.boards import SAMPLED, BoardAgent, check_open_form
from equipoise.agents.continual import ContinualAgent
from equipoise.core.errors import UnknownNameError
from equipoise.core.interruption import never
from equipoise.games.base import Game
from equipoise.games.parameters import parse_parameters, parse_value
from equipoise.games.perfect_information import OpenState, PerfectInformationGame
from equipoise.learning.pog.measuring import measure_composed
from equipoise.learning.pog.runs import NET, PogRun, find_run
from equipoise.learning.values.net_files import NetFile
from equipoise.search.continual import ContinualSettings
from equipoise.search.growing_tree import GrowingTree, Growth
from equipoise.search.open_mcts import OpenMCTS, OpenMCTSConfig
from equipoise.solvers.best_response import Evaluation
from equipoise.trees.public import build_public_tree

__all__ = ["PogAgent", "digest_pog_run", "game_of_pog_run", "make_mcts_agent", "make_pog_agent"]

FloatArray = npt.NDArray[np.float64]
OPTIONS = ("s", "c", "k", "alternating", "share", "seed", "sampled")


class PogAgent(ContinualAgent):
    """Continual re-solving with trees that grow and a trained network: one fixed strategy for each seed of walks.

    Paper: Schmid et al. 2021, "Player of Games", arXiv:2112.03178, section 3 and appendix B.
    Departs from the paper: nothing beyond `ContinualSearch`, `GrowingTree` and `NetLeaves`.
    Checked by: tests/apps/test_train_pog.py.
    """

    def __init__(self, run: PogRun, search: ContinualSettings, *, name: str = "pog") -> None:
        """Keeps a training and how decisions are searched."""
        super().__init__(run.game.form, search=search, name=name)
        self.run, self.search = run, search

    def measure(
        self,
        seeds: Sequence[int],
        *,
        on_progress: Callable[[float], None] | None = None,
        is_interrupted: Callable[[], bool] = never,
    ) -> tuple[Evaluation, ...]:
        """Returns the exact values of what it plays under several seeds; the game must be small enough for a tree."""
        form = self.run.game.form
        tree = build_public_tree(form)
        return measure_composed(form, tree, self.search, seeds, on_progress=on_progress, is_interrupted=is_interrupted)


def make_pog_agent(game: Game[Any], text: str) -> PogAgent | BoardAgent:
    """Returns the agent of `RUN[,s=N][,c=X][,k=N][,alternating=true][,share=X][,seed=N][,sampled=N]`."""
    path, *parts = [part.strip() for part in text.split(",")]
    run = PogRun.open(find_run(path))
    run.check_game(game)
    growth, share, seed, sampled = run.settings.growth, None, 0, SAMPLED
    for key, value in parse_parameters(parts).items():
        if key not in OPTIONS:
            raise UnknownNameError("option of pog", key, OPTIONS)
        if key == "s":
            growth = dataclasses.replace(growth, simulations=int(parse_value(key, value, int)))
        elif key == "c":
            growth = dataclasses.replace(growth, per_sweep=float(parse_value(key, value, float)))
        elif key == "k":
            growth = dataclasses.replace(growth, first_children=int(parse_value(key, value, int)))
        elif key == "alternating":
            growth = dataclasses.replace(growth, is_alternating=bool(parse_value(key, value, bool)))
        elif key == "share":
            share = float(parse_value(key, value, float))
        elif key == "sampled":
            sampled = int(parse_value(key, value, int))
        else:
            seed = int(parse_value(key, value, int))
    if isinstance(run.game.form, PerfectInformationGame):
        return BoardAgent(run.game.form, _look(run, growth), name=f"pog:{text}", sampled=sampled)
    return PogAgent(run, run.play(growth, share=share, seed=seed), name=f"pog:{text}")


def _look(run: PogRun, growth: Growth) -> Callable[[OpenState, np.random.Generator], FloatArray]:
    """Returns a search of states: where nothing is hidden there is nothing to be carried from one to the next."""
    rules, leaves = run.game.rules, run.leaves()

    def look(state: OpenState, rng: np.random.Generator) -> FloatArray:
        first = OpenState(state.inside)
        belief = run.game.belief(first, run.game.first_reach())
        tree = GrowingTree(rules, first, belief, leaves, growth=growth, rng=rng)
        tree.grow()
        policy: FloatArray = tree.policy(0)[0]
        return policy

    return look


def make_mcts_agent(game: Game[Any], text: str) -> BoardAgent:
    """Returns the agent of `RUN[,s=N][,sampled=N]`: AlphaZero's search with a run's network."""
    path, *parts = [part.strip() for part in text.split(",")]
    form = check_open_form(game, "mcts")
    run = PogRun.open(find_run(path))
    run.check_game(game)
    given = parse_parameters(parts)
    if unknown := sorted(set(given) - {"s", "sampled"}):
        raise UnknownNameError("option of mcts", unknown[0], ("s", "sampled"))
    count = int(parse_value("s", given.get("s", run.settings.simulations), int))
    sampled = int(parse_value("sampled", given.get("sampled", SAMPLED), int))
    search = OpenMCTS(form, run.leaves(), OpenMCTSConfig(num_simulations=count))

    def look(state: OpenState, rng: np.random.Generator) -> FloatArray:
        return search.visits(state, rng=rng) + 1e-9  # one simulation takes no action

    return BoardAgent(form, look, name=f"mcts:{text}", sampled=sampled)


def digest_pog_run(text: str) -> str:
    """Returns a short hash over the weights of a run."""
    return NetFile.at(find_run(text.partition(",")[0].strip()) / NET).digest


def game_of_pog_run(text: str) -> Game[Any]:
    """Returns the game that a run's agent plays."""
    return PogRun.open(find_run(text.partition(",")[0].strip())).game.game
