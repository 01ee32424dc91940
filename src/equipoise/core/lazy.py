# SPDX-License-Identifier: Apache-2.0
"""Names that are loaded when they are first used, so that a program begins before all that it could do is read."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

__all__ = ["LazyTable", "lazy_names"]


def lazy_names(package: str, homes: Mapping[str, tuple[str, ...]]) -> Callable[[str], Any]:
    """Returns the `__getattr__` of a package whose names live in modules of it.

    Args:
        package: its `__name__`.
        homes: which names each module has, modules named from the package on.
    """
    home_of = {name: home for home, names in homes.items() for name in names}

    def find(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(f"{package}.{home_of[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return find


class LazyTable(Mapping[str, Any]):
    """A table of things by name, each loaded when it is first asked for; to list the names costs nothing."""

    def __init__(self, places: Mapping[str, str]) -> None:
        """Begins a table of things that are at `module:name`."""
        self._places = places

    def __getitem__(self, key: str) -> Any:
        module, _, name = self._places[key].partition(":")
        return getattr(importlib.import_module(module), name)

    def __contains__(self, key: object) -> bool:
        return key in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)
