# SPDX-License-Identifier: Apache-2.0
"""Runs with baselines: less noise, faster convergence, and the same run after a break."""

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games.registry import make_game
from equipoise.solvers.baselines import BaselineKey, Baselines
from equipoise.solvers.holdem.mccfr import HoldemMCCFRSolver
from equipoise.solvers.mccfr import Discounting, DiscountKind, MCCFRConfig, MCCFRSolver, Scheme
from equipoise.solvers.sampled_pruning import LIBRATUS
from equipoise.trees.history import build_history_tree
from tests.solvers.test_sampled_pruning import holdem_endgame

LEDUC = build_history_tree(make_game("leduc"))
KEYS = (BaselineKey.INFOSET, BaselineKey.HISTORY)


def make_solver(scheme, key, seed=1, **options):
    plain = Discounting(kind=DiscountKind.NONE)
    config = MCCFRConfig(scheme=scheme, baselines=Baselines(key=key), discounting=plain, **options)
    return MCCFRSolver(LEDUC, config, rng=np.random.default_rng(seed))


@pytest.mark.parametrize("key", KEYS)
def test_outcome_sampling_converges_faster_with_baselines(key):
    found = {}
    for one in (BaselineKey.NONE, key):
        solvers = [make_solver(Scheme.OUTCOME, one, seed) for seed in range(12)]
        for solver in solvers:
            solver.iterate(200_000)
        found[one] = np.mean([solver.evaluate().exploitability for solver in solvers])
    assert found[key] < 0.75 * found[BaselineKey.NONE]


def measure_spread(scheme, key, regrets):
    """Returns the variance of what an iteration adds to the regrets of one strategy, summed over all actions."""
    solver, added = make_solver(scheme, key), []
    for place in range(12_000):
        solver.tables.regret_sum[:] = regrets
        solver.iterate(1)
        if place >= 6_000:  # guesses have been learnt by then
            added.append(solver.tables.regret_sum - regrets)
    return np.var(added, axis=0).sum()


# guesses by the opponent's information set know its card and not the traverser's: little help to external sampling,
# which has none of its own actions to guess
@pytest.mark.parametrize(
    ("scheme", "key", "share"),
    [
        (Scheme.OUTCOME, BaselineKey.INFOSET, 0.8),
        (Scheme.OUTCOME, BaselineKey.HISTORY, 0.6),
        (Scheme.EXTERNAL, BaselineKey.HISTORY, 0.8),
    ],
)
def test_sampled_regrets_vary_less_once_guesses_are_learnt(scheme, key, share):
    learnt = make_solver(Scheme.OUTCOME, BaselineKey.NONE, seed=2)
    learnt.iterate(50_000)
    regrets = learnt.tables.regret_sum
    assert measure_spread(scheme, key, regrets) < share * measure_spread(scheme, BaselineKey.NONE, regrets)


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("scheme", [Scheme.OUTCOME, Scheme.EXTERNAL])
def test_a_run_goes_on_to_the_bit(scheme, key):
    whole, half, resumed = (make_solver(scheme, key, seed) for seed in (1, 1, 2))
    whole.iterate(500)
    half.iterate(200)
    resumed.restore(half.state())
    resumed.iterate(300)
    for name, array in whole.state().items():
        np.testing.assert_array_equal(resumed.state()[name], array)
    assert np.abs(whole.tables.baseline).max() > 0


def test_baselines_and_pruning_go_together():
    solver = make_solver(Scheme.EXTERNAL, BaselineKey.HISTORY, pruning=LIBRATUS)
    solver.iterate(50_000)
    assert solver.num_skipped > 0
    assert solver.evaluate().exploitability < 0.15


def test_what_baselines_do_not_serve_is_refused():
    with pytest.raises(ConfigError, match="for external and outcome sampling, got chance sampling"):
        make_solver(Scheme.CHANCE, BaselineKey.INFOSET)
    config = MCCFRConfig(baselines=Baselines(key=BaselineKey.INFOSET))
    with pytest.raises(ConfigError, match="for history trees, got infoset baselines on a hold'em tree"):
        HoldemMCCFRSolver(holdem_endgame(), config, rng=np.random.default_rng(0))
