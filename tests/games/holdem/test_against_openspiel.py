# SPDX-License-Identifier: Apache-2.0
"""Our hold'em beside OpenSpiel's `universal_poker` (the ACPC's rules), move by move, in random hands.

Both raise to totals over the hand and number cards alike. With three players and unequal stacks the rules differ, and
so these hands are compared with equal stacks only: after an all-in below a full raise the ACPC reopens the betting and
asks for a smaller next raise (`test_short_all_in_is_where_the_rules_differ`). A chip that cannot be split is halved
there and goes to the first seat here.
"""

import numpy as np
import pytest

from equipoise.games import CHANCE, TERMINAL, parse_game

pyspiel = pytest.importorskip("pyspiel")

COMMON = "numSuits=4,numRanks=13,numHoleCards=2,bettingAbstraction=fullgame"
FOUR = f"{COMMON},numRounds=4,numBoardCards=0 3 1 1"
NO_LIMIT = f"universal_poker(betting=nolimit,numPlayers=2,firstPlayer=2 1 1 1,{FOUR},"
PAIRS = [  # ours, OpenSpiel's, hands, what an odd chip may change
    ("holdem(menu=all)", NO_LIMIT + "blind=100 50,stack=20000 20000)", 25, 0.0),
    ("holdem(menu=all,stacks=1000,1000)", NO_LIMIT + "blind=100 50,stack=1000 1000)", 100, 0.0),
    ("holdem(menu=all,stacks=730,1000)", NO_LIMIT + "blind=100 50,stack=730 1000)", 100, 0.0),
    ("holdem(menu=all,stacks=1000,250)", NO_LIMIT + "blind=100 50,stack=1000 250)", 100, 0.0),
    (
        "holdem(menu=all,last_street=flop,stacks=900,900)",
        f"universal_poker(betting=nolimit,numPlayers=2,firstPlayer=2 1,{COMMON},numRounds=2,numBoardCards=0 3,"
        "blind=100 50,stack=900 900)",
        100,
        0.0,
    ),
    (
        "holdem(menu=all,stacks=600,600,600,small_blind=30,big_blind=60)",
        f"universal_poker(betting=nolimit,numPlayers=3,firstPlayer=3 1 1 1,{FOUR},blind=30 60 0,stack=600 600 600)",
        200,
        0.5,
    ),
]
LIMIT = (
    f"universal_poker(betting=limit,numPlayers=2,firstPlayer=2 1 1 1,{FOUR},blind=10 5,raiseSize=10 10 20 20,"
    "maxRaises=3 4 4 4,stack=2400 2400)"
).replace("bettingAbstraction=fullgame,", "")


def choose(game, state, rng):
    """Returns a card, or an action among which calls, small raises and all-in are all likely."""
    outcomes = game.chance_outcomes(state)
    if outcomes:
        return int(rng.choice([card for card, _ in outcomes], p=[chance for _, chance in outcomes]))
    legal = game.legal_actions(state)
    likely = [action for action in legal if action <= 1] * 3 + [legal[-1], legal[min(2, len(legal) - 1)]]
    return int(rng.choice([*likely, int(rng.choice(legal))]))


def compare_hand(game, theirs, rng, translate=lambda action: action, odd_chip=0.0):
    """Asserts that one random hand agrees in every state."""
    state = game.initial_state()
    while True:
        actor = game.actor(state)
        assert (actor == TERMINAL, actor == CHANCE) == (theirs.is_terminal(), theirs.is_chance_node())
        if actor == TERMINAL:
            assert game.returns(state) == pytest.approx(tuple(theirs.returns()), abs=odd_chip)
            return
        if actor >= 0:
            assert actor == theirs.current_player()
            assert [translate(action) for action in game.legal_actions(state)] == theirs.legal_actions()
        action = choose(game, state, rng)
        theirs.apply_action(translate(action) if actor >= 0 else action)
        state = game.apply(state, action)


@pytest.mark.parametrize(("ours", "theirs", "num_hands", "odd_chip"), PAIRS)
def test_random_no_limit_hands_agree(ours, theirs, num_hands, odd_chip):
    game, other = parse_game(ours), pyspiel.load_game(theirs)
    rng = np.random.default_rng(7)

    for _ in range(num_hands):
        compare_hand(game, other.new_initial_state(), rng, odd_chip=odd_chip)


def test_random_limit_hands_agree():
    game = parse_game("holdem_limit(small_blind=5,big_blind=10,bet_sizes=10,10,20,20,stacks=2400,2400)")
    other = pyspiel.load_game(LIMIT)
    rng = np.random.default_rng(8)

    for _ in range(100):
        compare_hand(game, other.new_initial_state(), rng, translate=lambda action: min(action, 2))


def test_random_hands_with_the_fcpa_menu_agree():
    text = f"{NO_LIMIT}blind=100 50,stack=20000 20000)".replace("fullgame", "fcpa")
    game, other = parse_game("holdem(menu=fcpa)"), pyspiel.load_game(text)
    rng = np.random.default_rng(9)
    names = {0: 0, 1: 1, 20_000: 3}  # and the pot is 2

    for _ in range(100):
        compare_hand(game, other.new_initial_state(), rng, translate=lambda action: names.get(action, 2))


def test_short_all_in_is_where_the_rules_differ():
    game = parse_game("holdem(menu=all,stacks=1000,1000,250)")
    text = f"betting=nolimit,numPlayers=3,firstPlayer=3 1 1 1,{FOUR},blind=50 100 0,stack=1000 1000 250"
    theirs = pyspiel.load_game(f"universal_poker({text})").new_initial_state()
    state = game.initial_state()

    # three limp; on the flop a bet of 100, a call, all-in for 150
    for action in (*range(6), 1, 1, 1, 10, 11, 12, 200, 1, 250):
        state = game.apply(state, action)
        theirs.apply_action(action)

    assert game.legal_actions(state) == (0, 1)
    assert theirs.legal_actions() == [0, 1, *range(300, 1001)]
