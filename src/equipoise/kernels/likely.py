# SPDX-License-Identifier: Apache-2.0
"""Terminal values of a two-player history tree without its improbable branches."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

import equipoise._native as _native
from equipoise.core.errors import ConfigError
from equipoise.kernels.arrays import check_array, check_axes, check_finite, check_range
from equipoise.kernels.calls import check_player
from equipoise.kernels.history import HistoryKernel

__all__ = ["LikelyKernel"]

IntArray = npt.NDArray[np.int32]
FloatArray = npt.NDArray[np.float64]


class LikelyKernel:
    """The histories of a tree in depth-first order, walked only where chance and the opponent are likely to be."""

    def __init__(
        self,
        history: HistoryKernel,
        *,
        subtree_end: IntArray,
        last_sequence: IntArray,
        chance: FloatArray,
        terminal: IntArray,
    ) -> None:
        """Checks and binds the arrays.

        Args:
            history: the same tree in sequence form.
            subtree_end: `[N]` one past the last node below each node.
            last_sequence: `[2, N]` last sequence of each player on the way to a node.
            chance: `[N]` chance's probabilities on the way to a node, multiplied.
            terminal: `[N]` a node's place among terminals, -1 at other nodes.
        """
        if history.num_players != 2:
            raise ConfigError(f"walks over likely histories serve two players, got {history.num_players}")
        check_axes("subtree_end", subtree_end, 1)
        num_nodes = subtree_end.size
        check_array("subtree_end", subtree_end, np.int32, (num_nodes,))
        check_array("last_sequence", last_sequence, np.int32, (2, num_nodes))
        check_array("chance", chance, np.float64, (num_nodes,))
        check_array("terminal", terminal, np.int32, (num_nodes,))
        check_finite("chance", chance)
        # a walk ends, and stays inside what it reads
        check_range("subtree_end", subtree_end, np.arange(1, num_nodes + 1), num_nodes + 1)
        check_range("last_sequence", last_sequence, history.sequence_start[:-1, None], history.sequence_start[1:, None])
        check_range("terminal", terminal, -1, history.num_terminals)
        self.num_sequences = history.num_sequences
        self._form = history._form
        self._nodes = _native.HistoryNodes(
            {"subtree_end": subtree_end, "last_sequence": last_sequence, "chance": chance, "terminal": terminal}
        )

    def terminal_values(self, player: int, realization: FloatArray, least: float) -> tuple[int, FloatArray]:
        """Returns the number of nodes visited, and `[Q]` the player's terminal values on them.

        Args:
            player: whose values.
            realization: `[Q]` reach of the opponent's sequences.
            least: branches that chance and the opponent reach with less than this are left out; 0: none.
        """
        check_player(player, 2)
        check_array("realization", realization, np.float64, (self.num_sequences,))
        cfv = np.zeros(self.num_sequences)
        num_visited: int = _native.likely_terminal_values(
            self._form, self._nodes, player, least, realization=realization, cfv=cfv
        )
        return num_visited, cfv
