# SPDX-License-Identifier: Apache-2.0
"""A first evening: the first ten commands of a player, a student, a teacher, a bot builder and a researcher.

Each use is typed from top to bottom in an empty folder. A row is the command, its exit code, how the first line of
what it prints begins, and the amount of work that it says it did; both are regular expressions.
"""

import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
BOT = shlex.quote(f"bot:{shlex.quote(sys.executable)} tight.py")
BROKEN = shlex.quote(f"bot:{shlex.quote(sys.executable)} -c 'print(1/0)'")

PLAYER = [
    ("size river.toml", 0, r"4c6h8hTs2s|river|.*memory", r"chosen|takes|iteration"),
    ("solve river.toml --target 0.5% --out river.eq", 0, r"spot +", r"stopped by +target"),
    ("show river.eq", 0, r".*\d", r"check"),
    ("show river.eq --line check --grid", 0, r".*\d", r"A\w"),
    ("show river.eq --infostate AK", 0, r".*\d", r"AK|A.K."),
    ("show river.eq --csv --out hands.csv", 0, r"written to hands.csv", r"hands.csv"),
    ("evaluate river.eq", 0, r".*evaluated in", r"exploitability \d"),
    ("equity 'QQ+, AKs' 'TT, AQ' --board Ks7h2d", 0, r".+", r"\d+\.\d+ ?%"),
    ("pushfold --stack 10 --deck TJQKA/cdhs", 0, r".+", r"big blind"),
    ("search river.eq --line check --iterations 50", 0, r".+", r"50 iterations"),
]
STUDENT = [
    ("games", 0, r".+", r"lemonade_stand"),
    ("games kuhn", 0, r".*kuhn", r"players"),
    ("solve kuhn --target 1e-3 --out kuhn.eq", 0, r"game +kuhn", r"stopped by +target \(0\.001"),
    ("show kuhn.eq", 0, r"kuhn", r"holds K; player 0 checked, player 1 bet"),
    ("evaluate kuhn.eq", 0, r"kuhn.*evaluated in", r"exploitability 0\.000|exploitability \d\.\d+e-0"),
    ("compare kuhn --rules cfr,cfr+,dcfr -n 200 --plot rules.png", 0, r"kuhn", r"(?s)dcfr.*200.*curves in rules.png"),
    ("solve leduc --iterations 100 --out leduc.eq", 0, r"game +leduc", r"iterations +100 in"),
    ("solve kuhn -p players=3 --iterations 100", 0, r"game +kuhn", r"(?s)no guarantee +3 players.*average regret"),
    ("compare kuhn --rules external --seeds 3 -n 500", 0, r"kuhn", r"3: \d\S* \.\.\. \d"),
    ("solve lemonade_stand --method external --iterations 5000 --seed 1", 0, r"game +lemon", r"iterations +5,000 in"),
]
TEACHER = [
    ("tree kuhn", 0, r"kuhn\(players=2\): 58 histories", r"player 1 at 'Q:p'"),
    ("solve kuhn --iterations 200 --out kuhn.eq", 0, r"game +kuhn", r"iterations +200 in"),
    ("tree kuhn --strategy kuhn.eq -o kuhn.svg", 0, r"58 histories drawn in kuhn.svg", r"58"),
    ("tree leduc", 2, r"error: leduc", r"a picture holds 400"),
    ("tree leduc --after 'Jh, Qh, check, check, Ks'", 0, r"leduc.*15 histories", r"player 0 at 'Jh\|cc/Ks:'"),
    ("tree coin_toss --strategy coin_toss.csv", 0, r"coin_toss.*13 histories", r"forfeit 0\.25 -> \+1"),
    ("search coin_toss.csv --game coin_toss --line guess --method unsafe", 0, r".+", r"\+0\.500000 > \+0\.7[45]"),
    ("search coin_toss.csv --game coin_toss --line guess --method maxmargin", 0, r".+", r"\+0\.500000 > \+0\.37"),
    ("reproduce coin-toss --out results", 0, r"Search in Coin Toss", r"written: .*coin-toss.png"),
    ("play kuhn --against file:kuhn.eq --seed 1", 0, r"kuhn against file:kuhn.eq", r"no hand was finished"),
]
BOT_BUILDER = [
    ("games holdem", 0, r".*holdem", r"menu"),
    (f"match {BOT} uniform --game holdem -n 40 --all-in-cards", 0, r"holdem, 40 hands in", r"over 20 deals"),
    (
        f"match {BOT} call --game holdem -n 40 --all-in-cards --hands-out h.phh",
        0,
        r"holdem, 40 hands",
        r"40 hands written to h.phh",
    ),
    ("match uniform call --game leduc -n 20 --hands-out h.txt", 0, r"leduc, 20 hands in", r"20 hands written to h.txt"),
    (f"play holdem --against {BOT} --seed 3", 0, r"holdem against bot:", r"you can: fold, call 50"),
    (f"match {BROKEN} call --game kuhn -n 10", 1, r"error: bot .*", r"exit code 1: ZeroDivisionError"),
    ("match uniform call fold --game kuhn -n 200", 0, r"kuhn: what the row wins", r"instant runoff:"),
    ("match uniform call --game leduc --precision 100", 0, r"leduc, [\d,]+ hands in", r"half an interval"),
    ("evaluate call --game kuhn", 0, r".+", r"exploitability"),
    ("lbr call --game leduc", 0, r".+", r"\d"),
]
RESEARCHER = [
    ("--version", 0, r"equipoise \d", r"\d"),
    ("reproduce", 0, r"Brown 2020", r"lemonade-stand"),
    ("reproduce dcfr-toy --out results", 0, r".+", r"written: .*dcfr-toy.json"),
    ("plot results/dcfr-toy.json -o toy.png", 0, r"drawn in toy.png", r"toy"),
    ("solve leduc --iterations 50 --run run", 0, r"game +leduc", r"iterations +50 in"),
    ("solve leduc --iterations 80 --run run --resume", 0, r"game +leduc", r"iterations +80 in"),
    ("solve leduc --rule cfr+ --iterations 50 --out plus.eq", 0, r"game +leduc", r"iterations +50 in"),
    ("plot run plus.eq -o both.svg", 0, r"drawn in both.svg", r"both"),
    ("evaluate plus.eq --responses best", 0, r"leduc", r"best"),
    ("solve leduc --iterations 10 --json", 0, r"\{", r'"iterations": 10,'),
]
USES = {
    "player": PLAYER,
    "student": STUDENT,
    "teacher": TEACHER,
    "bot builder": BOT_BUILDER,
    "researcher": RESEARCHER,
}


