# SPDX-License-Identifier: Apache-2.0
"""Studies of parameters and of growing abstractions, at small sizes and on invented numbers."""

from __future__ import annotations

import pytest

from equipoise.abstraction.growing import BRANCHES
from equipoise.core.errors import ConfigError
from equipoise.studies.parameters import bet_size_optimisation as sizes
from equipoise.studies.parameters import regret_transfer as transfer
from equipoise.studies.parameters import saef
from equipoise.studies.study import Measured, Point, Verdict


def verdicts(conclusion):
    return [claim.verdict for claim in conclusion.claims]


def invented(points):
    measured = Measured()
    for panel, curve, x, y in points:
        measured.add(Point(panel=panel, curve=curve, x=x, y=y))
    return measured


def test_without_points_nothing_is_judged():
    for study in (transfer.REGRET_TRANSFER, sizes.BET_SIZE_OPTIMISATION, saef.SAEF):
        for configuration in study.sizes.values():
            assert set(verdicts(study.conclude(configuration, Measured()))) == {Verdict.NOT_MEASURED}


def test_transfer_is_measured_with_and_without_drawn_cards():
    configuration = transfer.TransferConfiguration(iterations_before=300, marks=(10, 100), runs=1)
    result = transfer.REGRET_TRANSFER.run(configuration)
    assert not result.is_partial
    assert set(result.curves[transfer.DRAWN]) == {"from scratch", "w = 1", "w = 0.125", "w = 0.02"}
    assert result.curves[transfer.WHOLE]["from scratch"][0][1] > result.curves[transfer.WHOLE]["w = 1"][0][1]


def transfer_points(first, last, whole_unscaled):
    configuration = transfer.TransferConfiguration(iterations_before=1_000_000, marks=(100, 1000))
    points = [(transfer.DRAWN, transfer.SCRATCH, 100, first), (transfer.DRAWN, "w = 0.125", 100, 0.01)]
    points += [(transfer.DRAWN, transfer.SCRATCH, 1000, 0.01), (transfer.DRAWN, "w = 0.125", 1000, last)]
    points += [
        (transfer.WHOLE, transfer.SCRATCH, 1000, 0.01),
        (transfer.WHOLE, transfer.UNSCALED, 1000, whole_unscaled),
    ]
    points += [(transfer.WHOLE, "w = 0.125", 1000, 0.012), ("facts: w by (4.52), U = 5", transfer.DRAWN, 1, 0.126)]
    return verdicts(transfer.conclude_regret_transfer(configuration, invented(points)))


def test_each_statement_on_transfer_can_be_denied():
    assert transfer_points(1.0, 0.01, 0.02) == [Verdict.CONFIRMED] * 5
    assert transfer_points(0.05, 0.01, 0.02)[0] is Verdict.DENIED
    assert transfer_points(1.0, 0.02, 0.02)[1] is Verdict.DENIED
    assert transfer_points(1.0, 0.01, 0.009)[2:4] == [Verdict.DENIED] * 2


def test_sizes_are_followed_and_their_summits_climbed():
    configuration = sizes.BetSizeStudyConfiguration(iterations=300, starts=(8.0,), grid=(9.75,), spots=(), ring=0.01)
    result = sizes.BET_SIZE_OPTIMISATION.run(configuration)
    assert not result.is_partial
    assert result.conclusion.rows[0]["start"] == "8"
    assert len(result.conclusion.rows) == 4
    assert {claim.verdict for claim in result.conclusion.claims} <= {Verdict.CONFIRMED, Verdict.DENIED}


def test_a_measured_spot_makes_the_study_whole():
    configuration = sizes.BetSizeStudyConfiguration(
        iterations=100, starts=(), grid=(9.75,), spots=("polarised river",), spot_grid=2, gap=0.02, ring=0.01
    )
    result = sizes.BET_SIZE_OPTIMISATION.run(configuration)
    assert not result.is_partial
    assert set(result.curves["sizes of a spot"]) == {"polarised river"}


def test_spots_of_other_names_are_refused():
    with pytest.raises(ConfigError, match="spots must be some of polarised river, wide river, turn"):
        sizes.BetSizeStudyConfiguration(spots=("flop",))


def spot_points(value, share):
    points = [("sizes of a spot", "turn", 50, 0.5), ("sizes of a spot", "turn", 75, 0.51)]
    points += [(f"{sizes.FOUND}: size", "turn", 1, 0.7), (f"{sizes.FOUND}: value", "turn", 1, value)]
    points += [(sizes.SHARE, "turn", 1, share)]
    configuration = sizes.BetSizeStudyConfiguration(spots=("turn",))
    return verdicts(sizes.conclude_bet_sizes(configuration, invented(points)))[-2:]


def test_each_bar_of_a_spot_can_be_missed():
    assert spot_points(0.5095, 0.2) == [Verdict.CONFIRMED, Verdict.CONFIRMED]
    assert spot_points(0.508, 0.2) == [Verdict.DENIED, Verdict.CONFIRMED]
    assert spot_points(0.51, 0.3) == [Verdict.CONFIRMED, Verdict.DENIED]


def test_all_runs_of_saef_are_measured():
    result = saef.SAEF.run(saef.SaefConfiguration(last_mark=200_000))
    assert not result.is_partial
    assert set(result.curves[saef.EXPLOITABILITY]) == set(saef.list_growths())
    assert {name: curve[0][1] for name, curve in result.curves[saef.NODES].items() if name in BRANCHES} == {
        "branch-2": 1560,
        "branch-3": 5700,
        "branch-5": 33672,
    }


def test_statements_on_saef_can_be_denied():
    configuration = saef.SaefConfiguration(last_mark=100_000)
    values = dict.fromkeys(saef.list_growths(), 0.5) | {"branch-3": 0.4, saef.RECOMMENDED: 0.45, "recovery 1.1": 0.9}
    points = [(saef.EXPLOITABILITY, name, 100_000, value) for name, value in values.items()]
    found = {claim.statement: claim for claim in saef.conclude_saef(configuration, invented(points)).claims}
    first, *_ = found.values()
    assert first.verdict is Verdict.DENIED
    assert "not at 100,000" in first.ours
    assert found["thresholds 1.1 and 1.01 are comparable: within a factor of 1.3"].verdict is Verdict.DENIED
    assert found["transfer ends above recovery"].verdict is Verdict.CONFIRMED
