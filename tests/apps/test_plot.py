# SPDX-License-Identifier: Apache-2.0
"""`equipoise plot`, and what `reproduce` says before anything is run."""

import json
from pathlib import Path

import pytest

from equipoise.studies.costs import load_costs
from equipoise.studies.registry import STUDIES

RESULTS = Path(__file__).parents[2] / "docs" / "results"


@pytest.fixture
def runs(equipoise):
    """Leaves a run in a file, one in a folder and a comparison."""
    equipoise("solve", "kuhn", "--iterations", 40, "--rule", "cfr", "--out", "a.eq", "-q")
    equipoise("solve", "kuhn", "--iterations", 40, "--run", "folder", "-q")
    Path("c.json").write_text(equipoise("compare", "kuhn", "--rules", "cfr,external", "-n", 20, "--json").out)
    return equipoise


def test_runs_are_drawn_side_by_side(runs):
    assert runs("plot", "a.eq", "folder", "c.json", "-o", "c.svg").code == 0
    drawn = Path("c.svg").read_text()
    assert drawn.count("<!-- ") > 5
    for name in ("a", "folder", "cfr", "external:lcfr"):
        assert f"<!-- {name}" in drawn


def test_a_study_is_drawn_from_its_json(equipoise):
    assert equipoise("plot", RESULTS / "coin-toss.json", "-o", "c.svg", "--title", "Mine").code == 0
    assert "<!-- Mine -->" in Path("c.svg").read_text()
    assert "c.svg exists" in equipoise("plot", RESULTS / "coin-toss.json", "-o", "c.svg").err


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (["nope.eq"], "cannot read nope.eq"),
        (["nope.json"], "cannot read nope.json"),
        (["list.json"], "got a list or a number"),
        (["broken.json"], "is no JSON"),
        (["other.json"], "nothing in it converges"),
        (["torn.json"], "cannot be read"),
        (["a.eq", str(RESULTS / "coin-toss.json")], "alone"),
        (["match.eq"], "holds a match"),
    ],
)
def test_what_cannot_be_drawn_is_said(runs, files, said):
    for name, text in {"list": "[1]", "broken": "{", "other": '{"a": 1}', "torn": '{"progress": [{"b": 2}]}'}.items():
        Path(f"{name}.json").write_text(text)
    runs("match", "call", "fold", "--game", "kuhn", "-n", 10, "--out", "match.eq", "-q")
    done = runs("plot", *files, "-o", "x.png")
    assert done.code == 2
    assert said in " ".join(done.err.split())


def test_studies_are_listed_by_paper_with_what_they_take(equipoise):
    rows = equipoise("reproduce", "--json").json
    papers = {row["name"]: row["paper"] for row in rows}
    assert papers["coin-toss"] == "Brown 2020"
    assert papers["aivat"].endswith("Bowling 2018")
    assert papers["storage-floor"] == "this project"
    assert {row["name"] for row in rows if row["data"]} == {"dcfr-endgames", "pluribus-habits", "storage-floor"}
    costs = {row["name"]: row["quick"] for row in rows}
    assert costs["coin-toss"]["cpu_seconds"] > 0
    assert costs["coin-toss"]["peak_bytes"] > 10**7
    shown = equipoise("reproduce").out
    assert shown.index("Brown 2020\n") < shown.index("Davis 2015\n")


def test_costs_are_of_studies_that_there_are():
    assert set(load_costs()) <= set(STUDIES)
    assert json.dumps(load_costs())
