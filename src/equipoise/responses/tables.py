# SPDX-License-Identifier: Apache-2.0
"""Strategies in files as tables over the tree that responses work on."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from equipoise.abstraction.bucketed_strategy import SolvedBuckets
from equipoise.abstraction.solutions import open_solution
from equipoise.core.checkpoint import Kind
from equipoise.core.errors import ConfigError
from equipoise.core.formatting import shorten_text
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.games.holdem.spot_file import SpotFile, format_spot
from equipoise.kernels.holdem.play import PLAY_TYPES
from equipoise.responses.forms import PlayForm, Table
from equipoise.responses.hand_buckets import HandBuckets
from equipoise.solvers.holdem.solved_spot import SolvedSpot, encode_layout
from equipoise.solvers.strategy import TabularStrategy
from equipoise.trees.holdem.tree import HoldemTree

__all__ = ["as_play_table", "read_buckets", "read_counts", "read_table"]


def read_table(path: Path, form: PlayForm) -> Table:
    """Returns `[Q]` the strategy in a file over a tree: of the same game, or of the same spot by hands or buckets."""
    tree = form.tree
    if not isinstance(tree, HoldemTree):
        return TabularStrategy.load(path).to_tree(tree)
    with open_solution(path, Kind.SPOT, Kind.BLUEPRINT) as solution:
        if isinstance(solution, SolvedBuckets):
            strategy = solution.strategy
            _check_spot(path, strategy.tree.spot, tree.spot)
            return strategy.tree.lift(strategy.sums, tree)
        assert isinstance(solution, SolvedSpot)
        _check_spot(path, solution.spot, tree.spot)
        theirs, ours = encode_layout(solution.tree), encode_layout(tree)
        if not all(np.array_equal(theirs[name], ours[name]) for name in ours):
            raise ConfigError(f"{path} tells suits apart that this spot merges: its locks name some of them")
        return as_play_table(solution.strategy_sum.read())


def read_counts(path: Path, form: PlayForm) -> Table:
    """Returns `[C]` how often each action was seen, from a file of `equipoise model` for the same spot."""
    tree = form.tree
    if not isinstance(tree, HoldemTree):
        raise ConfigError(f"models of recorded hands are for hold'em spots, got {form.label}")
    with open_solution(path, Kind.SPOT, Kind.BLUEPRINT) as solution:
        if not isinstance(solution, SolvedBuckets) or solution.counted is None:
            raise ConfigError(f"{path} was not counted from hands by `equipoise model`: write dbr:P,N,FILE, N hands")
        strategy = solution.strategy
        _check_spot(path, strategy.tree.spot, tree.spot)
        return strategy.tree.lift_sums(np.floor(strategy.sums), tree)


def as_play_table(sums: Table) -> Table:
    """Returns sums of any type as floats; only their proportions count."""
    return sums if sums.dtype in PLAY_TYPES else sums.astype(np.float32)


def read_buckets(path: Path, tree: HoldemTree) -> HandBuckets:
    """Returns the buckets of a blueprint's file for the hands of a tree."""
    with SolvedBuckets(path) as solution:
        return HandBuckets(tree, solution.recipe.build(tree.spot))


def _check_spot(path: Path, theirs: HoldemSpot, ours: HoldemSpot) -> None:
    """Raises `ConfigError` unless a file's strategy is for the same spot, locks apart."""
    found, expected = (format_spot(SpotFile(spot=spot)).splitlines() for spot in (theirs, ours))
    if found != expected:
        has = "; ".join(shorten_text(line) for line in found if line not in expected) or "nothing else"
        wanted = "; ".join(shorten_text(line) for line in expected if line not in found) or "nothing else"
        raise ConfigError(f"{path} is for another spot: it has {has}, this one {wanted}")
