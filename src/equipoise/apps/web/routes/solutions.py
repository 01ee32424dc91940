# SPDX-License-Identifier: Apache-2.0
"""`/api/solutions`: solved files, and places in solved spots."""

from __future__ import annotations

import dataclasses
import json
import math
import secrets
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import FileResponse, PlainTextResponse
from starlette.concurrency import run_in_threadpool

from equipoise.apps.web.errors import ApiError
from equipoise.apps.web.library import UPLOADS
from equipoise.apps.web.models.errors import describe_text
from equipoise.apps.web.models.solutions import (
    Cards,
    Comparison,
    Equities,
    Gain,
    GainForm,
    Node,
    Rename,
    SolutionCard,
    SolutionDetails,
    SolutionList,
)
from equipoise.apps.web.services import Services, UsedServices, answer_json, ask_while_wanted
from equipoise.apps.web.spots import form_of
from equipoise.apps.web.worker import describe_record
from equipoise.core.records import make_finite
from equipoise.games.holdem.spot_file import format_spot
from equipoise.solvers.holdem.solved_spot import SolvedSpot

__all__ = ["router"]

router = APIRouter(prefix="/solutions", tags=["solutions"])

Line = Annotated[str, Query(max_length=500, description="Tokens joined by commas: x,b50p,c,As")]
Values = Annotated[bool, Query(description="false does not wait for the values of large files")]


@router.get("", response_model=SolutionList)
def list_solutions(services: UsedServices) -> Any:
    """Returns every solved file that may be asked for."""
    return {"solutions": services.library.list_cards()}


@router.post(
    "",
    status_code=201,
    response_model=SolutionCard,
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
        }
    },
)
async def upload(
    request: Request, services: UsedServices, name: Annotated[str, Query(max_length=200)] = "upload"
) -> Any:
    """Takes in a file that `equipoise solve` wrote."""
    part = services.settings.runs / UPLOADS / f"{secrets.token_hex(8)}.part"
    try:
        with open(part, "wb") as file:
            async for piece in request.stream():
                file.write(piece)
        return await run_in_threadpool(services.library.take_in, part, name)
    finally:
        part.unlink(missing_ok=True)


@router.get("/{id}", response_model=SolutionDetails)
def show_solution(id: str, services: UsedServices) -> Any:
    """Returns what a file says of its run."""
    return _describe(id, services)


@router.patch("/{id}", response_model=SolutionCard)
def rename(id: str, change: Rename, services: UsedServices) -> Any:
    """Gives a solution another name in lists."""
    return services.library.rename(id, change.name)


@router.delete("/{id}", status_code=204)
def remove(id: str, services: UsedServices) -> Response:
    """Removes a solution that was made or uploaded here."""
    listed = services.library.find(id)
    if listed.job is not None:
        services.jobs.remove(listed.job)
        services.library.forget(id)
    else:
        services.library.remove(id)
    return Response(status_code=204)


@router.post("/{id}/duplicate", status_code=201, response_model=SolutionCard)
def duplicate(id: str, services: UsedServices) -> Any:
    """Copies a solution."""
    return services.library.duplicate(id)


@router.get("/{id}/file", response_model=None, responses=describe_text("application/octet-stream"))
def download(id: str, services: UsedServices) -> FileResponse:
    """Returns the file itself."""
    listed = services.library.find(id)
    return FileResponse(listed.path, media_type="application/octet-stream", filename=f"{id}.eq")


@router.get("/{id}/spot", response_model=None, responses=describe_text("application/toml"))
def download_spot(id: str, services: UsedServices) -> PlainTextResponse:
    """Returns the spot's file."""
    with services.library.opened_spot(id) as (_, solved):
        return _attach(format_spot(solved.file), f"{id}.toml", "application/toml")


@router.get("/{id}/csv", response_model=None, responses=describe_text("text/csv"))
def download_hands(id: str, services: UsedServices, line: Line = "") -> PlainTextResponse:
    """Returns a decision as a table, a line a hand."""
    return _attach(services.places.write_csv(id, line), f"{id}.csv", "text/csv")


