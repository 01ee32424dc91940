# SPDX-License-Identifier: Apache-2.0
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipoise.core.errors import EquipoiseError
from equipoise.solvers.pruning_notation import format_sampled_pruning, parse_sampled_pruning


@given(
    kind=st.sampled_from(["rbs", "libratus", "pluribus"]),
    prefix=st.sampled_from(["", "weighted-"]),
    threshold=st.floats(-1e6, 0),
    second=st.integers(1, 10**9),
    third=st.integers(0, 10**14),
)
def test_a_pruning_of_sampled_runs_reads_back(kind, prefix, threshold, second, third):
    middle = second / 1e10 if kind == "pluribus" else second
    if kind == "rbs":  # the last number is where its window ends, after the second
        third += second + 1
    pruning = parse_sampled_pruning(f"{prefix}{kind}({threshold:.17g},{middle:.17g},{third})")
    assert parse_sampled_pruning(format_sampled_pruning(pruning)) == pruning
    assert (pruning.threshold, pruning.is_weighted) == (threshold, bool(prefix))


@pytest.mark.parametrize("name", ["rbs", "libratus", "pluribus", "weighted-libratus"])
def test_a_pruning_without_numbers_has_its_name(name):
    assert format_sampled_pruning(parse_sampled_pruning(name.upper())) == name


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("librat", "libratus"),
        ("libratus(1", "takes threshold, softness, first_node in parentheses or none"),
        ("rbs(-1)", "takes threshold, first_node, end_node in parentheses or none"),
        ("rbs(-1,0.5,10)", "first_node must be a whole number"),
        ("libratus(5,1,0)", "threshold must be finite and at most 0, got 5"),
        ("pluribus(-5,1,0)", "probability must be at least 0 and below 1, got 1"),
        ("libratus(a,b,c)", "parentheses hold numbers"),
    ],
)
def test_a_bad_pruning_is_refused(text, message):
    with pytest.raises(EquipoiseError, match=message):
        parse_sampled_pruning(text)
