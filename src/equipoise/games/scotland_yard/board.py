# SPDX-License-Identifier: Apache-2.0
"""Boards of Scotland Yard: stations and the lines between them, from tables that come along or from a user's file.

A board's table has a row for each line: `station_a,station_b,transport`. London is the printed board with stations 1 to
199, as most public transcriptions have it (with the taxi line 13-14, which printings since about 2000 lack). Nothing
here knows who moves.
"""

from __future__ import annotations

import csv
import dataclasses
import enum
from collections.abc import Iterable, Mapping
from importlib import resources
from pathlib import Path
from typing import Final

from equipoise.core.errors import ConfigError, ParseError

__all__ = ["BOARD_NAMES", "Board", "Transport", "load_board", "parse_board"]

HEADER: Final = ["station_a", "station_b", "transport"]
MOST_STATIONS: Final = 9999

# The board's own start cards. London's are the eighteen of the common pile.
LONDON_STARTS: Final = (13, 26, 29, 34, 50, 53, 91, 94, 103, 112, 117, 132, 138, 141, 155, 174, 197, 198)
TOWN_STARTS: Final = (1, 4, 6, 10, 13, 15, 18, 21, 25, 28, 30)
GLASSES_STARTS: Final = (1, 6, 11)
STARTS: Final[Mapping[str, tuple[int, ...]]] = {
    "london": LONDON_STARTS,
    "town": TOWN_STARTS,
    "glasses-a": GLASSES_STARTS,
    "glasses-b": GLASSES_STARTS,
}
BOARD_NAMES: Final = tuple(STARTS)


class Transport(enum.IntEnum):
    """What runs between two stations; the first three have tickets of their own."""

    TAXI = 0
    BUS = 1
    UNDERGROUND = 2
    FERRY = 3


@dataclasses.dataclass(frozen=True, slots=True)
class Board:
    """A graph of stations, which are numbered from 1."""

    name: str
    links: tuple[tuple[tuple[int, ...], ...], ...]  # by station (0 is none) and transport: stations next to it
    starts: tuple[int, ...]  # stations on start cards, ascending
    _around: tuple[tuple[int, ...], ...]  # by station: stations next to it by any transport

    @property
    def num_stations(self) -> int:
        """Returns how many stations there are."""
        return len(self.links) - 1

    def next_stations(self, station: int, transport: Transport | None) -> tuple[int, ...]:
        """Returns where a transport (None: any of them) takes one from a station, ascending.

        >>> load_board("london").next_stations(63, Transport.BUS)
        (34, 65, 79, 100)
        """
        return self._around[station] if transport is None else self.links[station][transport]

    def __repr__(self) -> str:
        return f"Board({self.name!r}, {self.num_stations} stations)"


def load_board(name: str) -> Board:
    """Returns a board that comes along (`BOARD_NAMES`), or that of a table of lines in a file.

    >>> load_board("glasses-a")
    Board('glasses-a', 11 stations)
    """
    if name in STARTS:
        text = resources.files(__package__).joinpath("boards", f"{name}.csv").read_text(encoding="utf-8")
        return parse_board(text, name=name, starts=STARTS[name])
    if not name.endswith(".csv"):
        raise ConfigError(f"board must be one of {', '.join(BOARD_NAMES)}, or a .csv file of its lines, got {name!r}")
    try:
        text = Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise ConfigError(f"cannot read the board {name}: {reason}") from None
    return parse_board(text, name=name)


def parse_board(text: str, *, name: str = "own", starts: Iterable[int] | None = None) -> Board:
    r"""Returns the board of a table of lines; raises `ParseError` with the line that is wrong.

    Args:
        text: CSV with the columns `station_a,station_b,transport`.
        name: for messages.
        starts: stations on start cards; None: every station.

    >>> parse_board("station_a,station_b,transport\n1,2,taxi\n").next_stations(2, Transport.TAXI)
    (1,)
    """
    rows = list(csv.reader(text.splitlines()))
    if not rows or [cell.strip() for cell in rows[0]] != HEADER:
        got = ",".join(rows[0]) if rows else "nothing"
        raise ParseError(f"board {name}: the first line must be {','.join(HEADER)}, got {got!r}")
    lines = [_parse_line(row, f"board {name}, line {number}") for number, row in enumerate(rows[1:], start=2) if row]
    if not lines:
        raise ParseError(f"board {name} has no lines, so there is nowhere to go")
    if len(set(lines)) != len(lines):
        first, second, transport = next(line for line in lines if lines.count(line) > 1)
        raise ParseError(f"board {name}: {first},{second},{transport.name.lower()} is there twice")
    num_stations = max(max(first, second) for first, second, _ in lines)
    near: list[list[set[int]]] = [[set() for _ in Transport] for _ in range(num_stations + 1)]
    for first, second, transport in lines:
        near[first][transport].add(second)
        near[second][transport].add(first)
    around = tuple(tuple(sorted(set().union(*by_transport))) for by_transport in near)
    _check_connected(around, name)
    return Board(
        name=name,
        links=tuple(tuple(tuple(sorted(stations)) for stations in by_transport) for by_transport in near),
        starts=tuple(sorted(starts)) if starts is not None else tuple(range(1, num_stations + 1)),
        _around=around,
    )


def _parse_line(row: list[str], where: str) -> tuple[int, int, Transport]:
    cells = [cell.strip() for cell in row]
    names = [transport.name.lower() for transport in Transport]
    if len(cells) != len(HEADER) or cells[2] not in names:
        raise ParseError(f"{where}: expected two stations and one of {', '.join(names)}, got {','.join(row)!r}")
    for cell in cells[:2]:
        if not (cell.isascii() and cell.isdigit() and 1 <= int(cell[:9]) <= MOST_STATIONS):
            raise ParseError(f"{where}: stations are numbers from 1 to {MOST_STATIONS}, got {cell!r}")
    first, second = sorted((int(cells[0]), int(cells[1])))
    if first == second:
        raise ParseError(f"{where}: a line must lead to another station, got {first} twice")
    return first, second, Transport[cells[2].upper()]


def _check_connected(around: tuple[tuple[int, ...], ...], name: str) -> None:
    reached, waiting = {1}, [1]
    while waiting:
        for station in around[waiting.pop()]:
            if station not in reached:
                reached.add(station)
                waiting.append(station)
    missing = [station for station in range(1, len(around)) if station not in reached]
    if missing:
        raise ParseError(f"board {name}: station {missing[0]} cannot be reached from station 1 (of {len(around) - 1})")
