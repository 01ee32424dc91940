# SPDX-License-Identifier: Apache-2.0
"""External sampling that leaves actions out: against its twin draw by draw, and unbiased where it is weighted."""

import dataclasses

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games.registry import make_game
from equipoise.kernels.sampling import SamplingKernel, SamplingTables, Scheme
from equipoise.kernels.skipping import SkipKind, Skipping
from equipoise.solvers.mccfr import lay_out_for_sampling
from equipoise.solvers.sampled_pruning import SampledPruning, prune_tree
from equipoise.trees.history import build_history_tree
from tests.reference.regrets import by_label, exact_regrets, flatten
from tests.reference.sampling import ReferenceMCCFR, ReferenceSkipping, Xoshiro, all_draws

GAMES = {
    "kuhn": make_game("kuhn"),
    "kuhn3": make_game("kuhn", players=3),
    "goofspiel3r": make_game("goofspiel", cards=3, prizes="random"),
    "leduc": make_game("leduc", ranks=2, max_raises=1),
}
KINDS = [kind for kind in SkipKind if kind is not SkipKind.NONE]
THRESHOLD = -0.2


def make_rule(tree, kind, **changes):
    pruning = SampledPruning(
        kind=kind, threshold=THRESHOLD / tree.utility_range, softness=0.3 / tree.utility_range, probability=0.6
    )
    return prune_tree(dataclasses.replace(pruning, **changes), tree)


def make_regrets(tree, scale=1.0):
    """Returns regrets of which a third are below the threshold, some far below."""
    rng = np.random.default_rng(3)
    regrets = rng.uniform(-1.0, 1.0, int(tree.sequence_start[-1]))
    return scale * np.where(regrets < -0.3, 40 * regrets, regrets)


def make_tables(tree, regrets):
    return SamplingTables(
        regret_sum=regrets.copy(),
        strategy_sum=np.zeros_like(regrets),
        random_words=np.random.default_rng(8).integers(1, 2**64 - 1, size=4, dtype=np.uint64),
        nodes_touched=np.zeros(1, np.uint64),
        missed=np.zeros_like(regrets),
    )


def make_twin(game, tree, rule, regrets):
    may_skip, rise = by_label(tree, rule.may_skip), by_label(tree, rule.rise)
    skipping = ReferenceSkipping(rule, lambda key, a: may_skip[key][a], lambda key, a: rise[key][a])
    return ReferenceMCCFR(game, Scheme.EXTERNAL, regrets=by_label(tree, regrets), skipping=skipping)


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", GAMES)
def test_iterations_equal_the_twins(name, kind, is_weighted):
    game = GAMES[name]
    tree = build_history_tree(game)
    rule = make_rule(tree, kind, is_weighted=is_weighted, floor=-30 / tree.utility_range, first_node=40, end_node=1_000)
    tables = make_tables(tree, make_regrets(tree))
    twin = make_twin(game, tree, rule, make_regrets(tree))
    generator = Xoshiro(tables.random_words)
    SamplingKernel(lay_out_for_sampling(tree)).iterate(Scheme.EXTERNAL, tables, 60, skipping=rule)
    for _ in range(60):
        twin.iterate(generator.draw)
    decisions = tree.sequence_infoset() >= 0
    np.testing.assert_allclose(tables.regret_sum[decisions], flatten(tree, twin.regret_sum)[decisions], atol=1e-9)
    np.testing.assert_allclose(tables.strategy_sum, flatten(tree, twin.strategy_sum), atol=1e-9)
    assert tables.nodes_touched[0] == twin.nodes_touched
    assert tables.num_skipped[0] == twin.skipping.num_skipped > 0
    assert tables.random_words.tolist() == generator.words


def expected_regrets(game, tree, rule, start, player):
    """Returns what a traversal adds to the regrets on average over all draws."""
    total = np.zeros_like(start)

    def run(draw):
        twin = make_twin(game, tree, rule, start)
        twin.skipping.begin(0, draw)
        twin.traverse(player, draw)
        return flatten(tree, twin.regret_sum) - flatten(tree, by_label(tree, start))

    for probability, added in all_draws(run):
        total += probability * added
    return total


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("kind", [SkipKind.PROBABILISTIC, SkipKind.COIN])
def test_weighted_regrets_are_right_on_average_and_others_are_not(kind, player):
    game = GAMES["kuhn"]
    tree = build_history_tree(game)
    start = make_regrets(tree)
    own = slice(tree.sequence_start[player], tree.sequence_start[player + 1])
    true, _ = exact_regrets(tree, start)
    rule = make_rule(tree, kind)
    weighted = dataclasses.replace(rule, is_weighted=True)
    np.testing.assert_allclose(expected_regrets(game, tree, weighted, start, player)[own], true[own], atol=1e-12)
    plain = expected_regrets(game, tree, rule, start, player)[own]
    assert np.abs(plain - true[own]).max() > 1e-3


