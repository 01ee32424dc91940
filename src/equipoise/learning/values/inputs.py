# SPDX-License-Identifier: Apache-2.0
"""What a network is shown in training: features of public states as arrays that can be kept and mixed.

Playing does not come by here: the native module goes from reaches to values in one call.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Self

import numpy as np
import numpy.typing as npt

from equipoise.kernels.value_nets import CurveAxes, StateArrays, find_features
from equipoise.learning.values.boards import BoardFacts
from equipoise.learning.values.buckets import BucketSource
from equipoise.learning.values.configuration import ValueNetConfig

__all__ = ["BucketInputs", "CurveInputs", "find_bucket_inputs", "find_inputs"]

SingleArray = npt.NDArray[np.float32]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NetInputs:
    """What networks of any kind are shown of states, B of them with n live hands each, in the order of the deck."""

    extra: SingleArray  # [B, F] what is said of stacks and pot
    share: SingleArray  # [B] how much of the network counts
    range: SingleArray  # [B, 2, n] normalised
    matched: SingleArray  # [B, 2, n] mass of the opponent that shares no card
    base: SingleArray  # [B, 2, n] what a showdown pays, in pots

    def __len__(self) -> int:
        return len(self.extra)

    @classmethod
    def _names(cls) -> list[str]:
        return [field.name for field in dataclasses.fields(cls)]

    @classmethod
    def join(cls, parts: Sequence[Self]) -> Self:
        """Returns the states of all parts."""
        return cls(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in cls._names()})

    def take(self, rows: npt.ArrayLike) -> Self:
        """Returns some of the states."""
        return type(self)(**{name: getattr(self, name)[rows] for name in self._names()})


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CurveInputs(NetInputs):
    """The same with what curves are read by."""

    mass: SingleArray  # [B, 3, cells, sides] of both players and of all hands, by cell
    place: SingleArray  # [B, n] along cells of strength, 0 at the first one's centre
    side: SingleArray  # [B, n] along cells of potential
    segment: npt.NDArray[np.uint8]  # [B, n]
    card_mass: SingleArray  # [B, 2, 52, segments]
    cards: npt.NDArray[np.uint8]  # [B, n, 2]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BucketInputs(NetInputs):
    """The same with buckets, of private states of any game."""

    bucket: npt.NDArray[np.int16] | npt.NDArray[np.int64]  # [B, 2, n] by player


def find_inputs(
    config: ValueNetConfig,
    boards: Sequence[BoardFacts],
    board_of: npt.ArrayLike,
    ranges: npt.ArrayLike,
    ratio: npt.ArrayLike,
) -> CurveInputs:
    """Returns what a curve network sees of public states.

    Args:
        config: of the network.
        boards: that states lie on.
        board_of: `[B]` which one.
        ranges: `[B, 2, n]` of live hands in the order of the deck; only proportions matter.
        ratio: `[B]` of stack to pot.
    """
    states = _bind_states(boards, board_of, ranges)
    found, rows = find_features(config.axes, states), states.board_of
    return CurveInputs(
        extra=config.encode_ratios(ratio),
        share=config.share(ratio),
        mass=found.mass,
        range=found.range,
        matched=found.matched,
        base=found.base,
        place=found.place,
        side=np.stack([_place_aside(facts, config.potential_cells) for facts in boards])[rows],
        segment=found.segment,
        card_mass=found.card_mass,
        cards=np.stack([facts.cards for facts in boards])[rows],
    )


def find_bucket_inputs(
    config: ValueNetConfig,
    boards: Sequence[BoardFacts],
    board_of: npt.ArrayLike,
    ranges: npt.ArrayLike,
    ratio: npt.ArrayLike,
    *,
    buckets: BucketSource,
) -> BucketInputs:
    """Returns what a bucket network sees of public states.

    Args:
        config: of the network.
        boards: that states lie on.
        board_of: `[B]` which one.
        ranges: `[B, 2, n]` of live hands in the order of the deck; only proportions matter.
        ratio: `[B]` of stack to pot.
        buckets: of hands on boards.
    """
    states = _bind_states(boards, board_of, ranges)
    found = find_features(CurveAxes(2, 1, 0), states)
    bucket = np.stack([buckets.assign(facts.board)[facts.hands] for facts in boards]).astype(np.int16)
    return BucketInputs(
        extra=config.encode_ratios(ratio),
        share=config.share(ratio),
        range=found.range,
        matched=found.matched,
        base=found.base,
        bucket=np.repeat(bucket[states.board_of][:, None], 2, axis=1),
    )


def _bind_states(boards: Sequence[BoardFacts], board_of: npt.ArrayLike, ranges: npt.ArrayLike) -> StateArrays:
    reach = np.asarray(ranges, np.float64)
    first, second = (np.ascontiguousarray(reach[:, player]) for player in (0, 1))
    rows = np.ascontiguousarray(board_of, np.int32)
    return StateArrays([facts.bound for facts in boards], rows, (first, second))


def _place_aside(facts: BoardFacts, cells: int) -> SingleArray:
    """Returns `[n]` where hands stand along cells of potential, 0 at the first one's centre."""
    if cells == 1 or facts.potential is None:
        return np.zeros(facts.num_hands, np.float32)
    place: SingleArray = np.clip(facts.potential * np.float32(cells) - np.float32(0.5), 0, np.float32(cells - 1))
    return place
