# SPDX-License-Identifier: Apache-2.0
"""The one table of responses by name: how each is written, and what it becomes over a tree."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from equipoise.abstraction.solutions import SOLUTION_SUFFIX
from equipoise.core.errors import ConfigError, ParseError
from equipoise.kernels.arrays import draw_generator
from equipoise.kernels.walks import WalkKernel
from equipoise.responses.arguments import WORD, Argument, Count, File, Files, Nested, NestedList, Number, Pattern
from equipoise.responses.boards import BoardFBR, Hands, always_call
from equipoise.responses.domination import DominationResponse
from equipoise.responses.exact import AbstractBestResponse, BestResponse, LibraryResponse, StaticResponse
from equipoise.responses.forms import BoardForm, PlayForm, Table
from equipoise.responses.hand_buckets import BucketBestResponse
from equipoise.responses.lines import LineFBR, LineUCT, find_lines
from equipoise.responses.mixtures import (
    AverageResponse,
    DataBiasedResponse,
    MimicResponse,
    MixedResponse,
    trust_counts,
)
from equipoise.responses.protocol import Response
from equipoise.responses.sampled import DEFAULT_EXPLORATION, FBRResponse, UCTResponse, find_calls
from equipoise.responses.streams import Purpose, spawn_stream
from equipoise.responses.tables import read_buckets, read_counts, read_table
from equipoise.solvers.mccfr import lay_out_for_sampling
from equipoise.trees.history import HistoryTree
from equipoise.trees.holdem.tree import HoldemTree
from equipoise.trees.merging import group_infosets

__all__ = ["RESPONSES", "Making", "ResponseEntry", "merge_by_pattern"]


class Bindable(Protocol):
    """A response that is not yet bound to a tree."""

    @property
    def text(self) -> str:
        """Returns it as it was typed."""
        ...

    def make(self, making: Making) -> Response:
        """Returns the response over a tree."""
        ...


class Making(NamedTuple):
    """What a response is made from, beside its arguments."""

    form: PlayForm
    seat: int | None  # of the learner; None: both

    def histories(self, name: str) -> HistoryTree:
        """Returns the tree of histories that some responses need."""
        if isinstance(self.form.tree, HoldemTree):
            raise ConfigError(f"response {name} walks single histories, which a spot has too many of")
        if not isinstance(self.form.tree, HistoryTree):
            raise ConfigError(f"response {name} walks single histories: it needs `form` history")
        return self.form.tree


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ResponseEntry:
    """A response as it is typed."""

    usage: str  # with its arguments
    description: str
    arguments: tuple[Argument, ...] = ()  # in the order in which they are written
    make: Callable[..., Response]  # called with a `Making` and the arguments
    is_for_training: bool = False  # alone: it learns as it plays
    is_sampled: bool = False  # plays hands of the game


def merge_by_pattern(tree: HistoryTree, pattern: str) -> npt.NDArray[np.int32]:
    """Returns `[I]` groups of information states whose names agree once what a pattern matches is taken out."""
    if pattern.endswith(SOLUTION_SUFFIX):
        raise ParseError(
            f"a merging of a game is a regular expression over names of information states, got {pattern!r}; "
            "a blueprint's buckets merge hands of hold'em spots"
        )
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise ParseError(f"a merging must be a regular expression, got {pattern!r}: {error}") from None
    return group_infosets(tree, lambda player, label: (player, compiled.sub("", label)))


def _always_call(making: Making) -> Table:
    tree = making.form.tree
    if isinstance(tree, HoldemTree):
        return always_call(tree)
    if (lines := find_lines(tree)) is not None:
        return lines.always_call
    histories = making.histories("call")
    sums = np.zeros(making.form.num_table_cells)
    sums[histories.first_sequence + find_calls(histories)] = 1.0
    return making.form.play(sums)


def _make_uct(making: Making, count: int, constant: float) -> Response:
    if (lines := find_lines(making.form.tree)) is not None:
        return LineUCT(lines, count, exploration=constant)
    return UCTResponse(making.histories("uct"), count, exploration=constant)


def _make_fbr(making: Making, count: int) -> Response:
    if isinstance(making.form, BoardForm):
        return BoardFBR(making.form, count)
    lines = find_lines(making.form.tree)
    return FBRResponse(making.histories("fbr"), count) if lines is None else LineFBR(lines, count)


def _make_abstract(making: Making, pattern: str) -> Response:
    if isinstance(making.form, BoardForm):
        buckets = read_buckets(Path(pattern), making.form.tree)
        return BucketBestResponse(making.form, buckets, name=f"abstract:{pattern}")
    tree = making.histories("abstract")
    return AbstractBestResponse(tree, merge_by_pattern(tree, pattern), name=f"abstract:{pattern}")


def _read_model(making: Making, path: Path) -> Response:
    return StaticResponse(making.form, read_table(path, making.form), name=str(path))


def _make_restricted(making: Making, probability: float, path: Path) -> Response:
    model, best = _read_model(making, path), BestResponse(making.form)
    return MixedResponse(making.form, model, best, probability, name=f"rnr:{probability:g},{path}")


def _make_mimic(making: Making, probability: float, path: Path) -> Response:
    if making.seat is None:
        raise ConfigError("a mimic learns against one learner: give its `seat`, 0 or 1")
    return MimicResponse(making.form, _read_model(making, path), probability, seat=1 - making.seat)


def _watch(making: Making, played: Table, num_hands: int) -> Table:
    """Returns `[Q]` how often each action was taken in hands that both players play by a strategy."""
    streams = [spawn_stream(0, Purpose.OBSERVATION, seat, 0) for seat in (0, 1)]
    if isinstance(making.form, BoardForm):
        hands = Hands(making.form.tree)
        parts = [hands.count_actions(seat, played, num_hands=num_hands, rng=streams[seat]) for seat in (0, 1)]
        return parts[0] + parts[1]
    walks, counts = WalkKernel(lay_out_for_sampling(making.histories("dbr"))), np.zeros(making.form.num_table_cells)
    for seat in (0, 1):
        words = draw_generator(streams[seat])
        counts += walks.count_actions(seat, played, num_hands=num_hands, random_words=words)
    return counts


def _make_data_biased(making: Making, most: float, num_hands: int, path: Path) -> Response:
    if not isinstance(making.form, BoardForm):
        making.histories("dbr")
    is_seen = num_hands == WORD
    counts = read_counts(path, making.form) if is_seen else _watch(making, read_table(path, making.form), num_hands)
    trust = trust_counts(making.form, counts, most=most)
    name = f"dbr:{most:g},{SEEN if is_seen else num_hands},{path}"
    return DataBiasedResponse(making.form, making.form.play(counts), trust, name=name)


def _make_mixture(making: Making, probability: float, first: Bindable, second: Bindable) -> Response:
    name = f"mix:{probability:g},({first.text}),({second.text})"
    return MixedResponse(making.form, first.make(making), second.make(making), probability, name=name)


def _make_average(making: Making, parts: tuple[Bindable, ...]) -> Response:
    name = f"average:{'+'.join(f'({part.text})' for part in parts)}"
    return AverageResponse(making.form, [part.make(making) for part in parts], name=name)


SEEN: Final = "seen"  # in the place of a number of hands: those that a model was counted from
_PROBABILITY = Number("the probability of a model", least=0.0, most=1.0)

RESPONSES: Mapping[str, ResponseEntry] = {
    "uniform": ResponseEntry(
        usage="uniform",
        description="plays all actions alike",
        make=lambda making: StaticResponse(making.form, making.form.uniform(), name="uniform"),
    ),
    "call": ResponseEntry(
        usage="call",
        description="always calls or checks",
        make=lambda making: StaticResponse(making.form, _always_call(making), name="call"),
    ),
    "static": ResponseEntry(
        usage="static:FILE",
        description="plays the strategy in a file",
        arguments=(File(),),
        make=lambda making, path: StaticResponse(making.form, read_table(path, making.form), name=f"static:{path}"),
    ),
    "library": ResponseEntry(
        usage="library:FILE+FILE+...",
        description="the best of the strategies in files",
        arguments=(Files("a library"),),
        make=lambda making, paths: LibraryResponse(
            making.form, [read_table(path, making.form) for path in paths], name=f"library:{'+'.join(map(str, paths))}"
        ),
    ),
    "uct": ResponseEntry(
        usage="uct:N or uct:N,C",
        description=f"a search of N iterations with constant C, in units of utility (default {DEFAULT_EXPLORATION:g})",
        is_sampled=True,
        arguments=(
            Count("the iterations of UCT"),
            Number("the constant of UCT", least=0.0, most=1e100, default=DEFAULT_EXPLORATION),
        ),
        make=_make_uct,
    ),
    "fbr": ResponseEntry(
        usage="fbr:N",
        description="the best response to what N hands against a probe showed",
        is_sampled=True,
        arguments=(Count("the hands of FBR"),),
        make=_make_fbr,
    ),
    "abstract": ResponseEntry(
        usage="abstract:PATTERN",
        description="the best response that cannot read what a regular expression matches in information states; for a "
        "spot, in the buckets of a blueprint's file",
        arguments=(Pattern(),),
        make=_make_abstract,
    ),
    "rnr": ResponseEntry(
        usage="rnr:P,FILE",
        description="the strategy in a file with probability P, else a best response",
        arguments=(_PROBABILITY, File()),
        make=_make_restricted,
    ),
    "mimic": ResponseEntry(
        usage="mimic:P,FILE",
        description="the strategy in a file with probability P, else a regret minimiser (training alone, of one seat)",
        is_for_training=True,
        arguments=(_PROBABILITY, File()),
        make=_make_mimic,
    ),
    "dbr": ResponseEntry(
        usage="dbr:P,N,FILE",
        description="what N hands of the strategy in a file showed (seen: the hands that a model counted), followed "
        "with at most P; else a best response",
        is_sampled=True,
        arguments=(_PROBABILITY, Count("the hands of DBR", word=SEEN), File()),
        make=_make_data_biased,
    ),
    "mix": ResponseEntry(
        usage="mix:P,(A),(B)",
        description="response A with probability P, else response B",
        arguments=(Number("the probability of a response", least=0.0, most=1.0), Nested(), Nested()),
        make=_make_mixture,
    ),
    "average": ResponseEntry(
        usage="average:A+B+...",
        description="each of some responses as often, written in parentheses; a file stands for its strategy",
        arguments=(NestedList("an average"),),
        make=_make_average,
    ),
    "domination": ResponseEntry(
        usage="domination",
        description="the best of all equilibrium strategies, by a linear program",
        make=lambda making: DominationResponse(making.histories("domination")),
    ),
    "best": ResponseEntry(
        usage="best",
        description="the best response; its value is exploitability",
        make=lambda making: BestResponse(making.form),
    ),
}
