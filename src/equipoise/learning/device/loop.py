# SPDX-License-Identifier: Apache-2.0
"""Iterations of CFR on streets of hold'em in torch: subgames with the same betting, none of which leaves the device.

Paper: Zarick, Pellegrino, Brown & Banister 2020, "Unlocking the Potential of Deep Counterfactual Value Networks",
    arXiv:2007.10442, section 4.2: the tree is loaded once, and the result read once.
Symbols: regrets, averages -> `[cells, X]` over cells and hands; ranges -> root_reach.
Departs from the paper: the tree is one street; several subgames share an iteration.
Checked by: tests/learning/test_device_kernel.py.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.kernels.holdem.arrays import TILE, HoldemArrays
from equipoise.kernels.rules import Fallback, KernelRule
from equipoise.learning.device.betting import BettingRows
from equipoise.learning.device.ends import HandMatch, Holdings
from equipoise.learning.device.gates import DeviceGates
from equipoise.learning.torch_extra import torch

__all__ = ["DeviceLeaves", "DeviceTables", "DeviceWatch", "StreetLoop"]

FloatArray = npt.NDArray[np.float64]
Pair = tuple[torch.Tensor, torch.Tensor]


class DeviceLeaves(Protocol):
    """What lines that leave the street are worth, asked on the device."""

    def evaluate(self, reach: Pair) -> Pair:
        """Returns both players' values `[lines, X]` of lines for their reaches `[lines, X]`, on the scale of these."""
        ...


class DeviceTables(NamedTuple):
    """One player's tables on the device, over cells and hands."""

    regret_sum: torch.Tensor  # [cells, X]
    strategy_sum: torch.Tensor  # [cells, X]
    last_regret: torch.Tensor | None  # [cells, X] of optimistic rules


@dataclasses.dataclass(slots=True, eq=False)
class DeviceWatch:
    """One player's watched values: where they stand in `[1 + lines, X]`, and their sum."""

    cells: torch.Tensor  # [watched]
    value_sum: torch.Tensor  # [watched] float64


class _Play(NamedTuple):
    """What a player does now."""

    strategy: torch.Tensor  # [cells, X]
    reach: torch.Tensor  # [1 + cells, X] own, 1 where the street begins


class _Ends(NamedTuple):
    """Ends of one kind: T of them."""

    slots: tuple[torch.Tensor, torch.Tensor]  # [ends] of both players
    scales: tuple[torch.Tensor, torch.Tensor]  # [ends, B, 1]


