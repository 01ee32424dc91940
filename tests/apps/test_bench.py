# SPDX-License-Identifier: Apache-2.0
"""The benchmark measures what it says: same game, same algorithm, every engine. No test asserts a speed."""

import importlib.util
import json
import sys

import pytest
from typer.testing import CliRunner

from equipoise.apps.bench import engines
from equipoise.apps.bench.engines import ENGINES, EngineEntry, EquipoiseHistory, Task
from equipoise.apps.bench.processes import EngineFailure, EngineProcess
from equipoise.apps.bench.report import print_tabular_report
from equipoise.apps.bench.tabular import GROWTH_RANKS, Sizes, TabularSettings, run_tabular
from equipoise.apps.bench.worker import time_calls
from equipoise.apps.cli import app
from equipoise.apps.display import make_console
from equipoise.core.errors import ConfigError, MissingExtraError, UnknownNameError
from equipoise.games.registry import make_game
from equipoise.trees.history import build_history_tree
from tests.orphans import assert_they_end, kill_after_line

ROW_KEYS = {"game", "rule", "engine", "iterations_per_second", "speedup_of_equipoise"}
INSTALLED = [name for name, entry in ENGINES.items() if all(map(importlib.util.find_spec, entry.packages))]
TINY = {"repeats": 2, "seconds": 0.05, "growth_ranks": ()}


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("EQUIPOISE_CACHE", str(tmp_path))


def run_command(*arguments):
    return CliRunner().invoke(app, list(arguments))


def test_growth_sizes_reach_from_ten_thousand_to_ten_million():
    def num_histories(ranks):
        cards = 2 * ranks  # both rounds have 15 nodes a deal, 5 of the first go on
        return 1 + cards + cards * (cards - 1) * (15 + 5 * (cards - 2) * 15)

    assert num_histories(3) == build_history_tree(make_game("leduc")).size.num_histories
    sizes = [num_histories(ranks) for ranks in GROWTH_RANKS[Sizes.FULL]]
    assert sizes == [9_457, 100_993, 1_179_777, 4_469_441, 9_984_833]


def test_every_installed_engine_computes_the_same():
    settings = TabularSettings(games=("kuhn", "leduc"), engines=tuple(INSTALLED), **{**TINY, "repeats": 1})
    report = run_tabular(settings)
    assert not report.missing
    assert len(report.rows) == 4 * len(INSTALLED)
    for row in report.rows:
        assert row["is_same_result"], row
        assert row["iterations_per_second"] > 0
        assert row["repeats"] == 1


def test_rows_have_the_documented_keys_and_consistent_figures():
    settings = TabularSettings(games=("kuhn",), rules=("cfr",), engines=("equipoise",), **TINY)
    report = run_tabular(settings)
    (row,) = report.rows
    assert row.keys() >= ROW_KEYS
    assert row["speedup_of_equipoise"] == 1.0
    assert row["num_histories"] == 58
    expected = 1e9 / (row["iterations_per_second"] * 2 * 58)
    assert row["nanoseconds_per_history"] == pytest.approx(expected)
    assert row["slowest"] <= row["iterations_per_second"] <= row["fastest"]


def test_growth_and_evaluation_rows():
    settings = TabularSettings(
        games=("liars_dice",), rules=(), engines=("equipoise",), repeats=1, seconds=0.02, growth_ranks=(3, 4)
    )
    steps = []
    report = run_tabular(settings, on_step=lambda fraction, text: steps.append((fraction, text)))
    assert [row["histories"] for row in report.growth if row["threads"] == 1] == [9_457, 26_049]
    assert {row["ratio_to_smallest"] for row in report.growth if row["histories"] == 9_457} == {1.0}
    assert all(row["kind"] == "growth" for row in report.growth)
    (evaluation,) = report.exploitability
    assert evaluation["histories"] == 294_883
    assert evaluation["milliseconds"] > 0
    fractions = [fraction for fraction, _ in steps]
    assert fractions == sorted(fractions)
    assert fractions[-1] <= 1.0


def test_json_of_the_command():
    result = run_command(
        *("bench", "tabular", "--json", "--quiet", "--games", "kuhn", "--rules", "cfr+", "--engines", "equipoise"),
        *("--repeats", "1", "--seconds", "0.02", "--no-growth"),
    )
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    assert document.keys() >= {"machine", "version", "commit", "rows", "growth", "exploitability", "vector", "missing"}
    assert [row["engine"] for row in document["rows"]] == ["equipoise"]


