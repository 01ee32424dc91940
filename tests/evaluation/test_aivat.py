# SPDX-License-Identifier: Apache-2.0
"""AIVAT is unbiased: its expectation over every game, listed, is the true value, whatever guesses the values."""

import functools

import numpy as np
import pytest

from equipoise.core.errors import InvalidStateError
from equipoise.evaluation.aivat import Aivat, PublicStep, PublicTracer, guess_values, strategy_tables
from equipoise.games.base import TERMINAL
from equipoise.games.registry import make_game
from equipoise.runs.solution import solve
from equipoise.solvers.rules import CFR
from equipoise.trees.derive import derive_public_game
from tests.agents.games import walk

GAMES = {"kuhn": {}, "liars_dice": {"faces": 2}, "goofspiel": {"cards": 3}}


@functools.cache
def prepared(name):
    """Returns a game's public form, tables of two different strategies, and every game as a path with its chance."""
    game = make_game(name, **GAMES[name])
    public = derive_public_game(game)
    played = strategy_tables(public, solve(game, rule=CFR(), iterations=3).strategy)
    other = strategy_tables(public, solve(game, rule=CFR(), iterations=30).strategy)
    return public, played, other, tuple(list_games(public, played))


def list_games(public, tables):
    """Yields (path, probability, utility of player 0) of every pair of private states at every end."""
    stack = [
        ([PublicStep(0, (first, second))], 1.0)
        for first in range(public.num_private(0, 0))
        for second in range(public.num_private(0, 1))
    ]
    while stack:
        path, reach = stack.pop()
        state, private = path[-1]
        if public.actor(state) == TERMINAL:
            weight = public.joint_weights(state)[private]
            if weight * reach > 0:
                yield path, weight * reach, public.payoffs(state)[0][private] / weight
            continue
        for edge in public.edges(state):
            for first in entries(public, state, edge, 0, private[0], tables):
                for second in entries(public, state, edge, 1, private[1], tables):
                    step = PublicStep(edge.child, (first[0], second[0]))
                    stack.append(([*path, step], reach * first[1] * second[1]))


def entries(public, state, edge, player, private, tables):
    relation = edge.relations[player]
    for entry in np.flatnonzero(relation.private == private):
        share = tables[state][private, relation.action[entry]] if public.actor(state) == player else 1.0
        yield int(relation.target[entry]), float(relation.weight[entry] * share)


@pytest.mark.parametrize("known", [(), (0,), (1,), (0, 1)])
@pytest.mark.parametrize("name", GAMES)
def test_the_expectation_is_the_value_for_any_guess(name, known):
    public, played, _, games = prepared(name)
    rng = np.random.default_rng(7)
    guesses = [
        rng.normal(size=public.joint_weights(state).shape) * public.joint_weights(state)
        for state in range(public.arrays.actor.size)
    ]
    aivat = Aivat(public, played, guesses, known=known)
    value = sum(chance * utility for _, chance, utility in games)
    assert sum(chance for _, chance, _ in games) == pytest.approx(1.0)
    assert sum(chance * aivat.estimate(path) for path, chance, _ in games) == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("name", GAMES)
def test_exact_guesses_leave_no_luck_of_known_players(name):
    public, played, other, games = prepared(name)
    value = sum(chance * utility for _, chance, utility in games)
    exact = Aivat(public, played, guess_values(public, played), known=(0, 1))
    assert max(abs(exact.estimate(path) - value) for path, _, _ in games) < 1e-12

    def deviation(estimates):
        return np.sqrt(
            sum(chance * (number - value) ** 2 for (_, chance, _), number in zip(games, estimates, strict=True))
        )

    raw = deviation([utility for _, _, utility in games])
    guessed = guess_values(public, other)
    one_side, both = (
        deviation([Aivat(public, played, guessed, known=known).estimate(path) for path, _, _ in games])
        for known in ((0,), (0, 1))
    )
    assert both < one_side < raw


def test_the_whole_of_leduc_with_one_side_and_both():
    game = make_game("leduc")
    public = derive_public_game(game)
    played = strategy_tables(public, solve(game, rule=CFR(), iterations=3).strategy)
    guesses = guess_values(public, strategy_tables(public, solve(game, rule=CFR(), iterations=1).strategy))
    games = list(list_games(public, played))
    chances = np.array([chance for _, chance, _ in games])
    value = float(chances @ [utility for _, _, utility in games])
    assert value == pytest.approx(guess_values(public, played)[0].sum(), abs=1e-12)
    # both known: only the public states matter, so one of the games that share them stands for all
    estimator = Aivat(public, played, guesses, known=(0, 1))
    seen = {}
    for path, _, _ in games:
        key = tuple(step.state for step in path)
        if key not in seen:
            seen[key] = estimator.estimate(path)
    both = np.array([seen[tuple(step.state for step in path)] for path, _, _ in games])
    assert float(chances @ both) == pytest.approx(value, abs=1e-12)
    one_side = Aivat(public, played, guesses, known=(1,))
    own = {}
    for path, _, _ in games:
        key = tuple((step.state, step.private[0]) for step in path)
        if key not in own:
            own[key] = one_side.estimate(path)
    single = np.array([own[tuple((step.state, step.private[0]) for step in path)] for path, _, _ in games])
    assert float(chances @ single) == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("name", ["kuhn", "goofspiel"])
def test_games_played_by_their_rules_are_traced(name):
    game = make_game(name, **GAMES[name])
    public, played, _, _ = prepared(name)
    tracer, rng = PublicTracer(public), np.random.default_rng(2)
    exact = Aivat(public, played, guess_values(public, played), known=())
    for _ in range(20):
        states = list(walk(game, rng))
        path = tracer.trace(game, states)
        assert path[0].state == 0
        last = path[-1]
        weight = public.joint_weights(last.state)[last.private]
        assert public.payoffs(last.state)[0][last.private] / weight == pytest.approx(game.returns(states[-1])[0])
        assert np.isfinite(exact.estimate(path))
    with pytest.raises(InvalidStateError, match="has not ended"):
        exact.estimate(path[:1])
