# SPDX-License-Identifier: Apache-2.0
"""Situations met in hands that both players search: where they lie, who comes there, the same again from a seed."""

import dataclasses

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games.holdem.betting import Street
from equipoise.games.holdem.cards import Deck, format_deck
from equipoise.games.holdem.hands import hands_of
from equipoise.learning.values.configuration import NetKind, NetStage, ValueNetConfig
from equipoise.learning.values.generation import DistilledSource, SolvedSource
from equipoise.learning.values.labels import Labels
from equipoise.learning.values.net_files import NetFile
from equipoise.learning.values.self_play import SelfPlay
from equipoise.learning.values.weights import StoredNet, expected_shapes

DECK = Deck(ranks="9TJQKA", suits="cdh")


def write_net(folder, street, stage=NetStage.END):
    """Writes a network that says what a showdown pays."""
    is_first = street is Street.PREFLOP
    config = ValueNetConfig(
        kind=NetKind.BUCKET if is_first else NetKind.CURVE,
        street=street,
        stage=stage,
        deck=format_deck(DECK),
        buckets=169 if is_first else 0,
        hidden=8,
        layers=1,
    )
    tensors = {name: np.zeros(shape, np.float32) for name, shape in expected_shapes(config).items()}
    path = folder / f"{street.name.lower()}-{stage}.safetensors"
    StoredNet(config=config, tensors=tensors).save(path)
    return NetFile.at(path)


@pytest.fixture(scope="module")
def play(tmp_path_factory):
    folder = tmp_path_factory.mktemp("nets")
    ends = tuple(write_net(folder, street) for street in (Street.PREFLOP, Street.FLOP, Street.TURN))
    return SelfPlay(ends=ends, menu="100%, a", iterations=10, per_hand=3)


def draw_some(play, street, stage, seed=0):
    rng = np.random.default_rng(seed)
    hands = [play.draw(street, stage, rng) for _ in range(6)]
    return [situation for hand in hands for situation in hand]


@pytest.mark.parametrize(
    ("street", "stage"),
    [
        (Street.PREFLOP, NetStage.END),
        (Street.FLOP, NetStage.START),
        (Street.TURN, NetStage.END),
        (Street.RIVER, NetStage.START),
    ],
)
def test_hands_come_to_the_street_with_chips_behind(play, street, stage):
    found = draw_some(play, street, stage)
    assert found
    for board, ratio, ranges in found:
        assert len(board) == street.num_board_cards
        assert list(board) == sorted(set(board))
        assert 0 < ratio <= play.big_blinds[1]
        assert ranges.shape == (2, np.count_nonzero(~hands_of(DECK).blocked(board)))
        assert ranges.astype(float).sum(axis=1) == pytest.approx(1.0, abs=5e-3)


def test_ranges_of_play_are_not_even(play):
    found = draw_some(play, Street.RIVER, NetStage.START)
    spread = [float(ranges.max() / np.median(ranges)) for _, _, ranges in found]
    assert max(spread) > 1.5


def test_a_line_that_is_never_played_is_not_followed(play):
    # with a stack of one big blind everybody is all-in or out before the flop
    short = dataclasses.replace(play, big_blinds=(1.0, 1.0))
    assert short.draw(Street.FLOP, NetStage.START, np.random.default_rng(1)) == []


def test_the_same_seed_meets_the_same(play):
    first, second = (draw_some(play, Street.TURN, NetStage.START, seed=5) for _ in range(2))
    other = draw_some(play, Street.TURN, NetStage.START, seed=6)
    assert [(board, ratio, ranges.tobytes()) for board, ratio, ranges in first] == [
        (board, ratio, ranges.tobytes()) for board, ratio, ranges in second
    ]
    assert [board for board, _, _ in first] != [board for board, _, _ in other]


def test_sources_solve_what_is_met(play, tmp_path):
    solved = SolvedSource(street=Street.RIVER, labels=Labels(iterations=3), per_shard=4, deck=DECK, play=play)
    assert solved.make(0)["board"].shape == (4, 5)
    assert solved.config["play"].startswith("self-play@")
    net = write_net(tmp_path, Street.RIVER, NetStage.START)
    distilled = DistilledSource(net=net, per_shard=4, play=play)
    assert distilled.make(0)["board"].shape == (4, 4)
    assert distilled.config["hands"]["ends"] == [each.name for each in play.ends]
    assert solved.config["iterations"] == 3  # of the labels, not of the hands


def test_hands_can_begin_at_a_later_street(play):
    late = dataclasses.replace(play, ends=play.ends[2:], first=Street.TURN)
    found = draw_some(late, Street.RIVER, NetStage.START)
    assert found
    assert all(len(situation.board) == 5 for situation in found)
    shares = np.stack([situation.ranges.max(axis=1).astype(float) for situation in found])
    assert shares.max() > 5 * shares.min()  # recursive ranges and classes
    with pytest.raises(ConfigError, match="begin at the turn do not come to the start of the turn"):
        late.draw(Street.TURN, NetStage.START, np.random.default_rng(1))


def test_networks_that_are_missing_or_of_another_street_are_named(play):
    few = dataclasses.replace(play, ends=play.ends[:1])
    with pytest.raises(ConfigError, match="the start of the river need 3 networks"):
        few.draw(Street.RIVER, NetStage.START, np.random.default_rng(1))
    swapped = dataclasses.replace(play, ends=(play.ends[1], play.ends[0]))
    with pytest.raises(ConfigError, match="not a network of the end of the preflop"):
        swapped.draw(Street.FLOP, NetStage.START, np.random.default_rng(1))
    with pytest.raises(ConfigError, match="one big blind or more"):
        dataclasses.replace(play, big_blinds=(0.5, 3.0))
