# SPDX-License-Identifier: Apache-2.0
import dataclasses

import pytest

from equipoise.core.errors import ConfigError, UnknownNameError
from equipoise.core.runs import RunFolder
from equipoise.games.registry import parse_game
from equipoise.learning.rebel.runs import SHIPPED, RebelRun, list_shipped
from equipoise.learning.rebel.settings import BeliefMethod, change_settings, find_preset, with_method
from equipoise.studies.learning.rebel_choices import REBEL_CHOICES, RebelChoicesConfiguration
from equipoise.studies.learning.rebel_choices import SAID as CHOSEN
from equipoise.studies.learning.rebel_choices import conclude as compare_choices
from equipoise.studies.learning.rebel_games import (
    GAMES,
    PRINTED,
    REBEL_LEDUC,
    REBEL_LIARS_DICE,
    RebelConfiguration,
    _read_trainings,
)
from equipoise.studies.learning.rebel_teh import (
    CURVES,
    LEARNT,
    LINEAR,
    NETS,
    REBEL_TEH,
    TABLE,
    TurnEndgameConfiguration,
    conclude,
)
from equipoise.studies.study import Measured, Point, Verdict


def test_runs_of_the_package_play_their_games():
    assert {"leduc", "liars-dice-1x4", "liars-dice-1x5", "liars-dice-1x6"} <= set(list_shipped())
    for name in list_shipped():
        run = RebelRun.open(SHIPPED / name)
        assert run.searcher().game.num_kinds == run.net.config.kinds
        assert name in GAMES
        assert run.net.card["measured"]["playthroughs"] >= 1024
        assert run.net.card["measured"]["exploitability"] < (PRINTED[name][2] if name in PRINTED else 0.015)


def test_leduc_is_below_the_mark():
    result = REBEL_LEDUC.run(RebelConfiguration(games=("leduc",), playthroughs=1024))
    (claim,) = result.conclusion.claims
    assert claim.verdict is Verdict.CONFIRMED
    rows = {row["method"]: row["ours"] for row in result.conclusion.rows}
    assert rows["ReBeL CFR-D, at least"] <= rows["ReBeL CFR-D"] < 15
    assert rows["full-game CFR"] < rows["full-game FP"]


def test_whole_games_of_dice_come_out_as_printed():
    result = REBEL_LIARS_DICE.run(RebelConfiguration(playthroughs=8))
    rows = {row["method"]: row for row in result.conclusion.rows}
    assert rows["full-game CFR"]["ours"] < 0.0015
    assert rows["full-game CFR"]["ours"] < rows["full-game FLOP"]["ours"] < rows["full-game FP"]["ours"]
    assert rows["full-game FP"]["ours"] == pytest.approx(PRINTED["liars-dice-1x4"][0], abs=0.005)


def test_unknown_games_are_refused():
    with pytest.raises(ConfigError, match="the games are liars-dice-1x4"):
        REBEL_LEDUC.run(RebelConfiguration(games=("poker",)))


def test_turn_endgames_come_out_in_the_thesis_order():
    result = REBEL_TEH.run(TurnEndgameConfiguration(board="JhTsQsKh", deck="tiny", marks=(8, 64), examples=0))
    verdicts = [claim.verdict for claim in result.conclusion.claims]
    assert verdicts == [Verdict.CONFIRMED] * 2 + [Verdict.NOT_MEASURED] * 4
    assert [row["iterations"] for row in result.conclusion.rows] == [8, 64]
    assert result.conclusion.rows[1]["FLOP"] < result.conclusion.rows[0]["FLOP"] / 5


def test_verdicts_on_turn_endgames_follow_the_points():
    configuration = TurnEndgameConfiguration(marks=(4,))
    measured = Measured()
    for curve, y in zip(CURVES, (3.0, 2.0, 9.0), strict=True):
        measured.add(Point(panel="exact", curve=curve, x=4, y=y))
    verdicts = [claim.verdict for claim in conclude(configuration, measured).claims]
    assert verdicts == [Verdict.DENIED, Verdict.CONFIRMED, *[Verdict.NOT_MEASURED] * 4]
    assert {claim.verdict for claim in conclude(configuration, Measured()).claims} == {Verdict.NOT_MEASURED}


def test_learnt_values_are_held_against_iterations_of_linear_cfr():
    configuration = TurnEndgameConfiguration(marks=(64,), playthroughs=16)
    measured = Measured()
    for mark, y in ((16, 40.0), (32, 20.0), (64, 5.0)):
        measured.add(Point(panel=TABLE, curve=LINEAR, x=mark, y=y))
    for curve, y in zip(NETS, (10.0, 7.0, 15.0, 11.0, 12.0), strict=True):
        measured.add(Point(panel=LEARNT, curve=curve, x=16, y=y))
    matched, random, policy, modified = conclude(configuration, measured).claims[2:]
    assert (matched.verdict, matched.ours) == (Verdict.CONFIRMED, "32 iterations (10 mbb)")
    assert (random.verdict, random.ours) == (Verdict.DENIED, "15 against 10 mbb")
    assert (policy.verdict, modified.verdict) == (Verdict.CONFIRMED, Verdict.DENIED)


