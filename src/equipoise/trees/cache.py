# SPDX-License-Identifier: Apache-2.0
"""History trees kept on disk, so that a game that takes long to enumerate is enumerated once.

The key is the game's name, parameters and version and the version of the tree's arrays. Only the games of this package
are kept: they raise their version when their rules change, which a game under development does not. A file that cannot
be read is built again, a directory that cannot be written is no error: the cache saves time and does nothing else.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import os
import time
from pathlib import Path
from typing import Any, Final

from equipoise.core import checkpoint
from equipoise.core.checkpoint import Kind
from equipoise.core.errors import CheckpointError
from equipoise.games.base import Game
from equipoise.trees.history import DEFAULT_MAX_HISTORIES, HistoryTree, OnProgress, build_history_tree

__all__ = ["default_cache_directory", "load_or_build_history_tree"]

TREE_FORMAT_VERSION: Final = 2  # raised whenever the meaning of a tree's arrays changes
MIN_BUILD_SECONDS: Final = 1.0  # trees that build faster are not worth a file
MAX_CACHE_BYTES: Final = 4_000_000_000  # beyond it the files used longest ago go
OWN_GAMES: Final = "equipoise.games."
ENVIRONMENT_VARIABLE: Final = "EQUIPOISE_CACHE"


def default_cache_directory() -> Path | None:
    """Returns where trees are kept: `EQUIPOISE_CACHE` (`off`: nowhere), else `equipoise` in the user's cache."""
    override = os.environ.get(ENVIRONMENT_VARIABLE, "")
    if override:
        return None if override.lower() == "off" else Path(override).expanduser()
    base = os.environ.get("XDG_CACHE_HOME", "")
    with contextlib.suppress(RuntimeError):  # a user without a home has no cache
        return (Path(base) if base else Path.home() / ".cache") / "equipoise"
    return None


def load_or_build_history_tree(
    game: Game[Any],
    *,
    max_histories: int = DEFAULT_MAX_HISTORIES,
    on_progress: OnProgress | None = None,
    directory: Path | None = None,
    min_build_seconds: float = MIN_BUILD_SECONDS,
) -> HistoryTree:
    """Returns the tree of a game from the cache if it is there, else builds it and keeps it if that took long.

    Args:
        game: rules with perfect recall.
        max_histories: a larger tree is refused with `GameTooLargeError`, cached or not.
        on_progress: called now and then while building.
        directory: where trees are kept; `default_cache_directory()` if None.
        min_build_seconds: trees that build faster are not kept.
    """
    directory = directory or default_cache_directory()
    if directory is None or not type(game).__module__.startswith(OWN_GAMES):
        return build_history_tree(game, max_histories=max_histories, on_progress=on_progress)
    identity = _identity(game)
    path = directory / _file_name(identity)
    tree = _read(path, identity)
    if tree is not None and tree.actor.size <= max_histories:
        return tree
    began = time.perf_counter()
    tree = build_history_tree(game, max_histories=max_histories, on_progress=on_progress)
    if time.perf_counter() - began >= min_build_seconds:
        _keep(path, identity, tree)
    return tree


def _identity(game: Game[Any]) -> dict[str, Any]:
    """Returns all that decides what a game's tree is."""
    kind = type(game)
    return {
        "game": game.spec.label,
        "game_version": game.spec.version,
        "game_class": f"{kind.__module__}.{kind.__qualname__}",
        "tree_format_version": TREE_FORMAT_VERSION,
        "fields": sorted(field.name for field in dataclasses.fields(HistoryTree)),
    }


def _file_name(identity: dict[str, Any]) -> str:
    digest = hashlib.sha256(repr(sorted(identity.items())).encode()).hexdigest()
    name = "".join(letter if letter.isalnum() else "-" for letter in identity["game"].partition("(")[0])
    return f"{name[:40]}-{digest[:20]}.tree"


def _read(path: Path, identity: dict[str, Any]) -> HistoryTree | None:
    """Returns the tree of a file, or None if there is no sound file of exactly this game."""
    try:
        content = checkpoint.load(path, Kind.TREE)
    except CheckpointError:
        return None
    scalars = content.metadata.pop("scalars", {})
    if content.metadata != identity:
        return None
    with contextlib.suppress(OSError):
        os.utime(path)  # the files used longest ago are the first to go
    fields: dict[str, Any] = {**scalars, **content.arrays, **content.strings}
    return HistoryTree(**fields)


def _keep(path: Path, identity: dict[str, Any], tree: HistoryTree) -> None:
    """Saves a tree if the directory allows it, and makes room for it."""
    values = {field.name: getattr(tree, field.name) for field in dataclasses.fields(tree)}
    scalars = {name: value for name, value in values.items() if isinstance(value, bool | int | float | str)}
    content = {name: value for name, value in values.items() if name not in scalars}
    with contextlib.suppress(OSError, CheckpointError):
        path.parent.mkdir(parents=True, exist_ok=True)
        checkpoint.save(path, Kind.TREE, {**identity, "scalars": scalars}, content)
        _evict(path)


def _evict(newest: Path) -> None:
    """Removes the trees used longest ago until the rest fit, the newest excepted."""
    files = sorted(newest.parent.glob("*.tree"), key=lambda file: file.stat().st_mtime, reverse=True)
    total = newest.stat().st_size
    for file in files:
        if file == newest:
            continue
        total += file.stat().st_size
        if total > MAX_CACHE_BYTES:
            file.unlink(missing_ok=True)
