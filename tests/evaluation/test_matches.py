# SPDX-License-Identifier: Apache-2.0
"""Matches: both runners expect what the tree says; results do not depend on workers or interruptions."""

import dataclasses
import functools

import numpy as np
import pytest

from equipoise.agents import ClassAgent, UniformAgent
from equipoise.agents.base import PolicyAgent
from equipoise.agents.notation import AgentText
from equipoise.agents.strategies import StrategyAgent
from equipoise.core.errors import CheckpointError, ConfigError, IllegalActionError
from equipoise.core.local_pool import LocalPool
from equipoise.evaluation.assembly import assemble_strategy
from equipoise.evaluation.holdem.batched import BatchedHoldem, BlindRows, BucketRows, PolicyRows, deal_hands
from equipoise.evaluation.matches import DealRange, HandByHand, MatchConfig, load_match, run_match
from equipoise.evaluation.play import expect_all_in, play_game
from equipoise.evaluation.stored import StoredStrategies, can_be_batched
from equipoise.games.base import CHANCE, TERMINAL, ActionClass
from equipoise.games.holdem.betting import Street
from equipoise.games.holdem.betting_tree import betting_tree
from equipoise.games.holdem.cards import DECKS
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.pair_showdowns import find_pair_odds
from equipoise.games.holdem.spot_game import game_of_spot, spot_of_game
from equipoise.games.registry import make_game
from equipoise.kernels.holdem.sampling import RunoutKernel, StrategyPair
from equipoise.solvers.best_response import evaluate
from equipoise.trees.history import build_history_tree
from tests.agents.games import blueprint, small_spot


def hand_by_hand(game, texts, config):
    return HandByHand(game=game, makers=tuple(map(AgentText, texts)), names=texts, config=config)


def stored(game, texts, config):
    return StoredStrategies(game=game, makers=tuple(map(AgentText, texts)), names=texts, config=config)


@functools.cache
def exact_match_value(name, first, second):
    """Returns what `first` wins a game of Leduc or Kuhn against `second` over both seats."""
    game = make_game(name)
    tree = build_history_tree(game)
    tables = [assemble_strategy(AgentText(text)(game), game, tree, rng=None) for text in (first, second)]
    split = int(tree.sequence_start[1])
    values = []
    for own, other in (tables, tables[::-1]):
        values.append(evaluate(tree, np.concatenate([own[:split], other[split:]])).values[0])
    return (values[0] - values[1]) / 2


@pytest.mark.parametrize("is_duplicate", [True, False])
@pytest.mark.parametrize(("runner", "num_deals"), [(hand_by_hand, 1500), (stored, 40_000)])
def test_both_runners_expect_what_the_tree_says(runner, num_deals, is_duplicate):
    config = MatchConfig(num_deals=num_deals, is_duplicate=is_duplicate, seed=3, deals_per_chunk=1000)
    result = run_match(runner(make_game("leduc"), ("uniform", "call"), config), config)
    estimate = result.estimate()
    assert abs(estimate.mean - exact_match_value("leduc", "uniform", "call")) < 4 * estimate.standard_error
    np.testing.assert_array_equal(result.utility.sum(axis=2), 0.0)
    assert result.num_hands == num_deals * (2 if is_duplicate else 1)


def test_agents_that_play_alike_tie_every_duplicate_deal():
    config = MatchConfig(num_deals=50, deals_per_chunk=50)
    for runner in (hand_by_hand, stored):
        result = run_match(runner(make_game("leduc"), ("call", "call"), config), config)
        np.testing.assert_array_equal(result.utility.mean(axis=1), 0.0)
        assert result.estimate().standard_error == 0.0
        assert np.abs(result.utility).max() > 0


@pytest.mark.parametrize("runner", [hand_by_hand, stored])
def test_without_duplicate_deals_seats_alternate(runner):
    config = MatchConfig(num_deals=6, deals_per_chunk=4, is_duplicate=False)
    result = run_match(runner(make_game("matrix", payoffs="1"), ("uniform", "uniform"), config), config)
    assert result.utility[:, 0, 0].tolist() == [1, -1, 1, -1, 1, -1]  # who sits first wins


def test_results_do_not_depend_on_workers():
    config = MatchConfig(num_deals=60, deals_per_chunk=20, seed=5)
    play = hand_by_hand(make_game("kuhn"), ("uniform", "raise"), config)
    alone = run_match(play, config)
    with LocalPool(2) as pool:
        together = run_match(play, config, pool=pool)
    np.testing.assert_array_equal(alone.utility, together.utility)


