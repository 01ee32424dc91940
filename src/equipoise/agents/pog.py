# SPDX-License-Identifier: Apache-2.0
"""Agents that play a training of Player of Games: a search at every decision, ended by its network."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from equipoise.agents.continual import ContinualAgent
from equipoise.core.errors import UnknownNameError
from equipoise.core.interruption import never
from equipoise.games.base import Game
from equipoise.games.parameters import parse_parameters, parse_value
from equipoise.learning.pog.measuring import measure_composed
from equipoise.learning.pog.runs import NET, PogRun, find_run
from equipoise.learning.values.net_files import NetFile
from equipoise.search.continual import ContinualSettings
from equipoise.solvers.best_response import Evaluation
from equipoise.trees.public import build_public_tree

__all__ = ["PogAgent", "digest_pog_run", "game_of_pog_run", "make_pog_agent"]

OPTIONS = ("s", "c", "alternating", "share", "seed")


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


def make_pog_agent(game: Game[Any], text: str) -> PogAgent:
    """Returns the agent of `RUN[,s=N][,c=X][,alternating=true][,share=X][,seed=N]`."""
    path, *parts = [part.strip() for part in text.split(",")]
    run = PogRun.open(find_run(path))
    run.check_game(game)
    growth, share, seed = run.settings.growth, None, 0
    for key, value in parse_parameters(parts).items():
        if key not in OPTIONS:
            raise UnknownNameError("option of pog", key, OPTIONS)
        if key == "s":
            growth = dataclasses.replace(growth, simulations=int(parse_value(key, value, int)))
        elif key == "c":
            growth = dataclasses.replace(growth, per_sweep=float(parse_value(key, value, float)))
        elif key == "alternating":
            growth = dataclasses.replace(growth, is_alternating=bool(parse_value(key, value, bool)))
        elif key == "share":
            share = float(parse_value(key, value, float))
        else:
            seed = int(parse_value(key, value, int))
    return PogAgent(run, run.play(growth, share=share, seed=seed), name=f"pog:{text}")


def digest_pog_run(text: str) -> str:
    """Returns a short hash over the weights of a run."""
    return NetFile.at(find_run(text.partition(",")[0].strip()) / NET).digest


def game_of_pog_run(text: str) -> Game[Any]:
    """Returns the game that a run's agent plays."""
    return PogRun.open(find_run(text.partition(",")[0].strip())).game.game
