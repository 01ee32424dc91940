# SPDX-License-Identifier: Apache-2.0
"""An agent for two to six players that solves each round of betting from its beginning, with a blueprint behind it."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from equipoise.abstraction.blueprints import StoredBlueprint, make_deals
from equipoise.abstraction.translation import translate_action
from equipoise.agents.base import Observation, PublicDecision
from equipoise.agents.holdem.blueprint import BlueprintAgent
from equipoise.agents.holdem.hands import hands_by_name, number_hands
from equipoise.agents.holdem.images import LOST, HandImages, Image
from equipoise.core.errors import ConfigError, GameTooLargeError
from equipoise.games.holdem.betting import CALL, NOBODY, BettingState, Stage, Street
from equipoise.games.holdem.betting_tree import DEALING
from equipoise.games.holdem.public_text import parse_steps
from equipoise.kernels.blueprints import CardDeals
from equipoise.kernels.round_search import PlanArrays
from equipoise.search.holdem.round_tree import LeafPlace, RoundLine, build_round
from equipoise.search.holdem.rounds import (
    Kept,
    RoundQuestion,
    RoundSettings,
    RoundSolution,
    SolvedStreet,
    follow_nearest,
    plan_behind,
    solve_round,
    solve_to_end,
)
from equipoise.solvers.playouts import draw_index
from equipoise.trees.holdem.flat_betting import MenuByPlayers

__all__ = ["ROUND_OPTIONS", "RoundAgent", "RoundSearch", "parse_round_options"]

Steps = tuple[int, ...]
FloatArray = npt.NDArray[np.float64]
KEPT_OPENINGS: Final = 64
LEAST_REACH: Final = 1e-4  # hands that are never played like this still count a little: images may be wrong


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class RoundSearch:
    """How rounds are searched, each mechanism a switch.

    Paper: Brown 2020 (thesis), section 6.6.
    Symbols: none.
    Departs from the paper: those who have folded by now do nothing else in the tree. What others did after the last
        search of an earlier round is taken for the nearest thing that the search knew. Turns and rivers of two players
        are solved to the end with all hands, as the thesis does from the turn on with Modicum; it does not say from
        where on Pluribus does. Before the flop the blueprint plays unless somebody raised by what it does not know.
    Checked by: tests/agents/test_round_agent.py.
    """

    first_street: Street = Street.FLOP  # from which every decision is searched
    off_tree_players: int = 4  # earlier ones if a raise is unknown and so many or fewer are left; 0: never
    menu: str = "50%, 100%, a / 100%, a; cap: 3; preflop: 50%, 100%, a"  # bets that are considered
    crowded: Mapping[int, str] = dataclasses.field(
        default_factory=lambda: {3: "75%, a / a; cap: 2", 5: "75% / a; cap: 1"}
    )  # menus while so many players are left or more
    rounds: RoundSettings = dataclasses.field(default_factory=RoundSettings)
    searcher_chooses: bool = True  # at leaves, as the others do; else it goes on as the blueprint is
    fixes_own: bool = True  # own actions of the round stay as they were played, for all hands
    adds_bets: bool = True  # what others did is in the tree; else the nearest that is
    is_solved_once: bool = False  # when the round begins; bets that are unknown then are taken for known ones
    in_buckets: bool = False  # to the end: hands play by the blueprint's buckets
    to_end_from: Street = Street.TURN  # two players solve from here to the hand's end
    iterations: int = 100  # of such a solve
    seconds: float = 0.0  # for a decision; 0: no limit
    num_threads: int = 1  # of a solve to the end

    def __post_init__(self) -> None:
        if self.iterations < 1 or self.num_threads < 1:
            raise ConfigError("iterations and threads of a search must be at least 1")
        if not 0 <= self.seconds < math.inf:
            raise ConfigError(f"seconds must be 0 or more, got {self.seconds}")
        _ = self.menus

    @property
    def menus(self) -> MenuByPlayers:
        """Returns what is considered by how many are left."""
        return MenuByPlayers.parse(self.menu, dict(self.crowded))


class Place(NamedTuple):
    """A decision, as a search sees it."""

    seat: int
    steps: Steps  # of the hand, `DEALING` between rounds
    board: tuple[int, ...]

    @property
    def street(self) -> Street:
        """Returns the round."""
        return Street(self.steps.count(DEALING))

    @property
    def begin(self) -> int:
        """Returns how many steps came before the round."""
        return max((number + 1 for number, step in enumerate(self.steps) if step == DEALING), default=0)

    @property
    def path(self) -> Steps:
        """Returns what was done in the round."""
        return self.steps[self.begin :]


class RoundAgent:
    """Plays a blueprint early in a hand, and from there what it solves for the hands of all who are left."""

    def __init__(self, early: BlueprintAgent, search: RoundSearch, *, name: str) -> None:
        """Keeps a blueprint.

        Args:
            early: plays until the search begins, and how hands go on behind its leaves.
            search: how.
            name: for tables of results.
        """
        self.early, self.search, self.name = early, search, name
        self.rules = early.blueprint.betting.rules
        self._hand_of = hands_by_name(early.blueprint.spec.cards)
        self._solved: dict[Place, RoundSolution | None] = {}
        self._taken_for: dict[Place, int] = {}  # what the last step there is taken for
        self._openings: dict[Place, RoundSolution] = {}  # kept from hand to hand, the last ones

    @property
    def blueprint(self) -> StoredBlueprint:
        """Returns what is played early, and behind leaves."""
        return self.early.blueprint

    @property
    def images(self) -> HandImages:
        """Returns the hand as the blueprint takes it."""
        return self.early.images

    def begin_game(self, seat: int) -> None:
        """Forgets the last game."""
        self.early.begin_game(seat)
        self._solved = dict(self._openings)
        self._taken_for.clear()

    def observe(self, observation: Observation) -> None:
        """Takes in nothing: the next observation of a decision says it all again."""

    def act(self, observation: Observation, *, rng: np.random.Generator) -> int:
        """Returns one of the observation's actions."""
        found = self._here(observation.seat, observation.public_state, rng)
        if found is None:
            return self.early.act(observation, rng=rng)
        solution, path = found
        row = solution.rows(path)[self._hand_of[observation.infostate.partition("|")[0]]]
        action = solution.actions(path)[draw_index(row.tolist(), rng.random())]
        return _offer(action, observation.actions)

    def public_actions(self, decision: PublicDecision) -> tuple[int, ...]:
        """Returns those of a decision's actions that some hand may play, ascending."""
        rng = np.random.default_rng(list(decision.public_state.encode()))
        found = self._here(decision.seat, decision.public_state, rng)
        if found is None:
            return self.early.public_actions(decision)
        solution, path = found
        known = solution.actions(path)
        return tuple(sorted({_offer(action, decision.actions) for action in known}))

    def public_strategy(self, decision: PublicDecision, *, rng: np.random.Generator) -> FloatArray:
        """Returns `[H, A]` what each hand plays."""
        found = self._here(decision.seat, decision.public_state, rng)
        if found is None:
            return self.early.public_strategy(decision, rng=rng)
        solution, path = found
        rows = solution.rows(path)[number_hands(decision.infostates, self.early.blueprint.spec.cards)]
        out = np.zeros(decision.legality.shape)
        for column, action in enumerate(solution.actions(path)):
            out[:, decision.actions.index(_offer(action, decision.actions))] += rows[:, column]
        return np.where(decision.legality, out, 0.0)

    def _here(self, seat: int, public_state: str, rng: np.random.Generator) -> tuple[RoundSolution, Steps] | None:
        """Returns what is solved for a public state and the path to it; None where the blueprint plays."""
        place = Place(seat, *parse_steps(public_state))
        self.early.images.at(place.steps, rng)  # drawn before anything else asks
        opened = place._replace(steps=place.steps[: place.begin])
        solution = self._find(opened if self.search.is_solved_once else place, rng)
        if solution is None:
            return None
        if self.search.is_solved_once and isinstance(solution, SolvedStreet):
            path = self._translate(solution, place, rng)
        else:
            path = follow_nearest(solution, place.path)
        return (solution, path) if solution.actor(path) == seat else None

    def _find(self, place: Place, rng: np.random.Generator) -> RoundSolution | None:
        """Returns what is solved for a decision; None where the blueprint plays."""
        if place not in self._solved:
            solution = self._solve(place, rng) if self._is_searched(place, rng) else None
            self._solved[place] = solution
            if solution is not None and not place.board:  # which no card and no draw has changed
                self._openings[place] = solution
                if len(self._openings) > KEPT_OPENINGS:
                    self._openings.pop(next(iter(self._openings)))
        return self._solved[place]

    def _translate(self, solution: SolvedStreet, place: Place, rng: np.random.Generator) -> Steps:
        """Returns a path through a solution, unknown bets drawn once by the pseudo-harmonic mapping."""
        found: Steps = ()
        for number, step in enumerate(place.path):
            here = place._replace(steps=place.steps[: place.begin + number + 1])
            if here not in self._taken_for:
                if solution.actor(found) == NOBODY:
                    break
                real = self.early.images.at(here.steps[:-1], rng).state
                own = [a if a <= CALL else a - solution.offset for a in solution.actions(found)]
                shares = translate_action(step, real, solution.state(found), own)
                if not shares:
                    break
                chosen = list(shares)[draw_index(list(shares.values()), rng.random()) if len(shares) > 1 else 0]
                self._taken_for[here] = chosen if chosen <= CALL else chosen + solution.offset
            found = (*found, self._taken_for[here])
        return found

    def _is_searched(self, place: Place, rng: np.random.Generator) -> bool:
        if place.street >= self.search.first_street:
            return True
        image = self.early.images.at(place.steps, rng)
        num_left = image.state.is_folded.count(False)
        return not image.is_alike and num_left <= self.search.off_tree_players

    def _solve(self, place: Place, rng: np.random.Generator) -> RoundSolution | None:
        """Returns the round of a decision, solved from its beginning."""
        search, spec = self.search, self.early.blueprint.spec
        begun = self.early.images.at(place.steps[: place.begin], rng)
        is_folded = self.early.images.at(place.steps, rng).state.is_folded
        folded = frozenset(seat for seat, is_out in enumerate(is_folded) if is_out)
        board = place.board
        seats = range(len(spec.stacks))
        ranges = np.stack([self._nobody if seat in folded else self._range(place, seat, rng) for seat in seats])
        own = self._own_rows(place, rng)
        line = place.path if search.adds_bets else ()
        question = RoundQuestion(begun.state, board, ranges, line, own)
        if begun.state.is_folded.count(False) == 2 and place.street >= search.to_end_from:
            return solve_to_end(
                question,
                spec.cards,
                search.menus.at(2),
                big_blind=spec.big_blind,
                iterations=search.iterations,
                seconds=search.seconds,
                num_threads=search.num_threads,
                recipe=spec.recipe if search.in_buckets else None,
            )
        steady = () if search.searcher_chooses else (place.seat,)
        done = RoundLine(begun.state, line, folded, frozenset(steady))
        try:
            tree = build_round(self.rules, search.menus, done, begun, follow=self.early.images.follow, place=_find_leaf)
        except GameTooLargeError:
            return None  # the blueprint plays
        settings = search.rounds
        if search.seconds:
            settings = dataclasses.replace(settings, seconds=search.seconds)
        # the same answer to the same question, whoever asks
        rng = np.random.default_rng([*(step + 1 for step in place.steps), *place.board, place.seat])
        return solve_round(question, tree, self._plan, self.cards, settings=settings, rng=rng)

    def weights_at(
        self, seat: int, steps: tuple[int, ...], board: tuple[int, ...], player: int, rng: np.random.Generator
    ) -> FloatArray:
        """Returns `[H]` how often each of a player's hands comes to the beginning of a round, as a seat sees it."""
        return self._range(Place(seat, steps, board), player, rng)

    def _range(self, place: Place, seat: int, rng: np.random.Generator) -> FloatArray:
        """Returns `[H]` the weights with which a seat came to the beginning of a round."""
        board = place.board
        weights = np.ones(self.early.blueprint.spec.cards.num_hands)
        image = self.early.images.at(place.steps[: place.begin], rng)
        for street in range(place.street):
            last = self._last_decision(place, Street(street))
            solution = None if last is None else self._find(last, rng)
            if solution is None:
                weights *= self.early.reach(image, seat, board, street=Street(street))
                continue
            path = follow_nearest(solution, self._round_of(place, Street(street)))
            weights *= self._reach_within(solution, seat, path)
        found: FloatArray = np.maximum(weights / max(float(weights.max()), 1e-30), LEAST_REACH)
        return found

    def _reach_within(self, solution: RoundSolution, seat: int, path: Steps) -> FloatArray:
        """Returns `[H]` the probability with which a seat's hands have done what they did in a round."""
        reach = np.ones(self.early.blueprint.spec.cards.num_hands)
        for number, step in enumerate(path):
            if solution.actor(path[:number]) == seat:
                reach = reach * solution.rows(path[:number])[:, solution.actions(path[:number]).index(step)]
        return reach

    @staticmethod
    def _round_of(place: Place, street: Street) -> Steps:
        """Returns what was done in a round."""
        rounds: list[list[int]] = [[]]
        for step in place.steps:
            if step == DEALING:
                rounds.append([])
            else:
                rounds[-1].append(step)
        return tuple(rounds[street])

    def _last_decision(self, place: Place, street: Street) -> Place | None:
        """Returns where the searcher decided last in an earlier round."""
        before = sum(len(self._round_of(place, Street(earlier))) + 1 for earlier in range(street))
        line = self._round_of(place, street)
        own = [number for number in range(len(line)) if self._actor(place.steps[: before + number]) == place.seat]
        if not own:
            return None
        return Place(place.seat, place.steps[: before + own[-1]], place.board[: street.num_board_cards])

    def _actor(self, steps: Steps) -> int:
        """Returns who decides after a line of bets."""
        return self.early.images.at(steps, np.random.default_rng(0)).state.actor

    def _own_rows(self, place: Place, rng: np.random.Generator) -> dict[Steps, Kept]:
        """Returns what the searcher played at its earlier decisions of the round, by their paths."""
        rows: dict[Steps, Kept] = {}
        if not self.search.fixes_own:
            return rows
        for number in range(len(place.path)):
            steps = place.steps[: place.begin + number]
            if self._actor(steps) != place.seat:
                continue
            solution = self._find(Place(place.seat, steps, place.board), rng)
            path = place.path[:number]
            if solution is not None and follow_nearest(solution, path) == path:
                rows[path] = Kept(solution.actions(path), solution.rows(path))
        return rows

    @functools.cached_property
    def cards(self) -> CardDeals:
        """Returns the blueprint's buckets of all boards."""
        return make_deals(self.early.blueprint.spec)

    @functools.cached_property
    def _plan(self) -> PlanArrays:
        return plan_behind(self.early.blueprint)

    @functools.cached_property
    def _nobody(self) -> FloatArray:
        return np.zeros(self.early.blueprint.spec.cards.num_hands)


