# SPDX-License-Identifier: Apache-2.0
"""Hold'em trees: what they hold, what they weigh, and the text of the Libratus endgames."""

import dataclasses
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from equipoise.core.errors import ConfigError, GameTooLargeError, ParseError
from equipoise.games.holdem.betting import Street
from equipoise.games.holdem.betting_tree import NodeKind
from equipoise.games.holdem.cards import DECKS, parse_board
from equipoise.games.holdem.hands import hands_of, parse_hand
from equipoise.games.holdem.menu_notation import parse_menu
from equipoise.games.holdem.ranges import Range, parse_range
from equipoise.games.holdem.spot import HoldemSpot, parse_endgame
from equipoise.kernels.holdem.arrays import BoardFields
from equipoise.solvers.cfr import CFRSolver, estimate_bytes
from equipoise.solvers.rules import DCFR
from equipoise.trees.holdem.tree import build_holdem_tree, plan_holdem_tree

SUITS = "shdc"
CARDS = [rank + suit for rank in "23456789TJQKA" for suit in SUITS]
PAIRS = [first + second for i, first in enumerate(CARDS) for second in CARDS[i + 1 :]]


def endgame_text(first, second, *, street=4, board="4s8hTc9h2s", pot="500", newline="\n"):
    """Returns an endgame in which the players hold the hands named, with their weights."""
    weights = [str(held.get(pair, 0.0)) for held in (first, second) for pair in PAIRS]
    return newline.join([f"-round {street}", f"-board {board}", f"-pot {pot}", f"-reach {' '.join(weights)}", ""])


HELD = ({"AsAh": 0.5, "KdKc": 1.0}, {"QsQh": 0.25, "5s6s": 1.0})


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_an_endgame_is_read(newline):
    spot = parse_endgame(endgame_text(*HELD, newline=newline))
    assert (spot.board, spot.pot, spot.stacks) == (parse_board("4s8hTc9h2s"), 500, (19_750, 19_750))
    for held, weights in zip(HELD, spot.ranges, strict=True):
        assert weights.num_combos == sum(held.values())
        assert all(weights.weights[parse_hand(hand)] == weight for hand, weight in held.items())
    assert spot.pair_weight() == 1.5 * 1.25


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the endgame has no -round, -board, -pot, -reach; is the file cut short"),
        (endgame_text(*HELD)[:-40], "-reach must have 2652 numbers, got 26"),
        (endgame_text(*HELD, street=2), "-round must be 3 .turn. or 4 .river., got '2'"),
        (endgame_text(*HELD, street=3), "-board must have 4 cards in round 3, got 5"),
        (endgame_text(*HELD, pot="many"), "-pot must be a whole number of chips, got 'many'"),
        (endgame_text(*HELD, pot="40000"), "-pot must be 1 to 39999 chips"),
        (endgame_text(*HELD, pot="501"), "pot must be a positive multiple of 2"),
        (endgame_text({}, HELD[1]), "the range of player 0 is empty"),
        (endgame_text({"AsAh": 2.0}, HELD[1]), "-reach must be numbers from 0 to 1"),
        (endgame_text({"AsAh": "x"}, HELD[1]), "-reach must be numbers: could not convert"),
        ("-round 4\n-round 4", "line 2 of the endgame begins with '-round', which is there twice"),
        ("round 4", "line 1 of the endgame begins with 'round', which is none of -round"),
    ],
)
def test_a_broken_endgame_is_refused(text, message):
    with pytest.raises(ParseError, match=message):
        parse_endgame(text)


@pytest.mark.skipif("EQUIPOISE_ENDGAMES" not in os.environ, reason="EQUIPOISE_ENDGAMES names no folder")
@pytest.mark.parametrize(
    ("number", "pair_weight", "num_hands", "num_decisions"),
    [(3, 84_775, (1033, 1059), 32), (4, 594.66, (705, 982), 20)],
)
def test_the_published_endgames(number, pair_weight, num_hands, num_decisions):
    path = Path(os.environ["EQUIPOISE_ENDGAMES"]) / f"subgame{number}.txt"
    tree = build_holdem_tree(parse_endgame(path.read_text()))
    assert tree.pair_weight == pytest.approx(pair_weight, rel=1e-5)
    assert tuple(hands.size for hands in tree.hands[0]) == num_hands
    assert len(tree.decisions) == num_decisions


