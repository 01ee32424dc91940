# SPDX-License-Identifier: Apache-2.0
"""Study `warm-start` on small games, and what its numbers amount to."""

import dataclasses

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games.holdem.betting import Street
from equipoise.games.holdem.cards import parse_board, parse_deck
from equipoise.games.holdem.hands import hands_of, parse_hand
from equipoise.studies.study import Measured, Point, Verdict
from equipoise.studies.warm_start.plan import FLOP, LEDUC, SAMPLED, WarmStartConfiguration
from equipoise.studies.warm_start.runs import BoardPercentiles
from equipoise.studies.warm_start.warm_start import WARM_START

TINY = WarmStartConfiguration(
    matrix_games=2,
    matrix_size=10,
    matrix_iterations=50,
    leduc_iterations=60,
    leduc_resets=(10, 30),
    deck="9TJ/chs",
    holdem_iterations=20,
    holdem_resets=(5, 10),
    share_reset=10,
    flop_buckets=20,
    sampled_sweeps=14,
    threads=1,
)


@pytest.fixture(scope="module")
def tiny():
    return WARM_START.run(TINY)


def verdict(result, text):
    return next(claim.verdict for claim in result.conclusion.claims if text in claim.statement)


def test_every_statement_is_judged(tiny):
    assert not tiny.is_partial
    assert not [claim for claim in tiny.conclusion.claims if claim.verdict is Verdict.NOT_MEASURED]
    assert {claim.statement.split(",")[0].split(":")[0] for claim in tiny.conclusion.claims} >= {"Leduc", FLOP}


def test_resets_cost_little_and_forgetting_much(tiny):
    rows = [row for row in tiny.conclusion.rows if row["panel"] in (*LEDUC, FLOP)]
    resets = [row for row in rows if row["run"].startswith("reset at") and "projected" not in row["run"]]
    assert resets
    for row in resets:
        assert row["ours"] < 1.3 * row["cfr"]
        assert row["T"] == int(row["run"].split()[-1])
        assert 0 < row["lambda"] < 1
    assert verdict(tiny, "Leduc, alternating: reset at 30: forgetting regrets") is Verdict.CONFIRMED


def test_all_curves_of_the_abstraction_end_together(tiny):
    curves = tiny.curves[SAMPLED]
    assert {name: points[-1][0] for name, points in curves.items()} == dict.fromkeys(curves, TINY.sampled_sweeps)
    assert curves["warm start"][0][0] > TINY.start_sweeps + 1  # its own passes count


@pytest.mark.parametrize(("worse", "expected"), [(1.05, Verdict.CONFIRMED), (1.4, Verdict.DENIED)])
def test_verdicts_follow_from_the_numbers(worse, expected):
    measured = Measured()
    for x in (11, 20):
        measured.add(Point(panel=FLOP, curve="cfr", x=x, y=1.0))
        measured.add(Point(panel=FLOP, curve="reset at 10", x=x, y=worse))
    claims = WARM_START.conclude(TINY, measured).claims
    found = {claim.statement: claim.verdict for claim in claims}
    assert found[f"{FLOP}: reset at 10: nothing is lost where T is what was run (ratio at most 1.1 at every mark)"] is (
        expected
    )
    assert verdict_of(claims, "T is what was run", "reset at 5") is Verdict.NOT_MEASURED


def verdict_of(claims, *texts):
    return next(claim.verdict for claim in claims if all(text in claim.statement for text in texts))


def test_settings_that_make_no_sense_are_refused():
    for changes, message in (
        ({"matrix_games": 0}, "matrix_games must be at least 1, got 0"),
        ({"leduc_resets": (0, 5)}, "leduc_resets must be at least 1, got 0"),
        ({"holdem_iterations": 19}, "a reset after 10 iterations needs twice as many, got 19"),
        ({"start_sweeps": 15}, "start_sweeps must be at most sampled_sweeps, got 15"),
        ({"threads": -1}, "threads must be at least 0, got -1"),
    ):
        with pytest.raises(ConfigError, match=message):
            dataclasses.replace(TINY, **changes)


def test_buckets_go_by_class_and_by_strength_on_the_board():
    deck = parse_deck("small")
    buckets = BoardPercentiles(deck, 200)
    hands = hands_of(deck)
    board = parse_board("9cThJs")
    assigned = buckets.assign(board)
    live = assigned[~hands.blocked(board)]
    assert live.max() < buckets.num_buckets(Street.FLOP) <= 200
    parts = assigned % buckets.num_parts
    strong, weak = (parts[parse_hand(text, deck)] for text in ("KhQs", "AhKc"))
    assert strong > weak
    np.testing.assert_array_equal(assigned // buckets.num_parts, buckets.assign(()))
    assert buckets.num_buckets(Street.PREFLOP) == np.unique(hands.classes).size