@pytest.mark.parametrize("runner", [hand_by_hand, stored])
def test_an_interrupted_match_goes_on_to_the_same_result(tmp_path, runner):
    config = MatchConfig(num_deals=250, deals_per_chunk=60)
    play = runner(make_game("kuhn"), ("uniform", "call"), config)
    whole = run_match(play, config)
    path = tmp_path / "match.eq"
    part = run_match(play, config, path=path, should_stop=lambda: True, label="kuhn")
    # deals that are played one by one need not be waited for
    assert (part.stopped_by, part.num_deals) == ("interrupted", 1 if play.plays_singly else 60)
    shorter = dataclasses.replace(config, num_deals=130)
    middle = run_match(play, shorter, path=path, is_resumed=True, label="kuhn")
    assert (middle.stopped_by, middle.num_deals) == ("deals", 130)
    again = run_match(play, config, path=path, is_resumed=True, label="kuhn")
    np.testing.assert_array_equal(again.utility, whole.utility)
    assert load_match(path)["stopped_by"] == "deals"
    with pytest.raises(CheckpointError, match="another match: game_label is kuhn, asked for leduc"):
        run_match(play, config, path=path, is_resumed=True, label="leduc")


def test_games_are_kept_when_an_agent_fails(tmp_path):
    config = MatchConfig(num_deals=100, deals_per_chunk=20)
    play = hand_by_hand(make_game("kuhn"), ("uniform", "call"), config)

    class Failing:
        names, config, plays_singly = play.names, play.config, False

        def __call__(self, deals):
            if deals.first >= 40:
                raise ConfigError("out of ideas")
            return play(deals)

    with pytest.raises(ConfigError, match="out of ideas"):
        run_match(Failing(), config, path=tmp_path / "match.eq")
    assert len(load_match(tmp_path / "match.eq")["utility"]) == 40


def test_a_match_stops_at_the_wanted_precision_after_whole_chunks():
    config = MatchConfig(num_deals=5000, deals_per_chunk=50, precision=0.15)
    result = run_match(stored(make_game("leduc"), ("uniform", "fold"), config), config)
    assert result.stopped_by == "precision"
    assert 100 <= result.num_deals < 5000
    assert result.num_deals % 50 == 0
    assert result.estimate().half_width <= 0.15
    wins, draws, losses = result.count_results()
    assert wins + draws + losses == result.num_hands


def test_precision_is_thought_about_between_chunks_wherever_a_match_was_interrupted(tmp_path):
    config = MatchConfig(num_deals=2000, deals_per_chunk=150, precision=0.25)
    play = hand_by_hand(make_game("kuhn"), ("uniform", "call"), config)
    whole = run_match(play, config)
    assert (whole.stopped_by, whole.num_deals) == ("precision", 150)
    path = tmp_path / "match.eq"
    run_match(play, dataclasses.replace(config, num_deals=140, precision=None), path=path)  # narrow enough already
    again = run_match(play, config, path=path, is_resumed=True)
    np.testing.assert_array_equal(again.utility, whole.utility)


def test_a_match_of_ties_goes_on_until_enough_deals_differ():
    # intervals of samples that are all alike have no width, whatever comes later
    class RarelyUnlike:
        names, plays_singly = ("first", "second"), False

        def __call__(self, deals):
            won = (np.arange(deals.first, deals.first + deals.size) % 20 == 19).astype(float)
            return np.stack([won, -won], axis=-1)[:, None]

    play = RarelyUnlike()
    play.config = MatchConfig(num_deals=5000, deals_per_chunk=50, precision=0.1)
    result = run_match(play, play.config)
    assert (result.stopped_by, result.num_deals) == ("precision", 600)


def test_an_agent_that_cheats_is_stopped():
    class Cheat(PolicyAgent):
        name = "cheat"

        def probabilities(self, observation, *, rng):
            return [1.0]

        def act(self, observation, *, rng):
            return 17

    rng = np.random.default_rng(0)
    with pytest.raises(IllegalActionError, match="cheat chose 17 at"):
        play_game(make_game("kuhn"), [Cheat(), Cheat()], chance=rng, rng=rng)


def test_agents_are_told_what_their_seat_sees_and_nothing_else():
    seen = []

    class Listener(UniformAgent):
        def observe(self, observation):
            seen.append(observation)

    rng = np.random.default_rng(1)
    game = make_game("kuhn")
    play_game(game, [Listener(), UniformAgent()], chance=np.random.default_rng(1), rng=rng)
    assert {observation.seat for observation in seen} == {0}
    own_cards = {observation.infostate[0] for observation in seen} - {"?"}
    assert len(own_cards) == 1
    assert all(not observation.actions or observation.classes for observation in seen)


