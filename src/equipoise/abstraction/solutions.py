# SPDX-License-Identifier: Apache-2.0
"""From a text or a path to what it names: a file of a strategy of any kind, a spot, a game.

It is the one place that decides which. It stands here because files in buckets need this room; rooms above it know the
kinds that they can make themselves.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Final

from equipoise.abstraction.bucketed_strategy import SolvedBuckets
from equipoise.core.checkpoint import CheckpointReader, Kind
from equipoise.core.checks import check_path
from equipoise.core.errors import ConfigError, EquipoiseError
from equipoise.core.files import StrPath
from equipoise.games.base import Game
from equipoise.games.gambit import EFG_SUFFIX
from equipoise.games.holdem.spot_file import SpotFile, load_spot
from equipoise.games.registry import make_game, parse_game
from equipoise.solvers.holdem.solved_spot import SolvedSpot
from equipoise.solvers.solution_file import SolvedGame, WrittenGame

__all__ = [
    "SOLUTION_SUFFIX",
    "SPOT_SUFFIX",
    "AnySolution",
    "is_spot_text",
    "is_table_text",
    "load_run",
    "open_solution",
    "open_subject",
]

SPOT_SUFFIX: Final = ".toml"
SOLUTION_SUFFIX: Final = ".eq"

AnySolution = SolvedGame | SolvedSpot | SolvedBuckets


def open_solution(path: StrPath, *kinds: Kind, game: Game[Any] | None = None) -> AnySolution:
    """Returns a file with a strategy, open; the caller closes it.

    Args:
        path: a file that `solve`, `blueprint` or `TabularStrategy.save` wrote, or a strategy as CSV.
        kinds: those that will do; all of them if none is named.
        game: that a strategy by information states is of; CSV does not say, and a user's may not be found again.

    >>> import tempfile
    >>> from equipoise.runs import solve
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     solve("kuhn", iterations=10).save(f"{folder}/kuhn.eq")
    ...     with open_solution(f"{folder}/kuhn.eq") as file:
    ...         print(file.label)
    kuhn(players=2)
    """
    check_path(path)
    if is_table_text(path) and (not kinds or Kind.STRATEGY in kinds):
        return WrittenGame(path, game)
    found = _open(path, kinds)
    if game is not None and isinstance(found, SolvedGame):
        try:
            found.play(game)
        except EquipoiseError:
            found.close()
            raise
    return found


def is_table_text(path: StrPath) -> bool:
    """Returns whether a path is of a strategy that is written as CSV."""
    return os.fspath(path).endswith(WrittenGame.SUFFIX)


def _open(path: StrPath, kinds: tuple[Kind, ...]) -> AnySolution:
    """Returns a file of ours, open."""
    accepted = kinds or tuple(kind for opener in (SolvedGame, SolvedSpot, SolvedBuckets) for kind in opener.KINDS)
    reader = CheckpointReader(path, *accepted)
    if reader.kind is Kind.SPOT:
        return SolvedSpot(path, reader=reader)
    return (SolvedBuckets if reader.kind is Kind.BLUEPRINT else SolvedGame)(path, reader=reader)


def load_run(path: StrPath, *kinds: Kind) -> SolvedGame | SolvedSpot:
    """Returns a file of a game or a spot, read whole and closed; of a run unless other kinds are named."""
    with open_solution(path, *(kinds or (Kind.RUN, Kind.SPOT))) as found:
        assert isinstance(found, SolvedGame | SolvedSpot)
        found.read_all()
    return found


def is_spot_text(text: str) -> bool:
    """Returns whether a text names the file of a spot that is not solved, rather than a game."""
    return text.endswith(SPOT_SUFFIX)


def open_subject(text: StrPath, parameters: Mapping[str, str] | None = None) -> Game[Any] | SpotFile | AnySolution:
    """Returns what a text names: the file of a spot, a file with a strategy (open), or a game.

    Args:
        text: `spot.toml`, `run.eq`, `leduc`, `leduc(ranks=4)`.
        parameters: of a game that is named without them.

    >>> open_subject("kuhn", {"players": "3"}).spec.label
    'kuhn(players=3)'
    """
    check_path(text)
    name = os.fspath(text)
    is_file = is_spot_text(name) or name.endswith(SOLUTION_SUFFIX) or os.path.isfile(name)
    if name.endswith(EFG_SUFFIX):
        return make_game(name, **(parameters or {}))
    if is_file and parameters:
        raise ConfigError(f"parameters are for games, and {name} is a file")
    if is_spot_text(name):
        return load_spot(name)
    if is_file:
        return open_solution(name)
    return make_game(name, **parameters) if parameters else parse_game(name)
