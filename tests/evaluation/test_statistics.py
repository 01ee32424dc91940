# SPDX-License-Identifier: Apache-2.0
import pytest

from equipoise.evaluation.statistics import big_blind_of
from equipoise.games.registry import parse_game


@pytest.mark.parametrize(
    ("text", "blind"),
    [
        ("kuhn", 1.0),
        ("leduc", 1.0),
        ("leduc(ante=2)", 2.0),
        ("leduc_nolimit(ante=100,stack=1200)", 100.0),
        ("holdem(big_blind=100,small_blind=50)", 100.0),
        ("liars_dice", None),
    ],
)
def test_thousandths_are_of_what_is_put_in_before_the_deal(text, blind):
    assert big_blind_of(parse_game(text)) == blind