# --- hold'em ---


def all_in_state(game, hole, actions, board=()):
    state = game.initial_state()
    for card in hole:
        state = game.apply(state, card)
    for action in actions:
        state = game.apply(state, action)
    for card in board:
        state = game.apply(state, card)
    return state


def expected_by_listing(game, state):
    """Returns each player's utility over all that chance may still do."""
    if game.actor(state) == TERMINAL:
        return np.array(game.returns(state))
    assert game.actor(state) == CHANCE
    return sum(
        share * expected_by_listing(game, game.apply(state, card)) for card, share in game.chance_outcomes(state)
    )


@pytest.mark.parametrize("last_street", [Street.FLOP, Street.TURN])
def test_an_all_in_is_worth_its_expectation(last_street):
    game = game_of_spot(small_spot(stacks=(40, 30), last_street=last_street))
    cards = game.card_deck.cards
    hole = (cards[0], cards[5], cards[2], cards[7])
    for actions in ([30, 1], [1, 30, 1]):
        state = all_in_state(game, hole, actions)
        np.testing.assert_allclose(expect_all_in(game, state), expected_by_listing(game, state), atol=1e-9)
    before = all_in_state(game, hole, [1])
    assert expect_all_in(game, before) is None
    checked = all_in_state(game, hole, [1, 1])
    assert expect_all_in(game, checked) is None


@pytest.mark.parametrize("num_cards", [3, 5])
def test_odds_before_the_flop_are_those_of_listing_boards(num_cards):
    deck = DECKS["tiny"]
    first, second = 3, 40
    assert not hands_of(deck).masks[first] & hands_of(deck).masks[second]
    left = [card for card in deck.cards if card not in hands_of(deck).cards[[first, second]]]
    listed = [find_pair_odds(first, second, (card,), deck, num_board_cards=num_cards) for card in left]
    found = find_pair_odds(first, second, (), deck, num_board_cards=num_cards)
    np.testing.assert_allclose(found, np.mean(listed, axis=0), atol=1e-12)


def exact_hand_value(first, second):
    """Returns chips per hand of one blueprint against another of the same betting, first in seat 0."""
    trees = [first.tree, second.tree]
    total = 0.0
    spot = trees[0].spot
    for cards in trees[0].list_runouts():
        boards = trees[0].boards(cards)
        numbers = trees[0].live_hands(boards)
        rows = [tuple(tree.buckets(board)[here] for tree in trees) for board, here in zip(boards, numbers, strict=True)]
        # both tables in one address space: the second one's rows follow the first one's
        sizes = [tree.rows for tree in trees]
        merged = dataclasses.replace(
            sizes[0],
            first_cell=tuple((a[0], b[1]) for a, b in zip(sizes[0].first_cell, sizes[1].first_cell, strict=True)),
            num_rows=tuple((a[0], b[1]) for a, b in zip(sizes[0].num_rows, sizes[1].num_rows, strict=True)),
        )
        kernel = RunoutKernel(trees[0].arrays)
        runout = kernel.bind(trees[0].arrange(boards, numbers, rows, merged))
        size = max(tree.rows.num_cells for tree in trees)
        tables = [np.pad(made.sums.astype(np.float64), (0, size - made.sums.size)) for made in (first, second)]
        pair = StrategyPair((tables[0], tables[1]), trees[0].reach)
        total += trees[0].mean_value(0, kernel.values(runout, 0, pair))
    assert spot == trees[1].spot
    return total / trees[0].num_runouts


@functools.cache
def blueprints():
    return blueprint(num_buckets=4, iterations=40), blueprint(num_buckets=2, iterations=15)


@pytest.mark.parametrize("expects_all_ins", [True, False])
def test_batched_holdem_expects_what_sweeps_compute(expects_all_ins):
    first, second = blueprints()
    exact = (exact_hand_value(first, second) - exact_hand_value(second, first)) / 2
    config = MatchConfig(num_deals=12_000, deals_per_chunk=6000, expects_all_ins=expects_all_ins)
    rows = BucketRows(first, name="first"), BucketRows(second, name="second")
    play = BatchedHoldem(spot=first.tree.spot, betting=first.tree.betting, rows=rows, config=config)
    estimate = run_match(play, config).estimate()
    assert abs(estimate.mean - exact) < 4 * estimate.standard_error
    assert estimate.standard_error < 0.4


