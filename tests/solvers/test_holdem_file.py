# SPDX-License-Identifier: Apache-2.0
"""Solved spots on disk, whole and in part, and what they say at single places."""

import dataclasses
import functools

import numpy as np
import pytest

from equipoise.core import checkpoint
from equipoise.core.checkpoint import CheckpointReader, Kind
from equipoise.core.errors import CheckpointError, ConfigError
from equipoise.games.holdem.cards import parse_board
from equipoise.games.holdem.equity import compute_equity
from equipoise.games.holdem.hands import hands_of, parse_hand
from equipoise.games.holdem.spot_file import parse_spot
from equipoise.solvers.driver import run
from equipoise.solvers.holdem import HoldemSolver
from equipoise.solvers.holdem_file import SavedSpot, StoredSpot, StoredTable
from equipoise.solvers.saved_run import RunConfig
from equipoise.solvers.spot_view import find_board, view_node
from equipoise.trees.holdem import build_holdem_tree

SPOTS = {
    "turn": """
        board = "Ks7s2s5d"
        pot = 20
        stacks = 40
        big_blind = 2
        menu = "50%, a / a"
        [ranges]
        oop = "AA, KK, AK, QJs, 76s"
        ip = "QQ, 77, AQ, KQ:0.5, T9s"
        """,
    "monotone": """
        board = "KsTs9s"
        deck = "9TJQKA/cdhs"
        pot = 20
        stacks = [20, 30]
        big_blind = 2
        menu = "100%, a / a"
        [ranges]
        oop = "AA, AQ, QJ, TT"
        ip = "random"
        """,
}
CONFIG = RunConfig(
    game="spot",
    parameters={"board": "KsTs9s"},
    game_version=1,
    method="cfr",
    form="board",
    rule="dcfr",
    updates="alternating",
    seed=0,
    threads=1,
)


def solve(name, iterations, *, merges_suits=True, dtype=np.float32):
    file = parse_spot(SPOTS[name])
    solver = HoldemSolver(build_holdem_tree(file.spot, merges_suits=merges_suits), dtype=dtype)
    records = tuple(run(solver, iterations=iterations))
    return file, solver, records


solved = functools.cache(lambda name: solve(name, 40, dtype=np.float64))


@pytest.fixture(params=SPOTS)
def name(request):
    return request.param


@pytest.fixture
def path(tmp_path, name):
    return save(name, tmp_path / "spot.eq")


def save(name, path):
    file, solver, records = solved(name)
    saved = SavedSpot(file=file, config=CONFIG, progress=records, stopped_by="iterations", state=solver.state())
    saved.save(path, solver.tree)
    return path


def test_a_run_goes_on_to_the_bit(name, tmp_path):
    file, whole, _ = solve(name, 12)
    _, half, records = solve(name, 5)
    SavedSpot(file=file, config=CONFIG, progress=records, stopped_by=None, state=half.state()).save(
        tmp_path / "half.eq", half.tree
    )
    loaded = SavedSpot.load(tmp_path / "half.eq")
    assert (loaded.file, loaded.config, loaded.progress, loaded.stopped_by) == (file, CONFIG, records, None)
    other = HoldemSolver(build_holdem_tree(loaded.file.spot))
    other.restore(loaded.state)
    other.iterate(7)
    for table, expected in other.state().items():
        np.testing.assert_array_equal(expected, whole.state()[table])


def lines_of(tree):
    """Returns a line to a decision of every street, with cards that no suit is merged with and some that are."""
    after_turn = (
        "check, check, [Qs], check" if len(tree.spot.board) == 4 else "check, check, [Jc], check, check, [Jd], check"
    )
    return ["", "check", "all-in", after_turn, after_turn.replace("[Qs]", "[Qh]").replace("[Jd]", "[Ah]")]


def test_boards_are_read_without_the_rest(name, path, monkeypatch):
    _, solver, _ = solved(name)
    read = []
    original = CheckpointReader.read_slice
    monkeypatch.setattr(
        CheckpointReader, "read_slice", lambda self, name, a, b: read.append(b - a) or original(self, name, a, b)
    )
    with StoredSpot(path) as stored:
        for line in lines_of(solver.tree):
            ours = view_node(stored.tree, stored.strategy_sum, line)
            expected = view_node(solver.tree, solver.tables.strategy_sum, line)
            np.testing.assert_array_equal(ours.strategy, expected.strategy)
            np.testing.assert_array_equal(ours.reach, expected.reach)
    assert sum(read) < solver.tree.arrays.num_cells / 2


def test_a_stored_table_is_the_array(path, name):
    _, solver, _ = solved(name)
    with StoredSpot(path) as stored:
        assert isinstance(stored.strategy_sum, StoredTable)
        np.testing.assert_array_equal(stored.strategy_sum[10:500], solver.tables.strategy_sum[10:500])
        np.testing.assert_array_equal(stored.strategy_sum[:], solver.tables.strategy_sum)


def test_merged_suits_are_told_apart_again(name):
    _, merged, _ = solved(name)
    _, plain, _ = solve(name, 40, merges_suits=False, dtype=np.float64)
    assert len(merged.tree.boards) < len(plain.tree.boards)
    for line in lines_of(merged.tree):
        ours = view_node(merged.tree, merged.tables.strategy_sum, line)
        expected = view_node(plain.tree, plain.tables.strategy_sum, line)
        is_there = ours.weights > 1e-6
        assert is_there.any()
        np.testing.assert_allclose(ours.strategy[is_there], expected.strategy[is_there], atol=1e-6)
        np.testing.assert_allclose(ours.reach, expected.reach, atol=1e-6)


