# SPDX-License-Identifier: Apache-2.0
import pytest

from equipoise.core.errors import ConfigError
from equipoise.learning.rebel.runs import SHIPPED, RebelRun, list_shipped
from equipoise.studies.learning.rebel_games import (
    GAMES,
    PRINTED,
    REBEL_LEDUC,
    REBEL_LIARS_DICE,
    RebelConfiguration,
)
from equipoise.studies.study import Verdict


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
    assert rows["full-game FP"]["ours"] == pytest.approx(PRINTED["liars-dice-1x4"][0], abs=0.005)


def test_unknown_games_are_refused():
    with pytest.raises(ConfigError, match="the games are liars-dice-1x4"):
        REBEL_LEDUC.run(RebelConfiguration(games=("poker",)))
