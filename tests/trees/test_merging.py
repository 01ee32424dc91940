# SPDX-License-Identifier: Apache-2.0
import re

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games.registry import make_game
from equipoise.solvers.best_response import bind_history_kernel, evaluate
from equipoise.solvers.sequence_lp import solve_sequence_lp
from equipoise.trees.history import build_history_tree
from equipoise.trees.merging import group_infosets, merge_infosets

LEDUC = build_history_tree(make_game("leduc"))
RANKS = build_history_tree(make_game("leduc", merge_suits=True))


def suitless(label):
    """Returns an information state of Leduc without suits."""
    return re.sub("([JQK])[sh]", r"\1", label)


def test_merging_suits_gives_the_game_of_ranks():
    merged = merge_infosets(LEDUC, group_infosets(LEDUC, lambda player, label: (player, suitless(label))))
    assert merged.tree.num_actions.size == RANKS.num_actions.size == 288
    assert solve_sequence_lp(merged.tree).value == pytest.approx(solve_sequence_lp(RANKS).value, abs=1e-8)


def test_nothing_merged_is_the_same_tree():
    merged = merge_infosets(LEDUC, np.arange(LEDUC.num_actions.size))
    np.testing.assert_array_equal(merged.sequence_map, np.arange(merged.sequence_map.size))
    for name in ("infoset", "terminal_sequence", "first_sequence", "parent_sequence", "infoset_end", "action_class"):
        np.testing.assert_array_equal(getattr(merged.tree, name), getattr(LEDUC, name))
    assert merged.tree.sequence_labels == LEDUC.sequence_labels


def test_lifted_strategies_earn_what_they_earn_when_merged():
    groups = group_infosets(LEDUC, lambda player, label: (player, suitless(label).replace("Q", "J")))
    for players in (None, (0,), (1,)):
        merged = merge_infosets(LEDUC, groups, players=players)
        kernel = bind_history_kernel(merged.tree)
        strategy = kernel.normalize(np.random.default_rng(3).exponential(size=kernel.num_sequences))
        inside, outside = evaluate(merged.tree, strategy), evaluate(LEDUC, merged.lift(strategy))
        assert inside.values == pytest.approx(outside.values, abs=1e-12)
        np.testing.assert_array_equal(merged.lower(merged.lift(strategy)), strategy)
        for player in (0, 1):
            gain = outside.best_response_values[player] - inside.best_response_values[player]
            if players is None or player in players:
                assert gain > 1e-3
            else:
                assert gain == pytest.approx(0.0, abs=1e-12)


def test_forgetting_is_refused():
    with pytest.raises(ConfigError, match="perfect recall"):
        merge_infosets(LEDUC, group_infosets(LEDUC, lambda player, label: (player, re.sub("[|].*/", "|", label))))


def test_other_actions_are_refused():
    with pytest.raises(ConfigError, match="cannot be merged: their actions are"):
        merge_infosets(LEDUC, np.zeros(LEDUC.num_actions.size, np.int32))


def test_groups_of_another_game_are_refused():
    with pytest.raises(ConfigError, match="one whole number for each of its 936 information sets, got shape"):
        merge_infosets(LEDUC, np.zeros(5, np.int32))