def test_values_of_a_turn_endgame_are_learnt():
    pytest.importorskip("torch", reason="learning needs torch")
    few = TurnEndgameConfiguration(board="JhTsQsKh", deck="tiny", marks=(2, 8), examples=200, playthroughs=1)
    result = REBEL_TEH.run(few)
    assert not result.is_partial
    learnt = result.curves[LEARNT]
    assert set(learnt) == set(NETS)
    uniform = result.curves[TABLE][LINEAR][0][1]
    assert all(0.0 < y < uniform for points in learnt.values() for _, y in points)


def test_choices_of_self_play_are_compared():
    pytest.importorskip("torch", reason="learning needs torch")
    small = RebelChoicesConfiguration(
        game="liars_dice(dice=1,faces=3)",
        examples=2100,
        playthroughs=8,
        choices=("preset", "random", "policy", "fp"),
        tests=("averages", "depth-4"),
    )
    result = REBEL_CHOICES.run(small)
    assert not result.is_partial
    assert len(result.conclusion.rows) == 6
    assert all(0.0 <= row["exploitability"] + 1e-6 < 0.9 for row in result.conclusion.rows)


def test_verdicts_on_choices_need_a_difference():
    configuration = RebelChoicesConfiguration(seeds=2)
    for ratios, verdict in (
        ((2.0, 3.0), Verdict.CONFIRMED),
        ((0.5, 0.8), Verdict.DENIED),
        ((0.5, 3.0), Verdict.UNDECIDED),
        ((1.02, 1.05), Verdict.UNDECIDED),
    ):
        measured = Measured()
        for run, ratio in enumerate(ratios):
            for curve, y in ((CHOSEN["preset"], 0.01), (CHOSEN["random"], 0.01 * ratio)):
                measured.add(Point(panel="exploitability", curve=curve, x=configuration.examples, y=y, run=run))
        assert compare_choices(configuration, measured).claims[0].verdict is verdict


def test_unknown_choices_are_refused():
    with pytest.raises(UnknownNameError, match="unknown choice 'none'"):
        RebelChoicesConfiguration(choices=("none",))
    with pytest.raises(UnknownNameError, match="unknown test 'none'"):
        RebelChoicesConfiguration(tests=("none",))


@pytest.mark.parametrize(
    ("changes", "message"),
    [({"marks": ()}, "marks must be at least 1, got none"), ({"board": "9sJhTc"}, "begins with 4 cards, got '9sJhTc'")],
)
def test_turn_endgames_that_cannot_be_are_refused(changes, message):
    with pytest.raises(ConfigError, match=message):
        TurnEndgameConfiguration(**changes)


def _write_training(folder, name, settings, tests):
    config = {"game": "liars_dice(faces=4)", "settings": settings.as_dict(), "preset": "small"}
    run = RunFolder.create(folder / name, "rebel", config)
    with run.writing():
        for examples, seconds, found in tests:
            figures = {"examples": examples, "cpu_seconds": seconds, "exploitability": found, "playthroughs": 64}
            run.record("measured", **figures)


def test_trainings_of_a_folder_are_read_by_method_and_seed(tmp_path):
    small = find_preset("small")
    by_play = change_settings(small, with_method(BeliefMethod.FP, "lcfr"))
    for seed, found in enumerate((0.01, 0.02, 0.03)):
        tests = [(300_000, 60.0, 0.1), (600_000, 120.0 + seed, found)]
        _write_training(tmp_path, f"seed-{seed}", dataclasses.replace(small, seed=seed), tests)
    _write_training(tmp_path, "fp", by_play, [(600_000, 100.0, 0.05)])
    _write_training(tmp_path, "unfinished", small, [(300_000, 60.0, 0.001)])
    configuration = RebelConfiguration(playthroughs=8, runs=str(tmp_path))
    measured = Measured()
    for point in _read_trainings("liars-dice-1x4", parse_game(GAMES["liars-dice-1x4"]), configuration):
        measured.add(point)
    assert measured.runs("liars-dice-1x4", "ReBeL CFR-D, seeds", 64) == [0.01, 0.02, 0.03]
    assert measured.panels()["liars-dice-1x4, CPU seconds of training"]["ReBeL CFR-D, seeds 2"] == [
        (60, 0.1),
        (122, 0.03),
    ]
    conclusion = REBEL_LIARS_DICE.conclude(configuration, measured)
    rows = {row["method"]: row for row in conclusion.rows}
    cfr = rows["ReBeL CFR-D, seeds 0, 1, 2"]
    assert (cfr["ours"], cfr["deviation"], cfr["printed"]) == (0.02, 0.01, 0.017)
    assert (cfr["CPU minutes"], cfr["tested by"]) == (2.0, "cfr-d by dcfr, 512 iterations")
    assert rows["ReBeL FP, seeds 0"]["printed"] == 0.041
    assert [claim.verdict for claim in conclusion.claims] == [Verdict.NOT_MEASURED, Verdict.DENIED]
    with pytest.raises(ConfigError, match="runs must be a folder of trainings"):
        _read_trainings("leduc", parse_game("leduc"), RebelConfiguration(runs=str(tmp_path / "none")))
