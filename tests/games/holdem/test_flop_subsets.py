# SPDX-License-Identifier: Apache-2.0
from collections import Counter

import pytest

from equipoise.core.errors import ParseError
from equipoise.games.holdem.cards import DECKS, FULL_DECK, format_board, parse_board
from equipoise.games.holdem.flop_subsets import describe_texture, list_flops, parse_boards, spread_flops
from equipoise.games.holdem.ranges import parse_range


@pytest.mark.parametrize("number", [1, 7, 25, 184, 1000, 5000])
def test_a_spread_stands_for_all_flops(number):
    found = spread_flops(number)
    assert len(found) == min(number, 1755) or number > 184
    assert sum(flop.num_boards for flop in found) == pytest.approx(22_100)
    assert len({flop.board for flop in found}) == len(found)


def test_a_spread_has_textures_and_ranks_as_often_as_they_come():
    whole, few = list_flops(), spread_flops(100)
    for features in (lambda flop: describe_texture(flop.board), lambda flop: max(flop.board) // 4):
        shares = []
        for flops in (whole, few):
            counts = Counter()
            for flop in flops:
                counts[features(flop)] += flop.num_boards / 22_100
            shares.append(counts)
        for name, share in shares[0].items():
            assert shares[1][name] == pytest.approx(share, abs=0.02)


def test_ranges_that_single_out_suits_have_more_flops():
    plain, suited = parse_range("AKs"), parse_range("AsKs")
    assert len(list_flops([plain])) == 1755
    flops = list_flops([suited])
    assert len(flops) > 1755
    assert sum(flop.num_boards for flop in flops) == 22_100
    assert sum(flop.num_boards for flop in list_flops((), DECKS["short"])) == 36 * 35 * 34 / 6


@pytest.mark.parametrize(("text", "number"), [("all", 1755), ("spread 25", 25), ("spread:9", 9), ("Spread(3)", 3)])
def test_boards_by_name(text, number):
    assert len(parse_boards(text)) == number


def test_boards_one_by_one():
    found = parse_boards(["Ks7h2d", "Ks7h2d5c"])
    assert [format_board(one.board) for one in found] == ["Ks7h2d", "Ks7h2d5c"]
    assert parse_boards("Ks7h2d; Ks7h2d5c") == found
    assert parse_board("Ks7h2d", FULL_DECK) == found[0].board


@pytest.mark.parametrize("value", ["", [], 3, [3], ["Ks7h2d", "7hKs2d"], "spread 0", "spread 99999", "Ks7", ["  "]])
def test_boards_that_cannot_be(value):
    with pytest.raises(ParseError):
        parse_boards(value)
