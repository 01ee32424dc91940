# SPDX-License-Identifier: Apache-2.0
"""What a shell offers for a value that is being typed; nothing is loaded for it before a key asks."""

from __future__ import annotations

import importlib

from equipoise.apps.names import METHODS, RULES

__all__ = ["complete_game", "complete_method", "complete_rule", "complete_study"]


def complete_game(incomplete: str) -> list[str]:
    """Returns the games whose names begin like this; where there is none the shell offers files."""
    return [
        name
        for name in importlib.import_module("equipoise.games.catalogue").game_names()
        if name.startswith(incomplete)
    ]


def complete_study(incomplete: str) -> list[str]:
    """Returns the studies whose names begin like this."""
    return [
        name for name in importlib.import_module("equipoise.studies.registry").STUDIES if name.startswith(incomplete)
    ]


def complete_rule(incomplete: str) -> list[str]:
    """Returns the rules whose names begin like this."""
    return [name for name in RULES if name.startswith(incomplete)]


def complete_method(incomplete: str) -> list[str]:
    """Returns the methods whose names begin like this."""
    return [name for name in METHODS if name.startswith(incomplete)]
