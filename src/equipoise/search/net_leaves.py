# SPDX-License-Identifier: Apache-2.0
"""Networks of values and policies at the leaves of trees: one row of a batch for each public state.

Trees that grow ask them within the core, where what is known of public states is kept as pages of a book; everything
else asks in NumPy, values to the same bits.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from equipoise.kernels.arithmetic import exponential
from equipoise.kernels.frontier import BeliefBatch, LeafValues
from equipoise.kernels.public_nets import PublicBook, PublicNetKernel, StateInputs
from equipoise.kernels.value_nets import LayerArrays, PerceptronKernel
from equipoise.search.public_features import PublicFeatures
from equipoise.search.rule_book import RuleBook

__all__ = ["NetLeaves", "RunBook", "draw_leaves"]

FloatArray = npt.NDArray[np.float64]
SingleArray = npt.NDArray[np.float32]

MOST_PAGES: Final = 100_000  # of a book; a new one is begun then
LEAST_MASS: Final = 1e-20  # of a player's reach, below which its range is even


class RunBook:
    """Public states of a game by number, as runs within the core know them."""

    def __init__(self, rules: RuleBook, features: PublicFeatures) -> None:
        """Begins with no state."""
        self.rules, self.features = rules, features
        self.pages = PublicBook(features.sizes)
        self.states: list[Any] = []
        self._number: dict[Any, int] = {}

    def number(self, state: Any) -> int:
        """Returns the number of a public state."""
        found = self._number.get(state)
        if found is None:
            found = self.pages.add_page(self.rules.facts(state), self.scaled_inputs(state))
            self._number[state] = found
            self.states.append(state)
        return found

    def scaled_inputs(self, state: Any) -> StateInputs:
        """Returns what a network is told, its unit for reaches beside chance's weights of the likeliest pair."""
        inputs = self.features.inputs(state)
        most = float(self.rules.facts(state).joint.max(initial=0.0))
        return dataclasses.replace(inputs, unit=inputs.unit * (most or 1.0))

    def look_up(self, number: int, edges: Sequence[int]) -> None:
        """Finds out what follows a public state, or which states some edges of it lead to."""
        opening, children = self.rules.opening(self.states[number])
        if not edges:
            self.pages.open_page(number, opening)
        for edge in edges:
            self.pages.set_child(number, edge, self.number(children[edge]))


