# SPDX-License-Identifier: Apache-2.0
"""Value networks by plain loops in double precision: the twin of native/value_nets.hpp and what it includes."""

import itertools
import math

import numpy as np

from equipoise.games.holdem.cards import FULL_DECK
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.strength import evaluate_boards


def round_range(reach):
    """Returns a range in multiples of 2^-32, even if there is no reach."""
    if not reach.max() > 0:
        return np.full(reach.size, np.rint(2.0**32 / reach.size) * 2.0**-32)
    weight = np.rint(reach / reach.max() * 2.0**40)
    return np.rint(weight * (2.0**32 / weight.sum())) * 2.0**-32


def find_quantiles(values):
    return np.array([np.mean(values < own) + 0.5 * np.mean(values == own) for own in values])


class ReferenceBoard:
    """Live hands of a board: strengths on every run-out, and what follows from them."""

    def __init__(self, board, deck=FULL_DECK):
        hands = hands_of(deck)
        left = [card for card in deck.cards if card not in board]
        runouts = [sorted([*board, *new]) for new in itertools.combinations(left, 5 - len(board))]
        self.hands = np.flatnonzero(~hands.blocked(board))
        self.cards = hands.cards[self.hands].astype(int)
        strengths = evaluate_boards(np.array(runouts, np.uint8), deck)[:, self.hands].astype(int)
        first, second = self.cards[:, None], self.cards[None]
        self.is_apart = ~(first[..., None] == second[..., None, :]).any(axis=(2, 3))
        self.ahead = np.zeros(self.is_apart.shape)  # wins less losses
        level_sum, square_sum = np.zeros(len(self.hands), int), np.zeros(len(self.hands), int)
        for own in strengths:
            both = (own[:, None] > 0) & (own[None] > 0) & self.is_apart
            sign = np.sign(own[:, None] - own[None]) * both
            self.ahead += sign
            level = np.where(own > 0, (both + sign).sum(axis=1), 0)
            level_sum += level
            square_sum += level**2
        self.num_runouts = math.comb(deck.num_cards - 4 - len(board), 5 - len(board))
        self.is_river = len(board) == 5
        self.key = strengths[0] if self.is_river else level_sum
        num_met = (strengths > 0).sum(axis=0)
        self.potential = find_quantiles(num_met * square_sum - level_sum**2)


class ReferenceState:
    """Features of two ranges on a board, by cells of strength, cells of potential and segments."""

    def __init__(self, board, reach, axes):
        cells, across, segments = axes
        n = len(board.hands)
        self.board, self.axes = board, axes
        self.range = np.stack([round_range(own) for own in reach])
        mixture = [*self.range, np.full(n, 1.0 / n)]
        below = np.array([[own[board.key < key].sum() for key in board.key] for own in mixture])
        group = np.array([[own[board.key == key].sum() for key in board.key] for own in mixture])
        middle = (below + 0.5 * group).mean(axis=0)
        cell = np.minimum((middle * cells).astype(int), cells - 1)
        is_wide = group.mean(axis=0) > 0.5 / cells
        self.place = np.where(is_wide, cell, np.clip(middle * cells - 0.5, 0, cells - 1))
        self.side = np.clip(board.potential * across - 0.5, 0, across - 1)
        side_cell = np.minimum((board.potential * across).astype(int), across - 1)
        self.mass = np.zeros((3, cells, across))
        for k, own in enumerate(mixture):
            np.add.at(self.mass[k], (cell, side_cell), own)
        self.segment = np.minimum((middle * segments).astype(int), segments - 1) if segments else np.zeros(n, int)
        self.matched = np.stack([board.is_apart @ own for own in self.range[::-1]])
        self.base = self._showdowns()
        self.blocked = np.zeros((2, n, segments))
        for player, k in itertools.product((0, 1), range(segments)):
            held = np.where(self.segment == k, self.range[1 - player], 0.0)
            self.blocked[player, :, k] = ~board.is_apart @ held - held.sum() * (1.0 - self.matched[player])

    def _showdowns(self):
        if self.board.is_river:
            return 0.5 * np.stack([self.board.ahead @ own for own in self.range[::-1]])
        # counts of at most 44, weights of 16 bits, or of 32 where a hand is 128 times the mean
        unit = min(self.board.num_runouts, 44)
        counts = np.rint(self.board.ahead * (unit / self.board.num_runouts))
        weights = self.range
        if self.range.max() * self.range.shape[1] <= 128:
            weights = [np.rint(own / own.max() * 32767.0) * (own.max() / 32767.0) for own in self.range]
        return 0.5 / unit * np.stack([counts @ own for own in weights[::-1]])

    def inputs(self, extra):
        """Returns what the perceptron is shown."""
        num_cells = self.mass[0].size
        shown = self.mass if self.axes[1] > 1 else self.mass[:2]
        strength = self.mass.sum(axis=2)
        middle = 2.0 * (np.cumsum(strength, axis=1) - 0.5 * strength) - 1.0
        return np.concatenate([np.sqrt(num_cells * shown).ravel(), middle.ravel(), extra])

    def values(self, layers, extra, share=1.0):
        """Returns `[2, n]` values in pots for layers of weight, bias, slope and whether they are residual."""
        cells, across, segments = self.axes
        curves = run_layers(layers, self.inputs(extra)).reshape(cells, across, 2, 1 + segments)
        rows = interpolate(interpolate(curves, self.place)[np.arange(len(self.place))], self.side, axis=1)
        value = self.matched * rows[:, :, 0].T + (rows[:, :, 1:].transpose(1, 0, 2) * self.blocked).sum(axis=2)
        return make_zero_sum(self.base + share * value, self.range, self.matched)


def interpolate(curves, place, axis=0):
    """Returns curves between cells: `[n, ...]`, row i at place i (of its own curves if `axis` is 1)."""
    size = curves.shape[axis]
    if size == 1:
        return curves[:, 0]
    cell = np.minimum(place.astype(int), size - 2)
    part = (place - cell).reshape(-1, *[1] * (curves.ndim - 1 - axis))
    if axis == 0:
        return (1.0 - part) * curves[cell] + part * curves[cell + 1]
    rows = np.arange(len(place))
    return (1.0 - part) * curves[rows, cell] + part * curves[rows, cell + 1]


def run_layers(layers, inputs):
    hidden = np.asarray(inputs, float)
    for layer in layers:
        found = hidden @ layer.weight.astype(float) + layer.bias
        if layer.slope is not None:
            found = np.where(found > 0, found, layer.slope * found)
        hidden = hidden + found if layer.is_residual else found
    return hidden


def make_zero_sum(values, ranges, matched):
    left = (ranges * values).sum()
    met = ranges[0] @ matched[0]
    return values - left * matched / (2.0 * met) if met > 0 else values
