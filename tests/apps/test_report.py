# SPDX-License-Identifier: Apache-2.0
"""One spot on many boards: the table agrees with single solves, and a killed queue goes on."""

import csv
import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from equipoise.core.runs import RunFolder
from equipoise.runs.board_report import average_rows, load_report, report_columns
from equipoise.runs.locking import open_spot
from equipoise.solvers.description import describe_node
from tests.apps.commands import QUIET

TALKATIVE = "from equipoise.apps import cli, task_display as shown; shown.SECONDS_BETWEEN_LINES = 0; cli.main()"
BOARDS = ["Ks7s2s5d9h", "Kd7s2s5d9h", "QsJsTs5d2h", "8c7d6h5s2s"]
SPOT = f"""
title = "Rivers"
seats = ["BB", "BTN"]
pot = 20
stacks = 40
big_blind = 2
menu = "50%, a / a"
target = "1% pot"
boards = {BOARDS}

[ranges]
oop = "AA, KK, AK, QJs, 76s"
ip = "QQ, 77, AQ, KQ:0.5, T9s"
"""


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """A folder with a report that is done, solutions kept."""
    directory = tmp_path_factory.mktemp("report")
    (directory / "spot.toml").write_text(SPOT)
    command = ["report", "spot.toml", "--run", "rep", "--keep", "--json", "--plot", "rep.png"]
    ended = subprocess.run(
        [sys.executable, "-c", QUIET, *command], cwd=directory, capture_output=True, text=True, check=True
    )
    (directory / "out.json").write_text(ended.stdout)
    assert "4 boards, about" in ended.stderr
    return directory


def test_rows_are_what_single_solutions_say(done):
    found = json.loads((done / "out.json").read_text())
    assert [row["board"] for row in found["rows"]] == BOARDS
    assert (done / "rep.png").read_bytes().startswith(b"\x89PNG")
    for row in found["rows"]:
        with open_spot(done / "rep" / "solutions" / f"{row['board']}.eq") as solved:
            assert solved.seats == ("BB", "BTN")
            place, after = describe_node(solved), describe_node(solved, "check")
        assert row["ev BB"] == pytest.approx(place["players"][0]["summary"]["ev"])
        assert row["equity BTN"] == pytest.approx(place["players"][1]["summary"]["equity"])
        assert row["BB check"] == pytest.approx(place["actions"][0]["frequency"])
        assert row["BTN all-in"] == pytest.approx(after["actions"][-1]["frequency"])
        assert row["percent_of_pot"] <= 1
    assert sum(row["weight"] for row in found["rows"]) == pytest.approx(1)
    mean = sum(row["weight"] * row["ev BB"] for row in found["rows"])
    assert found["average"]["ev BB"] == pytest.approx(mean)


