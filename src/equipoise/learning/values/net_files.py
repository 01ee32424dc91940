# SPDX-License-Identifier: Apache-2.0
"""Networks by their files, as sources of situations name them."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
from pathlib import Path

from equipoise.core.errors import CheckpointError
from equipoise.core.files import describe_os_error
from equipoise.learning.values.inference import BoundNet, bind_net
from equipoise.learning.values.weights import StoredNet

__all__ = ["NetFile"]


@dataclasses.dataclass(frozen=True, slots=True)
class NetFile:
    """A network by its file: what is sent to other processes, and what shards are labelled with."""

    path: Path
    digest: str  # of the file's content

    @classmethod
    def at(cls, path: Path) -> NetFile:
        """Returns the network in a file as it is now."""
        try:
            return cls(path, hashlib.blake2b(path.read_bytes(), digest_size=4).hexdigest())
        except OSError as error:
            raise CheckpointError(f"cannot read {path}: {describe_os_error(error)}") from None

    @property
    def name(self) -> str:
        """Returns the name of the network and which one of that name it is."""
        return f"{self.path.stem}@{self.digest}"

    def bind(self) -> BoundNet:
        """Returns the network, read once a process."""
        return _bind(self)


@functools.lru_cache(8)
def _bind(file: NetFile) -> BoundNet:
    return bind_net(StoredNet.load(file.path))
