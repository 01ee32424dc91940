# SPDX-License-Identifier: Apache-2.0
"""Text to responses and back: `best`, `uct:10000`, `rnr:0.8,villain.eq`, `mix:0.5,(fbr:1000),(best)`."""

from __future__ import annotations

import dataclasses
import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from equipoise.abstraction.solutions import SOLUTION_SUFFIX
from equipoise.core.errors import CheckpointError, EquipoiseError, ParseError, UnknownNameError
from equipoise.responses.arguments import Argument, Nested, NestedList, Part, split_outside
from equipoise.responses.forms import PlayForm, PlayTree, bind_form
from equipoise.responses.protocol import Response
from equipoise.responses.registry import RESPONSES, Making, ResponseEntry, merge_by_pattern

__all__ = ["RESPONSES", "ResponseSpec", "format_response", "merge_by_pattern", "parse_response", "parse_responses"]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ResponseSpec:
    """A response that is not yet bound to a tree."""

    text: str = dataclasses.field(compare=False)  # as typed, without blanks around it
    name: str
    arguments: tuple[Any, ...]  # numbers, paths, texts; responses within it are specs, or tuples of them

    def bind(self, tree: PlayTree | PlayForm, *, seat: int | None = None) -> Response:
        """Returns the response over a tree; `seat` is the learner's, for opponents that must know it."""
        return self.make(Making(tree if isinstance(tree, PlayForm) else bind_form(tree), seat))

    def make(self, making: Making) -> Response:
        """Returns the response over a tree that others share."""
        return RESPONSES[self.name].make(making, *self.arguments)

    @property
    def is_sampled(self) -> bool:
        """Returns whether the response plays hands of the game, for which it keeps the tree a second time."""
        return any(RESPONSES[spec.name].is_sampled for spec in self.walk())

    def walk(self) -> Iterator[ResponseSpec]:
        """Yields the response and all within it."""
        yield self
        for argument in self.arguments:
            for part in argument if isinstance(argument, tuple) else (argument,):
                if isinstance(part, ResponseSpec):
                    yield from part.walk()

    def digest(self, *others: Path) -> str | None:
        """Returns a short hash over the files that the response reads, and others; None if there are none."""
        paths = [path for spec in self.walk() for argument in spec.arguments for path in _paths_in(argument)]
        abstract = [Path(spec.arguments[0]) for spec in self.walk() if spec.name == "abstract"]
        paths += [path for path in abstract if path.suffix == SOLUTION_SUFFIX and path.exists()]  # buckets, no pattern
        paths += others
        if not paths:
            return None
        whole = hashlib.sha256()
        for path in paths:
            try:
                whole.update(path.read_bytes())
            except OSError as error:
                raise CheckpointError(f"{path} cannot be read: {error.strerror}") from None
        return whole.hexdigest()[:12]


def parse_response(text: str) -> ResponseSpec:
    """Returns the response that a text names, not yet bound to a tree.

    >>> parse_response("uct:1000,6").arguments
    (1000, 6.0)
    >>> [spec.name for spec in parse_response("mix:0.5,(rnr:0.8,villain.eq),(best)").walk()]
    ['mix', 'rnr', 'best']
    """
    return _parse(Part.cut(text, 0, len(text)), text)


def format_response(spec: ResponseSpec) -> str:
    """Returns the text of a response; `parse_response` reads it as the same.

    >>> format_response(parse_response("mix: 0.50, best, (uct:1e3)"))
    'mix:0.5,(best),(uct:1000)'
    """
    kinds = RESPONSES[spec.name].arguments
    values = list(zip(kinds, spec.arguments, strict=True))
    while values and values[-1][0].default is not None and values[-1][0].default == values[-1][1]:
        values.pop()
    inside = ",".join(_format_argument(kind, value) for kind, value in values)
    return f"{spec.name}:{inside}" if values else spec.name


