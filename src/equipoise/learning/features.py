# SPDX-License-Identifier: Apache-2.0
"""Information states as numbers for networks, read off their texts: any game has them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from equipoise.trees.history import HistoryTree

__all__ = ["PlayerTables", "encode_texts", "lay_out_players"]

FloatArray = npt.NDArray[np.float64]


def encode_texts(texts: Sequence[str]) -> FloatArray:
    """Returns `[I, F]` zeros and ones: which character stands at which place of which word of each text.

    Words are what other characters than letters and digits separate. That tells all texts apart that differ in
    letters and digits, and puts the same thing at the same place: in poker a card, then a round of betting, and so on.

    >>> encode_texts(["J|", "Q|", "Q|b"])
    array([[1., 0., 0.],
           [0., 1., 0.],
           [0., 1., 1.]])
    """
    marks = [
        {(k, place, letter) for k, word in enumerate(re.split(r"\W", text)) for place, letter in enumerate(word)}
        for text in texts
    ]
    columns = {mark: column for column, mark in enumerate(sorted(set().union(*marks)))}
    out = np.zeros((len(texts), len(columns)))
    for row, own in zip(out, marks, strict=True):
        row[[columns[mark] for mark in own]] = 1.0
    return out


class PlayerTables(NamedTuple):
    """A tree's information sets by player, N of each (the fewer ones padded), and the place of every sequence there."""

    features: FloatArray  # [P, N, F]
    is_legal: npt.NDArray[np.bool_]  # [P, N, A]
    sequence: npt.NDArray[np.int64]  # [K] sequences of decisions
    cell: npt.NDArray[np.int64]  # [K] place of each in a table [P, N, A]
    infoset_row: npt.NDArray[np.int64]  # [I] place of each information set among its player's


def lay_out_players(tree: HistoryTree, features: FloatArray | None = None) -> PlayerTables:
    """Returns a tree's information sets by player.

    Args:
        tree: whose information sets.
        features: `[I, F]` in the place of what their texts say.
    """
    if features is None:
        features = encode_texts(tree.infoset_labels)
    player, sizes = tree.infoset_player(), np.diff(tree.infoset_start)
    row = np.arange(player.size) - tree.infoset_start[player]
    num_rows, num_actions = int(sizes.max(initial=1)), int(tree.num_actions.max(initial=1))
    stacked = np.zeros((tree.num_players, num_rows, features.shape[1]))
    stacked[player, row] = features
    owner = tree.sequence_infoset()
    sequence = np.flatnonzero(owner >= 0)
    owner = owner[sequence]
    cell = (player[owner] * num_rows + row[owner]) * num_actions + sequence - tree.first_sequence[owner]
    is_legal = np.zeros((tree.num_players, num_rows, num_actions), np.bool_)
    is_legal.reshape(-1)[cell] = True
    is_legal[~is_legal.any(axis=-1), 0] = True  # padding: a softmax needs an action
    return PlayerTables(stacked, is_legal, sequence, cell.astype(np.int64), row.astype(np.int64))
