# SPDX-License-Identifier: Apache-2.0
"""Solved spots on disk, whole and in part, and what they say at single places."""

import dataclasses
import functools

import numpy as np
import pytest

from equipoise.core import checkpoint
from equipoise.core.checkpoint import CheckpointReader, Kind
from equipoise.core.errors import CheckpointError, ConfigError
from equipoise.core.reporting import Reporter
from equipoise.games.holdem.hands import parse_hand
from equipoise.games.holdem.line_notation import parse_decision
from equipoise.games.holdem.spot_file import parse_spot
from equipoise.runs.request import RunRequest
from equipoise.runs.spot_run import prepare_spot
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.driver import run
from equipoise.solvers.holdem.description import describe_spot_node
from equipoise.solvers.holdem.runouts import describe_runouts
from equipoise.solvers.holdem.solved_spot import SolvedSpot, make_locks
from equipoise.solvers.holdem.view import view_node
from equipoise.solvers.saved_run import RunConfig, RunRecord
from equipoise.trees.holdem.places import HoldemPlace
from equipoise.trees.holdem.tree import build_holdem_tree

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
    solver = CFRSolver(build_holdem_tree(file.spot, merges_suits=merges_suits), dtype=dtype)
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
    record = RunRecord(config=CONFIG, progress=records, stopped_by="iterations")
    SolvedSpot.save(path, record, file=file, tree=solver.tree, state=solver.state())
    return path


def test_a_run_goes_on_to_the_bit(name, tmp_path):
    file, whole, _ = solve(name, 12)
    _, half, records = solve(name, 5)
    record = RunRecord(config=CONFIG, progress=records, stopped_by=None)
    SolvedSpot.save(tmp_path / "half.eq", record, file=file, tree=half.tree, state=half.state())
    with SolvedSpot(tmp_path / "half.eq") as loaded:
        state = loaded.state
    assert (loaded.file, loaded.config, loaded.progress, loaded.stopped_by) == (file, CONFIG, records, None)
    other = CFRSolver(build_holdem_tree(loaded.file.spot))
    other.restore(state)
    other.iterate(7)
    for table, expected in other.state().items():
        np.testing.assert_array_equal(expected, whole.state()[table])


def lines_of(tree):
    """Returns a line to a decision of every street, with cards that no suit is merged with and some that are."""
    after_turn = "check, check, [Qs], check" if len(tree.spot.board) == 4 else "x, x, [Jc], x, x, [Jd], x"
    return ["", "check", "all-in", after_turn, after_turn.replace("[Qs]", "[Qh]").replace("[Jd]", "[Ah]")]


def look(tree, table, text):
    line = parse_decision(text, tree.betting, tree.spot.board, tree.spot.deck)
    return view_node(tree, table, line.board, line.node, kernel=None)


def test_boards_are_read_without_the_rest(name, path, monkeypatch):
    _, solver, _ = solved(name)
    read = []
    original = CheckpointReader.read_slice
    monkeypatch.setattr(
        CheckpointReader, "read_slice", lambda self, name, a, b: read.append(b - a) or original(self, name, a, b)
    )
    with SolvedSpot(path) as stored:
        for line in lines_of(solver.tree):
            ours = look(stored.tree, stored.strategy_sum, line)
            expected = look(solver.tree, solver.tables.strategy_sum, line)
            np.testing.assert_array_equal(ours.strategy, expected.strategy)
            for player in (0, 1):
                np.testing.assert_array_equal(ours.players[player].weights, expected.players[player].weights)
    assert 0 < sum(read) < solver.tree.arrays.num_cells / 2


def test_a_stored_table_is_the_array(path, name):
    _, solver, _ = solved(name)
    cells = np.array([[700, 3], [10, 500]])
    with SolvedSpot(path) as stored:
        np.testing.assert_array_equal(stored.strategy_sum[cells], solver.tables.strategy_sum[cells])
        np.testing.assert_array_equal(stored.strategy_sum.read(), solver.tables.strategy_sum)
        assert stored.strategy_sum.num_bytes == solver.tables.strategy_sum.nbytes


def test_values_need_the_whole_table(path, name):
    _, solver, _ = solved(name)
    with SolvedSpot(path) as stored:
        view = look(stored.tree, stored.strategy_sum, "")
        assert np.isnan(view.players[0].values).all()
        assert np.isnan(view.action_values).all()
        with pytest.raises(ConfigError, match="values need the whole table"):
            view_node(stored.tree, stored.strategy_sum, stored.tree.spot.board, 0, kernel=solver.kernel)
        whole = view_node(stored.tree, stored.strategy_sum.read(), stored.tree.spot.board, 0, kernel=solver.kernel)
    assert sum(player.value for player in whole.players) == pytest.approx(20)


def test_a_large_file_keeps_the_values_of_its_first_street(tmp_path, monkeypatch):
    monkeypatch.setattr("equipoise.solvers.holdem.solved_spot.LARGEST_READ_BYTES", 1000)
    monkeypatch.setattr("equipoise.runs.spot_run.LARGEST_READ_BYTES", 1000)
    run = prepare_spot(parse_spot(SPOTS["turn"]), RunRequest(iterations=20), Reporter())
    for _ in run.advance():
        pass
    run.save(tmp_path / "large.eq")
    with SolvedSpot(tmp_path / "large.eq") as stored:
        for line in ("", "check", "check, bet 50%", "all-in"):
            ours, expected = describe_spot_node(stored, line), run.describe_place(line)
            assert ours["has_values"]
            assert ours["action_ev"] == expected["action_ev"]
            assert [one["ev"] for one in ours["players"]] == [one["ev"] for one in expected["players"]]
        assert stored.views.kernel is None  # nothing was read whole
        with pytest.raises(ConfigError, match="whole table"):
            stored.views.view_best(HoldemPlace(0, stored.spot.board))


