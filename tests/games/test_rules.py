# SPDX-License-Identifier: Apache-2.0
"""Single rules of single games, and degenerate worlds in which the outcome is known."""

import math

import pytest

from equipoise.core.errors import IllegalActionError, InvalidStateError
from equipoise.games import TERMINAL, ActionClass, game_names, make_game, parse_game

FOLD, CALL, RAISE = 0, 1, 2


@pytest.mark.parametrize("name", game_names())
def test_illegal_action_says_what_is_legal(name):
    game = make_game(name)

    with pytest.raises(IllegalActionError, match=r"99 is not (legal for player 0; legal|possible; possible): \d+ \("):
        game.apply(game.initial_state(), 99)


@pytest.mark.parametrize("name", game_names())
def test_returns_before_the_end_are_refused(name):
    game = make_game(name)

    with pytest.raises(InvalidStateError, match="only terminal states have returns"):
        game.returns(game.initial_state())


def test_acting_after_the_end_is_refused(play):
    game = make_game("rps_plus")

    with pytest.raises(IllegalActionError, match="the game is over"):
        game.apply(play(game, 0, 0), 0)


def test_fold_is_illegal_without_a_bet(play):
    game = make_game("leduc")

    with pytest.raises(
        IllegalActionError, match=r"action 0 is not legal for player 0; legal: 1 \(check\), 2 \(bet 2\)"
    ):
        game.apply(play(game, 0, 5), FOLD)


def test_third_raise_is_illegal(play):
    game = make_game("leduc")

    with pytest.raises(IllegalActionError):
        game.apply(play(game, 0, 5, RAISE, RAISE), RAISE)


def test_the_same_card_is_not_dealt_twice(play):
    game = make_game("leduc")

    with pytest.raises(IllegalActionError, match="outcome 3 is not possible"):
        game.apply(play(game, 3), 3)


@pytest.mark.parametrize(
    ("cards", "board", "returns"),
    [
        ((0, 4), 1, (13.0, -13.0)),  # a pair of jacks beats a king
        ((2, 4), 0, (-13.0, 13.0)),  # queen below king
        ((4, 5), 0, (0.0, 0.0)),  # kings split
    ],
)
def test_leduc_showdown(cards, board, returns, play):
    game = make_game("leduc")

    state = play(game, *cards, RAISE, RAISE, CALL, board, CALL, RAISE, RAISE, CALL)

    assert game.returns(state) == returns
    assert game.infostate(state, 0).endswith("|rrc/" + game.action_name(play(game), board) + ":crrc")


def test_leduc_player_0_opens_both_rounds(play):
    game = make_game("leduc")

    assert game.actor(play(game, 0, 5)) == 0
    assert game.actor(play(game, 0, 5, CALL, RAISE, CALL, 2)) == 0


def test_leduc_with_more_ranks_than_a_deck_numbers_them():
    game = make_game("leduc", ranks=26)
    names = [game.action_name(game.initial_state(), card) for card, _ in game.chance_outcomes(game.initial_state())]
    assert names[:2] + names[-2:] == ["1s", "1h", "26s", "26h"]
    assert len(set(names)) == 52


def test_leduc_folder_loses_what_it_put_in(play):
    game = make_game("leduc")

    assert game.returns(play(game, 0, 5, RAISE, RAISE, FOLD)) == (-3.0, 3.0)


def test_leduc5_raise_adds_its_size_to_the_call(play):
    game = make_game("leduc5")

    state = play(game, 0, 2, RAISE + 4, RAISE)  # 8 on top of the ante, then a call and a half

    assert state.chips == (9.0, 9.5)
    assert game.infostate(state, 1) == "K|r8r0.5"


def test_leduc_without_bets_is_a_showdown_for_the_ante(uniform_value, count_states):
    game = make_game("leduc", max_raises=0)

    assert uniform_value(game) == pytest.approx(0.0, abs=1e-12)
    assert count_states(game).terminals == 6 * 5 * 4
    assert (game.spec.min_utility, game.spec.max_utility) == (-1.0, 1.0)


def test_nolimit_sizes_are_fractions_of_the_pot_after_calling(play):
    game = make_game("leduc_nolimit")

    names = [game.action_name(state, 2) for state in (play(game, 0, 5), play(game, 0, 5, RAISE + 1))]

    assert names == ["bet 1", "raise 3"]  # half of 2, half of 3 + 3


