# SPDX-License-Identifier: Apache-2.0
"""Public states as bucket networks see them: a pot, what can still be bet, and private states in classes.

For games whose private states are few enough for a table of pairs: Leduc, or the classes of hands before the flop.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, Self

import numpy as np
import numpy.typing as npt

from equipoise.learning.values.configuration import ValueNetConfig
from equipoise.learning.values.inputs import BucketInputs

__all__ = ["BucketPlan", "BucketState", "BucketStates", "find_pair_inputs", "see_shards", "sum_buckets"]

FloatArray = npt.NDArray[np.float64]
SingleArray = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.int64]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BucketState:
    """What is known of a public state before anything is said of ranges."""

    pot: float  # chips of both players
    ratio: float  # chips that a player can still put in, in pots
    bucket: tuple[IntArray, IntArray]  # [H] by player, of each private state
    matching: FloatArray  # [H0, H1] chance's weights of pairs, the largest 1
    equity: FloatArray  # [H0, H1] what a showdown pays player 0 in pots, times the weight of the pair
    scale: float = 1.0  # chance's largest weight, which the game's own values are multiplied by


class BucketStates(Protocol):
    """The public states of a game at which a network may be asked."""

    @property
    def num_buckets(self) -> int:
        """Returns the classes of private states, over all public states."""
        ...

    @property
    def orbits(self) -> IntArray:
        """Returns `[buckets]` a number of each bucket, equal for those that differ by the names of suits alone."""
        ...

    def find(self, state: Any) -> BucketState:
        """Returns what is known of a public state; raises `ConfigError` if networks do not know it."""
        ...


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BucketPlan:
    """Public states, B of them with n private states of each player at most; beyond a state's own, all is 0."""

    bucket: IntArray  # [B, 2, n]
    is_live: npt.NDArray[np.bool_]  # [B, 2, n]
    matching: FloatArray  # [B, n, n]
    equity: FloatArray  # [B, n, n]
    ratio: FloatArray  # [B]
    unit: FloatArray  # [B] the game's own value of a pot: chips times chance's largest weight
    orbits: IntArray  # [buckets] of buckets

    @classmethod
    def of(cls, states: Sequence[BucketState], orbits: IntArray) -> Self:
        """Returns states as arrays, with the orbits of buckets `[buckets]`."""
        count = len(states)
        width = max((own.size for state in states for own in state.bucket), default=0)
        bucket, is_live = np.zeros((count, 2, width), np.int64), np.zeros((count, 2, width), np.bool_)
        matching, equity = np.zeros((count, width, width)), np.zeros((count, width, width))
        for index, state in enumerate(states):
            for player, own in enumerate(state.bucket):
                bucket[index, player, : own.size] = own
                is_live[index, player, : own.size] = True
            rows, columns = state.matching.shape
            matching[index, :rows, :columns] = state.matching
            equity[index, :rows, :columns] = state.equity
        return cls(
            bucket=bucket,
            is_live=is_live,
            matching=matching,
            equity=equity,
            ratio=np.array([state.ratio for state in states]),
            unit=np.array([state.pot * state.scale for state in states]),
            orbits=orbits,
        )

    def take(self, rows: npt.ArrayLike) -> Self:
        """Returns some of the states, or the same ones several times."""
        names = [field.name for field in dataclasses.fields(self) if field.name != "orbits"]
        return type(self)(**{name: getattr(self, name)[rows] for name in names}, orbits=self.orbits)

    def name_buckets(self, ranges: FloatArray) -> IntArray:
        """Returns `[B, 2, n]` buckets, those of an orbit named anew: the heavier in both ranges `[B, 2, n]` first.

        So a network sees one of all the situations that differ by the names of suits, and says the same of them.
        """
        num_buckets = self.orbits.size
        if np.unique(self.orbits).size == num_buckets:
            return self.bucket
        mass = sum_buckets(self.bucket, ranges, num_buckets)
        orbit = np.broadcast_to(self.orbits, (len(mass), num_buckets))
        order = np.lexsort((-mass[:, 1], -mass[:, 0], orbit), axis=1)
        name = np.argsort(order, axis=1)
        first = np.take_along_axis(name, self.bucket[:, 0], axis=1)
        return np.stack([first, np.take_along_axis(name, self.bucket[:, 1], axis=1)], axis=1)


def find_pair_inputs(config: ValueNetConfig, plan: BucketPlan, reach: FloatArray) -> BucketInputs:
    """Returns what a bucket network sees of public states.

    Args:
        config: of the network.
        plan: the states.
        reach: `[B, 2, n]` of which only proportions matter; one without mass is taken for one that is even.
    """
    total = reach.sum(axis=2, keepdims=True)
    ranges = np.where(total > 0, reach, plan.is_live)
    ranges = ranges / np.where(total > 0, total, plan.is_live.sum(axis=2, keepdims=True))
    return BucketInputs(
        extra=config.encode_ratios(plan.ratio),
        share=config.share(plan.ratio),
        bucket=plan.name_buckets(ranges),
        range=ranges.astype(np.float32),
        matched=_meet(plan.matching, ranges, 1.0).astype(np.float32),
        base=_meet(plan.equity, ranges, -1.0).astype(np.float32),
    )


def see_shards(
    config: ValueNetConfig, states: BucketPlan, shards: Sequence[Mapping[str, npt.NDArray[Any]]]
) -> tuple[BucketInputs, npt.NDArray[Any], npt.NDArray[Any]]:
    """Returns what a network sees of the situations of shards, what they are worth, and what is behind, in pots.

    Args:
        config: of the network.
        states: the public states that `part` of a shard numbers.
        shards: their arrays.
    """
    part, ranges, value = (np.concatenate([shard[name] for shard in shards]) for name in ("part", "range", "value"))
    plan = states.take(part)
    return find_pair_inputs(config, plan, ranges.astype(np.float64)), value, plan.ratio.astype(np.float32)


def sum_buckets(bucket: npt.NDArray[Any], ranges: npt.NDArray[Any], num_buckets: int) -> npt.NDArray[Any]:
    """Returns `[B, 2, buckets]` what ranges `[B, 2, n]` have in each bucket."""
    out = np.zeros((*bucket.shape[:2], num_buckets), ranges.dtype)
    np.add.at(out, (np.arange(len(bucket))[:, None, None], np.arange(2)[:, None], bucket), ranges)
    return out


def _meet(pairs: FloatArray, ranges: FloatArray, sign: float) -> FloatArray:
    """Returns `[B, 2, n]` tables of pairs against the opponent's range, the second player's times a sign.

    Added up in the order of private states, so that sums are the same everywhere.
    """
    out = np.zeros(ranges.shape)
    for other in range(ranges.shape[2]):
        out[:, 0] += pairs[:, :, other] * ranges[:, 1, other, None]
        out[:, 1] += sign * pairs[:, other] * ranges[:, 0, other, None]
    return out
