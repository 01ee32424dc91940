# SPDX-License-Identifier: Apache-2.0
"""Lines that leave a street valued by a network in the same loop: from reaches to values without leaving the device.

The features are those of `native/value_features.hpp`, by matrices and cumulative sums; masses are rounded as there, so
that cells, places and segments are the same to the bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

import numpy as np

from equipoise.core.errors import ConfigError
from equipoise.kernels.buckets import NUM_CARDS
from equipoise.learning.device.loop import Pair
from equipoise.learning.torch_extra import torch
from equipoise.learning.values.boards import BoardFacts, shared_boards
from equipoise.learning.values.bucket_net import BucketNet, BucketTensors
from equipoise.learning.values.buckets import BucketSource, find_buckets
from equipoise.learning.values.configuration import NetStage, ValueNetConfig
from equipoise.learning.values.curve_net import CurveNet, CurveTensors
from equipoise.trees.holdem.tree import HoldemTree

__all__ = ["NetworkLines"]

SIDES: Final[tuple[Literal["left", "right"], ...]] = ("left", "right")
MAX_UNIT: Final = 44  # run-outs are counted in at most so many steps, as the native module does
FINE_WEIGHT, MOST_PEAKED = 32767.0, 128.0  # weights of pairs are this fine unless a hand is so many times the mean


class NetworkLines:
    """What a network at the end of a street says of all lines that leave it, in B subgames with the same betting."""

    def __init__(
        self,
        net: CurveNet | BucketNet,
        trees: Sequence[HoldemTree],
        *,
        device: str | torch.device = "cpu",
        buckets: BucketSource | None = None,
    ) -> None:
        """Loads network and boards.

        Args:
            net: of the end of the trees' street.
            trees: of that street alone.
            device: of the tensors.
            buckets: of a bucket network, those of its configuration if None.
        """
        self.net, self.config, self.device = net.to(device).eval(), net.config, torch.device(device)
        self.dtype = next(net.parameters()).dtype  # single as trained; double tells rounding from mistakes
        for tree in trees:
            _check(net.config, tree)
        self.facts = shared_boards(net.config.cards).find([tree.spot.board for tree in trees])
        states = [[tree.betting.nodes[node].state for node in tree.leaving_nodes()] for tree in trees]
        pot = np.array([[2 * min(state.committed) for state in own] for own in states], np.float64).T  # [lines, B]
        left = np.array([[min(state.stacks) for state in own] for own in states], np.float64).T
        self._pot = self._load(pot[:, :, None])
        ratio = (left / pot).ravel()
        self._extra, self._share = (
            torch.as_tensor(each, dtype=self.dtype, device=self.device)
            for each in (self.config.encode_ratios(ratio), self.config.share(ratio))
        )
        self._places = [self._find_places(trees, player) for player in (0, 1)]
        self._load_boards()
        if isinstance(net, BucketNet):
            source = buckets or find_buckets(net.config)
            found = np.stack([source.assign(facts.board)[facts.hands] for facts in self.facts])
            self._bucket = torch.as_tensor(found.astype(np.int64), device=self.device)  # [B, n]

    def evaluate(self, reach: Pair) -> Pair:
        """Returns both players' values `[lines, X]` of lines for their reaches `[lines, X]`."""
        held = [self._spread(own, player) for player, own in enumerate(reach)]  # [lines, B, n]
        ranges = torch.stack([_round_range(own) for own in held], 2)  # [lines, B, 2, n]
        value = self.net(self._describe(ranges)).view(ranges.shape).double()
        out = []
        for player in (0, 1):
            cfv = self._pot * value[:, :, player] * held[1 - player].sum(2, keepdim=True)
            padded = torch.nn.functional.pad(cfv, (0, 1))
            places = self._places[player].expand(len(cfv), -1, -1)
            out.append(padded.gather(2, places).flatten(1).to(reach[player].dtype))
        return out[0], out[1]

    def _load(self, numbers: np.typing.ArrayLike) -> torch.Tensor:
        return torch.as_tensor(np.asarray(numbers, np.float64), device=self.device)

    def _find_places(self, trees: Sequence[HoldemTree], player: int) -> torch.Tensor:
        """Returns `[B, H]` which live hand of its board each row is, n for padding."""
        width = max(tree.arrays.num_rows(0, player) for tree in trees)
        out = np.full((len(trees), width), self.facts[0].num_hands)
        for row, tree, facts in zip(out, trees, self.facts, strict=True):
            hands = tree.hands[0][player]
            row[: hands.size] = np.searchsorted(facts.hands, hands)
        return torch.as_tensor(out, device=self.device)

    def _load_boards(self) -> None:
        """Loads strengths, cards and what pairs of hands are worth."""
        facts, n = self.facts, self.facts[0].num_hands
        keys = np.stack([each.key for each in facts])
        order = np.argsort(keys, axis=1, kind="stable")
        bounds = [[np.searchsorted(np.sort(key), key, side) for key in keys] for side in SIDES]
        self._order, self._begin, self._end = (
            torch.as_tensor(np.asarray(each), device=self.device) for each in (order, bounds[0], bounds[1])
        )
        cards = np.stack([each.cards for each in facts]).astype(np.int64)
        held = np.zeros((len(facts), n, NUM_CARDS))
        np.put_along_axis(held, cards, 1.0, axis=2)
        self._cards, self._held = torch.as_tensor(cards, device=self.device), self._load(held)
        potential = np.stack([np.zeros(n, np.float32) if each.potential is None else each.potential for each in facts])
        across = np.float32(self.config.potential_cells)
        sides = np.clip(potential * across - np.float32(0.5), 0, across - 1)
        self._side = torch.as_tensor(sides.astype(np.float32), dtype=self.dtype, device=self.device)
        side_cell = np.minimum((potential * across).astype(np.int64), self.config.potential_cells - 1)
        self._side_cell = torch.as_tensor(side_cell, device=self.device)
        self._pairs = self._load(np.stack([_count_pairs(each) for each in facts]))

    def _spread(self, reach: torch.Tensor, player: int) -> torch.Tensor:
        """Returns `[lines, B, n]` reaches `[lines, X]` of live hands in the order of the deck."""
        rows = torch.unflatten(reach.double(), 1, (len(self.facts), -1))
        out = rows.new_zeros((*rows.shape[:2], self.facts[0].num_hands + 1))
        return out.scatter_(2, self._places[player].expand(len(rows), -1, -1), rows)[:, :, :-1]

    def _describe(self, ranges: torch.Tensor) -> CurveTensors | BucketTensors:
        """Returns what the network sees of ranges `[lines, B, 2, n]`."""
        both = {"extra": self._extra, "share": self._share, "range": ranges.flatten(0, 1).to(self.dtype)}
        other = ranges.flip(2)
        blocked = other @ self._held @ self._held.transpose(1, 2)
        both["matched"] = (other.sum(3, keepdim=True) - blocked + other).flatten(0, 1).to(self.dtype)
        both["base"] = (_round_weights(other) @ self._pairs.transpose(1, 2)).flatten(0, 1).to(self.dtype)
        if isinstance(self.net, BucketNet):
            bucket = self._bucket[None, :, None].expand(len(ranges), -1, 2, -1)
            return BucketTensors(**both, bucket=bucket.flatten(0, 1))
        return CurveTensors(**both, **self._place(ranges))

    def _place(self, ranges: torch.Tensor) -> dict[str, torch.Tensor]:
        """Returns where hands stand among both ranges `[lines, B, 2, n]` and all hands, and what cells hold."""
        cells, across, segments = self.config.axes
        even = torch.full_like(ranges[:, :, :1], 1.0 / ranges.shape[3])
        mixture = torch.cat([ranges, even], 2)
        sums = ranges.gather(3, self._order[None, :, None].expand(ranges.shape)).cumsum(3)
        sums = torch.nn.functional.pad(sums, (1, 0))
        begin, end = (sums.gather(3, at[None, :, None].expand(ranges.shape)) for at in (self._begin, self._end))
        num_hands, size = ranges.shape[3], self._end - self._begin
        half = begin + 0.5 * (end - begin)
        # of all hands the number is counted, and terms are added in the native module's order
        middle = (half[:, :, 0] + half[:, :, 1] + (self._begin + 0.5 * size) / num_hands) / 3.0
        group = (end[:, :, 0] - begin[:, :, 0] + (end[:, :, 1] - begin[:, :, 1]) + size / num_hands) / 3.0
        cell = (middle * cells).long().clamp(max=cells - 1)
        place = torch.where(group > 0.5 / cells, cell.double(), (middle * cells - 0.5).clamp(0.0, cells - 1.0))
        at = (cell * across + self._side_cell)[:, :, None].expand(mixture.shape)
        mass = mixture.new_zeros((*mixture.shape[:3], cells * across)).scatter_add_(3, at, mixture)
        segment = (middle * segments).long().clamp(max=max(segments - 1, 0))
        found = {
            "mass": torch.unflatten(mass, 3, (cells, across)).to(self.dtype),
            "place": place.to(self.dtype),
            "segment": segment,
        }
        shown = torch.nn.functional.one_hot(segment, max(segments, 1))[..., :segments]
        spread = ranges[..., None] * shown[:, :, None]  # [lines, B, 2, n, segments]
        found["card_mass"] = (self._held.transpose(1, 2)[:, None] @ spread).to(self.dtype)
        found["side"] = self._side.expand(len(ranges), -1, -1)
        found["cards"] = self._cards.expand(len(ranges), -1, -1, -1)
        return {name: tensor.flatten(0, 1) for name, tensor in found.items()}


