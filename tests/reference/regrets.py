# SPDX-License-Identifier: Apache-2.0
"""True regrets of a profile on a tree, and tables over sequences as dictionaries by player and information state."""

import numpy as np

from equipoise.solvers.best_response import bind_history_kernel


def random_regrets(tree, seed):
    """Returns regrets whose strategies leave about a third of all actions out."""
    return np.random.default_rng(seed).uniform(-0.5, 1.0, int(tree.sequence_start[-1]))


def by_label(tree, table):
    """Returns an array over sequences as the twin's dictionary."""
    player = tree.infoset_player()
    spans = zip(player.tolist(), tree.infoset_labels, tree.first_sequence, tree.num_actions, strict=True)
    return {(owner, label): table[first : first + count] for owner, label, first, count in spans}


def flatten(tree, tables):
    """Returns a dictionary of the twin as an array over sequences; what the twin never met is 0."""
    out = np.zeros(int(tree.sequence_start[-1]))
    for key, part in by_label(tree, out).items():
        part[:] = tables.get(key, 0.0)
    return out


def exact_regrets(tree, regret_sum):
    """Returns `[Q]` the true instantaneous counterfactual regrets of the profile that regret matching plays."""
    kernel = bind_history_kernel(tree)
    strategy = kernel.normalize(np.maximum(regret_sum, 0.0))
    realization = kernel.realize(strategy)
    out = np.zeros_like(strategy)
    for player in range(tree.num_players):
        values = by_label(tree, kernel.strategy_values(player, strategy, realization))
        sigmas = by_label(tree, strategy)
        for key, part in by_label(tree, out).items():
            if key[0] == player:
                part[:] = values[key] - sigmas[key] @ values[key]
    return out, realization
