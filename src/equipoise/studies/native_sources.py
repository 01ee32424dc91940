# SPDX-License-Identifier: Apache-2.0
"""Which files of the native core stand behind a name that Python asks of it; for `studies.sources`.

A name is bound where its text stands as the name of a function, a class or an attribute. Behind it stand that file and
all that it includes of ours, each as a whole: two functions that one file binds are not told apart, and neither are two
of one header. A name that is bound nowhere to be seen has the whole core behind it.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Final

from equipoise.studies.definitions import PACKAGE, WHOLE, hash_text

__all__ = ["NATIVE", "find_native"]

NATIVE: Final = f"{PACKAGE}._native"
ROOM: Final = "native/"
BOUND: Final = re.compile(r'(?<!arg\()"(\w+)"')  # a text that may be the name of something bound
INCLUDED: Final = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def find_native(name: str, sources: Mapping[str, str]) -> dict[str, str]:
    """Returns hashes of the files behind a name by their paths; of all files where no file binds it.

    Args:
        name: as Python asks for it; with `WHOLE` at its end, all names that begin so.
        sources: texts by path, among others.

    >>> sources = {"native/a.cpp": 'module.def("add", add);', "native/b.cpp": 'module.def("cut", cut);'}
    >>> list(find_native("cut", sources)), list(find_native("less", sources))
    (['native/b.cpp'], ['native/a.cpp', 'native/b.cpp'])
    """
    files = {path: text for path, text in sorted(sources.items()) if path.startswith(ROOM)}
    waiting = [path for path, text in files.items() if path.endswith(".cpp") and _binds(text, name)]
    found: set[str] = set()
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            inner = (f"{ROOM}{included}" for included in INCLUDED.findall(files[path]))
            waiting += (path for path in inner if path in files)
    return {path: _hash_file(text) for path, text in files.items() if path in found or not found}


def _binds(text: str, name: str) -> bool:
    if name == WHOLE:
        return False
    given = _list_names(text)
    return any(one.startswith(name[:-1]) for one in given) if name.endswith(WHOLE) else name in given


@functools.cache
def _list_names(text: str) -> frozenset[str]:
    return frozenset(BOUND.findall(text))


@functools.cache
def _hash_file(text: str) -> str:
    """Returns the hash of the lines that are not empty and not comments."""
    kept = "\n".join(line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("//"))
    return hash_text(kept)
