# SPDX-License-Identifier: Apache-2.0
"""Recorded hands counted at a spot's decisions, and responses that learn from them."""

import numpy as np
import pytest

from equipoise.abstraction.bucketed_strategy import BucketedStrategy, BucketRecipe
from equipoise.core.errors import ConfigError, ParseError
from equipoise.games.holdem.betting import CALL, FOLD, BettingRules
from equipoise.games.holdem.betting_tree import NodeKind
from equipoise.games.holdem.cards import DECKS, parse_board, parse_card
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.records import RecordedHand
from equipoise.games.holdem.spot_file import parse_spot
from equipoise.games.kuhn import Kuhn
from equipoise.responses.mixtures import trust_counts
from equipoise.responses.notation import parse_response
from equipoise.responses.recorded import LEAST_COUNT, count_play
from equipoise.trees.history import build_history_tree
from equipoise.trees.holdem.bucketed import build_bucketed_tree
from equipoise.trees.holdem.tree import build_holdem_tree

ROYAL = DECKS["royal"]
SPOT = """
deck = 'royal'
board = 'AsKsThQdTc'
pot = 4
stacks = 4
big_blind = 2
menu = '50%, a'
ranges = {oop = 'random', ip = 'random'}
"""
RULES = BettingRules(stacks=(6, 6), small_blind=1, big_blind=2)  # whoever calls before the river comes to the spot
PASSIVE = (CALL,) * 6  # until the river
NUM_BUCKETS = 4


@pytest.fixture(scope="module")
def tree():
    spot = parse_spot(SPOT).spot
    return build_bucketed_tree(spot, BucketRecipe(sizes=(None, *[NUM_BUCKETS] * 3)).build(spot))


def cards_of(text):
    """Returns the cards of a hand, ascending."""
    return tuple(sorted(parse_card(text[i : i + 2]) for i in range(0, len(text), 2)))


def play(*actions, hole=("AdAc", "JsJd"), board="AsKsThQdTc", names=("a", "b"), rules=RULES, number=1):
    """Returns a hand that comes to the river without a bet, and what was done there."""
    return RecordedHand(
        rules=rules,
        hole=tuple(map(cards_of, hole)),
        board=parse_board(board, ROYAL),
        actions=(*PASSIVE, *actions),
        names=names,
        number=number,
    )


def find(tree, *actions):
    """Returns the node after some actions of the river."""
    node = tree.betting.root
    for action in actions:
        node = tree.betting.nodes[node.children[node.actions.index(action)]]
    return node


def bucket_of(tree, hand, board="AsKsThQdTc"):
    return tree.buckets(parse_board(board, ROYAL))[hands_of(ROYAL).index(*cards_of(hand))]


def row(tree, counted, node, hand, board="AsKsThQdTc"):
    return counted.sums[tree.cells(node.index)][bucket_of(tree, hand, board)].tolist()


def test_actions_are_counted_where_they_were_taken(tree):
    # checked to, bets half the pot (2 above the 2 that are in), and folds to the raise
    counted = count_play(tree, [play(CALL, 4, 6, FOLD)] * 3 + [play(CALL, CALL)])
    first, second, third = find(tree), find(tree, CALL), find(tree, CALL, 4)
    assert row(tree, counted, first, "AdAc") == [4, 0, 0]
    assert row(tree, counted, second, "JsJd") == [1, 3, 0]
    assert row(tree, counted, third, "AdAc")[third.actions.index(6)] == 3
    assert row(tree, counted, find(tree, CALL, 4, 6), "JsJd")[0] == 3
    assert (counted.num_used, counted.num_decisions, counted.num_lost) == (4, 14, 0)
    assert counted.sums[counted.sums >= 1].sum() == 14


