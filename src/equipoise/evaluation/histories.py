# SPDX-License-Identifier: Apache-2.0
"""Hands of matches in files: as PHH, which poker programs read, or as text for people, of any game."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

import numpy as np

from equipoise.core.errors import CheckpointError, ConfigError
from equipoise.core.files import StrPath, check_writable, describe_os_error
from equipoise.games.base import CHANCE, TERMINAL, Game
from equipoise.games.holdem.betting import CALL, FOLD, Stage
from equipoise.games.holdem.cards import FULL_DECK, format_board
from equipoise.games.holdem.dealing import HAND_SIZE
from equipoise.games.holdem.rules import Holdem, HoldemState
from equipoise.games.parameters import format_value
from equipoise.solvers.playouts import draw_chance

__all__ = ["HandWriter", "PlayedHand", "complete_hand", "format_phh", "format_text"]

PHH_SUFFIXES: Final = (".phh", ".phhs")
TEXT_SUFFIXES: Final = (".txt", ".text")


class PlayedHand(NamedTuple):
    """A game of a match as it went."""

    deal: int  # from 0
    agents: tuple[int, ...]  # by seat
    actions: tuple[int, ...]  # of players and of chance, from the first to the last


def complete_hand(game: Game[Any], actions: Sequence[int], chance: np.random.Generator) -> tuple[int, ...]:
    """Returns the actions of a game with the cards that were still to come where an all-in was scored without them."""
    state = game.initial_state()
    for action in actions:
        state = game.apply(state, action)
    out = list(actions)
    while game.actor(state) == CHANCE:
        out.append(draw_chance(game, state, chance.random()))
        state = game.apply(state, out[-1])
    return tuple(out)


class HandWriter:
    """A file that hands are added to, one after another; what its name ends in says how."""

    def __init__(self, path: StrPath, game: Game[Any], names: Sequence[str], *, is_appended: bool = False) -> None:
        """Looks whether hands of the game can be written there.

        Args:
            path: ends in .phh, .phhs or .txt.
            game: what is played.
            names: of the agents.
            is_appended: whether to go on with a file that is there.
        """
        self.path, self.game, self.names = Path(path), game, tuple(names)
        suffix = self.path.suffix.lower()
        if suffix not in PHH_SUFFIXES + TEXT_SUFFIXES:
            raise ConfigError(f"hands are written to FILE.phh (hold'em) or FILE.txt (any game), got {path}")
        self._format: Callable[..., str] = format_text
        if suffix in PHH_SUFFIXES:
            _check_phh(game, path)
            self._format = format_phh
        check_writable(self.path)
        self._is_appended = is_appended
        self._file: IO[bytes] | None = None
        self.num_hands = 0

    def __call__(self, hands: Iterable[PlayedHand]) -> None:
        """Adds hands to the file."""
        num_players = self.game.spec.num_players
        texts = []
        for hand in hands:
            number = hand.deal * num_players + hand.agents.index(0) + 1  # the same however often a match is resumed
            texts.append(self._format(self.game, hand, self.names, number))
        try:
            if self._file is None:
                self._file = self.path.open("ab" if self._is_appended else "wb", buffering=0)
            _write_whole(self._file, "".join(texts).encode())
        except OSError as error:
            self._remove_if_empty()
            raise CheckpointError(f"cannot write {self.path}: {describe_os_error(error)}") from error
        self.num_hands += len(texts)

    def _remove_if_empty(self) -> None:
        """Leaves no empty file of its own where not one hand could be written."""
        if self._file is not None and not self._is_appended and not self.num_hands and self.path.is_file():
            self.path.unlink()

    def close(self) -> None:
        """Ends the file."""
        if self._file is not None:
            self._file.close()


def _write_whole(file: IO[bytes], content: bytes) -> None:
    """Writes all of a content behind what an unbuffered file has, or nothing: no hand is cut in two on a full disk."""
    rest = memoryview(content)
    num_before = os.fstat(file.fileno()).st_size
    try:
        while rest:
            rest = rest[file.write(rest) :]
    except OSError:
        with contextlib.suppress(OSError):  # what is no file of a disk has no end to cut
            file.truncate(num_before)
        raise


def _check_phh(game: Game[Any], path: StrPath) -> None:
    """Raises unless hands of a game can be written as PHH."""
    text = f"{Path(path).with_suffix('.txt')} is written for any game"
    if not isinstance(game, Holdem):
        raise ConfigError(f"PHH is for hands of poker, and {game.spec.name} is none it knows; {text}")
    if game.board or game.last_street != "river" or game.card_deck != FULL_DECK:
        raise ConfigError(f"PHH is for whole hands with a full deck, from the blinds to the river; {text}")
    if game.bet_sizes and len(set(game.bet_sizes)) > 2:
        raise ConfigError(f"PHH knows two fixed bets, got {format_value(game.bet_sizes)}; {text}")


def format_phh(game: Holdem, hand: PlayedHand, names: Sequence[str], number: int) -> str:
    """Returns a hand as a numbered table of a PHH file.

    Players stand in the order of our seats, which is PHH's: the small blind first, heads-up the big blind; blinds
    are listed small before big in both.
    """
    states = list(_replay(game, hand.actions))
    final, rules = states[-1], game.betting_rules
    blinds = [game.small_blind, game.big_blind, *[0] * (rules.num_players - 2)]
    fields: dict[str, Any] = {
        "variant": "FT" if rules.is_limit else "NT",
        "ante_trimming_status": True,
        "antes": [game.ante] * rules.num_players,
        "blinds_or_straddles": blinds,
    }
    if rules.is_limit:
        fields |= {"small_bet": game.bet_sizes[0], "big_bet": game.bet_sizes[-1]}
    else:
        fields["min_bet"] = game.big_blind
    won = game.returns(final)
    fields |= {
        "starting_stacks": list(game.stacks),
        "actions": _list_phh_actions(game, states),
        "author": "Equipoise",
        "hand": number,
        "players": [names[agent] for agent in hand.agents],
        "finishing_stacks": [stack + int(chips) for stack, chips in zip(game.stacks, won, strict=True)],
    }
    lines = [f"{key} = {_to_toml(value)}" for key, value in fields.items()]
    return "\n".join([f"[{number}]", *lines, "", ""])


def _to_toml(value: Any) -> str:
    """Returns a number, a text or a list of such; JSON writes all of them as TOML does."""
    return json.dumps(value, ensure_ascii=False)


def _list_phh_actions(game: Holdem, states: Sequence[HoldemState]) -> list[str]:
    """Returns the deals, bets and shown cards of a hand; a deal is one action, whatever it has of cards."""
    final = states[-1]
    hands = [_hand(final, seat) for seat in range(game.betting_rules.num_players)]
    out = [f"d dh p{seat + 1} {hand}" for seat, hand in enumerate(hands)]
    for before, after in itertools.pairwise(states):
        actor = game.actor(before)
        if actor >= 0:
            action = _find_action(before, after)
            word = {FOLD: "f", CALL: "cc"}.get(action, f"cbr {action - before.betting.base}")
            out.append(f"p{actor + 1} {word}")
        elif before.betting.street != after.betting.street:
            out.append(f"d db {format_board(after.board[before.betting.street.num_board_cards :])}")
    if final.betting.stage is Stage.SHOWDOWN:
        out += [f"p{seat + 1} sm {hands[seat]}" for seat in _list_shown(final)]
    return out


def _list_shown(final: HoldemState) -> list[int]:
    """Returns the seats that show their hands: who bet last in the last round first, then in the order of play."""
    folded, first = final.betting.is_folded, max(final.betting.aggressor, 0)
    seats = [(first + step) % len(folded) for step in range(len(folded))]
    return [seat for seat in seats if not folded[seat]]


def _find_action(before: HoldemState, after: HoldemState) -> int:
    """Returns what was done between two states of the betting."""
    word = after.public[len(before.public) :].rstrip("/")
    return {"f": FOLD, "c": CALL}[word] if word in ("f", "c") else int(word[1:])


def _hand(state: HoldemState, seat: int) -> str:
    return format_board(reversed(state.hole[HAND_SIZE * seat : HAND_SIZE * (seat + 1)]))


def _replay(game: Game[Any], actions: Sequence[int]) -> Iterable[Any]:
    state = game.initial_state()
    yield state
    for action in actions:
        state = game.apply(state, action)
        yield state


def format_text(game: Game[Any], hand: PlayedHand, names: Sequence[str], number: int) -> str:
    """Returns a game in words: who sat where, what was dealt, who did what, who won what."""
    seats = [names[agent] for agent in hand.agents]
    lines = [
        f"{game.spec.name}, hand {number}: " + ", ".join(f"player {seat} is {name}" for seat, name in enumerate(seats))
    ]
    states = list(_replay(game, hand.actions))
    dealt: list[str] = []
    for before, action in zip(states, hand.actions, strict=False):
        actor = game.actor(before)
        name = game.action_name(before, action)
        if actor == CHANCE:
            dealt.append(name)
            continue
        lines += _say_dealt(game, before, dealt, is_first=len(lines) == 1)
        lines.append(f"  {seats[actor]}: {name}")
    final = states[-1]
    lines += _say_dealt(game, final, dealt, is_first=len(lines) == 1)
    if game.actor(final) == TERMINAL:
        won = game.returns(final)
        lines.append("  " + ", ".join(f"{name} {format_value(chips)}" for name, chips in zip(seats, won, strict=True)))
    return "\n".join([*lines, "", ""])


def _say_dealt(game: Game[Any], state: Any, dealt: list[str], *, is_first: bool) -> list[str]:
    """Returns a line on what chance has done since the last one, which it empties; hold'em begins with the hands."""
    if not dealt:
        return []
    said = " ".join(dealt)
    if isinstance(game, Holdem) and is_first:
        hands = ", ".join(_hand(state, seat) for seat in range(game.betting_rules.num_players))
        board = " ".join(dealt[len(state.hole) :])
        said = f"{hands}{f'; board {board}' if board else ''}"
    dealt.clear()
    return [f"  dealt {said}"]
