# SPDX-License-Identifier: Apache-2.0
"""An agent that plays a blueprint early in a hand and solves the rest without buckets: first believing, then safe."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from equipoise.agents.base import Observation, PublicDecision
from equipoise.agents.holdem.blueprint import BlueprintAgent
from equipoise.agents.holdem.hands import hands_by_name
from equipoise.agents.holdem.rounds import RoundAgent
from equipoise.agents.search import HoldemGround
from equipoise.core.errors import ConfigError
from equipoise.games.holdem.betting import CALL, Stage, Street
from equipoise.games.holdem.betting_tree import DEALING
from equipoise.games.holdem.cards import format_board
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.menu_notation import parse_menu
from equipoise.games.holdem.menus import BetSize, Menu, RoundMenu, SizeKind
from equipoise.games.holdem.public_text import parse_steps
from equipoise.games.holdem.ranges import Range
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.search.gadgets import Method
from equipoise.search.holdem.profile import HoldemProfile
from equipoise.search.running import run_for
from equipoise.search.settings import REACH_MAXMARGIN, SearchSettings
from equipoise.search.walks import SearchPlan, SearchWalk, SearchWhen
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.playouts import draw_index
from equipoise.solvers.rules import CFRPlus, Rule
from equipoise.trees.holdem.tree import build_holdem_tree
from equipoise.trees.vector import TreeStrategy

__all__ = ["ENDGAME_OPTIONS", "EndgameAgent", "EndgameSearch", "scale_menu"]

FloatArray = npt.NDArray[np.float64]
ENDGAME_OPTIONS: Final[Mapping[str, tuple[str, type]]] = {
    "iterations": ("iterations", int),
    "seconds": ("seconds", float),
    "threads": ("num_threads", int),
    "perturbation": ("perturbation", float),
    "menu": ("menu", str),
    "nested": ("nested", bool),
}
LEAST_REACH: Final = 1e-4  # hands that the blueprint never plays like this still count a little: images may be wrong


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class EndgameSearch:
    """How the rest of a hand is solved, each mechanism a switch.

    Paper: Brown 2020 (thesis), section 6.4; Brown & Sandholm 2017, "Safe and Nested Subgame Solving".
    Symbols: none.
    Departs from the paper: subgames begin with a street, so the blueprint also answers an all-in before
        `first_street`; the perturbation of sizes, once a hand as in the paper, is drawn from all bets together.
    Checked by: tests/agents/test_machines.py.
    """

    first_street: Street = Street.TURN  # whose beginning is solved when play comes there
    menu: str = "100%, a"  # bets that are considered
    iterations: int = 100  # of the first solve, which believes the ranges; unless a time is given
    nested: Method | None = (
        REACH_MAXMARGIN  # after each later action of the opponent; None: the first solve is played on
    )
    perturbation: float = 0.08  # own sizes are scaled by up to so much, up or down, drawn once a hand; 0: never
    seconds: float = 0.0  # for a decision; 0: no limit
    num_threads: int = 1
    rule: Rule = dataclasses.field(default_factory=lambda: CFRPlus(gamma=1.0))

    def __post_init__(self) -> None:
        if self.iterations < 1 or self.num_threads < 1:
            raise ConfigError("iterations and threads of a search must be at least 1")
        if not 0 <= self.perturbation < 1 or not 0 <= self.seconds < math.inf:
            raise ConfigError("perturbation must be at least 0 and below 1, seconds 0 or more")
        if self.first_street < Street.TURN:
            raise ConfigError("the rest of a hand is solved from the turn or the river on")
        parse_menu(self.menu)


class EndgameAgent:
    """Plays heads-up as another agent until a street, and from there what it solves for the hands of both players."""

    def __init__(self, early: BlueprintAgent | RoundAgent, search: EndgameSearch, *, name: str) -> None:
        """Keeps a blueprint.

        Args:
            early: plays until the search begins, and says with what both players came there.
            search: how.
            name: for tables of results.
        """
        spec = early.blueprint.spec
        if len(spec.stacks) != 2 or spec.last_street != "river":
            raise ConfigError(
                f"{name} plays hold'em heads-up to the river, got a blueprint of {len(spec.stacks)} players"
            )
        self.early, self.search, self.name = early, search, name
        self._hand_of = hands_by_name(spec.cards)
        self._scale = 1.0
        self._solved: dict[str, tuple[HoldemGround, str]] = {}

    def begin_game(self, seat: int) -> None:
        """Forgets the last game."""
        self.early.begin_game(seat)
        self._solved.clear()
        self._scale = 0.0  # not yet drawn

    def observe(self, observation: Observation) -> None:
        """Takes in nothing: the next observation of a decision says it all again."""

    def act(self, observation: Observation, *, rng: np.random.Generator) -> int:
        """Returns one of the observation's actions."""
        found = self._find(observation.public_state, observation.seat, rng)
        if found is None:
            return self.early.act(observation, rng=rng)
        ground, text = found
        hand = self._hand_of[observation.infostate.partition("|")[0]]
        stage, place = ground.stage_at(observation.seat, text)
        assert isinstance(stage.profile, HoldemProfile)
        row = stage.profile.probabilities(place)[hand]
        action = stage.profile.betting.nodes[place.node].actions[draw_index(row.tolist(), rng.random())]
        if action in observation.actions:
            return action
        raises = [total for total in observation.actions if total > CALL]  # of a game that does not offer every bet
        return min(raises, key=lambda total: abs(total - action)) if action > CALL and raises else CALL

    def public_actions(self, decision: PublicDecision) -> tuple[int, ...]:
        """Returns those of a decision's actions that some hand may play, ascending."""
        found = self._find(decision.public_state, decision.seat, np.random.default_rng(0))
        if found is None:
            return self.early.public_actions(decision)
        ground, text = found
        return ground.actions(dataclasses.replace(decision, public_state=text))

    def public_strategy(self, decision: PublicDecision, *, rng: np.random.Generator) -> FloatArray:
        """Returns `[H, A]` what each hand plays."""
        found = self._find(decision.public_state, decision.seat, rng)
        if found is None:
            return self.early.public_strategy(decision, rng=rng)
        ground, text = found
        rows = ground.rows(dataclasses.replace(decision, public_state=text))
        return np.where(decision.legality, rows, 0.0)

    def _find(self, public_state: str, seat: int, rng: np.random.Generator) -> tuple[HoldemGround, str] | None:
        """Returns what is searched at a public state and its text there; None where the blueprint plays."""
        street = self.search.first_street
        steps, board = parse_steps(public_state)
        if len(board) < street.num_board_cards:
            return None
        begin = [place for place, step in enumerate(steps) if step == DEALING][street - 1] + 1
        before, cards = steps[:begin], board[: street.num_board_cards]
        opened, rest = _split_at(public_state, street)
        key = f"{seat}|{opened}"
        if key not in self._solved:
            ground = self._solve(before, cards, seat, rng)
            self._solved[key] = ground, f"{format_board(cards)}:"
        ground, start = self._solved[key]
        return ground, start + rest

    def _solve(
        self, before: tuple[int, ...], board: tuple[int, ...], seat: int, rng: np.random.Generator
    ) -> HoldemGround:
        """Returns the searches of a hand from the beginning of a street on, the first of them done."""
        search = self.search
        image = self.early.images.at(before, rng)
        state = image.state
        assert state.stage is Stage.ACT
        if not self._scale:
            self._scale = 1.0 + search.perturbation * (2.0 * rng.random() - 1.0)
        spec = self.early.blueprint.spec
        held = ~hands_of(spec.cards).blocked(board)
        weights = [self.early.weights_at(seat, before, board, player, rng) for player in (0, 1)]
        reaches = [np.maximum(one, LEAST_REACH) * held for one in weights]
        first, second = (Range(reach / reach.max(), spec.cards) for reach in reaches)
        spot = HoldemSpot(
            board=board,
            pot=sum(state.committed),
            stacks=(state.stacks[0], state.stacks[1]),
            ranges=(first, second),
            menu=scale_menu(parse_menu(search.menu), self._scale),
            big_blind=spec.big_blind,
            small_blind=spec.small_blind,
            deck=spec.cards,
        )
        tree = build_holdem_tree(spot)
        solver = CFRSolver(tree, search.rule, dtype=np.float32, num_threads=search.num_threads)
        run_for(search.seconds or None)(solver, search.iterations)
        profile = HoldemProfile(TreeStrategy(tree=tree, sums=solver.tables.strategy_sum))
        walk = SearchWalk(profile, seat, self._plan, name=self.name, is_searched=True)
        return HoldemGround([walk, walk], spot, self.name)

    @functools.cached_property
    def _plan(self) -> SearchPlan:
        search, street = self.search, self.search.first_street
        settings = SearchSettings(
            method=search.nested or REACH_MAXMARGIN,
            iterations=search.iterations,
            early_iterations=search.iterations,
            rule=search.rule,
            num_threads=search.num_threads,
            seconds=search.seconds or None,
        )
        # without nested searches only bets that the first solve lacks are solved for
        return SearchPlan(
            search=settings,
            when=SearchWhen.REPLIES,
            first_street=street,
            first_reply=street,
            replies_to_all=search.nested is not None,
        )


