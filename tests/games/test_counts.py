# SPDX-License-Identifier: Apache-2.0
"""Sizes and uniform values against the figures printed in the literature or measured independently."""

import pytest

from equipoise.games import parse_game

SIZES = [  # text, histories, terminals, information states
    ("coin_toss", 13, 8, 3),
    ("coin_toss(subgames=2)", 23, 14, 4),
    ("rock_paper_scissors", 13, 9, 2),
    ("kuhn", 58, 30, 12),
    ("kuhn(players=3)", 617, 312, 48),
    ("leduc", 9_457, 5_520, 936),
    # the thesis counts 1,936 and 269,560 histories with both cards dealt at once; one by one adds three
    ("leduc(merge_suits=true)", 1_936 + 3, 1_116, 288),
    ("leduc5", 269_560 + 3, 177_684, 34_224),
    ("goofspiel", 26_931, 14_400, 8_052),
    ("goofspiel(reveal_bids=false)", 26_931, 14_400, 2_124),
    ("goofspiel(cards=4)", 1_077, 576, 322),
    ("goofspiel(cards=4,prizes=descending)", 1_077, 576, 322),
    ("goofspiel(cards=4,reveal_bids=false)", 1_077, 576, 162),
    ("goofspiel(cards=3,prizes=random,reveal_bids=false)", 418, 216, 90),
    ("liars_dice", 294_883, 147_420, 24_576),
    ("liars_dice(dice=2,faces=2)", 4_603, 2_295, 768),
    ("phantom_tic_tac_toe(rows=2,columns=2)", 153, 96, 38),
    ("phantom_tic_tac_toe(rows=2,columns=3)", 4_405, 3_040, 660),
]


@pytest.mark.parametrize(("text", "histories", "terminals", "infosets"), SIZES)
def test_size(text, histories, terminals, infosets, count_states):
    counts = count_states(parse_game(text))

    assert (counts.histories, counts.terminals, sum(counts.infosets)) == (histories, terminals, infosets)


def test_size_of_tic_tac_toe(count_states):
    counts = count_states(parse_game("tic_tac_toe"))

    assert (counts.histories, counts.terminals) == (549_946, 255_168)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("kuhn", 0.125),
        ("leduc", -0.078125),
        ("leduc(merge_suits=true)", -0.078125),
        ("goofspiel(cards=4)", 0.0),
        ("rps_plus", 0.0),
        ("coin_toss", (0.5 * 0.5 + 0.5 / 3) / 2 + (-0.5 * 0.5 + 0.5 / 3) / 2),
    ],
)
def test_uniform_value(text, value, uniform_value):
    assert uniform_value(parse_game(text)) == pytest.approx(value, abs=1e-12)


def test_merging_suits_keeps_the_uniform_value(uniform_value):
    text = "leduc(ranks=4,suits=3,max_raises=1,merge_suits={})"

    merged, distinct = (uniform_value(parse_game(text.format(merge))) for merge in ("true", "false"))

    assert merged == pytest.approx(distinct, abs=1e-12)
