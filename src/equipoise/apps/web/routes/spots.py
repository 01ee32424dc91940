# SPDX-License-Identifier: Apache-2.0
"""`/api/spots`, `/api/range`, `/api/board`, `/api/estimate`: what is typed before anything is solved."""

from __future__ import annotations

from typing import Any, Final

from fastapi import APIRouter, Response

from equipoise.apps.web.models.spots import (
    BoardAnswer,
    BoardText,
    Estimate,
    ExampleList,
    MenuList,
    RangeAnswer,
    RangeQuestion,
    RangeText,
    SavedRange,
    SavedRangeList,
    SpotAnswer,
    SpotQuestion,
    SpotText,
)
from equipoise.apps.web.services import UsedServices, read_example
from equipoise.apps.web.spots import (
    answer_board,
    answer_range,
    answer_spot,
    estimate_spot,
    form_of,
    read_form,
    read_text,
)
from equipoise.games.holdem.menu_notation import MENUS, format_menu

__all__ = ["router"]

router = APIRouter(tags=["spots"])

EXAMPLES: Final = ("river", "turn", "flop")


@router.get("/spots", response_model=ExampleList)
def list_examples() -> Any:
    """Returns spots to begin with."""
    rows = []
    for name in EXAMPLES:
        text = read_example(name)
        title = text.partition("\n")[0].strip("# ").rstrip(".")
        rows.append({"id": name, "name": name, "title": title, "spot": form_of(read_text(text)), "text": text})
    return {"spots": rows}


@router.post("/spots/check", response_model=SpotAnswer)
def check_spot(question: SpotQuestion) -> Any:
    """Returns a spot as it would be solved, and as a file; refuses one that cannot be, with the field."""
    return answer_spot(read_form(question.spot))


@router.post("/spots/parse", response_model=SpotAnswer)
def parse_spot_text(question: SpotText) -> Any:
    """Returns the spot of a file's text."""
    return answer_spot(read_text(question.text))


@router.get("/menus", response_model=MenuList)
def list_menus() -> Any:
    """Returns menus that have names."""
    return {"menus": [{"name": name, "text": format_menu(menu)} for name, menu in MENUS.items()]}


@router.post("/range", response_model=RangeAnswer)
def read_range(question: RangeQuestion) -> Any:
    """Returns a range in both notations."""
    return answer_range(question.text, question.weights, question.board)


@router.post("/board", response_model=BoardAnswer)
def read_board(question: BoardText) -> Any:
    """Returns the cards of a board."""
    return answer_board(question.text)


@router.get("/ranges", response_model=SavedRangeList)
def list_ranges(services: UsedServices) -> Any:
    """Returns the ranges that were kept."""
    return {"ranges": services.ranges.list_ranges()}


@router.put("/ranges/{name:path}", response_model=SavedRange)
def keep_range(name: str, content: RangeText, services: UsedServices) -> Any:
    """Keeps a range under a name."""
    return services.ranges.keep(name, content.text)


@router.delete("/ranges/{name:path}", status_code=204)
def remove_range(name: str, services: UsedServices) -> Response:
    """Forgets a range."""
    services.ranges.remove(name)
    return Response(status_code=204)


@router.post("/estimate", response_model=Estimate)
def estimate(question: SpotQuestion, services: UsedServices) -> Any:
    """Returns what solving a spot would take."""
    settings = services.settings
    return estimate_spot(
        read_form(question.spot),
        services.paces,
        job_bytes=settings.find_job_bytes(),
        num_threads=settings.find_threads(),
    )
