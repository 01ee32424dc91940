# SPDX-License-Identifier: Apache-2.0
import contextlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipoise.core.errors import ConfigError, ParseError
from equipoise.games.holdem.cards import DECKS, Deck, format_deck, parse_board
from equipoise.games.holdem.hands import hands_of, parse_hand
from equipoise.games.holdem.ranges import Range, check_ranges, format_range, parse_range

seeds = st.integers(0, 2**32 - 1)


def classes_in(held):
    """Returns the names of the classes with weight, highest first."""
    hands = hands_of(held.deck)
    return {hands.class_names[index] for index in np.unique(hands.classes[held.weights > 0])}


@pytest.mark.parametrize(
    ("text", "classes"),
    [
        ("AKs", "AKs"),
        ("AKo", "AKo"),
        ("AK", "AKs AKo"),
        ("KA", "AKs AKo"),
        ("QQ+", "QQ KK AA"),
        ("AA+", "AA"),
        ("TT-77", "TT 99 88 77"),
        ("77-TT", "TT 99 88 77"),
        ("A5s-A2s", "A5s A4s A3s A2s"),
        ("A2s - A5s", "A5s A4s A3s A2s"),
        ("KTs+", "KTs KJs KQs"),
        ("KT+", "KTs KJs KQs KTo KJo KQo"),
        ("T9s+", "T9s JTs QJs KQs AKs"),
        ("T9s-76s", "T9s 98s 87s 76s"),
        ("J9o-86o", "J9o T8o 97o 86o"),
        ("AKs  qq+ ,\n 76s", "AKs QQ KK AA 76s"),
        ("QQ+, KK:0", "QQ AA"),
    ],
)
def test_notation(text, classes):
    held = parse_range(text)
    assert classes_in(held) == set(classes.split())
    hands = hands_of()
    sizes = dict(zip(hands.class_names, hands.class_sizes.tolist(), strict=True))
    assert held.num_combos == sum(sizes[name] for name in classes.split())


@pytest.mark.parametrize("text", ["random", "any", "*", "ANY"])
def test_every_hand(text):
    assert parse_range(text) == Range.random()


@pytest.mark.parametrize(
    ("text", "weight"),
    [("KQo:0.5", 0.5), ("76s@30%", 0.3), ("QQ+ : 12.5%", 0.125), ("AhKh:0.25", 0.25), ("T9s@1e-3", 1e-3), ("AA:0%", 0)],
)
def test_weights(text, weight):
    held = parse_range("random:0, " + text)
    assert set(held.weights.tolist()) == {0.0, weight}


def test_later_entries_override_earlier_ones():
    held = parse_range("QQ+, KK:0.5, KhKs:0.25, AsAh@0%")
    assert held.weights[parse_hand("KhKs")] == 0.25
    assert held.weights[parse_hand("KdKs")] == 0.5
    assert held.weights[parse_hand("AhAs")] == 0.0
    assert held.num_combos == 6 + 5 * 0.5 + 0.25 + 5
    assert parse_range("KK:0.5, QQ+") == parse_range("QQ+")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "at least one entry"),
        (" , ", "at least one entry"),
        ("AKs, A1s", "'A1s'"),
        ("AKx", "'AKx' is no hand"),
        ("AAs", "neither suited nor offsuit"),
        ("AhAh", "'AhAh': hole cards are different"),
        ("AKs:", "weight '' is not a number"),
        ("AKs:x", "weight 'x' is not a number"),
        ("AKs:1.5", "0 to 1"),
        ("AKs@150%", "0% to 100%"),
        ("AKs:nan", "0 to 1"),
        ("AKs:-0.5", "0 to 1"),
        ("AKs-AQo", "both ends"),
        ("AA-K2", "keeps its higher card"),
        ("KK-K9", "keeps its higher card"),
        ("QJs-A2s", "keeps its higher card"),
        ("AhKh+", "'AhKh' is no hand"),
        ("A5s-", "'' is no hand"),
        ("+", "'' is no hand"),
    ],
)
def test_errors_name_the_entry(text, message):
    with pytest.raises(ParseError, match=message) as caught:
        parse_range(text)
    assert "allowed: AA AKs" in str(caught.value)


def test_ranges_keep_to_their_deck():
    assert parse_range("66+", DECKS["short"]).num_combos == 54
    assert classes_in(parse_range("T6s+", Deck("6TJQKA"))) == {"T6s", "JTs", "QJs", "KQs", "AKs"}  # neighbours here
    with pytest.raises(ParseError, match=r"'22\+': the deck has ranks 6789TJQKA, not 2"):
        parse_range("22+", DECKS["short"])
    with pytest.raises(ParseError, match="not 2h"):
        parse_range("AhTh, 2h3h", DECKS["short"])
    with pytest.raises(ParseError, match="no such hand"):
        parse_range("AKo", Deck("TJQKA", "h"))


