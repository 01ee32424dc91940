# SPDX-License-Identifier: Apache-2.0
import pytest

from equipoise.apps.bench.decisions import DecisionsSettings
from equipoise.core.errors import ConfigError, UnknownNameError

GAME = "holdem(deck=9TJQKA/cds,stacks=2000,2000,menu=all)"
AGENT = "supremus:leaves=equity,iterations=3,early=2,seconds=0,menu=30%"


def test_decisions_are_timed_by_street(equipoise):
    outcome = equipoise("bench", "decisions", "--agent", AGENT, "--game", GAME, "--hands", "2", "--json")
    assert outcome.code == 0
    rows = {row["decisions"]: row for row in outcome.json["rows"]}
    assert set(rows) == {"the first of all", "preflop", "flop", "turn", "river", "all others"}
    assert rows["the first of all"]["count"] == 1
    streets = [rows[street] for street in ("preflop", "flop", "turn", "river")]
    assert rows["all others"]["count"] == sum(row["count"] for row in streets)
    assert rows["all others"]["worst"] == max(row["worst"] for row in streets)
    assert all(0 < row["median"] <= row["worst"] for row in rows.values())
    assert (rows["all others"]["wanted_median"], rows["river"]["wanted_worst"]) == (2.0, 0.5)


def test_the_table_says_who_was_timed(equipoise):
    outcome = equipoise("bench", "decisions", "--agent", "pushfold", "--game", GAME, "--hands", "1")
    assert outcome.code == 0
    assert "Decisions of pushfold against call" in outcome.out
    assert "the first of all" in outcome.out


def test_settings_that_time_nothing_are_refused():
    with pytest.raises(ConfigError, match="hands must be at least 1, got 0"):
        DecisionsSettings(hands=0)
    with pytest.raises(ConfigError, match="game must be hold'em, got kuhn"):
        DecisionsSettings(game="kuhn")
    with pytest.raises(UnknownNameError):
        DecisionsSettings(agent="supremous")
