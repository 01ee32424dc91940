# SPDX-License-Identifier: Apache-2.0
"""Checks that a game keeps the laws of the `Game` protocol; for our games and for anybody's.

Small games are checked in every history, larger ones in random playthroughs. All laws that are broken are reported at
once, in an `InvalidGameError` with a line for each finding: the game, the law, what was got and expected, the state.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import math
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import numpy as np

from equipoise.core.errors import ConfigError, IllegalActionError, InvalidGameError, InvalidStateError
from equipoise.core.formatting import show_given
from equipoise.core.own_code import describe_exception
from equipoise.games.base import CHANCE, TERMINAL, ActionClass, Game
from equipoise.games.playthrough import sample_action
from equipoise.games.registry import take_game

__all__ = ["GameReport", "Violation", "check_game"]

TOLERANCE: Final = 1e-9  # on sums of probabilities and of utilities
NOTHING_SEEN: Final = (math.inf, -math.inf)  # the utilities of a game of which no end was reached
MOST_OF_A_LAW: Final = 3  # findings that are kept; further ones are counted


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class GameReport:
    """What was seen while a game was checked.

    >>> from equipoise.games import Kuhn
    >>> report = check_game(Kuhn(), rng=np.random.default_rng(0))
    >>> report.is_complete, report.num_terminals, report.max_utility
    (True, 30, 2.0)
    """

    is_complete: bool  # whether every history was checked
    num_histories: int  # checked, terminals included; counted again when met again in a playthrough
    num_terminals: int
    num_infosets: tuple[int, ...]  # in which each player acts
    num_public_states: int
    has_public_states: bool
    longest: int  # most actions on a path, chance included
    min_utility: float
    max_utility: float


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """A law that a game breaks, and where."""

    law: str
    detail: str  # what was got, and what was expected
    state: str | None  # in the game's own words; None: of the game as a whole

    def __str__(self) -> str:
        place = "" if self.state is None else f"; state: {self.state}"
        return f"the law of {self.law}: {self.detail}{place}"


def check_game(
    game: Game[Any] | str,
    *,
    rng: np.random.Generator | None = None,
    num_playthroughs: int = 100,
    max_states: int = 20_000,
    is_range_attained: bool = True,
) -> GameReport:
    """Returns what was seen of a game that keeps every law; raises `InvalidGameError` naming all that it breaks.

    Args:
        game: The rules to check, or their name (`"mine.py:MyGame"`).
        rng: Chooses the random playthroughs; of seed 0 if None.
        num_playthroughs: How many random games to play if the game is not enumerated.
        max_states: Enumerate games of at most this many histories.
        is_range_attained: Whether the declared utilities must occur, not only bound, in an enumerated game.

    >>> from equipoise.games import Kuhn
    >>> report = check_game(Kuhn(), rng=np.random.default_rng(0))
    >>> report.num_histories, report.num_infosets
    (58, (6, 6))
    """
    if not isinstance(rng, np.random.Generator | None):
        raise ConfigError(f"rng must be a generator such as np.random.default_rng(0), got {show_given(rng)}")
    if isinstance(game, str | type):
        game = take_game(game)
    try:
        checker = _Checker(game)
    except Exception as error:  # whatever a stranger's game raises is the finding
        name = type(game).__name__
        raise InvalidGameError(f"{name} breaks the law of spec: it raised {describe_exception(error)}") from error
    rng = np.random.default_rng(0) if rng is None else rng
    is_complete = _visit_all(checker, max_states)
    if not is_complete:
        for _ in range(num_playthroughs):
            _visit_playthrough(checker, rng)
    elif is_range_attained:
        checker.check_range_attained()
    checker.raise_findings()
    return checker.report(is_complete)


class _Node(NamedTuple):
    """A state on a path: how deep it lies, and each player's last own decision before it."""

    state: Any
    depth: int
    last_moves: tuple[tuple[str, int] | None, ...]  # information state and action, by player


