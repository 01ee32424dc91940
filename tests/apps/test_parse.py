# SPDX-License-Identifier: Apache-2.0

import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipoise.apps.parse import split_list
from equipoise.core.errors import ConfigError, EquipoiseError, ParseError, UnknownNameError
from equipoise.games.parameters import parse_parameters
from equipoise.games.registry import format_game, parse_game, parse_game_options
from equipoise.solvers.methods import METHODS, find_method, normalize_rule


@pytest.mark.parametrize(
    ("text", "message"),
    [
        *((text, r"a rule for egt is thresholded\(c\)") for text in ("cfr", "thresholded", "thresholded()")),
        ("thresholded(0.01", r"a rule for egt is thresholded\(c\)"),
        ("thresholded(1,2)", r"a rule for egt is thresholded\(c\)"),
        ("thresholded(x)", "hold numbers"),
        ("thresholded(-1)", "threshold must be at least 0 and finite, got -1"),
        ("thresholded(inf)", "threshold must be at least 0 and finite, got inf"),
    ],
)
def test_bad_rules_of_egt_are_refused(text, message):
    with pytest.raises(EquipoiseError, match=message):
        normalize_rule("egt", text)


@given(items=st.lists(st.sampled_from(["cfr", "dcfr(1.5,0,2)", "external:lcfr(10)"]), max_size=5))
def test_lists_split_and_join(items):
    assert split_list(", ".join(items)) == items


@pytest.mark.parametrize("pairs", [["a"], ["=1"], ["a=1", "a=2"]])
def test_bad_parameters_are_refused(pairs):
    with pytest.raises(ParseError):
        parse_parameters(pairs)


@pytest.mark.parametrize("text", ["kuhn", "kuhn(players=3)", "leduc(ranks=4,first_sizes=1,2)"])
def test_short_labels_read_back(text):
    assert format_game(parse_game(text)) == text


def test_parameters_are_given_once():
    assert parse_game_options("kuhn", ["players=3"]) == parse_game_options("kuhn(players=3)", [])
    with pytest.raises(ConfigError, match="given twice"):
        parse_game_options("kuhn(players=3)", ["players=3"])


def test_methods_say_which_rules_they_take():
    assert normalize_rule("cfr", None) == "dcfr"
    assert normalize_rule("external", "LCFR") == "lcfr"
    assert normalize_rule("egt", None) is None
    assert normalize_rule("egt", "Thresholded( 0.010 )") == "thresholded(0.01)"
    with pytest.raises(ConfigError, match="method lp takes no rule, got 'cfr'"):
        normalize_rule("lp", "cfr")
    with pytest.raises(UnknownNameError, match="unknown method 'externl'; did you mean external"):
        find_method("externl")
    assert all(method.description for method in METHODS.values())
