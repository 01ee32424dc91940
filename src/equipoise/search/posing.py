# SPDX-License-Identifier: Apache-2.0
"""What a method of search amounts to at the root of a subgame: alternatives, gifts, deviations and the gate.

Written against profiles and subgames of any layout (`profiles.py`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.kernels.gates import GateKind, RootGate
from equipoise.search.gadgets import (
    EXACT,
    Alternatives,
    Estimate,
    Exact,
    GiftBound,
    GiftValues,
    Given,
    Maxmargin,
    Method,
    Reach,
    Resolve,
    Unsafe,
)
from equipoise.search.profiles import Profile, Standpoint, Subgame, given_there
from equipoise.trees.vector import Place, Strategy

__all__ = ["RootProblem", "Standing", "begin_gate", "find_gifts", "measure", "pose"]

FloatArray = npt.NDArray[np.float64]


class Standing(NamedTuple):
    """What the opponent's private states have if they stay out, each given that it is there."""

    value: FloatArray  # [H] before gifts; zeros for unsafe search
    gifts: FloatArray  # [H] by which it is raised
    deviation: FloatArray  # [H] of it

    @property
    def alternative(self) -> FloatArray:
        """Returns `[H]` all that staying out is worth."""
        return self.value + self.gifts

    def follow(self, private: npt.NDArray[Any]) -> Standing:
        """Returns it for the private states that come from those, `[H]`."""
        return Standing(self.value[private], self.gifts[private], self.deviation[private])


class RootProblem(NamedTuple):
    """What is to be solved below a root: who searches, how the opponent enters, what staying out is worth."""

    searcher: int
    alternative: FloatArray  # [H] of the opponent, given that it is there; zeros for unsafe search
    gate: RootGate | None  # None: the opponent comes as in the blueprint


def pose(
    profile: Profile[Any], subgame: Subgame, searcher: int, method: Method, standing: Standing | None = None
) -> RootProblem:
    """Returns what a method makes of a subgame's root, with a gate that has not begun.

    Args:
        profile: what is played above, by which gifts are measured.
        subgame: what is solved; alternatives are measured in it by its strategy so far.
        searcher: who searches.
        method: how it is made safe.
        standing: alternatives, gifts and deviations, if they are known already.
    """
    opponent = 1 - searcher
    if standing is None:
        standing = measure(profile, subgame, opponent, method)
    if isinstance(method, Unsafe):
        return RootProblem(searcher, standing.alternative, None)
    mass, value, prior, deviation = (
        subgame.to_rows(opponent, each)
        for each in (subgame.mass(opponent), standing.alternative, subgame.reach[opponent], standing.deviation)
    )
    gate = begin_gate(method, opponent, mass=mass, value=value, prior=prior, deviation=deviation)
    return RootProblem(searcher, standing.alternative, gate)


def begin_gate(
    method: Resolve | Maxmargin,
    player: int,
    *,
    mass: FloatArray,
    value: FloatArray,
    prior: FloatArray,
    deviation: FloatArray | None = None,
) -> RootGate:
    """Returns the gate of a method, which has not begun.

    Args:
        method: how a search is made safe.
        player: whose private states enter, H of them.
        mass: `[H]` how likely chance and the other player are at each.
        value: `[H]` what each may have instead, given that it is there.
        prior: `[H]` reach that is mixed in.
        deviation: `[H]` of the values; None: none.
    """
    return RootGate(
        kind=find_gate_kind(method),
        player=player,
        mass=mass,
        alternative=mass * value,
        deviation=np.zeros(mass.size) if deviation is None else deviation,
        prior=prior,
        share=method.share if isinstance(method, Resolve) else 1.0,
        regret=np.zeros((2, mass.size)),
    )


def find_gate_kind(method: Resolve | Maxmargin) -> GateKind:
    """Returns how the opponent's private states enter under a method."""
    if method.distribution is not None:
        kind: GateKind = method.distribution.gate.value
        return kind
    return GateKind.RESOLVING if isinstance(method, Resolve) else GateKind.MAXMARGIN


