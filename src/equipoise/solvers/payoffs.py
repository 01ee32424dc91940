# SPDX-License-Identifier: Apache-2.0
"""Payoff ranges below information states, and what Hedge divides its steps by because of them."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from equipoise.kernels.public import DECISION, Step
from equipoise.kernels.rules import KernelRule
from equipoise.solvers.holdem.ranges import fill_ranges
from equipoise.trees.history import HistoryTree
from equipoise.trees.holdem.tree import HoldemTree
from equipoise.trees.public import PublicTree

__all__ = ["find_scales", "payoff_bounds", "payoff_ranges", "scale_share"]

FloatArray = npt.NDArray[np.float64]

LEAST_SCALE: Final = 1e-150  # where nothing is decided; its inverse is finite
LEAST_FLOAT_SCALE: Final = 1e-30  # the same in float32


def find_scales(tree: HistoryTree | PublicTree | HoldemTree, rule: KernelRule) -> FloatArray | None:
    """Returns over rows what Hedge divides its steps by, None under other rules.

    Payoff ranges, or the share of them below which no deviation counts where the variance is tracked. On hold'em trees
    they are in the units of regrets there, which lack the chances of the own hand and of the cards dealt.
    """
    if not rule.needs_scale:
        return None
    share = scale_share(rule)
    if not isinstance(tree, HoldemTree):
        return np.maximum(payoff_ranges(tree) * share, LEAST_SCALE)
    scales = np.empty(tree.arrays.num_node_rows)
    fill_ranges(tree, lambda ranges, chances, _: np.maximum(ranges * share / chances, LEAST_FLOAT_SCALE), scales)
    return scales


def scale_share(rule: KernelRule) -> float:
    """Returns the share of a payoff range that is Hedge's scale, or the least one where the variance is tracked."""
    return 1e-9 if rule.tracks_variance else 1.0


def payoff_ranges(tree: HistoryTree | PublicTree) -> FloatArray:
    """Returns `[I]` the distance between the largest and smallest utility of the owner below each information set.

    On a public tree, over rows; a pair of private states that holds several histories counts with its mean utility.
    """
    return _public_payoff_ranges(tree) if isinstance(tree, PublicTree) else _history_payoff_ranges(tree)


def _history_payoff_ranges(tree: HistoryTree) -> FloatArray:
    return payoff_bounds(tree)[1]


def payoff_bounds(tree: HistoryTree) -> tuple[FloatArray, FloatArray]:
    """Returns `[Q]` the owner's largest utility below each sequence, and `[I]` the payoff ranges."""
    sequences = int(tree.sequence_start[-1])
    largest, smallest = np.full(sequences, -np.inf), np.full(sequences, np.inf)
    for player in range(tree.num_players):
        np.maximum.at(largest, tree.terminal_sequence[player], tree.utility[player])
        np.minimum.at(smallest, tree.terminal_sequence[player], tree.utility[player])
    ranges = np.empty(tree.num_actions.size)
    for infoset in range(tree.num_actions.size - 1, -1, -1):
        first = tree.first_sequence[infoset]
        last = first + tree.num_actions[infoset]
        high, low = largest[first:last].max(), smallest[first:last].min()
        ranges[infoset] = high - low
        above = tree.parent_sequence[infoset]
        largest[above] = max(largest[above], high)
        smallest[above] = min(smallest[above], low)
    return largest, ranges


def _public_payoff_ranges(tree: PublicTree) -> FloatArray:
    largest, smallest = np.full(tree.cells.num_cells, -np.inf), np.full(tree.cells.num_cells, np.inf)
    utility = tree.payoff / tree.payoff_chance
    for node, table, factor in zip(tree.terminal_node, tree.payoff_table, tree.payoff_factor, strict=True):
        entries = slice(tree.payoff_start[table], tree.payoff_start[table + 1])
        for player in (0, 1):
            cells = tree.private_cells(int(node), player)[tree.payoff_private[player, entries]]
            np.maximum.at(largest, cells, factor * utility[player, entries])
            np.minimum.at(smallest, cells, factor * utility[player, entries])
    ranges = np.zeros(tree.cells.num_rows)
    for fields in reversed(tree.cells.steps.tolist()):
        step = Step(*fields)
        items = slice(step.first_index, step.first_index + step.num_items)
        if step.kind != DECISION:
            source, target = tree.cells.entry_source[items], tree.cells.entry_target[items]
            np.maximum.at(largest, source, largest[target])
            np.minimum.at(smallest, source, smallest[target])
            continue
        shape = step.num_items, step.num_actions, step.stride
        block = slice(step.first_cell, step.first_cell + step.num_items * step.num_actions * step.stride)
        high, low = largest[block].reshape(shape).max(axis=1), smallest[block].reshape(shape).min(axis=1)
        rows = slice(step.first_row, step.first_row + high.size)
        ranges[rows] = np.maximum(high - low, 0.0).ravel()  # padding has no payoffs: -inf - inf
        above = (tree.cells.source[items, None] + np.arange(step.stride)).ravel()
        np.maximum.at(largest, above, high.ravel())
        np.minimum.at(smallest, above, low.ravel())
    return ranges
