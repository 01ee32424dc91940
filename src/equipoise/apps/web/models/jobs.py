# SPDX-License-Identifier: Apache-2.0
"""Jobs: what is asked for, how they stand, what happens to them; reports over flops."""

from __future__ import annotations

from typing import Any, Final, Literal

from pydantic import BaseModel, Field

from equipoise.apps.web.models.solutions import Numbers, Point
from equipoise.apps.web.models.spots import LockForm, SpotForm, Strict

__all__ = [
    "EventList",
    "FlopReport",
    "FlopReportList",
    "JobAnswer",
    "JobForm",
    "JobLimits",
    "JobList",
    "JobRow",
]


MOST_FLOPS: Final = 1755  # that differ by more than their suits


class JobForm(Strict):
    """What is to be done: a spot or a game to solve, a solution to solve again with locks, a spot on many flops."""

    kind: Literal["solve", "resolve", "flops"] = "solve"
    title: str | None = Field(default=None, max_length=80)
    spot: SpotForm | None = None
    game: str | None = None
    parameters: dict[str, str | int | float | bool] | None = None
    rule: str | None = None
    method: str | None = None
    iterations: int | None = None
    target: str | float | None = None
    seconds: float | None = None
    solution: str | None = None
    line: str | list[str] | None = None
    locks: list[LockForm] | None = None
    flops: list[str] | None = Field(default=None, min_length=1, max_length=MOST_FLOPS)
    count: int | None = Field(default=None, ge=1, le=MOST_FLOPS)


class JobLimits(Strict):
    """New limits of a job that goes on, all of them totals."""

    iterations: int | None = None
    target: str | float | None = None
    seconds: float | None = None


class JobRow(BaseModel):
    """A job in a list."""

    id: str
    kind: str
    title: str
    state: str
    place_in_queue: int
    bytes: int | None
    progress: Point | None
    target: float | None
    percent_target: float | None
    solution: str | None
    error: str | None
    stopped_by: str | None
    can_resume: bool
    created: str
    changed: str
    said: list[str]
    num_done: int
    num_flops: int
    origin: str | None


class JobAnswer(JobRow):
    """A job with its curve and what it solves."""

    points: list[Point]
    spot: SpotForm | None
    game: str | None


class JobList(BaseModel):
    """All jobs, the newest first."""

    jobs: list[JobRow]


class EventList(BaseModel):
    """Events with numbers above one."""

    events: list[dict[str, Any]]
    last: int


class FlopRow(BaseModel):
    """What is done on a flop."""

    flop: list[str]
    text: str
    weight: float  # flops that it stands for, times the pairs of hands that it leaves
    texture: list[str]
    frequency: Numbers
    ev: Numbers | None
    equity: Numbers | None
    percent_of_pot: float | None
    error: str | None


class FlopAverage(BaseModel):
    """The mean over flops, each as often as it comes."""

    frequency: Numbers
    ev: Numbers
    equity: Numbers


class FlopSummary(BaseModel):
    """A report in a list."""

    id: str
    title: str
    state: str
    num_done: int
    num_flops: int


class FlopReportList(BaseModel):
    """All reports."""

    reports: list[FlopSummary]


class FlopReport(FlopSummary):
    """One line over many flops."""

    line: list[str]
    player: int | None
    big_blind: float
    pot: float
    seats: list[str]
    ids: list[str]
    names: list[str]
    rows: list[FlopRow]
    average: FlopAverage
