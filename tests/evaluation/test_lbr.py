# SPDX-License-Identifier: Apache-2.0
"""Local best responses win at most what best responses do, exactly, and punish weak play."""

import functools

import numpy as np
import pytest

from equipoise.agents import ClassAgent, StrategyAgent, UniformAgent
from equipoise.core.errors import ConfigError
from equipoise.evaluation.assembly import assemble_public_strategy, strategy_tables
from equipoise.evaluation.lbr import every_action, fold_or_call, measure_lbr, respond_locally
from equipoise.games.base import ActionClass
from equipoise.games.registry import make_game
from equipoise.runs.solution import solve
from equipoise.solvers.rules import CFR
from equipoise.trees.derive import derive_public_game
from tests.reference.lbr import list_move_values

GAMES = {
    "kuhn": {},
    "leduc": {},
    "leduc_nolimit": {"stack": 3, "ranks": 2},
    "liars_dice": {"faces": 3},
    "goofspiel": {"cards": 3},
    "coin_toss": {},
}


@functools.cache
def game_of(name):
    return make_game(name, **GAMES[name])


@functools.cache
def agent_of(name, kind):
    agents = {"uniform": UniformAgent(), "call": ClassAgent(ActionClass.CALL), "raise": ClassAgent(ActionClass.RAISE)}
    if kind in agents:
        return agents[kind]
    return StrategyAgent(solve(game_of(name), rule=CFR(), iterations=int(kind)).strategy)


@pytest.mark.parametrize("menu", [every_action, fold_or_call])
@pytest.mark.parametrize("kind", ["uniform", "raise", "3"])
@pytest.mark.parametrize("name", GAMES)
def test_a_local_response_wins_at_most_what_a_best_response_wins(name, kind, menu):
    found = measure_lbr(agent_of(name, kind), game_of(name), menu=menu, rng=np.random.default_rng(0))
    for local, best in zip(found.values, found.best_response_values, strict=True):
        assert local <= best + 1e-12


@pytest.mark.parametrize("name", ["kuhn", "leduc"])
@pytest.mark.parametrize("player", [0, 1])
def test_every_move_is_the_best_by_the_twins_look_ahead(name, player):
    game, strategy = game_of(name), agent_of(name, "3").strategy
    profile = {
        (owner, text): strategy.probabilities(owner, text).tolist()
        for owner, text in zip(strategy.player.tolist(), strategy.infostates, strict=True)
    }
    public = derive_public_game(game)
    rolls = assemble_public_strategy(ClassAgent(ActionClass.CALL), public, rng=np.random.default_rng(0))
    tables = [strategy_tables(public, one) for one in (strategy, rolls)]
    played = respond_locally(public, player, *tables)
    expected = list_move_values(game, player, profile)
    num_strict = 0
    for state in np.flatnonzero(public.arrays.actor == player).tolist():
        for private, row in enumerate(played[state]):
            values = expected.get(public.infostate(state, player, private))  # none where the opponent never plays to
            if values is not None:
                assert values[int(row.argmax())] == pytest.approx(max(values), abs=1e-12)
                num_strict += max(values) - sorted(values)[-2] > 1e-9
    assert num_strict >= 4


@pytest.mark.parametrize("name", ["kuhn", "leduc"])
@pytest.mark.parametrize("kind", ["uniform", "call"])
def test_weak_play_is_punished(name, kind):
    found = measure_lbr(agent_of(name, kind), game_of(name), rng=np.random.default_rng(0))
    assert found.mean > 0.05


def test_against_a_caller_the_look_ahead_is_exact_in_kuhn():
    # whoever is always called, and calls on, ends where the roll-out says: the greedy choice is the best one
    found = measure_lbr(agent_of("kuhn", "call"), game_of("kuhn"), rng=np.random.default_rng(0))
    assert found.values == pytest.approx(found.best_response_values)


def test_roll_outs_by_the_opponents_own_strategy_improve_on_it():
    # with folds believed and the rest as played, each choice is one step of policy improvement on the last move
    agent = agent_of("liars_dice", "uniform")
    own = measure_lbr(agent, game_of("liars_dice"), rollout=agent, rng=np.random.default_rng(0))
    assert own.values[0] > own.strategy_values[0]
    assert own.values[1] > own.strategy_values[1]


def test_menus_restrict_what_is_played():
    uniform = UniformAgent()
    passive = measure_lbr(uniform, game_of("leduc"), menu=fold_or_call, rng=np.random.default_rng(0))
    free = measure_lbr(uniform, game_of("leduc"), rng=np.random.default_rng(0))
    assert 0 < passive.mean < free.mean
    with pytest.raises(ConfigError, match="for two players, kuhn has 3"):
        measure_lbr(uniform, make_game("kuhn", players=3), rng=np.random.default_rng(0))