@pytest.mark.parametrize("column", ["ev BB", "ev oop"])
def test_a_folder_is_shown_again_sorted(column, done, equipoise):
    rows = list(csv.DictReader(equipoise("report", "--run", done / "rep", "--csv", "--sort", column).out.splitlines()))
    values = [float(row["ev BB"]) for row in rows]
    assert values == sorted(values, reverse=True)
    shown = equipoise("report", "--run", done / "rep", "--limit", 2, "--unit", "chips")
    assert "ev BB, chips" in shown.out
    assert "2 of 4 boards" in shown.err
    again = equipoise("report", done / "spot.toml", "--run", done / "rep", "--resume", "-q")
    assert again.code == 0
    assert len(RunFolder(done / "rep").events()) == 4  # nothing was solved twice


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--run", "rep", "--sort", "colour"], "unknown column to sort by 'colour'"),
        (["--run", "rep", "--target", "1%"], "--target is for a new report"),
        (["--run", "missing"], "missing holds no run"),
        (["--run", "missing", "--resume"], "holds no report to go on with"),
        (["spot.toml", "--run", "rep"], "rep holds a run: give --resume"),
        (["spot.toml", "--run", "rep", "--resume", "--target", "2%"], "its request differs"),
        (["spot.toml", "--run", "rep", "--resume", "--boards", "Ks7s2s5d9h"], "its boards differs"),
        (["spot.toml", "--run", "new", "--boards", "Ks7s"], "board"),
        (["spot.toml", "--run", "new", "--boards", "Ks7s2s, 2s7sKs"], "twice"),
        (["spot.toml", "--run", "new", "--boards", "spread 0"], "spread takes 1 to"),
        (["spot.toml", "--run", "new", "--boards", "some"], "card"),
        (["none.toml", "--run", "new"], "cannot read none.toml"),
        (["bare.toml", "--run", "new"], "no boards are named"),
        (["locked.toml", "--run", "new"], "locks are of one board's hands"),
        (["--run", "rep", "--csv", "--json"], "two formats"),
        (["--run", "rep", "--plot", "x.txt"], "a plot must end in"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_cannot_be_reported_is_said(done, equipoise, monkeypatch, options, message):
    monkeypatch.chdir(done)
    (done / "bare.toml").write_text(SPOT.replace("boards =", "# boards ="))
    (done / "locked.toml").write_text(SPOT + '[[locks]]\nline = ""\nplay = {check = 1.0}\n')
    refused = equipoise("report", *options)
    assert refused.code == 2
    assert message in " ".join(refused.err.split())
    assert not (done / "new").exists()


def test_a_board_that_leaves_no_hands_is_a_row_with_a_reason(tmp_path, equipoise):
    (tmp_path / "spot.toml").write_text(
        SPOT.replace(str(BOARDS), str([BOARDS[0], "AhAdAcAsKh"])).replace("AA, KK, AK, QJs, 76s", "AA")
    )
    outcome = equipoise("report", "spot.toml", "--run", "rep", "--json")
    assert outcome.code == 0
    assert [row["board"] for row in outcome.json["rows"]] == BOARDS[:1]
    assert outcome.json["failed"][0]["board"] == "AhAdAcAsKh"
    assert "AhAdAcAsKh: " in outcome.err


def test_a_killed_queue_goes_on(tmp_path):
    slow = SPOT.replace('"1% pot"', '"0.001% pot"').replace("boards =", "seconds = 0.7\nboards =")
    (tmp_path / "spot.toml").write_text(slow)
    command = [sys.executable, "-c", TALKATIVE, "report"]
    process = subprocess.Popen(
        [*command, "spot.toml", "--run", "rep"],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert any("1 of 4, " in line for line in process.stderr)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    kept = load_report(RunFolder(tmp_path / "rep"))
    assert 1 <= len(kept.rows) < 4
    subprocess.run([*command, "--run", "rep", "--resume", "-q"], cwd=tmp_path, check=True)
    whole = load_report(RunFolder(tmp_path / "rep"))
    assert whole.is_whole
    assert whole.rows[: len(kept.rows)] == kept.rows
    assert len(RunFolder(tmp_path / "rep").events()) == 4


def test_averages_leave_out_what_is_not_known():
    rows = [
        {
            "board": "a",
            "error": None,
            "texture": "",
            "count": 1.0,
            "odds": 3.0,
            "seats": ["oop", "ip"],
            "player": 0,
            "names": ["check"],
            "frequency": [share],
            "reply": None,
            "equity": [0.5, 0.5],
            "ev": [value, 1.0],
            "eqr": [None, None],
            "exploitability": 0.0,
            "percent_of_pot": 0.0,
            "iterations": 1,
            "seconds": 0.0,
        }
        for share, value in ((1.0, 2.0), (None, 4.0))
    ]
    means = average_rows(report_columns(rows))
    assert (means["oop check"], means["ev oop"], means["eqr oop"]) == (1.0, 3.0, None)
    np.testing.assert_allclose(report_columns(rows)["weight"], [0.5, 0.5])
    assert report_columns([{"board": "a", "error": "no"}])["board"] == []
