# SPDX-License-Identifier: Apache-2.0
"""Solved games that are no spots, under `/api/solutions`, and `/api/games`: which games there are."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from equipoise.apps.web.listing import list_games
from equipoise.apps.web.models.games import GameList, GameState, GameTree, InfostateList
from equipoise.apps.web.services import UsedServices

__all__ = ["router"]

router = APIRouter(tags=["games"])


@router.get("/games", response_model=GameList)
def show_games() -> Any:
    """Returns the games that this package has."""
    return {"games": list_games()}


@router.get("/solutions/{id}/state", response_model=GameState)
def show_state(id: str, services: UsedServices, line: Annotated[str, Query(max_length=2000)] = "") -> Any:
    """Returns a public state of a solved game, by its label."""
    return services.games.describe_state(id, line)


@router.get("/solutions/{id}/infostates", response_model=InfostateList)
def show_infostates(
    id: str,
    services: UsedServices,
    match: Annotated[str, Query(max_length=200)] = "",
    player: Annotated[int | None, Query(ge=0, le=20)] = None,
    offset: Annotated[int, Query(ge=0, le=10**9)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> Any:
    """Returns information states with what is done there."""
    return services.games.list_infostates(id, match, player, offset=offset, limit=limit)


@router.get("/solutions/{id}/tree", response_model=GameTree)
def show_tree(id: str, services: UsedServices, limit: Annotated[int, Query(ge=1, le=2000)] = 200) -> Any:
    """Returns every history of a small game."""
    return services.games.draw_tree(id, limit)
