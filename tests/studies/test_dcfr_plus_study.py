# SPDX-License-Identifier: Apache-2.0
"""Study `dcfr-plus` on a small deck, and on invented numbers."""

import pytest

from equipoise.agents.resolving import HYBRID
from equipoise.core.errors import ConfigError, UnknownNameError
from equipoise.games.holdem.betting import Street
from equipoise.games.holdem.menu_notation import parse_menu
from equipoise.learning.values.configuration import NetKind, NetStage, ValueNetConfig
from equipoise.studies.registry import STUDIES
from equipoise.studies.study import Measured, Point, Size, Verdict
from equipoise.studies.values.dcfr_plus import (
    DCFR_PLUS,
    RIVERS,
    VALUED,
    DcfrPlusConfiguration,
    _begin_round,
    find_rule,
    name_curve,
)
from tests.learning.test_value_leaves import make_net

DECK = "9TJQKA/cds"
SMALL = {"deck": DECK, "stacks": (2000,), "menu": "100%, a", "marks": (10, 120)}


def left(result, panel, rule, mark, *, is_alternating=False):
    return dict(result.curves[panel][name_curve(rule, is_alternating=is_alternating)])[mark]


def test_rules_converge_with_values_and_without():
    result = DCFR_PLUS.run(DcfrPlusConfiguration(**SMALL))
    assert not result.is_partial
    assert len(result.conclusion.rows) == 24
    for panel in (VALUED, RIVERS):
        for rule in ("cfr", "dcfr", "dcfr+", "deepstack"):
            assert 0 <= left(result, panel, rule, 120) < left(result, panel, rule, 10)
    assert left(result, RIVERS, "dcfr", 120, is_alternating=True) < left(result, RIVERS, "cfr", 120)


def test_the_full_size_can_be_built():
    """Large menus have millions of nodes behind the first round: nobody asks what is bet there."""
    full = DCFR_PLUS.sizes[Size.FULL]
    task = _begin_round(full, 0)
    assert task.tree.spot.menu == parse_menu("supremus")
    assert len(task.tree.leaving_nodes()) > 100


def test_noise_is_not_taken_for_what_is_left():
    noisy = DcfrPlusConfiguration(**SMALL, leaves="noisy", noise=0.0, rules=("dcfr+",), rivers=0)
    exact = DcfrPlusConfiguration(**SMALL, leaves="equity", rules=("dcfr+",), rivers=0)
    assert DCFR_PLUS.run(noisy).curves[VALUED] == DCFR_PLUS.run(exact).curves[VALUED]
    worse = DCFR_PLUS.run(DcfrPlusConfiguration(**SMALL, leaves="noisy", noise=300.0, rules=("dcfr+",), rivers=0))
    assert left(worse, VALUED, "dcfr+", 120) > left(DCFR_PLUS.run(exact), VALUED, "dcfr+", 120)


def test_networks_of_a_folder_value_the_first_round(tmp_path):
    config = ValueNetConfig(
        kind=NetKind.BUCKET, street=Street.PREFLOP, stage=NetStage.END, deck=DECK, buckets=36, hidden=8, layers=1
    )
    make_net(config, scale=1e-6).save(tmp_path / "preflop-end.safetensors")
    settings = {**SMALL, "rules": ("dcfr",), "rivers": 0}
    nets = DCFR_PLUS.run(DcfrPlusConfiguration(**settings, leaves="nets", nets=str(tmp_path)))
    equity = DCFR_PLUS.run(DcfrPlusConfiguration(**settings))
    assert left(nets, VALUED, "dcfr", 10) == pytest.approx(left(equity, VALUED, "dcfr", 10), rel=1e-2)


@pytest.mark.parametrize(
    ("leaves", "others", "verdict"),
    [("nets", 2.0, Verdict.CONFIRMED), ("nets", 0.5, Verdict.DENIED), ("equity", 0.5, Verdict.NOT_STATED)],
)
def test_the_order_of_the_figure_is_judged_with_networks(leaves, others, verdict):
    settings = DcfrPlusConfiguration(marks=(200, 400, 800), rules=("cfr", "dcfr+"), leaves=leaves)
    configuration, measured = settings, Measured()
    for run in (0, 1):
        for mark in configuration.marks:
            for rule, y in (("cfr", others), ("dcfr+", 1.0)):
                curve = name_curve(rule, is_alternating=False)
                measured.add(Point(panel=VALUED, curve=curve, x=mark, y=y, run=run))
    claims = DCFR_PLUS.conclude(configuration, measured).claims
    assert claims[0].verdict is verdict
    assert {claim.verdict for claim in claims[1:-1]} == {Verdict.NOT_MEASURED}  # alternating, and rivers
    assert claims[-1].ours.startswith("dcfr+ by iteration 200")


def test_nothing_measured_is_nothing_claimed():
    claims = DCFR_PLUS.conclude(DCFR_PLUS.sizes[Size.FULL], Measured()).claims
    assert {claim.verdict for claim in claims} == {Verdict.NOT_MEASURED}
    assert DCFR_PLUS.name in STUDIES
    assert find_rule("deepstack") == HYBRID


def test_bad_settings_are_refused():
    with pytest.raises(UnknownNameError, match="noisy"):
        DcfrPlusConfiguration(leaves="noise")
    with pytest.raises(ConfigError, match="ascend"):
        DcfrPlusConfiguration(marks=(20, 10))
    with pytest.raises(UnknownNameError, match="dcfr"):
        DcfrPlusConfiguration(rules=("dcfr++",))
