# SPDX-License-Identifier: Apache-2.0
"""`equipoise bench holdem` measures what it says. No test asserts a speed."""

import json

import pytest
from typer.testing import CliRunner

from equipoise.apps.bench import holdem
from equipoise.apps.bench.holdem import HoldemSettings, example_spots, measure_bandwidth, run_holdem
from equipoise.apps.bench.report import print_holdem_report
from equipoise.apps.cli import app
from equipoise.apps.display import make_console
from equipoise.core.errors import ConfigError
from equipoise.games.holdem.hands import hands_of

KEYS = {
    "spot",
    "threads",
    "ms_per_iteration",
    "floor_ms",
    "ratio_to_floor",
    "bytes",
    "seconds_to_half_percent",
    "seconds_to_tenth_percent",
}
RIVER = {"river": example_spots()["river"]}


def tiny(**fields):
    return HoldemSettings(**{"spots": RIVER, "threads": (1,), "repeats": 2, "seconds": 0.01, **fields})


def endgame_text(board="Ks8d4h2cTd", cut=0):
    reach = " ".join(["0.5"] * (2 * hands_of().num_hands - cut))
    return f"-round 4\n-board {board}\n-pot 500\n-reach {reach}\n"


def run_command(*arguments):
    return CliRunner().invoke(app, ["bench", "holdem", *map(str, arguments)])


def test_rows_have_the_documented_keys_and_consistent_figures():
    report = run_holdem(tiny(threads=(1, 2)))
    assert [row["threads"] for row in report.rows] == [1, 2]
    for row in report.rows:
        assert row.keys() >= KEYS
        assert row["fastest_ms"] <= row["ms_per_iteration"] <= row["slowest_ms"]
        assert 0 < row["seconds_to_half_percent"] <= row["seconds_to_tenth_percent"]
        assert row["bytes"] > row["stored_bytes"] > 0


def test_tables_that_fit_the_cache_have_no_floor(monkeypatch):
    assert run_holdem(tiny()).rows[0]["floor_ms"] is None
    monkeypatch.setattr(holdem, "last_level_cache_bytes", lambda: 0)
    monkeypatch.setattr(holdem, "measure_bandwidth", lambda num_threads: 2e6)
    report = run_holdem(tiny())
    row = report.rows[0]
    assert row["floor_ms"] == pytest.approx(row["stored_bytes"] / 1e3)
    assert row["ratio_to_floor"] == pytest.approx(row["ms_per_iteration"] / row["floor_ms"])
    assert report.bandwidth == {1: 2e6}


def test_target_out_of_reach_is_none():
    row = run_holdem(tiny(longest=1e-9)).rows[0]
    assert row["seconds_to_half_percent"] is None


@pytest.mark.parametrize("num_threads", [1, 2])
def test_bandwidth_counts_reads_and_writes(num_threads):
    assert 1e6 < measure_bandwidth(num_threads, repeats=1, num_bytes=1 << 22) < 1e13


def test_report_is_readable(capsys):
    print_holdem_report(run_holdem(tiny()), make_console(is_stderr=False))
    printed = capsys.readouterr().out
    assert "river" in printed
    assert "to 0.1 %" in printed


def test_interrupted_benchmark_keeps_its_rows():
    def on_step(share, text):
        if text.startswith("other"):
            raise KeyboardInterrupt

    report = run_holdem(tiny(spots={**RIVER, "other": RIVER["river"]}), on_step=on_step)
    assert report.is_partial
    assert [row["spot"] for row in report.rows] == ["river"]


def test_endgames_of_a_directory(tmp_path):
    (tmp_path / "subgame7.txt").write_text(endgame_text())
    result = run_command("--endgames", tmp_path, "--threads", "1", "--seconds", "0.01", "--longest", "0.01", "--json")
    assert result.exit_code == 0
    assert [row["spot"] for row in json.loads(result.stdout)["rows"]] == ["subgame7"]


@pytest.mark.parametrize(
    ("text", "said"), [(endgame_text(cut=1), "2652"), (endgame_text(board="Ks8d4h2c"), "-board"), ("", "cut short")]
)
def test_bad_endgame_is_named(tmp_path, text, said):
    (tmp_path / "subgame1.txt").write_text(text)
    result = run_command("--endgames", tmp_path)
    assert result.exit_code == 2
    assert "subgame1.txt" in result.stderr
    assert said in result.stderr


def test_directory_without_endgames(tmp_path):
    for directory, said in ((tmp_path, "no file"), (tmp_path / "none", "no directory")):
        result = run_command("--endgames", directory)
        assert result.exit_code == 2
        assert said in result.stderr


@pytest.mark.parametrize("given", ["", "0", "two", "1,-1"])
def test_senseless_threads_are_refused(given):
    result = run_command("--threads", given)
    assert result.exit_code == 2
    assert "threads" in result.stderr


@pytest.mark.parametrize("field", [{"spots": {}}, {"repeats": 0}, {"seconds": 0.0}, {"longest": float("nan")}])
def test_senseless_settings_are_refused(field):
    with pytest.raises(ConfigError):
        tiny(**field)
