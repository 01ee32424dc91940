# SPDX-License-Identifier: Apache-2.0
import os
import sys

import pytest

from equipoise.core.errors import ConfigError, MissingExtraError
from equipoise.distributed.pools import open_pool


@pytest.fixture
def without_ray(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    for name in ("ray_extra", "ray_pool"):
        monkeypatch.delitem(sys.modules, f"equipoise.distributed.{name}", raising=False)


@pytest.mark.usefixtures("without_ray")
def test_a_missing_ray_is_named_with_its_extra():
    with pytest.raises(
        MissingExtraError,
        match=r"^work on several machines needs ray, which is not installed: pip install 'equipoise\[scale\]'$",
    ):
        open_pool(2, "localhost:6379")


@pytest.mark.usefixtures("without_ray")
def test_this_machine_needs_no_ray():
    with open_pool(None) as pool:
        assert pool.num_workers == 1
        assert list(pool.map(eval, ["__import__('os').getpid()"])) != [os.getpid()]
    with open_pool(2) as pool:
        assert pool.num_workers == 2


def test_numbers_of_workers_are_checked():
    with pytest.raises(ConfigError, match="at least one worker, got 0"):
        open_pool(0)
