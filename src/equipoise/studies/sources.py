# SPDX-License-Identifier: Apache-2.0
"""Which modules a study measures with, and a hash of them: a stored result is run again when that has changed.

Modules are found by reading: what the study's module imports, what those import, and so on, inside of functions too,
without what only type checkers see. Of the games, which are loaded by name, those count whose names stand in the
configuration or in a module of studies. The native core counts as one. Comments and docstrings count for nothing;
neither do modules that only show (`SHOWING`), data files, and the packages that are installed beside this one.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import io
import json
import re
import subprocess
import tarfile
import tokenize
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from equipoise.core.provenance import find_root

__all__ = ["NATIVE", "Sources", "describe_changes", "hash_modules", "read_commit", "read_sources"]

Sources = Mapping[str, str]  # text by module name, and by path what is native

PACKAGE: Final = "equipoise"
NATIVE: Final = f"{PACKAGE}._native"
REGISTRY: Final = f"{PACKAGE}.studies.registry"
CATALOGUE: Final = f"{PACKAGE}.games.catalogue"
SHOWING: Final = frozenset(
    f"{PACKAGE}.{name}"
    for name in (
        "core.formatting",
        "core.lazy",
        "core.machine",
        "core.markup",
        "core.progress",
        "core.provenance",
        "core.reporting",
        "evaluation.plots",
    )
)
LENGTH: Final = 16  # letters of a hash
LOADED: Final = re.compile(r'"([^"]+)":\s*"(equipoise[\w.]*):\w+"')  # a line of a table of names


class _Module(NamedTuple):
    """What a module's text says."""

    imports: tuple[tuple[str, tuple[str, ...]], ...]  # modules, with the names that are taken from them
    homes: Mapping[str, str]  # of names that a package loads when they are asked for
    words: frozenset[str]  # of its texts
    digest: str


def hash_modules(study: str, configuration: Mapping[str, Any], sources: Sources) -> str | None:
    """Returns a hash of all that a study measures with, None where the sources have no such study.

    Args:
        study: its name.
        configuration: as the result has it.
        sources: of the commit that it ran at.
    """
    found = _find_digests(study, configuration, sources)
    return None if found is None else _hash("\n".join(f"{name} {digest}" for name, digest in sorted(found.items())))


def describe_changes(study: str, configuration: Mapping[str, Any], before: Sources, now: Sources) -> list[str]:
    """Returns the modules that a study measures with in which two sources differ, in order."""
    then, today = (_find_digests(study, configuration, sources) or {} for sources in (before, now))
    return sorted(name for name in then.keys() | today.keys() if then.get(name) != today.get(name))


@functools.cache
def read_sources() -> Sources | None:
    """Returns the sources of the checkout that this code runs from, None outside of one."""
    root = find_root()
    if root is None:
        return None
    paths = [*(root / "src" / PACKAGE).rglob("*.py"), *(root / "native").rglob("*.?pp")]
    return {_name_source(path.relative_to(root).as_posix()): path.read_text(encoding="utf8") for path in paths}


def read_commit(root: Path, commit: str) -> Sources | None:
    """Returns the sources of a commit, None where there is none such."""
    command = ["git", "-C", str(root), "archive", commit, f"src/{PACKAGE}", "native"]
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode != 0:
        return None
    found = {}
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        for member in archive:
            file = archive.extractfile(member) if re.search(r"\.(py|.pp)$", member.name) else None
            if file is not None:
                found[_name_source(member.name)] = file.read().decode()
    return found


