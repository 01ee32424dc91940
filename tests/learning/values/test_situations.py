# SPDX-License-Identifier: Apache-2.0
"""Random situations: ranges that add up, no blocked hands, both halves alike, chips behind within their bands."""

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games.holdem.betting import Street
from equipoise.games.holdem.cards import Deck
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.strength import evaluate_boards
from equipoise.learning.values.situations import (
    CPU_RATIOS,
    DEEPSTACK_RATIOS,
    RatioBands,
    draw_ranges,
    draw_situation,
    order_hands,
)


@pytest.mark.parametrize("street", [Street.FLOP, Street.TURN, Street.RIVER])
def test_a_situation_has_ranges_over_the_hands_that_its_board_leaves(street):
    situation = draw_situation(street, CPU_RATIOS, np.random.default_rng(1))
    assert len(set(situation.board)) == street.num_board_cards
    assert situation.ranges.shape == (2, np.count_nonzero(~hands_of().blocked(situation.board)))
    assert situation.ranges.min() > 0
    assert np.allclose(situation.ranges.astype(float).sum(axis=1), 1.0, atol=2e-3)


def test_the_same_number_draws_the_same_situation():
    first, second = (draw_situation(Street.RIVER, CPU_RATIOS, np.random.default_rng([7, 3])) for _ in range(2))
    assert first.board == second.board
    assert np.array_equal(first.ranges, second.ranges)


def test_ranges_add_up_and_both_halves_are_alike_in_expectation():
    ranges = draw_ranges((4000,), 37, np.random.default_rng(2))
    assert np.allclose(ranges.sum(axis=1), 1.0)
    weaker = ranges[:, : 37 // 2].sum(axis=1)
    # the share of the weaker half is uniform: mean 1/2, variance 1/12
    assert weaker.mean() == pytest.approx(0.5, abs=0.02)
    assert weaker.var() == pytest.approx(1 / 12, abs=0.01)


def test_a_range_is_split_until_single_hands():
    class Halves:
        def random(self, shape):
            return np.full(shape, 0.25)

    # 5 hands: 2 and 3, then 1 and 1, 1 and 2
    expected = [0.25 * 0.25, 0.25 * 0.75, 0.75 * 0.25, 0.75 * 0.75 * 0.25, 0.75 * 0.75 * 0.75]
    assert draw_ranges((), 5, Halves()) == pytest.approx(expected)


def test_hands_are_ordered_by_strength_with_ties_at_random():
    board = (0, 5, 18, 33, 47)
    rng = np.random.default_rng(3)
    order, again = order_hands(board, rng), order_hands(board, rng)
    strengths = evaluate_boards(np.array([board], np.uint8))[0]
    assert (np.diff(strengths[order].astype(int)) >= 0).all()
    assert sorted(order) == np.flatnonzero(strengths).tolist()
    assert not np.array_equal(order, again)


def test_chips_behind_are_drawn_by_bands():
    rng = np.random.default_rng(4)
    drawn = np.array([CPU_RATIOS.draw(rng) for _ in range(4000)])
    for (low, high), weight in zip(CPU_RATIOS.edges, CPU_RATIOS.weights, strict=True):
        assert np.mean((drawn >= low) & (drawn < high)) == pytest.approx(weight, abs=0.03)


def test_the_paper_draws_what_each_player_has_paid():
    rng = np.random.default_rng(5)
    paid = np.array([20_000 / (1 + 2 * DEEPSTACK_RATIOS.draw(rng)) for _ in range(5000)])
    assert paid.min() == pytest.approx(100)
    assert paid.max() <= 19_950 + 1e-6
    assert np.mean(np.isclose(paid, 100)) == pytest.approx(0.2, abs=0.03)
    high = paid[paid >= 6000]
    assert len(high) / len(paid) == pytest.approx(0.2, abs=0.03)
    assert high.mean() == pytest.approx((6000 + 19_950) / 2, rel=0.03)  # uniform in chips


def test_bands_that_make_no_sense_are_refused():
    with pytest.raises(ConfigError, match="add up to 1"):
        RatioBands(((1.0, 2.0),), (0.5,))
    with pytest.raises(ConfigError, match="positive ratio"):
        RatioBands(((0.0, 2.0),), (1.0,))
    with pytest.raises(ConfigError, match="has a weight"):
        RatioBands(((1.0, 2.0),), (0.5, 0.5))


def test_a_smaller_deck_has_smaller_situations():
    deck = Deck(ranks="TJQKA", suits="cdhs")
    situation = draw_situation(Street.RIVER, CPU_RATIOS, np.random.default_rng(6), deck=deck)
    assert situation.ranges.shape == (2, 15 * 14 // 2)