def test_where_nothing_was_seen_the_model_calls(tree):
    counted = count_play(tree, [play(CALL, CALL)])
    for node in tree.betting.nodes:
        if node.kind is NodeKind.DECISION:
            rows = counted.sums[tree.cells(node.index)]
            unseen = rows[rows.max(axis=1) < 1]
            assert (unseen[:, node.actions.index(CALL)] == np.float32(LEAST_COUNT)).all()
            assert unseen.sum() == np.float32(LEAST_COUNT) * len(unseen)
    assert (counted.num_seen, counted.num_rows) == (2, NUM_BUCKETS * len(tree.decisions))


def test_hands_of_other_boards_count_where_they_are_as_strong(tree):
    board = "AhKhJsQcQs"
    counted = count_play(tree, [play(CALL, CALL, hole=("QdQh", "KdTc"), board=board)])
    assert row(tree, counted, find(tree), "QdQh", board)[0] == 1
    assert bucket_of(tree, "QdQh", board) == NUM_BUCKETS - 1
    assert row(tree, counted, find(tree), "TsTd")[0] == 1  # quads of the spot's own board


def test_only_the_players_who_are_asked_for_count(tree):
    counted = count_play(tree, [play(CALL, CALL)], players={"b"})
    assert row(tree, counted, find(tree), "AdAc")[0] < 1
    assert row(tree, counted, find(tree, CALL), "JsJd")[0] == 1


@pytest.mark.parametrize(
    ("hand", "why"),
    [
        (play(CALL, CALL, names=("x", "y")), "without the player"),
        (play(CALL, CALL, hole=("", "")), "cards not shown"),
        (play(CALL, CALL, rules=BettingRules(stacks=(60, 60), small_blind=1, big_blind=2)), "other stacks"),
        (RecordedHand(rules=RULES, hole=((), ()), board=(), actions=(FOLD,), names=("a", "b")), "ended before"),
    ],
)
def test_hands_that_say_nothing_are_passed_over(tree, hand, why):
    counted = count_play(tree, [hand, play(CALL, CALL)], players={"a", "b"})
    assert counted.passed == {why: 1}
    assert (counted.num_hands, counted.num_used, counted.num_decisions) == (2, 1, 2)


def test_hands_with_deeper_stacks_count_if_they_are_asked_for(tree):
    deep = BettingRules(stacks=(60, 60), small_blind=1, big_blind=2)
    assert count_play(tree, [play(CALL, CALL, rules=deep)], within=20.0).num_used == 1


def test_three_players_on_the_street_do_not_count(tree):
    rules = BettingRules(stacks=(6, 6, 6), small_blind=1, big_blind=2)
    hand = RecordedHand(
        rules=rules, hole=((), (), ()), board=parse_board("AsKsThQdTc", ROYAL), actions=(CALL,) * 12, names=tuple("abc")
    )
    assert count_play(tree, [hand]).passed == {"not between two": 1}


def test_a_third_player_who_has_folded_is_no_hindrance(tree):
    rules = BettingRules(stacks=(6, 6, 6), small_blind=1, big_blind=2)
    hand = RecordedHand(
        rules=rules,
        hole=((), cards_of("AdAc"), cards_of("JsJd")),
        board=parse_board("AsKsThQdTc", ROYAL),
        actions=(CALL, FOLD, CALL, *(CALL,) * 4, CALL, 4, FOLD),
        names=tuple("abc"),
    )
    counted = count_play(tree, [hand])
    assert row(tree, counted, find(tree), "AdAc")[0] == 1
    assert row(tree, counted, find(tree, CALL), "JsJd")[1] == 1


def test_bets_that_the_spot_lacks_are_taken_for_its_own(tree):
    deep = BettingRules(stacks=(12, 12), small_blind=2, big_blind=4)  # the same spot in chips half as large
    counted = count_play(tree, [play(9, FOLD, rules=deep)])  # five eighths of the pot, all-in would be the whole
    assert row(tree, counted, find(tree), "AdAc") == [0, 1, 0]
    assert row(tree, counted, find(tree, 4), "JsJd")[0] == 1


