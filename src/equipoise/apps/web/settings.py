# SPDX-License-Identifier: Apache-2.0
"""How a server is set up: where it keeps things, who may ask, how much it takes on."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import Final

from equipoise.core.errors import ConfigError
from equipoise.core.machine import num_usable_cores
from equipoise.core.memory import available_bytes

__all__ = ["DEFAULT_PORT", "LOOPBACK", "ServerSettings", "default_runs_folder"]

DEFAULT_PORT: Final = 8140
LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")
FALLBACK_BYTES: Final = 4_000_000_000  # of a job where the system does not say what is free
ENVIRONMENT_VARIABLE: Final = "EQUIPOISE_RUNS"


def default_runs_folder() -> Path:
    """Returns where jobs are kept: `EQUIPOISE_RUNS`, else `equipoise/runs` in the user's data."""
    override = os.environ.get(ENVIRONMENT_VARIABLE, "")
    if override:
        return Path(override).expanduser()
    base = os.environ.get("XDG_DATA_HOME", "")
    try:
        return (Path(base) if base else Path.home() / ".local" / "share") / "equipoise" / "runs"
    except RuntimeError:
        raise ConfigError("you have no home directory to keep runs in: name a folder with --runs") from None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """How a server is set up."""

    runs: Path  # folder of jobs, uploads and other runs
    files: tuple[Path, ...] = ()  # solved files to list beside them
    host: str = LOOPBACK[0]
    port: int = DEFAULT_PORT
    token: str | None = None  # what everybody must show; None: nobody
    num_workers: int = 1  # jobs at once
    most_waiting: int = 32  # jobs in the queue
    job_bytes: int | None = None  # most memory of a job; None: half of what is free
    threads: int | None = None  # of a job; None: as many as help
    solves_example: bool = True  # at the first start
    most_body_bytes: int = 1_000_000  # of a request
    most_upload_bytes: int = 512_000_000  # of a file
    open_bytes: int = 1_500_000_000  # of solutions kept in memory

    def __post_init__(self) -> None:
        if not self.is_loopback and not self.token:
            raise ConfigError(f"a server at {self.host} can be reached by others: it needs a token")
        for name in ("num_workers", "most_waiting"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")

    @property
    def is_loopback(self) -> bool:
        """Returns whether only this machine can reach the server."""
        return self.host in LOOPBACK

    def find_job_bytes(self) -> int:
        """Returns the most memory that a job may take now."""
        if self.job_bytes is not None:
            return self.job_bytes
        free = available_bytes()
        return FALLBACK_BYTES if free is None else free // 2

    def find_threads(self) -> int:
        """Returns how many threads a job may have at most."""
        return self.threads or num_usable_cores()
