# SPDX-License-Identifier: Apache-2.0
"""`equipoise solve SPOT --against` and `equipoise evaluate spot.eq --responses`."""

from pathlib import Path

import numpy as np
import pytest

from equipoise.abstraction.solutions import open_solution
from equipoise.responses.forms import BoardForm
from equipoise.responses.tables import read_table

TURN = """
board = "QcKhAsQh"
deck = "QKA/cdhs"
pot = 20
stacks = 40
big_blind = 2
menu = "100%, a / a"
target = "1% pot"

[ranges]
oop = "random"
ip = "random"
"""
LOCK = """
[[locks]]
line = ""
hands = "AA"
play = { check = 1 }
"""


@pytest.fixture
def spot(equipoise):
    """Writes a turn of twelve cards, a villain that was hardly solved, and buckets."""
    Path("turn.toml").write_text(TURN)
    assert equipoise("solve", "turn.toml", "-n", 3, "--out", "villain.eq", "-q").code == 0
    return "turn.toml"


def test_exploiting_a_player_within_a_limit(equipoise, spot):
    won, lost = [], []
    for probability in (0, 0.6, 1):
        done = equipoise(
            "solve",
            spot,
            "--against",
            f"rnr:{probability},villain.eq",
            "--seat",
            0,
            "-n",
            300,
            "--rule",
            "cfr+",
            "--json",
        )
        assert done.code == 0, done.err
        (seat,) = done.json["seats"]
        won.append(seat["model_values"]["villain.eq"])
        lost.append(-seat["worst_value"])
        assert seat["guarantee"]["theorem"] == "Theorem 6"
        if probability == 1:
            assert seat["average_value"]["mean"] == pytest.approx(won[-1], abs=1e-6)
    assert won == sorted(won)
    assert lost == sorted(lost)
    nash = equipoise("solve", spot, "-n", 300, "--json").json
    assert lost[0] == pytest.approx(nash["best_response_values"][1], abs=0.05)
    assert won[2] == pytest.approx(best_against("villain.eq"), abs=0.05)


def best_against(path):
    """Returns what player 0 can win against the strategy in a file."""
    with open_solution(path) as solution:
        form = BoardForm(solution.tree)
        return form.answer(read_table(Path(path), form), 0)[0]


def test_models_of_any_precision_are_read(equipoise, spot):
    assert equipoise("solve", spot, "-n", 60, "--precision", "int16", "--out", "small.eq", "-q").code == 0
    assert equipoise("solve", spot, "-n", 60, "--precision", "float64", "--out", "large.eq", "-q").code == 0
    done = equipoise("evaluate", "villain.eq", "--responses", "static:small.eq,static:large.eq", "--json")
    assert done.code == 0, done.err
    small, large = (row["mean"] for row in done.json["responses"])
    assert small == pytest.approx(large, abs=0.1)


def test_the_summary_says_what_is_won_and_lost_at_most(equipoise, spot):
    done = equipoise("solve", spot, "--against", "rnr:0.8,villain.eq", "-n", 20)
    text = " ".join(done.out.split())
    assert "against rnr:0.8,villain.eq: average earns" in text
    assert "against villain.eq; loses at most" in text
    assert "Theorem 6" in text


EVERY = [
    "best",
    "uniform",
    "call",
    "fbr:50",
    "static:villain.eq",
    "library:villain.eq+villain.eq",
    "rnr:0.5,villain.eq",
    "mimic:0.5,villain.eq",
    "dbr:0.8,100,villain.eq",
    "mix:0.5,(fbr:20),(best)",
    "average:villain.eq+best",
    "abstract:buckets.eq",
]


@pytest.fixture
def buckets(equipoise, spot):
    made = equipoise("blueprint", spot, "--out", "buckets.eq", "--buckets", 3, "--recall", "-n", 5, "-q")
    assert made.code == 0, made.err
    return "buckets.eq"


@pytest.mark.parametrize("response", EVERY)
def test_every_response_trains_and_resumes_to_the_bit(equipoise, spot, buckets, response):
    command = ["solve", spot, "--against", response, "--seat", 1, "--updates-per-response", 2, "--seed", 3]
    assert equipoise(*command, "-n", 3, "--out", "part.eq", "-q").code == 0
    again = equipoise("solve", spot, "-n", 7, "--out", "part.eq", "--resume", "--json")
    assert again.code == 0, again.err
    assert equipoise(*command, "-n", 7, "--out", "whole.eq", "-q").code == 0
    with open_solution("part.eq") as part, open_solution("whole.eq") as whole:
        assert part.state.keys() == whole.state.keys()
        for name, table in whole.state.items():
            np.testing.assert_array_equal(part.state[name], table)
    assert (again.json["against"], again.json["seat"], again.json["updates_per_response"]) == (response, 1, 2)