def make_spot(**changes):
    fields = {
        "board": parse_board("Ks7h2d4c"),
        "pot": 100,
        "stacks": (200, 200),
        "ranges": (parse_range("TT+, AK"), parse_range("99+, AQ+")),
        "menu": parse_menu("50%, a / a"),
        "big_blind": 10,
    }
    return HoldemSpot(**{**fields, **changes})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"board": ()}, "pot must be 0 before the flop"),
        ({"board": parse_board("Ks7h2d4c"), "last_street": Street.FLOP}, "last_street must not come before"),
        ({"board": (), "pot": 0, "last_street": Street.PREFLOP}, "last_street must be flop, turn or river"),
        ({"board": parse_board("Ks7h2d")[:2]}, "a board has 0, 3, 4 or 5 cards, got 2"),
        ({"board": (1, 1, 5)}, "different"),
        ({"stacks": (0, 100)}, "stacks must be positive"),
        ({"stacks": (100,)}, "two ranges and two stacks"),
        ({"ranges": (parse_range("KK:0"), parse_range("QQ"))}, "the range of player 0 is empty"),
        ({"ranges": (parse_range("QQ"), parse_range("KsKh"))}, "blocks every hand of the range of player 1"),
        ({"ranges": (parse_range("QQ"), Range.random(DECKS["short"]))}, "another deck"),
    ],
)
def test_an_impossible_spot_is_refused(changes, message):
    with pytest.raises(ConfigError, match=message):
        make_spot(**changes)


def test_a_menu_with_too_many_bets_is_refused():
    menu = parse_menu(", ".join(f"{percent}%" for percent in range(50, 120)))
    with pytest.raises(GameTooLargeError, match="a decision may have 64 actions"):
        build_holdem_tree(make_spot(board=parse_board("Ks7h2d4c9c"), pot=1000, stacks=(2000, 2000), menu=menu))


def test_boards_leave_the_hands_that_they_do_not_block():
    tree = build_holdem_tree(make_spot(), merges_suits=False)
    assert len(tree.boards) == 1 + 48
    hands = hands_of()
    for cards, sides in zip(tree.boards, tree.hands, strict=True):
        for held, numbers in zip(tree.spot.ranges, sides, strict=True):
            live = (held.weights > 0) & ~hands.blocked(cards)
            assert sorted(numbers.tolist()) == np.flatnonzero(live).tolist()


def flop_holdem(**changes):
    """Returns limit flop hold'em, every hand as likely."""
    fields = {
        "board": (),
        "stacks": (1_000, 1_000),
        "ranges": (Range.random(), Range.random()),
        "menu": parse_menu("limit"),
        "big_blind": 2,
        "bet_sizes": (2,),
        "max_raises": (3, 4),
        "last_street": Street.FLOP,
    }
    return HoldemSpot(**{**fields, **changes})


def test_flop_holdem_is_planned_on_canonical_flops():
    plan = plan_holdem_tree(flop_holdem())
    flops = plan.levels[1]
    assert flops.num_boards == 1_755
    assert flops.num_images.sum() == math.comb(52, 3)
    assert (flops.num_hands == math.comb(49, 2)).all()
    # before the flop 8 decisions of two actions or three a player; after it 7 lines of 10 decisions
    assert [node.kind for node in plan.betting.nodes].count(NodeKind.DECISION) == len(plan.decisions) == 8 + 7 * 10
    assert estimate_bytes(plan, DCFR()) > 3e9


@pytest.mark.parametrize("changes", [{}, {"board": parse_board("Ks7h2d")}], ids=["turn", "flop"])
def test_a_plan_knows_what_its_tree_takes(changes):
    plan = plan_holdem_tree(make_spot(**changes))
    arrays = plan.build().arrays
    lists = [getattr(arrays, field.name) for field in dataclasses.fields(arrays) if field.name != "root_reach"]
    assert plan.arrays.num_bytes == arrays.num_bytes == sum(array.nbytes for array in (*lists, *arrays.root_reach))


