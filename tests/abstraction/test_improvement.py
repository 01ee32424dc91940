# SPDX-License-Identifier: Apache-2.0
"""Which sizes a blueprint is given: scores of a log that was worked out by hand."""

from __future__ import annotations

import dataclasses

import pytest

from equipoise.abstraction.blueprints import BlueprintSpec
from equipoise.abstraction.improvement import (
    Gap,
    NewSize,
    add_sizes,
    choose_sizes,
    count_sizes,
    midpoint,
    score_gaps,
)
from equipoise.abstraction.translation import pseudo_harmonic
from equipoise.core.errors import ConfigError
from equipoise.games.holdem.betting import BettingRules
from equipoise.games.holdem.menu_notation import parse_menu
from equipoise.games.holdem.records import RecordedHand

SPEC = BlueprintSpec(menu="50%, 100%, a; cap: 4")  # blinds 50 and 100: the pot after the small blind's call is 200


def make_hand(*actions: int, names: tuple[str, str] = ("me", "villain")) -> RecordedHand:
    return RecordedHand(rules=BettingRules(), hole=((), ()), board=(), actions=actions, names=names)


# the small blind (villain) raises to 100 + 200 x: 250 is 75 %, 260 is 80 %, 210 is 55 %
LOG = [
    make_hand(250, 0),
    make_hand(260, 0),
    make_hand(210, 0),
    make_hand(200, 0),  # known
    make_hand(302, 0),  # within two percent of a known size
    make_hand(250, 0, names=("villain", "me")),  # our own
    make_hand(300, 700, 0, names=("villain", "me")),  # the big blind's second raise: 400 of a pot of 600, 67 %
]


def test_scores_of_a_log_by_hand() -> None:
    gaps = score_gaps(LOG, SPEC, {"me"})
    assert [(gap.raise_number, gap.below, gap.above, gap.num_bets) for gap in gaps] == [
        (0, 0.5, 1.0, 3),
        (1, 0.5, 1.0, 1),
    ]
    assert gaps[0].score == pytest.approx(0.25 + 0.2 + 0.05)
    assert gaps[1].score == pytest.approx(min(2 / 3 - 0.5, 1 - 2 / 3))


def test_what_is_bet_most_is_counted() -> None:
    log = [*LOG, make_hand(250, 0)]
    assert count_sizes(log, SPEC, {"me"})[0] == (0, 0.75, 2)
    assert {row[:2] for row in count_sizes(log, SPEC, {"me"})} == {(0, 0.75), (0, 0.8), (0, 0.55), (1, 0.67)}


@pytest.mark.parametrize(("below", "above"), [(0.0, 1.0), (0.5, 1.0), (0.33, 0.75), (1.0, 40.0)])
def test_a_midpoint_is_taken_for_either_neighbour_as_often(below: float, above: float) -> None:
    assert pseudo_harmonic(below, above, midpoint(below, above)) == pytest.approx(0.5)


def test_sizes_are_chosen_once() -> None:
    gaps = [Gap(0, 0.5, 1.0, 9.0, 20), Gap(1, 0.0, 0.5, 4.0, 9), Gap(2, 0.5, 1.0, 1.0, 3)]
    chosen = choose_sizes(gaps, [(0, 0.72, 9), (0, 0.8, 5), (1, 0.9, 1)], defensive=2, offensive=1)
    assert chosen == [NewSize(0, 0.71, False), NewSize(1, 0.2, False), NewSize(0, 0.8, True)]
    assert choose_sizes([], [], defensive=2, offensive=1) == []


def test_sizes_are_added_where_they_were_missing_alone() -> None:
    spec = dataclasses.replace(SPEC, menu="100%, a / 50%, a; cap: 4")
    menu = parse_menu(add_sizes(spec, [NewSize(1, 0.71, False)]).menu)
    preflop = [[size.amount for size in sizes] for sizes in menu.rounds[0][0].sizes]
    assert preflop == [[100, 0], [50, 71, 0], [50, 0]]
    assert menu.rounds[1] == parse_menu(spec.menu).rounds[1]
    assert add_sizes(spec, []).betting.counts == spec.betting.counts


def test_hands_of_other_chips_are_refused() -> None:
    with pytest.raises(ConfigError, match="has stacks"):
        score_gaps(LOG, dataclasses.replace(SPEC, big_blind=200), {"me"})
