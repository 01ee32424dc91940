# SPDX-License-Identifier: Apache-2.0
"""Games played by hand, blueprints and spots small enough for tests."""

import functools

import numpy as np

from equipoise.abstraction.bucketed_strategy import BucketedStrategy, BucketRecipe
from equipoise.agents.base import Observation
from equipoise.games.base import CHANCE, TERMINAL
from equipoise.games.holdem.betting import Street
from equipoise.games.holdem.cards import DECKS
from equipoise.games.holdem.menu_notation import parse_menu
from equipoise.games.holdem.ranges import Range
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.solvers.holdem.bucketed import BucketedSolver
from equipoise.solvers.playouts import draw_chance
from equipoise.trees.holdem.bucketed import build_bucketed_tree


def small_spot(deck="tiny", menu="100%, a", **changes):
    """Returns flop hold'em on a small deck, from before the flop."""
    cards = DECKS[deck]
    fields = {"stacks": (40, 40), "big_blind": 10, "small_blind": 5, "last_street": Street.FLOP}
    fields |= {"ranges": (Range.random(cards), Range.random(cards)), **changes}
    return HoldemSpot(board=(), deck=cards, menu=parse_menu(menu), **fields)


@functools.cache
def blueprint(deck="tiny", num_buckets=4, iterations=30, **changes):
    """Returns a strategy in a few buckets after a few iterations."""
    spot = small_spot(deck, **changes)
    recipe = BucketRecipe(sizes=(None, num_buckets, num_buckets, num_buckets))
    solver = BucketedSolver(build_bucketed_tree(spot, recipe.build(spot)), rng=np.random.default_rng(1))
    solver.iterate(iterations)
    return BucketedStrategy.of(solver, recipe)


def walk(game, rng):
    """Yields the states of a game in which everybody moves uniformly."""
    state = game.initial_state()
    while game.actor(state) != TERMINAL:
        yield state
        if game.actor(state) == CHANCE:
            state = game.apply(state, draw_chance(game, state, rng.random()))
        else:
            state = game.apply(state, int(rng.choice(game.legal_actions(state))))
    yield state


def assert_plays_as_it_says(agent, decision, rows):
    """Draws the hand that mixes most 400 times: it must play what the strategy of all hands says."""
    hand = int(np.sort(rows, axis=1)[:, -2].argmax())  # the one that mixes most
    observation = Observation(
        decision.seat, decision.infostates[hand], decision.public_state, decision.actions, decision.classes
    )
    rng = np.random.default_rng(1)
    drawn = [agent.act(observation, rng=rng) for _ in range(400)]
    for column in np.flatnonzero(rows[hand] > 0):
        share = np.mean([action == decision.actions[column] for action in drawn])
        assert abs(share - rows[hand, column]) < 0.1
    assert set(drawn) <= set(agent.public_actions(decision))
