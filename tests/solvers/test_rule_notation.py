# SPDX-License-Identifier: Apache-2.0
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipoise.core.errors import EquipoiseError
from equipoise.solvers.pruning import Pruning, PruningKind
from equipoise.solvers.pruning_notation import format_pruning, parse_pruning
from equipoise.solvers.rule_notation import RULES, format_discounting, parse_discounting, parse_rule
from equipoise.solvers.rules import (
    CFR,
    DCFR,
    CFRPlus,
    DCFRPlus,
    Hedge,
    LinearCFR,
    NormalHedge,
    Optimistic,
    ScheduledDCFR,
    Thresholded,
)

NUMBERS = st.floats(-50, 50) | st.sampled_from([math.inf, 1.5, 0.5])
MATCHING = st.builds(  # regrets
    DCFR, alpha=NUMBERS, beta=NUMBERS | st.just(-math.inf), gamma=st.floats(0, 50)
) | st.builds(DCFRPlus, delay=st.integers(0, 10**6))
PAIRS = st.tuples(st.floats(-50, 50), st.floats(-50, 50))
WEIGHTS = st.tuples(st.floats(0, 50), st.floats(0, 50))
SCHEDULES = st.builds(ScheduledDCFR, alpha=PAIRS, beta=PAIRS, gamma=WEIGHTS, horizon=st.integers(1, 10**6))
NORMAL_HEDGES = st.builds(NormalHedge, base=MATCHING | st.builds(Optimistic, MATCHING))
HEDGES = st.builds(Hedge, horizon=st.none() | st.integers(1, 10**6))
BASES = MATCHING | HEDGES | st.builds(NormalHedge, base=MATCHING)
THRESHOLDED = st.builds(Thresholded, MATCHING | HEDGES, st.floats(1, 50))
OPTIMISTIC = st.builds(Optimistic, BASES | THRESHOLDED)
ALL_RULES = SCHEDULES | BASES | OPTIMISTIC | NORMAL_HEDGES | THRESHOLDED


@given(rule=ALL_RULES)
def test_a_rule_s_name_reads_back(rule):
    assert parse_rule(rule.name) == rule


@pytest.mark.parametrize("name", RULES)
def test_every_rule_of_the_table_has_its_name(name):
    assert parse_rule(name).name == name


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("DCFR", DCFR()),
        (" dcfr(1.5, 0.5, 2) ", DCFR(beta=0.5)),
        ("dcfr(inf,-inf,1)", CFRPlus(gamma=1.0)),
        ("cfr+linear", CFRPlus(gamma=1.0)),
        ("dcfr+(30)", DCFRPlus(delay=30)),
        ("optimistic-lcfr", Optimistic(LinearCFR())),
        ("optimistic-cfr+", Optimistic(CFRPlus())),
        ("normal-hedge-lcfr", NormalHedge(base=LinearCFR())),
        ("normal-hedge", NormalHedge(base=CFR())),
        ("Thresholded-hedge", Thresholded(Hedge(), 2.0)),
        ("thresholded( 1.5 )-hedge(20)", Thresholded(Hedge(horizon=20), 1.5)),
        ("optimistic-thresholded(3)-cfr", Optimistic(Thresholded(CFR(), 3.0))),
    ],
)
def test_rules_as_they_are_typed(text, rule):
    assert parse_rule(text) == rule


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("dfcr", "unknown rule 'dfcr'; did you mean .*dcfr"),
        ("", "unknown rule"),
        ("optimistic-", "unknown rule"),
        ("optimistic-" * 2000 + "cfr", "a rule has a prefix once, got 'optimistic-' twice"),
        ("optimistic-normal-hedge-optimistic-cfr", "'optimistic-' twice"),
        ("optimistic-pcfr+", r"rule pcfr\+ is optimistic already"),
        ("normal-hedge-hedge", "takes the place of regret matching, and rule hedge has none"),
        ("normal-hedge-normal-hedge", "rule normal-hedge has none"),
        ("normal-hedge-optimistic-hedge(5)", r"rule optimistic-hedge\(5\) has none"),
        ("thresholded(2)-thresholded(3)-cfr", "'thresholded-' twice"),
        ("thresholded(2)-normal-hedge", "known for Hedge and regret matching, got rule normal-hedge"),
        ("normal-hedge-thresholded(2)-cfr", r"got thresholded\(2\)-cfr in NormalHedge"),
        ("thresholded(0.5)-cfr", "factor must be at least 1 and finite, got 0.5"),
        ("thresholded(1,2)-cfr", "thresholded takes factor"),
        ("thresholded(x)-cfr", "hold numbers"),
        ("optimistic(2)-cfr", "optimistic takes no numbers"),
        ("dcfr(1.5,0", "in parentheses"),
        ("dcfr(1.5,0)", "takes alpha, beta, gamma"),
        ("dcfr(a,b,c)", "hold numbers"),
        ("cfr(1)", "takes no numbers"),
        ("dcfr+(2.5)", "whole number"),
        ("dcfr(1,1,-1)", "gamma must be at least 0"),
    ],
)
def test_bad_rules_say_what_is_wrong(text, message):
    with pytest.raises(EquipoiseError, match=message):
        parse_rule(text)


@pytest.mark.parametrize("text", ["cfr", "lcfr", "initial", "lcfr(5000)", "initial(70)", "floored(300)", "discounted"])
def test_discounting_reads_back(text):
    assert format_discounting(parse_discounting(text)) == text


@pytest.mark.parametrize(
    "text", ["dcfr", "cfr(5)", "lcfr(5", "lcfr(5,6)", "lcfr(0)", "lcfr(x)", "lcfr(1e300)", "lcfr(inf)"]
)
def test_bad_discounting_is_refused(text):
    with pytest.raises(EquipoiseError):
        parse_discounting(text)


@pytest.mark.parametrize(
    "text",
    [
        "partial",
        "rbp",
        "rbp(10)",
        "brp(25,0.1)",
        "brp(25,0,1)",
        "zero-reach-partial",
        "strict-zero-reach-rbp(2.5)",
        "once-eager-zero-reach-rbp(1)",
    ],
)
def test_prunings_read_back(text):
    assert format_pruning(parse_pruning(text)) == text


def test_what_a_pruning_does_anyway_is_not_named():
    assert [format_pruning(parse_pruning(text)) for text in ("rbp(25)", "brp(5)")] == ["rbp", "brp"]
    assert format_pruning(Pruning(kind=PruningKind.BEST_RESPONSE, discard=0.1)) == "brp(5,0.1)"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rbp(1,2)", r"takes \(threshold\)"),
        ("brp(1", r"takes \(threshold,discard"),
        ("zero-reach", "unknown pruning"),
        ("rbp(-1)", "at least 0 iterations"),
    ],
)
def test_bad_prunings_say_what_is_wrong(text, message):
    with pytest.raises(EquipoiseError, match=message):
        parse_pruning(text)
