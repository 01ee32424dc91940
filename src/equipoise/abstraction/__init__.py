# SPDX-License-Identifier: Apache-2.0
"""Smaller games in the place of large ones: hand strength, card buckets, the lift of their strategies to hands."""

from typing import TYPE_CHECKING

from equipoise.core.lazy import lazy_names

if TYPE_CHECKING:
    from equipoise.abstraction.bucketed_strategy import BucketedStrategy, SolvedBuckets
    from equipoise.abstraction.buckets import CardBuckets, KMeans, Percentile, build_buckets
    from equipoise.abstraction.hand_strength import Strength, expected_strength
    from equipoise.abstraction.lifting import lift
    from equipoise.abstraction.solutions import open_solution, open_subject
    from equipoise.abstraction.translation import translate_action, translate_bet

__all__ = [
    "BucketedStrategy",
    "CardBuckets",
    "KMeans",
    "Percentile",
    "SolvedBuckets",
    "Strength",
    "build_buckets",
    "expected_strength",
    "lift",
    "open_solution",
    "open_subject",
    "translate_action",
    "translate_bet",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(__name__, __all__)
