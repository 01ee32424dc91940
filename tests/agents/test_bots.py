# SPDX-License-Identifier: Apache-2.0
"""Bots of other programs: whole matches, what they are told, and every way in which they can fail."""

import collections
import json
import shlex
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from equipoise.agents.base import observe_state
from equipoise.agents.bot_programs import BotAgent, digest_bot, make_bot
from equipoise.agents.notation import AgentText, limit_seconds
from equipoise.apps.cli import app
from equipoise.core.errors import AgentFailedError, ConfigError
from equipoise.games.holdem.rules import Holdem
from equipoise.games.registry import make_game
from equipoise.runs.matches import match

EXAMPLE = Path(__file__).parents[2] / "examples" / "bots" / "tight.py"
KUHN = make_game("kuhn")
ANSWERING = """
import json, sys, time
for number, line in enumerate(sys.stdin):
    told = json.loads(line)
    print(line.strip(), file=open({log!r}, "a"))
    if told["type"] == "act":
        {answer}
"""


@pytest.fixture
def make_text(tmp_path):
    """Returns the text of a bot that answers with a line of Python, and where it writes what it is told."""

    def make(answer, log="told.jsonl"):
        path = tmp_path / "bot.py"
        path.write_text(ANSWERING.format(log=str(tmp_path / log), answer=answer))
        return f"bot:{shlex.quote(sys.executable)} {shlex.quote(str(path))}"

    return make


def read_log(tmp_path):
    return [json.loads(line) for line in (tmp_path / "told.jsonl").read_text().splitlines()]


FIRST = 'print(json.dumps({"action": told["moves"][0]["action"]}), flush=True)'
NAMED = 'print(json.dumps({"action": told["moves"][-1]["name"].upper()}), flush=True)'


def test_the_example_plays_a_match():
    text = f"bot:{shlex.quote(sys.executable)} {shlex.quote(str(EXAMPLE))}"
    first, again = (match(text, "uniform", game="holdem", hands=60, seed=3) for _ in (0, 1))
    assert first.num_hands == 60
    assert first.failure is None
    np.testing.assert_array_equal(first.utility, again.utility)
    assert len(EXAMPLE.read_text().splitlines()) <= 30


def test_a_bot_in_two_processes_plays_the_same(make_text):
    alone, spread = (match(make_text(FIRST), "uniform", game="kuhn", hands=400, num_workers=n) for n in (1, 2))
    np.testing.assert_array_equal(alone.utility, spread.utility)


def test_a_bot_that_checks_is_as_good_as_our_own(make_text):
    bot = match(make_text(FIRST), "uniform", game="kuhn", hands=100)
    own = match("call", "uniform", game="kuhn", hands=100, runner="hands")
    folds = match("fold", "uniform", game="kuhn", hands=100, runner="hands")
    np.testing.assert_array_equal(bot.utility, folds.utility)  # the first move of a list folds or checks
    assert not np.array_equal(bot.utility, own.utility)


def test_moves_may_be_answered_by_name(make_text, tmp_path):
    assert match(make_text(NAMED), "call", game="leduc", hands=4).failure is None
    asked = [told for told in read_log(tmp_path) if told["type"] == "act"]
    assert asked[0]["moves"][-1]["name"] == "bet 2"
    assert {move["kind"] for told in asked for move in told["moves"]} == {"call", "raise"}  # nobody bets against it


def test_bots_are_told_what_happens(make_text, tmp_path):
    match(make_text(FIRST), "call", game="holdem", hands=2, seed=1)
    told = read_log(tmp_path)
    assert [told[0][key] for key in ("type", "protocol", "game", "num_players", "number")] == [
        "begin",
        1,
        "holdem",
        2,
        1,
    ]
    assert [message["number"] for message in told if message["type"] == "begin"] == [1, 2]
    asked = next(message for message in told if message["type"] == "act")
    table = asked["table"]
    assert len(table["cards"]) == 2
    assert table["pot"] == sum(table["put_in"])
    assert asked["raise_from"] == 300  # a pot-sized raise
    assert 0 <= asked["random"] < 1
    assert sorted(message["won"] for message in told if message["type"] == "end") == [-50, 0]


def test_no_message_has_the_cards_of_others(make_text, tmp_path):
    game = Holdem()
    match(make_text(FIRST), "call", game=game, hands=6, seed=5)
    for message in read_log(tmp_path):
        if "table" in message:
            assert message["infostate"].partition("|")[0] in ("?", "".join(message["table"]["cards"]))
            assert len(message["table"]["cards"]) <= 2


def test_very_many_raises_are_given_by_their_limits(make_text, tmp_path):
    shoving = 'print(json.dumps({"action": told.get("raise_to", 1)}), flush=True)'
    match(make_text(shoving), "call", game="holdem(menu=all)", hands=2, all_in_expectation=False)
    asked = next(message for message in read_log(tmp_path) if message["type"] == "act")
    assert [move["name"] for move in asked["moves"]] == ["check"]
    assert (asked["raise_from"], asked["raise_to"]) == (200, 20_000)


