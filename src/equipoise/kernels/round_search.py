# SPDX-License-Identifier: Apache-2.0
"""One round of betting of two to six players, solved for their hands; what follows is played out by a blueprint."""

from __future__ import annotations

import dataclasses
from typing import Final

import numpy as np
import numpy.typing as npt

import equipoise._native as _native
from equipoise.core.errors import ConfigError, InvalidStateError
from equipoise.kernels.arrays import arrays_by_name, check_array, check_generator
from equipoise.kernels.blueprints import CardDeals
from equipoise.kernels.calls import check_integer
from equipoise.kernels.turns import OneCaller

__all__ = ["CONTINUATIONS", "PlanArrays", "RoundArrays", "RoundKernel"]

CONTINUATIONS: Final = ("as it is", "fold", "call", "raise")  # what a leaf's choices lean to

IntArray = npt.NDArray[np.int32]
FloatArray = npt.NDArray[np.float32]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class RoundArrays:
    """A round's betting as `BettingArrays` writes it, a decision's slot being its player.

    A leaf has neither an ending nor actions; its number stands in place of the first child.
    """

    nodes: IntArray  # [N, 4] children after their parents
    side_pots: IntArray  # [rows, players]
    width: IntArray  # [players] cells of a hand's row, choices at leaves included
    fixed_row: IntArray  # [N] where a decision's rows begin in `fixed`; -1: it is free
    fixed: FloatArray  # rows [H, A] one behind the other
    leaf_node: IntArray  # [leaves] in the blueprint's tree
    leaf_offset: IntArray  # [leaves, players] place of the choice in a hand's row; -1: who does not choose
    leaf_paid: IntArray  # [leaves, players] chips put in
    image_paid: IntArray  # [leaves, players] chips put in by the blueprint's players
    leaf_scale: FloatArray  # [leaves] chips to one chip of the blueprint
    paid: IntArray  # [players] chips put in when the round began


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class PlanArrays:
    """A blueprint as its file has it."""

    plan_nodes: IntArray  # [N, 4]
    plan_side_pots: IntArray  # [rows, players]
    plan_width: IntArray  # [slots]
    plan_start: npt.NDArray[np.int64]  # [slots] -1: never visited
    plan_cells: npt.NDArray[np.uint8]  # parts of 255


class RoundKernel:
    """Sampled training of one round.

    Checked by: tests/search/test_rounds.py.
    """

    def __init__(
        self,
        betting: RoundArrays,
        plan: PlanArrays,
        cards: CardDeals,
        *,
        board: npt.NDArray[np.uint8],
        street: int,
        ranges: npt.NDArray[np.float64],
    ) -> None:
        """Checks and binds the arrays, regrets at nothing.

        Args:
            betting: of the round.
            plan: of a blueprint with as many players.
            cards: with the blueprint's buckets.
            board: cards that lie there.
            street: of the round.
            ranges: `[players, H]` weights of hands that the board leaves; a row of zeros for who holds none.
        """
        num_players, num_hands = cards.num_players, len(cards.hole_cards)
        check_array("ranges", ranges, np.float64, (num_players, num_hands))
        check_array("nodes", betting.nodes, np.int32, (len(betting.nodes), 4))
        check_array("width", betting.width, np.int32, (num_players,))
        check_array("fixed_row", betting.fixed_row, np.int32, (len(betting.nodes),))
        for name in ("leaf_offset", "leaf_paid", "image_paid"):
            check_array(name, getattr(betting, name), np.int32, (len(betting.leaf_node), num_players))
        check_array("paid", betting.paid, np.int32, (num_players,))
        check_array("board", board, np.uint8, (len(board),))
        if len(betting.leaf_node) and not 0 <= betting.leaf_node.min() <= betting.leaf_node.max() < len(
            plan.plan_nodes
        ):
            raise ConfigError("leaves must lead to decisions of the blueprint")
        totals = ranges.sum(axis=1, keepdims=True)
        live = sum(1 << player for player in range(num_players) if totals[player] > 0)
        self.betting, self.ranges, self.num_hands = betting, ranges, num_hands
        self.regrets = np.zeros(int(betting.width.sum()) * num_hands, np.float32)
        self.averages = np.zeros_like(self.regrets)
        arrays = {
            **arrays_by_name(betting),
            **arrays_by_name(plan),
            "regrets": self.regrets,
            "averages": self.averages,
            "board": np.ascontiguousarray(board),
            "hole_cards": cards.hole_cards,
            "cumulative": np.cumsum(ranges / np.where(totals > 0, totals, 1.0), axis=1),
        }
        self._form = _native.RoundForm(arrays, cards.form, int(street), live)
        self._one_caller = OneCaller("round")

    def train(self, words: npt.NDArray[np.uint64], num_deals: int, *, num_rollouts: int = 1, bias: float = 5.0) -> int:
        """Draws so many deals, each traversed by all who hold cards; returns the nodes touched.

        Args:
            words: `[4]` of a generator, which goes on from where it is.
            num_deals: of them.
            num_rollouts: of each continuation that is tried at a leaf.
            bias: by how much an action is likelier in a continuation that leans to its kind.
        """
        check_generator(words)
        check_integer("num_deals", num_deals, 0)
        check_integer("num_rollouts", num_rollouts, 1)
        if not bias > 0:
            raise ConfigError(f"bias must be positive, got {bias}")
        with self._one_caller:
            touched, is_stuck = _native.train_round(self._form, words, num_deals, num_rollouts, bias)
        if is_stuck:
            raise InvalidStateError("the ranges of the players do not fit together: no hands without a common card")
        return int(touched)

    def end_period(self, weight: float, factor: float) -> None:
        """Adds what is played now to averages, own reach times `weight`, then multiplies all tables by a factor."""
        if not (weight >= 0 and 0 <= factor <= 1):
            raise ConfigError(f"weight must be at least 0 and factor from 0 to 1, got {weight} and {factor}")
        with self._one_caller:
            _native.end_round_period(self._form, weight, factor)

    def average(self, node: int) -> npt.NDArray[np.float64]:
        """Returns `[H, A]` the average of a decision; its rows where it is fixed, uniform where nobody comes."""
        _, player, offset, packed = self.betting.nodes[node].tolist()
        num_actions = packed >> 9 & 31
        first = int(self.betting.width[:player].sum()) * self.num_hands
        width = int(self.betting.width[player])
        rows = self.averages[first : first + self.num_hands * width].reshape(self.num_hands, width)
        sums = rows[:, offset : offset + num_actions].astype(np.float64)
        begin = int(self.betting.fixed_row[node])
        if begin >= 0:
            given = self.betting.fixed[begin : begin + self.num_hands * num_actions]
            return given.reshape(self.num_hands, num_actions).astype(np.float64)
        totals = sums.sum(axis=1, keepdims=True)
        return np.where(totals > 0, sums / np.where(totals > 0, totals, 1.0), 1.0 / num_actions)