@pytest.mark.parametrize("use", USES)
def test_first_ten_commands(use, equipoise, tmp_path):
    for path in (
        EXAMPLES / "spots" / "river.toml",
        EXAMPLES / "blueprints" / "coin_toss.csv",
        EXAMPLES / "bots" / "tight.py",
    ):
        shutil.copy(path, tmp_path)
    assert len(USES[use]) == 10
    for command, code, first, work in USES[use]:
        done = equipoise(*shlex.split(command))
        told = done.out + done.err
        assert done.code == code, f"equipoise {command}\n{told}"
        lines = [line for line in (done.out or done.err).splitlines() if line.strip()]
        assert re.match(first, lines[0]), f"equipoise {command}\n{lines[0]}"
        assert re.search(work, told), f"equipoise {command}\n{told}"
        assert "Traceback" not in told


def test_runs_leave_a_log_of_events(equipoise, tmp_path):
    equipoise("solve", "kuhn", "--iterations", 20, "--run", "run", "-q")
    lines = (tmp_path / "run" / "events.jsonl").read_text().splitlines()
    assert [f'"event": "{name}"' in line for name, line in (("begin", lines[0]), ("end", lines[-1]))] == [True, True]


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        ("lines kuhn.eq", 2, "kuhn.eq holds a game's run, expected a hold'em spot"),
        ("tree kuhn.eq", 2, "plays as the agent file:kuhn.eq"),
        ("tree river.toml", 2, "a hold'em spot is solved first"),
        ("solve river.toml -n 3000 --target '5%'", 0, "target (1.2 chips (5% of the pot"),
        ("evaluate uniform --game kuhn", 0, "kuhn, 1 seed\n"),
        ("search river.eq --line check --iterations 5", 0, "chips of the pot"),
    ],
)
def test_what_is_mistaken_or_left_out_is_said(command, code, said, equipoise, tmp_path):
    shutil.copy(EXAMPLES / "spots" / "river.toml", tmp_path)
    equipoise("solve", "kuhn", "-n", 5, "--out", "kuhn.eq")
    solved = equipoise("solve", "river.toml", "-n", 5, "--out", "river.eq")
    assert solved.code in (0, 3)
    done = equipoise(*shlex.split(command))
    assert done.code == code
    assert said in done.out + done.err
