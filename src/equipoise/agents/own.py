# SPDX-License-Identifier: Apache-2.0
"""Agents that live outside the package, by the name of their class: `module:Class` or `file.py:Class`."""

from __future__ import annotations

import inspect
from typing import Any, Final

from equipoise.agents.base import Agent
from equipoise.core.errors import ConfigError
from equipoise.core.own_code import ClassText, call_own, load_class
from equipoise.games.base import Game

__all__ = ["make_own_agent"]

METHODS: Final = ("begin_game", "observe", "act")


def make_own_agent(text: ClassText, game: Game[Any], options: str) -> Agent:
    """Returns a user's agent; raises `ConfigError` if there is none, it is no agent or its constructor raises.

    Args:
        text: names its class, which is called with the game and the options, or with as much of that as it takes.
        game: what will be played.
        options: what was written behind the class; its own business.
    """
    kind = load_class(text)
    if missing := [name for name in METHODS if not callable(getattr(kind, name, None))]:
        raise ConfigError(
            f"{text} is not an agent: it lacks {', '.join(missing)} (agents.PolicyAgent has all but `probabilities`)"
        )
    if abstract := sorted(getattr(kind, "__abstractmethods__", ())):
        raise ConfigError(f"{text} is not a whole agent: its class must still say {', '.join(abstract)}")
    arguments = _find_arguments(text, kind, (game, options) if options else (game,))
    agent: Agent = call_own(f"the constructor of {text}", lambda: kind(*arguments))
    if not isinstance(getattr(agent, "name", None), str):
        call_own(f"naming {text}, which has no name,", lambda: setattr(agent, "name", text.name))
    return agent


def _find_arguments(text: ClassText, kind: type[Any], given: tuple[Any, ...]) -> tuple[Any, ...]:
    """Returns what a constructor is called with: the game and options, unless it takes neither and there are none."""
    signature = inspect.signature(kind)
    for arguments in (given, ()) if len(given) == 1 else (given,):
        try:
            signature.bind(*arguments)
        except TypeError:
            continue
        return arguments
    wanted = "(game, options)" if len(given) > 1 else "(game) or nothing"
    raise ConfigError(f"the constructor of {text} must take {wanted}, it takes {signature}")
