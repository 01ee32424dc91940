# SPDX-License-Identifier: Apache-2.0
"""Study `dcfr-endgames` on small endgames of the same format, and the settings that studies take."""

import dataclasses
import itertools
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from equipoise.apps.cli import app
from equipoise.core.errors import ConfigError
from equipoise.studies.comparisons import Comparison, Marks, compare, compare_along
from equipoise.studies.discounting.dcfr_endgames import DCFR_ENDGAMES, MARKS, RULES, EndgameConfiguration
from equipoise.studies.discounting.dcfr_toy import DCFR_TOY
from equipoise.studies.sampled_curves import KINDS
from equipoise.studies.study import Measured, Point, Size, Verdict

SUBGAMES = ("subgame3", "subgame4")
SAMPLED_CURVES = tuple(KINDS)


@pytest.fixture(scope="module")
def result(endgames):
    return DCFR_ENDGAMES.run(
        EndgameConfiguration(
            data=str(endgames),
            subgames=SUBGAMES,
            river_iterations=320,
            asymptote_iterations=1000,
            threads=1,
            sampled_runs=1,
            sampled_nodes=20_000_000,
            period_nodes=1_000_000,
        )
    )


def run_command(*arguments):
    return CliRunner().invoke(app, ["reproduce", *map(str, arguments)])


def test_every_rule_is_measured_at_every_mark_of_every_endgame(result):
    assert not result.is_partial
    rows = {(row["subgame"], row["rule"], row["at"]): row["ours"] for row in result.conclusion.rows}
    full = {(name, rule.name, mark) for name in SUBGAMES for rule in RULES for mark in (100, 316)}
    full |= {(name, rule, 1000) for name in SUBGAMES for rule in ("cfr+", "lcfr")}  # followed further
    sampled = {(f"{name}, sampled", curve, 20_000_000) for name in SUBGAMES for curve in SAMPLED_CURVES}
    assert rows.keys() == full | sampled
    assert all(value > 0 for value in rows.values())


def test_curves_fall_and_are_in_thousandths_of_a_big_blind(result):
    for curves in result.curves.values():
        for points in curves.values():
            assert points[-1][1] <= points[0][1]
            # nobody can lose more than the pot and the stacks, 225 big blinds
            assert points[0][1] < 225_000


def test_curves_are_measured_so_densely_that_peaks_are_seen(result):
    points = [x for x, _ in result.curves["subgame3"]["dcfr(1.5,-inf,2)"] if x >= 100]
    assert points[0] == 100
    assert points[-1] == 320
    assert all(after / before < 1.06 for before, after in itertools.pairwise(points))
    assert result.curves["subgame3"]["lcfr"][-1][0] == 1000


def test_a_statement_on_curves_is_judged_by_their_points():
    measured = Measured()
    for x, y in zip(range(100, 120), [2.0] * 14 + [0.5] * 6, strict=True):
        measured.add(Point(panel="p", curve="a", x=x, y=y))
        measured.add(Point(panel="p", curve="b", x=x, y=1.0))
    above = Comparison(statement="a above b", above="a", below="b", source="s", least=1.0)
    assert compare_along(above, "p", measured, start=100).verdict is Verdict.UNDECIDED
    for x in (118, 119):
        measured.add(Point(panel="p", curve="a", x=x, y=1.5))
    claim = compare_along(above, "p", measured, start=100)
    assert claim.verdict is Verdict.CONFIRMED
    assert claim.ours == "a / b: median 2.00 (0.50 to 2.00); holds at 16 of 20 points from 100 to 119"
    assert compare_along(above, "p", measured, start=114).verdict is Verdict.UNDECIDED
    below = dataclasses.replace(above, least=0.0, most=1.0)
    assert compare_along(below, "p", measured, start=100).verdict is Verdict.DENIED
    assert compare_along(above, "q", measured, start=100).verdict is Verdict.NOT_MEASURED


def test_claims_cover_both_papers_and_say_what_was_too_short(result):
    verdicts = {claim.statement: claim.verdict for claim in result.conclusion.claims}
    asymptotic = [verdict for statement, verdict in verdicts.items() if "asymptotically" in statement]
    assert asymptotic == [Verdict.NOT_MEASURED] * 2
    (dcfr,) = [verdict for text, verdict in verdicts.items() if text.startswith("subgame4: DCFR(3/2,0,2) matches")]
    assert dcfr in (Verdict.CONFIRMED, Verdict.DENIED)
    (linear,) = [verdict for text, verdict in verdicts.items() if text.startswith("subgame3: linear MCCFR beats")]
    assert linear in (Verdict.CONFIRMED, Verdict.DENIED, Verdict.UNDECIDED)
    assert any("gains more in subgame 3" in statement for statement in verdicts)
    assert any("normal-hedge-dcfr is better" in statement for statement in verdicts)  # subgame 3
    assert any("normal-hedge-dcfr is worse" in statement for statement in verdicts)  # subgame 4


