# SPDX-License-Identifier: Apache-2.0
"""The rules of betting: cases that dealers are asked about, and laws that hold in every hand."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise.core.errors import ConfigError, IllegalActionError, InvalidStateError
from equipoise.games.holdem.betting import (
    CALL,
    FOLD,
    NOBODY,
    BettingRules,
    Stage,
    Street,
    all_in_to,
    apply_action,
    bet_in_round,
    check_action,
    initial_betting,
    is_legal,
    legal_actions,
    legal_raises,
    max_raise_to,
    min_raise_to,
    name_action,
    next_street,
    payoffs,
    pot,
    pot_after_call,
    raise_to_fraction,
    side_pots,
    to_call,
)

HEADS_UP = BettingRules()
LIMIT = BettingRules(stacks=(1000, 1000), small_blind=1, big_blind=2, bet_sizes=(2, 2, 4, 4), max_raises=(3, 4, 4, 4))
DEAL = "deal"


def play(rules, *actions):
    """Returns the state after actions, `DEAL` standing for cards."""
    state = initial_betting(rules)
    for action in actions:
        state = next_street(rules, state) if action == DEAL else apply_action(rules, state, action)
    return state


def postflop(*stacks, pot_chips=None, big_blind=100, **kwargs):
    """Returns rules of a river with these stacks behind."""
    return BettingRules(
        stacks=stacks,
        pot=pot_chips or 100 * len(stacks),
        big_blind=big_blind,
        small_blind=big_blind // 2,
        first_street=Street.RIVER,
        **kwargs,
    )


def test_heads_up_the_button_posts_the_small_blind_and_acts_first_before_the_flop():
    state = initial_betting(HEADS_UP)

    assert (state.actor, state.committed, state.stacks) == (1, (100, 50), (19_900, 19_950))
    assert (pot(state), to_call(state)) == (150, 50)


def test_heads_up_the_big_blind_acts_first_after_the_flop():
    for street in range(3):
        state = play(HEADS_UP, CALL, CALL, DEAL, *(CALL, CALL, DEAL) * street)
        assert (state.street, state.actor) == (street + 1, 0)


def test_big_blind_may_raise_after_a_limp():
    state = play(HEADS_UP, CALL)

    assert (state.actor, to_call(state)) == (0, 0)
    assert legal_raises(HEADS_UP, state) == range(200, 20_001)
    assert apply_action(HEADS_UP, state, CALL).stage is Stage.DEAL


def test_six_players_start_left_of_the_big_blind():
    rules = BettingRules(stacks=(10_000,) * 6)
    state = initial_betting(rules)

    order = []
    while state.stage is Stage.ACT:
        order.append(state.actor)
        state = apply_action(rules, state, CALL)

    assert order == [2, 3, 4, 5, 0, 1]
    assert state.committed == (100,) * 6


def test_six_players_after_the_flop_the_first_one_left_acts_first():
    rules = BettingRules(stacks=(10_000,) * 6)

    state = play(rules, CALL, CALL, FOLD, CALL, FOLD, CALL, DEAL)

    assert state.actor == 1
    assert apply_action(rules, state, CALL).actor == 2
    assert play(rules, CALL, CALL, FOLD, CALL, FOLD, CALL, DEAL, CALL, CALL, CALL).actor == 5


def test_antes_are_in_the_pot_but_not_in_the_bet():
    rules = BettingRules(stacks=(1000, 1000, 1000), small_blind=5, big_blind=10, ante=2)
    state = initial_betting(rules)

    assert (state.committed, to_call(state), bet_in_round(state), pot(state)) == ((7, 12, 2), 10, 10, 21)
    assert min_raise_to(state) == 22
    assert name_action(state, 22) == "raise to 20"


def test_first_bet_is_at_least_the_big_blind():
    state = play(HEADS_UP, 300, CALL, DEAL)

    assert legal_raises(HEADS_UP, state) == range(400, 20_001)
    assert name_action(state, 400) == "bet 100"


def test_a_raise_is_at_least_the_last_one():
    state = play(HEADS_UP, CALL, CALL, DEAL, 400, 1000)  # bet 300, raise by 600

    assert min_raise_to(state) == 1600
    assert name_action(state, 1600) == "raise to 1500"


def test_smallest_raise_starts_afresh_on_every_street():
    state = play(HEADS_UP, 5000, CALL, DEAL)

    assert min_raise_to(state) == 5100


def test_all_in_below_the_smallest_raise_is_legal():
    rules = postflop(1000, 130)

    state = play(rules, 200)

    assert list(legal_raises(rules, state)) == [230]
    assert name_action(state, 230) == "all-in"


def test_all_in_below_the_smallest_bet_is_legal():
    rules = postflop(60, 1000)

    assert legal_actions(rules, initial_betting(rules)) == (CALL, 160)


def test_short_all_in_does_not_reopen_the_betting():
    rules = postflop(1000, 1000, 150)

    state = play(rules, 200, CALL, 250)  # bet 100, call, all-in for 150

    assert state.actor == 0
    assert legal_actions(rules, state) == (FOLD, CALL)
    with pytest.raises(
        IllegalActionError, match="an all-in of 50 more, less than a full raise of 100, does not reopen"
    ):
        apply_action(rules, state, 450)


def test_short_all_in_leaves_the_raise_to_players_who_have_not_acted():
    rules = postflop(1000, 150, 1000)

    state = play(rules, 200, 250)  # bet 100, all-in for 150

    assert state.actor == 2
    assert min_raise_to(state) == 350  # the bet of 150 and a full raise of 100


def test_short_all_ins_that_add_up_to_a_full_raise_reopen_the_betting():
    rules = postflop(1000, 150, 200, 1000)

    state = play(rules, 200, 250, 300, CALL)  # bet 100, all-in 150, all-in 200, call

    assert state.actor == 0
    assert min_raise_to(state) == 400


def test_full_all_in_raise_reopens_the_betting():
    rules = postflop(1000, 1000, 200)

    state = play(rules, 200, CALL, 300)

    assert legal_raises(rules, state) == range(400, 1101)


def test_big_blind_who_has_not_acted_may_raise_a_short_all_in():
    rules = BettingRules(stacks=(1000, 1000, 150))

    state = play(rules, 150, FOLD)

    assert (state.actor, min_raise_to(state)) == (1, 250)


def test_nobody_raises_into_opponents_who_are_all_in():
    state = play(HEADS_UP, 20_000)

    assert legal_actions(HEADS_UP, state) == (FOLD, CALL)
    with pytest.raises(IllegalActionError, match="only allows to call"):
        apply_action(HEADS_UP, state, 20_001)

    deep = postflop(1000, 500)
    with pytest.raises(IllegalActionError, match="every opponent is all-in"):
        apply_action(deep, play(deep, CALL, 600), 900)


def test_call_for_less_is_all_in():
    rules = postflop(1000, 300)

    state = play(rules, 900, CALL)

    assert (state.stage, state.committed, state.stacks) == (Stage.SHOWDOWN, (900, 400), (200, 0))
    assert side_pots(state) == ((800, (0, 1)), (500, (0,)))


def test_uncalled_bet_is_returned():
    rules = postflop(1000, 300)

    state = play(rules, 900, CALL)

    assert payoffs(state, (0, 1)) == (-400, 400)
    assert payoffs(state, (1, 0)) == (400, -400)
    assert payoffs(play(rules, 900, FOLD)) == (100, -100)


def test_side_pots_of_three():
    rules = postflop(400, 100, 200, pot_chips=3)

    state = play(rules, 401, CALL, CALL)

    assert side_pots(state) == ((303, (0, 1, 2)), (200, (0, 2)), (200, (0,)))
    assert payoffs(state, (1, 3, 2)) == (-201, 202, -1)
    assert payoffs(state, (3, 2, 1)) == (302, -101, -201)
    assert payoffs(state, (1, 2, 2)) == (-201, 51, 150)  # the odd chip goes to the first seat


def test_folded_chips_stay_in_the_pots():
    rules = postflop(100, 500, 500, pot_chips=3)

    state = play(rules, 101, 301, CALL)  # player 0 is all-in
    assert state.stage is Stage.SHOWDOWN
    assert side_pots(state) == ((303, (0, 1, 2)), (400, (1, 2)))

    state = play(rules, 101, 301, FOLD)
    assert side_pots(state) == ((203, (0, 1)), (200, (1,)))
    assert payoffs(state, (1, 0, 9)) == (102, -101, -1)


def test_three_way_tie_gives_odd_chips_from_the_first_seat_on():
    rules = BettingRules(stacks=(100,) * 4, small_blind=1, big_blind=2, last_street=Street.PREFLOP)

    state = play(rules, CALL, FOLD, CALL, CALL)
    assert payoffs(state, (5, 5, 5, 5)) == (0, 0, 0, 0)

    state = play(rules, CALL, CALL, FOLD, CALL)  # the small blind leaves 1 chip for three
    assert payoffs(state, (9, 5, 5, 5)) == (-1, 1, 0, 0)


def test_short_big_blind_costs_no_more_than_it_can_win():
    rules = BettingRules(stacks=(60, 1000))

    state = initial_betting(rules)
    assert (state.actor, to_call(state), legal_actions(rules, state)) == (1, 10, (FOLD, CALL))
    assert apply_action(rules, state, CALL).committed == (60, 60)


def test_short_big_blind_costs_a_full_one_when_others_can_contest():
    rules = BettingRules(stacks=(1000, 60, 1000))

    assert to_call(initial_betting(rules)) == 100


def test_nothing_is_left_to_decide_when_the_small_blind_covers_the_big_one():
    rules = BettingRules(stacks=(40, 1000))

    state = initial_betting(rules)

    assert (state.stage, state.actor) == (Stage.DEAL, NOBODY)
    assert payoffs(run_out(rules, state), (1, 0)) == (40, -40)


def run_out(rules, state):
    while state.stage is Stage.DEAL:
        state = next_street(rules, state)
    return state


def test_called_all_in_runs_the_board_out():
    state = play(HEADS_UP, 20_000, CALL)

    streets = []
    while state.stage is Stage.DEAL:
        state = next_street(HEADS_UP, state)
        streets.append(state.street)

    assert streets == [Street.FLOP, Street.TURN, Street.RIVER]
    assert state.stage is Stage.SHOWDOWN


def test_betting_goes_on_beside_an_all_in_player():
    rules = BettingRules(stacks=(1000, 1000, 200))

    state = play(rules, 200, CALL, CALL, DEAL)

    assert state.actor == 0
    state = apply_action(rules, state, 400)
    assert state.actor == 1
    assert side_pots(apply_action(rules, state, CALL)) == ((600, (0, 1, 2)), (400, (0, 1)))


def test_last_street_ends_in_a_showdown():
    rules = BettingRules(last_street=Street.FLOP)

    assert play(rules, CALL, CALL, DEAL, CALL, CALL).stage is Stage.SHOWDOWN


def test_limit_has_one_size_a_street_and_a_cap():
    assert legal_actions(LIMIT, play(LIMIT)) == (FOLD, CALL, 4)
    assert legal_actions(LIMIT, play(LIMIT, 4, 6, 8)) == (FOLD, CALL)  # the big blind counts as the first of four bets
    assert legal_actions(LIMIT, play(LIMIT, CALL, CALL, DEAL, 4, 6, 8, 10)) == (FOLD, CALL)
    assert legal_actions(LIMIT, play(LIMIT, CALL, CALL, DEAL, CALL, CALL, DEAL)) == (CALL, 6)


def test_limit_messages_name_the_size_and_the_cap():
    with pytest.raises(IllegalActionError, match="raise to 5 is not legal for player 1: limit betting allows 4"):
        check_action(LIMIT, play(LIMIT), 5)
    with pytest.raises(IllegalActionError, match="the round is capped at 3 bets and raises"):
        check_action(LIMIT, play(LIMIT, 4, 6, 8), 10)


def test_limit_all_in_below_half_a_bet_does_not_reopen():
    less = postflop(1000, 1000, 140, bet_sizes=(100,))
    half = postflop(1000, 1000, 150, bet_sizes=(100,))

    assert legal_actions(less, play(less, 200, CALL, 240)) == (FOLD, CALL)
    assert legal_actions(half, play(half, 200, CALL, 250)) == (FOLD, CALL, 350)


def test_pot_sized_raise_calls_first():
    rules = postflop(19_750, 19_750, pot_chips=500)

    state = play(rules, 750)  # a bet of 500 into 500

    assert pot_after_call(state) == 1500
    assert raise_to_fraction(state, 1.0) == 750 + 1500
    assert raise_to_fraction(initial_betting(rules), 0.5) == 500


@pytest.mark.parametrize(
    ("actions", "action", "message"),
    [
        ((CALL,), FOLD, "fold is not legal for player 0: there is no bet to call, check instead"),
        ((), 150, "raise to 150 is not legal for player 1: the smallest raise is to 200"),
        ((), 20_001, "raise to 20001 is not legal for player 1: the stack allows at most 20000"),
        ((), -1, "action -1 is not legal for player 1: 0 folds, 1 calls, larger ones raise to that total"),
        ((FOLD,), CALL, "action 1 is not legal: nobody acts here, fold is next"),
    ],
)
def test_illegal_action_says_why(actions, action, message):
    state = play(HEADS_UP, *actions)

    with pytest.raises(IllegalActionError) as caught:
        apply_action(HEADS_UP, state, action)

    assert str(caught.value) == message
    assert not is_legal(HEADS_UP, state, action)


def test_questions_without_an_answer_are_refused():
    over = play(HEADS_UP, FOLD)

    with pytest.raises(InvalidStateError, match="nobody acts here, fold is next"):
        to_call(over)
    with pytest.raises(InvalidStateError, match="cards are dealt when a round is over, here fold is next"):
        next_street(HEADS_UP, over)
    with pytest.raises(InvalidStateError, match="only a finished hand has payoffs, here act is next"):
        payoffs(play(HEADS_UP))
    assert legal_actions(HEADS_UP, over) == ()
    assert not legal_raises(HEADS_UP, over)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"stacks": (100,)}, "stacks must name 2 to 6 players, got 1"),
        ({"stacks": (100, 0)}, "stacks must be positive, got 0 for player 1"),
        ({"big_blind": 0, "small_blind": 0}, "big_blind must be at least 1 chip, got 0"),
        ({"small_blind": 200}, "small_blind must be between 0 and the big blind 100, got 200"),
        ({"ante": -1}, "ante must not be negative, got -1"),
        ({"bet_sizes": (2, 0)}, "bet_sizes must be at least 1 on every street"),
        ({"max_raises": (-1,)}, "max_raises must be at least 0 on every street"),
        ({"pot": 10}, "pot must be 0 before the flop"),
        ({"first_street": Street.TURN, "pot": 10, "ante": 1}, "ante must be 0 after the flop"),
        ({"first_street": Street.TURN}, "pot must be a positive multiple of 2, .* got 0"),
        ({"first_street": Street.TURN, "pot": 11}, "got 11; multiply every amount by 2"),
        (
            {"first_street": Street.TURN, "last_street": Street.FLOP, "pot": 10},
            "last_street must not come before first_street turn, got flop",
        ),
    ],
)
def test_impossible_rules_are_refused(changes, message):
    with pytest.raises(ConfigError, match=message):
        BettingRules(**changes)


@st.composite
def random_rules(draw):
    num_players = draw(st.integers(2, 6))
    first = draw(st.sampled_from(Street))
    is_limit = draw(st.booleans())
    big_blind = draw(st.integers(1, 12))
    return BettingRules(
        stacks=tuple(draw(st.lists(st.integers(1, 60), min_size=num_players, max_size=num_players))),
        small_blind=draw(st.integers(0, big_blind)),
        big_blind=big_blind,
        ante=draw(st.integers(0, 5)) if first is Street.PREFLOP else 0,
        bet_sizes=(big_blind, 2 * big_blind) if is_limit else (),
        max_raises=draw(st.sampled_from([(), (3, 4), (1,), (0,)])),
        first_street=first,
        last_street=draw(st.sampled_from([street for street in Street if street >= first])),
        pot=0 if first is Street.PREFLOP else num_players * draw(st.integers(1, 20)),
    )


@st.composite
def random_hands(draw):
    """Draws rules and every state of one hand, chosen action by chosen action."""
    rules = draw(random_rules())
    states = [initial_betting(rules)]
    while states[-1].stage in (Stage.ACT, Stage.DEAL):
        state = states[-1]
        if state.stage is Stage.DEAL:
            states.append(next_street(rules, state))
            continue
        kind = draw(st.sampled_from(["call", "call", "fold", "low", "any", "high"]))
        raises = legal_raises(rules, state)
        action = FOLD if kind == "fold" and to_call(state) else CALL
        if raises and kind in ("low", "any", "high"):
            action = {"low": raises[0], "any": draw(st.sampled_from(raises)), "high": raises[-1]}[kind]
        states.append(apply_action(rules, state, action))
        assert len(states) < 500
    return rules, states


@settings(max_examples=150, deadline=None)
@given(random_hands(), st.lists(st.integers(0, 3), min_size=6, max_size=6))
def test_chips_are_conserved(hand, strengths):
    rules, states = hand
    total = sum(rules.stacks) + rules.pot

    assert all(sum(state.stacks) + pot(state) == total for state in states)
    assert all(min(state.stacks) >= 0 for state in states)
    final = states[-1]
    won = payoffs(final, tuple(strengths))
    assert sum(won) == 0
    assert all(chips >= -paid for chips, paid in zip(won, final.committed, strict=True))
    assert sum(side.chips for side in side_pots(final)) == pot(final)
    assert all(
        chips < 0 for chips, folded, paid in zip(won, final.is_folded, final.committed, strict=True) if folded and paid
    )


@settings(max_examples=100, deadline=None)
@given(random_hands())
def test_one_function_decides_legality(hand):
    rules, states = hand

    for state in states:
        legal = legal_actions(rules, state)
        top = max(legal, default=0) + 3
        assert [action for action in range(-2, top) if is_legal(rules, state, action)] == list(legal)
        assert bool(legal) == (state.stage is Stage.ACT) == (state.actor != NOBODY)


@settings(max_examples=100, deadline=None)
@given(random_hands())
def test_raises_stay_between_the_smallest_and_the_stack(hand):
    rules, states = hand

    for state in states:
        for total in legal_raises(rules, state):
            assert state.price < min_raise_to(state) <= total <= max_raise_to(rules, state) <= all_in_to(state)
            assert total - state.price >= state.raise_size or total == all_in_to(state)


@settings(max_examples=100, deadline=None)
@given(random_hands())
def test_a_round_ends_when_everybody_has_matched_or_is_all_in(hand):
    _, states = hand

    for state in states:
        if state.stage not in (Stage.DEAL, Stage.SHOWDOWN):
            continue
        live = [player for player, folded in enumerate(state.is_folded) if not folded]
        with_chips = [player for player in live if state.stacks[player]]
        assert len(live) > 1
        if len(with_chips) > 1:
            assert {state.committed[player] for player in with_chips} == {state.price}
