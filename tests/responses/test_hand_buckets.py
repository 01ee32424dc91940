# SPDX-License-Identifier: Apache-2.0
"""Hands that play by bucket, beside merged information sets of the history tree of the same spot."""

import functools

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games.holdem.cards import format_card
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.public_text import parse_public_text
from equipoise.games.holdem.strength import evaluate_boards
from equipoise.games.registry import make_game
from equipoise.responses.against import AgainstSolver
from equipoise.responses.exact import AbstractBestResponse, BestResponse, StaticResponse
from equipoise.responses.hand_buckets import BucketBestResponse, HandBuckets
from equipoise.responses.mixtures import MixedResponse
from equipoise.responses.on_tree import OnTree
from equipoise.responses.outcomes import report_seats
from equipoise.solvers.best_response import bind_history_kernel
from equipoise.solvers.rules import CFR, DCFR, CFRPlus, Hedge, PredictiveCFRPlus
from equipoise.trees.history import build_history_tree
from equipoise.trees.holdem.tree import build_holdem_tree
from equipoise.trees.merging import group_infosets
from tests.reference.holdem import HoldemTwin, spot_of

TURN = {
    "deck": "small",
    "board": "ThJsQhKs",
    "stacks": (35, 60),
    "menu": "100%, a / a",
    "pot": 20,
    "small_blind": 5,
    "big_blind": 10,
    "ranges": "AA,AhKh:0.5,QJs,99|TT,AsJs,AhKh:0.25,KQs",
}
SEATS = pytest.mark.parametrize("seat", [0, 1])


