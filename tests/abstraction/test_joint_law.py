# SPDX-License-Identifier: Apache-2.0
"""The joint law of bucket paths against dealing everything, what it adds up to, and what the package ships."""

import numpy as np
import pytest

from equipoise.abstraction import joint_law
from equipoise.abstraction.buckets import Percentile, build_buckets
from equipoise.abstraction.joint_law import count_law, load_or_count_law
from equipoise.core.errors import ConfigError
from equipoise.games.holdem.bucket_law import find_law, law_file, pack_law, unpack_law
from equipoise.games.holdem.cards import FULL_DECK, parse_deck
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.strength import hand_kernel
from tests.reference.joint_law import deal_everything

TINY = parse_deck("tiny")


@pytest.fixture(scope="module")
def tiny_buckets():
    return build_buckets(Percentile(has_recall=True), TINY, sizes=(2, 2, 2, 2))


def test_law_is_that_of_every_deal(tiny_buckets):
    law = count_law(tiny_buckets)
    wins, ties = deal_everything(tiny_buckets)

    np.testing.assert_array_equal(law.wins, wins)
    np.testing.assert_array_equal(law.ties, ties)


@pytest.mark.parametrize("num_paths", [1, 16, 81, 625])
def test_histograms_and_pairs_count_alike(num_paths):
    # many paths compare hands of one strength pair by pair, few do by histograms; merged paths must agree
    rng = np.random.default_rng(num_paths)
    deck = parse_deck("small")
    boards = np.stack([rng.choice(deck.cards, 5, replace=False) for _ in range(6)]).astype(np.uint8)
    hole_cards = hands_of(deck).cards
    is_blocked = (hole_cards[None, :, :, None] == boards[:, None, None, :]).any(axis=(2, 3))
    fine = rng.integers(625, size=(6, 3, len(hole_cards))).astype(np.int32)
    coarse = fine % num_paths
    fine[np.broadcast_to(is_blocked[:, None, :], fine.shape)] = -1
    coarse[fine < 0] = -1
    weights = rng.integers(1, 25, size=6)

    def count(paths, size):
        out = np.zeros((2, size, size), np.int64)
        hand_kernel(deck).accumulate_joint_counts(boards, weights, hole_cards, paths, wins=out[0], ties=out[1])
        return out

    expected = np.zeros((2, num_paths, num_paths), np.int64)
    place = np.arange(625) % num_paths
    np.add.at(expected, (slice(None), place[:, None], place[None, :]), count(fine, 625))
    np.testing.assert_array_equal(count(np.ascontiguousarray(coarse), num_paths), expected)


def test_paths_of_the_board_s_own_cards_are_refused():
    paths = np.full((1, 1, TINY.num_hands), 0, np.int32)
    paths[0, 0, -1] = 1
    out = np.zeros((1, 1), np.int64)

    with pytest.raises(ValueError, match="paths must be at least"):
        hand_kernel(TINY).accumulate_joint_counts(
            np.array([TINY.cards[:5]], np.uint8), np.ones(1, np.int64), hands_of(TINY).cards, paths, wins=out, ties=out
        )


def test_law_is_kept_and_found_again(tmp_path, monkeypatch):
    monkeypatch.setattr(joint_law, "law_file", _eager_file)
    steps = []
    law = load_or_count_law(2, TINY, directory=tmp_path, on_progress=lambda done, step: steps.append((done, step)))

    counted = [done for done, step in steps if step == "deals"]
    assert counted == sorted(counted)
    assert 0.0 <= min(done for done, _ in steps) <= counted[0] <= counted[-1] <= 1.0
    monkeypatch.setattr(joint_law, "count_law", None)  # a second count would fail
    again = load_or_count_law(2, TINY, directory=tmp_path)
    np.testing.assert_array_equal(again.wins, law.wins)


def _eager_file(*args, **kwargs):
    file = law_file(*args, **kwargs)
    file.min_build_seconds = 0.0
    return file


def test_laws_need_nested_buckets_of_one_size(tiny_buckets):
    with pytest.raises(ConfigError, match="got 16 at the river"):
        count_law(build_buckets(Percentile(), TINY, sizes=(2, 2, 2, 16)))
    with pytest.raises(ConfigError, match="between 1 and 6, got 7"):
        load_or_count_law(7)


@pytest.mark.parametrize("num_buckets", [2, 3])
def test_shipped_law_is_of_the_full_deck(num_buckets):
    law = find_law(num_buckets)

    assert law.num_deals == 2_598_960 * 20 * 1081 * 990
    np.testing.assert_array_equal(law.ties, law.ties.T)
    for street in range(4):
        marginal = law.pair_weights(street).sum(axis=0)
        assert marginal.sum() == pytest.approx(1.0, abs=1e-12)
        # percentiles: classes of hands and equal strengths are not split
        assert marginal.max() < 1.35 / num_buckets ** (street + 1)


def test_shipped_laws_split_as_often_as_cards_do():
    rng = np.random.default_rng(3)
    deals = np.stack([rng.choice(52, 9, replace=False) for _ in range(20_000)]).astype(np.uint8)
    first, second = (
        hand_kernel(FULL_DECK).evaluate_hands(np.ascontiguousarray(np.hstack([deals[:, own], deals[:, 4:]])))
        for own in (slice(0, 2), slice(2, 4))
    )
    share = np.mean(first == second)

    for num_buckets in (2, 3):
        law = find_law(num_buckets)
        assert law.ties.sum() / law.num_deals == pytest.approx(share, abs=5 * np.sqrt(share / len(deals)))


def test_law_survives_its_file():
    law = find_law(2)
    again = unpack_law(2, pack_law(law))

    np.testing.assert_array_equal(again.wins, law.wins)
    np.testing.assert_array_equal(again.ties, law.ties)


def test_missing_law_says_how_it_is_made(monkeypatch, tmp_path):
    monkeypatch.setenv("EQUIPOISE_CACHE", str(tmp_path))

    with pytest.raises(ConfigError, match=r"joint law of 4 buckets .*load_or_count_law\(4\)"):
        find_law(4)
