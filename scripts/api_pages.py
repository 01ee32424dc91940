# SPDX-License-Identifier: Apache-2.0
"""The sources of the API reference: a page for every room that says what is public, and one for every public name.

What is public is what `__all__` of `equipoise` and of its rooms lists. A name that is exported twice has one page, the
first one's; both rooms list it. Text comes from docstrings, which Sphinx reads when it builds the pages.
"""

from __future__ import annotations

import enum
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import equipoise

__all__ = [
    "PublicName",
    "adapt_docstring",
    "find_public_names",
    "hide_colons",
    "list_names",
    "show_colons",
    "write_api_pages",
]

PAPER_FIELD = re.compile(r"( *)(Paper|Symbols|Departs from the paper|Checked by): ")  # of an algorithm's docstring
HIDDEN_COLON = "\ue000"  # a sign that no text has


class PublicName(NamedTuple):
    """A name that a room exports."""

    room: str
    name: str
    value: Any
    home: str  # the full name under which it is documented

    @property
    def has_own_page(self) -> bool:
        """Returns whether the page of the name belongs to this room: not if a room above has it, or if it is a room."""
        return self.home == f"{self.room}.{self.name}" and not isinstance(self.value, ModuleType)


def find_public_names() -> list[PublicName]:
    """Returns everything that is public, room after room, the package itself first."""
    homes: dict[int, str] = {}
    found = []
    for module in _public_modules():
        for name in sorted(module.__all__, key=lambda name: (name.lower(), name)):
            value = getattr(module, name)
            own = f"{module.__name__}.{name}"
            # numbers and texts are one object wherever they come from: only what knows its module is known again
            home = homes.setdefault(id(value), own) if hasattr(value, "__module__") else own
            found.append(PublicName(module.__name__, name, value, home))
    return found


def _public_modules() -> Iterator[ModuleType]:
    yield equipoise
    for room in pkgutil.iter_modules(equipoise.__path__, "equipoise."):
        if room.ispkg and hasattr(module := importlib.import_module(room.name), "__all__"):
            yield module


def write_api_pages(folder: Path) -> None:
    """Writes the sources of the reference; removes pages of what is public no longer, leaves those that stay alone."""
    names = find_public_names()
    rooms = list(dict.fromkeys(public.room for public in names))
    pages = {f"{public.home}.rst": _format_name(public) for public in names if public.has_own_page}
    for room in rooms:
        pages[f"{room}.rst"] = _format_room(room, [public for public in names if public.room == room])
    pages["index.rst"] = _format_index(rooms)
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.glob("*.rst"):
        if path.name not in pages:
            path.unlink()
    for name, text in pages.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf8") != text:
            path.write_text(text, encoding="utf8")


def _format_index(rooms: list[str]) -> str:
    lines = [*_heading("Python reference"), "What ``equipoise`` and its rooms export. Everything else may change.", ""]
    lines += [".. list-table::", "   :widths: 30 70", ""]
    for room in rooms:
        lines += [f"   * - :py:mod:`{room}`", f"     - {_first_line(importlib.import_module(room))}"]
    return "\n".join([*lines, "", ".. toctree::", "   :hidden:", "", *(f"   {room}" for room in rooms), ""])


def _format_room(room: str, names: list[PublicName]) -> str:
    lines = [*_heading(room), f".. automodule:: {room}", "   :no-members:", ""]
    lines += [".. list-table::", "   :widths: 30 70", ""]
    for public in names:
        role = ":py:mod:" if isinstance(public.value, ModuleType) else ":py:obj:"
        lines += [f"   * - {role}`{public.name} <{public.home}>`", f"     - {_first_line(public.value)}"]
    own = [f"   {public.home}" for public in names if public.has_own_page]
    return "\n".join([*lines, "", ".. toctree::", "   :hidden:", "", *own, ""])


def _format_name(public: PublicName) -> str:
    lines = _heading(public.name)
    if isinstance(public.value, type):
        lines += [f".. autoclass:: {public.home}", "   :members:", "   :show-inheritance:"]
        lines += ["   :undoc-members:"] if issubclass(public.value, enum.Enum) else []
    elif inspect.isroutine(public.value):
        lines += [f".. autofunction:: {public.home}"]
    else:
        lines += [f".. autodata:: {public.home}"]
        lines += ["   :no-value:"] if isinstance(public.value, Mapping) else []
    return "\n".join([*lines, ""])


def _heading(text: str) -> list[str]:
    return [text, "=" * len(text), ""]


def _first_line(value: Any) -> str:
    """Returns the first line of what something says of itself; a plain value says nothing but its type's."""
    if isinstance(value, Mapping):
        return list_names(value)
    if not isinstance(value, type | ModuleType) and not inspect.isroutine(value):
        return f"``{value!r}``"
    lines = [(inspect.getdoc(value) or "").partition("\n")[0]]
    adapt_docstring(lines)
    return lines[0]


def list_names(table: Mapping[str, Any]) -> str:
    """Returns what a table has by name, whose own docstring is that of all dictionaries."""
    return f"What there is by name: {', '.join(f'`{name}`' for name in table)}."


def adapt_docstring(lines: list[str]) -> None:
    """Turns a docstring as this project writes them into reStructuredText, in place.

    Blocks that cite papers become lists of fields, and signs that mean something to reStructuredText are taken at their
    face value outside of code. Sections (`Args:` and so on) are left for others to read.
    """
    is_code = is_example = False  # behind a `::`; from a prompt to the next empty line
    for index, line in enumerate(lines):
        is_code = is_code and (not line.strip() or line.startswith(" "))
        is_example = bool(line.strip()) and (is_example or line.lstrip().startswith(">>>"))
        if is_code or is_example:
            continue
        is_code = line.endswith("::")
        lines[index] = _escape(PAPER_FIELD.sub(r"\1:\2: ", line))


def hide_colons(lines: list[str]) -> None:
    """Hides the colons of an attribute's first line, of which napoleon would make a type and a text; in place."""
    lines[:1] = [line.replace(":", HIDDEN_COLON) for line in lines[:1]]


def show_colons(lines: list[str]) -> None:
    """Puts colons back that were hidden, in place."""
    lines[:] = [line.replace(HIDDEN_COLON, ":") for line in lines]


def _escape(line: str) -> str:
    """Returns a line with what is not between backticks free of marks: stars, bars, underscores that end words."""
    parts = re.split(r"(`+[^`]*`+)", line)
    parts[::2] = [re.sub(r"[*|]|_\b|(?<=\w)_(?!\w)", r"\\\g<0>", part) for part in parts[::2]]
    return "".join(parts)
