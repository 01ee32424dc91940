# SPDX-License-Identifier: Apache-2.0
"""What server and workers tell each other, and what a job's folder says: light, since both sides load it."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping
from typing import Any, Final, Self

__all__ = ["FLOPS", "SOLVE", "Command", "JobSpec", "Limits", "MessageType"]

SOLVE: Final = "solve"  # kinds of folders
FLOPS: Final = "flops"


class Command(enum.StrEnum):
    """What a worker is told."""

    RESUME = "resume"
    PAUSE = "pause"
    STOP = "stop"  # and keep
    LEAVE = "leave"  # the server is gone


class MessageType(enum.StrEnum):
    """What a worker tells."""

    STATE = "state"
    PROGRESS = "progress"
    SAID = "said"
    SIZES = "sizes"
    FLOP = "flop"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class JobSpec:
    """What a job is: the configuration of its folder."""

    kind: str  # of the folder
    title: str
    spot: str | None = None  # TOML
    game: str | None = None  # a label
    request: Mapping[str, Any] = dataclasses.field(default_factory=dict)  # fields of a `RunRequest`
    flops: Mapping[str, float] = dataclasses.field(default_factory=dict)  # with how many flops each stands for
    line: str = ""
    origin: str | None = None  # solution that it was made from
    start: str | None = None  # file whose regrets it begins with; the server's own choice

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Self:
        """Returns what a folder's configuration says."""
        known = {field.name for field in dataclasses.fields(cls)}
        given = {name: value for name, value in content.items() if name in known}
        return cls(**given)

    def as_json(self) -> dict[str, Any]:
        """Returns the configuration of a folder."""
        return dataclasses.asdict(self)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How far a worker goes this time."""

    num_bytes: int  # that it may take
    totals: Mapping[str, Any] = dataclasses.field(default_factory=dict)  # iterations, target, seconds; in place of
    # those of the job

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Self:
        """Returns what a worker is started with."""
        return cls(num_bytes=int(content["num_bytes"]), totals=dict(content.get("totals", {})))
