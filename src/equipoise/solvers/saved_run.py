# SPDX-License-Identifier: Apache-2.0
"""What a file says of its run: what was asked for, and how far it got."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from equipoise.core.errors import CheckpointError
from equipoise.core.files import StrPath
from equipoise.core.formatting import brief_repr, shorten_text
from equipoise.core.progress import Progress
from equipoise.core.provenance import find_commit, version
from equipoise.core.records import check_types

__all__ = ["RunConfig", "RunRecord"]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class RunConfig:
    """All that decides what a run computes; a resumed run must agree on every field but the threads.

    >>> from equipoise.runs import solve
    >>> config = solve("kuhn", "cfr+", iterations=10).config
    >>> config.game, config.rule, config.method
    ('kuhn', 'cfr+', 'cfr')
    """

    game: str  # as registered, or as a game outside the package calls itself
    parameters: Mapping[str, str]  # as they would be typed
    game_version: int
    method: str
    form: str  # of the tree
    rule: str | None  # None for methods without one
    baseline: str | None = None  # what shares a guess of sampled values; None: there are none
    traversals: int | None = None  # of each player in a sampled iteration; None: one
    updates: str
    seed: int
    prune: str | None = None  # as typed; None: nothing is pruned
    threads: int  # size of the team; results are the same bits whatever it is
    warm_start: str | None = None  # what the run began from, in words; None: from nothing
    against: str | None = None  # the response that the learners train against, as typed; None: each other
    against_digest: str | None = None  # of the files that it reads
    updates_per_response: int | None = None  # None: no response
    seat: int | None = None  # of the only learner; None: both
    merge: str | None = None  # pattern of what learners cannot read in information states
    game_class: str | None = None  # where a game outside the package lives, file.py:Class; None: in the package
    equipoise_version: str = dataclasses.field(default_factory=version)

    __repr__ = brief_repr

    def differences(self, other: RunConfig) -> list[str]:
        """Returns what keeps a run of this configuration from going on under another, in words.

        Threads may differ, and so may the place of a user's file: its game has a version of its own.
        """
        unasked = {"threads", "game_class"} | ({"against_digest"} if self.against != other.against else set())
        names = [field.name for field in dataclasses.fields(self) if field.name not in unasked]
        pairs = {name: _reduce(getattr(self, name), getattr(other, name)) for name in names}
        return [
            f"{name.replace('_', ' ')} {_format(ours)}, asked for {_format(theirs)}"
            for name, (ours, theirs) in pairs.items()
            if ours != theirs
        ]


def _reduce(ours: Any, theirs: Any) -> tuple[Any, Any]:
    """Returns two values; of mappings, what they do not have in common."""
    if not isinstance(ours, Mapping):
        return ours, theirs
    first = {key: value for key, value in ours.items() if theirs.get(key) != value}
    second = {key: value for key, value in theirs.items() if ours.get(key) != value}
    return first, second


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """A run as the header of its file describes it: what was asked for and how far it got.

    >>> from equipoise.runs import solve
    >>> solution = solve("kuhn", iterations=10)
    >>> record = RunRecord(config=solution.config, progress=solution.progress, stopped_by="iterations")
    >>> RunRecord.from_metadata("kuhn.eq", record.as_metadata()).progress[-1].iteration
    10
    """

    config: RunConfig
    progress: tuple[Progress, ...]  # the last record is of the saved iteration
    stopped_by: str | None  # None while the run is going on

    __repr__ = brief_repr

    def as_metadata(self) -> dict[str, Any]:
        """Returns the record as JSON values."""
        return {
            **dataclasses.asdict(self.config),
            "parameters": dict(self.config.parameters),
            "commit": find_commit(),
            "iteration": self.progress[-1].iteration,
            "stopped_by": self.stopped_by,
            "progress": [dataclasses.asdict(record) for record in self.progress],
        }

    @classmethod
    def from_metadata(cls, path: StrPath, metadata: Mapping[str, Any]) -> RunRecord:
        """Returns what `as_metadata` wrote; raises `CheckpointError` if it cannot be read."""
        fields = dataclasses.fields(RunConfig)
        try:
            # files from before a field with a default was there do without it
            given = [field.name for field in fields if field.name in metadata or field.default is dataclasses.MISSING]
            config = RunConfig(**{name: metadata[name] for name in given})
            progress = tuple(Progress.from_json(record) for record in metadata["progress"])
            stopped_by = metadata["stopped_by"]
            for record in (config, *progress):
                check_types(record)
        except (AttributeError, KeyError, TypeError) as error:
            raise CheckpointError(f"{path} does not describe its run: {error!r}") from None
        if not progress:
            raise CheckpointError(f"{path} holds a run without a single record")
        return cls(config=config, progress=progress, stopped_by=stopped_by)


def _format(value: Any) -> str:
    if isinstance(value, Mapping):
        return ",".join(f"{key}={shorten_text(str(item))}" for key, item in value.items()) or "none"
    return str(value)
