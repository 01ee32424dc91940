# SPDX-License-Identifier: Apache-2.0
"""Networks of public states with weights drawn at random."""

import numpy as np

from equipoise.search.net_leaves import draw_leaves


def random_leaves(features, *, hidden=16, layers=2, seed=0, takes_roots=True):
    """Returns a small network of values and policies that knows nothing."""
    rng = np.random.default_rng(seed)
    return draw_leaves(features, hidden=hidden, layers=layers, takes_roots=takes_roots, rng=rng)
