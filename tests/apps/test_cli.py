# SPDX-License-Identifier: Apache-2.0
import importlib
import os
import re
from collections import namedtuple

import pytest

import equipoise as package
from equipoise.core import files, memory
from equipoise.core.errors import CheckpointError
from equipoise.games.registry import game_names
from equipoise.runs import game_run, preparation
from equipoise.solvers import treeless_mccfr
from equipoise.solvers.methods import METHODS
from equipoise.solvers.strategy import TabularStrategy
from tests.apps.commands import run_command

KEYS = {
    "game": str,
    "rule": str,
    "iterations": int,
    "seconds": float,
    "exploitability": float,
    "nash_conv": float,
    "game_value": float,
    "num_histories": int,
    "num_infosets": int,
    "seed": int,
    "version": str,
}
SAMPLED = ["solve", "phantom_tic_tac_toe", "--method", "outcome", "--form", "game"]  # too large for a tree
Usage = namedtuple("Usage", ["total", "used", "free"])


def test_version(equipoise):
    outcome = equipoise("--version")
    assert outcome.code == 0
    assert outcome.out.startswith(f"equipoise {package.__version__}")


def test_every_game_is_listed_with_its_parameters(equipoise):
    rows = equipoise("games", "--json").json
    assert [row["name"] for row in rows] == list(game_names())
    kuhn = next(row for row in rows if row["name"] == "kuhn")
    assert kuhn["description"].startswith("Kuhn poker")
    assert kuhn["parameters"][0].keys() == {"name", "type", "default", "description"}
    text = equipoise("games").out
    assert all(row["name"] in text for row in rows)
    assert "the deck has one card more" in equipoise("games", "kuhn").out


def test_kuhn_without_a_word(equipoise):
    outcome = equipoise("solve", "kuhn", "--json")
    assert outcome.code == 0
    result = outcome.json
    assert {key: type(result[key]) for key in KEYS} == KEYS
    assert result["game"] == "kuhn"
    assert result["rule"] == "dcfr"
    assert result["game_value"] == pytest.approx(-1 / 18, abs=1e-4)
    assert result["exploitability"] < 1e-4
    assert result["seconds"] < 1
    assert result["nash_conv"] == pytest.approx(2 * result["exploitability"])
    assert (result["num_histories"], result["num_infosets"]) == (58, 12)
    assert result["stopped_by"] == "target"
    assert result["version"] == package.__version__


def test_leduc_by_the_book(equipoise):
    result = equipoise("solve", "leduc", "--rule", "dcfr", "--iterations", 1000, "--json").json
    assert result["exploitability"] <= 4e-4
    assert (result["iterations"], result["stopped_by"]) == (1000, "iterations")


def test_the_first_keys_are_the_documented_ones(equipoise):
    assert list(equipoise("solve", "kuhn", "-n", 1, "--json").json)[: len(KEYS)] == list(KEYS)


@pytest.mark.parametrize("method", sorted(METHODS.keys() - {"own"}))  # which needs a class of the user's
def test_every_method_solves(equipoise, method):
    result = equipoise("solve", "leduc", "-p", "merge_suits=true", "--method", method, "-n", 40, "--json").json
    assert result["method"] == method
    assert result["iterations"] == (1 if method == "lp" else 40)
    assert 0 <= result["nash_conv"] + 1e-12 < 10


def test_both_forms_compute_the_same(equipoise):
    results = [
        equipoise("solve", "leduc", "--form", form, "-n", 20, "--out", f"{form}.eq", "--json").json
        for form in ("history", "vector")
    ]
    for key in ("exploitability", "game_value", "num_histories", "num_infosets"):
        assert results[0][key] == pytest.approx(results[1][key], abs=1e-9)
    evaluated = equipoise("evaluate", "vector.eq", "--json").json
    assert evaluated["exploitability"] == pytest.approx(results[1]["exploitability"], abs=1e-12)


