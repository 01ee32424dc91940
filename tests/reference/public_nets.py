# SPDX-License-Identifier: Apache-2.0
"""Networks of public states with weights drawn at random."""

import itertools

import numpy as np

from equipoise.kernels.value_nets import LayerArrays
from equipoise.search.net_leaves import NetLeaves


def random_leaves(features, *, hidden=16, layers=2, seed=0, takes_roots=True):
    """Returns a network of values and policies that knows nothing."""
    rng = np.random.default_rng(seed)
    widths = [features.sizes.num_inputs, *[hidden] * layers, features.sizes.num_outputs]
    found = []
    for place, (before, after) in enumerate(itertools.pairwise(widths)):
        weight = (rng.standard_normal((before, after)) / np.sqrt(before)).astype(np.float32)
        bias = (0.1 * rng.standard_normal(after)).astype(np.float32)
        slope = np.full(after, 0.25, np.float32) if place < layers else None
        found.append(LayerArrays(weight, bias, slope, False))
    return NetLeaves(features, found, takes_roots=takes_roots)
