# SPDX-License-Identifier: Apache-2.0
"""Games by name: the one place where text chooses a class.

Names are those of `games.catalogue`, `openspiel:` followed by a game of OpenSpiel, a file of Gambit's, `game.efg`, or a
class of the user's, `module:Class` or `file.py:Class`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from equipoise.core.checks import check_text
from equipoise.core.errors import ConfigError, ParseError, UnknownNameError
from equipoise.core.own_code import ClassText, parse_class_text
from equipoise.games.base import Game, check_given_game
from equipoise.games.catalogue import GAMES, game_names
from equipoise.games.gambit import EFG_SUFFIX, load_efg
from equipoise.games.openspiel import PREFIX, load_openspiel, openspiel_parameter_rows
from equipoise.games.own import describe_own, find_own_text, make_own_game, own_parameter_rows
from equipoise.games.parameters import ParameterRow, format_value, parameter_rows, parse_parameters

__all__ = [
    "GAMES",
    "describe_game",
    "describe_parameters",
    "find_name",
    "format_game",
    "game_names",
    "is_game_name",
    "make_game",
    "parse_game",
    "parse_game_options",
    "take_game",
]

FILE_HINTS: Final[Mapping[str, str]] = {  # by what a file's name ends in that is given in the place of a game
    ".toml": "a hold'em spot is solved first; its solved file is looked at by itself, and played as file:FILE",
    ".eq": "a saved strategy plays as the agent file:{}, and is looked at beside its game's name",
}


def make_game(name: str, **parameters: Any) -> Game[Any]:
    """Returns the game of that name; parameters may be given as text.

    Args:
        name: A name from `game_names`, `openspiel:` and a game of OpenSpiel, `game.efg`, or `file.py:Class`; without
            parameters also a label, as `parse_game` reads it.
        **parameters: What differs from the defaults that `describe_parameters` lists.

    >>> make_game("leduc", ranks="4").spec.parameters["ranks"]
    4
    """
    check_text("game", name)
    if name.startswith(PREFIX):
        return load_openspiel(name.removeprefix(PREFIX), **parameters)
    if (own := _parse_own(name)) is not None:
        return make_own_game(own, parameters)
    if name.endswith(EFG_SUFFIX):
        if parameters:
            raise ConfigError(f"a file has no parameters, got {', '.join(parameters)} for {name}")
        return load_efg(name)
    if "(" in name and not parameters:
        return parse_game(name)
    if name.rstrip(":").endswith(".py"):
        raise ConfigError(f"a game of your own is written {name.rstrip(':')}:Class, got {name!r}")
    game_class = _game_class(name)
    known = [row.name for row in parameter_rows(game_class)]
    for key in parameters:
        if key not in known:
            allowed = f"it has {', '.join(known)}" if known else "it has none"
            raise ConfigError(f"{name} has no parameter {key!r}; {allowed}")
    game: Game[Any] = game_class(**parameters)
    return game


def parse_game(text: str) -> Game[Any]:
    """Returns the game that a label such as `leduc(ranks=4,first_sizes=1,2)` names.

    >>> parse_game("goofspiel(cards=4)").spec.parameters["cards"]
    4
    """
    check_text("game", text)
    name, parenthesis, inside = text.strip().partition("(")
    if (own := _parse_own(text)) is not None:  # the path of its file may have parentheses too
        name, parenthesis, inside = str(own), own.rest[:1], own.rest[1:]
    if not parenthesis or name.startswith(PREFIX):  # OpenSpiel reads its own games
        return make_game(text.strip())
    if parenthesis != "(" or not inside.endswith(")"):
        raise ParseError(f"a game is written name(key=value,...), got {text!r}")
    return make_game(name, **_parse_parameters(inside[:-1], text))


def take_game(what: Game[Any] | str) -> Game[Any]:
    """Returns a game that is given as it is or by its label.

    >>> take_game("kuhn").spec.label, take_game(make_game("kuhn", players=3)).spec.label
    ('kuhn(players=2)', 'kuhn(players=3)')
    """
    if isinstance(what, str):
        return parse_game(what)
    check_given_game(what)
    return what


def format_game(game: Game[Any]) -> str:
    """Returns the game with the parameters that differ from their defaults; `parse_game` reads it back.

    >>> format_game(make_game("kuhn")), format_game(make_game("kuhn", players=3))
    ('kuhn', 'kuhn(players=3)')
    """
    check_given_game(game)
    spec = game.spec
    defaults = {row.name: row.default for row in describe_parameters(spec.name)} if spec.name in GAMES else {}
    texts = {key: format_value(value) for key, value in spec.parameters.items()}
    inside = ",".join(f"{key}={text}" for key, text in texts.items() if defaults.get(key) != text)
    return f"{spec.name}({inside})" if inside else spec.name


def is_game_name(name: str) -> bool:
    """Returns whether a name is of the kind that `make_game` knows what to do with."""
    return name in GAMES or name.startswith(PREFIX) or name.endswith(EFG_SUFFIX) or _parse_own(name) is not None


def find_name(game: Game[Any]) -> str:
    """Returns the name by which `make_game` makes a game again: its class if it lives outside the package."""
    return find_own_text(game) or game.spec.name


def describe_game(name: str) -> str:
    """Returns one line about the game of that name."""
    if name.startswith(PREFIX):
        return f"{name.removeprefix(PREFIX)} as OpenSpiel plays it."
    if (own := _parse_own(name)) is not None:
        return describe_own(own)
    if name.endswith(EFG_SUFFIX):
        return load_efg(name).title
    _check_name(name)
    return GAMES.describe(name)


def describe_parameters(name: str) -> tuple[ParameterRow, ...]:
    """Returns the parameters of the game of that name, in order.

    >>> [row.name for row in describe_parameters("liars_dice")]
    ['dice', 'faces']
    """
    check_text("game", name)
    if name.startswith(PREFIX):
        return openspiel_parameter_rows(name.removeprefix(PREFIX))
    if (own := _parse_own(name)) is not None:
        return own_parameter_rows(own)
    if name.endswith(EFG_SUFFIX):
        return ()
    return parameter_rows(_game_class(name))


def _game_class(name: str) -> type[Any]:
    _check_name(name)
    game_class: type[Any] = GAMES[name]
    return game_class


def _check_name(name: str) -> None:
    if name in GAMES:
        return
    for suffix, hint in FILE_HINTS.items():
        if name.endswith(suffix):
            raise ConfigError(f"expected a game such as kuhn, got {name!r}: {hint.format(name)}")
    raise UnknownNameError("game", name, GAMES)


def _parse_own(text: str) -> ClassText | None:
    """Returns the user's class that a text names, None if it names a game in another way."""
    return None if text.strip().startswith(PREFIX) else parse_class_text(text)


def _parse_parameters(inside: str, text: str) -> dict[str, str]:
    """Returns keys and values; a piece without `=` belongs to the value before it: lists need no quotes."""
    values: dict[str, str] = {}
    key = ""
    for piece in inside.split(",") if inside.strip() else ():
        before, equals, after = piece.partition("=")
        if equals:
            key = before.strip()
            if key in values:
                raise ParseError(f"parameter {key!r} is given twice in {text!r}")
            values[key] = after
        elif key:
            values[key] += f",{piece}"
        else:
            raise ParseError(f"a game is written name(key=value,...), got {text!r}")
    return values


def parse_game_options(name: str, pairs: Iterable[str]) -> Game[Any]:
    """Returns the game of a name and `key=value` texts, or of a whole label such as `leduc(ranks=4)`."""
    parameters = parse_parameters(pairs)
    if "(" not in name:
        return make_game(name, **parameters)
    if parameters:
        raise ConfigError(f"parameters are given twice: in {name!r} and beside it")
    return parse_game(name)
