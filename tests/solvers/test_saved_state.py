# SPDX-License-Identifier: Apache-2.0
"""Every solver refuses a state with something missing or misshapen, by name, and stays as it was."""

import numpy as np
import pytest

from equipoise.core.errors import CheckpointError
from equipoise.games.registry import make_game
from equipoise.solvers import saved_state
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.egt import EGTSolver
from equipoise.solvers.fictitious_play import FictitiousPlaySolver
from equipoise.solvers.lp_run import SequenceLPRun
from equipoise.solvers.mccfr import MCCFRSolver
from equipoise.solvers.rules import DCFR, Hedge, PredictiveCFRPlus
from equipoise.solvers.saved_state import encode_json, overwrite_tables, read_count, read_number
from equipoise.solvers.treeless_mccfr import TreelessMCCFRSolver
from equipoise.trees.derive import derive_public_game
from equipoise.trees.history import build_history_tree
from equipoise.trees.holdem.tree import build_holdem_tree
from equipoise.trees.public import build_public_tree
from tests.reference.holdem import spot_of

KUHN, LEDUC = make_game("kuhn"), make_game("leduc", ranks=2)
KUHN_TREE = build_history_tree(KUHN)
RIVER = make_game("holdem_endgame", deck="tiny", board="ThTsJhQsKh", stacks=(40, 40), menu="50%, a / a")
SOLVERS = {
    "cfr": lambda: CFRSolver(KUHN_TREE, PredictiveCFRPlus()),
    "hedge": lambda: CFRSolver(build_public_tree(derive_public_game(KUHN)), Hedge()),
    "holdem": lambda: CFRSolver(build_holdem_tree(spot_of(RIVER)), PredictiveCFRPlus()),
    "fp": lambda: FictitiousPlaySolver(KUHN_TREE),
    "egt": lambda: EGTSolver(KUHN_TREE),
    "lp": lambda: SequenceLPRun(KUHN_TREE),
    "mccfr": lambda: MCCFRSolver(KUHN_TREE, rng=np.random.default_rng(1)),
    "treeless": lambda: TreelessMCCFRSolver(KUHN, rng=np.random.default_rng(1)),
}
by_solver = pytest.mark.parametrize("make", SOLVERS.values(), ids=SOLVERS.keys())


def copy_state(solver):
    return {name: array.copy() for name, array in solver.state().items()}


def check_is_refused(make, name, state):
    """Asserts that a state is refused because of `name`, and that the run has not changed."""
    solver = make()
    before = copy_state(solver)
    with pytest.raises(CheckpointError, match=f"^saved {name} must"):
        solver.restore(state)
    for table, array in before.items():
        np.testing.assert_array_equal(solver.state()[table], array, err_msg=table)


@pytest.fixture(params=SOLVERS.values(), ids=SOLVERS.keys())
def saved(request):
    solver = request.param()
    solver.iterate(3)
    return request.param, copy_state(solver)


def test_a_state_with_something_missing_is_refused(saved):
    make, state = saved
    for name in state:
        check_is_refused(make, name, {key: array for key, array in state.items() if key != name})


def test_a_state_of_another_shape_is_refused(saved):
    make, state = saved
    for name, array in state.items():
        check_is_refused(make, name, {**state, name: np.concatenate([np.ravel(array), np.ravel(array), [1]])})


def test_a_state_of_another_dtype_is_refused(saved):
    make, state = saved
    for name, array in state.items():
        check_is_refused(make, name, {**state, name: array.astype(np.complex64)})


@by_solver
def test_a_whole_state_is_taken_over(make):
    first, second = make(), make()
    first.iterate(3)
    second.restore(copy_state(first))
    assert second.iteration == first.iteration
    assert {name: array.tobytes() for name, array in second.state().items()} == {
        name: array.tobytes() for name, array in first.state().items()
    }


TURN = make_game("holdem_endgame", deck="tiny", board="ThTsJhKs", stacks=(40, 30), menu="100%, a / a")
TEAMS = {
    "history": lambda threads: CFRSolver(build_history_tree(LEDUC), DCFR(), num_threads=threads),
    "public": lambda threads: CFRSolver(build_public_tree(derive_public_game(LEDUC)), DCFR(), num_threads=threads),
    "holdem": lambda threads: CFRSolver(build_holdem_tree(spot_of(TURN)), DCFR(), num_threads=threads),
}


@pytest.mark.usefixtures("any_team")
@pytest.mark.parametrize("make", TEAMS.values(), ids=TEAMS.keys())
def test_a_run_goes_on_to_the_bit_with_other_threads(make):
    straight = make(1)
    straight.iterate(20)
    before, after = make(3), make(2)
    before.iterate(8)
    after.restore(copy_state(before))
    after.iterate(12)
    for name, table in straight.state().items():
        np.testing.assert_array_equal(table, after.state()[name], err_msg=name)


def test_a_state_of_another_tree_is_refused():
    state = CFRSolver(KUHN_TREE, DCFR()).state()
    with pytest.raises(
        CheckpointError, match=r"saved regret_sum must have shape \(\d+,\) of float64, got shape \(26,\)"
    ):
        CFRSolver(build_history_tree(LEDUC), DCFR()).restore(state)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("player", np.int8([2] * 12), "saved player must be from 0 to 1, got 2 to 2"),
        ("menu", np.int32([-1] * 12), "saved menu must be from 0 to 1, got -1 to -1"),
        ("menus", encode_json([["Pass", 1]]), "saved menus a list of such lists"),
        ("infostates", encode_json({}), "saved infostates must be a list of names"),
        ("infostates", np.frombuffer(b"[", np.uint8), "saved infostates must be JSON"),
        ("generator", encode_json({"bit_generator": "MT19937"}), "must be the state of a PCG64"),
        ("generator", encode_json({"bit_generator": "PCG64"}), "must be the state of a PCG64"),
    ],
)
def test_a_run_without_a_tree_refuses_what_means_nothing(name, value, message):
    solver = SOLVERS["treeless"]()
    solver.iterate(100)
    assert len(solver.tables) == 12
    with pytest.raises(CheckpointError, match=message):
        SOLVERS["treeless"]().restore({**solver.state(), name: value})


def test_numbers_that_mean_nothing_are_refused():
    with pytest.raises(CheckpointError, match="saved x must be a whole number of at least 0, got -1"):
        read_count({"x": np.array(-1)}, "x")
    with pytest.raises(CheckpointError, match=r"saved x must be a whole number of at least 0, got 1\.5"):
        read_count({"x": np.array(1.5)}, "x")
    with pytest.raises(CheckpointError, match="saved x must be a finite number, got nan"):
        read_number({"x": np.array(np.nan)}, "x")


@pytest.mark.parametrize("shape", [(), (0,), (1,), (1000,), (7, 30), (300, 3), (2, 5, 20)])
def test_large_tables_are_overwritten_in_steps(monkeypatch, shape):
    monkeypatch.setattr(saved_state, "STEP_BYTES", 64)
    saved = np.arange(np.prod(shape, dtype=int), dtype=np.float32).reshape(shape) + 1
    tables = {"table": np.zeros(shape, np.float32)}
    overwrite_tables(tables, {"table": saved})
    np.testing.assert_array_equal(tables["table"], saved)
