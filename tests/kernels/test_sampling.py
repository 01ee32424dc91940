# SPDX-License-Identifier: Apache-2.0
"""Sampled traversals: against their twin to the last digits, and unbiased, exactly and by the thousand."""

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games.registry import make_game
from equipoise.kernels.sampling import SamplingKernel, SamplingTables, Scheme, draw_words
from equipoise.solvers.best_response import bind_history_kernel
from equipoise.solvers.mccfr import lay_out_for_sampling
from equipoise.trees.history import build_history_tree
from equipoise.trees.segments import flatten_ranges
from tests.reference.regrets import by_label, exact_regrets, flatten, random_regrets
from tests.reference.sampling import ReferenceMCCFR, Xoshiro, all_draws

GAMES = {
    "kuhn": make_game("kuhn"),
    "kuhn3": make_game("kuhn", players=3),
    "goofspiel3": make_game("goofspiel", cards=3),  # hidden moves: sets are met several times in one traversal
    "goofspiel3r": make_game("goofspiel", cards=3, prizes="random"),  # public chance
    "leduc": make_game("leduc", ranks=2, max_raises=1),  # public and private chance
    "merged": make_game("leduc", merge_suits=True, max_raises=1),  # outcomes of unequal probability
}
PAIRS = [(name, scheme) for name in GAMES for scheme in Scheme if scheme is not Scheme.PUBLIC_CHANCE] + [
    (name, Scheme.PUBLIC_CHANCE) for name in ("goofspiel3r", "leduc", "merged")
]
EXPLORATION = 0.4


def make_tables(tree, seed=5):
    sequences = int(tree.sequence_start[-1])
    words = np.random.default_rng(seed).integers(1, 2**64 - 1, size=4, dtype=np.uint64)
    return SamplingTables(
        regret_sum=np.zeros(sequences),
        strategy_sum=np.zeros(sequences),
        random_words=words,
        nodes_touched=np.zeros(1, np.uint64),
    )


@pytest.mark.parametrize(("name", "scheme"), PAIRS)
def test_iterations_from_random_regrets_equal_the_twins(name, scheme):
    tree = build_history_tree(GAMES[name])
    kernel, tables = SamplingKernel(lay_out_for_sampling(tree)), make_tables(tree)
    tables.regret_sum[:] = random_regrets(tree, 2)
    twin = ReferenceMCCFR(GAMES[name], scheme, EXPLORATION, regrets=by_label(tree, tables.regret_sum))
    generator = Xoshiro(tables.random_words)
    assert kernel.iterate(scheme, tables, 5, exploration=EXPLORATION) == 5
    for _ in range(5):
        twin.iterate(generator.draw)
    decisions = tree.sequence_infoset() >= 0
    np.testing.assert_allclose(tables.regret_sum[decisions], flatten(tree, twin.regret_sum)[decisions], atol=1e-9)
    np.testing.assert_allclose(tables.strategy_sum, flatten(tree, twin.strategy_sum), atol=1e-9)
    assert tables.nodes_touched[0] == twin.nodes_touched
    assert tables.random_words.tolist() == generator.words


@pytest.mark.parametrize(("name", "scheme"), PAIRS)
def test_several_traversals_under_one_strategy_equal_the_twins(name, scheme):
    tree = build_history_tree(GAMES[name])
    kernel, tables = SamplingKernel(lay_out_for_sampling(tree)), make_tables(tree)
    tables.regret_sum[:] = random_regrets(tree, 2)
    twin = ReferenceMCCFR(GAMES[name], scheme, EXPLORATION, regrets=by_label(tree, tables.regret_sum))
    generator = Xoshiro(tables.random_words)
    settings = {"exploration": EXPLORATION, "traversals": 4, "weights": (3.0, 1.0)}
    assert kernel.iterate(scheme, tables, 2, **settings) == 2
    for weight in (3.0, 4.0):
        twin.iterate_together(generator, 4, weight)
    decisions = tree.sequence_infoset() >= 0
    np.testing.assert_allclose(tables.regret_sum[decisions], flatten(tree, twin.regret_sum)[decisions], atol=1e-9)
    np.testing.assert_allclose(tables.strategy_sum, flatten(tree, twin.strategy_sum), atol=1e-9)
    assert tables.nodes_touched[0] == twin.nodes_touched
    assert tables.random_words.tolist() == generator.words


