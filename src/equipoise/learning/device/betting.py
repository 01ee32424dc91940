# SPDX-License-Identifier: Apache-2.0
"""One player's decisions of a street as rows of tensors: K cells (decision, action) by X hands of all subgames.

Cells are sorted by how many own decisions lie above them, then by the number of actions, so that a level is a run of
rows and decisions of one size are a view with an axis of actions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from equipoise.kernels.rules import Fallback
from equipoise.learning.torch_extra import torch

__all__ = ["BettingRows"]

IntArray = npt.NDArray[np.int32]


class _Block(NamedTuple):
    """Decisions of one level with one number of actions."""

    cells: slice
    nodes: slice
    num_actions: int


class _Level(NamedTuple):
    """Decisions with as many own decisions above them."""

    cells: slice
    nodes: slice
    cell_source: torch.Tensor  # [cells] slot that leads to the decision of each cell
    node_source: torch.Tensor  # [nodes]


class BettingRows:
    """Which cells belong together, and which slots lead to them; slot 0 is where the street begins, 1 + k is cell k."""

    def __init__(self, nodes: IntArray, device: torch.device) -> None:
        """Sorts the decisions.

        Args:
            nodes: `[D, 3]` first cell, number of actions, slot; parents first, as `HoldemArrays` has them.
            device: of the tensors.
        """
        first, counts, source = nodes.T.astype(np.int64)
        self.num_cells = int(counts.sum())
        owner = np.repeat(np.arange(len(nodes)), counts)  # cells follow one another
        depth = np.zeros(len(nodes), np.int64)
        for node in np.flatnonzero(source > 0):
            depth[node] = 1 + depth[owner[source[node] - 1]]
        order = np.lexsort((counts, depth))
        parts = [np.arange(first[node], first[node] + counts[node]) for node in order]
        self.cell_order = np.concatenate([*parts, np.zeros(0, np.int64)])  # [cells] place in the tree's tables
        place = np.empty(self.num_cells, np.int64)
        place[self.cell_order] = np.arange(self.num_cells)
        self.slot_row = np.concatenate([[0], 1 + place])  # [1 + cells] from the tree's slots to rows here
        depth, counts, source = depth[order], counts[order], self.slot_row[source[order]]
        start = np.concatenate([[0], np.cumsum(counts)])
        self.num_nodes = len(nodes)
        self.node_of_cell = torch.as_tensor(np.repeat(np.arange(len(nodes)), counts), device=device)
        self.uniform = torch.as_tensor(1.0 / np.repeat(counts, counts)[:, None], device=device)  # [cells, 1]
        self._levels: list[_Level] = []
        for level in range(int(depth.max(initial=-1)) + 1):
            own = np.flatnonzero(depth == level)
            sources = torch.as_tensor(source[own], device=device)
            nodes_here, cells = slice(own[0], own[-1] + 1), slice(start[own[0]], start[own[-1] + 1])
            repeated = torch.as_tensor(np.repeat(source[own], counts[own]), device=device)
            self._levels.append(_Level(cells, nodes_here, repeated, sources))
        self._blocks: list[list[_Block]] = [
            [
                _Block(slice(start[own[0]], start[own[-1] + 1]), slice(own[0], own[-1] + 1), int(size))
                for size in np.unique(counts[depth == level])
                if (own := np.flatnonzero((depth == level) & (counts == size))).size
            ]
            for level in range(len(self._levels))
        ]

    def play(self, regret: torch.Tensor, fallback: Fallback) -> torch.Tensor:
        """Returns `[cells, X]` the strategies that match regrets."""
        positive = regret.clamp(min=0.0)
        total = self._add_actions(positive).index_select(0, self.node_of_cell)
        spare = self.uniform.to(regret.dtype)
        if fallback is Fallback.ARGMAX:
            spare = self._choose(regret)
        return torch.where(total > 0, positive / total, spare)

    def spread(self, strategy: torch.Tensor) -> torch.Tensor:
        """Returns `[1 + cells, X]` own reach of every slot, 1 where the street begins."""
        reach = strategy.new_ones((1 + self.num_cells, strategy.shape[1]))
        for level in self._levels:
            torch.mul(strategy[level.cells], reach.index_select(0, level.cell_source), out=reach[1:][level.cells])
        return reach

    def back_up(self, strategy: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        """Adds what decisions are worth into `value` `[1 + cells, X]` of the slots above; returns it `[D, X]`."""
        expected = value.new_empty((self.num_nodes, value.shape[1]))
        cells = value[1:]
        for level, blocks in zip(reversed(self._levels), reversed(self._blocks), strict=True):
            weighed = strategy[level.cells] * cells[level.cells]
            for block in blocks:
                part = torch.unflatten(weighed[_within(block.cells, level.cells)], 0, (-1, block.num_actions))
                torch.sum(part, 1, out=expected[block.nodes])
            value.index_add_(0, level.node_source, expected[level.nodes])
        return expected

    def respond(self, value: torch.Tensor) -> None:
        """Adds what the best action of each decision is worth into `value` `[1 + cells, X]` of the slots above."""
        for level, blocks in zip(reversed(self._levels), reversed(self._blocks), strict=True):
            parts = [torch.unflatten(value[1:][block.cells], 0, (-1, block.num_actions)).amax(1) for block in blocks]
            value.index_add_(0, level.node_source, torch.cat(parts))

    def _add_actions(self, cells: torch.Tensor) -> torch.Tensor:
        """Returns `[D, X]` the sums over the actions of each decision."""
        out = cells.new_empty((self.num_nodes, cells.shape[1]))
        for block in (block for level in self._blocks for block in level):
            part = torch.unflatten(cells[block.cells], 0, (-1, block.num_actions))
            torch.sum(part, 1, out=out[block.nodes])
        return out

    def _choose(self, regret: torch.Tensor) -> torch.Tensor:
        """Returns `[cells, X]` 1 at the first action of the largest regret."""
        out = torch.zeros_like(regret)
        for block in (block for level in self._blocks for block in level):
            part = torch.unflatten(regret[block.cells], 0, (-1, block.num_actions))
            torch.unflatten(out[block.cells], 0, (-1, block.num_actions)).scatter_(1, part.argmax(1, keepdim=True), 1.0)
        return out


def _within(inner: slice, outer: slice) -> slice:
    return slice(inner.start - outer.start, inner.stop - outer.start)
