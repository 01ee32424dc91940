# SPDX-License-Identifier: Apache-2.0
"""Networks that come with the package: where they are, and those of Leduc by name."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Final

from equipoise.core.errors import ConfigError
from equipoise.learning.values.inference import BoundNet, bind_net
from equipoise.learning.values.weights import StoredNet

__all__ = ["LEDUC_NETS", "SHIPPED", "find_leduc_net", "load_leduc", "read_net"]

WEIGHTS: Final = Path(__file__).resolve().parents[2] / "weights"  # part of the package
SHIPPED: Final = WEIGHTS / "holdem"
LEDUC_NAMES: Final = ("limit", "nolimit", "nolimit-cards")
LEDUC_NETS: Final = WEIGHTS / "leduc"


def load_leduc(name: str, *, nets: str | Path = "") -> StoredNet:
    """Returns a network of Leduc: `limit`, `nolimit` or `nolimit-cards`.

    Args:
        name: of the network.
        nets: the folder it lies in; none: what is shipped.
    """
    path = Path(nets or LEDUC_NETS) / f"{name}.safetensors"
    if not path.exists():
        raise ConfigError(
            f"there is no {name} network in {path.parent}: `equipoise train values` makes one, preset leduc"
        )
    return StoredNet.load(path)


def find_leduc_net(game: str, *, nets: str | Path = "") -> StoredNet:
    """Returns the network for a form of Leduc; raises `ConfigError` with the forms that there are some for.

    Args:
        game: as `format_game` writes it.
        nets: the folder of the networks; none: what is shipped.
    """
    folder = Path(nets or LEDUC_NETS)
    found = {name: load_leduc(name, nets=folder) for name in LEDUC_NAMES if (folder / f"{name}.safetensors").exists()}
    for stored in found.values():
        if stored.config.game == game:
            return stored
    known = ", ".join(stored.config.game for stored in found.values()) or "nothing"
    raise ConfigError(f"there is no network for {game} in {folder}, of {', '.join(LEDUC_NAMES)} only for {known}")


@functools.lru_cache(16)
def read_net(path: Path) -> BoundNet:
    """Returns the network of hold'em in a file, read once."""
    stored = StoredNet.load(path)
    if stored.config.game:
        raise ConfigError(f"{path} holds a network for {stored.config.game}, expected one for hold'em")
    return bind_net(stored)
