# SPDX-License-Identifier: Apache-2.0
"""How a subgame is made safe to solve again: descriptions that compose; `posing.py` says what they amount to.

The searcher's reach is the blueprint's. The opponent's private states enter through a gate (`kernels.gates`)
that pays an alternative to those that stay out; a method says which gate, and what the alternatives are.

    Maxmargin(reach=Reach(scale=2.0), alternatives=Estimate(response), distribution=Distribution())
    Resolve(alternatives=Given(values), share=0.2)

>>> isinstance(Maxmargin(), Method)
True
"""

from __future__ import annotations

import dataclasses
import enum
import math
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.kernels.gates import GateKind
from equipoise.trees.vector import Strategy

__all__ = [
    "Distribution",
    "Estimate",
    "Exact",
    "GiftBound",
    "GiftValues",
    "Given",
    "Maxmargin",
    "Method",
    "Reach",
    "Resolve",
    "SelfPlay",
    "SoftGate",
    "Unsafe",
]

FloatArray = npt.NDArray[np.float64]


# --- alternatives ---


@dataclasses.dataclass(frozen=True, slots=True)
class Exact:
    """What the opponent's best response to the blueprint earns at the root: search is safe with it."""


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """What some strategy of the opponent earns against the blueprint, an estimate of what it would earn in equilibrium.

    Paper: Brown 2020, PhD thesis, section 5.1.4, whose experiments use the last iterate of the run that made the
        blueprint, or the best response within its abstraction.
    Departs from the paper: nothing.
    """

    response: Strategy[Any] | None = None  # over the blueprint's tree; None: what the blueprint names itself


@dataclasses.dataclass(frozen=True, slots=True)
class SelfPlay:
    """What the opponent's own strategy so far earns: after a search, what its averages promise it.

    Paper: Schmid et al. 2021, "Player of Games", arXiv:2112.03178, appendix B.1, of averages over a search.
    Departs from the paper: values of the average strategies in place of averages of values.
    """


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Given:
    """Values that come from elsewhere: a previous search, say."""

    values: FloatArray  # [H] of the opponent's private states at the root, given that they are there

    @classmethod
    def from_counterfactual(cls, values: FloatArray, mass: FloatArray) -> Given:
        """Returns counterfactual values as alternatives; `mass` is what they are weighted by."""
        return cls(np.divide(values, mass, out=np.zeros_like(values), where=mass > 0))


Alternatives = Exact | Estimate | SelfPlay | Given
EXACT: Final = Exact()


class GiftBound(enum.StrEnum):
    """What a gift is measured from."""

    LOWER = "lower"  # the best of the actions that end the game at once: no search elsewhere changes them
    EXACT = "exact"  # the best of all actions, as the blueprint goes on after them


class GiftValues(enum.StrEnum):
    """Whose values gifts are differences of."""

    ALTERNATIVES = "alternatives"  # those that alternatives come from: an estimate's response, else best responses
    EXACT = "exact"  # the opponent's counterfactual best response to the blueprint, whatever alternatives are


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """Raises alternatives by what the opponent gave away on its way: its gifts.

    Paper: Brown 2020, PhD thesis, section 5.1.3, (5.2); scaling 5.1.11.
    Symbols: g(I', a') -> gift; kappa -> scale.
    Departs from the paper: with estimated alternatives gifts are estimated by the same strategy, unless `values` says
        that they are exact as in (5.2), and measured from its best action, so that none is negative.

    >>> from equipoise.search import parse_method
    >>> parse_method("reach-maxmargin") == Maxmargin(reach=Reach())
    True
    """

    bound: GiftBound = GiftBound.LOWER
    values: GiftValues = GiftValues.ALTERNATIVES
    scale: float = 1.0  # at least 0; 0: no gifts; above 1: no guarantee
    is_split: bool = True  # False: times the number of public outcomes of the chance move right above the subgame

    def __post_init__(self) -> None:
        if not 0 <= self.scale < math.inf:
            raise ConfigError(f"scale of gifts must be at least 0 and finite, got {self.scale}")


class SoftGate(enum.Enum):
    """How private states pass where alternatives are drawn."""

    BEST_RESPONSE = GateKind.BEST_RESPONSE  # CFR-BR: by the present value of entering
    HEDGE = GateKind.HEDGE  # by all values so far


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Distribution:
    """Alternatives are normally distributed around their values, which the opponent learns and the searcher does not.

    Paper: Brown 2020, PhD thesis, sections 5.1.5 and 5.1.6.
    Departs from the paper: see `RootGate`.
    """

    deviation: FloatArray | float | None = None  # [H]; None: how far alternatives are from the exact ones
    gate: SoftGate = SoftGate.HEDGE

    def __post_init__(self) -> None:
        if self.deviation is not None and not np.all(np.asarray(self.deviation) >= 0):
            raise ConfigError(f"deviation must be at least 0, got {self.deviation}")


# --- methods ---


@dataclasses.dataclass(frozen=True, slots=True)
class Unsafe:
    """Believes that the opponent came as its blueprint does: nothing is guaranteed.

    >>> from equipoise.search import parse_method
    >>> parse_method("unsafe")
    Unsafe()
    """


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Resolve:
    """Every private state of the opponent may stay out for its alternative.

    Paper: Burch, Johanson & Bowling 2014, "Solving Imperfect Information Games Using Decomposition" (CFR-D's gadget);
        Brown 2020, PhD thesis, section 5.1.2; the share: Schmid et al. 2021, "Player of Games", arXiv:2112.03178,
        appendix B.1.1, 0.2 there.
    Departs from the paper: nothing.

    >>> from equipoise.search import parse_method
    >>> parse_method("resolve") == Resolve()
    True
    """

    alternatives: Alternatives = EXACT
    reach: Reach | None = None
    distribution: Distribution | None = None
    share: float = 1.0  # of the gate in the opponent's range; the rest comes as in the blueprint. Below 1: no guarantee

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise ConfigError(f"share of the gate must be above 0 and at most 1, got {self.share}")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Maxmargin:
    """The opponent enters with the private state that gains most over its alternative: the least margin is maximised.

    Paper: Moravcik et al. 2016, "Refining Subgames in Large Imperfect Information Games"; Brown 2020, PhD thesis,
        sections 5.1.2, (5.1), and 5.1.10.
    Departs from the paper: nothing. With a distribution the gate is that of `Resolve`: section 5.1.10 says that the
        one choice is unnecessary then, because narrow distributions maximise the least margin by themselves where all
        margins are positive (5.1.5). Draws that the opponent saw after its choice would shift what it expects by
        nothing and change nothing; draws that it saw before are in no paper.

    >>> from equipoise.search import parse_method
    >>> parse_method("maxmargin") == Maxmargin()
    True
    """

    alternatives: Alternatives = EXACT
    reach: Reach | None = None
    distribution: Distribution | None = None


Method = Unsafe | Resolve | Maxmargin
