# SPDX-License-Identifier: Apache-2.0
"""Tables at which a person plays an agent, hand by hand; what the agent thought is kept and told after the hand.

The agent thinks in a thread of its own, so that whoever asks for the table meanwhile is answered.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from equipoise.agents.base import Agent, observe_state
from equipoise.agents.notation import AgentText, limit_seconds
from equipoise.apps.web.errors import ApiError
from equipoise.apps.web.library import Library
from equipoise.apps.web.listing import find_agent, find_game
from equipoise.apps.web.scores import Scores
from equipoise.apps.web.table_text import (
    describe_moves,
    describe_table,
    find_move,
    is_public_outcome,
    name_move,
    write_phh,
)
from equipoise.apps.web.thoughts import Thinker
from equipoise.core.errors import EquipoiseError
from equipoise.evaluation.play import expect_all_in
from equipoise.games.base import CHANCE, TERMINAL, Game
from equipoise.games.holdem.cards import format_card
from equipoise.games.holdem.rules import ALL_RAISES, Holdem
from equipoise.solvers.playouts import draw_chance

__all__ = ["GameTable", "TableRoom"]

MOST_TABLES: Final = 32
MOST_HANDS: Final = 2000  # of a table that are kept whole
SECONDS_TO_WAIT: Final = 1.0  # for the agent, before a table is shown as it is
LONGEST_DECISION: Final = 60.0  # seconds that somebody may ask an agent to take


class GameTable:
    """One person, one agent, hands one after another; the seats change with every hand."""

    def __init__(self, id: str, game: Game[Any], maker: AgentText, *, name: str, seed: int, tell: Any) -> None:
        """Seats both; what is wrong with the agent is said at once.

        Args:
            id: of the table.
            game: for two players.
            maker: of the agent.
            name: of the agent, as it is shown.
            seed: of deals and of the agent.
            tell: called when something happened.
        """
        self.id, self.game, self.name, self._tell = id, game, name, tell
        self.agent: Agent = maker(game)
        self._chance, self._rng = (np.random.default_rng((seed, stream)) for stream in (0, 1))
        self.thinker, self.scores = Thinker(game, self.agent), Scores(game, self.agent)
        self._changed = threading.Condition()
        self.version = self.hand = 0
        self.used = time.monotonic()
        self.seat = 0
        self.state: Any = None
        self.history: list[dict[str, Any]] = []
        self.is_thinking = self.is_over = False
        self.error: str | None = None
        self.hands: list[dict[str, Any]] = []
        self._expected: tuple[float, ...] | None = None
        self.deal()

    def deal(self) -> None:
        """Begins the next hand."""
        with self._changed:
            if self.hand and not self.is_over:
                raise ApiError(409, "the hand is not over")
            self.hand += 1
            self.seat = self.hand % 2  # heads-up in hold'em: first on the button
            self.state, self.history, self.is_over, self.error = self.game.initial_state(), [], False, None
            self._expected = None
            self.agent.begin_game(1 - self.seat)
            self.thinker.begin_hand(1 - self.seat)
            self._go_on()

    def act(self, move: str, hand: int | None) -> None:
        """Makes the person's move and lets the agent think."""
        with self._changed:
            if hand is not None and hand != self.hand:
                raise ApiError(409, f"hand {hand} is over, this is hand {self.hand}", field="hand", got=hand)
            if self.is_over or self.is_thinking or self.game.actor(self.state) != self.seat:
                raise ApiError(409, "it is not your turn")
            action = find_move(self.game, self.state, move)
            self.scores.hear(self.state, self.seat)
            self._apply(action, self.seat)
            self._go_on()

    def wait(self) -> None:
        """Waits a little while the agent thinks."""
        with self._changed:
            self._changed.wait_for(lambda: not self.is_thinking, SECONDS_TO_WAIT)

    def describe(self) -> dict[str, Any]:
        """Returns all that the person may see."""
        with self._changed:
            self.used = time.monotonic()
            is_own_turn = not self.is_over and not self.is_thinking and self.game.actor(self.state) == self.seat
            seats = ["you" if seat == self.seat else self.name for seat in (0, 1)]
            return {
                "id": self.id,
                "version": self.version,
                "agent": self.name,
                "hand": self.hand,
                "seat": self.seat,
                "seats": seats,
                "is_thinking": self.is_thinking,
                "is_over": self.is_over,
                "your_turn": is_own_turn,
                **describe_table(self.game, self.state, self.seat, is_over=self.is_over),
                **describe_moves(self.game, self.state, is_turn=is_own_turn),
                "history": [
                    {**step, "seat": seats[step["player"]]} if "player" in step else step for step in self.history
                ],
                "won": self.hands[-1]["won"] if self.is_over and self.hands else None,
                "result": self.scores.describe(),
                "error": self.error,
            }

    def describe_thoughts(self, hand: int | None) -> dict[str, Any]:
        """Returns what the agent thought in a hand that is over."""
        with self._changed:
            number = len(self.hands) if hand is None else hand
            found = next((one for one in self.hands if one["hand"] == number), None)
            if found is None:
                raise ApiError(409, "what it thought is told after the hand", field="hand", got=hand)
            return {"hand": found["hand"], "decisions": found["thoughts"]}

    def list_hands(self) -> list[dict[str, Any]]:
        """Returns the hands that are over."""
        with self._changed:
            return [
                {key: one[key] for key in ("hand", "seat", "won", "expected", "aivat", "text")} for one in self.hands
            ]

    def write_history(self) -> str:
        """Returns the hands that are over as poker hand histories; refuses games that have none."""
        with self._changed:
            texts = [one["phh"] for one in self.hands if one["phh"] is not None]
        if not isinstance(self.game, Holdem):
            raise ApiError(409, "hand histories are of hold'em")
        return "\n".join(f"[{place}]\n{text}" for place, text in enumerate(texts, start=1))

    def _go_on(self) -> None:
        """Lets chance and the agent move until it is the person's turn, in a thread."""
        self.is_thinking = True
        self.version += 1
        threading.Thread(target=self._play, daemon=True).start()

    def _play(self) -> None:
        try:
            self._move_others()
        except EquipoiseError as error:
            self.error = str(error)
            self.is_over = True
        except Exception as error:  # whatever an agent does, the person is told and may go on
            self.error = f"the agent failed: {type(error).__name__}"
            self.is_over = True
        with self._changed:
            self.is_thinking = False
            self.version += 1
            self._changed.notify_all()
        self._tell(self)

    def _move_others(self) -> None:
        game, other = self.game, 1 - self.seat
        self.scores.prepare()
        while (actor := game.actor(self.state)) != self.seat:
            if actor == TERMINAL:
                self._finish()
                return
            self.scores.hear(self.state, self.seat)
            if actor == CHANCE:
                if isinstance(game, Holdem) and self._expected is None:
                    self._expected = expect_all_in(game, self.state)
                self._apply(draw_chance(game, self.state, self._chance.random()), CHANCE)
                continue
            observation = observe_state(game, self.state, other)
            action = self.thinker.act(self.state, observation, rng=self._rng)
            self._apply(action, other)

    def _apply(self, action: int, actor: int) -> None:
        """Makes a move, keeps it in the hand's history and shows it to the agent."""
        game, before = self.game, self.state
        after = game.apply(before, action)
        step: dict[str, Any] | None = None
        if actor != CHANCE:
            step = {"player": actor, "name": name_move(game, before, action)}
            if isinstance(game, Holdem):
                step["street"] = before.betting.street.name.lower()
        elif isinstance(game, Holdem) and after.betting.street != before.betting.street:
            cards = after.board[before.betting.street.num_board_cards :]
            step = {"cards": [format_card(card) for card in cards], "street": after.betting.street.name.lower()}
        elif not isinstance(game, Holdem) and is_public_outcome(game, before, action):
            step = {"cards": [game.action_name(before, action)], "street": ""}
        if step is not None:
            self.history.append(step)
        self.state = after
        if actor != 1 - self.seat:
            self.agent.observe(observe_state(game, after, 1 - self.seat))

    def _finish(self) -> None:
        """Keeps the score of a hand, and what it was."""
        won = self.game.returns(self.state)
        expected = self._expected or won
        estimate = self.scores.finish(self.state, self.seat, won[self.seat], expected[self.seat])
        names = ["you" if seat == self.seat else self.name for seat in (0, 1)]
        self.hands.append(
            {
                "hand": self.hand,
                "seat": self.seat,
                "won": won[self.seat],
                "expected": expected[self.seat],
                "aivat": estimate,
                "text": self.game.describe(self.state),
                "phh": write_phh(self.game, self.state, self.history, names, self.hand),
                "thoughts": self.thinker.list_thoughts(),
            }
        )
        del self.hands[:-MOST_HANDS]
        self.is_over = True


