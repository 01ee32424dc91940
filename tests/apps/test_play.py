# SPDX-License-Identifier: Apache-2.0
"""A person at the table: what can be typed, what is shown, what stays hidden, and how a session ends."""

import fcntl
import os
import pty
import re
import select
import subprocess
import sys
import termios
import time

import pytest
from typer.testing import CliRunner

from equipoise.agents.notation import AgentText
from equipoise.apps.cli import app
from equipoise.apps.table.command import PlayOptions, find_game
from equipoise.apps.table.moves import list_moves, parse_move
from equipoise.core.errors import ParseError
from equipoise.games.holdem.rules import Holdem
from equipoise.games.registry import make_game
from tests.apps.commands import QUIET

FREE = Holdem(menu="all")
POT = Holdem(menu="100%, a")


def sit(game, *actions):
    """Returns a state of hold'em after the first cards of the deck and some actions."""
    state = game.initial_state()
    for action in (0, 5, 10, 15, *actions):
        state = game.apply(state, action)
    return state


def play(typed, *arguments):
    return CliRunner().invoke(app, ["play", *arguments], input=typed, env={"COLUMNS": "200"})


@pytest.mark.parametrize(
    ("words", "action"),
    [
        ("f", 0),
        ("FOLD", 0),
        ("c", 1),
        ("call", 1),
        ("call 50", 1),
        ("raise 300", 300),
        ("raise to 300", 300),
        ("r300", 300),
        ("  300 ", 300),
        ("$300", 300),
        ("raise by 300", 400),
        ("pot", 300),
        ("raise the pot", 300),
        ("half pot", 200),
        ("half the pot", 200),
        ("75%", 250),
        ("75% pot", 250),
        ("3/4 pot", 250),
        ("2x pot", 500),
        ("0.5 pot", 200),
        ("min", 200),
        ("all in", 20_000),
        ("all-in", 20_000),
        ("shove", 20_000),
    ],
)
def test_words_of_poker(words, action):
    assert parse_move(words, FREE, sit(FREE)) == action


def test_amounts_are_of_the_round():
    flop = sit(FREE, 300, 1, 20, 24, 28)  # three cards follow the call
    assert parse_move("bet 200", FREE, flop) == 500
    assert parse_move("check", FREE, flop) == 1
    assert parse_move("pot", FREE, flop) == 900
    assert list_moves(FREE, flop)[:2] == ["check", "bet 100 ... 19,700"]
    facing = FREE.apply(flop, 500)
    assert parse_move("raise 600", FREE, facing) == 900
    assert list_moves(FREE, facing)[1] == "call 200"


def test_all_in_may_be_a_call():
    facing = sit(FREE, 20_000)
    assert parse_move("all in", FREE, facing) == 1
    assert list_moves(FREE, facing) == ["fold", "call 19,900"]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("raise", "say how much"),
        ("raise 120", "up to 20,000"),
        ("99999", "not offered"),
        ("check", "there is a bet: call 50"),
        ("nine pot", "share of the pot"),
        ("1/0 pot", "share of the pot"),
        ("blub", "no move here"),
        ("r" * 5000, "no move here"),
        ("9" * 5000, "no move here"),
        ("\x00", "no move here"),
    ],
)
def test_nonsense_is_answered(words, reason):
    with pytest.raises(ParseError, match=reason):
        parse_move(words, FREE, sit(FREE))


def test_menus_say_what_they_offer():
    with pytest.raises(ParseError, match="raise to 300, 20,000"):
        parse_move("half pot", POT, sit(POT))
    with pytest.raises(ParseError, match="nothing to fold to"):
        parse_move("fold", POT, sit(POT, 1))
    with pytest.raises(ParseError, match="nobody can raise"):
        parse_move("min", POT, sit(POT, 20_000))
    assert list_moves(POT, sit(POT)) == ["fold", "call 50", "raise to 300", "all in (20,000)"]


def test_other_games_by_name_beginning_and_number():
    game = make_game("leduc")
    state = game.apply(game.apply(game.initial_state(), 0), 3)
    names = [game.action_name(state, action) for action in game.legal_actions(state)]
    assert list_moves(game, state) == names == ["check", "bet 2"]
    for words in ("check", "c", "x", "1"):
        assert parse_move(words, game, state) == game.legal_actions(state)[0]
    assert parse_move("bet", game, state) == parse_move("2", game, state) == game.legal_actions(state)[1]
    for words in ("", "9", "raise", "²"):
        with pytest.raises(ParseError, match="there are check, bet 2"):
            parse_move(words, game, state)


@pytest.mark.parametrize(
    ("game", "typed"),
    [
        ("kuhn", "c\n" * 20),
        ("leduc", "c\n" * 40),
        ("holdem", "c\n" * 60),
        ("liars_dice", "1\n" * 60),
        ("tic_tac_toe", "".join(f"{k % 9 + 1}\n" for k in range(200))),
        ("holdem_six", "c\n" * 200),
    ],
)
def test_any_game_can_be_played(game, typed):
    done = play(typed, game, "--against", "uniform", "--seed", "4", "--hands", "3")
    assert done.exit_code == 0, done.output
    assert re.search(r"score: .* in 3 hands", done.output)
    assert ("mbb/h" in done.output) == (game not in ("liars_dice", "tic_tac_toe"))