FAILURES = [
    ("print('hello', flush=True)", r"answered 'hello', expected a line such as"),
    ("print('{}', flush=True)", r"answered '\{\}', expected"),
    ("print('[' * 9000, flush=True)", r"answered '\["),
    ("print('x' * 70000, flush=True)", r"answered 'xxx"),
    ("print('{\"action\": 7}', flush=True)", r"chose '7' at .*, legal: 0, 1"),
    ("print('{\"action\": true}', flush=True)", "chose 'true'"),
    ("print('{\"action\": 0.5}', flush=True)", "chose '0.5'"),
    ('print(\'{"action": "dance"}\', flush=True)', "chose '\"dance\"'"),
    ("raise RuntimeError('I give up')", "exit code 1: RuntimeError: I give up"),
    ("sys.exit(3)", "exit code 3"),
    ("import os; os.kill(os.getpid(), 9)", "ended by SIGKILL"),
]


@pytest.mark.parametrize(("answer", "said"), FAILURES, ids=range(len(FAILURES)))
def test_a_failure_is_one_line(make_text, answer, said):
    agent = AgentText(make_text(answer))(KUHN)
    state = KUHN.apply(KUHN.apply(KUHN.initial_state(), 0), 1)
    agent.begin_game(0)
    with pytest.raises(AgentFailedError, match=said) as caught:
        agent.act(observe_state(KUHN, state, 0, has_names=True), rng=np.random.default_rng(0))
    assert "\n" not in str(caught.value)


def test_slow_bots_run_out_of_time(make_text, monkeypatch):
    monkeypatch.setattr("equipoise.agents.bot_programs.LEAST_SECONDS_TO_START", 0.0)
    agent = limit_seconds([AgentText(make_text("time.sleep(60)"))], 0.2)[0](KUHN)
    state = KUHN.apply(KUHN.apply(KUHN.initial_state(), 0), 1)
    agent.begin_game(0)
    with pytest.raises(AgentFailedError, match=r"no answer within 0\.2 seconds"):
        agent.act(observe_state(KUHN, state, 0, has_names=True), rng=np.random.default_rng(0))


def test_bots_that_do_not_listen(monkeypatch):
    monkeypatch.setattr("equipoise.agents.bot_programs.LEAST_SECONDS_TO_START", 0.0)
    agent = BotAgent(KUHN, [sys.executable, "-c", "import time; time.sleep(60)"], seconds=0.2)
    with pytest.raises(AgentFailedError, match="does not read"):
        collections.deque(map(agent.begin_game, [0] * 5000))


def test_words_between_questions_are_refused(make_text):
    twice = 'print(json.dumps({"action": told["moves"][0]["action"]}) + "\\nthinking", flush=True)'
    found = pytest.raises(AgentFailedError, match="without being asked")
    with found:
        match(make_text(twice), "raise", game="leduc", hands=100, runner="hands")


def test_a_match_ends_with_the_score_of_whole_deals(make_text):
    text = make_text(f'{FIRST} if told["random"] < 0.97 else print("oops", flush=True)')
    result = match(text, "uniform", game="kuhn", hands=2000, seed=1)
    assert result.stopped_by == "failed"
    assert "answered 'oops'" in result.failure
    assert 0 < result.num_hands < 2000
    np.testing.assert_array_equal(match(text, "uniform", game="kuhn", hands=2000, seed=1).utility, result.utility)


def test_the_command_says_what_ended_a_match(make_text, equipoise):
    text = make_text(f'{FIRST} if number < 40 else print("oops", flush=True)')
    done = equipoise("match", text, "uniform", "--game", "kuhn", "-n", 500, "--json")
    assert done.code == 1
    assert done.json["stopped_by"] == "failed"
    assert done.json["num_hands"] > 0
    assert "answered 'oops'" in done.err


def test_a_person_plays_against_a_bot(make_text):
    def play(text, *arguments):
        command = ["play", "leduc", "--against", text, "--seed", "1", *arguments]
        return CliRunner().invoke(app, command, input="c\n" * 9, env={"COLUMNS": "200"})

    done = play(make_text(FIRST), "-n", "2")
    assert done.exit_code == 0, done.output
    assert "in 2 hands" in done.output
    broken = play(make_text("sys.exit(3)"))
    assert broken.exit_code == 1
    assert "exit code 3" in broken.output
    assert "no hand was finished" in broken.output


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("bot", "written bot:COMMAND"),
        ("bot:", "nothing stands behind"),
        ("bot:seconds=1,", "nothing but"),
        ("bot:no-such-program-here x", "no program 'no-such-program-here'"),
        ("bot:'half", "cannot be read"),
        ("bot:seconds=0,python3", "must be positive"),
    ],
)
def test_what_is_no_bot_is_said(text, said):
    with pytest.raises(ConfigError, match=said):
        AgentText(text)(KUHN)


def test_a_bot_is_known_by_its_files(tmp_path):
    path = tmp_path / "bot.py"
    path.write_text("one")
    before = digest_bot(f"python {path}")
    path.write_text("two")
    assert before is not None
    assert before != digest_bot(f"seconds=3,python {path}")
    assert digest_bot("gnubg") is None
    assert digest_bot("'half") is None


def test_nothing_runs_after_a_bot_is_closed():
    agent = make_bot(KUHN, f"{shlex.quote(sys.executable)} -c 'import time; time.sleep(60)'")
    agent.begin_game(0)
    process = agent._program._process
    agent.close()
    assert process.poll() is not None
    with pytest.raises(ConfigError, match="told that a game begins"):
        agent.end_game(0.0)
