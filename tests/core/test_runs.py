# SPDX-License-Identifier: Apache-2.0
"""Folders of runs: whole or not there, numbered without gaps whatever was torn, readable while they are written."""

import json
import multiprocessing
import threading

import pytest

from equipoise.core.errors import CheckpointError, ConfigError
from equipoise.core.runs import RunFolder


@pytest.fixture
def folder(tmp_path):
    return RunFolder.create(tmp_path / "runs" / "one", "solve", {"game": "kuhn", "seconds": float("inf")})


def write(folder, count):
    with folder.writing():
        return [folder.record("progress", share=number / count) for number in range(count)]


def test_a_folder_says_what_was_asked_for(folder):
    again = RunFolder(folder.path)
    assert (again.kind, again.config) == ("solve", {"game": "kuhn", "seconds": None})
    assert json.loads((folder.path / "config.json").read_text())["version"]
    assert again.result == folder.path / "result.eq"
    assert again.events() == []


def test_events_are_numbered_over_every_writer(folder):
    assert write(folder, 3) == [1, 2, 3]
    assert write(RunFolder(folder.path), 2) == [4, 5]
    assert [event["number"] for event in folder.events(after=3)] == [4, 5]
    assert folder.events()[0]["event"] == "progress"


@pytest.mark.parametrize("torn", [b'{"number": 3, "ti', b"\xff\xfe", b"{}"])
def test_a_torn_line_is_ignored_and_numbers_go_on(folder, torn):
    write(folder, 2)
    with open(folder.path / "events.jsonl", "ab") as file:
        file.write(torn)
    assert [event["number"] for event in folder.events()] == [1, 2]
    assert write(RunFolder(folder.path), 1) == [3]
    assert [event["number"] for event in folder.events()] == [1, 2, 3]
    assert (folder.path / "events.jsonl").read_bytes().count(b"\n") == 3


@pytest.mark.parametrize("line", [b"nothing\n", b'{"number": 7}\n', b"[]\n"])
def test_a_damaged_line_is_said(folder, line):
    write(folder, 1)
    with open(folder.path / "events.jsonl", "ab") as file:
        file.write(line)
    with pytest.raises(CheckpointError, match="line 2 is not event 2"):
        folder.events()


def test_a_reader_sees_whole_events_while_another_thread_writes(folder):
    seen = []
    writer = threading.Thread(target=write, args=(RunFolder(folder.path), 300))
    writer.start()
    while writer.is_alive():
        seen.append(len(folder.events()))
    assert seen == sorted(seen)
    assert len(folder.events()) == 300


def _try_to_write(path):
    try:
        write(RunFolder(path), 1)
    except CheckpointError as error:
        return str(error)
    return "written"


def test_of_two_processes_one_writes(folder):
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        with folder.writing():
            assert "another process is at work on it" in pool.apply(_try_to_write, (folder.path,))
        assert pool.apply(_try_to_write, (folder.path,)) == "written"


def test_a_folder_is_replaced_only_when_that_is_asked_for(folder):
    write(folder, 2)
    with pytest.raises(ConfigError, match="holds a run: give `resume`"):
        RunFolder.create(folder.path, "match", {})
    fresh = RunFolder.create(folder.path, "match", {"agents": ("a", "b")}, is_overwritten=True)
    assert (fresh.kind, fresh.config, fresh.events()) == ("match", {"agents": ["a", "b"]}, [])
    with pytest.raises(ConfigError, match="holds a match, expected a solve"):
        fresh.check_kind("solve")


@pytest.mark.parametrize("text", ["", "[]", '{"kind": "solve"}', '{"config": {}}'])
def test_what_is_no_run_is_refused(tmp_path, text):
    with pytest.raises(CheckpointError, match=r"holds no run: it has no config\.json"):
        RunFolder(tmp_path)
    (tmp_path / "config.json").write_text(text)
    with pytest.raises(CheckpointError, match="does not describe a run"):
        RunFolder(tmp_path)
