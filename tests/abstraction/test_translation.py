# SPDX-License-Identifier: Apache-2.0
"""Action translation: its midpoint as printed, its ends, and that it falls."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipoise.abstraction.translation import pseudo_harmonic, translate_bet
from equipoise.core.errors import ConfigError

sizes = st.tuples(st.floats(0, 5), st.floats(0.01, 5), st.floats(0, 1), st.floats(0, 1))


@given(sizes)
def test_shares_are_probabilities_that_fall_with_the_size(drawn):
    below, width, first, second = drawn
    low, high = sorted((first, second))
    shares = [pseudo_harmonic(below, below + width, below + part * width) for part in (low, high)]
    assert 1 + 1e-12 >= shares[0] >= shares[1] - 1e-12
    assert shares[1] >= 0


@given(st.floats(0, 5), st.floats(0.01, 5))
def test_ends_are_exact_and_the_midpoint_is_the_printed_one(below, width):
    above = below + width
    assert pseudo_harmonic(below, above, below) == pytest.approx(1.0)
    assert pseudo_harmonic(below, above, above) == 0.0
    middle = (below + above + 2 * below * above) / (below + above + 2)  # thesis, section 6.4
    assert pseudo_harmonic(below, above, middle) == pytest.approx(0.5)


def test_bets_are_taken_for_their_neighbours():
    assert translate_bet(0.75, [0.5, 1.0, 3.0]) == pytest.approx({0.5: 3 / 7, 1.0: 4 / 7})
    assert translate_bet(0.1, [0.5, 1.0]) == {0.5: 1.0}
    assert translate_bet(1.0, [0.5, 1.0]) == {1.0: 1.0}


def test_what_has_no_neighbours_is_refused():
    with pytest.raises(ConfigError, match=r"a bet must lie between its neighbours, got 2 between 0\.5 and 1"):
        pseudo_harmonic(0.5, 1, 2)
    with pytest.raises(ConfigError, match=r"known sizes must ascend, got \[1.0, 0.5\]"):
        translate_bet(0.75, [1.0, 0.5])
