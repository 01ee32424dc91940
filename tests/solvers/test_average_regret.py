# SPDX-License-Identifier: Apache-2.0
"""Average regrets: what best plans in hindsight would have gained, iteration by iteration, computed the long way."""

import numpy as np
import pytest

from equipoise.games.registry import parse_game
from equipoise.solvers.average_regret import bound_average_regrets
from equipoise.solvers.best_response import bind_history_kernel, expected_values
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rule_notation import parse_rule
from equipoise.trees.history import build_history_tree

GAMES = ["kuhn(players=3)", "lemonade_stand(points=5)", "kuhn"]


def play(game, rule, num_iterations):
    """Returns a run of simultaneous updates, and each iteration's realisation weights."""
    tree = build_history_tree(parse_game(game))
    solver = CFRSolver(tree, parse_rule(rule), is_alternating=False)
    kernel = bind_history_kernel(tree)
    weights = []
    for _ in range(num_iterations):
        weights.append(kernel.realize(solver.current_strategy()).copy())
        solver.iterate(1)
    return tree, solver, weights


def gain_in_hindsight(tree, weights, player, shares):
    """Returns what the best plan would have gained over weighted iterations, from values of every own sequence."""
    value = np.zeros(int(tree.sequence_start[-1]))
    played = 0.0
    for share, realization in zip(shares, weights, strict=True):
        reach = tree.terminal_chance * tree.utility[player]
        for other in range(tree.num_players):
            if other != player:
                reach = reach * realization[tree.terminal_sequence[other]]
        np.add.at(value, tree.terminal_sequence[player], share * reach)
        played += share * expected_values(tree, realization)[player]
    for infoset in range(tree.num_actions.size - 1, -1, -1):
        first, count = int(tree.first_sequence[infoset]), int(tree.num_actions[infoset])
        value[tree.parent_sequence[infoset]] += value[first : first + count].max()
    return (value[tree.sequence_start[player]] - played) / sum(shares)


def shares_of(rule, num_iterations):
    """Returns how the rule weighs iterations in positive regrets."""
    shares = np.zeros(num_iterations)
    for t in range(1, num_iterations + 1):
        shares[: t - 1] *= parse_rule(rule).discounts(t).positive
        shares[t - 1] = 1.0
    return shares.tolist()


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("rule", ["cfr", "lcfr"])
def test_exact_where_nothing_is_forgotten(game, rule):
    tree, solver, weights = play(game, rule, 12)
    found = bound_average_regrets(tree, solver.tables.regret_sum, solver.rule, 12)
    for player in range(tree.num_players):
        expected = gain_in_hindsight(tree, weights, player, shares_of(rule, 12))
        assert found[player] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("rule", ["cfr+", "dcfr"])
def test_a_bound_where_negative_regrets_are_forgotten(game, rule):
    tree, solver, weights = play(game, rule, 12)
    found = bound_average_regrets(tree, solver.tables.regret_sum, solver.rule, 12)
    for player in range(tree.num_players):
        assert found[player] >= gain_in_hindsight(tree, weights, player, shares_of(rule, 12)) - 1e-12


def test_it_comes_to_nothing():
    tree, solver, _ = play("kuhn(players=3)", "cfr", 10)
    early = max(bound_average_regrets(tree, solver.tables.regret_sum, solver.rule, 10))
    solver.iterate(2000)
    assert max(bound_average_regrets(tree, solver.tables.regret_sum, solver.rule, 2010)) < early / 10


def test_nothing_is_known_before_the_first_iteration():
    tree = build_history_tree(parse_game("kuhn"))
    assert bound_average_regrets(tree, np.zeros(int(tree.sequence_start[-1])), parse_rule("cfr"), 0) is None


def test_the_command_says_that_nothing_is_guaranteed(equipoise):
    found = equipoise(
        "solve", "kuhn", "-p", "players=3", "--iterations", 50, "--rule", "cfr", "--out", "k.eq", "--json"
    ).json
    assert found["has_guarantee"] is False
    assert len(found["average_regrets"]) == 3
    shown = equipoise("solve", "lemonade_stand", "--iterations", 20, "--rule", "cfr").out
    assert "no guarantee" in shown
    assert "average regret" in shown
    assert "3 players: exploitability is what a player gains" in " ".join(equipoise("evaluate", "k.eq").err.split())
    safe = equipoise("solve", "kuhn", "--iterations", 20, "--json").json
    assert (safe["has_guarantee"], safe["average_regrets"]) == (True, None)
    assert "guarantee" not in equipoise("solve", "kuhn", "--iterations", 20).out


def test_seeds_make_bands(equipoise, tmp_path):
    command = ("compare", "kuhn", "--rules", "cfr,external", "--seeds", 3, "-n", 200, "--plot", "c.svg")
    found = equipoise(*command, "--json").json
    assert [len(row["runs"]) for row in found["rows"]] == [1, 3]
    ends = sorted(run["exploitability"] for run in found["rows"][1]["runs"])
    assert ends[0] < ends[1] < ends[2]
    assert found["rows"][1]["exploitability"] == ends[1]
    table = equipoise(*command).out
    assert "seeds: best ... worst" in table
    assert "external" in table
    assert equipoise("compare", "kuhn", "--seeds", 0).code == 2
