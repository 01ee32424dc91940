# SPDX-License-Identifier: Apache-2.0
"""Trees whose payoffs are a little off, so that no two actions are exactly as good.

In games full of symmetry regrets tie exactly, and then the last bit of a sum decides what is played: compilers and
summation orders give runs that differ from the second iteration on. Errors drawn on purpose make such runs comparable.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from equipoise.core.errors import ConfigError
from equipoise.trees.history import HistoryTree

__all__ = ["perturb_payoffs"]


def perturb_payoffs(tree: HistoryTree, *, relative: float, rng: np.random.Generator) -> HistoryTree:
    """Returns a tree that differs from a two-player zero-sum one by an error in each payoff.

    Args:
        tree: two players, zero sum; so is the result.
        relative: standard deviation of the errors, as a share of the payoff range.
        rng: draws the errors.

    >>> from equipoise.games import make_game
    >>> from equipoise.trees import build_history_tree
    >>> tree = build_history_tree(make_game("kuhn"))
    >>> noisy = perturb_payoffs(tree, relative=0.01, rng=np.random.default_rng(0))
    >>> bool(0 < np.abs(noisy.utility - tree.utility).max() < 0.1)
    True
    """
    if tree.num_players != 2 or not tree.is_zero_sum:
        raise ConfigError(f"payoffs are perturbed in two-player zero-sum games alone, got {tree.game_label}")
    errors = relative * tree.utility_range * rng.standard_normal(tree.terminal_node.size)
    row = tree.utility[0] + errors
    return dataclasses.replace(tree, utility=np.stack([row, -row]))
