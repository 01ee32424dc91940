# SPDX-License-Identifier: Apache-2.0
"""`equipoise search`: what it shows, its JSON, and what it refuses."""

import json

import pytest
from typer.testing import CliRunner

from equipoise.apps.cli import app

RUNNER = CliRunner()


@pytest.fixture(scope="module")
def leduc(tmp_path_factory):
    path = tmp_path_factory.mktemp("search") / "leduc.eq"
    solved = RUNNER.invoke(app, ["solve", "leduc", "--iterations", "20", "--out", str(path), "--quiet"])
    assert solved.exit_code == 0
    return path


def run(*arguments):
    return RUNNER.invoke(app, ["search", *map(str, arguments)])


def test_it_shows_strategy_margins_and_price(leduc):
    result = run(leduc, "--state", "cc/Qs:", "--iterations", 200, "--limit", 2)
    assert result.exit_code == 0
    assert "player 0 at 'cc/Qs:', blueprint > now" in result.stdout
    assert "least margin" in result.stdout
    assert result.stdout.count("|cc/Qs:") == 4  # two private states of each side


@pytest.mark.parametrize(
    "method", ["unsafe", "resolve", "mixed-resolve", "reach-resolve", "maxmargin", "reach-maxmargin"]
)
def test_json_has_every_private_state(leduc, method):
    result = run(leduc, "--state", "cc/Qs:", "--method", method, "--iterations", 300, "--json", "--quiet")
    found = json.loads(result.stdout)
    assert found["search_method"] == method
    assert found["player"] == 0
    assert len(found["strategy"]) == len(found["margins"]) == 5
    for row in found["strategy"]:
        assert sum(row["after"].values()) == pytest.approx(1.0)
    if method == "unsafe":
        assert found["least_margin"] is None
    else:
        assert found["least_margin"] > -0.05
        assert found["best_response_after"] < found["best_response_before"] + 1e-3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--state", "cc/Qs:x"), "unknown public state 'cc/Qs:x'; did you mean"),
        (("--state", "cc/"), "chance moves at 'cc/': say who searches with --player 0 or 1"),
        (("--state", "cc/Qs:cc"), "the game is over at 'cc/Qs:cc'"),
        (("--state", "cc/Qs:", "--method", "maxmargi"), "unknown search method 'maxmargi'; did you mean maxmargin"),
    ],
)
def test_bad_input_is_one_line(leduc, arguments, message):
    result = run(leduc, *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_chance_states_are_searched_for_a_player(leduc):
    result = run(leduc, "--state", "cc/", "--player", 1, "--iterations", 50, "--json", "--quiet")
    found = json.loads(result.stdout)
    assert found["strategy"] == []  # nobody moves there
    assert len(found["margins"]) == 6
