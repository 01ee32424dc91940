# SPDX-License-Identifier: Apache-2.0
"""Names and limits that help of commands mentions, without what they name: help is there before numbers are loaded.

`tests/apps/test_startup.py` holds them against the tables of rules, methods, prunings and responses.
"""

from __future__ import annotations

import enum
from typing import Final

__all__ = ["MAX_HISTORIES", "METHODS", "PRUNINGS", "RESPONSES", "RULES", "SAMPLED_PRUNINGS", "Bound", "Forms"]

MAX_HISTORIES: Final = 20_000_000  # of games, unless another limit is given
RULES: Final = (
    "cfr",
    "cfr+",
    "cfr+linear",
    "lcfr",
    "lcfr+",
    "dcfr",
    "dcfr+",
    "scheduled",
    "pcfr+",
    "hedge",
    "normal-hedge",
)
METHODS: Final = (
    "cfr",
    "external",
    "outcome",
    "chance",
    "public-chance",
    "egt",
    "fp",
    "linear-fp",
    "flop",
    "own",
    "lp",
)
PRUNINGS: Final = ("partial", "rbp", "brp")
SAMPLED_PRUNINGS: Final = ("rbs", "libratus", "pluribus")
RESPONSES: Final = (
    "uniform",
    "call",
    "static",
    "library",
    "uct",
    "fbr",
    "abstract",
    "rnr",
    "mimic",
    "dbr",
    "mix",
    "average",
    "domination",
    "best",
)


class Forms(enum.StrEnum):
    """What is swept."""

    HISTORY = "history"
    VECTOR = "vector"
    GAME = "game"


class Bound(enum.StrEnum):
    """What the bound on regrets of a warm start has of external reach."""

    REACH = "reach"
    REACH_SQUARED = "reach2"
