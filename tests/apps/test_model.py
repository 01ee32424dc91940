# SPDX-License-Identifier: Apache-2.0
"""`equipoise model`: from hands that were played to a counter-strategy."""

from pathlib import Path

import pytest

from equipoise.abstraction.solutions import open_solution

SPOT = """
deck = 'royal'
board = 'AsKsThQdTc'
pot = 4
stacks = 4
big_blind = 2
menu = '50%, a'
ranges = {oop = 'random', ip = 'random'}
"""
DEFINITION = "GAMEDEF\nnolimit\nnumPlayers = 2\nstack = 6 6\nblind = 2 1\nEND GAMEDEF\n"
LINE = "STATE:{number}:cc/cc/cc/r4f:{hole}/AsKsTh/Qd/Tc:2|-2:mine|villain\n"
HOLES = ("AdAc|JsJd", "AdAc|KdKc", "JhJc|QsQc", "KhJc|QsJs")


@pytest.fixture
def log(tmp_path, monkeypatch):
    """Returns the name of a log in a scratch folder, beside its game and a spot; the villain folds to every bet."""
    monkeypatch.chdir(tmp_path)
    Path("spot.toml").write_text(SPOT)
    Path("small.game").write_text(DEFINITION)
    Path("match.log").write_text("".join(LINE.format(number=n, hole=HOLES[n % 4]) for n in range(40)))
    return "match.log"


def test_a_villain_who_folds_is_bluffed(equipoise, log):
    command = ("model", log, "--spot", "spot.toml", "--definition", "small.game", "--player", "villain")
    counted = equipoise(*command, "--buckets", 4, "--out", "model.eq", "--json")
    assert counted.code == 0, counted.err
    assert {name: counted.json[name] for name in ("num_hands", "num_used", "num_decisions", "num_lost", "passed")} == {
        "num_hands": 40,
        "num_used": 40,
        "num_decisions": 40,
        "num_lost": 0,
        "passed": {},
    }
    with open_solution("model.eq") as file:
        assert file.label.endswith("counted in 40 hands")
    for against in ("rnr:0.8,model.eq", "dbr:0.8,seen,model.eq"):
        against_model = ("--responses", "static:model.eq", "--json")
        won = []
        for how in ((), ("--against", against, "--seat", 0)):
            run = ("solve", "spot.toml", *how, "-n", 50, "--out", "counter.eq", "--overwrite", "-q")
            assert equipoise(*run).code == 0
            told = equipoise("evaluate", "counter.eq", *against_model)
            assert told.code == 0, told.err
            won.append(told.json["responses"][0]["seat_values"][0])
        assert won[1] > won[0] + 0.5  # chips of a pot of 4
    plain = equipoise(*command, "--out", "again.eq")
    assert "40 decisions in 40 of 40 hands" in plain.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nothing.phh"], "cannot read nothing.phh"),
        (["spot.toml"], "spot.toml: not a hand in PHH: no field 'variant'"),
        (["broken.log", "--definition", "small.game"], "broken.log, line 1: a hand of a log looks like"),
        (["empty.log"], "empty.log has no hands"),
        (["match.log", "--definition", "none.game"], "cannot read none.game"),
        (["spot.toml", "--definition", "small.game"], "--definition is for logs of the ACPC"),
        (["{log}", "--player", "nobody"], "match.log has players mine, villain, got --player nobody"),
        (["{log}", "--spot", "locked.toml"], "locked.toml has locks, which models cannot keep"),
        (["{log}", "--spot", "deep.toml"], "none of 40 hands counts: 40 other stacks"),
        (["{log}", "--out", "spot.toml"], "spot.toml exists: --overwrite replaces it"),
        (["{log}", "--out", "no/such/model.eq"], "no/such"),
    ],
)
def test_what_cannot_be_counted_is_refused_in_a_line(equipoise, log, words, message):
    Path("broken.log").write_text("STATE:what\n")
    Path("empty.log").write_text("# nothing\n")
    Path("deep.toml").write_text(SPOT.replace("stacks = 4", "stacks = 400"))
    Path("locked.toml").write_text(SPOT + "[[locks]]\nline = 'x'\nplay = {x = 1}\n")
    given = [word.format(log=log) for word in words]
    if given[0] == log and "--definition" not in given:
        given += ["--definition", "small.game"]
    for option, value in (("--spot", "spot.toml"), ("--out", "model.eq")):
        given += [] if option in given else [option, value]
    refused = equipoise("model", *given)
    assert refused.code == 2
    assert message in refused.err
    assert refused.err.strip().count("\n") == 0
    assert not Path("model.eq").exists()
