# SPDX-License-Identifier: Apache-2.0
"""Subgames solved for many beliefs in lock step, in the native module: their form, the network at their leaves.

A lane is a belief; lanes never meet, so that results do not depend on how many are solved at a time.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

import equipoise._native as _native
from equipoise.core.errors import ConfigError
from equipoise.kernels.arrays import arrays_by_name, check_array, check_axes, check_finite, check_range
from equipoise.kernels.calls import check_integer
from equipoise.kernels.rules import Fallback, KernelRule, PolicyMap, check_discounts
from equipoise.kernels.value_nets import LayerArrays

__all__ = [
    "LANES",
    "BeliefDraws",
    "BeliefFormArrays",
    "BeliefKernel",
    "BeliefMode",
    "BeliefNetKernel",
    "BeliefPrior",
    "BeliefResult",
    "BeliefSearchSettings",
]

LANES: Final = (1, 4, 16, 64)  # numbers of lanes that there is code for

IntArray = npt.NDArray[np.int32]
SingleArray = npt.NDArray[np.float32]
FloatArray = npt.NDArray[np.float64]


class BeliefMode(enum.IntEnum):
    """Which beliefs leaves are asked for, and how strategies come about."""

    CFR_D = 0  # beliefs of the present strategies
    CFR_AVG = 1  # of the averages; values are multiplied by the present reach
    MODIFIED_CFR_AVG = 2  # of the averages; present values are extrapolated from two averages
    FICTITIOUS_PLAY = 3  # best responses to averages, and their beliefs


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BeliefFormArrays:
    """A subgame as cells of two players; see `native/belief_search.hpp`. W is the most private states of anybody."""

    num_cells: IntArray  # [2]
    steps: IntArray  # [steps, 2] 0 for a decision or 1 for a transfer, and its number; parents first
    decisions: IntArray  # [D, 6] player, first cell of the node, of the actions, of the table, hands, actions
    transfers: IntArray  # [transfers, 3] player, entries from, to
    entry_source: IntArray
    entry_target: IntArray
    entry_weight: SingleArray
    gain_cell_0: IntArray  # what terminals pay the cells of player 0: rows over cells of player 1
    gain_start_0: IntArray
    gain_other_0: IntArray
    gain_weight_0: SingleArray
    gain_cell_1: IntArray
    gain_start_1: IntArray
    gain_other_1: IntArray
    gain_weight_1: SingleArray
    legal_share: SingleArray  # [C] 1 / number of legal actions where legal, else 0
    leaf_cell: IntArray  # [leaves, 2]
    leaf_kind: IntArray  # [leaves] of the form's own kinds
    leaf_swapped: npt.NDArray[np.int8]  # [leaves] whether player 1 stands first in the kind
    leaf_scale: SingleArray  # [leaves]
    kind_row: IntArray  # [kinds] number of the kind to the network
    kind_hands: IntArray  # [kinds, 2]
    kind_weight: SingleArray  # [kinds, 2, width]
    kind_joint: FloatArray  # [kinds, width, width]
    root_hands: IntArray  # [2]
    root_weight: SingleArray  # [2, width]
    root_joint: FloatArray  # [width, width]

    def check(self) -> None:
        """Raises unless every number points to where there is something."""
        cells, width = self.num_cells.tolist(), self.root_weight.shape[1]
        for player, suffix in enumerate(("_0", "_1")):
            check_range(f"gain_cell{suffix}", getattr(self, f"gain_cell{suffix}"), 0, cells[player])
            check_range(f"gain_other{suffix}", getattr(self, f"gain_other{suffix}"), 0, cells[1 - player])
            check_finite(f"gain_weight{suffix}", getattr(self, f"gain_weight{suffix}"))
        check_range("kind_hands", self.kind_hands, 1, width + 1)
        check_range("leaf_kind", self.leaf_kind, 0, len(self.kind_row))
        check_range("entry_source", self.entry_source, 0, max(cells))
        check_range("entry_target", self.entry_target, 0, max(cells))
        for _, node, action, table, hands, actions in self.decisions.tolist():
            is_within = node + hands <= max(cells) and action + hands * actions <= max(cells)
            if not is_within or table + hands * actions > self.legal_share.size:
                raise ValueError("a decision has cells that there are not")


class BeliefNetKernel:
    """A network on kinds of public states and two ranges, ready to be asked by searches."""

    def __init__(self, num_kinds: int, width: int, layers: Sequence[LayerArrays], *, takes_roots: bool = True) -> None:
        """Copies the weights.

        Args:
            num_kinds: the first inputs, one of which is 1.
            width: of either range, which follow: shares times the width.
            layers: outputs are `[2, width]`.
            takes_roots: whether inputs are square roots of these.
        """
        check_integer("num_kinds", num_kinds, 1)
        check_integer("width", width, 1)
        first = layers[0]
        if first.weight.shape[0] != num_kinds + 2 * width or layers[-1].weight.shape[1] != 2 * width:
            raise ConfigError(
                f"the network must have {num_kinds + 2 * width} inputs and {2 * width} outputs, got "
                f"{first.weight.shape[0]} and {layers[-1].weight.shape[1]}"
            )
        self.num_kinds, self.width = num_kinds, width
        self.bound = _native.BeliefNet(takes_roots)
        ranges = first._replace(weight=np.ascontiguousarray(first.weight[num_kinds:]))
        for layer in (ranges, *layers[1:]):
            self.bound.add_layer(**layer.native_arguments)
        # sums begin with the bias and what the kind adds: products with zeros are left out
        self.bound.set_starts(np.ascontiguousarray(first.bias + first.weight[:num_kinds]))


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BeliefDraws:
    """Iterations at which something of a lane is wanted."""

    lane: IntArray  # [draws]
    iteration: IntArray  # [draws] from 1
    explorer: npt.NDArray[np.int8]  # [draws] player who explores, -1: nobody
    point: FloatArray  # [draws] on [0, 1), which leaf play comes to
    exploration: float = 0.0  # share of uniform play of whoever explores

    @classmethod
    def of(cls, lane: IntArray, iteration: IntArray) -> BeliefDraws:
        """Returns draws in which nobody explores, for what is played alone."""
        return cls(lane=lane, iteration=iteration, explorer=np.full(lane.size, -1, np.int8), point=np.zeros(lane.size))

    @classmethod
    def none(cls) -> BeliefDraws:
        """Returns no draws."""
        return cls.of(np.zeros(0, np.int32), np.zeros(0, np.int32))


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BeliefSearchSettings:
    """How subgames are solved."""

    rule: KernelRule  # by which strategies follow from regrets: regret matching
    discounts: FloatArray  # [iterations, 6] one row for each iteration
    mode: BeliefMode = BeliefMode.CFR_D
    is_alternating: bool = True  # whether each player sees the other's update of the same iteration
    num_lanes: int = 16  # beliefs that are solved at a time

    def __post_init__(self) -> None:
        check_discounts(self.discounts, 1)
        if self.rule.policy_map is not PolicyMap.REGRET_MATCHING or self.rule.fallback is not Fallback.UNIFORM:
            raise ConfigError("searches of beliefs form strategies by regret matching that falls back to uniform")
        if self.num_lanes not in LANES:
            raise ConfigError(f"lanes must be one of {', '.join(map(str, LANES))}, got {self.num_lanes}")
        if self.is_alternating and self.mode in (BeliefMode.CFR_AVG, BeliefMode.MODIFIED_CFR_AVG):
            raise ConfigError("searches with beliefs of averages update both players at once")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BeliefPrior:
    """Strategies that searches begin with, as if they had been played for some iterations."""

    policy: SingleArray  # [B, C] over the form's cells
    meeting: SingleArray  # [B, C] share of all play in which the other player and chance lead a private state there
    iterations: int  # that they count for


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BeliefResult:
    """What came of a search."""

    value: SingleArray  # [B, 2, width] what private states are worth on average, if asked for
    leaf: IntArray  # [draws] that play comes to, -1: the game ends before
    belief: SingleArray  # [draws, 2, width] there, the kind's first player first
    drawn_policy: SingleArray  # [draws, C] what is played in the iteration, if asked for
    policy: SingleArray  # [B, C] averages, if asked for
    net_seconds: float  # within the network


class BeliefKernel:
    """A subgame as the native module reads it."""

    def __init__(self, arrays: BeliefFormArrays) -> None:
        """Checks and keeps the arrays."""
        arrays.check()
        self.arrays = arrays
        self._bound = _native.BeliefForm(arrays_by_name(arrays))

    def search(
        self,
        belief: SingleArray,
        net: BeliefNetKernel | None,
        settings: BeliefSearchSettings,
        draws: BeliefDraws | None = None,
        *,
        prior: BeliefPrior | None = None,
        wants_leaves: bool = True,
        wants_drawn_policy: bool = False,
        wants_policy: bool = False,
        wants_values: bool = True,
    ) -> BeliefResult:
        """Returns what solving the subgame for beliefs gives.

        Args:
            belief: `[B, 2, width]` ranges of both players, each in sum 1.
            net: values leaves; None if there are none.
            settings: how it is solved.
            draws: what is wanted of single iterations.
            prior: what searches begin with, uniform strategies if None; nothing can be drawn from the iterations that
                these count for.
            wants_leaves: whether draws lead to leaves.
            wants_drawn_policy: whether strategies of draws are wanted.
            wants_policy: whether average strategies are wanted.
            wants_values: whether values are wanted; without these and averages, a search ends with its last draw.
        """
        width = self.arrays.root_weight.shape[1]
        check_axes("belief", belief, 3)
        check_array("belief", belief, np.float32, (belief.shape[0], 2, width))
        check_finite("belief", belief)
        self._check_net(net)
        given = draws or BeliefDraws.none()
        order = np.argsort(given.iteration, kind="stable")
        check_range("lane", given.lane, 0, belief.shape[0])
        num_iterations = settings.discounts.shape[0]
        count, num_cells = order.size, self.arrays.legal_share.size
        start = meeting = np.zeros((0, 0), np.float32)
        num_assumed = 0
        if prior is not None:
            for name, given_cells in (("policy", prior.policy), ("meeting", prior.meeting)):
                check_array(f"{name} of the prior", given_cells, np.float32, (belief.shape[0], num_cells))
                check_finite(f"{name} of the prior", given_cells)
            if settings.mode is BeliefMode.FICTITIOUS_PLAY:
                raise ConfigError("fictitious play has no regrets to begin with")
            check_integer("iterations of the prior", prior.iterations, 1, num_iterations - 1)
            start, meeting = np.ascontiguousarray(prior.policy), np.ascontiguousarray(prior.meeting)
            num_assumed = prior.iterations
        check_range("iteration", given.iteration, num_assumed + 1, num_iterations + 1)
        leaf = np.full(count if wants_leaves else 0, -1, np.int32)
        found = np.zeros((leaf.size, 2, width), np.float32)
        drawn = np.zeros((count, num_cells) if wants_drawn_policy else (0, 0), np.float32)
        is_whole = wants_values or wants_policy
        value = np.zeros(belief.shape if is_whole else (0, 2, width), np.float32)
        policy = np.zeros((belief.shape[0], num_cells) if wants_policy else (0, 0), np.float32)
        seconds = _native.search_beliefs(
            self._bound,
            None if net is None else net.bound,
            int(settings.mode),
            settings.is_alternating,
            settings.rule.is_optimistic,
            settings.rule.floors_regrets,
            discounts=np.ascontiguousarray(settings.discounts),
            exploration=given.exploration,
            num_lanes=settings.num_lanes,
            belief=belief,
            prior=start,
            meeting=meeting,
            num_assumed=num_assumed,
            draw_lane=np.ascontiguousarray(given.lane[order]),
            draw_iteration=np.ascontiguousarray(given.iteration[order]),
            draw_explorer=np.ascontiguousarray(given.explorer[order]),
            draw_point=np.ascontiguousarray(given.point[order]),
            leaf=leaf,
            next=found,
            draw_policy=drawn,
            value=value,
            policy=policy,
        )
        back = np.argsort(order, kind="stable")
        return BeliefResult(
            value=value,
            leaf=leaf[back] if wants_leaves else leaf,
            belief=found[back] if wants_leaves else found,
            drawn_policy=drawn[back] if wants_drawn_policy else drawn,
            policy=policy,
            net_seconds=float(seconds),
        )

    def _check_net(self, net: BeliefNetKernel | None) -> None:
        """Raises `ConfigError` unless a network can be asked about the leaves."""
        if not self.arrays.leaf_kind.size:
            return
        if net is None:
            raise ConfigError("a subgame with leaves needs a network that values them")
        if net.width != self.arrays.root_weight.shape[1] or net.num_kinds <= int(self.arrays.kind_row.max()):
            raise ConfigError("the network was made for other public states")
