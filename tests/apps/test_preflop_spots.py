# SPDX-License-Identifier: Apache-2.0
"""Hold'em from before the flop on the command line, in real processes."""

import functools
import json
import os
import re
from pathlib import Path

import numpy as np
import pytest

from equipoise.apps.solve_push_fold import find_stakes
from equipoise.core import memory
from equipoise.games.holdem.spot_file import load_spot
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.holdem.push_fold import PushFold
from equipoise.solvers.holdem.solved_spot import SolvedSpot
from equipoise.trees.holdem.tree import build_holdem_tree
from tests.apps.commands import QUIET, run_command

EXAMPLES = Path(__file__).parents[2] / "examples" / "spots"
LIMIT = """
stacks = 40
big_blind = 2
small_blind = 1
ante = 1
bet_sizes = [2, 4]
max_raises = [1, 2]
last_street = "flop"
deck = "small"
target = "2% pot"
"""


run = functools.partial(run_command, QUIET)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A directory with limit flop hold'em of 18 cards, solved."""
    directory = tmp_path_factory.mktemp("preflop")
    (directory / "limit.toml").write_text(LIMIT)
    done = run(directory, "solve", "limit.toml", "--out", "limit.eq", "--json")
    assert done.returncode == 0
    (directory / "result.json").write_text(done.stdout)
    (directory / "messages.txt").write_text(done.stderr)
    return directory


def test_the_pot_before_the_flop_is_blinds_and_antes(folder):
    result = json.loads((folder / "result.json").read_text())
    assert result["stopped_by"] == "target"
    assert result["exploitability"] <= 0.02 * 5
    assert result["exploitability_percent_of_pot"] == pytest.approx(20 * result["exploitability"])
    assert result["exploitability_mbb"] == pytest.approx(500 * result["exploitability"])
    # the big blind has three chips in the pot, the small blind two
    assert result["pot_shares"] == pytest.approx([result["values"][0] + 3, result["values"][1] + 2])
    said = result["parameters"]
    assert (said["board"], said["pot"], said["small_blind"], said["ante"]) == ("", "5", "1", "1")
    assert (said["bet_sizes"], said["max_raises"], said["last_street"]) == ("2,4", "1,2", "flop")


def test_sizes_are_said_before_the_work(folder):
    messages = (folder / "messages.txt").read_text().splitlines()
    assert re.match(r"preflop: 153 and 153 hands, \d+ betting nodes, \d+ boards$", messages[0])
    assert re.match(r"dcfr in float32: [\d.]+ .B of memory, [\d,]+ numbers a table", messages[1])
    assert messages[2].startswith("solving to exploitability 0.1 chips (2% of the pot, 50 mbb)")


def test_people_see_both_players_shares(folder):
    done = run(folder, "solve", "limit.toml", "-n", 5)
    assert done.returncode == 0
    assert "spot            preflop, pot 5, 37 and 38 behind, big blind 2" in done.stdout
    shares = re.findall(r"(oop|ip) ([\d.]+) chips of the pot", done.stdout)
    assert sum(float(share) for _, share in shares) == pytest.approx(5, abs=1e-2)


def test_the_solver_is_the_library_s(folder):
    saved = SolvedSpot.load(folder / "limit.eq")
    assert saved.file == load_spot(folder / "limit.toml")
    solver = CFRSolver(build_holdem_tree(saved.file.spot))
    solver.restore(saved.state)
    assert solver.evaluate().exploitability == saved.progress[-1].exploitability
    found = json.loads(run(folder, "evaluate", "limit.eq", "--json").stdout)
    assert found["exploitability"] == pytest.approx(saved.progress[-1].exploitability)


def test_runs_go_on_to_the_bit(tmp_path):
    (tmp_path / "limit.toml").write_text(LIMIT)
    for arguments in (
        ["-n", 4, "--out", "half.eq"],
        ["-n", 9, "--out", "half.eq", "--resume"],
        ["-n", 9, "-o", "all.eq"],
    ):
        assert run(tmp_path, "solve", "limit.toml", *arguments).returncode == 0
    half, whole = SolvedSpot.load(tmp_path / "half.eq"), SolvedSpot.load(tmp_path / "all.eq")
    for name, table in whole.state.items():
        np.testing.assert_array_equal(half.state[name], table, err_msg=name)
    (tmp_path / "limit.toml").write_text(LIMIT.replace("ante = 1", "ante = 2"))
    other = run(tmp_path, "solve", "limit.toml", "-n", 9, "--out", "half.eq", "--resume")
    assert other.returncode == 2
    assert "half.eq holds another run" in other.stderr
    assert "ante=1" in other.stderr


