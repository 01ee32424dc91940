# SPDX-License-Identifier: Apache-2.0
"""An agent that takes bets it does not know for bets it knows: what search is measured against."""

from __future__ import annotations

from typing import Final

import numpy as np

from equipoise.abstraction.translation import pot_fraction, translate_action
from equipoise.agents.base import Observation
from equipoise.agents.holdem.hands import check_holdem_game, hands_by_name
from equipoise.games.holdem.betting import (
    CALL,
    FOLD,
    BettingState,
    all_in_to,
    apply_action,
    initial_betting,
    next_street,
    pot_after_call,
)
from equipoise.games.holdem.betting_tree import DEALING, BettingNode, NodeKind
from equipoise.games.holdem.public_text import parse_steps
from equipoise.games.holdem.rules import Holdem
from equipoise.solvers.playouts import draw_index
from equipoise.trees.holdem.places import HoldemPlace, HoldemStrategy

__all__ = ["HoldemTranslatingAgent"]

LOST: Final = -1  # the image's hand is over and the real one is not


class HoldemTranslatingAgent:
    r"""Plays a table of hands along an image of the hand, drawn by the pseudo-harmonic mapping bet by bet.

    Bets are compared as fractions of the pot, the image's own pot; what it bets itself is the same fraction of the real
    one. No bet (a check or a call) is the size 0, below the smallest that is known; what the image checks is called.
    Where the image's hand has ended (an all-in there that was none) it checks and calls.

    Paper: Ganzfried & Sandholm 2013, as in `pseudo_harmonic`; Brown 2020, PhD thesis, sections 5.1.8 and 6.4.
    Symbols: A, B, x -> sizes of the image's bets, fraction of the real one.
    Departs from the paper: the thesis maps between two known bets and is silent on those below the smallest; here the
        smaller neighbour of these is A = 0, no bet.
    Checked by: tests/agents/test_holdem_search.py, tests/search/test_holdem_nested.py.

    >>> from equipoise.runs import load_spot, solve
    >>> text = "board = 'Ks7h2d5c9h'\npot = 20\nstacks = 30\nmenu = '50%'\nranges = {oop = 'AA', ip = 'KK, QQ'}"
    >>> river = solve(load_spot(text), iterations=10)
    >>> HoldemTranslatingAgent(river.strategy, river.game).name
    'translate'
    """

    def __init__(self, policy: HoldemStrategy, game: Holdem, *, name: str = "translate") -> None:
        """Keeps a strategy.

        Args:
            policy: of a whole spot.
            game: of the same cards and chips, whatever bets it offers.
            name: for tables of results.
        """
        check_holdem_game(policy.tree.spot, game)
        self.policy, self.game = policy, game
        self.name = name
        self._hand_of = hands_by_name(policy.tree.spot.deck)
        self.begin_game(0)

    def begin_game(self, seat: int) -> None:
        """Forgets the last game."""
        self._state = initial_betting(self.game.betting_rules)
        self._node, self._num_seen, self._chosen = 0, 0, LOST

    def observe(self, observation: Observation) -> None:
        """Takes in nothing: the next observation of a decision says it all again."""

    def act(self, observation: Observation, *, rng: np.random.Generator) -> int:
        """Returns one of the observation's actions."""
        steps, board = parse_steps(observation.public_state)
        for step in steps[self._num_seen :]:
            self._follow(step, observation.seat, rng)
        self._num_seen = len(steps)
        here = self.policy.tree.betting.nodes[self._node] if self._node != LOST else None
        self._chosen = LOST
        if here is None or here.kind is not NodeKind.DECISION or here.state.actor != observation.seat:
            if here is not None and here.kind is NodeKind.STREET_END:
                self._chosen = self._node  # a small bet was taken for none; the call ends the real street too
            return CALL
        hand = self._hand_of[observation.infostate.partition("|")[0]]
        column = draw_index(self.policy.probabilities(HoldemPlace(self._node, board))[hand].tolist(), rng.random())
        self._chosen = here.children[column]
        return self._translate_own(here, here.actions[column], observation.actions)

    def _translate_own(self, here: BettingNode, action: int, offered: tuple[int, ...]) -> int:
        """Returns the real action for one of the image's."""
        if action in (FOLD, CALL):
            return action if action in offered else CALL
        raises = [total for total in offered if total > CALL]
        if not raises:
            return CALL
        if action == all_in_to(here.state):
            return raises[-1]
        state = self._state
        wanted = state.price + pot_fraction(here.state, action) * pot_after_call(state)
        return min(raises, key=lambda total: abs(total - wanted))

    def _follow(self, step: int, seat: int, rng: np.random.Generator) -> None:
        """Moves the real hand and its image on by one step."""
        rules, state = self.game.betting_rules, self._state
        here = self.policy.tree.betting.nodes[self._node] if self._node != LOST else None
        if step == DEALING:
            self._state = next_street(rules, state)
            is_dealt = here is not None and here.kind is NodeKind.STREET_END
            self._node = here.children[0] if here is not None and is_dealt else LOST
            return
        self._state = apply_action(rules, state, step)
        if state.actor == seat:
            self._node = self._chosen
        elif here is None or here.kind is not NodeKind.DECISION:
            self._node = LOST
        else:
            image = self._translate(here, state, step, rng)
            self._node = LOST if image is None else here.children[here.actions.index(image)]

    def _translate(self, here: BettingNode, state: BettingState, step: int, rng: np.random.Generator) -> int | None:
        """Returns the image's action for one of the opponent's, None if it has no such kind."""
        shares = translate_action(step, state, here.state, here.actions)
        if len(shares) < 2 and step in (FOLD, CALL, all_in_to(state)):
            return next(iter(shares), None)
        return list(shares)[draw_index(list(shares.values()), rng.random())]