def test_missing_engine_is_said_and_the_others_are_measured(monkeypatch, capsys):
    absent = EngineEntry(make=EquipoiseHistory, packages=("no_such_package_anywhere",))
    table = {**ENGINES, "openspiel": absent}
    monkeypatch.setattr("equipoise.apps.bench.tabular.ENGINES", table)
    settings = TabularSettings(games=("kuhn",), rules=("cfr",), engines=("equipoise", "openspiel"), **TINY)
    report = run_tabular(settings)
    assert [row["engine"] for row in report.rows] == ["equipoise"]
    assert "pip install 'equipoise[bench]'" in report.missing[0]
    print_tabular_report(report, make_console(is_stderr=False))
    printed = capsys.readouterr().out
    assert "left out" in printed
    assert "equipoise" in printed


def test_engine_that_disagrees_is_marked(monkeypatch):
    monkeypatch.setattr(EngineProcess, "check", lambda self, iterations: float(self.task.engine == "equipoise"))
    settings = TabularSettings(games=("kuhn",), rules=("cfr",), engines=("equipoise", INSTALLED[-1]), **TINY)
    assert [row["is_same_result"] for row in run_tabular(settings).rows] == [True, False]


def test_interrupted_benchmark_keeps_its_rows():
    def stop(fraction, text):
        if text.startswith("leduc"):
            raise KeyboardInterrupt

    settings = TabularSettings(games=("kuhn", "leduc"), rules=("cfr",), engines=("equipoise",), **TINY)
    report = run_tabular(settings, on_step=stop)
    assert report.is_partial
    assert [row["game"] for row in report.rows] == ["kuhn"]


def test_engine_that_dies_tells_why():
    task = Task(engine="equipoise", game="kuhn", rule="no_such_rule")
    with EngineProcess(task) as process, pytest.raises(EngineFailure, match="KeyError"):
        process.open()


BENCH = """
from equipoise.apps.bench.engines import Task
from equipoise.apps.bench.processes import EngineProcess
with EngineProcess(Task(engine="equipoise", game="leduc", rule="cfr")) as process:
    process.open()
    print(process.process.pid, flush=True)
    process.time_iterations(300.0)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_engine_ends_with_a_killed_benchmark(tmp_path):
    assert_they_end([int(kill_after_line(BENCH, directory=tmp_path))])


def test_engine_that_refuses_tells_why():
    task = Task(engine="equipoise", game="no_such_game", rule="cfr")
    with EngineProcess(task) as process, pytest.raises(EngineFailure, match="unknown game"):
        process.open()


def test_peer_refuses_a_game_that_it_does_not_know():
    with pytest.raises(ConfigError, match="has no game"):
        ENGINES["openspiel"].build(Task(engine="openspiel", game="leduc(ranks=4)", rule="cfr"), lambda *_: None)


def test_missing_package_names_the_extra():
    with pytest.raises(MissingExtraError, match=r"equipoise\[bench\]"):
        EngineEntry(make=EquipoiseHistory, packages=("no_such_package_anywhere",)).check_installed("other")


@pytest.mark.parametrize("field", [{"games": ("go",)}, {"rules": ("dcfr",)}, {"engines": ("gambit",)}])
def test_unknown_names_are_refused(field):
    with pytest.raises(UnknownNameError):
        TabularSettings(**field)


@pytest.mark.parametrize("field", [{"repeats": 0}, {"seconds": 0.0}, {"seconds": float("inf")}])
def test_senseless_settings_are_refused(field):
    with pytest.raises(ConfigError):
        TabularSettings(**field)


def test_unknown_name_on_the_command_line_exits_with_2():
    result = run_command("bench", "tabular", "--games", "ledoc")
    assert result.exit_code == 2
    assert "did you mean leduc" in result.stderr


def test_timing_counts_every_iteration():
    ran = []
    count, seconds = time_calls(ran.append, 0.01)
    assert count == sum(ran)
    assert seconds >= 0.01


def test_openspiel_and_ours_share_a_table_of_games():
    pyspiel = pytest.importorskip("pyspiel")
    for ours, theirs in engines.GAMES.items():
        assert make_game(ours).spec.num_players == pyspiel.load_game(theirs).num_players()