@pytest.mark.parametrize("method", ["external", "outcome"])
def test_without_a_tree_a_small_game_is_measured_exactly(equipoise, method):
    command = ("solve", "kuhn", "--form", "game", "--method", method, "-n", 3000, "--out", "kuhn.eq", "--json")
    result = equipoise(*command).json
    assert {key: type(result[key]) for key in KEYS} == KEYS
    assert result["exploitability"] < 0.1
    assert (result["num_histories"], result["num_infosets"], result["form"]) == (58, 12, "game")
    assert result["why"] is result["sampled"] is None
    evaluated = equipoise("evaluate", "kuhn.eq", "--json").json
    assert evaluated["exploitability"] == pytest.approx(result["exploitability"], abs=1e-12)


def test_a_game_too_large_for_a_tree_is_sampled_and_nothing_is_claimed(equipoise):
    outcome = equipoise(*SAMPLED, "-n", 100, "--out", "p.eq", "--plot", "p.png", "--json")
    result = outcome.json
    assert outcome.code == 0
    assert [key for key in KEYS if result[key] is None] == [
        "exploitability", "nash_conv", "game_value", "num_histories", "num_infosets"
    ]  # fmt: skip
    assert re.search(r"has about [12]\.\de\+10 histories, by sampling", result["why"])
    assert "no exploitability: phantom_tic_tac_toe has about" in outcome.err
    figures = result["sampled"]
    assert figures["num_infostates"] > 500
    assert figures["regret_bound"] > 0
    assert len(figures["values_against_uniform"]) == len(figures["standard_errors"]) == 2
    assert result["table_bytes"] > 100_000
    assert result["target"] is None
    assert result["progress"][-1]["exploitability"] is None

    evaluated = equipoise("evaluate", "p.eq", "--json").json
    assert evaluated["exploitability"] is evaluated["nash_conv"] is evaluated["values"] is None
    assert "histories, by sampling; a best response would visit all of them" in evaluated["why"]
    assert evaluated["sampled"]["regret_bound"] == figures["regret_bound"]
    assert "exploitability not known: phantom_tic_tac_toe has about" in equipoise("evaluate", "p.eq").out
    assert equipoise("show", "p.eq", "--limit", 2, "--json").json["num_matching"] == figures["num_infostates"]

    table = equipoise("solve", "phantom_tic_tac_toe", "-n", 120, "--out", "p.eq", "--resume")
    assert "not known: phantom_tic_tac_toe has about" in table.out
    assert "values against uniform, sampled" in table.out


def test_a_run_without_a_tree_is_evaluated_though_it_met_little(equipoise):
    command = ("solve", "leduc", "--form", "game", "--method", "outcome", "-n", 2, "--out", "leduc.eq", "--json")
    solved = equipoise(*command).json
    evaluated = equipoise("evaluate", "leduc.eq", "--json").json
    assert evaluated["exploitability"] == pytest.approx(solved["exploitability"], abs=1e-12)
    assert equipoise("show", "leduc.eq", "--json").json["num_matching"] < evaluated["num_infosets"]
    for limit in (100, 9000):  # hopeless from the start, and given up on the way
        limited = equipoise("evaluate", "leduc.eq", "--max-histories", limit, "--json").json
        assert limited["exploitability"] is None
        assert f"{limit:,}" in limited["why"]


def test_without_a_tree_memory_ends_a_run_and_keeps_it(equipoise, monkeypatch):
    monkeypatch.setattr(treeless_mccfr, "available_bytes", lambda: 1_000_000)
    outcome = equipoise(*SAMPLED, "-n", 100_000, "--out", "p.eq", "--json")
    assert (outcome.code, outcome.json["stopped_by"]) == (0, "memory")
    assert outcome.json["table_bytes"] < 500_000
    again = equipoise(*SAMPLED, "-n", 100_000, "--out", "p.eq", "--resume", "--json")
    assert (again.code, again.json["stopped_by"]) == (0, "memory")
    assert again.json["iterations"] == outcome.json["iterations"]
    assert "the tables have reached the memory" in again.err


