# SPDX-License-Identifier: Apache-2.0
"""Agents and tables."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from equipoise.apps.web.models.solutions import Numbers
from equipoise.apps.web.models.spots import Strict

__all__ = ["AgentList", "HandList", "Move", "TableAnswer", "TableForm", "TableList", "Thoughts"]


class AgentRow(BaseModel):
    """Who may be played against."""

    id: str
    name: str
    description: str
    games: list[str]
    is_slow: bool
    solution: str | None


class AgentList(BaseModel):
    """All who may be played against."""

    agents: list[AgentRow]


class TableForm(Strict):
    """A table to sit down at."""

    agent: str
    game: str | None = None
    parameters: dict[str, str | int | float | bool] | None = None
    seconds: float | None = None
    seed: int | None = Field(default=None, ge=0, le=2**32)


class Move(Strict):
    """A move, in a hand if that is said."""

    action: str = Field(max_length=40)
    hand: int | None = None


class TableAction(BaseModel):
    """A move that there is."""

    id: str
    name: str
    kind: str
    to: float | None


class Preset(BaseModel):
    """A size that is usual."""

    name: str
    to: float


class Raise(BaseModel):
    """From where to where a seat may bet."""

    kind: str
    least: float
    most: float
    presets: list[Preset]
    fixed: list[float] | None


class TableStep(BaseModel):
    """What happened: a move, or cards that came."""

    player: int | None = None
    seat: str | None = None
    name: str | None = None
    cards: list[str] | None = None
    street: str | None = None


class Mean(BaseModel):
    """A mean with its interval."""

    mean: float | None
    interval: list[float] | None
    mbb: float | None
    interval_mbb: list[float] | None


class Result(Mean):
    """The score of a table, from the person's seat."""

    hands: int
    total: float
    all_in_adjusted: Mean | None
    aivat: Mean | None
    no_aivat: str | None  # why there is none


class TableAnswer(BaseModel):
    """All that a person sees of a table."""

    model_config = ConfigDict(populate_by_name=True)

    id: str
    version: int
    game: str
    title: str
    agent: str
    unit: str
    big_blind: float | None
    hand: int
    seat: int
    seats: list[str]
    button: int | None
    street: str | None
    is_thinking: bool
    is_over: bool
    your_turn: bool
    cards: list[str]
    their_cards: list[str] | None
    board: list[str]
    pot: float | None
    bets: list[float] | None
    stacks: list[float] | None
    to_call: float | None
    view: str
    public: str
    revealed: str | None
    actions: list[TableAction]
    raise_: Raise | None = Field(alias="raise")
    history: list[TableStep]
    won: float | None
    result: Result
    error: str | None


class TableRow(BaseModel):
    """A table in a list."""

    id: str
    game: str
    agent: str
    hands: int


class TableList(BaseModel):
    """All tables."""

    tables: list[TableRow]


class ThoughtAction(BaseModel):
    """How likely a move was, and what it was worth to the hand that the agent held."""

    id: str
    name: str
    probability: float | None
    ev: float | None = None  # chips: in hold'em the share of the pot as it stands, elsewhere what is won in all


class ThoughtRange(BaseModel):
    """What the agent might have held."""

    hands: list[str]
    weight: list[float]


class ThoughtGrid(BaseModel):
    """The same by class of hole cards, and what each would do."""

    names: list[str]
    weight: Numbers
    actions: list[str]
    frequency: list[Numbers]


class Thought(BaseModel):
    """What the agent thought at a decision."""

    public: str
    street: str
    board: list[str]
    cards: list[str]
    actions: list[ThoughtAction]
    chosen: str
    range: ThoughtRange | None
    grid: ThoughtGrid | None
    num_searched: int | None  # betting nodes of its search
    seconds: float


class Thoughts(BaseModel):
    """What the agent thought in a hand."""

    hand: int
    decisions: list[Thought]


class Hand(BaseModel):
    """A hand that is over."""

    hand: int
    seat: int
    won: float
    expected: float
    aivat: float | None
    text: str


class HandList(BaseModel):
    """Hands that are over."""

    hands: list[Hand]
