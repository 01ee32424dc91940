# SPDX-License-Identifier: Apache-2.0
"""Which of its own actions a coarse strategy takes an action for that it does not know."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from equipoise.core.errors import ConfigError
from equipoise.games.holdem.betting import CALL, FOLD, BettingState, all_in_to, pot_after_call

__all__ = ["pot_fraction", "pseudo_harmonic", "translate_action", "translate_bet"]


def pseudo_harmonic(below: float, above: float, size: float) -> float:
    """Returns the probability with which a bet is taken for the smaller of its neighbours.

    Paper: Ganzfried & Sandholm 2013, "Action Translation in Extensive-Form Games with Large Action Spaces: Axioms,
        Paradoxes, and the Pseudo-Harmonic Mapping", IJCAI; Brown 2020, PhD thesis, section 6.4, for its midpoint.
    Symbols: A, B, x -> below, above, size, all as fractions of the pot.
    Departs from the paper: nothing.
    Checked by: tests/abstraction/test_translation.py.

    >>> round(pseudo_harmonic(0.5, 1.0, 0.75), 4)
    0.4286
    """
    if not 0 <= below <= size <= above or below == above:
        raise ConfigError(f"a bet must lie between its neighbours, got {size} between {below} and {above}")
    return (above - size) * (1 + below) / ((above - below) * (1 + size))


def translate_bet(size: float, known: Sequence[float]) -> dict[float, float]:
    """Returns the sizes that a bet is taken for, each with its probability; beyond the ends the nearest.

    Args:
        size: of the bet, as a fraction of the pot.
        known: sizes that there are, ascending.

    >>> translate_bet(2.0, [0.5, 1.0])
    {1.0: 1.0}
    """
    if not known or any(second <= first for first, second in itertools.pairwise(known)):
        raise ConfigError(f"known sizes must ascend, got {list(known)}")
    below = max((one for one in known if one <= size), default=known[0])
    above = min((one for one in known if one >= size), default=known[-1])
    if below >= above:
        return {below: 1.0}
    share = pseudo_harmonic(below, above, size)
    return {one: part for one, part in ((below, share), (above, 1.0 - share)) if part > 0}


def translate_action(action: int, state: BettingState, image: BettingState, actions: Sequence[int]) -> dict[int, float]:
    """Returns the actions of an image of a hand that an action is taken for, each with its probability.

    Folds, calls and all-ins are taken for themselves. Other bets are compared as fractions of the pot, each hand's own;
    no bet (a check or a call) is the size 0, below the smallest that is known.

    Args:
        action: what was done: 0 folds, 1 calls, others are totals that are raised to.
        state: where.
        image: where the image stands, with the same player to move.
        actions: that the image has; nothing is returned if none is of the kind.

    >>> from equipoise.games.holdem.betting import BettingRules, initial_betting
    >>> state = initial_betting(BettingRules(stacks=(100, 100), small_blind=1, big_blind=2))
    >>> shares = translate_action(5, state, state, [0, 1, 4, 6, 100])  # a raise to 5, between 4 and 6
    >>> {action: round(share, 3) for action, share in shares.items()}
    {4: 0.429, 6: 0.571}
    """
    if action in (FOLD, CALL):
        return {action: 1.0} if action in actions else {}
    raises = [total for total in actions if total > CALL]
    if raises and action == all_in_to(state):
        return {raises[-1]: 1.0}
    total_of = {pot_fraction(image, total): total for total in raises}
    if CALL in actions:
        total_of[0.0] = CALL
    return {
        total_of[size]: share for size, share in translate_bet(pot_fraction(state, action), sorted(total_of)).items()
    }


def pot_fraction(state: BettingState, total: int) -> float:
    """Returns by which fraction of the pot after calling a raise goes above the price."""
    return (total - state.price) / pot_after_call(state)
