# SPDX-License-Identifier: Apache-2.0
"""Betting menus as one line of text that players can type, and the menus of published systems by name.

>>> format_menu(MENUS["libratus"])
'50%, 100%, a / 100%, a'
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from equipoise.core.checks import check_text
from equipoise.core.errors import ConfigError, ParseError, UnknownNameError
from equipoise.games.holdem.betting import Street
from equipoise.games.holdem.menus import POSITIONS, BetSize, Counting, Menu, RoundMenu, SizeKind
from equipoise.games.parameters import format_value

__all__ = ["MENUS", "format_menu", "parse_menu"]

STREETS: Final = tuple(street.name.lower() for street in Street)
SIZES, DONK, CAP = "", "donk", "cap"  # the parts of a round's menu, as written
MERGE, FORCE, COUNT, LIMP = "merge", "force", "count", "limp"
SETTINGS: Final = (MERGE, FORCE, COUNT, LIMP)
SIZE: Final = re.compile(r"(?P<amount>[0-9.]+(?:e[+-][0-9]+)?)(?P<unit>[%xce])")
LONGEST_CAP: Final = 9  # digits
NOTATION: Final = "write 33% (of the pot), 2.5x (the bet), 250c (chips), 3e or e (geometric), min, a (all-in) or none"

Place = tuple[Street, int, str]  # street, position, part


def parse_menu(text: str) -> Menu:
    """Returns the menu of that name, or the one written as clauses between semicolons, later ones overriding.

    A clause is `[street] [oop|ip] [donk]: sizes`, `[street] [oop|ip] cap: 4`, `merge: 10%`, `force: 15%`,
    `count: actions` or `limp: none` (before the flop raise or fold); sizes without a colon hold everywhere. Sizes
    stand between commas, the lists of the first bet of a round, the second, ... between slashes: `33%` of the pot,
    `2.5x` the bet, `250c` chips, `3e` for three equal fractions to all-in (`e`: one for every street left), `min`,
    `a` for all-in, `none`.

    >>> menu = parse_menu("50%, 100%, a / 100%, a; river donk: none; river ip cap: 3")
    >>> menu.rounds[Street.RIVER][1].max_raises
    3
    >>> format_menu(menu)
    '50%, 100%, a / 100%, a; river donk: none; river ip cap: 3'
    """
    check_text("menu", text)
    name = text.strip().lower()
    if name in MENUS:
        return MENUS[name]
    if re.fullmatch(r"[a-z_]{4,}", name) and name != "none":
        raise UnknownNameError("menu", name, MENUS)
    parts: dict[Place, Any] = {}
    settings: dict[str, Any] = {}
    for clause in filter(None, (piece.strip() for piece in name.split(";"))):
        head, _, value = clause.rpartition(":")
        if head.strip() in SETTINGS:
            settings[head.strip()] = _parse_setting(head.strip(), value.strip())
        else:
            parts.update(_parse_clause(head.split(), value.strip(), clause))
    if not parts:
        raise ParseError(f"menu {text!r} offers nothing; {NOTATION}")
    return Menu(
        rounds=tuple((_round_menu(parts, street, 0), _round_menu(parts, street, 1)) for street in Street),
        counting=settings.get(COUNT, Counting.BETS),
        merge_percent=settings.get(MERGE, 0.0),
        force_percent=settings.get(FORCE, 0.0),
        has_limps=LIMP not in settings,
    )


def format_menu(menu: Menu) -> str:
    """Returns a menu as `parse_menu` reads it, every part said once.

    >>> format_menu(parse_menu("50%,  a"))
    '50%, a'
    """
    clauses: list[str] = []
    for part in (SIZES, DONK, CAP):
        table = [[_format_part(round_menu, part) for round_menu in pair] for pair in menu.rounds]
        for place, value in _group(table):
            head = " ".join(filter(None, (place, part)))
            clauses.append(f"{head}: {value}" if head else value)
    if menu.counting is not Counting.BETS:
        clauses.append(f"{COUNT}: {menu.counting.value}")
    for name, percent in ((MERGE, menu.merge_percent), (FORCE, menu.force_percent)):
        if percent:
            clauses.append(f"{name}: {format_value(float(percent))}%")
    if not menu.has_limps:
        clauses.append(f"{LIMP}: none")
    return "; ".join(clauses)


def _parse_clause(head: list[str], value: str, clause: str) -> Iterator[tuple[Place, Any]]:
    """Yields the parts of round menus that a clause states."""
    words = list(head)
    streets = [Street[words.pop(0).upper()]] if words and words[0] in STREETS else list(Street)
    positions = [POSITIONS.index(words.pop(0))] if words and words[0] in POSITIONS else [0, 1]
    part = words.pop(0) if words and words[0] in (DONK, CAP) else SIZES
    if words:
        raise ParseError(
            f"menu clause {clause!r} begins with {' '.join(words)!r}, expected [{'|'.join(STREETS)}] [oop|ip] "
            f"[donk|cap], or {', '.join(SETTINGS)}"
        )
    read = {SIZES: _parse_lists, DONK: _parse_sizes, CAP: _parse_cap}[part]
    for street, position in itertools.product(streets, positions):
        yield (street, position, part), read(value)


def _round_menu(parts: Mapping[Place, Any], street: Street, position: int) -> RoundMenu:
    return RoundMenu(
        sizes=parts.get((street, position, SIZES), ()),
        donk=parts.get((street, position, DONK)),
        max_raises=parts.get((street, position, CAP)),
    )


def _parse_lists(text: str) -> tuple[tuple[BetSize, ...], ...]:
    return tuple(_parse_sizes(piece) for piece in text.split("/"))


def _parse_sizes(text: str) -> tuple[BetSize, ...]:
    if text.strip() == "none":
        return ()
    return tuple(_parse_size(piece.strip()) for piece in text.split(","))


def _parse_size(text: str) -> BetSize:
    if text in ("a", "min"):
        return BetSize(SizeKind(text))
    if text == "e":
        return BetSize(SizeKind.GEOMETRIC)
    match = SIZE.fullmatch(text)
    try:
        if match:
            return BetSize(SizeKind(match["unit"]), float(match["amount"]))
    except ConfigError:
        raise
    except ValueError:  # two decimal points
        pass
    raise ParseError(f"bet size {text!r} is not understood; {NOTATION}")


def _parse_cap(text: str) -> int:
    if not text.isdecimal() or len(text) > LONGEST_CAP:
        raise ParseError(f"cap must be a whole number such as 4, got {text[:20]!r}")
    return int(text)


def _parse_setting(name: str, text: str) -> float | Counting | None:
    if name == COUNT:
        if text not in {counting.value for counting in Counting}:
            raise ParseError(f"count must be bets or actions, got {text!r}")
        return Counting(text)
    if name == LIMP:
        if text != "none":
            raise ParseError(f"limp must be none, or not be said where limps are allowed, got {text!r}")
        return None
    match = SIZE.fullmatch(text)
    if not match or match["unit"] != "%":
        raise ParseError(f"{name} must be a percentage such as 10%, got {text!r}")
    return float(match["amount"])


def _format_part(menu: RoundMenu, part: str) -> str | None:
    """Returns a part of a round's menu as text, None if it is not stated."""
    if part == SIZES:
        return " / ".join(map(_format_sizes, menu.sizes)) or None
    if part == DONK:
        return None if menu.donk is None else _format_sizes(menu.donk)
    return None if menu.max_raises is None else str(menu.max_raises)


