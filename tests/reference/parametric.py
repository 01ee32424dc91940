# SPDX-License-Identifier: Apache-2.0
"""CFR at one point of a game's parameters as a plain walk, every strategy kept: what coefficients must agree with."""

from __future__ import annotations

import numpy as np


def regret_matching(row):
    """Returns probabilities in proportion to positive regrets, uniform without any."""
    positive = np.maximum(row, 0.0)
    total = positive.sum()
    return positive / total if total > 0 else np.full(row.size, 1.0 / row.size)


def rows_of(tree):
    """Returns the sequences of every information set as slices."""
    return [slice(first, first + count) for first, count in zip(tree.first_sequence, tree.num_actions, strict=True)]


def realize(tree, strategy):
    """Returns `[Q]` own reach."""
    reach = np.ones(tree.sequence_start[-1])
    for row, above in zip(rows_of(tree), tree.parent_sequence, strict=True):
        reach[row] = reach[above] * strategy[row]
    return reach


def own_values(tree, player, utility, reach, strategy, chance=None):
    """Returns `[Q]` counterfactual values of the player's sequences when it plays `strategy` below."""
    share = tree.terminal_chance if chance is None else chance
    sign = 1.0 if player == 0 else -1.0
    values = np.zeros(reach.size)
    np.add.at(
        values, tree.terminal_sequence[player], sign * share * utility * reach[tree.terminal_sequence[1 - player]]
    )
    rows = rows_of(tree)
    for infoset in range(tree.infoset_start[player + 1] - 1, tree.infoset_start[player] - 1, -1):
        row = rows[infoset]
        values[tree.parent_sequence[infoset]] += strategy[row] @ values[row]
    return values


def add_regrets(tree, player, utility, reach, strategy, regret, chance=None):
    """Adds one iteration's regrets of a player into `regret`."""
    values = own_values(tree, player, utility, reach, strategy, chance)
    for infoset in range(tree.infoset_start[player], tree.infoset_start[player + 1]):
        row = rows_of(tree)[infoset]
        regret[row] += values[row] - strategy[row] @ values[row]


def run(tree, utility, num_iterations, *, regret=None):
    """Returns regrets, average sums and what each player's regrets were seen with, update by update."""
    regret = np.zeros(tree.sequence_start[-1]) if regret is None else regret.copy()
    sums = np.zeros_like(regret)
    seen = []
    rows = rows_of(tree)
    strategy = np.ones_like(regret)
    for row in rows:
        strategy[row] = regret_matching(regret[row])
    for _ in range(num_iterations):
        for player in (0, 1):
            reach = realize(tree, strategy)
            seen.append((player, strategy.copy()))
            add_regrets(tree, player, utility, reach, strategy, regret)
            own = slice(tree.sequence_start[player] + 1, tree.sequence_start[player + 1])
            sums[own] += reach[own]
            for infoset in range(tree.infoset_start[player], tree.infoset_start[player + 1]):
                strategy[rows[infoset]] = regret_matching(regret[rows[infoset]])
    return regret, sums, seen


def replay(tree, utility, seen):
    """Returns the regrets of the same play under other payoffs."""
    regret = np.zeros(tree.sequence_start[-1])
    for player, strategy in seen:
        add_regrets(tree, player, utility, realize(tree, strategy), strategy, regret)
    return regret
