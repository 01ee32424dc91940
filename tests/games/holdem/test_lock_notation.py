# SPDX-License-Identifier: Apache-2.0
import pytest

from equipoise.core.errors import ParseError
from equipoise.games.holdem.lock_notation import format_lock, parse_lock
from equipoise.games.holdem.spot_file import SpotLock


@pytest.mark.parametrize(
    ("text", "line", "hands", "play"),
    [
        ("check: bet 50%", "check", "random", {"bet 50%": 1.0}),
        ("check, bet 50%: fold=25%, call=75%", "check, bet 50%", "random", {"fold": 0.25, "call": 0.75}),
        ("root: AKo:0.5, QQ+: check=0.4, bet 50%", "root", "AKo:0.5, QQ+", {"check": 0.4, "bet 50%": 0.6}),
        ("x,x,[7h]: 72o: all-in = 1", "x,x,[7h]", "72o", {"all-in": 1.0}),
        (": check=100%, bet 50%", "", "random", {"check": 1.0, "bet 50%": 0.0}),
    ],
)
def test_locks_are_a_line_of_text(text, line, hands, play):
    found = parse_lock(text)
    assert (found.line, found.hands) == (line, hands)
    assert found.play == pytest.approx(play)
    again = parse_lock(format_lock(found))
    assert (again.hands, again.play) == (found.hands, found.play)


def test_the_root_is_written():
    assert format_lock(SpotLock(line="", play={"check": 1.0})) == "root: random: check=1.0"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("check", "has no colon"),
        ("check: : fold", "names no hands"),
        ("check:", "is no action with a share"),
        ("check: fold=", "is no action with a share"),
        ("check: fold=a", "a share is 0 to 1"),
        ("check: fold=-1", "a share is 0 to 1"),
        ("check: fold=120%", "a share is 0 to 1"),
        ("check: fold=nan", "a share is 0 to 1"),
        ("check: fold, call", "only one action may leave its share out"),
        ("check: fold=0.5, call=0.6", "must sum to 100%, got 110%"),
        ("check: fold=0.5, call=0.4", "must sum to 100%, got 90%"),
        ("check: fold=0.5, fold=0.5", "names 'fold' twice"),
    ],
)
def test_locks_that_cannot_be(text, message):
    with pytest.raises(ParseError, match=message):
        parse_lock(text)
