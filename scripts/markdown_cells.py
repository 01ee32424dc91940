# SPDX-License-Identifier: Apache-2.0
"""Text in cells of Markdown tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

__all__ = ["escape_cell", "format_table"]


def escape_cell(text: str) -> str:
    """Returns a text on one line that reads as it is written, but for code between backticks."""
    parts = re.split(r"(`[^`]*`)", " ".join(text.split()).replace("|", r"\|"))
    parts[::2] = [re.sub(r"[*<\[]", r"\\\g<0>", part) for part in parts[::2]]
    return "".join(parts)


def format_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Returns the lines of a table."""
    cells = [columns, ["---"] * len(columns), *rows]
    return [f"| {' | '.join(row)} |" for row in cells]