def test_a_run_against_a_response_is_shown_and_evaluated(equipoise, spot, buckets):
    solved = equipoise("solve", spot, "--against", "best", "-n", 30, "--out", "run.eq", "--json").json
    assert equipoise("show", "run.eq").code == 0
    listed = ",".join(text for text in EVERY if not text.startswith("mimic"))
    found = equipoise("evaluate", "run.eq", "--responses", listed, "--num-responses", 3, "--json")
    assert found.code == 0, found.err
    rows = {row["response"]: row for row in found.json["responses"]}
    assert len(rows) == len(EVERY) - 1
    assert found.json["exploitability"] == pytest.approx(solved["exploitability"], abs=1e-9)
    assert rows["best"]["mean"] == pytest.approx(-found.json["exploitability"], abs=1e-9)
    assert all(row["mean"] >= rows["best"]["mean"] - 1e-9 for row in rows.values())
    assert rows["abstract:buckets.eq"]["mean"] > rows["best"]["mean"]
    assert rows["fbr:50"]["half_width"] > 0


def test_a_learner_in_buckets_meets_all_hands(equipoise, spot, buckets):
    done = equipoise("solve", spot, "--against", "best", "--merge", buckets, "-n", 200, "--rule", "cfr+", "--json")
    assert done.code == 0, done.err
    free = equipoise("solve", spot, "--against", "best", "-n", 200, "--rule", "cfr+", "--json").json
    for ours, theirs in zip(done.json["seats"], free["seats"], strict=True):
        assert ours["worst_value"] < theirs["worst_value"]
        assert "in its abstraction" in ours["guarantee"]["statement"]
    assert done.json["merge"] == buckets


def test_locks_bind_everybody(equipoise, spot, buckets):
    Path("locked.toml").write_text(TURN + LOCK)
    done = equipoise(
        "solve", "locked.toml", "--against", "rnr:0.5,villain.eq", "-n", 20, "--out", "locked.eq", "--json"
    )
    assert done.code == 0, done.err
    assert done.json["exploitability_without_locks"] >= done.json["exploitability"]
    rows = equipoise("show", "locked.eq", "--infostate", "A?A?", "--json").json["rows"]
    assert [row["strategy"]["check"] for row in rows] == pytest.approx([1.0] * 3)
    merged = equipoise("solve", "locked.toml", "--against", "best", "--merge", "buckets.eq", "-n", 2)
    assert "have no locks" in merged.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--seat", 1], "--seat is for runs --against a response"),
        (["--updates-per-response", 2], "--updates-per-response is for runs --against a response"),
        (["--merge", "x"], "--merge is for runs --against a response"),
        (["--seed", 1], "or --against a response"),
        (["--against", "uct:100"], "walks single histories, which a spot has too many of"),
        (["--against", "domination"], "walks single histories, which a spot has too many of"),
        (["--against", "best", "--precision", "int16"], "float32 or float64, got int16"),
        (["--against", "best", "--warm-start", "villain.eq"], "--warm-start is for learners"),
        (["--against", "best", "--updates", "simultaneous"], "--updates is for learners"),
        (["--against", "mimic:0.5,villain.eq"], "give its --seat"),
        (["--against", "static:other.eq"], "other.eq is for another spot: it has pot = 30, this one pot = 20"),
        (["--against", "static:none.eq"], "none.eq cannot be read"),
        (["--against", "abstract:villain.eq"], "villain.eq"),
        (
            ["--against", "best", "--merge", "[AK]"],
            "--merge of a spot is a blueprint's file, as in buckets.eq; got '[AK]'",
        ),
    ],
)
def test_misuse_is_said_in_one_line(equipoise, spot, arguments, message):
    Path("other.toml").write_text(TURN.replace("pot = 20", "pot = 30"))
    assert equipoise("solve", "other.toml", "-n", 1, "--out", "other.eq", "-q").code == 0
    done = equipoise("solve", spot, *arguments, "-n", 2)
    assert done.code == 2
    assert message in done.err
    assert len([line for line in done.err.splitlines() if line.startswith("error")]) == 1


def test_a_run_without_limits_stops_after_a_minute(equipoise, spot, monkeypatch):
    monkeypatch.setattr("equipoise.runs.spot_run.DEFAULT_SECONDS", 0.2)
    done = equipoise("solve", spot, "--against", "best", "--json")
    assert done.json["stopped_by"] == "seconds"
