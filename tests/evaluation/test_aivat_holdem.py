# SPDX-License-Identifier: Apache-2.0
"""AIVAT on hold'em: its expectation over every deal and every line is the true value, and hands scatter less."""

import functools
import itertools

import numpy as np
import pytest

from equipoise.abstraction.bucketed_strategy import BucketedStrategy, BucketRecipe
from equipoise.core.errors import ConfigError
from equipoise.evaluation.holdem.aivat import HoldemAivat, HoldemGuesses, build_guesses
from equipoise.games.holdem.betting import Street, payoffs
from equipoise.games.holdem.betting_tree import NodeKind
from equipoise.games.holdem.cards import DECKS, parse_board
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.menu_notation import parse_menu
from equipoise.games.holdem.ranges import parse_range
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.games.holdem.strength import evaluate_boards
from equipoise.solvers.holdem.bucketed import BucketedSolver
from equipoise.trees.holdem.bucketed import build_bucketed_tree
from equipoise.trees.holdem.places import HoldemPlace
from tests.agents.games import small_spot

TINY = DECKS["tiny"]


def flop_spot():
    """Returns a flop of the tiny deck with few hands, played to the turn."""
    ranges = parse_range("AA, KK, QJ", TINY), parse_range("AK, QQ, JT:0.5", TINY)
    return HoldemSpot(
        board=parse_board("ThJhKs", TINY),
        pot=20,
        stacks=(20, 20),
        big_blind=10,
        ranges=ranges,
        menu=parse_menu("100%"),
        last_street=Street.TURN,
        deck=TINY,
    )


def train(spot, num_buckets, iterations):
    recipe = BucketRecipe(sizes=(None, num_buckets, num_buckets, num_buckets))
    solver = BucketedSolver(build_bucketed_tree(spot, recipe.build(spot)), rng=np.random.default_rng(num_buckets))
    solver.iterate(iterations)
    return BucketedStrategy.of(solver, recipe)


@functools.cache
def prepared(name):
    # few hands, for every pair of them is listed on every flop
    ranges = parse_range("AA, KQ, JsTs", TINY), parse_range("AK, QhJh, TT:0.5", TINY)
    spot = flop_spot() if name == "flop" else small_spot(stacks=(20, 20), menu="a", ranges=ranges)
    made = train(spot, 4, 20), train(spot, 3, 10)
    guesses = build_guesses(train(spot, 2, 5), rng=np.random.default_rng(0), num_samples=500)
    return spot, [one for one in made], guesses


def scramble(guesses):
    """Returns guesses that are nonsense, but none of hands that share a card."""
    rng = np.random.default_rng(3)
    # the mean over flops is no guess of its own, so it stays what it is
    ends = {node.index for node in guesses.blueprint.tree.betting.nodes if node.kind is NodeKind.STREET_END}
    by_hands = {
        node: table if node in ends else table * rng.uniform(-2, 2, table.shape).astype(np.float32)
        for node, table in guesses.by_hands.items()
    }
    by_buckets = {
        node: table + rng.normal(scale=5.0, size=table.shape) if not guesses.by_hands else table
        for node, table in guesses.by_buckets.items()
    }
    return HoldemGuesses(blueprint=guesses.blueprint, by_hands=by_hands, by_buckets=by_buckets)


def list_hands(spot, policies):
    """Yields (end, hands, board, probability, chips of player 0) of every way in which a hand can go."""
    hands = hands_of(spot.deck)
    nodes = policies[0].tree.betting.nodes
    weights = [spot.live_weights(seat) for seat in (0, 1)]
    total = spot.pair_weight()
    for pair in itertools.product(*(np.flatnonzero(own).tolist() for own in weights)):
        if hands.masks[pair[0]] & hands.masks[pair[1]]:
            continue
        chance = weights[0][pair[0]] * weights[1][pair[1]] / total
        yield from walk(spot, policies, nodes[0], pair, spot.board, chance)


def walk(spot, policies, node, pair, board, chance):
    nodes = policies[0].tree.betting.nodes
    if chance == 0.0:
        return
    if node.kind is NodeKind.DECISION:
        shares = policies[node.state.actor].probabilities(HoldemPlace(node.index, board))[pair[node.state.actor]]
        for child, share in zip(node.children, shares, strict=True):
            yield from walk(spot, policies, nodes[child], pair, board, chance * share)
    elif node.kind is NodeKind.STREET_END:
        below = nodes[node.children[0]]
        used = {*board, *hands_of(spot.deck).cards[list(pair)].ravel().tolist()}
        count = below.state.street.num_board_cards - len(board)
        deals = list(itertools.combinations([card for card in spot.deck.cards if card not in used], count))
        for cards in deals:
            yield from walk(spot, policies, below, pair, (*board, *cards), chance / len(deals))
    elif node.kind is NodeKind.FOLD:
        yield node.index, pair, board, chance, payoffs(node.state)[0]
    else:
        strength = evaluate_boards([board], spot.deck)[0][list(pair)].tolist()
        yield node.index, pair, board, chance, payoffs(node.state, tuple(strength))[0]


def expectations(name, known, guesses):
    """Returns the true value, the estimate's expectation, and the deviations of both."""
    spot, policies, _ = prepared(name)
    aivat = HoldemAivat(guesses, policies, known=known)
    kept = {}
    rows = []
    for end, pair, board, chance, chips in list_hands(spot, policies):
        # what the estimate may depend on: hands of known seats are no part of it
        key = (end, board, *(hand for seat, hand in enumerate(pair) if seat not in known))
        if key not in kept:
            kept[key] = aivat.estimate(end, pair, board)
        rows.append((chance, chips, kept[key]))
    chance, chips, estimate = np.array(rows).T
    assert chance.sum() == pytest.approx(1.0)
    value = chance @ chips
    return value, chance @ estimate, np.sqrt(chance @ (chips - value) ** 2), np.sqrt(chance @ (estimate - value) ** 2)


@pytest.mark.parametrize("known", [(), (0,), (1,), (0, 1)])
def test_the_expectation_is_the_value_on_a_flop(known):
    _, _, guesses = prepared("flop")
    value, mean, raw, left = expectations("flop", known, guesses)
    assert mean == pytest.approx(value, abs=1e-9)
    assert left < raw
    value, mean, _, _ = expectations("flop", known, scramble(guesses))
    assert mean == pytest.approx(value, abs=1e-9)


def test_the_expectation_is_the_value_from_before_the_flop():
    _, _, guesses = prepared("preflop")
    value, mean, raw, left = expectations("preflop", (0, 1), guesses)
    assert mean == pytest.approx(value, abs=1e-5)  # guesses of pairs of hands have 32 bits
    assert left < raw / 3
    value, mean, _, _ = expectations("preflop", (0, 1), scramble(guesses))
    assert mean == pytest.approx(value, abs=1e-5)


def test_other_spots_are_refused():
    _, policies, guesses = prepared("flop")
    _, others, _ = prepared("preflop")
    with pytest.raises(ConfigError, match="of one spot with one menu"):
        HoldemAivat(guesses, others, known=(0,))
    with pytest.raises(ConfigError, match=r"some of 0 and 1, got \[2\]"):
        HoldemAivat(guesses, policies, known=(2,))
    with pytest.raises(ConfigError, match="node 0 is a decision"):
        HoldemAivat(guesses, policies, known=(0,)).estimate(0, (1, 2), ())
