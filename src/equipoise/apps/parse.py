# SPDX-License-Identifier: Apache-2.0
"""Text to objects: the one table of rules and the one table of methods that the command line knows."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from equipoise.core.errors import ConfigError, ParseError, UnknownNameError
from equipoise.games.base import Game
from equipoise.games.parameters import format_value
from equipoise.games.registry import GAMES, describe_parameters, make_game, parse_game
from equipoise.kernels.sweeps import PolicyMap
from equipoise.solvers.egt import EGTConfig
from equipoise.solvers.mccfr import Discounting, DiscountKind
from equipoise.solvers.pruning import Pruning, PruningKind, ZeroReach
from equipoise.solvers.rules import (
    CFR,
    DCFR,
    CFRPlus,
    DCFRPlus,
    Hedge,
    LinearCFR,
    LinearCFRPlus,
    NormalHedge,
    Optimistic,
    PredictiveCFRPlus,
    Rule,
    Thresholded,
    format_exponent,
)
from equipoise.solvers.sampled_pruning import LIBRATUS, PLURIBUS, REGRET_BASED_SAMPLING, SampledPruning

__all__ = [
    "PRUNINGS",
    "RULES",
    "SAMPLED_PRUNINGS",
    "PruningEntry",
    "RuleEntry",
    "format_discounting",
    "format_egt",
    "format_game",
    "format_pruning",
    "format_sampled_pruning",
    "parse_discounting",
    "parse_egt",
    "parse_game_options",
    "parse_names",
    "parse_parameters",
    "parse_pruning",
    "parse_rule",
    "parse_sampled_pruning",
    "rule_names",
    "split_list",
]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class RuleEntry:
    """A rule as it is typed."""

    make: Callable[..., Rule]  # called with the numbers in parentheses, if any
    arguments: tuple[str, ...] = ()  # what these are; all or none are given
    description: str


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class PrefixEntry:
    """What a rule becomes with a word and a hyphen before it."""

    make: Callable[..., Rule]  # called with the rule and the numbers in parentheses, if any
    arguments: tuple[str, ...] = ()  # what these are; all or none are given


RULES: Mapping[str, RuleEntry] = {
    "cfr": RuleEntry(make=CFR, description="nothing discounted"),
    "cfr+": RuleEntry(make=CFRPlus, description="negative regrets forgotten, quadratic average"),
    "cfr+linear": RuleEntry(make=lambda: CFRPlus(gamma=1.0), description="negative regrets forgotten, linear average"),
    "lcfr": RuleEntry(make=LinearCFR, description="iteration t weighs t"),
    "lcfr+": RuleEntry(make=LinearCFRPlus, description="iteration t weighs t, negative regrets forgotten"),
    "dcfr": RuleEntry(
        make=lambda alpha=1.5, beta=0.0, gamma=2.0: DCFR(alpha=alpha, beta=beta, gamma=gamma),
        arguments=("alpha", "beta", "gamma"),
        description="discounted; numbers may be inf and -inf",
    ),
    "dcfr+": RuleEntry(
        make=lambda delay=100: DCFRPlus(delay=_whole("delay", delay)),
        arguments=("delay",),
        description="dcfr's regrets, linear average after a delay",
    ),
    "pcfr+": RuleEntry(make=PredictiveCFRPlus, description="cfr+ that predicts each regret by the last"),
    "hedge": RuleEntry(
        make=lambda horizon=0: Hedge(horizon=_whole("horizon", horizon)),
        arguments=("horizon",),
        description="exponential weights; a horizon fixes the step",
    ),
    "normal-hedge": RuleEntry(make=NormalHedge, description="NormalHedge in place of regret matching"),
}
LARGEST_WHOLE = 1e15  # a float still counts one by one up to there
SAMPLING_RULES: Mapping[str, DiscountKind] = {
    "cfr": DiscountKind.NONE,
    "lcfr": DiscountKind.LINEAR,
    "initial": DiscountKind.INITIAL,
}


def rule_names() -> tuple[str, ...]:
    """Returns every rule as it is typed, numbers and prefixes left out."""
    return tuple(RULES)


def parse_rule(text: str) -> Rule:
    """Returns the rule that a text names; a rule's own `name` reads back as the rule.

    >>> parse_rule("dcfr(1.5,0.5,2)").name
    'dcfr(1.5,0.5,2)'
    >>> parse_rule("optimistic-lcfr").name
    'optimistic-lcfr'
    >>> parse_rule("thresholded(1.5)-hedge").name
    'thresholded(1.5)-hedge'
    """
    cleaned = text.strip().lower()
    prefixes: dict[str, list[float]] = {}
    while (match := PREFIX.match(cleaned)) is not None:
        prefix, inside = match.groups()
        if prefix in prefixes:
            raise ParseError(f"a rule has a prefix once, got '{prefix}-' twice")
        prefixes[prefix] = _parse_arguments(text, prefix, PREFIXES[prefix].arguments, inside or "")
        cleaned = cleaned[match.end() :]
    rule = _parse_plain_rule(cleaned, text)
    for prefix, numbers in reversed(prefixes.items()):
        rule = PREFIXES[prefix].make(rule, *numbers)
    return rule


def _make_optimistic(base: Rule) -> Rule:
    if base.kernel.is_optimistic:
        raise ParseError(f"rule {base.name} is optimistic already, got 'optimistic-' before it")
    return Optimistic(base)


def _play_by_normal_hedge(base: Rule) -> Rule:
    if base.kernel.policy_map is not PolicyMap.REGRET_MATCHING:
        raise ParseError(f"normal-hedge takes the place of regret matching, and rule {base.name} has none")
    return NormalHedge(base=base)


PREFIXES: Mapping[str, PrefixEntry] = {
    "optimistic": PrefixEntry(make=_make_optimistic),
    "normal-hedge": PrefixEntry(make=_play_by_normal_hedge),
    "thresholded": PrefixEntry(make=Thresholded, arguments=("factor",)),
}
PREFIX = re.compile(rf"({'|'.join(PREFIXES)})(?:\(([^()]*)\))?-")


def _parse_plain_rule(cleaned: str, text: str) -> Rule:
    """Returns the rule of a text without prefixes; the whole of it is for messages."""
    name, parenthesis, inside = cleaned.partition("(")
    if name not in RULES:
        raise UnknownNameError("rule", text, [*RULES, *(f"{prefix}-cfr" for prefix in PREFIXES)])
    if parenthesis and not inside.endswith(")"):
        raise ParseError(f"a rule's numbers stand in parentheses, as in dcfr(1.5,0,2), got {text!r}")
    entry = RULES[name]
    return entry.make(*_parse_arguments(text, f"rule {name}", entry.arguments, inside.removesuffix(")")))


def _parse_arguments(text: str, owner: str, arguments: tuple[str, ...], inside: str) -> list[float]:
    """Returns the numbers in the parentheses of a rule or a prefix: one for every argument, or none."""
    numbers = _parse_numbers(text, inside)
    if len(numbers) not in (0, len(arguments)):
        takes = f"takes {', '.join(arguments)}" if arguments else "takes no numbers"
        raise ParseError(f"{owner} {takes}, got {text!r}")
    return numbers


def parse_discounting(text: str) -> Discounting:
    """Returns the discounting of a sampled run: cfr, or lcfr or initial with the nodes in a period if wanted.

    >>> parse_discounting("lcfr(50000)").period_nodes
    50000
    """
    name, parenthesis, inside = text.strip().lower().partition("(")
    if name not in SAMPLING_RULES:
        raise UnknownNameError("rule for sampling", text, SAMPLING_RULES)
    kind = SAMPLING_RULES[name]
    if not parenthesis:
        return Discounting(kind=kind)
    numbers = _parse_numbers(text, inside.removesuffix(")"))
    if kind is DiscountKind.NONE or len(numbers) != 1 or not inside.endswith(")"):
        raise ParseError(f"a rule for sampling is cfr, lcfr(NODES) or initial(NODES), got {text!r}")
    return Discounting(kind=kind, period_nodes=_whole("nodes in a period", numbers[0]))


def format_discounting(discounting: Discounting) -> str:
    """Returns a discounting as it would be typed."""
    names = {kind: name for name, kind in SAMPLING_RULES.items()}
    name = names[discounting.kind]
    is_default = discounting.period_nodes == Discounting().period_nodes
    return name if is_default else f"{name}({discounting.period_nodes})"


def parse_egt(text: str) -> EGTConfig:
    """Returns the excessive gap technique that a text means: thresholded(c), without branches less likely than c/T.

    >>> parse_egt("thresholded(0.01)").threshold
    0.01
    """
    name, _, inside = text.strip().lower().partition("(")
    numbers = _parse_numbers(text, inside.removesuffix(")"))
    if name != "thresholded" or len(numbers) != 1 or not inside.endswith(")"):
        raise ParseError(f"a rule for egt is thresholded(c), as in thresholded(0.01), got {text!r}")
    return EGTConfig(threshold=numbers[0])


def format_egt(config: EGTConfig) -> str:
    """Returns thresholds as they would be typed."""
    return f"thresholded({format_exponent(config.threshold)})"


PRUNINGS: Mapping[str, tuple[str, ...]] = {  # which fields of Pruning the numbers of each kind are
    PruningKind.PARTIAL: (),
    PruningKind.REGRET: ("threshold",),
    PruningKind.BEST_RESPONSE: ("threshold", "discard", "discard_exponent"),
}
ZERO_REACH_PREFIXES: Mapping[str, ZeroReach] = {
    "strict-zero-reach-": ZeroReach.STRICT,
    "zero-reach-": ZeroReach.ALL,
}


def parse_pruning(text: str) -> Pruning:
    """Returns the pruning of full-width CFR that a text names; numbers may be left out from the last.

    >>> parse_pruning("brp(10,0.1)").discard, parse_pruning("zero-reach-partial").zero_reach.name
    (0.1, 'ALL')
    """
    name, parenthesis, inside = text.strip().lower().partition("(")
    prefix = next(filter(name.startswith, ZERO_REACH_PREFIXES), "")
    name = name.removeprefix(prefix)
    if name not in PRUNINGS:
        raise UnknownNameError("pruning", text, [*PRUNINGS, *(prefix + "partial" for prefix in ZERO_REACH_PREFIXES)])
    numbers = _parse_numbers(text, inside.removesuffix(")"))
    names = PRUNINGS[name]
    if len(numbers) > len(names) or (parenthesis and not inside.endswith(")")):
        takes = f"takes ({','.join(names)})" if names else "takes no numbers"
        raise ParseError(f"pruning {name} {takes}, got {text!r}")
    fields: dict[str, Any] = dict(zip(names, numbers, strict=False))
    return Pruning(kind=PruningKind(name), zero_reach=ZERO_REACH_PREFIXES.get(prefix, ZeroReach.OFF), **fields)


def format_pruning(pruning: Pruning) -> str:
    """Returns a pruning as it would be typed, numbers up to the last that is not the default."""
    names = PRUNINGS[pruning.kind]
    default, pruning = (
        dataclasses.replace(each, threshold=each.least_window) for each in (Pruning(kind=pruning.kind), pruning)
    )
    prefix = next((prefix for prefix, value in ZERO_REACH_PREFIXES.items() if value is pruning.zero_reach), "")
    while names and getattr(pruning, names[-1]) == getattr(default, names[-1]):
        names = names[:-1]
    numbers = ",".join(repr(float(getattr(pruning, name))).removesuffix(".0") for name in names)
    return f"{prefix}{pruning.kind}({numbers})" if numbers else f"{prefix}{pruning.kind}"


def split_list(text: str) -> list[str]:
    """Returns the items of a list separated by commas; commas in parentheses belong to their item.

    >>> split_list("cfr, dcfr(1.5,0,2),lcfr")
    ['cfr', 'dcfr(1.5,0,2)', 'lcfr']
    """
    items, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            items.append("")
        else:
            items[-1] += letter
    return [item.strip() for item in items if item.strip()]


def parse_names(option: str, text: str) -> tuple[str, ...]:
    """Returns the items of an option's list, at least one."""
    names = tuple(split_list(text))
    if not names:
        raise ConfigError(f"{option} needs at least one name, got {text!r}")
    return names


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
    numbers = _parse_numbers(text, inside.removesuffix(")"))
    if parenthesis and (not inside.endswith(")") or len(numbers) != len(entry.arguments)):
        raise ParseError(f"pruning {name} takes {', '.join(entry.arguments)} in parentheses or none, got {text!r}")
    fields: dict[str, Any] = {
        key: _whole(key, number) if key.endswith("_node") else number
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


def parse_parameters(pairs: Iterable[str]) -> dict[str, str]:
    """Returns game parameters from `key=value` texts.

    >>> parse_parameters(["ranks=4", "first_sizes=1,2"])
    {'ranks': '4', 'first_sizes': '1,2'}
    """
    values: dict[str, str] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        key = key.strip()
        if not equals or not key:
            raise ParseError(f"a parameter is written key=value, got {pair!r}")
        if key in values:
            raise ParseError(f"parameter {key!r} is given twice")
        values[key] = value.strip()
    return values


def parse_game_options(name: str, pairs: Iterable[str]) -> Game[Any]:
    """Returns the game of a name and `key=value` texts, or of a whole label such as `leduc(ranks=4)`."""
    parameters = parse_parameters(pairs)
    if "(" not in name:
        return make_game(name, **parameters)
    if parameters:
        raise ConfigError(f"parameters are given twice: in {name!r} and with -p")
    return parse_game(name)


def format_game(game: Game[Any]) -> str:
    """Returns the game with the parameters that differ from their defaults; `parse_game` reads it back.

    >>> format_game(make_game("kuhn")), format_game(make_game("kuhn", players=3))
    ('kuhn', 'kuhn(players=3)')
    """
    spec = game.spec
    defaults = {row.name: row.default for row in describe_parameters(spec.name)} if spec.name in GAMES else {}
    texts = {key: format_value(value) for key, value in spec.parameters.items()}
    inside = ",".join(f"{key}={text}" for key, text in texts.items() if defaults.get(key) != text)
    return f"{spec.name}({inside})" if inside else spec.name


def _parse_numbers(text: str, inside: str) -> list[float]:
    try:
        return [float(number) for number in inside.split(",")] if inside else []
    except ValueError:
        raise ParseError(f"a rule's parentheses hold numbers, as in dcfr(1.5,0,2), got {text!r}") from None


def _whole(name: str, value: float) -> int:
    if not abs(value) <= LARGEST_WHOLE or value != int(value):
        raise ConfigError(f"{name} must be a whole number up to {LARGEST_WHOLE:g}, got {value:g}")
    return int(value)
