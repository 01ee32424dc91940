# SPDX-License-Identifier: Apache-2.0
"""Runs in a folder."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

__all__ = ["Differences", "PointList", "RunDetails", "RunList"]


class RunRow(BaseModel):
    """A run in a list."""

    id: str
    name: str
    kind: str
    title: str
    state: str
    started: str | None
    changed: str
    last: dict[str, Any] | None
    measures: list[str]
    num_points: int
    solution: str | None
    job: str | None


class RunList(BaseModel):
    """All runs, the newest first."""

    runs: list[RunRow]


class RunTable(BaseModel):
    """A table that a run left."""

    title: str
    columns: list[str]
    rows: list[list[str | float | bool | None]]


class RunDetails(RunRow):
    """A run with its configuration and tables."""

    config: dict[str, Any]
    tables: list[RunTable]


class PointList(BaseModel):
    """Numbers that a run has recorded."""

    points: list[dict[str, Any]]
    last: int


class Difference(BaseModel):
    """A key in which configurations differ."""

    key: str
    values: list[Any]


class Differences(BaseModel):
    """Where configurations differ."""

    ids: list[str]
    differ: list[Difference]
    same: dict[str, Any]