def test_what_no_memory_holds_is_refused_before_it_is_listed():
    with pytest.raises(
        GameTooLargeError, match=r"at the least, needs [0-9.]+ [GT]B of memory, [0-9.]+ .B are available"
    ):
        plan_holdem_tree(flop_holdem(last_street=Street.RIVER))


def test_neighbours_share_a_row_of_values_where_cards_follow():
    tree = build_holdem_tree(make_spot(board=parse_board("Ks7s2s")))
    for board in range(1 + tree.arrays.boards[0, 2]):  # the flop and its turns
        for player, numbers in enumerate(tree.hands[board]):
            first = BoardFields(*tree.arrays.boards[board].tolist())[5 + 3 * player]
            rows = tree.arrays.value_row[first : first + numbers.size]
            starts = np.flatnonzero(np.diff(rows, prepend=-1))
            np.testing.assert_array_equal(rows[starts], starts)


def test_pair_weight_counts_pairs_that_share_no_card():
    spot = make_spot(ranges=(parse_range("TT+:0.5, AK"), parse_range("99+, AQ+:0.3")))
    masks = hands_of().masks
    first, second = spot.live_weights(0), spot.live_weights(1)
    expected = first @ ((masks[:, None] & masks[None, :]) == 0) @ second
    assert spot.pair_weight() == pytest.approx(expected, rel=1e-12)


def test_strategies_are_read_by_node_and_board():
    tree = build_holdem_tree(make_spot())
    solver = CFRSolver(tree)
    solver.iterate(3)
    for board, cards in enumerate(tree.boards):
        for node, decision in tree.decisions.items():
            if decision.street == len(cards) - 4:
                strategy = tree.normalize(solver.average_sums, board, node)
                assert strategy.shape == (tree.hands[board][decision.player].size, decision.num_actions)
                np.testing.assert_allclose(strategy.sum(axis=1), 1.0, rtol=1e-12)
    with pytest.raises(ConfigError, match="not on the street of board"):
        tree.normalize(solver.average_sums, 1, 0)
    with pytest.raises(ConfigError, match="the tree has no board Ks7h2d4c4c"):
        tree.board_index((*tree.spot.board, tree.spot.board[-1]))


MEASURE = """
from pathlib import Path
from equipoise.games.holdem.menu_notation import parse_menu
from equipoise.games.holdem.ranges import Range
from equipoise.solvers.cfr import CFRSolver, estimate_bytes
from equipoise.solvers.rules import {rule}
from equipoise.trees.holdem.tree import build_holdem_tree
from tests.trees.test_holdem import make_spot

def read_kilobytes(name):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name))

menu = parse_menu("50%, 100%, a / 100%, a")
tree = build_holdem_tree(make_spot(ranges=(Range.random(), Range.random()), menu=menu, stacks=(600, 600)))
Path("/proc/self/clear_refs").write_text("5")  # forgets the peak so far
before = read_kilobytes("VmRSS")
solver = CFRSolver(tree, {rule}(), dtype="{dtype}", num_threads={threads})
solver.iterate(1)
solver.evaluate()
used = 1024 * (read_kilobytes("VmHWM") - before) + tree.arrays.num_bytes
print(used, estimate_bytes(tree, {rule}(), dtype="{dtype}", num_threads={threads}))
"""


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="needs Linux's account of memory")
@pytest.mark.parametrize(
    ("threads", "dtype", "rule"),
    [(1, "float32", "DCFR"), (2, "float32", "DCFR"), (1, "int16", "DCFR"), (1, "float32", "Hedge")],
)
def test_memory_is_what_was_estimated(threads, dtype, rule):
    root = Path(__file__).parent.parent.parent
    script = [sys.executable, "-c", MEASURE.format(threads=threads, dtype=dtype, rule=rule)]
    done = subprocess.run(script, cwd=root, capture_output=True, text=True, check=True)
    used, estimate = (float(word) for word in done.stdout.split())
    assert estimate > 5e7
    assert used == pytest.approx(estimate, rel=0.1)
