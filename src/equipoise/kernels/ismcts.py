# SPDX-License-Identifier: Apache-2.0
"""Information-set Monte Carlo tree search over a history tree."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import numpy.typing as npt

import equipoise._native as _native
from equipoise.core.errors import ConfigError
from equipoise.kernels.arrays import check_array, check_axes, check_finite, check_generator, check_range, check_segments
from equipoise.kernels.calls import check_integer
from equipoise.kernels.sampling import SamplingArrays, SamplingKernel
from equipoise.kernels.turns import OneCaller

__all__ = ["SearchKernel", "SearchTables", "WorldArrays"]

IntArray = npt.NDArray[np.int32]
FloatArray = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class WorldArrays:
    """The histories ("worlds") of every information set, W in all, and how likely a simulation starts from each."""

    first_world: IntArray  # [I+1] into the arrays over worlds; no information set is without
    world_node: IntArray  # [W] histories in which the information set's player is to move
    world_weight: FloatArray  # [W] at least 0, positive in sum; need not sum to 1


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SearchTables:
    """What searches found at their roots, and their generator."""

    visits: FloatArray  # [Q] simulations that took the action
    return_sum: FloatArray  # [Q] what they returned to the acting player
    random_words: npt.NDArray[np.uint64]  # [4] state of the generator (xoshiro256**), not all zero


class SearchKernel:
    """A history tree as searches read it, and their scratch memory: one call at a time."""

    def __init__(self, arrays: SamplingArrays, worlds: WorldArrays) -> None:
        self.tree = SamplingKernel(arrays)
        self.num_infosets = arrays.num_actions.size
        self.num_sequences = arrays.num_sequences
        cumulative = self._check_worlds(arrays, worlds)
        self._one_caller = OneCaller("search")
        named = {
            "first_world": worlds.first_world,
            "world_node": worlds.world_node,
            "world_cumulative": cumulative,
        }
        self._form = _native.SearchForm(named, arrays.num_sequences)

    def _check_worlds(self, arrays: SamplingArrays, worlds: WorldArrays) -> FloatArray:
        """Returns the running sums of weights within information sets; raises if a world is none of its set."""
        check_axes("world_node", worlds.world_node, 1)
        num_worlds = worlds.world_node.size
        check_array("first_world", worlds.first_world, np.int32, (self.num_infosets + 1,))
        check_array("world_node", worlds.world_node, np.int32, (num_worlds,))
        check_array("world_weight", worlds.world_weight, np.float64, (num_worlds,))
        check_segments("first_world", worlds.first_world, num_worlds, shortest=1)
        check_range("world_node", worlds.world_node, 0, arrays.actor.size)
        check_finite("world_weight", worlds.world_weight)
        owner = np.repeat(np.arange(self.num_infosets), np.diff(worlds.first_world))
        check_range("actor of world_node", arrays.actor[worlds.world_node], 0, self.tree.num_players)
        check_range("information set of world_node", arrays.detail[worlds.world_node], owner, owner + 1)
        cumulative = np.empty(num_worlds)
        _native.sampling_accumulate_chance(
            first_edge=worlds.first_world, edge_probability=worlds.world_weight, out=cumulative
        )
        if (worlds.world_weight < 0).any() or (cumulative[worlds.first_world[1:] - 1] <= 0).any():
            raise ValueError("world_weight must be at least 0 and positive in sum at every information set")
        return cumulative

    def search(self, infosets: IntArray, tables: SearchTables, *, num_simulations: int, exploration: float) -> None:
        """Runs a search of its own from each of some information sets; overwrites their cells of `tables`.

        Args:
            infosets: `[B]` where to search, in this order.
            tables: what was found, and the generator, which moves on.
            num_simulations: of each search; the first opens the root and counts for no action.
            exploration: C of `mean + C sqrt(ln N / n)`, in the game's unit of utility.
        """
        check_integer("num_simulations", num_simulations, 1)
        if not 0 <= exploration < math.inf:
            raise ConfigError(f"exploration must be finite and at least 0, got {exploration}")
        check_axes("infosets", infosets, 1)
        check_array("infosets", infosets, np.int32, infosets.shape)
        check_range("infosets", infosets, 0, self.num_infosets)
        for name in ("visits", "return_sum"):
            check_array(name, getattr(tables, name), np.float64, (self.num_sequences,), is_written=True)
        check_generator(tables.random_words)
        with self._one_caller:
            _native.search_infosets(
                self.tree.form,
                self._form,
                infosets=infosets,
                num_simulations=num_simulations,
                exploration=exploration,
                random=tables.random_words,
                visits=tables.visits,
                return_sum=tables.return_sum,
            )
