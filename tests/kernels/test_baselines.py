# SPDX-License-Identifier: Apache-2.0
"""Sampled values corrected by guesses: against their twin, unbiased for any guess, exact for the right one."""

import dataclasses

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games.base import CHANCE
from equipoise.games.registry import make_game
from equipoise.kernels.sampling import SamplingKernel, SamplingTables, Scheme
from equipoise.solvers.baselines import BaselineKey, Baselines, lay_out_baselines
from equipoise.solvers.mccfr import lay_out_for_sampling
from equipoise.trees.history import build_history_tree
from tests.reference.regrets import by_label, exact_regrets, flatten, random_regrets
from tests.reference.sampling import ReferenceBaselines, ReferenceMCCFR, Xoshiro, all_draws

GAMES = {
    "kuhn": make_game("kuhn"),
    "kuhn3": make_game("kuhn", players=3),
    "goofspiel3r": make_game("goofspiel", cards=3, prizes="random"),  # sets are met several times in one traversal
    "leduc": make_game("leduc", ranks=2, max_raises=1),
}
SCHEMES = (Scheme.EXTERNAL, Scheme.OUTCOME)
KEYS = (BaselineKey.INFOSET, BaselineKey.HISTORY)
EXPLORATION = 0.4


def make_tables(tree, baselines, regrets, seed=5):
    return SamplingTables(
        regret_sum=regrets.copy(),
        strategy_sum=np.zeros_like(regrets),
        random_words=np.random.default_rng(seed).integers(1, 2**64 - 1, size=4, dtype=np.uint64),
        nodes_touched=np.zeros(1, np.uint64),
        baseline=np.zeros((tree.num_players, baselines.num_guesses)),
    )


def name_edge(game, key):
    """Returns how the twin names the guess of an action."""

    def name(state, actor, action):
        if key is BaselineKey.HISTORY:
            return state, action
        return None if actor == CHANCE else (actor, game.infostate(state, actor), action)

    return name


def list_edges(game, tree):
    """Returns `(state, actor, action)` of every edge, in the tree's order."""
    edges = {}
    stack = [(0, game.initial_state())]
    while stack:
        node, state = stack.pop()
        actor = game.actor(state)
        first, end = tree.first_edge[node], tree.first_edge[node + 1]
        actions = [action for action, _ in game.chance_outcomes(state)] if actor == CHANCE else []
        actions = actions or (list(game.legal_actions(state)) if end > first else [])
        for place, action in enumerate(actions):
            edges[first + place] = (state, actor, place)
            stack.append((tree.edge_child[first + place], game.apply(state, action)))
    return [edges[edge] for edge in range(len(edges))]


def name_guesses(game, tree, key, table):
    """Returns a table of guesses as the twin's dictionary."""
    arrays, name = lay_out_baselines(Baselines(key=key), tree), name_edge(game, key)
    named = {}
    for edge, where in enumerate(list_edges(game, tree)):
        for player in range(tree.num_players):
            if arrays.edge_guess[edge] >= 0:
                named[player, name(*where)] = table[player, arrays.edge_guess[edge]]
    return named


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", GAMES)
def test_iterations_equal_the_twins(name, scheme, key):
    game = GAMES[name]
    tree = build_history_tree(game)
    baselines = lay_out_baselines(Baselines(key=key, rate=0.3), tree)
    tables = make_tables(tree, baselines, random_regrets(tree, 2))
    guesses = ReferenceBaselines(0.3, name_edge(game, key))
    twin = ReferenceMCCFR(game, scheme, EXPLORATION, regrets=by_label(tree, random_regrets(tree, 2)), baselines=guesses)
    generator = Xoshiro(tables.random_words)
    kernel = SamplingKernel(lay_out_for_sampling(tree))
    kernel.iterate(scheme, tables, 30, exploration=EXPLORATION, baselines=baselines)
    for _ in range(30):
        twin.iterate(generator.draw)
    decisions = tree.sequence_infoset() >= 0
    np.testing.assert_allclose(tables.regret_sum[decisions], flatten(tree, twin.regret_sum)[decisions], atol=1e-9)
    np.testing.assert_allclose(tables.strategy_sum, flatten(tree, twin.strategy_sum), atol=1e-9)
    named = name_guesses(game, tree, key, tables.baseline)
    assert {place: value for place, value in named.items() if value} == pytest.approx(
        {place: value for place, value in guesses.guesses.items() if value}, abs=1e-9
    )
    assert guesses.guesses
    assert tables.nodes_touched[0] == twin.nodes_touched
    assert tables.random_words.tolist() == generator.words


