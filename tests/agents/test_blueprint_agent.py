# SPDX-License-Identifier: Apache-2.0
"""Blueprints trained by the command, in files, as agents."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from equipoise.abstraction.blueprints import BlueprintSpec, StoredBlueprint, load_spec, make_deals, save_blueprint
from equipoise.agents.holdem.blueprint import BlueprintAgent, Sharpening, game_of_blueprint
from equipoise.agents.notation import make
from equipoise.apps.cli import app
from equipoise.core.errors import CheckpointError, ConfigError
from equipoise.games.holdem.betting import Street
from equipoise.runs import match
from equipoise.solvers.blueprints.trainer import BlueprintConfig, BlueprintTrainer

TINY = BlueprintSpec(stacks=(300, 300), deck="royal", last_street="flop", menu="100%, a; cap: 2", buckets=(8,))
THREE = dataclasses.replace(
    TINY, stacks=(300, 200, 300), abstraction="percentile", menu="100%, a; cap: 1", crowded={3: "a; cap: 1"}
)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Returns files of blueprints of two and three players."""
    folder = tmp_path_factory.mktemp("blueprints")
    found = {}
    for name, spec in (("two", TINY), ("three", THREE)):
        config = BlueprintConfig(period=500, walked_streets=1, snapshot_every=500)
        trainer = BlueprintTrainer(spec.betting, make_deals(spec), spec.num_buckets, config)
        trainer.train(4_000)
        found[name] = folder / f"{name}.eq"
        save_blueprint(found[name], spec, trainer, {})
    return found


def test_it_beats_who_calls_everything(files: dict[str, Path]) -> None:
    result = match(f"blueprint:{files['two']}", "uniform", hands=200, seed=1)
    assert result.num_hands == 200
    assert result.estimate().mean > 0


def test_three_play_with_unlike_stacks(files: dict[str, Path]) -> None:
    path = files["three"]
    result = match(f"blueprint:{path}", f"blueprint:{path},purify=flop", f"blueprint:{path},threshold=0.1", hands=30)
    assert result.num_hands == 30


def test_rows_are_probabilities_of_the_tree(files: dict[str, Path]) -> None:
    blueprint = StoredBlueprint(files["two"])
    arrays = blueprint.betting.arrays
    for node in np.flatnonzero(arrays.ending == 0)[:40].tolist():
        row = blueprint.row(node, 3)
        assert len(row) == len(blueprint.actions(node)) == arrays.num_actions[node]
        assert row.sum() == pytest.approx(1)
    assert blueprint.actions(0) == (0, 1, 300)


def test_unknown_bets_are_taken_for_known_ones(files: dict[str, Path]) -> None:
    """Against whoever raises by any amount, every hand is played to its end."""
    result = match(f"blueprint:{files['two']}", "raise", hands=60, seed=3)
    assert result.num_hands == 60


def test_sharpening() -> None:
    row = np.array([0.05, 0.45, 0.5])
    assert Sharpening().apply(row, Street.FLOP).tolist() == row.tolist()
    assert Sharpening(purified_from=Street.FLOP).apply(row, Street.PREFLOP).tolist() == row.tolist()
    assert Sharpening(purified_from=Street.PREFLOP).apply(np.array([0.5, 0.5]), Street.PREFLOP).tolist() == [1, 0]
    assert Sharpening(threshold=0.9).apply(row, Street.FLOP).tolist() == row.tolist()
    with pytest.raises(ConfigError, match="threshold"):
        Sharpening(threshold=1.0)


def test_foreign_files_and_settings_are_refused(files: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="the game is"):
        make(f"blueprint:{files['two']}", "holdem")
    with pytest.raises(ConfigError, match="purify"):
        make(f"blueprint:{files['two']},often", game_of_blueprint(str(files["two"])))
    with pytest.raises(CheckpointError, match="play it as blueprint:"):
        match(f"file:{files['two']}", "call", hands=1)
    (tmp_path / "broken.eq").write_bytes(files["two"].read_bytes()[:100])
    with pytest.raises(CheckpointError):
        StoredBlueprint(tmp_path / "broken.eq")


