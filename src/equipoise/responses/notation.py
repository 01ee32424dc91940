# SPDX-License-Identifier: Apache-2.0
"""Text to responses: the one table of opponents that the command line knows."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import CheckpointError, ConfigError, ParseError, UnknownNameError
from equipoise.kernels.walks import WalkKernel
from equipoise.responses.domination import DominationResponse
from equipoise.responses.exact import AbstractBestResponse, BestResponse, LibraryResponse, StaticResponse
from equipoise.responses.lines import LineFBR, LineUCT, find_lines
from equipoise.responses.mixtures import DataBiasedResponse, MimicResponse, MixedResponse, trust_counts
from equipoise.responses.protocol import Response
from equipoise.responses.sampled import DEFAULT_EXPLORATION, FBRResponse, UCTResponse, draw_words, find_calls
from equipoise.responses.streams import Purpose, spawn_stream
from equipoise.solvers.best_response import bind_kernel
from equipoise.solvers.mccfr import lay_out_for_sampling
from equipoise.solvers.strategy import TabularStrategy
from equipoise.trees.history import HistoryTree
from equipoise.trees.merging import group_infosets
from equipoise.trees.public import PublicTree

__all__ = ["RESPONSES", "ResponseSpec", "merge_by_pattern", "parse_response", "parse_responses"]

FloatArray = npt.NDArray[np.float64]
AnyTree = HistoryTree | PublicTree
MOST_COUNT: Final = 10**15  # of iterations and hands: years


class _Making(NamedTuple):
    """What a response is made from, beside its arguments."""

    tree: AnyTree
    seat: int | None  # of the learner; None: both

    def histories(self, name: str) -> HistoryTree:
        if not isinstance(self.tree, HistoryTree):
            raise ConfigError(f"response {name} walks single histories: it needs --form history")
        return self.tree


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ResponseEntry:
    """A response as it is typed."""

    usage: str  # with its arguments
    description: str
    parse: Callable[..., tuple[Any, ...]]  # texts between commas to arguments; raises `ParseError`
    make: Callable[..., Response]  # called with a `_Making` and these
    num_texts: tuple[int, int] = (0, 0)  # fewest and most
    is_for_training: bool = False  # alone: it learns as it plays
    is_sampled: bool = False  # plays hands of the game


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ResponseSpec:
    """A response that is not yet bound to a tree."""

    text: str  # as typed, without blanks around it
    name: str
    arguments: tuple[Any, ...]

    def bind(self, tree: AnyTree, *, seat: int | None = None) -> Response:
        """Returns the response over a tree; `seat` is the learner's, for opponents that must know it."""
        return RESPONSES[self.name].make(_Making(tree, seat), *self.arguments)

    @property
    def is_sampled(self) -> bool:
        """Returns whether the response plays hands of the game, for which it keeps the tree a second time."""
        return RESPONSES[self.name].is_sampled

    def digest(self) -> str | None:
        """Returns a short hash over the files that the response reads, None if it reads none."""
        paths = [path for argument in self.arguments for path in _paths_in(argument)]
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
    >>> parse_response("best").name
    'best'
    """
    cleaned = text.strip()
    name, colon, inside = cleaned.partition(":")
    if name not in RESPONSES:
        raise UnknownNameError("response", name, RESPONSES)
    entry = RESPONSES[name]
    texts = [part.strip() for part in inside.split(",", entry.num_texts[1] - 1)] if inside else []
    if not entry.num_texts[0] <= len(texts) <= entry.num_texts[1] or (colon and not inside):
        raise ParseError(f"a response must be written {entry.usage}, got {text!r}")
    return ResponseSpec(text=cleaned, name=name, arguments=entry.parse(*texts))


def parse_responses(text: str) -> tuple[ResponseSpec, ...]:
    """Returns a list of responses; commas within one are told from those between them by the names that follow.

    >>> [spec.text for spec in parse_responses("uct:100,6,fbr:10,best")]
    ['uct:100,6', 'fbr:10', 'best']
    """
    names = "|".join(re.escape(name) for name in RESPONSES)
    parts = re.split(rf",\s*(?=(?:{names})(?:[:,]|\s*$))", text.strip())
    return tuple(parse_response(part) for part in parts)


def merge_by_pattern(tree: HistoryTree, pattern: str) -> npt.NDArray[np.int32]:
    """Returns `[I]` groups of information states whose names agree once what a pattern matches is taken out."""
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise ParseError(f"a merging must be a regular expression, got {pattern!r}: {error}") from None
    return group_infosets(tree, lambda player, label: (player, compiled.sub("", label)))


def _paths_in(argument: Any) -> tuple[Path, ...]:
    if isinstance(argument, Path):
        return (argument,)
    return tuple(path for part in argument for path in _paths_in(part)) if isinstance(argument, tuple) else ()


def _parse_count(what: str, text: str) -> int:
    try:
        count = int(float(text)) if float(text) == int(float(text)) else -1
    except (ValueError, OverflowError):
        count = -1
    if not 0 <= count <= MOST_COUNT:
        raise ParseError(f"{what} must be a whole number from 0 to {MOST_COUNT:.0e}, got {text!r}")
    return count


def _parse_number(what: str, text: str, *, least: float, most: float) -> float:
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not least <= number <= most:
        raise ParseError(f"{what} must be a number from {least:g} to {most:g}, got {text!r}")
    return number


_parse_probability = functools.partial(_parse_number, "the probability of a model", least=0.0, most=1.0)


def _parse_uct(count: str, constant: str | None = None) -> tuple[int, float]:
    number = DEFAULT_EXPLORATION
    if constant is not None:
        number = _parse_number("the constant of UCT", constant, least=0.0, most=1e100)
    return _parse_count("the iterations of UCT", count), number


def _parse_library(text: str) -> tuple[tuple[Path, ...]]:
    parts = [part.strip() for part in text.split("+")]
    if not all(parts):
        raise ParseError(f"a library must be written FILE+FILE+..., got {text!r}")
    return (tuple(map(Path, parts)),)


def _read(making: _Making, path: Path) -> FloatArray:
    return TabularStrategy.load(path).to_tree(making.tree)


def _uniform(making: _Making) -> FloatArray:
    kernel = bind_kernel(making.tree)
    return kernel.normalize(np.zeros(kernel.num_table_cells))


def _always_call(making: _Making) -> FloatArray:
    if (lines := find_lines(making.tree)) is not None:
        return lines.always_call
    tree = making.histories("call")
    sums = np.zeros(int(tree.sequence_start[-1]))
    sums[tree.first_sequence + find_calls(tree)] = 1.0
    return bind_kernel(tree).normalize(sums)


def _make_uct(making: _Making, count: int, constant: float) -> Response:
    if (lines := find_lines(making.tree)) is not None:
        return LineUCT(lines, count, exploration=constant)
    return UCTResponse(making.histories("uct"), count, exploration=constant)


def _make_fbr(making: _Making, count: int) -> Response:
    lines = find_lines(making.tree)
    return FBRResponse(making.histories("fbr"), count) if lines is None else LineFBR(lines, count)


def _make_abstract(making: _Making, pattern: str) -> Response:
    tree = making.histories("abstract")
    return AbstractBestResponse(tree, merge_by_pattern(tree, pattern), name=f"abstract:{pattern}")


def _make_restricted(making: _Making, probability: float, path: Path) -> Response:
    model = StaticResponse(making.tree, _read(making, path))
    name = f"rnr:{probability:g},{path}"
    return MixedResponse(making.tree, model, BestResponse(making.tree), probability, name=name)


def _make_mimic(making: _Making, probability: float, path: Path) -> Response:
    if making.seat is None:
        raise ConfigError("a mimic learns against one learner: give its --seat, 0 or 1")
    model = StaticResponse(making.tree, _read(making, path), name=str(path))
    return MimicResponse(making.tree, model, probability, seat=1 - making.seat)


def _make_data_biased(making: _Making, most: float, num_hands: int, path: Path) -> Response:
    tree = making.histories("dbr")
    played = _read(making, path)
    walks, counts = WalkKernel(lay_out_for_sampling(tree)), np.zeros(int(tree.sequence_start[-1]))
    for seat in (0, 1):
        words = draw_words(spawn_stream(0, Purpose.OBSERVATION, seat, 0))
        counts += walks.count_actions(seat, played, num_hands=num_hands, random_words=words)
    model = bind_kernel(tree).normalize(counts)
    name = f"dbr:{most:g},{num_hands},{path}"
    return DataBiasedResponse(tree, model, trust_counts(tree, counts, most=most), name=name)


RESPONSES: Mapping[str, ResponseEntry] = {
    "uniform": ResponseEntry(
        usage="uniform",
        description="plays all actions alike",
        parse=lambda: (),
        make=lambda making: StaticResponse(making.tree, _uniform(making), name="uniform"),
    ),
    "call": ResponseEntry(
        usage="call",
        description="always calls or checks",
        parse=lambda: (),
        make=lambda making: StaticResponse(making.tree, _always_call(making), name="call"),
    ),
    "static": ResponseEntry(
        usage="static:FILE",
        description="plays the strategy in a file",
        num_texts=(1, 1),
        parse=lambda text: (Path(text),),
        make=lambda making, path: StaticResponse(making.tree, _read(making, path), name=f"static:{path}"),
    ),
    "library": ResponseEntry(
        usage="library:FILE+FILE+...",
        description="the best of the strategies in files",
        num_texts=(1, 1),
        parse=_parse_library,
        make=lambda making, paths: LibraryResponse(
            making.tree, [_read(making, path) for path in paths], name=f"library:{'+'.join(map(str, paths))}"
        ),
    ),
    "uct": ResponseEntry(
        usage="uct:N or uct:N,C",
        description=f"a search of N iterations with constant C, in units of utility (default {DEFAULT_EXPLORATION:g})",
        num_texts=(1, 2),
        is_sampled=True,
        parse=_parse_uct,
        make=_make_uct,
    ),
    "fbr": ResponseEntry(
        usage="fbr:N",
        description="the best response to what N hands against a probe showed",
        num_texts=(1, 1),
        is_sampled=True,
        parse=lambda text: (_parse_count("the hands of FBR", text),),
        make=_make_fbr,
    ),
    "abstract": ResponseEntry(
        usage="abstract:PATTERN",
        description="the best response that cannot read what a regular expression matches in information states",
        num_texts=(1, 1),
        parse=lambda text: (text,),
        make=_make_abstract,
    ),
    "rnr": ResponseEntry(
        usage="rnr:P,FILE",
        description="the strategy in a file with probability P, else a best response",
        num_texts=(2, 2),
        parse=lambda probability, path: (_parse_probability(probability), Path(path)),
        make=_make_restricted,
    ),
    "mimic": ResponseEntry(
        usage="mimic:P,FILE",
        description="the strategy in a file with probability P, else a regret minimiser (training alone, one --seat)",
        is_for_training=True,
        num_texts=(2, 2),
        parse=lambda probability, path: (_parse_probability(probability), Path(path)),
        make=_make_mimic,
    ),
    "dbr": ResponseEntry(
        usage="dbr:P,N,FILE",
        description="what N hands of the strategy in a file showed, followed with at most P; else a best response",
        num_texts=(3, 3),
        is_sampled=True,
        parse=lambda most, count, path: (_parse_probability(most), _parse_count("the hands of DBR", count), Path(path)),
        make=_make_data_biased,
    ),
    "domination": ResponseEntry(
        usage="domination",
        description="the best of all equilibrium strategies, by a linear program",
        parse=lambda: (),
        make=lambda making: DominationResponse(making.histories("domination")),
    ),
    "best": ResponseEntry(
        usage="best",
        description="the best response; its value is exploitability",
        parse=lambda: (),
        make=lambda making: BestResponse(making.tree),
    ),
}
