# SPDX-License-Identifier: Apache-2.0
import pytest

from equipoise.apps.bench.beliefs import BeliefsSettings
from equipoise.core.errors import ConfigError


def test_searches_a_second_are_measured_by_width_and_lanes(equipoise):
    outcome = equipoise("bench", "beliefs", "--game", "kuhn", "--horizon", "1", "--seconds", "0.01", "--json")
    assert outcome.code == 0
    rows = outcome.json["rows"]
    alone = [(w, n, 1) for w in (64, 128) for n in (1, 4, 16, 64)]
    together = [(w, 16, n) for w in (64, 128) for n in (1, 2)]
    assert [(row["width"], row["lanes"], row["processes"]) for row in rows] == alone + together
    for row in rows:
        assert row["searches_per_cpu_second"] > 0
        assert row["searches_per_second"] > 0
        assert 0 < row["net_share"] <= 1


def test_settings_that_measure_nothing_are_refused():
    with pytest.raises(ConfigError, match="seconds must be positive"):
        BeliefsSettings(seconds=0)
    with pytest.raises(ConfigError, match="processes must be at least 1, got 0"):
        BeliefsSettings(processes=(0,))
    with pytest.raises(ConfigError, match="widths must be at least 1, got none"):
        BeliefsSettings(widths=())
