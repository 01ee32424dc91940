# SPDX-License-Identifier: Apache-2.0
"""Sampled responses down lines of betting: equal to the twins, right in the limits, of use in training."""

import dataclasses

import numpy as np
import pytest

from equipoise.core.errors import AbandonedError, ConfigError
from equipoise.games.base import TERMINAL
from equipoise.games.holdem.bucketed_limit import BucketedLimitHoldem, BucketedLimitLines
from equipoise.games.registry import make_game
from equipoise.kernels.lines import LineKernel
from equipoise.responses.against import AgainstSolver
from equipoise.responses.exact import BestResponse
from equipoise.responses.lines import LineFBR, Lines, LineUCT
from equipoise.responses.values import response_value
from equipoise.trees.derive import derive_public_game
from equipoise.trees.holdem.bucket_lines import list_lines
from equipoise.trees.public import build_public_tree
from tests.reference import walks as reference
from tests.reference.lines import DealtAtOnce
from tests.reference.sampling import Xoshiro

GAME = BucketedLimitHoldem(buckets=2, streets=2, max_raises=(2, 1, 0, 0))


@pytest.fixture(scope="module")
def lines():
    return Lines(build_public_tree(GAME.public_form()))


def random_strategy(tree, seed):
    rng = np.random.default_rng(seed)
    out = np.zeros(tree.cells.num_table_cells)
    for start, end in zip(tree.infoset_start[:-1], tree.infoset_start[1:], strict=True):
        # some actions are never played
        shares = rng.exponential(size=end - start) * (rng.random(end - start) < 0.8)
        out[tree.sequence_cell[start:end]] = shares / shares.sum() if shares.sum() else 1 / (end - start)
    return out


def by_label(tree, strategy):
    return {
        (player, label): strategy[tree.sequence_cell[start:end]].tolist()
        for player, label, start, end in zip(
            tree.infoset_player().tolist(),
            tree.infoset_labels,
            tree.infoset_start[:-1],
            tree.infoset_start[1:],
            strict=True,
        )
    }


def words_of(seed):
    return np.random.default_rng(seed).integers(1, 2**64 - 1, size=4, dtype=np.uint64)


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("exploration", [0.0, 6.0])
def test_searches_equal_the_twins(lines, player, exploration):
    tree, words = lines.on_tree.tree, words_of(player)
    strategy, generator = random_strategy(tree, 5), Xoshiro(words)

    found = lines.kernel.search_uct(
        player,
        strategy,
        num_iterations=500,
        exploration=exploration,
        default=lines.always_call,
        random_words=words,
    )
    best = reference.search_uct(DealtAtOnce(GAME), player, by_label(tree, strategy), 500, exploration, generator.draw)

    assert generator.words == words.tolist()
    calls = by_label(tree, lines.always_call)
    for (owner, label), shares in by_label(tree, found).items():
        expected = calls[owner, label]
        if owner == player and label in best:
            expected = [float(place == best[label]) for place in range(len(shares))]
        assert shares == expected


@pytest.mark.parametrize("target", [0, 1])
def test_models_equal_the_twins(lines, target):
    tree, words = lines.on_tree.tree, words_of(9 + target)
    strategy, generator = random_strategy(tree, 6), Xoshiro(words)
    game = DealtAtOnce(GAME)
    profile = by_label(tree, strategy)
    for node, line in enumerate(tree.states):
        if tree.actor[node] == 1 - target:
            for place in range(tree.num_private[node, 1 - target]):
                profile[1 - target, game.lines.infostate(line, 1 - target, place)] = game.probe((line, 0))

    for repeat in range(2):  # the second one finds the scratch memory as the first one left it
        model = lines.kernel.model_by_probe(
            target, strategy, num_hands=300, default=lines.always_call, random_words=words
        )
        counts = reference.count_actions(game, target, profile, 300, generator.draw)
        assert generator.words == words.tolist(), repeat
        calls = by_label(tree, lines.always_call)
        for (owner, label), shares in by_label(tree, model).items():
            seen = counts.get(label) if owner == target else None
            expected = calls[owner, label] if seen is None else [count / sum(seen) for count in seen]
            np.testing.assert_allclose(shares, expected, rtol=1e-15)


def test_calls_that_were_given_up_leave_nothing_behind(lines):
    strategy = random_strategy(lines.on_tree.tree, 7)
    for response in (LineUCT(lines, 10**12), LineFBR(lines, 10**12)):
        response.listen(lambda: True)
        with pytest.raises(AbandonedError):
            response.respond(strategy, 0, np.random.default_rng(0))
        response.listen(lambda: False)
    for make in (LineUCT, LineFBR):
        fresh = make(Lines(lines.on_tree.tree), 300).respond(strategy, 0, np.random.default_rng(1))
        found = make(lines, 300).respond(strategy, 0, np.random.default_rng(1))
        np.testing.assert_array_equal(found, fresh)


