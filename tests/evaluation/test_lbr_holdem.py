# SPDX-License-Identifier: Apache-2.0
"""Local best response in hold'em: odds against listing, exact values below best responses, sampled beside exact."""

import functools

import numpy as np
import pytest

from equipoise.agents.notation import AgentText
from equipoise.agents.simple import ClassAgent, UniformAgent
from equipoise.agents.strategies import StrategyAgent
from equipoise.core.errors import ConfigError
from equipoise.evaluation.holdem.lbr import (
    HoldemLbr,
    LbrHands,
    LbrMenu,
    measure_holdem_lbr,
)
from equipoise.evaluation.holdem.odds import find_range_odds, find_single_odds
from equipoise.evaluation.lbr import measure_lbr
from equipoise.evaluation.matches import MatchConfig, run_match
from equipoise.games.base import ActionClass
from equipoise.games.holdem.cards import DECKS, FULL_DECK, parse_board
from equipoise.games.holdem.equity import compute_equity
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.ranges import Range
from equipoise.games.holdem.spot_game import game_of_spot
from equipoise.games.registry import make_game
from tests.agents.games import blueprint, small_spot

TINY = DECKS["tiny"]
SMALL = {"deck": "tiny", "stacks": (30, 30), "small_blind": 5, "big_blind": 10}


@functools.cache
def small_game(menu="100%, a", **changes):
    return game_of_spot(small_spot(menu=menu, stacks=(30, 30), **changes))


def weak_blueprint():
    return blueprint(stacks=(30, 30))


def agent_of(kind, game):
    if kind == "blueprint":
        return StrategyAgent(weak_blueprint(), game, name=kind)
    return UniformAgent() if kind == "uniform" else ClassAgent(ActionClass(kind))


@pytest.mark.parametrize(("board", "num_cards"), [("", 3), ("ThJhQs", 3), ("ThJhQs", 4), ("", 5)])
def test_odds_of_one_hand_are_those_of_all(board, num_cards):
    weights = np.random.default_rng(0).random(TINY.num_hands)
    dealt = parse_board(board, TINY)
    weights[hands_of(TINY).blocked(dealt)] = 0.0
    every = find_range_odds(weights, dealt, TINY, num_board_cards=num_cards)
    for hand in np.flatnonzero(~hands_of(TINY).blocked(dealt))[::7].tolist():
        one = find_single_odds(hand, weights, dealt, TINY, num_board_cards=num_cards)
        assert (one.won, one.tied, one.met) == pytest.approx((every.won[hand], every.tied[hand], every.met[hand]))


def test_odds_are_equities():
    board = parse_board("Ks7h2d5c")
    held = Range.random(FULL_DECK).without(board)
    equity = compute_equity(held, held, board).hand_equities[0]
    found = find_range_odds(held.weights, board, FULL_DECK, num_board_cards=5).share
    live = ~np.isnan(equity)
    np.testing.assert_allclose(found[live], equity[live])
    hand = int(np.flatnonzero(live)[100])
    one = find_single_odds(hand, held.weights, board, FULL_DECK, num_board_cards=5)
    assert float(one.share) == pytest.approx(equity[hand])


@pytest.mark.parametrize(
    ("kind", "menu"),
    [*(("uniform", menu) for menu in LbrMenu), *((kind, LbrMenu.EVERYTHING) for kind in ("call", "fold", "raise"))],
)
def test_the_responder_wins_at_most_what_a_best_response_wins(kind, menu):
    game = small_game()
    found = measure_holdem_lbr(game, agent_of(kind, game), menu=menu, rng=np.random.default_rng(0))
    for local, best in zip(found.values, found.best_response_values, strict=True):
        assert local <= best + 1e-9
    big_blinds = found.mean / game.big_blind
    # always folding gives up the blinds, whoever plays passively against a caller wins nothing
    assert big_blinds > (-1e-9 if menu is LbrMenu.FOLD_CALL else 0.02)


def test_hands_are_valued_as_histories_are():
    # two look-aheads that share no code: by odds against a range, and by public states with roll-outs that call
    game = make_game("holdem", **SMALL, board="AhKhQh", pot=20, last_street="turn", menu="100%, a")
    by_odds = measure_holdem_lbr(game, UniformAgent(), menu=LbrMenu.EVERYTHING, rng=np.random.default_rng(0))
    by_states = measure_lbr(UniformAgent(), game, rng=np.random.default_rng(0))
    assert by_odds.values == pytest.approx(by_states.values, rel=1e-9)
    assert by_odds.best_response_values == pytest.approx(by_states.best_response_values, rel=1e-9)


