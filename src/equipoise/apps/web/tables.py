# SPDX-License-Identifier: Apache-2.0
"""Tables at which a person plays an agent, hand by hand; what the agent thought is kept and told after the hand.

The agent thinks in a thread of its own, so that whoever asks for the table meanwhile is answered. Tables are kept on
disk after every move: a server that starts again, however the last one ended, finds them with the hand as it was.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np

from equipoise.agents.base import Agent, observe_state
from equipoise.agents.notation import AgentText, limit_seconds
from equipoise.agents.resolving import PRESETS
from equipoise.apps.web.errors import ApiError
from equipoise.apps.web.library import Library
from equipoise.apps.web.listing import find_agent, find_game
from equipoise.apps.web.scores import Scores
from equipoise.apps.web.table_files import TableFiles
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
from equipoise.games.leduc import Leduc
from equipoise.solvers.playouts import draw_chance

__all__ = ["GameTable", "TableRoom"]

MOST_TABLES: Final = 32  # in memory
MOST_HANDS: Final = 2000  # of a table that are kept whole
SECONDS_TO_WAIT: Final = 1.0  # for the agent, before a table is shown as it is
LONGEST_DECISION: Final = 60.0  # seconds that somebody may ask an agent to take


class GameTable:
    """One person, one agent, hands one after another; the seats change with every hand."""

    def __init__(
        self, id: str, game: Game[Any], maker: AgentText, *, name: str, seed: int, tell: Any, files: TableFiles
    ) -> None:
        """Seats both; what is wrong with the agent is said at once. `deal` or `restore` comes next.

        Args:
            id: of the table.
            game: for two players.
            maker: of the agent.
            name: of the agent, as it is shown.
            seed: of deals and of the agent.
            tell: called when something happened.
            files: where the table is kept.
        """
        self.id, self.game, self.name, self._tell, self._files = id, game, name, tell, files
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
        self._moves: list[int] = []  # of this hand, chance's included
        self._unseen: list[Any] = []  # states of this hand that the agent is not told of yet
        self._has_begun = False  # whether the agent knows of this hand
        self._expected: tuple[float, ...] | None = None
        self._is_closed = False

    def deal(self) -> None:
        """Begins the next hand."""
        with self._changed:
            if self.is_thinking or (self.hand and not self.is_over):
                raise ApiError(409, "the hand is not over")
            self.hand += 1
            self._begin_hand()
            self._go_on()

    def _begin_hand(self) -> None:
        self.seat = self.hand % 2  # heads-up in hold'em: first on the button
        self.state, self.history, self.is_over, self.error = self.game.initial_state(), [], False, None
        self._moves, self._expected = [], None
        self._unseen, self._has_begun = [], False
        self.thinker.begin_hand(1 - self.seat)

    def restore(self, kept: dict[str, Any], hands: list[dict[str, Any]]) -> None:
        """Goes on where a table was left: its hand is played again up to there, the agent thinks on if it did."""
        with self._changed:
            self.hands = hands[-MOST_HANDS:]
            for one in hands:
                self.scores.recall(one["won"], one["expected"], one["aivat"])
            self.hand, self.version = int(kept["hand"]), int(kept["version"])
            self._chance.bit_generator.state, self._rng.bit_generator.state = kept["draws"]
            self._begin_hand()
            is_over = bool(kept["is_over"])
            if not is_over:
                self.scores.prepare()
            for action in kept["moves"]:
                if not is_over:
                    self._hear()
                    self.scores.hear(self.state, self.seat)
                self._apply(int(action), self.game.actor(self.state))
            self.thinker.recall(kept["thoughts"])
            self._expected = None if kept["expected"] is None else tuple(kept["expected"])
            self.is_over, self.error = is_over, kept["error"]
            if not is_over and self.game.actor(self.state) != self.seat:
                self._go_on()

    def close(self) -> None:
        """Forgets the table on disk as well."""
        with self._changed:
            self._is_closed = True
            self._files.remove(self.id)

    def _keep(self) -> None:
        """Writes the table as it is; finished hands are in a file of their own."""
        if self._is_closed:
            return
        kept = {
            "name": self.name,
            "game": self.game.spec.name,
            "num_hands": len(self.hands),
            "hand": self.hand,
            "version": self.version,
            "moves": self._moves,
            "draws": [self._chance.bit_generator.state, self._rng.bit_generator.state],
            "thoughts": self.thinker.as_json(),
            "expected": self._expected,
            "is_over": self.is_over,
            "error": self.error,
        }
        self._files.write(self.id, kept)

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
                "won": self.hands[-1]["won"] if self.is_over and self.error is None and self.hands else None,
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
        self._keep()
        threading.Thread(target=self._play, daemon=True).start()

    def _play(self) -> None:
        try:
            self._move_others()
        except EquipoiseError as error:
            self._break_off(str(error))
        except Exception as error:  # whatever an agent does, the person is told and may go on
            self._break_off(f"the agent failed: {type(error).__name__}")
        with self._changed:
            self.is_thinking = False
            self.version += 1
            self._keep()
            self._changed.notify_all()
        self._tell(self)

    def _hear(self) -> None:
        """Lets the agent begin and see what it has not seen yet."""
        if not self._has_begun:
            self.agent.begin_game(1 - self.seat)
            self._has_begun = True
        for state in self._unseen:
            self.agent.observe(observe_state(self.game, state, 1 - self.seat))
        self._unseen.clear()

    def _break_off(self, reason: str) -> None:
        """Ends a hand that cannot be played on; it is not counted."""
        self.error, self.is_over = reason, True
        self.scores.drop()

    def _move_others(self) -> None:
        game, other = self.game, 1 - self.seat
        self.scores.prepare()
        while (actor := game.actor(self.state)) != self.seat:
            self._hear()
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
        self._moves.append(action)
        self.state = after
        if actor != 1 - self.seat:
            self._unseen.append(after)

    def _finish(self) -> None:
        """Keeps the score of a hand, and what it was."""
        won = self.game.returns(self.state)
        expected = self._expected or won
        estimate = self.scores.finish(self.state, self.seat, won[self.seat], expected[self.seat])
        names = ["you" if seat == self.seat else self.name for seat in (0, 1)]
        finished = {
            "hand": self.hand,
            "seat": self.seat,
            "won": won[self.seat],
            "expected": expected[self.seat],
            "aivat": estimate,
            "text": self.game.describe(self.state),
            "phh": write_phh(self.game, self.state, self.history, names, self.hand),
            "thoughts": self.thinker.list_thoughts(),
        }
        self.hands.append(finished)
        if not self._is_closed:
            self._files.add_hand(self.id, finished)
        del self.hands[:-MOST_HANDS]
        self.is_over = True


class TableRoom:
    """Tables by id, kept on disk; in memory are those that somebody looked at last."""

    def __init__(self, library: Library, tell: Callable[[GameTable], None], folder: Path) -> None:
        self.library, self._tell, self._files = library, tell, TableFiles(folder)
        self._lock = threading.Lock()
        self._opening = threading.Lock()  # of what is on disk, which may take a while
        self._tables: dict[str, GameTable] = {}
        self._count = self._files.find_last()

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
        seed = secrets.randbits(32) if seed is None else seed
        how: dict[str, Any] = {"agent": agent, "game": game, "parameters": parameters, "seconds": seconds, "seed": seed}
        with self._lock:
            self._count += 1
            id = f"t{self._count}"
        table = self._make(id, **how)
        self._files.begin(id, how)
        table.deal()
        self._take_in(table)
        return table

    def _make(
        self,
        id: str,
        *,
        agent: str,
        game: str | None,
        parameters: dict[str, Any] | None,
        seconds: float | None,
        seed: int,
    ) -> GameTable:
        """Returns a table at which nothing is dealt yet; refuses agents and games that are not listed."""
        text, listed = find_agent(self.library, agent)
        maker = AgentText(text)
        try:
            if seconds is not None and maker.takes_seconds and game != Leduc.name:
                if not 0 < seconds <= LONGEST_DECISION:
                    message = f"must be above 0 and at most {LONGEST_DECISION:g} seconds"
                    raise ApiError(422, message, field="seconds", got=seconds)
                (maker,) = limit_seconds([maker], seconds)
            played = _find_played(maker, game, parameters, is_file=listed is not None)
            if played.spec.num_players != 2:
                raise ApiError(422, "tables are for two players", field="game", got=game)
            name = agent if listed is None else str(self.library.describe(listed)["name"])
            return GameTable(id, played, maker, name=name, seed=seed, tell=self._tell, files=self._files)
        except EquipoiseError as error:
            raise ApiError.of(error, field="agent") from None

    def _take_in(self, table: GameTable) -> None:
        with self._lock:
            self._tables[table.id] = table
            idle = sorted((one for one in self._tables.values() if not one.is_thinking), key=lambda one: one.used)
            for one in idle[: max(0, len(self._tables) - MOST_TABLES)]:
                if one is not table:
                    del self._tables[one.id]  # it is on disk

    def find(self, id: str) -> GameTable:
        """Returns a table, from disk if need be; refuses an unknown one."""
        with self._lock:
            if id in self._tables:
                return self._tables[id]
        with self._opening:
            if id in self._tables:
                return self._tables[id]
            how, kept, hands = self._files.read(id)
            if how is None or kept is None:
                raise ApiError(404, "there is no such table", field="id", got=id)
            try:
                table = self._make(id, **how)
                table.restore(kept, hands)
            except (ApiError, EquipoiseError, TypeError, KeyError, ValueError, IndexError) as error:
                reason = str(error) if isinstance(error, ApiError | EquipoiseError) else "its file is damaged"
                raise ApiError(409, f"the table cannot be opened again: {reason}", field="id", got=id) from None
            self._take_in(table)
            return table

    def list_tables(self) -> list[dict[str, Any]]:
        """Returns all tables, the newest first."""
        with self._lock:
            tables = dict(self._tables)
        found = {id: kept for id, kept in self._files.list_kept().items() if id not in tables}
        rows = [
            {"id": one.id, "game": one.game.spec.name, "agent": one.name, "hands": len(one.hands)}
            for one in tables.values()
        ] + [
            {"id": id, "game": kept["game"], "agent": kept["name"], "hands": kept["num_hands"]}
            for id, kept in found.items()
        ]
        return sorted(rows, key=lambda row: int(str(row["id"])[1:]), reverse=True)

    def close(self, id: str) -> None:
        """Forgets a table."""
        with self._lock:
            table = self._tables.pop(id, None)
        if table is not None:
            table.close()
        elif not self._files.remove(id):
            raise ApiError(404, "there is no such table", field="id", got=id)


def _plays_networks(maker: AgentText) -> bool:
    return maker.name.partition(":")[0] in PRESETS


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
    if game == Leduc.name and _plays_networks(maker):
        given.setdefault("merge_suits", True)  # the form that networks know
    return find_game(game, given)
