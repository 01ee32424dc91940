# SPDX-License-Identifier: Apache-2.0
"""`equipoise bench search` measures what it says. No test asserts a speed."""

import importlib.util
import json

import pytest
from typer.testing import CliRunner

from equipoise.apps.bench import search
from equipoise.apps.bench.report import print_search_report
from equipoise.apps.bench.search import SearchSettings, run_search
from equipoise.apps.cli import app
from equipoise.apps.display import make_console
from equipoise.core.errors import ConfigError

TINY = {
    "deck": "royal",
    "repeats": 2,
    "river_iterations": 3,
    "turn_iterations": 3,
    "blueprint_iterations": 2,
    "loop_pots": (),
}


def tiny(**fields):
    return SearchSettings(**{**TINY, "river_pots": (4000,), "turn_pots": (8000,), "threads": 1, **fields})


def test_rows_stand_beside_the_bars(capsys):
    report = run_search(tiny(threads=2))
    found = [(row["what"], row["menu"], row["pot"], row["bar_seconds"]) for row in report.rows]
    assert found == [
        ("river", "libratus", 4000, 0.25),
        ("river", "supremus", 4000, 0.5),
        ("turn, one chooses", "libratus", 8000, 3.0),
        ("turn, both choose", "libratus", 8000, 3.0),
    ]
    for row in report.rows:
        assert 0 < row["fastest"] <= row["seconds"]
        assert row["cpu_seconds"] > 0
    one, both = report.rows[2:]
    assert both["table_bytes"] > 3 * one["table_bytes"] > 0
    assert both["table_seconds"] > 0
    print_search_report(report, make_console(is_stderr=False, is_quiet=False))
    assert "both choose" in capsys.readouterr().out


def test_progress_says_how_large_tables_are():
    steps = []
    run_search(tiny(river_pots=(), repeats=1), on_step=lambda share, text: steps.append((share, text)))
    assert [share for share, _ in steps] == [0.0, 0.25, 0.5, 0.75]
    assert "a table of" in steps[0][1]


def test_loops_are_compared_by_rule(capsys):
    report = run_search(tiny(river_pots=(), turn_pots=(), loop_pots=(4000,), loop_iterations=3, loop_seconds=0.1))
    loops = ["core", "torch"] if importlib.util.find_spec("torch") else ["core"]
    expected = [(loop, rule) for loop in loops for rule in ("CFR", "CFR+", "LCFR", "DCFR", "DCFR+")]
    assert [(row["loop"], row["rule"]) for row in report.rows] == expected
    for row in report.rows:
        assert row["iterations_per_second"] > 0
        assert row["target_iterations"] >= 50
    print_search_report(report, make_console(is_stderr=False, is_quiet=False))
    assert "LCFR" in capsys.readouterr().out


def test_an_interrupted_bench_keeps_what_it_has(monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(search, "_measure_turns", interrupt)
    report = run_search(tiny())
    assert report.is_partial
    assert len(report.rows) == 2


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"repeats": 0}, "repeats must be at least 1, got 0"),
        ({"turn_pots": (50_000,)}, "a pot must be 1 to 39999 chips, got 50000"),
        ({"dtype": "int8"}, "the table is float32 or int16, got 'int8'"),
    ],
)
def test_bad_settings_are_refused(fields, message):
    with pytest.raises(ConfigError, match=message):
        tiny(**fields)


def test_the_command_prints_json(monkeypatch):
    monkeypatch.setattr(
        "equipoise.apps.bench.commands.SearchSettings", lambda **fields: SearchSettings(**{**fields, **TINY})
    )
    ran = CliRunner().invoke(
        app, ["bench", "search", "--river-pots", "none", "--turn-pots", "8000", "--json", "--quiet"]
    )
    assert ran.exit_code == 0
    assert len(json.loads(ran.stdout)["rows"]) == 2
    ran = CliRunner().invoke(app, ["bench", "search", "--river-pots", "many"])
    assert ran.exit_code != 0
    assert "--river-pots takes whole numbers" in ran.output
