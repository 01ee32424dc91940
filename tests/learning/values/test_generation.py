# SPDX-License-Identifier: Apache-2.0
"""Solved situations and their files: right values, shards that follow from their numbers, claims."""

import hashlib
import math
import os
import socket
import subprocess
import sys
import time

import numpy as np
import pytest

from equipoise.core.errors import CheckpointError, ConfigError
from equipoise.games.holdem.betting import Street
from equipoise.games.holdem.cards import FULL_DECK, Deck, format_deck
from equipoise.games.holdem.equity import compute_equity
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.menu_notation import parse_menu
from equipoise.games.holdem.ranges import Range
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.learning.values.configuration import ValueNetConfig
from equipoise.learning.values.generation import DistilledSource, SolvedSource
from equipoise.learning.values.labels import Labels, ValueSolver, spot_of
from equipoise.learning.values.net_files import NetFile
from equipoise.learning.values.shards import ShardFolder
from equipoise.learning.values.situations import CPU_RATIOS, Situation, draw_situation
from equipoise.learning.values.weights import StoredNet, expected_shapes
from equipoise.search.holdem.equity_leaves import equity_leaves
from equipoise.solvers.cfr import CFRSolver
from equipoise.trees.holdem.tree import plan_holdem_tree

SMALL_DECK = Deck(ranks="9TJQKA", suits="cdh")


def draw(street, seed=1, deck=SMALL_DECK):
    return draw_situation(street, CPU_RATIOS, np.random.default_rng(seed), deck=deck)


