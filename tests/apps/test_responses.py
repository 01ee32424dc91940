# SPDX-License-Identifier: Apache-2.0
"""`equipoise solve --against` and `equipoise evaluate --responses`: every response by name, and misuse in one line."""

import pytest

from equipoise.core.errors import ParseError
from equipoise.responses.notation import RESPONSES, parse_response, parse_responses

LEDUC = ["solve", "leduc(merge_suits=True)"]


@pytest.fixture
def model(equipoise):
    """Returns the file of a short run of Leduc."""
    assert equipoise(*LEDUC, "-n", 30, "--out", "model.eq", "-q").code == 0
    return "model.eq"


EVERY = {
    "uniform": "uniform",
    "call": "call",
    "static": "static:model.eq",
    "library": "library:model.eq+model.eq",
    "uct": "uct:50,6",
    "fbr": "fbr:50",
    "abstract": "abstract:[JQK]",
    "rnr": "rnr:0.5,model.eq",
    "mimic": "mimic:0.5,model.eq",
    "dbr": "dbr:0.8,100,model.eq",
    "mix": "mix:0.5,(abstract:[JQK]),(rnr:0.8,model.eq)",
    "average": "average:model.eq+best",
    "domination": "domination",
    "best": "best",
}


def test_every_response_has_an_example():
    assert set(EVERY) == set(RESPONSES)


@pytest.mark.parametrize("name", [name for name in EVERY if name != "domination"])
def test_training_against_every_response(equipoise, model, name):
    outcome = equipoise(*LEDUC, "--against", EVERY[name], "--seat", 1, "-n", 15, "--json")
    assert outcome.code == 0, outcome.err
    result = outcome.json
    assert (result["against"], result["rule"], result["updates_per_response"], result["seat"]) == (
        EVERY[name],
        "cfr",
        1,
        1,
    )
    (seat,) = result["seats"]
    assert seat["seat"] == 1
    assert seat["epsilon"] > 0
    assert (seat["average_value"] is None) == (name == "mimic")
    expected = {"uct": None, "fbr": None, "mimic": "Theorem 13"}.get(name, "Theorem 6")
    assert seat["guarantee"]["theorem"] == expected


def test_evaluating_against_every_response(equipoise, model):
    names = [text for name, text in EVERY.items() if name != "mimic"]
    outcome = equipoise(
        "evaluate", model, "--responses", ",".join(names), "--num-responses", 3, "--plot", "graded.png", "--json"
    )
    assert outcome.code == 0, outcome.err
    rows = outcome.json["responses"]
    assert len(rows) == len(names)
    best = rows[-1]
    assert best["mean"] == pytest.approx(-outcome.json["exploitability"])
    assert all(row["mean"] >= best["mean"] - 1e-9 for row in rows)
    assert {row["num_responses"] for row in rows} == {1, 3}
    again = equipoise("evaluate", model, "--responses", "uct:50,6", "--num-responses", 3, "--json").json["responses"]
    assert again[0]["mean"] == next(row["mean"] for row in rows if row["response"] == "uct:50,6")
    assert "exact" in equipoise("evaluate", model, "--responses", "best").out


def test_runs_against_responses_are_resumed_to_the_bit(equipoise, model):
    command = [*LEDUC, "--against", "uct:20", "--updates-per-response", 4, "--merge", "[JQK]", "--seed", 5]
    assert equipoise(*command, "-n", 10, "--out", "part.eq", "-q").code == 0
    again = equipoise(*LEDUC, "-n", 23, "--out", "part.eq", "--resume", "--json")
    assert again.code == 0, again.err
    whole = equipoise(*command, "-n", 23, "--json")
    for key in ("nash_conv", "against", "merge", "updates_per_response"):
        assert again.json[key] == whole.json[key]
    assert again.json["seats"][0]["epsilon"] == whole.json["seats"][0]["epsilon"]
    assert "4 updates" in whole.json["seats"][0]["guarantee"]["statement"]
    other = equipoise(*LEDUC, "--against", "uct:21", "-n", 30, "--out", "part.eq", "--resume")
    assert other.code == 2
    assert "against uct:20, asked for uct:21" in other.err


