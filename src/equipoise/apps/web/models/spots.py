# SPDX-License-Identifier: Apache-2.0
"""Spots as forms have them, ranges, boards, sizes."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

__all__ = [
    "BoardAnswer",
    "BoardText",
    "Estimate",
    "ExampleList",
    "LockForm",
    "MenuList",
    "RangeAnswer",
    "RangeQuestion",
    "RangeText",
    "SavedRange",
    "SavedRangeList",
    "SpotAnswer",
    "SpotForm",
    "SpotQuestion",
    "SpotText",
]


class Strict(BaseModel):
    """A form in which an unknown field is an error."""

    model_config = ConfigDict(extra="forbid")


class LockForm(Strict):
    """Hands whose play is fixed at a decision: by one mix of actions, or a mix for each combo or class."""

    line: str | list[str] = ""
    hands: str | dict[str, list[float]] = "random"
    play: dict[str, float] | None = None


class RakeForm(Strict):
    """What the house takes of a pot."""

    rate: float | None = None
    cap: float | None = None


class SpotForm(Strict):
    """A spot under the keys of its file; see docs/spots.md."""

    title: str | None = None
    seats: list[str] | None = None
    board: str = ""
    pot: float | str | None = None
    stacks: float | str | list[float | str] | None = None
    big_blind: float | None = None
    small_blind: float | str | None = None
    ante: float | str | None = None
    bet_sizes: float | list[float] | None = None
    max_raises: int | list[int] | None = None
    last_street: str | None = None
    deck: str | None = None
    rake: RakeForm | None = None
    ranges: dict[str, str] | None = None
    menu: str | dict[str, Any] | None = None
    target: str | float | None = None
    iterations: int | None = None
    seconds: float | None = None
    threads: int | None = None
    precision: str | None = None
    rule: str | None = None
    locks: list[LockForm] | None = None


class SpotQuestion(Strict):
    """A spot to look at."""

    spot: SpotForm


class SpotText(Strict):
    """The text of a spot's file."""

    text: str


class SpotAnswer(BaseModel):
    """A spot that can be solved."""

    spot: SpotForm
    text: str
    name: str
    combos: list[float]


class Example(BaseModel):
    """A spot to begin with."""

    id: str
    name: str
    title: str
    spot: SpotForm
    text: str


class ExampleList(BaseModel):
    """Spots to begin with."""

    spots: list[Example]


class Menu(BaseModel):
    """A menu that has a name."""

    name: str
    text: str


class MenuList(BaseModel):
    """Menus that have names."""

    menus: list[Menu]


class RangeQuestion(Strict):
    """A range as text, or as weights of combos and classes."""

    text: str | None = Field(default=None, max_length=100_000)
    weights: dict[str, float] | None = None
    board: str = ""


class RangeAnswer(BaseModel):
    """A range in both forms."""

    text: str
    combos: float
    weights: dict[str, float]
    cells: dict[str, float]
    mixed: list[str]


class RangeText(Strict):
    """A range to keep."""

    text: str = Field(max_length=100_000)


class SavedRange(BaseModel):
    """A range that was kept."""

    name: str
    text: str
    combos: float


class SavedRangeList(BaseModel):
    """Ranges that were kept."""

    ranges: list[SavedRange]


class BoardText(Strict):
    """Cards as text."""

    text: str = Field(max_length=100)


class BoardAnswer(BaseModel):
    """A board."""

    text: str
    cards: list[str]
    street: str


class Remedy(BaseModel):
    """A change by which a spot takes less."""

    name: str
    change: dict[str, Any]
    bytes: int


class Estimate(BaseModel):
    """What solving a spot would take."""

    betting_nodes: int
    boards: int
    hands: list[int]
    cells: int
    bytes: int
    bytes_free: int | None
    job_bytes: int
    ms_per_iteration: float | None
    seconds_to_target: float | None
    fits: bool
    menu: str
    remedies: list[Remedy]
