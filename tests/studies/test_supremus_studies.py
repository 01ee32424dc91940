# SPDX-License-Identifier: Apache-2.0
"""Studies of agents with value networks at small sizes: local best responses, matches, openings."""

import dataclasses

import numpy as np
import pytest

from equipoise.abstraction.bucketed_strategy import BucketedStrategy, BucketRecipe
from equipoise.core.errors import ConfigError, UnknownNameError
from equipoise.games.holdem.spot_game import spot_of_game
from equipoise.games.registry import parse_game
from equipoise.solvers.holdem.bucketed import BucketedSolver
from equipoise.studies.registry import STUDIES
from equipoise.studies.report import write_result
from equipoise.studies.study import Measured, Point, Size, Verdict
from equipoise.studies.values import supremus_lbr, supremus_match
from equipoise.studies.values.kept_games import name_file
from equipoise.studies.values.supremus_lbr import SUPREMUS_LBR, SupremusLbrConfiguration
from equipoise.studies.values.supremus_match import SUPREMUS_MATCH, SupremusMatchConfiguration
from equipoise.studies.values.supremus_opening import SUPREMUS_OPENING, SupremusOpeningConfiguration, find_opening
from equipoise.trees.holdem.bucketed import build_bucketed_tree

GAME = "holdem(deck=9TJQKA/cds,stacks=2000,2000,menu=all)"
AGENT = "supremus:leaves=equity;iterations=5;early=2;menu=a"


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("EQUIPOISE_CACHE", str(tmp_path / "cache"))


def test_local_best_responses_are_played_and_kept(tmp_path):
    settings = SupremusLbrConfiguration(agents=(AGENT,), hands=(8, 4), game=GAME, keep=str(tmp_path / "kept"))
    steps = iter([False, True])
    partial = SUPREMUS_LBR.run(settings, is_interrupted=lambda: next(steps))
    assert partial.is_partial
    assert {claim.verdict for claim in partial.conclusion.claims} == {Verdict.CONFIRMED, Verdict.NOT_MEASURED}
    whole = SUPREMUS_LBR.run(settings)
    assert not whole.is_partial
    assert [row["hands"] for row in whole.conclusion.rows] == [8, 4]
    alone = SUPREMUS_LBR.run(dataclasses.replace(settings, keep=""))
    assert [row["wins (mbb/g)"] for row in alone.conclusion.rows] == [
        row["wins (mbb/g)"] for row in whole.conclusion.rows
    ]
    assert len(list((tmp_path / "kept").iterdir())) == 2


def add_estimate(measured, module, curve, mean, width, hands, **others):
    panels = {module.MEANS: mean, module.WIDTHS: width, module.HANDS: hands, **others}
    for panel, y in panels.items():
        measured.add(Point(panel=panel, curve=curve, x=0, y=y))


@pytest.mark.parametrize(("mean", "verdict"), [(-50.0, Verdict.CONFIRMED), (-150.0, Verdict.DENIED)])
def test_beaten_is_an_interval_below_nothing(mean, verdict):
    settings, measured = SupremusLbrConfiguration(agents=("supremus", "deepstack"), hands=(100, 4)), Measured()
    for agent, own in (("supremus", mean), ("deepstack", mean - 400.0)):
        curve = supremus_lbr.name_curve(agent, "fc")
        add_estimate(measured, supremus_lbr, curve, own, 100.0, 100, **{supremus_lbr.ERRORS: 51.0})
    conclusion = SUPREMUS_LBR.conclude(settings, measured)
    first, second, both = conclusion.claims
    assert first.verdict is verdict
    assert second.verdict is Verdict.DENIED
    assert both.verdict is Verdict.CONFIRMED
    assert conclusion.rows[0]["paper"] == "+951 ± 96 (one error)"


def test_matches_are_played_and_kept(tmp_path):
    settings = SupremusMatchConfiguration(
        agent=AGENT,
        opponents=("call", "pushfold", "deepstack:leaves=equity;iterations=5;early=2;menu=a"),
        hands=(8, 6, 4),
        precisions=(0.0, 0.0, 0.0),
        seconds=(5.0, 0.0, 0.0),
        game=GAME,
        keep=str(tmp_path / "kept"),
    )
    result = SUPREMUS_MATCH.run(settings)
    assert not result.is_partial
    assert [row["hands"] for row in result.conclusion.rows] == [8, 6, 4]
    assert result.conclusion.claims[-1].verdict is Verdict.NOT_STATED
    again = SUPREMUS_MATCH.run(settings)  # reads what was kept
    assert again.conclusion.rows == result.conclusion.rows
    assert {path.name for path in (tmp_path / "kept").iterdir()} >= {
        name_file("match", f"{AGENT};seconds=5", "call", "chips"),
        name_file("match", AGENT, "pushfold", "chips"),
    }


