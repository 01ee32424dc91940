# SPDX-License-Identifier: Apache-2.0
"""What quick studies take: nobody waits for one longer than two minutes."""

import pytest

from equipoise.studies.costs import LONGEST_QUICK, load_costs
from equipoise.studies.registry import STUDIES

NEEDING_MORE = {"pluribus-habits"}  # blueprints that do not come along: known by a kept result, on the clock


@pytest.mark.parametrize("name", STUDIES)
def test_a_quick_study_was_measured_and_ends_within_two_minutes(name):
    cost = load_costs()[name]
    seconds = cost["elapsed_seconds" if name in NEEDING_MORE else "cpu_seconds"]
    assert 0 < seconds <= LONGEST_QUICK, f"cut the quick size of {name}, then scripts/study-costs {name}"
