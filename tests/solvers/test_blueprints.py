# SPDX-License-Identifier: Apache-2.0
"""Training of blueprints on games small enough to be measured exactly."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from equipoise.core import checkpoint
from equipoise.core.checkpoint import Kind
from equipoise.core.errors import CheckpointError, ConfigError, GameTooLargeError
from equipoise.games import make_game
from equipoise.kernels.skipping import SkipKind
from equipoise.solvers.blueprints.exact import measure_blueprint
from equipoise.solvers.blueprints.trainer import BlueprintConfig, BlueprintTrainer
from equipoise.solvers.mccfr import MCCFRConfig, MCCFRSolver
from equipoise.trees.history import HistoryTree
from tests.reference.small_deals import ListedGame, list_kuhn, list_leduc

CONFIG = BlueprintConfig(scale=1000.0, period=2000, walked_streets=4)
GAMES = {"kuhn2": list_kuhn(2), "kuhn3": list_kuhn(3), "leduc2": list_leduc(2), "leduc3": list_leduc(3)}


def make_trainer(game: ListedGame, config: BlueprintConfig = CONFIG, num_threads: int = 1) -> BlueprintTrainer:
    return BlueprintTrainer(game.betting, game.deals, game.num_buckets, config, num_threads=num_threads)


@pytest.mark.parametrize(
    ("name", "num_deals", "most"), [("kuhn2", 20_000, 0.03), ("kuhn3", 20_000, 0.05), ("leduc2", 100_000, 0.12)]
)
def test_what_best_responses_gain_becomes_small(name: str, num_deals: int, most: float) -> None:
    trainer = make_trainer(GAMES[name])
    trainer.train(num_deals)
    measured = measure_blueprint(trainer.betting, GAMES[name].deals, trainer.average)
    assert abs(measured.values.sum()) < 1e-9
    assert -1e-9 < measured.nash_conv < most


def test_exploitability_falls_with_three_players() -> None:
    trainer = make_trainer(GAMES["leduc3"])
    found = []
    for num_deals in (5_000, 20_000, 80_000):
        trainer.train(num_deals - trainer.num_deals)
        found.append(measure_blueprint(trainer.betting, GAMES["leduc3"].deals, trainer.average).nash_conv)
    assert found[0] > 2 * found[1] > 4 * found[2]


@pytest.mark.parametrize(("name", "game"), [("kuhn2", "kuhn"), ("leduc2", "leduc"), ("kuhn3", "kuhn(num_players=3)")])
def test_values_agree_with_tabular_sampling(name: str, game: str) -> None:
    """The tabular solver learns the same game in its own form: what both are worth differs by noise alone."""
    trainer = make_trainer(GAMES[name])
    trainer.train(100_000)
    ours = measure_blueprint(trainer.betting, GAMES[name].deals, trainer.average).values
    tree = HistoryTree.build(make_game(game))
    solver = MCCFRSolver(tree, MCCFRConfig(), rng=np.random.default_rng(0))
    solver.iterate(100_000)
    theirs = tree.expected_values(solver.average_strategy())
    assert np.allclose(ours, theirs, atol=0.03)
