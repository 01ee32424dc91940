# SPDX-License-Identifier: Apache-2.0
"""Real processes: streams that are full, closed, or of few letters."""

import os
import subprocess
import sys

import pytest

COMMAND = [sys.executable, "-c", "from equipoise.apps.entry import main; main()"]
ENVIRONMENT = {**os.environ, "EQUIPOISE_CACHE": "off"}

needs_full_device = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no full device")


def run(directory, *arguments, **options):
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": ENVIRONMENT, **options}
    return subprocess.run([*COMMAND, *arguments], cwd=directory, text=True, check=False, **streams)


@needs_full_device
@pytest.mark.parametrize(
    "arguments",
    [
        ["games"],
        ["games", "--json"],
        ["solve", "kuhn", "-n", "5"],
        ["solve", "kuhn", "-n", "5", "--json"],
        ["evaluate", "kuhn.eq"],
        ["show", "kuhn.eq", "--csv"],
        ["compare", "kuhn", "-n", "5"],
        ["--help"],
        ["--version"],
    ],
    ids=" ".join,
)
def test_standard_output_without_room_is_one_line(tmp_path, arguments):
    assert run(tmp_path, "solve", "kuhn", "-n", "5", "--out", "kuhn.eq").returncode == 0
    with open("/dev/full", "w") as full:
        done = run(tmp_path, *arguments, stdout=full)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "error: cannot write to standard output: no space left on device"
    assert "Traceback" not in done.stderr


@needs_full_device
def test_an_error_stream_without_room_changes_nothing(tmp_path):
    with open("/dev/full", "w") as full:
        done = run(tmp_path, "solve", "kuhn", "-n", "5", "--out", "kuhn.eq", stderr=full)
        assert done.returncode == 0
        assert "exploitability" in done.stdout
        assert run(tmp_path, "solve", "kuhn", "-n", "5", "--out", "kuhn.eq", stderr=full).returncode == 2


def test_closed_streams_change_nothing(tmp_path):
    script = 'exec "$@" 1>&- 2>&-'
    command = ["sh", "-c", script, "sh", *COMMAND, "solve", "kuhn", "-n", "5", "--out", "kuhn.eq", "--json"]
    assert subprocess.run(command, cwd=tmp_path, env=ENVIRONMENT, check=False).returncode == 0
    assert os.listdir(tmp_path) == ["kuhn.eq"]


@pytest.mark.parametrize("arguments", [["games"], ["solve", "kuhn", "-n", "5", "--json"]], ids=" ".join)
def test_a_reader_that_leaves_is_not_complained_about(tmp_path, arguments):
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as pipe:
        done = run(tmp_path, *arguments, stdout=pipe)
    assert done.returncode == 1
    assert "error" not in done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr


def test_letters_that_a_stream_lacks_are_spelt_out(tmp_path):
    ascii_only = {**ENVIRONMENT, "PYTHONIOENCODING": "ascii"}
    done = run(tmp_path, "solve", "matrix", "-p", "row_names=höhe,breite", "-n", "5", env=ascii_only)
    assert done.returncode == 0
    assert r"h\xf6he" in done.stdout