def _split_at(public_state: str, street: Street) -> tuple[str, str]:
    """Returns a public state up to the colon behind a street's first cards, and what follows."""
    cut = [place for place, letter in enumerate(public_state) if letter == ":"][street - 1] + 1
    return public_state[:cut], public_state[cut:]


def scale_menu(menu: Menu, factor: float) -> Menu:
    """Returns a menu whose fractions of the pot are so many times as large.

    >>> from equipoise.games.holdem import format_menu, parse_menu
    >>> format_menu(scale_menu(parse_menu("50%, 2x, a"), 1.04))
    '52%, 2x, a'
    """

    def scale(sizes: tuple[BetSize, ...]) -> tuple[BetSize, ...]:
        return tuple(
            dataclasses.replace(size, amount=size.amount * factor) if size.kind is SizeKind.POT else size
            for size in sizes
        )

    def scale_round(own: RoundMenu) -> RoundMenu:
        donk = None if own.donk is None else scale(own.donk)
        return dataclasses.replace(own, sizes=tuple(scale(sizes) for sizes in own.sizes), donk=donk)

    rounds = tuple((scale_round(first), scale_round(second)) for first, second in menu.rounds)
    return dataclasses.replace(menu, rounds=rounds)


def parse_endgame_options(search: EndgameSearch, options: dict[str, str]) -> EndgameSearch:
    """Returns a search with options changed: iterations, seconds, threads, menu, perturbation, nested."""
    changes: dict[str, Any] = {}
    for name, text in options.items():
        if name == "nested" and text in ("true", "false"):
            changes["nested"] = search.nested if text == "true" else None
        elif name in ENDGAME_OPTIONS and name != "nested":
            field, kind = ENDGAME_OPTIONS[name]
            try:
                changes[field] = kind(text)
            except ValueError:
                raise ConfigError(f"{name} must be a number, got {text[:40]!r}") from None
        else:
            raise ConfigError(f"a search has {', '.join(ENDGAME_OPTIONS)}, got {name[:40]!r}")
    return dataclasses.replace(search, **changes)
