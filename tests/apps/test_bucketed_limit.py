# SPDX-License-Identifier: Apache-2.0
"""Bucketed limit hold'em on the command line: its public states are swept without a word, saved, graded, trained."""

import pytest

from equipoise.runs import preparation

SMALL = ["bucketed_limit_holdem", "-p", "buckets=2", "-p", "streets=2", "-p", "max_raises=2,1,0,0"]


def test_public_states_are_swept_without_a_word(equipoise, tmp_path):
    file = tmp_path / "small.run"
    first = equipoise("solve", *SMALL, "-n", 5, "-o", file, "--json")
    again = equipoise("solve", *SMALL, "-n", 9, "-o", file, "--resume", "--json")
    whole = equipoise("solve", *SMALL, "-n", 9, "--json")

    assert first.json["form"] == "vector"
    assert first.json["num_histories"] is None
    assert again.json["exploitability"] == whole.json["exploitability"] < first.json["exploitability"]
    assert "information sets, vector tree" in first.err
    evaluated = equipoise("evaluate", file, "--json").json
    assert evaluated["exploitability"] == pytest.approx(again.json["exploitability"], rel=1e-12)


def test_both_forms_of_a_small_variant_agree(equipoise):
    values = [
        equipoise("solve", *SMALL, "-n", 10, "--form", form, "--json").json["exploitability"]
        for form in ("vector", "history")
    ]

    assert values[0] == pytest.approx(values[1], rel=1e-9)


def test_milli_blinds_are_said(equipoise):
    assert "mbb/h" in equipoise("solve", *SMALL, "-n", 3).out


def test_training_and_grading(equipoise, tmp_path):
    file = tmp_path / "trained.run"
    trained = equipoise(
        "solve", *SMALL, "--against", "fbr:20", "--updates-per-response", 3, "-n", 6, "-o", file, "--json"
    )
    rows = equipoise("evaluate", file, "--responses", "call,uct:50,fbr:50,best", "--num-responses", 3, "--json").json[
        "responses"
    ]

    assert trained.json["updates_per_response"] == 3
    assert [row["response"] for row in rows] == ["call", "uct:50", "fbr:50", "best"]


def test_too_many_histories_are_refused_before_they_are_listed(equipoise):
    outcome = equipoise("solve", "bucketed_limit_holdem", "--form", "history")

    assert outcome.code == 2
    assert "Its public states fit: --form vector" in outcome.err


def test_a_missing_law_is_counted_first(equipoise, monkeypatch):
    counted = []
    monkeypatch.setattr(preparation, "has_law", lambda buckets: False)
    monkeypatch.setattr(preparation, "load_or_count_law", lambda buckets, on_progress: counted.append(buckets))
    outcome = equipoise("solve", *SMALL, "-n", 2)

    assert counted == [2]
    assert "counting every deal of the cards" in outcome.err


def test_a_tree_that_does_not_fit_is_refused(equipoise, monkeypatch):
    monkeypatch.setattr("equipoise.core.memory.available_bytes", lambda: 10_000_000)
    outcome = equipoise("solve", "bucketed_limit_holdem", "-p", "buckets=3")

    assert outcome.code == 2
    assert "the tree of bucketed_limit_holdem needs 238.5 MB of memory" in outcome.err
