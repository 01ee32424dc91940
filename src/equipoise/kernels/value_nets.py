# SPDX-License-Identifier: Apache-2.0
"""Value networks of hold'em in the native module: boards, what networks read off two ranges, and the forward pass.

All sums are exact or in an order that is written down, so that values are the same bits on every machine, in batches of
any size, with any number of threads, and for any names of the suits.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

import equipoise._native as _native
from equipoise.core.errors import ConfigError
from equipoise.kernels.arrays import arrays_by_name, check_array, check_axes, check_finite, check_range
from equipoise.kernels.calls import check_integer, check_num_threads

__all__ = [
    "BucketForm",
    "BucketKernel",
    "CurveAxes",
    "CurveKernel",
    "LayerArrays",
    "PerceptronKernel",
    "StateArrays",
    "ValueBoard",
    "ValueFeatures",
    "find_features",
]

NUM_CARDS: Final = 52
MAX_STRENGTH: Final = (1 << 14) - 1
MAX_BUCKETS: Final = 1 << 14
LANES: Final = 8  # segments that are read at once

FloatArray = npt.NDArray[np.float64]
SingleArray = npt.NDArray[np.float32]


class ValueBoard:
    """The live hands of a board from weak to strong."""

    def __init__(
        self, strength: npt.NDArray[np.uint16], cards: npt.NDArray[np.uint8], potential: SingleArray | None = None
    ) -> None:
        """Sorts the hands.

        Args:
            strength: `[H]` of the deck's hands, 0 for those that the board blocks.
            cards: `[H, 2]` of the deck's hands.
            potential: `[H]` a share of 1, for networks that look at it.
        """
        check_axes("strength", strength, 1)
        check_array("strength", strength, np.uint16, strength.shape)
        check_range("strength", strength, 0, MAX_STRENGTH + 1)
        check_array("cards", cards, np.uint8, (strength.size, 2))
        check_range("cards", cards, 0, NUM_CARDS)
        self.has_potential = potential is not None
        side = np.zeros(0, np.float32) if potential is None else potential
        if self.has_potential:
            check_array("potential", side, np.float32, strength.shape)
            check_finite("potential", side)
        self.bound = _native.ValueBoard(strength, cards, side)
        self.num_deck_hands = strength.size
        self.num_hands: int = self.bound.num_hands
        if self.num_hands == 0:
            raise ValueError("a board must leave a hand, all strengths are 0")
        self.order = np.empty(self.num_hands, np.uint16)  # numbers in the deck
        self.bound.order(self.order)

    def set_pairs(self, wins: npt.NDArray[np.int64], total: int) -> None:
        """Says how pairs fare before the river.

        Args:
            wins: `[n, n]` on how many run-outs the row's hand beats the column's, hands as in `order`.
            total: run-outs of two hands that share no card.
        """
        check_array("wins", wins, np.int64, (self.num_hands, self.num_hands))
        check_integer("total", total, 1)
        self.bound.set_pairs(wins, total)


class CurveAxes(NamedTuple):
    """How finely a curve network sees strength: cells, cells of potential, segments for blocked mass."""

    cells: int
    potential_cells: int
    segments: int

    def check(self) -> None:
        """Raises `ConfigError` unless the native module can read curves like these."""
        check_integer("cells", self.cells, 2, 4096)
        check_integer("potential_cells", self.potential_cells, 1, 256)
        check_integer("segments", self.segments, 0, 128)
        if self.segments % LANES:
            raise ConfigError(f"segments must be a multiple of {LANES}, got {self.segments}")


class StateArrays(NamedTuple):
    """Public states of one street, B of them, with both players' reaches, of which only the proportions matter."""

    boards: Sequence[ValueBoard]
    board_of: npt.NDArray[np.int32]  # [B] which of the boards; runs of the same one are faster
    reach: tuple[FloatArray, FloatArray]  # [B, H] of the deck's hands or [B, n] of the live ones

    def check(self, axes: CurveAxes) -> bool:
        """Raises if these are not states that the native module can read; returns whether reaches are the deck's."""
        axes.check()
        check_axes("reach", self.reach[0], 2)
        shape = self.reach[0].shape
        for own in self.reach:
            check_array("reach", own, np.float64, shape)
            check_finite("reach", own)
        check_array("board_of", self.board_of, np.int32, shape[:1])
        check_range("board_of", self.board_of, 0, len(self.boards))
        sizes = {(board.num_hands, board.num_deck_hands) for board in self.boards}
        if len(sizes) > 1 or not all(shape[1] in pair for pair in sizes):
            raise ValueError(f"reach must be of {sorted(sizes)} live hands or all, got shape {shape}")
        if axes.potential_cells > 1 and not all(board.has_potential for board in self.boards):
            raise ValueError("cells of potential need boards with potential")
        return shape[1] == self.boards[0].num_deck_hands if self.boards else True


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ValueFeatures:
    """What curve networks read off public states, by live hands in the order of the deck."""

    mass: SingleArray  # [B, 3, cells, sides] of both players and of all hands, by cell
    range: SingleArray  # [B, 2, n] normalised
    matched: SingleArray  # [B, 2, n] mass of the opponent that shares no card
    base: SingleArray  # [B, 2, n] half of wins less losses at a showdown, expected
    place: SingleArray  # [B, n] along cells of strength, 0 at the first one's centre
    segment: npt.NDArray[np.uint8]  # [B, n]
    card_mass: SingleArray  # [B, 2, 52, segments] mass of a player's hands with a card, by segment