class StreetLoop:
    """Subgames of one street with the same betting, pots and hands of their own; B of them, X hands a player in all."""

    def __init__(self, trees: Sequence[HoldemArrays], device: torch.device, dtype: torch.dtype) -> None:
        """Loads the trees.

        Args:
            trees: of one street each.
            device: of the tensors.
            dtype: of all that iterations work with.
        """
        first = trees[0]
        _check_trees(trees)
        street = first.street(0)
        self.device, self.dtype, self.num_subgames = device, dtype, len(trees)
        self.is_last = bool(street.is_last)
        self.widths = max(tree.num_rows(0, 0) for tree in trees), max(tree.num_rows(0, 1) for tree in trees)
        nodes = np.split(first.nodes, [street.num_nodes_0])
        self.betting = BettingRows(nodes[0], device), BettingRows(nodes[1], device)
        self.flats = self._load_ends([tree.flat_slot for tree in trees], [tree.flat_scale for tree in trees])
        self.folds = self._load_ends([tree.fold_slot for tree in trees], [tree.fold_scale for tree in trees])
        self.num_flats, self.num_folds = len(self.flats.slots[0]), len(self.folds.slots[0])
        hands = [[_holdings(tree, player) for tree in trees] for player in (0, 1)]
        self.match = tuple(
            HandMatch(
                hands[player],
                hands[1 - player],
                (self.widths[player], self.widths[1 - player]),
                has_showdowns=self.is_last,
                device=device,
                dtype=dtype,
            )
            for player in (0, 1)
        )
        self._rake: torch.Tensor | None = None
        if any(tree.flat_rake.size for tree in trees):
            size = self.num_flats
            rakes = [tree.flat_rake[:size] if tree.flat_rake.size else np.zeros(size) for tree in trees]
            self._rake = self.tensor(np.stack(rakes, 1)[:, :, None])

    def tensor(self, numbers: npt.ArrayLike) -> torch.Tensor:
        """Returns numbers on the device."""
        return torch.as_tensor(np.asarray(numbers), device=self.device, dtype=self.dtype)

    def load_reach(self, reaches: Sequence[FloatArray], player: int) -> torch.Tensor:
        """Returns `[X]` what a player's hands begin with, by subgame."""
        out = np.zeros((self.num_subgames, self.widths[player]))
        for row, given in zip(out, reaches, strict=True):
            row[: given.size] = given
        return self.tensor(out.ravel())

    def load_cells(self, tables: Sequence[npt.NDArray[np.floating]], player: int) -> torch.Tensor:
        """Returns `[cells, X]` a player's part of tables, given by subgame as trees keep it."""
        betting = self.betting[player]
        out = np.zeros((betting.num_cells, self.num_subgames, self.widths[player]))
        for index, table in enumerate(tables):
            rows = table.reshape(-1, betting.num_cells, TILE).transpose(1, 0, 2).reshape(betting.num_cells, -1)
            out[:, index, : rows.shape[1]] = rows[betting.cell_order]
        return self.tensor(out.reshape(betting.num_cells, -1))

    def store_cells(self, cells: torch.Tensor, player: int, tables: Sequence[npt.NDArray[np.floating]]) -> None:
        """Overwrites a player's part of tables, by subgame, with `cells` `[cells, X]`."""
        betting = self.betting[player]
        found = cells.reshape(betting.num_cells, self.num_subgames, -1).cpu().numpy()
        for index, table in enumerate(tables):
            num_rows = table.size // max(betting.num_cells, 1)
            rows = np.empty((betting.num_cells, num_rows), table.dtype)
            rows[betting.cell_order] = found[:, index, :num_rows]
            table[:] = rows.reshape(betting.num_cells, -1, TILE).transpose(1, 0, 2).reshape(-1)

    def iterate(
        self,
        rule: KernelRule,
        discounts: Sequence[Sequence[float]],
        tables: tuple[DeviceTables, DeviceTables],
        root_reach: Pair,
        *,
        first_t: int,
        is_alternating: bool,
        gates: DeviceGates | None = None,
        leaves: DeviceLeaves | None = None,
        watched: tuple[DeviceWatch, DeviceWatch] | None = None,
    ) -> None:
        """Runs one iteration per row of `discounts` and updates `tables`, `gates` and `watched` in place."""
        first = Fallback.UNIFORM if first_t == 1 else rule.fallback  # whatever the rule, the first strategy is uniform
        plays = [self._play(player, tables[player], first) for player in (0, 1)]
        for t, discount in enumerate(discounts, first_t):
            for active in ((0,), (1,)) if is_alternating else ((0, 1),):
                reach = self._enter(root_reach, gates)
                lines = self._ask(plays, reach, leaves)
                values = [self._value_slots(player, plays, reach, lines) for player in active]
                for player, (value, ends) in zip(active, values, strict=True):
                    self._update(player, plays[player], value, tables[player], rule, discount)
                    if watched is not None:
                        _watch(watched[player], torch.cat([value[:1], ends]), discount)
                    if gates is not None and gates.player == player:
                        entered = value[0].reshape(self.num_subgames, -1)
                        gates.take(entered.double(), rule, discount, t)
                for player in active:
                    plays[player] = self._play(player, tables[player], rule.fallback)

    def values(
        self, sums: Pair, root_reach: Pair, *, is_best: bool, leaves: DeviceLeaves | None = None
    ) -> tuple[torch.Tensor, ...]:
        """Returns `[X]` both players' values at the roots: what sums `[cells, X]` give, or best responses to it."""
        tables = [DeviceTables(own, own, None) for own in sums]
        plays = [self._play(player, tables[player], Fallback.UNIFORM) for player in (0, 1)]
        lines, found = self._ask(plays, root_reach, leaves), []
        for player in (0, 1):
            value, _ = self._value_slots(player, plays, root_reach, lines)
            if is_best:
                self.betting[player].respond(value)
            else:
                self.betting[player].back_up(plays[player].strategy, value)
            found.append(value[0])
        return tuple(found)

    def _load_ends(self, slots: Sequence[npt.NDArray[np.int32]], scales: Sequence[FloatArray]) -> _Ends:
        """Returns ends without the padding of packs."""
        by_player = [own.reshape(2, -1) for own in scales]
        size = 1 + max((int(np.flatnonzero(own.any(0)).max(initial=-1)) for own in by_player), default=-1)
        rows = slots[0].reshape(2, -1)
        where = [torch.as_tensor(self.betting[player].slot_row[rows[player, :size]]) for player in (0, 1)]
        amounts = [self.tensor(np.stack([own[player, :size] for own in by_player], 1)[:, :, None]) for player in (0, 1)]
        return _Ends((where[0].to(self.device), where[1].to(self.device)), (amounts[0], amounts[1]))

    def _play(self, player: int, tables: DeviceTables, fallback: Fallback) -> _Play:
        """Returns what regrets make a player do."""
        basis = tables.regret_sum if tables.last_regret is None else tables.regret_sum + tables.last_regret
        strategy = self.betting[player].play(basis, fallback)
        return _Play(strategy, self.betting[player].spread(strategy))

    def _enter(self, root_reach: Pair, gates: DeviceGates | None) -> Pair:
        """Returns what enters the subgames."""
        if gates is None:
            return root_reach
        entering = list(root_reach)
        entering[gates.player] = gates.reach.to(self.dtype).flatten()
        return entering[0], entering[1]

    def _ask(self, plays: Sequence[_Play], root_reach: Pair, leaves: DeviceLeaves | None) -> Pair | None:
        """Returns `[lines, X]` what lines that leave the street are worth to both; None if it is the last."""
        if self.is_last:
            return None
        if leaves is None:
            raise ConfigError("the street is not the last one: its lines need leaves")
        first, second = (
            plays[player].reach.index_select(0, self.flats.slots[player]) * root_reach[player] for player in (0, 1)
        )
        found = leaves.evaluate((first, second))
        return found[0].to(self.dtype), found[1].to(self.dtype)

    def _value_slots(
        self, player: int, plays: Sequence[_Play], root_reach: Pair, lines: Pair | None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Returns `[1 + cells, X]` what ends are worth by own slots, and `[ends, X]` showdowns or lines alone."""
        other, match, own_reach = 1 - player, self.match[player], plays[player].reach
        value = torch.zeros_like(own_reach)
        if lines is not None:
            ends = lines[player]
        else:
            reach = plays[other].reach.index_select(0, self.flats.slots[other]) * root_reach[other]
            ends = self._show_down(player, match, reach)
        value.index_add_(0, self.flats.slots[player], ends)
        if self.num_folds:
            reach = plays[other].reach.index_select(0, self.folds.slots[other]) * root_reach[other]
            value.index_add_(0, self.folds.slots[player], self._scale(match.count(reach), self.folds.scales[player]))
        return value, ends

    def _show_down(self, player: int, match: HandMatch, reach: torch.Tensor) -> torch.Tensor:
        """Returns `[ends, X]` what showdowns are worth for the other's reach `[ends, X]`."""
        won = match.compare(reach)
        if self._rake is not None:
            won = won - self._scale(match.count(reach), self._rake)
        return self._scale(won, self.flats.scales[player])

    def _scale(self, ends: torch.Tensor, factor: torch.Tensor) -> torch.Tensor:
        """Returns `[ends, X]` numbers times a factor `[ends, B, 1]` of end and subgame."""
        return (torch.unflatten(ends, 1, (self.num_subgames, -1)) * factor).flatten(1)

    def _update(
        self,
        player: int,
        play: _Play,
        value: torch.Tensor,
        tables: DeviceTables,
        rule: KernelRule,
        discount: Sequence[float],
    ) -> None:
        """Backs `value` up and takes it into `tables`."""
        betting = self.betting[player]
        expected = betting.back_up(play.strategy, value)
        instant = value[1:] - expected.index_select(0, betting.node_of_cell)
        positive, negative, decay, weight = discount[:4]
        stored = tables.regret_sum
        if positive != 1.0 or negative != 1.0:
            stored.copy_(torch.where(stored > 0, stored * positive, stored * negative))
        stored.add_(instant)
        if rule.floors_regrets:
            stored.clamp_(min=0.0)
        tables.strategy_sum.mul_(decay).add_(play.reach[1:], alpha=weight)
        if tables.last_regret is not None:
            tables.last_regret.copy_(instant)


def _watch(watched: DeviceWatch, values: torch.Tensor, discount: Sequence[float]) -> None:
    """Takes values `[1 + lines, X]` into what is watched of them."""
    seen = values.flatten()[watched.cells].double()
    watched.value_sum.mul_(discount[2]).add_(seen, alpha=discount[3])


def _holdings(tree: HoldemArrays, player: int) -> Holdings:
    board = tree.board(0)
    own = slice(board.first_hand[player], board.first_hand[player] + board.num_hands[player])
    cards, strength, same_hand = (each[own].astype(np.int64) for each in (tree.cards, tree.strength, tree.same_hand))
    return Holdings(cards=cards, strength=strength, same_hand=same_hand)


def _check_trees(trees: Sequence[HoldemArrays]) -> None:
    """Raises `ConfigError` unless these are single streets with the same betting."""
    first = trees[0]
    for tree in trees:
        if len(tree.boards) != 1 or tree.street(0).num_lines != 1:
            raise ConfigError("the loop on a device takes one street: the last one, or one that is cut at its end")
        names = ("streets", "nodes", "flat_slot", "fold_slot")
        if any(not np.array_equal(getattr(tree, name), getattr(first, name)) for name in names):
            raise ConfigError("subgames of a batch must have the same betting")
