# SPDX-License-Identifier: Apache-2.0
"""Processes that must not outlive the one that started them."""

import subprocess
import sys
import time
from pathlib import Path

SECONDS_TO_END = 20.0  # on a busy machine


def is_running(pid):
    """Returns whether a process is there and not merely unburied."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] not in "ZX"


def kill_after_line(program, *, directory):
    """Starts a Python program, kills it without warning once it has written a line, and returns the line."""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, cwd=directory) as process:
        line = process.stdout.readline()
        process.kill()
    return line


def assert_they_end(pids):
    """Fails unless all of some processes end by themselves, each of which must be known by its number."""
    assert pids
    deadline = time.monotonic() + SECONDS_TO_END
    while (left := [pid for pid in pids if is_running(pid)]) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not left
