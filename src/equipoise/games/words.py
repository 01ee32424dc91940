# SPDX-License-Identifier: Apache-2.0
"""Information states of Kuhn, Leduc and Liar's Dice in words: what `K:pb` means, for people who meet it first."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from equipoise.games.base import CHANCE, Game
from equipoise.games.kuhn import Kuhn
from equipoise.games.leduc import Leduc
from equipoise.games.liars_dice import LiarsDice

__all__ = ["explain_infostate"]

PAST: Final = {"check": "checked", "call": "called", "fold": "folded", "raise": "raised", "all-in": "went all in"}


def explain_infostate(game: Game[Any], player: int, infostate: str) -> str | None:
    """Returns what a player has seen at an information state, in words; None if its game has none, or no such state.

    >>> explain_infostate(Kuhn(), 0, "K:pb")
    'holds K; player 0 checked, player 1 bet'
    >>> explain_infostate(Leduc(), 1, "Qh|rc/Js:c")
    'holds Qh; player 0 bet 2, player 1 called; Js comes; player 0 checked'
    >>> explain_infostate(LiarsDice(faces=3), 0, "3|1-2 2-1")
    'holds 3; player 0 bid 1 of face 2, player 1 bid 2 of face 1'
    """
    if isinstance(game, LiarsDice):
        return _explain_dice(infostate)
    if not isinstance(game, Kuhn | Leduc):
        return None
    card, _, public = infostate.partition(":" if isinstance(game, Kuhn) else "|")
    for said in _find_ways(game, game.initial_state(), player, infostate, card, public, []):
        rounds = [", ".join(one) for one in said if one]
        return "; ".join([f"holds {card}", *(rounds or ["nobody has acted"])])
    return None


def _explain_dice(infostate: str) -> str | None:
    """Returns dice and bids in words; None if they are none."""
    match = re.fullmatch(r"(\d+)\|((?:\d+-\d+ ?)*)", infostate)
    if match is None:
        return None
    bids = [bid.split("-") for bid in match[2].split()]
    said = [f"player {place % 2} bid {count} of face {face}" for place, (count, face) in enumerate(bids)]
    return f"holds {match[1]}; {', '.join(said) or 'nobody has bid'}"


def _find_ways(
    game: Game[Any], state: Any, player: int, infostate: str, card: str, public: str, said: list[list[str]]
) -> Iterator[list[list[str]]]:
    """Yields what was said on the ways from a state to an information state, in rounds; `said` is what was so far."""
    if game.actor(state) == player and game.infostate(state, player) == infostate:
        yield said
        return
    if game.actor(state) == CHANCE:
        num_dealt = len(state.cards) if isinstance(game, Kuhn) else len(state.private)
        for outcome, _ in game.chance_outcomes(state):
            name = game.action_name(state, outcome)
            if num_dealt == player and name != card:
                continue
            after = game.apply(state, outcome)
            is_public = num_dealt == game.spec.num_players
            if not is_public or public.startswith(game.public_state(after)):
                yield from _find_ways(
                    game, after, player, infostate, card, public, [*said, [f"{name} comes"], []] if is_public else [[]]
                )
        return
    for action in game.legal_actions(state):
        after = game.apply(state, action)
        if public.startswith(game.public_state(after)):
            word = f"player {game.actor(state)} {_in_the_past(game.action_name(state, action))}"
            yield from _find_ways(game, after, player, infostate, card, public, [*said[:-1], [*said[-1], word]])


def _in_the_past(name: str) -> str:
    return re.sub(r"^[a-z-]+", lambda match: PAST.get(match[0], match[0]), name)