def test_the_vector_form_says_its_sizes_before_its_tables(equipoise):
    errors = equipoise("solve", "leduc", "--form", "vector", "-n", 5).err
    assert "9,457 histories, 465 public states, 3,492 cells, 936 information sets, vector tree of" in errors
    assert errors.index("vector tree of") < errors.index("tables of")


def test_a_vector_form_too_large_is_refused_with_its_estimate(equipoise):
    outcome = equipoise("solve", "leduc", "--form", "vector", "--max-histories", 1000)
    assert outcome.code == 2
    assert "has more than 1,000 histories, the limit given; sampling suggests about" in outcome.err


def test_a_seed_decides_what_is_sampled(equipoise):
    command = ("solve", "kuhn", "--method", "external", "-n", 200, "--json", "--seed")
    values = [equipoise(*command, seed).json["exploitability"] for seed in (1, 1, 2)]
    assert values[0] == values[1] != values[2]


def test_people_get_a_table_and_messages(equipoise):
    outcome = equipoise("solve", "kuhn", "-n", 10)
    assert "exploitability" in outcome.out
    assert "58 histories, 12 information sets" in outcome.err
    assert "tables of" in outcome.err


@pytest.mark.parametrize("command", [["solve", "kuhn"], ["compare", "kuhn"]], ids=" ".join)
def test_a_narrow_terminal_cuts_no_number(equipoise, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "20")
    assert "…" not in equipoise(*command, "-n", 10).out


def test_quiet_is_quiet(equipoise):
    equipoise("solve", "kuhn", "-n", 10, "--out", "kuhn.eq")
    for command in (["solve", "kuhn"], ["compare", "kuhn", "-n", 10], ["evaluate", "kuhn.eq"]):
        outcome = equipoise(*command, "--quiet")
        assert (outcome.code, outcome.out, outcome.err) == (0, "", "")
    assert equipoise("compare", "kuhn", "-n", 10, "--quiet", "--json").json["rows"]


