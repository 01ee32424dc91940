# SPDX-License-Identifier: Apache-2.0
"""Actions that a strategy does not know, asked about alike: of Leduc, and of a river on both of its trees."""

import dataclasses
import functools
from typing import Any

import numpy as np

from equipoise.search.holdem.profile import HoldemProfile
from equipoise.search.nested import NestedSearch
from equipoise.search.profiles import Profile, Reply
from equipoise.search.public import PublicProfile
from equipoise.search.settings import SearchSettings
from equipoise.trees.vector import TreeStrategy
from tests.search.betting import three_sizes
from tests.search.river import river

SURPRISES = ["leduc", "public", "holdem"]
POT_BET = 150  # of the river, in all


@dataclasses.dataclass(frozen=True)
class Surprise:
    """The first player takes an action that the second one's strategy lacks."""

    profile: Profile
    place: Any
    reply: Reply
    private: np.ndarray  # [H] which of the first player's private states before the action each one after it was
    rounding: float  # of values

    def nested(self, method, iterations=20, **options):
        """Returns the second player's search."""
        settings = SearchSettings(method=method, iterations=iterations, **options)
        return NestedSearch(self.profile, 1, settings)

    def find(self, search, stage=None):
        """Returns what a search behind the action finds."""
        return search.search(stage or search.begin(), self.place, self.reply)


@functools.cache
def surprise(name):
    """Returns one of `SURPRISES`; estimates go by the strategy itself, or by the last iterate of the river's run."""
    if name == "leduc":
        three = three_sizes()
        profile = PublicProfile.without(three.tree, three.strategy, three.off_tree)
        profile.response = TreeStrategy(profile.tree, profile.strategy)
        place, reply = next(profile.surprises(0, 0))
        return Surprise(profile, place, reply, np.array([0, 1, 3, 4, 5]), 1e-12)  # the third card lies on the board
    small, by_hand = river().profiles()
    if name == "public":
        place, reply = next(found for found in small.surprises(0, 0) if found[0] == 0)
        return Surprise(small, place, reply, np.arange(small.tree.num_private[0, 0]), 1e-9)
    profile: HoldemProfile = by_hand
    return Surprise(profile, profile.tree.root_place, Reply(POT_BET), np.arange(profile.begin.deck.num_hands), 1e-3)
