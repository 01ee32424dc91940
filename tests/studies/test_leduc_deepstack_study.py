# SPDX-License-Identifier: Apache-2.0
"""The study leduc-deepstack at a small size and on invented numbers."""

import numpy as np
import pytest

from equipoise.studies.learning.leduc_deepstack import (
    LEDUC_DEEPSTACK,
    LIMIT,
    LOSS,
    NO_LIMIT,
    SHIPPED,
    LeducDeepStackConfiguration,
    printed_huber,
)
from equipoise.studies.study import Measured, Point, Size, Verdict

pytest.importorskip("torch")


def test_the_printed_loss_is_a_sum_over_ten_buckets_by_the_62_others():
    value = np.zeros((3, 2, 5))
    found = value.copy()
    found[1, 0, 0] = 0.05  # a tenth of half a pot
    found[2, 1, 4] = 1.0  # two halves: beyond the square part
    assert printed_huber(found, value) == pytest.approx((0.5 * 0.1**2 + 1.5) / 62 / 3)


def test_small_networks_are_trained_and_the_shipped_ones_hold_what_is_claimed():
    result = LEDUC_DEEPSTACK.run(
        LeducDeepStackConfiguration(samples=(30, 1000), steps=300, hidden=32, marks=(20, 300), held_out=200)
    )
    assert not result.is_partial
    verdicts = {claim.statement: claim.verdict for claim in result.conclusion.claims}
    assert verdicts[f"{NO_LIMIT}: the agent is exploitable for at most 1.37"] is Verdict.CONFIRMED
    assert verdicts[f"{LIMIT}: the agent is exploitable for at most 30"] is Verdict.CONFIRMED
    for panel in (LIMIT, NO_LIMIT):
        assert verdicts[f"{panel}: falls with data"] is Verdict.CONFIRMED
        assert verdicts[f"{panel}: falls with iterations"] is Verdict.CONFIRMED


def test_invented_numbers_are_judged():
    configuration, measured = LEDUC_DEEPSTACK.sizes[Size.QUICK], Measured()
    for mark, value in ((30, 4.0), (300, 1.5)):
        measured.add(Point(panel=NO_LIMIT, curve=SHIPPED, x=mark, y=value))
    measured.add(Point(panel=LOSS, curve=SHIPPED, x=100, y=1e-4))
    found = [claim.verdict for claim in LEDUC_DEEPSTACK.conclude(configuration, measured).claims]
    assert found == [
        Verdict.DENIED,
        Verdict.NOT_MEASURED,
        Verdict.CONFIRMED,
        Verdict.NOT_MEASURED,
        Verdict.NOT_MEASURED,
        Verdict.NOT_MEASURED,
        Verdict.CONFIRMED,
    ]