def test_the_button_acts_first_and_folding_is_worth_nothing(folder):
    found = json.loads(run(folder, "show", "limit.eq", "--json", "--limit", "0").stdout)
    assert (found["node"], found["player"], found["board"], found["pot"]) == ("", 1, "", 5)
    assert found["actions"] == ["fold", "call", "raise"]
    assert sum(found["frequencies"]) == pytest.approx(1.0)
    assert len(found["rows"]) == 153
    assert found["value"] == pytest.approx(json.loads((folder / "result.json").read_text())["pot_shares"][1], abs=1e-5)
    text = run(folder, "show", "limit.eq").stdout
    assert "root: ip acts before the flop, pot 2.5 bb (5 chips)" in text
    assert "made, draw" not in text
    for options in (["--class", "set"], ["--by-class"]):
        refused = run(folder, "show", "limit.eq", *options)
        assert (refused.returncode, "from the flop on" in refused.stderr) == (2, True)


def show_hands(folder, line):
    found = json.loads(run(folder, "show", "limit.eq", "--node", line, "--json", "--limit", "0").stdout)
    return {frozenset((row["hand"][:2], row["hand"][2:])): row for row in found["rows"]}


def test_a_flop_of_any_order_and_suits_is_shown(folder):
    rows = show_hands(folder, "call, check, [Ah9cTs], bet")
    assert not any(cards & {"Ah", "9c", "Ts"} for cards in rows)
    assert all(sum(row["strategy"].values()) == pytest.approx(1.0) for row in rows.values())
    assert all(list(row["strategy"]) == ["fold", "call", "raise"] for row in rows.values())
    swap = str.maketrans("cs", "sc")  # of the suits of the same flop in another order
    for cards, row in show_hands(folder, "call, check, [Tc9sAh], bet").items():
        twin = rows[frozenset(card.translate(swap) for card in cards)]
        assert row["value"] == pytest.approx(twin["value"])
        assert row["strategy"] == pytest.approx(twin["strategy"])


def test_grids_before_and_on_the_flop(folder):
    before = run(folder, "show", "limit.eq", "--grid").stdout.splitlines()
    first = next(line for line in before if line.startswith("AA "))
    assert first.split() == ["AA", "AKs", "AQs", "AJs", "ATs", "A9s"]
    assert re.search(r"f +fold [\d.]+% +c +call [\d.]+% +r +raise [\d.]+%", before[-1])
    on = run(folder, "show", "limit.eq", "--grid", "--node", "raise, call, [Ah9cTs]").stdout
    assert "raise, call, [Ah9cTs]: oop acts on Ah9cTs, pot 5 bb (10 chips)" in on


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("call, check", "it is a street end; add the flop, as in [Ks7h2d]"),
        ("call, check, bet", "line step 'bet' needs the flop, as in [Ks7h2d], before it"),
        ("call, check, [Ah]", "the flop has 3 cards, got '[ah]'"),
        ("check", "none of the actions at the root: fold, call, raise"),
    ],
)
def test_wrong_lines_are_refused(folder, line, message):
    done = run(folder, "show", "limit.eq", "--csv", "--node", line, COLUMNS="200")
    assert done.returncode == 2
    assert message in done.stderr


def test_hold_em_to_the_river_is_refused_with_its_estimate(tmp_path):
    text = (EXAMPLES / "limit_flop_holdem.toml").read_text()
    assert 'last_street = "flop"\n' in text
    (tmp_path / "limit.toml").write_text(text.replace('last_street = "flop"\n', ""))
    done = run(tmp_path, "solve", "limit.toml", "--out", "limit.eq")
    assert done.returncode == 2
    assert re.search(r"the spot, at the least, needs [\d.]+ GB of memory, [\d.]+ .B are available", done.stderr)
    assert os.listdir(tmp_path) == ["limit.toml"]


def test_limit_flop_hold_em_is_the_thesis_s_and_its_size_is_said(equipoise, monkeypatch):
    path = EXAMPLES / "limit_flop_holdem.toml"
    rules = load_spot(path).spot.betting_rules
    assert [rules.raise_size(street) for street in (0, 1)] == [2, 2]
    assert [rules.raise_cap(street) for street in (0, 1)] == [3, 4]
    monkeypatch.setattr(memory, "available_bytes", lambda: 2_900_000_000)
    outcome = equipoise("solve", path)
    assert outcome.code == 2
    assert "preflop: 1,326 and 1,326 hands, " in outcome.err
    assert ", 1,756 boards" in outcome.err
    assert "needs 3.1 GB of memory, 2.9 GB are available" in outcome.err


