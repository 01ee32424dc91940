# SPDX-License-Identifier: Apache-2.0
"""Hold'em spots on the command line, most of it in real processes."""

import csv
import functools
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from equipoise.core import memory
from equipoise.games.holdem.spot_file import load_spot
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.holdem.solved_spot import SolvedSpot
from equipoise.trees.holdem.tree import build_holdem_tree
from tests.apps.commands import TALKATIVE, run_command

EXAMPLES = Path(__file__).parents[2] / "examples" / "spots"
COMMAND = [sys.executable, "-c", TALKATIVE]
TURN = """
board = "Ks7s2s5d"
pot = 20
stacks = 40
big_blind = 2
menu = "50%, a / a"
target = "1% pot"

[ranges]
oop = "AA, KK, AK, QJs, 76s"
ip = "QQ, 77, AQ, KQ:0.5, T9s"
"""
RIVER = TURN.replace("Ks7s2s5d", "Ks7s2s5d9h")
ANSI = re.compile(r"\x1b\[[0-9;]*m")


run = functools.partial(run_command, TALKATIVE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A directory with a solved turn."""
    directory = tmp_path_factory.mktemp("spots")
    (directory / "turn.toml").write_text(TURN)
    done = run(directory, "solve", "turn.toml", "--out", "turn.eq", "--plot", "turn.png", "--json")
    (directory / "result.json").write_text(done.stdout)
    (directory / "messages.txt").write_text(done.stderr)
    assert done.returncode == 0
    return directory


def test_a_spot_is_solved_to_its_target(folder):
    result = json.loads((folder / "result.json").read_text())
    assert result["stopped_by"] == "target"
    assert result["exploitability"] <= 0.2
    assert result["exploitability_percent_of_pot"] == pytest.approx(5 * result["exploitability"])
    assert result["exploitability_mbb"] == pytest.approx(500 * result["exploitability"])
    assert sum(result["values"]) == pytest.approx(0.0, abs=1e-9)
    assert sum(result["pot_shares"]) == pytest.approx(20)
    assert (result["game"], result["parameters"]["board"], result["form"]) == ("spot", "Ks7s2s5d", "board")
    assert result["num_histories"] is None
    assert result["ms_per_iteration"] > 0
    assert (folder / "turn.png").read_bytes().startswith(b"\x89PNG")


def test_sizes_are_said_before_and_time_after_the_first_iterations(folder):
    messages = (folder / "messages.txt").read_text().splitlines()
    assert re.match(r"turn Ks7s2s5d: 28 and 41 hands, 88 betting nodes, 36 boards$", messages[0])
    assert re.match(r"dcfr in float32: [\d.]+ .B of memory, [\d,]+ numbers a table", messages[1])
    assert messages[2].startswith("solving to exploitability 0.2 chips (1% of the pot, 100 mbb); Ctrl-C stops it and")
    estimate = next(line for line in messages if "ms an iteration" in line)
    assert re.match(r"[\d.e+-]+ ms an iteration, about .* more by the first \d+", estimate)
    assert any(re.search(r"exploitability .* chips \(.*% of the pot, .* mbb\)", line) for line in messages[3:])


def test_people_see_both_values(tmp_path):
    (tmp_path / "river.toml").write_text(RIVER)
    done = run(tmp_path, "solve", "river.toml", "--target", "100mbb", "--threads", "2")
    assert done.returncode == 0
    assert re.search(r"values +oop [\d.]+ chips of the pot \([\d.]+%\), net [+-]", done.stdout)
    assert re.search(r" ip [\d.]+ chips of the pot", done.stdout)
    assert "spot            river Ks7s2s5d9h, pot 20, 40 behind, big blind 2" in done.stdout


def test_the_solver_is_the_library_s(tmp_path):
    (tmp_path / "river.toml").write_text(RIVER)
    done = run(tmp_path, "solve", "river.toml", "-n", 25, "--precision", "float64", "--rule", "lcfr", "--out", "x.eq")
    assert done.returncode == 0
    saved = SolvedSpot.load(tmp_path / "x.eq")
    assert (saved.config.rule, saved.config.parameters["precision"]) == ("lcfr", "float64")
    assert saved.file == load_spot(tmp_path / "river.toml")
    solver = CFRSolver(build_holdem_tree(saved.file.spot), dtype=np.float64)
    solver.restore(saved.state)
    assert solver.evaluate().exploitability == saved.progress[-1].exploitability


def test_rake_locks_and_16_bits_from_the_file(tmp_path):
    lock = '[[locks]]\nline = ""\nplay = {check = 1.0}\n'
    extra = 'rake = {rate = 0.05, cap = 3}\nprecision = "int16"\n'.replace("\\\n", "\n")
    (tmp_path / "river.toml").write_text(RIVER.replace("[ranges]", extra + lock + "[ranges]"))
    done = run(tmp_path, "solve", "river.toml", "-n", 300, "--json", "--out", "river.eq")
    result = json.loads(done.stdout)
    assert -3 < sum(result["values"]) < -0.5
    assert result["parameters"]["precision"] == "int16"
    assert result["exploitability"] < 0.2
    shown = json.loads(run(tmp_path, "show", "river.eq", "--json").stdout)
    assert shown["frequencies"] == pytest.approx([1, 0, 0])
    found = json.loads(run(tmp_path, "evaluate", "river.eq", "--json").stdout)
    assert found["exploitability"] == pytest.approx(result["exploitability"])
    # who must check would rather bet
    assert found["exploitability_without_locks"] == pytest.approx(result["exploitability_without_locks"])
    assert found["exploitability_without_locks"] > result["exploitability"] + 0.01
    assert "(without locks " in run(tmp_path, "evaluate", "river.eq").stdout


def test_locks_are_checked_against_the_menu_of_the_command_line(tmp_path):
    lock = '[[locks]]\nline = "check, bet 50%"\nplay = {fold = 1.0}\n'
    (tmp_path / "river.toml").write_text(RIVER.replace("[ranges]", lock + "[ranges]"))
    refused = run(tmp_path, "solve", "river.toml", "--menu", "a")
    assert refused.returncode == 2
    assert "river.toml: locks[0].line: line step 'bet 50%' is none of the actions" in refused.stderr


def test_without_locks_nothing_is_said_of_them(folder):
    assert json.loads((folder / "result.json").read_text())["exploitability_without_locks"] is None
    assert "locks" not in run(folder, "evaluate", "turn.eq").stdout


def test_runs_go_on_to_the_bit(tmp_path):
    (tmp_path / "river.toml").write_text(RIVER)
    assert run(tmp_path, "solve", "river.toml", "-n", 7, "--out", "half.eq").returncode == 0
    assert run(tmp_path, "solve", "river.toml", "-n", 20, "--out", "half.eq", "--resume").returncode == 0
    assert run(tmp_path, "solve", "river.toml", "-n", 20, "--out", "whole.eq").returncode == 0
    half, whole = SolvedSpot.load(tmp_path / "half.eq"), SolvedSpot.load(tmp_path / "whole.eq")
    for name, table in whole.state.items():
        np.testing.assert_array_equal(half.state[name], table, err_msg=name)


def test_ctrl_c_saves_and_says_how_to_go_on(tmp_path):
    (tmp_path / "turn.toml").write_text(TURN)
    arguments = ["solve", "turn.toml", "--target", "0", "--menu", "75%, a / a", "--out", "halted.eq", "--json"]
    process = subprocess.Popen(
        [*COMMAND, *arguments], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert any("iterations/s" in line for line in iter(process.stderr.readline, ""))
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    result = json.loads(out)
    assert process.returncode == 130
    assert result["stopped_by"] == "interrupted"
    assert "go on with: equipoise solve turn.toml --menu '75%, a / a' --out halted.eq --resume --target 0" in err
    assert SolvedSpot.load(tmp_path / "halted.eq").progress[-1].iteration == result["iterations"]
    assert sorted(os.listdir(tmp_path)) == ["halted.eq", "turn.toml"]


def test_a_missed_target_has_its_exit_code(tmp_path):
    (tmp_path / "river.toml").write_text(RIVER)
    done = run(tmp_path, "solve", "river.toml", "--target", "0.001%", "-n", 3)
    assert done.returncode == 3
    assert "target 2.00e-04 chips (0.001% of the pot, 0.1 mbb) not reached: stopped by iterations at" in done.stderr
    assert run(tmp_path, "solve", "river.toml", "-n", 3).returncode == 0  # the file's aim alone is not asked for


def endgame(board="4s8hTc9h2s", rounds=4):
    reach = " ".join(["0.5"] * 1326 + ["0.25"] * 1326)
    return f"-round {rounds}\n-board {board}\n-pot 39000\n-reach {reach}\n"


def test_endgames_of_the_public_format(tmp_path):
    (tmp_path / "endgame.txt").write_text(endgame())
    done = run(tmp_path, "solve", "--endgame", "endgame.txt", "--menu", "a", "-n", 5, "--json", "--out", "end.eq")
    assert done.returncode == 0
    result = json.loads(done.stdout)
    assert (result["parameters"]["pot"], result["parameters"]["menu"]) == ("39000", "a")
    assert load_endgame_ranges(tmp_path / "end.eq") == (0.5, 0.25)


def load_endgame_ranges(path):
    return tuple(float(held.weights.max()) for held in SolvedSpot.load(path).file.spot.ranges)


def test_the_grid_is_square_and_needs_no_colour(folder):
    done = run(folder, "show", "turn.eq", "--node", "check, bet 50%", "--grid")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert max(map(len, lines[3:])) <= 80
    assert "\x1b" not in done.stdout
    assert lines[1].startswith("check, bet 50%: oop acts on Ks7s2s5d, pot 15 bb (30 chips), 5 bb to call, 15 bb behind")
    first = next(place for place, line in enumerate(lines) if line.startswith("AA "))
    grid, legend = lines[first : first + 26], lines[first + 26]
    assert re.search(r"f +fold [\d.]+% +c +call [\d.]+% +a +all-in [\d.]+%", legend)
    assert grid[0].split() == ["AA", *(f"A{rank}s" for rank in "KQJT98765432")]
    assert grid[-2].split() == [*(f"{rank}2o" for rank in "AKQJT9876543"), "22"]
    assert re.match(r"[fca]\d+", grid[1])  # aces are there
    assert grid[-1].split() == ["."] * 13  # deuces are not


def test_colour_adds_nothing_but_colour(folder):
    plain = run(folder, "show", "turn.eq", "--grid").stdout
    coloured = run(folder, "show", "turn.eq", "--grid", FORCE_COLOR="1", TERM="xterm-256color").stdout
    assert "\x1b[" in coloured
    assert ANSI.sub("", coloured) == plain


def test_every_hand_as_csv(folder):
    node = "check, check, [Qh], check"
    done = run(folder, "show", "turn.eq", "--node", node, "--csv", "--out", "hands.csv")
    assert done.returncode == 0
    assert done.stdout == ""
    rows = list(csv.DictReader((folder / "hands.csv").read_text().splitlines()))
    actions = ["check", "bet 50%", "all-in"]
    named = [*actions, *(f"ev {action}" for action in actions), "class", "draw"]
    assert list(rows[0]) == ["hand", "weight", "equity", "value", *named]
    assert {"QsQc", "QdQc", "7h7c", "AhKc"} & {row["hand"] for row in rows} == {"QsQc", "QdQc", "7h7c"}
    assert not any("Qh" in row["hand"] or "Ks" in row["hand"] for row in rows)
    for row in rows:
        assert sum(float(row[action]) for action in actions) == pytest.approx(1.0)
        assert 0 <= float(row["weight"]) <= 1
        assert 0 <= float(row["equity"]) <= 1
        assert -40 <= float(row["value"]) <= 60
    assert done.stderr == "written to hands.csv\n"


def test_hands_as_json_and_as_a_table(folder):
    found = json.loads(run(folder, "show", "turn.eq", "--json", "-i", "AKs", "--limit", "2").stdout)
    assert [action["name"] for action in found["place"]["actions"]] == found["actions"]
    assert found["place"]["pot"] == found["pot"]
    assert (found["node"], found["player"], found["actions"]) == ("", 0, ["check", "bet 50%", "all-in"])
    assert sum(found["frequencies"]) == pytest.approx(1.0)
    assert (found["num_matching"], [row["hand"] for row in found["rows"]]) == (3, ["AhKh", "AdKd"])
    done = run(folder, "show", "turn.eq", "-i", "AKs", "--limit", "2")
    assert "AhKh" in done.stdout
    assert "2 of 3 hands" in done.stderr
    assert "no hand matches" in run(folder, "show", "turn.eq", "-i", "32o").stderr


def test_places_where_nobody_acts(folder):
    found = json.loads(run(folder, "show", "turn.eq", "--node", "check, check", "--json").stdout)
    assert (found["node"], found["player"], found["rows"]) == ("check, check", None, [])
    assert found["place"]["kind"] == "deal"
    assert len(found["place"]["cards"]) == 48
    shown = run(folder, "show", "turn.eq", "--node", "check, check").stdout
    assert "check, check: deal on Ks7s2s5d, 20 in the pot" in shown
    assert "add a card, as in 'check, check, [2c]'" in shown
    over = json.loads(run(folder, "show", "turn.eq", "--node", "bet 50%, fold", "--json").stdout)
    assert (over["place"]["kind"], over["place"]["cards"], over["pot"]) == ("fold", None, 30)


def test_a_saved_spot_is_evaluated(folder):
    result = json.loads((folder / "result.json").read_text())
    found = json.loads(run(folder, "evaluate", "turn.eq", "--json").stdout)
    assert found["exploitability"] == pytest.approx(result["exploitability"])
    assert found["values"] == pytest.approx(result["values"])
    assert "best response" in run(folder, "evaluate", "turn.eq").stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["show", "turn.eq", "--node", "bet 70%"], "none of the actions at the root: check, bet 50%, all-in"),
        (["show", "turn.eq", "--node", "check, check", "--csv"], "it is a street end; add the river, as in [7h]"),
        (["show", "turn.eq", "--player", "2"], "a spot has players 0 and 1, got --player 2"),
        (["show", "turn.eq", "--out", "x"], "--out needs a format"),
        (["solve", "turn.toml", "--out", "turn.eq"], "turn.eq exists: give --resume"),
        (["solve", "turn.toml", "--out", "turn.eq", "--resume", "--menu", "a"], "holds another run: parameters menu="),
        (["solve", "turn.toml", "--out", "turn.eq", "--resume", "--rule", "cfr"], "rule dcfr, asked for cfr"),
        (["solve", "kuhn", "--out", "turn.eq", "--resume"], "holds another run: game spot, asked for game kuhn"),
        (["solve", "turn.toml", "--form", "vector"], "--form is for games"),
        (["solve", "turn.toml", "--seed", "1"], "--seed is for games"),
        (["solve", "turn.toml", "-p", "a=b"], "parameters are for games"),
        (
            ["solve", "turn.toml", "--method", "lp"],
            "spots are solved with method cfr, external, public-chance, fp, linear-fp or flop, got --method lp",
        ),
        (
            ["solve", "turn.toml", "--against", "best", "--method", "external"],
            "--against best is for method cfr, got external",
        ),
        (["solve", "turn.toml", "--seat", "0"], "--seat is for runs --against a response, and none is given"),
        (["solve", "turn.toml", "--merge", "[A]"], "--merge is for runs --against a response, and none is given"),
        (
            ["solve", "turn.toml", "--updates-per-response", "3"],
            "--updates-per-response is for runs --against a response",
        ),
        (["solve", "turn.toml", "--prune", "rbs"], "--prune is for games, and for spots under --method external"),
        (["solve", "turn.toml", "--baseline", "infoset"], "--baseline is for games"),
        (["solve", "turn.toml", "--max-histories", "5"], "--max-histories is for games"),
        (["solve", "turn.toml", "--method", "public-chance", "--prune", "rbs"], "method public-chance has no --prune"),
        (["solve", "turn.toml", "--method", "external", "--threads", "2"], "method external runs on one thread"),
        (["solve", "turn.toml", "--method", "external", "--precision", "int16"], "16 bits lose single updates"),
        (["solve", "turn.toml", "--method", "external", "--updates", "simultaneous"], "external has no --updates"),
        (["solve", "turn.toml", "--method", "external", "--rule", "dcfr"], "unknown rule for sampling 'dcfr'"),
        (["solve", "turn.toml", "--target", "5 bb"], "a target is written 0.5% pot, 20 mbb or 3 chips, got '5 bb'"),
        (["solve", "turn.toml", "--rule", "dcrf"], "unknown rule 'dcrf'; did you mean dcfr"),
        (["solve", "turn.toml", "--menu", "librats"], "turn.toml: unknown menu 'librats'; did you mean libratus"),
        (["solve", "turn.toml", "--menu", "flop: a"], "menu has no sizes for turn oop"),
        (["solve", "turn.toml", "--endgame", "x"], "give one spot"),
        (["solve", "--endgame", "x"], "x: cannot be read: no such file"),
        (["solve", "nothing.toml"], "error: cannot read nothing.toml: no such file"),
        (["solve"], "name a game that `equipoise games` lists, a spot such as spot.toml, or --endgame FILE"),
        (["solve", "kuhn", "--menu", "a"], "--menu is for hold'em spots, and kuhn is a game"),
        (["solve", "kuhn", "--target", "1%"], "target of a game must be a number such as 1e-4, got '1%'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_input_is_one_line_and_exit_code_2(equipoise, folder, monkeypatch, arguments, message):
    monkeypatch.chdir(folder)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    outcome = equipoise(*arguments)
    assert outcome.code == 2
    assert outcome.out == ""
    assert message in " ".join(outcome.err.split())
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("Ks7s2s5d", "Ks7s2s2s", "spot.toml: board: a board's cards are different, got 2s twice"),
        ('"AA, KK, AK, QJs, 76s"', '"Ks7s"', "ranges: the board Ks7s2s5d blocks every hand of the range oop"),
        ('"AA, KK, AK, QJs, 76s"', '"AA:0"', "ranges: the range oop is empty"),
        ("stacks = 40", "stacks = 0", "stacks: must be positive, got 0"),
        ("stacks = 40", "stack = 40", "unknown field 'stack'; did you mean stacks"),
        (
            'stacks = 40\nbig_blind = 2\nmenu = "50%, a / a"',
            'stacks = 400\nbig_blind = 1\nmenu = "min"',
            "never closes",
        ),
        ('1% pot"', '1% pot"\nprecision = "float8"', "precision must be float32 or float64 or int16, got 'float8'"),
        ('1% pot"', '1% pot"\nrule = "dcrf"', "unknown rule 'dcrf'"),
        ('ip = "QQ', "", "not TOML"),
    ],
)
def test_wrong_spots_are_refused_and_nothing_is_written(equipoise, tmp_path, old, new, message):
    assert old in TURN
    (tmp_path / "spot.toml").write_text(TURN.replace(old, new))
    (tmp_path / "old.eq").write_bytes(b"kept")
    outcome = equipoise("solve", "spot.toml", "--out", "old.eq", "--overwrite")
    assert outcome.code == 2
    assert message in " ".join(outcome.err.split())
    assert (tmp_path / "old.eq").read_bytes() == b"kept"
    assert sorted(os.listdir()) == ["old.eq", "spot.toml"]


@pytest.mark.parametrize("share", [0.0, 0.2, 0.5, 0.9, 0.999])
def test_endgames_cut_short_are_refused(equipoise, tmp_path, share):
    text = endgame()
    (tmp_path / "endgame.txt").write_text(text[: int(len(text) * share)].rstrip("0. \n25"))
    outcome = equipoise("solve", "--endgame", "endgame.txt")
    assert outcome.code == 2
    assert "is the file cut short?" in outcome.err


def test_saved_spots_cut_short_are_refused(equipoise, folder, tmp_path):
    whole = (folder / "turn.eq").read_bytes()
    (tmp_path / "turn.toml").write_text(TURN)
    (tmp_path / "cut.eq").write_bytes(whole[: len(whole) // 2])
    for arguments in (
        ["show", "cut.eq"],
        ["evaluate", "cut.eq"],
        ["solve", "turn.toml", "--out", "cut.eq", "--resume"],
    ):
        outcome = equipoise(*arguments)
        assert outcome.code == 2
        assert "cut.eq is truncated" in outcome.err


@pytest.mark.parametrize(
    ("available", "message"),
    [
        (500_000, r"solving the spot with dcfr in float32 needs [\d.]+ .B of memory, 500.0 kB are"),
        (100_000, r"the spot, at the least, needs [\d.]+ .B of memory, 100.0 kB are"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_estimate(equipoise, tmp_path, monkeypatch, available, message):
    monkeypatch.setattr(memory, "available_bytes", lambda: available)
    (tmp_path / "turn.toml").write_text(TURN)
    outcome = equipoise("solve", "turn.toml")
    assert outcome.code == 2
    assert re.search(message, outcome.err)


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.toml")), ids=lambda path: path.stem)
def test_example_spots_are_read(path):
    file = load_spot(path)
    assert file.target is not None
    assert file.spot.menu


def test_the_river_example_is_solved(equipoise):
    outcome = equipoise("solve", EXAMPLES / "river.toml", "--json")
    assert outcome.code == 0
    assert outcome.json["exploitability_percent_of_pot"] <= 0.1
