# SPDX-License-Identifier: Apache-2.0
"""How a subgame is made safe to solve again: descriptions that compose, and what they amount to at a subgame's root.

The searcher's reach is the blueprint's. The opponent's private states enter through a gate (`kernels.public_hooks`)
that pays an alternative to those that stay out; a method says which gate, and what the alternatives are.

    Maxmargin(reach=Reach(scale=2.0), alternatives=Estimate(response), distribution=Distribution())
    Resolve(alternatives=Given(values), share=0.2)
"""

from __future__ import annotations

import dataclasses
import enum
import math
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.games.base import CHANCE, TERMINAL
from equipoise.kernels.gates import GateKind, RootGate
from equipoise.search.subgames import Blueprint, Subgame
from equipoise.trees.public_edges import find_children, read_policy, trace_back

__all__ = [
    "Distribution",
    "Estimate",
    "Exact",
    "GiftBound",
    "Given",
    "Maxmargin",
    "Method",
    "Reach",
    "Resolve",
    "RootProblem",
    "SoftGate",
    "Unsafe",
    "check_deviation",
    "find_gate_kind",
    "find_gifts",
    "pose",
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

    response: FloatArray  # [C] over the whole tree


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Given:
    """Values that come from elsewhere: a previous search, say."""

    values: FloatArray  # [H] of the opponent's private states at the root, given that they are there

    @classmethod
    def from_counterfactual(cls, values: FloatArray, mass: FloatArray) -> Given:
        """Returns counterfactual values as alternatives; `mass` is what they are weighted by."""
        return cls(np.divide(values, mass, out=np.zeros_like(values), where=mass > 0))


Alternatives = Exact | Estimate | Given
EXACT: Final = Exact()


class GiftBound(enum.StrEnum):
    """What a gift is measured from."""

    LOWER = "lower"  # the best of the actions that end the game at once: no search elsewhere changes them
    EXACT = "exact"  # the best of all actions, as the blueprint goes on after them


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """Raises alternatives by what the opponent gave away on its way: its gifts.

    Paper: Brown 2020, PhD thesis, section 5.1.3, (5.2); scaling 5.1.11.
    Symbols: g(I', a') -> gift; kappa -> scale.
    Departs from the paper: with estimated alternatives gifts are estimated by the same strategy, and measured from its
        best action, so that none is negative.
    """

    bound: GiftBound = GiftBound.LOWER
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
    """Believes that the opponent came as its blueprint does: nothing is guaranteed."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Resolve:
    """Every private state of the opponent may stay out for its alternative.

    Paper: Burch, Johanson & Bowling 2014, "Solving Imperfect Information Games Using Decomposition" (CFR-D's gadget);
        Brown 2020, PhD thesis, section 5.1.2; the share: Schmid et al. 2021, "Player of Games", arXiv:2112.03178,
        appendix B.1.1, 0.2 there.
    Departs from the paper: nothing.
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
    """

    alternatives: Alternatives = EXACT
    reach: Reach | None = None
    distribution: Distribution | None = None


Method = Unsafe | Resolve | Maxmargin


# --- what they amount to ---


class RootProblem(NamedTuple):
    """What is to be solved below a root: who searches, how the opponent enters, what staying out is worth."""

    searcher: int
    alternative: FloatArray  # [H] of the opponent, given that it is there; zeros for unsafe search
    gate: RootGate | None  # None: the opponent comes as in the blueprint


def pose(blueprint: Blueprint, subgame: Subgame, searcher: int, method: Method) -> RootProblem:
    """Returns what a method makes of a subgame's root, with a gate that has not begun."""
    opponent = 1 - searcher
    mass = np.ascontiguousarray(subgame.mass(opponent))
    if isinstance(method, Unsafe):
        return RootProblem(searcher, np.zeros(mass.size), None)
    value = _conditional_alternatives(subgame, opponent, method.alternatives, mass)
    raised = value
    if method.reach is not None and method.reach.scale > 0:
        raised = value + find_gifts(blueprint, subgame.node, opponent, method.reach, method.alternatives)
    deviation = np.zeros(mass.size)
    if method.distribution is not None:
        deviation = _find_deviation(subgame, opponent, method.distribution, value, mass)
    gate = RootGate(
        kind=find_gate_kind(method),
        player=opponent,
        mass=mass,
        leave=mass * raised,
        deviation=deviation,
        prior=np.ascontiguousarray(subgame.beliefs.reach[opponent]),
        share=method.share if isinstance(method, Resolve) else 1.0,
        regret=np.zeros((2, mass.size)),
    )
    return RootProblem(searcher, raised, gate)


def find_gate_kind(method: Resolve | Maxmargin) -> GateKind:
    """Returns how the opponent's private states enter under a method."""
    if method.distribution is not None:
        kind: GateKind = method.distribution.gate.value
        return kind
    return GateKind.RESOLVING if isinstance(method, Resolve) else GateKind.MAXMARGIN


def check_deviation(method: Method, what: str) -> None:
    """Raises `ConfigError` where a distribution must say its deviation: there is no strategy to measure it by."""
    distribution = None if isinstance(method, Unsafe) else method.distribution
    if distribution is not None and distribution.deviation is None:
        raise ConfigError(f"{what} needs the deviation of its alternatives")


def _conditional_alternatives(
    subgame: Subgame, opponent: int, alternatives: Alternatives, mass: FloatArray
) -> FloatArray:
    """Returns `[H]` what staying out is worth before gifts, 0 where nobody can be."""
    if isinstance(alternatives, Given):
        if alternatives.values.shape != mass.shape:
            raise ConfigError(f"alternatives must have shape {mass.shape}, got {alternatives.values.shape}")
        return alternatives.values
    if isinstance(alternatives, Exact):
        values = subgame.best_values(opponent, subgame.blueprint)
    else:
        response = subgame.part.restrict(alternatives.response)
        values = subgame.strategy_values(opponent, response, subgame.blueprint)
    return np.divide(values, mass, out=np.zeros(mass.size), where=mass > 0)


def _find_deviation(
    subgame: Subgame, opponent: int, distribution: Distribution, value: FloatArray, mass: FloatArray
) -> FloatArray:
    """Returns `[H]` the standard deviation of every alternative."""
    if distribution.deviation is not None:
        return np.ascontiguousarray(np.broadcast_to(np.asarray(distribution.deviation, np.float64), mass.shape))
    exact = _conditional_alternatives(subgame, opponent, Exact(), mass)
    return np.abs(value - exact)


def find_gifts(
    blueprint: Blueprint, node: int, opponent: int, reach: Reach, alternatives: Alternatives = EXACT
) -> FloatArray:
    """Returns `[H]` what each of the opponent's private states gave away on its way to a node, scaled.

    Raises `ConfigError` where private states merge on the way.
    """
    tree = blueprint.tree
    cfv = blueprint.best_cfv(opponent)
    if isinstance(alternatives, Estimate):
        cfv = blueprint.response_cfv(opponent, alternatives.response)
    private = np.arange(tree.num_private[node, opponent])
    gifts = np.zeros(private.size)
    below = node
    while below != 0:
        above = int(tree.parent[below])
        source, action = trace_back(tree, below, opponent)
        if tree.actor[above] == opponent:
            gifts += _gifts_at(blueprint, above, opponent, reach.bound, cfv)[source[private], action[private]]
        private = source[private]
        below = above
    return gifts * reach.scale * (1.0 if reach.is_split else _count_outcomes(blueprint, node))


def _gifts_at(blueprint: Blueprint, node: int, opponent: int, bound: GiftBound, cfv: FloatArray) -> FloatArray:
    """Returns `[H, A]` how far each action falls short of the best one that counts; illegal ones have whatever."""
    tree = blueprint.tree
    mass = blueprint.beliefs(node).mass(opponent)
    is_legal = read_policy(tree, node, tree.legal_share) > 0
    value = read_policy(tree, node, cfv) / np.where(mass > 0, mass, np.inf)[:, None]
    counts = is_legal
    if bound is GiftBound.LOWER:
        counts = is_legal & _find_final_actions(blueprint, node, opponent)
    best = np.max(np.where(counts, value, -np.inf), axis=1, initial=-np.inf)
    gifts: FloatArray = np.maximum(best[:, None], value) - value  # the action itself always counts
    return gifts


def _find_final_actions(blueprint: Blueprint, node: int, opponent: int) -> npt.NDArray[np.bool_]:
    """Returns `[H, A]` which actions end the game at once."""
    tree = blueprint.tree
    is_final = np.ones((int(tree.num_private[node, opponent]), int(tree.num_actions[node])), np.bool_)
    for child in find_children(tree, node).tolist():
        if tree.actor[child] != TERMINAL:
            entries = slice(*tree.relation_start[2 * child + opponent : 2 * child + opponent + 2].tolist())
            is_final[tree.relation_private[entries], tree.relation_action[entries]] = False
    return is_final


def _count_outcomes(blueprint: Blueprint, node: int) -> int:
    """Returns the number of public outcomes of the chance move right above a node, 1 if there is none."""
    above = int(blueprint.tree.parent[node])
    if above < 0 or blueprint.tree.actor[above] != CHANCE:
        return 1
    return int(find_children(blueprint.tree, above).size)
