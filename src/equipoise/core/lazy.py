# SPDX-License-Identifier: Apache-2.0
"""Names that are loaded when they are first used, so that a program begins before all that it could do is read.

A package says each name twice and in plain sight: imported below `if TYPE_CHECKING:`, where type checkers and editors
find it, and in `__all__`. Where a name comes from is read from the former when the first name is asked for.
"""

from __future__ import annotations

import ast
import functools
import importlib
import importlib.util
import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

__all__ = ["LazyTable", "lazy_names"]

DOCSTRING: Final = r'^class {name}(?:\([^)]*\))?:\n    """([^"\n]+)'  # its first line, where it is written as usual


def lazy_names(package: str, names: Sequence[str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Returns the `__getattr__` and the `__dir__` of a package.

    Args:
        package: its `__name__`.
        names: its `__all__`, all that `dir` shows.

    >>> import equipoise.core
    >>> equipoise.core.Progress.__module__
    'equipoise.core.progress'
    """

    @functools.cache
    def find_homes() -> dict[str, tuple[str, str]]:
        return _find_homes(package)

    def load(name: str) -> Any:
        home, own_name = find_homes().get(name, ("", "")) if not name.startswith("__") else ("", "")
        if not home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if home == package:  # a package of its own within
            return importlib.import_module(f"{package}.{own_name}")
        value = getattr(importlib.import_module(home), own_name)
        setattr(sys.modules[package], name, value)
        return value

    return load, lambda: sorted(names)


def _find_homes(package: str) -> dict[str, tuple[str, str]]:
    """Returns module and name of everything that a package imports for type checkers."""
    loader: Any = sys.modules[package].__loader__
    found: dict[str, tuple[str, str]] = {}
    for statement in ast.parse(loader.get_source(package)).body:
        if not (isinstance(statement, ast.If) and getattr(statement.test, "id", None) == "TYPE_CHECKING"):
            continue
        for line in statement.body:
            if isinstance(line, ast.ImportFrom) and line.module is not None:
                found |= {alias.asname or alias.name: (line.module, alias.name) for alias in line.names}
    return found


class LazyTable(Mapping[str, Any]):
    """A table of things by name, each loaded when it is first asked for; to list the names costs nothing."""

    def __init__(self, places: Mapping[str, str]) -> None:
        """Begins a table of things that are at `module:name`."""
        self._places = places

    def __getitem__(self, key: str) -> Any:
        module, _, name = self._places[key].partition(":")
        return getattr(importlib.import_module(module), name)

    def describe(self, key: str) -> str:
        """Returns the first line of what a class says of itself, read from its source: the class is not loaded."""
        module, _, name = self._places[key].partition(":")
        loader: Any = getattr(importlib.util.find_spec(module), "loader", None)
        source = loader.get_source(module) if hasattr(loader, "get_source") else None
        found = re.search(DOCSTRING.format(name=re.escape(name)), source or "", re.MULTILINE)
        return found[1] if found else (inspect.getdoc(self[key]) or "").partition("\n")[0]

    def __contains__(self, key: object) -> bool:
        return key in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)
