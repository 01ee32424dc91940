# SPDX-License-Identifier: Apache-2.0
"""Leduc with any share of the pot as a bet, solved by CFR in an abstraction to which sizes can be added meanwhile."""

from __future__ import annotations

import enum
import itertools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import equipoise._native as _native
from equipoise.core.errors import ConfigError
from equipoise.kernels.calls import check_integer, check_player
from equipoise.kernels.turns import OneCaller

__all__ = ["Addition", "SizedLeducKernel", "Translation"]


class Translation(enum.IntEnum):
    """How the average strategy answers a bet between two of its sizes."""

    NONE = 0  # such bets are not made: exploitability within the abstraction
    RANDOMIZED = 1  # the randomised pseudo-harmonic mapping
    ROUNDED = 2  # the nearer size, by the mapping's midpoint


class Addition(NamedTuple):
    """A size that was added."""

    node: int
    size: float  # share of the pot
    num_nodes: int  # public nodes of the new subgame; 0 if it was put off
    weight: float  # by which everything so far was multiplied


class SizedLeducKernel:
    """An abstraction of continuous Leduc with its run: nodes, tables and counts; one call at a time."""

    def __init__(self, menu: Sequence[float], *, ante: float = 1.0, skips_unreached: bool = True) -> None:
        """Begins a run.

        Args:
            menu: sizes at every decision, shares of the pot, ascending; the first and the last are the bounds of what
                may be bet at all.
            ante: chips of each player.
            skips_unreached: whether what nobody reaches in an iteration is left out; changes nothing but the time.
        """
        sizes = [float(size) for size in menu]
        if len(sizes) < 2 or any(low >= high for low, high in itertools.pairwise(sizes)):
            raise ConfigError(f"a menu needs at least two ascending sizes, got {sizes}")
        if not (sizes[0] > 0 and sizes[-1] < math.inf and 0 < ante < math.inf):
            raise ConfigError(f"sizes and ante must be positive and finite, got {sizes} and {ante}")
        self.run: Any = _native.SizedLeduc(sizes, ante, skips_unreached)
        self._one_caller = OneCaller("solver")

    def iterate(self, num_iterations: int) -> None:
        """Runs iterations, each of which updates both players."""
        check_integer("num_iterations", num_iterations, 0)
        with self._one_caller:
            self.run.iterate(num_iterations)

    def respond(self, player: int, translation: Translation) -> float:
        """Returns the value of a player's best response to the other's average strategy."""
        check_player(player, 2)
        return float(self.run.respond(player, int(translation)))

    def grow(
        self,
        most_additions: int,
        *,
        threshold: float,
        transfers: bool,
        is_linear: bool,
        rounds: tuple[int, int],
        fair_weight: float,
        least_weight: float,
        most_given: float,
        by_slope: bool,
    ) -> tuple[Addition, ...]:
        """Returns the sizes that were added because they are worth their nodes, at most so many."""
        check_integer("most_additions", most_additions, 0)
        with self._one_caller:
            added = self.run.grow(
                most_additions,
                threshold=threshold,
                transfers=transfers,
                is_linear=is_linear,
                least_rounds=rounds[0],
                most_rounds=rounds[1],
                fair_weight=fair_weight,
                least_weight=least_weight,
                most_given=most_given,
                by_slope=by_slope,
            )
        return tuple(Addition(*one) for one in added)

    def add(
        self, node: int, size: float, *, transfers: bool = False, is_linear: bool = False, rounds: int = 100
    ) -> Addition:
        """Returns what adding one size at a node did, whatever it is worth."""
        found = self.describe(node)
        bets = [own for own in found["size"] if own > 0]
        if not bets or not bets[0] < size < bets[-1] or size in bets:
            raise ConfigError(f"node {node} has bets {bets}, and {size} is no new one between them")
        check_integer("rounds", rounds, 1, 1_000_000)
        with self._one_caller:
            added = self.run.add(node, size, transfers=transfers, is_linear=is_linear, rounds=rounds)
        return Addition(*added)

    def remove(self, limit: float) -> int:
        """Returns how many sizes were removed: played with less than `limit` / sqrt(T), and no best response would."""
        if not 0 < limit < math.inf:
            raise ConfigError(f"limit must be above 0, got {limit}")
        with self._one_caller:
            return int(self.run.remove(limit))

    def describe(self, node: int) -> dict[str, Any]:
        """Returns a node's place in the tree and its sums, by name."""
        check_integer("node", node, 0, self.run.num_slots - 1)
        found: dict[str, Any] = self.run.describe(node)
        return found
