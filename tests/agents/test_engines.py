# SPDX-License-Identifier: Apache-2.0
"""Engines of chess and Go as agents, and agents as engines; real ones where they are installed."""

import io
import json
import shutil
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from equipoise.agents.engines import limit_engine
from equipoise.agents.notation import AgentText, parse_agent
from equipoise.agents.programs import close_programs
from equipoise.agents.simple import UniformAgent
from equipoise.apps.engine import answer_gtp, answer_json, answer_uci
from equipoise.core.errors import AgentFailedError, ConfigError
from equipoise.evaluation.play import play_game
from equipoise.games import parse_game

pytest.importorskip("pyspiel")
CHESS, GO = "openspiel:chess", "openspiel:go(board_size=5,komi=0.5)"
SELF = f"{sys.executable} -m equipoise engine uniform --protocol"
STOCKFISH = shutil.which("stockfish") or shutil.which("stockfish", path="/usr/games")
GNU_GO = shutil.which("gnugo") or shutil.which("gnugo", path="/usr/games")


def play(agents, text):
    game, rng = parse_game(text), np.random.default_rng(0)
    try:
        return play_game(game, [parse_agent(agent, game) for agent in agents], chance=rng, rng=rng)
    finally:
        close_programs()


def fake(tmp_path, body):
    """Returns the command of an engine that answers lines as `body` says, in `line`."""
    path = tmp_path / "fake engine.py"
    path.write_text(
        f"import sys, time\nfor line in sys.stdin:\n    line = line.strip()\n{textwrap.indent(body, '    ')}\n"
    )
    return f"{sys.executable} -u '{path}'"


UCI_HEAD = "if line == 'uci': print('uciok')\nif line == 'isready': print('readyok')\n"
GTP_HEAD = "if not line.startswith('genmove'): print('= \\n')\n"


def test_our_own_engine_plays_a_whole_game():
    assert sum(play(["uniform", f"gtp:{SELF} gtp"], GO)) == 0


@pytest.mark.parametrize(
    ("text", "kind", "body", "message"),
    [
        (
            CHESS,
            "uci",
            UCI_HEAD + "if line.startswith('go'): print('bestmove e2e5')",
            "chose 'e2e5', which is not legal",
        ),
        (CHESS, "uci", UCI_HEAD + "if line.startswith('go'): sys.exit(3)", "ended with exit code 3"),
        (GO, "gtp", GTP_HEAD + "else: print('= Z9\\n')", "chose 'Z9', which is not legal"),
        (GO, "gtp", GTP_HEAD + "else: print('? cannot\\n')", "answered 'genmove b' with '. cannot'"),
    ],
)
def test_engine_that_misbehaves_ends_the_match_with_one_line(tmp_path, text, kind, body, message):
    seats = [f"{kind}:seconds=0.1,{fake(tmp_path, body)}"] * 2

    with pytest.raises(AgentFailedError, match=message):
        play(seats, text)


def test_engine_that_hangs_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr("equipoise.agents.engines.GRACE", 0.2)
    command = fake(tmp_path, UCI_HEAD + "if line.startswith('go'): time.sleep(60)")

    with pytest.raises(AgentFailedError, match=r"gave no answer within 0.3 seconds"):
        play([f"uci:seconds=0.1,{command}"] * 2, CHESS)


def test_engine_that_resigns_passes(tmp_path):
    command = fake(tmp_path, GTP_HEAD + "else: print('= resign\\n')")

    assert sum(play([f"gtp:{command}"] * 2, GO)) == 0


@pytest.mark.parametrize(
    ("text", "game", "message"),
    [
        ("uci:no-such-engine", CHESS, "there is no program 'no-such-engine'"),
        ("uci:no-such-engine.py", CHESS, "Python starts it: python3 no-such-engine.py"),
        ("uci:seconds=0,python3", CHESS, "positive number, got seconds=0"),
        ("uci:nodes=1.5,python3", CHESS, "got nodes=1.5"),
        ("uci:seconds=1,seconds=2,python3", CHESS, "given once"),
        ("uci:seconds=1,", CHESS, "written uci:COMMAND"),
        ("uci:'python3", CHESS, "cannot be read"),
        ("uci:python3", "leduc", "uci is for openspiel:chess, got leduc"),
        ("gtp:python3", CHESS, "gtp is for openspiel:go"),
        ("gtp:nodes=3,python3", GO, "take seconds alone"),
    ],
)
def test_bad_engine_is_refused(text, game, message):
    with pytest.raises(ConfigError, match=message):
        parse_agent(text, parse_game(game))