def _round_range(reach: torch.Tensor) -> torch.Tensor:
    """Returns ranges `[lines, B, n]` in multiples of 2^-32; all hands alike without any reach."""
    most = reach.amax(2, keepdim=True)
    weight = torch.round(reach.clamp(min=0.0) / most * 2.0**40)
    scaled = torch.round(weight * (2.0**32 / weight.sum(2, keepdim=True))) * 2.0**-32
    return torch.where(most > 0, scaled, round(2.0**32 / reach.shape[2]) * 2.0**-32)


def _round_weights(ranges: torch.Tensor) -> torch.Tensor:
    """Returns ranges `[lines, B, 2, n]` as the native module weighs pairs with them."""
    most = ranges.amax(3, keepdim=True)
    rounded = torch.round(ranges / most * FINE_WEIGHT) * (most / FINE_WEIGHT)
    is_peaked = most.amax(2, keepdim=True) * ranges.shape[3] > MOST_PEAKED
    return torch.where(is_peaked, ranges, rounded)


def _count_pairs(facts: BoardFacts) -> np.typing.NDArray[np.float64]:
    """Returns `[n, n]` what a showdown pays the row's hand against the column's, in pots."""
    ahead, num_runouts = facts.count_ahead()
    unit = min(num_runouts, MAX_UNIT)
    counts: np.typing.NDArray[np.float64] = np.rint(ahead * (unit / num_runouts)) * (0.5 / unit)
    return counts


def _check(config: ValueNetConfig, tree: HoldemTree) -> None:
    """Raises `ConfigError` unless the network values what leaves the tree."""
    config.check_deck(tree.spot.deck)
    is_there = len(tree.spot.board) == config.street.num_board_cards
    if not is_there or config.stage is not NetStage.END:
        street = config.street.name.lower()
        raise ConfigError(f"lines leave before the next card, the network values the {config.stage} of the {street}")
