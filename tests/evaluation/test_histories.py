# SPDX-License-Identifier: Apache-2.0
"""Hands in files: another program plays them again and comes to the same chips; people can read them."""

import resource

import numpy as np
import pokerkit
import pytest

from equipoise.core.errors import CheckpointError, ConfigError
from equipoise.evaluation.histories import HandWriter, PlayedHand, complete_hand, format_text
from equipoise.games.holdem.rules import Holdem
from equipoise.games.registry import make_game, parse_game
from equipoise.runs.matches import match

CASES = [
    ("holdem", ("uniform", "raise"), 60, 0),
    ("holdem(stacks=20000,700,ante=10)", ("uniform", "call"), 60, 0),
    ("holdem_limit", ("uniform", "raise"), 60, 0),
    ("holdem_six", ("call", *["uniform"] * 5), 60, 2),  # chips that cannot be split go to others there
]


@pytest.mark.parametrize(("game", "agents", "hands", "odd_chips"), CASES, ids=[case[0] for case in CASES])
def test_another_program_comes_to_the_same_chips(tmp_path, game, agents, hands, odd_chips):
    path = tmp_path / "hands.phh"
    match(*agents, game=game, hands=hands, seed=4, hands_out=path, all_in_expectation=False)
    with path.open("rb") as file:
        found = list(pokerkit.HandHistory.load_all(file))
    assert len(found) == hands
    for hand in found:
        *_, end = hand
        assert not end.status
        np.testing.assert_allclose(end.stacks, hand.finishing_stacks, atol=odd_chips)
        assert set(hand.players) <= set(agents)


def test_hands_say_what_was_won(tmp_path):
    result = match(
        "uniform", "call", game="holdem", hands=20, hands_out=tmp_path / "hands.phhs", all_in_expectation=False
    )
    with (tmp_path / "hands.phhs").open("rb") as file:
        found = list(pokerkit.HandHistory.load_all(file))
    won = [hand.finishing_stacks[hand.players.index("uniform")] - 20_000 for hand in found]
    np.testing.assert_array_equal(won, result.utility[:, :, 0].ravel())
    assert [hand.hand for hand in found] == list(range(1, 21))


def test_all_ins_scored_by_their_expectation_are_still_dealt():
    game = Holdem(stacks=(1000, 1000))
    hole = (0, 5, 10, 15)
    actions = complete_hand(game, (*hole, 1000, 1), np.random.default_rng(0))
    assert len(actions) == 4 + 2 + 5
    text = format_text(game, PlayedHand(0, (0, 1), actions), ("a", "b"), 1)
    assert "b: all-in\n  a: call\n" in text
    assert "; board" not in text.splitlines()[1]
    assert [len(line.split()) for line in text.splitlines() if line.startswith("  dealt")] == [3, 1 + 5]


@pytest.mark.parametrize("num_written", [0, 1])
def test_a_full_disk_cuts_no_hand_in_two(tmp_path, num_written):
    path = tmp_path / "h.txt"
    writer = HandWriter(path, make_game("holdem"), ("a", "b"))
    hand = PlayedHand(0, (0, 1), (0, 5, 10, 15, 0))
    writer([hand] * num_written)
    whole = path.read_bytes() if num_written else b""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(whole) + 20, limits[1]))
    try:
        with pytest.raises(CheckpointError, match=r"cannot write .*h\.txt"):
            writer([hand])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    writer.close()
    assert path.exists() == bool(num_written)
    assert not num_written or path.read_bytes() == whole


@pytest.mark.parametrize("game", ["kuhn", "leduc", "liars_dice", "goofspiel", "holdem_endgame"])
def test_text_is_for_any_game(tmp_path, game):
    path = tmp_path / "hands.txt"
    result = match("uniform", "uniform", game=game, hands=4, hands_out=path, all_in_expectation=False)
    blocks = path.read_text().strip().split("\n\n")
    assert len(blocks) == 4
    assert all("player 0 is uniform" in block for block in blocks)
    assert result.num_hands == 4


def test_nobody_is_told_twice_when_a_match_goes_on(tmp_path):
    path, out = tmp_path / "hands.phh", tmp_path / "m.eq"
    for hands, resume in ((10, False), (20, True)):
        match("uniform", "call", game="holdem", hands=hands, out=out, resume=resume, hands_out=path)
    with path.open("rb") as file:
        assert [hand.hand for hand in pokerkit.HandHistory.load_all(file)] == list(range(1, 21))


@pytest.mark.parametrize(
    ("game", "name", "said"),
    [
        ("leduc", "h.phh", "leduc is none it knows"),
        ("holdem_endgame", "h.phh", "whole hands with a full deck"),
        ("flop_holdem", "h.phhs", "whole hands with a full deck"),
        ("holdem(deck=short)", "h.phh", "whole hands with a full deck"),
        ("holdem_limit(bet_sizes=2,4,6,8)", "h.phh", "two fixed bets"),
        ("holdem", "h.csv", "FILE.phh"),
        ("holdem", "no/such/folder/h.phh", "no/such/folder"),
    ],
)
def test_what_cannot_be_written_is_said_before_play(tmp_path, game, name, said):
    with pytest.raises((ConfigError, CheckpointError), match=said):
        HandWriter(tmp_path / name, parse_game(game), ("a", "b"))


def test_hands_are_not_kept_where_none_are_played_one_by_one(tmp_path, equipoise):
    arguments = ("match", "uniform", "call", "--game", "kuhn", "-n", 10, "--hands-out", "h.txt")
    assert "not with --runner batched" in equipoise(*arguments, "--runner", "batched").err
    assert equipoise(*arguments).code == 0
    assert "h.txt exists" in equipoise(*arguments).err
    assert equipoise(*arguments, "--overwrite").code == 0


def test_names_of_agents_are_quoted(tmp_path):
    writer = HandWriter(tmp_path / "h.phh", make_game("holdem"), ('say "hi"\\', "b"))
    writer([PlayedHand(0, (0, 1), (0, 5, 10, 15, 0))])
    writer.close()
    with (tmp_path / "h.phh").open("rb") as file:
        (hand,) = pokerkit.HandHistory.load_all(file)
    assert hand.players[0] == 'say "hi"\\'