def test_batched_rows_are_what_agents_play():
    first, _ = blueprints()
    game = game_of_spot(first.tree.spot)
    agent = StrategyAgent(first, game, name="first")
    deals = deal_hands(first.tree.spot, 200, rng=np.random.default_rng(2))
    bucket_rows, policy_rows = BucketRows(first, name="a"), PolicyRows(agent.strategy, name="b")
    nodes = np.array(sorted(first.tree.decisions), np.int64)[np.arange(200) % len(first.tree.decisions)]
    for seat in (0, 1):
        own = np.flatnonzero([first.tree.decisions[node].player == seat for node in nodes.tolist()])
        found = [
            rows.shares(rows.prepare(first.tree.spot, deals), seat, nodes[own], own)
            for rows in (bucket_rows, policy_rows)
        ]
        np.testing.assert_allclose(found[0] / found[0].sum(axis=1, keepdims=True), found[1], atol=1e-6)


def test_batched_and_hand_by_hand_holdem_agree_on_blind_agents():
    game = game_of_spot(small_spot())
    config = MatchConfig(num_deals=400, deals_per_chunk=400)
    slow = run_match(hand_by_hand(game, ("uniform", "call"), config), config).estimate()
    quick_config = dataclasses.replace(config, num_deals=8000, deals_per_chunk=8000)
    quick = run_match(stored(game, ("uniform", "call"), quick_config), quick_config).estimate()
    assert abs(slow.mean - quick.mean) < 4 * np.hypot(slow.standard_error, quick.standard_error)


def test_deals_have_the_weights_of_the_ranges():
    spot = spot_of_game(
        make_game(
            "holdem", deck="tiny", board="ThJhQs", pot=20, stacks=(40, 40), menu="a", ranges="AA,KsKh:0.25|AsKs,QhTs"
        )
    )
    deals = deal_hands(spot, 4000, rng=np.random.default_rng(0))
    hands = hands_of(spot.deck)
    cards = np.hstack([hands.cards[deals.hands].reshape(len(deals.hands), 4), deals.boards])
    assert all(len(set(row)) == 9 for row in cards.tolist())
    expected = np.outer(spot.live_weights(0), spot.live_weights(1)) * ((hands.masks[:, None] & hands.masks) == 0)
    counts = np.zeros_like(expected)
    np.add.at(counts, (deals.hands[:, 0], deals.hands[:, 1]), 1)
    share = expected / expected.sum()
    assert np.abs(counts / 4000 - share).max() < 4 * np.sqrt(0.25 / 4000)
    assert (counts[share == 0] == 0).all()
    assert (
        game_of_spot(spot).spec.label
        == make_game(
            "holdem", deck="tiny", board="ThJhQs", pot=20, stacks=(40, 40), menu="a", ranges="AA,KsKh:0.25|AsKs,QhTs"
        ).spec.label
    )


def test_what_can_be_batched():
    assert can_be_batched(make_game("kuhn"), (AgentText("uniform"), AgentText("call")))
    assert not can_be_batched(make_game("holdem", menu="all"), (AgentText("uniform"), AgentText("call")))
    assert not can_be_batched(make_game("phantom_tic_tac_toe"), (AgentText("uniform"), AgentText("uniform")))


def test_bad_settings_are_refused():
    with pytest.raises(ConfigError, match="num_deals must be at least 1, got 0"):
        MatchConfig(num_deals=0)
    with pytest.raises(ConfigError, match="precision must be positive, got 0"):
        MatchConfig(precision=0.0)
    with pytest.raises(ConfigError, match="played by 2 agents, got 1"):
        hand_by_hand(make_game("kuhn"), ("call",), MatchConfig())
    with pytest.raises(ConfigError, match="at least one worker"):
        LocalPool(0)


def test_a_chunk_is_the_same_alone_and_in_part():
    config = MatchConfig(num_deals=100, deals_per_chunk=40)
    play = stored(make_game("kuhn"), ("uniform", "raise"), config)
    whole = play(DealRange(40, 40))
    np.testing.assert_array_equal(whole[5:20], play(DealRange(45, 15)))


def test_blind_rows_are_the_agents_own():
    spot = small_spot()
    betting = betting_tree(spot.betting_rules, spot.menu)
    rows = BlindRows(ClassAgent(ActionClass.CALL), betting)
    decisions = [node for node in betting.nodes if node.actions]
    assert all(rows.table[node.index, node.actions.index(1)] == 1 for node in decisions)
