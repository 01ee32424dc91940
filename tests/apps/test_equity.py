# SPDX-License-Identifier: Apache-2.0
"""`equipoise equity`: figures that are known, both orders, and what is said of bad input."""

import pytest


def test_aces_against_kings_before_the_flop(equipoise):
    found = equipoise("equity", "AhAs", "KdKc", "--json").json
    assert (found["showdowns"], found["ties"]) == (1_712_304, 6_538)
    assert [player["wins"] for player in found["players"]] == [1_388_072, 317_694]
    assert sum(player["equity"] for player in found["players"]) == pytest.approx(1)


def test_swapped_ranges_swap_everything(equipoise):
    ranges = ("QQ+, AKs", "22+, A2s+:0.5")
    one, other = (equipoise("equity", *pair, "--board", "Ks7h2d", "--json").json for pair in (ranges, ranges[::-1]))
    assert one["showdowns"] == pytest.approx(other["showdowns"])
    for player in (0, 1):
        mine, theirs = one["players"][player], other["players"][1 - player]
        assert mine["equity"] == pytest.approx(theirs["equity"])
        assert mine["classes"] == pytest.approx(theirs["classes"])


def test_classes_make_up_the_range(equipoise):
    found = equipoise("equity", "AA, 72o", "KQs", "--board", "Kc7s2d5h9c", "--json").json["players"][0]
    assert list(found["classes"]) == sorted(found["classes"], key=found["classes"].get, reverse=True)
    assert min(found["classes"].values()) <= found["equity"] <= max(found["classes"].values())


def test_a_table_is_for_people(equipoise):
    shown = equipoise("equity", "AA", "KK", "--board", "Ks7h2d", "--classes").out
    assert "on Ks7h2d" in shown
    assert "first: AA" in shown
    assert equipoise("equity", "AA", "KK", "--board", "Ks7h2d", "--quiet").out == ""


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("AA", "KX"), "KX"),
        (("AA", "KK", "--board", "KsKs2d"), "Ks"),
        (("AhAs", "AhAs"), "share"),
        (("AA", "KK", "--board", "Ks7h"), "0, 3, 4 or 5"),
        (("AA", "KK", "--deck", "tarot"), "tarot"),
    ],
)
def test_bad_input_is_one_line(equipoise, words, message):
    done = equipoise("equity", *words)
    assert done.code == 2
    assert message in done.err
    assert "Traceback" not in done.err
