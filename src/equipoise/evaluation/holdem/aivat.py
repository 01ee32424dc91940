# SPDX-License-Identifier: Apache-2.0
"""AIVAT for heads-up hold'em: ranges in place of hands, and guesses from a blueprint in few buckets.

A guess is a number for two hands at a betting node. Before the flop there is one for every pair of hands, the mean over
all flops of what follows; from the flop on one for every pair of buckets, in which what later cards bring is a table of
how pairs of buckets follow each other, counted on sampled deals. None of this has to be exact for the mean to be.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from equipoise.abstraction.bucketed_strategy import BucketedStrategy
from equipoise.core.errors import ConfigError
from equipoise.core.memory import check_memory
from equipoise.evaluation.holdem.batched import HoldemDeals, deal_hands, find_buckets
from equipoise.games.holdem.betting import Street, payoffs
from equipoise.games.holdem.betting_tree import NO_PARENT, BettingNode, NodeKind
from equipoise.games.holdem.cards import NUM_CARDS
from equipoise.games.holdem.hands import Hands, hands_of
from equipoise.games.holdem.isomorphism import canonical_sets, hand_permutation, suit_permutations
from equipoise.games.holdem.pair_showdowns import load_or_build_pair_wins
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.games.holdem.strength import evaluate_boards, hand_kernel
from equipoise.trees.holdem.places import HoldemPlace, HoldemStrategy

__all__ = ["HoldemAivat", "HoldemGuesses", "build_guesses"]

FloatArray = npt.NDArray[np.float64]
MatrixArray = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.int32]

RESULTS: Final = ((1, 0), (0, 1), (1, 1))  # strengths: player 0 wins, loses, ties
EMPTY_WEIGHT: Final = 1e-3  # of a uniform law of what follows a pair of buckets, so that unseen pairs have one


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HoldemGuesses:
    """What player 0 is guessed to win, in chips."""

    blueprint: BucketedStrategy  # whose buckets and strategy they come from
    by_hands: dict[int, MatrixArray]  # node before the flop: [H, H], 0 where hands share a card
    by_buckets: dict[int, FloatArray]  # later node: [K, K] buckets of its street


def build_guesses(
    blueprint: BucketedStrategy,
    *,
    rng: np.random.Generator,
    num_samples: int = 100_000,
    on_progress: Callable[[float], None] | None = None,
) -> HoldemGuesses:
    """Returns the values of a blueprint that plays against itself, as far as pairs of buckets say them.

    Args:
        blueprint: the coarser, the faster; not one of those that are measured, or luck is taken for skill nowhere.
        rng: deals the samples.
        num_samples: deals from which the laws of buckets are counted.
        on_progress: called now and then with the share done.
    """
    tree = blueprint.tree
    spot = tree.spot
    num_before = sum(node.state.street is Street.PREFLOP for node in tree.betting.nodes)
    check_memory(8 * num_before * spot.deck.num_hands**2, "guesses of every pair of hands before the flop")
    deals = deal_hands(spot, num_samples, rng=rng)
    law = _BucketLaw(blueprint, deals)
    values: dict[int, FloatArray] = {}
    for node in reversed(tree.betting.nodes):
        if node.state.street is not Street.PREFLOP:
            values[node.index] = _value_of_buckets(blueprint, node, values, law)
    by_hands: dict[int, MatrixArray] = {}
    if tree.streets[0] is Street.PREFLOP:
        ends = [
            node
            for node in tree.betting.nodes
            if node.state.street is Street.PREFLOP and node.kind is NodeKind.STREET_END
        ]
        # ends of a hand are not guessed, so where a flop brings one the mean is that of showdowns
        shown = [node for node in ends if tree.betting.nodes[node.children[0]].kind is NodeKind.SHOWDOWN]
        by_hands = {node.index: _mean_of_showdowns(spot, tree.betting.nodes[node.children[0]]) for node in shown}
        others = [node for node in ends if node.index not in by_hands]
        means = _mean_over_flops(blueprint, [values[node.children[0]] for node in others], on_progress)
        by_hands |= {node.index: mean for node, mean in zip(others, means, strict=True)}
        for node in reversed(tree.betting.nodes):
            if node.state.street is Street.PREFLOP and node.index not in by_hands:
                by_hands[node.index] = _value_of_hands(blueprint, node, by_hands)
    return HoldemGuesses(blueprint=blueprint, by_hands=by_hands, by_buckets=values)


class _BucketLaw:
    """How pairs of buckets follow each other from street to street, and who wins at the end; counted on deals."""

    def __init__(self, blueprint: BucketedStrategy, deals: HoldemDeals) -> None:
        tree = blueprint.tree
        counts = [tree.assigner.num_buckets(street) for street in tree.streets]
        buckets = find_buckets(tree.assigner, tree.streets, deals)
        keys = [rows[:, 0] * count + rows[:, 1] for rows, count in zip(buckets, counts, strict=True)]
        self.streets = tree.streets
        self.sizes = dict(zip(tree.streets, counts, strict=True))
        self.after: dict[Street, FloatArray] = {}  # [K * K, K' * K'] from a street to the next
        for place, street in enumerate(tree.streets[:-1]):
            if street is Street.PREFLOP:
                continue
            shape = counts[place] ** 2, counts[place + 1] ** 2
            table = np.full(shape, EMPTY_WEIGHT / shape[1])
            np.add.at(table, (keys[place], keys[place + 1]), 1.0)
            self.after[street] = table / table.sum(axis=1, keepdims=True)
        cards = hands_of(tree.spot.deck).cards
        strengths = [
            hand_kernel(tree.spot.deck)
            .evaluate_hands(np.ascontiguousarray(np.hstack([cards[deals.hands[:, seat]], deals.boards])))
            .astype(np.int64)
            for seat in (0, 1)
        ]
        result = np.select([strengths[0] > strengths[1], strengths[0] < strengths[1]], [0, 1], 2)
        odds = np.full((counts[-1] ** 2, 3), [0.5 * EMPTY_WEIGHT, 0.5 * EMPTY_WEIGHT, 0.0])
        np.add.at(odds, (keys[-1], result), 1.0)
        self.odds = (odds / odds.sum(axis=1, keepdims=True)).reshape(counts[-1], counts[-1], 3)


def _value_of_buckets(
    blueprint: BucketedStrategy, node: BettingNode, values: dict[int, FloatArray], law: _BucketLaw
) -> FloatArray:
    """Returns `[K, K]` the guess at a node from the flop on; what follows it is known."""
    size = law.sizes[node.state.street]
    if node.kind is NodeKind.FOLD:
        return np.full((size, size), float(payoffs(node.state)[0]))
    if node.kind is NodeKind.SHOWDOWN:
        found: FloatArray = law.odds @ np.array([float(payoffs(node.state, result)[0]) for result in RESULTS])
        return found
    if node.kind is NodeKind.STREET_END:
        below = values[node.children[0]]
        return (law.after[node.state.street] @ below.ravel()).reshape(size, size)
    shares = blueprint.tree.bucket_strategy(blueprint.sums, node.index)
    return _mix(shares, node, [values[child] for child in node.children])


def _value_of_hands(blueprint: BucketedStrategy, node: BettingNode, values: dict[int, MatrixArray]) -> MatrixArray:
    """Returns `[H, H]` the guess at a node before the flop that is no end of it."""
    if node.kind is NodeKind.FOLD:
        hands = hands_of(blueprint.tree.spot.deck)
        is_apart = (hands.masks[:, None] & hands.masks[None, :]) == 0
        paid: MatrixArray = is_apart.astype(np.float32) * np.float32(payoffs(node.state)[0])
        return paid
    shares = blueprint.probabilities(HoldemPlace(node.index, ()))
    return _mix(shares, node, [values[child] for child in node.children]).astype(np.float32)


def _mix(shares: FloatArray, node: BettingNode, below: Sequence[npt.NDArray[np.floating]]) -> FloatArray:
    """Returns the mean of values below a decision, each row of the actor with its own shares `[rows, A]`."""
    columns = shares.T[:, :, None] if node.state.actor == 0 else shares.T[:, None, :]
    total: FloatArray = np.zeros(below[0].shape)
    for column, values in zip(columns, below, strict=True):
        total += column * values
    return total


def _mean_of_showdowns(spot: HoldemSpot, node: BettingNode) -> MatrixArray:
    """Returns `[H, H]` what player 0 wins on average where hands are shown on the flop; 0 where hands share a card."""
    hands = hands_of(spot.deck)
    num_cards = spot.last_street.num_board_cards
    wins = load_or_build_pair_wins(spot.deck, num_cards) / math.comb(spot.deck.num_cards - 4, num_cards)
    pays = [float(payoffs(node.state, result)[0]) for result in RESULTS]
    is_apart = (hands.masks[:, None] & hands.masks[None, :]) == 0
    mean = pays[2] + (pays[0] - pays[2]) * wins + (pays[1] - pays[2]) * wins.T
    return np.where(is_apart, mean, 0.0).astype(np.float32)


def _mean_over_flops(
    blueprint: BucketedStrategy, values: Sequence[FloatArray], on_progress: Callable[[float], None] | None
) -> list[MatrixArray]:
    """Returns for values `[K, K]` of flop buckets `[H, H]` their means over the flops that two hands leave."""
    deck = blueprint.tree.spot.deck
    hands = hands_of(deck)
    permutations = suit_permutations(deck)
    flops, counts = canonical_sets(deck.cards, 3, permutations)
    sums = [np.zeros((hands.num_hands, hands.num_hands), np.float32) for _ in values]
    tables = [np.ascontiguousarray(value, np.float32) for value in values]
    for done, (flop, count) in enumerate(zip(flops.tolist(), counts.tolist(), strict=True)):
        buckets = blueprint.tree.buckets(tuple(flop))
        live = buckets >= 0
        for total, table in zip(sums, tables, strict=True):
            rows = (np.float32(count) * table)[:, np.where(live, buckets, 0)]
            rows[:, ~live] = 0.0
            total[live] += rows[buckets[live]]
        if on_progress is not None and done % 64 == 0:
            on_progress(done / len(flops))
    # a flop stands for all that differ by suits' names
    images = [hand_permutation(permutation, deck) for permutation in permutations]
    is_apart = ((hands.masks[:, None] & hands.masks[None, :]) == 0).astype(np.float32)
    is_apart /= math.comb(deck.num_cards - 4, 3) * len(images)
    return [is_apart * np.sum([total[np.ix_(image, image)] for image in images], axis=0) for total in sums]


class HoldemAivat:
    """Estimates of what player 0 wins, hand by hand.

    Paper: as in `Aivat`.
    Symbols: as there; the histories that only known players tell apart -> ranges.
    Departs from the paper: ends of a hand are not guessed but known; otherwise as in `Aivat`.
    Checked by: tests/evaluation/test_aivat_holdem.py.
    """

    def __init__(
        self, guesses: HoldemGuesses, policies: Sequence[HoldemStrategy | None], *, known: Iterable[int]
    ) -> None:
        """Keeps what is known.

        Args:
            guesses: of the same spot.
            policies: of both seats; None will do for seats that are not known.
            known: the seats whose strategies are given.
        """
        self.guesses, self.policies, self.known = guesses, tuple(policies), frozenset(known)
        if not self.known <= {0, 1}:
            raise ConfigError(f"the seats known are some of 0 and 1, got {sorted(self.known)}")
        tree = guesses.blueprint.tree
        for seat, policy in enumerate(self.policies):
            if policy is None:
                if seat in self.known:
                    raise ConfigError(f"the strategy of seat {seat} is said to be known, and is not given")
                continue
            if policy.tree.spot.deck != tree.spot.deck or policy.tree.betting.nodes != tree.betting.nodes:
                raise ConfigError("guesses and strategies must be of one spot with one menu")
        self.spot: HoldemSpot = tree.spot
        self.nodes = tree.betting.nodes
        self.hands: Hands = hands_of(self.spot.deck)
        ranges = [self.spot.live_weights(seat) for seat in (0, 1)]
        self._ranges = ranges
        board = _Board(self, self.spot.board)
        self._root_guess = board.sum(0, ranges[0], ranges[1]) / self._weigh(ranges[0], ranges[1])

    def estimate(self, end: int, hands: Sequence[int], board: Sequence[int]) -> float:
        """Returns an estimate of what player 0 wins, in chips, from where a hand ended and what cards it had.

        Args:
            end: betting node of a fold or a showdown.
            hands: number of each seat's hand.
            board: as far as it was dealt, or further.
        """
        path = self._path(end)
        reach = [self._ranges[seat] if seat in self.known else self._single(seat, hands[seat]) for seat in (0, 1)]
        here = _Board(self, self.spot.board)
        weight = self._weigh(*reach)
        guess = here.sum(path[0], *reach) / weight
        total = self._root_guess - guess  # the deal of hands
        for above, below in itertools.pairwise(path):
            node = self.nodes[above]
            if node.kind is NodeKind.STREET_END:
                expected = self._expect_cards(node, here, reach, weight, guess)
                here = _Board(self, tuple(board[: self.nodes[below].state.street.num_board_cards]))
                reach = [np.where(here.is_live, own, 0.0) for own in reach]
            elif node.state.actor in self.known:
                expected, reach = self._expect_action(node, below, here, reach, weight)
            else:
                guess = here.sum(below, *reach) / weight
                continue
            weight = self._weigh(*reach)
            guess = here.sum(below, *reach) / weight
            total += expected - guess
        # the end's own guess is its payoff: what is left of it
        return total + guess

    def _expect_action(
        self, node: BettingNode, below: int, here: _Board, reach: list[FloatArray], weight: float
    ) -> tuple[float, list[FloatArray]]:
        """Returns the mean guess over a known player's actions, and the reach after the one taken."""
        seat = node.state.actor
        policy = self.policies[seat]
        assert policy is not None
        shares = policy.probabilities(HoldemPlace(node.index, here.cards))
        expected, after = 0.0, reach
        for column, child in enumerate(node.children):
            moved = list(reach)
            moved[seat] = reach[seat] * shares[:, column]
            expected += here.sum(child, *moved)
            if child == below:
                after = moved
        return expected / weight, after

    def _expect_cards(
        self, node: BettingNode, here: _Board, reach: list[FloatArray], weight: float, guess: float
    ) -> float:
        """Returns the mean guess over the cards that may come."""
        if node.state.street is Street.PREFLOP:
            return guess  # it is that mean
        child = node.children[0]
        left = [card for card in self.spot.deck.cards if card not in here.cards]
        total = 0.0
        for card in left:
            board = _Board(self, (*here.cards, card))
            total += board.sum(child, *(np.where(board.is_live, own, 0.0) for own in reach))
        return total / (weight * (len(left) - 4))  # each pair of hands leaves so many cards

    def _weigh(self, first: FloatArray, second: FloatArray) -> float:
        return float(first @ self.hands.compatible(second))

    def _single(self, seat: int, hand: int) -> FloatArray:
        own = np.zeros(self.hands.num_hands)
        own[hand] = self._ranges[seat][hand]
        return own

    def _path(self, end: int) -> list[int]:
        if self.nodes[end].kind not in (NodeKind.FOLD, NodeKind.SHOWDOWN):
            raise ConfigError(f"a hand ends with a fold or a showdown, node {end} is a {self.nodes[end].kind.value}")
        path = [end]
        while self.nodes[path[-1]].parent != NO_PARENT:
            path.append(self.nodes[path[-1]].parent)
        return path[::-1]


