# SPDX-License-Identifier: Apache-2.0
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipoise.core.errors import ConfigError, ParseError
from equipoise.games.holdem.cards import (
    DECKS,
    RANKS,
    SUITS,
    Deck,
    card_rank,
    card_suit,
    check_board,
    format_board,
    format_card,
    format_deck,
    parse_board,
    parse_card,
    parse_deck,
)

cards = st.integers(0, 51)


def ordered_subset(letters):
    return st.sets(st.sampled_from(letters), min_size=2).map(lambda chosen: "".join(sorted(chosen, key=letters.index)))


decks = st.builds(Deck, ordered_subset(RANKS), ordered_subset(SUITS), st.booleans(), st.booleans())


@given(cards)
def test_cards_round_trip(card):
    text = format_card(card)
    assert parse_card(text) == parse_card(text.upper()) == parse_card(f" {text.lower()} ") == card
    assert RANKS[card_rank(card)] + SUITS[card_suit(card)] == text


@given(st.lists(cards, min_size=3, max_size=5, unique=True))
def test_boards_round_trip(board):
    text = format_board(board)
    spaced = ", ".join(text[i : i + 2] for i in range(0, len(text), 2))
    assert parse_board(text) == parse_board(spaced) == tuple(board)


@given(decks)
def test_decks_round_trip(deck):
    assert parse_deck(format_deck(deck)) == deck
    assert deck.num_cards == len(set(deck.cards)) == len(deck.ranks) * len(deck.suits)


@pytest.mark.parametrize("name", DECKS)
def test_decks_have_names(name):
    assert parse_deck(name) is DECKS[name]
    assert format_deck(DECKS[name]) == name


@pytest.mark.parametrize("text", ["A", "Ax", "1h", "10h", "", "AhKh"])
def test_texts_that_are_no_card(text):
    with pytest.raises(ParseError, match="rank of 23456789TJQKA and a suit of cdhs"):
        parse_card(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("AhKh", "0, 3, 4 or 5 cards, got 2"),
        ("2c3c4c5c6c7c", "0, 3, 4 or 5 cards, got 6"),
        ("AhKhAh", "got Ah twice"),
        ("AhKhQ", "two letters each"),
        ("AhKhXx", "got 'Xx'"),
    ],
)
def test_impossible_boards(text, message):
    with pytest.raises(ParseError, match=message):
        parse_board(text)


def test_boards_keep_to_their_deck():
    with pytest.raises(ParseError, match="ranks 6789TJQKA and suits cdhs, not 2c"):
        parse_board("2cKdAs", DECKS["short"])
    with pytest.raises(ConfigError, match="got 2c"):
        check_board((0, 50, 51), DECKS["short"])
    with pytest.raises(ConfigError, match="need 9 cards, the deck has 8"):
        check_board((), Deck("JQKA", "hs"))
    with pytest.raises(ConfigError, match="0 to 51"):
        format_card(52)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tarot", "full, short"),
        ("AK/hs", "in this order, got 'AK'"),
        ("TJQ/hx", "suits must be some of cdhs"),
        ("TJQ/hs/kings", "flush"),
        ("A/hs", "at least 4 cards"),
        ("/hs", "ranks must be"),
    ],
)
def test_impossible_decks(text, message):
    with pytest.raises(ParseError, match=message):
        parse_deck(text)
