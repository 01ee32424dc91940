# SPDX-License-Identifier: Apache-2.0
"""Lines of a solved spot with frequencies, and its export: they agree with single places."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from equipoise.abstraction.solutions import open_solution
from equipoise.core.errors import CheckpointError, ConfigError
from equipoise.games.holdem.betting import Street
from equipoise.games.holdem.cards import DECKS
from equipoise.kernels.holdem.sweeps import HoldemKernel
from equipoise.runs.export import count_export_rows, export_spot
from equipoise.solvers.description import describe_node
from equipoise.solvers.holdem.lines import list_lines, walk_tree
from equipoise.solvers.holdem.runouts import describe_runouts
from equipoise.solvers.holdem.view import SpotViews
from equipoise.trees.holdem.tree import build_holdem_tree
from tests.reference.holdem import expand_table
from tests.solvers.test_holdem import SYMMETRIC, spot

FILE = Path(__file__).parents[1] / "golden" / "files" / "turn.eq"


@pytest.fixture(scope="module")
def turn():
    with open_solution(FILE) as solution:
        yield solution


def test_lines_of_the_first_street_are_what_places_say(turn):
    found = list_lines(turn)
    assert found[0]["line"] == ""
    assert found[0]["reach"] == 1.0
    for row in found:
        place = describe_node(turn, row["line"])
        assert (row["kind"], row["player"], row["pot"]) == (place["kind"], place["player"], place["pot"])
        assert row["reach"] == pytest.approx(place["reach"])
        assert row["ids"] == place["line"]
        if place["path"]:
            last = place["path"][-1]
            assert row["frequency"] == pytest.approx(last["frequency"][last["ids"].index(last["taken"])])


def test_lines_of_the_river_take_all_cards_together(turn):
    before = {row["line"]: row["reach"] for row in list_lines(turn)}
    found = {row["line"]: row for row in list_lines(turn, street=Street.RIVER)}
    report = describe_runouts(turn, "x,x")
    assert found["check, check, [*]"]["reach"] == pytest.approx(before["check, check"])
    for name, share in zip(report["names"], report["average"]["frequency"], strict=True):
        assert found[f"check, check, [*], {name}"]["frequency"] == pytest.approx(share)
    for line, row in found.items():
        below = [other for name, other in found.items() if name.startswith(f"{line}, ")]
        steps = [other["reach"] for other in below if other["depth"] == row["depth"] + 1]
        assert not steps or sum(steps) == pytest.approx(row["reach"])


def test_rare_and_long_lines_are_left_out(turn):
    everything = list_lines(turn)
    assert list_lines(turn, min_reach=0.05) == [row for row in everything if row["reach"] >= 0.05]
    assert list_lines(turn, depth=1) == [row for row in everything if row["depth"] <= 1]


@pytest.mark.parametrize("case", list(SYMMETRIC)[:2])
def test_boards_that_were_merged_count_as_often_as_they_come(case):
    board, ranges, others = SYMMETRIC[case]
    table = spot(
        board,
        ranges,
        **{"menu": "100%, a / a; flop: a", "deck": DECKS["small"], "pot": 20, "stacks": (60, 60), **others},
    )
    merged, plain = (build_holdem_tree(table, merges_suits=merges) for merges in (True, False))
    assert len(merged.boards) < len(plain.boards)
    sums = SpotViews(merged, np.ones(merged.arrays.num_cells), kernel=HoldemKernel(merged.arrays)).sums
    masses = []
    for tree, table_of in ((merged, sums), (plain, expand_table(merged, plain, sums))):
        found = np.zeros(len(tree.betting.nodes))
        for visit in walk_tree(tree, table_of):
            found[visit.node.index] += visit.mass
        masses.append(found)
    np.testing.assert_allclose(*masses, rtol=1e-9)


def test_an_export_has_every_hand_of_every_decision(turn, tmp_path):
    num_written = export_spot(turn, tmp_path / "all.csv", street=Street.TURN, has_values=True)
    rows = list(csv.DictReader((tmp_path / "all.csv").read_text().splitlines()))
    lines = [row["line"] for row in list_lines(turn) if row["kind"] == "decision"]
    assert list(dict.fromkeys(row["line"] for row in rows)) == lines
    assert len(lines) == num_written
    assert len(rows) <= count_export_rows(turn, Street.TURN)
    place = describe_node(turn, lines[1])
    own = place["players"][place["player"]]
    here = [row for row in rows if row["line"] == lines[1]]
    names = [action["name"] for action in place["actions"]]
    expected = [(hand, name) for hand in own["hands"] for name in names]
    assert [(row["hand"], row["action"]) for row in here] == expected
    for column, numbers in (
        ("frequency", np.ravel(place["strategy"])),
        ("action_ev", np.ravel(place["action_ev"])),
        ("equity", np.repeat(own["equity"], len(names))),
        ("weight", np.repeat(own["weight"], len(names))),
    ):
        np.testing.assert_allclose([float(row[column]) for row in here], numbers, rtol=1e-5, atol=1e-6)


def test_json_and_json_lines_hold_the_same(turn, tmp_path):
    num_written = [export_spot(turn, tmp_path / name, street=Street.RIVER) for name in ("a.json", "a.jsonl")]
    listed = json.loads((tmp_path / "a.json").read_text())
    assert listed == [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()]
    assert num_written == [len(listed)] * 2
    assert {len(row["board"]) for row in listed} == {10}
    for decision in listed[::50]:
        np.testing.assert_allclose(np.sum(decision["strategy"], axis=1), 1.0)


def test_exports_that_cannot_be(turn, tmp_path):
    with pytest.raises(ConfigError, match=r"must end in .csv, .json, .jsonl"):
        export_spot(turn, tmp_path / "x.txt")
    with pytest.raises(ConfigError, match="from turn to river, got street flop"):
        export_spot(turn, tmp_path / "x.csv", street=Street.FLOP)
    with pytest.raises(CheckpointError, match="cannot write"):
        export_spot(turn, tmp_path / "no" / "x.csv")
    assert not list(tmp_path.iterdir())


def test_lines_and_exports_on_the_command_line(equipoise):
    shown = equipoise("lines", FILE)
    assert shown.code == 0
    assert "root" in shown.out
    assert "100.000%" in shown.out
    rows = list(csv.DictReader(equipoise("lines", FILE, "--street", "river", "--csv").out.splitlines()))
    found = equipoise("lines", FILE, "--street", "river", "--json").json["lines"]
    assert [row["line"] for row in rows] == [row["line"] for row in found]
    assert "of" in equipoise("lines", FILE, "--limit", 1).err
    assert (
        "no line is left by --street river, --min-reach 1.0"
        in equipoise("lines", FILE, "--min-reach", 1, "--street", "river").err
    )
    done = equipoise("export", FILE, "--street", "turn", "--out", "turn.csv")
    assert "decisions" in done.err
    assert "at most about" in done.err
    for arguments, message in (
        (("export", FILE, "--out", "turn.csv"), "turn.csv exists"),
        (("export", FILE, "--out", "turn.xls"), "must end in"),
        (("export", FILE, "--street", "flop", "--out", "x.csv"), "from turn to river"),
        (("lines", FILE, "--street", "preflop"), "from turn to river"),
        (("lines", FILE, "--csv", "--json"), "two formats"),
        (("lines", FILE, "--out", "x.csv"), "--out needs a format"),
        (("lines", "missing.eq"), "cannot read missing.eq"),
    ):
        refused = equipoise(*arguments)
        assert refused.code == 2
        assert message in " ".join(refused.err.split())
