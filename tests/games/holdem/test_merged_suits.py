# SPDX-License-Identifier: Apache-2.0
"""Hold'em merged by suits: the same game as its enumeration, smaller."""

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games.holdem.cards import parse_board
from equipoise.games.holdem.isomorphism import canonical_flops
from equipoise.games.holdem.merged_suits import SuitMergedHoldem
from equipoise.games.registry import parse_game
from equipoise.solvers.best_response import evaluate
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rules import CFRPlus
from equipoise.trees.derive import derive_public_game
from equipoise.trees.public import build_public_tree
from equipoise.trees.public_pairs import joint_weights

FLOP_GAME = "flop_holdem(deck=QKA/cdh,max_raises=1,0)"
TURN_GAME = (
    "holdem(deck=QKA/cdhs,board=QcKcAc,last_street=turn,pot=4,stacks=6,3,big_blind=2,small_blind=1,menu=a,"
    "max_raises=1,1,1,ranges=QQ,KK,KQs|AA,AQo,KQs)"
)


@pytest.fixture(scope="module")
def form():
    return SuitMergedHoldem(parse_game("flop_holdem(deck=JQKA/cdhs,max_raises=1,1)"))


@pytest.fixture(scope="module")
def tree(form):
    return build_public_tree(form)


@pytest.mark.parametrize("text", [FLOP_GAME, TURN_GAME])
def test_it_is_the_game_itself(text):
    game = parse_game(text)
    merged, whole = build_public_tree(SuitMergedHoldem(game)), build_public_tree(derive_public_game(game))
    ours, theirs = evaluate(merged, merged.legal_share), evaluate(whole, whole.legal_share)
    assert merged.actor.size < whole.actor.size
    assert ours.values == pytest.approx(theirs.values, abs=1e-12)
    assert ours.best_response_values == pytest.approx(theirs.best_response_values, abs=1e-12)
    solved = CFRSolver(merged, CFRPlus()), CFRSolver(whole, CFRPlus())
    for solver in solved:
        solver.iterate(60)
    ours, theirs = (solver.evaluate() for solver in solved)
    most = ours.nash_conv + theirs.nash_conv
    assert most < 0.03 * merged.utility_range
    assert ours.values[0] == pytest.approx(theirs.values[0], abs=most)


def test_information_states_are_some_of_the_games():
    game = parse_game(TURN_GAME)
    merged, whole = build_public_tree(SuitMergedHoldem(game)), build_public_tree(derive_public_game(game))
    form = SuitMergedHoldem(game)
    possible = {
        label
        for label, node, private in zip(merged.infoset_labels, merged.infoset_node, merged.infoset_private, strict=True)
        if np.moveaxis(joint_weights(merged, node), int(merged.actor[node]), 0)[private].any()
    }
    assert possible < set(whole.infoset_labels)
    assert form.initial_state().public == "QcKcAc:"


def test_boards_and_hands_are_counted_once_a_class(form, tree):
    flops, counts = canonical_flops(form.spot.deck)
    states = {state.board: form.board(state.board) for state in tree.states if state.board}
    assert {board: merged.count for board, merged in states.items()} == {
        tuple(flop): count for flop, count in zip(flops.tolist(), counts.tolist(), strict=True)
    }
    assert form.num_private(form.initial_state(), 0) == 16  # 4 pairs, 6 suited and 6 offsuit classes
    monotone = form.board(parse_board("JcQcKc", form.spot.deck))
    assert len(monotone.group) == 6  # the three other suits are alike
    assert monotone.num_private < 78


def test_joint_weights_are_probabilities(form, tree):
    assert joint_weights(tree, 0) == pytest.approx(form.joint_weights(form.initial_state()), abs=1e-14)
    assert form.joint_weights(form.initial_state()).sum() == pytest.approx(1.0)


def test_strength_is_the_share_of_showdowns_won(form, tree):
    state = next(state for state in tree.states if len(state.board) == 3)
    strengths = form.strengths(state.board)
    joint = form.joint_weights(state)
    assert np.average(strengths, weights=joint.sum(axis=1)) == pytest.approx(0.5)
    assert strengths.min() < 0.2
    assert strengths.max() == pytest.approx(1.0)


def test_a_game_without_a_menu_is_refused():
    with pytest.raises(ConfigError, match="menu"):
        SuitMergedHoldem(parse_game("holdem(deck=JQKA/cdh,menu=all)"))
