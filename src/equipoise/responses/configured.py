# SPDX-License-Identifier: Apache-2.0
"""Runs against a response, from the configuration of a run: checked, built, their memory estimated."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from equipoise.abstraction.solutions import SOLUTION_SUFFIX
from equipoise.core.errors import ConfigError
from equipoise.kernels.holdem.sweeps import HoldemTables
from equipoise.responses.against import AgainstSolver
from equipoise.responses.forms import BoardForm
from equipoise.responses.notation import merge_by_pattern, parse_response
from equipoise.responses.tables import read_buckets
from equipoise.solvers.best_response import bind_kernel
from equipoise.solvers.cfr import estimate_bytes as estimate_table_bytes
from equipoise.solvers.rule_notation import parse_rule
from equipoise.solvers.saved_run import RunConfig
from equipoise.trees.history import HistoryTree
from equipoise.trees.holdem.locks import NodeLock
from equipoise.trees.holdem.tree import HoldemPlan, HoldemTree
from equipoise.trees.public import PublicTree

__all__ = [
    "AGAINST_FIELDS",
    "build_against",
    "build_spot_learners",
    "check_against",
    "describe_against",
    "estimate_against_bytes",
    "estimate_learner_bytes",
]

AGAINST_FIELDS: Final = ("against", "updates_per_response", "seat", "merge")
NUM_WORKING: Final = 5  # tables of a spot that come and go: a strategy, its answer, plans, what a model plays
WALK_BYTES: Final = 50  # that a history takes once more where a response walks down the tree


def check_against(config: RunConfig) -> None:
    """Raises `ConfigError` if what a configuration says of a response cannot be."""
    if config.against is None:
        for name in AGAINST_FIELDS[1:]:
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


def describe_against(asked: Any, before: RunConfig | None) -> dict[str, Any]:
    """Returns the fields of a configuration that say against what is trained.

    Args:
        asked: with `AGAINST_FIELDS` and `updates`, None where nothing is asked for, and `has_warm_start`.
        before: of the run that goes on, whose fields hold where nothing is asked for.
    """
    fields = {name: getattr(asked, name) for name in AGAINST_FIELDS}
    if before is not None:
        fields = {name: getattr(before, name) if value is None else value for name, value in fields.items()}
    if fields["against"] is None:
        return {**fields, "against_digest": None}
    if asked.has_warm_start:
        raise ConfigError("--warm-start is for learners that train against each other, got --against")
    if asked.updates is not None:
        raise ConfigError("--updates is for learners that train against each other, got --against")
    spec = parse_response(fields["against"])
    updates = fields["updates_per_response"] or 1
    read = (Path(fields["merge"]),) if str(fields["merge"]).endswith(SOLUTION_SUFFIX) else ()
    digest = spec.digest(*read)
    return {**fields, "against": spec.text, "updates_per_response": updates, "against_digest": digest}


def build_spot_learners(
    tree: HoldemTree, config: RunConfig, *, dtype: npt.DTypeLike, locks: Sequence[NodeLock] = ()
) -> AgainstSolver:
    """Returns a fresh run on a spot of a configuration that names a response; everybody keeps to the locks."""
    assert config.against is not None
    assert config.rule is not None
    if np.dtype(dtype) == np.int16:
        raise ConfigError("learners against a response need --precision float32 or float64, got int16")
    form = BoardForm(tree, kernel=bind_kernel(tree, locks=locks))
    return AgainstSolver(
        form,
        parse_response(config.against).bind(form, seat=config.seat),
        rule=parse_rule(config.rule),
        seat=config.seat,
        updates_per_response=config.updates_per_response or 1,
        seed=config.seed,
        groups=None if config.merge is None else read_buckets(Path(config.merge), tree),
        dtype=dtype,
        num_threads=config.threads,
    )


def estimate_learner_bytes(
    plan: HoldemPlan, config: RunConfig, *, dtype: npt.DTypeLike, locks: Sequence[NodeLock] = ()
) -> int:
    """Returns the bytes that such a run takes with its tree: tables and answers of learners, what responses hold."""
    assert config.rule is not None
    rule = parse_rule(config.rule)
    once = estimate_table_bytes(plan, rule, dtype=dtype, num_threads=config.threads, locks=locks)
    tables = HoldemTables.estimate_bytes(plan.arrays, dtype, rule.kernel)
    learners = 2 if config.seat is None else 1
    answers = (2 * learners + NUM_WORKING) * plan.arrays.num_cells * np.dtype(dtype).itemsize
    return once + (learners - 1) * tables + answers
