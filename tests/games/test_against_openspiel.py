# SPDX-License-Identifier: Apache-2.0
"""Our rules beside OpenSpiel's, move by move, in random games."""

import collections
import itertools
import math

import numpy as np
import pytest

from equipoise.games import CHANCE, TERMINAL, make_game, parse_game
from equipoise.games.playthrough import random_playthrough

pyspiel = pytest.importorskip("pyspiel")

PAIRS = [  # ours, OpenSpiel's
    ("kuhn", "kuhn_poker"),
    ("kuhn(players=3)", "kuhn_poker(players=3)"),
    ("kuhn(players=5)", "kuhn_poker(players=5)"),
    ("leduc", "leduc_poker"),
    ("leduc(merge_suits=true)", "leduc_poker(suit_isomorphism=true)"),
    ("liars_dice", "liars_dice"),
    ("liars_dice(faces=4)", "liars_dice(dice_sides=4)"),
    ("liars_dice(dice=2,faces=3)", "liars_dice(numdice=2,dice_sides=3)"),
    (
        "goofspiel(cards=4,reveal_bids=false,payoff=win_loss)",
        "goofspiel(num_cards=4,imp_info=True,points_order=ascending)",
    ),
    (
        "goofspiel(cards=5,prizes=random,reveal_bids=false,payoff=half_difference)",
        "goofspiel(num_cards=5,imp_info=True,points_order=random,returns_type=point_difference)",
    ),
    ("tic_tac_toe", "tic_tac_toe"),
    ("phantom_tic_tac_toe", "phantom_ttt(obstype=reveal-numturns)"),
]
# with bids revealed OpenSpiel forgets which bid was made when: its information states are coarser
COARSER_PAIRS = [
    (
        "goofspiel(cards=5,payoff=half_difference)",
        "goofspiel(num_cards=5,points_order=ascending,returns_type=point_difference)",
    ),
    (
        "goofspiel(cards=4,prizes=descending,payoff=win_loss)",
        "goofspiel(num_cards=4,points_order=descending)",
    ),
]


def load(text):
    game = pyspiel.load_game(text)
    is_simultaneous = game.get_type().dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS
    return pyspiel.convert_to_turn_based(game) if is_simultaneous else game


def advance(game, state, action, theirs):
    """Applies one of our actions to OpenSpiel's state; a hand of dice is rolled there die by die."""
    if game.spec.name == "liars_dice" and game.actor(state) == CHANCE:
        for face in game.action_name(state, action):
            theirs.apply_action(int(face) - 1)
    else:
        theirs.apply_action(action)


def compare_state(game, state, theirs, infosets):
    """Asserts that one state agrees; notes the information state of the actor on both sides."""
    actor = game.actor(state)
    assert (actor == TERMINAL, actor == CHANCE) == (theirs.is_terminal(), theirs.is_chance_node())
    if actor == TERMINAL:
        assert game.returns(state) == pytest.approx(tuple(theirs.returns()), abs=1e-12)
    elif actor >= 0:
        assert actor == theirs.current_player()
        assert list(game.legal_actions(state)) == theirs.legal_actions()
        infosets.add((actor, game.infostate(state, actor), theirs.information_state_string(actor)))
    elif game.spec.name != "liars_dice":
        assert sorted(theirs.chance_outcomes()) == [
            (outcome, pytest.approx(probability)) for outcome, probability in game.chance_outcomes(state)
        ]


def compare_games(ours, theirs, num_games):
    """Returns the pairs of information states met in random games that agree in every value."""
    game, their_game = parse_game(ours), load(theirs)
    infosets = set()
    for seed in range(num_games):
        their_state = their_game.new_initial_state()
        for state, action in random_playthrough(game, rng=np.random.default_rng(seed)):
            compare_state(game, state, their_state, infosets)
            if action is not None:
                advance(game, state, action, their_state)
    return infosets


@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
def test_random_games_agree(ours, theirs):
    infosets = compare_games(ours, theirs, num_games=150)

    assert len({(player, mine) for player, mine, _ in infosets}) == len(infosets)
    assert len({(player, other) for player, _, other in infosets}) == len(infosets)


@pytest.mark.parametrize(("ours", "theirs"), COARSER_PAIRS)
def test_random_games_agree_where_openspiel_forgets(ours, theirs):
    infosets = compare_games(ours, theirs, num_games=150)

    assert len({(player, mine) for player, mine, _ in infosets}) == len(infosets)


@pytest.mark.parametrize(("dice", "faces"), [(1, 6), (2, 3), (3, 2)])
def test_hands_of_dice_have_the_weights_of_single_rolls(dice, faces):
    single = load(f"liars_dice(numdice={dice},dice_sides={faces})").new_initial_state().chance_outcomes()
    expected = collections.Counter()
    for rolls in itertools.product(single, repeat=dice):
        hand = "".join(sorted(str(face + 1) for face, _ in rolls))
        expected[hand] += math.prod(probability for _, probability in rolls)

    game = make_game("liars_dice", dice=dice, faces=faces)
    root = game.initial_state()
    got = {game.action_name(root, hand): probability for hand, probability in game.chance_outcomes(root)}

    assert got == pytest.approx(dict(expected))


def test_leduc_spec_agrees():
    ours, theirs = make_game("leduc").spec, load("leduc_poker")

    assert (ours.min_utility, ours.max_utility) == (theirs.min_utility(), theirs.max_utility())
