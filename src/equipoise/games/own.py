# SPDX-License-Identifier: Apache-2.0
"""Games that live outside the package, by the name of their class: `module:Class` or `file.py:Class`.

Parameters are what the class's constructor takes by name, converted from text to the declared types.
"""

from __future__ import annotations

import dataclasses
import inspect
import typing
from collections.abc import Mapping
from typing import Any, Final

from equipoise.core.errors import ConfigError
from equipoise.core.own_code import ClassText, call_own, find_text, load_class
from equipoise.games.base import METHODS, Game, GameSpec
from equipoise.games.parameters import ParameterRow, describe_type, format_value, parse_value

__all__ = ["describe_own", "find_own_text", "make_own_game", "own_parameter_rows"]

PACKAGE: Final = "equipoise."


def make_own_game(text: ClassText, parameters: Mapping[str, Any]) -> Game[Any]:
    """Returns a user's game; raises `ConfigError` if there is none, it is no game or its constructor raises.

    Args:
        text: names its class.
        parameters: of its constructor, as values or as text.
    """
    kind = _load_kind(text)
    known = _parameters(kind)
    for name in parameters:
        if name not in known:
            allowed = f"it has {', '.join(known)}" if known else "it has none"
            raise ConfigError(f"{text} has no parameter {name!r}; {allowed}")
    if missing := [name for name, one in known.items() if one.default is one.empty and name not in parameters]:
        raise ConfigError(f"{text} needs {', '.join(missing)}: give each as name=value")
    hints = _find_hints(kind)
    values = {name: _convert(name, value, hints.get(name)) for name, value in parameters.items()}
    game: Game[Any] = call_own(f"the constructor of {text}", lambda: kind(**values))
    spec = call_own(f"spec of {text}", lambda: game.spec)
    if not isinstance(spec, GameSpec):
        raise ConfigError(f"spec of {text} must be a GameSpec, got {spec!r}")
    return game


def own_parameter_rows(text: ClassText) -> tuple[ParameterRow, ...]:
    """Returns what may be set in a user's game, in the order of its constructor."""
    kind = _load_kind(text)
    hints = _find_hints(kind)
    described: dict[str, Mapping[str, Any]] = {}
    if _has_fields(kind):
        described = {field.name: field.metadata for field in dataclasses.fields(kind)}
    return tuple(
        ParameterRow(
            name=name,
            type=_describe(hints.get(name), described.get(name, {})),
            default="" if one.default is one.empty else format_value(one.default),
            description=str(described.get(name, {}).get("description", "")),
        )
        for name, one in _parameters(kind).items()
    )


def describe_own(text: ClassText) -> str:
    """Returns the first line of a user's game's docstring."""
    return (inspect.getdoc(_load_kind(text)) or "").partition("\n")[0]


def find_own_text(game: Game[Any]) -> str | None:
    """Returns the text that names the class of a game outside the package; None for games of ours and of scripts."""
    kind = type(game)
    return None if kind.__module__.startswith(PACKAGE) else find_text(kind)


def _load_kind(text: ClassText) -> type[Any]:
    """Returns a user's class; raises unless it has the methods of a game."""
    kind = load_class(text)
    missing = [name for name in METHODS if not callable(getattr(kind, name, None))]
    if missing:
        raise ConfigError(
            f"{text} is not a game: it lacks {', '.join(missing)} (equipoise.BaseGame has all but the rules)"
        )
    if abstract := sorted(getattr(kind, "__abstractmethods__", ())):
        raise ConfigError(f"{text} is not a whole game: its class must still say {', '.join(abstract)}")
    return kind


def _parameters(kind: type[Any]) -> dict[str, inspect.Parameter]:
    """Returns what a constructor takes by name."""
    try:
        signature = inspect.signature(kind)
    except (TypeError, ValueError):
        return {}
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return {name: one for name, one in signature.parameters.items() if one.kind in named}


def _has_fields(kind: type[Any]) -> bool:
    return dataclasses.is_dataclass(kind)


def _find_hints(kind: type[Any]) -> dict[str, Any]:
    """Returns the declared types of what a constructor takes; none where they cannot be resolved."""
    try:
        return typing.get_type_hints(kind if _has_fields(kind) else kind.__init__)
    except (AttributeError, NameError, TypeError):
        return {}


def _convert(name: str, value: Any, kind: Any) -> Any:
    """Returns a value as the declared type, if that is one that text can be converted to."""
    if kind is None or not isinstance(value, str):
        return value
    try:
        describe_type(kind)
    except (AttributeError, KeyError, TypeError, ValueError):
        return value
    return parse_value(name, value, kind)


def _describe(kind: Any, metadata: Mapping[str, Any]) -> str:
    try:
        return describe_type(kind, metadata.get("low"), metadata.get("high"))
    except (AttributeError, KeyError, TypeError, ValueError):
        return "text"
