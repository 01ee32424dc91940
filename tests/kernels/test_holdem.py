# SPDX-License-Identifier: Apache-2.0
"""The wrapper over hold'em sweeps refuses arrays that would lead native code astray."""

import dataclasses

import numpy as np
import pytest

from equipoise.games.holdem.cards import DECKS
from equipoise.kernels.holdem.arrays import TILE, BoardFields, StreetFields
from equipoise.kernels.holdem.sweeps import HoldemKernel, HoldemLocks, HoldemTables, SubstituteWeights
from equipoise.solvers.rules import CFR, Hedge, tabulate_discounts
from equipoise.trees.holdem.tree import build_holdem_tree
from tests.solvers.test_holdem import spot

TREE = build_holdem_tree(
    spot("9hThQh", "AA, KQ, 99|QQ, AJ", menu="a", deck=DECKS["small"], pot=20, stacks=(60, 60)), merges_suits=False
)
ARRAYS = TREE.arrays
LAST_BOARD = len(ARRAYS.boards) - 1
STREET, BOARD = StreetFields._fields.index, BoardFields._fields.index


def change(name, place, value):
    """Returns the arrays of the tree with one number changed."""
    changed = getattr(ARRAYS, name).copy()
    changed[place] = value
    return dataclasses.replace(ARRAYS, **{name: changed})


@pytest.mark.parametrize(
    ("name", "place", "value", "message"),
    [
        ("streets", (0, STREET("num_lines")), 2, "num_lines must be at least 1 and below 2, got 2"),
        ("streets", (1, STREET("num_lines")), 999, "num_lines must be at least 0 and below .*, got 999"),
        ("streets", (0, STREET("is_last")), 1, "is_last must be at least 0 and below 1, got 1"),
        ("streets", (2, STREET("num_cells_1")), 0, "first cells of decisions must be"),
        ("nodes", (0, 0), -1, "first cells of decisions must be at least 0 and below .*, got -1"),
        ("nodes", (0, 1), 65, "actions of decisions must be at least 1 and below 65, got 65"),
        ("nodes", (0, 2), 1, "slots of decisions must be at least 0 and below 1, got 1"),
        ("flat_slot", 0, 10**6, "flat_slot must be at least 0 and below .*, got 1000000 at place 0"),
        ("fold_slot", -1, -1, "fold_slot must be at least 0 and below .*, got -1"),
        ("boards", (0, BOARD("street")), 1, "street of the first board must be"),
        ("boards", (LAST_BOARD, BOARD("street")), 3, "streets of boards must be at least 0 and below 3, got 3"),
        ("boards", (1, BOARD("street")), 0, "streets of boards must be at least 1 and below 2, got 0"),
        ("boards", (0, BOARD("first_child")), 0, "first children of boards must be at least 1 and below 2, got 0"),
        ("boards", (0, BOARD("num_children")), -1, "children of boards must be at least 0"),
        ("boards", (LAST_BOARD, BOARD("num_children")), 1, "children of all boards must be"),
        ("boards", (3, BOARD("num_hands_0")), 99, "hands of all boards must be"),
        ("boards", (3, BOARD("first_hand_1")), 0, "first_hand of boards must be at least .*, got 0 at place 3, 1"),
        ("boards", (3, BOARD("first_cell_0")), 8, "first_cell of boards must be at least .*, got 8 at place 3, 0"),
        ("cards", (5, 1), 52, "cards must be at least 0 and below 52, got 52 at place 5, 1"),
        ("same_hand", 0, -2, "same_hand must be at least -1 and below .*, got -2 at place 0"),
        ("same_hand", -1, 1000, "same_hand must be at least -1 and below .*, got 1000"),
        ("parent_row", -1, 1000, "parent_row must be at least 0 and below .*, got 1000"),
        ("value_row", 0, -1, "value_row must be at least 0 and below .*, got -1 at place 0"),
    ],
)
def test_indices_out_of_range_are_refused(name, place, value, message):
    with pytest.raises(ValueError, match=message):
        HoldemKernel(change(name, place, value))


def test_rows_of_a_smaller_board_are_refused():
    # a row that the root has and the last board has not
    num_hands = ARRAYS.boards[LAST_BOARD, BOARD("num_hands_1")]
    assert num_hands < ARRAYS.boards[0, BOARD("num_hands_1")]
    with pytest.raises(ValueError, match=f"value_row must be at least 0 and below {num_hands}, got {num_hands}"):
        HoldemKernel(change("value_row", -1, num_hands))


@pytest.mark.parametrize(
    ("field", "place", "value", "message"),
    [
        ("tile_start", -1, 2, "tile_start must go from 0 to 1, got 0 to 2"),
        ("entries", (0, 1), 1 << TILE, "hands of locks must be at least 1 and below 256, got 256"),
        ("entries", (0, 2), 4 * TILE, "first numbers of locks must be at least 0"),
    ],
)
def test_locks_out_of_range_are_refused(field, place, value, message):
    tile_start = np.ones(ARRAYS.cards.shape[0] // TILE + 1, np.int32)
    tile_start[0] = 0
    arrays = {"tile_start": tile_start, "entries": np.array([[0, 1, 0]], np.int32), "strategy": np.zeros(2 * TILE)}
    arrays |= {"cells": np.zeros(0, np.int64), "probabilities": np.zeros(0)}
    HoldemKernel(ARRAYS, HoldemLocks(**arrays))
    arrays[field][place] = value
    with pytest.raises(ValueError, match=message):
        HoldemKernel(ARRAYS, HoldemLocks(**arrays))


@pytest.mark.parametrize(
    ("dtype", "owner", "message"),
    [
        (np.int16, Hedge(), "Hedge's scales and steps are floats, got tables of int16"),
        (np.float32, CFR(), "scale must have shape"),
    ],
)
def test_tables_that_hedge_cannot_use_are_refused(dtype, owner, message):
    tables = HoldemTables.allocate(ARRAYS, dtype, owner.kernel)
    rows = tabulate_discounts(Hedge(), 1, 1)
    with pytest.raises(ValueError, match=message):
        HoldemKernel(ARRAYS).iterate(Hedge().kernel, rows, tables, first_t=1, is_alternating=True, num_threads=1)


def test_substitutes_refuse_tables_that_they_cannot_write():
    kernel, rows = HoldemKernel(ARRAYS), np.zeros(ARRAYS.num_node_rows, np.float32)
    sums = np.zeros(ARRAYS.num_cells, np.float32)
    with pytest.raises(TypeError, match="tables must have dtype float32 or float64, got uint16"):
        kernel.row_values(sums.astype(np.uint16))
    with pytest.raises(ValueError, match="bound must have shape"):
        kernel.substitute(sums, rows[1:].copy(), 0.5)
    with pytest.raises(ValueError, match="factor must be at least 0 and finite, got -1"):
        kernel.substitute(sums, rows, -1.0)
    tables = HoldemTables.allocate(ARRAYS, np.float32, CFR().kernel)
    broken = dataclasses.replace(tables, regret_sum=np.zeros(ARRAYS.num_cells, np.float64))
    with pytest.raises(TypeError, match="regret_sum must have dtype float32, got float64"):
        kernel.write_substitutes(rows, 0.5, SubstituteWeights(1.0, 1.0, 1.0, 0.0, False), broken)
