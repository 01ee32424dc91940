# SPDX-License-Identifier: Apache-2.0
"""Runs against a response, from the configuration of a run: checked, built, their memory estimated."""

from __future__ import annotations

from typing import Final

from equipoise.core.errors import ConfigError
from equipoise.responses.against import AgainstSolver
from equipoise.responses.notation import merge_by_pattern, parse_response
from equipoise.solvers.cfr import estimate_bytes as estimate_table_bytes
from equipoise.solvers.rule_notation import parse_rule
from equipoise.solvers.saved_run import RunConfig
from equipoise.trees.history import HistoryTree
from equipoise.trees.public import PublicTree

__all__ = ["build_against", "check_against", "estimate_against_bytes"]

WALK_BYTES: Final = 50  # that a history takes once more where a response walks down the tree


def check_against(config: RunConfig) -> None:
    """Raises `ConfigError` if what a configuration says of a response cannot be."""
    if config.against is None:
        for name in ("updates_per_response", "seat", "merge"):
            if getattr(config, name) is not None:
                raise ConfigError(f"--{name.replace('_', '-')} is for runs --against a response, and none is given")
        return
    parse_response(config.against)
    if config.method != "cfr":
        raise ConfigError(f"--against {config.against} is for method cfr, got {config.method}")
    if config.prune is not None:
        raise ConfigError(f"--against {config.against} sweeps the whole tree, got --prune {config.prune}")


def build_against(tree: HistoryTree | PublicTree, config: RunConfig) -> AgainstSolver:
    """Returns a fresh run of a configuration that names a response."""
    assert config.against is not None
    assert config.rule is not None
    groups = None
    if config.merge is not None:
        if not isinstance(tree, HistoryTree):
            raise ConfigError(f"--merge {config.merge!r} is for --form history")
        groups = merge_by_pattern(tree, config.merge)
    return AgainstSolver(
        tree,
        parse_response(config.against).bind(tree, seat=config.seat),
        rule=parse_rule(config.rule),
        seat=config.seat,
        updates_per_response=config.updates_per_response or 1,
        seed=config.seed,
        groups=groups,
        num_threads=config.threads,
    )


def estimate_against_bytes(tree: HistoryTree | PublicTree, config: RunConfig) -> int:
    """Returns what such a run allocates beside its tree."""
    assert config.against is not None
    assert config.rule is not None
    learners = 2 if config.seat is None else 1
    walks = WALK_BYTES * tree.actor.size if parse_response(config.against).is_sampled else 0
    tables = estimate_table_bytes(tree, parse_rule(config.rule), num_threads=config.threads)
    return walks + 2 * learners * tables