def test_the_small_example_is_solved_to_its_target(tmp_path):
    done = run(tmp_path, "solve", EXAMPLES / "small_preflop.toml", "--json")
    assert done.returncode == 0
    result = json.loads(done.stdout)
    assert result["exploitability_percent_of_pot"] <= 1
    assert result["values"][0] > 0  # the big blind is ahead: 24 cards and short stacks leave position little


PUSH_FOLD = (EXAMPLES / "push_fold.toml").read_text() + 'deck = "small"\n'


def test_the_push_or_fold_example_is_ten_big_blinds_of_the_full_deck():
    assert find_stakes(load_spot(EXAMPLES / "push_fold.toml")) == PushFold(stack_bb=10.0)


def test_push_or_fold_is_solved_exactly(tmp_path):
    (tmp_path / "push_fold.toml").write_text(PUSH_FOLD)
    done = run(tmp_path, "solve", "push_fold.toml", "--json", EQUIPOISE_CACHE="off")
    assert done.returncode == 0
    result = json.loads(done.stdout)
    chart = json.loads(
        run(tmp_path, "pushfold", "--deck", "small", "--stack", 10, "--json", EQUIPOISE_CACHE="off").stdout
    )
    assert result["chart"] == chart
    assert (result["method"], result["stopped_by"]) == ("push_fold", "solved")
    small_blind, big_blind = chart["values_bb"]
    assert result["values"] == pytest.approx([2 * big_blind, 2 * small_blind])
    assert result["pot_shares"] == pytest.approx([2 * big_blind + 2, 2 * small_blind + 1])
    assert result["exploitability_mbb"] <= 0.001
    assert result["parameters"]["menu"] == "a; limp: none"


def test_push_or_fold_is_shown_as_two_grids(tmp_path):
    (tmp_path / "push_fold.toml").write_text(PUSH_FOLD)
    done = run(tmp_path, "solve", "push_fold.toml", EQUIPOISE_CACHE="off")
    assert done.returncode == 0
    assert done.stderr == "preflop: push or fold with 10 big blinds, solved exactly\n"
    assert done.stdout.count("AKs") == 2
    assert re.search(r" p +push [\d.]+% +f +fold [\d.]+%", done.stdout)
    assert re.search(r"\noop [\d.]+ chips of the pot \([\d.]+%\), net [+-].*\nip ", done.stdout)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--out", "x.eq"], "has no run to keep: leave out --out; --json writes the chart"),
        (["--plot", "x.png"], "leave out --plot"),
        (["-n", "10"], "push or fold, which is solved exactly: leave out iterations"),
        (["--rule", "cfr+"], "leave out rule"),
    ],
)
def test_an_exact_chart_has_no_run(equipoise, tmp_path, arguments, message):
    (tmp_path / "push_fold.toml").write_text(PUSH_FOLD)
    outcome = equipoise("solve", "push_fold.toml", *arguments)
    assert outcome.code == 2
    assert message in outcome.err
    assert os.listdir(tmp_path) == ["push_fold.toml"]


def test_push_or_fold_with_chosen_ranges_or_locks_needs_a_tree(equipoise, tmp_path):
    (tmp_path / "push_fold.toml").write_text(
        PUSH_FOLD.replace('"small"', '"tiny"') + '[ranges]\noop = "AA"\nip = "KK"\n'
    )
    outcome = equipoise("solve", "push_fold.toml", "-n", 3, "--target", "100 chips", "--json")
    assert outcome.code == 0
    assert (outcome.json["method"], outcome.json["form"]) == ("cfr", "board")
    lock = '[[locks]]\nline = ""\nplay = {all-in = 1.0}\n'
    (tmp_path / "push_fold.toml").write_text(PUSH_FOLD.replace('"small"', '"tiny"') + lock)
    outcome = equipoise("solve", "push_fold.toml", "-n", 3, "--target", "100 chips", "--out", "x.eq", "--json")
    assert outcome.code == 0
    assert equipoise("show", "x.eq", "--json").json["frequencies"] == pytest.approx([0, 1])
