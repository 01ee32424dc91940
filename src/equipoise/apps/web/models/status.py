# SPDX-License-Identifier: Apache-2.0
"""How the server is."""

from __future__ import annotations

from pydantic import BaseModel

__all__ = ["Status"]


class Status(BaseModel):
    """How the server is."""

    version: str
    commit: str | None
    cores: int
    bytes_free: int | None
    job_bytes: int
    first: str | None  # solution to begin with
    token: bool
    events: int  # number of the newest event
    runs: int  # jobs waiting or under way
