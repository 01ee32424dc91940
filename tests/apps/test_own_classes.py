# SPDX-License-Identifier: Apache-2.0
"""Games and agents of users on the command line, `file.py:Class`; errors are one line and never a traceback."""

from pathlib import Path

import pytest

from equipoise.agents import make
from equipoise.core.errors import ConfigError
from equipoise.games.kuhn import Kuhn

FILE = Path(__file__).parent.parent / "games" / "hide_and_seek.py"


def own(name):
    return f"{FILE}:{name}"


@pytest.fixture
def solved(equipoise, tmp_path):
    """Returns the file of a solved game of a user's."""
    assert equipoise("solve", own("CoinInHand"), "-p", "prize=4", "--target", "1e-4", "--out", "coin.eq").code == 0
    return tmp_path / "coin.eq"


def test_a_game_is_solved_evaluated_and_shown(equipoise, solved):
    assert equipoise("evaluate", solved, "--json").json["game_value"] == pytest.approx(-0.8, abs=1e-3)
    assert "right" in equipoise("show", solved).out
    assert equipoise("solve", own("CoinInHand"), "-p", "prize=4", "--out", solved, "--resume").code == 0
    differing = equipoise("solve", own("CoinInHand"), "-p", "prize=5", "--out", solved, "--resume")
    assert (differing.code, "prize=4" in differing.err) == (2, True)


def test_agents_of_users_play(equipoise, solved):
    outcome = equipoise("match", f"file:{solved}", own("Pointer:0.9"), "-n", "40", "--json")
    assert outcome.code == 0
    assert outcome.json["label"] == "coin_in_hand(prize=4)"


def test_agents_of_users_are_evaluated(equipoise):
    outcome = equipoise("evaluate", own("Pointer:0.7"), "--game", own("CoinInHand"), "--json")
    # hiding left with 0.7 loses 0.3 * 3; pointing left with 0.7 wins at least 0.3 * 3 with everything hidden right
    assert outcome.json["exploitability"] == pytest.approx((0.9 - 0.7) / 2)


def test_a_game_is_checked(equipoise):
    fine = equipoise("games", own("CoinInHand"), "--check", "-p", "prize=2")
    assert (fine.code, fine.out) == (0, "coin_in_hand(prize=2) keeps every law in all of its 7 histories looked at\n")
    broken = equipoise("games", own("RaisingLater"), "--check")
    assert broken.code == 2
    assert "breaks the law of pure apply: it raised KeyError: 'lost' (hide_and_seek.py, line" in broken.err
    said = equipoise("games", own("RaisingLater"), "--check", "--json").json
    assert not said["is_valid"]
    assert said["violations"][0]["state"] == "Hiding(moves=(0,))"


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["solve", "none.py:Coin"], "cannot read none.py: no such file"),
        (["solve", own("Coin")], "unknown class of"),
        (["solve", own("NoGame")], "is not a game"),
        (["solve", own("RaisingConstructor")], "raised ZeroDivisionError: no coin"),
        (["solve", own("RaisingLater")], "a class of your own raised KeyError: 'lost' (hide_and_seek.py, line"),
        (["solve", "no_module_here:Coin"], "there is no module 'no_module_here'"),
        (["match", own("NoGame"), "call", "-g", "kuhn"], "is not an agent: it lacks begin_game, observe, act"),
        (["match", own("HalfAnAgent"), "call", "-g", "kuhn"], "must still say probabilities"),
        (["match", own("Pointer:often"), "call", "-g", "kuhn"], "could not convert string to float: 'often'"),
        (["match", own("DemandingAgent"), "call", "-g", "kuhn"], "must take (game) or nothing, it takes"),
        (["match", own("Nameless:3"), "call", "-g", "kuhn"], "must take (game, options), it takes"),
        (["match", "files:run.eq", "call", "-g", "kuhn"], "unknown agent 'files'; did you mean file"),
        (["games", "--check"], "say which game: equipoise games mine.py:Class --check"),
        (["games", "kuhn", "-p", "players=3"], "-p is for the game that --check checks or --efg writes"),
    ],
)
def test_errors_are_one_line(equipoise, command, message):
    outcome = equipoise(*command)
    assert outcome.code == 2
    assert message in outcome.err
    assert len(outcome.err.strip().splitlines()) == 1


def test_an_agent_without_a_name_has_its_class():
    assert make(own("Nameless"), Kuhn()).name == "Nameless"
    with pytest.raises(ConfigError, match="options of an agent stand behind a colon"):
        make(own("Pointer(0.5)"), Kuhn())
