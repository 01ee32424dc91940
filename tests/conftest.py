# SPDX-License-Identifier: Apache-2.0
import pytest


@pytest.fixture(autouse=True, scope="session")
def _no_cache():
    """Keeps tests from reading and writing the user's cache of trees."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("EQUIPOISE_CACHE", "off")
        yield
