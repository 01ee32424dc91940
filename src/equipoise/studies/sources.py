# SPDX-License-Identifier: Apache-2.0
"""What a study measures with, and a hash of it: a stored result is run again when that has changed.

It is found by reading: the study's definition, the functions, classes and constants that it names, those that these
name, and so on, in whatever module they are; of each module so reached also what runs when it is imported. A class
counts whole. Of the games, which are loaded by name, those count whose names stand in the configuration or in what
the room of studies defines. Of the native core those files count that bind the names that are asked of it, with the
headers that they include, each as a whole (`native_sources`).

It does not see: what importing does in modules of which nothing is named; names that are put together at run time, but
for those of the native core; how the core is compiled; data files; the packages beside this one. Comments and
docstrings count for nothing, neither do modules that only show or refuse (`APART`).
"""

from __future__ import annotations

import functools
import io
import json
import re
import subprocess
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from equipoise.core.provenance import find_root
from equipoise.studies.definitions import BODY, PACKAGE, WHOLE, ModuleText, Use, hash_text, scan_module
from equipoise.studies.native_sources import NATIVE, find_native

__all__ = ["NATIVE", "Sources", "describe_changes", "hash_modules", "read_commit", "read_sources"]

Sources = Mapping[str, str]  # text by module name, and by path what is native
Place = tuple[str, str]  # a module, and a name of it

REGISTRY: Final = f"{PACKAGE}.studies.registry"
CATALOGUE: Final = f"{PACKAGE}.games.catalogue"
APART: Final = frozenset(
    f"{PACKAGE}.{name}"
    for name in (
        "core.checks",
        "core.errors",
        "core.formatting",
        "core.lazy",
        "core.machine",
        "core.markup",
        "core.memory",
        "core.progress",
        "core.provenance",
        "core.reporting",
        "evaluation.plots",
    )
)
LOADED: Final = re.compile(r'"([^"]+)":\s*"(equipoise[\w.]*):(\w+)"')  # a line of a table of names


def hash_modules(study: str, configuration: Mapping[str, Any], sources: Sources) -> str | None:
    """Returns a hash of all that a study measures with, None where the sources have no such study.

    Args:
        study: its name.
        configuration: as the result has it.
        sources: of the commit that it ran at.
    """
    found = _find_digests(study, configuration, sources)
    return None if found is None else hash_text("\n".join(f"{name} {digest}" for name, digest in sorted(found.items())))


def describe_changes(study: str, configuration: Mapping[str, Any], before: Sources, now: Sources) -> list[str]:
    """Returns what a study measures with in which two sources differ: definitions and native files, in order."""
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
    """Returns the hash of every definition and native file that a study measures with."""
    home = _find_home(study, sources)
    if home is None:
        return None
    games = {name: (module, made) for name, module, made in LOADED.findall(sources.get(CATALOGUE, ""))}
    words = set(_find_words(json.dumps(configuration)))
    found: dict[str, str] = {}
    waiting: list[Place] = [home]
    later: list[tuple[Place, Use]] = []  # uses of what holds under conditions
    asked: set[Place] = set()
    while waiting:
        place = waiting.pop()
        if place not in asked and place[0] not in APART and place[0] != REGISTRY:
            asked.add(place)
            if place[0] == NATIVE:
                found |= find_native(place[1], sources)
            elif place[0] in sources:
                module = scan_module(sources[place[0]])
                for name in _open(place, module, sources, waiting):
                    asked.add((place[0], name))
                    definition = module.definitions[name]
                    found[f"{place[0]}.{name}"] = definition.digest
                    later += ((place, use) for use in definition.uses)
                    words |= definition.words if place[0].startswith(f"{PACKAGE}.studies.") else frozenset()
        if not waiting:  # conditions may be met by what came last
            later = _settle(later, asked, sources, waiting)
        if not waiting and any(module == CATALOGUE for module, _ in asked):  # so may names
            waiting += (game for word, game in games.items() if word in words and game not in asked)
    return found


def _settle(
    later: list[tuple[Place, Use]], asked: set[Place], sources: Sources, waiting: list[Place]
) -> list[tuple[Place, Use]]:
    """Adds to `waiting` what is used under conditions that are met, and returns the other uses."""
    unmet = []
    for place, use in later:
        if all(any(_is_there(place, chain, asked, sources) for chain in group) for group in use.given):
            waiting += _resolve(place[0], use, scan_module(sources[place[0]]), sources)
        else:
            unmet.append((place, use))
    return unmet


def _is_there(place: Place, chain: tuple[str, ...], asked: set[Place], sources: Sources) -> bool:
    """Returns whether there may be values of a class: true of one that is not known to be a class of ours."""
    module = scan_module(sources[place[0]])
    homes = list(_resolve(place[0], Use(chain[0], chain[1:]), module, sources))
    known = [home for home in homes if home[0] in sources and home[1] in scan_module(sources[home[0]]).classes]
    return not homes or len(known) < len(homes) or any(home in asked for home in known)


def _open(place: Place, module: ModuleText, sources: Sources, waiting: list[Place]) -> list[str]:
    """Returns which of a module's definitions are meant; adds to `waiting` where else there is something of it."""
    name, asked = place
    if asked == BODY:
        waiting += ((needed, WHOLE) for needed in module.needed)
        return [BODY]
    waiting.append((name, BODY))
    if asked in module.definitions:
        return [asked]
    if asked in module.imports:
        waiting += (_enter(target, sources) for target in module.imports[asked])
    elif asked in module.homes:
        waiting.append((module.homes[asked], asked))
    else:  # the module itself, or a name that it makes in some other way
        return list(module.definitions)
    return []


def _resolve(here: str, use: Use, module: ModuleText, sources: Sources) -> Iterator[Place]:
    """Yields what a name that a module's definition mentions stands for."""
    if use.name in module.definitions:
        yield here, use.name
    for target in module.imports.get(use.name, ()):
        home, name = _enter(target, sources)
        for attribute in use.attributes:
            if name != WHOLE:
                break
            home, name = _enter((home, attribute), sources)
        yield home, f"{use.prefix}{WHOLE}" if use.prefix else name


def _enter(target: Place, sources: Sources) -> Place:
    """Returns where something imported is: `WHOLE` of a module if it is one."""
    home, name = target
    inner = f"{home}.{name}" if name else home
    return (inner, WHOLE) if inner in sources or inner == NATIVE else target


def _find_home(study: str, sources: Sources) -> Place | None:
    """Returns where a study is: by the table of studies, or, before there was one, the module that gives its name."""
    table = {name: (module, made) for name, module, made in LOADED.findall(sources.get(REGISTRY, ""))}
    if study in table:
        return table[study] if table[study][0] in sources else None
    given = f'name="{study}"'
    rooms = (name for name in sources if name.startswith(f"{PACKAGE}.studies.") and name != REGISTRY)
    return next(((name, WHOLE) for name in sorted(rooms) if given in sources[name]), None)


def _find_words(text: str) -> list[str]:
    return re.findall(r"[A-Za-z_]\w*", text)
