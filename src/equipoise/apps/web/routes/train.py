# SPDX-License-Identifier: Apache-2.0
"""`/api/train`: decisions to practise on."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response

from equipoise.apps.web.models.train import Answer, Judgement, NextQuestion, Question, TrainingStats
from equipoise.apps.web.services import UsedServices

__all__ = ["router"]

router = APIRouter(prefix="/train", tags=["train"])


@router.post("/next", response_model=Question)
def ask(wanted: NextQuestion, services: UsedServices) -> Any:
    """Returns a decision to make."""
    return services.trainer.ask(wanted.solutions, wanted.street, wanted.player)


@router.post("/answer", response_model=Judgement)
def judge(answer: Answer, services: UsedServices) -> Any:
    """Returns what an answer was worth."""
    return services.trainer.judge(answer.question, answer.action)


@router.get("/stats", response_model=TrainingStats)
def show_stats(services: UsedServices) -> Any:
    """Returns how it goes."""
    return services.trainer.describe()


@router.delete("/stats", status_code=204)
def forget_stats(services: UsedServices) -> Response:
    """Begins to count anew."""
    services.trainer.forget()
    return Response(status_code=204)