def find_features(axes: CurveAxes, states: StateArrays) -> ValueFeatures:
    """Returns what curve networks read off public states."""
    is_by_deck = states.check(axes)
    num_states = states.reach[0].shape[0]
    num_hands = states.boards[0].num_hands if states.boards else 0
    out = ValueFeatures(
        mass=np.empty((num_states, 3, axes.cells, axes.potential_cells), np.float32),
        range=np.empty((num_states, 2, num_hands), np.float32),
        matched=np.empty((num_states, 2, num_hands), np.float32),
        base=np.empty((num_states, 2, num_hands), np.float32),
        place=np.empty((num_states, num_hands), np.float32),
        segment=np.empty((num_states, num_hands), np.uint8),
        card_mass=np.empty((num_states, 2, NUM_CARDS, axes.segments), np.float32),
    )
    boards = [board.bound for board in states.boards]
    first, second = states.reach
    _native.value_features(
        list(axes),
        boards,
        board_of=states.board_of,
        first_reach=first,
        second_reach=second,
        is_by_deck=is_by_deck,
        out=arrays_by_name(out),
    )
    return out


class LayerArrays(NamedTuple):
    """One layer of a perceptron."""

    weight: SingleArray  # [inputs, outputs]
    bias: SingleArray  # [outputs]
    slope: SingleArray | None = None  # [outputs] of PReLU below zero; None: the layer is linear
    is_residual: bool = False  # its input is added to what comes out

    @property
    def native_arguments(self) -> dict[str, Any]:
        """Returns it by the names that the native module knows; no slope is an empty one."""
        return self._replace(slope=np.zeros(0, np.float32) if self.slope is None else self.slope)._asdict()


class _NetKernel:
    """Weights of a network, ready to be asked."""

    def __init__(
        self,
        bound: Any,
        axes: CurveAxes,
        layers: Sequence[LayerArrays],
        *,
        num_inputs: int,
        num_outputs: int,
        num_extra: int,
    ) -> None:
        """Copies the weights; `num_extra` of the inputs come with a state."""
        self._bound, self._axes, self.num_extra = bound, axes, num_extra
        _add_layers(bound, layers, num_inputs, num_outputs)

    def _evaluate(
        self,
        states: StateArrays,
        bucket: npt.NDArray[np.uint16],
        extra: SingleArray,
        share: SingleArray | None,
        scale: FloatArray | None,
        num_threads: int,
    ) -> tuple[FloatArray, FloatArray]:
        is_by_deck = states.check(self._axes)
        check_num_threads(num_threads)
        shape = states.reach[0].shape
        share = np.ones(shape[0], np.float32) if share is None else share
        scale = np.ones(shape[0]) if scale is None else scale
        check_array("extra", extra, np.float32, (shape[0], self.num_extra))
        check_array("share", share, np.float32, shape[:1])
        check_array("scale", scale, np.float64, shape[:1])
        out = np.empty(shape), np.empty(shape)
        boards = [board.bound for board in states.boards]
        self._bound.evaluate(
            boards,
            board_of=states.board_of,
            first_reach=states.reach[0],
            second_reach=states.reach[1],
            is_by_deck=is_by_deck,
            bucket=bucket,
            extra=extra,
            share=share,
            scale=scale,
            num_threads=num_threads,
            first_out=out[0],
            second_out=out[1],
        )
        return out


class CurveKernel(_NetKernel):
    """The weights of a curve network, ready to be asked."""

    def __init__(self, axes: CurveAxes, num_extra: int, layers: Sequence[LayerArrays]) -> None:
        """Copies the weights.

        Args:
            axes: of its curves.
            num_extra: inputs that come with a state.
            layers: inputs are square roots of masses (of both players, and of all hands where potential matters),
                then middles of cells in three distributions of strength, then the extra ones; outputs
                `[cells, sides, 2, 1 + segments]`, sides being cells of potential.
        """
        axes.check()
        num_masses = 3 if axes.potential_cells > 1 else 2
        num_cells = axes.cells * axes.potential_cells
        super().__init__(
            _native.ValueNet.of_curves(list(axes), num_extra),
            axes,
            layers,
            num_inputs=num_masses * num_cells + 3 * axes.cells + num_extra,
            num_outputs=num_cells * 2 * (1 + axes.segments),
            num_extra=num_extra,
        )

    def evaluate(
        self,
        states: StateArrays,
        extra: SingleArray,
        *,
        share: SingleArray | None = None,
        scale: FloatArray | None = None,
        num_threads: int = 1,
    ) -> tuple[FloatArray, FloatArray]:
        """Returns both players' values, of the shape of their reaches, times the opponent's reach.

        Args:
            states: are valued.
            extra: `[B, num_extra]` inputs that come with them.
            share: `[B]` how much of the network counts, 0: showdowns alone; all of it if None.
            scale: `[B]` what values are multiplied by, nothing if None.
            num_threads: side by side.
        """
        return self._evaluate(states, np.zeros(0, np.uint16), extra, share, scale, num_threads)


