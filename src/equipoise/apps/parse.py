# SPDX-License-Identifier: Apache-2.0
"""What the command line's options hold: lists of names, a game and its parameters."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from equipoise.core.errors import ConfigError
from equipoise.games.base import Game
from equipoise.games.parameters import parse_parameters
from equipoise.games.registry import make_game, parse_game

__all__ = ["parse_game_options", "parse_names", "split_list"]


def split_list(text: str) -> list[str]:
    """Returns the items of a list separated by commas; commas in parentheses belong to their item.

    >>> split_list("cfr, dcfr(1.5,0,2),lcfr")
    ['cfr', 'dcfr(1.5,0,2)', 'lcfr']
    """
    items, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            items.append("")
        else:
            items[-1] += letter
    return [item.strip() for item in items if item.strip()]


def parse_names(option: str, text: str) -> tuple[str, ...]:
    """Returns the items of an option's list, at least one."""
    names = tuple(split_list(text))
    if not names:
        raise ConfigError(f"{option} needs at least one name, got {text!r}")
    return names


def parse_game_options(name: str, pairs: Iterable[str]) -> Game[Any]:
    """Returns the game of a name and `key=value` texts, or of a whole label such as `leduc(ranks=4)`."""
    parameters = parse_parameters(pairs)
    if "(" not in name:
        return make_game(name, **parameters)
    if parameters:
        raise ConfigError(f"parameters are given twice: in {name!r} and with -p")
    return parse_game(name)
