# SPDX-License-Identifier: Apache-2.0
import dataclasses
import subprocess
import sys

import numpy as np
import pytest

import equipoise
from equipoise.core import checkpoint
from equipoise.core.checkpoint import Kind
from equipoise.core.errors import CheckpointError, ConfigError
from equipoise.core.progress import Progress
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.driver import run
from equipoise.solvers.fictitious_play import FictitiousPlaySolver
from equipoise.solvers.lp_run import SequenceLPRun
from equipoise.solvers.rules import DCFR, CFRPlus, Hedge, PredictiveCFRPlus
from equipoise.solvers.saved_run import RunConfig, RunRecord
from equipoise.solvers.solution_file import SolvedGame
from equipoise.solvers.solve import Solution, Stopping, StopReason
from equipoise.solvers.strategy import TabularStrategy
from equipoise.trees.history import build_history_tree

CONFIG = RunConfig(
    game="kuhn",
    parameters={"players": "2"},
    game_version=1,
    method="cfr",
    form="history",
    rule="dcfr",
    updates="alternating",
    seed=0,
    threads=1,
)


@pytest.fixture(scope="module")
def tree():
    return build_history_tree(equipoise.make_game("leduc", merge_suits=True))


def record(**changes):
    values = {
        "iteration": 10,
        "seconds": 1.0,
        "exploitability": 0.1,
        "nash_conv": 0.2,
        "game_value": 0.0,
        "iterations_per_second": 10.0,
        "seconds_left": None,
        "nodes_touched": 100,
    }
    return Progress(**{**values, **changes})


def test_kuhn_without_a_word():
    solution = equipoise.solve(equipoise.make_game("kuhn"))
    assert solution.game_value == pytest.approx(-1 / 18, abs=1e-4)
    assert solution.exploitability < 1e-4
    assert solution.stopped_by is StopReason.TARGET


def test_a_solution_needs_a_tree():
    with pytest.raises(ConfigError, match="needs a tree; without one, drive a TreelessMCCFRSolver"):
        equipoise.solve(equipoise.make_game("kuhn"), iterations=20, form=equipoise.Form.GAME)


def test_both_forms_give_the_same_table():
    forms = (equipoise.Form.HISTORY, equipoise.Form.VECTOR)
    solutions = [equipoise.solve(equipoise.make_game("leduc"), iterations=20, form=form) for form in forms]
    assert solutions[1].exploitability == pytest.approx(solutions[0].exploitability, abs=1e-12)
    tables = [solution.strategy for solution in solutions]
    keys = list(zip(tables[0].player.tolist(), tables[0].infostates, strict=True))
    assert set(keys) == set(zip(tables[1].player.tolist(), tables[1].infostates, strict=True))
    for key in keys:
        assert tables[0].action_names(*key) == tables[1].action_names(*key)
        np.testing.assert_allclose(tables[0].probabilities(*key), tables[1].probabilities(*key), atol=1e-9)


def test_a_solver_of_histories_has_no_vector_form():
    with pytest.raises(ConfigError, match="got form vector"):
        equipoise.solve(equipoise.make_game("kuhn"), form=equipoise.Form.VECTOR, make_solver=lambda tree: None)


def test_progress_is_told_as_it_comes():
    seen = []
    solution = equipoise.solve(equipoise.make_game("kuhn"), CFRPlus(), iterations=50, on_progress=seen.append)
    assert tuple(seen) == solution.progress
    assert seen[-1].iteration == 50
    assert solution.stopped_by is StopReason.ITERATIONS
    assert seen[-1].exploitability == pytest.approx(solution.exploitability)


def test_another_solver_goes_the_same_way():
    game = equipoise.make_game("kuhn")
    solution = equipoise.solve(game, iterations=1, make_solver=SequenceLPRun)
    assert solution.exploitability == pytest.approx(0, abs=1e-9)
    assert equipoise.solve(game, iterations=20, make_solver=FictitiousPlaySolver).exploitability < 0.5


@pytest.mark.parametrize(
    ("stopping", "changes", "expected"),
    [
        (Stopping(target=0.1), {}, StopReason.TARGET),
        (Stopping(target=0.05), {}, None),
        (Stopping(iterations=10, target=0.05), {}, StopReason.ITERATIONS),
        (Stopping(iterations=10, target=0.1), {}, StopReason.TARGET),
        (Stopping(seconds=1.0), {}, StopReason.SECONDS),
        (Stopping(seconds=2.0), {"seconds": 1.9}, None),
    ],
)
def test_reasons_to_stop(stopping, changes, expected):
    assert stopping.reason(record(**changes)) is expected


@pytest.mark.parametrize("options", [{"iterations": 0}, {"target": -1.0}, {"seconds": float("nan")}])
def test_senseless_stopping_is_refused(options):
    with pytest.raises(ConfigError):
        Stopping(**options)


def test_default_stopping_is_a_share_of_the_range_or_a_minute():
    none = {"iterations": None, "target": None, "seconds": None}
    assert Stopping.from_options(4.0, **none) == Stopping(target=4e-5, seconds=60.0)
    assert Stopping.from_options(4.0, **{**none, "iterations": 3}) == Stopping(iterations=3)


def test_interruption_ends_with_a_record_of_where_it_stopped(tree):
    solver = CFRSolver(tree, DCFR())
    records = list(run(solver, iterations=10**9, is_interrupted=lambda: solver.iteration >= 20))
    assert records[-1].iteration == solver.iteration
    assert 20 <= solver.iteration < 10_000