@pytest.mark.parametrize("scheme", [Scheme.EXTERNAL, Scheme.OUTCOME])
@pytest.mark.parametrize("name", ["kuhn", "kuhn3", "leduc"])
def test_what_is_collected_adds_up_to_what_traversals_add(name, scheme):
    tree = build_history_tree(GAMES[name])
    kernel, tables = SamplingKernel(lay_out_for_sampling(tree)), make_tables(tree)
    strategy = bind_history_kernel(tree).normalize(np.maximum(random_regrets(tree, 2), 0.0))
    tables.regret_sum[:] = strategy  # regret matching plays it
    streams, is_known = draw_words(tables.random_words.copy(), 5), np.zeros(tree.num_actions.size, np.uint8)
    pending, rounds = streams, 0
    while pending.size:
        missed, has_missed = kernel.find_missed(scheme, 0, strategy, is_known, pending, exploration=EXPLORATION)
        assert not is_known[missed].any()
        is_known[missed] = 1
        pending = pending[has_missed]
        rounds += 1
    assert rounds > 1
    found = kernel.collect(scheme, 0, strategy, is_known, streams, exploration=EXPLORATION)
    counts = tree.num_actions[found.regret_infoset]
    regrets = np.zeros_like(strategy)
    np.add.at(regrets, flatten_ranges(tree.first_sequence[found.regret_infoset], counts), found.regret)
    weights = np.bincount(found.met_infoset, found.met_weight, tree.num_actions.size)
    averages = weights[tree.sequence_infoset()] * strategy
    before = tables.regret_sum.copy()
    kernel.iterate(scheme, tables, 1, exploration=EXPLORATION, traversals=5)
    # the first player's traversals come first: what the others add is under another strategy
    own, met = player_sequences(tree, 0), player_sequences(tree, 1 if tree.num_players == 2 else 0)
    assert np.abs(regrets[own]).max() > 0
    assert averages[met].max() > 0
    np.testing.assert_allclose((tables.regret_sum - before)[own], regrets[own], atol=1e-12)
    np.testing.assert_allclose(tables.strategy_sum[met], averages[met], atol=1e-12)


def player_sequences(tree, player):
    """Returns the sequences of a player's decisions."""
    first, last = tree.sequence_start[player : player + 2]
    return np.arange(first + 1, last)


def test_nothing_is_collected_where_strategies_are_missing():
    tree = build_history_tree(GAMES["kuhn"])
    kernel = SamplingKernel(lay_out_for_sampling(tree))
    strategy, is_known = np.ones(kernel.num_sequences), np.zeros(kernel.num_infosets, np.uint8)
    with pytest.raises(ConfigError, match="strategies are missing at 1 decision"):
        kernel.collect(Scheme.EXTERNAL, 0, strategy, is_known, np.ones(1, np.uint64))


EXACT = [("kuhn", scheme) for scheme in (Scheme.EXTERNAL, Scheme.OUTCOME, Scheme.CHANCE)] + [
    ("leduc", Scheme.PUBLIC_CHANCE)
]


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize(("name", "scheme"), EXACT)
def test_expected_regrets_over_all_draws_are_the_true_regrets(name, scheme, player):
    tree = build_history_tree(GAMES[name])
    start = random_regrets(tree, 3)
    total, mass = np.zeros_like(start), 0.0

    def run(draw):
        twin = ReferenceMCCFR(GAMES[name], scheme, EXPLORATION, regrets=by_label(tree, start))
        twin.traverse(player, draw)
        return flatten(tree, twin.regret_sum) - flatten(tree, by_label(tree, start))

    for probability, regret in all_draws(run):
        total += probability * regret
        mass += probability
    assert mass == pytest.approx(1.0)
    expected, _ = exact_regrets(tree, start)
    own = slice(tree.sequence_start[player], tree.sequence_start[player + 1])
    np.testing.assert_allclose(total[own], expected[own], atol=1e-12)
    assert np.abs(expected[own]).max() > 1e-3


@pytest.mark.parametrize(("name", "scheme"), PAIRS)
def test_sampled_regrets_are_unbiased(name, scheme):
    tree = build_history_tree(GAMES[name])
    kernel, tables = SamplingKernel(lay_out_for_sampling(tree)), make_tables(tree)
    start = random_regrets(tree, 4)
    count, total, squares = 20_000, np.zeros_like(start), np.zeros_like(start)
    for player in range(tree.num_players):
        for _ in range(count):
            tables.regret_sum[:] = start
            kernel.traverse(scheme, tables, player, exploration=EXPLORATION)
            added = tables.regret_sum - start
            total += added
            squares += added**2
    mean = total / count
    error = np.sqrt(np.maximum(squares / count - mean**2, 0.0) / count)
    expected, _ = exact_regrets(tree, start)
    # five standard errors; a set so rare that it was not met has an error of about its contribution if met once
    assert (np.abs(mean - expected) <= 5 * error + 20.0 / count).all()
    met = error > 0
    assert np.corrcoef(mean[met], expected[met])[0, 1] > 0.95


