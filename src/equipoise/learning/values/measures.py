# SPDX-License-Identifier: Apache-2.0
"""How far values are off: the measures by which value networks are compared, in pots."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Final, Self

import numpy as np
import numpy.typing as npt

__all__ = ["BANDS", "ErrorReport", "Errors"]

FloatArray = npt.NDArray[np.float64]

BANDS: Final = (0.0, 0.2, 1.0, 4.0, 13.0, 40.0, float("inf"))  # of chips behind, in pots


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ErrorReport:
    """Errors over some situations; all but the Huber loss in per cent of the pot."""

    count: int
    huber: float  # mean over hands, both players
    rms: float  # root of the mean square over hands
    weighted_rms: float  # the same, hands weighted by the ranges
    median: float  # of the situations' own root mean squares

    def __str__(self) -> str:
        return (
            f"RMS {self.rms:.2f} %, by range {self.weighted_rms:.2f} %, median {self.median:.2f} %, "
            f"Huber {self.huber:.5f} ({self.count:,} situations)"
        )


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Errors:
    """What situations add to the measures, one number a situation."""

    ratio: FloatArray  # [B] chips behind, in pots
    huber: FloatArray  # [B]
    square: FloatArray  # [B] mean over hands
    weighted_square: FloatArray  # [B] mean over ranges

    @classmethod
    def of(cls, found: FloatArray, value: FloatArray, ranges: FloatArray, ratio: npt.ArrayLike) -> Self:
        """Returns the errors of values found `[B, 2, n]` against those known, for ranges that add up to 1."""
        error = np.asarray(found, np.float64) - value
        size = np.abs(error)
        huber = np.where(size < 1.0, 0.5 * error**2, size - 0.5)
        weighted = (error**2 * ranges).sum(axis=2).mean(axis=1)
        return cls(np.asarray(ratio, np.float64), huber.mean(axis=(1, 2)), (error**2).mean(axis=(1, 2)), weighted)

    @classmethod
    def join(cls, parts: list[Self]) -> Self:
        """Returns the errors of all parts."""
        names = [field.name for field in dataclasses.fields(cls)]
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))

    def report(self, low: float = 0.0, high: float = float("inf")) -> ErrorReport:
        """Returns the measures over the situations with so much behind."""
        some = (self.ratio >= low) & (self.ratio < high)
        if not some.any():
            return ErrorReport(count=0, huber=np.nan, rms=np.nan, weighted_rms=np.nan, median=np.nan)
        return ErrorReport(
            count=int(some.sum()),
            huber=float(self.huber[some].mean()),
            rms=100.0 * float(np.sqrt(self.square[some].mean())),
            weighted_rms=100.0 * float(np.sqrt(self.weighted_square[some].mean())),
            median=100.0 * float(np.median(np.sqrt(self.square[some]))),
        )

    def bands(self) -> dict[tuple[float, float], ErrorReport]:
        """Returns the measures by band of what is behind."""
        return {(low, high): self.report(low, high) for low, high in itertools.pairwise(BANDS)}
