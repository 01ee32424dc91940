# SPDX-License-Identifier: Apache-2.0
"""What a measurement was taken on: processor, cores, system, versions. No names of hosts, users or directories."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

import numpy as np

from equipoise.core.provenance import find_commit, version

__all__ = ["describe_machine", "describe_origin", "num_usable_cores"]

PROCESSOR_INFO = Path("/proc/cpuinfo")


def num_usable_cores() -> int:
    """Returns the cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


def describe_machine() -> dict[str, Any]:
    """Returns processor, cores, system and the versions that matter, as JSON values."""
    return {
        "processor": _processor_name(),
        "num_cores": num_usable_cores(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "numpy": np.__version__,
    }


def describe_origin() -> dict[str, Any]:
    """Returns the version, the commit and the machine that a result comes from."""
    return {"version": version(), "commit": find_commit(), "machine": describe_machine()}


def _processor_name() -> str:
    try:
        for line in PROCESSOR_INFO.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