@pytest.mark.parametrize(("regret", "expected"), [(-1.0, 1.0), (-2.0, 0.5), (-4.0, 0.25), (-100.0, 0.01)])
def test_the_probability_of_being_explored_is_one_at_the_threshold_and_falls(regret, expected):
    tree = build_history_tree(make_game("matrix", payoffs="0,0;0,0"))
    kernel = SamplingKernel(lay_out_for_sampling(tree))
    size = int(tree.sequence_start[-1])
    # [B20] section 6.4: K / (K + C - R(a)) with K = 1, C = -1
    rule = Skipping(
        kind=SkipKind.PROBABILISTIC,
        threshold=-1.0,
        softness=1.0,
        may_skip=np.ones(size, np.uint8),
        rise=np.zeros(size),
    )
    tables, count = make_tables(tree, np.zeros(size)), 4_000
    tables.regret_sum[1:3] = 1.0, regret
    for _ in range(count):
        kernel.traverse(Scheme.EXTERNAL, tables, 0, skipping=rule)
    skipped = int(tables.num_skipped[0]) / count
    assert skipped == pytest.approx(1 - expected, abs=4 * np.sqrt(expected * (1 - expected) / count) + 1e-12)


def test_regret_based_sampling_comes_back_when_the_regret_could_have_become_positive():
    tree = build_history_tree(make_game("matrix", payoffs="1,1;0,0"))  # the second row is never good
    kernel, size = SamplingKernel(lay_out_for_sampling(tree)), int(tree.sequence_start[-1])
    rule = prune_tree(SampledPruning(kind=SkipKind.REGRET_BASED), tree)
    assert rule.rise[1:3].tolist() == [1.0, 0.0]
    rule = dataclasses.replace(rule, rise=np.full(size, 0.5))  # as if it could still earn half
    tables = make_tables(tree, np.zeros(size))
    tables.regret_sum[1:3] = 1.0, -2.0
    explored = []
    for _ in range(12):
        before = int(tables.num_skipped[0])
        kernel.traverse(Scheme.EXTERNAL, tables, 0, skipping=rule)
        explored.append(int(tables.num_skipped[0]) == before)
    # four visits at half each lead from -2 to 0, the fifth could exceed it; then from -3: six
    assert explored == [False] * 4 + [True] + [False] * 6 + [True]
    assert tables.regret_sum[1:3].tolist() == [1.0, -4.0]


def test_weighted_regret_based_sampling_catches_up_with_what_it_missed():
    tree = build_history_tree(make_game("matrix", payoffs="1,1;0,0"))
    kernel, size = SamplingKernel(lay_out_for_sampling(tree)), int(tree.sequence_start[-1])
    rule = prune_tree(SampledPruning(kind=SkipKind.REGRET_BASED, is_weighted=True), tree)
    rule = dataclasses.replace(rule, rise=np.full(size, 0.5))
    tables = make_tables(tree, np.zeros(size))
    tables.regret_sum[1:3] = 1.0, -2.0
    for _ in range(5):
        kernel.traverse(Scheme.EXTERNAL, tables, 0, skipping=rule)
    assert tables.regret_sum[1:3].tolist() == [1.0, -2.0 - 5.0]  # as if every visit had been explored
    assert tables.missed.tolist() == [0.0] * size


def test_one_coin_decides_for_all_actions_of_an_iteration():
    game = GAMES["leduc"]
    tree = build_history_tree(game)
    kernel, rule = SamplingKernel(lay_out_for_sampling(tree)), make_rule(tree, SkipKind.COIN)
    nodes = set()
    for seed in range(40):
        tables = make_tables(tree, np.where(np.arange(int(tree.sequence_start[-1])) % 2, 1.0, -1.0))
        tables.random_words[:] = np.random.default_rng(seed).integers(1, 2**63, size=4, dtype=np.uint64)
        kernel.iterate(Scheme.EXTERNAL, tables, 1, skipping=rule)
        nodes.add(bool(tables.num_skipped[0]))
    assert nodes == {True, False}  # iterations that leave nothing out at all, among some thirty candidates


def test_what_does_not_fit_is_refused():
    tree = build_history_tree(GAMES["kuhn"])
    kernel, tables = SamplingKernel(lay_out_for_sampling(tree)), make_tables(tree, make_regrets(tree))
    rule = make_rule(tree, SkipKind.REGRET_BASED)
    with pytest.raises(ConfigError, match="left out of external sampling alone, got OUTCOME"):
        kernel.iterate(Scheme.OUTCOME, tables, 1, skipping=rule)
    with pytest.raises(ValueError, match=r"missed must have shape \(26,\), got \(0,\)"):
        kernel.iterate(Scheme.EXTERNAL, dataclasses.replace(tables, missed=np.zeros(0)), 1, skipping=rule)
    short = dataclasses.replace(rule, may_skip=rule.may_skip[:3], rise=rule.rise[:3])
    with pytest.raises(ValueError, match="may_skip must have 26 actions, got 3"):
        kernel.iterate(Scheme.EXTERNAL, tables, 1, skipping=short)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"threshold": 1.0}, "threshold must be finite and at most 0, got 1.0"),
        ({"threshold": -np.inf}, "threshold must be finite and at most 0, got -inf"),
        ({"softness": 0.0}, "softness must be positive and finite, got 0.0"),
        ({"probability": 1.0}, "probability must be at least 0 and below 1, got 1.0"),
        ({"floor": 0.0, "threshold": -1.0}, "floor must be at most the threshold -1, got 0.0"),
        ({"floor": np.nan}, "floor must be at most the threshold"),
        ({"first_node": -1}, "first_node must be at least 0, got -1"),
        ({"first_node": 5, "end_node": 5}, "end_node must be above first_node, 5, or nothing is left out; got 5"),
    ],
)
def test_bad_numbers_are_refused(changes, message):
    with pytest.raises(ConfigError, match=message):
        SampledPruning(kind=SkipKind.COIN, **changes)
