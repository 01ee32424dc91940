# SPDX-License-Identifier: Apache-2.0
"""Trees that grow within the core, their leaves rows of one batch of a network: books of public states, runs.

What a book knows of a game comes from the caller, page by page; a run stops where it needs to know more.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

import equipoise._native as _native
from equipoise.core.errors import ConfigError
from equipoise.kernels.arrays import check_array, check_finite, check_generator, check_range
from equipoise.kernels.calls import check_integer
from equipoise.kernels.gates import RootGate, gate_memory
from equipoise.kernels.growing import NO_PAYOFFS, GrowingArena, NodeFacts, Opening
from equipoise.kernels.rules import check_discounts
from equipoise.kernels.value_nets import LayerArrays

__all__ = ["GrowingRun", "PublicBook", "PublicNetKernel", "PublicSizes", "RunBudget", "StateInputs"]

NOTHING: Final = -1

IntArray = npt.NDArray[np.int32]
SingleArray = npt.NDArray[np.float32]
FloatArray = npt.NDArray[np.float64]


class PublicSizes(NamedTuple):
    """What a network of public states takes and says."""

    features: int  # of a public state
    places: tuple[int, int]  # for private states, by player
    actions: tuple[int, int]  # for actions of a private state, by player

    @property
    def num_inputs(self) -> int:
        """Features, then both players' ranges."""
        return self.features + sum(self.places)

    @property
    def num_outputs(self) -> int:
        """Both players' values, then the policies of player 0, then those of player 1."""
        return sum(self.places) + sum(own * each for own, each in zip(self.places, self.actions, strict=True))

    def first_policy(self, player: int) -> int:
        """Returns where a player's policies begin among the outputs."""
        return sum(self.places) + player * self.places[0] * self.actions[0]

    def check(self) -> None:
        """Raises `ConfigError` unless these are sizes."""
        check_integer("features", self.features, 1, 1 << 20)
        for name in ("places", "actions"):
            for size in getattr(self, name):
                check_integer(name, size, 1, 1 << 16)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StateInputs:
    """What a network is told of a public state, and where its private states and actions have their places."""

    actor: int  # who moves, or as `games.base` numbers chance and the end
    feature: IntArray  # [K] ascending
    amount: SingleArray  # [K]; features that are not named are 0
    places: tuple[IntArray, IntArray]  # [H] by player
    actions: IntArray  # [A] of the actor's columns; nothing where nobody moves
    unit: float  # of values, beside the other player's reach

    def check(self, sizes: PublicSizes, facts: NodeFacts, num_actions: int) -> None:
        """Raises `ValueError` unless a network of some sizes can read this."""
        check_array("feature", self.feature, np.int32, self.feature.shape)
        check_range("feature", self.feature, 0, sizes.features)
        check_array("amount", self.amount, np.float32, self.feature.shape)
        check_finite("amount", self.amount)
        for player in (0, 1):
            check_array("places", self.places[player], np.int32, facts.joint.shape[player : player + 1])
            check_range("places", self.places[player], 0, sizes.places[player])
        check_array("actions", self.actions, np.int32, (num_actions,))
        if facts.actor >= 0:
            check_range("actions", self.actions, 0, sizes.actions[facts.actor])


