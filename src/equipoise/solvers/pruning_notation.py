# SPDX-License-Identifier: Apache-2.0
"""Prunings as they are typed: of full-width CFR and of sampled runs."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from equipoise.core.errors import ParseError, UnknownNameError
from equipoise.solvers.pruning import Pruning, PruningKind, ZeroReach
from equipoise.solvers.rule_notation import parse_numbers, parse_whole
from equipoise.solvers.sampled_pruning import LIBRATUS, PLURIBUS, REGRET_BASED_SAMPLING, SampledPruning

__all__ = [
    "PRUNINGS",
    "SAMPLED_PRUNINGS",
    "PruningEntry",
    "format_pruning",
    "format_sampled_pruning",
    "parse_pruning",
    "parse_sampled_pruning",
]

PRUNINGS: Mapping[str, tuple[str, ...]] = {  # which fields of Pruning the numbers of each kind are
    PruningKind.PARTIAL: (),
    PruningKind.REGRET: ("threshold",),
    PruningKind.BEST_RESPONSE: ("threshold", "discard", "discard_exponent"),
}
PREFIXES: Mapping[str, tuple[str, Any]] = {  # fields of Pruning, in the order in which they are written
    "once-": ("walks_once", True),
    "eager-": ("needs_positive", False),
    "strict-zero-reach-": ("zero_reach", ZeroReach.STRICT),
    "zero-reach-": ("zero_reach", ZeroReach.ALL),
}


def parse_pruning(text: str) -> Pruning:
    """Returns the pruning of full-width CFR that a text names; numbers may be left out from the last.

    >>> parse_pruning("brp(10,0.1)").discard, parse_pruning("once-zero-reach-partial").zero_reach.name
    (0.1, 'ALL')
    """
    name, parenthesis, inside = text.strip().lower().partition("(")
    fields: dict[str, Any] = {}
    for prefix, (field, value) in PREFIXES.items():
        if field not in fields and name.startswith(prefix):
            name = name.removeprefix(prefix)
            fields[field] = value
    if name not in PRUNINGS:
        raise UnknownNameError("pruning", text, [*PRUNINGS, *(f"{prefix}{PruningKind.REGRET}" for prefix in PREFIXES)])
    numbers = parse_numbers(text, inside.removesuffix(")"))
    names = PRUNINGS[name]
    if len(numbers) > len(names) or (parenthesis and not inside.endswith(")")):
        takes = f"takes ({','.join(names)})" if names else "takes no numbers"
        raise ParseError(f"pruning {name} {takes}, got {text!r}")
    fields |= dict(zip(names, numbers, strict=False))
    return Pruning(kind=PruningKind(name), **fields)


def format_pruning(pruning: Pruning) -> str:
    """Returns a pruning as it would be typed, numbers up to the last that is not the default."""
    names = PRUNINGS[pruning.kind]
    default, pruning = (
        dataclasses.replace(each, threshold=each.least_window) for each in (Pruning(kind=pruning.kind), pruning)
    )
    prefix = "".join(prefix for prefix, (field, value) in PREFIXES.items() if getattr(pruning, field) == value)
    while names and getattr(pruning, names[-1]) == getattr(default, names[-1]):
        names = names[:-1]
    numbers = ",".join(repr(float(getattr(pruning, name))).removesuffix(".0") for name in names)
    return f"{prefix}{pruning.kind}({numbers})" if numbers else f"{prefix}{pruning.kind}"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class PruningEntry:
    """A pruning of sampled runs as it is typed."""

    base: SampledPruning
    arguments: tuple[str, ...]  # fields that numbers in parentheses set, all or none of them


SAMPLED_PRUNINGS: Mapping[str, PruningEntry] = {
    "rbs": PruningEntry(base=REGRET_BASED_SAMPLING, arguments=("threshold", "first_node", "end_node")),
    "libratus": PruningEntry(base=LIBRATUS, arguments=("threshold", "softness", "first_node")),
    "pluribus": PruningEntry(base=PLURIBUS, arguments=("threshold", "probability", "first_node")),
}
WEIGHTED = "weighted-"
FLOOR_RATIO = PLURIBUS.floor / PLURIBUS.threshold


def parse_sampled_pruning(text: str) -> SampledPruning:
    """Returns the pruning of a sampled run that a text names, with numbers if wanted.

    >>> parse_sampled_pruning("weighted-libratus(-10,5,1e6)").softness
    5.0
    """
    cleaned = text.strip().lower()
    name, parenthesis, inside = cleaned.removeprefix(WEIGHTED).partition("(")
    if name not in SAMPLED_PRUNINGS:
        known = [prefix + name for prefix in ("", WEIGHTED) for name in SAMPLED_PRUNINGS]
        raise UnknownNameError("pruning of sampled runs", text, known)
    entry = SAMPLED_PRUNINGS[name]
    numbers = parse_numbers(text, inside.removesuffix(")"))
    if parenthesis and (not inside.endswith(")") or len(numbers) != len(entry.arguments)):
        raise ParseError(f"pruning {name} takes {', '.join(entry.arguments)} in parentheses or none, got {text!r}")
    fields: dict[str, Any] = {
        key: parse_whole(key, number) if key.endswith("_node") else number
        for key, number in zip(entry.arguments, numbers, strict=False)
    }
    if name == "pluribus" and "threshold" in fields:
        fields["floor"] = fields["threshold"] * FLOOR_RATIO
    return dataclasses.replace(entry.base, is_weighted=cleaned.startswith(WEIGHTED), **fields)


def format_sampled_pruning(pruning: SampledPruning) -> str:
    """Returns a pruning as it would be typed."""
    name, entry = next((name, entry) for name, entry in SAMPLED_PRUNINGS.items() if entry.base.kind is pruning.kind)
    prefix = WEIGHTED if pruning.is_weighted else ""
    values = [getattr(pruning, key) for key in entry.arguments]
    if values == [getattr(entry.base, key) for key in entry.arguments]:
        return prefix + name
    return f"{prefix}{name}({','.join(f'{value:.17g}' for value in values)})"