class Strong:
    """Buckets by whether a hand has an ace or a king, and on the river whether it is among the better half."""

    def __init__(self, deck, *, forgets=False):
        self.deck, self.forgets = deck, forgets
        self.high = np.isin(hands_of(deck).cards // 4, [11, 12]).any(axis=1)

    def num_buckets(self, street):
        return 4

    def assign(self, board):
        buckets = self.high.astype(np.int32)
        if len(board) == 5:
            strength = evaluate_boards([board], self.deck)[0]
            better = strength > np.median(strength[~hands_of(self.deck).blocked(board)])
            buckets = better.astype(np.int32) if self.forgets else 2 * buckets + better
        return buckets


@functools.cache
def twin():
    game = make_game("holdem_endgame", **TURN)
    return HoldemTwin(build_holdem_tree(spot_of(game), merges_suits=False), build_history_tree(game))


@functools.cache
def both():
    """Returns the history tree and the hold'em tree as responses read them."""
    return OnTree(twin().history), OnTree(twin().tree)


@functools.cache
def groups():
    """Returns `[I]` the same buckets as groups of information sets."""
    deck = twin().tree.spot.deck
    assigner = Strong(deck)
    hands = {
        "".join(map(format_card, pair)): number
        for number, cards in enumerate(hands_of(deck).cards.tolist())
        for pair in (cards, cards[::-1])
    }

    def key(player, label):
        hand, _, text = label.partition("|")
        line, board = parse_public_text(text)
        return player, line, int(assigner.assign(board)[hands[hand]])

    return group_infosets(twin().history, key)


@functools.cache
def buckets():
    return HandBuckets(twin().tree, Strong(twin().tree.spot.deck))


def draw(seed):
    size = int(twin().history.sequence_start[-1])
    table = bind_history_kernel(twin().history).normalize(np.random.default_rng(seed).uniform(size=size) ** 3)
    return table, twin().to_cells(table)


@SEATS
@pytest.mark.parametrize("seed", range(3))
def test_best_responses_in_buckets_are_those_of_merged_information_sets(seat, seed):
    histories, boards = both()
    theirs, ours = draw(seed)
    expected = AbstractBestResponse(twin().history, groups()).respond(theirs, seat, np.random.default_rng(0))
    response = BucketBestResponse(boards.form, buckets())
    found = response.respond(ours, seat, np.random.default_rng(0))
    assert boards.value(found, seat) == pytest.approx(histories.value(expected, seat), abs=1e-10)
    best, _ = boards.form.answer(ours, seat)
    assert boards.value(found, seat) < best - 1e-3
    assert response.is_pretty_good


def test_hands_of_a_bucket_play_alike():
    boards = both()[1]
    answer = BucketBestResponse(boards.form, buckets()).respond(draw(3)[1], 0, np.random.default_rng(0))
    for cells in np.split(np.argsort(buckets().cell_of, kind="stable"), np.cumsum(np.bincount(buckets().cell_of))[:-1]):
        own = cells[(buckets().weight[cells] > 0) & boards.form.table_cells[0][cells]]
        assert np.unique(answer[own]).size <= 1


@SEATS
@pytest.mark.parametrize("rule", [CFR(), DCFR(), CFRPlus(), PredictiveCFRPlus()], ids=lambda rule: rule.name)
def test_learners_in_buckets_are_those_of_merged_information_sets(seat, rule):
    runs = []
    for which, on_tree in enumerate(both()):
        response = MixedResponse(
            on_tree.form,
            StaticResponse(on_tree.form, draw(4)[which]),
            StaticResponse(on_tree.form, draw(5)[which]),
            0.3,
        )
        given = (groups(), buckets())[which]
        solver = AgainstSolver(on_tree.form, response, rule=rule, seat=seat, groups=given)
        solver.iterate(8)
        runs.append(solver)
    expected, found = (solver.evaluate() for solver in runs)
    assert found.values == pytest.approx(expected.values, abs=1e-9)
    assert found.best_response_values == pytest.approx(expected.best_response_values, abs=1e-9)
    assert runs[1].measure_regrets() == pytest.approx(runs[0].measure_regrets(), abs=1e-9)
    reports = [report_seats(solver)[0] for solver in runs]
    assert reports[1].guarantee.statement == reports[0].guarantee.statement
    assert reports[1].current_value.mean == pytest.approx(reports[0].current_value.mean, abs=1e-9)


@SEATS
def test_cfr_br_in_buckets_comes_to_the_same_value(seat):
    values = []
    for which, on_tree in enumerate(both()):
        given = (groups(), buckets())[which]
        solver = AgainstSolver(on_tree.form, BestResponse(on_tree.form), rule=CFRPlus(), seat=seat, groups=given)
        solver.iterate(1500)
        (report,) = report_seats(solver)
        assert report.guarantee.theorem == "Theorem 6"
        values.append((report.average_value.mean, report.epsilon))
    slack = values[0][1] + values[1][1]
    assert slack < 0.01 * both()[1].form.utility_range
    assert values[0][0] == pytest.approx(values[1][0], abs=slack / 4)


def test_a_run_in_buckets_goes_on_to_the_bit():
    def begin():
        form = both()[1].form
        return AgainstSolver(form, BestResponse(form), rule=PredictiveCFRPlus(), groups=buckets())

    whole, first, second = begin(), begin(), begin()
    whole.iterate(6)
    first.iterate(2)
    second.restore({key: np.array(value) for key, value in first.state().items()})
    second.iterate(4)
    for key, value in whole.state().items():
        np.testing.assert_array_equal(second.state()[key], value)


def test_merged_suits_change_nothing():
    game = make_game("holdem_endgame", **{**TURN, "board": "ThJhQhKh", "ranges": "AA,QJs,99,AK|TT,KQs,AJ"})
    runs = []
    for merges_suits in (True, False):
        tree = build_holdem_tree(spot_of(game), merges_suits=merges_suits)
        form = OnTree(tree).form
        model = StaticResponse(form, np.zeros(form.num_table_cells))
        solver = AgainstSolver(form, model, rule=CFR(), groups=HandBuckets(tree, Strong(tree.spot.deck)))
        solver.iterate(5)
        runs.append(solver)
    merged, plain = (solver.evaluate() for solver in runs)
    assert runs[0].full.form.num_table_cells < runs[1].full.form.num_table_cells
    assert merged.values == pytest.approx(plain.values, abs=1e-9)
    assert merged.best_response_values == pytest.approx(plain.best_response_values, abs=1e-9)
    assert runs[0].measure_regrets() == pytest.approx(runs[1].measure_regrets(), abs=1e-9)


def test_buckets_that_forget_promise_nothing():
    boards = both()[1]
    forgetful = HandBuckets(twin().tree, Strong(twin().tree.spot.deck, forgets=True))
    assert buckets().remembers
    assert not forgetful.remembers
    assert not BucketBestResponse(boards.form, forgetful).is_pretty_good
    solver = AgainstSolver(boards.form, BestResponse(boards.form), groups=forgetful, seat=0)
    solver.iterate(3)
    assert "forget" in report_seats(solver)[0].guarantee.statement


def test_what_buckets_cannot_do_is_said():
    histories, boards = both()
    with pytest.raises(ConfigError, match="match regrets"):
        AgainstSolver(boards.form, BestResponse(boards.form), rule=Hedge(), groups=buckets())
    with pytest.raises(ConfigError, match="for hold'em trees"):
        AgainstSolver(histories.form, BestResponse(histories.form), groups=buckets())
