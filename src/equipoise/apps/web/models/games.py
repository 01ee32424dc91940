# SPDX-License-Identifier: Apache-2.0
"""Games that are no spots: places in their solutions, and which games there are."""

from __future__ import annotations

from pydantic import BaseModel

from equipoise.apps.web.models.solutions import Numbers

__all__ = ["GameList", "GameState", "GameTree", "InfostateList"]


class StateAction(BaseModel):
    """An action at a public state."""

    name: str
    frequency: float | None
    ev: float | None


class StateChild(BaseModel):
    """Where an edge leads."""

    line: str
    actions: list[str]
    kind: str


class StateStep(BaseModel):
    """A step on the way to a public state."""

    line: str
    kind: str
    player: int | None
    taken: list[str]


class StatePlayer(BaseModel):
    """A player's private states."""

    infostates: list[str] | None
    reach: list[float]
    odds: list[float]
    ev: Numbers
    summary: dict[str, float | None]


class GameState(BaseModel):
    """A public state of a solved game."""

    solution: str
    line: str
    kind: str
    player: int | None
    reach: float
    has_values: bool
    path: list[StateStep]
    actions: list[StateAction]
    children: list[StateChild]
    players: list[StatePlayer]
    strategy: list[Numbers] | None
    action_ev: list[Numbers] | None
    regret: list[Numbers | None] | None


class InfostateRow(BaseModel):
    """What is done at an information state."""

    infostate: str
    player: int
    actions: list[str]
    strategy: list[float]
    regret: Numbers | None


class InfostateList(BaseModel):
    """Some information states."""

    total: int
    rows: list[InfostateRow]


class TreeNode(BaseModel):
    """A history."""

    id: int
    parent: int | None
    kind: str
    player: int | None
    infostate: str | None
    action: str | None
    probability: float | None
    utility: list[float] | None
    value: list[float]
    depth: int


class GameTree(BaseModel):
    """All histories of a small game."""

    kind: str
    num_nodes: int
    nodes: list[TreeNode]


class Parameter(BaseModel):
    """A parameter of a game."""

    name: str
    kind: str
    default: str
    description: str


class GameRow(BaseModel):
    """A game that this package has."""

    id: str
    name: str
    description: str
    players: int
    parameters: list[Parameter]
    can_play: bool
    can_solve: bool


class GameList(BaseModel):
    """Games that this package has."""

    games: list[GameRow]
