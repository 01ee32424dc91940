# SPDX-License-Identifier: Apache-2.0
"""What players look for in a solved spot: ranges, values of actions, classes, all cards, gains of best responses."""

import csv
import io
from pathlib import Path

import pytest

FILE = Path(__file__).parents[1] / "golden" / "files" / "turn.eq"


def rows_of(outcome):
    assert outcome.code == 0, outcome.err
    return list(csv.DictReader(io.StringIO(outcome.out)))


def test_both_ranges_and_every_action_have_values_with_units(equipoise):
    shown = equipoise("show", FILE).out
    place = equipoise("show", FILE, "--json").json["place"]
    for head in ("EV bb", "EV/pot", "EQR", "frequency", "check, bb", "to bb"):
        assert head in shown
    for player in place["players"]:
        assert f"{player['summary']['ev'] / place['big_blind']:.2f}" in shown
        assert f"{100 * player['summary']['equity']:.1f}%" in shown
    in_chips, of_the_pot = (equipoise("show", FILE, "--unit", unit).out for unit in ("chips", "pot"))
    assert "EV chips" in in_chips
    assert f"{place['players'][0]['summary']['ev']:.1f}" in in_chips
    assert "EV % pot" in of_the_pot


@pytest.mark.parametrize(("column", "key"), [("ev", "value"), ("equity", "equity"), ("weight", "weight")])
def test_hands_are_sorted_by_a_column(equipoise, column, key):
    found = [float(row[key]) for row in rows_of(equipoise("show", FILE, "--csv", "--sort", column))]
    assert found == sorted(found, reverse=True)
    assert len(found) == len(rows_of(equipoise("show", FILE, "--csv")))


def test_hands_are_sorted_by_an_action(equipoise):
    found = [float(row["all-in"]) for row in rows_of(equipoise("show", FILE, "--csv", "--sort", "a"))]
    assert found == sorted(found, reverse=True)
    assert found[0] > found[-1]


def test_classes_and_draws_filter_hands(equipoise):
    everything = rows_of(equipoise("show", FILE, "--csv"))
    name = everything[0]["class"]
    kept = rows_of(equipoise("show", FILE, "--csv", "--class", name.upper().replace(" ", "-")))
    assert kept == [row for row in everything if row["class"] == name]
    none = rows_of(equipoise("show", FILE, "--csv", "--draw", "none"))
    assert none == [row for row in everything if row["draw"] == "none"]


def test_a_table_by_class_sums_up_hands(equipoise):
    everything = rows_of(equipoise("show", FILE, "--csv"))
    table = rows_of(equipoise("show", FILE, "--by-class", "--csv"))
    made = {row["class"] for row in everything}
    by_class = equipoise("show", FILE, "--by-class", "--json").json["by_class"]
    assert {row["name"] for row in by_class["classes"]} == made
    assert [row["name"] for row in table] == [row["name"] for rows in by_class.values() for row in rows]
    for rows in by_class.values():
        assert sum(row["share"] for row in rows) == pytest.approx(1)
    for row in by_class["classes"]:
        combos = sum(float(hand["weight"]) for hand in everything if hand["class"] == row["name"])
        assert row["combos"] == pytest.approx(combos)
        assert sum(row["frequency"]) == pytest.approx(1)
    assert all(name in equipoise("show", FILE, "--by-class").out for name in made)


def test_the_other_players_hands(equipoise):
    rows = rows_of(equipoise("show", FILE, "--player", 1, "--csv"))
    place = equipoise("show", FILE, "--json").json["place"]["players"][1]
    assert {row["hand"] for row in rows} == set(place["hands"])
    assert "check" not in rows[0]
    assert "EV bb" in equipoise("show", FILE, "--player", 1).out