class NetLeaves:
    """A network at the leaves: `LeafEvaluator` with policies, asked within the core by trees that grow.

    Paper: Schmid et al. 2021, "Player of Games", arXiv:2112.03178, section 3.1 (values and policies by one network).
    Symbols: beta -> features and ranges; v, p -> `LeafValues`.
    Departs from the paper: ranges are given in sum 1 (or their square roots), values come in units of the other
        player's reach and of the game's stake, and what both players' values come to together is taken off evenly.
    Checked by: tests/search/test_net_leaves.py.
    """

    def __init__(self, features: PublicFeatures, layers: Sequence[LayerArrays], *, takes_roots: bool = True) -> None:
        """Keeps the weights.

        Args:
            features: of the game.
            layers: inputs and outputs as `PublicSizes` orders them.
            takes_roots: whether square roots of ranges are given.
        """
        self.features, self.takes_roots = features, takes_roots
        self.kernel = PublicNetKernel(features.sizes, layers, takes_roots=takes_roots)
        self._layers = layers
        self._book: RunBook | None = None

    def book(self, rules: RuleBook) -> RunBook:
        """Returns the public states of a game that are known so far."""
        if self._book is None or self._book.rules.game is not rules.game or len(self._book.states) > MOST_PAGES:
            self._book = RunBook(rules, self.features)
        return self._book

    def share_book(self, other: NetLeaves) -> None:
        """Takes over what is known of public states from the same network with other weights."""
        if other.features is self.features:
            self._book = other._book

    def evaluate(self, batch: BeliefBatch) -> LeafValues:
        """Returns values and policies."""
        sizes = self.features.sizes
        rows = np.zeros((len(batch.states), sizes.num_inputs), np.float32)
        inputs = [self.features.inputs(state) for state in batch.states]
        shares, masses = [], np.zeros((len(inputs), 2))
        for row, told in enumerate(inputs):
            rows[row, told.feature] = told.amount
            shares.append(self._write(rows[row], told, batch, row, masses[row]))
        found = PerceptronKernel(sizes.num_inputs, sizes.num_outputs, self._layers).run(rows)
        cfv = np.zeros(batch.reach[0].shape), np.zeros(batch.reach[1].shape)
        for row, told in enumerate(inputs):
            said = [found[row, first + told.places[player]].astype(np.float64) for player, first in self._firsts()]
            left = sum((_add_up(said[player] * shares[row][player]) for player in (0, 1)), 0.0)
            unit = told.unit * (float(batch.joint[row].pairs().max(initial=0.0)) or 1.0)
            for player in (0, 1):
                cfv[player][row, : said[player].size] = (said[player] - 0.5 * left) * (unit * masses[row, 1 - player])
        return LeafValues(cfv, self._priors(found, inputs))

    def _firsts(self) -> tuple[tuple[int, int], tuple[int, int]]:
        return (0, 0), (1, self.features.sizes.places[0])

    def _write(
        self, row: SingleArray, told: StateInputs, batch: BeliefBatch, number: int, mass: FloatArray
    ) -> list[FloatArray]:
        """Writes both players' ranges into a row of inputs; returns them."""
        shares = []
        for player, first in self._firsts():
            count = told.places[player].size
            reach = batch.reach[player][number, :count]
            mass[player] = _add_up(reach)
            share = reach / mass[player] if mass[player] > LEAST_MASS else np.full(count, 1.0 / count)
            given = share.astype(np.float32)
            row[self.features.sizes.features + first + told.places[player]] = (
                np.sqrt(given) if self.takes_roots else given
            )
            shares.append(share)
        return shares

    def _priors(self, found: SingleArray, inputs: Sequence[StateInputs]) -> FloatArray:
        """Returns `[B, H, A]` what actions weigh, in sum 1 once those that are not legal are left out."""
        sizes = self.features.sizes
        rows = max(places.size for told in inputs for places in told.places)
        out = np.zeros((len(inputs), rows, max(1, *(told.actions.size for told in inputs))))
        for row, told in enumerate(inputs):
            if told.actor < 0:
                continue
            places = told.places[told.actor]
            first = sizes.first_policy(told.actor) + places * sizes.actions[told.actor]
            logits = found[row, first[:, None] + told.actions].astype(np.float64)
            shares = exponential(logits - logits.max(axis=1, keepdims=True))
            out[row, : places.size, : told.actions.size] = shares
        return out


def draw_leaves(
    features: PublicFeatures,
    *,
    hidden: int = 128,
    layers: int = 3,
    takes_roots: bool = True,
    rng: np.random.Generator,
) -> NetLeaves:
    """Returns a network that knows nothing: its weights are drawn.

    Args:
        features: of the game.
        hidden: units of a layer.
        layers: hidden ones.
        takes_roots: whether square roots of ranges are given.
        rng: draws the weights.

    >>> from equipoise.games import make_game
    >>> from equipoise.search.public_features import find_features
    >>> from equipoise.trees import derive_public_game
    >>> game = make_game("kuhn")
    >>> found = draw_leaves(find_features(game, derive_public_game(game)), hidden=8, rng=np.random.default_rng(0))
    >>> found.features.sizes.num_inputs
    15
    """
    widths = [features.sizes.num_inputs, *[hidden] * layers, features.sizes.num_outputs]
    drawn = []
    for place, (before, after) in enumerate(itertools.pairwise(widths)):
        weight = (rng.standard_normal((before, after)) / np.sqrt(before)).astype(np.float32)
        bias = (0.1 * rng.standard_normal(after)).astype(np.float32)
        slope = np.full(after, 0.25, np.float32) if place < layers else None
        drawn.append(LayerArrays(weight, bias, slope, is_residual=False))
    return NetLeaves(features, drawn, takes_roots=takes_roots)


def _add_up(numbers: FloatArray) -> float:
    """Returns a sum, added up one by one as in the core."""
    return float(np.cumsum(numbers)[-1]) if numbers.size else 0.0
