# SPDX-License-Identifier: Apache-2.0
"""The methods that the command line knows, and how each is built on a tree."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

from equipoise.apps.parse import parse_rule
from equipoise.core.errors import ConfigError, UnknownNameError
from equipoise.solvers.cfr import CFRSolver, estimate_table_bytes
from equipoise.solvers.saved_run import RunConfig
from equipoise.solvers.solve import TreeSolver
from equipoise.trees.history import HistoryTree

__all__ = ["METHODS", "Method", "find_method", "normalize_rule"]

ALTERNATING, SIMULTANEOUS = "alternating", "simultaneous"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """A way to solve a history tree."""

    description: str
    default_rule: str | None = None  # None: the method takes no rule
    normalize_rule: Callable[[str], str] | None = None  # from the text of a rule to its name, errors included
    has_updates: bool = False  # whether players may be updated in turn or at once
    is_seeded: bool = False  # whether the seed changes what is computed
    build: Callable[[HistoryTree, RunConfig], TreeSolver]
    estimate_bytes: Callable[[HistoryTree, RunConfig], int]  # of the tables beside the tree


def find_method(name: str) -> Method:
    """Returns the method of that name."""
    if name not in METHODS:
        raise UnknownNameError("method", name, METHODS)
    return METHODS[name]


def normalize_rule(name: str, text: str | None) -> str | None:
    """Returns the name of the rule that a text means under a method; the method's default if there is no text."""
    method = find_method(name)
    if method.default_rule is None or method.normalize_rule is None:
        if text is not None:
            raise ConfigError(f"method {name} takes no rule, got {text!r}")
        return None
    return method.normalize_rule(text or method.default_rule)


def _build_cfr(tree: HistoryTree, config: RunConfig) -> TreeSolver:
    return CFRSolver(
        tree,
        parse_rule(config.rule or "dcfr"),
        is_alternating=config.updates == ALTERNATING,
        num_threads=config.threads,
    )


def _estimate_cfr(tree: HistoryTree, config: RunConfig) -> int:
    return estimate_table_bytes(tree, parse_rule(config.rule or "dcfr"), num_threads=config.threads)


METHODS: Mapping[str, Method] = {
    "cfr": Method(
        description="full-width CFR under any rule",
        default_rule="dcfr",
        normalize_rule=lambda text: parse_rule(text).name,
        has_updates=True,
        build=_build_cfr,
        estimate_bytes=_estimate_cfr,
    ),
}