def test_seconds_are_limited():
    assert limit_engine("skill=0,stockfish --x", 2.0) == "seconds=2,skill=0,stockfish --x"
    assert AgentText("gtp:gnugo").limit(1.5).name == "gtp:seconds=1.5,gnugo"


def ask(answer, text):
    return list(answer(io.StringIO(textwrap.dedent(text)), lambda _game: UniformAgent(), np.random.default_rng(0)))


def test_uci_commands():
    said = ask(
        answer_uci,
        """\
        uci
        isready
        position fen 8/8/8/8/8/8/8/8 w - - 0 1
        position startpos moves e2e4 e2e4
        position startpos moves f2f3 e7e5 g2g4 d8h4
        go movetime 10
        position startpos
        go infinite
        nonsense

        quit
        go
        """,
    )
    assert said[2:4] == ["uciok", "readyok"]
    assert said[4].startswith("info string positions are given by their moves")
    assert said[5].startswith("info string e2e4 is not legal after 1 moves")
    assert said[6] == "bestmove 0000"
    assert said[7].startswith("bestmove ")
    assert len(said) == 8


def test_gtp_commands():
    said = ask(
        answer_gtp,
        """\
        1 protocol_version
        2 boardsize 5
        3 boardsize 99
        4 komi 0.5
        5 komi x
        6 play b C3
        7 play b D3
        8 play w C3
        9 play w PASS
        10 genmove b
        11 known_command play
        12 fly
        # a remark
        13 genmove purple
        14 quit
        15 name
        """,
    )
    assert [line.rstrip() for line in said[:9]] == [
        "=1 2",
        "=2",
        "?3 unacceptable size",
        "=4",
        "?5 syntax error",
        "=6",
        "?7 it is the turn of w: pass comes first",
        "?8 illegal move",
        "=9",
    ]
    assert said[9].startswith("=10 ")
    assert [line.rstrip() for line in said[10:]] == ["=11 true", "?12 unknown command", "?13 a colour is b or w", "=14"]
    assert all(line.endswith("\n") for line in said)  # an empty line ends every answer


def test_json_messages():
    messages = [
        {"type": "see"},
        {"type": "begin", "protocol": 1, "label": "kuhn", "seat": 0},
        {"type": "act", "seat": 0, "infostate": "J|", "public_state": "", "moves": [{"action": 0, "kind": "call"}]},
        {"type": "begin", "protocol": 9, "label": "kuhn", "seat": 0},
        {"type": "end"},
    ]
    said = ask(answer_json, "\n".join(map(json.dumps, messages)) + "\nnot json\n")

    assert json.loads(said[0]) == {"error": "a game must begin before anything else"}
    assert json.loads(said[1]) == {"action": 0}
    assert "protocol 1 is spoken here, got 9" in said[2]
    assert "error" in json.loads(said[3])
    assert len(said) == 4


def test_our_agent_plays_as_a_bot_of_itself():
    assert sum(play([f"bot:{SELF} jsonl", "uniform"], "leduc")) == 0


def test_engine_command_says_what_it_does():
    done = subprocess.run(
        [sys.executable, "-m", "equipoise", "engine", "nobody", "--protocol", "uci"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 2
    assert "unknown agent" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.engine
@pytest.mark.skipif(STOCKFISH is None, reason="Stockfish is not installed")
def test_stockfish_beats_a_random_player_from_both_sides():
    strong = f"uci:seconds=0.01,skill=0,{STOCKFISH}"

    assert play([strong, "uniform"], CHESS) == (1.0, -1.0)
    assert play(["uniform", strong], CHESS) == (-1.0, 1.0)


@pytest.mark.engine
@pytest.mark.skipif(GNU_GO is None, reason="GNU Go is not installed")
def test_gnu_go_beats_a_random_player_from_both_sides():
    strong = f"gtp:{GNU_GO} --mode gtp --level 1 --chinese-rules"

    assert play([strong, "uniform"], GO) == (1.0, -1.0)
    assert play(["uniform", strong], GO) == (-1.0, 1.0)
