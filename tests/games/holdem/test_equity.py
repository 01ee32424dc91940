# SPDX-License-Identifier: Apache-2.0
import itertools

import numpy as np
import phevaluator
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise.core.errors import ConfigError, ParseError
from equipoise.games.holdem.cards import DECKS, FULL_DECK, format_board, parse_board
from equipoise.games.holdem.equity import compute_equity
from equipoise.games.holdem.hands import hands_of, parse_hand
from equipoise.games.holdem.isomorphism import hand_permutation, permute_cards
from equipoise.games.holdem.ranges import Range, parse_range
from equipoise.games.holdem.strength import evaluate_boards
from tests.reference import equity as reference

seeds = st.integers(0, 2**32 - 1)


def list_equity(first, second, board):
    """Returns wins, losses and ties of two hands by another evaluator."""
    known = [*parse_board(board), *hands_of().cards[parse_hand(first)], *hands_of().cards[parse_hand(second)]]
    left = [card for card in FULL_DECK.cards if card not in known]
    wins = losses = ties = 0
    for rest in itertools.combinations(left, 5 - len(parse_board(board))):
        full = format_board((*parse_board(board), *rest))
        cards = [full[i : i + 2] for i in range(0, 10, 2)]
        mine = phevaluator.evaluate_cards(*cards, first[:2], first[2:])
        theirs = phevaluator.evaluate_cards(*cards, second[:2], second[2:])
        wins, losses, ties = wins + (mine < theirs), losses + (mine > theirs), ties + (mine == theirs)
    return (wins, losses), ties


def random_range(rng, deck, num_hands):
    weights = np.zeros(deck.num_hands)
    weights[rng.choice(deck.num_hands, num_hands, replace=False)] = rng.uniform(0.1, 1.0, num_hands)
    return Range(weights, deck)


@pytest.mark.parametrize(
    ("first", "second", "wins", "ties"),
    [
        ("AhAs", "KdKc", (1388072, 317694), 6538),
        ("AhAs", "KhKs", (1410336, 292660), 9308),
        ("AhKh", "QsQc", (787966, 917606), 6732),
        ("AcKd", "QhJs", (1097621, 608031), 6652),
    ],
)
def test_hands_before_the_flop(first, second, wins, ties):
    equity = compute_equity(first, second)
    assert equity.total == 1_712_304
    assert (equity.wins, equity.ties) == (wins, ties)


def test_aces_against_kings_before_the_flop():
    equity = compute_equity("AA", "KK")
    assert equity.equity[0] == pytest.approx(0.8194605046767397, abs=1e-12)  # 81.9 %
    assert (equity.wins, equity.ties) == ((50_371_344, 10_986_372), 285_228)
    assert equity.total == 36 * 1_712_304
    # the classes of suits that the two pairs may share, one by one: none, one, both
    kinds = [("AhAs", "KdKc", 6), ("AhAs", "KhKc", 24), ("AhAs", "KhKs", 6)]
    assert sum(count * compute_equity(*hands).wins[0] for *hands, count in kinds) == equity.wins[0]


@pytest.mark.parametrize(
    ("first", "second", "board"),
    [
        ("AhAs", "KdKc", "Kh7h2d"),
        ("QhJh", "AsKd", "Th9h2c"),
        ("2c2d", "AsKd", "2hAdKs7c"),
        ("QsJd", "QhJc", "Ts9h8d2c3s"),
    ],
)
def test_boards_agree_with_an_independent_evaluator(first, second, board):
    equity = compute_equity(first, second, board)
    assert (equity.wins, equity.ties) == list_equity(first, second, board)


@settings(max_examples=15)
@given(seed=seeds, num_board=st.sampled_from([3, 4, 5]), sizes=st.tuples(st.integers(60, 153), st.integers(1, 153)))
def test_ranges_equal_the_twin(seed, num_board, sizes):
    deck, rng = DECKS["small"], np.random.default_rng(seed)
    board = tuple(rng.choice(deck.cards, num_board, replace=False).tolist())
    ranges = [random_range(rng, deck, sizes[0]), Range.random(deck) if sizes[1] > 100 else random_range(rng, deck, 60)]
    equity = compute_equity(*ranges, board, deck)
    left = [card for card in deck.cards if card not in board]
    boards = [(*board, *rest) for rest in itertools.combinations(left, 5 - num_board)]
    twin = reference.accumulate_showdowns(
        evaluate_boards(boards, deck), np.ones(len(boards)), hands_of(deck).masks, *equity.reach
    )
    is_own = equity.reach > 0
    np.testing.assert_allclose(equity.hand_wins[is_own], twin[:, 0][is_own], atol=1e-9)
    np.testing.assert_allclose(equity.hand_ties[is_own], twin[:, 1][is_own], atol=1e-9)
    np.testing.assert_allclose(equity.hand_totals[is_own], twin[:, 2][is_own], atol=1e-9)