def parse_responses(text: str) -> tuple[ResponseSpec, ...]:
    """Returns a list of responses; commas within one are told from those between them by the names that follow.

    >>> [spec.text for spec in parse_responses("uct:100,6,mix:0.5,(fbr:10),(best),best")]
    ['uct:100,6', 'mix:0.5,(fbr:10),(best)', 'best']
    """
    names = "|".join(re.escape(name) for name in RESPONSES)
    begins = re.compile(rf"(?:{names})(?:[:,]|\s*$)")
    parts: list[Part] = []
    for part in split_outside(text, ","):
        rest = text[part.start :]
        if parts and not begins.match(rest):
            parts[-1] = Part.cut(text, parts[-1].start, part.start + len(part.text))
        else:
            parts.append(part)
    return tuple(_parse(part, text) for part in parts)


def _parse(part: Part, whole: str) -> ResponseSpec:
    """Returns the response that a piece of a text names."""
    name, colon, inside = part.text.partition(":")
    if name not in RESPONSES:
        raise _point(UnknownNameError("response", name, RESPONSES), part.start, whole)
    entry = RESPONSES[name]
    offset = part.start + len(name) + 1
    pieces = _cut_arguments(entry, inside, offset)
    least = sum(argument.default is None for argument in entry.arguments)
    if not least <= len(pieces) <= len(entry.arguments) or (colon and not inside):
        error = ParseError(f"a response must be written {entry.usage}, got {part.text!r}")
        raise _point(error, part.start, whole)
    values = [_read(kind, piece, whole) for kind, piece in zip(entry.arguments, pieces, strict=False)]
    values += [argument.default for argument in entry.arguments[len(pieces) :]]
    return ResponseSpec(text=part.text, name=name, arguments=tuple(values))


def _cut_arguments(entry: ResponseEntry, inside: str, offset: int) -> list[Part]:
    """Returns the texts of the arguments; the last of them has what is left, commas and all."""
    if not inside:
        return []
    if any(isinstance(argument, Nested) for argument in entry.arguments):
        pieces = split_outside(inside, ",", most=len(entry.arguments) - 1)
        return [Part(text=piece.text, start=offset + piece.start) for piece in pieces]
    pieces, start = [], 0
    for text in inside.split(",", max(len(entry.arguments) - 1, 0)):
        pieces.append(Part.cut(inside, start, start + len(text), offset))
        start += len(text) + 1
    return pieces


def _read(kind: Argument, piece: Part, whole: str) -> Any:
    """Returns the value of one argument."""
    if isinstance(kind, NestedList):
        parts = split_outside(piece.text, "+")
        if not all(part.text for part in parts):
            raise _point(ParseError(f"{kind.what} must be written A+B+..., got {piece.text!r}"), piece.start, whole)
        return tuple(_read_nested(Part(text=part.text, start=piece.start + part.start), whole) for part in parts)
    if isinstance(kind, Nested):
        return _read_nested(piece, whole, allows_files=False)
    try:
        return kind.parse(piece.text)
    except EquipoiseError as error:
        raise _point(error, piece.start, whole) from None


def _read_nested(piece: Part, whole: str, *, allows_files: bool = True) -> ResponseSpec:
    """Returns a response within another; where files are allowed, what is no response is one."""
    inner = piece.unwrap()
    is_bare = inner is piece
    if is_bare and piece.text.startswith("("):
        raise _point(ParseError(f"parentheses must close around a response, got {piece.text!r}"), piece.start, whole)
    if is_bare and allows_files and inner.text.partition(":")[0] not in RESPONSES:
        return ResponseSpec(text=f"static:{inner.text}", name="static", arguments=(Path(inner.text),))
    spec = _parse(inner, whole)
    if RESPONSES[spec.name].is_for_training:
        raise _point(ParseError(f"response {spec.text} learns as it plays: it stands alone"), inner.start, whole)
    return spec


def _format_argument(kind: Argument, value: Any) -> str:
    if isinstance(kind, NestedList):
        return "+".join(kind.format(format_response(part)) for part in value)
    return kind.format(format_response(value) if isinstance(kind, Nested) else value)


def _point(error: EquipoiseError, start: int, whole: str) -> EquipoiseError:
    """Returns an error that says where in the text it is, if that is not its beginning."""
    if start == 0:
        return error
    return ParseError(f"{error} (at character {start + 1} of {whole!r})")


def _paths_in(argument: Any) -> tuple[Path, ...]:
    if isinstance(argument, Path):
        return (argument,)
    return tuple(path for part in argument for path in _paths_in(part)) if isinstance(argument, tuple) else ()