def test_missed_target_has_its_own_exit_code(equipoise):
    outcome = equipoise("solve", "kuhn", "--target", "1e-9", "-n", 10, "--json")
    assert outcome.code == 3
    assert outcome.json["stopped_by"] == "iterations"
    assert "target 1.00e-09 not reached" in outcome.err
    assert equipoise("solve", "kuhn", "--target", "1", "-n", 10).code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["solve", "kuhm"], "unknown game 'kuhm'; did you mean kuhn"),
        (["solve", "kuhn", "--rule", "dcfq"], "unknown rule 'dcfq'; did you mean"),
        (["solve", "kuhn", "--rule", ""], "unknown rule ''; known: cfr"),
        (["solve", "kuhn", "--method", ""], "unknown method ''; known: cfr"),
        (["compare", "kuhn", "--rules", "cfr:"], "unknown rule ''; known: cfr"),
        (["bench", "tabular", "--games", ""], "--games needs at least one name, got ''"),
        (["bench", "tabular", "--engines", ","], "--engines needs at least one name, got ','"),
        (["solve", "kuhn", "--out", "~nobody_of_that_name/x.eq"], "cannot find the home directory"),
        (["solve", "kuhn", "--method", "xternal"], "unknown method 'xternal'; did you mean external"),
        (["solve", "kuhn", "-p", "players=99"], "players must be between 2 and 10, got 99"),
        (["solve", "kuhn", "-p", "players=x"], "players must be an integer, got 'x'"),
        (["solve", "kuhn", "-p", "cards=3"], "kuhn has no parameter 'cards'; it has players"),
        (["solve", "kuhn", "-p", "players"], "written key=value"),
        (["solve", "kuhn", "--iterations", "0"], "iterations must be at least 1, got 0"),
        (["solve", "kuhn", "--iterations", "9" * 400], "iterations must be at most 1,000,000,000,000,000, got 999"),
        (["solve", "kuhn", "--target", "-1"], "target must be at least 0"),
        (["solve", "kuhn", "--seconds", "nan"], "seconds must be positive"),
        (["solve", "kuhn", "--out", "no/where.eq"], "directory .*no does not exist"),
        (["solve", "kuhn", "--out", "."], "it is a directory"),
        (["solve", "kuhn", "--plot", "curve.txt"], r"must end in \.png, \.svg, \.pdf, got 'curve.txt'"),
        (["solve", "kuhn", "--plot", "no/curve.png"], "directory .*no does not exist"),
        (["solve", "kuhn", "--prune", "rpb"], "unknown pruning 'rpb'; did you mean rbp"),
        (["solve", "kuhn", "--prune", "partial(3)"], "partial takes no numbers"),
        (["solve", "kuhn", "--prune", "rbp(x)"], "parentheses hold numbers"),
        (["solve", "kuhn", "--prune", "rbp"], "fall without bound, got rule dcfr"),
        (["solve", "kuhn", "--prune", "partial", "--form", "vector"], "walks single histories, got --form vector"),
        (["solve", "kuhn", "--prune", "partial", "--threads", "2"], "one thread, got --threads 2"),
        (["solve", "kuhn", "--prune", "partial", "--method", "egt"], "method egt has no --prune"),
        (["solve", "kuhn", "-p", "players=3", "--prune", "partial"], "two-player zero-sum games, got kuhn"),
        (["solve", "kuhn", "--resume"], "--resume needs --out"),
        (["solve", "kuhn", "--resume", "--overwrite", "--out", "x"], "give one of them"),
        (["solve", "kuhn", "--method", "fp", "--rule", "cfr"], "fp takes no rule"),
        (["solve", "kuhn", "--method", "egt", "--rule", "cfr"], r"a rule for egt is thresholded\(c\)"),
        (["solve", "kuhn", "--method", "egt", "--updates", "simultaneous"], "egt has no --updates"),
        (["solve", "kuhn", "--method", "lp", "--threads", "2"], "lp runs on one thread"),
        (["solve", "kuhn", "-p", "players=3", "--method", "lp"], "needs two players"),
        (["solve", "kuhn", "-p", "players=3", "--form", "vector"], "public form is for 2 players"),
        (["solve", "kuhn", "--method", "egt", "--form", "vector"], "egt has no vector form"),
        (["compare", "kuhn", "--rules", "dcfr,flop", "--form", "vector"], "flop has no vector form"),
        (
            ["solve", "kuhn", "--form", "game"],
            r"cfr needs a tree; without one \(--form game\) there are external, outc",
        ),
        (["solve", "kuhn", "--method", "chance", "--form", "game"], "chance needs a tree"),
        (["solve", "phantom_tic_tac_toe", "--method", "outcome"], "Without a tree: --form game"),
        ([*SAMPLED, "--target", "0.01"], r"a target of 0\.01 needs an exploitability; phantom_tic_tac_toe has about"),
        (["compare", *SAMPLED[1:2], *SAMPLED[4:], "--rules", "outcome", "--target", "0.01"], "needs an exploitability"),
        (
            ["solve", "phantom_tic_tac_toe", "-p", "rows=5", "-p", "columns=5", "--method", "external", *SAMPLED[4:]],
            r"nodes in a single traversal.*--method outcome walks single paths",
        ),
        (["solve", "leduc", "--max-histories", "100"], "too large|more than 100 histories"),
        (["solve", "phantom_tic_tac_toe"], r"too large: sampling suggests about .* [GT]B"),
        (["solve", "openspiel:no_such_game"], "no_such_game"),
        (["evaluate", "missing.eq"], "cannot read missing.eq: no such file"),
        (["show", "missing.eq"], "cannot read missing.eq"),
        (["compare", "kuhn", "--rules", "cfr,nope"], "unknown rule 'nope'"),
        (["compare", "kuhn", "--rules", ","], "at least one name"),
        (["compare", "kuhn", "--rules", "nope:cfr"], "unknown method 'nope'"),
        (["games", "kuhm"], "unknown game 'kuhm'"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(equipoise, arguments, message):
    outcome = equipoise(*arguments)
    assert outcome.code == 2
    assert outcome.out == ""
    last = outcome.err.strip().splitlines()[-1]
    assert last.startswith("error: ")
    assert re.search(message, last)


@pytest.mark.parametrize(
    "arguments", [["solve"], ["solve", "kuhn", "--no-such"], ["no-such"], ["solve", "kuhn", "-n", "x"]]
)
def test_usage_errors_have_exit_code_2(equipoise, arguments):
    outcome = equipoise(*arguments)
    assert outcome.code == 2
    assert outcome.out == ""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["solv"], "error: no such command 'solv'; did you mean 'solve'?; see `equipoise --help`"),
        (["--foo"], "error: no such option: --foo; see `equipoise --help`"),
        (["train", "pogg"], "error: no such command 'pogg'; did you mean 'pog'?; see `equipoise train --help`"),
        (["solve", "kuhn", "--itrations", "3"], "error: no such option: --itrations; did you mean --iterations"),
        (["solve", "kuhn", "-n", "x"], "error: --iterations must be a whole number, got 'x'; see `equipoise solve -"),
        (["solve", "kuhn", "--threads", "0"], "error: --threads must be at least 1, got '0'; see"),
        (["solve", "kuhn", "--form", "x"], "error: invalid value for '--form': 'x' is not one of 'history', 'vector'"),
        (["show"], "error: FILE is missing: a file written by `solve --out`, or CSV; see `equipoise show --help`"),
        (["match"], "error: AGENT is missing: two or more agents; see `equipoise match --help`"),
        (["play", "kuhn"], "error: --against is missing: who plays; see `equipoise play --help`"),
        (["train", "pog", "kuhn"], "error: --out is missing: folder of what is learnt, state and log; see"),
        (["show", "a", "b", "c"], "error: got unexpected extra words (b c); see `equipoise show --help`"),
        (
            ["search", "a.eq"],
            "error: --line is missing: the public state, as `show` writes it after the bar; of a spot",
        ),
        (["match", "--hands"], "error: option '--hands' requires an argument"),
    ],
    ids=str,
)
def test_usage_errors_are_one_line_that_says_all(equipoise, arguments, said):
    outcome = equipoise(*arguments)
    assert outcome.code == 2
    assert outcome.err.startswith(said)
    assert len(outcome.err.splitlines()) == 1