def test_the_same_seed_deals_the_same_cards():
    first, second = (play("c\n" * 40, "holdem", "-a", "uniform", "--seed", "9", "-n", "2").output for _ in (0, 1))
    assert first == second
    assert play("c\n" * 40, "holdem", "-a", "uniform", "--seed", "8", "-n", "2").output != first


def test_cards_that_nobody_shows_stay_hidden():
    done = play("f\nq\n", "holdem", "--against", "call", "--seed", "1")
    assert "Ac 2s" in done.output
    assert "Ah" not in done.output  # what `call` holds
    assert "you lose 50" in done.output
    shown = play("c\n" * 5, "holdem", "--against", "call", "--seed", "1", "--hands", "1")
    assert "call Ah 5s" in shown.output


def test_hidden_moves_are_not_told():
    done = play("1\nq\n", "goofspiel", "--against", "uniform", "--seed", "1")
    assert "uniform:" not in done.output


def test_hints_come_when_asked_for():
    done = play("hint\nc\nq\n", "kuhn", "--against", "call", "--seed", "1")
    assert done.output.count("call would: check 100%") == 1
    told = play("c\nq\n", "kuhn", "--against", "call", "--seed", "1", "--hint")
    assert "call would: check 100%" in told.output
    simulated = play("hint\nq\n", "kuhn", "--against", "ismcts:20", "--seed", "1")
    assert "would" in simulated.output


def test_bad_words_never_end_a_hand():
    done = play("\n?\nblub\nraise\n\xff\nc\n" + "c\n" * 6, "holdem", "--against", "call", "--seed", "1", "--hands", "1")
    assert done.exit_code == 0
    assert "give up the hand" in done.output
    assert "'blub' is no move here" in done.output
    assert "in 1 hand" in done.output


def test_the_end_of_input_shows_the_score():
    done = play("c\n", "kuhn", "--against", "call", "--seed", "1")
    assert done.exit_code == 0
    assert "score: " in done.output or "no hand was finished" in done.output


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--against", "call"], "say which game"),
        (["chess", "--against", "call"], "unknown game"),
        (["kuhn", "--against", "deep"], "unknown agent"),
        (["kuhn", "--against", "supremus:leaves=equity"], "heads-up"),
        (["kuhn", "--against", "call", "--seconds-per-decision", "1"], "takes seconds"),
        (["--against", "supremus:nets=/nowhere"], "safetensors"),
    ],
)
def test_what_cannot_be_played_is_said(arguments, reason):
    done = play("", *arguments)
    assert done.exit_code == 2
    assert reason in done.output + done.stderr


def test_agents_bring_their_own_game():
    supremus, call = AgentText("supremus"), AgentText("call")
    for name in ("holdem", None):
        assert find_game(supremus, PlayOptions(game=name, against="supremus")).menu == "all"
    assert find_game(call, PlayOptions(game="holdem", against="call")).menu == "fcpa"
    named = PlayOptions(game="holdem", against="supremus", parameters=["menu=50%,a"])
    assert find_game(supremus, named).menu == "50%, a"


def test_agents_that_search_sit_down_too():
    options = ["-p", "deck=TJQKA/cds", "-p", "menu=all", "-p", "stacks=2000,2000"]
    agent = "supremus:leaves=zero,iterations=3,menu=100%,a"
    done = play(
        "hint\n" + "c\n" * 40,
        *("holdem", "-a", agent, *options, "--seed", "1", "--seconds-per-decision", "5", "--hands", "2"),
    )
    assert done.exit_code == 0, done.output
    assert "supremus would: " in done.output
    assert "in 2 hands" in done.output


class Terminal:
    """A session at a pseudo-terminal."""

    def __init__(self, *arguments):
        self.end, theirs = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-c", QUIET, "play", *arguments],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(theirs, termios.TIOCSCTTY, 0),  # noqa: PLW1509 - keys become signals
            env={**os.environ, "COLUMNS": "100"},
        )
        os.close(theirs)
        self.shown = ""

    def wait_for(self, words, seconds=60.0):
        """Reads until some words have come, and drops what came up to them."""
        deadline = time.monotonic() + seconds
        while words not in self.shown and time.monotonic() < deadline:
            if select.select([self.end], [], [], 0.2)[0]:
                try:
                    self.shown += os.read(self.end, 4096).decode()
                except OSError:
                    break
        assert words in self.shown, self.shown
        self.shown = self.shown.partition(words)[2]

    def press(self, key, words):
        """Presses a key until some words come: a signal between the prompt and the reading is heard at the next one."""
        for _ in range(12):
            os.write(self.end, key)
            try:
                return self.wait_for(words, seconds=5.0)
            except AssertionError:
                continue
        raise AssertionError(self.shown)

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.end)


@pytest.mark.parametrize(("key", "code"), [(b"\x03", 130), (b"\x04", 0), (b"q\n", 0)])
def test_a_terminal_is_left_with_the_score(key, code):
    terminal = Terminal("kuhn", "--against", "call", "--seed", "1")
    try:
        terminal.wait_for("> ")
        os.write(terminal.end, b"c\n")
        terminal.wait_for("hand 2")
        terminal.wait_for("> ")
        terminal.press(key, "in 1 hand")
        assert terminal.process.wait(30) == code
    finally:
        terminal.close()


def test_quiet_play_shows_what_happens_alone():
    shown = play("call\nq\n", "kuhn", "--against", "call", "--seed", "1", "--quiet", "--hands", "1").output
    assert "you can: " in shown
    assert not re.search("q leaves|score|in 1 hand", shown)
