# SPDX-License-Identifier: Apache-2.0
"""Studies in which machines play: the self-improver, Modicum's ladder, Pluribus's table."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from equipoise.abstraction.blueprints import BlueprintSpec
from equipoise.core.errors import ConfigError
from equipoise.evaluation.statistics import Estimate
from equipoise.studies.blueprints import modicum_ladder, pluribus_table, self_improver
from equipoise.studies.blueprints.contests import points_of
from equipoise.studies.study import Measured, Verdict

LADDER = modicum_ladder.LadderConfiguration(deals=500, hands=4, search_deals=50, iterations=3)
TABLE = pluribus_table.TableConfiguration(players=3, deals=300, hands=6, search_deals=30)
IMPROVER = self_improver.ImproverConfiguration(deals=500, log=6, hands=10)


def fill(**found: tuple[str, str, float, float, int]) -> Measured:
    measured = Measured()
    for panel, curve, mean, error, hands in found.values():
        for point in points_of(panel, curve, Estimate(mean=mean, standard_error=error, num_samples=hands), hands):
            measured.add(point)
    return measured


@pytest.mark.parametrize(
    ("study", "configuration"),
    [
        (self_improver.SELF_IMPROVER, IMPROVER),
        (modicum_ladder.MODICUM_LADDER, LADDER),
        (pluribus_table.PLURIBUS_TABLE, TABLE),
    ],
    ids=["improver", "ladder", "table"],
)
def test_tiny_runs_end_with_a_verdict_on_everything(study, configuration) -> None:
    result = study.run(configuration)
    assert not result.is_partial
    assert all(np.isfinite(row["ours"]) for row in result.conclusion.rows)
    assert all(claim.verdict is not Verdict.NOT_MEASURED for claim in result.conclusion.claims)


def test_rungs_are_compared_with_the_one_before() -> None:
    rising = {
        f"{panel}{place}": (panel, name, 100.0 * place, 1.0, 200)
        for panel in (modicum_ladder.PURE, modicum_ladder.MIXED)
        for place, name in enumerate(modicum_ladder.LADDER)
    }
    falling = {key: (*row[:2], -row[2], *row[3:]) for key, row in rising.items()}
    unsure = {key: (*row[:3], 500.0, row[4]) for key, row in rising.items()}
    expected = {Verdict.CONFIRMED: rising, Verdict.DENIED: falling, Verdict.UNDECIDED: unsure, Verdict.NOT_MEASURED: {}}
    configuration = modicum_ladder.LadderConfiguration()
    for verdict, rows in expected.items():
        conclusion = modicum_ladder.conclude(configuration, fill(**rows))
        assert {claim.verdict for claim in conclusion.claims} == {verdict}


def test_one_blueprint_among_searches_is_to_lose() -> None:
    configuration = pluribus_table.TableConfiguration()
    names = (
        pluribus_table.AMONG_BLUEPRINTS,
        pluribus_table.AMONG_SEARCHES,
        pluribus_table.AMONG_CALLERS,
        pluribus_table.AMONG_UNIFORM,
    )
    rows = {str(place): (pluribus_table.TABLE, name, 50.0, 5.0, 240) for place, name in enumerate(names)}
    conclusion = pluribus_table.conclude(configuration, fill(**rows))
    verdicts = [claim.verdict for claim in conclusion.claims]
    assert verdicts == [Verdict.CONFIRMED, Verdict.DENIED, Verdict.CONFIRMED, Verdict.CONFIRMED]
    assert all(row["p_value"] < 0.001 for row in conclusion.rows)


@pytest.mark.parametrize(
    ("mean", "verdict"), [(50.0, Verdict.CONFIRMED), (1.0, Verdict.UNDECIDED), (-50.0, Verdict.DENIED)]
)
def test_a_night_pays_only_beyond_its_interval(mean: float, verdict: Verdict) -> None:
    configuration = self_improver.ImproverConfiguration(hands=100)
    measured = fill(night=(self_improver.GAINED, "difference", mean, 5.0, 200))
    (claim,) = self_improver.conclude(configuration, measured).claims
    assert claim.verdict is verdict


def test_the_opponent_opens_by_what_the_blueprint_lacks() -> None:
    spec = BlueprintSpec(stacks=(1000, 1000), deck="royal", menu=self_improver.MENU, abstraction="percentile")
    total = self_improver.ImproverConfiguration().opening
    offered = self_improver._with_opening(spec, total).betting.arrays.amount[1:6].tolist()
    assert total in offered
    assert total not in spec.betting.arrays.amount[1:6].tolist()


def test_settings_that_make_no_sense_are_refused() -> None:
    for given, change in ((LADDER, {"hands": 2}), (TABLE, {"players": 2}), (IMPROVER, {"runs": 0})):
        with pytest.raises(ConfigError):
            dataclasses.replace(given, **change)