class _Board:
    """Sums of guesses over pairs of hands on one board."""

    def __init__(self, aivat: HoldemAivat, cards: tuple[int, ...]) -> None:
        self.aivat, self.cards = aivat, cards
        self.is_live = ~aivat.hands.blocked(cards)
        self._buckets: IntArray | None = None
        self._strength: npt.NDArray[np.int64] | None = None

    def sum(self, node: int, first: FloatArray, second: FloatArray) -> float:
        """Returns the sum of a node's guesses over pairs of hands that share no card, weighted by their reach."""
        betting = self.aivat.nodes[node]
        if betting.kind is NodeKind.FOLD:
            return payoffs(betting.state)[0] * self.aivat._weigh(first, second)
        if betting.kind is NodeKind.SHOWDOWN:
            won, lost, tied = self._showdown(first, second)
            pays = [payoffs(betting.state, result)[0] for result in RESULTS]
            return pays[0] * won + pays[1] * lost + pays[2] * tied
        guesses = self.aivat.guesses
        if node in guesses.by_hands:
            matrix = guesses.by_hands[node]
            return float(first @ (matrix @ second.astype(np.float32)).astype(np.float64))
        return self._sum_buckets(guesses.by_buckets[node], first, second)

    def _sum_buckets(self, values: FloatArray, first: FloatArray, second: FloatArray) -> float:
        """Returns the sum for values `[K, K]` of buckets, pairs that share a card taken out."""
        if self._buckets is None:
            self._buckets = np.maximum(self.aivat.guesses.blueprint.tree.buckets(self.cards), 0)
        buckets, hands = self._buckets, self.aivat.hands
        size = len(values)
        sums = np.bincount(buckets, second, minlength=size)
        low, high = hands.cards[:, 0].astype(np.int64), hands.cards[:, 1].astype(np.int64)
        places = np.concatenate([buckets * NUM_CARDS + low, buckets * NUM_CARDS + high])
        by_card = np.bincount(places, np.concatenate([second, second]), minlength=size * NUM_CARDS)
        rows, card_rows = values @ sums, values @ by_card.reshape(size, NUM_CARDS)
        met = rows[buckets] - card_rows[buckets, low] - card_rows[buckets, high]
        met += values[buckets, buckets] * second  # the hand itself was taken out twice
        return float(first @ met)

    def _showdown(self, first: FloatArray, second: FloatArray) -> tuple[float, float, float]:
        """Returns the weights of the pairs of hands that player 0 wins, loses and ties."""
        hands = self.aivat.hands
        if self._strength is None:
            self._strength = evaluate_boards([self.cards], self.aivat.spot.deck)[0].astype(np.int64)
        order = np.argsort(self._strength, kind="stable")
        strength = self._strength[order]
        below = np.searchsorted(strength, strength, side="left")
        up_to = np.searchsorted(strength, strength, side="right")
        low, high = hands.cards[order, 0].astype(np.int64), hands.cards[order, 1].astype(np.int64)
        own, other = first[order], second[order]
        sums = np.concatenate([[0.0], np.cumsum(other)])
        by_card = np.zeros((NUM_CARDS, order.size + 1))
        places = np.arange(1, order.size + 1)
        by_card[low, places] = other
        by_card[high, places] = other
        by_card = np.cumsum(by_card, axis=1)

        def beaten(count: npt.NDArray[np.int64]) -> FloatArray:
            found: FloatArray = sums[count] - by_card[low, count] - by_card[high, count]
            return found

        won = float(own @ beaten(below))
        not_lost = float(own @ (beaten(up_to) + other))  # the hand itself ties itself, and was taken out twice
        everything = self.aivat._weigh(first, second)
        return won, everything - not_lost, not_lost - won
