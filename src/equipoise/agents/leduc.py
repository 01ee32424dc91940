# SPDX-License-Identifier: Apache-2.0
"""DeepStack in Leduc: continual re-solving with a network that values the second round."""

from __future__ import annotations

from equipoise.agents.continual import ContinualAgent
from equipoise.core.errors import UnknownNameError
from equipoise.games.leduc import Leduc
from equipoise.games.parameters import parse_parameters, parse_value
from equipoise.games.registry import format_game
from equipoise.learning.values.leduc_search import leduc_leaves, leduc_settings
from equipoise.learning.values.shipped import find_leduc_net
from equipoise.trees.derive import derive_public_game

__all__ = ["make_leduc_agent"]


def make_leduc_agent(name: str, game: Leduc, text: str = "") -> ContinualAgent:
    """Returns the agent for a form of Leduc that there is a network for.

    Args:
        name: for tables of results.
        game: what is played.
        text: `iterations=N` of each search, `nets=DIR` where networks lie, with a comma between them.
    """
    iterations, nets = 1000, ""
    for key, value in parse_parameters(text.split(",") if text else ()).items():
        if key == "iterations":
            iterations = int(parse_value(key, value, int))
        elif key == "nets":
            nets = value
        else:
            raise UnknownNameError("option in Leduc", key, ("iterations", "nets"))
    stored = find_leduc_net(format_game(game), nets=nets)
    public = derive_public_game(game)
    settings = leduc_settings(leduc_leaves(stored, game, public), iterations=iterations)
    return ContinualAgent(public, search=settings, name=name)
