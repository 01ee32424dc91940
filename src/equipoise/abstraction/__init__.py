# SPDX-License-Identifier: Apache-2.0
"""Smaller games in the place of large ones: hand strength, card buckets, the lift of their strategies to hands."""

from typing import TYPE_CHECKING

from equipoise.core.lazy import lazy_names

if TYPE_CHECKING:
    from equipoise.abstraction.buckets import CardBuckets, KMeans, Percentile, build_buckets
    from equipoise.abstraction.hand_strength import Strength, expected_strength
    from equipoise.abstraction.lift import lift
else:
    __getattr__ = lazy_names(
        __name__,
        {
            "buckets": ("CardBuckets", "KMeans", "Percentile", "build_buckets"),
            "hand_strength": ("Strength", "expected_strength"),
            "lift": ("lift",),
        },
    )

__all__ = [
    "CardBuckets",
    "KMeans",
    "Percentile",
    "Strength",
    "build_buckets",
    "expected_strength",
    "lift",
]
