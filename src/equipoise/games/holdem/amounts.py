# SPDX-License-Identifier: Apache-2.0
"""Amounts of a spot's file as players write them, big blinds and decimals, made into whole chips.

Chips are whole everywhere else. Where a file has decimals, or a pot that two players cannot have paid in equal parts,
its chip is cut into ten, a hundred, ... smaller ones, and every amount of the file is counted in these.
"""

from __future__ import annotations

import dataclasses
import decimal
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from equipoise.core.errors import ParseError
from equipoise.games.holdem.menus import BetSize, Menu, RoundMenu, SizeKind, Sizes

__all__ = ["DEFAULT_BIG_BLIND", "cut_chips", "scale_menu"]

DEFAULT_BIG_BLIND: Final = 100  # chips
FIELDS: Final = ("pot", "stacks", "big_blind", "small_blind", "ante", "bet_sizes")
BIG_BLINDS: Final = re.compile(r"\s*(?P<amount>[0-9]*\.?[0-9]+)\s*bb\s*", re.IGNORECASE)
SCALES: Final = (1, 10, 100, 1000, 10_000)


def cut_chips(table: Mapping[str, Any]) -> tuple[dict[str, Any], int]:
    """Returns a spot's table with amounts in whole chips, and how many of these one of the file's is.

    What is no amount stays as it is, for whoever reads it.

    >>> cut_chips({"pot": "5.5bb", "stacks": 9750})
    ({'pot': 550, 'stacks': 9750}, 1)
    >>> cut_chips({"pot": 5.5, "stacks": [97.5, 100], "big_blind": 1})
    ({'pot': 550, 'stacks': [9750, 10000], 'big_blind': 100}, 100)
    """
    big_blind = _find_big_blind(table)
    read = {field: _read(field, table[field], big_blind) for field in FIELDS if field in table}
    amounts = [amount for value in read.values() for amount in _flatten(value)]
    if "big_blind" not in table and any(amount % 1 for amount in amounts):
        field = next(field for field, value in read.items() if any(amount % 1 for amount in _flatten(value)))
        raise ParseError(
            f'{field}: {table[field]} is no whole number of chips; write big blinds as in "5.5bb", or say what '
            "big_blind is in the same unit"
        )
    halves = [amount / 2 for amount in _flatten(read.get("pot"))]
    for scale in SCALES:
        if not any(amount * scale % 1 for amount in (*amounts, *halves)):
            break
    else:
        raise ParseError(f"amounts have at most four decimals, got {', '.join(map(str, amounts))}")
    whole = {field: _scale(value, scale) for field, value in read.items()}
    if scale > 1:
        whole.setdefault("big_blind", DEFAULT_BIG_BLIND * scale)
    return {**table, **whole}, scale


def scale_menu(menu: Menu, scale: int) -> Menu:
    """Returns a menu whose sizes in chips are counted in smaller ones."""
    if scale == 1:
        return menu

    def cut(sizes: Sizes) -> Sizes:
        return tuple(BetSize(size.kind, size.amount * scale) if size.kind is SizeKind.CHIPS else size for size in sizes)

    def cut_round(one: RoundMenu) -> RoundMenu:
        donk = None if one.donk is None else cut(one.donk)
        return dataclasses.replace(one, sizes=tuple(map(cut, one.sizes)), donk=donk)

    return dataclasses.replace(menu, rounds=tuple((cut_round(oop), cut_round(ip)) for oop, ip in menu.rounds))


def _find_big_blind(table: Mapping[str, Any]) -> decimal.Decimal:
    value = table.get("big_blind", DEFAULT_BIG_BLIND)
    if isinstance(value, str):
        raise ParseError(f"big_blind: must be a number of chips, the unit of amounts such as '5.5bb', got {value!r}")
    read = _read("big_blind", value, decimal.Decimal(0))
    return read if isinstance(read, decimal.Decimal) else decimal.Decimal(DEFAULT_BIG_BLIND)


def _read(field: str, value: Any, big_blind: decimal.Decimal) -> Any:
    """Returns a value with its amounts as decimals in chips; what is no amount as it is."""
    if isinstance(value, list):
        return [_read(field, one, big_blind) for one in value]
    if isinstance(value, str):
        match = BIG_BLINDS.fullmatch(value)
        if match is None:
            raise ParseError(f"{field}: must be chips, or big blinds as in '5.5bb', got {value[:40]!r}")
        return decimal.Decimal(match["amount"]) * big_blind
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 <= abs(value) < 1e15:  # infinite, not a number, or of no sensible size
        return value
    return decimal.Decimal(repr(value))


def _flatten(value: Any) -> Iterator[decimal.Decimal]:
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, decimal.Decimal):
            yield one


def _scale(value: Any, scale: int) -> Any:
    if isinstance(value, list):
        return [_scale(one, scale) for one in value]
    return int(value * scale) if isinstance(value, decimal.Decimal) else value
