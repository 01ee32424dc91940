# SPDX-License-Identifier: Apache-2.0
"""Study `cfr-variants` at a tiny size."""

import pytest

from equipoise.core.errors import ConfigError
from equipoise.studies.discounting.cfr_variants import CFR_VARIANTS, CFRVariantsConfiguration
from equipoise.studies.study import Verdict


def test_every_variant_is_measured_and_judged():
    result = CFR_VARIANTS.run(CFRVariantsConfiguration(games=("kuhn",), iterations=300, responding_iterations=100))
    assert not result.is_partial
    last = {row["variant"]: row["iterations"] for row in result.conclusion.rows}
    assert last == {"cfr": 300, "cfr, simultaneous": 300, "cfr-br": 100, "cfr+linear": 300, "cfr+": 300}
    squares, *slower, costs = result.conclusion.claims
    assert "t²" in squares.statement
    assert ["100" in claim.ours for claim in slower] == [True] * 2
    assert {claim.verdict for claim in slower} <= {Verdict.CONFIRMED, Verdict.DENIED, Verdict.UNDECIDED}
    assert costs.verdict is not Verdict.NOT_MEASURED  # by time, which tests do not judge


def test_an_interrupted_study_claims_nothing_about_what_it_has_not_measured():
    result = CFR_VARIANTS.run(CFRVariantsConfiguration(games=("kuhn",)), is_interrupted=lambda: True)
    assert {claim.verdict for claim in result.conclusion.claims} == {Verdict.NOT_MEASURED}


def test_too_few_iterations_are_refused():
    with pytest.raises(ConfigError, match="at least 10, got 3"):
        CFRVariantsConfiguration(responding_iterations=3)
