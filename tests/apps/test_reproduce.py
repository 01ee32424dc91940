# SPDX-License-Identifier: Apache-2.0
"""The command that runs studies."""

import json

import pytest
from typer.testing import CliRunner

from equipoise.apps.cli import app
from equipoise.studies.registry import STUDIES
from tests.studies.squares import SQUARES


def run_command(*arguments):
    return CliRunner().invoke(app, list(arguments))


def test_command_lists_studies():
    result = run_command("reproduce", "--json")
    assert result.exit_code == 0
    assert [row["name"] for row in json.loads(result.stdout)] == list(STUDIES)
    assert "dcfr-goofspiel" in run_command("reproduce").stdout


def test_command_runs_a_study_and_writes_files(tmp_path, monkeypatch):
    monkeypatch.setattr("equipoise.studies.registry.STUDIES", {"squares": SQUARES})
    result = run_command("reproduce", "squares", "--full", "--out", str(tmp_path / "new"), "--json", "--quiet")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["configuration"] == {"count": 10}
    assert {path.name for path in (tmp_path / "new").iterdir()} == {"squares.json", "squares.png", "squares.txt"}


def test_unknown_study_exits_with_2_and_offers_names():
    result = run_command("reproduce", "dcfr-goofspeil")
    assert result.exit_code == 2
    assert "did you mean dcfr-goofspiel" in result.stderr


def test_unwritable_output_is_said_before_measuring(tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setattr("equipoise.studies.registry.STUDIES", {"squares": SQUARES})
    result = run_command("reproduce", "squares", "--out", str(blocked))
    assert result.exit_code == 2
    assert "it is a file, expected a directory" in " ".join(result.stderr.split())


@pytest.mark.parametrize("options", [["--full"], ["-p", "limit=5"], ["--data", "."], ["--out", "."]], ids=" ".join)
def test_options_without_a_study_are_refused(options):
    assert run_command("reproduce", *options).exit_code == 2