def test_all_cards_at_once(equipoise, tmp_path):
    line = "check, check, [*]"
    found = equipoise("show", FILE, "--line", line, "--json").json["runouts"]
    rows = rows_of(equipoise("show", FILE, "--line", line, "--csv"))
    assert [row["card"] for row in rows] == [card["card"] for card in found["cards"]]
    assert [float(row["ev oop"]) for row in rows] == [card["ev"][0] for card in found["cards"]]
    ordered = [
        float(row["ev oop"]) for row in rows_of(equipoise("show", FILE, "--line", line, "--csv", "--sort", "ev oop"))
    ]
    assert ordered == sorted(ordered, reverse=True)
    outcome = equipoise("show", FILE, "--line", line, "--plot", "cards.png", "--limit", 3)
    assert "best card for oop" in outcome.out
    assert "3 of" in outcome.err
    assert Path("cards.png").read_bytes().startswith(b"\x89PNG")


def test_gains_of_best_responses(equipoise):
    found = equipoise("show", FILE, "--exploit", "--json").json["gain"]
    rows = rows_of(equipoise("show", FILE, "--exploit", "--csv"))
    gains = [float(row["gain"]) for row in rows]
    assert gains == sorted(gains, reverse=True)
    assert min(gains) >= 0
    assert len(rows) == len(found["players"][0]["hands"])
    shown = equipoise("show", FILE, "--exploit", "--limit", 2).out
    assert "oop could win" in shown
    assert "best action" in shown


def test_gains_against_what_somebody_might_do(equipoise):
    """Whoever folds to every bet is bet at, with every hand that is not worth more by checking."""
    plain = equipoise("show", FILE, "--line", "x", "--exploit", "--json").json["gain"]
    found = equipoise("show", FILE, "--line", "x", "--exploit", "--lock", "x,a: fold", "--json").json["gain"]
    gains = [one["players"][1]["summary"]["gain"] for one in (plain, found)]
    assert gains[1] > gains[0]
    best = {action["name"]: action["best_ev"] for action in found["actions"]}
    assert best["all-in"] == pytest.approx(found["pot"])  # everybody folds


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--sort", "colour"], "unknown column to sort by 'colour'"),
        (["--class", "top par"], "unknown hand class 'top par'"),
        (["--draw", "top pair"], "unknown hand class 'top pair'"),
        (["--player", "2"], "players 0 and 1"),
        (["--player", "1", "--grid"], "does not act"),
        (["--plot", "x.png"], "end the line with [*]"),
        (["--line", "[*]"], "a player acts"),
        (["--line", "x,x,[*]", "--grid"], "give it without --grid"),
        (["--line", "x,x,[*]", "--class", "set"], "give it without --class"),
        (["--line", "x,x,[*]", "--sort", "colour"], "unknown column to sort by 'colour'"),
        (["--line", "x,x,[*]", "--plot", "x.txt"], "a plot must end in"),
        (["--exploit", "--sort", "ev"], "leave out --sort"),
        (["--ignore-locks"], "--ignore-locks is for --exploit"),
        (["--lock", "root: check"], "--lock is for --exploit"),
        (["--exploit", "--lock", "root"], "has no colon"),
        (["--exploit", "--lock", "root: fold"], "none of the actions"),
        (["--unit", "euro"], "euro"),
    ],
)
def test_what_cannot_be_shown_is_said(equipoise, options, message):
    outcome = equipoise("show", FILE, *options)
    assert outcome.code == 2
    assert message in " ".join(outcome.err.split())


def test_what_a_large_file_leaves_out_is_said(equipoise, monkeypatch):
    monkeypatch.setattr("equipoise.solvers.holdem.solved_spot.LARGEST_READ_BYTES", 0)
    cards = ("--line", "check, check, [*]")
    hint = "EVs here need all of this large file: --values reads it"
    for line in ((), cards):  # the file is old and keeps none of its first street
        shown, whole = equipoise("show", FILE, *line), equipoise("show", FILE, *line, "--values")
        assert hint in shown.err
        assert hint not in whole.err
        assert hint not in equipoise("show", FILE, *line, "--quiet").err
    river = ("--line", "check, check, [9c]", "--csv")
    found = equipoise("show", FILE, *river).out
    monkeypatch.undo()
    assert found == equipoise("show", FILE, *river).out
    assert "nan" not in found
