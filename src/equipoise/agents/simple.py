# SPDX-License-Identifier: Apache-2.0
"""Agents that look at nothing: uniform play, and always the same kind of move."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from equipoise.agents.base import Observation, PolicyAgent
from equipoise.games.base import ActionClass

__all__ = ["ClassAgent", "UniformAgent"]

# what is played where the wanted kind is not on offer, first to last
SECOND_CHOICES: Final[Mapping[ActionClass, tuple[ActionClass, ...]]] = {
    ActionClass.FOLD: (ActionClass.CALL,),
    ActionClass.CALL: (),
    ActionClass.RAISE: (ActionClass.CALL,),
    ActionClass.OTHER: (),
}


class UniformAgent(PolicyAgent):
    """Every action as often as every other one."""

    @property
    def name(self) -> str:
        """Returns `uniform`."""
        return "uniform"

    def probabilities(self, observation: Observation, *, rng: np.random.Generator) -> Sequence[float]:
        """Returns `[A]` the same number for each action."""
        num_actions = len(observation.actions)
        return [1.0 / num_actions] * num_actions


@dataclasses.dataclass(frozen=True)
class ClassAgent(PolicyAgent):
    """Always a fold, a call or a raise; of several raises each as often.

    Where there is none of the kind, folding and raising become checking or calling; where that is missing too, every
    action is as likely.
    """

    kind: ActionClass

    @property
    def name(self) -> str:
        """Returns the kind of move."""
        return self.kind.value

    def probabilities(self, observation: Observation, *, rng: np.random.Generator) -> Sequence[float]:
        """Returns `[A]` equal shares for the actions of the kind."""
        for kind in (self.kind, *SECOND_CHOICES[self.kind]):
            count = observation.classes.count(kind)
            if count:
                return [(own is kind) / count for own in observation.classes]
        num_actions = len(observation.actions)
        return [1.0 / num_actions] * num_actions
