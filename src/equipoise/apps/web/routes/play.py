# SPDX-License-Identifier: Apache-2.0
"""`/api/agents`, `/api/tables`: a person against an agent."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from fastapi.responses import PlainTextResponse

from equipoise.apps.web.listing import list_agents
from equipoise.apps.web.models.errors import describe_text
from equipoise.apps.web.models.play import AgentList, HandList, Move, TableAnswer, TableForm, TableList, Thoughts
from equipoise.apps.web.services import UsedServices
from equipoise.apps.web.tables import GameTable

__all__ = ["router"]

router = APIRouter(tags=["play"])


@router.get("/agents", response_model=AgentList)
def show_agents(services: UsedServices) -> Any:
    """Returns who may be played against."""
    return {"agents": list_agents(services.library)}


@router.get("/tables", response_model=TableList)
def list_tables(services: UsedServices) -> Any:
    """Returns all tables."""
    return {"tables": services.tables.list_tables()}


@router.post("/tables", status_code=201, response_model=TableAnswer)
def open_table(form: TableForm, services: UsedServices) -> Any:
    """Sits down and deals the first hand."""
    parameters = None if form.parameters is None else dict(form.parameters)
    table = services.tables.open(form.agent, form.game, parameters, seconds=form.seconds, seed=form.seed)
    return _show(table)


@router.get("/tables/{id}", response_model=TableAnswer)
def show_table(id: str, services: UsedServices) -> Any:
    """Returns all that the person sees."""
    return services.tables.find(id).describe()


@router.delete("/tables/{id}", status_code=204)
def leave(id: str, services: UsedServices) -> Response:
    """Leaves a table."""
    services.tables.close(id)
    return Response(status_code=204)


@router.post("/tables/{id}/act", response_model=TableAnswer)
def act(id: str, move: Move, services: UsedServices) -> Any:
    """Makes the person's move; waits for the agent a little."""
    table = services.tables.find(id)
    table.act(move.action, move.hand)
    return _show(table)


@router.post("/tables/{id}/next", response_model=TableAnswer)
def deal(id: str, services: UsedServices) -> Any:
    """Deals the next hand."""
    table = services.tables.find(id)
    table.deal()
    return _show(table)


@router.get("/tables/{id}/thoughts", response_model=Thoughts)
def show_thoughts(id: str, services: UsedServices, hand: Annotated[int | None, Query(ge=1, le=10**9)] = None) -> Any:
    """Returns what the agent thought in a hand that is over."""
    return services.tables.find(id).describe_thoughts(hand)


@router.get("/tables/{id}/hands", response_model=HandList)
def list_hands(id: str, services: UsedServices) -> Any:
    """Returns the hands that are over."""
    return {"hands": services.tables.find(id).list_hands()}


@router.get("/tables/{id}/history.phh", response_model=None, responses=describe_text("text/plain"))
def download_history(id: str, services: UsedServices) -> PlainTextResponse:
    """Returns the hands of hold'em that are over as poker hand histories."""
    headers = {"Content-Disposition": f'attachment; filename="{id}.phhs"'}
    return PlainTextResponse(services.tables.find(id).write_history(), headers=headers)


def _show(table: GameTable) -> dict[str, Any]:
    table.wait()
    return table.describe()
