# SPDX-License-Identifier: Apache-2.0
"""Sweeps over history trees in sequence form."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

import equipoise._native as _native
from equipoise.core.errors import ConfigError
from equipoise.kernels.arrays import check_array, check_axes, check_finite, check_range, check_segments
from equipoise.kernels.calls import check_player
from equipoise.kernels.sweeps import SweepKernel

__all__ = ["HistoryKernel"]

IntArray = npt.NDArray[np.int32]
FloatArray = npt.NDArray[np.float64]


class HistoryKernel(SweepKernel):
    """A history tree as the native module reads it; its cells are the sequences of all players."""

    def __init__(
        self,
        *,
        terminal_sequence: IntArray,
        weight: FloatArray,
        sequence_start: IntArray,
        infoset_start: IntArray,
        first_sequence: IntArray,
        num_actions: IntArray,
        parent_sequence: IntArray,
    ) -> None:
        """Checks and binds the arrays.

        Args:
            terminal_sequence: `[P, Z]` last sequence of each player at each terminal.
            weight: `[P, Z]` chance times utility, or `[1, Z]` player 0's for a two-player zero-sum tree.
            sequence_start: `[P+1]` segments of the shared numbering of sequences.
            infoset_start: `[P+1]` segments of the shared numbering of information sets.
            first_sequence: `[I]` first sequence of each information set.
            num_actions: `[I]` sequences of each information set.
            parent_sequence: `[I]` sequence above each information set.
        """
        super().__init__()
        for name, value, num_axes in (
            ("terminal_sequence", terminal_sequence, 2),
            ("weight", weight, 2),
            ("sequence_start", sequence_start, 1),
            ("num_actions", num_actions, 1),
        ):
            check_axes(name, value, num_axes)
        self.num_players, self.num_terminals = terminal_sequence.shape
        if not 1 <= self.num_players <= _native.MAX_PLAYERS:
            raise ConfigError(f"sweeps over histories serve 1 to {_native.MAX_PLAYERS} players, got {self.num_players}")
        self.num_infosets = self.num_rows = num_actions.size
        check_array("terminal_sequence", terminal_sequence, np.int32, terminal_sequence.shape)
        rows = 1 if weight.shape[0] == 1 and self.num_players == 2 else self.num_players
        check_array("weight", weight, np.float64, (rows, self.num_terminals))
        check_finite("weight", weight)
        for name, value, size in (
            ("sequence_start", sequence_start, self.num_players + 1),
            ("infoset_start", infoset_start, self.num_players + 1),
            ("first_sequence", first_sequence, self.num_rows),
            ("num_actions", num_actions, self.num_rows),
            ("parent_sequence", parent_sequence, self.num_rows),
        ):
            check_array(name, value, np.int32, (size,))
        self.num_sequences = self.num_cells = self.num_table_cells = int(sequence_start[-1])
        self.sequence_start = sequence_start
        self._check_forest(infoset_start, first_sequence, num_actions, parent_sequence)
        check_range("terminal_sequence", terminal_sequence, sequence_start[:-1, None], sequence_start[1:, None])
        self._form = _native.HistoryForm(
            {
                "terminal_sequence": terminal_sequence,
                "weight": weight,
                "sequence_start": sequence_start,
                "infoset_start": infoset_start,
                "first_sequence": first_sequence,
                "num_actions": num_actions,
                "parent_sequence": parent_sequence,
            }
        )

    def _check_forest(
        self, infoset_start: IntArray, first_sequence: IntArray, num_actions: IntArray, parent_sequence: IntArray
    ) -> None:
        """Raises unless players own segments, and every set's sequences come right after those of the set before."""
        check_segments("sequence_start", self.sequence_start, self.num_sequences, shortest=1)
        check_segments("infoset_start", infoset_start, self.num_rows)
        player = np.repeat(np.arange(self.num_players), np.diff(infoset_start))
        check_range("num_actions", num_actions, 1, self.num_sequences)
        end = np.cumsum(num_actions, dtype=np.int64) + player + 1  # every player's sequences open with the empty one
        check_range("first_sequence", first_sequence, end - num_actions, end - num_actions + 1)
        check_range("end of sequences", end, 0, self.sequence_start[player + 1] + 1)
        check_range("parent_sequence", parent_sequence, self.sequence_start[player], first_sequence)

    def biased_response(
        self, player: int, realization: FloatArray, model: FloatArray, trust: FloatArray
    ) -> tuple[float, FloatArray]:
        """Returns the value of the best strategy that follows a model with given probabilities, and it as `[Q]`.

        Args:
            player: who responds.
            realization: `[Q]` reach of the others.
            model: `[Q]` probabilities of actions.
            trust: `[I]` with which probability the model is followed at each information set.
        """
        check_array("model", model, np.float64, (self.num_table_cells,))
        check_array("trust", trust, np.float64, (self.num_rows,))
        cfv = self.terminal_values(player, realization)
        check_finite("realization", realization)
        best = np.zeros(self.num_table_cells)
        self._form.back_up_biased(player, model=model, trust=trust, cfv=cfv, best=best)
        return self.root_value(player, realization, cfv), best

    def root_value(self, player: int, realization: FloatArray, cfv: FloatArray) -> float:
        """Returns the counterfactual value of the player's empty sequence, whose reach is one."""
        check_player(player, self.num_players)
        return float(cfv[self.sequence_start[player]])

    def _root_cells(self, player: int) -> IntArray:
        return self.sequence_start[player : player + 1]

    def root_reach(self) -> FloatArray:
        """Returns `[Q]` a reach of one at empty sequences."""
        reach = np.zeros(self.num_cells)
        reach[self.sequence_start[:-1]] = 1.0
        return reach

    def is_own(self, player: int) -> npt.NDArray[np.bool_]:
        """Returns `[Q]` which sequences are a player's."""
        check_player(player, self.num_players)
        cells = np.arange(self.num_cells)
        own: npt.NDArray[np.bool_] = (self.sequence_start[player] <= cells) & (cells < self.sequence_start[player + 1])
        return own

    def normalize(self, sums: FloatArray) -> FloatArray:
        """Returns `[Q]` normalised sums as every form does, and 1 at empty sequences."""
        out = super().normalize(sums)
        out[self.sequence_start[:-1]] = 1.0
        return out