def test_what_leaves_the_spots_betting_is_said(tree):
    tiny = BettingRules(stacks=(60, 60), small_blind=10, big_blind=20)
    spot = parse_spot(SPOT.replace("50%, a", "none")).spot
    calling = build_bucketed_tree(spot, tree.assigner)
    counted = count_play(calling, [play(40, FOLD, rules=tiny)])
    # no bet is offered: it counts as a check, and the fold that answers it cannot be
    assert (counted.num_decisions, counted.num_lost) == (1, 1)


def test_a_hand_that_cannot_be_is_named(tree):
    with pytest.raises(ParseError, match="hand 7: "):
        count_play(tree, [play(CALL, 3, number=7)])


@pytest.fixture
def model(tree, tmp_path):
    """Returns a file of what one player does: folds to any bet but with its best hands; and what was counted."""
    rng = np.random.default_rng(0)
    cards = [card for card in ROYAL.cards if card not in tree.spot.board]
    hands = []
    for _ in range(300):
        drawn = rng.choice(cards, 4, replace=False).tolist()
        hole = tuple(sorted(drawn[:2])), tuple(sorted(drawn[2:]))
        is_best = tree.buckets(tree.spot.board)[hands_of(ROYAL).index(*hole[1])] == NUM_BUCKETS - 1
        hands.append(
            RecordedHand(
                rules=RULES,
                hole=hole,
                board=tree.spot.board,
                actions=(*PASSIVE, 4, CALL if is_best else FOLD),
                names=("a", "b"),
            )
        )
    counted = count_play(tree, hands)
    path = tmp_path / "model.eq"
    recipe = BucketRecipe(sizes=(None, *[NUM_BUCKETS] * 3))
    BucketedStrategy(tree, recipe, counted.sums).save(path, {"counted": counted.as_json()})
    return path, counted


def test_a_model_is_the_data_of_responses(tree, model):
    path, counted = model
    holdem = build_holdem_tree(parse_spot(SPOT).spot)
    rng = np.random.default_rng(0)
    static = parse_response(f"static:{path}").bind(holdem)
    uniform = static.form.uniform()
    _, best = static.form.answer(static.respond(uniform, 1, rng), 0)
    answer = holdem.normalize(best, 0, 0)
    weakest = tree.buckets(tree.spot.board)[holdem.hands[0][0]] == 0
    assert (answer[weakest] == [0, 1, 0]).all()  # a bluff of the size that was seen to work, not of the other one
    biased = parse_response(f"dbr:0.5,seen,{path}").bind(holdem)
    seen = tree.lift_sums(np.floor(counted.sums), holdem)
    assert np.array_equal(biased.trust, trust_counts(holdem, seen, most=0.5))
    assert biased.trust.max() == 0.5
    assert biased.trust.min() == 0.0
    # trusted wholly where enough was seen, the model is what is played there
    sure = parse_response(f"dbr:1,seen,{path}").bind(holdem).respond(uniform, 1, rng)
    node = find(tree, 4).index
    played, counts = holdem.normalize(sure, 0, node), holdem.rows(seen, 0, node)
    known = counts.sum(axis=1) >= 10
    assert known.any()
    shares = counts[known] / counts[known].sum(axis=1, keepdims=True)
    assert played[known] == pytest.approx(shares, abs=1e-6)


def test_counts_come_from_models_alone(tree, model, tmp_path):
    path, counted = model
    holdem = build_holdem_tree(parse_spot(SPOT).spot)
    plain = tmp_path / "plain.eq"
    BucketedStrategy(tree, BucketRecipe(sizes=(None, *[NUM_BUCKETS] * 3)), counted.sums).save(plain)
    with pytest.raises(ConfigError, match="was not counted from hands"):
        parse_response(f"dbr:0.5,seen,{plain}").bind(holdem)
    with pytest.raises(ConfigError, match="are for hold'em spots, got kuhn"):
        parse_response(f"dbr:0.5,seen,{path}").bind(build_history_tree(Kuhn()))
    other = parse_spot(SPOT.replace("pot = 4", "pot = 6")).spot
    with pytest.raises(ConfigError, match="is for another spot: it has pot = 4"):
        parse_response(f"dbr:0.5,seen,{path}").bind(build_holdem_tree(other))
