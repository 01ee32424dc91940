# SPDX-License-Identifier: Apache-2.0
"""Tables of one hold'em tree on another of the same spot that merges fewer suits: each board takes its copy."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.games.holdem.isomorphism import hand_permutation
from equipoise.kernels.holdem.arrays import TILE
from equipoise.trees.holdem.tree import HoldemTree

__all__ = ["transfer_cells"]


def transfer_cells(source: HoldemTree, target: HoldemTree, table: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Returns `[C]` a table of `source` laid out as `target` has it; both of the same spot and betting.

    Raises `ConfigError` if `target` merges suits that `source` tells apart.
    """
    known = {bytes(row) for row in source.symmetries}
    if any(bytes(row) not in known for row in target.symmetries):
        raise ConfigError("the tables tell suits apart that the spot now merges")
    out = np.zeros(target.arrays.num_cells, table.dtype)
    for board, cards in enumerate(target.boards):
        there, relabelling = source.locate(cards)
        numbers = hand_permutation(relabelling, target.spot.deck)
        for player in (0, 1):
            row_of = np.full(target.spot.deck.num_hands, -1)
            row_of[source.hands[there][player]] = np.arange(source.hands[there][player].size)
            rows = row_of[numbers[target.hands[board][player]]]
            cells = _side_cells(source, there, player)
            out[_side_cells(target, board, player)] = table[cells[rows]]
    return out


def _side_cells(tree: HoldemTree, board: int, player: int) -> npt.NDArray[np.int64]:
    """Returns `[H, cells]` where tables keep a player's rows on a board, hands as in `tree.hands`."""
    fields = tree.arrays.board(board)
    num_cells = tree.arrays.street(fields.street).num_cells[player]
    tile, lane = np.divmod(np.arange(tree.hands[board][player].size), TILE)
    first = fields.first_cell[player] + tile * num_cells * TILE + lane
    return first[:, None] + TILE * np.arange(num_cells)