@pytest.mark.parametrize(
    "text",
    [
        "random",
        "random:0",
        "QQ+, AK",
        "QQ+, AQs+, AKo",
        "TT-77, A5s-A2s, KTs+, KQo:0.5, 76s:0.3",
        "KQs, AhKh:0.25",
        "random, 32o:0, 2h2c:0.5",
        "AA, AsAh:0.5",
    ],
)
def test_short_texts_come_back(text):
    assert set(format_range(parse_range(text)).split(", ")) == set(text.split(", "))


@given(seed=seeds, levels=st.integers(1, 4), keep=st.floats(0.0, 1.0), deck=st.sampled_from([*DECKS.values()]))
def test_ranges_of_classes_round_trip(seed, levels, keep, deck):
    rng, hands = np.random.default_rng(seed), hands_of(deck)
    weights = rng.choice(rng.uniform(size=levels), len(hands.class_names)) * (
        rng.uniform(size=len(hands.class_names)) < keep
    )
    held = Range(weights[hands.classes], deck)
    assert parse_range(format_range(held), deck) == held
    assert len(format_range(held).split(", ")) <= 1 + (hands.class_sizes > 0).sum()


@given(seed=seeds, levels=st.integers(1, 5), deck=st.sampled_from([*DECKS.values(), Deck("23456789TJQKA", "d")]))
def test_arbitrary_weights_round_trip(seed, levels, deck):
    rng = np.random.default_rng(seed)
    held = Range(rng.choice(np.append(10.0 ** -rng.uniform(0, 12, levels), [0.0, 1.0]), deck.num_hands), deck)
    assert parse_range(str(held), deck) == held


@given(st.lists(st.floats(0, 1), min_size=45, max_size=45))
def test_any_float_round_trips(weights):
    held = Range(np.array(weights), DECKS["tiny"])
    assert parse_range(format_range(held), DECKS["tiny"]) == held


def test_boards_block_hands():
    held = parse_range("KK, AKs").without(parse_board("Ks7h2d"))
    assert held.num_combos == 3 + 3
    assert held.without(parse_board("Ks7h2d")) == held


def test_ranges_are_values():
    held = parse_range("AA")
    assert hash(held) == hash(parse_range("AhAs, AA"))
    assert held != "AA"
    assert held != parse_range("AA", DECKS["short"])
    assert Range.of_hand(50, 51) == parse_range("AsAh")
    assert held.grid()[0, 0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        held.weights[0] = 1.0


@pytest.mark.parametrize("weight", [-0.1, 1.1, np.nan, np.inf])
def test_weights_are_checked(weight):
    with pytest.raises(ConfigError, match=r"weights of a range are 0 to 1, got .* for 2d2c"):
        Range(np.full(1326, weight))
    with pytest.raises(ConfigError, match="1326 weights"):
        Range(np.ones(1325))


@pytest.mark.parametrize(
    ("first", "second", "board", "message"),
    [
        ("random:0", "AA", "", "range first is empty"),
        ("AA", "random:0", "", "range second is empty"),
        ("AA", "KsKh", "KsTh2d", "board KsTh2d blocks every hand of the range second: KsKh"),
        ("AhAs", "AhKs, AsKs", "", "shares a card with every hand"),
    ],
)
def test_blocked_and_empty_ranges(first, second, board, message):
    with pytest.raises(ConfigError, match=message):
        check_ranges([parse_range(first), parse_range(second)], parse_board(board))


def test_ranges_of_two_decks_do_not_mix():
    with pytest.raises(ConfigError, match="different decks"):
        check_ranges([parse_range("AA"), parse_range("AA", DECKS["short"])], ())
    assert format_deck(DECKS["short"]) == "short"


@pytest.mark.parametrize(("weight", "is_enough"), [(1e-3, True), (1e-60, True), (1e-99, True), (1e-101, False)])
def test_pairs_of_little_weight_are_counted_one_by_one(weight, is_enough):
    # nearly all weight is on pairs that share a card: sums over cards would leave nothing but their rounding
    others = parse_range("22").weights * weight
    first, second = Range.of_hand(50, 51), Range(np.maximum(Range.of_hand(51, 49).weights, others))
    with contextlib.nullcontext() if is_enough else pytest.raises(ConfigError, match="too small to compute with"):
        check_ranges([first, second], ())
