# SPDX-License-Identifier: Apache-2.0
import pytest

from equipoise.apps.bench.values import ValuesSettings
from equipoise.core.errors import ConfigError


def test_situations_a_second_are_measured_by_kind_and_processes(equipoise):
    outcome = equipoise("bench", "values", "--iterations", "1", "--workers", "1", "--seconds", "0.01", "--json")
    assert outcome.code == 0
    rows = outcome.json["rows"]
    assert [(row["situations"], row["workers"]) for row in rows] == [("river", 1), ("toy river", 1)]
    assert rows[0]["wanted_on_two_cores"] == 60
    assert all(row["situations_per_second"] > 0 and row["situations_per_cpu_second"] > 0 for row in rows)


def test_the_table_says_what_was_solved(equipoise):
    outcome = equipoise("bench", "values", "--iterations", "2", "--workers", "1", "--seconds", "0.01")
    assert outcome.code == 0
    assert "menu 100%, a, 2 iterations" in outcome.out
    assert "toy river" in outcome.out


def test_settings_that_measure_nothing_are_refused():
    with pytest.raises(ConfigError, match="workers must be at least 1, got none"):
        ValuesSettings(workers=())
    with pytest.raises(ConfigError, match="seconds must be positive"):
        ValuesSettings(seconds=0)
    with pytest.raises(ConfigError, match="iterations must be positive"):
        ValuesSettings(iterations=0)
