# SPDX-License-Identifier: Apache-2.0
"""`equipoise train deep-cfr`: training, going on, playing; what is said of bad input."""

import json
import shutil

import numpy as np
import pytest
from typer.testing import CliRunner

from equipoise.apps.cli import app
from equipoise.core.checkpoint import Kind, load
from equipoise.core.runs import RunFolder

pytest.importorskip("torch", reason="training needs torch")

SMALL = ["steps=20", "batch=64", "hidden=8", "policy_steps=40", "capacity=5000", "checks=2", "traversals=64"]


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def said(result):
    return " ".join(result.output.split())


def train(folder, *arguments, game="kuhn", settings=SMALL):
    words = [word for text in settings for word in ("-s", text)]
    return run("train", "deep-cfr", game, "--out", folder, *words, "--quiet", "--no-tensorboard", *arguments)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("deep") / "run"
    result = train(folder, "--iterations", "4", "--json")
    assert result.exit_code == 0, result.output
    return folder, json.loads(result.stdout)


def test_a_training_is_a_folder_with_curve_strategies_and_log(trained):
    folder, result = trained
    assert result["examples"] == 4
    assert result["exploitability"] == result["exploitability_policy"] != result["exploitability_values"]
    assert 0.0 < result["exploitability"] < 0.4583  # uniform play's
    assert (folder / "exploitability.png").read_bytes().startswith(b"\x89PNG")
    measured = [event for event in RunFolder(folder).events() if event["event"] == "measured"]
    assert [event["examples"] for event in measured] == [2, 4]
    card = load(folder / "policy.eq", Kind.STRATEGY).metadata["card"]
    assert card["command"].startswith("equipoise train deep-cfr kuhn --preset cpu --out DIR -s steps=20")


@pytest.mark.parametrize("player", ["policy", "values"])
def test_agents_are_worth_what_was_measured(trained, player):
    folder, result = trained
    played = run("evaluate", f"deep-cfr:{folder},player={player}", "--json")
    assert played.exit_code == 0, played.output
    found = json.loads(played.stdout)
    assert found["exploitability"] == pytest.approx(result[f"exploitability_{player}"])


def test_a_stopped_training_goes_on_to_the_bit(trained, tmp_path):
    folder, _ = trained
    assert train(tmp_path / "run", "--iterations", "2").exit_code == 0
    assert train(tmp_path / "run", "--iterations", "4", "--resume").exit_code == 0
    whole, parts = (load(path / "state.eq", Kind.RUN).arrays for path in (folder, tmp_path / "run"))
    for name in whole:
        if name != "progress":
            assert np.array_equal(whole[name], parts[name]), name


def test_nfsp_is_a_learner_of_the_same_command(tmp_path):
    result = train(tmp_path / "run", "--learner", "nfsp", "--iterations", "3", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["nodes_touched"] > 3 * 64
    match = run("match", f"deep-cfr:{tmp_path / 'run'}", "uniform", "--game", "kuhn", "--hands", "50", "--quiet")
    assert match.exit_code == 0, match.output


def test_a_game_without_a_tree_is_trained_and_played(tmp_path):
    settings = ["steps=2", "batch=8", "hidden=8", "policy_steps=2", "capacity=500", "network=branches", "traversals=4"]
    result = train(tmp_path / "run", "--iterations", "2", "--json", game="flop_holdem", settings=settings)
    assert result.exit_code == 0, result.output
    assert "exploitability" not in json.loads(result.stdout)
    assert (tmp_path / "run" / "policy.safetensors").exists()
    agents = [f"deep-cfr:{tmp_path / 'run'}", "uniform"]
    match = run("match", *agents, "--game", "flop_holdem", "--hands", "10", "--quiet")
    assert match.exit_code == 0, match.output


def test_flop_holdem_on_a_small_deck_has_an_exact_curve(tmp_path):
    deck = ["-p", "deck=JQKA/dhs", "-p", "max_raises=1,1", "-p", "stacks=50,50"]
    settings = ["steps=2", "batch=8", "hidden=8", "policy_steps=2", "capacity=500", "traversals=4", "checks=1"]
    result = train(tmp_path / "run", *deck, "--iterations", "1", "--json", game="flop_holdem", settings=settings)
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert 0.0 < found["exploitability_mbb"] == pytest.approx(500 * found["exploitability"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--preset", "cpv"], "unknown preset 'cpv'"),
        (["-s", "memory=stack"], "unknown memory 'stack'"),
        (["-s", "stepz=3"], "unknown setting 'stepz'"),
        (["-s", "steps=0"], "steps must be between 1 and 1099511627776, got 0"),
        (["-s", "rate=-1"], "rate must be positive, got -1.0"),
        (["--learner", "dream"], "unknown learner 'dream'"),
    ],
)
def test_bad_input_is_one_clear_line_and_leaves_no_folder(tmp_path, words, message):
    result = run("train", "deep-cfr", "kuhn", "--out", tmp_path / "run", *words)
    assert result.exit_code == 2
    assert message in said(result)
    assert not (tmp_path / "run").exists()


def test_a_rate_that_diverges_is_one_line_and_loses_nothing(tmp_path):
    assert train(tmp_path / "run", "--iterations", "2").exit_code == 0
    before = (tmp_path / "run" / "values.eq").read_bytes()
    result = train(tmp_path / "other", "-s", "rate=1e30", "-s", "clip=1e30", "--iterations", "3")
    assert result.exit_code != 0
    assert "lower the rate, 1e+30" in said(result)
    assert "Traceback" not in result.output
    assert (tmp_path / "run" / "values.eq").read_bytes() == before


def test_other_runs_and_games_are_refused(trained, tmp_path):
    folder, _ = trained
    assert "was begun with seed 0" in said(train(folder, "--iterations", "4", "--resume", "--seed", "1"))
    assert "holds a run" in said(train(folder, "--iterations", "4"))
    assert "was trained on kuhn, not on leduc" in said(run("match", f"deep-cfr:{folder}", "uniform", "--game", "leduc"))
    shutil.copytree(folder, tmp_path / "bare")
    for name in ("policy.eq", "values.eq"):
        (tmp_path / "bare" / name).unlink()
    assert "nothing that plays so was learnt yet" in said(run("evaluate", f"deep-cfr:{tmp_path / 'bare'}"))
    assert "unknown player of deep-cfr 'nets'" in said(run("evaluate", f"deep-cfr:{folder},player=nets"))
