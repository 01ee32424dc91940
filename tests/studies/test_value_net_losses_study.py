# SPDX-License-Identifier: Apache-2.0
"""Study `value-net-losses` on rivers of a small deck, and on invented numbers."""

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games.holdem.cards import FULL_DECK, parse_deck
from equipoise.learning.values.chain import ValueChain
from equipoise.studies.registry import STUDIES
from equipoise.studies.study import Measured, Point, Verdict
from equipoise.studies.values import value_net_losses
from equipoise.studies.values.value_net_losses import (
    BUCKETS,
    CARDS,
    MEASURES,
    RMS,
    SMALL,
    VALUE_NET_LOSSES,
    WEIGHTED,
    ValueNetLossesConfiguration,
    find_bucket_huber,
)


@pytest.fixture
def chain(tmp_path, monkeypatch):
    """Returns the small chain in a folder, with its situations, as if it were a preset."""
    pytest.importorskip("equipoise.learning.values.training", reason="needs torch")
    monkeypatch.setattr(value_net_losses, "find_preset", lambda _: SMALL)
    found = ValueChain(tmp_path, SMALL, seed=value_net_losses.SEED)
    value_net_losses._fill(found, SMALL.recipes[0])
    return found


def test_losses_fall_with_data_and_trainings_are_kept(chain):
    settings = ValueNetLossesConfiguration(data=str(chain.folder), shares=(0.05, 1.0), buckets=20)
    result = VALUE_NET_LOSSES.run(settings)
    assert not result.is_partial
    assert [row["situations"] for row in result.conclusion.rows] == [16, 304]  # of 320; one in twenty is set aside
    assert set(MEASURES) <= set(result.curves)
    assert result.conclusion.claims[0].verdict is Verdict.CONFIRMED
    kept = {path.name: path.stat().st_mtime_ns for path in (chain.folder / "losses").iterdir()}
    assert set(kept) == {"river-16-150.eq", "river-304-150.eq"}
    again = VALUE_NET_LOSSES.run(settings)  # nothing is trained twice
    assert again.curves == result.curves
    assert kept == {path.name: path.stat().st_mtime_ns for path in (chain.folder / "losses").iterdir()}


def test_subsets_are_nested(chain):
    recipe = SMALL.recipes[0]
    some, more = (chain.trainer(recipe, is_resumed=False, share=share).situations for share in (0.2, 0.5))
    assert (len(some), len(more)) == (61, 152)  # of 64 and 160; one in twenty is set aside
    assert np.array_equal(some.value, more.value[:61])


def test_bucket_losses_are_of_means():
    deck, board = parse_deck("9TJQKA/cdh"), np.array([[30, 34, 38, 42, 46]], np.uint8)
    rng = np.random.default_rng(1)
    num_hands = 13 * 12 // 2
    noise = rng.standard_normal((1, 2, num_hands)) * 0.1
    noise -= noise.mean(axis=2, keepdims=True)
    assert find_bucket_huber(noise, board, deck, 1) == pytest.approx(0.0, abs=1e-12)  # one bucket: errors cancel
    assert find_bucket_huber(np.full((1, 2, num_hands), 0.2), board, deck, 7) == pytest.approx(0.02)
    assert find_bucket_huber(np.full((1, 2, num_hands), 3.0), board, deck, 7) == pytest.approx(2.5)
    before = np.full((1, 2, 1326), 0.2)
    assert find_bucket_huber(before, np.zeros((1, 0), np.uint8), FULL_DECK, 1000) == pytest.approx(0.02)


@pytest.mark.parametrize(("rms", "verdict"), [(6.0, Verdict.CONFIRMED), (7.0, Verdict.DENIED)])
def test_networks_are_judged_beside_the_paper(tmp_path, rms, verdict):
    measured = Measured()
    for size, factor in ((1000, 2.0), (60_000, 1.0)):
        for panel, y in ((CARDS, 0.002), (BUCKETS, 0.0018), (RMS, rms), (WEIGHTED, 3.5)):
            measured.add(Point(panel=panel, curve="river", x=size, y=factor * y))
    conclusion = VALUE_NET_LOSSES.conclude(ValueNetLossesConfiguration(data=str(tmp_path)), measured)
    falls, table, bar = conclusion.claims
    assert (falls.verdict, table.verdict, bar.verdict) == (Verdict.CONFIRMED, Verdict.CONFIRMED, verdict)
    assert conclusion.rows[-1]["paper"] == 0.015


def test_nothing_measured_is_nothing_claimed():
    claims = VALUE_NET_LOSSES.conclude(ValueNetLossesConfiguration(), Measured()).claims
    assert {claim.verdict for claim in claims} == {Verdict.NOT_MEASURED}
    assert VALUE_NET_LOSSES.name in STUDIES


def test_bad_settings_are_refused(tmp_path):
    with pytest.raises(ConfigError, match="ascend"):
        ValueNetLossesConfiguration(shares=(1.0, 0.5))
    with pytest.raises(ConfigError, match="no folder"):
        ValueNetLossesConfiguration(data=str(tmp_path / "nowhere"))
    with pytest.raises(ConfigError, match="has networks river"):
        ValueNetLossesConfiguration(data=str(tmp_path), nets=("preflop",))
    with pytest.raises(ConfigError, match="leduc-deepstack"):
        ValueNetLossesConfiguration(data=str(tmp_path), preset="leduc")
    with pytest.raises(ConfigError, match="no situations"):
        VALUE_NET_LOSSES.run(ValueNetLossesConfiguration(data=str(tmp_path)))
