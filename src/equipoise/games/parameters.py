# SPDX-License-Identifier: Apache-2.0
"""The parameters of games: how they are declared, checked, read from text and written as text.

A game is a frozen dataclass; the fields made by `parameter` are what users may set, the fields made by
`derived` are tables that its `__post_init__` computes from them. Nothing here knows any game.
"""

from __future__ import annotations

import dataclasses
import enum
import math
import typing
from collections.abc import Iterable
from typing import Any

from equipoise.core.errors import ConfigError, ParseError

__all__ = [
    "ParameterRow",
    "check_parameters",
    "derived",
    "describe_type",
    "format_value",
    "parameter",
    "parameter_fields",
    "parameter_rows",
    "parameters_of",
    "parse_parameters",
    "parse_value",
]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ParameterRow:
    """One parameter as users see it.

    >>> from equipoise.games import describe_parameters
    >>> row = describe_parameters("kuhn")[0]
    >>> row.name, row.type
    ('players', 'an integer, between 2 and 10')
    """

    name: str
    type: str  # in words: "integer from 2 to 13"
    default: str  # as it would be typed
    description: str


def parameter(default: Any, description: str, *, low: float | None = None, high: float | None = None) -> Any:
    """Returns a dataclass field for a game parameter with the description that users are shown.

    Args:
        default: Its value when nothing is said.
        description: One line, with the unit.
        low: The smallest number allowed.
        high: The largest number allowed.

    >>> @dataclasses.dataclass(frozen=True, kw_only=True)
    ... class Dice:
    ...     sides: int = parameter(6, "sides of a die", low=2, high=20)
    >>> Dice().sides
    6
    """
    metadata = {"description": description, "low": low, "high": high}
    return dataclasses.field(default=default, metadata=metadata)


def derived() -> Any:
    """Returns a dataclass field that `__post_init__` fills from the parameters; no part of identity.

    >>> @dataclasses.dataclass(frozen=True, kw_only=True)
    ... class Dice:
    ...     sides: int = parameter(6, "sides of a die", low=2)
    ...     faces: tuple[int, ...] = derived()
    ...     def __post_init__(self):
    ...         object.__setattr__(self, "faces", tuple(range(1, self.sides + 1)))
    >>> Dice(sides=4)
    Dice(sides=4)
    """
    return dataclasses.field(init=False, repr=False, compare=False)


def parameter_fields(game_class: type[Any]) -> tuple[dataclasses.Field[Any], ...]:
    """Returns the fields of a game class that are parameters."""
    return tuple(field for field in dataclasses.fields(game_class) if "description" in field.metadata)


def parameters_of(game: Any) -> dict[str, Any]:
    """Returns the parameters of a game with their values."""
    return {field.name: getattr(game, field.name) for field in parameter_fields(type(game))}


def parameter_rows(game_class: type[Any]) -> tuple[ParameterRow, ...]:
    """Returns what users may set in a game class, in order."""
    hints = typing.get_type_hints(game_class)
    return tuple(
        ParameterRow(
            name=field.name,
            type=describe_type(hints[field.name], field.metadata["low"], field.metadata["high"]),
            default=format_value(field.default),
            description=field.metadata["description"],
        )
        for field in parameter_fields(game_class)
    )


def check_parameters(game: Any) -> None:
    """Converts a game's parameters to their declared types in place; raises `ConfigError` for a bad one.

    Called first in `__post_init__`, so that equal games have equal parameters however these were spelt.
    """
    hints = typing.get_type_hints(type(game))
    for field in parameter_fields(type(game)):
        low, high = field.metadata["low"], field.metadata["high"]
        value = parse_value(field.name, getattr(game, field.name), hints[field.name])
        if isinstance(value, int | float):
            _check_bounds(field.name, value, low, high)
        object.__setattr__(game, field.name, value)


