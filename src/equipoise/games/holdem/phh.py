# SPDX-License-Identifier: Apache-2.0
"""Hands in the PHH format, read: files of one hand (.phh) or of many (.phhs), also compressed (.gz).

What `evaluation.histories` writes is read back; so are hands of other programs, as long as they are hold'em with blinds
and equal antes. Hidden cards (`????`) stay unknown.
"""

from __future__ import annotations

import gzip
import re
import tomllib
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from equipoise.core.errors import ConfigError, EquipoiseError, ParseError
from equipoise.core.files import StrPath, describe_os_error
from equipoise.games.holdem.betting import (
    CALL,
    FOLD,
    BettingRules,
    BettingState,
    Stage,
    apply_action,
    initial_betting,
    next_street,
)
from equipoise.games.holdem.cards import parse_card
from equipoise.games.holdem.records import RecordedHand

__all__ = ["parse_phh", "read_phh"]

TABLE: Final = re.compile(r"^\[(\d+)\]\s*$", re.MULTILINE)
NO_LIMIT, FIXED_LIMIT = "NT", "FT"
UNKNOWN: Final = "??"
SHOWN: Final = 60


def read_phh(path: StrPath) -> Iterator[RecordedHand]:
    """Yields the hands of a file; raises `ParseError` at the first that cannot be read, naming it."""
    text = _read_text(Path(path))
    starts = list(TABLE.finditer(text))
    if not starts:
        yield _parse(text, f"{path}", 1)
        return
    ends = [match.start() for match in starts[1:]] + [len(text)]
    for match, end in zip(starts, ends, strict=True):
        yield _parse(text[match.end() : end], f"{path}, hand {match[1]}", int(match[1]))


def _read_text(path: Path) -> str:
    try:
        data = path.read_bytes()
        return (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8")
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise ParseError(f"{path} is no file that gzip has compressed, or is cut off") from None
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {describe_os_error(error)}") from None
    except UnicodeDecodeError:
        raise ParseError(f"{path} is no text in UTF-8") from None


def _parse(text: str, where: str, number: int) -> RecordedHand:
    try:
        return parse_phh(tomllib.loads(text), number)
    except tomllib.TOMLDecodeError as error:
        raise ParseError(f"{where} is no hand in PHH: {error}") from None
    except EquipoiseError as error:
        raise ParseError(f"{where}: {error}") from None


def parse_phh(values: Mapping[str, Any], number: int = 1) -> RecordedHand:
    """Returns the hand that a table of PHH describes.

    >>> hand = parse_phh({"variant": "NT", "antes": [0, 0], "blinds_or_straddles": [50, 100], "min_bet": 100,
    ...     "starting_stacks": [1000, 1000], "actions": ["d dh p1 AsAh", "d dh p2 7c2d", "p2 cbr 250", "p1 f"]})
    >>> hand.actions, hand.names
    ((250, 0), ('p1', 'p2'))
    """
    try:
        return _Reader(values).read(number)
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, EquipoiseError):
            raise
        what = f"no field {error}" if isinstance(error, KeyError) else str(error)
        raise ParseError(f"not a hand in PHH: {what}") from None


