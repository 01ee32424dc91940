# SPDX-License-Identifier: Apache-2.0
"""One game between agents, hand by hand: who deals, who is told what, and what an all-in is worth.

Chance has a generator of its own, so that a deal can be played again with other agents in the seats: the k-th chance
event of the deal falls on the same number, which in poker gives the same cards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from equipoise.agents.base import Agent, NamingAgent, PolicyAgent, ToldAgent, observe_state
from equipoise.core.errors import IllegalActionError
from equipoise.games.base import CHANCE, TERMINAL, Game
from equipoise.games.holdem.betting import Stage, next_street, payoffs
from equipoise.games.holdem.dealing import HAND_SIZE
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.pair_showdowns import find_pair_odds
from equipoise.games.holdem.rules import Holdem, HoldemState
from equipoise.solvers.playouts import draw_chance

__all__ = ["expect_all_in", "play_game"]


def play_game(
    game: Game[Any],
    agents: Sequence[Agent],
    *,
    chance: np.random.Generator,
    rng: np.random.Generator,
    expects_all_ins: bool = True,
    on_state: Callable[[Any], None] | None = None,
    on_action: Callable[[int], None] | None = None,
) -> tuple[float, ...]:
    """Returns each seat's utility of one game; seat i is played by `agents[i]`.

    Args:
        game: what is played.
        agents: one for each seat; an agent may sit in several.
        chance: deals.
        rng: what agents draw from.
        expects_all_ins: whether a heads-up hand of hold'em in which nobody can bet any more is scored by its
            expectation over the cards to come, see `expect_all_in`.
        on_state: called with every state of the game, for whoever keeps the score.
        on_action: called with every action, chance's included, for whoever keeps what was played.

    >>> import numpy as np
    >>> from equipoise.agents import make
    >>> from equipoise.games import make_game
    >>> agents = make("raise", "kuhn"), make("call", "kuhn")
    >>> won = play_game(make_game("kuhn"), agents, chance=np.random.default_rng(0), rng=np.random.default_rng(1))
    >>> sum(won)
    0.0
    """
    for seat, agent in enumerate(agents):
        agent.begin_game(seat)
    returns = _play_on(
        game,
        agents,
        chance=chance,
        rng=rng,
        expects_all_ins=expects_all_ins,
        on_state=on_state or _ignore,
        on_action=on_action or _ignore,
    )
    for agent, won in zip(agents, returns, strict=True):
        if isinstance(agent, ToldAgent):
            agent.end_game(won)
    return returns


def _play_on(
    game: Game[Any],
    agents: Sequence[Agent],
    *,
    chance: np.random.Generator,
    rng: np.random.Generator,
    expects_all_ins: bool,
    on_state: Callable[[Any], None],
    on_action: Callable[[int], None],
) -> tuple[float, ...]:
    """Returns each seat's utility of a game that has begun."""
    # what observations cost is not spent on agents that do nothing with them
    listeners = [(seat, agent) for seat, agent in enumerate(agents) if type(agent).observe is not PolicyAgent.observe]
    wants_names = [isinstance(agent, NamingAgent) and agent.needs_names for agent in agents]
    holdem = game if expects_all_ins and isinstance(game, Holdem) and game.spec.num_players == 2 else None
    state = game.initial_state()
    while (actor := game.actor(state)) != TERMINAL:
        on_state(state)
        if actor == CHANCE:
            if holdem is not None and (expected := expect_all_in(holdem, state)) is not None:
                return expected
            action = draw_chance(game, state, chance.random())
        else:
            observation = observe_state(game, state, actor, has_names=wants_names[actor])
            action = agents[actor].act(observation, rng=rng)
            if action not in observation.actions:
                raise IllegalActionError(
                    f"{agents[actor].name} chose {action} at {observation.infostate!r}, legal: {observation.actions}"
                )
        state = game.apply(state, action)
        on_action(action)
        for seat, agent in listeners:
            if seat != actor:
                agent.observe(observe_state(game, state, seat))
    on_state(state)
    return game.returns(state)


def _ignore(_told: object) -> None:
    """Does nothing."""


def expect_all_in(game: Holdem, state: HoldemState) -> tuple[float, ...] | None:
    """Returns what two players win on average if nobody can bet any more and cards are still to come; else None.

    The rest of the board is dealt from the cards that neither hand holds, every one of them as likely.
    """
    betting = state.betting
    if len(state.hole) < 2 * HAND_SIZE or betting.stage is not Stage.DEAL or any(betting.is_folded):
        return None
    while betting.stage is Stage.DEAL:
        betting = next_street(game.betting_rules, betting)
    if betting.stage is not Stage.SHOWDOWN:
        return None
    deck = game.card_deck
    hands = hands_of(deck)
    pair = [hands.index(*state.hole[HAND_SIZE * seat : HAND_SIZE * (seat + 1)]) for seat in (0, 1)]
    num_cards = game.betting_rules.last_street.num_board_cards
    if len(state.board) == num_cards:
        return None
    odds = find_pair_odds(pair[0], pair[1], state.board, deck, num_board_cards=num_cards)
    ends = [payoffs(betting, strengths) for strengths in ((1, 0), (0, 1), (1, 1))]
    return tuple(sum(share * end[seat] for share, end in zip(odds, ends, strict=True)) for seat in (0, 1))
