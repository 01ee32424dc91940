# SPDX-License-Identifier: Apache-2.0
"""What may stand behind the name of a response: counts, numbers, files, patterns, and responses again.

An argument ends at the next comma; the last one is all that is left, so that files and patterns may have commas. A
response within another stands in parentheses, which must be balanced but for those behind a backslash.
"""

from __future__ import annotations

import abc
import dataclasses
from pathlib import Path
from typing import Any, Final

from equipoise.core.errors import ParseError

__all__ = [
    "WORD",
    "Argument",
    "Count",
    "File",
    "Files",
    "Nested",
    "NestedList",
    "Number",
    "Part",
    "Pattern",
    "find_end",
    "format_number",
    "split_outside",
]

MOST_COUNT: Final = 10**15  # of iterations and hands: years
WORD: Final = -1  # a count that a word stands for


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A piece of a text, and where it stands."""

    text: str  # without blanks around it
    start: int  # in the whole text, from 0

    @classmethod
    def cut(cls, whole: str, start: int, end: int, offset: int = 0) -> Part:
        """Returns a piece of a text without the blanks around it."""
        piece = whole[start:end]
        return cls(text=piece.strip(), start=offset + start + len(piece) - len(piece.lstrip()))

    def unwrap(self) -> Part:
        """Returns what stands in the parentheses around a piece, the piece itself if there are none."""
        is_wrapped = self.text.startswith("(") and find_end(self.text, 0) == len(self.text)
        return Part.cut(self.text, 1, len(self.text) - 1, self.start) if is_wrapped else self


def find_end(text: str, start: int) -> int:
    r"""Returns where the parenthesis that opens at `start` is closed, the place behind it; -1 if it never is.

    >>> find_end("(a(b)c),d", 0), find_end(r"(a\)b)", 0), find_end("(a", 0)
    (7, 6, -1)
    """
    depth, place = 0, start
    while place < len(text):
        if text[place] == "\\":
            place += 1
        elif text[place] == "(":
            depth += 1
        elif text[place] == ")":
            depth -= 1
            if depth == 0:
                return place + 1
        place += 1
    return -1


def split_outside(text: str, separator: str, *, most: int = -1) -> list[Part]:
    """Returns the pieces between separators that stand in no parentheses.

    Parentheses open at the beginning of a piece and behind a colon or a plus sign; others are part of a name.

    >>> [part.text for part in split_outside("0.5, (a,b), c(,d:(e,f)", ",")]
    ['0.5', '(a,b)', 'c(', 'd:(e,f)']
    """
    parts: list[Part] = []
    start, place, is_first = 0, 0, True
    while place < len(text):
        character = text[place]
        if character == "(" and is_first and (end := find_end(text, place)) > 0:
            place = end
        elif character == separator and len(parts) != most:
            parts.append(Part.cut(text, start, place))
            place += 1
            start, is_first = place, True
            continue
        else:
            place += 1
        is_first = character in ":+" or (is_first and character.isspace())
    return [*parts, Part.cut(text, start, len(text))]


def format_number(number: float) -> str:
    """Returns the shortest text that is read as the same number.

    >>> format_number(0.5), format_number(6.0), format_number(1e100)
    ('0.5', '6', '1e+100')
    """
    return repr(number).removesuffix(".0")


class Argument(abc.ABC):
    """One argument of a response."""

    default: Any = None  # what it is if it is left out; None: it cannot be

    @abc.abstractmethod
    def parse(self, text: str) -> Any:
        """Returns the value of a text; raises `ParseError`."""

    @abc.abstractmethod
    def format(self, value: Any) -> str:
        """Returns the text of a value."""


@dataclasses.dataclass(frozen=True)
class Count(Argument):
    """A whole number."""

    what: str
    word: str | None = None  # that may stand in its place, for `WORD`

    def parse(self, text: str) -> int:
        """Returns a whole number, 1e6 among them."""
        if text == self.word:
            return WORD
        try:
            count = int(float(text)) if float(text) == int(float(text)) else -1
        except (ValueError, OverflowError):
            count = -1
        if not 0 <= count <= MOST_COUNT:
            or_word = "" if self.word is None else f", or {self.word}"
            raise ParseError(f"{self.what} must be a whole number from 0 to {MOST_COUNT:.0e}{or_word}, got {text!r}")
        return count

    def format(self, value: int) -> str:
        """Returns its digits, or the word in their place."""
        return str(self.word if value == WORD else value)


@dataclasses.dataclass(frozen=True)
class Number(Argument):
    """A number in a range."""

    what: str
    least: float = 0.0
    most: float = 1.0
    default: float | None = None

    def parse(self, text: str) -> float:
        """Returns a number in the range."""
        try:
            number = float(text)
        except ValueError:
            number = float("nan")
        if not self.least <= number <= self.most:
            raise ParseError(f"{self.what} must be a number from {self.least:g} to {self.most:g}, got {text!r}")
        return number

    def format(self, value: float) -> str:
        """Returns the shortest text that is read as the same number."""
        return format_number(value)


@dataclasses.dataclass(frozen=True)
class File(Argument):
    """A file with a strategy."""

    def parse(self, text: str) -> Path:
        """Returns the path."""
        return Path(text)

    def format(self, value: Path) -> str:
        """Returns the path as it was given."""
        return str(value)


@dataclasses.dataclass(frozen=True)
class Files(Argument):
    """Files with strategies."""

    what: str

    def parse(self, text: str) -> tuple[Path, ...]:
        """Returns the paths between plus signs."""
        parts = [part.strip() for part in text.split("+")]
        if not all(parts):
            raise ParseError(f"{self.what} must be written FILE+FILE+..., got {text!r}")
        return tuple(map(Path, parts))

    def format(self, value: tuple[Path, ...]) -> str:
        """Returns the paths with plus signs between them."""
        return "+".join(map(str, value))


@dataclasses.dataclass(frozen=True)
class Pattern(Argument):
    """A regular expression."""

    def parse(self, text: str) -> str:
        """Returns the expression; it is compiled where it is used."""
        return text

    def format(self, value: str) -> str:
        """Returns the expression."""
        return value


@dataclasses.dataclass(frozen=True)
class Nested(Argument):
    """A response, in parentheses; those without commas need none. `responses.notation` reads and writes it."""

    def parse(self, text: str) -> str:
        """Returns the text, which is parsed by who knows all responses."""
        return text

    def format(self, value: str) -> str:
        """Returns a response in parentheses."""
        return f"({value})"


@dataclasses.dataclass(frozen=True)
class NestedList(Nested):
    """Responses with plus signs between them; what is no response is a file."""

    what: str
