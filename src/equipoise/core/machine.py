# SPDX-License-Identifier: Apache-2.0
"""What a measurement was taken on: processor, cores, system, versions. No names of hosts, users or directories."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

import numpy as np

from equipoise.core.provenance import find_commit, version

__all__ = ["describe_machine", "describe_origin", "last_level_cache_bytes", "num_usable_cores"]

PROCESSOR_INFO = Path("/proc/cpuinfo")
CACHE_INFO = Path("/sys/devices/system/cpu/cpu0/cache")
USUAL_CACHE_BYTES = 32 << 20  # where the system does not tell
UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def num_usable_cores() -> int:
    """Returns the cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


def last_level_cache_bytes() -> int:
    """Returns the size of the largest cache that the first core has."""
    sizes = []
    for path in CACHE_INFO.glob("index*/size"):
        text = path.read_text().strip()
        if text[-1:] in UNITS and text[:-1].isdecimal():
            sizes.append(int(text[:-1]) * UNITS[text[-1]])
    return max(sizes, default=USUAL_CACHE_BYTES)


def describe_machine() -> dict[str, Any]:
    """Returns processor, cores, system and the versions that matter, as JSON values.

    >>> sorted(describe_machine())
    ['num_cores', 'numpy', 'processor', 'python', 'system']
    """
    return {
        "processor": _processor_name(),
        "num_cores": num_usable_cores(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "numpy": np.__version__,
    }


def describe_origin() -> dict[str, Any]:
    """Returns the version, the commit and the machine that a result comes from.

    >>> sorted(describe_origin())
    ['commit', 'machine', 'version']
    """
    return {"version": version(), "commit": find_commit(), "machine": describe_machine()}


def _processor_name() -> str:
    try:
        for line in PROCESSOR_INFO.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
