# SPDX-License-Identifier: Apache-2.0
import json

import pytest
from typer.testing import CliRunner

from equipoise.apps.cli import app


class Outcome:
    """What a command left: exit code, both streams, and standard output as JSON."""

    def __init__(self, result):
        self.code = result.exit_code
        self.out = result.stdout
        self.err = result.stderr
        self.exception = result.exception

    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture
def equipoise(monkeypatch, tmp_path):
    """Runs the command line in-process, in a directory of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EQUIPOISE_CACHE", "off")
    monkeypatch.setenv("COLUMNS", "200")

    def invoke(*arguments):
        outcome = Outcome(CliRunner().invoke(app, [str(argument) for argument in arguments]))
        assert outcome.exception is None or isinstance(outcome.exception, SystemExit), outcome.exception
        assert "Traceback" not in outcome.err
        return outcome

    return invoke