def test_a_resumed_run_adds_to_the_seconds_before(tree):
    records = list(run(CFRSolver(tree, DCFR()), iterations=3, seconds_before=1000.0))
    assert [record.iteration for record in records] == [1, 2, 3]
    assert all(1000.0 < record.seconds < 1500.0 for record in records)


def test_a_resumed_run_stops_at_the_seconds_of_the_whole(tree):
    (record,) = run(CFRSolver(tree, DCFR()), iterations=10**9, seconds=900.0, seconds_before=1000.0)
    assert record.iteration == 1
    assert record.seconds_left == 0.0


@pytest.mark.parametrize("rule", [DCFR(), PredictiveCFRPlus(), Hedge()], ids=lambda rule: rule.name)
@pytest.mark.parametrize("is_alternating", [True, False])
def test_a_saved_run_goes_on_to_the_bit(tree, tmp_path, rule, is_alternating):
    straight = CFRSolver(tree, rule, is_alternating=is_alternating)
    straight.iterate(60)
    first = CFRSolver(tree, rule, is_alternating=is_alternating)
    records = tuple(run(first, iterations=23))
    strategy = TabularStrategy.from_tree(tree, first.average_strategy())
    record = RunRecord(config=CONFIG, progress=records, stopped_by=None)
    SolvedGame.save(tmp_path / "run.eq", record, strategy=strategy, state=first.state())

    second = CFRSolver(tree, rule, is_alternating=is_alternating)
    with SolvedGame(tmp_path / "run.eq") as loaded:
        second.restore(loaded.state)
    list(run(second, iterations=60, seconds_before=loaded.progress[-1].seconds))

    assert loaded.config == CONFIG
    assert loaded.progress == records
    for name, table in straight.state().items():
        np.testing.assert_array_equal(second.state()[name], table, err_msg=name)


def test_a_run_s_file_holds_its_strategy(tree, tmp_path):
    solver = CFRSolver(tree, DCFR())
    records = tuple(run(solver, iterations=5))
    strategy = TabularStrategy.from_tree(tree, solver.average_strategy())
    record = RunRecord(config=CONFIG, progress=records, stopped_by="iterations")
    SolvedGame.save(tmp_path / "run.eq", record, strategy=strategy, state={})
    np.testing.assert_array_equal(TabularStrategy.load(tmp_path / "run.eq").to_tree(tree), solver.average_strategy())


def test_differences_are_named_and_threads_may_differ():
    other = dataclasses.replace(CONFIG, rule="cfr", parameters={"players": "3"}, threads=2)
    assert CONFIG.differences(other) == [
        "parameters players=2, asked for players=3",
        "rule dcfr, asked for cfr",
    ]
    assert CONFIG.differences(dataclasses.replace(CONFIG, threads=2)) == []


def test_a_run_without_records_is_refused(tmp_path):
    metadata = {**dataclasses.asdict(CONFIG), "progress": [], "stopped_by": None, "game_label": "kuhn"}
    checkpoint.save(tmp_path / "x", Kind.RUN, metadata, {})
    with pytest.raises(CheckpointError, match="without a single record"):
        SolvedGame.load(tmp_path / "x")
    checkpoint.save(tmp_path / "x", Kind.RUN, {}, {})
    with pytest.raises(CheckpointError, match="does not describe its run"):
        SolvedGame.load(tmp_path / "x")


def test_the_lp_as_a_run_is_saved_and_restored(tree):
    first, second = SequenceLPRun(tree), SequenceLPRun(tree)
    (last,) = run(first, iterations=1)
    second.restore(first.state())
    assert last.exploitability == pytest.approx(0, abs=1e-9)
    assert second.iteration == 1
    assert second.nodes_touched == tree.actor.size
    np.testing.assert_array_equal(second.average_strategy(), first.average_strategy())


def test_every_name_of_the_package_is_there():
    assert {name: getattr(equipoise, name) is not None for name in equipoise.__all__} == dict.fromkeys(
        equipoise.__all__, True
    )
    assert set(equipoise.__all__) <= set(dir(equipoise))
    assert isinstance(equipoise.solve(equipoise.make_game("kuhn"), iterations=1), Solution)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = equipoise.nothing


def test_importing_the_package_loads_nothing_heavy():
    program = "import sys, equipoise; print(any(m in sys.modules for m in ('numpy', 'scipy', 'matplotlib', 'rich')))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("kuhn",), r"game must be a Game such as Kuhn\(\) or make_game\('kuhn'\), got 'kuhn'"),
        ((equipoise.make_game("kuhn"), "dcfr"), r"rule must be a rule such as DCFR\(\), got 'dcfr'"),
    ],
)
def test_names_in_place_of_values_are_refused(arguments, said):
    with pytest.raises(ConfigError, match=said):
        equipoise.solve(*arguments)


def test_unknown_form_is_refused():
    with pytest.raises(ConfigError, match="form must be history, vector, game, got 'tree'"):
        equipoise.solve(equipoise.make_game("kuhn"), form="tree")


@pytest.mark.parametrize("form", ["history", "vector"])
def test_threads_reach_the_solver(form):
    game = equipoise.make_game("leduc")
    one, two = (equipoise.solve(game, iterations=5, form=form, num_threads=n) for n in (1, 2))
    assert one.exploitability == two.exploitability
    with pytest.raises(ConfigError, match="num_threads"):
        equipoise.solve(game, iterations=5, form=form, num_threads=0)
