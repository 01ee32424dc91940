# SPDX-License-Identifier: Apache-2.0
"""What a seat sees as values, read from texts: the same as the state says, wherever a hand may be."""

import numpy as np
import pytest

from equipoise.core.errors import ParseError
from equipoise.games.base import CHANCE, TERMINAL
from equipoise.games.holdem.betting import pot
from equipoise.games.holdem.cards import format_card
from equipoise.games.holdem.rules import Holdem, HoldemEndgame, HoldemLimit, HoldemSix
from equipoise.games.holdem.seen_table import read_table
from equipoise.solvers.playouts import draw_chance

GAMES = [Holdem(), Holdem(menu="all", stacks=(700, 900), ante=20), HoldemLimit(), HoldemEndgame(), HoldemSix()]


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_texts_say_what_states_do(game):
    rng = np.random.default_rng(1)
    for _ in range(10):
        state = game.initial_state()
        while (actor := game.actor(state)) != TERMINAL:
            for seat in range(game.spec.num_players):
                table = read_table(game, game.infostate(state, seat), seat)
                assert table.betting == state.betting
                assert table.board == tuple(map(format_card, state.board))
                assert table.actions == (game.legal_actions(state) if actor == seat else ())
                assert [table.name(a) for a in table.actions] == [game.action_name(state, a) for a in table.actions]
                assert table.as_dict()["pot"] == pot(state.betting)
            action = (
                draw_chance(game, state, rng.random()) if actor == CHANCE else rng.choice(game.legal_actions(state))
            )
            state = game.apply(state, int(action))


def test_bets_count_from_the_round():
    table = read_table(Holdem(ante=10), "AcKd|r300c/Ks7h2d:r900", seat=1)
    assert table.bets == (600, 0)
    assert table.to_call == 600
    assert table.raises[0] > 900


@pytest.mark.parametrize("text", ["", "AcKd", "AcKd|banana", "AcKd|r300c/Ks7h2d"])
def test_other_texts_are_refused(text):
    if text.endswith("2d"):
        assert read_table(Holdem(), text, seat=0).board == ("Ks", "7h", "2d")  # a flop amid its deal
        return
    with pytest.raises(ParseError, match="of hold'em; they look like"):
        read_table(Holdem(), text, seat=0)
