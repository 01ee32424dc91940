# SPDX-License-Identifier: Apache-2.0
"""The studies of Player of Games at small sizes and on invented numbers."""

import pytest

from equipoise.core.errors import ConfigError
from equipoise.learning.pog.runs import SHIPPED, PogRun, list_shipped
from equipoise.studies.learning.pog_games import (
    AT_ONCE,
    GAMES,
    IN_TURN,
    NO_NET,
    POG_GLASSES,
    POG_LEDUC,
    PogGamesConfiguration,
    conclude,
)
from equipoise.studies.study import Measured, Point, Size, Verdict


def invent(game, **means):
    """Returns measurements of two seeds around means, by curve and simulations."""
    measured = Measured()
    curves = {"once": AT_ONCE, "turn": IN_TURN, "zero": NO_NET}
    for name, mean in means.items():
        curve, count = name.split("_")
        for run, factor in enumerate((0.9, 1.1)):
            measured.add(Point(panel=game, curve=curves[curve], x=int(count), y=mean * factor, run=run))
    return measured


def verdicts(conclusion):
    return [claim.verdict for claim in conclusion.claims]


def test_runs_of_the_package_play_their_games():
    assert "leduc" in list_shipped()
    for name in list_shipped():
        run = PogRun.open(SHIPPED / name)
        assert run.net.card["command"].startswith("equipoise train pog ")


def test_leduc_is_measured_seed_by_seed():
    result = POG_LEDUC.run(PogGamesConfiguration(games=("leduc",), simulations=(4, 12), seeds=(2, 1)))
    rows = {(row["play"], row["simulations"]): row for row in result.conclusion.rows}
    assert not result.is_partial
    assert [rows[AT_ONCE, count]["seeds"] for count in (4, 12)] == [2, 1]
    assert rows[AT_ONCE, 12]["mean"] < rows[AT_ONCE, 4]["mean"] < rows[NO_NET, 4]["mean"]


def test_glasses_are_measured_without_a_run():
    configuration = PogGamesConfiguration(games=("glasses-b",), simulations=(1,), seeds=(1,), curves=(NO_NET,))
    result = POG_GLASSES.run(configuration)
    (row,) = result.conclusion.rows
    assert 0.0 < row["mean"] < 1.0


def test_marks_are_met_by_means():
    configuration = PogGamesConfiguration(games=("leduc",), simulations=(100, 400), seeds=(2, 2))
    measured = invent("leduc", once_100=66.0, once_400=26.0, turn_100=47.0, zero_400=300.0)
    assert verdicts(conclude(configuration, measured)) == [Verdict.CONFIRMED] * 9
    worse = invent("leduc", once_100=66.1, once_400=66.2, turn_100=47.1, zero_400=60.0)
    assert verdicts(conclude(configuration, worse))[:5] == [Verdict.DENIED] * 5
    assert set(verdicts(conclude(configuration, Measured()))) == {Verdict.NOT_MEASURED}


def test_glasses_have_marks_of_their_own():
    conclusion = conclude(POG_GLASSES.sizes[Size.FULL], invent("glasses-b", once_100=0.09, once_400=0.06))
    found = {claim.statement: claim.verdict for claim in conclusion.claims}
    assert found["glasses-b: PoG(100,1) learnt at once: at most 0.1 on average"] is Verdict.CONFIRMED
    assert found["glasses-b: PoG(400,1) learnt at once: at most 0.05 on average"] is Verdict.DENIED
    assert set(GAMES) > set(POG_GLASSES.sizes[Size.FULL].games)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"games": ("poker",)}, "the games are leduc"),
        ({"curves": ("best",)}, "the curves are learnt at once"),
        ({"seeds": (1,)}, "as many numbers of seeds as of simulations"),
        ({"seeds": (1, 0)}, "seeds must be at least 1, got 0"),
    ],
)
def test_sizes_that_cannot_be_are_refused(changes, message):
    with pytest.raises(ConfigError, match=message):
        PogGamesConfiguration(**({"games": ("leduc",)} | changes))