@pytest.mark.parametrize(
    ("opponent", "mean", "verdict"),
    [
        ("call", 120.0, Verdict.CONFIRMED),
        ("call", 80.0, Verdict.DENIED),
        ("blueprint", 80.0, Verdict.UNDECIDED),
        ("blueprint", -180.0, Verdict.DENIED),
        ("deepstack", -180.0, Verdict.NOT_STATED),
    ],
)
def test_opponents_are_judged_by_what_they_are(opponent, mean, verdict):
    settings = SupremusMatchConfiguration(opponents=(opponent,), hands=(1000,), precisions=(50.0,), blueprint="some.eq")
    for hands, ended, found in ((400, 1.0, verdict), (1000, 0.0, verdict), (400, 0.0, Verdict.NOT_MEASURED)):
        measured = Measured()
        add_estimate(measured, supremus_match, opponent, mean, 100.0, hands, **{supremus_match.ENDED: ended})
        (claim,) = SUPREMUS_MATCH.conclude(settings, measured).claims
        assert claim.verdict is found


def test_openings_are_squares_of_classes(tmp_path):
    settings = SupremusOpeningConfiguration(agents=(AGENT, "call", "pushfold"), game=GAME)
    result = SUPREMUS_OPENING.run(settings)
    assert len(result.conclusion.rows) == 3 * 6
    assert result.conclusion.rows[0]["A"] == "100"  # a pair of aces
    shares = [claim.ours for claim in result.conclusion.claims[:3]]
    assert shares[1] == "100.0%"
    assert 0.0 < float(shares[0].rstrip("%")) < 100.0
    assert [claim.verdict for claim in result.conclusion.claims[3:]].count(Verdict.NOT_MEASURED) == 0
    assert "supremus-opening.png" in {path.name for path in write_result(SUPREMUS_OPENING, result, tmp_path)}


def test_the_blueprint_opens_in_the_game_of_its_file(tmp_path):
    game = "holdem(deck=9TJQKA/cds,stacks=2000,2000,menu=a)"
    spot, recipe = spot_of_game(parse_game(game)), BucketRecipe(sizes=(None, 2, 2, 2))
    solver = BucketedSolver(build_bucketed_tree(spot, recipe.build(spot)), rng=np.random.default_rng(1))
    solver.iterate(20)
    BucketedStrategy.of(solver, recipe).save(tmp_path / "blueprint.eq")
    stays = find_opening(f"file:{tmp_path / 'blueprint.eq'}", GAME)
    assert 0.0 < stays.mean() <= 1.0
    with pytest.raises(ConfigError, match="another game"):
        find_opening(f"file:{tmp_path / 'blueprint.eq'}", "holdem(menu=all)")
    settings = SupremusMatchConfiguration(
        agent=AGENT,
        opponents=("blueprint",),
        hands=(4,),
        blueprint=str(tmp_path / "blueprint.eq"),
        guesses=str(tmp_path / "blueprint.eq"),
        game=GAME,
    )
    result = SUPREMUS_MATCH.run(settings)
    assert result.conclusion.rows[0]["hands"] == 4
    assert result.conclusion.notes[1] == "Scored by AIVAT."


def test_guesses_of_the_study_are_made_once_and_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(supremus_match, "GUESSED_BUCKETS", BucketRecipe(sizes=(None, 2, 2, 2)))
    monkeypatch.setattr(supremus_match, "GUESSED_ITERATIONS", 3)
    keep = tmp_path / "kept"
    settings = SupremusMatchConfiguration(
        agent=AGENT, opponents=("call",), hands=(4,), guesses="own", game=GAME, keep=str(keep)
    )
    result = SUPREMUS_MATCH.run(settings)
    assert result.conclusion.notes[1] == "Scored by AIVAT."
    (file,) = keep.glob("guesses-*.eq")
    before = file.stat().st_mtime_ns
    assert SUPREMUS_MATCH.run(settings).conclusion.rows == result.conclusion.rows
    assert file.stat().st_mtime_ns == before
    with pytest.raises(ConfigError, match="keep=DIR"):
        dataclasses.replace(settings, keep="")


@pytest.mark.parametrize("study", [SUPREMUS_LBR, SUPREMUS_MATCH, SUPREMUS_OPENING])
def test_nothing_measured_is_nothing_claimed(study):
    claims = study.conclude(study.sizes[Size.FULL], Measured()).claims
    assert {claim.verdict for claim in claims} == {Verdict.NOT_MEASURED}
    assert study.name in STUDIES


def test_bad_settings_are_refused():
    with pytest.raises(UnknownNameError, match="fcpa"):
        SupremusLbrConfiguration(responders=("fcap",), hands=(4,))
    with pytest.raises(ConfigError, match="at least 4 hands"):
        SupremusLbrConfiguration(hands=(4,))
    with pytest.raises(ConfigError, match="hold'em"):
        SupremusLbrConfiguration(game="kuhn")
    with pytest.raises(ConfigError, match="blueprint=FILE"):
        SupremusMatchConfiguration(opponents=("blueprint",))
    with pytest.raises(ConfigError, match="a number of hands"):
        SupremusMatchConfiguration(opponents=("call", "uniform"))
    with pytest.raises(ConfigError, match="one for each of 1 opponents"):
        SupremusMatchConfiguration(seconds=(1.0, 2.0))
    with pytest.raises(UnknownNameError, match="agent"):
        SupremusMatchConfiguration(agent="supremis")
