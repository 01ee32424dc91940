# SPDX-License-Identifier: Apache-2.0
"""Results on standard output."""

from __future__ import annotations

import json
import math
from typing import Any, Final

import typer
from rich.console import RenderableType

from equipoise.apps.display import make_console

__all__ = ["print_result", "write_json"]


WIDEST: Final = 1000  # letters in a line


def print_result(result: RenderableType, *, is_quiet: bool = False) -> None:
    """Prints a result for people to standard output, unless they asked for quiet.

    What does not fit a narrow terminal runs over its edge: cut numbers are no result.
    """
    console = make_console(is_stderr=False, is_quiet=is_quiet)
    least = console.measure(result, options=console.options.update(width=WIDEST)).minimum
    console.width = max(console.width, least)
    console.print(result)


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
