# SPDX-License-Identifier: Apache-2.0
"""The frame of studies, and the three first ones at small sizes with what their sources state."""

import dataclasses
import json
from pathlib import Path

import pytest

from equipoise.apps.display import make_console
from equipoise.core.errors import CheckpointError, ConfigError, UnknownNameError
from equipoise.evaluation.plots import PanelLabels, plot_panels
from equipoise.solvers.rule_notation import parse_rule
from equipoise.studies.discounting.dcfr_goofspiel import DCFR_GOOFSPIEL, GoofspielConfiguration
from equipoise.studies.discounting.dcfr_toy import DCFR_TOY, ToyConfiguration, find_certainty
from equipoise.studies.discounting.liars_dice_baselines import LIARS_DICE_BASELINES, LiarsDiceConfiguration
from equipoise.studies.registry import STUDIES, find_study
from equipoise.studies.report import check_output_directory, print_result, write_result
from equipoise.studies.study import Measured, Point, Size, StudyResult, Verdict
from tests.studies.squares import SQUARES, Squares

RESULTS = Path(__file__).parents[2] / "docs" / "results"


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("EQUIPOISE_CACHE", str(tmp_path / "cache"))


def verdicts(result):
    return {claim.statement: claim.verdict for claim in result.conclusion.claims}


def find_verdict(result, *words):
    (found,) = [verdict for text, verdict in verdicts(result).items() if all(word in text for word in words)]
    return found


@pytest.fixture(scope="module")
def goofspiel():
    return DCFR_GOOFSPIEL.run(GoofspielConfiguration(iterations=300, runs=3))


@pytest.fixture(scope="module")
def liars_dice():
    return LIARS_DICE_BASELINES.run(LiarsDiceConfiguration(games=("1x4f", "1x5f")))


@pytest.fixture(scope="module")
def toy():
    return DCFR_TOY.run(Size.QUICK)


def test_run_reports_progress_and_keeps_everything():
    seen = []
    result = SQUARES.run(Size.QUICK, lambda fraction, text: seen.append((fraction, text)))
    assert seen == [(0.25, "1"), (0.5, "2"), (0.75, "3"), (1.0, "4")]
    assert not result.is_partial
    assert result.configuration == {"count": 4}
    assert result.curves == {"squares": {"n^2": [(1, 1.0), (2, 4.0), (3, 9.0), (4, 16.0)]}}
    assert verdicts(result) == {"squares grow": Verdict.CONFIRMED}
    assert result.as_json().keys() >= {"study", "seed", "version", "commit", "machine", "configuration", "claims"}


def test_interruption_keeps_what_was_measured():
    steps = iter([False, True])
    result = SQUARES.run(Size.FULL, is_interrupted=lambda: next(steps))
    assert result.is_partial
    assert result.curves == {"squares": {"n^2": [(1, 1.0), (2, 4.0)]}}
    assert verdicts(result) == {"squares grow": Verdict.NOT_MEASURED}


def test_keyboard_interrupt_within_a_step_keeps_what_was_measured():
    def interrupt(fraction, text):
        if text == "3":
            raise KeyboardInterrupt

    result = SQUARES.run(Size.QUICK, interrupt)
    assert result.is_partial
    assert len(result.curves["squares"]["n^2"]) == 3


def test_files_hold_the_result(tmp_path, capsys):
    result = SQUARES.run(Size.QUICK, is_interrupted=lambda: True)
    paths = write_result(SQUARES, result, tmp_path)
    assert [path.name for path in paths] == ["squares.json", "squares.png", "squares.txt"]
    document = json.loads(paths[0].read_text())
    assert document["is_partial"]
    assert document["rows"] == [{"n": 4, "ours": None, "paper": 16.0}]
    assert paths[1].read_bytes().startswith(b"\x89PNG")
    assert "partial" in paths[2].read_text()
    print_result(result, make_console(is_stderr=False))
    assert "not measured" in capsys.readouterr().out


def test_medians_over_runs():
    measured = Measured()
    for run, value in enumerate((1.0, 5.0, 3.0)):
        measured.add(Point(panel="p", curve="c", x=1, y=value, run=run))
    assert measured.at("p", "c", 1) == 3.0
    assert measured.runs("p", "c", 1) == [1.0, 3.0, 5.0]
    assert measured.ratio("p", "c", "c", 1) == 1.0
    assert measured.ratio("p", "c", "other", 1) is None


def test_ratios_pair_the_runs():
    measured = Measured()
    for run, (above, below) in enumerate(((2.0, 1.0), (3.0, 6.0))):
        measured.add(Point(panel="p", curve="a", x=1, y=above, run=run))
        measured.add(Point(panel="p", curve="b", x=1, y=below, run=run))
    measured.add(Point(panel="p", curve="a", x=1, y=9.0, run=2))
    assert measured.run_ratios("p", "a", "b", 1) == [0.5, 2.0]


