# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from equipoise.apps.grid import render_grid
from equipoise.core.errors import ConfigError
from equipoise.core.markup import CALL_COLOUR, FOLD_COLOUR, RAISE_COLOURS
from equipoise.games.holdem.cards import DECKS
from equipoise.games.holdem.hands import hands_of


def pairs_raise():
    """Pairs raise, suited hands raise a quarter of the time, the rest folds."""
    hands = hands_of()
    size = hands.grid_size
    rows, columns = np.divmod(np.arange(size * size), size)
    raises = np.where(rows == columns, 1.0, np.where(columns > rows, 0.25, 0.0))
    return np.stack([1 - raises, raises], axis=1)


def test_every_class_and_what_it_does_most():
    lines = render_grid(pairs_raise(), ["fold", "raise"]).plain.split("\n")
    assert len(lines) == 27
    assert lines[0].split() == list(hands_of().class_names[:13])
    assert lines[1].split() == ["r100"] + ["f75"] * 12
    assert lines[25].split() == ["f100"] * 12 + ["r100"]


def test_shares_are_weighted_by_the_hands_of_a_class():
    # 78 pairs and a quarter of the 312 suited hands, of 1,326
    legend = render_grid(pairs_raise(), ["fold", "raise"]).plain.split("\n")[-1]
    assert f"raise {(78 + 78) / 1326:.1%}" in legend
    assert f"fold {1 - (78 + 78) / 1326:.1%}" in legend


def test_backgrounds_are_shared_as_frequencies_are():
    text = render_grid(pairs_raise(), ["fold", "raise"])
    colours = [str(span.style).rpartition("on ")[2] for span in text.spans if span.end <= 2 * 5]
    assert colours == [RAISE_COLOURS[0]] * 4 + [FOLD_COLOUR] * 3 + [RAISE_COLOURS[0]]


def test_actions_have_letters_and_colours_of_their_own():
    table = np.tile([0.1, 0.2, 0.3, 0.4], (169, 1))
    text = render_grid(table, ["check", "call 2", "bet 50%", "bet 100%"])
    assert text.plain.split("\n")[1].split()[0] == "e40"
    assert " c  check 10.0%    a  call 2 20.0%    b  bet 50% 30.0%    e  bet 100% 40.0%" in text.plain
    used = {str(span.style).rpartition("on ")[2] for span in text.spans}
    assert used == {CALL_COLOUR, *RAISE_COLOURS[:2]}


def test_hands_that_are_not_there_show_a_dot():
    deck = DECKS["tiny"]
    weights = np.ones(25)
    weights[0] = 0.0
    lines = render_grid(np.tile([0.0, 1.0], (25, 1)), ["fold", "push"], deck=deck, weights=weights).plain.split("\n")
    assert len(lines) == 11
    assert lines[1].split() == ["."] + ["p100"] * 4


def test_a_table_of_another_shape_is_refused():
    with pytest.raises(ConfigError, match=r"shape \(169, 2\).*got \(13, 13\)"):
        render_grid(np.zeros((13, 13)), ["fold", "raise"])