@pytest.mark.parametrize(
    ("values", "iterations", "verdict"),
    [
        ((4.0, 1.0, 3.0), MARKS[-1], Verdict.CONFIRMED),
        ((4.0, 2.0, 1.0), MARKS[-1], Verdict.DENIED),
        ((4.0, 2.0, 1.0), 1000, Verdict.NOT_MEASURED),
        ((4.0, 1.0, 3.0), 1000, Verdict.CONFIRMED),
    ],
)
def test_spike_is_a_rise_over_an_earlier_value(values, iterations, verdict):
    measured = Measured()
    for x, y in zip((100, 200, 300), values, strict=True):
        measured.add(Point(panel="subgame2", curve="dcfr(1.5,-inf,2)", x=x, y=y))
    configuration = EndgameConfiguration(subgames=("subgame2",), turn_iterations=iterations)
    (claim,) = [one for one in DCFR_ENDGAMES.conclude(configuration, measured).claims if "spikes" in one.statement]
    assert claim.verdict is verdict


def test_practical_marks_are_those_from_a_hundred_to_a_thousand():
    assert list(Marks.PRACTICAL.choose(MARKS)) == [100, 316, 1000]
    assert list(Marks.LAST.choose(MARKS)) == [MARKS[-1]]


def test_comparison_without_its_marks_is_not_measured():
    measured = Measured()
    measured.add(Point(panel="p", curve="a", x=10, y=2.0))
    measured.add(Point(panel="p", curve="b", x=10, y=1.0))
    practical = Comparison(statement="a above b", above="a", below="b", source="s", least=1.0, test=Marks.PRACTICAL)
    assert compare(practical, "p", measured, (10,)).verdict is Verdict.NOT_MEASURED
    every = dataclasses.replace(practical, test=Marks.EVERY)
    assert compare(every, "p", measured, (10,)).verdict is Verdict.CONFIRMED


def test_command_takes_data_and_settings(endgames):
    settings = (
        "-p",
        "subgames=subgame3",
        "-p",
        "river_iterations=5",
        "-p",
        "threads=1",
        "-p",
        "sampled_nodes=20000000",
    )
    result = run_command("dcfr-endgames", "--data", endgames, *settings, "--json", "--quiet")
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    assert document["configuration"]["subgames"] == ["subgame3"]
    assert document["size"] == "custom"
    assert [point[0] for point in document["curves"]["subgame3"]["dcfr"]] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "needs --data DIR"),
        (("--data", "nowhere"), "no directory"),
        (("-p", "iterations=3"), "no setting 'iterations', only data, subgames"),
        (("-p", "threads=two"), "threads must be of type int, got 'two'"),
        (("-p", "threads"), "key=value"),
        (("-p", "precision=half"), "precision must be float32 or float64, got 'half'"),
        (("-p", "threads=-1"), "threads must be at least 0"),
        (("-p", "turn_iterations=0"), "iterations must be at least 1"),
        (("-p", "sampled_nodes=5"), "sampled_nodes must be at least 20,000,000"),
    ],
)
def test_bad_settings_are_refused(arguments, said):
    result = run_command("dcfr-endgames", *arguments)
    assert result.exit_code == 2
    assert said in " ".join(result.stderr.split())


def test_missing_endgame_is_named(endgames):
    result = run_command("dcfr-endgames", "--data", endgames)
    assert result.exit_code == 2
    assert "lack subgame2;" in " ".join(result.stderr.split())


def test_study_without_data_refuses_it(tmp_path: Path):
    result = run_command("dcfr-toy", "--data", tmp_path)
    assert result.exit_code == 2
    assert "no setting 'data'" in result.stderr


def test_settings_keep_their_types():
    configuration = DCFR_ENDGAMES.configure(Size.QUICK, {"subgames": "subgame1, subgame4", "threads": "2"})
    assert configuration.subgames == ("subgame1", "subgame4")
    assert configuration.threads == 2
    with pytest.raises(ConfigError, match="limit must be of type int"):
        DCFR_TOY.configure(Size.QUICK, {"limit": "1.5"})
