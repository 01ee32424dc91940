# SPDX-License-Identifier: Apache-2.0
"""What benches that measure one row after another share: their report, and how far they have come."""

from __future__ import annotations

import dataclasses
from typing import Any, Generic, TypeVar

from equipoise.core.machine import describe_origin
from equipoise.core.reporting import OnStep

__all__ = ["RowsReport", "Steps"]

Settings = TypeVar("Settings")  # a dataclass


@dataclasses.dataclass(slots=True, kw_only=True)
class RowsReport(Generic[Settings]):
    """What was measured so far."""

    settings: Settings
    rows: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    is_partial: bool = False  # interrupted before the end

    def as_json(self) -> dict[str, Any]:
        """Returns the report with its origin as JSON values."""
        settings: Any = self.settings
        return {
            **describe_origin(),
            **dataclasses.asdict(settings),
            "rows": self.rows,
            "is_partial": self.is_partial,
        }


class Steps:
    """Counts steps, and tells each before it is taken."""

    def __init__(self, total: int, on_step: OnStep | None) -> None:
        self.total, self.taken, self.text = total, 0, ""
        self.on_step = on_step

    def take(self, text: str) -> None:
        """Begins the next step."""
        self.text = text
        self.report("")
        self.taken += 1

    def report(self, detail: str) -> None:
        """Tells more about the present step."""
        if self.on_step is not None:
            self.on_step(self.taken / self.total, self.text + detail)
