# SPDX-License-Identifier: Apache-2.0
"""Study `turn-search` at a small size and on invented numbers."""

import pytest

from equipoise.core.errors import ConfigError, UnknownNameError
from equipoise.studies.registry import STUDIES
from equipoise.studies.search import turn_search
from equipoise.studies.search.turn_search import TURN_SEARCH, TurnSearchConfiguration
from equipoise.studies.street_losses import LOSSES
from equipoise.studies.study import Measured, Point, Size, Verdict


def test_turn_search_at_a_small_size():
    configuration = TurnSearchConfiguration(
        spots=2,
        pots=(8000,),
        deck="royal",
        methods=("blueprint", "pluribus"),
        blueprint_iterations=3,
        search_iterations=100,
        open_percent=1.0,
        most_iterations=100,
    )
    result = TURN_SEARCH.run(configuration)
    assert not result.is_partial
    for row in result.conclusion.rows:
        searched, left_open = row["both choose (Pluribus)"], row["whole spot, what is left open"]
        assert 0 <= searched < row["blueprint's own turn"]  # three iterations are a poor blueprint
        assert left_open <= 1.0


@pytest.mark.parametrize(("worst", "verdict"), [(1.9, Verdict.CONFIRMED), (2.1, Verdict.DENIED)])
def test_turn_search_is_judged_by_its_worst_spot(worst, verdict):
    configuration, measured = TurnSearchConfiguration(spots=6), Measured()
    for number in range(1, 7):
        for curve, loss in ((turn_search.MODICUM, worst if number == 3 else 0.4), (turn_search.ONE, 3.0)):
            measured.add(Point(panel=LOSSES, curve=curve, x=number, y=loss))
    claims = TURN_SEARCH.conclude(configuration, measured).claims
    assert [claim.verdict for claim in claims] == [
        verdict,
        Verdict.NOT_MEASURED,  # Pluribus
        Verdict.CONFIRMED,  # one value loses more on all six
        Verdict.NOT_MEASURED,  # the blueprint
    ]


def test_turn_search_refuses_what_it_does_not_know():
    with pytest.raises(UnknownNameError, match="modicum"):
        TurnSearchConfiguration(methods=("modikum",))
    with pytest.raises(ConfigError, match="spots must be at least 1, got 0"):
        TurnSearchConfiguration(spots=0)


def test_an_empty_study_measures_nothing():
    claims = TURN_SEARCH.conclude(TURN_SEARCH.sizes[Size.FULL], Measured()).claims
    assert {claim.verdict for claim in claims} == {Verdict.NOT_MEASURED}
    assert TURN_SEARCH.name in STUDIES
