# SPDX-License-Identifier: Apache-2.0
"""Bucketed limit hold'em as walks read it: lines of betting and one draw for all cards of a hand."""

from __future__ import annotations

import numpy as np

from equipoise.core.errors import ConfigError
from equipoise.games.base import TERMINAL
from equipoise.games.holdem.betting import CALL, FOLD, Stage
from equipoise.games.holdem.bucket_law import find_law
from equipoise.games.holdem.bucketed_limit import BucketedLimitLines
from equipoise.kernels.lines import LineArrays
from equipoise.trees.public import PublicTree

__all__ = ["list_lines"]


def list_lines(tree: PublicTree, lines: BucketedLimitLines) -> LineArrays:
    """Returns the lines of a tree that was built from these public states."""
    if tree.game_label != lines.spec.label:
        raise ConfigError(f"lines of {lines.spec.label} are not those of {tree.game_label}")
    game = lines.game
    decisions = np.flatnonzero(tree.actor >= 0)
    for node in decisions.tolist():
        slots = tree.private_cells(node, int(tree.actor[node])) - tree.block_start[node, tree.actor[node]]
        assert np.array_equal(slots, np.arange(slots.size))  # deals only add columns, in order
    call, raise_ = np.zeros(tree.actor.size, np.int32), np.zeros(tree.actor.size, np.int32)
    for node in decisions.tolist():
        actions = lines.legal_actions(tree.states[node])
        call[node] = raise_[node] = actions.index(CALL)
        if actions[-1] not in (FOLD, CALL):
            raise_[node] = len(actions) - 1
    stake = np.zeros(tree.actor.size)
    stake[tree.terminal_node] = tree.payoff_factor
    is_showdown = [
        actor == TERMINAL and state.betting.stage is Stage.SHOWDOWN
        for actor, state in zip(tree.actor.tolist(), tree.states, strict=True)
    ]
    weights = np.moveaxis(find_law(game.buckets).showdown_weights(game.streets - 1), 0, -1)
    paths = np.arange(game.buckets**game.streets, dtype=np.int32)
    return LineArrays(
        actor=tree.actor,
        num_actions=tree.num_actions,
        child=(np.argsort(tree.parent[1:], kind="stable") + 1).astype(np.int32),
        first_cell=tree.table_start,
        stride=tree.stride,
        level=np.array([int(state.betting.street) for state in tree.states], np.int32),
        call=call,
        raise_=raise_,
        is_showdown=np.array(is_showdown, np.uint8),
        stake=stake,
        cumulative=np.cumsum(weights.ravel()),
        ancestor=np.stack([paths // game.buckets ** (game.streets - 1 - level) for level in range(game.streets)]),
        num_table_cells=tree.cells.num_table_cells,
    )
