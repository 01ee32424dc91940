# SPDX-License-Identifier: Apache-2.0
"""The blueprint kernel's deals and payoffs against the rules."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from equipoise.abstraction.hand_strength import canonical_boards
from equipoise.core.errors import ConfigError
from equipoise.games.holdem import BettingRules, Street, parse_deck
from equipoise.games.holdem.betting import payoffs
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.strength import hand_kernel
from equipoise.kernels.blueprints import CardDeals, ListedDeals
from equipoise.solvers.blueprints.exact import measure_blueprint
from equipoise.solvers.blueprints.trainer import BlueprintConfig, BlueprintTrainer
from equipoise.trees.holdem.flat_betting import FlatBetting, MenuByPlayers
from tests.reference.flat_betting import list_nodes


@pytest.mark.parametrize("name", ["royal", "small"])
def test_buckets_and_strengths_are_those_of_the_cards(name: str) -> None:
    deck = parse_deck(name)
    hands = hands_of(deck)
    rng = np.random.default_rng(3)
    boards = {street: canonical_boards(deck, size) for street, size in ((1, 3), (2, 4), (3, 5))}
    tables = [
        {street: rng.integers(0, 60_000, (len(found.sets), hands.num_hands)).astype(np.uint16)}
        for street, found in boards.items()
    ]
    symmetric = {s: _make_symmetric(boards[s], t[s]) for s, t in zip(boards, tables, strict=True)}
    kernel = hand_kernel(deck)
    deals = CardDeals(
        kernel,
        deck=deck.cards,
        hole_cards=hands.cards,
        boards={street: found.sets for street, found in boards.items()},
        buckets=[symmetric, symmetric],
    )
    dealt = np.array([rng.permutation(deck.cards)[:9] for _ in range(40)], np.uint8)
    found, strengths = deals.look_up(dealt[:, :5].copy(), dealt[:, 5:].reshape(-1, 2, 2).copy())
    for row, cards in enumerate(dealt.tolist()):
        for player in range(2):
            own = cards[5 + 2 * player : 7 + 2 * player]
            assert strengths[row, player] == evaluate_hand_of([*cards[:5], *own], deck)
            for street, size in ((1, 3), (2, 4), (3, 5)):
                expected = boards[street].rows(symmetric[street]).look_up(np.array([cards[:size]], np.uint8))[0]
                assert found[row, player, street] == expected[hands.index(*own)]


def _make_symmetric(boards, table):
    """Returns a table in which hands that differ by names of suits that leave the board as it is are alike."""
    out = table.copy()
    for row, cards in enumerate(boards.sets.tolist()):
        for permutation, images in zip(boards.permutations, boards.hand_images, strict=True):
            image = sorted(card // 4 * 4 + int(permutation[card % 4]) for card in cards)
            if image == sorted(cards):
                out[row] = np.minimum(out[row], out[row][images])
    return out


def evaluate_hand_of(cards, deck):
    return hand_kernel(deck).evaluate(cards)


def test_payoffs_are_those_of_the_rules_with_side_pots() -> None:
    """One deal at a time, everybody's play uniform: what each player wins is the mean over the tree's ends."""
    rules = BettingRules(stacks=(30, 90, 60), small_blind=6, big_blind=12, last_street=Street.FLOP)
    menus = MenuByPlayers.parse("a; cap: 2")
    betting = FlatBetting(rules=rules, menus=menus)
    flat = list_nodes(rules, menus)
    for strengths in ([5, 3, 1], [1, 3, 3], [2, 2, 2], [1, 2, 3]):
        deals = ListedDeals(np.ones(1), np.zeros((1, 3, 4), np.uint16), np.array([strengths], np.uint16))
        rows = [np.full((1, max(int(n), 1)), 1 / max(int(n), 1)) for n in betting.arrays.num_actions]
        measured = measure_blueprint(betting, deals, rows.__getitem__)
        expected = _mean_payoffs(flat, betting, 0, tuple(strengths))  # chips that ties divide
        assert np.allclose(measured.values, expected)


def _mean_payoffs(flat, betting, node, strengths):
    count = int(betting.arrays.num_actions[node])
    if not count:
        return np.array(payoffs(flat.states[node], strengths), float)
    first = int(betting.arrays.nodes[node, 0])
    return np.mean([_mean_payoffs(flat, betting, first + i, strengths) for i in range(count)], axis=0)


def test_training_finds_the_best_reply_in_side_pots() -> None:
    """Strengths are known: whoever is best at the showdown of a pot goes all-in, and gains become nothing."""
    rules = BettingRules(stacks=(30, 90, 60), small_blind=6, big_blind=12, last_street=Street.FLOP)
    betting = FlatBetting(rules=rules, menus=MenuByPlayers.parse("a; cap: 2"))
    deals = ListedDeals(np.ones(1), np.zeros((1, 3, 4), np.uint16), np.array([[5, 3, 1]], np.uint16))
    config = BlueprintConfig(scale=100.0, period=200, walked_streets=4)
    trainer = BlueprintTrainer(betting, deals, np.ones((3, 4), np.int32), config)
    trainer.train(20_000)
    assert measure_blueprint(betting, deals, trainer.average).nash_conv < 0.5


def test_what_does_not_fit_together_is_refused() -> None:
    with pytest.raises(ConfigError, match="positive weights"):
        ListedDeals(np.zeros(1), np.zeros((1, 2, 4), np.uint16), np.zeros((1, 2), np.uint16))


def test_exploitability_inside_the_abstraction_of_cards_falls() -> None:
    """Ten cards, betting to the flop, buckets with perfect recall: all 25,200 deals are listed and measured."""
    deck = parse_deck("tiny")
    hands = hands_of(deck)
    flops = canonical_boards(deck, 3)
    classes = hands.classes.astype(np.int64)
    num_classes = int(classes.max()) + 1
    strength = hand_kernel(deck).evaluate_boards(flops.sets, hands.cards).astype(np.int64)
    tables = {0: classes[None].astype(np.uint8), 1: (2 * classes + (strength > 4000)).astype(np.uint8)}
    boards = {0: canonical_boards(deck, 0).sets, 1: flops.sets}
    cards = CardDeals(hand_kernel(deck), deck=deck.cards, hole_cards=hands.cards, boards=boards, buckets=[tables] * 2)
    buckets, strengths = cards.look_up(*_list_deals(deck.cards))
    rank = np.stack([strengths[:, 0] >= strengths[:, 1], strengths[:, 1] >= strengths[:, 0]], axis=1)
    rows, counts = np.unique(np.concatenate([buckets.reshape(-1, 8), rank], axis=1), axis=0, return_counts=True)
    rows = rows.astype(np.uint16)
    listed = ListedDeals(
        counts.astype(float), np.ascontiguousarray(rows[:, :8].reshape(-1, 2, 4)), np.ascontiguousarray(rows[:, 8:])
    )
    rules = BettingRules(stacks=(600, 600), small_blind=5, big_blind=10, last_street=Street.FLOP)
    betting = FlatBetting(rules=rules, menus=MenuByPlayers.parse("100%; cap: 2"))
    sizes = np.array([[num_classes, 2 * num_classes, 1, 1]] * 2, np.int32)
    trainer = BlueprintTrainer(betting, cards, sizes, BlueprintConfig(scale=100.0, period=2000, walked_streets=4))
    found = []
    for num_deals in (4_000, 64_000):  # sixteen times the deals: a quarter, by the square root
        trainer.train(num_deals - trainer.num_deals)
        found.append(measure_blueprint(betting, listed, trainer.average).nash_conv)
    assert found[1] < found[0] / 2.5


def _list_deals(cards):
    """Returns every flop `[D, 3]` and hands `[D, 2, 2]` of ten cards."""
    boards, holes = [], []
    for flop in itertools.combinations(cards, 3):
        rest = [card for card in cards if card not in flop]
        for first in itertools.combinations(rest, 2):
            for second in itertools.combinations([card for card in rest if card not in first], 2):
                boards.append(flop)
                holes.append((first, second))
    return np.array(boards, np.uint8), np.array(holes, np.uint8)
