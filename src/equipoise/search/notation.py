# SPDX-License-Identifier: Apache-2.0
"""Methods of search by the names that are typed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from equipoise.core.checks import check_text
from equipoise.core.errors import UnknownNameError
from equipoise.search.gadgets import Distribution, Estimate, Maxmargin, Method, Reach, Resolve, Unsafe
from equipoise.search.holdem.depth_limit import LeafChoices

__all__ = ["LEAF_CHOICES", "METHODS", "parse_leaf_choices", "parse_method"]

MIXED_SHARE: Final = 0.2  # Player of Games
METHODS: Final[Mapping[str, Method]] = {
    "unsafe": Unsafe(),
    "resolve": Resolve(),
    "mixed-resolve": Resolve(share=MIXED_SHARE),
    "reach-resolve": Resolve(reach=Reach()),
    "maxmargin": Maxmargin(),
    "reach-maxmargin": Maxmargin(reach=Reach()),
    "estimate": Resolve(alternatives=Estimate()),
    "estimate+distribution": Resolve(alternatives=Estimate(), distribution=Distribution()),
    "reach-estimate+distribution": Resolve(alternatives=Estimate(), distribution=Distribution(), reach=Reach()),
}

LEAF_CHOICES: Final[Mapping[str, LeafChoices]] = {"opponent": LeafChoices(), "both": LeafChoices.both()}


def parse_leaf_choices(text: str) -> LeafChoices:
    """Returns who chooses at leaves; an unknown name raises with the nearest."""
    if text not in LEAF_CHOICES:
        raise UnknownNameError("player at leaves", text, LEAF_CHOICES)
    return LEAF_CHOICES[text]


def parse_method(text: str) -> Method:
    """Returns the method of that name; an unknown one raises with the nearest names.

    >>> reach = parse_method("reach-maxmargin").reach
    >>> reach.bound, reach.scale, reach.is_split
    (<GiftBound.LOWER: 'lower'>, 1.0, True)
    """
    check_text("method", text)
    if text not in METHODS:
        raise UnknownNameError("search method", text, METHODS)
    return METHODS[text]
