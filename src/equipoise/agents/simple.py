# SPDX-License-Identifier: Apache-2.0
"""Agents that look at nothing: uniform play, and always the same kind of move."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from equipoise.agents.base import Observation, PolicyAgent, PublicDecision
from equipoise.games.base import ActionClass

__all__ = ["ClassAgent", "UniformAgent"]

FloatArray = npt.NDArray[np.float64]

# what is played where the wanted kind is not on offer, first to last
SECOND_CHOICES: Final[Mapping[ActionClass, tuple[ActionClass, ...]]] = {
    ActionClass.FOLD: (ActionClass.CALL,),
    ActionClass.CALL: (),
    ActionClass.RAISE: (ActionClass.CALL,),
    ActionClass.OTHER: (),
}


class UniformAgent(PolicyAgent):
    """Every action as often as every other one.

    >>> from equipoise.runs import match
    >>> match(UniformAgent(), "call", game="kuhn", hands=100).num_hands
    100
    """

    name = "uniform"

    def probabilities(self, observation: Observation, *, rng: np.random.Generator) -> Sequence[float]:
        """Returns `[A]` the same number for each action."""
        num_actions = len(observation.actions)
        return [1.0 / num_actions] * num_actions

    def public_strategy(self, decision: PublicDecision, *, rng: np.random.Generator) -> FloatArray:
        """Returns `[H, A]` equal shares for what is legal."""
        return _share_out(decision.legality)


class ClassAgent(PolicyAgent):
    """Always a fold, a call or a raise; of several raises each as often.

    Where there is none of the kind, folding and raising become checking or calling; where that is missing too, every
    action is as likely.

    >>> from equipoise.games import ActionClass
    >>> ClassAgent(ActionClass.RAISE).name
    'raise'
    """

    def __init__(self, kind: ActionClass) -> None:
        self.kind, self.name = kind, kind.value

    def probabilities(self, observation: Observation, *, rng: np.random.Generator) -> Sequence[float]:
        """Returns `[A]` equal shares for the actions of the kind."""
        for kind in (self.kind, *SECOND_CHOICES[self.kind]):
            count = observation.classes.count(kind)
            if count:
                return [(own is kind) / count for own in observation.classes]
        num_actions = len(observation.actions)
        return [1.0 / num_actions] * num_actions

    def public_strategy(self, decision: PublicDecision, *, rng: np.random.Generator) -> FloatArray:
        """Returns `[H, A]` equal shares for what is legal and of the kind."""
        chosen = decision.legality.copy()
        is_open = np.ones(len(chosen), np.bool_)  # private states that have found nothing of a kind so far
        for kind in (self.kind, *SECOND_CHOICES[self.kind]):
            wanted = decision.legality & np.array([own is kind for own in decision.classes])
            found = is_open & wanted.any(axis=1)
            chosen[found] = wanted[found]
            is_open &= ~found
        return _share_out(chosen)

    def public_actions(self, decision: PublicDecision) -> tuple[int, ...]:
        """Returns the actions of the kind, and of second choices where some private state lacks it."""
        is_open = decision.legality.any(axis=1)
        chosen = np.zeros(len(decision.actions), np.bool_)
        for kind in (self.kind, *SECOND_CHOICES[self.kind]):
            wanted = np.array([own is kind for own in decision.classes])
            found = is_open & decision.legality[:, wanted].any(axis=1)
            if found.any():
                chosen |= wanted
            is_open &= ~found
        return decision.actions if is_open.any() else tuple(np.array(decision.actions)[chosen].tolist())


def _share_out(chosen: npt.NDArray[np.bool_]) -> FloatArray:
    """Returns `[H, A]` equal shares for the columns chosen in each row."""
    shares: FloatArray = chosen / np.maximum(chosen.sum(axis=1, keepdims=True), 1)
    return shares