class PublicBook:
    """Public states of one game, as pages that searches share."""

    def __init__(self, sizes: PublicSizes) -> None:
        """Begins with no page."""
        sizes.check()
        self.sizes = sizes
        self.bound = _native.GrowingBook()
        self._facts: list[NodeFacts] = []
        self._inputs: list[StateInputs] = []
        self._below: dict[int, npt.NDArray[np.int32]] = {}  # by open page, private states below each edge

    def __len__(self) -> int:
        return len(self._facts)

    def inputs(self, page: int) -> StateInputs:
        """Returns what networks are told of a page."""
        return self._inputs[page]

    def actor(self, page: int) -> int:
        """Returns who moves at a page, or as `games.base` numbers chance and the end."""
        return self._facts[page].actor

    def add_page(self, facts: NodeFacts, inputs: StateInputs) -> int:
        """Returns the number of a new page."""
        inputs.check(self.sizes, facts, inputs.actions.size)
        self._facts.append(facts)
        self._inputs.append(inputs)
        payoffs = NO_PAYOFFS if facts.payoffs is None else facts.payoffs
        first, second = inputs.places
        return int(
            self.bound.add_page(
                facts.actor,
                joint=facts.joint,
                payoff=payoffs,
                feature=inputs.feature,
                amount=inputs.amount,
                first_place=first,
                second_place=second,
                unit=inputs.unit,
            )
        )

    def is_open(self, page: int) -> bool:
        """Returns whether it is known what follows a page."""
        return bool(self.bound.is_open(page))

    def open_page(self, page: int, opening: Opening) -> None:
        """Says what follows a page; the pages of that are added when they are asked for."""
        facts, inputs = self._facts[page], self._inputs[page]
        if opening.actor != facts.actor or opening.num_private != facts.joint.shape:
            raise ValueError(f"page {page} has another actor or other private states than what is to follow it")
        check_array("actions", inputs.actions, np.int32, opening.legal.shape[1:])
        uniform = opening.legal / np.maximum(opening.legal.sum(axis=1, keepdims=True), 1)
        self.bound.open_page(
            page,
            opening.legal.shape[1],
            legal=opening.legal.view(np.uint8),
            uniform=np.ascontiguousarray(uniform, np.float64),
            sizes=opening.sizes,
            places=opening.places,
            weights=opening.weights,
            actions=inputs.actions,
        )
        self._below[page] = opening.num_below

    def set_child(self, page: int, edge: int, child: int) -> None:
        """Says which page an edge of an open page leads to."""
        below = self._below[page]
        if not 0 <= edge < len(below) or not 0 <= child < len(self):
            raise ValueError(f"page {page} has no edge {edge}, or there is no page {child}")
        if self._facts[child].joint.shape != tuple(below[edge]):
            raise ValueError(f"page {child} cannot follow page {page}: it has other private states")
        self.bound.set_child(page, edge, child)


class PublicNetKernel:
    """A network on features of a public state and two ranges, ready to be asked by searches."""

    def __init__(self, sizes: PublicSizes, layers: Sequence[LayerArrays], *, takes_roots: bool = True) -> None:
        """Copies the weights.

        Args:
            sizes: of inputs and outputs.
            layers: inputs and outputs are in the order that `PublicSizes` says; outputs of policies are logits.
            takes_roots: whether square roots of ranges are given.
        """
        sizes.check()
        first = layers[0]
        if first.weight.shape[0] != sizes.num_inputs or layers[-1].weight.shape[1] != sizes.num_outputs:
            raise ConfigError(
                f"the network must have {sizes.num_inputs} inputs and {sizes.num_outputs} outputs, got "
                f"{first.weight.shape[0]} and {layers[-1].weight.shape[1]}"
            )
        self.sizes, self.takes_roots = sizes, takes_roots
        self.bound = _native.PublicNet(list(sizes.places), list(sizes.actions), takes_roots)
        ranges = first._replace(weight=np.ascontiguousarray(first.weight[sizes.features :]))
        last = layers[-1]
        if len(layers) < 2 or last.slope is not None or last.is_residual:
            raise ConfigError("the network must have a hidden layer, and after the last one nothing but sums")
        for layer in (ranges, *layers[1:]):
            check_finite("weights", layer.weight)
        for layer in (ranges, *layers[1:-1]):
            self.bound.add_layer(**layer.native_arguments)
        # values are asked for at every leaf, policies where the tree grows alone
        parts = slice(0, sum(sizes.places)), slice(sum(sizes.places), None)
        weights = [np.ascontiguousarray(last.weight[:, part]) for part in parts]
        biases = [np.ascontiguousarray(last.bias[part]) for part in parts]
        self.bound.set_heads(values=weights[0], value_bias=biases[0], policies=weights[1], policy_bias=biases[1])
        self.bound.set_features(weight=np.ascontiguousarray(first.weight[: sizes.features]), bias=first.bias)
        self._book: PublicBook | None = None

    def read(self, book: PublicBook) -> None:
        """Prepares to be asked about the pages of a book."""
        if book.sizes != self.sizes:
            raise ConfigError(f"the network is for {self.sizes}, not for {book.sizes}")
        if self._book is not book:  # what is kept of pages is by their number
            self.bound.forget_starts()
            self._book = book


