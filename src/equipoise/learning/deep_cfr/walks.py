# SPDX-License-Identifier: Apache-2.0
"""Traversals that ask for strategies in large batches, and hand back what they found.

On a history tree they run natively: whatever they miss is asked for at once, and they run again. On a game's rules they
go in lock-step, every traversal's next decisions in one batch. Nothing here knows what predicts.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import AbandonedError, ConfigError
from equipoise.core.interruption import IsInterrupted, never
from equipoise.kernels.arrays import draw_generator
from equipoise.kernels.sampling import SamplingKernel, Scheme, draw_words
from equipoise.learning.deep_cfr.settings import DeepCFRSettings, Sampling
from equipoise.learning.features import encode_texts
from equipoise.solvers.mccfr import lay_out_for_sampling
from equipoise.trees.history import HistoryTree
from equipoise.trees.segments import flatten_ranges, number_within

__all__ = ["Found", "Play", "TreeWalks", "Walks", "pad_rows"]

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
AnyArray = npt.NDArray[Any]
Play = Callable[[int, AnyArray, BoolArray], FloatArray]  # player, places, legal actions [B, A] -> strategies [B, A]

SCHEMES = {Sampling.EXTERNAL: Scheme.EXTERNAL, Sampling.OUTCOME: Scheme.OUTCOME}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What traversals of one player found, in a written order: visits with regrets, meetings of the others."""

    place: AnyArray  # [visits, ...] where the player decided
    is_legal: BoolArray  # [visits, A]
    regret: FloatArray  # [visits, A]
    met_place: AnyArray  # [meetings, ...] where averages are kept
    met_is_legal: BoolArray  # [meetings, A]
    met_strategy: FloatArray  # [meetings, A]
    met_weight: FloatArray  # [meetings]


class Walks(Protocol):
    """A game as Deep CFR sees it."""

    @property
    def num_players(self) -> int:
        """Returns how many decide."""
        ...

    @property
    def num_actions(self) -> int:
        """Returns the most actions of a decision, A."""
        ...

    @property
    def num_features(self) -> int:
        """Returns the numbers by which networks know a place, F."""
        ...

    @property
    def place_shape(self) -> tuple[tuple[int, ...], npt.DTypeLike]:
        """Returns shape and type of a place as it is remembered."""
        ...

    @property
    def nodes_touched(self) -> int:
        """Returns the histories visited so far, terminals included."""
        ...

    def collect(self, player: int, play: Play, count: int, *, is_interrupted: IsInterrupted = never) -> Found:
        """Returns what so many traversals of a player find; raises `AbandonedError` once it is interrupted."""
        ...

    def forget(self, player: int) -> None:
        """Drops strategies of a player that are kept from one call to the next."""
        ...

    def features(self, place: AnyArray) -> npt.NDArray[np.float32]:
        """Returns `[B, F]` what networks are given."""
        ...

    def state(self) -> dict[str, AnyArray]:
        """Returns the streams of random numbers and the counter."""
        ...

    def restore(self, arrays: dict[str, AnyArray]) -> None:
        """Goes back to them."""
        ...