class TableRoom:
    """Tables by id; those that nobody looked at for longest make room for new ones."""

    def __init__(self, library: Library, tell: Callable[[GameTable], None]) -> None:
        self.library, self._tell = library, tell
        self._lock = threading.Lock()
        self._tables: dict[str, GameTable] = {}
        self._count = 0

    def open(
        self,
        agent: str,
        game: str | None,
        parameters: dict[str, Any] | None,
        *,
        seconds: float | None = None,
        seed: int | None = None,
    ) -> GameTable:
        """Returns a new table with its first hand dealt."""
        text, listed = find_agent(self.library, agent)
        maker = AgentText(text)
        try:
            if seconds is not None and maker.takes_seconds:
                if not 0 < seconds <= LONGEST_DECISION:
                    raise ApiError(422, f"from 0 to {LONGEST_DECISION:g}", field="seconds", got=seconds)
                (maker,) = limit_seconds([maker], seconds)
            played = _find_played(maker, game, parameters, is_file=listed is not None)
            if played.spec.num_players != 2:
                raise ApiError(422, "tables are for two players", field="game", got=game)
            with self._lock:
                self._count += 1
                id = f"t{self._count}"
            name = agent if listed is None else str(self.library.describe(listed)["name"])
            table = GameTable(
                id, played, maker, name=name, seed=secrets.randbits(32) if seed is None else seed, tell=self._tell
            )
        except EquipoiseError as error:
            raise ApiError.of(error, field="agent") from None
        with self._lock:
            self._tables[id] = table
            while len(self._tables) > MOST_TABLES:
                del self._tables[min(self._tables, key=lambda one: self._tables[one].used)]
        return table

    def find(self, id: str) -> GameTable:
        """Returns a table; refuses an unknown one."""
        with self._lock:
            if id not in self._tables:
                raise ApiError(404, "there is no such table", field="id", got=id)
            return self._tables[id]

    def list_tables(self) -> list[dict[str, Any]]:
        """Returns all tables, the newest first."""
        with self._lock:
            tables = list(self._tables.values())[::-1]
        return [
            {"id": one.id, "game": one.game.spec.name, "agent": one.name, "hands": len(one.hands)} for one in tables
        ]

    def close(self, id: str) -> None:
        """Forgets a table."""
        self.find(id)
        with self._lock:
            del self._tables[id]


def _find_played(maker: AgentText, game: str | None, parameters: dict[str, Any] | None, *, is_file: bool) -> Game[Any]:
    """Returns what is played: a file's own game, else one that is listed; hold'em with every bet, unless told."""
    own = maker.game
    if is_file:
        assert own is not None
        return own
    if game is None:
        if own is None:
            raise ApiError(422, "say which game", code="config", field="game")
        return own
    if own is not None and own.spec.name == game and not parameters:
        return own
    given = dict(parameters or {})
    if game == Holdem.name:
        given.setdefault("menu", ALL_RAISES)
    return find_game(game, given)
