# SPDX-License-Identifier: Apache-2.0
"""Strategies as policies of OpenSpiel and back, on its games and on games of ours that it has too.

Both games are walked side by side, actions paired in order, and every difference between them is an error: what is
carried over means the same on both sides. OpenSpiel is optional (`pip install 'equipoise[games]'`).
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

import numpy as np

from equipoise.core.errors import ConfigError, GameTooLargeError
from equipoise.core.formatting import show_given
from equipoise.games.base import CHANCE, TERMINAL, Game
from equipoise.games.openspiel import OpenSpielGame, load_openspiel
from equipoise.games.parameters import format_value
from equipoise.games.registry import take_game
from equipoise.solvers.strategy import TabularStrategy
from equipoise.solvers.strategy_rows import Row

__all__ = ["from_openspiel", "to_openspiel"]

TOLERANCE: Final = 1e-9  # between payoffs, and between probabilities of chance
SAME_PLAY: Final = 1e-6  # between probabilities that two information states must share
MOST_WALKED: Final = 1_000_000  # histories; OpenSpiel's own tables are built in Python too

# games of ours that OpenSpiel has under another name, with our parameters in its words
COUNTERPARTS: Final[Mapping[str, tuple[str, Mapping[str, str]]]] = {
    "kuhn": ("kuhn_poker", {"players": "players"}),
    "leduc": ("leduc_poker", {"merge_suits": "suit_isomorphism"}),
}


class _Pair(NamedTuple):
    """A decision on both sides."""

    player: int
    infostate: str  # ours
    names: tuple[str, ...]  # [A] of our actions
    theirs: Any  # pyspiel.State
    actions: tuple[int, ...]  # [A] of OpenSpiel, in the same order


def to_openspiel(strategy: TabularStrategy, game: Game[Any] | str, theirs: str | None = None) -> Any:
    """Returns a strategy as a `TabularPolicy` of OpenSpiel.

    Args:
        strategy: of the game.
        game: an `openspiel:` game, or one of ours, or its name.
        theirs: the game of OpenSpiel that is the same one, such as `"kuhn_poker"`; known for Kuhn and Leduc.

    Raises:
        ConfigError: the games differ, or OpenSpiel tells fewer information states apart than the strategy does.

    >>> import equipoise
    >>> policy = to_openspiel(equipoise.solve("kuhn", iterations=100).strategy, "kuhn")
    >>> policy.action_probability_array.shape
    (12, 2)
    """
    if not isinstance(strategy, TabularStrategy):
        raise ConfigError(f"strategy must be a TabularStrategy such as solution.strategy, got {show_given(strategy)}")
    game = take_game(game)
    root = _find_root(game, theirs)
    policy = importlib.import_module("open_spiel.python.policy").TabularPolicy(root.get_game())
    policy.action_probability_array[:] = 0.0
    filled: dict[int, str] = {}
    for pair in _walk(game, root):
        row = policy.action_probability_array[policy.state_index(pair.theirs)]
        shares = dict(zip(strategy.action_names(pair.player, pair.infostate), _shares(strategy, pair), strict=True))
        found = np.zeros_like(row)
        found[list(pair.actions)] = [shares[name] for name in pair.names]
        before = filled.setdefault(policy.state_index(pair.theirs), pair.infostate)
        if row.any() and np.abs(row - found).max() > SAME_PLAY:
            raise ConfigError(
                f"OpenSpiel does not tell {before!r} and {pair.infostate!r} of player {pair.player} apart, and the "
                "strategy plays them differently"
            )
        row[:] = found
    return policy


def from_openspiel(policy: Any, game: Game[Any] | str, theirs: str | None = None) -> TabularStrategy:
    """Returns a policy of OpenSpiel, tabular or not, as a strategy.

    Args:
        policy: with `action_probabilities(state, player)`.
        game: an `openspiel:` game, or one of ours, or its name.
        theirs: as for `to_openspiel`.

    >>> from open_spiel.python.policy import UniformRandomPolicy
    >>> import pyspiel
    >>> from_openspiel(UniformRandomPolicy(pyspiel.load_game("kuhn_poker")), "kuhn").row(0)
    {'check': 0.5, 'bet': 0.5}
    """
    if not callable(getattr(policy, "action_probabilities", None)):
        raise ConfigError(f"policy must have action_probabilities(state, player), got {show_given(policy)}")
    game = take_game(game)
    table: dict[int, dict[str, dict[str, float]]] = {}
    for pair in _walk(game, _find_root(game, theirs)):
        given = _ask(policy, pair)
        shares = {name: float(given.get(one, 0.0)) for name, one in zip(pair.names, pair.actions, strict=True)}
        known = table.setdefault(pair.player, {}).setdefault(pair.infostate, shares)
        if any(abs(known[name] - share) > SAME_PLAY for name, share in shares.items()):
            raise ConfigError(
                f"the policy plays differently where {game.spec.label} has one information state, {pair.infostate!r} "
                f"of player {pair.player}: {known} and {shares}"
            )
    rows = (
        Row(player, infostate, name, share)
        for player, states in table.items()
        for infostate, shares in states.items()
        for name, share in shares.items()
    )
    return TabularStrategy.from_rows(rows, game)


def _ask(policy: Any, pair: _Pair) -> Mapping[int, float]:
    """Returns what a policy does; raises `ConfigError` if it is a table without the information state."""
    try:
        given: Mapping[int, float] = policy.action_probabilities(pair.theirs, pair.player)
    except KeyError as error:
        name = pair.theirs.get_game().get_type().short_name
        raise ConfigError(
            f"the policy has nothing at {pair.infostate!r} of player {pair.player}: it must be for {name} of OpenSpiel"
        ) from error
    return given


def _shares(strategy: TabularStrategy, pair: _Pair) -> list[float]:
    shares: list[float] = strategy.probabilities(pair.player, pair.infostate).tolist()
    return shares


def _find_root(game: Game[Any], theirs: str | None) -> Any:
    """Returns the initial state of the game of OpenSpiel that is the same as ours."""
    if isinstance(game, OpenSpielGame):
        if theirs is not None:
            raise ConfigError(f"{game.spec.name} is a game of OpenSpiel itself, got {theirs!r} beside it")
        return game.initial_state().inner
    if theirs is None:
        if game.spec.name not in COUNTERPARTS:
            raise ConfigError(
                f"say which game of OpenSpiel {game.spec.name} is; known without saying: {', '.join(COUNTERPARTS)}"
            )
        name, words = COUNTERPARTS[game.spec.name]
        parameters = {words[key]: format_value(value) for key, value in game.spec.parameters.items() if key in words}
        return load_openspiel(name, **parameters).initial_state().inner
    return load_openspiel(theirs).initial_state().inner


def _walk(game: Game[Any], root: Any) -> Iterator[_Pair]:
    """Yields every decision of both games; raises `ConfigError` where they differ."""
    stack = [(game.initial_state(), root)]
    count = 0
    while stack:
        state, theirs = stack.pop()
        count += 1
        if count > MOST_WALKED:
            raise GameTooLargeError(f"{game.spec.label} has more than {MOST_WALKED:,} histories, too many to walk")
        actor = game.actor(state)
        if actor == TERMINAL or theirs.is_terminal():
            _check_end(game, state, theirs)
            continue
        if actor == CHANCE or theirs.is_chance_node():
            pairs = _pair_chance(game, state, theirs)
        else:
            legal, their_legal = game.legal_actions(state), tuple(sorted(theirs.legal_actions()))
            if actor != theirs.current_player() or len(legal) != len(their_legal):
                raise _differ(game, state, f"{len(legal)} actions of player {actor}", theirs)
            names = tuple(game.action_name(state, action) for action in legal)
            yield _Pair(actor, game.infostate(state, actor), names, theirs, their_legal)
            pairs = list(zip(legal, their_legal, strict=True))
        stack.extend((game.apply(state, one), theirs.child(other)) for one, other in reversed(pairs))


def _pair_chance(game: Game[Any], state: Any, theirs: Any) -> list[tuple[int, int]]:
    """Returns the outcomes of chance on both sides; raises unless they are as likely."""
    ours = game.chance_outcomes(state)
    other = sorted(pair for pair in theirs.chance_outcomes() if pair[1] > 0) if theirs.is_chance_node() else []
    if len(ours) != len(other) or any(abs(one[1] - two[1]) > TOLERANCE for one, two in zip(ours, other, strict=True)):
        raise _differ(game, state, f"chance of {len(ours)} outcomes", theirs)
    return [(one[0], two[0]) for one, two in zip(ours, other, strict=True)]


def _check_end(game: Game[Any], state: Any, theirs: Any) -> None:
    is_over = game.actor(state) == TERMINAL
    if is_over != theirs.is_terminal():
        raise _differ(game, state, "an end" if is_over else "no end yet", theirs)
    if not np.allclose(game.returns(state), theirs.returns(), rtol=0, atol=TOLERANCE):
        raise _differ(game, state, f"returns {game.returns(state)}", theirs)


def _differ(game: Game[Any], state: Any, ours: str, theirs: Any) -> ConfigError:
    text = " ".join(str(theirs).split())
    return ConfigError(
        f"{game.spec.label} is not {theirs.get_game()}: ours has {ours} at {game.describe(state)!r}, OpenSpiel is at "
        f"{text!r}"
    )
