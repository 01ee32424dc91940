# SPDX-License-Identifier: Apache-2.0
"""Every game that agents may play, with its probability."""

import numpy as np

from equipoise.agents.base import observe_state
from equipoise.games.base import CHANCE, TERMINAL


def list_games(game, agents, *, ends=lambda state: None):
    """Yields (states, probability, what each player won) of every game between agents who say what they play.

    Args:
        game: small.
        agents: by seat.
        ends: what a state is worth if the game is scored there, None if it goes on.
    """
    rng = np.random.default_rng(0)
    pending = [((game.initial_state(),), 1.0)]
    while pending:
        states, reach = pending.pop()
        state = states[-1]
        actor, won = game.actor(state), ends(state)
        if actor == TERMINAL or won is not None:
            yield states, reach, game.returns(state) if won is None else won
            continue
        if actor == CHANCE:
            moves = game.chance_outcomes(state)
        else:
            for seat, agent in enumerate(agents):
                agent.begin_game(seat)
            shares = agents[actor].probabilities(observe_state(game, state, actor), rng=rng)
            moves = zip(game.legal_actions(state), shares, strict=True)
        pending += [((*states, game.apply(state, move)), reach * share) for move, share in moves if share > 0]
