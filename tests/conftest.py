# SPDX-License-Identifier: Apache-2.0
import signal

import pytest
from hypothesis import settings

from equipoise.kernels import public

# a busy machine is no reason to fail: time is measured in benchmarks, not in properties
settings.register_profile("equipoise", deadline=None)
settings.load_profile("equipoise")


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
