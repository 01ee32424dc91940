# SPDX-License-Identifier: Apache-2.0
"""Traversals through rules find what those of a tree find; information states as numbers."""

import dataclasses
import itertools

import numpy as np
import pytest

from equipoise.core.errors import AbandonedError, ConfigError
from equipoise.games.base import ActionClass
from equipoise.games.registry import make_game
from equipoise.learning.deep_cfr.encoding import CardLayout, HoldemEncoder, TextEncoder, count_actions, find_encoder
from equipoise.learning.deep_cfr.making import make_training, make_walks
from equipoise.learning.deep_cfr.measuring import HoldemMeasure, find_measure
from equipoise.learning.deep_cfr.rules_walks import RulesWalks
from equipoise.learning.deep_cfr.settings import DeepCFRSettings, Network, Sampling
from equipoise.solvers.cfr import CFRSolver
from equipoise.trees.history import build_history_tree
from equipoise.trees.public_edges import read_policy
from tests.reference.regrets import exact_regrets

KUHN = make_game("kuhn")
TREE = build_history_tree(KUHN)
FLOP = make_game("holdem", bet_sizes="2,2", max_raises="3,4", small_blind=1, big_blind=2, last_street="flop")
SETTINGS = DeepCFRSettings(traversals=20, capacity=2_000, steps=3, batch=32, hidden=8, policy_steps=3)


def make_rules_walks(game, seed=2, **changes):
    return RulesWalks(game, dataclasses.replace(SETTINGS, **changes), rng=np.random.default_rng(seed))


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("sampling", Sampling)
def test_traversals_through_rules_estimate_the_true_regrets(sampling, player):
    regrets = np.random.default_rng(5).uniform(0.1, 1.0, TREE.sequence_infoset().size)
    strategy = {}
    walks, count = make_rules_walks(KUHN, sampling=sampling), 6_000
    for infoset, label in enumerate(TREE.infoset_labels):
        first, owner = TREE.first_sequence[infoset], int(TREE.infoset_player()[infoset])
        pair = regrets[first : first + 2]
        strategy[walks.encoder.encode(owner, label).astype(np.float16).tobytes()] = infoset, pair / pair.sum()

    def play(_player, place, is_legal):
        assert is_legal.all()
        return np.stack([strategy[row.tobytes()][1] for row in place])

    found = walks.collect(player, play, count)
    total, weight = np.zeros(regrets.size), np.zeros(regrets.size)
    for row, regret in zip(found.place, found.regret, strict=True):
        first = TREE.first_sequence[strategy[row.tobytes()][0]]
        total[first : first + 2] += regret
    for row, shares, reach in zip(found.met_place, found.met_strategy, found.met_weight, strict=True):
        first = TREE.first_sequence[strategy[row.tobytes()][0]]
        weight[first : first + 2] += reach * shares
    expected, realization = exact_regrets(TREE, regrets)
    own, other = (slice(TREE.sequence_start[seat] + 1, TREE.sequence_start[seat + 1]) for seat in (player, 1 - player))
    np.testing.assert_allclose(total[own] / count, expected[own], atol=0.04 if sampling is Sampling.EXTERNAL else 0.15)
    ratio = weight[other] / realization[other]
    assert (
        ratio.std() / ratio.mean() < 1.0
    )  # in proportion to own reach, up to how often chance and the other lead there
    assert walks.nodes_touched > 2 * count


@pytest.mark.parametrize("sampling", Sampling)
def test_flop_holdem_trains_through_its_rules(sampling):
    settings = dataclasses.replace(SETTINGS, sampling=sampling, network=Network.BRANCHES)
    run = make_training(make_walks(FLOP, settings, max_histories=1_000), settings)
    run.iterate(2)
    assert isinstance(run.walks, RulesWalks)
    assert len(run.memories[0]) > 40
    assert np.abs(run.memories[1].columns["target"][: len(run.memories[1])]).max() > 1.0
    assert run.average is None
    with pytest.raises(ConfigError, match="exact figures need a tree"):
        run.evaluate()


