# SPDX-License-Identifier: Apache-2.0
"""Sizes of hold'em spots that find themselves, against grids."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from equipoise.abstraction.bet_sizes import BetSizeConfig, BetSizeSearch, SizedSpot, round_sizes
from equipoise.core.errors import ConfigError
from equipoise.games.holdem import parse_board, parse_menu, parse_range
from equipoise.games.holdem.betting import Street
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.games.holdem.spot_file import load_spot

RIVER = Path(__file__).parents[2] / "examples" / "spots" / "river.toml"
CONFIG = BetSizeConfig(street=Street.RIVER)


@pytest.fixture(scope="module")
def river():
    return SizedSpot(load_spot(RIVER).spot, CONFIG)


def test_one_size_of_a_polarised_river_is_the_grids(river):
    """Out of position a pot is best: what is found is worth as much to 0.1 % of the pot, from each start that ends."""
    search = BetSizeSearch(river)
    steps = list(search.run())
    grid = [river.solve((0.2 * k,), gap=0.0005) for k in range(1, 13)]
    best = max(grid, key=lambda one: one.value)
    found = river.solve(search.best, gap=0.0005)
    assert best.value - found.value < 0.001
    assert 0.8 < search.best[0] < 1.2
    assert steps[-1].iterations == sum(run.iterations for run in search.runs)
    assert steps[-1].iterations < 12 * 150


def test_two_sizes_are_worth_more_than_one(river):
    two = SizedSpot(river.spot, dataclasses.replace(CONFIG, num_sizes=2))
    search = BetSizeSearch(two)
    list(search.run())
    assert search.best == tuple(sorted(search.best))
    assert two.solve(search.best, gap=0.0005).value > 0.618 + 0.01


def catch(catcher, *, stack):
    """Returns a river on which the best or the worst hand may bet against a catcher between them."""
    return HoldemSpot(
        board=parse_board("Jc7h2d5c3s"),
        pot=20,
        big_blind=1,
        stacks=(stack, stack),
        ranges=(parse_range("AA, QQ"), parse_range(catcher)),
        menu=parse_menu("50% / none"),
    )


def test_polar_hands_against_a_bluff_catcher_bet_as_much_as_they_may():
    """Nuts and air against one hand in between: the more is bet the more is won, so the bound is found."""
    spot = catch("KK", stack=30)
    search = BetSizeSearch(SizedSpot(spot, dataclasses.replace(CONFIG, starts=(0.33,), highest=1.0)))
    list(search.run())
    assert search.best[0] == pytest.approx(1.0, abs=1e-9)


def test_values_are_those_of_the_clairvoyance_game():
    """Half nuts, half air, a bet of b pots and one catcher: (1 + b / (1 + b)) / 2 of the pot."""
    spot = catch("KcKd", stack=100)
    sized = SizedSpot(spot, CONFIG)
    for bet in (0.5, 1.0, 2.0):
        assert sized.solve((bet,), gap=1e-4).value == pytest.approx((1 + bet / (1 + bet)) / 2, abs=2e-4)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"num_sizes": 0}, "sizes must be between 1 and 4"),
        ({"lowest": -1.0}, "sizes must be from a positive one"),
        ({"starts": (9.0,)}, "starts must be between"),
        ({"player": 3}, "player must be 0 or 1"),
        ({"steps": 0}, "steps must be at least 1"),
        ({"least_iterations": 0}, "least_iterations"),
    ],
)
def test_bad_settings_are_refused(changes, message):
    with pytest.raises(ConfigError, match=message):
        dataclasses.replace(CONFIG, **changes)


@pytest.mark.parametrize(
    ("changes", "config", "message"),
    [
        ({}, BetSizeConfig(street=Street.TURN), "played from river to river, and sizes of the turn"),
        ({"rake_rate": 0.05}, CONFIG, "without rake"),
        ({"stacks": (1, 1), "big_blind": 1}, CONFIG, "leave no room"),
    ],
)
def test_spots_without_sizes_are_refused(changes, config, message):
    spot = dataclasses.replace(load_spot(RIVER).spot, **changes)
    with pytest.raises(ConfigError, match=message):
        SizedSpot(spot, config)


def test_sizes_are_rounded_to_what_people_bet():
    assert round_sizes((0.7, 0.34, 2.9)) == (0.33, 0.66, 3.0)