def measure(profile: Profile[Any], subgame: Standpoint, opponent: int, method: Method) -> Standing:
    """Returns what the opponent has where a subgame begins, by the strategy so far."""
    mass = subgame.mass(opponent)
    nothing = np.zeros(mass.size)
    if isinstance(method, Unsafe):
        return Standing(nothing, nothing, nothing)
    value = _find_alternatives(profile, subgame, opponent, method.alternatives, mass)
    gifts = deviation = nothing
    if method.reach is not None and method.reach.scale > 0:
        gifts = find_gifts(profile, subgame.place, opponent, method.reach, method.alternatives)
    if method.distribution is not None:
        given = method.distribution.deviation
        if given is None:
            deviation = np.abs(value - _find_alternatives(profile, subgame, opponent, EXACT, mass))
        else:
            deviation = np.ascontiguousarray(np.broadcast_to(np.asarray(given, np.float64), mass.shape))
    return Standing(value, gifts, deviation)


def _find_alternatives(
    profile: Profile[Any], subgame: Standpoint, opponent: int, alternatives: Alternatives, mass: FloatArray
) -> FloatArray:
    """Returns `[H]` what staying out is worth before gifts, 0 where nobody can be."""
    if isinstance(alternatives, Given):
        if alternatives.values.shape != mass.shape:
            raise ConfigError(f"alternatives must have shape {mass.shape}, got {alternatives.values.shape}")
        return alternatives.values
    if isinstance(alternatives, Exact):
        return given_there(subgame.best_values(opponent, subgame.strategy), mass)
    own = subgame.strategy
    if isinstance(alternatives, Estimate):
        own = profile.copy(_find_response(profile, alternatives), subgame)
    return given_there(subgame.strategy_values(opponent, own, subgame.strategy), mass)


def _find_response(profile: Profile[Place], alternatives: Estimate) -> Strategy[Place]:
    response = profile.response if alternatives.response is None else alternatives.response
    if response is None:
        raise ConfigError("estimates need a response, such as the last iterate of the run that made the blueprint")
    return response


def find_gifts(
    profile: Profile[Place], place: Place, opponent: int, reach: Reach, alternatives: Alternatives = EXACT
) -> FloatArray:
    """Returns `[H]` what each of the opponent's private states gave away on its way to a place, scaled.

    Raises `ConfigError` where private states merge on the way.
    """
    tree = profile.tree
    response = None
    if isinstance(alternatives, Estimate) and reach.values is not GiftValues.EXACT:
        response = _find_response(profile, alternatives)
    private: npt.NDArray[Any] = np.arange(tree.num_private_at(place, opponent))
    gifts = np.zeros(private.size)
    for above, below in reversed(tree.way_to(place)):
        source, action = tree.trace_back(below, opponent)
        if tree.actor_at(above) == opponent:
            taken = np.unique(action)
            gifts += _gifts_at(profile, above, opponent, reach.bound, response, taken)[source[private], action[private]]
        private = source[private]
    return gifts * reach.scale * (1.0 if reach.is_split else profile.num_outcomes(place))


def _gifts_at(
    profile: Profile[Place],
    place: Place,
    opponent: int,
    bound: GiftBound,
    response: Strategy[Place] | None,
    taken: npt.NDArray[np.int32],
) -> FloatArray:
    """Returns `[H, A]` how far actions that were taken fall short of the best one that counts; others have whatever."""
    counts = profile.tree.legal_at(place)
    if bound is GiftBound.LOWER:
        counts = counts & profile.final_actions(place)
    columns = np.union1d(taken, np.flatnonzero(counts.any(axis=0)))
    if not np.setdiff1d(columns, taken).size and taken.size == 1:
        return np.zeros(counts.shape)  # nothing to compare with
    value = profile.action_values(place, opponent, columns=columns.tolist(), response=response)
    best = np.max(np.where(counts, value, -np.inf), axis=1, initial=-np.inf)
    gifts: FloatArray = np.maximum(best[:, None], value) - value  # the action itself always counts
    gifts[profile.mass(place, opponent) <= 0] = 0.0
    return gifts


def check_deviation(method: Method, what: str) -> None:
    """Raises `ConfigError` where a distribution must say its deviation: there is no strategy to measure it by."""
    distribution = None if isinstance(method, Unsafe) else method.distribution
    if distribution is not None and distribution.deviation is None:
        raise ConfigError(f"{what} needs the deviation of its alternatives")
