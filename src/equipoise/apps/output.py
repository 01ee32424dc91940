# SPDX-License-Identifier: Apache-2.0
"""Results on standard output."""

from __future__ import annotations

import json
import math
from typing import Any

import typer

__all__ = ["write_json"]


def write_json(result: Any) -> None:
    """Writes a result as one JSON document to standard output; numbers that JSON lacks become null."""
    typer.echo(json.dumps(_finite(result), indent=2, allow_nan=False))


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value
