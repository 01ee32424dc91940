# SPDX-License-Identifier: Apache-2.0
"""Leaves of a hold'em street: what wrappers refuse before native code follows it."""

import dataclasses

import numpy as np
import pytest

from equipoise.games.holdem.cards import DECKS, parse_board
from equipoise.games.holdem.menu_notation import parse_menu
from equipoise.games.holdem.ranges import Range
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.kernels.holdem.leaf_tables import LeafLine, add_leaf_values
from equipoise.kernels.holdem.leaves import HoldemLeaves, LeafTables
from equipoise.kernels.holdem.sweeps import HoldemKernel
from equipoise.search.holdem.depth_limit import limit_depth
from equipoise.trees.holdem.tree import build_holdem_tree
from equipoise.trees.vector import TreeStrategy

DECK = DECKS["tiny"]
SPOT = HoldemSpot(
    deck=DECK,
    board=parse_board("ThJsQhKs", DECK),
    pot=20,
    big_blind=2,
    stacks=(30, 30),
    menu=parse_menu("a"),
    ranges=(Range.random(DECK), Range.random(DECK)),
)
TREE = build_holdem_tree(SPOT)
SUMS = np.ones(TREE.arrays.num_cells)
LIMITED = limit_depth(SPOT, TreeStrategy(tree=TREE, sums=SUMS), 0, dtype=np.float64)
TABLES = LIMITED.frontier.tables
ARRAYS = LIMITED.tree.arrays
LINE = LeafLine(0, 0, 2, 0, 2, 0, 3, 0, 2)
ROWS = ARRAYS.num_rows(0, 0)
RIVERS = np.flatnonzero(TREE.arrays.boards[:, 0] == 1).astype(np.int32)


def change(**fields):
    return dataclasses.replace(TABLES, **fields)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"lines": TABLES.lines[:-1]}, "must have shape|leaves of all tables"),
        ({"scale": TABLES.scale.astype(np.float32)}, "scale must have dtype float64"),
        ({"tables": TABLES.tables + 1}, "first leaves of tables|leaves of all tables"),
        ({"tables": TABLES.tables * np.array([1, 1, 0, 1], np.int32)}, "choices"),
        ({"entries": (TABLES.entries[0][:-1], TABLES.entries[1])}, r"entries\[0\]"),
        ({"entries": tuple(part.astype(np.int32) for part in TABLES.entries)}, "entries must be float32"),
        ({"entries": tuple(part.astype(np.int16) for part in TABLES.entries)}, r"unit\[0\]"),
    ],
)
def test_tables_that_do_not_fit_are_refused(fields, message):
    with pytest.raises((TypeError, ValueError), match=message):
        HoldemLeaves(change(**fields))


def test_leaves_belong_to_one_street():
    HoldemKernel(ARRAYS, leaves=HoldemLeaves(TABLES))
    with pytest.raises(ValueError, match="is_last"):
        HoldemKernel(ARRAYS)
    with pytest.raises(ValueError, match="is_last"):
        HoldemKernel(TREE.arrays, leaves=HoldemLeaves(TABLES))
    twice, outside = TABLES.lines.copy(), TABLES.lines.copy()
    twice[0] = twice[1]
    outside[0] = 8 * ARRAYS.streets[0, 6]
    for lines, message in ((twice, "must be different"), (outside, "lines of leaves")):
        with pytest.raises(ValueError, match=message):
            HoldemKernel(ARRAYS, leaves=HoldemLeaves(change(lines=lines)))
    few = LeafTables(
        tables=TABLES.tables,
        lines=TABLES.lines,
        scale=TABLES.scale,
        num_rows=(ROWS - 8, ROWS),
        entries=tuple(np.zeros(part.size * (ROWS - 8) // ROWS) for part in TABLES.entries),
        unit=TABLES.unit,
    )
    with pytest.raises(ValueError, match="rows of player 0"):
        HoldemKernel(ARRAYS, leaves=HoldemLeaves(few))


def call(**changes):
    """Calls the kernel with one argument changed."""
    cells = TREE.arrays.streets[1, 2:4].tolist()
    arguments = {
        "sums": SUMS,
        "kinds": [np.zeros(count, np.uint8) for count in cells],
        "weights": [np.ones((1, 3)), np.ones((1, 3))],
        "line": LINE,
        "player": 0,
        "boards": RIVERS,
        "rows": [np.full((RIVERS.size, ROWS), -1, np.int32)] * 2,
        "out": np.zeros((1, ROWS, 1, ROWS)),
        **changes,
    }
    add_leaf_values(HoldemKernel(TREE.arrays), **arguments)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"player": 2}, "player"),
        ({"sums": SUMS[:-1]}, "sums"),
        ({"sums": SUMS.astype(np.int16)}, "sums must have dtype float32 or float64 or uint16, got int16"),
        ({"out": np.zeros((1, ROWS, 1, ROWS), np.int16)}, "out must have dtype float32 or float64, got int16"),
        ({"boards": np.zeros(RIVERS.size, np.int32)}, "streets of boards"),
        ({"kinds": [np.full(count, 3, np.uint8) for count in TREE.arrays.streets[1, 2:4].tolist()]}, "kinds"),
        ({"weights": [np.ones((2, 3)), np.ones((1, 3))]}, "out must be"),
        ({"rows": [np.full((RIVERS.size, ROWS), 999, np.int32)] * 2}, r"rows\[0\]"),
        ({"line": LINE._replace(end_flat=999)}, "end of showdowns"),
        ({"line": LINE._replace(line=99)}, "line"),
        ({"out": np.zeros((1, ROWS, ROWS))}, "out must be"),
    ],
)
def test_calls_that_do_not_fit_are_refused(changes, message):
    call()
    with pytest.raises((TypeError, ValueError), match=message):
        call(**changes)
