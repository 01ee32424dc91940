# SPDX-License-Identifier: Apache-2.0
"""Blueprints for tests of search."""

import numpy as np

from equipoise.solvers.best_response import bind_public_kernel


def random_strategy(tree, seed):
    """Returns a strategy that is drawn at random everywhere."""
    return bind_public_kernel(tree).normalize(np.random.default_rng(seed).random(tree.cells.num_table_cells))