def test_without_samples_responses_are_their_defaults(lines):
    on_tree, strategy, rng = lines.on_tree, random_strategy(lines.on_tree.tree, 7), np.random.default_rng(0)

    called = LineUCT(lines, 0).respond(strategy, 1, rng)
    np.testing.assert_array_equal(called, on_tree.combine(strategy, lines.always_call, 1))
    against_calls = LineFBR(lines, 0).respond(strategy, 1, rng)
    expected = BestResponse(on_tree.tree).respond(lines.always_call, 1, rng)
    np.testing.assert_array_equal(on_tree.combine(lines.always_call, against_calls, 1), expected)


def test_many_samples_come_near_the_best_response(lines):
    on_tree, strategy = lines.on_tree, random_strategy(lines.on_tree.tree, 8)
    best = response_value(on_tree, strategy, BestResponse(on_tree.tree)).mean
    fbr = [response_value(on_tree, strategy, LineFBR(lines, n), num_responses=5).mean for n in (30, 300_000)]
    uct = [
        response_value(on_tree, strategy, LineUCT(lines, n, exploration=10.0), num_responses=5).mean
        for n in (30, 300_000)
    ]

    assert best <= fbr[1] < best + 0.01 < fbr[0]
    assert best <= uct[1] < best + 0.05 < uct[0]


def test_training_beats_what_it_was_trained_against(lines):
    on_tree = lines.on_tree
    fbr = LineFBR(lines, 50)
    solver = AgainstSolver(on_tree.tree, fbr, seed=1)
    before = response_value(on_tree, solver.average_strategy(), fbr, num_responses=30)
    solver.iterate(400)
    after = response_value(on_tree, solver.average_strategy(), fbr, num_responses=30)

    assert after.mean - after.half_width > before.mean + before.half_width


def test_answers_stand_for_several_updates(lines):
    asked = []

    class Counting(LineFBR):
        def respond(self, strategy, seat, rng):
            asked.append(seat)
            return super().respond(strategy, seat, rng)

    AgainstSolver(lines.on_tree.tree, Counting(lines, 20), updates_per_response=12).iterate(24)

    assert asked == [1, 1, 0, 0]


def test_names_say_the_numbers(lines):
    assert [LineFBR(lines, 30).name, LineUCT(lines, 40).name, LineUCT(lines, 40, exploration=7).name] == [
        "fbr:30",
        "uct:40",
        "uct:40,7",
    ]


def test_other_games_are_refused():
    with pytest.raises(ConfigError, match="bucketed limit hold'em, got kuhn"):
        Lines(build_public_tree(derive_public_game(make_game("kuhn"))))


def test_lines_of_another_variant_are_refused(lines):
    with pytest.raises(ConfigError, match="are not those of"):
        list_lines(lines.on_tree.tree, BucketedLimitLines(BucketedLimitHoldem()))


@pytest.mark.parametrize(
    ("name", "place", "value", "message"),
    [
        ("child", 0, 0, "child must be at least 1"),
        ("call", 0, 5, "call must be at least 0"),
        ("level", 0, 2, "level must be at least 0 and below 2"),
        ("first_cell", 0, 10**6, "first_cell must be at least 0"),
        ("stride", 0, 10**6, "stride must be at least 0"),
        ("actor", 0, 2, "actor must be at least 0"),
        ("num_actions", 0, 4, "num_actions must be at least 1"),
    ],
)
def test_lines_that_lead_nowhere_are_refused(lines, name, place, value, message):
    arrays = list_lines(lines.on_tree.tree, BucketedLimitLines(GAME))
    assert arrays.actor[place] != TERMINAL
    broken = getattr(arrays, name).copy()
    broken[place] = value

    with pytest.raises(ValueError, match=message):
        LineKernel(dataclasses.replace(arrays, **{name: broken}))


def test_bad_calls_are_refused(lines):
    strategy, words = lines.always_call, words_of(1)
    with pytest.raises(ValueError, match="not all be zero"):
        lines.kernel.model_by_probe(0, strategy, num_hands=1, default=strategy, random_words=np.zeros(4, np.uint64))
    with pytest.raises(ConfigError, match="exploration must be at least 0 and finite, got inf"):
        lines.kernel.search_uct(0, strategy, num_iterations=1, exploration=np.inf, default=strategy, random_words=words)
    with pytest.raises(ValueError, match="strategy must be finite"):
        lines.kernel.model_by_probe(
            0, np.full_like(strategy, np.nan), num_hands=1, default=strategy, random_words=words
        )