class _Reader:
    """One hand, action by action."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = values
        self.rules = _read_rules(values)
        self.betting: BettingState = initial_betting(self.rules)
        self.hole: list[tuple[int, ...]] = [()] * self.rules.num_players
        self.board: list[int] = []
        self.actions: list[int] = []

    def read(self, number: int) -> RecordedHand:
        size = self.rules.num_players
        for text in self.values["actions"]:
            self._apply(str(text).partition("#")[0].split(), str(text))
        names = [str(name) for name in self.values.get("players", [f"p{seat + 1}" for seat in range(size)])]
        finishing = self.values.get("finishing_stacks")
        won = None
        if finishing is not None:
            won = tuple(int(after) - before for after, before in zip(finishing, self.rules.stacks, strict=True))
        return RecordedHand(
            rules=self.rules,
            hole=tuple(self.hole),
            board=tuple(self.board),
            actions=tuple(self.actions),
            names=tuple(names),
            number=int(self.values.get("hand", number)),
            won=won,
        )

    def _apply(self, words: Sequence[str], text: str) -> None:
        """Takes in an action of a player or a deal."""
        match words:
            case ["d", "dh", player, cards]:
                self.hole[self._seat(player)] = _read_cards(cards)
            case ["d", "db", cards]:
                new = _read_cards(cards)
                self.board += new
                while self.betting.stage is Stage.DEAL and self.betting.street.num_board_cards < len(self.board):
                    self.betting = next_street(self.rules, self.betting)
            case [player, "f" | "cc" | "cbr" as what, *rest] if len(rest) == (what == "cbr"):
                self._act(self._seat(player), what, rest, text)
            case [player, "sm", *cards]:
                if cards and UNKNOWN not in cards[0] and cards[0] != "-":
                    self.hole[self._seat(player)] = _read_cards("".join(cards))
            case []:
                pass
            case _:
                raise ParseError(f"unknown action {text[:SHOWN]!r}; expected d dh, d db, f, cc, cbr or sm")

    def _act(self, seat: int, what: str, rest: Sequence[str], text: str) -> None:
        betting = self.betting
        if betting.stage is not Stage.ACT or betting.actor != seat:
            turn = f"it is the turn of p{betting.actor + 1}" if betting.stage is Stage.ACT else "nobody is to act"
            raise ParseError(f"{text[:SHOWN]!r} comes where {turn}")
        action = {"f": FOLD, "cc": CALL}[what] if what != "cbr" else betting.base + _read_chips(rest[0])
        try:
            self.betting = apply_action(self.rules, betting, action)
        except EquipoiseError as error:
            raise ParseError(f"{text[:SHOWN]!r}: {error}") from None
        self.actions.append(action)

    def _seat(self, player: str) -> int:
        seat = int(player[1:]) - 1 if re.fullmatch(r"p[1-9]\d?", player) else -1
        if not 0 <= seat < self.rules.num_players:
            raise ParseError(f"players are p1 to p{self.rules.num_players}, got {player[:SHOWN]!r}")
        return seat


def _read_rules(values: Mapping[str, Any]) -> BettingRules:
    """Returns blinds, antes, stacks and limits; raises for games and blinds that are not played here."""
    variant = values["variant"]
    if variant not in (NO_LIMIT, FIXED_LIMIT):
        raise ParseError(
            f"variant {variant!r} is not played here: {NO_LIMIT} and {FIXED_LIMIT} are, no-limit and limit"
        )
    stacks = tuple(_read_chips(chips) for chips in values["starting_stacks"])
    blinds = [_read_chips(chips) for chips in values["blinds_or_straddles"]]
    antes = {_read_chips(chips) for chips in values.get("antes") or [0]}
    if len(antes) != 1:
        raise ParseError(f"antes must be alike, got {sorted(antes)}")
    if len(blinds) != len(stacks) or any(blinds[2:]):
        raise ParseError(f"two players post blinds, the first two of {len(stacks)}; got {blinds}")
    bets: tuple[int, ...] = ()
    if variant == FIXED_LIMIT:
        small, big = _read_chips(values["small_bet"]), _read_chips(values["big_bet"])
        bets = small, small, big, big
    return BettingRules(stacks=stacks, small_blind=blinds[0], big_blind=blinds[1], ante=antes.pop(), bet_sizes=bets)


def _read_chips(value: Any) -> int:
    number = float(value)
    if not number.is_integer():
        raise ParseError(f"chips are whole numbers here, got {value}; use smaller chips")
    return int(number)


def _read_cards(text: str) -> tuple[int, ...]:
    """Returns cards ascending, none where one of them is unknown."""
    if len(text) % 2:
        raise ParseError(f"cards have two letters each, as in AhTc, got {text[:SHOWN]!r}")
    parts = [text[i : i + 2] for i in range(0, len(text), 2)]
    return () if UNKNOWN in parts else tuple(sorted(parse_card(part) for part in parts))
