# SPDX-License-Identifier: Apache-2.0
"""Which games and agents may be asked for, by id: those of the package, and files that are listed."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, Final

from equipoise.agents.notation import AGENTS
from equipoise.apps.web.errors import ApiError
from equipoise.apps.web.library import Library, ListedFile
from equipoise.core.errors import EquipoiseError
from equipoise.games.base import Game
from equipoise.games.registry import GAMES, describe_game, describe_parameters, make_game

__all__ = ["FILE_PREFIX", "find_agent", "find_game", "list_agents", "list_games"]

FILE_PREFIX: Final = "file-"  # of agents that play a listed file
SLOW: Final = ("supremus", "deepstack", "continual")
HOLDEM: Final = ("holdem", "holdem_limit", "flop_holdem")
PLAYED: Final = ("kuhn", "leduc", "leduc5", "leduc_nolimit", "liars_dice", "goofspiel", *HOLDEM)
ONLY: Final[Mapping[str, tuple[str, ...]]] = {  # games of agents that do not play all
    "pushfold": ("holdem",),
    "supremus": ("holdem", "leduc"),
    "deepstack": ("holdem", "leduc"),
    "continual": ("kuhn", "leduc", "leduc5", "leduc_nolimit", "liars_dice"),
}
UNSUITED: Final = ("matrix",)  # payoffs are its parameters


@functools.cache
def _list_games() -> tuple[dict[str, Any], ...]:
    rows = []
    for name in GAMES:
        if name in UNSUITED:
            continue
        game = make_game(name)
        rows.append(
            {
                "id": name,
                "name": name.replace("_", " "),
                "description": describe_game(name),
                "players": game.spec.num_players,
                "parameters": [
                    {"name": row.name, "kind": row.type, "default": row.default, "description": row.description}
                    for row in describe_parameters(name)
                ],
                "can_play": name in PLAYED,
                "can_solve": name not in HOLDEM and game.spec.num_players == 2,
            }
        )
    return tuple(rows)


def list_games() -> list[dict[str, Any]]:
    """Returns the games of the package with their parameters."""
    return list(_list_games())


def find_game(name: str, parameters: Mapping[str, Any] | None) -> Game[Any]:
    """Returns a game of the package; files, classes and games of other packages are refused whatever they are called.

    Args:
        name: one that is listed.
        parameters: of it.
    """
    if name not in {row["id"] for row in list_games()}:
        raise ApiError(422, "there is no such game; /api/games lists them", code="config", field="game", got=name)
    known = {row.name for row in describe_parameters(name)}
    given = {key: value if isinstance(value, str) else str(value).lower() for key, value in (parameters or {}).items()}
    for key in given:
        if key not in known:
            raise ApiError(422, f"{name} has no such parameter", code="config", field=f"parameters.{key}")
    try:
        return make_game(name, **given)
    except EquipoiseError as error:
        raise ApiError.of(error, field="parameters") from None


def list_agents(library: Library) -> list[dict[str, Any]]:
    """Returns who may be played against: agents of the package that need no file, and listed files."""
    rows: list[dict[str, Any]] = [
        {
            "id": name,
            "name": name,
            "description": entry.description,
            "games": list(ONLY[name]) if name in ONLY else list(PLAYED),
            "is_slow": name in SLOW,
            "solution": None,
        }
        for name, entry in AGENTS.items()
        if not entry.has_file and (not entry.settings or entry.is_optional)
    ]
    for listed in library.list_files():
        card = library.describe(listed)
        if card["error"] is not None or card["kind"] not in ("game", "strategy", "spot"):
            continue
        name = str(card["game"]).partition("(")[0]
        if card["kind"] != "spot" and name not in PLAYED:
            continue
        rows.append(
            {
                "id": f"{FILE_PREFIX}{listed.id}",
                "name": card["name"],
                "description": "plays this solution",
                "games": ["spot" if card["kind"] == "spot" else name],
                "is_slow": False,
                "solution": listed.id,
            }
        )
    return rows


def find_agent(library: Library, id: str) -> tuple[str, ListedFile | None]:
    """Returns an agent as the library writes it, and its file; whatever is not listed is refused."""
    for row in list_agents(library):
        if row["id"] != id:
            continue
        if row["solution"] is None:
            return id, None
        listed = library.find(row["solution"])
        return f"file:{listed.path}", listed
    raise ApiError(422, "there is no such agent; /api/agents lists them", code="config", field="agent", got=id)