def test_small_decks_are_measured_exactly():
    game = make_game("holdem", deck="JQKA/dhs", bet_sizes="2,2", max_raises="1,1", big_blind=2, small_blind=1,
                     last_street="flop", stacks="50,50")  # fmt: skip
    measure = HoldemMeasure(game)
    solver = CFRSolver(measure.tree)
    solver.iterate(60)
    average = solver.average_strategy()
    played = np.zeros(measure.is_legal.shape)
    begin = 0
    for node, outputs, count in zip(measure.nodes, measure.outputs, measure.counts, strict=True):
        played[begin : begin + count, outputs] = read_policy(measure.tree, node, average)
        begin += count
    found = measure.evaluate(lambda _features, _legal: played)
    assert found.exploitability == pytest.approx(solver.evaluate().exploitability, abs=1e-12)
    assert measure.evaluate(lambda _, legal: legal / legal.sum(axis=1, keepdims=True)).exploitability > 0.3
    assert len(np.unique(measure.features, axis=0)) == len(measure.features)


def test_full_decks_are_not_measured():
    assert find_measure(FLOP) is None
    assert find_measure(KUHN) is None


def test_a_run_through_rules_goes_on_to_the_bit():
    def make():
        return make_training(make_walks(KUHN, SETTINGS, max_histories=10), SETTINGS)

    whole, first, second = make(), make(), make()
    whole.iterate(3)
    first.iterate(1)
    second.restore(first.state())
    second.iterate(2)
    ours, theirs = whole.state(), second.state()
    for name in ours:
        if name != "progress":
            assert np.array_equal(ours[name], theirs[name]), name


def test_holdem_by_cards_and_bets():
    encoder = HoldemEncoder(FLOP)
    row = encoder.encode(0, "AsJh|r4c/7d2cKs:r6")
    assert encoder.layout == CardLayout(groups=(2, 3), num_numbers=26)
    assert (row[:5] > 0).all()
    assert row[:2].tolist() == sorted(row[:2])
    bets = row[5:29].reshape(2, 6, 2)
    assert bets[0].tolist() == [[1.0, 0.5], *[[0.0, 0.0]] * 5]
    assert bets[1].tolist() == [[1.0, 0.25], *[[0.0, 0.0]] * 5]
    assert row[29:].tolist() == [1.0, 0.0]
    assert (encoder.encode(1, "JhAs|r4c/Ks2c7d:r6")[:29] == row[:29]).all()
    assert (encoder.encode(0, "AsJh|")[2:29] == 0.0).all()


def test_limit_actions_share_an_output_by_their_kind():
    fold, call, bet = ActionClass.FOLD, ActionClass.CALL, ActionClass.RAISE
    assert HoldemEncoder(FLOP).outputs([fold, call, bet]) == [0, 1, 2]
    assert HoldemEncoder(FLOP).outputs([call, bet]) == [1, 2]


def test_texts_become_columns_that_tell_kuhns_states_apart():
    encoder = find_encoder(KUHN)
    rows = {
        encoder.encode(int(owner), label).tobytes()
        for owner, label in zip(TREE.infoset_player(), TREE.infoset_labels, strict=True)
    }
    assert isinstance(encoder, TextEncoder)
    assert len(rows) == 12
    assert encoder.num_actions == count_actions(KUHN) == 2


def test_three_players_without_a_tree_are_refused():
    with pytest.raises(ConfigError, match="learnt by two players, got 3"):
        make_rules_walks(make_game("kuhn", players=3))


def test_traversals_are_abandoned_on_the_way_and_begin_anew():
    settings = dataclasses.replace(SETTINGS, steps=1)
    whole, run = (make_training(make_rules_walks(FLOP), settings) for _ in range(2))
    whole.iterate(1)
    questions = itertools.count()
    with pytest.raises(AbandonedError, match="traversals were interrupted"):
        run.iterate(1, lambda: next(questions) == 30)
    assert run.stage == 1
    assert run.walks.nodes_touched == 0
    run.iterate(1)
    assert run.walks.nodes_touched == whole.walks.nodes_touched
    assert np.array_equal(run.memories[1].columns["target"], whole.memories[1].columns["target"])
