# SPDX-License-Identifier: Apache-2.0
import pytest

from equipoise.apps.bench.responses import ResponsesSettings, run_responses
from equipoise.core.errors import ConfigError


def test_every_response_is_timed(equipoise):
    outcome = equipoise("bench", "responses", "--game", "kuhn", "--count", 200, "--repeats", 1, "--json")
    assert outcome.code == 0
    rows = outcome.json["rows"]
    assert {row["what"] for row in rows} == {"UCT iteration", "watched hand", "CFR-BR update"}
    assert all(0 < row["fastest"] <= row["nanoseconds"] <= row["slowest"] for row in rows)
    table = equipoise("bench", "responses", "--game", "kuhn", "--count", 200, "--repeats", 1).out
    assert "UCT iteration" in table


def test_an_interrupted_run_says_so():
    def stop(_share, text):
        if text.startswith("watched"):
            raise KeyboardInterrupt

    report = run_responses(ResponsesSettings(game="kuhn", count=10, repeats=1), on_step=stop)
    assert report.is_partial
    assert len(report.rows) == 1


def test_bad_settings_are_refused(equipoise):
    with pytest.raises(ConfigError, match="count must be at least 1, got 0"):
        ResponsesSettings(count=0)
    assert "two players" in equipoise("bench", "responses", "--game", "kuhn(players=3)").err


def test_a_narrow_terminal_cuts_no_head(equipoise, monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    table = equipoise("bench", "responses", "--game", "kuhn", "--count", 200, "--repeats", 1).out
    assert "…" not in table
    assert "slowest" in table
