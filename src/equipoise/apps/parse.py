# SPDX-License-Identifier: Apache-2.0
"""Lists of names in the options of the command line."""

from __future__ import annotations

from equipoise.core.errors import ConfigError

__all__ = ["parse_names", "split_list"]


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
