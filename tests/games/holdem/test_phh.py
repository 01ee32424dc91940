# SPDX-License-Identifier: Apache-2.0
"""Hands in files are read as they were played, and what is wrong with a file is said in one line."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from equipoise.core.errors import ConfigError, ParseError
from equipoise.games.holdem.betting import BettingRules
from equipoise.games.holdem.phh import parse_phh, read_phh
from equipoise.games.holdem.records import RecordedHand
from equipoise.games.holdem.rules import Holdem
from equipoise.games.registry import parse_game
from equipoise.runs.matches import match

HAND: dict[str, Any] = {
    "variant": "NT",
    "antes": [0, 0, 0],
    "blinds_or_straddles": [50, 100, 0],
    "min_bet": 100,
    "starting_stacks": [10_000, 10_000, 10_000],
    "actions": [
        "d dh p1 ????",
        "d dh p2 9s8s",
        "d dh p3 AhKd",
        "p3 cbr 225 # a raise",
        "p1 f",
        "p2 cc",
        "d db 7s2h7d",
        "p2 cc",
        "p3 cbr 200",
        "p2 f",
    ],
}


def test_a_hand_is_read_action_by_action() -> None:
    hand = parse_phh(HAND, 7)
    assert hand.rules == BettingRules(stacks=(10_000,) * 3)
    assert hand.hole == ((), (27, 31), (45, 50))
    assert (hand.number, hand.actions, hand.board) == (7, (225, 0, 1, 1, 425, 0), (2, 21, 23))
    texts = [(moment.seat, moment.public_state) for moment in hand.moments()]
    assert texts[0] == (2, "")
    assert texts[-1] == (1, "r225fc/2h7d7s:cr425")


@pytest.mark.parametrize(
    ("game", "agents"),
    [
        ("holdem", ("uniform", "raise")),
        ("holdem(stacks=20000,700,ante=10)", ("uniform", "call")),
        ("holdem_limit", ("uniform", "raise")),
        ("holdem_six", ("call", *["uniform"] * 5)),
    ],
)
def test_what_is_written_is_read_back(tmp_path: Path, game: str, agents: tuple[str, ...]) -> None:
    path = tmp_path / "hands.phhs"
    match(*agents, game=game, hands=30, seed=4, hands_out=path, all_in_expectation=False)
    rules = parse_game(game)
    assert isinstance(rules, Holdem)
    hands = list(read_phh(path))
    assert len(hands) == 30
    for hand in hands:
        assert play_again(rules, hand) == hand.won


def play_again(game: Holdem, hand: RecordedHand) -> tuple[int, ...]:
    """Returns what each seat wins in the game itself, whose texts must be those of the hand's moments."""
    state = game.initial_state()
    for card in (card for cards in hand.hole for card in cards):
        state = game.apply(state, card)
    for moment in hand.moments():
        while game.actor(state) < 0:
            state = game.apply(state, hand.board[len(state.board)])
        assert (game.actor(state), game.public_state(state)) == (moment.seat, moment.public_state)
        assert state.betting == moment.betting
        state = game.apply(state, moment.action)
    while len(state.board) < len(hand.board):
        state = game.apply(state, hand.board[len(state.board)])
    return tuple(int(chips) for chips in game.returns(state))


def test_compressed_files_of_many_hands(tmp_path: Path) -> None:
    text = "[3]\nvariant = 'NT'\nblinds_or_straddles = [1, 2]\nstarting_stacks = [9, 9]\nactions = ['p2 f']\n"
    path = tmp_path / "hands.phhs.gz"
    path.write_bytes(gzip.compress((text + "\n" + text.replace("[3]", "[9]")).encode()))
    assert [hand.number for hand in read_phh(path)] == [3, 9]
    path.write_bytes(path.read_bytes()[:40])
    with pytest.raises(ParseError, match="cut off"):
        list(read_phh(path))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"variant": "PO"}, "variant 'PO' is not played here"),
        ({"actions": ["p1 cbr 300"]}, "it is the turn of p3"),
        ({"actions": ["p3 cbr 20000"]}, "p3 cbr 20000"),
        ({"actions": ["p3 cbr 150"]}, "p3 cbr 150"),
        ({"actions": ["p4 f"]}, "players are p1 to p3"),
        ({"actions": ["p3 goes"]}, "unknown action 'p3 goes'"),
        ({"actions": ["d dh p1 AhAx"]}, "a card is a rank"),
        ({"actions": ["d dh p1 AhAh"]}, "dealt twice"),
        ({"actions": ["d dh p1 Ah"]}, "hands of two cards"),
        ({"starting_stacks": [100, 100.5, 100]}, "whole numbers"),
        ({"blinds_or_straddles": [50, 100, 200]}, "two players post blinds"),
        ({"antes": [0, 0, 5]}, "antes must be alike"),
        ({"players": ["a", "b"]}, "as many names"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_broken_hands_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ParseError, match=message):
        parse_phh({**HAND, **changes})


def test_broken_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ParseError, match="no field 'actions'"):
        parse_phh({key: value for key, value in HAND.items() if key != "actions"})
    with pytest.raises(ConfigError, match="cannot read"):
        list(read_phh(tmp_path / "nothing.phh"))
    (tmp_path / "broken.phh").write_text("[1]\nvariant = \n")
    with pytest.raises(ParseError, match=r"broken.phh, hand 1 is no hand in PHH"):
        list(read_phh(tmp_path / "broken.phh"))


def test_a_board_that_is_too_short_is_said() -> None:
    hand = RecordedHand(rules=BettingRules(), hole=((), ()), board=(), actions=(1, 1, 1), names=("a", "b"))
    with pytest.raises(ParseError, match="board of no cards ends"):
        list(hand.moments())