AVERAGES = [
    ("kuhn", Scheme.EXTERNAL),
    ("kuhn", Scheme.OUTCOME),
    ("kuhn", Scheme.CHANCE),
    ("kuhn3", Scheme.EXTERNAL),
    ("kuhn3", Scheme.OUTCOME),
    ("leduc", Scheme.PUBLIC_CHANCE),
]


def expected_average_weight(game, tree, scheme, start):
    """Returns `[I]` expected total added to the average of each information set in an iteration, over own reach."""
    total = np.zeros_like(start)
    num_players = game.spec.num_players
    is_walk = num_players != 2 and scheme in (Scheme.EXTERNAL, Scheme.OUTCOME)
    for player in range(num_players):

        def run(draw, player=player):
            twin = ReferenceMCCFR(game, scheme, EXPLORATION, regrets=by_label(tree, start))
            (twin.walk if is_walk else twin.traverse)(player, draw)
            return flatten(tree, twin.strategy_sum)

        for probability, added in all_draws(run):
            total += probability * added
    _, realization = exact_regrets(tree, start)
    reach = realization[tree.parent_sequence]
    weight = np.array([part.sum() for part in by_label(tree, total).values()])
    assert (weight[reach == 0] == 0).all()
    return np.divide(weight, reach, out=np.full_like(weight, np.nan), where=reach > 0)


@pytest.mark.parametrize(("name", "scheme"), AVERAGES)
def test_averages_are_weighted_by_own_reach_whatever_the_others_play(name, scheme):
    game = GAMES[name]
    tree = build_history_tree(game)
    uniform = expected_average_weight(game, tree, scheme, np.zeros(int(tree.sequence_start[-1])))
    skewed = expected_average_weight(game, tree, scheme, random_regrets(tree, 9))
    reached = ~np.isnan(skewed)
    assert (uniform > 0).all()
    assert 0.2 < reached.mean() < 1.0
    np.testing.assert_allclose(skewed[reached], uniform[reached], rtol=1e-9)


def test_hand_counted_nodes_of_matching_pennies():
    tree = build_history_tree(make_game("matrix"))
    kernel = SamplingKernel(lay_out_for_sampling(tree))
    counts = {}
    for scheme in (Scheme.EXTERNAL, Scheme.OUTCOME, Scheme.CHANCE):
        tables = make_tables(tree)
        kernel.iterate(scheme, tables, 1, exploration=EXPLORATION)
        counts[scheme] = int(tables.nodes_touched[0])
    # external: root, both answers and a terminal each; then root, one answer and both terminals
    assert counts == {Scheme.EXTERNAL: 5 + 4, Scheme.OUTCOME: 3 + 3, Scheme.CHANCE: 7 + 7}


def test_a_set_met_twice_draws_one_action_and_is_averaged_once():
    tree = build_history_tree(make_game("matrix", payoffs="1,0;0,1"))
    kernel, tables = SamplingKernel(lay_out_for_sampling(tree)), make_tables(tree)
    outcomes = set()
    for _ in range(50):
        tables.regret_sum[:] = 0.0
        tables.strategy_sum[:] = 0.0
        kernel.traverse(Scheme.EXTERNAL, tables, 0)
        outcomes.add(tuple(tables.regret_sum[1:3].tolist()))
        assert tables.strategy_sum.tolist() == [0.0, 0.0, 0.0, 0.0, 0.5, 0.5]
    # rows earn (1, 0) or (0, 1); were columns drawn once per history, (0, 0) and (1, 1) would come up too
    assert outcomes == {(0.5, -0.5), (-0.5, 0.5)}


def test_no_iteration_begins_beyond_the_node_limit():
    tree = build_history_tree(make_game("matrix"))
    kernel, tables = SamplingKernel(lay_out_for_sampling(tree)), make_tables(tree)
    assert kernel.iterate(Scheme.EXTERNAL, tables, 100, node_limit=28) == 4
    assert tables.nodes_touched[0] == 36
    assert kernel.iterate(Scheme.EXTERNAL, tables, 100, node_limit=36) == 0


def test_wrong_tables_are_refused():
    tree = build_history_tree(GAMES["kuhn"])
    kernel, tables = SamplingKernel(lay_out_for_sampling(tree)), make_tables(tree)
    with pytest.raises(ValueError, match="player must be between 0 and 1, got 2"):
        kernel.traverse(Scheme.EXTERNAL, tables, 2)
    tables.random_words[:] = 0
    with pytest.raises(ValueError, match="must not all be zero"):
        kernel.iterate(Scheme.EXTERNAL, tables, 1)
