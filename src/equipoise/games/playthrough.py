# SPDX-License-Identifier: Apache-2.0
"""One random game, and the page of text on which every value of its protocol can be read and compared."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from equipoise.core.errors import InvalidStateError
from equipoise.games.base import CHANCE, TERMINAL, Game, check_given_game
from equipoise.games.parameters import format_value

__all__ = ["format_playthrough", "random_playthrough", "sample_action"]


def sample_action(game: Game[Any], state: Any, *, rng: np.random.Generator) -> int:
    """Returns a chance outcome by its probability, or one of the legal actions, each as likely.

    >>> import numpy as np
    >>> from equipoise.games import Kuhn
    >>> kuhn = Kuhn()
    >>> sample_action(kuhn, kuhn.initial_state(), rng=np.random.default_rng(0)) in {0, 1, 2}
    True
    """
    point = float(rng.random())
    if game.actor(state) != CHANCE:
        actions = game.legal_actions(state)
        return actions[int(point * len(actions))]
    outcomes = game.chance_outcomes(state)
    for outcome, probability in outcomes:
        point -= probability
        if point < 0:
            return outcome
    return outcomes[-1][0]  # rounding left a crumb of probability


def random_playthrough(game: Game[Any], *, rng: np.random.Generator) -> Iterator[tuple[Any, int | None]]:
    """Yields every state of one random game with the action taken in it, None at the end.

    >>> import numpy as np
    >>> from equipoise.games import Kuhn
    >>> [action for _, action in random_playthrough(Kuhn(), rng=np.random.default_rng(0))]
    [1, 0, 0, 0, None]
    """
    state = game.initial_state()
    while game.actor(state) != TERMINAL:
        action = sample_action(game, state, rng=rng)
        yield state, action
        state = game.apply(state, action)
    yield state, None


def format_playthrough(game: Game[Any], *, rng: np.random.Generator) -> str:
    """Returns one random game as text, with every protocol value of every state.

    >>> import numpy as np
    >>> from equipoise.games import Kuhn
    >>> print(format_playthrough(Kuhn(), rng=np.random.default_rng(0))[:90])
    game: kuhn(players=2)
    version: 1
    players: 2
    zero-sum: true
    utilities: -2 to 2
    maximum leng
    """
    check_given_game(game)
    spec = game.spec
    lines = [
        f"game: {spec.label}",
        f"version: {spec.version}",
        f"players: {spec.num_players}",
        f"zero-sum: {format_value(spec.is_zero_sum)}",
        f"utilities: {format_value(spec.min_utility)} to {format_value(spec.max_utility)}",
        f"maximum length: {spec.max_length}",
    ]
    for number, (state, action) in enumerate(random_playthrough(game, rng=rng)):
        lines += ["", f"state {number}: {game.describe(state)}"]
        lines += [f"  {line}" for line in _format_state(game, state, action)]
    return "\n".join(lines) + "\n"


def _format_state(game: Game[Any], state: Any, action: int | None) -> Iterator[str]:
    actor = game.actor(state)
    yield "actor: " + {CHANCE: "chance", TERMINAL: "terminal"}.get(actor, f"player {actor}")
    for player in range(game.spec.num_players):
        yield f"information state {player}: {game.infostate(state, player)!r}"
    try:
        yield f"public state: {game.public_state(state)!r}"
    except InvalidStateError:
        yield "public state: none"
    for outcome, probability in game.chance_outcomes(state):
        yield f"outcome {outcome}: {game.action_name(state, outcome)}, probability {probability!r}"
    for legal in game.legal_actions(state):
        name, kind = game.action_name(state, legal), game.action_class(state, legal).value
        yield f"action {legal}: {name}, class {kind}"
    if action is None:
        yield "returns: " + " ".join(format_value(value) for value in game.returns(state))
    else:
        yield f"taken: {action}"