def test_a_changed_model_is_another_run(equipoise, model):
    command = [*LEDUC, "--against", "static:model.eq", "--out", "run.eq"]
    assert equipoise(*command, "-n", 5, "-q").code == 0
    assert equipoise(*LEDUC, "-n", 31, "--out", "model.eq", "--overwrite", "-q").code == 0
    again = equipoise(*command, "-n", 9, "--resume")
    assert again.code == 2
    assert "against digest" in again.err


def test_the_vector_form_learns_too(equipoise, model):
    history = equipoise(*LEDUC, "--against", "rnr:0.3,model.eq", "-n", 20, "--json").json
    vector = equipoise(*LEDUC, "--against", "rnr:0.3,model.eq", "-n", 20, "--form", "vector", "--json").json
    assert vector["seats"][0]["epsilon"] == pytest.approx(history["seats"][0]["epsilon"], rel=1e-6)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--against", "ukt:100"], "unknown response 'ukt'; did you mean uct?"),
        (["--against", "uct"], "must be written uct:N or uct:N,C"),
        (["--against", "library:a.eq+"], "must be written FILE+FILE+..., got 'a.eq+'"),
        (["--against", "best:"], "must be written best, got 'best:'"),
        (["--against", "uct:1e30"], "must be a whole number from 0 to 1e+15, got '1e30'"),
        (["--against", "uct:-1"], "iterations of UCT must be a whole number"),
        (["--against", "mix:0.5,(ukt:1),best"], "at character 10 of"),
        (["--against", "mix:0.5,(mimic:0.5,model.eq),best"], "it stands alone"),
        (["--against", "uct:10,-2"], "constant of UCT must be a number"),
        (["--against", "rnr:2,model.eq"], "probability of a model must be a number from 0 to 1"),
        (["--against", "static:nothing.eq"], "nothing.eq cannot be read"),
        (["--against", "abstract:["], "must be a regular expression"),
        (["--against", "abstract:buckets.eq"], "is a regular expression over names of information states"),
        (["--against", "mimic:0.5,model.eq"], "give its --seat"),
        (["--against", "best", "--method", "external"], "for method cfr"),
        (["--against", "best", "--prune", "rbp"], "sweeps the whole tree"),
        (["--against", "best", "--updates", "simultaneous"], "--updates is for learners that train against each other"),
        (["--against", "best", "--warm-start", "model.eq"], "--warm-start is for learners"),
        (["--against", "uct:10", "--form", "vector"], "needs --form history"),
        (["--against", "best", "--merge", "[JQK]", "--form", "vector"], "is for --form history"),
        (["--against", "best", "--merge", ".*"], "cannot be merged"),
        (["--seat", 1], "--seat is for runs --against a response"),
    ],
)
def test_misuse_is_said_in_one_line(equipoise, model, arguments, message):
    outcome = equipoise(*LEDUC, *arguments, "-n", 5)
    assert outcome.code == 2
    assert message in outcome.err
    assert len([line for line in outcome.err.splitlines() if line.startswith("error")]) == 1


def test_misuse_of_evaluation_is_said(equipoise, model):
    assert "for --against" in equipoise("evaluate", model, "--responses", "mimic:1,model.eq").err
    for option, value in (("--plot", "x.png"), ("--num-responses", 5), ("--seed", 0)):
        assert f"{option} is for what --responses LIST measures: no list" in equipoise(
            "evaluate", model, option, value
        ).err.replace("\n", " ")


def test_three_players_have_no_responses(equipoise):
    outcome = equipoise("solve", "kuhn(players=3)", "--against", "best", "-n", 5)
    assert outcome.code == 2
    assert "two players" in outcome.err


def test_lists_of_responses():
    assert [spec.text for spec in parse_responses("best, rnr:0.5,a,b.eq,uct:1e3")] == [
        "best",
        "rnr:0.5,a,b.eq",
        "uct:1e3",
    ]
    assert parse_response("uct:1e3").arguments == (1000, 2.0)
    with pytest.raises(ParseError, match="hands of FBR"):
        parse_response("fbr:1.5")
