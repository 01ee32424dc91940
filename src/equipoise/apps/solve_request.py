# SPDX-License-Identifier: Apache-2.0
"""From the options of `equipoise solve` to what is asked of a run."""

from __future__ import annotations

import dataclasses
import enum
from typing import Any

from equipoise.apps.solve_options import SolveOptions
from equipoise.runs.request import RunRequest

__all__ = ["make_request"]


def make_request(options: SolveOptions) -> RunRequest:
    """Returns what the options ask of a run."""
    names = {field.name for field in dataclasses.fields(RunRequest)} - {"has_warm_start"}
    given = {name: getattr(options, name.removeprefix("num_")) for name in names}
    asked: dict[str, Any] = {
        name: str(value) if isinstance(value, enum.StrEnum) else value for name, value in given.items()
    }
    if options.lock_from is not None and options.against is None:
        asked["seat"] = None  # it says whose play is taken over
    return RunRequest(**asked, has_warm_start=options.warm_start is not None)
