# SPDX-License-Identifier: Apache-2.0
"""Trees kept on disk, so that a game that takes long to enumerate is enumerated once.

The key is the game's name, parameters and version and the version of the tree's arrays. Only the games of this package
are kept: they raise their version when their rules change, which a game under development does not. Where files are
kept and when they go is the business of core/cache.py.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any, Final

import numpy as np

from equipoise.core.cache import MIN_BUILD_SECONDS, CacheFile, Parts
from equipoise.core.checkpoint import Kind
from equipoise.games.base import Game, check_given_game
from equipoise.games.public import HasPublicForm
from equipoise.kernels.public import Cells, TerminalGroups
from equipoise.trees.derive import derive_public_game
from equipoise.trees.history import DEFAULT_MAX_HISTORIES, HistoryTree, OnProgress, build_history_tree
from equipoise.trees.public import PublicTree, build_public_tree

__all__ = ["load_or_build_history_tree", "load_or_build_public_tree"]

TREE_FORMAT_VERSION: Final = 2  # raised whenever the meaning of a history tree's arrays changes
PUBLIC_TREE_FORMAT_VERSION: Final = 2  # likewise for public trees
DERIVING_SHARE: Final = 0.9  # of the time that building a public tree takes
OWN_GAMES: Final = "equipoise.games."


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

    >>> from equipoise.games import make_game
    >>> load_or_build_history_tree(make_game("kuhn")).num_nodes
    58
    """
    version = {
        "tree_format_version": TREE_FORMAT_VERSION,
        "fields": sorted(field.name for field in dataclasses.fields(HistoryTree)),
    }
    cache = _cache_file(game, version, directory, min_build_seconds)
    parts = cache.read()
    if parts is not None and parts["actor"].size <= max_histories:
        return HistoryTree(**parts)
    return cache.fill(
        lambda: build_history_tree(game, max_histories=max_histories, on_progress=on_progress), _fields_of
    )


def load_or_build_public_tree(
    game: Game[Any],
    *,
    max_histories: int = DEFAULT_MAX_HISTORIES,
    on_progress: OnProgress | None = None,
    directory: Path | None = None,
    min_build_seconds: float = MIN_BUILD_SECONDS,
) -> PublicTree:
    """Returns the public tree of a two-player game from the cache if it is there, else derives, builds and keeps it.

    Args:
        game: rules with perfect recall.
        max_histories: a game with more is refused with `GameTooLargeError`, cached or not.
        on_progress: called now and then while building, with the histories so far and the fraction done.
        directory: where trees are kept; `default_cache_directory()` if None.
        min_build_seconds: trees that build faster are not kept.

    A game that says its public form itself is neither enumerated nor kept, and the limit on histories is not for it.

    >>> from equipoise.games import make_game
    >>> load_or_build_public_tree(make_game("kuhn")).num_nodes
    9
    """
    if isinstance(game, HasPublicForm):
        return build_public_tree(game.public_form(), on_progress=on_progress)
    version = {
        "public_tree_format_version": PUBLIC_TREE_FORMAT_VERSION,
        "fields": sorted(
            field.name for kind in (PublicTree, Cells, TerminalGroups) for field in dataclasses.fields(kind)
        ),
    }
    cache = _cache_file(game, version, directory, min_build_seconds)
    parts = cache.read()
    if parts is not None and parts["num_histories"] <= max_histories:
        return _unpack_public_tree(parts)
    return cache.fill(lambda: _derive_and_build(game, max_histories, on_progress), _pack_public_tree)


def _derive_and_build(game: Game[Any], max_histories: int, on_progress: OnProgress | None) -> PublicTree:
    derived = derive_public_game(
        game,
        max_histories=max_histories,
        on_progress=on_progress and (lambda count, done: on_progress(count, DERIVING_SHARE * done)),
    )
    count = derived.num_histories
    return build_public_tree(
        derived,
        max_nodes=max_histories,  # there are no more public states than histories
        on_progress=on_progress and (lambda _, done: on_progress(count, DERIVING_SHARE + (1 - DERIVING_SHARE) * done)),
    )


def _fields_of(part: HistoryTree | PublicTree | Cells | TerminalGroups) -> dict[str, Any]:
    return {field.name: getattr(part, field.name) for field in dataclasses.fields(part) if field.init}


def _pack_public_tree(tree: PublicTree) -> Parts:
    """Returns the fields of a derived tree, nested ones flat."""
    parts = _fields_of(tree)
    del parts["states"]  # a derived game's are numbers
    for name in ("cells", "terminals"):
        parts.update({f"{name}.{key}": value for key, value in _fields_of(parts.pop(name)).items()})
    parts["action_labels"] = tuple(label for labels in tree.action_labels for label in labels)
    return parts


def _unpack_public_tree(parts: Parts) -> PublicTree:
    """Returns the tree that `_pack_public_tree` made flat."""

    def nested(name: str) -> dict[str, Any]:
        return {key.removeprefix(f"{name}."): value for key, value in parts.items() if key.startswith(f"{name}.")}

    fields = {key: value for key, value in parts.items() if "." not in key}
    ends = np.cumsum(parts["num_actions"])
    spans = zip((ends - parts["num_actions"]).tolist(), ends.tolist(), strict=True)
    fields["action_labels"] = tuple(parts["action_labels"][begin:end] for begin, end in spans)
    return PublicTree(
        **fields,
        states=tuple(range(len(ends))),
        cells=Cells(**nested("cells")),
        terminals=TerminalGroups(**nested("terminals")),
    )


def _cache_file(
    game: Game[Any], version: dict[str, Any], directory: Path | None, min_build_seconds: float
) -> CacheFile:
    """Returns the file of one game's tree."""
    check_given_game(game)
    kind = type(game)
    identity = {  # all that decides what a game's tree is
        "game": game.spec.label,
        "game_version": game.spec.version,
        "game_class": f"{kind.__module__}.{kind.__qualname__}",
        **version,
    }
    return CacheFile(
        Kind.TREE,
        game.spec.label.partition("(")[0],
        identity,
        directory=directory,
        is_kept=kind.__module__.startswith(OWN_GAMES),
        min_build_seconds=min_build_seconds,
    )
