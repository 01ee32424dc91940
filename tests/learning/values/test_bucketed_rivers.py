# SPDX-License-Identifier: Apache-2.0
"""Rivers solved in buckets of strength: near the exact solution, and a showdown where nobody can bet."""

import dataclasses

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games.holdem.betting import Street
from equipoise.games.holdem.betting_tree import betting_tree
from equipoise.games.holdem.cards import FULL_DECK, parse_board
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.menu_notation import parse_menu
from equipoise.kernels.frontier import BeliefBatch
from equipoise.learning.values.boards import live_hands
from equipoise.learning.values.bucketed_rivers import BucketedRivers, bind_betting
from equipoise.learning.values.labels import POT, Labels, ValueSolver, spot_of
from equipoise.learning.values.situations import CPU_RATIOS, draw_situation
from equipoise.search.holdem.equity_leaves import equity_leaves
from equipoise.search.holdem.leaves import HoldemState
from equipoise.trees.joint import CardRemoval

MENU = parse_menu("100%, a")


def ask(situation, reach=None, **how):
    """Returns `[2, n]` values in pots, and the batch that was asked about."""
    spot = spot_of(situation, MENU)
    live = live_hands(situation.board)
    own = situation.ranges.astype(float) if reach is None else reach
    full = np.zeros((2, 1, FULL_DECK.num_hands))
    full[:, 0, live] = own
    state = HoldemState((), betting_tree(spot.betting_rules, MENU).root.state, situation.board)
    batch = BeliefBatch(
        states=[state],
        reach=(full[0], full[1]),
        num_private=np.full((1, 2), FULL_DECK.num_hands, np.int32),
        joint=[CardRemoval(FULL_DECK, situation.board)],
    )
    found = BucketedRivers(spot, **how).evaluate(batch)
    return np.stack([values[0, live] for values in found.cfv]) / POT, batch


def draw(seed, ratio, board=()):
    found = draw_situation(Street.RIVER, CPU_RATIOS, np.random.default_rng(seed), board=board)
    return found._replace(ratio=ratio)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_values_are_near_those_of_the_exact_solution(seed):
    situation = draw(seed, 1.5)
    exact = ValueSolver(Labels(iterations=300)).solve(situation, np.random.default_rng(0))[0].value.astype(float)
    held = situation.ranges.astype(float)
    held /= held.sum(axis=1, keepdims=True)
    found, batch = ask(situation, held)
    equity = equity_leaves(spot_of(situation, MENU)).evaluate(batch)
    plain = np.stack([values[0, live_hands(situation.board)] for values in equity.cfv]) / POT
    error, without = (np.sqrt((held * (values - exact) ** 2).sum() / 2) for values in (found, plain))
    assert error < 0.06
    assert error < 0.5 * without


def test_more_buckets_are_nearer():
    situation = draw(4, 1.5)
    exact = ValueSolver(Labels(iterations=300)).solve(situation, np.random.default_rng(0))[0].value.astype(float)
    errors = [np.abs(ask(situation, num_buckets=count)[0] - exact).mean() for count in (3, 60)]
    assert errors[1] < 0.7 * errors[0]


def test_values_go_with_the_reach_of_the_opponent():
    situation = draw(5, 2.0)
    held = situation.ranges.astype(float)
    once, _ = ask(situation, held)
    twice, _ = ask(situation, held * np.array([[3.0], [0.5]]))
    np.testing.assert_allclose(twice, once * np.array([[0.5], [3.0]]), rtol=1e-5, atol=1e-7)


def test_without_chips_behind_a_showdown_is_all():
    situation = draw(6, 1.0)
    spot = spot_of(situation, MENU)
    tree = betting_tree(spot.betting_rules, MENU)
    state = tree.root.state._replace(stacks=(0, 0))
    _, batch = ask(situation)
    batch = dataclasses.replace(batch, states=[HoldemState((), state, situation.board)])
    found, known = (leaves.evaluate(batch).cfv for leaves in (BucketedRivers(spot), equity_leaves(spot)))
    for own, other in zip(found, known, strict=True):
        np.testing.assert_allclose(own, other, atol=2e-3)


def test_other_names_of_suits_permute_values():
    board = tuple(sorted(parse_board("2c7d9hJsKc", FULL_DECK)))
    situation = draw(7, 1.5, board)
    turned = np.array([4 * (card // 4) + (card % 4 + 1) % 4 for card in range(52)])
    cards = hands_of(FULL_DECK).cards
    numbers = {frozenset(pair): place for place, pair in enumerate(cards.tolist())}
    image = np.array([numbers[frozenset(turned[pair].tolist())] for pair in cards])
    there = tuple(sorted(turned[list(board)].tolist()))
    live, live_there = live_hands(board), live_hands(there)
    place = np.searchsorted(live_there, image[live])
    ranges = np.empty_like(situation.ranges)
    ranges[:, place] = situation.ranges
    found, _ = ask(situation)
    other, _ = ask(situation._replace(board=there, ranges=ranges))
    np.testing.assert_allclose(other[:, place], found, atol=1e-5)


def test_betting_is_a_tree_with_amounts_in_pots():
    spot = spot_of(draw(8, 4.0), MENU)
    betting = bind_betting(betting_tree(spot.betting_rules, MENU), POT)
    betting.check()
    assert betting.amount.max() == pytest.approx(4.5)
    assert betting.amount[betting.kind > 0].min() == pytest.approx(0.5)


def test_what_cannot_be_solved_is_refused():
    spot = spot_of(draw(9, 1.0), MENU)
    with pytest.raises(ConfigError, match="two buckets and an iteration"):
        BucketedRivers(spot, num_buckets=1)
    _, batch = ask(draw(9, 1.0))
    turn = dataclasses.replace(batch, states=[batch.states[0]._replace(board=batch.states[0].board[:4])])
    with pytest.raises(ConfigError, match="asked about 4 cards"):
        BucketedRivers(spot).evaluate(turn)
