# SPDX-License-Identifier: Apache-2.0
"""Toy games solved history by history: the obvious form of the core's."""

from __future__ import annotations

from typing import Any

import numpy as np

FOLD, SHOWDOWN = 1, 2


def solve(betting: Any, mass: np.ndarray, discounts: np.ndarray) -> np.ndarray:
    """Returns `[2, G]` what each strength earns under the average strategies."""
    size = mass.shape[1]
    signs = np.sign(np.arange(size)[:, None] - np.arange(size))
    first, child = betting.first_child, betting.child
    regret, average = np.zeros((child.size, size)), np.zeros((child.size, size))

    def shares(table: np.ndarray, node: int) -> np.ndarray:
        rows = np.maximum(table[first[node] : first[node + 1]], 0.0)
        total = rows.sum(axis=0)
        return np.where(total > 0, rows / np.where(total > 0, total, 1.0), 1.0 / len(rows))

    def walk(node: int, player: int, own: np.ndarray, met: np.ndarray, source: np.ndarray, step: Any) -> np.ndarray:
        kind, actor, amount = betting.kind[node], betting.player[node], betting.amount[node]
        if kind == FOLD:
            return np.full(size, (-amount if actor == player else amount) * met.sum())
        if kind == SHOWDOWN:
            return amount * (signs @ met)
        played = shares(source, node)
        below = []
        for edge, share in zip(range(first[node], first[node + 1]), played, strict=True):
            is_own = actor == player
            reach = (own * share, met) if is_own else (own, met * share)
            below.append(walk(child[edge], player, *reach, source, step))
            if is_own and step is not None:
                average[edge] = average[edge] * step[2] + own * share
        if actor != player:
            return np.sum(below, axis=0)
        value = np.sum(np.stack(below) * played, axis=0)
        if step is not None:
            rows = slice(first[node], first[node + 1])
            regret[rows] = regret[rows] * np.where(regret[rows] > 0, step[0], step[1]) + np.stack(below) - value
        return value

    for step in discounts:
        for player in (0, 1):
            walk(0, player, np.ones(size), mass[1 - player].astype(float), regret, step)
    return np.stack(
        [walk(0, player, np.ones(size), mass[1 - player].astype(float), average, None) for player in (0, 1)]
    )
