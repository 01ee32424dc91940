# SPDX-License-Identifier: Apache-2.0
"""`equipoise train rebel`: training, going on, playing, measuring; what is said of bad input."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from equipoise.agents.notation import AgentText
from equipoise.agents.rebel import RebelAgent
from equipoise.apps.cli import app
from equipoise.core.checkpoint import Kind, load
from equipoise.core.errors import CheckpointError, ConfigError, InvalidStateError
from equipoise.core.runs import RunFolder
from equipoise.evaluation.assembly import assemble_public_strategy
from equipoise.games.registry import parse_game
from equipoise.learning.rebel.runs import NET, POLICY, STATE, RebelRun, find_run
from equipoise.learning.values.weights import StoredNet
from equipoise.solvers.best_response import evaluate
from equipoise.trees.derive import derive_public_game
from equipoise.trees.history import build_history_tree

pytest.importorskip("torch", reason="training needs torch")

SMALL = ["--horizon", "1", "--examples", "6000", "--playthroughs", "64", "--hidden", "16", "--iterations", "8"]


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def said(result):
    return " ".join(result.output.split())


def train(folder, *arguments):
    return run("train", "rebel", "kuhn", "--out", folder, *SMALL, "--quiet", *arguments)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rebel") / "run"
    result = train(folder, "--json")
    assert result.exit_code == 0, result.output
    return folder, json.loads(result.stdout)


def test_a_training_is_a_folder_with_curve_card_and_log(trained):
    folder, result = trained
    assert result["examples"] >= 6000
    assert result["playthroughs"] == 64
    assert 0.0 < result["exploitability"] < 0.4583  # uniform play's
    assert (folder / "exploitability.png").read_bytes().startswith(b"\x89PNG")
    card = StoredNet.load(folder / NET).card
    assert card["test"] == "cfr-d by dcfr, 512 iterations"
    assert card["command"].startswith("equipoise train rebel kuhn")
    measured = [event for event in RunFolder(folder).events() if event["event"] == "measured"]
    assert measured[-1]["exploitability"] == result["exploitability"]


def test_the_same_seed_learns_the_same_weights(trained, tmp_path):
    assert train(tmp_path / "again").exit_code == 0
    first, second = (StoredNet.load(folder / NET).tensors for folder in (trained[0], tmp_path / "again"))
    assert all(np.array_equal(first[name], second[name]) for name in first)


def test_a_stopped_training_goes_on_to_the_bit(trained, tmp_path, monkeypatch):
    folder = tmp_path / "stopped"
    from equipoise.learning.rebel.training import RebelTrainer  # noqa: PLC0415 - needs torch

    whole = RebelTrainer.run
    monkeypatch.setattr(RebelTrainer, "run", lambda self, **how: (next(iter(whole(self, **how))) for _ in range(1)))
    assert train(folder).exit_code == 0
    assert load(folder / STATE, Kind.RUN).arrays["progress"][1] < 6000
    monkeypatch.undo()
    assert train(folder, "--resume").exit_code == 0
    first, second = (StoredNet.load(each / NET).tensors for each in (trained[0], folder))
    assert all(np.array_equal(first[name], second[name]) for name in first)


def test_searches_begin_with_what_a_policy_network_proposes(tmp_path, monkeypatch):
    guided = ("-s", "warm_start=3")
    whole, folder = tmp_path / "whole", tmp_path / "stopped"
    result = train(whole, *guided, "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["exploitability"] < 0.1
    from equipoise.learning.rebel.training import RebelTrainer  # noqa: PLC0415 - needs torch

    run_on = RebelTrainer.run
    monkeypatch.setattr(RebelTrainer, "run", lambda self, **how: (next(iter(run_on(self, **how))) for _ in range(1)))
    assert train(folder, *guided).exit_code == 0
    monkeypatch.undo()
    assert train(folder, *guided, "--resume").exit_code == 0
    for name in (NET, POLICY):
        first, second = (StoredNet.load(each / name).tensors for each in (whole, folder))
        assert all(np.array_equal(first[part], second[part]) for part in first)
    result = run("evaluate", f"rebel:{folder}", "--playthroughs", "32", "--json")
    assert result.exit_code == 0, result.output
    agent = AgentText(f"rebel:{folder},iterations=16")(parse_game("kuhn"))
    assert agent.searcher.guide is not None
    assemble_public_strategy(agent, derive_public_game(parse_game("kuhn")), rng=np.random.default_rng(0))
    (folder / POLICY).unlink()
    with pytest.raises(CheckpointError, match=f"has no {POLICY} yet"):
        RebelRun.open(folder)


def test_workers_begin_with_proposals_too(tmp_path):
    result = train(tmp_path / "run", "--workers", "2", "-s", "warm_start=3", "--json")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "run" / POLICY).exists()


def test_searches_of_an_agent_can_look_farther(trained):
    deeper = AgentText(f"rebel:{trained[0]},horizon=2")(parse_game("kuhn"))
    assert deeper.searcher.game.num_kinds < AgentText(f"rebel:{trained[0]}")(parse_game("kuhn")).searcher.game.num_kinds
    assert deeper.measure(32, rng=np.random.default_rng(0)).exploitability < 0.1
    with pytest.raises(ConfigError, match="was trained with horizon 2"):
        AgentText("rebel:liars-dice-1x4,horizon=1")(parse_game("liars_dice(dice=1,faces=4)"))
    with pytest.raises(ConfigError, match="a horizon is a number of actions"):
        AgentText(f"rebel:{trained[0]},horizon=far")(parse_game("kuhn"))


def test_local_responses_meet_the_average_and_not_one_draw(trained):
    folder, _ = trained
    result = run("lbr", f"rebel:{folder}", "--playthroughs", "64", "--json", "--quiet")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    agent = AgentText(f"rebel:{folder}")(parse_game("kuhn"))
    average = agent.average(64, rng=np.random.default_rng([0, 1]))
    tree = build_history_tree(parse_game("kuhn"))
    table = assemble_public_strategy(average, derive_public_game(parse_game("kuhn")), rng=np.random.default_rng(9))
    exact = evaluate(tree, table.to_tree(tree))
    assert found["best_response_values"] == pytest.approx(exact.best_response_values)
    assert found["mean"] <= exact.exploitability + 1e-9
    result = run("lbr", "call", "--game", "kuhn", "--playthroughs", "64")
    assert "--playthroughs is of rebel" in said(result)


def test_workers_play_too(tmp_path):
    result = train(tmp_path / "run", "--workers", "2", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["examples"] >= 6000


def test_what_is_trained_can_be_played_and_measured(trained):
    folder, _ = trained
    result = run("evaluate", f"rebel:{folder}", "--playthroughs", "32", "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["playthroughs"] == 32
    assert found["exploitability_lower"] <= found["exploitability"] + 0.1
    result = run("match", f"rebel:{folder}", "uniform", "--hands", "20", "--json")
    assert result.exit_code == 0, result.output


def test_an_agent_plays_one_iteration_throughout_a_game(trained):
    maker = AgentText(f"rebel:{trained[0]},iterations=16")
    game = parse_game("kuhn")
    agent = maker(game)
    assert isinstance(agent, RebelAgent)
    assert maker.game == game
    public, tree = derive_public_game(game), build_history_tree(game)
    sums = np.zeros(int(tree.sequence_start[-1]))
    for seed in range(3):
        agent.begin_game(0)
        first = assemble_public_strategy(agent, public, rng=np.random.default_rng(seed)).to_tree(tree)
        again = assemble_public_strategy(agent, public, rng=np.random.default_rng(99)).to_tree(tree)
        np.testing.assert_array_equal(first, again)  # drawn once a game
        sums += first
    assert evaluate(tree, sums / 3).exploitability < 0.4583


def test_unknown_states_are_refused(trained):
    agent = AgentText(f"rebel:{trained[0]}")(parse_game("kuhn"))
    with pytest.raises(InvalidStateError, match="has no public state 'nowhere'"):
        agent._find("nowhere")


# --- bad input: one line each ---


def test_other_settings_do_not_go_on(trained):
    result = train(trained[0], "--resume", "--seed", "3")
    assert result.exit_code != 0
    assert "was begun with seed 0, now it is 3" in said(result)


def test_another_game_does_not_go_on(trained):
    result = run("train", "rebel", "leduc", "--out", trained[0], *SMALL, "--resume", "--quiet")
    assert result.exit_code != 0
    assert "was begun with game kuhn, now it is leduc" in said(result)


def test_a_damaged_state_is_said_to_be(trained, tmp_path):
    folder = tmp_path / "damaged"
    assert train(folder).exit_code == 0
    content = bytearray((folder / STATE).read_bytes())
    content[len(content) // 2] ^= 0xFF
    (folder / STATE).write_bytes(content)
    result = train(folder, "--resume")
    assert result.exit_code != 0
    assert "--overwrite begins the training anew" in said(result)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["kuhn", "-p", "players=3"], "two players in sum 0"),
        (["kuhn", "--preset", "tiny"], "preset"),
        (["kuhn", "--horizon", "far"], "a number of actions"),
        (["kuhn", "--horizon", "9"], "nothing to learn"),
        (["holdem"], "for games that can be listed, and holdem"),
        (["kuhn", "-s", "speed=3"], "unknown setting 'speed'; did you mean seed"),
        (["kuhn", "-s", "reuse=often"], "reuse must be a number, got 'often'"),
    ],
)
def test_what_cannot_be_trained_leaves_no_folder(arguments, message, tmp_path):
    result = run("train", "rebel", *arguments, "--out", tmp_path / "run", "--quiet")
    assert result.exit_code != 0
    assert message in said(result)
    assert not (tmp_path / "run").exists()


def test_a_network_for_another_game_does_not_play(trained):
    with pytest.raises(ConfigError, match="made for kuhn, not for leduc"):
        AgentText(f"rebel:{trained[0]}")(parse_game("leduc"))
    with pytest.raises(ConfigError, match="there is no run 'nothing'"):
        find_run("nothing")
    with pytest.raises(ConfigError, match="option of rebel"):
        AgentText(f"rebel:{trained[0]},speed=3")(parse_game("kuhn"))


def test_a_network_of_another_form_of_the_game_is_refused(trained, tmp_path):
    folder = tmp_path / "mixed"
    assert run("train", "rebel", "kuhn", "--out", folder, *SMALL[2:], "--horizon", "2", "--quiet").exit_code == 0
    (folder / NET).write_bytes((trained[0] / NET).read_bytes())
    with pytest.raises(ConfigError, match="kinds of public states"):
        RebelRun.open(folder).searcher()


TURN = (
    "first=turn menu=100%;cap:1 test_stack=1000 test_iterations=4 late_iterations=4 leaves=2 cells=4 potential=2"
    " layers=1 cycle=8 capacity=64 batch=4 reuse=1 checks=1"
)


def train_turn(folder, *arguments):
    settings = [word for text in TURN.split() for word in ("-s", text)]
    sizes = ["--examples", "12", "--hidden", "8", "--iterations", "4", "--playthroughs", "1", "--no-tensorboard"]
    return run("train", "rebel", "holdem", "--preset", "turn-endgame", "--out", folder, *settings, *sizes, *arguments)


def test_turn_endgames_are_trained_tested_and_go_on(tmp_path):
    first = train_turn(tmp_path / "run", "--json", "--quiet")
    assert first.exit_code == 0, first.output
    result = json.loads(first.stdout)
    assert result["exploitability_mbb"] == pytest.approx(10 * result["exploitability"])
    assert result["exploitability"] > 0.0
    assert StoredNet.load(tmp_path / "run" / "turn-end.safetensors").card["command"].startswith("equipoise train rebel")
    again = train_turn(tmp_path / "run", "--resume")
    assert "goes on after" in said(again)
    assert "mbb over 1 playthroughs on 3s7hTdKs" in said(again)
    other = train_turn(tmp_path / "run", "--resume", "--seed", "1")
    assert other.exit_code == 2
    assert "was begun with seed 0" in said(other)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["leduc", "--preset", "holdem"], "the preset holdem is for holdem"),
        (["holdem", "--preset", "turn-endgame", "--horizon", "2"], "there is no --horizon"),
        (["holdem", "--preset", "turn-endgame", "-s", "colour=red"], "unknown setting 'colour'"),
        (["kuhn", "--preset", "tiny"], "turn-endgame"),
    ],
)
def test_presets_of_hold_em_refuse_what_is_not_theirs(tmp_path, words, message):
    result = run("train", "rebel", *words, "--out", tmp_path / "run")
    assert result.exit_code == 2
    assert message in said(result)
    assert not (tmp_path / "run").exists()
