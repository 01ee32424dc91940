# SPDX-License-Identifier: Apache-2.0
"""Hold'em as a game: deals, showdowns, information, and what its parameters may be."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise.core.errors import ConfigError, IllegalActionError, ParseError
from equipoise.games import CHANCE, TERMINAL, ActionClass, check_game, make_game, parse_game
from equipoise.games.base import classify_actions
from equipoise.games.holdem.cards import format_card, parse_card
from equipoise.games.playthrough import random_playthrough

FOLD, CALL = 0, 1
RIVER = "holdem_endgame(deck=tiny,board=ThJhQsKsAh,pot=4,stacks=6,6,big_blind=2,small_blind=1,menu={})"
TURN = "holdem_endgame(deck=tiny,board=ThJhQsKs,pot=4,stacks=6,6,big_blind=2,small_blind=1,menu=100%,a,ranges={})"
PREFLOP = "holdem(deck=QKA/chs,last_street=flop,stacks=5,4,small_blind=1,big_blind=2,menu=a,ranges=AcAh,KcKs|QcQh,AcKh)"


def cards(text):
    return [parse_card(text[i : i + 2]) for i in range(0, len(text), 2)]


def deal(game, *pieces):
    """Returns the state after hands, boards (text) and actions."""
    state = game.initial_state()
    for piece in pieces:
        for action in sorted(cards(piece)) if isinstance(piece, str) else [piece]:
            state = game.apply(state, action)
    return state


@pytest.mark.parametrize(
    "text",
    [
        RIVER.format("all"),
        RIVER.format("libratus"),
        TURN.format("AhAs,KhJs:0.5|AhKh,AsTs:0.25,JsTs"),
        PREFLOP,
        PREFLOP.replace("holdem", "flop_holdem").replace("stacks=5,4", "stacks=50,50"),
        PREFLOP.replace("menu=a", "ante=1,menu=a"),
    ],
)
def test_every_history_of_a_small_game_conforms(text):
    report = check_game(parse_game(text), rng=np.random.default_rng(1), max_states=30_000)

    assert report.is_complete
    assert report.has_public_states


@pytest.mark.parametrize(
    "text",
    [
        "holdem(deck=short,stacks=300,90,500,small_blind=5,big_blind=10,ante=1,menu=33%,100%,a)",
        "holdem(stacks=30,40,20,small_blind=1,big_blind=2,menu=all)",
        "holdem_endgame(board=Ks7h2d,pot=30,stacks=90,45,60,big_blind=2,small_blind=1)",
        "holdem_limit(stacks=10,30,menu=all)",
        "holdem(deck=JQKA/chs,board=JcJhQcKsAs,pot=3,stacks=4,2,1,big_blind=1,small_blind=0,menu=all)",
    ],
)
def test_random_games_of_a_larger_game_conform(text):
    check_game(parse_game(text), rng=np.random.default_rng(3), max_states=50, num_playthroughs=25)


def test_every_amount_may_be_raised_to():
    game = make_game("holdem", menu="all")

    legal = game.legal_actions(deal(game, "AhAs", "KhKs"))

    assert legal == (FOLD, CALL, *range(200, 20_001))


def test_menu_limits_what_is_legal():
    game = make_game("holdem")
    state = deal(game, "AhAs", "KhKs")

    assert game.legal_actions(state) == (FOLD, CALL, 300, 20_000)
    assert [game.action_name(state, action) for action in game.legal_actions(state)] == [
        "fold",
        "call",
        "raise to 300",
        "all-in",
    ]
    with pytest.raises(IllegalActionError, match="raise to 400 is not on the menu for player 1, which offers 300, 200"):
        game.apply(state, 400)
    with pytest.raises(
        IllegalActionError, match="raise to 150 is not legal for player 1: the smallest raise is to 200"
    ):
        game.apply(state, 150)


def test_cards_come_in_ascending_order_with_the_weight_of_their_set():
    game = make_game("holdem", deck="tiny", stacks="2,2", small_blind=1, big_blind=2, menu="a")
    probabilities = {}

    stack = [(game.initial_state(), 1.0)]
    while stack:
        state, reach = stack.pop()
        if len(state.hole) == 4:
            probabilities[state.hole] = reach
            continue
        stack += [(game.apply(state, card), reach * chance) for card, chance in game.chance_outcomes(state)]

    assert len(probabilities) == math.comb(10, 2) * math.comb(8, 2)
    assert all(hole[0] < hole[1] and hole[2] < hole[3] for hole in probabilities)
    assert list(probabilities.values()) == pytest.approx([1 / len(probabilities)] * len(probabilities))


def test_flop_is_one_set_and_turn_and_river_follow():
    game = make_game("holdem")
    state = deal(game, "AhAs", "KhKs", CALL, CALL, "2c9d", "Jh")

    assert game.public_state(state) == "cc/2c9dJh:"
    assert game.public_state(deal(game, "AhAs", "KhKs", CALL, CALL, "Jh9d2c", CALL, CALL, "3c")) == "cc/2c9dJh:cc/3c:"
    with pytest.raises(IllegalActionError, match="outcome 0 is not possible"):
        game.apply(deal(game, "AhAs", "KhKs", CALL, CALL, "9d"), parse_card("2c"))


def test_information_is_the_own_hand_and_the_public_play():
    game = make_game("holdem")
    state = deal(game, "AhKs", "2c2d", 300, CALL, "4h5h6h", CALL, 900)

    assert game.infostate(state, 0) == "AhKs|r300c/4h5h6h:cr900"
    assert game.infostate(state, 1) == "2d2c|r300c/4h5h6h:cr900"
    assert game.infostate(deal(game, "AhKs"), 1) == "?|deal 2"
    assert game.describe(state) == "hands AhKs 2d2c, board 4h5h6h, put in 300 900, play r300c/4h5h6h:cr900"


def test_action_classes():
    game = make_game("holdem")
    state = deal(game, "AhKs", "2c2d")

    classes = [game.action_class(state, action) for action in game.legal_actions(state)]
    assert classes == [ActionClass.FOLD, ActionClass.CALL, ActionClass.RAISE, ActionClass.RAISE]
    assert game.action_class(game.initial_state(), 0) is ActionClass.OTHER
    assert game.action_classes(game.initial_state(), (0, 1)) == (ActionClass.OTHER, ActionClass.OTHER)
    for number in range(20):
        for state, _ in random_playthrough(game, rng=np.random.default_rng(number)):
            actions = game.legal_actions(state)
            assert classify_actions(game, state, actions) == tuple(game.action_class(state, each) for each in actions)


@pytest.mark.parametrize(
    ("hands", "board", "returns"),
    [
        (("AhAs", "KhKs"), ("2c3d5h", "7s", "9c"), (20_000.0, -20_000.0)),
        (("AhAs", "KhKs"), ("2c3dKd", "7s", "9c"), (-20_000.0, 20_000.0)),
        (("AhAs", "AcAd"), ("2c3d5h", "7s", "9c"), (0.0, 0.0)),
    ],
)
def test_called_all_in_is_dealt_to_the_end(hands, board, returns):
    game = make_game("holdem")

    state = deal(game, *hands, 20_000, CALL, *board)

    assert game.actor(state) == TERMINAL
    assert game.returns(state) == returns
    assert game.public_state(state) == "r20000c/2c3d" + board[0][-2:] + ":/7s:/9c:"


def test_folder_loses_what_was_put_in():
    game = make_game("holdem")

    assert game.returns(deal(game, "AhAs", "KhKs", FOLD)) == (50.0, -50.0)
    assert game.returns(deal(game, "AhAs", "KhKs", 300, FOLD)) == (-100.0, 100.0)


def test_flop_holdem_ends_on_the_flop():
    game = make_game("flop_holdem")

    state = deal(game, "AhAs", "KhKs", CALL, CALL, "2c3dKd", CALL, CALL)

    assert game.actor(state) == TERMINAL
    assert game.returns(state) == (-2.0, 2.0)


def test_endgame_starts_with_its_board_and_pot():
    game = make_game("holdem_endgame")
    state = deal(game, "AhAs", "KhKs")

    assert game.actor(state) == 0
    assert game.public_state(state) == "4s8hTc9h2s:"
    assert game.legal_actions(state) == (CALL, 500, 750, 20_000)
    assert game.returns(game.apply(game.apply(state, CALL), CALL)) == (250.0, -250.0)


def test_order_of_a_given_flop_does_not_matter():
    one, other = (make_game("holdem_endgame", board=board) for board in ("4s8hTc9h2s", "Tc 4s, 8h9h2s"))

    assert one == other
    assert one.spec.label == other.spec.label
    assert one != make_game("holdem_endgame", board="4s8h9hTc2s")


def test_side_pots_of_three_players():
    game = make_game("holdem", stacks="300,100,200", small_blind=5, big_blind=10, menu="all")

    # player 2 is first; the shortest stack has the best hand, the second shortest the next one
    state = deal(game, "2h7d", "AhAs", "KhKs", CALL, 300, CALL, CALL, "3c4d9h", "Js", "Tc")

    assert game.returns(state) == (-200.0, 200.0, 0.0)


def test_blinds_that_put_everybody_all_in_leave_only_the_cards():
    game = make_game("holdem", stacks="2,1", small_blind=1, big_blind=2)
    state = deal(game, "AhAs", "KhKs")

    assert game.actor(state) == CHANCE
    assert game.public_state(state) == "/"
    assert game.returns(deal(game, "AhAs", "KhKs", "2c3d5h", "7s", "9c")) == (1.0, -1.0)


def test_six_players_may_all_stay():
    game = make_game("holdem_six")
    hands = ["2c2d", "3c3d", "4c4d", "5c5d", "6c6d", "7c7d"]

    state = deal(game, *hands, *[CALL] * 6, "9hJsQh", *[CALL] * 6, "Kd", *[CALL] * 6, "As", *[CALL] * 6)

    assert game.returns(state) == (-100.0,) * 5 + (500.0,)
    assert (game.spec.min_utility, game.spec.max_utility) == (-10_000.0, 50_000.0)


def test_ranges_weigh_the_pairs_of_hands_that_are_possible():
    game = parse_game(TURN.format("AhAs,KhJs:0.5|AhKh,AsTs:0.25,AhTs"))
    joint = {}
    for state, reach in walk_hands(game):
        joint["".join(format_card(card) for card in state.hole)] = reach

    # weights: AsAh with nothing; KhJs (0.5) with AsTs (0.25), AhTs (1)
    assert joint == pytest.approx({"JsKhTsAs": 0.2, "JsKhTsAh": 0.8})


def walk_hands(game):
    stack = [(game.initial_state(), 1.0)]
    while stack:
        state, reach = stack.pop()
        if len(state.hole) == 4:
            yield state, reach
        else:
            stack += [(game.apply(state, card), reach * chance) for card, chance in game.chance_outcomes(state)]


def test_full_ranges_deal_as_no_ranges_do():
    plain = parse_game(RIVER.format("a"))
    ranged = make_game(plain.spec.name, **{**plain.spec.parameters, "ranges": "random|random"})

    expected = {state.hole: reach for state, reach in walk_hands(plain)}
    assert {state.hole: reach for state, reach in walk_hands(ranged)} == pytest.approx(expected)


@pytest.mark.parametrize("text", [RIVER.format("50%,a; cap: 3"), TURN.format("AhAs,KhJs:0.5|AsTs"), PREFLOP])
def test_labels_give_the_game_back(text):
    game = parse_game(text)

    assert parse_game(game.spec.label) == game
    assert make_game(game.spec.name, **game.spec.parameters) == game


def test_texts_that_mean_the_same_make_the_same_game():
    one = make_game("holdem_endgame", menu="50%,100%, a/100%,a", ranges="KK,AA|QQ", deck="FULL")
    other = make_game("holdem_endgame", menu=" 50%, 100%, A / 100%, a ", ranges="KK+ | QQ")

    assert one == other


@pytest.mark.parametrize(
    ("name", "parameters", "error", "message"),
    [
        ("holdem", {"deck": "TJ/hs"}, ConfigError, "deck must have at least 9 cards for 2 players, got 4"),
        ("holdem_six", {"deck": "TJQKA/chs"}, ConfigError, "deck must have at least 17 cards for 6 players, got 15"),
        ("holdem", {"deck": "sixty"}, ParseError, "a deck is full, short"),
        ("holdem", {"board": "AhAh2c"}, ParseError, "Ah twice"),
        ("holdem", {"board": "AhKh"}, ParseError, "a board has 0, 3, 4 or 5 cards, got 2"),
        ("holdem", {"board": "AhKhQh"}, ConfigError, "pot must be a positive multiple of 2"),
        ("holdem", {"stacks": "0,100"}, ConfigError, "stacks must be positive, got 0 for player 0"),
        ("holdem", {"stacks": "100"}, ConfigError, "stacks must name 2 to 6 players, got 1"),
        ("holdem", {"last_street": "preflop"}, ConfigError, "last_street must be one of flop, turn, river"),
        ("holdem", {"menu": "min"}, ConfigError, "menu never closes"),
        ("holdem", {"menu": "flop: 50%"}, ConfigError, "menu has no sizes for preflop oop"),
        ("holdem", {"menu": "half"}, ConfigError, "unknown menu 'half'"),
        ("holdem_endgame", {"last_street": "turn"}, ConfigError, "last_street must not come before first_street river"),
        ("holdem_endgame", {"ranges": "AA"}, ConfigError, "two ranges around a bar such as 'AA, KK | QQ\\+', got 'AA'"),
        ("holdem_endgame", {"ranges": "4s4h|AA"}, ConfigError, "blocks every hand of the range of player 0"),
        ("holdem_six", {"ranges": "AA|KK"}, ConfigError, "ranges need two players, got 6 stacks"),
    ],
)
def test_bad_parameters_say_what_is_allowed(name, parameters, error, message):
    with pytest.raises(error, match=message):
        make_game(name, **parameters)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.integers(1, 400), min_size=2, max_size=6),
    st.integers(0, 3),
    st.sampled_from(["all", "fcpa", "libratus", "supremus", "33%, 2.5x, a"]),
    st.integers(0, 2**32),
)
def test_every_hand_ends_and_pays_out_what_was_put_in(stacks, ante, menu, seed):
    game = make_game("holdem", stacks=stacks, small_blind=1, big_blind=3, ante=ante, menu=menu)
    rng = np.random.default_rng(seed)

    states = [state for state, _ in random_playthrough(game, rng=rng)]

    returns = game.returns(states[-1])
    assert sum(returns) == 0
    assert len(states) - 1 <= game.spec.max_length
    assert all(game.spec.min_utility <= value <= game.spec.max_utility for value in returns)
    assert all(value >= -stack for value, stack in zip(returns, stacks, strict=True))