ENUMERATED = [("kuhn", Scheme.EXTERNAL), ("kuhn", Scheme.OUTCOME), ("leduc", Scheme.OUTCOME)]


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize(("name", "scheme"), ENUMERATED)
def test_regrets_are_right_on_average_whatever_the_guesses(name, scheme, key):
    game = GAMES[name]
    tree = build_history_tree(game)
    start, arrays = random_regrets(tree, 3), lay_out_baselines(Baselines(key=key), tree)
    table = np.random.default_rng(4).normal(0.0, 5.0, (2, arrays.num_guesses))
    named, total, spread = name_guesses(game, tree, key, table), np.zeros_like(start), 0.0

    def run(draw):
        baselines = ReferenceBaselines(1.0, name_edge(game, key), named)
        twin = ReferenceMCCFR(game, scheme, EXPLORATION, regrets=by_label(tree, start), baselines=baselines)
        twin.traverse(0, draw)
        return flatten(tree, twin.regret_sum) - flatten(tree, by_label(tree, start))

    for probability, added in all_draws(run):
        total += probability * added
        spread = max(spread, np.abs(added).max())
    true, _ = exact_regrets(tree, start)
    own = slice(tree.sequence_start[0], tree.sequence_start[1])
    np.testing.assert_allclose(total[own], true[own], atol=1e-10)
    assert spread > 5.0  # single samples are far off


def true_values(game, tree, regrets):
    """Returns `[P, E]` the value of every edge to each player under regret matching."""
    twin = ReferenceMCCFR(game, Scheme.EXTERNAL, regrets=by_label(tree, regrets))

    def value(state):
        actor = game.actor(state)
        children = twin.children(state) if actor >= CHANCE else []
        if not children:
            return np.array(game.returns(state))
        if actor == CHANCE:
            probabilities = [p for _, p in game.chance_outcomes(state)]
        else:
            probabilities = twin.strategy((actor, game.infostate(state, actor)), len(children))
        return sum(p * value(child) for p, child in zip(probabilities, children, strict=True))

    return np.array([value(twin.children(state)[action]) for state, _, action in list_edges(game, tree)]).T.copy()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_true_values_as_guesses_leave_no_noise_in_an_information_sets_regrets(scheme):
    game = GAMES["kuhn"]
    tree = build_history_tree(game)
    start = random_regrets(tree, 6)
    arrays = lay_out_baselines(Baselines(key=BaselineKey.HISTORY), tree)
    kernel, spreads = SamplingKernel(lay_out_for_sampling(tree)), {}
    first = int(tree.first_sequence[0])
    for name, table in (("exact", true_values(game, tree, start)), ("none", np.zeros((2, tree.edge_child.size)))):
        seen = []
        for seed in range(400):
            tables = make_tables(tree, arrays, start, seed)
            tables.baseline[:] = table
            kernel.traverse(scheme, tables, 0, exploration=EXPLORATION, baselines=arrays)
            added = tables.regret_sum[first : first + 2] - start[first : first + 2]
            if np.abs(added).max() > 0:
                seen.append(added)
        # which of the opponent's cards was dealt is part of the history: two values, whatever was drawn after
        spreads[name] = len(np.unique(np.round(seen, 9), axis=0))
    assert spreads["exact"] == 2
    assert spreads["none"] > 2


def test_what_does_not_fit_is_refused():
    tree = build_history_tree(GAMES["leduc"])
    arrays = lay_out_baselines(Baselines(key=BaselineKey.INFOSET), tree)
    kernel, tables = SamplingKernel(lay_out_for_sampling(tree)), make_tables(tree, arrays, random_regrets(tree, 1))
    with pytest.raises(ConfigError, match="for external and outcome sampling, got CHANCE"):
        kernel.iterate(Scheme.CHANCE, tables, 1, baselines=arrays)
    with pytest.raises(ConfigError, match="rate must be above 0 and at most 1, got 2"):
        kernel.iterate(Scheme.OUTCOME, tables, 1, baselines=dataclasses.replace(arrays, rate=2.0))
    with pytest.raises(ConfigError, match="rate of baselines must be above 0"):
        Baselines(key=BaselineKey.INFOSET, rate=0.0)
    with pytest.raises(ValueError, match="edge_guess must be at least -1 and below 3"):
        kernel.iterate(Scheme.OUTCOME, tables, 1, baselines=dataclasses.replace(arrays, num_guesses=3))
    with pytest.raises(ValueError, match="baseline must have shape"):
        kernel.iterate(Scheme.OUTCOME, dataclasses.replace(tables, baseline=np.zeros((1, 1))), 1, baselines=arrays)
