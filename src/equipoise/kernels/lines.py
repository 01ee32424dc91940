# SPDX-License-Identifier: Apache-2.0
"""Many short walks down lines of betting, all private states of a hand drawn at once: probes and UCT."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import numpy.typing as npt

import equipoise._native as _native
from equipoise.core.errors import ConfigError
from equipoise.core.interruption import IsInterrupted, never
from equipoise.kernels.arrays import arrays_by_name, check_array, check_axes, check_finite, check_generator, check_range
from equipoise.kernels.calls import check_finished, check_integer, check_player
from equipoise.kernels.turns import OneCaller

__all__ = ["LineArrays", "LineKernel"]

TERMINAL = -2
MOST_ACTIONS = 3  # fold, call, raise

IntArray = npt.NDArray[np.int32]
FloatArray = npt.NDArray[np.float64]
WordArray = npt.NDArray[np.uint64]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LineArrays:
    """A public tree without chance states; N lines, P private states of either player at the last level."""

    actor: npt.NDArray[np.int8]  # [N] player or -2
    num_actions: IntArray  # [N]
    child: IntArray  # [N-1] children of lines in the order of lines, then of actions
    first_cell: IntArray  # [N] of the actor's table
    stride: IntArray  # [N] cells from one action to the next
    level: IntArray  # [N] deals so far, from 0
    call: IntArray  # [N] column of calling
    raise_: IntArray  # [N] column of raising, or of calling where nobody may raise
    is_showdown: npt.NDArray[np.uint8]  # [N]
    stake: FloatArray  # [N] what player 0 gets where a line ends; at a showdown, if it wins
    cumulative: FloatArray  # [H * H * 3] probabilities of pairs and of win, tie and loss of player 0, summed up
    ancestor: IntArray  # [levels, H] private state at a level
    num_table_cells: int


class LineKernel:
    """Lines as the native module reads them, and the scratch memory of walks: one call at a time."""

    def __init__(self, arrays: LineArrays) -> None:
        _check_lines(arrays)
        self.num_table_cells = arrays.num_table_cells
        self._one_caller = OneCaller("response")
        self._lines = _native.Lines(arrays_by_name(arrays), arrays.num_table_cells)

    def model_by_probe(
        self,
        target: int,
        strategy: FloatArray,
        *,
        num_hands: int,
        default: FloatArray,
        random_words: WordArray,
        is_interrupted: IsInterrupted = never,
    ) -> FloatArray:
        """Returns `[Q]` the shares of a player's actions in hands against a probe; advances `random_words`.

        The probe calls or raises with equal probability and never folds.

        Args:
            target: whose actions are counted.
            strategy: `[Q]` what it plays.
            num_hands: from the blinds to the end.
            default: `[Q]` what stands where no hand came by.
            random_words: `[4]` state of the generator, not all zero.
            is_interrupted: asked every few milliseconds; once true, `AbandonedError` is raised.
        """
        check_player(target, 2)
        check_integer("num_hands", num_hands, 0)
        self._check_call(strategy, default, random_words)
        model = default.copy()
        with self._one_caller:
            is_finished = self._lines.model_by_probe(
                target,
                num_hands,
                strategy=strategy,
                words=random_words,
                model=model,
                is_interrupted=is_interrupted,
            )
        check_finished(is_finished, "a series of hands")
        return model

    def search_uct(
        self,
        player: int,
        strategy: FloatArray,
        *,
        num_iterations: int,
        exploration: float,
        default: FloatArray,
        random_words: WordArray,
        is_interrupted: IsInterrupted = never,
    ) -> FloatArray:
        """Returns `[Q]` `default` with the pure choices that a search from nothing finds; advances `random_words`.

        Args:
            player: who searches; it calls beyond the search tree.
            strategy: `[Q]` what the other plays.
            num_iterations: of the search.
            exploration: the constant before the square root of UCB1, in units of utility.
            default: `[Q]` what stands where the search tree ends.
            random_words: `[4]` state of the generator, not all zero.
            is_interrupted: asked every few milliseconds; once true, `AbandonedError` is raised.
        """
        check_player(player, 2)
        check_integer("num_iterations", num_iterations, 0)
        self._check_call(strategy, default, random_words)
        if not 0 <= exploration < math.inf:
            raise ConfigError(f"exploration must be at least 0 and finite, got {exploration}")
        out = default.copy()
        with self._one_caller:
            is_finished = self._lines.search_uct(
                player,
                num_iterations,
                exploration,
                strategy=strategy,
                words=random_words,
                out=out,
                is_interrupted=is_interrupted,
            )
        check_finished(is_finished, "a search")
        return out

    def _check_call(self, strategy: FloatArray, default: FloatArray, random_words: WordArray) -> None:
        for name, table in (("strategy", strategy), ("default", default)):
            check_array(name, table, np.float64, (self.num_table_cells,))
            check_finite(name, table)
        check_generator(random_words)


def _check_lines(arrays: LineArrays) -> None:
    """Raises unless every line, cell and private state that walks may name exists."""
    num_lines = arrays.actor.size
    check_axes("ancestor", arrays.ancestor, 2)
    num_levels, num_private = arrays.ancestor.shape
    check_array("actor", arrays.actor, np.int8, (num_lines,))
    for name in ("num_actions", "first_cell", "stride", "level", "call", "raise_"):
        check_array(name, getattr(arrays, name), np.int32, (num_lines,))
    check_array("child", arrays.child, np.int32, (num_lines - 1,))
    check_array("is_showdown", arrays.is_showdown, np.uint8, (num_lines,))
    check_array("stake", arrays.stake, np.float64, (num_lines,))
    check_array("cumulative", arrays.cumulative, np.float64, (3 * num_private**2,))
    check_array("ancestor", arrays.ancestor, np.int32, (num_levels, num_private))
    check_finite("stake", arrays.stake)
    check_finite("cumulative", arrays.cumulative)
    decides = arrays.actor != TERMINAL
    check_range("actor", arrays.actor[decides], 0, 2)
    check_range("num_actions", arrays.num_actions, np.where(decides, 1, 0), np.where(decides, MOST_ACTIONS + 1, 1))
    if int(arrays.num_actions.sum()) != num_lines - 1:
        raise ValueError(f"every line but the first follows one action, got {arrays.num_actions.sum()} actions")
    # children come after their parents, so that every walk ends
    parent = np.repeat(np.arange(num_lines), arrays.num_actions)
    check_range("child", arrays.child, parent + 1, num_lines)
    check_range("level", arrays.level, 0, num_levels)
    for name in ("call", "raise_"):
        check_range(name, getattr(arrays, name)[decides], 0, arrays.num_actions[decides])
    check_range("ancestor", arrays.ancestor, 0, num_private)
    width = arrays.ancestor.max(axis=1)[arrays.level]
    last = arrays.first_cell.astype(np.int64) + (arrays.num_actions - 1) * arrays.stride.astype(np.int64) + width
    check_range("first_cell", arrays.first_cell[decides], 0, arrays.num_table_cells)
    check_range("stride", arrays.stride[decides], 0, arrays.num_table_cells)
    check_range("last cell", last[decides], 0, arrays.num_table_cells)
