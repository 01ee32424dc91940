# SPDX-License-Identifier: Apache-2.0
"""`equipoise compare`: several rules or methods on one game, in a table and a plot."""

import os


def test_compare_without_a_tree(equipoise):
    command = ("compare", "phantom_tic_tac_toe", "--form", "game", "--rules", "outcome,outcome:lcfr(500)", "-n", 20)
    result = equipoise(*command, "--json", "--plot", "c.png").json
    assert [row["exploitability"] for row in result["rows"]] == [None, None]
    assert [row["sampled"]["num_infostates"] > 0 for row in result["rows"]] == [True, True]
    assert "has about" in result["why"]
    table = equipoise(*command).out
    assert "regret bound (sampled)" in table


def test_compare_draws_and_tabulates(equipoise):
    outcome = equipoise(
        "compare",
        "kuhn",
        "--rules",
        "cfr,cfr+,dcfr(1.5,0.5,2),external:lcfr,lp",
        "-n",
        200,
        "--plot",
        "c.png",
        "--json",
    )
    rows = outcome.json["rows"]
    assert [row["rule"] for row in rows] == ["cfr", "cfr+", "dcfr(1.5,0.5,2)", "lcfr", None]
    assert [row["iterations"] for row in rows] == [200, 200, 200, 200, 1]
    assert [row["method"] for row in rows][-2:] == ["external", "lp"]
    assert rows[1]["exploitability"] < rows[0]["exploitability"]
    assert os.path.getsize("c.png") > 10_000
    text = equipoise("compare", "kuhn", "--rules", "cfr,dcfr", "-n", 50).out
    assert "dcfr" in text


def test_compare_tells_what_it_found_before_a_method_that_cannot_do_the_game(equipoise):
    command = ("compare", "kuhn", "--rules", "cfr,public-chance,dcfr", "-n", 5, "--plot", "c.png", "--json")
    outcome = equipoise(*command)
    assert outcome.code == 2
    assert [row["rule"] for row in outcome.json["rows"]] == ["cfr"]
    assert os.path.exists("c.png")
    assert "error: public-chance sampling needs chance that everybody sees" in outcome.err


def test_compare_refuses_a_rule_that_is_named_twice(equipoise):
    outcome = equipoise("compare", "kuhn", "--rules", "cfr,dcfr,cfr", "-n", 5)
    assert outcome.code == 2
    assert "--rules names cfr twice: 'cfr,dcfr,cfr'" in outcome.err


def test_compare_stops_at_a_thousand_by_default(equipoise):
    assert equipoise("compare", "kuhn", "--rules", "dcfr", "--json").json["rows"][0]["iterations"] == 1000


def test_a_narrow_terminal_names_every_rule(equipoise, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    command = ("compare", "kuhn", "--rules", "external,outcome", "--seeds", 2, "-n", 100)
    table = equipoise(*command).out
    assert "external" in table
    assert "seeds: best ... worst" in table
    assert "…" not in table
