# SPDX-License-Identifier: Apache-2.0
"""Study `value-lost` with networks that were drawn, and on invented numbers."""

import numpy as np
import pytest

from equipoise.agents.value_nets import name_net
from equipoise.core.errors import ConfigError, UnknownNameError
from equipoise.games.holdem.betting import Street
from equipoise.learning.values.configuration import NetStage, ValueNetConfig
from equipoise.learning.values.leaves import NetworkLeaves
from equipoise.studies.registry import STUDIES
from equipoise.studies.street_losses import LOSSES, SECONDS
from equipoise.studies.study import Measured, Point, Size, Verdict
from equipoise.studies.values.value_lost import METHODS, VALUE_LOST, ValueLostConfiguration, draw_spot
from tests.learning.test_value_leaves import make_net

ENDS = "network at the street's end"


@pytest.fixture
def nets(tmp_path):
    """Returns a folder of networks that hardly say more than a showdown does."""
    for street, stage in ((Street.FLOP, NetStage.END), (Street.TURN, NetStage.END), (Street.RIVER, NetStage.START)):
        config = ValueNetConfig(street=street, stage=stage, cells=6, hidden=16, layers=2)
        make_net(config, scale=1e-6).save(tmp_path / f"{name_net(street, stage)}.safetensors")
    return str(tmp_path)


def test_value_lost_at_a_small_size(nets):
    configuration = ValueLostConfiguration(
        spots=1,
        ratios=(1.0, 1.1),
        hands=12,
        menu="a",
        methods=("zero", "equity", "end", "after", "exact"),
        nets=nets,
        search_iterations=60,
        open_percent=1.0,
        most_iterations=150,
    )
    result = VALUE_LOST.run(configuration)
    assert not result.is_partial
    losses = {row["leaves"]: row["turns, median loss, % of the pot"] for row in result.conclusion.rows}
    assert losses["to the end of the hand"] < losses["leaves worth nothing"]
    assert losses[ENDS] == pytest.approx(losses["leaves checked down"], abs=0.2)  # such networks say what showdowns pay
    assert losses["network after the card"] == pytest.approx(losses[ENDS], abs=0.2)
    assert min(losses.values()) > -0.05  # bounds from both sides
    for row in result.conclusion.rows:  # two solves leave open at most 1 % each
        slack = row["turns, median loss, % of the pot"] - row["turns, median at least"]
        assert 0.0 <= slack <= 2.0


def test_held_leaves_are_asked_about_once_an_iteration(tmp_path, nets, monkeypatch):
    asked = []
    evaluate = NetworkLeaves.evaluate
    monkeypatch.setattr(NetworkLeaves, "evaluate", lambda self, batch: (asked.append(1), evaluate(self, batch))[1])
    counts = []
    for method in ("after", "held"):
        keep_spots(tmp_path / method, nets, spots=1, methods=(method,))
        counts.append(len(asked))
        asked.clear()
    assert counts == [20, 10]  # in 10 iterations, by each player or once


def keep_spots(folder, /, nets, **changes):
    """Returns a study of spots small enough to be measured twice."""
    settings = {"spots": 2, "ratios": (1.0, 1.1), "hands": 8, "menu": "a", "methods": ("end",)}
    settings |= {"nets": nets, "search_iterations": 10, "open_percent": 5.0, "most_iterations": 50, "keep": str(folder)}
    return VALUE_LOST.run(ValueLostConfiguration(**(settings | changes)))


def test_kept_spots_are_not_measured_again(tmp_path, nets, monkeypatch):
    folder = tmp_path / "kept"
    first = keep_spots(folder, nets, spots=1)
    both = keep_spots(folder, nets)
    assert both.curves[SECONDS][ENDS][:1] == first.curves[SECONDS][ENDS]  # by the clock: measured once
    monkeypatch.setattr("equipoise.studies.street_losses._measure_spot", None)  # nothing is left to measure
    assert keep_spots(folder, nets).curves == both.curves
    assert sorted(path.name for path in folder.iterdir()) == ["spot-0001.json", "spot-0002.json"]


def test_a_study_of_more_methods_measures_only_these(tmp_path, nets):
    one = keep_spots(tmp_path / "kept", nets, spots=1)
    both = keep_spots(tmp_path / "kept", nets, spots=1, methods=("zero", "end", "blueprint"))
    assert both.curves[SECONDS][ENDS] == one.curves[SECONDS][ENDS]  # by the clock: measured once
    anew = keep_spots(tmp_path / "anew", nets, spots=1, methods=("end", "blueprint", "zero"))
    assert both.curves[LOSSES] == anew.curves[LOSSES]
    assert keep_spots(tmp_path / "kept", nets, spots=1).curves == one.curves


