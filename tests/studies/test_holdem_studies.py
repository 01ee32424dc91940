# SPDX-License-Identifier: Apache-2.0
"""Studies `aivat`, `bucketed-holdem`, `lbr` and `storage-floor` on small games, and what their numbers amount to."""

import pytest

from equipoise.studies.discounting.storage_floor import PRECISIONS, STORAGE_FLOOR, StorageConfiguration
from equipoise.studies.evaluation.aivat import AIVAT, AivatConfiguration
from equipoise.studies.evaluation.lbr import LBR, LbrConfiguration
from equipoise.studies.sampling.bucketed_holdem import BUCKETED_HOLDEM, ERROR, GAIN, BucketedConfiguration
from equipoise.studies.study import Measured, Point, Verdict


def test_gains_inside_the_abstraction_of_a_small_deck_are_exact_and_fall():
    result = BUCKETED_HOLDEM.run(BucketedConfiguration(games=("small-deck",), marks=(10, 100, 1000), buckets=50))
    rows = result.conclusion.rows
    assert [row["iterations"] for row in rows] == [10, 100, 1000]
    assert [row["standard_error"] for row in rows] == [0.0] * 3
    assert rows[0]["ours"] > rows[1]["ours"] > rows[2]["ours"] > 0
    (claim,) = result.conclusion.claims
    assert claim.verdict is Verdict.CONFIRMED


@pytest.mark.parametrize(
    ("gains", "verdict"),
    [((90.0, 50.0), Verdict.CONFIRMED), ((90.0, 88.0), Verdict.DENIED), ((90.0,), Verdict.NOT_MEASURED)],
)
def test_a_fall_within_the_errors_is_none(gains, verdict):
    measured = Measured()
    configuration = BucketedConfiguration(games=("limit",), marks=(30, 100))
    for mark, gain in zip(configuration.marks, gains, strict=False):
        measured.add(Point(panel="limit", curve=GAIN, x=mark, y=gain))
        measured.add(Point(panel="limit, errors", curve=ERROR, x=mark, y=1.0))
    (claim,) = BUCKETED_HOLDEM.conclude(configuration, measured).claims
    assert claim.verdict is verdict


def test_aivat_takes_luck_out_of_a_small_deck():
    settings = AivatConfiguration(
        decks=("tiny",), hands=300, buckets=(6, 4, 3), iterations=(200, 100, 50), samples=2000
    )
    result = AIVAT.run(settings)
    assert not result.is_partial
    deviations = {row["estimate"]: row["ours"] for row in result.conclusion.rows}
    assert deviations["both known"] < deviations["first known"] < deviations["chips won"]
    unbiased = [claim for claim in result.conclusion.claims if "unbiased" in claim.statement]
    assert len(unbiased) == 3
    assert all(claim.verdict is Verdict.CONFIRMED for claim in unbiased)


def test_local_responses_stay_below_best_ones():
    small = "holdem(deck=tiny,stacks=20,20,small_blind=5,big_blind=10,last_street=flop)"
    settings = LbrConfiguration(games=("kuhn", small), agents=("uniform", "cfr"), hands=40, holdem=small)
    result = LBR.run(settings)
    assert not result.is_partial
    bound, *winnings = result.conclusion.claims
    assert bound.verdict is Verdict.CONFIRMED
    assert bound.ours == "6 of 6 pairs of game, agent and seat"
    assert all("mbb/h" in claim.ours for claim in winnings)


def test_every_precision_is_taken_as_far(endgames):
    result = STORAGE_FLOOR.run(StorageConfiguration(data=str(endgames), iterations=100, threads=1))
    values = {(row["subgame"], row["precision"]): row["ours"] for row in result.conclusion.rows}
    assert values.keys() == {(name, precision) for name in ("subgame3", "subgame4") for precision in PRECISIONS}
    for name in ("subgame3", "subgame4"):
        exact = values[name, "float64"]
        assert values[name, "float32"] == pytest.approx(exact, rel=0.01)
        assert values[name, "int16"] == pytest.approx(exact, rel=0.5)
        assert values[name, "int16"] != values[name, "float32"]
    assert all("float64" in claim.ours and "int16" in claim.ours for claim in result.conclusion.claims)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("bucketed-holdem", "-p", "games=omaha"), "omaha"),
        (("bucketed-holdem", "-p", "marks=30,10"), "marks must be iterations in ascending order, got 30, 10"),
        (("bucketed-holdem", "-p", "buckets=2"), "buckets must be at least 10"),
        (("aivat", "-p", "decks=tarot"), "tarot"),
        (("aivat", "-p", "buckets=3,2"), "of two players and of the guesses, got (3, 2)"),
        (("lbr", "-p", "hands=2"), "hands must be at least 4, got 2"),
        (("storage-floor",), "study storage-floor needs --data DIR"),
        (("storage-floor", "-p", "iterations=5"), "iterations must be at least 100, got 5"),
        (("storage-floor", "-p", "threads=-1"), "threads must be at least 0, got -1"),
    ],
)
def test_bad_settings_are_refused(equipoise, arguments, said):
    outcome = equipoise("reproduce", *arguments)
    assert outcome.code == 2
    assert said in " ".join(outcome.err.split())