@pytest.fixture(scope="module")
def flop_run():
    run = prepare_spot(parse_spot(SPOTS["monotone"]), RunRequest(iterations=5), Reporter())
    for _ in run.advance():
        pass
    return run


def test_later_streets_of_a_large_file_have_values_from_their_own_boards(flop_run, tmp_path, monkeypatch):
    monkeypatch.setattr("equipoise.solvers.holdem.solved_spot.LARGEST_READ_BYTES", 1000)
    flop_run.save(tmp_path / "large.eq")
    with SolvedSpot(tmp_path / "large.eq") as stored:
        monkeypatch.setattr(type(stored.strategy_sum), "read", None)  # never whole
        for line in (
            "check, check, [Qs]",
            "check, check, [Qd], check",
            "check, check, [Qs], check, check, [9c], check",
        ):
            ours, expected = describe_spot_node(stored, line), flop_run.describe_place(line)
            assert ours == expected
            assert None not in ours["players"][0]["ev"]
        assert not describe_spot_node(stored, "")["has_values"]  # the file keeps none of the flop
        rivers = "check, check, [Qs], check, check"
        assert describe_runouts(stored, rivers) == flop_run.describe_runouts(rivers)
        assert not describe_runouts(stored, "check, check")["has_values"]


def test_cells_below_a_board_are_those_of_the_boards_that_follow(flop_run):
    arrays, own = flop_run.tree.arrays, [flop_run.tree.arrays.own_cells(player) for player in (0, 1)]
    first, num_children = arrays.board_field("first_child"), arrays.board_field("num_children")
    for board in (0, 1, 2, len(arrays.boards) - 1):
        below, last = [board], [board]
        while last:
            last = [child for one in last for child in range(first[one], first[one] + num_children[one])]
            below += last
        found = np.concatenate([np.arange(run.start, run.stop) for run in arrays.cells_below(board)])
        expected = [np.arange(cells[one].start, cells[one].stop) for one in below for cells in own]
        np.testing.assert_array_equal(found, np.sort(np.concatenate(expected)))


def test_frequencies_are_of_hands_that_come(name):
    _, solver, _ = solved(name)
    root, after = (look(solver.tree, solver.tables.strategy_sum, line) for line in ("", "check"))
    assert root.frequencies.sum() == pytest.approx(1.0)
    assert root.frequencies[0] == pytest.approx(after.players[0].odds.sum() / root.players[0].odds.sum())


def test_a_line_that_nobody_takes_has_no_frequencies():
    _, solver, _ = solved("turn")
    sums, tree = solver.tables.strategy_sum.copy(), solver.tree
    sums[tree.cells(0, 0)[:, 2]] = 0.0  # never all-in
    assert np.isnan(look(tree, sums, "all-in").frequencies).all()


def test_locks_are_those_of_the_file(tmp_path):
    text = SPOTS["turn"].replace(
        "[ranges]", '[[locks]]\nline = "check"\nhands = "QQ, AhQh"\nplay = {"bet 50%" = 0.75, check = 0.25}\n[ranges]'
    )
    file = parse_spot(text)
    locks = make_locks(file)
    tree = build_holdem_tree(file.spot, locks=locks)
    solver = CFRSolver(tree, locks=locks)
    records = tuple(run(solver, iterations=5))
    record = RunRecord(config=CONFIG, progress=records, stopped_by=None)
    SolvedSpot.save(tmp_path / "locked.eq", record, file=file, tree=tree, state=solver.state())
    with SolvedSpot(tmp_path / "locked.eq") as stored:
        assert len(stored.tree.boards) == len(tree.boards) == 49  # a lone AhQh tells clubs and hearts apart
        view = look(stored.tree, stored.strategy_sum, "check")
    rows = [view.players[1].hands.tolist().index(parse_hand(hand)) for hand in ("QsQh", "AhQh")]
    np.testing.assert_allclose(view.strategy[rows], [[0.25, 0.75, 0.0]] * 2, atol=1e-6)
    other = view.players[1].hands.tolist().index(parse_hand("AcQc"))
    assert abs(view.strategy[other][0] - 0.25) > 1e-3


@pytest.mark.parametrize("twentieth", range(0, 20, 3))
def test_truncated_files_are_refused(tmp_path, twentieth):
    path = save("turn", tmp_path / "spot.eq")
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) * twentieth // 20])
    with pytest.raises(CheckpointError, match=r"truncated|empty"):
        SolvedSpot(path)


def test_damage_is_found_where_it_is_read(tmp_path):
    path = save("turn", tmp_path / "spot.eq")
    whole = bytearray(path.read_bytes())
    whole[-100] ^= 4
    path.write_bytes(whole)
    with SolvedSpot(path) as solved, pytest.raises(CheckpointError, match="is corrupt"):
        _ = solved.state


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
    with pytest.raises(CheckpointError, match=message), SolvedSpot(path) as solved:
        _ = solved.tree


def test_another_kind_of_file_is_refused(tmp_path):
    checkpoint.save(tmp_path / "tree.eq", Kind.TREE, {}, {})
    with pytest.raises(CheckpointError, match="holds a tree, expected a spot"):
        SolvedSpot(tmp_path / "tree.eq")


def test_differences_name_what_is_not_common():
    other = dataclasses.replace(CONFIG, parameters={"board": "KsTs8s", "pot": "4"})
    assert CONFIG.differences(other) == ["parameters board=KsTs9s, asked for board=KsTs8s,pot=4"]
