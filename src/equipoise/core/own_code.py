# SPDX-License-Identifier: Apache-2.0
"""Classes of users by name: `module:Class` or `file.py:Class`, with what is wrong said in one line.

Files are imported under their own name with their folder on the path, so that a class in them can be sent to other
processes and may import what lies beside it. What the class must be is the business of whoever asks for it.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import importlib.util
import os
import re
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, Final, TypeVar

from equipoise.core.errors import ConfigError, EquipoiseError, UnknownNameError
from equipoise.core.files import describe_os_error

__all__ = [
    "ClassText",
    "call_own",
    "describe_exception",
    "find_own_line",
    "find_text",
    "load_class",
    "parse_class_text",
]

PATTERN: Final = re.compile(
    r"(?P<where>.+?\.py|[A-Za-z_]\w*(\.[A-Za-z_]\w*)*):(?P<name>[A-Za-z_][\w.]*)(?P<rest>[(:].*)?", re.DOTALL
)
MAIN: Final = "__main__"

Made = TypeVar("Made")

_files: dict[str, tuple[Path, tuple[int, int]]] = {}  # by name of module: the file, its time and size when it was read
_folders: list[str] = []  # that were put on the path


@dataclasses.dataclass(frozen=True, slots=True)
class ClassText:
    """A user's class as it is typed."""

    where: str  # a file that ends in .py, or a module
    name: str
    rest: str  # what stands behind the name, beginning with a parenthesis or a colon

    def __str__(self) -> str:
        return f"{self.where}:{self.name}"

    @property
    def is_file(self) -> bool:
        """Returns whether a file is named, not a module."""
        return self.where.endswith(".py")

    @property
    def can_be_found(self) -> bool:
        """Returns whether there is such a file or module, of which nothing is run."""
        if self.is_file:
            return os.path.isfile(self.where)
        _look_in(os.getcwd())
        try:
            return importlib.util.find_spec(self.where.partition(".")[0]) is not None
        except (ImportError, ValueError):
            return False


def parse_class_text(text: str) -> ClassText | None:
    """Returns the parts of a text that may name a user's class, None if it cannot.

    >>> parse_class_text("games/mine.py:Coin(cards=3)")
    ClassText(where='games/mine.py', name='Coin', rest='(cards=3)')
    >>> parse_class_text("leduc(ranks=4)") is None
    True
    """
    match = PATTERN.fullmatch(text.strip())
    return None if match is None else ClassText(match["where"], match["name"], match["rest"] or "")


def load_class(text: ClassText) -> type[Any]:
    """Returns the class that a text names; raises `ConfigError` saying what is missing, or what its module raised."""
    module = _load_file(Path(text.where)) if text.is_file else _load_module(text.where)
    found: Any = module
    for part in text.name.split("."):
        found = getattr(found, part, None)
    if found is None:
        known = [name for name, value in vars(module).items() if _is_own(value, module)]
        if not known:
            raise ConfigError(f"{text.where} has no class {text.name!r}, and no other either")
        raise UnknownNameError(f"class of {text.where}", text.name, known)
    if not isinstance(found, type):
        raise ConfigError(f"{text} must be a class, got {type(found).__name__} {text.name}")
    return found


def call_own(what: str, function: Callable[[], Made]) -> Made:
    """Returns what a user's code returns; raises `ConfigError` if that code raises anything but an error of ours.

    Args:
        what: the code, for the message: "the constructor of mine.py:Coin".
        function: calls it.
    """
    try:
        return function()
    except EquipoiseError:
        raise
    except Exception as error:
        raise ConfigError(f"{what} raised {describe_exception(error)}") from error


def find_text(kind: type[Any]) -> str | None:
    """Returns the text by which `load_class` finds a class again; None where it cannot: scripts, classes in functions.

    >>> from fractions import Fraction
    >>> find_text(Fraction)
    'fractions:Fraction'
    """
    if kind.__module__ == MAIN or "<locals>" in kind.__qualname__:
        return None
    where = str(_files[kind.__module__][0]) if kind.__module__ in _files else kind.__module__
    return f"{where}:{kind.__qualname__}"


def describe_exception(error: BaseException) -> str:
    """Returns an exception in one line, with the line of the user's file that raised it where one did."""
    where = find_own_line(error)
    said = " ".join(str(error.msg if isinstance(error, SyntaxError) and where else error).split())
    return f"{type(error).__name__}{f': {said}' if said else ''}{f' ({where})' if where else ''}"


def find_own_line(error: BaseException) -> str | None:
    """Returns the innermost line of a user's file that an exception came through, None if it came through none."""
    files = {str(path): path.name for path, _ in _files.values()}
    if isinstance(error, SyntaxError) and error.filename in files:
        return f"{files[error.filename]}, line {error.lineno}"
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if frame.filename in files:
            return f"{files[frame.filename]}, line {frame.lineno}"
    return None


def _load_file(given: Path) -> ModuleType:
    """Returns a file as a module under its own name; it is run again only if it has changed."""
    path = given.resolve()
    try:
        status = path.stat()
    except OSError as error:
        raise ConfigError(f"cannot read {given}: {describe_os_error(error)}") from None
    if not path.is_file():
        raise ConfigError(f"cannot read {given}: it is not a file")
    name, stamp = path.stem, (status.st_mtime_ns, status.st_size)
    if _files.get(name) == (path, stamp) and name in sys.modules:
        return sys.modules[name]
    if name not in _files:
        _check_free(name, path, given)
    _look_in(str(path.parent))
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    loader = spec.loader
    assert loader is not None
    module = importlib.util.module_from_spec(spec)
    _files[name], sys.modules[name] = (path, stamp), module  # before it runs: its dataclasses look themselves up
    try:
        _run(str(given), functools.partial(loader.exec_module, module))
    except ConfigError:
        del _files[name], sys.modules[name]
        raise
    return module


def _load_module(name: str) -> ModuleType:
    _look_in(os.getcwd())
    try:
        return _run(f"module {name}", lambda: importlib.import_module(name))
    except ConfigError as error:
        missing = error.__cause__
        if isinstance(missing, ModuleNotFoundError) and missing.name and f"{name}.".startswith(f"{missing.name}."):
            raise ConfigError(
                f"there is no module {missing.name!r} here or installed; a file is written path/to/file.py:Class"
            ) from None
        raise


def _run(what: str, function: Callable[[], Made]) -> Made:
    """Returns what running a module returns; raises `ConfigError` whatever ends it."""
    try:
        return function()
    except (Exception, SystemExit) as error:
        raise ConfigError(f"{what} cannot be imported: {describe_exception(error)}") from error


def _check_free(name: str, path: Path, given: Path) -> None:
    """Raises if a file has the name of another module: in other processes that one would be imported."""
    try:
        known = sys.modules[name].__spec__ if name in sys.modules else importlib.util.find_spec(name)
    except (ImportError, ValueError):
        known = None
    if (known is not None or name in sys.modules) and (known is None or known.origin != str(path)):
        raise ConfigError(f"{given} has the name of another module, {name}: call the file something else")


def _look_in(folder: str) -> None:
    """Puts a folder on the path, behind all that was there and before other folders of users."""
    if folder in sys.path and folder not in _folders:
        return
    if folder in _folders:
        _folders.remove(folder)
        sys.path.remove(folder)
    places = [sys.path.index(known) for known in _folders if known in sys.path]
    sys.path.insert(min(places, default=len(sys.path)), folder)
    _folders.append(folder)


def _is_own(value: object, module: ModuleType) -> bool:
    return isinstance(value, type) and value.__module__ == module.__name__
