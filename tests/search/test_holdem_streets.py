# SPDX-License-Identifier: Apache-2.0
"""Hold'em searched a street at a time: what it costs, what it builds, and what it promises the opponent."""

import dataclasses
import functools

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games.holdem.betting import CALL, Street
from equipoise.games.holdem.cards import parse_board, parse_deck
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.menu_notation import MENUS, parse_menu
from equipoise.games.holdem.ranges import Range
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.search import walks
from equipoise.search.continual import ContinualSearch, ContinualSettings
from equipoise.search.gadgets import Resolve, SelfPlay, Unsafe
from equipoise.search.holdem.equity_leaves import equity_leaves
from equipoise.search.holdem.leaves import HoldemRest, HoldemState
from equipoise.search.holdem.profile import HoldemProfile
from equipoise.search.holdem.streets import StreetLeaves, StreetStart
from equipoise.search.leaves import ResolvedLeaves, ZeroLeaves
from equipoise.search.limits import RoundLimit
from equipoise.search.nested import NestedSearch
from equipoise.search.posing import measure
from equipoise.search.settings import SearchSettings
from equipoise.solvers.rules import DCFRPlus
from equipoise.trees.holdem.places import HoldemPlace
from tests.search.test_holdem_continual import GATE, TURN, price

STREETS = (Street.PREFLOP, Street.FLOP, Street.TURN)
SMALL = parse_deck("9TJQKA/cds")
WHOLE = HoldemSpot(
    deck=SMALL,
    board=(),
    stacks=(4000, 4000),
    small_blind=50,
    big_blind=100,
    ranges=(Range.random(SMALL), Range.random(SMALL)),
    menu=parse_menu("50%, 100%, a / 100%, a / a; count: actions"),
)
FLOP, TURN_CARD, RIVER_CARD = parse_board("9cTdJs", SMALL), (51,), (45,)  # As, Qd


@functools.cache
def turn_leaves(*, is_promised: bool):
    rest = HoldemRest(TURN, menu=TURN.menu)
    start = ResolvedLeaves(rest, iterations=100) if is_promised else ZeroLeaves()
    return StreetLeaves(ends={Street.TURN: ResolvedLeaves(rest, iterations=40)}, starts={Street.RIVER: start})


def equity_streets(spot, iterations=10):
    ends = {street: equity_leaves(spot) for street in STREETS}
    rest = HoldemRest(spot, menu=spot.menu, ends=ends)
    solved = ResolvedLeaves(rest, iterations=iterations, is_alternating=False, dtype=np.float32, is_kept=False)
    return StreetLeaves(ends=ends, starts=dict.fromkeys((Street.FLOP, Street.TURN, Street.RIVER), solved))


def search(spot, seat, **options):
    holdem = SearchSettings(streets=equity_streets(spot), is_alternating=False, **options)
    return ContinualSearch(spot, seat, ContinualSettings(iterations=20, rule=DCFRPlus(), holdem=holdem))


def test_streets_one_by_one_cost_little_if_their_ends_are_known():
    assert price(GATE, streets=turn_leaves(is_promised=True)) < 0.003 * TURN.pot


def test_what_the_opponent_is_promised_after_a_card_matters():
    wrong = price(Resolve(), streets=turn_leaves(is_promised=False))
    assert wrong > 5 * price(GATE, streets=turn_leaves(is_promised=True))


def test_without_ends_searches_go_on_to_the_end_of_the_hand():
    assert price(GATE, streets=StreetLeaves(ends={})) < 0.001 * TURN.pot


LINES = {
    1: [(), (200, 1000), (CALL, CALL, FLOP, CALL), (CALL, CALL, FLOP, 777)],
    0: [(CALL,), (350,), (CALL, CALL, FLOP), (CALL, CALL, FLOP, CALL, CALL, TURN_CARD, CALL, CALL, RIVER_CARD)],
}


@pytest.mark.parametrize("seat", [0, 1])
def test_a_whole_hand_is_searched_from_its_first_decision_on(seat):
    found = search(WHOLE, seat)
    for line in LINES[seat]:
        rows = found.policy_at(line)
        dealt = [card for step in line if isinstance(step, tuple) for card in step]
        is_held = ~hands_of(SMALL).blocked(dealt)
        np.testing.assert_allclose(rows.sum(axis=1), is_held, atol=1e-6)
        assert np.ptp(rows[is_held], axis=0).max() > 0.1  # hands play differently
        stage, _ = found.chain.walk.stage_at(line, "")
        assert len({node.state.street for node in stage.profile.betting.nodes}) == 1


def test_menus_count_from_where_a_search_begins():
    stage, place = search(WHOLE, 1).chain.walk.stage_at((CALL, CALL, FLOP, 777), "")
    actions = stage.profile.betting.nodes[place.node].actions
    assert place.node == 0
    assert len(actions) == 5  # fold, call, and all sizes of a first action


