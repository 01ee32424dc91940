# SPDX-License-Identifier: Apache-2.0
"""CFR over history trees whose payoffs are polynomials of parameters, regrets kept as coefficients of their terms."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import numpy.typing as npt

import equipoise._native as _native
from equipoise.core.errors import ConfigError
from equipoise.kernels.arrays import (
    arrays_by_name,
    check_array,
    check_axes,
    check_finite,
    check_generator,
    check_range,
    check_segments,
)
from equipoise.kernels.calls import check_integer
from equipoise.kernels.history import HistoryKernel
from equipoise.kernels.turns import OneCaller

__all__ = ["ChanceArrays", "ParametricKernel", "ParametricTables"]

IntArray = npt.NDArray[np.int32]
FloatArray = npt.NDArray[np.float64]
WordArray = npt.NDArray[np.uint64]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ChanceArrays:
    """What chance does, apart from what players do: groups of terminals before which chance did the same."""

    first_child: IntArray  # [groups+1] into `child`
    child: IntArray  # groups after one more outcome, above their parent's number
    probability: FloatArray  # of each child, given the group
    first_terminal: IntArray  # [groups+1] into `terminal`
    terminal: IntArray  # [Z] terminals by group


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ParametricTables:
    """What a run changes; of the terms the first is the constant."""

    regret_sum: FloatArray  # [Q, terms] coefficients of regrets
    strategy_sum: FloatArray  # [Q] weighted by own reach
    strategy: FloatArray  # [Q] what the next iteration plays
    realization: FloatArray  # [Q] own reach under it


class ParametricKernel:
    """A two-player zero-sum history tree with payoffs that depend on parameters, as the native module reads it."""

    def __init__(
        self,
        tree: HistoryKernel,
        *,
        terminal_sequence: IntArray,
        infoset_start: IntArray,
        first_sequence: IntArray,
        num_actions: IntArray,
        parent_sequence: IntArray,
        payoff: FloatArray,
        chance: FloatArray,
        groups: ChanceArrays,
    ) -> None:
        """Checks and binds the arrays.

        Args:
            tree: of the same arrays, which have been checked with it.
            terminal_sequence: `[2, Z]` as of the tree.
            infoset_start: `[3]` as of the tree.
            first_sequence: `[I]` as of the tree.
            num_actions: `[I]` as of the tree.
            parent_sequence: `[I]` as of the tree.
            payoff: `[Z, terms]` player 0's utility as coefficients of the terms.
            chance: `[Z]` probability of chance on the way to each terminal.
            groups: terminals by what chance did.
        """
        if tree.num_players != 2:
            raise ConfigError(f"payoffs depend on parameters in games of two players, got {tree.num_players}")
        check_axes("payoff", payoff, 2)
        check_array("payoff", payoff, np.float64, (tree.num_terminals, payoff.shape[1]))
        check_finite("payoff", payoff)
        check_array("chance", chance, np.float64, (tree.num_terminals,))
        self.tree, self.num_terms = tree, payoff.shape[1]
        self.num_sequences = tree.num_sequences
        _check_groups(groups, tree.num_terminals)
        self._form = _native.ParametricForm(
            {
                "terminal_sequence": terminal_sequence,
                "sequence_start": tree.sequence_start,
                "infoset_start": infoset_start,
                "first_sequence": first_sequence,
                "num_actions": num_actions,
                "parent_sequence": parent_sequence,
                "payoff": payoff,
                "weight": np.ascontiguousarray(payoff * chance[:, None]),
                **arrays_by_name(groups),
            }
        )
        self._one_caller = OneCaller("solver")

    def allocate_tables(self) -> ParametricTables:
        """Returns the tables of a run that has not begun; `play` forms its first strategy."""
        size = self.num_sequences
        return ParametricTables(
            regret_sum=np.zeros((size, self.num_terms)),
            strategy_sum=np.zeros(size),
            strategy=np.zeros(size),
            realization=np.zeros(size),
        )

    def iterate(
        self,
        tables: ParametricTables,
        term: FloatArray,
        num_iterations: int,
        *,
        is_alternating: bool,
        random_words: WordArray | None = None,
    ) -> None:
        """Runs iterations at the parameters whose terms are `term` `[terms]`; updates `tables` in place.

        Args:
            tables: of the run.
            term: values of the terms.
            num_iterations: each updates both players once.
            is_alternating: whether the second player sees the first one's update of the same iteration.
            random_words: `[4]` state of a generator from which chance is drawn, one path an update; None: all of it.
        """
        check_integer("num_iterations", num_iterations, 0)
        words = np.ones(4, np.uint64) if random_words is None else random_words
        check_generator(words)
        with self._one_caller:
            self._form.iterate(
                self._named(tables, term),
                term=term,
                num_iterations=num_iterations,
                is_alternating=is_alternating,
                is_sampled=random_words is not None,
                random=words,
            )

    def play(self, tables: ParametricTables, term: FloatArray) -> None:
        """Overwrites the strategy of `tables` by regret matching on the regrets at these terms."""
        with self._one_caller:
            self._form.play(self._named(tables, term), term=term)

    def _named(self, tables: ParametricTables, term: FloatArray) -> dict[str, npt.NDArray[Any]]:
        size = self.num_sequences
        check_array("term", term, np.float64, (self.num_terms,))
        check_array("regret_sum", tables.regret_sum, np.float64, (size, self.num_terms), is_written=True)
        for name in ("strategy_sum", "strategy", "realization"):
            check_array(name, getattr(tables, name), np.float64, (size,), is_written=True)
        return arrays_by_name(tables)


def _check_groups(groups: ChanceArrays, num_terminals: int) -> None:
    """Raises unless groups are a tree in which children come after their parents, and hold every terminal."""
    size = groups.first_child.size - 1
    for name, value, length in (
        ("first_child", groups.first_child, size + 1),
        ("child", groups.child, groups.probability.size),
        ("first_terminal", groups.first_terminal, size + 1),
        ("terminal", groups.terminal, num_terminals),
    ):
        check_array(name, value, np.int32, (length,))
    check_array("probability", groups.probability, np.float64, (groups.child.size,))
    check_segments("first_child", groups.first_child, groups.child.size)
    check_segments("first_terminal", groups.first_terminal, num_terminals)
    above = np.repeat(np.arange(size), np.diff(groups.first_child))
    check_range("child", groups.child, above + 1, size)
    check_range("terminal", groups.terminal, 0, num_terminals)
