# SPDX-License-Identifier: Apache-2.0
import json
import signal
from pathlib import Path

import pytest
from hypothesis import settings
from typer.testing import CliRunner

from equipoise.apps.cli import app
from equipoise.games.holdem.hands import hands_of
from equipoise.kernels import public

# a busy machine is no reason to fail: time is measured in benchmarks, not in properties
settings.register_profile("equipoise", deadline=None)
settings.load_profile("equipoise")


SLOW = Path(__file__).parent / "slow.txt"  # written by scripts/slow-tests


def pytest_collection_modifyitems(config, items):
    """Marks what was measured to take long; leaves out what takes very long, unless it is asked for."""
    if "long" not in str(config.getoption("markexpr")):
        left_out = [item for item in items if item.get_closest_marker("long")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]
    slow = set(SLOW.read_text(encoding="utf8").splitlines()) if SLOW.exists() else set()
    for item in items:
        if item.nodeid in slow:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(autouse=True, scope="session")
def _no_cache():
    """Keeps tests from reading and writing the user's cache of trees."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("EQUIPOISE_CACHE", "off")
        yield


@pytest.fixture(autouse=True, scope="session")
def _heard_signals():
    """Lets processes of tests hear signals that whoever runs the tests ignores (nohup, jobs in the background)."""
    for number, heard in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, heard)


@pytest.fixture
def any_team(monkeypatch):
    """Lets threads share small public trees too."""
    monkeypatch.setattr(public, "MIN_CELLS_PER_THREAD", 1)


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


@pytest.fixture(scope="session")
def endgames(tmp_path_factory):
    """Returns a directory of two river endgames in which each player holds some sixty hands."""
    directory = tmp_path_factory.mktemp("endgames")
    reach = " ".join("0.7" if hand % 20 < 1 else "0" for hand in range(2 * hands_of().num_hands))
    for name, board in (("subgame3", "4s8hTc9h2s"), ("subgame4", "KsQd7h7c2s")):
        (directory / f"{name}.txt").write_text(f"-round 4\n-board {board}\n-pot 5000\n-reach {reach}\n")
    return directory