def _find_leaf(image: Image, state: BettingState) -> LeafPlace | None:
    """Returns where the blueprint goes on where a round ends; None if its hand is over, or others are left in it."""
    is_alike = image.betting.stage is Stage.DEAL and image.betting.is_folded == state.is_folded
    return LeafPlace(image.node, image.betting.committed) if image.node != LOST and is_alike else None


def _offer(action: int, offered: tuple[int, ...]) -> int:
    """Returns an action, or the nearest that a game offers."""
    if action in offered:
        return action
    raises = [total for total in offered if total > CALL]
    return min(raises, key=lambda total: abs(total - action)) if action > CALL and raises else CALL


def parse_round_options(search: RoundSearch, options: dict[str, str]) -> RoundSearch:
    """Returns a search with options changed, those of `ROUND_OPTIONS`."""
    changes: dict[str, Any] = {}
    own: dict[str, Any] = {}
    for name, text in options.items():
        if name not in ROUND_OPTIONS:
            raise ConfigError(f"a search of rounds has {', '.join(ROUND_OPTIONS)}, got {name[:40]!r}")
        field, kind = ROUND_OPTIONS[name]
        try:
            value = kind(text)
        except (KeyError, ValueError):
            wanted = "true or false" if kind is _parse_switch else "a number"
            raise ConfigError(f"{name} must be {wanted}, got {text[:40]!r}") from None
        (own if field in ROUND_FIELDS else changes)[field] = value
    if "menu" in changes:
        changes["crowded"] = {}  # it holds whoever is left
    return dataclasses.replace(search, rounds=dataclasses.replace(search.rounds, **own), **changes)


def _parse_switch(text: str) -> bool:
    return {"true": True, "false": False}[text]


ROUND_OPTIONS: Final[Mapping[str, tuple[str, Callable[[str], Any]]]] = {
    "deals": ("deals", int),
    "rollouts": ("num_rollouts", int),
    "bias": ("bias", float),
    "iterations": ("iterations", int),
    "seconds": ("seconds", float),
    "threads": ("num_threads", int),
    "menu": ("menu", str),
    "fixed": ("fixes_own", _parse_switch),
    "added": ("adds_bets", _parse_switch),
    "chooses": ("searcher_chooses", _parse_switch),
}
ROUND_FIELDS: Final = frozenset({"deals", "num_rollouts", "bias"})