def _name_source(path: str) -> str:
    """Returns the name of a module, of other files the path.

    >>> _name_source("src/equipoise/games/__init__.py"), _name_source("native/sweep.cpp")
    ('equipoise.games', 'native/sweep.cpp')
    """
    if not path.endswith(".py"):
        return path
    return path.removeprefix("src/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _find_digests(study: str, configuration: Mapping[str, Any], sources: Sources) -> dict[str, str] | None:
    """Returns the hash of every module that a study measures with."""
    home = _find_home(study, sources)
    if home is None:
        return None
    games = dict(LOADED.findall(sources.get(CATALOGUE, "")))
    words = set(_find_words(json.dumps(configuration)))
    found: dict[str, str] = {}
    waiting = [home]
    while waiting:
        name = waiting.pop()
        if name in found or name in SHOWING or name == REGISTRY:
            continue
        if name == NATIVE:
            found[name] = _hash_native(sources)
        elif name in sources:
            module = _scan(sources[name])
            found[name] = module.digest
            waiting += _follow(module, sources)
            if name.startswith(f"{PACKAGE}.studies."):
                words |= module.words
        if not waiting and CATALOGUE in found:  # names may have come last
            waiting += (game for word, game in games.items() if word in words and game not in found)
    return found


def _find_home(study: str, sources: Sources) -> str | None:
    """Returns the module of a study: by the table of studies, or, before there was one, where its name is given."""
    home = dict(LOADED.findall(sources.get(REGISTRY, ""))).get(study)
    if home is not None:
        return home if home in sources else None
    given = f'name="{study}"'
    rooms = (name for name in sources if name.startswith(f"{PACKAGE}.studies.") and name != REGISTRY)
    return next((name for name in sorted(rooms) if given in sources[name]), None)


def _follow(module: _Module, sources: Sources) -> Iterator[str]:
    """Yields the modules from which a module takes something."""
    for name, taken in module.imports:
        within = [part for part in taken if f"{name}.{part}" in sources or f"{name}.{part}" == NATIVE]
        yield from (f"{name}.{part}" for part in within)
        homes = _scan(sources[name]).homes if name in sources else {}
        yield from (homes[part] for part in taken if part in homes and part not in within)
        if not taken or any(part not in homes and part not in within for part in taken):
            yield name


@functools.cache
def _scan(text: str) -> _Module:
    tree = ast.parse(text)
    homes: dict[str, str] = {}
    imports: list[tuple[str, tuple[str, ...]]] = []
    words: set[str] = set()
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and getattr(node.test, "id", None) == "TYPE_CHECKING":
            for part in node.body:
                if isinstance(part, ast.ImportFrom) and part.module:
                    homes |= {alias.asname or alias.name: part.module for alias in part.names}
            waiting += node.orelse
            continue
        if isinstance(node, ast.Import):
            imports += ((alias.name, ()) for alias in node.names if _is_ours(alias.name))
        elif isinstance(node, ast.ImportFrom) and _is_ours(node.module or ""):
            imports.append((str(node.module), tuple(alias.name for alias in node.names)))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            words.update(_find_words(node.value))
        waiting += ast.iter_child_nodes(node)
    return _Module(tuple(imports), homes, frozenset(words), _hash(_strip(text, tree)))


def _is_ours(name: str) -> bool:
    return name == PACKAGE or name.startswith(f"{PACKAGE}.")


def _find_words(text: str) -> list[str]:
    return re.findall(r"[A-Za-z_]\w*", text)


def _strip(text: str, tree: ast.Module) -> str:
    """Returns a module's text without comments, docstrings and empty lines."""
    lines = text.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.body:
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(getattr(first.value, "value", None), str):
                lines[first.lineno - 1 : first.end_lineno] = [""] * (int(first.end_lineno or 0) - first.lineno + 1)
    return "\n".join(line.rstrip() for line in lines if line.strip())


def _hash_native(sources: Sources) -> str:
    """Returns the hash of the native core, lines of comments left out."""
    kept = []
    for path in sorted(name for name in sources if name.startswith("native/")):
        kept += [path, *(line for line in sources[path].splitlines() if line.strip() and not _is_comment(line))]
    return _hash("\n".join(kept))


def _is_comment(line: str) -> bool:
    return line.lstrip().startswith("//")


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:LENGTH]
