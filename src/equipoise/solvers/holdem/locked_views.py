# SPDX-License-Identifier: Apache-2.0
"""A solved spot as if some hands played otherwise: what that is worth and what answers it, nothing solved again."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np

from equipoise.core.errors import ConfigError
from equipoise.games.holdem.spot_file import SpotFile, SpotLock, check_locks
from equipoise.solvers.best_response import bind_kernel
from equipoise.solvers.holdem.solved_spot import SolvedSpot, make_locks
from equipoise.solvers.holdem.view import SpotViews
from equipoise.trees.holdem.locks import NodeLock
from equipoise.trees.holdem.tree import HoldemTree

__all__ = ["LockedPlaces", "play_with_locks"]


class LockedPlaces(NamedTuple):
    """Places of a solved spot in which some decisions are played as locks say; all others as they were solved."""

    tree: HoldemTree
    views: SpotViews
    locks: tuple[NodeLock, ...]
    seats: tuple[str, str]


def play_with_locks(solved: SolvedSpot, locks: tuple[SpotLock, ...]) -> LockedPlaces:
    """Returns a solved spot with more locks, nothing solved again: `describe_gain` then says what would answer them.

    Raises `ConfigError` if locks cannot be, or tell suits apart that the file merges.
    """
    file: SpotFile = dataclasses.replace(solved.file, locks=(*solved.file.locks, *locks))
    check_locks(dataclasses.replace(file, locks=locks))
    solved.read_values()
    sums = solved.views.sums
    if not isinstance(sums, np.ndarray):
        raise ConfigError("the whole table is needed in memory")
    played, compiled = sums.copy(), make_locks(file)
    kernel = bind_kernel(solved.tree, locks=compiled)
    kernel.lock_sums(played)
    return LockedPlaces(solved.tree, SpotViews(solved.tree, played, kernel=kernel), compiled, solved.seats)