def checked_down(situation, deck):
    """Returns `[2, n]` what hands are worth if nobody bets, by listing boards."""
    spot = spot_of(situation, Labels(menu="none").bets, deck)
    equity = compute_equity(*spot.ranges, board=situation.board, deck=deck)
    live = ~hands_of(deck).blocked(situation.board)
    wins, ties, totals = equity.hand_wins[:, live], equity.hand_ties[:, live], equity.hand_totals[:, live]
    num_cards = deck.num_cards - len(situation.board) - 4
    boards = {5: 1, 4: num_cards, 3: num_cards * (num_cards - 1) // 2}[len(situation.board)]
    mass = np.array([held.weights.sum() for held in spot.ranges])
    return (2 * wins + ties - totals) / 2 / boards / mass[::-1, None]


@pytest.mark.parametrize("street", [Street.TURN, Street.RIVER])
def test_without_bets_hands_are_worth_their_equity(street):
    situation = draw(street)
    solved, _ = ValueSolver(Labels(menu="none", iterations=2), deck=SMALL_DECK).solve(
        situation, np.random.default_rng(1)
    )
    assert solved.value.astype(float) == pytest.approx(checked_down(situation, SMALL_DECK), abs=5e-4)


def test_values_are_those_of_a_solved_spot():
    situation, labels = draw(Street.RIVER), Labels(iterations=60)
    solved, _ = ValueSolver(labels, deck=SMALL_DECK).solve(situation, np.random.default_rng(1))
    solver = CFRSolver(plan_holdem_tree(spot_of(situation, labels.bets, SMALL_DECK)).build(), labels.update)
    solver.iterate(60)
    expected = solver.evaluate().values[0] / 10_000
    shares = situation.ranges.astype(float)
    pairs = (
        shares[0] @ hands_of(SMALL_DECK).compatible(full(situation, 1))[~hands_of(SMALL_DECK).blocked(situation.board)]
    )
    assert (shares[0] / shares[0].sum() * solved.value[0]).sum() * shares[0].sum() * shares[1].sum() / pairs == (
        pytest.approx(expected, abs=3e-3)
    )


def full(situation, player):
    weights = np.zeros(SMALL_DECK.num_hands)
    weights[~hands_of(SMALL_DECK).blocked(situation.board)] = situation.ranges[player]
    return weights


def test_lines_that_leave_a_street_have_values_of_their_own():
    situation = draw(Street.TURN, seed=3)
    labels = Labels(iterations=40, num_lines=9)
    _, ends = ValueSolver(labels, deck=SMALL_DECK).solve(situation, np.random.default_rng(1))
    assert ends
    for end in ends:
        shares = end.situation.ranges.astype(float)
        assert end.situation.board == situation.board
        assert 0 < end.situation.ratio <= situation.ratio * (1 + 1e-4)
        assert abs((shares * end.value).sum()) < 2e-3  # nobody wins what the other does not lose
        # solved again for those ranges, hands are worth about as much
        again, _ = ValueSolver(Labels(iterations=300), deck=SMALL_DECK).solve(end.situation, np.random.default_rng(1))
        assert np.corrcoef(again.value.astype(float).ravel(), end.value.astype(float).ravel())[0, 1] > 0.9


def test_leaves_cut_what_follows_the_street():
    situation = draw(Street.TURN, seed=4)
    spot = spot_of(situation, Labels(menu="turn: none; river: none").bets, SMALL_DECK)
    solver = ValueSolver(Labels(menu="none", iterations=3), deck=SMALL_DECK, leaves=equity_leaves(spot))
    solved, _ = solver.solve(situation, np.random.default_rng(1))
    assert solved.value.astype(float) == pytest.approx(checked_down(situation, SMALL_DECK), abs=5e-4)


# --- files ---


def make_source(**changes):
    settings = {"street": Street.RIVER, "labels": Labels(iterations=2), "per_shard": 3, "deck": SMALL_DECK}
    return SolvedSource(**{**settings, **changes})


def write_one(place, source, number=0):
    folder = ShardFolder(place, source.config)
    folder.write(number, source.make(number))
    return folder


def test_a_shard_follows_from_its_number(tmp_path):
    write_one(tmp_path / "a", make_source(), 1)
    write_one(tmp_path / "b", make_source(), 1)
    assert (tmp_path / "a" / "000001.eq").read_bytes() == (tmp_path / "b" / "000001.eq").read_bytes()


@pytest.mark.parametrize(
    ("changes", "number", "expected"),
    [
        ({"labels": Labels(iterations=20, growth=0.0), "deck": FULL_DECK}, 3, "b75656ccc447b168"),
        (
            {"street": Street.TURN, "labels": Labels(iterations=5, growth=0.0, num_lines=2), "per_shard": 6},
            1,
            "1b9be48bbed9c726",
        ),
    ],
)
def test_shards_keep_their_bits(changes, number, expected):
    # recorded when they were first made: whatever makes them faster, folders that were begun go on as they were
    arrays = make_source(**{"per_shard": 5, "seed": 5, **changes}).make(number)
    digest = hashlib.blake2b(digest_size=8)
    for name in sorted(arrays):
        digest.update(name.encode() + arrays[name].tobytes())
    assert digest.hexdigest() == expected


def test_a_claimed_shard_is_left_alone_until_it_is_released(tmp_path):
    first, second = (ShardFolder(tmp_path, make_source().config) for _ in range(2))
    assert first.claim(0)
    assert not second.claim(0)
    assert second.claim(1)
    first.release(0)
    assert second.claim(0)
    second.release()
    assert not list(tmp_path.iterdir())


def test_claims_that_are_not_refreshed_grow_old(tmp_path):
    first, second = (ShardFolder(tmp_path, make_source().config) for _ in range(2))
    claim = tmp_path / ".000000.claim"
    claim.write_text("elsewhere 17")
    assert not first.claim(0)
    os.utime(claim, (time.time() - 3600,) * 2)
    assert first.claim(0)
    os.utime(claim, (time.time() - 3600,) * 2)
    first.refresh()
    assert not second.claim(0)


def test_claims_end_with_their_process(tmp_path):
    program = "import os; print(os.getpid())"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    folder = ShardFolder(tmp_path, make_source().config)
    for content, is_free in ((f"{socket.gethostname()} {ended.stdout}", True), (f"elsewhere {ended.stdout}", False)):
        (tmp_path / ".000000.claim").write_text(content.strip())
        assert folder.claim(0) is is_free


def test_shards_that_are_there_are_not_claimed(tmp_path):
    folder = write_one(tmp_path, make_source())
    assert not folder.claim(0)
    assert folder.claim(1)


def test_situations_of_another_kind_are_refused(tmp_path):
    source = make_source()
    write_one(tmp_path, source)
    with pytest.raises(ConfigError, match="iterations is 2 there and 5 here"):
        ShardFolder(tmp_path, make_source(labels=Labels(iterations=5)).config)


def test_a_damaged_shard_is_noticed(tmp_path):
    folder = write_one(tmp_path, make_source())
    place = tmp_path / "000000.eq"
    content = bytearray(place.read_bytes())
    content[-5] ^= 1
    place.write_bytes(content)
    with pytest.raises(CheckpointError):
        folder.read(0)


def test_settings_that_make_no_sense_are_refused():
    with pytest.raises(ConfigError, match="ratios are one of"):
        make_source(ratios="some")
    with pytest.raises(ConfigError, match="at least one situation"):
        make_source(per_shard=0)
    with pytest.raises(ConfigError, match="iterations must be positive"):
        Labels(iterations=0)


# --- distilled from networks ---


class Showdowns:
    """A network that says what a showdown pays: its values are known."""

    def __init__(self, street, deck=SMALL_DECK):
        self.config = ValueNetConfig(street=street, deck=format_deck(deck), hidden=8, layers=1)
        shapes = expected_shapes(self.config)
        self.stored = StoredNet(
            config=self.config, tensors={name: np.zeros(shapes[name], np.float32) for name in shapes}
        )

    def write(self, folder):
        path = folder / f"{self.config.street.name.lower()}.safetensors"
        self.stored.save(path)
        return NetFile.at(path)


@pytest.mark.parametrize("street", [Street.RIVER, Street.TURN])
def test_what_is_distilled_is_the_mean_over_cards(tmp_path, street):
    source = DistilledSource(net=Showdowns(street).write(tmp_path), per_shard=3, per_board=2, seed=1)
    arrays = source.make(0)
    assert source.config["street"] == f"{Street(street - 1).name.lower()}-end"
    assert arrays["board"].shape == (3, street.num_board_cards - 1)
    for board, ratio, ranges, value in zip(
        *(arrays[name] for name in ("board", "ratio", "range", "value")), strict=True
    ):
        situation = Situation(tuple(board.tolist()), float(ratio), ranges)
        assert value.astype(float) == pytest.approx(checked_down(situation, SMALL_DECK), abs=2e-3)


def test_classes_before_the_flop_are_worth_their_mean_over_flops(tmp_path):
    deck = Deck(ranks="JQKA", suits="cdh")
    source = DistilledSource(net=Showdowns(Street.FLOP, deck).write(tmp_path), per_shard=2, seed=1)
    arrays = source.make(0)
    classes = hands_of(deck).classes
    assert arrays["value"].shape == (2, 2, deck.num_hands)
    for row in range(2):
        for player in (0, 1):
            for name in ("range", "value"):
                by_class = [set(arrays[name][row, player][classes == each].tolist()) for each in set(classes.tolist())]
                assert all(len(found) == 1 for found in by_class)
        spot = HoldemSpot(
            board=(),
            stacks=(1000, 1000),
            ranges=tuple(Range(own.astype(float) / own.max(), deck) for own in arrays["range"][row]),
            menu=parse_menu("none"),
            deck=deck,
        )
        equity = compute_equity(*spot.ranges, deck=deck)
        boards = np.array([held.weights.sum() for held in spot.ranges]) * math.comb(deck.num_cards - 4, 5)
        expected = (2 * equity.hand_wins + equity.hand_ties - equity.hand_totals) / 2 / boards[::-1, None]
        assert arrays["value"][row].astype(float) == pytest.approx(expected, abs=2e-3)


def test_other_weights_have_another_name(tmp_path):
    first = Showdowns(Street.RIVER).write(tmp_path)
    other = Showdowns(Street.RIVER)
    other.stored.tensors["trunk.bias.1"][:] = 1.0
    second = other.write(tmp_path)
    assert first.name.startswith("river@")
    assert first.name != second.name
    with pytest.raises(CheckpointError, match="cannot read"):
        NetFile.at(tmp_path / "none.safetensors")