def _format_sizes(sizes: Iterable[BetSize]) -> str:
    return ", ".join(map(_format_size, sizes)) or "none"


def _format_size(size: BetSize) -> str:
    unit = str(size.kind.value)
    return f"{format_value(float(size.amount))}{unit}" if size.amount else unit


def _group(table: list[list[str | None]]) -> Iterator[tuple[str, str]]:
    """Yields places and texts of a table by street and position, equal neighbours said once."""
    first = table[0][0]
    if first is not None and all(value == first for pair in table for value in pair):
        yield "", first
        return
    for street, (oop, ip) in zip(STREETS, table, strict=True):
        if oop is not None and oop == ip:
            yield street, oop
            continue
        for position, value in zip(POSITIONS, (oop, ip), strict=True):
            if value is not None:
                yield f"{street} {position}", value


MENUS: dict[str, Menu] = {}
MENUS.update(
    {
        # [Brown 2020, section 3.1.3]: first bet of a round, later bets
        "libratus": parse_menu("50%, 100%, a / 100%, a"),
        # [Zarick et al. 2020, Table 2]: first, second, third action of the lookahead, remaining ones
        "deepstack": parse_menu("50%, 100%, 200%, a / 50%, 100%, 200%, a / 100%, a; count: actions"),
        "supremus": parse_menu(
            "33%, 50%, 75%, 100%, 125%, 200%, a / 25%, 50%, 100%, a / 25%, a / 100%, a; count: actions"
        ),
        "fcpa": parse_menu("100%, a"),
        "limit": parse_menu("min"),  # with fixed bet sizes every menu comes to this
        "push_fold": parse_menu("a; limp: none"),
    }
)