def test_a_quiet_tree_prints_nothing(equipoise):
    outcome = equipoise("tree", "kuhn", "--quiet")
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")


@pytest.mark.parametrize("words", [(), ("train",), ("bench",)], ids=str)
def test_a_group_of_commands_alone_shows_its_help(equipoise, words):
    outcome = equipoise(*words)
    assert "Usage: equipoise" in outcome.out + outcome.err
    assert "error" not in outcome.err


@pytest.mark.parametrize(
    ("arguments", "given"),
    [
        (["-n", "x"], "got 'x'"),
        (["--threads", "0"], "got '0'"),
        (["--threads", "257"], "got '257'"),
        (["--seconds", "1,5"], "got '1,5'"),
    ],
    ids=" ".join,
)
def test_usage_errors_say_what_was_given(equipoise, arguments, given):
    outcome = equipoise("solve", "kuhn", *arguments)
    assert given in " ".join(outcome.err.split())


def test_unwritable_output_is_said_before_solving(equipoise, monkeypatch):
    monkeypatch.setattr(game_run, "grow_tree", lambda *_args, **_options: pytest.fail("the solve began"))
    assert equipoise("solve", "kuhn", "--out", "no/where").code == 2
    assert equipoise("solve", "kuhn", "--plot", "no/where.png").code == 2


