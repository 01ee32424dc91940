# SPDX-License-Identifier: Apache-2.0
"""Small games as trees to look at: every history, with what a strategy does there and what that is worth."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from equipoise.core.errors import ConfigError, GameTooLargeError, ParseError
from equipoise.core.markup import TreeNode, svg_tree
from equipoise.games.base import CHANCE, TERMINAL, Game
from equipoise.games.registry import format_game
from equipoise.solvers.strategy import TabularStrategy
from equipoise.trees.history import estimate_num_histories

__all__ = ["MOST_HISTORIES", "GameTree", "build_game_tree"]

MOST_HISTORIES: Final = 400  # that a picture holds
NUM_PROBES: Final = 200  # of the size of a game that is too large
COLOURS: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#6B4E9B", "#E69F00")  # of players
CHANCE_COLOUR: Final = "#888888"
END_COLOUR: Final = "#333333"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class DrawnHistory:
    """One history of a game."""

    parent: int  # its index, -1 at the root
    depth: int
    actor: int  # a player, `CHANCE` or `TERMINAL`
    action: str  # that leads here, empty at the root
    probability: float | None  # of that action; None: a player's, and no strategy is given
    infostate: str  # of the actor; empty elsewhere
    values: (
        tuple[float, ...] | None
    )  # by player: returns at the end, else what the strategy earns from here; None: unknown


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class GameTree:
    """A small game, history by history, parents before their children."""

    label: str
    histories: tuple[DrawnHistory, ...]
    is_mirrored: bool  # the second player wins what the first loses: one value says both

    def as_text(self) -> str:
        """Returns the tree as lines, a step further in each generation."""
        lines = [f"{self.label}: {len(self.histories):,} histories"]
        for one in self.histories:
            edge = f"{self._say_edge(one)} -> " if one.parent >= 0 else ""
            lines.append(f"{'  ' * one.depth}{edge}{self._say(one)}")
        return "\n".join(lines) + "\n"

    def as_svg(self) -> str:
        """Returns the tree as a picture."""
        nodes = [
            TreeNode(one.parent, self._say(one), self._say_edge(one), _colour(one.actor)) for one in self.histories
        ]
        return svg_tree(nodes, most_nodes=len(nodes))

    def as_json(self) -> dict[str, Any]:
        """Returns the tree as JSON values; the actor of chance is -1, of an end -2."""
        return {"game": self.label, "histories": [dataclasses.asdict(one) for one in self.histories]}

    def _say_edge(self, one: DrawnHistory) -> str:
        return one.action if one.probability is None else f"{one.action} {_short(one.probability)}"

    def _say(self, one: DrawnHistory) -> str:
        values = "" if one.values is None else _say_values(one.values, is_mirrored=self.is_mirrored)
        if one.actor == TERMINAL:
            return values
        who = "chance" if one.actor == CHANCE else f"player {one.actor} at {one.infostate!r}"
        return f"{who}{f' ({values})' if values else ''}"


def build_game_tree(
    game: Game[Any],
    strategy: TabularStrategy | None = None,
    *,
    after: Sequence[str] = (),
    most_histories: int = MOST_HISTORIES,
) -> GameTree:
    """Returns a small game as a tree to look at; raises `GameTooLargeError` with what to do if it is not small.

    Args:
        game: what is played.
        strategy: what players do, which gives probabilities and values.
        after: names of the actions, chance's included, behind which the tree begins.
        most_histories: that are drawn.

    >>> from equipoise.games.registry import make_game
    >>> len(build_game_tree(make_game("kuhn")).histories)
    58
    """
    state = game.initial_state()
    for name in after:
        state = game.apply(state, _find_action(game, state, name))
    drawing = _Drawing(game, strategy, most_histories)
    drawing.add(state, -1, 0, "", None)
    spec = game.spec
    return GameTree(
        label=spec.label + (f" after {', '.join(after)}" if after else ""),
        histories=tuple(drawing.found),
        is_mirrored=spec.num_players == 2 and spec.is_zero_sum,
    )


class _Drawing:
    """The walk through a game that finds its histories."""

    def __init__(self, game: Game[Any], strategy: TabularStrategy | None, most: int) -> None:
        self.game, self.strategy, self.most = game, strategy, most
        self.found: list[DrawnHistory] = []

    def add(
        self, state: Any, parent: int, depth: int, action: str, probability: float | None
    ) -> tuple[float, ...] | None:
        """Adds a state with all that follows, and returns what it is worth to each player."""
        if len(self.found) >= self.most:
            raise self._too_large()
        game, index = self.game, len(self.found)
        actor = game.actor(state)
        infostate = game.infostate(state, actor) if actor >= 0 else ""
        values = game.returns(state) if actor == TERMINAL else None
        one = DrawnHistory(
            parent=parent,
            depth=depth,
            actor=actor,
            action=action,
            probability=probability,
            infostate=infostate,
            values=values,
        )
        self.found.append(one)
        if actor == TERMINAL:
            return values
        total: list[float] | None = [0.0] * game.spec.num_players
        for move, share in self._list_moves(state, actor, infostate):
            name = game.action_name(state, move)
            below = self.add(game.apply(state, move), index, depth + 1, name, share)
            if total is not None and share is not None and below is not None:
                total = [so_far + share * value for so_far, value in zip(total, below, strict=True)]
            else:
                total = None
        values = None if total is None else tuple(total)
        self.found[index] = dataclasses.replace(one, values=values)
        return values

    def _list_moves(self, state: Any, actor: int, infostate: str) -> list[tuple[int, float | None]]:
        game = self.game
        if actor == CHANCE:
            return list(game.chance_outcomes(state))
        actions = game.legal_actions(state)
        if self.strategy is None:
            return [(action, None) for action in actions]
        shares = self.strategy.probabilities(actor, infostate)
        return list(zip(actions, map(float, shares), strict=True))

    def _too_large(self) -> GameTooLargeError:
        size = estimate_num_histories(self.game, rng=np.random.default_rng(0), num_probes=NUM_PROBES)
        return GameTooLargeError(
            f"{format_game(self.game)} has some {size:,.0f} histories, and a picture holds {self.most:,}: "
            "`after` 'ACTION, ACTION' draws what follows, `most` N draws more"
        )


def _find_action(game: Game[Any], state: Any, name: str) -> int:
    """Returns the action or chance outcome of a name."""
    actor = game.actor(state)
    if actor == TERMINAL:
        raise ConfigError(f"the game is over before {name!r}")
    actions = [a for a, _ in game.chance_outcomes(state)] if actor == CHANCE else list(game.legal_actions(state))
    names = [game.action_name(state, action) for action in actions]
    wanted = name.strip().lower()
    found = [action for action, own in zip(actions, names, strict=True) if own.lower() == wanted]
    if len(found) != 1:
        who = "chance" if actor == CHANCE else f"player {actor}"
        raise ParseError(f"{name.strip()!r} is no action of {who} there; there are {', '.join(names)}")
    return found[0]


def _colour(actor: int) -> str:
    if actor == CHANCE:
        return CHANCE_COLOUR
    return END_COLOUR if actor == TERMINAL else COLOURS[actor % len(COLOURS)]


def _short(value: float) -> str:
    """Returns a number with at most three decimals.

    >>> _short(1 / 3), _short(1.0), _short(-0.0)
    ('0.333', '1', '0')
    """
    text = f"{value:.3f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _say_values(values: Sequence[float], *, is_mirrored: bool) -> str:
    """Returns what players get; of two in sum zero what the first gets."""
    shown = values[:1] if is_mirrored else values
    return ", ".join(f"{'+' if value > 0 else ''}{_short(value)}" for value in shown)
