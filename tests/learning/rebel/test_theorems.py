# SPDX-License-Identifier: Apache-2.0
"""What the thesis proves of values of beliefs, on Kuhn poker with a table in place of a network."""

import numpy as np
import pytest

from equipoise.games.registry import parse_game
from equipoise.kernels.belief_search import BeliefSearchSettings
from equipoise.search.belief_games import BeliefGame, parse_horizon
from equipoise.search.random_iteration import iteration_chances
from equipoise.solvers.best_response import bind_public_kernel, evaluate
from equipoise.solvers.rules import LinearCFR, tabulate_discounts
from equipoise.trees.public_edges import write_policy
from tests.reference.belief_search import ReferenceSearch

RULE = LinearCFR()


class Table:
    """Values of beliefs as they were last found, 0 where none was: what learning without an error would give."""

    def __init__(self, game, iterations):
        self.game, self.values, self.misses = game, {}, 0
        self.settings = BeliefSearchSettings(rule=RULE.kernel, discounts=tabulate_discounts(RULE, 1, iterations))
        self.asked = {}

    def predict(self, kind, belief):
        key = kind, np.round(belief, 6).tobytes()
        self.asked[key] = belief
        self.misses += key not in self.values
        return self.values.get(key, np.zeros(belief.shape))

    def sweep(self):
        """Plays from the beginning by every iteration; what lies below is solved to the end, and kept."""
        self.asked, self.misses = {}, 0
        search = ReferenceSearch(
            self.game, 0, self.game.root_belief().astype(float), self.predict, discounts=self.settings.discounts
        )
        found = search.run()
        for (kind, key), belief in self.asked.items():
            value = self.solve(kind, belief)
            self.values[kind, key] = value
        return found

    def solve(self, kind, belief):
        kernel = self.game.subgames[kind].kernel
        value = kernel.search(belief[None].astype(np.float32), None, self.settings).value[0].astype(float)
        return value - 0.5 * (belief * value).sum()


@pytest.fixture(scope="module")
def game():
    return BeliefGame.of(parse_game("kuhn"), parse_horizon("2"))


def learn(game, iterations):
    table = Table(game, iterations)
    for _ in range(2 * iterations + 2):
        found = table.sweep()
        if table.misses == 0:
            return table, found
    raise AssertionError("values of all beliefs that play comes to are known after finitely many sweeps")


def compose(game, table, played):
    """Returns `[C]` play by random iterations, exactly: the average over all of them, by how often each is drawn."""
    tree, kernel = game.tree, bind_public_kernel(game.tree)
    sums = np.zeros(tree.cells.num_table_cells)
    for chance, policy in zip(iteration_chances(RULE, len(played)), played, strict=True):
        strategy = tree.legal_share.copy()
        for node, rows in policy.items():
            write_policy(tree, node, rows, strategy)
        reach = kernel.realize(strategy)
        for leaf in game.nodes_of(0)[1].tolist():
            own = [reach[tree.private_cells(leaf, player)] for player in (0, 1)]
            places = [game.first_player_at(leaf), 1 - game.first_player_at(leaf)]
            weighted = np.stack([own[player] for player in places]) * game.shares_at(leaf)
            mass = weighted.sum(axis=1, keepdims=True)
            belief = np.where(mass > 1e-20, weighted / np.where(mass > 0, mass, 1), game.shares_at(leaf))
            found = game.subgames[game.kind_at(leaf)].kernel.search(
                belief[None].astype(np.float32), None, table.settings, wants_policy=True
            )
            strategy[game.table_cells(leaf)] = found.policy[0]
        sums += chance * kernel.realize(strategy)[: sums.size]
    return kernel.normalize(sums)


def test_with_a_table_values_of_beliefs_become_right(game):
    """Theorem 25: after finite time the error is at most C / sqrt(T)."""
    errors = {}
    for iterations in (8, 32):
        _, (_, values, _) = learn(game, iterations)
        at_root = [float((values[player] * game.root_belief()[player]).sum()) for player in (0, 1)]
        errors[iterations] = abs(0.5 * (at_root[0] - at_root[1]) * game.unit + 1 / 18)
    assert errors[8] < 0.5 / np.sqrt(8)
    assert errors[32] < 0.5 / np.sqrt(32)


def test_play_by_random_iterations_is_safe_over_two_levels(game):
    """Theorem 26: with right values play is within C / sqrt(T) of an equilibrium."""
    found = {}
    for iterations in (8, 32):
        table, (played, _, _) = learn(game, iterations)
        found[iterations] = evaluate(game.tree, compose(game, table, played)).exploitability
    assert found[32] < found[8] < 0.5 / np.sqrt(8)
    assert found[32] < 0.5 / np.sqrt(32)


def test_values_are_concave_in_own_beliefs(game):
    kind = game.num_kinds - 1
    table = Table(game, 400)
    rng = np.random.default_rng(3)
    weight = game.subgames[kind].arrays.root_weight

    def draw():
        own = rng.random(weight.shape) * weight
        return own / own.sum(axis=1, keepdims=True)

    for _ in range(5):
        first, second, share = draw(), draw(), rng.random()
        second[1] = first[1]  # the other player's beliefs are the same
        mixed = share * first + (1 - share) * second
        worth = [float((belief[0] * table.solve(kind, belief)[0]).sum()) for belief in (mixed, first, second)]
        assert worth[0] >= share * worth[1] + (1 - share) * worth[2] - 5e-3
