# SPDX-License-Identifier: Apache-2.0
import sys

import pytest

from tests.orphans import assert_they_end, kill_after_line

PROGRAM = """
import time
from equipoise.core.pool import LocalPool
pool = LocalPool(2)
pids = set(pool.map(eval, ["__import__('os').getpid()"] * 8))
print(*pids, flush=True)
list(pool.map(time.sleep, [300.0] * 2))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_workers_end_with_whoever_started_them(tmp_path):
    line = kill_after_line(PROGRAM, directory=tmp_path)
    assert_they_end([int(pid) for pid in line.split()])