@pytest.mark.parametrize(
    ("shares", "verdict"),
    [
        ((2.0, 3.0), Verdict.CONFIRMED),
        ((1.0, 1.2), Verdict.DENIED),
        ((1.0, 3.0), Verdict.UNDECIDED),
        ((), Verdict.NOT_MEASURED),
    ],
)
def test_goofspiel_claims_need_all_runs_to_agree(shares, verdict):
    measured = Measured()
    for run, share in enumerate(shares):
        measured.add(Point(panel="Goofspiel, 5 cards", curve="cfr+", x=100, y=1.0, run=run))
        measured.add(Point(panel="Goofspiel, 5 cards", curve="lcfr", x=100, y=share, run=run))
    conclusion = DCFR_GOOFSPIEL.conclude(GoofspielConfiguration(iterations=100), measured)
    found = {claim.statement: claim.verdict for claim in conclusion.claims}
    assert found["LCFR does poorly in Goofspiel (ratio at least 1.5 at every mark)"] is verdict


def test_study_without_a_size_is_refused():
    with pytest.raises(ConfigError, match="lacks size full"):
        dataclasses.replace(SQUARES, sizes={Size.QUICK: Squares()})


@pytest.mark.parametrize("name", ["dcfr-toy", "liars-dice-baselines", "rebel-liars-dice"])
def test_pictures_show_the_figures_of_the_text(name):
    stored = StudyResult.from_json(json.loads((RESULTS / f"{name}.json").read_text()))
    axes = plot_panels(
        {panel: curves for panel, curves in stored.curves.items() if panel in find_study(name).printed},
        labels=PanelLabels("x", "y"),
        printed=find_study(name).printed,
    ).axes
    assert any(line.get_label() == "in the paper" for line in axes[0].lines)
    for panel, curves in find_study(name).printed.items():
        assert set(stored.curves.get(panel, curves)) & set(curves), panel  # the same names


def test_registry_knows_each_study_by_its_name():
    assert all(find_study(name).name == name for name in STUDIES)
    with pytest.raises(UnknownNameError, match="did you mean dcfr-toy"):
        find_study("dcfr-toys")


@pytest.mark.parametrize(("rule", "iteration"), [("cfr+", 471_407), ("lcfr", 972), ("dcfr", 52_127)])
def test_toy_is_certain_at_the_published_iteration(rule, iteration):
    *_, (last, missing) = find_certainty(parse_rule(rule), limit=500_000)
    assert last == iteration
    assert missing == 0.0


def test_toy_that_reaches_its_limit_claims_nothing():
    result = DCFR_TOY.run(ToyConfiguration(rules=("cfr+",), limit=100))
    assert not result.is_partial
    assert find_verdict(result, "cfr+ plays") is Verdict.NOT_MEASURED
    assert result.conclusion.rows[0]["ours"] is None


def test_toy_confirms_the_text(toy):
    assert [row["ours"] for row in toy.conclusion.rows] == [471_407, 972, 52_127]
    assert find_verdict(toy, "cfr+ plays") is Verdict.CONFIRMED
    assert find_verdict(toy, "lcfr plays") is Verdict.CONFIRMED
    assert find_verdict(toy, "after iteration 1") is Verdict.CONFIRMED
    assert find_verdict(toy, "after iteration 2") is Verdict.CONFIRMED
    assert find_verdict(toy, "dcfr needs") is Verdict.NOT_STATED


def test_goofspiel_orderings_of_the_text(goofspiel):
    assert find_verdict(goofspiel, "essentially identical") is not Verdict.DENIED
    assert find_verdict(goofspiel, "LCFR does poorly") is Verdict.CONFIRMED
    assert find_verdict(goofspiel, "asymptotically") is Verdict.CONFIRMED
    assert find_verdict(goofspiel, "LCFR+ is worse than LCFR") is Verdict.DENIED


def test_goofspiel_is_near_the_reference(goofspiel):
    for row in goofspiel.conclusion.rows:
        assert row["smallest"] <= row["ours"] <= row["largest"]
        assert row["paper"] is None
        assert 1 / 2 < row["ours"] / row["reference"] < 2  # ties make single runs differ by tens of percent


def test_goofspiel_of_another_size_has_no_reference():
    result = DCFR_GOOFSPIEL.run(GoofspielConfiguration(cards=3, iterations=20, marks=(10, 20), runs=1))
    assert {row["reference"] for row in result.conclusion.rows} == {None}


def test_liars_dice_order_of_the_figure(liars_dice):
    assert find_verdict(liars_dice, "FLOP outperforms linear FP") is Verdict.CONFIRMED
    assert find_verdict(liars_dice, "does not match the quality of linear CFR") is Verdict.CONFIRMED
    assert find_verdict(liars_dice, "much faster than FP") is Verdict.CONFIRMED


def test_liars_dice_table_is_not_optimistic(liars_dice):
    assert find_verdict(liars_dice, "Full-game CFR is lcfr, half") is Verdict.CONFIRMED
    assert find_verdict(liars_dice, "Full-game FP is linear-fp, half") is Verdict.CONFIRMED
    assert find_verdict(liars_dice, "Full-game FP is flop, half") is Verdict.DENIED
    assert find_verdict(liars_dice, "Full-game FP is flop, full") is Verdict.DENIED


def test_liars_dice_is_near_the_reference(liars_dice):
    rows = [row for row in liars_dice.conclusion.rows if row["reference"] and row["algorithm"] != "lcfr"]
    assert rows
    for row in rows:
        assert row["ours"] == pytest.approx(row["reference"], rel=0.3)  # ties among best responses are open


def test_check_of_the_output_directory_names_it(tmp_path):
    (tmp_path / "squares.json").mkdir()
    with pytest.raises(CheckpointError, match=r"squares\.json"):
        check_output_directory(tmp_path, "squares")
