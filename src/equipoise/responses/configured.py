# SPDX-License-Identifier: Apache-2.0
"""Runs from their configurations, against a response or not: checked, built, their memory estimated."""

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
from equipoise.responses.forms import BoardForm, PlayTree
from equipoise.responses.hand_buckets import HandBuckets
from equipoise.responses.notation import merge_by_pattern, parse_response
from equipoise.responses.tables import read_buckets
from equipoise.solvers.best_response import bind_kernel
from equipoise.solvers.methods import build_solver, estimate_bytes, find_dtype
from equipoise.solvers.rule_notation import parse_rule
from equipoise.solvers.saved_run import RunConfig
from equipoise.trees.history import HistoryTree
from equipoise.trees.holdem.locks import NodeLock
from equipoise.trees.holdem.tree import HoldemPlan, HoldemTree
from equipoise.trees.public import PublicTree

__all__ = [
    "AGAINST_FIELDS",
    "build_run",
    "check_against",
    "describe_against",
    "estimate_run_bytes",
]

AGAINST_FIELDS: Final = ("against", "updates_per_response", "seat", "merge")
NUM_WORKING: Final = 5  # tables of a spot that come and go: a strategy, its answer, plans, what a model plays
WALK_BYTES: Final = 50  # that a history takes once more where a response walks down the tree


def check_against(config: RunConfig) -> None:
    """Raises `ConfigError` if what a configuration says of a response cannot be."""
    if config.against is None:
        for name in AGAINST_FIELDS[1:]:
            if getattr(config, name) is not None:
                raise ConfigError(f"`{name}` is for runs `against` a response, and none is given")
        return
    parse_response(config.against)
    if config.method != "cfr":
        raise ConfigError(f"`against` {config.against} is for method cfr, got {config.method}")
    if config.prune is not None:
        raise ConfigError(f"`against` {config.against} sweeps the whole tree, got `prune` {config.prune}")


def build_run(tree: PlayTree, config: RunConfig, locks: Sequence[NodeLock] = ()) -> Any:
    """Returns a fresh run of a configuration on a tree: of its method, or against the response that it names.

    Against a response everybody keeps to the locks of a spot.
    """
    if config.against is None:
        return build_solver(tree, config, locks) if isinstance(tree, HoldemTree) else build_solver(tree, config)
    assert config.rule is not None
    dtype = find_dtype(config) if isinstance(tree, HoldemTree) else None
    if dtype == np.int16:
        raise ConfigError("learners against a response need `precision` float32 or float64, got int16")
    form = BoardForm(tree, kernel=bind_kernel(tree, locks=locks)) if isinstance(tree, HoldemTree) else tree
    return AgainstSolver(
        form,
        parse_response(config.against).bind(form, seat=config.seat),
        rule=parse_rule(config.rule),
        seat=config.seat,
        updates_per_response=config.updates_per_response or 1,
        seed=config.seed,
        groups=None if config.merge is None else _merge(tree, config.merge),
        dtype=dtype,
        num_threads=config.threads,
    )


def _merge(tree: PlayTree, text: str) -> npt.NDArray[np.int32] | HandBuckets:
    """Returns what learners cannot tell apart, by a pattern or by the buckets in a file."""
    if isinstance(tree, HoldemTree):
        if not text.endswith(SOLUTION_SUFFIX):
            raise ConfigError(f"`merge` of a spot is a blueprint's file, as in buckets{SOLUTION_SUFFIX}; got {text!r}")
        return read_buckets(Path(text), tree)
    if not isinstance(tree, HistoryTree):
        raise ConfigError(f"`merge` {text!r} is for `form` history")
    return merge_by_pattern(tree, text)


def estimate_run_bytes(
    tree: HistoryTree | PublicTree | HoldemPlan, config: RunConfig, locks: Sequence[NodeLock] = ()
) -> int:
    """Returns what such a run allocates beside its tree; of a spot, the tree's arrays too."""
    once = estimate_bytes(tree, config, locks)
    if config.against is None:
        return once
    learners = 2 if config.seat is None else 1
    if not isinstance(tree, HoldemPlan):
        walks = WALK_BYTES * tree.actor.size if parse_response(config.against).is_sampled else 0
        return walks + 2 * learners * once
    assert config.rule is not None
    dtype = find_dtype(config)
    tables = HoldemTables.estimate_bytes(tree.arrays, dtype, parse_rule(config.rule).kernel)
    answers = (2 * learners + NUM_WORKING) * tree.arrays.num_cells * dtype.itemsize
    return once + (learners - 1) * tables + answers


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
        raise ConfigError("`warm_start` is for learners that train against each other, got `against`")
    if asked.updates is not None:
        raise ConfigError("`updates` is for learners that train against each other, got `against`")
    spec = parse_response(fields["against"])
    updates = 1 if fields["updates_per_response"] is None else fields["updates_per_response"]
    read = (Path(fields["merge"]),) if str(fields["merge"]).endswith(SOLUTION_SUFFIX) else ()
    digest = spec.digest(*read)
    return {**fields, "against": spec.text, "updates_per_response": updates, "against_digest": digest}
