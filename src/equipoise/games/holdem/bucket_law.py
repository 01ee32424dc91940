# SPDX-License-Identifier: Apache-2.0
"""The joint law of two players' bucket paths and of their showdown: all that bucketed hold'em knows of cards.

A path is the row of buckets that a hand was in on the streets so far, as one number: `path * k + bucket` from street to
street. Laws are whole numbers of deals, counted and not sampled, so that a probability is exact up to the rounding of
one division. Nothing here counts: laws of 2 and 3 buckets a street come with the package, others are counted and
kept by `equipoise.abstraction.joint_law`.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib.resources
import io
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from equipoise.core.cache import CacheFile
from equipoise.core.checkpoint import Kind
from equipoise.core.errors import ConfigError
from equipoise.games.holdem.cards import FULL_DECK, Deck, format_deck

__all__ = ["NUM_STREETS", "BucketLaw", "find_law", "has_law", "law_file", "pack_law", "unpack_law"]

NUM_STREETS: Final = 4
LAW_FORMAT_VERSION: Final = 1  # raised whenever the meaning of a law's arrays changes
PACKAGED: Final = (2, 3)  # buckets a street whose laws come with the package

CountArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class BucketLaw:
    """Deals by both players' paths at the river, k^4 each; both seats are alike.

    A deal is two hands and a board with its order, the three cards of the flop among themselves excepted.
    """

    num_buckets: int  # k, on every street
    wins: CountArray  # [paths, paths] deals in which the row's path holds the better hand
    ties: CountArray  # [paths, paths] deals in which both are as good

    @property
    def num_deals(self) -> int:
        """Returns how many deals there are in all."""
        return 2 * int(self.wins.sum()) + int(self.ties.sum())

    def pair_weights(self, street: int) -> FloatArray:
        """Returns `[k^s, k^s]` the probability that two players have these paths after `s = street + 1` deals."""
        counts = self._merge(self.wins + self.wins.T + self.ties, street)
        weights: FloatArray = counts / self.num_deals
        return weights

    def showdown_weights(self, street: int) -> FloatArray:
        """Returns `[3, k^s, k^s]` the same, and that player 0 wins, ties or loses when the cards are turned up."""
        results = (self.wins, self.ties, self.wins.T)
        weights: FloatArray = np.stack([self._merge(counts, street) for counts in results]) / self.num_deals
        return weights

    def _merge(self, counts: CountArray, street: int) -> CountArray:
        """Returns counts summed over the buckets of later streets."""
        size, rest = self.num_buckets ** (street + 1), self.num_buckets ** (NUM_STREETS - 1 - street)
        merged: CountArray = counts.reshape(size, rest, size, rest).sum(axis=(1, 3))
        return merged


@functools.cache
def find_law(num_buckets: int) -> BucketLaw:
    """Returns the law of the full deck with k percentile buckets of E[HS^2] a street, nested.

    Raises `ConfigError` where it neither comes with the package nor has been counted before.

    >>> law = find_law(2)
    >>> law.wins.shape, law.num_deals == 2_598_960 * 20 * 1081 * 990
    ((16, 16), True)
    """
    if num_buckets in PACKAGED:
        source = importlib.resources.files("equipoise.games.holdem") / "laws" / f"{num_buckets}.npz"
        return unpack_law(num_buckets, source.read_bytes())
    parts = law_file(num_buckets).read()
    if parts is None:
        raise ConfigError(
            f"the joint law of {num_buckets} buckets a street has not been counted yet (those of "
            f"{', '.join(map(str, PACKAGED))} come with the package): "
            f"equipoise.abstraction.joint_law.load_or_count_law({num_buckets}) takes some minutes, once"
        )
    return BucketLaw(num_buckets, parts["wins"], parts["ties"])


def has_law(num_buckets: int) -> bool:
    """Returns whether `find_law` has the law without counting."""
    return num_buckets in PACKAGED or law_file(num_buckets).read() is not None


def law_file(num_buckets: int, deck: Deck = FULL_DECK, *, directory: Path | None = None) -> CacheFile:
    """Returns where a law is kept that was counted on this machine."""
    identity: dict[str, Any] = {
        "table": "joint law of bucket paths",
        "format_version": LAW_FORMAT_VERSION,
        "deck": format_deck(deck),
        "buckets": num_buckets,
    }
    return CacheFile(Kind.TABLE, f"joint-law-{num_buckets}", identity, directory=directory)


def pack_law(law: BucketLaw) -> bytes:
    """Returns a law as the bytes of a file of the package; half of the ties say the other half."""
    above = np.triu_indices(len(law.ties))
    content = io.BytesIO()
    np.savez_compressed(content, wins=law.wins, ties=law.ties[above])
    return content.getvalue()


def unpack_law(num_buckets: int, content: bytes) -> BucketLaw:
    """Returns the law that `pack_law` wrote."""
    with np.load(io.BytesIO(content), allow_pickle=False) as parts:
        wins, half = parts["wins"], parts["ties"]
    ties = np.zeros_like(wins)
    ties[np.triu_indices(len(ties))] = half
    return BucketLaw(num_buckets, wins, np.maximum(ties, ties.T))
