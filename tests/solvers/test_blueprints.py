# SPDX-License-Identifier: Apache-2.0
"""Training of blueprints on games small enough to be measured exactly."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from equipoise.abstraction.blueprints import BlueprintSpec, make_deals
from equipoise.core import checkpoint
from equipoise.core.checkpoint import Kind
from equipoise.core.errors import CheckpointError, ConfigError, GameTooLargeError
from equipoise.games.registry import parse_game
from equipoise.kernels.skipping import SkipKind
from equipoise.solvers.blueprints.exact import measure_blueprint
from equipoise.solvers.blueprints.trainer import BlueprintConfig, BlueprintTrainer
from equipoise.solvers.mccfr import MCCFRConfig, MCCFRSolver
from equipoise.trees.history import build_history_tree
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
    for num_deals in (5_000, 30_000):
        trainer.train(num_deals - trainer.num_deals)
        found.append(measure_blueprint(trainer.betting, GAMES["leduc3"].deals, trainer.average).nash_conv)
    assert found[0] > 3 * found[1]


@pytest.mark.parametrize(("name", "game"), [("kuhn3", "kuhn(players=3)"), ("leduc2", "leduc")])
def test_it_learns_what_tabular_sampling_learns(name: str, game: str) -> None:
    trainer = make_trainer(GAMES[name])
    trainer.train(50_000)
    ours = measure_blueprint(trainer.betting, GAMES[name].deals, trainer.average)
    solver = MCCFRSolver(build_history_tree(parse_game(game)), MCCFRConfig(), rng=np.random.default_rng(0))
    solver.iterate(50_000)
    theirs = solver.evaluate()
    assert ours.nash_conv < 1.5 * theirs.nash_conv + 0.01
    if len(ours.values) == 2:  # with three players equilibria differ in what they pay
        assert abs(ours.values[0] - theirs.values[0]) < ours.nash_conv + theirs.nash_conv


@pytest.mark.parametrize(
    "pruning",
    [
        {"pruning": SkipKind.COIN},
        {"pruning": SkipKind.PROBABILISTIC, "softness": 10_000.0},
        {"pruning": SkipKind.REGRET_BASED, "threshold": -1},
    ],
    ids=["pluribus", "libratus", "baby tartanian8"],
)
def test_pruning_leaves_out_and_still_learns(pruning: dict[str, Any]) -> None:
    config = dataclasses.replace(CONFIG, **{"threshold": -20_000, "floor": -21_000, "prune_from": 4_000, **pruning})
    trainer = make_trainer(GAMES["leduc2"], config)
    assert trainer.train(4_000).skipped == 0
    assert trainer.train(76_000).skipped > 1_000
    assert measure_blueprint(trainer.betting, GAMES["leduc2"].deals, trainer.average).nash_conv < 0.2


def test_a_coin_spares_the_last_street_and_ends() -> None:
    config = dataclasses.replace(CONFIG, pruning=SkipKind.COIN, threshold=0, floor=-21_000, probability=0.99)
    trainer = make_trainer(GAMES["kuhn3"], config)  # whose one street is the last
    assert trainer.train(5_000).skipped == 0


def test_one_thread_gives_the_same_bits_however_it_is_called() -> None:
    config = dataclasses.replace(CONFIG, walk_every=3, walked_streets=3, snapshot_every=700, first_snapshot=1_000)
    whole, parts = make_trainer(GAMES["leduc2"], config), make_trainer(GAMES["leduc2"], config)
    whole.train(6_000)
    for num_deals in (3, 600, 2_097, 3_300):
        parts.train(num_deals)
    assert whole.num_deals == parts.num_deals == 6_000
    assert np.array_equal(whole.tables.arena, parts.tables.arena)
    assert all(np.array_equal(*pair) for pair in zip(whole.pack(), parts.pack(), strict=True))


def test_cards_give_the_same_bits_however_training_is_called() -> None:
    """What is drawn depends on nothing but the generator: a call leaves no shuffled deck behind."""
    spec = BlueprintSpec(
        stacks=(300, 300),
        deck="tiny",
        last_street="flop",
        menu="100%, a; cap: 2",
        abstraction="percentile",
        buckets=(4,),
    )
    deals = make_deals(spec)
    whole, parts = (BlueprintTrainer(spec.betting, deals, spec.num_buckets, CONFIG) for _ in range(2))
    whole.train(900)
    for num_deals in (1, 399, 500):
        parts.train(num_deals)
    assert np.array_equal(whole.tables.arena, parts.tables.arena)


def test_a_saved_training_goes_on_to_the_bit(tmp_path: Path) -> None:
    config = dataclasses.replace(CONFIG, walked_streets=3, snapshot_every=700)
    whole, first, second = (make_trainer(GAMES["leduc2"], config) for _ in range(3))
    whole.train(5_000)
    first.train(2_500)
    first.save(tmp_path / "run.eq", {"of": "leduc"})
    second.restore(checkpoint.load(tmp_path / "run.eq", Kind.RUN))
    second.train(2_500)
    assert np.array_equal(whole.tables.arena, second.tables.arena)
    assert (whole.num_touched, whole.num_snapshots) == (second.num_touched, second.num_snapshots)
    with pytest.raises(CheckpointError, match="blocks"):
        make_trainer(GAMES["kuhn3"]).restore(checkpoint.load(tmp_path / "run.eq", Kind.RUN))


def test_full_tables_are_refused_and_kept() -> None:
    trainer = make_trainer(GAMES["leduc3"])
    trainer.tables = dataclasses.replace(trainer.tables, arena=trainer.tables.arena[: 16 * 40].copy())
    trainer.kernel = trainer._bind()
    with pytest.raises(GameTooLargeError, match="allow more memory"):
        trainer.train(10_000)
    assert trainer.num_deals > 0


@pytest.mark.parametrize("name", ["kuhn2", "leduc2"])
@pytest.mark.parametrize("pruning", [SkipKind.NONE, SkipKind.REGRET_BASED])
def test_what_tables_may_take_is_enough_for_all_of_them(name: str, pruning: SkipKind) -> None:
    config = dataclasses.replace(CONFIG, walked_streets=1, snapshot_every=500, pruning=pruning)
    trainer = make_trainer(GAMES[name], config)
    trainer.train(20_000)
    assert trainer.tables.base.all()
    assert trainer.num_bytes <= trainer.num_bytes_whole


def test_threads_share_tables() -> None:
    trainer = make_trainer(GAMES["leduc2"], num_threads=2)
    trainer.train(60_000)
    measured = measure_blueprint(trainer.betting, GAMES["leduc2"].deals, trainer.average)
    assert measured.nash_conv < 0.3


def test_packed_rows_are_the_average_in_parts_of_255() -> None:
    trainer = make_trainer(GAMES["leduc2"])
    trainer.train(5_000)
    start, cells = trainer.pack()
    arrays = trainer.betting.arrays
    for node in np.flatnonzero(arrays.ending == 0).tolist():
        slot, offset = arrays.nodes[node, 1], arrays.nodes[node, 2]
        num_actions = int(arrays.num_actions[node])
        rows = trainer.average(node)
        for bucket, row in enumerate(rows):
            first = start[slot] + bucket * arrays.width[slot] + offset
            packed = cells[first : first + num_actions].astype(float)
            assert packed.sum() == 255
            if row.std() > 0:  # else it may never have been walked: what is played now is packed
                assert np.abs(packed / 255 - row).max() < 0.006


def test_settings_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ConfigError, match="floor"):
        BlueprintConfig(pruning=SkipKind.COIN, floor=-10, threshold=-20)
    with pytest.raises(ConfigError, match="period"):
        BlueprintConfig(period=0)
    with pytest.raises(ConfigError, match="players"):
        BlueprintTrainer(GAMES["kuhn2"].betting, GAMES["kuhn3"].deals, GAMES["kuhn2"].num_buckets, CONFIG).train(1)
