# SPDX-License-Identifier: Apache-2.0
"""`bench first-evening` on a spot that takes no time, and which commands it reads from a page."""

import io
import json
import signal
from pathlib import Path

import pytest
from rich.console import Console

from equipoise.apps.bench import first_evening
from equipoise.apps.bench.first_evening import FirstEveningReport, FirstEveningSettings, list_page_commands
from equipoise.apps.bench.report import print_first_evening_report
from equipoise.core.errors import ConfigError

SPOT = """
deck = "9TJQKA/dhs"
board = "ThJhKsAd9d"
pot = 20
stacks = 40
big_blind = 2
menu = "100%, a"
[ranges]
oop = "AA, KQ, JT, Q9"
ip = "AK, QJ, TT, 99"
"""
ROOT = Path(__file__).parents[2]


def test_times_stand_beside_their_bars(equipoise, tmp_path, monkeypatch):
    monkeypatch.setattr(first_evening, "START_REPEATS", 1)
    monkeypatch.setattr(first_evening, "OPEN_REPEATS", 1)
    monkeypatch.setattr(first_evening, "STOP_MOMENTS", ())
    folder = tmp_path / "examples" / "spots"
    folder.mkdir(parents=True)
    (folder / "tiny.toml").write_text(SPOT)
    (tmp_path / "page.md").write_text("```sh\nequipoise --version # says it\n```\n`equipoise games COMMAND`\n")
    done = equipoise("bench", "first-evening", "--spot", "examples/spots/tiny.toml", "--readme", "page.md", "--json")
    assert done.code == 0
    rows = {row["what"]: row for row in done.json["rows"]}
    assert len(rows) == 6
    assert all(row["seconds"] > 0 for row in rows.values())
    assert rows["first flop: 1% of the pot"]["is_met"]
    assert rows["equipoise --version"]["code"] == 0
    assert json.dumps(done.json)


@pytest.mark.parametrize(
    ("after", "said", "expected"),
    [(None, "stopping", (True, True)), (b"ready", "stopping", (True, True)), (b"never", "x", (False, False))],
)
def test_answers_to_signals_are_timed(monkeypatch, tmp_path, after, said, expected):
    program = (
        "import signal,sys,time;say=lambda word: print(word, file=sys.stderr, flush=True);"
        "signal.signal(signal.SIGTERM, lambda *_: say(sys.argv[1]));say('ready');time.sleep(5)"
    )
    monkeypatch.setattr(first_evening, "PROGRAM", program)
    ran, answered = first_evening._time_answer([said], tmp_path, 1.0, signal.SIGTERM, after=after)
    assert (ran, answered is not None) == expected
    assert answered is None or answered < 4


def test_a_command_that_has_ended_answers_nothing(monkeypatch, tmp_path):
    monkeypatch.setattr(first_evening, "PROGRAM", "0")
    assert first_evening._time_answer([], tmp_path, 20.0, signal.SIGINT, after=b"saving ") == (False, None)


@pytest.mark.slow
def test_a_command_that_goes_on_is_ended_once_it_waits(tmp_path):
    ran = first_evening._run_until_it_waits(["serve"], tmp_path)
    assert ran.code == 0
    assert 0 < ran.seconds < first_evening.PAGE_BAR
    assert first_evening._run_until_it_waits(["serve", "--host"], tmp_path).code == 1  # it ended by itself


def test_every_bar_is_passed_or_missed():
    row = {"what": "start", "seconds": 0.3, "bar": 0.4, "is_met": True, "cpu_seconds": 0.3}
    report = FirstEveningReport(settings=FirstEveningSettings(spot="x", readme=None))
    report.rows += [row, {**row, "what": "stop", "seconds": None, "is_met": False, "cpu_seconds": None}]
    console = Console(file=io.StringIO(), width=60)
    print_first_evening_report(report, console)
    said = " ".join(console.file.getvalue().split())
    assert "start 0.30 0.4 PASS 0.30 stop never 0.4 MISS 1 of 2 pass" in said


def test_the_readme_has_commands():
    found = list_page_commands(ROOT / "README.md")
    assert "equipoise solve leduc --target 1e-3 --out leduc.eq" in found
    assert len(found) >= 5
    assert all(command.startswith("equipoise ") for command in found)


@pytest.mark.parametrize("arguments", [("--spot", "nowhere.toml"), ("--readme", "nowhere.md")])
def test_what_is_missing_is_said(equipoise, arguments):
    done = equipoise("bench", "first-evening", *arguments)
    assert done.code == 2
    assert "run from a checkout" in done.err


def test_no_page_is_an_error():
    with pytest.raises(ConfigError, match="there is no page"):
        list_page_commands(Path("nowhere.md"))
