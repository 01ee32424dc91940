# SPDX-License-Identifier: Apache-2.0
"""Every game that fits: what CFR finds is what the linear program proves."""

import pytest

from equipoise.games.registry import game_names, make_game
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.driver import run
from equipoise.solvers.rules import CFRPlus
from equipoise.solvers.sequence_lp import solve_sequence_lp
from equipoise.trees.history import build_history_tree

SMALL_HOLDEM = {"deck": "QKA/chs", "stacks": "6,6", "small_blind": 1, "big_blind": 2}
MANY_PLAYERS = {"holdem_six", "lemonade_stand"}

# parameters that make a registered game small enough for the LP to take seconds; None: as it is
SMALL = {
    "bucketed_limit_holdem": [{"buckets": 2, "streets": 2, "max_raises": "1,2,0,0"}],
    "coin_toss": [{}, {"subgames": 2}],
    "dcfr_slow_2x2": [{}],
    "flop_holdem": [{"deck": "QKA/chs", "ranges": "AcAh, KcKs, QcKh | QsQh, AcKh, AhKs", "max_raises": "1,2"}],
    "glasses": [{"board": "glasses-b", "rounds": 4, "starts": "7,1,11"}],
    "goofspiel": [{"cards": 4}, {"cards": 4, "reveal_bids": False}, {"cards": 3, "prizes": "random"}],
    "holdem": [{**SMALL_HOLDEM, "last_street": "flop", "ranges": "AcAh, KcKs, QcKh | QsQh, AcKh, AhKs"}],
    "holdem_endgame": [
        {**SMALL_HOLDEM, "deck": "tiny", "board": "ThJhQsKsAh", "pot": 4, "menu": "50%, a"},
        {**SMALL_HOLDEM, "deck": "tiny", "board": "ThJhQsKs", "pot": 4, "ranges": "AhAs, KhJs:0.5 | AhKh, AsTs, AhTs"},
    ],
    "holdem_limit": [{"deck": "QKA/chs", "ranges": "AcAh, KcKs | QsQh, AcKh", "max_raises": "1"}],
    "kuhn": [{}],
    "leduc": [{}, {"merge_suits": True}, {"ranks": 4, "suits": 1}],
    "leduc5": [{"second_sizes": "4"}],
    "leduc_nolimit": [{"stack": 6}],
    "liars_dice": [{"faces": 4}, {"dice": 2, "faces": 2}],
    "matrix": [{"payoffs": "3,-1,0;-2,4,1"}],
    "phantom_tic_tac_toe": [{"rows": 2, "columns": 2}],
    "rock_paper_scissors": [{}],
    "rps_plus": [{}],
    "scotland_yard": [{"board": "glasses-a", "detectives": 1, "rounds": 3, "reveals": "2", "starts": "2,6"}],
    "scotland_yard_town": [{"detectives": 1, "rounds": 3, "reveals": "", "starts": "1,9", "double_moves": 0}],
    "tic_tac_toe": [{"rows": 2, "columns": 3, "line": 2}],
}


def test_no_game_is_forgotten():
    assert set(SMALL) | MANY_PLAYERS == set(game_names())


@pytest.mark.parametrize(
    ("name", "parameters"), [(name, parameters) for name, cases in SMALL.items() for parameters in cases]
)
def test_cfr_agrees_with_the_linear_program(name, parameters):
    tree = build_history_tree(make_game(name, **parameters))
    exact = solve_sequence_lp(tree)
    solver = CFRSolver(tree, CFRPlus())
    *_, last = run(solver, target=1e-4 * tree.utility_range, iterations=20_000)
    # a player's value differs from the game's by at most what its opponent could gain
    assert last.exploitability <= 1e-4 * tree.utility_range
    assert last.game_value == pytest.approx(exact.value, abs=last.nash_conv + 1e-9)
