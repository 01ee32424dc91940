# SPDX-License-Identifier: Apache-2.0
"""Ids: short names that a server gives and takes in the place of paths."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["make_id"]

LONGEST_ID: Final = 60


def make_id(name: str) -> str:
    """Returns a name as ids are: small letters, digits and dashes.

    >>> make_id("My Turn (2).v1")
    'my-turn-2-v1'
    """
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:LONGEST_ID] or "solution"
