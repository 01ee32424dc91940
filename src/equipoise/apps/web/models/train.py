# SPDX-License-Identifier: Apache-2.0
"""Practice: questions, answers, how it goes."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from equipoise.apps.web.models.spots import Strict

__all__ = ["Answer", "Judgement", "NextQuestion", "Question", "TrainingStats"]


class NextQuestion(Strict):
    """What to ask about."""

    solutions: list[str] = Field(default_factory=list, max_length=100)
    street: Literal["preflop", "flop", "turn", "river"] | None = None
    player: Literal[0, 1] | None = None


class QuestionAction(BaseModel):
    """An action to choose."""

    id: str
    name: str
    kind: str
    to: float | None
    pot_share: float | None


class QuestionStep(BaseModel):
    """What happened before."""

    player: int | None = None
    name: str | None = None
    cards: list[str] | None = None


class Question(BaseModel):
    """A decision to make."""

    question: str
    solution: str
    line: list[str]
    text: str
    steps: list[QuestionStep]
    board: list[str]
    street: str
    player: int
    seats: list[str]
    hand: str
    pot: float
    to_call: float
    stacks: list[float]
    big_blind: float
    actions: list[QuestionAction]


class Answer(Strict):
    """The decision that was made."""

    question: str = Field(max_length=40)
    action: str = Field(max_length=40)


class Figures(BaseModel):
    """Answers in sum; losses in big blinds."""

    decisions: int
    right: int
    lost: float
    lost_per_decision: float | None


class PastAnswer(BaseModel):
    """An answer that was given."""

    model_config = ConfigDict(populate_by_name=True)

    question: str
    solution: str
    line: list[str]
    hand: str
    street: str
    named: str | None = Field(alias="class")
    verdict: str
    loss_bb: float


class TrainingStats(Figures):
    """How it goes."""

    by_street: dict[str, Figures]
    by_class: dict[str, Figures]
    last: list[PastAnswer]


class JudgedAction(BaseModel):
    """What an action would have been worth, and how often the solution takes it."""

    id: str
    name: str
    probability: float
    ev: float | None


class Judgement(PastAnswer):
    """What an answer was worth."""

    action: str
    best: str
    loss: float
    loss_percent: float
    actions: list[JudgedAction]
    stats: TrainingStats