class RunBudget(NamedTuple):
    """How far a tree grows and how; see `search.growing_tree.Growth`."""

    rounds: tuple[int, int, int]  # rounds, and sweeps and walks of each
    simulations: int
    is_alternating: bool
    has_last_sweep: bool
    uses_prior: bool
    first_children: int  # 0: all, -1: as many as private states
    exploration: float
    share_of_values: float
    value_scale: float


class GrowingRun:
    """One search from its first tree to its last sweep."""

    def __init__(
        self,
        arena: GrowingArena,
        book: PublicBook,
        net: PublicNetKernel,
        budget: RunBudget,
        *,
        start: int,
        discounts: FloatArray,
        random_words: npt.NDArray[np.uint64],
        num_queries: int = 0,
        query_words: npt.NDArray[np.uint64] | None = None,
        gate: RootGate | None = None,
    ) -> None:
        """Prepares a run; every node of the arena must be a page of the book.

        Args:
            arena: with the tree that the search begins with.
            book: what is known of public states.
            net: what leaves are worth.
            budget: how far the tree grows.
            start: the node from which walks begin.
            discounts: `[iterations, 6]` of the rule, a row for each sweep.
            random_words: `[4]` of the generator of walks.
            num_queries: of what the network is asked, drawn as the run goes on.
            query_words: `[4]` of the generator that draws them.
            gate: through which the opponent enters.
        """
        check_generator(random_words)
        query_words = random_words if query_words is None else query_words
        check_generator(query_words)
        rounds, sweeps, _ = budget.rounds
        check_discounts(discounts, max(rounds * sweeps + budget.has_last_sweep, 1))
        net.read(book)
        flags = int(budget.is_alternating), int(budget.has_last_sweep), int(budget.uses_prior)
        numbers = [*budget.rounds, budget.simulations, *flags, budget.first_children]
        weights = [budget.exploration, budget.share_of_values, budget.value_scale]
        self._kept = (discounts, gate)  # the run points into them
        self._bound = _native.GrowingRun(
            arena.bound,
            book.bound,
            net.bound,
            numbers,
            weights,
            rows=discounts,
            start=start,
            random=random_words,
            num_queries=num_queries,
            query_random=query_words,
        )
        self._arena, self._num_queries, self._book = arena, num_queries, book
        if gate is not None:
            self._bound.set_gate(gate.player, int(gate.kind), gate.share, **gate_memory(gate))

    def go_on(self) -> tuple[int, list[int]] | None:
        """Goes on; returns a page of which it must be known what follows, None at the end.

        With the page come those of its edges that lead to no page yet; none if it is not open.
        """
        page = int(self._bound.run())
        return None if page == NOTHING else (page, self._bound.missing_edges())

    @property
    def counts(self) -> tuple[int, int, int]:
        """Returns how many sweeps and walks there were, and rows of the network."""
        found: tuple[int, int, int] = self._bound.counts()
        return found

    def queries(self) -> list[tuple[int, tuple[FloatArray, FloatArray]]]:
        """Returns the pages that were drawn from all that was asked, with both players' reaches."""
        found = []
        for index in range(self._num_queries):
            page = int(self._bound.query_page(index))
            if page == NOTHING:
                continue
            shape = self._book._facts[page].joint.shape
            reach = np.empty(shape[0]), np.empty(shape[1])
            for player in (0, 1):
                self._bound.query_reach(index, player, reach[player])
            found.append((page, reach))
        return found
