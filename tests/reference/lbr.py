# SPDX-License-Identifier: Apache-2.0
"""What local best responses think their moves are worth, history by history."""

from equipoise.games.base import CHANCE, TERMINAL, ActionClass


def list_move_values(game, player, profile):
    """Returns {infostate: values of its actions}, counterfactual, both checking and calling after the answer."""
    values = {}

    def walk(state, weight):
        actor = game.actor(state)
        if actor == TERMINAL or weight == 0:
            return
        if actor == CHANCE:
            for outcome, share in game.chance_outcomes(state):
                walk(game.apply(state, outcome), weight * share)
            return
        infostate, actions = game.infostate(state, actor), game.legal_actions(state)
        children = [game.apply(state, action) for action in actions]
        if actor == player:
            row = values.setdefault(infostate, [0.0] * len(actions))
            for column, child in enumerate(children):
                row[column] += weight * roll_out(child, is_answer=True)
                walk(child, weight)
            return
        for child, share in zip(children, profile[actor, infostate], strict=True):
            walk(child, weight * share)

    def roll_out(state, *, is_answer=False):
        actor = game.actor(state)
        if actor == TERMINAL:
            return game.returns(state)[player]
        if actor == CHANCE:
            return sum(share * roll_out(game.apply(state, outcome)) for outcome, share in game.chance_outcomes(state))
        kinds = {game.action_class(state, action): action for action in game.legal_actions(state)}
        called = roll_out(game.apply(state, kinds[ActionClass.CALL]))
        if not is_answer or actor == player or ActionClass.FOLD not in kinds:
            return called
        column = game.legal_actions(state).index(kinds[ActionClass.FOLD])
        folds = profile[actor, game.infostate(state, actor)][column]
        return folds * roll_out(game.apply(state, kinds[ActionClass.FOLD])) + (1 - folds) * called

    walk(game.initial_state(), 1.0)
    return values