def _root(game: Game[Any]) -> _Node:
    return _Node(game.initial_state(), 0, (None,) * game.spec.num_players)


def _child(game: Game[Any], node: _Node, action: int) -> _Node:
    moves = list(node.last_moves)
    actor = game.actor(node.state)
    if actor >= 0:
        moves[actor] = (game.infostate(node.state, actor), action)
    return _Node(game.apply(node.state, action), node.depth + 1, tuple(moves))


def _visit_all(checker: _Checker, max_states: int) -> bool:
    """Checks histories depth first; returns whether that was all of them."""
    game = checker.game
    stack = [_root(game)]
    while stack:
        if checker.num_histories == max_states:
            return False
        node = stack.pop()
        for action in reversed(checker.visit(node)):
            with checker.guard("apply", node.state):
                stack.append(_child(game, node, action))
    return True


def _visit_playthrough(checker: _Checker, rng: np.random.Generator) -> None:
    game = checker.game
    node: _Node | None = _root(game)
    while node is not None and checker.visit(node):
        state, following = node.state, None
        with checker.guard("apply", state):
            following = _child(game, node, sample_action(game, state, rng=rng))
        node = following


class _Checker:
    """Remembers what was seen, so that laws about several histories can be checked, and every law that was broken."""

    def __init__(self, game: Game[Any]) -> None:
        self.game = game
        self.spec = game.spec
        self.players = range(game.spec.num_players)
        self.num_histories = 0
        self.num_terminals = 0
        self.longest = 0
        self.utilities_seen = NOTHING_SEEN
        self.legal_actions: list[dict[str, tuple[int, ...]]] = [{} for _ in self.players]
        self.last_moves: list[dict[str, tuple[str, int] | None]] = [{} for _ in self.players]
        self.public_of: list[dict[str, str]] = [{} for _ in self.players]
        self.public_actors: dict[str, int] = {}
        self.findings: dict[str, list[Violation]] = {}  # by law
        self.counts: dict[str, int] = {}  # by law, findings that were not kept included
        self.has_public_states = self._offers_public_states()

    def visit(self, node: _Node) -> tuple[int, ...]:
        """Checks every law in one state; returns the actions or outcomes that lead on from it."""
        state = node.state
        self.num_histories += 1
        self.longest = max(self.longest, node.depth)
        if node.depth > self.spec.max_length:
            self._note("maximum length", f"{node.depth} actions, declared {self.spec.max_length}", state)
            return ()
        actor, actions = TERMINAL, None
        with self.guard("actor", state):
            actor = self.game.actor(state)
            if actor not in (CHANCE, TERMINAL, *self.players):
                self._note("actor", f"got {actor!r}, expected a player, CHANCE or TERMINAL", state)
                return ()
            with self.guard("legal actions", state):
                actions = self._check_actions(state, actor)
        if actions is None:
            return ()
        self._check_views(node, actor)
        with self.guard("action names", state):
            self._check_names(state, actions)
        with self.guard("pure apply", state):
            before = self._snapshot(state)
            self._check_apply(state, actions)
            if self._snapshot(state) != before:
                self._note("pure apply", "the state changed while actions were applied to it", state)
        with self.guard("returns", state):
            self._check_returns(state, actor)
        return actions

    @contextlib.contextmanager
    def guard(self, law: str, state: Any) -> Iterator[None]:
        """While entered, what the game raises is a finding, and the rest of the block is skipped."""
        try:
            yield
        except Exception as error:  # whatever a stranger's game raises is the finding
            self._note(law, f"it raised {describe_exception(error)}", state)

    def check_range_attained(self) -> None:
        """Checks that the utilities declared are those that occurred in the whole game."""
        declared = (self.spec.min_utility, self.spec.max_utility)
        if self.utilities_seen == NOTHING_SEEN:  # another law tells why
            return
        for seen, said in zip(self.utilities_seen, declared, strict=True):
            if not abs(seen - said) <= TOLERANCE:
                self._note("utility range", f"declared {declared}, attained {self.utilities_seen}", None)
                return

    def raise_findings(self) -> None:
        """Raises if any law was broken, with all that was found."""
        if not self.findings:
            return
        lines = []
        for law, found in self.findings.items():
            lines += [f"{self.spec.name} breaks {one}" for one in found]
            if self.counts[law] > len(found):
                more = self.counts[law] - len(found)
                lines[-1] += f" (and {more:,} {'time' if more == 1 else 'times'} more)"
        raise InvalidGameError("\n".join(lines), itertools.chain.from_iterable(self.findings.values()))

    def report(self, is_complete: bool) -> GameReport:
        """Returns what was seen."""
        return GameReport(
            is_complete=is_complete,
            num_histories=self.num_histories,
            num_terminals=self.num_terminals,
            num_infosets=tuple(len(table) for table in self.legal_actions),
            num_public_states=len(self.public_actors),
            has_public_states=self.has_public_states,
            longest=self.longest,
            min_utility=self.utilities_seen[0],
            max_utility=self.utilities_seen[1],
        )

    def _check_actions(self, state: Any, actor: int) -> tuple[int, ...]:
        """Returns the legal actions or the chance outcomes of a state, having checked both lists."""
        legal, outcomes = self.game.legal_actions(state), self.game.chance_outcomes(state)
        if actor >= 0:
            if not legal or not _is_ascending(legal):
                self._note("legal actions", f"got {legal}, expected ascending and at least one", state)
        elif legal:
            self._note("legal actions", f"got {legal} where nobody acts", state)
        possible = tuple(outcome for outcome, _ in outcomes)
        if actor == CHANCE:
            total = math.fsum(probability for _, probability in outcomes)
            is_positive = all(probability > 0 for _, probability in outcomes)
            if not is_positive or not abs(total - 1) <= TOLERANCE or not _is_ascending(possible):
                self._note("chance", f"got {outcomes}, expected ascending, positive, in sum 1", state)
            return possible
        if outcomes:
            self._note("chance", f"got {outcomes} where chance does not move", state)
        return () if actor == TERMINAL else tuple(legal)

    def _check_views(self, node: _Node, actor: int) -> None:
        """Checks what players know in a state, and what everybody does."""
        state = node.state
        with self.guard("infostate", state):
            infostates = tuple(self.game.infostate(state, player) for player in self.players)
            for player, infostate in enumerate(infostates):
                if not isinstance(infostate, str) or "\n" in infostate:
                    self._note("infostate", f"player {player} got {infostate!r}, expected one line of text", state)
                    return
            self._check_infostates(state, actor, infostates, node.last_moves)
            if self.has_public_states:
                with self.guard("public state", state):
                    self._check_public_state(state, actor, infostates)

    def _check_infostates(
        self, state: Any, actor: int, infostates: tuple[str, ...], last_moves: tuple[tuple[str, int] | None, ...]
    ) -> None:
        for player, infostate in enumerate(infostates):
            known = self.last_moves[player].setdefault(infostate, last_moves[player])
            if known != last_moves[player]:
                detail = f"player {player} in {infostate!r} came from {known} and from {last_moves[player]}"
                self._note("perfect recall", detail, state)
        if actor >= 0:
            legal = self.game.legal_actions(state)
            known_legal = self.legal_actions[actor].setdefault(infostates[actor], legal)
            if known_legal != legal:
                detail = f"player {actor} in {infostates[actor]!r} has {known_legal} and {legal}"
                self._note("one infostate, one list of actions", detail, state)

    def _check_public_state(self, state: Any, actor: int, infostates: tuple[str, ...]) -> None:
        public = self.game.public_state(state)
        known_actor = self.public_actors.setdefault(public, actor)
        if known_actor != actor:
            self._note("one public actor", f"{public!r} has actors {known_actor} and {actor}", state)
        for player, infostate in enumerate(infostates):
            known = self.public_of[player].setdefault(infostate, public)
            if known != public:
                detail = f"player {player} in {infostate!r} is in {known!r} and in {public!r}"
                self._note("one infostate, one public state", detail, state)

    def _check_names(self, state: Any, actions: tuple[int, ...]) -> None:
        names = [self.game.action_name(state, action) for action in actions]
        if len(set(names)) != len(names) or not all(names):
            self._note("action names", f"got {names}, expected different words", state)
        for action in actions:
            kind = self.game.action_class(state, action)
            if not isinstance(kind, ActionClass):
                self._note("action class", f"action {action} has {kind!r}, expected an ActionClass", state)

    def _check_apply(self, state: Any, actions: tuple[int, ...]) -> None:
        for action in actions:
            once, again = self.game.apply(state, action), self.game.apply(state, action)
            if once != again or hash(once) != hash(again):
                self._note("pure apply", f"action {action} applied twice gives different states", state)
        for action in _illegal_actions(actions):
            try:
                self.game.apply(state, action)
            except IllegalActionError:
                continue
            except Exception as error:  # whatever a stranger's game raises is the finding
                detail = f"action {action} raised {error!r}, expected an IllegalActionError"
                self._note("illegal actions", detail, state)
            else:
                self._note("illegal actions", f"action {action} was accepted, legal are {actions}", state)

    def _check_returns(self, state: Any, actor: int) -> None:
        if actor != TERMINAL:
            try:
                self.game.returns(state)
            except InvalidStateError:
                return
            self._note("returns", "a state that has not ended has returns, expected an InvalidStateError", state)
            return
        self.num_terminals += 1
        returns = self.game.returns(state)
        if len(returns) != len(self.players) or not all(map(math.isfinite, returns)):
            self._note("returns", f"got {returns}, expected {len(self.players)} finite numbers", state)
            return
        if self.spec.is_zero_sum and abs(math.fsum(returns)) > TOLERANCE:
            self._note("zero-sum", f"returns {returns} do not sum to 0", state)
        low, high = self.spec.min_utility, self.spec.max_utility
        if min(returns) < low - TOLERANCE or max(returns) > high + TOLERANCE:
            self._note("utility range", f"returns {returns} are not within {low} and {high}", state)
        seen_low, seen_high = self.utilities_seen
        self.utilities_seen = (min(seen_low, *returns), max(seen_high, *returns))

    def _snapshot(self, state: Any) -> tuple[Any, ...]:
        game = self.game
        infostates = tuple(game.infostate(state, player) for player in self.players)
        return game.actor(state), game.legal_actions(state), infostates, game.describe(state), hash(state)

    def _offers_public_states(self) -> bool:
        try:
            self.game.public_state(self.game.initial_state())
        except InvalidStateError:
            return False
        return True

    def _note(self, law: str, detail: str, state: Any) -> None:
        """Keeps a finding, or counts it if there are enough of its law."""
        kept = self.findings.setdefault(law, [])
        self.counts[law] = self.counts.get(law, 0) + 1
        if len(kept) < MOST_OF_A_LAW:
            kept.append(Violation(law=law, detail=detail, state=None if state is None else self._describe(state)))

    def _describe(self, state: Any) -> str:
        try:
            return str(self.game.describe(state))
        except Exception:  # it cannot even be described: Python's own words must do
            return repr(state)


def _is_ascending(actions: tuple[int, ...]) -> bool:
    return all(earlier < later for earlier, later in itertools.pairwise(actions))


def _illegal_actions(actions: tuple[int, ...]) -> list[int]:
    """Returns a few actions outside a list: below, above, and in its first gap."""
    top = max(actions, default=0)
    gaps = (action for action in range(top) if action not in actions)
    return [-1, *([0] if not actions else []), top + 1, *list(gaps)[:1]]