def test_the_opponent_keeps_what_it_had_before_its_action():
    walk = search(WHOLE, 1).chain.walk
    stage, _ = walk.stage_at((CALL, CALL, FLOP, CALL), "")
    assert stage.profile.line == (CALL, CALL, CALL)
    known, bold = ((CALL, CALL, FLOP, action) for action in (CALL, 777))
    assert not walk.found.keys() - {known}
    walk.stage_at(bold, "")
    first, second = (walk.found[key].alternative for key in (known, bold))
    np.testing.assert_allclose(first, second, atol=1e-6)


def test_searches_on_the_way_are_never_run_again(monkeypatch):
    monkeypatch.setattr(walks, "KEPT_BYTES", 0)
    walk = search(WHOLE, 0).chain.walk
    line = (CALL, CALL, FLOP, CALL, CALL, TURN_CARD)
    first, _ = walk.stage_at(line, "")
    assert set(walk.found) == {line[:1], line[:3], line}
    assert walk.stage_at(line, "")[0] is first  # with a limit of seconds it would be another strategy
    walk.stage_at((350,), "")
    assert set(walk.found) == {(350,)}


def dealt_profile():
    profile = search(WHOLE, 0).chain.walk.search.profile
    place = profile.step(profile.step(profile.tree.root_place, CALL), CALL)
    return profile.reach(place), profile.deal(place, FLOP)


def test_cards_leave_ranges_and_nothing_else():
    before, profile = dealt_profile()
    is_held = ~hands_of(SMALL).blocked(FLOP)
    for player in (0, 1):
        np.testing.assert_array_equal(profile.root_reach[player], before[player] * is_held)
    assert profile.betting.root.actions == ()
    assert profile.step(profile.tree.root_place, CALL) is None
    assert profile.deal(profile.tree.root_place, TURN_CARD) is None


def test_a_street_begins_with_what_an_evaluator_says():
    _, profile = dealt_profile()
    profile.streets = dataclasses.replace(profile.streets, starts={Street.FLOP: equity_leaves(WHOLE)})
    part = profile.standpoint(profile.tree.root_place, 0)
    assert isinstance(part, StreetStart)
    standing = measure(profile, part, 1, Resolve(alternatives=SelfPlay()))
    is_held = ~hands_of(SMALL).blocked(FLOP)
    assert np.abs(standing.value).max() <= 100.0  # everybody has put in a big blind
    assert (standing.value[~is_held] == 0).all()
    own = profile.root_reach[1] * part.mass(1)
    mine = measure(profile, part, 0, Resolve(alternatives=SelfPlay())).value @ (profile.root_reach[0] * part.mass(0))
    other = standing.value @ own
    assert other / profile.root_reach[1].sum() == pytest.approx(-mine / profile.root_reach[0].sum(), abs=1e-6)
    with pytest.raises(ConfigError, match="estimates"):
        part.best_values(1, None)


def test_solved_beginnings_of_streets_end_with_the_street():
    rest = HoldemRest(WHOLE, menu=WHOLE.menu, ends={Street.FLOP: equity_leaves(WHOLE)})
    _, profile = dealt_profile()
    part = rest.part(HoldemState((CALL, CALL), profile.betting.root.state, FLOP))
    assert {node.state.street for node in part.tree.betting.nodes} == {Street.FLOP}
    assert part.frontier is not None
    with pytest.raises(ConfigError, match="need a menu"):
        HoldemRest(WHOLE, ends={Street.FLOP: equity_leaves(WHOLE)})


def test_what_does_not_fit_is_refused():
    with pytest.raises(ConfigError, match="beginning of the flop"):
        StreetLeaves(ends={}).start_of(Street.FLOP)
    with pytest.raises(ConfigError, match="leave limits"):
        SearchSettings(streets=StreetLeaves(ends={}), limit=RoundLimit(), leaves=ZeroLeaves())
    with pytest.raises(ConfigError, match="need a menu"):
        NestedSearch(HoldemProfile.unknown(WHOLE), 0, SearchSettings(streets=StreetLeaves(ends={})))
    with pytest.raises(ConfigError, match="blueprint"):
        ContinualSearch(
            WHOLE, 0, ContinualSettings(holdem=SearchSettings(streets=StreetLeaves(ends={}))), blueprint="one"
        ).policy_at((CALL,))


def test_named_menus_of_the_whole_game_are_small_a_street_at_a_time():
    spot = HoldemSpot(
        board=(), stacks=(20_000, 20_000), small_blind=50, big_blind=100, ranges=(Range.random(), Range.random())
    )
    streets = StreetLeaves(ends=dict.fromkeys(STREETS, ZeroLeaves()))
    settings = SearchSettings(streets=streets, menu=MENUS["supremus"], method=Unsafe())
    nested = NestedSearch(HoldemProfile.unknown(spot), 0, settings)
    place = HoldemPlace(0, ())
    opening = nested.profile.open(place, 0, None, settings, nested.measure(nested.begin(), place))
    assert len(opening.subgame.tree.betting.nodes) < 1000
