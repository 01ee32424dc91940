# SPDX-License-Identifier: Apache-2.0
"""Rules as they are typed: of full-width CFR, of sampled runs, of the excessive gap technique."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping

from equipoise.core.checks import check_text
from equipoise.core.errors import ConfigError, ParseError, UnknownNameError
from equipoise.kernels.rules import PolicyMap
from equipoise.solvers.egt import EGTConfig
from equipoise.solvers.mccfr import Discounting, DiscountKind
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
    ScheduledDCFR,
    Thresholded,
    check_rule,
    format_exponent,
)

__all__ = [
    "RULES",
    "RuleEntry",
    "format_discounting",
    "format_egt",
    "format_rule",
    "parse_discounting",
    "parse_egt",
    "parse_numbers",
    "parse_rule",
    "parse_whole",
    "rule_names",
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


def _make_schedule(*numbers: float) -> ScheduledDCFR:
    if not numbers:
        return ScheduledDCFR()
    *exponents, horizon = numbers
    pairs = list(zip(exponents[::2], exponents[1::2], strict=True))
    return ScheduledDCFR(alpha=pairs[0], beta=pairs[1], gamma=pairs[2], horizon=parse_whole("horizon", horizon))


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
        make=lambda delay=100: DCFRPlus(delay=parse_whole("delay", delay)),
        arguments=("delay",),
        description="dcfr's regrets, linear average after a delay",
    ),
    "scheduled": RuleEntry(
        make=_make_schedule,
        arguments=("alpha", "alpha at the end", "beta", "beta at the end", "gamma", "gamma at the end", "horizon"),
        description="dcfr whose exponents move over so many iterations",
    ),
    "pcfr+": RuleEntry(make=PredictiveCFRPlus, description="cfr+ that predicts each regret by the last"),
    "hedge": RuleEntry(
        make=lambda horizon=None: Hedge(horizon=None if horizon is None else parse_whole("horizon", horizon)),
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
    "lcfr-each": DiscountKind.ITERATIONS,
    "floored": DiscountKind.FLOORED,
    "discounted": DiscountKind.DISCOUNTED,
}


def rule_names() -> tuple[str, ...]:
    """Returns every rule as it is typed, numbers and prefixes left out.

    >>> rule_names()[:4]
    ('cfr', 'cfr+', 'cfr+linear', 'lcfr')
    """
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
    check_text("rule", text)
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


def format_rule(rule: Rule) -> str:
    """Returns a rule as it would be typed.

    >>> format_rule(parse_rule("dcfr(1.5, 0.50, 2)"))
    'dcfr(1.5,0.5,2)'
    """
    check_rule("rule", rule)
    return rule.name


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
    numbers = parse_numbers(text, inside)
    if len(numbers) not in (0, len(arguments)):
        takes = f"takes {', '.join(arguments)}" if arguments else "takes no numbers"
        raise ParseError(f"{owner} {takes}, got {text!r}")
    return numbers


def parse_discounting(text: str) -> Discounting:
    """Returns the discounting of a sampled run: cfr, lcfr-each, or another with the nodes in a period if wanted.

    >>> parse_discounting("lcfr(50000)").period_nodes
    50000
    """
    name, parenthesis, inside = text.strip().lower().partition("(")
    if name not in SAMPLING_RULES:
        raise UnknownNameError("rule for sampling", text, SAMPLING_RULES)
    kind = SAMPLING_RULES[name]
    if not parenthesis:
        return Discounting(kind=kind)
    numbers = parse_numbers(text, inside.removesuffix(")"))
    if not Discounting(kind=kind).has_periods or len(numbers) != 1 or not inside.endswith(")"):
        periodic = [each for each, other in SAMPLING_RULES.items() if Discounting(kind=other).has_periods]
        known = ", ".join(f"{each}(NODES)" for each in periodic)
        raise ParseError(f"a rule for sampling is cfr, lcfr-each or one of {known}, got {text!r}")
    return Discounting(kind=kind, period_nodes=parse_whole("nodes in a period", numbers[0]))


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
    numbers = parse_numbers(text, inside.removesuffix(")"))
    if name != "thresholded" or len(numbers) != 1 or not inside.endswith(")"):
        raise ParseError(f"a rule for egt is thresholded(c), as in thresholded(0.01), got {text!r}")
    return EGTConfig(threshold=numbers[0])


def format_egt(config: EGTConfig) -> str:
    """Returns thresholds as they would be typed."""
    return f"thresholded({format_exponent(config.threshold)})"


def parse_numbers(text: str, inside: str) -> list[float]:
    """Returns the numbers between the parentheses of a text, which is there for the message."""
    try:
        return [float(number) for number in inside.split(",")] if inside else []
    except ValueError:
        raise ParseError(f"a rule's parentheses hold numbers, as in dcfr(1.5,0,2), got {text!r}") from None


def parse_whole(name: str, value: float) -> int:
    """Returns a number that must be whole as one."""
    if not abs(value) <= LARGEST_WHOLE or value != int(value):
        raise ConfigError(f"{name} must be a whole number up to {LARGEST_WHOLE:g}, got {value:g}")
    return int(value)
