# SPDX-License-Identifier: Apache-2.0
import importlib
import socket

import pytest

from equipoise.apps.web import command
from equipoise.apps.web.settings import ServerSettings, default_runs_folder
from equipoise.core.errors import ConfigError, MissingExtraError
from tests.apps.commands import QUIET, run_command


def test_without_the_extra_one_line_says_so(monkeypatch, tmp_path):
    def refuse(name):
        raise ModuleNotFoundError(f"No module named {name!r}", name="uvicorn")

    monkeypatch.setattr(importlib, "import_module", refuse)
    with pytest.raises(MissingExtraError, match=r"the page needs uvicorn.*equipoise\[web\]"):
        command.serve_files(ServerSettings(runs=tmp_path), opens=False)


def test_a_port_that_is_taken_is_named(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ConfigError, match=f"127.0.0.1:{port}.*--port 0"):
            command.serve_files(ServerSettings(runs=tmp_path, port=port), opens=False)


def test_show_opens_the_place_that_is_named(monkeypatch, solved):
    asked = []
    monkeypatch.setattr(command, "serve_files", lambda settings, *, opens, path: asked.append((settings, opens, path)))
    command.open_page(solved / "river.eq", "check, bet 75%")
    command.open_page(solved / "kuhn.eq", "p")
    assert [(opens, path) for _, opens, path in asked] == [(True, "/s/river/x-b75p"), (True, "/g/kuhn/p")]
    assert asked[0][0].files == (solved / "river.eq",)


def test_the_folder_of_runs_may_be_set(monkeypatch, tmp_path):
    monkeypatch.setenv("EQUIPOISE_RUNS", str(tmp_path / "mine"))
    assert default_runs_folder() == tmp_path / "mine"


def test_two_servers_do_not_share_a_folder(serve):
    serve()
    with pytest.raises(ConfigError, match="another server"):
        serve()


def test_what_is_wrong_is_said_in_a_line(tmp_path):
    done = run_command(QUIET, tmp_path, "serve", "none.eq", "--runs", "runs", "--port", "0")
    assert (done.returncode, done.stdout) == (2, "")
    assert "cannot read none.eq" in done.stderr