def test_deepstack_leduc_bets_the_pot_three_times_at_most(play):
    """Its betting: antes of 100 grow to 300 and 900 by bets of the pot, then there is all-in alone."""
    game = make_game("leduc_nolimit", ante=100, stack=1200, first_sizes="1", second_sizes="1")

    states = [play(game, 0, 5), play(game, 0, 5, RAISE), play(game, 0, 5, RAISE, RAISE)]
    names = [[game.action_name(state, action) for action in game.legal_actions(state)] for state in states]

    assert names == [
        ["check", "bet 200", "all-in"],
        ["fold", "call", "raise 600", "all-in"],
        ["fold", "call", "all-in"],
    ]
    assert (game.spec.min_utility, game.spec.max_utility) == (-1200.0, 1200.0)


def test_nolimit_size_that_reaches_the_stack_is_left_to_all_in(play):
    game = make_game("leduc_nolimit", stack=3)

    state = play(game, 0, 5)

    assert [game.action_name(state, action) for action in game.legal_actions(state)] == [
        "check",
        "bet 1",
        "all-in",
    ]
    assert game.legal_actions(state) == (1, 2, 4)
    assert game.action_class(state, 4) is ActionClass.RAISE


def test_called_all_in_goes_straight_to_showdown(play):
    game = make_game("leduc_nolimit")

    state = play(game, 0, 5, RAISE + 2, CALL, 1)

    assert game.actor(state) == TERMINAL
    assert game.returns(state) == (12.0, -12.0)


def test_pot_fractions_are_rounded_to_exact_chips(play):
    game = make_game("leduc_nolimit", first_sizes="0.1", stack=100)

    state = play(game, 0, 5, RAISE, RAISE, RAISE)

    assert all((amount * 64).is_integer() for amount in state.chips)


def test_nolimit_raises_end_where_the_stack_does():
    spec = make_game("leduc_nolimit").spec

    assert spec.max_length == 3 + 2 * (2 + 4)  # 1 to 2 to 4 to 8 to 12 chips


@pytest.mark.parametrize(
    ("bets", "returns"),
    [
        ((0, 0, 0), (-1.0, -1.0, 2.0)),
        ((1, 0, 0), (2.0, -1.0, -1.0)),
        ((0, 0, 1, 1, 0), (-2.0, -1.0, 3.0)),
        ((1, 1, 1), (-2.0, -2.0, 4.0)),
    ],
)
def test_kuhn_for_three(bets, returns, play):
    game = make_game("kuhn", players=3)

    assert game.returns(play(game, 0, 1, 2, *bets)) == returns


def test_kuhn_actions_have_their_poker_names(play):
    game = make_game("kuhn")

    opening, facing = play(game, 0, 1), play(game, 0, 1, 1)

    assert [game.action_name(opening, action) for action in (0, 1)] == ["check", "bet"]
    assert [game.action_name(facing, action) for action in (0, 1)] == ["fold", "call"]
    assert game.action_class(facing, 0) is ActionClass.FOLD
    assert game.action_class(opening, 0) is ActionClass.CALL


def test_coin_toss_blueprint_values(play):
    game = make_game("coin_toss")
    guesses = (1 / 2, 1 / 4, 1 / 4)  # of the thesis, section 5.1.2: playing is then worth 0 and 1/2

    values = [
        math.fsum(weight * game.returns(play(game, coin, 1, guess))[0] for guess, weight in enumerate(guesses))
        for coin in (0, 1)
    ]

    assert values == [0.0, 0.5]
    assert [game.returns(play(game, coin, 0))[0] for coin in (0, 1)] == [0.5, -0.5]


def test_coin_toss_subgames_are_public(play):
    game = make_game("coin_toss", subgames=2)

    assert game.public_state(play(game, 0, 1, 1)) == game.infostate(play(game, 1, 1, 1), 1) == "guess in subgame 2"


def test_goofspiel_hides_the_first_bid_from_the_second_bidder(play):
    game = make_game("goofspiel")

    low, high = play(game, 0), play(game, 4)

    assert game.infostate(low, 1) == game.infostate(high, 1)
    assert game.infostate(low, 0) != game.infostate(high, 0)


