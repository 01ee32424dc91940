# SPDX-License-Identifier: Apache-2.0
"""`equipoise train pog`: training, going on, playing, measuring; what is said of bad input."""

import json
import shutil

import pytest
from typer.testing import CliRunner

from equipoise.agents.continual import ContinualAgent
from equipoise.agents.notation import AgentText
from equipoise.apps.cli import app
from equipoise.core.runs import RunFolder
from equipoise.games.registry import parse_game
from equipoise.learning.pog.runs import NET, PogRun
from equipoise.learning.values.weights import StoredNet

pytest.importorskip("torch", reason="training needs torch")

SMALL = ["-s", "8", "--examples", "600", "--hidden", "16", "--seeds", "2"]


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def said(result):
    return " ".join(result.output.split())


def train(folder, *arguments, game="kuhn"):
    return run("train", "pog", game, "--out", folder, *SMALL, "--quiet", *arguments)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pog") / "run"
    result = train(folder, "--json")
    assert result.exit_code == 0, result.output
    return folder, json.loads(result.stdout)


def test_a_training_is_a_folder_with_curve_card_and_log(trained):
    folder, result = trained
    assert result["examples"] >= 600
    assert result["seeds"] == 2
    assert 0.0 < result["exploitability"] < 0.4583  # uniform play's
    assert result["exploitability_min"] <= result["exploitability"] <= result["exploitability_max"]
    assert (folder / "exploitability.png").read_bytes().startswith(b"\x89PNG")
    card = StoredNet.load(folder / NET).card
    assert card["test"] == "PoG(8,1), players updated at once, searched again safely"
    assert card["command"] == (
        "equipoise train pog kuhn --preset small --out DIR --examples 600 --hidden 16 --simulations 8 "
        "--seeds 2 --seed 0"
    )
    measured = [event for event in RunFolder(folder).events() if event["event"] == "measured"]
    assert measured[-1]["exploitability"] == result["exploitability"]


def test_a_finished_training_goes_on_by_measuring_again(trained, tmp_path):
    folder, result = trained
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    again = train(copy, "--json", "--resume")

    assert again.exit_code == 0, again.output
    assert json.loads(again.stdout)["exploitability"] == result["exploitability"]


def test_its_agent_plays_and_is_measured(trained):
    folder, _ = trained
    agent = AgentText(f"pog:{folder},s=20,c=2,k=1,alternating=true,share=0.5,seed=3")(parse_game("kuhn"))
    assert isinstance(agent, ContinualAgent)
    growth = agent.search.growth
    assert (growth.simulations, growth.per_sweep, growth.first_children, growth.is_alternating) == (20, 2, 1, True)
    played = run("match", f"pog:{folder}", "uniform", "-n", "20", "--quiet", "--json")
    assert played.exit_code == 0, played.output
    measured = run("evaluate", f"pog:{folder}", "--json", "--quiet")
    assert measured.exit_code == 0, measured.output
    assert json.loads(measured.stdout)["exploitability"] < 0.4583


def test_a_run_knows_its_game_and_weights(trained):
    folder, _ = trained
    assert PogRun.open(folder).game.game.name == "kuhn"
    assert len(AgentText(f"pog:{folder}").digest()) == 8


def test_board_games_are_trained_without_being_measured(tmp_path):
    result = train(tmp_path / "board", "--preset", "board", "--json", game="tic_tac_toe")

    assert result.exit_code == 0, result.output
    assert "exploitability" not in json.loads(result.stdout)


def test_workers_play_while_this_process_learns(tmp_path):
    result = train(tmp_path / "run", "--workers", "2", "--checks", "1", "--json")

    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["exploitability"] < 0.4583
    assert StoredNet.load(tmp_path / "run" / NET).card["command"].endswith("--checks 1 --seeds 2 --seed 0 --workers 2")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--resume", "--hidden", "17"], "was begun with hidden 16, now it is 17"),
        (["--resume", "--overwrite"], "give one of them"),
        ([], "holds a run"),
        (["--overwrite", "--preset", "huge"], "huge"),
        (["--overwrite", "--recursive-queries", "1"], "recursive_queries must be below 1"),
    ],
)
def test_bad_trainings_are_refused_in_one_line(trained, arguments, message):
    folder, _ = trained
    result = train(folder, *arguments)

    assert result.exit_code != 0
    assert message in said(result)
    assert "Traceback" not in result.output
    assert PogRun.open(folder).game.game.name == "kuhn"  # nothing is lost


@pytest.mark.parametrize(
    ("agent", "message"),
    [
        ("pog:nowhere", "there is no run 'nowhere'"),
        ("pog:{folder},speed=3", "speed"),
        ("pog:{folder},s=many", "many"),
        ("pog:{folder},k=-1", "children of a leaf must be at least 0, got -1"),
    ],
)
def test_bad_agents_are_refused_in_one_line(trained, agent, message):
    result = run("match", agent.format(folder=trained[0]), "uniform", "--game", "kuhn", "-n", "2")

    assert result.exit_code != 0
    assert message in said(result)
    assert "Traceback" not in result.output


def test_a_run_plays_no_other_game(trained):
    result = run("match", f"pog:{trained[0]}", "uniform", "--game", "leduc", "-n", "2")

    assert result.exit_code != 0
    assert "the network was made for kuhn, not for leduc" in said(result)
