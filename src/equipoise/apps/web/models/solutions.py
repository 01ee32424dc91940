# SPDX-License-Identifier: Apache-2.0
"""Solved files: what lists say of them, and places in solved spots."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from equipoise.apps.web.models.spots import LockForm, SpotForm, Strict

__all__ = [
    "Cards",
    "Comparison",
    "Equities",
    "Gain",
    "GainForm",
    "Node",
    "Point",
    "Rename",
    "SolutionCard",
    "SolutionDetails",
    "SolutionList",
]

Numbers = list[float | None]


class SolutionCard(BaseModel):
    """A solved file in a list."""

    id: str
    file: str
    kind: str  # spot, game, strategy, blueprint, unknown
    game: str | None
    name: str
    board: list[str] | None
    pot: float | None
    stacks: list[float] | None
    big_blind: float | None
    exploitability: float | None
    percent_of_pot: float | None
    iterations: int | None
    bytes: int
    changed: str
    is_own: bool
    origin: str  # file, run, example, upload
    job: str | None
    locks: int
    error: str | None


class SolutionList(BaseModel):
    """All solved files, the newest first."""

    solutions: list[SolutionCard]


class Point(BaseModel):
    """A record of a run."""

    iteration: int
    seconds: float
    exploitability: float | None
    percent_of_pot: float | None
    game_value: float | None
    iterations_per_second: float | None = None
    seconds_left: float | None = None
    cpu_seconds: float | None = None  # of the job's process since it started


class Rake(BaseModel):
    """What the house takes of a pot."""

    rate: float
    cap: float | None


class SolutionDetails(SolutionCard):
    """A solved file."""

    label: str
    seats: list[str] | None
    rake: Rake | None
    rule: str | None
    seconds: float | None
    stopped_by: str | None
    spot: SpotForm | None
    text: str | None  # of the spot's file
    config: dict[str, Any]
    progress: list[Point]


class Rename(BaseModel):
    """Another name."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(max_length=1000)


class PathStep(BaseModel):
    """A step on the way to a place: a decision with what is done there, or cards that came."""

    kind: str
    line: list[str]
    pot: float
    player: int | None = None
    ids: list[str] | None = None
    frequency: Numbers | None = None
    taken: str | None = None
    street: str | None = None
    cards: list[str] | None = None


class Action(BaseModel):
    """An action at a decision of a spot."""

    id: str
    name: str
    kind: str
    to: float | None
    pot_share: float | None
    frequency: float | None
    combos: float
    ev: float | None
    next: str
    line: list[str]


class Summary(BaseModel):
    """A range in sum."""

    combos: float
    equity: float | None = None
    ev: float | None = None
    eqr: float | None = None


class Grid(BaseModel):
    """A range by class of hole cards, columns over 169 cells."""

    names: list[str]
    weight: Numbers
    equity: Numbers
    ev: Numbers
    frequency: list[Numbers] | None


class RangeColumns(BaseModel):
    """A player's range, columns over its hands."""

    model_config = ConfigDict(populate_by_name=True)

    hands: list[str]
    weight: list[float]
    odds: list[float] | None = None
    equity: Numbers | None = None
    ev: Numbers | None = None
    classes: list[int] | None = Field(default=None, alias="class")
    draw: list[int] | None = None
    summary: Summary
    grid: Grid | None = None


class NextCard(BaseModel):
    """A card that may come."""

    card: str
    line: list[str]


class Node(BaseModel):
    """A place in a solved spot."""

    solution: str
    line: list[str]
    address: str
    text: str
    kind: str
    street: str
    board: list[str]
    player: int | None
    seats: list[str]
    pot: float
    to_call: float
    stacks: list[float]
    big_blind: float
    reach: float | None
    has_values: bool
    locked: list[str] | None
    path: list[PathStep]
    classes: list[str]
    draws: list[str]
    actions: list[Action]
    players: list[RangeColumns]
    strategy: list[list[float]] | None
    action_ev: list[Numbers] | None
    cards: list[NextCard] | None = None


class Card(BaseModel):
    """What happens after one card."""

    card: str
    stands_for: str
    line: list[str]
    odds: float
    frequency: Numbers
    combos: list[float]
    ev: Numbers
    equity: Numbers
    eqr: Numbers
    reply: Numbers | None


class Reply(BaseModel):
    """Who answers the first check, and how."""

    player: int
    after: str
    ids: list[str]
    names: list[str]


class CardAverage(BaseModel):
    """Means over all cards."""

    frequency: Numbers | None
    ev: Numbers | None
    equity: Numbers | None
    eqr: Numbers | None
    reply: Numbers | None


class Cards(BaseModel):
    """Every next card at once."""

    solution: str
    line: list[str]
    text: str
    street: str
    board: list[str]
    seats: list[str]
    pot: float
    big_blind: float
    has_values: bool
    player: int
    ids: list[str]
    names: list[str]
    reply: Reply | None
    cards: list[Card]
    average: CardAverage


class EquitySteps(BaseModel):
    """A range from its weakest to its strongest hand: hand i ends at `share[i]` of it."""

    hands: list[str]
    share: list[float]
    equity: list[float]


class Equities(BaseModel):
    """Both ranges from weakest to strongest."""

    solution: str
    line: list[str]
    players: list[EquitySteps]


class GainAction(BaseModel):
    """How often an action is played, and how often a best response takes it."""

    id: str
    name: str
    frequency: float | None
    best_frequency: float | None
    best_ev: float | None


class GainColumns(BaseModel):
    """What a player's hands could win more, columns over hands."""

    model_config = ConfigDict(populate_by_name=True)

    hands: list[str]
    weight: list[float]
    odds: list[float]
    ev: Numbers
    best_ev: Numbers
    gain: Numbers
    classes: list[int] | None = Field(default=None, alias="class")
    draw: list[int] | None = None
    summary: dict[str, float | None]


class Gain(BaseModel):
    """What best responses would win more at a decision."""

    solution: str
    line: list[str]
    text: str
    board: list[str]
    player: int
    seats: list[str]
    pot: float
    big_blind: float
    respects_locks: bool
    actions: list[GainAction]
    players: list[GainColumns]
    best_action: list[int]
    best_action_ev: list[Numbers]
    classes: list[str]
    draws: list[str]


class GainForm(Strict):
    """Where best responses answer hands that play as they are told."""

    line: Annotated[str, Field(max_length=500)] | list[str] = ""
    locks: list[LockForm] = Field(min_length=1)


class ComparedAction(BaseModel):
    """How often two solutions take an action; None: one lacks it, or nobody comes."""

    id: str
    name: str
    first: float | None
    second: float | None
    difference: float | None


class ComparedCell(BaseModel):
    """A class of hole cards in two solutions; numbers by action as in `actions`."""

    name: str
    first: Numbers | None
    second: Numbers | None
    difference: float | None


class Comparison(BaseModel):
    """One place in two solutions."""

    line: list[str]
    player: int | None
    first: Node
    second: Node
    actions: list[ComparedAction]
    cells: list[ComparedCell]