@router.get("/{id}/node", response_model=Node)
async def show_node(id: str, request: Request, services: UsedServices, line: Line = "", values: Values = True) -> Any:
    """Returns a place in a solved spot."""
    places = services.places
    return answer_json(
        await ask_while_wanted(request, lambda wish: places.describe_node(id, line, has_values=values, wish=wish))
    )


@router.get("/{id}/cards", response_model=Cards)
async def show_cards(id: str, request: Request, services: UsedServices, line: Line = "", values: Values = True) -> Any:
    """Returns every card that may come where a street ends."""
    places = services.places
    return answer_json(
        await ask_while_wanted(request, lambda wish: places.describe_cards(id, line, has_values=values, wish=wish))
    )


@router.get("/{id}/equities", response_model=Equities)
def show_equities(id: str, services: UsedServices, line: Line = "") -> Any:
    """Returns both ranges from their weakest to their strongest hand."""
    return services.places.describe_equities(id, line)


@router.get("/{id}/gain", response_model=Gain)
async def show_gain(
    id: str, request: Request, services: UsedServices, line: Line = "", respects_locks: bool = True
) -> Any:
    """Returns what best responses would win more, hand by hand."""
    places = services.places
    return answer_json(
        await ask_while_wanted(
            request, lambda wish: places.describe_gain(id, line, respects_locks=respects_locks, wish=wish)
        )
    )


@router.post("/{id}/gain", response_model=Gain)
async def show_gain_against(id: str, form: GainForm, request: Request, services: UsedServices) -> Any:
    """Returns what best responses would win more if some hands played as told, nothing solved again."""
    places = services.places
    line = form.line if isinstance(form.line, str) else ",".join(form.line)
    return answer_json(
        await ask_while_wanted(request, lambda wish: places.describe_gain_against(id, line, form.locks, wish))
    )


@router.get("/{id}/compare", response_model=Comparison)
async def compare(
    id: str,
    request: Request,
    services: UsedServices,
    other: Annotated[str, Query(alias="with")],
    line: Line = "",
    values: Values = True,
) -> Any:
    """Returns a place in two solutions, with what differs."""
    places = services.places
    found = await ask_while_wanted(request, lambda wish: places.compare(id, other, line, has_values=values, wish=wish))
    return answer_json(json.dumps(found, separators=(",", ":")).encode())


def _attach(text: str, name: str, kind: str) -> PlainTextResponse:
    return PlainTextResponse(text, media_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'})


def _describe(id: str, services: Services) -> dict[str, Any]:
    listed = services.library.find(id)
    card = services.library.describe(listed)
    if card["error"] is not None:
        raise ApiError(409, str(card["error"]), code="failed")
    with services.library.opened(id) as file:
        solved = file.solution
        is_spot = isinstance(solved, SolvedSpot)
        pot = card["pot"] if is_spot else None
        records = [] if solved.run is None else list(solved.progress)
        details: dict[str, Any] = {
            "label": solved.label,
            "seats": None,
            "rake": None,
            "spot": None,
            "text": None,
            "rule": None if solved.run is None else solved.config.rule,
            "seconds": records[-1].seconds if records else None,
            "stopped_by": None if solved.run is None else solved.stopped_by,
            "config": {} if solved.run is None else make_finite(dataclasses.asdict(solved.config)),
            "progress": [describe_record(record, pot) for record in records],
        }
        if isinstance(solved, SolvedSpot):
            spot = solved.spot
            cap = None if math.isinf(spot.rake_cap) else spot.rake_cap
            details |= {
                "seats": list(solved.file.seat_names),
                "rake": {"rate": spot.rake_rate, "cap": cap} if spot.rake_rate else None,
                "spot": form_of(solved.file),
                "text": format_spot(solved.file),
            }
    return {**card, **details}
