# SPDX-License-Identifier: Apache-2.0
"""Leaves whose values come from outside: all of them in one batch, asked for once an update.

Iterations gather both players' reaches into two contiguous arrays, call back, and add what they find in two others;
buffers and the batch are made once. What a leaf stands for is the tree's business, what it is worth the evaluator's.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import equipoise._native as _native
from equipoise.kernels.arrays import check_range

__all__ = ["BeliefBatch", "Frontier", "LeafValues"]

IntArray = npt.NDArray[np.int32]
FloatArray = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BeliefBatch:
    """Public states with both players' reaches, unnormalised; B of them, padded to the most private states H."""

    states: Sequence[Any]  # [B] public states, never nodes of some tree
    reach: tuple[FloatArray, FloatArray]  # [B, H] by player; 0 beyond its private states
    num_private: IntArray  # [B, 2]
    joint: Sequence[Any]  # [B] chance's weights of pairs of private states


class LeafValues(NamedTuple):
    """What a batch is worth."""

    cfv: tuple[FloatArray, FloatArray]  # [B, H] counterfactual values on the scale of the reaches
    prior: FloatArray | None = None  # [B, H, A] policies, if the evaluator has them


class _Question:
    """What is asked of whoever values leaves."""

    def __init__(
        self,
        evaluate: Callable[[BeliefBatch], LeafValues],
        batch: BeliefBatch,
        cfv: tuple[FloatArray, FloatArray],
    ) -> None:
        self.evaluate, self._batch, self._cfv = evaluate, batch, cfv

    def __call__(self) -> None:
        """Fills values from the reaches of the batch."""
        found = self.evaluate(self._batch).cfv
        for own, out in zip(found, self._cfv, strict=True):
            if own is not out:
                if own.shape != out.shape:
                    raise ValueError(f"values of leaves must have shape {out.shape}, got {own.shape}")
                out[...] = own


class Frontier:
    """The leaves of a tree, bound to who values them."""

    def __init__(
        self,
        evaluate: Callable[[BeliefBatch], LeafValues],
        cells: tuple[Sequence[IntArray], Sequence[IntArray]],
        *,
        states: Sequence[Any],
        joint: Sequence[Any] = (),
        private: tuple[IntArray, IntArray] | None = None,
        num_private: int = 0,
    ) -> None:
        """Makes the buffers.

        Args:
            evaluate: what leaves are worth; may return `cfv` itself, written in place.
            cells: by player and leaf, where the kernel keeps each private state.
            states: of the leaves.
            joint: of the leaves, for the evaluator.
            private: by player, of which private state each cell of every leaf is; None: they are in order.
            num_private: of every leaf, where cells do not have all of them.
        """
        sizes = np.array([[part.size for part in own] for own in cells], np.int32).reshape(2, -1)
        counts = sizes if private is None else np.full(sizes.shape, num_private, np.int32)
        shapes = [(counts.shape[1], int(own.max(initial=0))) for own in counts]
        reach = np.zeros(shapes[0]), np.zeros(shapes[1])
        self.cfv: tuple[FloatArray, FloatArray] = np.zeros(shapes[0]), np.zeros(shapes[1])
        self.batch = BeliefBatch(states=states, reach=reach, num_private=np.ascontiguousarray(counts.T), joint=joint)
        self.cells: IntArray = np.concatenate([*cells[0], *cells[1], np.zeros(0, np.int32)]).astype(np.int32)
        self.start: IntArray = np.array([0, sizes[0].sum(), sizes.sum()], np.int32)
        places = [
            leaf * shapes[player][1] + (np.arange(size) if private is None else private[player])
            for player in (0, 1)
            for leaf, size in enumerate(sizes[player].tolist())
        ]
        self.places: IntArray = np.concatenate([*places, np.zeros(0)]).astype(np.int32)
        arrays = {
            "start": self.start,
            "cells": self.cells,
            "places": self.places,
            "reach_0": reach[0],
            "reach_1": reach[1],
            "cfv_0": self.cfv[0],
            "cfv_1": self.cfv[1],
        }
        # not a method of its own: who is held by what it holds in the native module is never freed
        self._question = _Question(evaluate, self.batch, self.cfv)
        self.bound = _native.Frontier(arrays, self._question)

    @property
    def evaluate(self) -> Callable[[BeliefBatch], LeafValues]:
        """Returns who values the leaves; searches put another in its place."""
        return self._question.evaluate

    @evaluate.setter
    def evaluate(self, evaluate: Callable[[BeliefBatch], LeafValues]) -> None:
        self._question.evaluate = evaluate

    @staticmethod
    def none() -> Any:
        """Returns what stands for no leaves."""
        return _native.Frontier()

    def check(self, num_cells: int) -> None:
        """Raises `ValueError` if leaves are cells that a kernel does not have."""
        check_range("cells of leaves", self.cells, 0, num_cells)

    def values(self, realization: FloatArray) -> list[tuple[IntArray, FloatArray]]:
        """Returns by player the cells of leaves and their values for reaches of all cells `[C]`."""
        return self.exchange((realization, realization))

    def exchange(self, reach: tuple[FloatArray, FloatArray]) -> list[tuple[IntArray, FloatArray]]:
        """Returns by player the cells of leaves and their values for each player's reaches of its cells `[C]`."""
        owns = [slice(*self.start[player : player + 2].tolist()) for player in (0, 1)]
        for player, own in enumerate(owns):
            self.batch.reach[player].reshape(-1)[self.places[own]] = reach[player][self.cells[own]]
        self._question()
        found = [(self.cells[own], self.cfv[player].reshape(-1)[self.places[own]]) for player, own in enumerate(owns)]
        if not all(np.isfinite(values).all() for _, values in found):
            raise ValueError("values of leaves must be finite numbers")
        return found

    def take_done(self) -> int:
        """Returns how many iterations the call had done out of which an exception came last; then 0."""
        num_done: int = self.bound.take_done()
        return num_done

    def reset(self) -> None:
        """Forgets nothing: evaluators have no memory of a run."""
