# SPDX-License-Identifier: Apache-2.0
"""Bucket networks of small games at work, without torch: counterfactual values, and leaves of a search."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.kernels.frontier import BeliefBatch, LeafValues
from equipoise.kernels.value_nets import PerceptronKernel
from equipoise.learning.values.bucket_states import BucketPlan, BucketStates, find_pair_inputs, sum_buckets
from equipoise.learning.values.configuration import NetKind
from equipoise.learning.values.inputs import BucketInputs
from equipoise.learning.values.weights import StoredNet
from equipoise.search.leaves import RecentPlans

__all__ = ["SmallGameLeaves", "SmallGameValues"]

FloatArray = npt.NDArray[np.float64]
SingleArray = npt.NDArray[np.float32]


class SmallGameValues:
    """A bucket network that can be asked: the twin of `BucketNet`."""

    def __init__(self, stored: StoredNet) -> None:
        """Copies the weights."""
        if stored.config.kind is not NetKind.BUCKET:
            raise ConfigError(f"expected a bucket network, got one of kind {stored.config.kind}")
        self.config = stored.config
        self.kernel = PerceptronKernel(stored.config.num_inputs, stored.config.num_outputs, stored.layers())

    def evaluate(self, plan: BucketPlan, reach: FloatArray) -> FloatArray:
        """Returns both players' counterfactual values `[B, 2, n]` in the game's unit for reaches `[B, 2, n]`."""
        value = self.values(find_pair_inputs(self.config, plan, reach)).astype(np.float64)
        mass = reach.sum(axis=2)[:, ::-1, None]
        found: FloatArray = value * mass * plan.unit[:, None, None] * plan.is_live
        return found

    def values(self, inputs: BucketInputs) -> SingleArray:
        """Returns `[B, 2, n]` what private states are worth in pots, for ranges that add up to 1."""
        config, count = self.config, len(inputs)
        masses = sum_buckets(inputs.bucket, inputs.range, config.buckets)
        masses = np.float32(config.buckets) * masses
        if config.takes_roots:
            masses = np.sqrt(masses)
        seen = np.concatenate([masses.reshape(count, -1), inputs.extra], axis=1)
        found = self.kernel.run(seen).reshape(count, 2, config.buckets)
        value = np.take_along_axis(found, inputs.bucket, axis=2) * inputs.share[:, None, None]
        if config.times_mass:
            value = value * inputs.matched
        shown = np.float32(1) if config.adds_equity else 1 - inputs.share[:, None, None]
        value = shown * inputs.base + value
        left = (inputs.range * value).sum(axis=2).sum(axis=1)[:, None, None]
        taken = np.float32(0.5) * left
        if config.times_mass:
            met = (inputs.range[:, 0] * inputs.matched[:, 0]).sum(axis=1)[:, None, None]
            taken = left * inputs.matched / (2 * np.maximum(met, np.float32(1e-12)))
        out: SingleArray = value - taken
        return out


class SmallGameLeaves:
    """Both players' values at public states of a small game, as a network sees them."""

    def __init__(self, net: SmallGameValues, states: BucketStates) -> None:
        """Keeps the network.

        Args:
            net: made for the game.
            states: which public states it may be asked about.
        """
        if net.config.buckets != states.num_buckets:
            raise ConfigError(f"the network has {net.config.buckets} buckets, the game {states.num_buckets}")
        self.net, self.states = net, states
        self._plans = RecentPlans(self._plan)

    def _plan(self, batch: BeliefBatch) -> BucketPlan:
        return BucketPlan.of([self.states.find(state) for state in batch.states], self.states.orbits)

    def evaluate(self, batch: BeliefBatch) -> LeafValues:
        """Returns what the network says."""
        plan = self._plans.find(batch)
        width = plan.bucket.shape[2]
        reach = np.zeros((len(batch.states), 2, width))
        for player, own in enumerate(batch.reach):
            reach[:, player, : own.shape[1]] = own
        found = self.net.evaluate(plan, reach)
        first, second = (
            np.ascontiguousarray(found[:, player, : own.shape[1]]) for player, own in enumerate(batch.reach)
        )
        return LeafValues((first, second))
