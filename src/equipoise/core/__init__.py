# SPDX-License-Identifier: Apache-2.0
"""Errors, randomness, the disk format and progress records: what every other room stands on."""

from typing import TYPE_CHECKING

from equipoise.core.lazy import lazy_names

if TYPE_CHECKING:
    from equipoise.core.cache import default_cache_directory
    from equipoise.core.checkpoint import Checkpoint, Kind
    from equipoise.core.errors import (
        AbandonedError,
        AgentFailedError,
        CheckpointError,
        ConcurrentUseError,
        ConfigError,
        EquipoiseError,
        GameTooLargeError,
        IllegalActionError,
        InvalidGameError,
        InvalidStateError,
        MissingExtraError,
        NotConvergedError,
        ParseError,
        UnknownNameError,
        WorkerError,
    )
    from equipoise.core.local_pool import LocalPool
    from equipoise.core.machine import describe_machine, describe_origin
    from equipoise.core.memory import available_bytes
    from equipoise.core.pool import Pool
    from equipoise.core.progress import Progress, SampledFigures
    from equipoise.core.provenance import find_commit, version
    from equipoise.core.reporting import Reporter
    from equipoise.core.runs import RunFolder

__all__ = [
    "AbandonedError",
    "AgentFailedError",
    "Checkpoint",
    "CheckpointError",
    "ConcurrentUseError",
    "ConfigError",
    "EquipoiseError",
    "GameTooLargeError",
    "IllegalActionError",
    "InvalidGameError",
    "InvalidStateError",
    "Kind",
    "LocalPool",
    "MissingExtraError",
    "NotConvergedError",
    "ParseError",
    "Pool",
    "Progress",
    "Reporter",
    "RunFolder",
    "SampledFigures",
    "UnknownNameError",
    "WorkerError",
    "available_bytes",
    "default_cache_directory",
    "describe_machine",
    "describe_origin",
    "find_commit",
    "version",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(__name__, __all__)
