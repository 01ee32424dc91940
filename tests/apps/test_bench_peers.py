# SPDX-License-Identifier: Apache-2.0
"""`equipoise bench holdem --peers` runs programs that a user has built: stand-ins, here. No test asserts a speed."""

import json
import sys

import pytest
from typer.testing import CliRunner

from equipoise.apps.bench.peers import (
    Dialect,
    Peer,
    PeerFailure,
    PeersSettings,
    load_peers,
    read_figure,
    run_peers,
    write_texas,
)
from equipoise.apps.bench.report import print_peers_report
from equipoise.apps.cli import app
from equipoise.apps.display import make_console
from equipoise.core.errors import ConfigError
from equipoise.games.holdem.cards import parse_board
from equipoise.games.holdem.menu_notation import parse_menu
from equipoise.games.holdem.ranges import parse_range
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.runs import load_spot

# says what it was given, then comes nearer to nothing without end
SOLVER = """
import json, sys
spot, percent, threads = sys.argv[1:]
print("reading", open(spot).read().splitlines()[0])
figure = 100.0
while True:
    print(json.dumps({"exploitability": figure, "threads": int(threads)}), flush=True)
    figure /= 2
"""
TEXAS = """
import sys
commands = sys.stdin.read().splitlines()
assert commands[-1] == "start_solve", commands
accuracy = float(next(line.split()[1] for line in commands if line.startswith("set_accuracy")))
for figure in (9.5, accuracy):
    print("Iter: 10")
    print(f"Total exploitability {figure} percent")
"""


def spot(**fields):
    given = {
        "board": parse_board("Ks8d4h2cTd"),
        "pot": 60,
        "stacks": (90, 90),
        "ranges": (parse_range("AA, KQs"), parse_range("QQ, JTs")),
        "menu": parse_menu("50%, a / 100%, a; river ip: 33%, 75%"),
        **fields,
    }
    return HoldemSpot(**given)


@pytest.fixture
def program(tmp_path):
    def write(name, text):
        path = tmp_path / f"{name}.py"
        path.write_text(text)
        return path

    return write


def settings(*peers, **fields):
    return PeersSettings(**{"spots": {"river": spot()}, "peers": peers, "percents": (1.0,), "repeats": 2, **fields})


def stand_in(program, name="mine", text=SOLVER, dialect=Dialect.JSON, blanks=("{spot}", "{percent}", "{threads}")):
    return Peer(name=name, command=(sys.executable, str(program(name, text)), *blanks), dialect=dialect)


def test_programs_are_stopped_at_the_target_and_stand_beside_ours(program, capsys):
    mine = stand_in(program)
    texas = stand_in(program, "texas", TEXAS, Dialect.TEXAS, ())
    report = run_peers(settings(mine, texas))
    assert [row["program"] for row in report.rows] == ["equipoise", "mine", "texas"]
    ours, first, second = report.rows
    assert 0 < ours["percent"] <= 1
    assert first["percent"] == 100 / 128  # the first figure that will do
    assert second["percent"] == 1
    for row in report.rows:
        assert row["is_reached"]
        assert row["cpu_seconds"] > 0
        assert row["seconds"] > 0
    assert first["ratio"] == first["cpu_seconds"] / ours["cpu_seconds"]
    print_peers_report(report, make_console(is_stderr=False))
    assert "mine" in capsys.readouterr().out
    assert json.loads(json.dumps(report.as_json()))["rows"][1]["program"] == "mine"


def test_a_program_that_never_comes_there_has_no_ratio(program):
    far = stand_in(program, text='print("{\\"exploitability\\": 5}")', blanks=())
    row = run_peers(settings(far)).rows[1]
    assert row["percent"] == 5
    assert not row["is_reached"]
    assert row["ratio"] is None


def test_a_program_that_hangs_is_stopped(program):
    text = 'import time\nprint("{\\"exploitability\\": 5}", flush=True)\ntime.sleep(60)'
    row = run_peers(settings(stand_in(program, text=text, blanks=()), longest=0.3, repeats=1)).rows[1]
    assert row["seconds"] < 30
    assert row["ratio"] is None


def test_a_program_that_takes_too_long_to_begin_is_no_failure(program):
    row = run_peers(
        settings(stand_in(program, text="import time; time.sleep(60)", blanks=()), longest=0.3, repeats=1)
    ).rows[1]
    assert row["percent"] is None
    assert not row["is_reached"]


@pytest.mark.parametrize(
    ("text", "message"),
    [("import sys; sys.exit('no such spot')", "no such spot"), ("print('hello')", "said nothing of exploitability")],
)
def test_a_program_that_says_nothing_is_named(program, text, message):
    with pytest.raises(PeerFailure, match=f"mine .*{message}"):
        run_peers(settings(stand_in(program, text=text, blanks=())))


def test_a_program_that_is_not_there_is_named():
    with pytest.raises(PeerFailure, match="program mine could not be started"):
        run_peers(settings(Peer(name="mine", command=("/nowhere/solver",))))