def test_a_blueprint_is_exploited_less_than_uniform_play():
    game = game_of_spot(weak_blueprint().tree.spot)
    found = {
        kind: measure_holdem_lbr(game, agent_of(kind, game), menu=LbrMenu.EVERYTHING, rng=np.random.default_rng(0))
        for kind in ("uniform", "blueprint")
    }
    assert found["blueprint"].mean < found["uniform"].mean
    assert all(
        a <= b + 1e-9 for a, b in zip(found["blueprint"].values, found["blueprint"].best_response_values, strict=True)
    )


@pytest.mark.parametrize(("kind", "menu"), [("uniform", LbrMenu.POT_ALL_IN), ("call", LbrMenu.EVERYTHING)])
def test_sampled_hands_win_what_the_exact_response_does(kind, menu):
    game = small_game()
    exact = measure_holdem_lbr(game, agent_of(kind, game), menu=menu, rng=np.random.default_rng(0))
    config = MatchConfig(num_deals=150, deals_per_chunk=50, seed=2)
    play = LbrHands(game=game, maker=AgentText(kind), name=kind, menu=menu, config=config)
    result = run_match(play, config)
    for seat in (0, 1):
        won = result.utility[:, seat, 0]
        error = won.std(ddof=1) / np.sqrt(won.size)
        assert abs(won.mean() - exact.values[seat]) < 4 * error


def test_menus_and_passive_streets_restrict_what_is_played():
    game = game_of_spot(small_spot(menu="50%, 100%, a"))
    state = game.initial_state()
    for card in TINY.cards[:4]:
        state = game.apply(state, card)
    uniform = UniformAgent()
    allowed = {menu: HoldemLbr(game, uniform, menu=menu).allowed(state) for menu in LbrMenu}
    assert allowed[LbrMenu.FOLD_CALL] == [0, 1]
    assert allowed[LbrMenu.POT_ALL_IN] == [0, 1, 30, 40]
    assert allowed[LbrMenu.EVERYTHING] == list(game.legal_actions(state))
    passive = HoldemLbr(game, uniform, menu=LbrMenu.EVERYTHING, passive_streets=1)
    assert passive.allowed(state) == [1]
    flop = game.apply(game.apply(state, 1), 1)
    for card in TINY.cards[4:7]:
        flop = game.apply(flop, card)
    assert passive.allowed(flop) == list(game.legal_actions(flop))


def test_bad_input_is_refused():
    with pytest.raises(ConfigError, match="for two players, holdem_six has 6"):
        HoldemLbr(make_game("holdem_six"), UniformAgent(), menu=LbrMenu.FOLD_CALL)
    with pytest.raises(ConfigError, match="at least 0, got -1"):
        HoldemLbr(small_game(), UniformAgent(), menu=LbrMenu.FOLD_CALL, passive_streets=-1)


def test_modicums_responders_bet_first_and_then_fold_or_call():
    game = make_game("holdem", deck="royal", stacks=(3000, 3000), menu="75%, 100%, a")
    first, second = (HoldemLbr(game, UniformAgent(), menu=menu) for menu in (LbrMenu.MODICUM_1, LbrMenu.MODICUM_2))
    state = game.initial_state()
    for card in game.card_deck.cards[:4]:
        state = game.apply(state, card)
    assert first.allowed(state) == [0, 250]  # three quarters of the pot of 200
    assert second.allowed(state) == [250]
    state = game.apply(game.apply(state, 250), game.legal_actions(game.apply(state, 250))[-1])  # all-in behind it
    assert first.allowed(state) == [0, 1]
    assert second.allowed(state) == [1]
    checked = make_game("holdem", deck="royal", stacks=(30_000, 30_000), menu="33%, 132%, 528%, a; cap: 2")
    flop = checked.initial_state()
    for action in (*checked.card_deck.cards[:4], 1, 1, *checked.card_deck.cards[4:7]):
        flop = checked.apply(flop, action)
    responder = HoldemLbr(checked, UniformAgent(), menu=LbrMenu.MODICUM_2)
    assert responder.allowed(flop) == list(checked.legal_actions(flop))  # each of the eleven has its nearest bet
    turn = flop
    for action in (1, 1, checked.card_deck.cards[7]):
        turn = checked.apply(turn, action)
    assert responder.allowed(turn) == [1]
    found = LbrHands(
        game=game, maker=AgentText("uniform"), name="uniform", menu=LbrMenu.MODICUM_1, config=MatchConfig(num_deals=10)
    )
    assert found.names == ("lbr (modicum1)", "uniform")