def test_every_board_stands_for_itself(name):
    tree = solved(name)[1].tree
    for index, cards in enumerate(tree.boards):
        found, stand_in = find_board(tree, cards)
        assert found == index
        np.testing.assert_array_equal(stand_in, np.arange(tree.spot.deck.num_hands))


def test_reach_is_the_range_times_own_play(name):
    _, solver, _ = solved(name)
    root = view_node(solver.tree, solver.tables.strategy_sum, "")
    after = view_node(solver.tree, solver.tables.strategy_sum, "check")
    assert root.player == 0
    assert after.player == 1
    assert root.actions[0] == "check"
    np.testing.assert_array_equal(root.reach[1], after.reach[1])
    np.testing.assert_allclose(after.reach[0], root.reach[0] * np.nan_to_num(root.strategy[:, 0]))
    np.testing.assert_allclose(root.reach[0], solver.tree.spot.live_weights(0))
    assert root.frequencies.sum() == pytest.approx(1.0)
    assert root.frequencies[0] == pytest.approx(after.weights.sum() / view_weights(root, 1))


def view_weights(view, player):
    hands = hands_of(view.tree.spot.deck)
    return view.reach[player] @ hands.compatible(view.reach[1 - player])


def test_equities_are_those_of_the_ranges(name):
    _, solver, _ = solved(name)
    spot = solver.tree.spot
    view = view_node(solver.tree, solver.tables.strategy_sum, "")
    expected = compute_equity(*spot.ranges, spot.board, spot.deck).hand_equities
    np.testing.assert_allclose(view.equities, expected)


def test_a_line_that_nobody_takes_has_no_frequencies():
    file, solver, _ = solved("turn")
    sums = solver.tables.strategy_sum.copy()
    tree = solver.tree
    decision = tree.decisions[0]
    table = sums[: tree.arrays.num_rows(0, 0) * tree.arrays.streets[0, 2]].reshape(-1, tree.arrays.streets[0, 2], 8)
    table[:, decision.first_cell + 2] = 0.0  # never all-in
    view = view_node(tree, sums, "all-in")
    assert np.isnan(view.frequencies).all()
    assert np.isnan(view.equities).all()
    assert file.spot == tree.spot


def test_hands_that_are_not_there_are_not_a_number():
    _, solver, _ = solved("turn")
    view = view_node(solver.tree, solver.tables.strategy_sum, "")
    assert np.isnan(view.strategy[parse_hand("3c3d")]).all()
    assert np.isnan(view.strategy[parse_hand("KsAs")]).all()
    assert view.strategy[parse_hand("AhAs")].sum() == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("line", "message"),
    [("check, check", "it is a street end; add the next card"), ("all-in, fold", "it is a fold")],
)
def test_places_where_nobody_acts_are_refused(line, message):
    _, solver, _ = solved("turn")
    with pytest.raises(ConfigError, match=message):
        view_node(solver.tree, solver.tables.strategy_sum, line)


@pytest.mark.parametrize("twentieth", range(0, 20, 3))
@pytest.mark.parametrize("read", [SavedSpot.load, StoredSpot])
def test_truncated_files_are_refused(tmp_path, twentieth, read):
    path = save("turn", tmp_path / "spot.eq")
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) * twentieth // 20])
    with pytest.raises(CheckpointError, match=r"truncated|empty"):
        read(path)


def test_damage_is_found_where_it_is_read(tmp_path):
    path = save("turn", tmp_path / "spot.eq")
    whole = bytearray(path.read_bytes())
    whole[-100] ^= 4
    path.write_bytes(whole)
    with pytest.raises(CheckpointError, match="is corrupt"):
        SavedSpot.load(path)


def rewrite(path, *, metadata=None, arrays=None):
    content = checkpoint.load(path)
    checkpoint.save(path, Kind.SPOT, {**content.metadata, **(metadata or {})}, {**content.arrays, **(arrays or {})})


@pytest.mark.parametrize(
    ("metadata", "arrays", "message"),
    [
        ({"spot": "board = 3"}, {}, "does not describe its spot"),
        ({"spot": None}, {}, "does not describe its spot"),
        ({"progress": []}, {}, "without a single record"),
        ({}, {"layout.hands": np.arange(3)}, r"keeps its tables in another order \(layout.hands\)"),
        ({}, {"state.strategy_sum": np.zeros(3)}, "has 3 numbers in its strategy, its spot has"),
    ],
)
def test_files_that_do_not_fit_their_spot_are_refused(tmp_path, metadata, arrays, message):
    path = save("turn", tmp_path / "spot.eq")
    rewrite(path, metadata=metadata, arrays=arrays)
    with pytest.raises(CheckpointError, match=message):
        StoredSpot(path)


def test_another_kind_of_file_is_refused(tmp_path):
    checkpoint.save(tmp_path / "tree.eq", Kind.TREE, {}, {})
    with pytest.raises(CheckpointError, match="holds a tree, expected a spot"):
        StoredSpot(tmp_path / "tree.eq")


def test_differences_name_what_is_not_common():
    other = dataclasses.replace(CONFIG, parameters={"board": "KsTs8s", "pot": "4"})
    assert CONFIG.differences(other) == ["parameters board=KsTs9s, asked for board=KsTs8s,pot=4"]


def test_boards_of_other_cards_are_found_by_their_suits():
    tree = solved("monotone")[1].tree
    board = parse_board("KsTs9sJdAh", tree.spot.deck)
    index, stand_in = find_board(tree, board)
    assert tree.boards[index] != board
    hands = hands_of(tree.spot.deck)
    blocked_there = hands.blocked(tree.boards[index])
    np.testing.assert_array_equal(hands.blocked(board), blocked_there[stand_in])
