# SPDX-License-Identifier: Apache-2.0
"""What quick studies take, as scripts/study-costs measured it; nobody types these numbers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

__all__ = ["LONGEST_QUICK", "PATH", "describe_cost", "load_costs"]

LONGEST_QUICK: Final = 120.0  # processor seconds that a quick study may take
PATH: Final = Path(__file__).with_name("costs.json")


def load_costs() -> Mapping[str, Mapping[str, Any]]:
    """Returns `cpu_seconds`, `peak_bytes` and `commit` of the studies that were measured, by name.

    Others have `elapsed_seconds` alone, on the clock, of the kept result of that `size`.
    """
    if not PATH.exists():
        return {}
    found: Mapping[str, Mapping[str, Any]] = json.loads(PATH.read_text(encoding="utf8"))
    return found


def describe_cost(name: str) -> Mapping[str, Any]:
    """Returns what a study took, None where that is not known.

    `cpu_seconds` and `peak_bytes` in its quick size; else `elapsed_seconds` and `size` of a result that was kept.
    """
    found = load_costs().get(name, {})
    return {key: found.get(key) for key in ("cpu_seconds", "peak_bytes", "elapsed_seconds", "size")}