class BucketForm(NamedTuple):
    """How a bucket network sees hands and what its outputs are."""

    num_buckets: int
    takes_roots: bool  # of masses, not the masses themselves
    adds_equity: bool  # outputs are added to what a showdown pays, else they stand for all of it
    times_mass: bool  # they speak of a unit of mass that a hand can meet


class BucketKernel(_NetKernel):
    """The weights of a bucket network, ready to be asked."""

    def __init__(self, form: BucketForm, num_extra: int, layers: Sequence[LayerArrays]) -> None:
        """Copies the weights.

        Args:
            form: what inputs and outputs are.
            num_extra: inputs that come with a state.
            layers: inputs are masses of buckets of both players and the extra ones, outputs `[2, buckets]`.
        """
        check_integer("num_buckets", form.num_buckets, 1, MAX_BUCKETS)
        self.form = form
        super().__init__(
            _native.ValueNet.of_buckets(*form, num_extra),
            CurveAxes(2, 1, 0),
            layers,
            num_inputs=2 * form.num_buckets + num_extra,
            num_outputs=2 * form.num_buckets,
            num_extra=num_extra,
        )

    def evaluate(
        self,
        states: StateArrays,
        bucket: npt.NDArray[np.uint16],
        extra: SingleArray,
        *,
        share: SingleArray | None = None,
        scale: FloatArray | None = None,
        num_threads: int = 1,
    ) -> tuple[FloatArray, FloatArray]:
        """Returns both players' values, of the shape of their reaches, times the opponent's reach.

        Args:
            states: are valued.
            bucket: `[boards, H]` of the deck's hands; those that a board blocks may have any.
            extra: `[B, num_extra]` inputs that come with them.
            share: `[B]` how much of the network counts; all of it if None.
            scale: `[B]` what values are multiplied by, nothing if None.
            num_threads: side by side.
        """
        num_hands = states.boards[0].num_deck_hands if states.boards else 0
        check_array("bucket", bucket, np.uint16, (len(states.boards), num_hands))
        check_range("bucket", bucket, 0, self.form.num_buckets)
        return self._evaluate(states, bucket, extra, share, scale, num_threads)


class PerceptronKernel:
    """Layers one after the other, ready to be run."""

    def __init__(self, num_inputs: int, num_outputs: int, layers: Sequence[LayerArrays]) -> None:
        """Copies the weights."""
        self.num_inputs, self.num_outputs = num_inputs, num_outputs
        self._bound = _native.Perceptron()
        _add_layers(self._bound, layers, num_inputs, num_outputs)

    def run(self, inputs: SingleArray) -> SingleArray:
        """Returns `[B, outputs]` for `[B, inputs]`."""
        check_axes("inputs", inputs, 2)
        check_array("inputs", inputs, np.float32, (inputs.shape[0], self.num_inputs))
        out = np.empty((inputs.shape[0], self.num_outputs), np.float32)
        self._bound.run(inputs=inputs, out=out)
        return out


def _add_layers(bound: Any, layers: Sequence[LayerArrays], num_inputs: int, num_outputs: int) -> None:
    """Hands the weights over, checked to fit."""
    width = num_inputs
    for place, layer in enumerate(layers):
        check_axes(f"weight of layer {place}", layer.weight, 2)
        shape = (width, layer.weight.shape[1] if place < len(layers) - 1 else num_outputs)
        slope = np.zeros(0, np.float32) if layer.slope is None else layer.slope
        check_array(f"weight of layer {place}", layer.weight, np.float32, shape)
        check_array(f"bias of layer {place}", layer.bias, np.float32, shape[1:])
        check_array(f"slope of layer {place}", slope, np.float32, shape[1:] if layer.slope is not None else (0,))
        for numbers in (layer.weight, layer.bias, slope):
            check_finite(f"weights of layer {place}", numbers)
        if layer.is_residual and shape[0] != shape[1]:
            raise ValueError(f"layer {place} is residual and must be square, got {shape}")
        bound.add_layer(**layer.native_arguments)
        width = shape[1]
    if not layers:
        raise ValueError("a network has at least one layer")
