# SPDX-License-Identifier: Apache-2.0
"""Spots with locks beyond those of their files: typed in a line, or taken from what is played in another file."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from equipoise.abstraction.solutions import open_solution
from equipoise.core.checkpoint import Kind
from equipoise.core.errors import ConfigError, EquipoiseError
from equipoise.core.files import StrPath
from equipoise.games.holdem.lock_notation import parse_lock
from equipoise.games.holdem.spot_file import SpotFile, SpotLock, check_locks
from equipoise.solvers.holdem.borrowed_play import borrow_locks
from equipoise.solvers.holdem.solved_spot import SolvedSpot

__all__ = ["add_locks", "open_spot"]


def add_locks(
    file: SpotFile,
    locks: Iterable[str | SpotLock] = (),
    *,
    source: StrPath | None = None,
    lines: Iterable[str] = (),
    seat: int | None = None,
) -> SpotFile:
    r"""Returns a spot with more locks, all of them checked.

    >>> from equipoise import load_spot
    >>> spot = load_spot("board = 'Ks7h2d5c9h'\npot = 20\nstacks = 30\nmenu = 'a'\nranges = {oop = 'AA', ip = 'KQ'}")
    >>> add_locks(spot, ["check: KdQd: all-in=30%, check"]).locks[0].play
    {'all-in': 0.3, 'check': 0.7}

    Args:
        file: of the spot.
        locks: as `parse_lock` reads them, or made.
        source: a solved spot whose play is taken over.
        lines: where; the root if none is given.
        seat: take over all decisions of this player from there on, to the end of the street; None: one decision.
    """
    added = []
    for lock in locks:
        one = parse_lock(lock) if isinstance(lock, str) else lock
        try:
            check_locks(dataclasses.replace(file, locks=(one,)))
        except EquipoiseError as error:
            raise ConfigError(f"lock {lock!r}: {str(error).removeprefix('locks[0].')}") from None
        added.append(one)
    if source is not None:
        with open_spot(source) as solved:
            for line in list(lines) or [""]:
                added += borrow_locks(file, solved, line, seat=seat)
    return dataclasses.replace(file, locks=(*file.locks, *added))


def open_spot(path: StrPath) -> SolvedSpot:
    """Returns an open file of a solved spot."""
    solution = open_solution(path, Kind.SPOT)
    assert isinstance(solution, SolvedSpot)
    return solution
