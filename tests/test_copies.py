# SPDX-License-Identifier: Apache-2.0
"""What users keep is pickled and copied, or says in a line how else it is kept."""

import copy
import pickle

import numpy as np
import pytest

import equipoise
from equipoise.core import errors
from equipoise.games import Kuhn
from equipoise.solvers import CFRSolver, MCCFRSolver

SPOT = "board = 'Ks7h2d5c9h'\npot = 20\nstacks = 30\nranges = {oop = 'AA, QJ', ip = 'KK, QQ'}\n"


class HouseRules(Kuhn):
    """A game that no file could name."""


def repickle(thing):
    return pickle.loads(pickle.dumps(thing))


@pytest.mark.parametrize("duplicate", [repickle, copy.deepcopy])
@pytest.mark.parametrize("make", [lambda: "leduc", lambda: equipoise.load_spot(SPOT), HouseRules])
def test_a_copied_solution_goes_on_to_the_same_bits(duplicate, make):
    solution = equipoise.solve(make(), iterations=10)
    twin = duplicate(solution)
    assert twin.progress == solution.progress
    assert twin.stopped_by is solution.stopped_by
    assert type(twin.game) is type(solution.game)
    twin.resume(iterations=25)
    assert solution.progress[-1].iteration == 10
    solution.resume(iterations=25)
    assert twin.exploitability == solution.exploitability
    for name, table in solution.run.solver.state().items():
        np.testing.assert_array_equal(twin.run.solver.state()[name], table, err_msg=name)


def test_a_shallow_copy_is_of_the_same_run():
    solution = equipoise.solve("kuhn", iterations=5)
    assert copy.copy(solution).run is solution.run


def test_a_solution_of_a_large_file_is_pickled_by_the_name_of_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr("equipoise.solvers.holdem.solved_spot.LARGEST_READ_BYTES", 10)
    equipoise.solve(equipoise.load_spot(SPOT), iterations=5).save(tmp_path / "river.eq")
    solution = equipoise.load(tmp_path / "river.eq")
    sent = pickle.dumps(solution)
    assert len(sent) < 500
    with pytest.raises(equipoise.ConfigError, match="a strategy that is read from a file cannot be pickled"):
        pickle.dumps(solution.strategy)
    np.testing.assert_array_equal(pickle.loads(sent).view("").strategy, solution.view("").strategy)


def test_strategies_of_spots_play_the_same():
    strategy = equipoise.solve(equipoise.load_spot(SPOT), iterations=5).strategy
    place = strategy.tree.root_place
    np.testing.assert_array_equal(repickle(strategy).probabilities(place), strategy.probabilities(place))


def make_sampler():
    tree = equipoise.build_history_tree(equipoise.make_game("kuhn"))
    return MCCFRSolver(tree, rng=np.random.default_rng(0))


@pytest.mark.parametrize("duplicate", [repickle, copy.copy, copy.deepcopy])
@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: equipoise.prepare_run("kuhn"), "GameRun cannot be .*: its `save` writes a file"),
        (lambda: equipoise.solve("kuhn", iterations=5).search("root", player=0, iterations=5), "its `as_json` says"),
    ],
)
def test_what_holds_threads_says_how_it_is_kept(duplicate, make, said):
    with pytest.raises(equipoise.ConfigError, match=said):
        duplicate(make())


@pytest.mark.parametrize(
    "make", [lambda: CFRSolver(equipoise.build_history_tree(equipoise.make_game("kuhn"))), make_sampler]
)
def test_solvers_say_what_to_keep_of_them(make):
    with pytest.raises(equipoise.ConfigError, match=r"send or keep .* strategy"):
        repickle(make())


def test_a_run_of_a_solver_of_one_s_own_is_refused_and_its_strategy_is_not():
    solution = equipoise.solve("kuhn", make_solver=CFRSolver, iterations=5)
    with pytest.raises(equipoise.ConfigError, match="its `strategy` can"):
        pickle.dumps(solution)
    assert repickle(solution.strategy).row(0) == solution.strategy.row(0)


@pytest.mark.parametrize(
    "error",
    [
        errors.UnknownNameError("game", "leduk", ["leduc"]),
        errors.MissingExtraError("torch", "learn", "training"),
        errors.InvalidGameError("two faults", ["one", "two"]),
        errors.CheckpointError("cannot read it"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_come_back_whole_from_other_processes(error):
    twin = repickle(error)
    assert type(twin) is type(error)
    assert str(twin) == str(error)
    assert vars(twin) == vars(error)