@pytest.mark.parametrize("changes", [{"search_iterations": 11}, {"nets": ""}], ids=str)
def test_spots_kept_under_other_settings_are_refused(tmp_path, nets, changes):
    keep_spots(tmp_path / "kept", nets, spots=1)
    with pytest.raises(ConfigError, match="measured with other settings or networks"):
        keep_spots(tmp_path / "kept", **({"nets": nets} | changes))


@pytest.mark.parametrize(
    "content", ["", "{}", '{"asked": {}, "points": {"a": [{"panel": 1}]}}', '{"asked": {}, "points": []}', "\x00"]
)
def test_a_damaged_spot_is_named(tmp_path, nets, content):
    (tmp_path / "spot-0001.json").write_text(content)
    with pytest.raises(ConfigError, match=r"spot-0001\.json is no measured spot: remove it"):
        keep_spots(tmp_path, nets, spots=1)


def test_a_folder_that_cannot_be_made_is_named(tmp_path, nets):
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot keep spots in"):
        keep_spots(tmp_path / "file" / "kept", nets, spots=1)


def test_missing_networks_are_said_before_anything_is_measured(tmp_path, nets, monkeypatch):
    monkeypatch.setattr("equipoise.studies.street_losses._measure_spot", None)
    (tmp_path / "river.safetensors").unlink()
    with pytest.raises(ConfigError, match=r"value-lost needs .*\.safetensors in .*: nets=DIR says where"):
        keep_spots(tmp_path / "kept", tmp_path / "elsewhere", methods=("zero", "after"))


def test_flops_are_columns_beside_turns(tmp_path, nets):
    """Both streets have their own methods, spots, bars and kept files; flops are measured to the end of the hand."""
    methods = {"methods": ("end", "exact"), "flop_methods": ("zero", "end")}
    sizes = {"spots": 1, "flops": 1, "flop_hands": 3, "flop_open_percent": 5.0}
    result = keep_spots(tmp_path, nets, **methods, **sizes)
    rows = {row["leaves"]: row for row in result.conclusion.rows}
    assert [rows[ENDS][street] for street in ("turns", "flops")] == [1, 1]
    assert rows["to the end of the hand"]["flops"] is None
    assert rows["leaves worth nothing"]["turns"] is None
    lost = [rows[name]["flops, median loss, % of the pot"] for name in (ENDS, "leaves worth nothing")]
    assert -5.0 < lost[0] < lost[1]
    assert [claim.statement.rpartition(" ")[2] for claim in result.conclusion.claims] == ["turns", "flops"]
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.json")) == [
        "flops/spot-0001.json",
        "spot-0001.json",
    ]
    assert keep_spots(tmp_path, nets, **methods, **sizes).curves == result.curves


@pytest.mark.parametrize(("worst", "verdict"), [(0.4, Verdict.CONFIRMED), (0.6, Verdict.DENIED)])
def test_networks_are_judged_by_median_and_worst(worst, verdict):
    configuration, measured = ValueLostConfiguration(spots=3, methods=("end",)), Measured()
    for number, loss in enumerate((0.1, worst, 0.12), start=1):
        for panel, y in ((LOSSES, loss), (SECONDS, 1.0)):
            measured.add(Point(panel=panel, curve=ENDS, x=number, y=y))
    (claim,) = VALUE_LOST.conclude(configuration, measured).claims
    assert claim.verdict is verdict


def test_a_partial_study_claims_nothing():
    measured = Measured()
    for panel in (LOSSES, SECONDS):
        measured.add(Point(panel=panel, curve=ENDS, x=1, y=0.1))
    (claim,) = VALUE_LOST.conclude(ValueLostConfiguration(spots=2, methods=("end",)), measured).claims
    assert claim.verdict is Verdict.NOT_MEASURED
    assert VALUE_LOST.conclude(VALUE_LOST.sizes[Size.FULL], Measured()).rows == ()
    assert VALUE_LOST.name in STUDIES


def test_spots_have_the_hands_and_chips_that_are_asked_for():
    configuration = ValueLostConfiguration(flops=1, flop_hands=70, ratios=(2.0, 2.0))
    spot = draw_spot(configuration.streets()[1], np.random.default_rng(3))
    assert len(spot.board) == 3
    assert [int((spot.live_weights(player) > 0).sum()) for player in (0, 1)] == [70, 70]
    assert spot.stacks[0] / spot.pot == pytest.approx(2.0, abs=0.01)


def test_value_lost_refuses_what_it_does_not_know():
    with pytest.raises(UnknownNameError, match="exact"):
        ValueLostConfiguration(methods=("exakt",))
    with pytest.raises(ConfigError, match="flops must not be negative, got -1"):
        ValueLostConfiguration(flops=-1)
    with pytest.raises(ConfigError, match="nothing to measure"):
        ValueLostConfiguration(spots=0)
    with pytest.raises(ConfigError, match="opponent"):
        ValueLostConfiguration(flops=1, flop_methods=tuple(METHODS))
