# SPDX-License-Identifier: Apache-2.0
"""Hold'em spots solved again: the gates of `gadgets` above a hold'em tree.

A subgame of hold'em is a spot whose ranges are the reaches. The searcher's range is what it has played; the opponent's
must have every hand that it can hold, since its weights are the gate's business. Alternatives are values by hand.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.games.holdem.hands import hands_of
from equipoise.kernels.gates import RootGate
from equipoise.kernels.holdem.leaves import HoldemLeaves
from equipoise.kernels.holdem.sweeps import HoldemKernel, TableArray
from equipoise.search.gadgets import Given, Maxmargin, Resolve, find_gate_kind
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rules import CFRPlus, Rule
from equipoise.trees.holdem.tree import HoldemTree

__all__ = ["HoldemSearch", "find_mass", "measure_alternatives"]

FloatArray = npt.NDArray[np.float64]


def find_mass(tree: HoldemTree, player: int) -> FloatArray:
    """Returns `[rows]` the other's range, summing to 1, less the hands that share a card with each of a player's."""
    other = tree.arrays.root_reach[1 - player]
    numbers, others = tree.hands[0][player], tree.hands[0][1 - player]
    cards = np.asarray(hands_of(tree.spot.deck).cards)
    of_card = np.zeros(int(cards.max()) + 1)
    np.add.at(of_card, cards[others], other[: others.size, None])
    same = np.zeros(len(cards))
    same[others] = other[: others.size]
    mass = np.zeros(tree.arrays.num_rows(0, player))
    mine = cards[numbers]
    mass[: numbers.size] = other.sum() - of_card[mine].sum(axis=1) + same[numbers]
    mass[mass < 1e-12] = 0.0  # sums that cancel
    return mass


def measure_alternatives(
    tree: HoldemTree, sums: TableArray, opponent: int, *, leaves: HoldemLeaves | None = None, num_threads: int = 1
) -> FloatArray:
    """Returns `[rows]` what the opponent's best response to a strategy earns with each hand, given that it holds it.

    Args:
        tree: of the subgame.
        sums: `[C]` what both players play in proportion to.
        opponent: whose values.
        leaves: where the tree is one street alone; the strategy there is the average of their choices.
        num_threads: size of the team.
    """
    kernel = HoldemKernel(tree.arrays, leaves=leaves)
    best = kernel.values(sums, is_best=True, num_threads=num_threads)[opponent]
    mass = find_mass(tree, opponent)
    possible, held, out = mass > 0, slice(0, best.size), np.zeros(mass.size)
    out[held] = np.divide(best, mass[held], out=out[held], where=possible[held])
    return out


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class HoldemSearch:
    """A spot to be solved again for one player."""

    tree: HoldemTree
    searcher: int
    method: Resolve | Maxmargin  # with `Given` alternatives, [rows]; gifts are in them already
    prior: FloatArray | None = None  # [rows] the opponent's reach that a share mixes in, 0 to 1; None: its range
    leaves: HoldemLeaves | None = None  # of a tree that is one street alone, see `holdem_depth_limit`

    def __post_init__(self) -> None:
        if not isinstance(self.method.alternatives, Given) or self.method.reach is not None:
            raise ConfigError("a hold'em spot knows nothing of what was above it: give alternatives, gifts included")
        rows = (self.tree.arrays.num_rows(0, 1 - self.searcher),)
        if self.method.alternatives.values.shape != rows:
            raise ConfigError(f"alternatives must have shape {rows}, got {self.method.alternatives.values.shape}")
        if self.prior is not None and self.prior.shape != rows:
            raise ConfigError(f"prior must have shape {rows}, got {self.prior.shape}")

    def solver(
        self, *, rule: Rule | None = None, dtype: npt.DTypeLike = np.float32, num_threads: int = 1
    ) -> CFRSolver[HoldemTree]:
        """Returns a run that has not begun; CFR+ with linear averaging if no rule is given."""
        assert isinstance(self.method.alternatives, Given)
        opponent = 1 - self.searcher
        mass = find_mass(self.tree, opponent)
        deviation = np.zeros(mass.size)
        if self.method.distribution is not None:
            if self.method.distribution.deviation is None:
                raise ConfigError("a hold'em spot needs the deviation of its alternatives")
            given = np.asarray(self.method.distribution.deviation, np.float64)
            deviation = np.ascontiguousarray(np.broadcast_to(given, mass.shape))
        gate = RootGate(
            kind=find_gate_kind(self.method),
            player=opponent,
            mass=mass,
            leave=mass * self.method.alternatives.values,
            deviation=deviation,
            prior=self._find_prior(opponent),
            share=self.method.share if isinstance(self.method, Resolve) else 1.0,
            regret=np.zeros((2, mass.size)),
        )
        return CFRSolver(
            self.tree,
            rule or CFRPlus(gamma=1.0),
            dtype=dtype,
            num_threads=num_threads,
            gate=gate,
            frontier=self.leaves,
        )

    def _find_prior(self, opponent: int) -> FloatArray:
        """Returns `[rows]` what a share mixes in, on the scale of the gate: reaches, not probabilities of hands."""
        if self.prior is not None:
            return np.ascontiguousarray(self.prior)
        hands = self.tree.hands[0][opponent]
        prior = np.zeros(self.tree.arrays.num_rows(0, opponent))
        prior[: hands.size] = self.tree.spot.live_weights(opponent)[hands]
        return prior

    def margins(self, solver: CFRSolver[HoldemTree]) -> FloatArray:
        """Returns `[H]` how much less than its alternative each hand that the opponent can hold gets now, exactly."""
        assert isinstance(self.method.alternatives, Given)
        opponent = 1 - self.searcher
        value = measure_alternatives(self.tree, solver.tables.strategy_sum, opponent, leaves=self.leaves)
        possible = find_mass(self.tree, opponent) > 0
        margins: FloatArray = (self.method.alternatives.values - value)[possible]
        return margins
