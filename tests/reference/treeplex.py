# SPDX-License-Identifier: Apache-2.0
"""Dilated entropy and smoothed responses by plain recursion: the twin of native/treeplex.hpp."""

import numpy as np


def sets_below(tree, sequence):
    return np.flatnonzero(tree.parent_sequence == sequence)


def sequences_of(tree, infoset):
    first = tree.first_sequence[infoset]
    return range(first, first + tree.num_actions[infoset])


def dilated_weight(tree, infoset, scale, growth):
    """Returns beta of an information set."""
    below = [
        sum(dilated_weight(tree, k, scale, growth) for k in sets_below(tree, q)) for q in sequences_of(tree, infoset)
    ]
    return scale + growth * max(below)


def dilated_entropy(tree, player, realization, weights, prior):
    """Returns the sum over the player's sets of beta times reach times divergence from the prior."""
    total = 0.0
    for infoset in range(tree.infoset_start[player], tree.infoset_start[player + 1]):
        reach = realization[tree.parent_sequence[infoset]]
        for q in sequences_of(tree, infoset):
            if realization[q] > 0:
                total += weights[infoset] * realization[q] * np.log(realization[q] / reach / prior[q])
    return total


def respond(tree, player, gains, mu, weights, prior):
    """Returns the value and the behaviour strategy of the smoothed best response."""
    strategy = np.ones(gains.size)

    def value(sequence):
        total = gains[sequence]
        for infoset in sets_below(tree, sequence):
            own = list(sequences_of(tree, infoset))
            temperature = mu * weights[infoset]
            values = np.array([value(q) for q in own])
            odds = prior[own] * np.exp((values - values.max()) / temperature)
            strategy[own] = odds / odds.sum()
            total += values.max() + temperature * np.log(odds.sum())
        return total

    return value(tree.sequence_start[player]), strategy
