# SPDX-License-Identifier: Apache-2.0
import pytest

from equipoise.kernels import public


@pytest.fixture(autouse=True, scope="session")
def _no_cache():
    """Keeps tests from reading and writing the user's cache of trees."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("EQUIPOISE_CACHE", "off")
        yield


@pytest.fixture
def any_team(monkeypatch):
    """Lets threads share small public trees too."""
    monkeypatch.setattr(public, "MIN_CELLS_PER_THREAD", 1)