def test_too_small_a_disk_is_said_before_solving(equipoise, monkeypatch):
    monkeypatch.setattr(files.shutil, "disk_usage", lambda _: Usage(10, 9, 1))
    outcome = equipoise("solve", "kuhn", "--out", "x.eq")
    assert outcome.code == 2
    assert "the disk has 1 B free" in outcome.err


def test_the_disk_must_have_room_for_the_whole_file(equipoise, monkeypatch):
    equipoise("solve", "leduc", "-n", 5, "--out", "leduc.eq")
    free = os.path.getsize("leduc.eq") - 1
    monkeypatch.setattr(files.shutil, "disk_usage", lambda _: Usage(10**9, 0, free))
    outcome = equipoise("solve", "leduc", "--out", "x.eq")
    assert outcome.code == 2
    assert "cannot write x.eq: it needs about" in outcome.err


def test_a_home_directory_is_found(equipoise, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert equipoise("solve", "kuhn", "-n", 5, "--out=~/home.eq").code == 0
    assert "exists: give --resume" in equipoise("solve", "kuhn", "-n", 5, "--out=~/home.eq").err
    assert equipoise("evaluate", "~/home.eq").code == 0
    assert os.listdir() == ["home.eq"]


@pytest.mark.parametrize(
    ("command", "place"), [("solve", "session"), ("compare", "comparison")], ids=["solve", "compare"]
)
def test_a_plot_that_fails_does_not_swallow_the_result(equipoise, monkeypatch, command, place):
    def fail(*_args, **_options):
        raise CheckpointError("cannot write curve.png")

    monkeypatch.setattr(importlib.import_module(f"equipoise.apps.{place}"), "plot_convergence", fail)
    outcome = equipoise(command, "kuhn", "-n", 10, "--plot", "curve.png", "--json")
    assert outcome.code == 2
    assert outcome.json["game"] == "kuhn"
    assert "error: cannot write curve.png" in outcome.err
    assert "curve in" not in outcome.err


def test_too_little_memory_for_the_tree_is_refused_with_figures(equipoise, monkeypatch):
    monkeypatch.setattr(preparation, "available_bytes", lambda: 400_000)
    outcome = equipoise("solve", "leduc")
    assert outcome.code == 2
    assert "400.0 kB are available, enough to build a tree of about 2,000 histories" in outcome.err


def test_too_little_memory_for_the_tables_is_refused_with_figures(equipoise, monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: 1000)
    outcome = equipoise("solve", "kuhn")
    assert outcome.code == 2
    assert "solving kuhn with dcfr needs 1.3 kB of memory, 1.0 kB are available" in outcome.err


@pytest.mark.parametrize(("suffix", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_curves_are_drawn(equipoise, suffix, start):
    assert equipoise("solve", "kuhn", "-n", 100, "--plot", f"curve.{suffix}").code == 0
    with open(f"curve.{suffix}", "rb") as file:
        assert file.read(len(start)) == start


def test_the_target_is_drawn(equipoise):
    assert equipoise("solve", "kuhn", "--target", 0.01, "--plot", "curve.svg").code == 0
    with open("curve.svg", encoding="utf8") as file:
        assert "target 0.01" in file.read()


def test_openspiel_games_are_solved_and_evaluated(equipoise):
    pytest.importorskip("pyspiel")
    solved = equipoise("solve", "openspiel:kuhn_poker", "-n", 100, "--out", "k.eq", "--json").json
    assert equipoise("evaluate", "k.eq", "--json").json["exploitability"] == solved["exploitability"]
    assert "players" in equipoise("games", "openspiel:kuhn_poker").out


def test_strategies_load_from_result_files(equipoise):
    equipoise("solve", "kuhn", "-n", 10, "--out", "kuhn.eq")
    assert len(TabularStrategy.load("kuhn.eq").infostates) == 12


def test_a_game_solved_exactly_is_plotted(equipoise, tmp_path):
    plot = tmp_path / "zero.png"
    assert equipoise("solve", "rock_paper_scissors", "--plot", plot).code == 0
    assert plot.stat().st_size > 1000


def test_one_file_for_run_and_plot_is_refused(equipoise, tmp_path):
    outcome = equipoise("solve", "kuhn", "--out", tmp_path / "b.png", "--plot", tmp_path / "b.png")
    assert outcome.code == 2
    assert "--out and --plot must be two files" in outcome.err


PRUNED = ("--method", "external", "--rule", "lcfr(50000)", "--prune", "weighted-libratus(-5,5,1000)")


def test_what_pruning_saves_is_told(equipoise):
    command = ("solve", "leduc(merge_suits=true)", "--rule", "cfr", "--updates", "simultaneous", "-n", 2000)
    table = " ".join(equipoise(*command, "--prune", "brp").out.split())
    nodes, pruned, share = re.search(r"pruning ([\d,]+) nodes .* (\d+) information sets .*\((\d+)% of", table).groups()
    result = equipoise(*command, "--prune", "brp", "--json").json
    assert f"{result['nodes_touched']:,}" == nodes
    assert int(pruned) > 20
    assert int(share) < 95
    assert "pruning" not in equipoise(*command[:-1], 5).out


def test_a_pruned_run_is_told_saved_and_resumed(equipoise, tmp_path):
    path = tmp_path / "leduc.eq"
    first = equipoise("solve", "leduc", *PRUNED, "--baseline", "history", "-n", 20_000, "--out", path, "--json").json
    assert (first["prune"], first["baseline"]) == ("weighted-libratus(-5,5,1000)", "history")
    both = equipoise("solve", "leduc", "--out", path, "--resume", "-n", 40_000, "--json").json
    assert (both["prune"], both["baseline"]) == (first["prune"], first["baseline"])
    whole = equipoise("solve", "leduc", *PRUNED, "--baseline", "history", "-n", 40_000, "--json").json
    assert both["exploitability"] == whole["exploitability"]
    other = equipoise("solve", "leduc", "--out", path, "--resume", "--prune", "rbs")
    assert other.code != 0
    assert "prune weighted-libratus(-5,5,1000), asked for rbs" in other.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--method", "lp", "--prune", "libratus"), "method lp has no --prune, got 'libratus'; it is for"),
        (("--method", "outcome", "--prune", "rbs"), "method outcome has no --prune"),
        (("--method", "chance", "--baseline", "infoset"), "method chance has no --baseline, got 'infoset'"),
        (("--method", "external", "--prune", "pluribus"), "nothing would be pruned in kuhn"),
        (("--method", "external", "--form", "game", "--prune", "rbs"), "need a tree"),
    ],
)
def test_pruning_that_a_method_does_not_have_is_refused(equipoise, options, message):
    outcome = equipoise("solve", "kuhn", *options, "-n", 10)
    assert outcome.code != 0
    assert message in " ".join(outcome.err.split())


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        (("so",), ["solve"]),
        (("bench", "f"), ["first-evening"]),
        (("solve", "lem"), ["lemonade_stand"]),
        (("solve", "kuhn", "--rule", "dc"), ["dcfr", "dcfr+"]),
        (("solve", "kuhn", "--method", "eg"), ["egt"]),
        (("reproduce", "coin"), ["coin-toss"]),
        (("solve", "examples/"), []),  # the shell's own: files
    ],
)
def test_shells_are_told_what_a_word_may_become(tmp_path, typed, offered):
    asked = {"_EQUIPOISE_COMPLETE": "complete_bash", "COMP_CWORD": str(len(typed))}
    program = "import sys; sys.argv[0] = 'equipoise'; from equipoise.apps import cli; cli.main()"
    done = run_command(program, tmp_path, **asked, COMP_WORDS=" ".join(("equipoise", *typed)))
    assert done.stdout.split() == offered


@pytest.mark.parametrize("words", [("reproduce",), ("games",), ("pushfold", "--stack", 10, "--deck", "QKA/cd")])
def test_lists_and_charts_are_silent_if_asked(equipoise, words):
    assert equipoise(*words, "--quiet").out == ""
