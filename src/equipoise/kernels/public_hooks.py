# SPDX-License-Identifier: Apache-2.0
"""Hooks into the iterations over a public tree: a gate above the root, values that are averaged, values from outside.

A gate stands above a subgame that is solved again: it says how much of each of the opponent's private states enters,
from what entering was worth. All of it happens within one native call.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

import equipoise._native as _native
from equipoise.core.errors import ConfigError
from equipoise.kernels.arrays import check_array, check_axes, check_finite, check_range
from equipoise.kernels.calls import check_integer, check_num_threads, check_player
from equipoise.kernels.public import PublicKernel
from equipoise.kernels.sweeps import NUM_DISCOUNT_COLUMNS, KernelRule, SweepTables

__all__ = ["CellList", "GateKind", "PublicHooks", "RootGate"]

IntArray = npt.NDArray[np.int32]
FloatArray = npt.NDArray[np.float64]

BOTH_PLAYERS = -1
NO_GATE = -1


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
    Symbols: pi_-1 summed over an information set -> mass; v(a'_T) times that -> leave; X -> a normal distribution of
        mean leave / mass and its deviation; alpha -> share; beta_s -> prior.
    Departs from the paper: regrets of a gate are matched whatever the rule of the run; [B20] (5.3) is integrated in
        closed form, with the normal distribution that is nearest to the logistic, and its v is the mean of all
        iterations with the step times t (Hedge on sums). Before anything is known half of everybody enters.
    Checked by: tests/kernels/test_public_hooks.py.
    """

    kind: GateKind
    player: int  # whose private states enter
    mass: FloatArray  # [H] how likely chance and the other player are at each of them
    leave: FloatArray  # [H] the alternative as a counterfactual value: times mass
    deviation: FloatArray  # [H] of the alternative, not times mass; for the two kinds that draw it
    prior: FloatArray  # [H] reach that is mixed in
    share: float = 1.0  # of the gate in what enters; the rest is the prior's
    regret: FloatArray  # [2, H] memory: regrets of entering and leaving; hedge has mean and squares of values

    def __post_init__(self) -> None:
        check_player(self.player, 2)
        if not isinstance(self.kind, GateKind):
            raise ConfigError(f"a gate needs a GateKind, got {self.kind!r}")
        check_axes("mass", self.mass, 1)
        for name in ("mass", "leave", "deviation", "prior"):
            check_array(name, getattr(self, name), np.float64, self.mass.shape)
            check_finite(name, getattr(self, name))
        check_array("regret", self.regret, np.float64, (2, self.mass.size))
        for name in ("mass", "deviation", "prior"):
            if (getattr(self, name) < 0).any():
                raise ConfigError(f"{name} must be at least 0, got {getattr(self, name).min()}")
        if not 0 <= self.share <= 1:
            raise ConfigError(f"share must be from 0 to 1, got {self.share}")

    def first_reach(self) -> FloatArray:
        """Returns `[H]` what enters before anything is known."""
        enters = np.full(self.mass.size, 0.5)
        if self.kind is GateKind.MAXMARGIN:
            is_possible = self.mass > 0
            enters = np.zeros(self.mass.size)
            enters[is_possible] = 1.0 / (np.count_nonzero(is_possible) * self.mass[is_possible])
        return self.share * enters + (1.0 - self.share) * self.prior


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class CellList:
    """Cells of both players, player 0's first."""

    start: IntArray  # [3] segments of players
    cells: IntArray  # [K]

    @classmethod
    def of_players(cls, first: IntArray, second: IntArray) -> CellList:
        """Returns the list of two players' cells."""
        start = np.array([0, first.size, first.size + second.size], np.int32)
        return cls(start, np.concatenate([first, second]).astype(np.int32))

    @classmethod
    def empty(cls) -> CellList:
        """Returns a list without cells."""
        return cls(np.zeros(3, np.int32), np.zeros(0, np.int32))


class PublicHooks:
    """Hooks bound to a public tree; `iterate` runs the tree's iterations with them."""

    def __init__(
        self,
        kernel: PublicKernel,
        *,
        gate: RootGate | None = None,
        watched: CellList | None = None,
        given: CellList | None = None,
    ) -> None:
        """Checks and binds the hooks.

        Args:
            kernel: of the tree.
            gate: sets the root reach of its player after each of that player's updates.
            watched: cells whose counterfactual values are summed into `value_sum` with the weights of the average.
            given: cells to whose counterfactual values `given_value` is added, before anything is backed up.
        """
        self.kernel = kernel
        self.gate = gate
        self.watched = watched or CellList.empty()
        self.given = given or CellList.empty()
        self.value_sum: FloatArray = np.zeros(self.watched.cells.size)  # [K]
        self.given_value: FloatArray = np.zeros(self.given.cells.size)  # [K]
        for name, cells in (("watched", self.watched), ("given", self.given)):
            check_range(f"{name} cells", cells.cells, 0, kernel.num_cells)
        empty = np.zeros(0)
        root = np.zeros(0, np.int32)
        memory = np.zeros((2, 0))
        if gate is not None:
            root = np.ascontiguousarray(kernel.root_cells[gate.player])
            check_array("mass", gate.mass, np.float64, (root.size,))
            memory = gate.regret
        self._hooks = _native.PublicHooks(
            NO_GATE if gate is None else gate.player,
            0 if gate is None else int(gate.kind),
            1.0 if gate is None else gate.share,
            [root, self.watched.start, self.watched.cells, self.given.start, self.given.cells],
            [
                *((gate.mass, gate.leave, gate.deviation, gate.prior) if gate is not None else (empty,) * 4),
                self.given_value,
            ],
            [memory, np.zeros(root.size), self.value_sum],
        )

    def iterate(
        self,
        rule: KernelRule,
        discounts: FloatArray,
        tables: SweepTables,
        *,
        first_t: int,
        is_alternating: bool,
        players: Sequence[int] = (0, 1),
        num_threads: int = 1,
    ) -> None:
        """Runs one iteration per row of `discounts` and updates `tables` and the hooks' memory in place.

        Args:
            rule: what the kernel is specialised on.
            discounts: `[B, 6]` as for `SweepKernel.iterate`.
            tables: the run so far.
            first_t: index of the first iteration, from 1.
            is_alternating: whether each player sees the other's update of the same iteration.
            players: who is updated: both, or one alone (when values from outside follow each update).
            num_threads: most threads; one is used if values are watched or given.
        """
        check_axes("discounts", discounts, 2)
        check_array("discounts", discounts, np.float64, (discounts.shape[0], NUM_DISCOUNT_COLUMNS))
        check_integer("first_t", first_t, 1)
        check_num_threads(num_threads)
        self.kernel.check_tables(rule, tables)
        if tuple(players) not in ((0, 1), (0,), (1,)):
            raise ConfigError(f"players must be both or one of them, got {tuple(players)}")
        is_alone = self.watched.cells.size > 0 or self.given.cells.size > 0
        self.kernel.iterate_hooked(
            self._hooks,
            BOTH_PLAYERS if len(players) == 2 else players[0],
            rule,
            discounts,
            tables,
            first_t=first_t,
            is_alternating=is_alternating,
            num_threads=1 if is_alone else num_threads,
        )
