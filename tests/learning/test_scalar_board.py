# SPDX-License-Identifier: Apache-2.0
"""Curves from the events of a run, with a writer that only remembers."""

import sys
import types
from typing import ClassVar

import pytest

from equipoise.core.errors import ConfigError
from equipoise.core.runs import RunFolder
from equipoise.learning import scalar_board
from equipoise.learning.scalar_board import find_writer, open_board


class Remembering:
    """Remembers what is written."""

    opened: ClassVar = []

    def __init__(self, path):
        self.path, self.scalars, self.is_closed = path, [], False
        self.opened.append(self)

    def add_scalar(self, tag, value, step, *, walltime):
        assert walltime > 0
        self.scalars.append((tag, value, step))

    def flush(self):
        pass

    def close(self):
        self.is_closed = True


@pytest.fixture
def run(tmp_path):
    folder = RunFolder.create(tmp_path, "training", {})
    with folder.writing():
        yield folder


def write(folder):
    folder.record("shard", network="river", data="toy", shards=3, situations_per_second=12.5)
    folder.record("measured", network="river", step=100, rms=6.5, bands={"0-1": {"rms": 2}}, toy_loss=float("nan"))
    folder.record("trained", seconds=2.0)


SCALARS = [
    ("river/toy/situations_per_second", 12.5, 3),
    ("river/rms", 6.5, 100),
    ("river/bands/0-1/rms", 2.0, 100),
    ("seconds", 2.0, 3),
]


def test_events_become_curves_once(run):
    with open_board(run, Remembering) as board:
        write(run)
        board.follow()  # it has looked just now
        assert board.writer.scalars == []
        board.follow(is_now=True)
        assert board.writer.scalars == SCALARS
    assert board.writer.scalars == SCALARS
    assert board.writer.is_closed


def test_a_run_that_goes_on_has_whole_curves(run):
    write(run)
    old = run.path / "tensorboard" / "events.out.tfevents.1"
    old.parent.mkdir()
    old.touch()
    with open_board(run, Remembering) as board:
        assert not old.exists()
        assert board.writer.scalars == SCALARS
        assert board.writer.path == str(old.parent)


def test_curves_are_kept_when_a_run_ends_badly(run):
    def fail(folder):
        write(folder)
        raise KeyError

    with pytest.raises(KeyError), open_board(run, Remembering):
        fail(run)
    assert Remembering.opened[-1].scalars == SCALARS
    assert Remembering.opened[-1].is_closed


def test_packages_are_taken_where_they_are(run, monkeypatch):
    for name in scalar_board.WRITERS:
        monkeypatch.setitem(sys.modules, name, None)
    assert find_writer() is None
    with pytest.raises(ConfigError, match="pip install tensorboard"):
        find_writer(is_wanted=True)
    with open_board(run, None) as board:
        assert board is None
    monkeypatch.setitem(sys.modules, "tensorboardX", types.SimpleNamespace(SummaryWriter=Remembering))
    assert find_writer() is Remembering
    assert find_writer(is_wanted=False) is None
