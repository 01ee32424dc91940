# SPDX-License-Identifier: Apache-2.0
"""Responses as text: what is read is what was written, and errors say where."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipoise.core.errors import ConfigError, EquipoiseError, ParseError
from equipoise.games.kuhn import Kuhn
from equipoise.responses.arguments import WORD
from equipoise.responses.exact import BestResponse, StaticResponse
from equipoise.responses.mixtures import AverageResponse, MixedResponse
from equipoise.responses.notation import ResponseSpec, format_response, parse_response, parse_responses
from equipoise.responses.on_tree import OnTree
from equipoise.solvers.strategy import TabularStrategy
from equipoise.trees.history import build_history_tree

KUHN = build_history_tree(Kuhn())

probabilities = st.floats(0, 1)
counts = st.integers(0, 10**15)
paths = st.from_regex(r"[a-z][a-z0-9_./-]{0,12}\.eq", fullmatch=True).map(Path)
patterns = st.sampled_from(["[JQK]", "J|Q", "(J|Q), K", r"\(x", "a+b"])


def spec(name, *arguments):
    return ResponseSpec(text="", name=name, arguments=arguments)


leaves = st.one_of(
    st.sampled_from(["best", "uniform", "call", "domination"]).map(spec),
    paths.map(lambda path: spec("static", path)),
    st.lists(paths, min_size=1, max_size=3).map(lambda files: spec("library", tuple(files))),
    st.tuples(counts, st.floats(0, 1e100)).map(lambda pair: spec("uct", *pair)),
    counts.map(lambda count: spec("fbr", count)),
    patterns.map(lambda pattern: spec("abstract", pattern)),
    st.tuples(probabilities, paths).map(lambda pair: spec("rnr", *pair)),
    st.tuples(probabilities, counts | st.just(WORD), paths).map(lambda triple: spec("dbr", *triple)),
)
responses = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.tuples(probabilities, inner, inner).map(lambda triple: spec("mix", *triple)),
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: spec("average", tuple(parts))),
    ),
    max_leaves=5,
)


@given(responses)
def test_what_is_written_is_read_as_the_same(response):
    text = format_response(response)
    assert parse_response(text) == response
    assert parse_response(text).text == text
    assert parse_response(f"  {text} ") == response


@given(st.lists(responses, min_size=1, max_size=4))
def test_lists_are_taken_apart_where_responses_begin(several):
    text = ", ".join(map(format_response, several))
    assert parse_responses(text) == tuple(several)


@given(st.text(alphabet="mixbest:,()+0.5 \\averg", max_size=30))
def test_any_text_is_read_or_refused(text):
    try:
        found = parse_response(text)
    except EquipoiseError:
        return
    assert parse_response(format_response(found)) == found


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mix:0.5,(ukt:100),(best)", r"unknown response 'ukt'; did you mean uct\? \(at character 10 of 'mix:"),
        ("mix:2,(best),(best)", r"from 0 to 1, got '2' \(at character 5 of"),
        ("mix:0.5,(best)", r"must be written mix:P,\(A\),\(B\), got"),
        ("mix:0.5,(uct:1.5),(best)", r"iterations of UCT must be a whole number .* \(at character 14 of"),
        ("mix:0.5,(mix:0.1,(best),(fbr:x)),(best)", r"hands of FBR .*, got 'x' \(at character 30 of"),
        ("average:best+", r"an average must be written A\+B\+\.\.\., got 'best\+' \(at character 9 of"),
        ("mix:0.5,(mimic:0.5,a.eq),(best)", r"learns as it plays: it stands alone \(at character 10 of"),
        ("mix:0.5,(best,(uniform)", r"parentheses must close around a response, got '\(best' \(at character 9 of"),
    ],
)
def test_errors_say_where(text, message):
    with pytest.raises((ParseError, ConfigError), match=message):
        parse_response(text)


def test_parentheses_may_be_left_out_where_there_is_no_comma():
    assert parse_response("mix:0.5,best,fbr:10") == parse_response("mix:0.5,(best),(fbr:10)")
    assert parse_response("average:a.eq+best") == parse_response("average:(static:a.eq)+(best)")


def test_responses_within_others_are_bound(tmp_path):
    on_tree = OnTree(KUHN)
    model = on_tree.form.uniform()
    file = tmp_path / "model.eq"
    TabularStrategy.from_tree(KUHN, model).save(file)
    strategy = on_tree.kernel.normalize(np.random.default_rng(1).exponential(size=model.size))
    static, best = StaticResponse(on_tree.form, model), BestResponse(on_tree.form)
    found = parse_response(f"mix:0.3,(average:{file}+best),(best)").bind(KUHN)
    expected = MixedResponse(on_tree.form, AverageResponse(on_tree.form, [static, best]), best, 0.3)
    for seat in (0, 1):
        rng = np.random.default_rng(2)
        np.testing.assert_allclose(found.respond(strategy, seat, rng), expected.respond(strategy, seat, rng))
    assert found.name == f"mix:0.3,(average:{file}+best),(best)"
    assert (found.deterministic, found.is_pretty_good) == (True, True)


def test_an_average_earns_the_mean():
    on_tree = OnTree(KUHN)
    tables = [
        on_tree.kernel.normalize(np.random.default_rng(seed).exponential(size=KUHN.sequence_start[-1]))
        for seed in (3, 4, 5)
    ]
    parts = [StaticResponse(on_tree.form, table) for table in tables[:2]]
    for seat in (0, 1):
        values = [on_tree.value(part.respond(tables[2], seat, None), seat) for part in parts]
        answer = AverageResponse(on_tree.form, parts).respond(tables[2], seat, None)
        assert on_tree.value(answer, seat) == pytest.approx(np.mean(values), abs=1e-12)
    with pytest.raises(ConfigError, match="at least one"):
        AverageResponse(on_tree.form, [])


def test_files_of_nested_responses_are_part_of_the_digest(tmp_path):
    first, second = tmp_path / "a.eq", tmp_path / "b.eq"
    first.write_bytes(b"a")
    second.write_bytes(b"b")
    text = f"mix:0.5,(static:{first}),(rnr:0.5,{second})"
    before = parse_response(text).digest()
    second.write_bytes(b"c")
    assert before != parse_response(text).digest()
    assert parse_response("mix:0.5,best,uniform").digest() is None
    assert parse_response("mix:0.5,best,fbr:5").is_sampled
