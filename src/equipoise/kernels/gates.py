# SPDX-License-Identifier: Apache-2.0
"""Gates above the root of a subgame that is solved again: how much of each of the opponent's private states enters.

After every update of the opponent a gate takes what entering was worth; all of it happens within one native call.
"""

from __future__ import annotations

import dataclasses
import enum
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.kernels.arrays import check_array, check_axes, check_finite
from equipoise.kernels.calls import check_player

__all__ = ["GateKind", "RootGate", "gate_arrays", "gate_memory"]

MEMORY: Final = ("mass", "alternative", "deviation", "prior", "regret")

FloatArray = npt.NDArray[np.float64]


class GateKind(enum.IntEnum):
    """How a gate turns values of entering into what enters next."""

    RESOLVING = 0  # each private state matches regrets of entering and of taking its alternative
    MAXMARGIN = 1  # one choice among all private states, each worth what it gains over its alternative
    BEST_RESPONSE = 2  # alternatives are drawn from normal distributions; enters where entering is worth more
    HEDGE = 3  # likewise, softened by Hedge on the values seen so far


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RootGate:
    """A gate above the root of a subgame, with what it remembers; regrets are matched under the run's discounts.

    Paper: Burch, Johanson & Bowling 2014 (resolving), Moravcik et al. 2016 (maxmargin); Brown 2020, PhD thesis [B20],
        sections 5.1.2, 5.1.5, 5.1.6 and 5.1.10; Schmid et al. 2021, "Player of Games", arXiv:2112.03178, appendix
        B.1.1 (the prior that is mixed in).
    Symbols: pi_-1 summed over an information set -> mass; v(a'_T) times that -> alternative; X -> a normal distribution
        of mean alternative / mass and its deviation; alpha -> share; beta_s -> prior.
    Departs from the paper: regrets of a gate are matched whatever the rule of the run; [B20] (5.3) is integrated in
        closed form, with the normal distribution that is nearest to the logistic, and its v is the mean of all
        iterations with the step times t (Hedge on sums). Before anything is known half of everybody enters.
    Checked by: tests/kernels/test_public_hooks.py, tests/search/test_holdem.py.
    """

    kind: GateKind
    player: int  # whose private states enter
    mass: FloatArray  # [H] how likely chance and the other player are at each of them
    alternative: FloatArray  # [H] as a counterfactual value: times mass
    deviation: FloatArray  # [H] of the alternative, not times mass; for the two kinds that draw it
    prior: FloatArray  # [H] reach that is mixed in
    share: float = 1.0  # of the gate in what enters; the rest is the prior's
    regret: FloatArray  # [2, H] memory: regrets of entering and leaving; hedge has mean and squares of values
    reach: FloatArray = dataclasses.field(default_factory=lambda: np.zeros(0))  # [H] memory: what enters next

    def __post_init__(self) -> None:
        check_player(self.player, 2)
        if not isinstance(self.kind, GateKind):
            raise ConfigError(f"a gate needs a GateKind, got {self.kind!r}")
        check_axes("mass", self.mass, 1)
        for name in ("mass", "alternative", "deviation", "prior"):
            check_array(name, getattr(self, name), np.float64, self.mass.shape)
            check_finite(name, getattr(self, name))
        check_array("regret", self.regret, np.float64, (2, self.mass.size))
        for name in ("mass", "deviation", "prior"):
            if (getattr(self, name) < 0).any():
                raise ConfigError(f"{name} must be at least 0, got {getattr(self, name).min()}")
        if not 0 <= self.share <= 1:
            raise ConfigError(f"share must be from 0 to 1, got {self.share}")
        if not self.reach.size:
            object.__setattr__(self, "reach", self.first_reach())
        check_array("reach", self.reach, np.float64, self.mass.shape, is_written=True)

    def reset(self) -> None:
        """Begins the gate again."""
        self.regret[:] = 0.0
        self.reach[:] = self.first_reach()

    def first_reach(self) -> FloatArray:
        """Returns `[H]` what enters before anything is known."""
        enters = np.full(self.mass.size, 0.5)
        if self.kind is GateKind.MAXMARGIN:
            is_possible = self.mass > 0
            enters = np.zeros(self.mass.size)
            enters[is_possible] = 1.0 / (np.count_nonzero(is_possible) * self.mass[is_possible])
        return self.share * enters + (1.0 - self.share) * self.prior


def gate_arrays(gate: RootGate | None) -> dict[str, npt.NDArray[Any]]:
    """Returns a gate's arrays by name, as hooks of the native module take them; empty ones without a gate."""
    if gate is None:
        return {name: np.zeros((2, 0) if name == "regret" else 0) for name in (*MEMORY, "gate_reach")}
    return gate_memory(gate) | {"gate_reach": gate.reach}


def gate_memory(gate: RootGate) -> dict[str, npt.NDArray[Any]]:
    """Returns by name what a gate reads and remembers, without what enters next."""
    return {name: getattr(gate, name) for name in MEMORY}