def test_goofspiel_reveals_bids_only_if_asked(play):
    shown, hidden = make_game("goofspiel"), make_game("goofspiel", reveal_bids=False)

    assert shown.infostate(play(shown, 3, 1), 1) == "|1:4-2 2:"
    assert hidden.infostate(play(hidden, 3, 1), 1) == "2|1:> 2:"


def test_goofspiel_last_card_is_forced_either_way(play):
    automatic, played = make_game("goofspiel", cards=2), make_game("goofspiel", cards=2, auto_last=False)

    assert automatic.returns(play(automatic, 0, 1)) == (1.0, -1.0)
    assert played.returns(play(played, 0, 1, 1, 0)) == (1.0, -1.0)
    assert played.legal_actions(play(played, 0, 1)) == (1,)


@pytest.mark.parametrize(
    ("hands", "bid", "returns"),
    [
        ((0, 0), "2-1", (1.0, -1.0)),  # two ones
        ((0, 5), "2-1", (1.0, -1.0)),  # a one and a wild six
        ((0, 5), "2-6", (-1.0, 1.0)),  # wild dice do not make others sixes
        ((1, 2), "1-1", (-1.0, 1.0)),
    ],
)
def test_liars_dice_challenge(hands, bid, returns, play):
    game = make_game("liars_dice")
    state = play(game, *hands)
    bids = {game.action_name(state, action): action for action in game.legal_actions(state)}

    assert game.returns(play(game, *hands, bids[bid], 12)) == returns


def test_liars_dice_opens_with_a_bid_and_ends_with_a_challenge(play):
    game = make_game("liars_dice", faces=2)

    assert game.legal_actions(play(game, 0, 0)) == (0, 1, 2, 3)
    assert game.legal_actions(play(game, 0, 0, 3)) == (4,)


def test_liars_dice_hands_are_sorted():
    game = make_game("liars_dice", dice=2, faces=3)
    root = game.initial_state()

    hands = {game.action_name(root, hand): probability for hand, probability in game.chance_outcomes(root)}

    assert hands == pytest.approx({"11": 1 / 9, "12": 2 / 9, "13": 2 / 9, "22": 1 / 9, "23": 2 / 9, "33": 1 / 9})


def test_matrix_of_one_cell_has_one_outcome(count_states):
    game = make_game("matrix", payoffs="3")

    assert count_states(game) == (3, 1, (1, 1))
    assert (game.spec.min_utility, game.spec.max_utility) == (-3.0, 3.0)


def test_matrix_general_sum_pays_from_both_tables(play):
    game = parse_game("matrix(payoffs=3,0;5,1,column_payoffs=3,5;0,1)")

    assert game.returns(play(game, 1, 0)) == (5.0, 0.0)
    assert not game.spec.is_zero_sum


def test_scissors_double_the_stakes(play):
    game = make_game("rps_plus")

    assert [game.returns(play(game, 0, column))[0] for column in range(3)] == [0.0, -1.0, 2.0]


def test_tic_tac_toe_ends_with_a_line(play):
    game = make_game("tic_tac_toe")

    assert game.returns(play(game, 0, 3, 1, 4, 2)) == (1.0, -1.0)
    assert game.returns(play(game, 0, 1, 3, 4, 2, 7)) == (-1.0, 1.0)
    assert game.returns(play(game, 0, 1, 2, 4, 3, 5, 7, 6, 8)) == (0.0, 0.0)


def test_first_player_always_wins_on_two_by_two(count_states, uniform_value):
    game = make_game("phantom_tic_tac_toe", rows=2, columns=2)

    assert uniform_value(game) == 1.0


def test_phantom_failed_attempt_is_seen_as_failed_but_not_where(play):
    game = make_game("phantom_tic_tac_toe")

    state = play(game, 4, 4)

    assert game.actor(state) == 1
    assert game.legal_actions(state) == (0, 1, 2, 3, 5, 6, 7, 8)
    assert (game.infostate(state, 0), game.infostate(state, 1)) == ("b2|x o!", "b2!|x o!")


def test_phantom_stone_is_not_tried_again(play):
    game = make_game("phantom_tic_tac_toe")

    with pytest.raises(IllegalActionError):
        game.apply(play(game, 4, 0), 4)