class TreeWalks:
    """Traversals of a history tree: places are information sets.

    >>> from equipoise.games import make_game
    >>> from equipoise.trees import build_history_tree
    >>> tree = build_history_tree(make_game("kuhn"))
    >>> walks = TreeWalks(tree, DeepCFRSettings(), rng=np.random.default_rng(0))
    >>> found = walks.collect(0, lambda player, place, legal: legal / legal.sum(axis=1, keepdims=True), 100)
    >>> found.regret.shape[1], len(found.met_place) >= 100
    (2, True)
    """

    def __init__(self, tree: HistoryTree, settings: DeepCFRSettings, *, rng: np.random.Generator) -> None:
        self.tree = tree
        self.kernel = SamplingKernel(lay_out_for_sampling(tree))
        self.scheme, self.exploration = SCHEMES[settings.sampling], settings.exploration
        self.random_words = draw_generator(rng)
        self.nodes_touched = 0
        self.strategy = np.zeros(self.kernel.num_sequences)
        self.is_known = np.zeros(self.kernel.num_infosets, np.uint8)
        self.owner = tree.infoset_player()
        own_seat = np.eye(tree.num_players)[self.owner]
        self.table = np.concatenate([encode_texts(tree.infoset_labels), own_seat], axis=1).astype(np.float32)
        self.num_actions = int(tree.num_actions.max(initial=1))
        self.is_legal = np.arange(self.num_actions) < tree.num_actions[:, None]
        self.place_shape: tuple[tuple[int, ...], npt.DTypeLike] = ((), np.int32)

    @property
    def num_players(self) -> int:
        """Returns how many decide."""
        return self.tree.num_players

    @property
    def num_features(self) -> int:
        """Returns the numbers by which networks know an information set."""
        return int(self.table.shape[1])

    def features(self, place: AnyArray) -> npt.NDArray[np.float32]:
        """Returns `[B, F]` zeros and ones: the letters of a text, and whose it is."""
        found: npt.NDArray[np.float32] = self.table[place]
        return found

    def forget(self, player: int) -> None:
        """Drops the strategies of a player."""
        self.is_known[self.owner == player] = 0

    def learn(self, infosets: AnyArray, play: Play) -> None:
        """Asks for strategies at information sets and keeps them."""
        for player in range(self.num_players):
            own = infosets[self.owner[infosets] == player]
            if not own.size:
                continue
            count = self.tree.num_actions[own]
            rows = play(player, own, self.is_legal[own])
            cells = flatten_ranges(self.tree.first_sequence[own], count)
            self.strategy[cells] = rows[np.repeat(np.arange(own.size), count), number_within(count)]
            self.is_known[own] = 1

    def tabulate(self, play: Play) -> FloatArray:
        """Returns `[Q]` what everybody plays now, everywhere; 1 at empty sequences."""
        self.learn(np.flatnonzero(self.is_known == 0).astype(np.int32), play)
        out = self.strategy.copy()
        out[self.tree.sequence_infoset() < 0] = 1.0
        return out

    def collect(self, player: int, play: Play, count: int, *, is_interrupted: IsInterrupted = never) -> Found:
        """Returns what so many traversals of a player find; raises `AbandonedError` once it is interrupted."""
        words = draw_words(self.random_words, count)
        pending = words
        while pending.size:
            if is_interrupted():
                raise AbandonedError("traversals were interrupted")
            missed, has_missed = self.kernel.find_missed(
                self.scheme, player, self.strategy, self.is_known, pending, exploration=self.exploration
            )
            self.learn(missed, play)
            pending = pending[has_missed]
        found = self.kernel.collect(
            self.scheme, player, self.strategy, self.is_known, words, exploration=self.exploration
        )
        self.nodes_touched += found.nodes_touched
        met = found.met_infoset
        first, counts = self.tree.first_sequence[met], self.tree.num_actions[met]
        return Found(
            place=found.regret_infoset,
            is_legal=self.is_legal[found.regret_infoset],
            regret=pad_rows(found.regret, self.tree.num_actions[found.regret_infoset], self.num_actions),
            met_place=met,
            met_is_legal=self.is_legal[met],
            met_strategy=pad_rows(self.strategy[flatten_ranges(first, counts)], counts, self.num_actions),
            met_weight=found.met_weight,
        )

    def state(self) -> dict[str, AnyArray]:
        """Returns the stream of random numbers and the counter."""
        return {"random_words": self.random_words.copy(), "nodes_touched": np.array([self.nodes_touched])}

    def restore(self, arrays: dict[str, AnyArray]) -> None:
        """Goes back to them; strategies are asked for anew."""
        self.random_words[:] = arrays["random_words"]
        self.nodes_touched = int(arrays["nodes_touched"][0])
        self.is_known[:] = 0


def pad_rows(values: FloatArray, counts: npt.NDArray[Any], width: int) -> FloatArray:
    """Returns `[rows, width]` rows of unequal length one after the other, filled up with zeros.

    >>> pad_rows(np.array([1.0, 2.0, 3.0]), np.array([1, 2]), 2).tolist()
    [[1.0, 0.0], [2.0, 3.0]]
    """
    out = np.zeros((counts.size, width))
    if counts.size and counts.max() > width:
        raise ConfigError(f"rows must have at most {width} numbers, got {counts.max()}")
    out[np.repeat(np.arange(counts.size), counts), number_within(counts)] = values
    return out