def parse_parameters(pairs: Iterable[str]) -> dict[str, str]:
    """Returns game parameters from `key=value` texts.

    >>> parse_parameters(["ranks=4", "first_sizes=1,2"])
    {'ranks': '4', 'first_sizes': '1,2'}
    """
    values: dict[str, str] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        key = key.strip()
        if not equals or not key:
            raise ParseError(f"a parameter is written key=value, got {pair!r}")
        if key in values:
            raise ParseError(f"parameter {key!r} is given twice")
        values[key] = value.strip()
    return values


def parse_value(name: str, value: Any, kind: Any) -> Any:
    """Returns a value, or the text of one, as the declared type; raises `ConfigError` naming the parameter.

    >>> parse_value("sizes", "0.5,1", tuple[float, ...])
    (0.5, 1.0)
    >>> parse_value("payoffs", "1,0.9;-0.7,1", tuple[tuple[float, ...], ...])
    ((1.0, 0.9), (-0.7, 1.0))
    """
    try:
        return _convert(value, kind)
    except (TypeError, ValueError):
        raise ConfigError(f"{name} must be {describe_type(kind)}, got {value!r}") from None


def format_value(value: Any) -> str:
    """Returns a parameter's value as it would be typed; `parse_value` reads it back.

    >>> format_value(((1.0, 0.9), (-0.7, 1.0)))
    '1,0.9;-0.7,1'
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, enum.Enum):
        return str(value.value)
    if isinstance(value, float):
        text = repr(value)
        return text.removesuffix(".0")
    if isinstance(value, tuple):
        separator = ";" if value and isinstance(value[0], tuple) else ","
        return separator.join(format_value(item) for item in value)
    return str(value)


def _convert(value: Any, kind: Any) -> Any:
    """Returns the value as the kind; raises `TypeError` or `ValueError` if it is not one."""
    if typing.get_origin(kind) is tuple:
        return _convert_tuple(value, typing.get_args(kind)[0])
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return kind(value.strip().lower() if isinstance(value, str) else value)
    if isinstance(value, str) and kind is not str:
        value = _TEXT_READERS[kind](value.strip())
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if type(value) is not kind or (kind is float and math.isnan(value)):
        raise TypeError(value)
    return value


def _convert_tuple(value: Any, item_kind: Any) -> tuple[Any, ...]:
    if isinstance(value, str):
        separator = ";" if typing.get_origin(item_kind) is tuple else ","
        value = [item.strip() for item in value.split(separator)] if value.strip() else []
    if not isinstance(value, list | tuple):
        raise TypeError(value)
    return tuple(_convert(item, item_kind) for item in value)


def _read_bool(text: str) -> bool:
    if text.lower() not in {"true", "false"}:
        raise ValueError(text)
    return text.lower() == "true"


_TEXT_READERS: dict[type[Any], Any] = {int: int, float: float, bool: _read_bool}


def _check_bounds(name: str, value: float, low: float | None, high: float | None) -> None:
    if (low is not None and value < low) or (high is not None and value > high):
        raise ConfigError(f"{name} must be {_describe_bounds(low, high)}, got {format_value(value)}")


def _describe_bounds(low: float | None, high: float | None) -> str:
    if low is not None and high is not None:
        return f"between {low} and {high}"
    return f"at least {low}" if low is not None else f"at most {high}"


def describe_type(kind: Any, low: float | None = None, high: float | None = None) -> str:
    """Returns a declared type and its bounds in words; raises for a type that text cannot be converted to."""
    if typing.get_origin(kind) is tuple:
        (item_kind, _) = typing.get_args(kind)
        if typing.get_origin(item_kind) is tuple:
            return "a table of numbers such as 1,2;3,4"
        return "a list of words such as a,b" if item_kind is str else "a list of numbers such as 1,2"
    if issubclass(kind, enum.Enum):
        return "one of " + ", ".join(str(member.value) for member in kind)
    words = {int: "an integer", float: "a number", bool: "true or false", str: "text"}[kind]
    return words if low is None and high is None else f"{words}, {_describe_bounds(low, high)}"
