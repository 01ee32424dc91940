# SPDX-License-Identifier: Apache-2.0
"""Re-solving with the values of the search before: the table of specs/player-of-games.md, part 5.6, on Leduc."""

import functools

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games.registry import make_game
from equipoise.search.gadgets import Given, Resolve, Unsafe
from equipoise.search.posing import pose
from equipoise.search.public import PublicProfile
from equipoise.search.resolving import SubgameSolver, search_everywhere
from equipoise.solvers.best_response import evaluate
from equipoise.trees.derive import derive_public_game
from equipoise.trees.public import build_public_tree
from tests.search.fixtures import second_round

TREE = build_public_tree(derive_public_game(make_game("leduc")))
ROOTS = second_round(TREE)
UNIFORM = PublicProfile(TREE, TREE.legal_share)  # its parts serve all


class Base:
    """A solve of the whole tree with its average values where the second round begins."""

    def __init__(self, sweeps, seed=None):
        """Solves; with a seed, from regrets that are off in their last digits, as if summed in another order."""
        uniform = UNIFORM
        game = uniform.subgame(0, landmarks=ROOTS)
        self.solver = SubgameSolver(game, pose(uniform, game, 0, Unsafe()), is_alternating=False, watched=ROOTS)
        if seed is not None:
            regrets = self.solver.tables.regret_sum
            regrets[:] = 1e-14 * np.random.default_rng(seed).random(regrets.size)
        self.solver.iterate(sweeps)
        strategy = TREE.legal_share.copy()
        game.part.insert(self.solver.average_strategy(), strategy)
        self.blueprint = PublicProfile(TREE, strategy, like=UNIFORM)

    def resolve(self, sweeps, make_method):
        """Returns the exploitability in mbb when both players solve every second round again."""
        out = self.blueprint.strategy.copy()
        for searcher in (0, 1):
            found = search_everywhere(
                self.blueprint,
                ROOTS,
                searcher,
                lambda subgame, searcher=searcher: make_method(subgame, searcher),
                iterations=sweeps,
                is_alternating=False,
            )
            own = slice(*TREE.cells.cell_start[searcher : searcher + 2])
            out[own] = found[own]
        return 1000 * evaluate(TREE, out).exploitability

    def given(self, subgame, searcher, factor=1.0):
        values = self.solver.average_values(1 - searcher, subgame.place)
        return Given.from_counterfactual(factor * values, subgame.mass(1 - searcher))


@functools.cache
def base_of(sweeps):
    return Base(sweeps)


def search_with_gates(base, sweeps):
    """Returns the exploitability in mbb after search behind the gate alone and with a share of 0.2."""
    return [
        base.resolve(
            sweeps,
            lambda subgame, searcher, share=share: Resolve(alternatives=base.given(subgame, searcher), share=share),
        )
        for share in (1.0, 0.2)
    ]


TABLE = [  # sweeps of the search; unsafe, gate alone, gate with a share of 0.2
    (100, (50.3, 42.8, 38.9)),
    (500, (103.1, 32.7, 28.7)),
]


@pytest.mark.parametrize(("sweeps", "expected"), TABLE)
def test_table_of_the_digest(sweeps, expected):
    base = base_of(100)
    unsafe, gates = base.resolve(sweeps, lambda subgame, searcher: Unsafe()), search_with_gates(base, sweeps)
    assert gates == pytest.approx(expected[1:], rel=0.02)
    assert unsafe == pytest.approx(expected[0], rel=0.02)
    if sweeps == 500:
        assert unsafe > 3 * max(gates)


def test_last_row_of_the_digest():
    # after 1,000 sweeps of the base a number is one of many: single runs of unsafe search deviate by 40 mbb
    runs = [Base(1000, seed) for seed in range(48)]
    unsafe = np.mean([base.resolve(500, lambda subgame, searcher: Unsafe()) for base in runs])
    gates = np.mean([search_with_gates(base, 500) for base in runs[:6]], axis=0)
    assert gates == pytest.approx((11.5, 8.5), rel=0.1)
    assert unsafe == pytest.approx(110.0, rel=0.1)
    assert unsafe > 5 * max(gates)


def test_ranges_and_alternatives_in_different_units_are_catastrophic():
    # ranges that sum to 1 beside values that were seen with ranges that do not: trap T6 of the digest
    base = base_of(100)
    wrong = base.resolve(
        100,
        lambda subgame, searcher: Resolve(
            alternatives=base.given(subgame, searcher, factor=subgame.beliefs.reach[searcher].sum())
        ),
    )
    assert wrong > 10 * 42.8


def test_average_values_go_with_average_strategies():
    # reach times value, summed, is what the players earned on average; both players' sum to nothing
    solver = base_of(100).solver
    root = [solver.average_values(player) for player in (0, 1)]
    assert sum(values.sum() for values in root) == pytest.approx(0.0, abs=1e-9)
    assert root[0].sum() == pytest.approx(-0.0856, abs=0.02)


def test_only_watched_nodes_have_averages():
    solver = base_of(100).solver
    with pytest.raises(ConfigError, match="node 1 of the tree is not watched"):
        solver.average_values(0, 1)
    with pytest.raises(ConfigError, match="watched nodes must be landmarks"):
        SubgameSolver(solver.subgame, solver.problem, watched=[1])
    assert np.all(np.isfinite(solver.average_values(1, ROOTS[-1])))