@pytest.mark.parametrize("board", ["KsQsTs", "KsKhTs", "KsQhTc", "KsQsTh9h", ""])
def test_symmetry_does_not_change_what_hands_win(board):
    deck = DECKS["small"]
    # the same ranges but for a weight that breaks every symmetry by next to nothing
    held, other = parse_range("99+, AT+, QJs", deck), Range.random(deck)
    broken = np.array(other.weights)
    broken[parse_hand("9s9c", deck)] -= 1e-15
    broken[parse_hand("9h9c", deck)] -= 2e-15
    with_symmetry = compute_equity(held, other, board, deck)
    without = compute_equity(held, Range(broken, deck), board, deck)
    np.testing.assert_allclose(with_symmetry.hand_equities, without.hand_equities, atol=1e-12)


@pytest.mark.parametrize("deck", [DECKS["full"], DECKS["short"]], ids=["full", "short"])
@pytest.mark.parametrize("held", ["random", "QQ+, AKs, T9s:0.5"])
def test_equal_ranges_split_the_pot(deck, held):
    equity = compute_equity(held, held, "KsTd8h", deck)
    assert equity.equity == pytest.approx((0.5, 0.5), abs=1e-12)
    assert equity.wins[0] == pytest.approx(equity.wins[1])
    np.testing.assert_allclose(*equity.hand_equities)


def test_both_sides_share_the_pot():
    equity = compute_equity("QQ+, AK:0.3", "22-99, 76s@40%", "Ks7h2d")
    assert sum(equity.equity) == pytest.approx(1.0)
    assert sum(equity.wins) + equity.ties == pytest.approx(equity.total)
    assert equity.reach[1] @ equity.hand_totals[1] == pytest.approx(equity.total)
    mirrored = compute_equity("22-99, 76s@40%", "QQ+, AK:0.3", "Ks7h2d")
    assert mirrored.equity == pytest.approx(equity.equity[::-1])


@given(seed=seeds, permutation=st.permutations(range(4)))
@settings(max_examples=10)
def test_equity_does_not_depend_on_the_names_of_suits(seed, permutation):
    rng = np.random.default_rng(seed)
    board = rng.choice(52, 4, replace=False)
    ranges = [random_range(rng, FULL_DECK, 400), random_range(rng, FULL_DECK, 30)]
    image = hand_permutation(permutation)
    relabelled = [Range(held.weights[np.argsort(image)]) for held in ranges]
    plain = compute_equity(*ranges, board)
    renamed = compute_equity(*relabelled, permute_cards(board, permutation))
    assert renamed.equity == pytest.approx(plain.equity, abs=1e-12)
    np.testing.assert_allclose(renamed.hand_equities[:, image], plain.hand_equities, atol=1e-12)


def test_blockers_count():
    # against one ace of spades, one way to hold aces is left on this board
    equity = compute_equity("AsKs, QhQd", "AA", "AhTc2d3c4c")
    aces = [parse_hand("AdAc"), parse_hand("AsAc"), parse_hand("AsAd")]
    assert equity.hand_totals[0, parse_hand("AsKs")] == 1
    assert equity.hand_totals[0, parse_hand("QhQd")] == 3
    assert equity.hand_totals[1, aces].tolist() == [2, 1, 1]
    assert np.isnan(equity.hand_equities[0, parse_hand("2c2h")])


def test_the_nuts_never_lose():
    equity = compute_equity("AhKh", "random", "QhJhTh2c3d")
    assert equity.equity == (1.0, 0.0)
    assert compute_equity("AhKh", "random", "QhJhTh").equity == (1.0, 0.0)


def test_short_deck_ranking_is_used():
    board = "Ah Ad Th 8h 6c"
    assert compute_equity("KhQh", "TcTd", board).equity[0] == 0.0
    assert compute_equity("KhQh", "TcTd", board, DECKS["short"]).equity[0] == 1.0


@pytest.mark.parametrize(
    ("first", "second", "board", "error", "message"),
    [
        ("AA", "KK", "Ks7h", ParseError, "0, 3, 4 or 5 cards, got 2"),
        ("AA", "KK", (0, 0, 1), ConfigError, "2c twice"),
        ("AA", "KK", (0, 1, 99), ConfigError, "0 to 51"),
        ("AsAh", "KK", "As7h2d", ConfigError, "blocks every hand of the range first"),
        ("AsAh", "AsKs", "", ConfigError, "shares a card"),
        ("AA, K", "KK", "", ParseError, "'K'"),
        ("random:0", "KK", "", ConfigError, "range first is empty"),
        (parse_range("AA", DECKS["short"]), "KK", "", ConfigError, "deck given"),
    ],
)
def test_impossible_questions(first, second, board, error, message):
    with pytest.raises(error, match=message):
        compute_equity(first, second, board)
