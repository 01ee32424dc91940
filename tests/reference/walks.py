# SPDX-License-Identifier: Apache-2.0
"""UCT and watched hands as the thesis lists them: the game's own states, dictionaries for tables, draws handed in.

The twin of native/uct.hpp.
"""

import math

from equipoise.games.base import CHANCE, TERMINAL, ActionClass


def call_of(game, state):
    """Returns the place of the action that rollouts take."""
    classes = [game.action_class(state, action) for action in game.legal_actions(state)]
    if ActionClass.CALL in classes:
        return classes.index(ActionClass.CALL)
    return next((place for place, kind in enumerate(classes) if kind is not ActionClass.FOLD), 0)


def search_uct(game, player, profile, num_iterations, exploration, draw):
    """Returns the place of the best mean at every information state met in the search tree.

    `profile[player, infostate]` has the opponent's probabilities.
    """
    visits, tries, sums = {}, {}, {}
    for _ in range(num_iterations):
        state, path, is_rolling = game.initial_state(), [], False
        while (actor := game.actor(state)) != TERMINAL:
            if actor == CHANCE:
                outcomes = game.chance_outcomes(state)
                state = game.apply(state, outcomes[draw([chance for _, chance in outcomes])][0])
                continue
            actions, key = game.legal_actions(state), game.infostate(state, actor)
            if actor != player:
                place = draw(profile[actor, key])
            elif is_rolling:
                place = call_of(game, state)
            elif key not in visits:
                visits[key], tries[key], sums[key] = 0, [0] * len(actions), [0.0] * len(actions)
                is_rolling = True
                place = call_of(game, state)
                path.append((key, place))
            else:
                untried = [place for place, count in enumerate(tries[key]) if count == 0]
                if untried:
                    place = untried[draw([1.0 / len(untried)] * len(untried))]
                else:
                    bounds = [
                        total / count + exploration * math.sqrt(math.log(visits[key]) / count)
                        for total, count in zip(sums[key], tries[key], strict=True)
                    ]
                    place = bounds.index(max(bounds))
                path.append((key, place))
            state = game.apply(state, actions[place])
        for key, place in path:
            visits[key] += 1
            tries[key][place] += 1
            sums[key][place] += game.returns(state)[player]
    best = {}
    for key, counts in tries.items():
        means = [total / count if count else -math.inf for total, count in zip(sums[key], counts, strict=True)]
        best[key] = means.index(max(means))
    return best


def count_actions(game, player, profile, num_hands, draw):
    """Returns how often the player took each action at every information state that it came to."""
    counts = {}
    for _ in range(num_hands):
        state = game.initial_state()
        while (actor := game.actor(state)) != TERMINAL:
            if actor == CHANCE:
                outcomes = game.chance_outcomes(state)
                state = game.apply(state, outcomes[draw([chance for _, chance in outcomes])][0])
                continue
            key = game.infostate(state, actor)
            place = draw(profile[actor, key])
            if actor == player:
                counts.setdefault(key, [0] * len(game.legal_actions(state)))[place] += 1
            state = game.apply(state, game.legal_actions(state)[place])
    return counts