def test_texas_is_told_the_same_spot():
    lines = write_texas(spot(board=parse_board("Ks8d4h2c")), 0.5, 3).splitlines()
    assert lines[:5] == [
        "set_pot 60",
        "set_effective_stack 90",
        "set_board Ks,8d,4h,2c",
        "set_range_oop AA,KQs",
        "set_range_ip QQ,JTs",
    ]
    sizes = [line for line in lines if line.startswith("set_bet_sizes")]
    assert "set_bet_sizes oop,turn,bet,50" in sizes
    assert "set_bet_sizes oop,turn,raise,100" in sizes
    assert "set_bet_sizes oop,river,allin" in sizes
    assert "set_bet_sizes ip,river,bet,33,75" in sizes
    assert "set_bet_sizes ip,river,allin" not in sizes
    assert not any("flop" in line for line in sizes)
    assert {"set_thread_num 3", "set_accuracy 0.5"} <= set(lines)


@pytest.mark.parametrize(
    "fields",
    [
        {"stacks": (90, 80)},
        {"rake_rate": 0.05},
        {"menu": parse_menu("50c")},
        {"menu": parse_menu("50%; cap: 2")},
        {"menu": parse_menu("50%; donk: 25%")},
        {"menu": parse_menu("50% / 60% / 70%")},
        {"menu": parse_menu("50%; merge: 10%")},
    ],
    ids=str,
)
def test_what_texas_cannot_be_told_is_refused(fields):
    with pytest.raises(ConfigError, match="TexasSolver"):
        write_texas(spot(**fields), 0.5, 1)


def test_spots_reach_programs_as_files_that_open(program, tmp_path):
    seen_path = tmp_path / "seen.toml"
    text = f"import shutil, sys; shutil.copy(sys.argv[1], {str(seen_path)!r}); print('{{\"exploitability\": 0}}')"
    run_peers(settings(stand_in(program, text=text, blanks=("{spot}",)), repeats=1))
    seen = load_spot(seen_path.read_text()).spot
    assert (seen.board, seen.pot, seen.stacks, seen.menu) == (spot().board, 60, (90, 90), spot().menu)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "names no program"),
        ("a", "must be a TOML file"),
        ("[x]\ndialect = 'json'", "must be a table with command"),
        ("[x]\ncommand = ['a']\nspeed = 1", "must be a table with command"),
        ("[x]\ncommand = []", "command of x must be a list of words"),
        ("[x]\ncommand = [1]", "command of x must be a list of words"),
        ("[x]\ncommand = ['a']\ndialect = 'klingon'", "dialect of x must be json or texas, got 'klingon'"),
        ("[x]\ncommand = ['a']\nfolder = 3", "folder of x must be a text"),
        ("[equipoise]\ncommand = ['a']", "must not be called equipoise"),
    ],
)
def test_bad_files_of_programs_are_refused(tmp_path, text, message):
    (tmp_path / "peers.toml").write_text(text)
    with pytest.raises(ConfigError, match=message):
        load_peers(tmp_path / "peers.toml")


@pytest.mark.parametrize(
    "field",
    [{"percents": ()}, {"percents": (0.0,)}, {"repeats": 0}, {"threads": 0}, {"longest": float("inf")}, {"spots": {}}],
)
def test_senseless_settings_are_refused(field):
    with pytest.raises(ConfigError):
        settings(Peer(name="mine", command=("a",)), **field)


def test_the_command_reads_a_file_of_programs(program, tmp_path, monkeypatch):
    monkeypatch.setattr("equipoise.apps.bench.commands.example_spots", lambda: {"river": spot()})
    command = json.dumps([sys.executable, str(program("mine", SOLVER)), "{spot}", "{percent}", "{threads}"])
    (tmp_path / "peers.toml").write_text(f"[mine]\ncommand = {command}\n")
    done = CliRunner().invoke(
        app, ["bench", "holdem", "--peers", str(tmp_path / "peers.toml"), "--repeats", "1", "--json"]
    )
    assert done.exit_code == 0, done.stderr
    rows = json.loads(done.stdout)["rows"]
    assert [(row["target_percent"], row["program"]) for row in rows] == [
        (0.5, "equipoise"),
        (0.5, "mine"),
        (0.1, "equipoise"),
        (0.1, "mine"),
    ]


def test_a_file_that_is_not_there_is_named(tmp_path):
    done = CliRunner().invoke(app, ["bench", "holdem", "--peers", str(tmp_path / "none.toml")])
    assert done.exit_code == 2
    assert "none.toml" in done.stderr


RUBBISH = """
import sys
sys.stdout.buffer.write(b"\\xff\\xfe\\x00\\n{\\n[1]\\n")
sys.stderr.buffer.write(b"\\xff")
"""
WRAPPER = """
import subprocess, sys
subprocess.run([sys.executable, "-c", "import time; time.sleep(600)"])
"""


def test_a_program_that_prints_rubbish_is_one_line(program):
    with pytest.raises(PeerFailure, match="program mine said nothing of exploitability"):
        run_peers(settings(stand_in(program, text=RUBBISH)))


@pytest.mark.parametrize(
    ("dialect", "line"),
    [
        (Dialect.JSON, '{"exploitability": NaN}'),
        (Dialect.JSON, '{"exploitability": -1}'),
        (Dialect.JSON, f'{{"exploitability": 1{"0" * 400}}}'),
        (Dialect.TEXAS, "Total exploitability 1e-e3"),
    ],
)
def test_figures_that_are_none_are_passed_over(dialect, line):
    assert read_figure(dialect, line) is None


def test_what_a_program_has_started_is_ended_with_it(program):
    report = run_peers(settings(stand_in(program, text=WRAPPER), repeats=1, longest=0.3))
    assert report.rows[1]["seconds"] < 60
    assert not report.rows[1]["is_reached"]
