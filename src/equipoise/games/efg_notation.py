# SPDX-License-Identifier: Apache-2.0
"""The text of Gambit's extensive games (`.efg`, version 2): from text to nodes and back.

The format is that of Gambit's manual: a prologue, then one entry a node in pre-order. What the nodes mean as a game is
the business of `gambit.py`.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from equipoise.core.errors import ParseError

__all__ = ["EfgFile", "EfgNode", "format_efg_number", "parse_efg", "quote"]

TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[{}]|[^\s{}",]+', re.DOTALL)
SKIPPED: Final = re.compile(r"[\s,]*")
LARGEST_DENOMINATOR: Final = 10_000  # of a float that is written as a fraction
LONGEST_NUMBER: Final = 40  # characters
LARGEST_EXPONENT: Final = 300

Payoffs = tuple[Fraction, ...]


@dataclasses.dataclass(slots=True, kw_only=True)
class EfgNode:
    """One entry of the body, with all that later entries leave out filled in."""

    kind: str  # c, p or t
    name: str
    player: int  # from 1; 0 unless a player moves
    infoset: int  # 0 at the end
    infoset_name: str
    actions: tuple[str, ...]
    probabilities: tuple[Fraction, ...]  # of chance's outcomes, empty elsewhere
    payoffs: Payoffs | None  # of the outcome at the node, None for none
    line: int


@dataclasses.dataclass(slots=True, kw_only=True)
class EfgFile:
    """A file: its prologue and its nodes in pre-order."""

    title: str
    players: tuple[str, ...]
    comment: str
    nodes: list[EfgNode]


class _Tokens:
    """The words of a text one after the other, with the line that each stands in."""

    def __init__(self, text: str) -> None:
        self._tokens = list(_split(text))
        self._next = 0

    @property
    def line(self) -> int:
        """Returns the line of the next word."""
        return self._tokens[min(self._next, len(self._tokens) - 1)][1] if self._tokens else 1

    def peek(self) -> str:
        """Returns the next word, empty at the end."""
        return self._tokens[self._next][0] if self._next < len(self._tokens) else ""

    def take(self, expected: str) -> str:
        """Returns the next word and goes on."""
        word = self.peek()
        if not word:
            raise ParseError(f"line {self.line}: the file ends where {expected} is expected")
        self._next += 1
        return word

    def fail(self, expected: str, word: str, line: int) -> ParseError:
        """Returns the error for a word that is not what is expected."""
        return ParseError(f"line {line}: expected {expected}, got {word[:LONGEST_NUMBER]!r}")

    def take_word(self, wanted: str, expected: str) -> None:
        """Goes on over a word that must be there."""
        line, word = self.line, self.take(expected)
        if word != wanted:
            raise self.fail(expected, word, line)

    def take_text(self, expected: str) -> str:
        """Returns a text in quotation marks, without them."""
        line, word = self.line, self.take(expected)
        if not word.startswith('"'):
            raise self.fail(f"{expected} in quotation marks", word, line)
        return re.sub(r"\\(.)", r"\1", word[1:-1], flags=re.DOTALL)

    def take_whole(self, expected: str, least: int) -> int:
        """Returns a whole number."""
        line, word = self.line, self.take(expected)
        if not word.isdecimal() or len(word) > LONGEST_NUMBER or int(word) < least:
            raise self.fail(f"{expected}, a whole number from {least}", word, line)
        return int(word)

    def take_number(self, expected: str) -> Fraction:
        """Returns a number: whole, decimal, with an exponent, or a fraction."""
        line, word = self.line, self.take(expected)
        exponent = re.search(r"[eE]([+-]?\d+)$", word)
        try:
            # a huge exponent would make a number of as many digits
            if len(word) > LONGEST_NUMBER or (exponent is not None and abs(int(exponent[1])) > LARGEST_EXPONENT):
                raise ValueError
            return Fraction(word)
        except (ValueError, ZeroDivisionError):
            raise self.fail(f"{expected}, a number", word, line) from None

    def take_list(self, expected: str) -> Iterator[None]:
        """Yields as long as a list in braces goes on; the caller takes what is in it."""
        self.take_word("{", f"{{ before {expected}")
        while self.peek() != "}":
            if not self.peek():
                raise ParseError(f"line {self.line}: the file ends within {expected}")
            yield
        self.take("}")


def _split(text: str) -> Iterator[tuple[str, int]]:
    """Yields words with their lines; commas separate as blanks do."""
    place, line = 0, 1
    while True:
        skipped = SKIPPED.match(text, place)
        assert skipped is not None
        line += skipped[0].count("\n")
        place = skipped.end()
        if place == len(text):
            return
        found = TOKEN.match(text, place)
        if found is None:
            raise ParseError(f"line {line}: a text in quotation marks does not end")
        yield found[0], line
        line += found[0].count("\n")
        place = found.end()


@dataclasses.dataclass(slots=True)
class _Known:
    """What entries so far have said of information sets, chance events and outcomes, by their numbers."""

    num_players: int
    infosets: dict[tuple[int, int], tuple[str, tuple[str, ...], tuple[Fraction, ...]]] = dataclasses.field(
        default_factory=dict
    )
    outcomes: dict[int, tuple[str, Payoffs]] = dataclasses.field(default_factory=dict)


def parse_efg(text: str) -> EfgFile:
    """Returns the nodes of a file; raises `ParseError` with the line of what is wrong.

    >>> file = parse_efg('EFG 2 R "one" { "A" } p "" 1 1 "i" { "l" "r" } 0 t "" 1 "w" { 1 } t "" 0')
    >>> [node.kind for node in file.nodes], file.nodes[1].payoffs
    (['p', 't', 't'], (Fraction(1, 1),))
    """
    tokens = _Tokens(text)
    tokens.take_word("EFG", "EFG, with which an extensive game of Gambit begins")
    tokens.take_word("2", "version 2 of the format")
    line, kind = tokens.line, tokens.take("R or D")
    if kind not in ("R", "D"):  # rational or decimal numbers once; both are read alike
        raise tokens.fail("R or D", kind, line)
    title = tokens.take_text("the title")
    players = tuple(tokens.take_text("the name of a player") for _ in tokens.take_list("the players"))
    comment = tokens.take_text("a comment") if tokens.peek().startswith('"') else ""
    known = _Known(len(players))
    nodes = []
    while tokens.peek():
        nodes.append(_parse_node(tokens, known))
    return EfgFile(title=title, players=players, comment=comment, nodes=nodes)


def _parse_node(tokens: _Tokens, known: _Known) -> EfgNode:
    line, kind = tokens.line, tokens.take("a node")
    if kind not in ("c", "p", "t"):
        raise tokens.fail("c, p or t, with which a node begins", kind, line)
    name = tokens.take_text("the name of the node")
    player = infoset = 0
    described: tuple[str, tuple[str, ...], tuple[Fraction, ...]] = ("", (), ())
    if kind != "t":
        player = tokens.take_whole("the player", 1) if kind == "p" else 0
        if player > known.num_players:
            raise ParseError(f"line {line}: there are {known.num_players} players, got player {player}")
        infoset = tokens.take_whole("the information set", 1)
        described = _describe(tokens, known, (player, infoset), line)
    payoffs = _parse_outcome(tokens, known)
    return EfgNode(
        kind=kind,
        name=name,
        player=player,
        infoset=infoset,
        infoset_name=described[0],
        actions=described[1],
        probabilities=described[2],
        payoffs=payoffs,
        line=line,
    )


def _describe(
    tokens: _Tokens, known: _Known, key: tuple[int, int], line: int
) -> tuple[str, tuple[str, ...], tuple[Fraction, ...]]:
    """Returns name, actions and probabilities of an information set, said here or before."""
    what = f"information set {key[1]} of player {key[0]}" if key[0] else f"event {key[1]} of chance"
    if not tokens.peek().startswith(('"', "{")):
        if key not in known.infosets:
            raise ParseError(f"line {line}: {what} is named without its actions before anything has said them")
        return known.infosets[key]
    before = known.infosets.get(key)
    name = tokens.take_text("the name of the information set") if tokens.peek().startswith('"') else ""
    if tokens.peek() != "{" and before is not None:  # older files repeat the name alone
        return before
    actions, probabilities = [], []
    for _ in tokens.take_list("the actions"):
        actions.append(tokens.take_text("the name of an action"))
        if not key[0]:
            probabilities.append(tokens.take_number("the probability of an outcome"))
    found = (name, tuple(actions), tuple(probabilities))
    if not actions:
        raise ParseError(f"line {line}: {what} has no actions")
    if before is not None and before[1:] != found[1:]:
        raise ParseError(f"line {line}: {what} has other actions than before: {', '.join(actions)}")
    return known.infosets.setdefault(key, found)


def _parse_outcome(tokens: _Tokens, known: _Known) -> Payoffs | None:
    """Returns the payoffs of the outcome at a node, said here or before."""
    line, number = tokens.line, tokens.take_whole("the number of an outcome", 0)
    name = tokens.take_text("the name of the outcome") if tokens.peek().startswith('"') else ""
    if tokens.peek() != "{":
        if number and number not in known.outcomes:
            raise ParseError(f"line {line}: outcome {number} is named before its payoffs")
        return known.outcomes[number][1] if number else None
    payoffs = tuple(tokens.take_number("a payoff") for _ in tokens.take_list("the payoffs"))
    if not number:
        raise ParseError(f"line {line}: outcome 0 is none, and must not have payoffs")
    if len(payoffs) != known.num_players:
        raise ParseError(f"line {line}: expected {known.num_players} payoffs, got {len(payoffs)}")
    if number in known.outcomes and known.outcomes[number][1] != payoffs:
        raise ParseError(f"line {line}: outcome {number} has other payoffs than before")
    known.outcomes[number] = name, payoffs
    return payoffs


def quote(text: str) -> str:
    r"""Returns a text as the format writes it.

    >>> print(quote('say "a"'))
    "say \"a\""
    """
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def format_efg_number(value: float) -> str:
    """Returns a number that is read back to the bit: whole, a small fraction, or decimal.

    >>> [format_efg_number(value) for value in (2.0, 1 / 3, 0.1, -0.0856, 1e-20)]
    ['2', '1/3', '1/10', '-107/1250', '1e-20']
    """
    near = Fraction(value).limit_denominator(LARGEST_DENOMINATOR)
    return str(near) if float(near) == value else repr(float(value))
