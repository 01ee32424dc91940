# SPDX-License-Identifier: Apache-2.0
"""Locks from the command line and from another file, and runs that go on from a solved spot's tables."""

from pathlib import Path

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games.holdem.cards import DECKS
from equipoise.runs.locking import add_locks, open_spot
from equipoise.runs.request import load_spot
from equipoise.solvers.description import describe_node
from equipoise.solvers.holdem.transfer import transfer_cells
from equipoise.trees.holdem.tree import build_holdem_tree
from tests.reference.holdem import expand_table, used_cells
from tests.solvers.test_holdem import SYMMETRIC, spot

RIVER = """
board = "Ks7s2s5d9h"
pot = 20
stacks = 40
big_blind = 2
menu = "50%, a / a"
target = "0.5% pot"

[ranges]
oop = "AA, KK, AK, QJs, 76s"
ip = "QQ, 77, AQ, KQ:0.5, T9s"
"""
TURN = RIVER.replace("Ks7s2s5d9h", "Ks7s2s5d")


@pytest.fixture
def solved(equipoise):
    """Runs commands where a river is solved."""
    Path("river.toml").write_text(RIVER)
    assert equipoise("solve", "river.toml", "--out", "river.eq", "-q").code == 0
    return equipoise


def test_a_lock_of_the_command_line_is_kept(solved):
    done = solved("solve", "river.toml", "--lock", "check: QQ: bet 50%=40%, check", "--out", "locked.eq", "--json")
    assert done.code == 0, done.err
    assert done.json["exploitability_percent_of_pot"] <= 0.5
    assert done.json["exploitability_without_locks"] > done.json["exploitability"]
    with open_spot("locked.eq") as found:
        assert found.file.locks[0].play == {"bet 50%": 0.4, "check": 0.6}
        place = describe_node(found, "check")
        queens = [
            row
            for hand, row in zip(place["players"][1]["hands"], place["strategy"], strict=True)
            if hand[0] == hand[2] == "Q"
        ]
        np.testing.assert_allclose(queens, [[0.6, 0.4, 0.0]] * len(queens), atol=1e-6)
        assert {hand[0] for hand in place["locked"]} == {"Q"}


def test_a_run_begins_with_the_regrets_of_a_solved_file(solved):
    done = solved("solve", "--from", "river.eq", "--lock", "check: QQ: check", "--out", "carried.eq", "--json")
    assert done.code == 0, done.err
    assert "beginning with the regrets of river.eq, taken for 30 iterations" in done.err
    fresh = solved("solve", "river.toml", "--lock", "check: QQ: check", "--json")
    assert done.json["exploitability_percent_of_pot"] <= 0.5
    assert done.json["values"] == pytest.approx(fresh.json["values"], abs=0.3)
    assert done.json["warm_start"] == "the regrets of river.eq"
    on = solved(
        "solve", "--from", "river.eq", "--lock", "check: QQ: check", "--out", "carried.eq", "--resume", "-n", 300
    )
    assert "--from is for its beginning" in on.err
    assert on.code == 0


def test_play_is_taken_over_from_another_file(solved):
    assert solved("solve", "river.toml", "--target", "20%", "--out", "rough.eq", "-q").code == 0
    options = ("--lock-from", "rough.eq", "--at", "check", "--seat", 1)
    done = solved("solve", "river.toml", *options, "--out", "against.eq", "--json")
    assert done.code == 0, done.err
    with open_spot("rough.eq") as rough, open_spot("against.eq") as against:
        for line in ("check", "check, bet 50%, all-in"):
            theirs, ours = describe_node(rough, line), describe_node(against, line)
            there = {hand: row for hand, row in zip(theirs["players"][1]["hands"], theirs["strategy"], strict=True)}
            for hand, row in zip(ours["players"][1]["hands"], ours["strategy"], strict=True):
                np.testing.assert_allclose(row, there[hand], atol=2e-4)
        # whoever is locked in what it did badly loses by it
        assert (
            describe_node(against)["players"][0]["summary"]["ev"]
            > describe_node(rough)["players"][0]["summary"]["ev"] - 0.05
        )
    once = add_locks(load_spot("river.toml"), source="rough.eq", lines=["check"])
    assert {lock.line for lock in once.locks} == {"check"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--lock", "check"], "has no colon"),
        (["--lock", "check, check: fold"], "nobody acts after 'check, check'"),
        (["--lock", "check: fold"], "none of the actions"),
        (["--lock", "check: 32o: check"], "has no hand of '32o'"),
        (["--lock", "check: check", "--lock", "check: QQ: check"], "is locked there already"),
        (["--at", "check"], "--at needs --lock-from"),
        (["--lock-from", "missing.eq"], "cannot read missing.eq"),
        (["--lock-from", "river.eq", "--at", "bet 50%, fold"], "nobody acts"),
        (["--lock-from", "river.eq", "--menu", "100%, a / a"], "has other actions at 'root'"),
        (["--from", "river.eq", "--menu", "100%, a / a"], "menu"),
        (["--from", "river.eq", "--rule", "cfr+"], "rule dcfr, expected cfr+"),
        (["--from", "river.eq", "--precision", "float64"], "precision float32, expected float64"),
        (["--from", "river.eq", "--warm-start", "river.eq"], "two beginnings"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_locks_that_cannot_be_are_refused(solved, options, message):
    refused = solved("solve", "river.toml", *options)
    assert refused.code == 2
    assert message in " ".join(refused.err.split())


def test_games_have_no_locks(equipoise):
    for option in (["--lock", "x: y"], ["--from", "x.eq"], ["--lock-from", "x.eq"]):
        refused = equipoise("solve", "kuhn", *option)
        assert (refused.code, f"{option[0]} is for hold'em spots" in refused.err) == (2, True)


def test_another_board_lends_no_play(solved):
    Path("other.toml").write_text(RIVER.replace("5d9h", "5d9c"))
    refused = solved("solve", "other.toml", "--lock-from", "river.eq")
    assert refused.code == 2
    assert "river.eq is solved on Ks7s2s5d9h, the spot is on Ks7s2s5d9c" in refused.err


def test_locks_that_tell_suits_apart_carry_tables_over(equipoise):
    Path("turn.toml").write_text(TURN.replace("5d", "5h").replace("7s2s", "7d2c"))
    assert equipoise("solve", "turn.toml", "--out", "turn.eq", "-q", "-n", 60).code == 0
    done = equipoise("solve", "--from", "turn.eq", "--lock", "check: QhQd: check", "-n", 90, "--json")
    assert done.code == 0, done.err
    fresh = equipoise("solve", "turn.toml", "--lock", "check: QhQd: check", "-n", 60, "--json")
    assert done.json["exploitability"] < fresh.json["exploitability"]


@pytest.mark.parametrize("case", SYMMETRIC)
def test_tables_move_to_a_tree_that_merges_less(case):
    board, ranges, others = SYMMETRIC[case]
    fields = {"menu": "100%, a / a; flop: a", "deck": DECKS["small"], "pot": 20, "stacks": (60, 60), **others}
    table = spot(board, ranges, **fields)
    merged, plain = (build_holdem_tree(table, merges_suits=merges) for merges in (True, False))
    numbers = np.random.default_rng(1).uniform(size=merged.arrays.num_cells)
    moved, used = transfer_cells(merged, plain, numbers), used_cells(plain)
    np.testing.assert_array_equal(moved[used], expand_table(merged, plain, numbers)[used])
    with pytest.raises(ConfigError, match="tell suits apart"):
        transfer_cells(plain, merged, moved)