def test_the_command_trains_resumes_and_refuses(tmp_path: Path) -> None:
    (tmp_path / "tiny.toml").write_text(
        'stacks = [300, 300]\ndeck = "royal"\nlast_street = "flop"\nbuckets = [8]\nmenu = "100%, a; cap: 2"\n'
    )
    runner, out = CliRunner(), str(tmp_path / "out")
    command = ["train", "blueprint", str(tmp_path / "tiny.toml"), "-o", out, "-t", "1", "-q"]
    assert runner.invoke(app, [*command, "--deals", "500"]).exit_code == 0
    assert runner.invoke(app, [*command, "--deals", "900"]).exit_code == 2
    assert runner.invoke(app, [*command, "--deals", "900", "--resume"]).exit_code == 0
    assert runner.invoke(app, [*command, "--deals", "900", "--resume", "--seed", "3"]).exit_code == 2
    blueprint = StoredBlueprint(f"{out}/blueprint.eq")
    assert blueprint.metadata["deals"] >= 900
    assert isinstance(make(f"blueprint:{out}/blueprint.eq", game_of_blueprint(f"{out}/blueprint.eq")), BlueprintAgent)


def test_workers_train_clusters_of_flops_and_go_on(tmp_path: Path) -> None:
    text = (
        'stacks = [300, 300]\nsmall_blind = 50\nbig_blind = 100\ndeck = "tiny"\nlast_street = "flop"\nbuckets = [4]\n'
        'abstraction = "percentile"\nmenu = "100%, a; cap: 2"\n'
    )
    (tmp_path / "plain.toml").write_text(text)
    (tmp_path / "clusters.toml").write_text(text + "clusters = 2\n")
    runner, out = CliRunner(), str(tmp_path / "out")
    plain = ["train", "blueprint", str(tmp_path / "plain.toml"), "-o", out, "-q", "--workers", "1"]
    assert runner.invoke(app, plain).exit_code == 2  # it has no clusters
    command = ["train", "blueprint", str(tmp_path / "clusters.toml"), "-o", out, "-q"]
    assert runner.invoke(app, [*command, "--workers", "1", "-t", "1"]).exit_code == 2
    assert runner.invoke(app, [*command, "--workers", "1", "--deals", "400"]).exit_code == 0
    assert runner.invoke(app, [*command, "-t", "1", "--deals", "600", "--resume"]).exit_code == 2  # not with workers
    assert runner.invoke(app, [*command, "--workers", "2", "--deals", "800", "--resume"]).exit_code == 0
    assert StoredBlueprint(f"{out}/blueprint.eq").metadata["deals"] == 800
    whole = str(tmp_path / "whole")
    assert runner.invoke(app, [*command[:4], whole, "-q", "--workers", "1", "--deals", "400"]).exit_code == 0
    assert (
        runner.invoke(app, [*command[:4], whole, "-q", "--workers", "1", "--deals", "800", "--resume"]).exit_code == 0
    )
    found, expected = (StoredBlueprint(f"{folder}/blueprint.eq") for folder in (out, whole))
    assert np.array_equal(found.cells, expected.cells)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("stacks = [1", "no TOML"),
        ("stack = 3", "unknown field 'stack'"),
        ("buckets = [3]", "buckets must name"),
        ("abstraction = 'none'", "abstraction must be"),
        ("stacks = 'many'", "malformed"),
        ("deck = 'royal'\nrecall = true", "recall"),
        ("menu = 'min'", "never closes"),
    ],
)
def test_specs_that_make_no_sense_are_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "spec.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=message):
        load_spec(str(path))


def test_specs_that_are_not_there_are_refused() -> None:
    with pytest.raises(ConfigError, match="specs by name: heads-up"):
        load_spec("nowhere.toml")
