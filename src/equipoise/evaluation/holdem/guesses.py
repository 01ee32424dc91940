# SPDX-License-Identifier: Apache-2.0
"""What hands of heads-up hold'em are guessed to win, from a blueprint in few buckets that plays against itself.

A guess is a number for each pair of buckets at a betting node; what later cards bring is a table of how pairs of
buckets follow each other, counted on sampled deals. AIVAT's mean is right whatever is guessed, but it needs the exact
mean of the guesses on all flops, too many to list hand after hand: these means are made once, for every pair of hands.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
import scipy

from equipoise.abstraction.bucketed_strategy import BucketedStrategy
from equipoise.agents.base import PolicyAgent
from equipoise.core.cache import CacheFile
from equipoise.core.checkpoint import Kind
from equipoise.core.memory import check_memory
from equipoise.evaluation.holdem.batched import BlindRows, HoldemDeals, deal_hands, find_buckets
from equipoise.games.holdem.betting import Street, payoffs
from equipoise.games.holdem.betting_tree import BettingNode, BettingTree, NodeKind
from equipoise.games.holdem.cards import format_deck
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.isomorphism import canonical_sets, hand_permutation, suit_permutations
from equipoise.games.holdem.strength import hand_kernel

__all__ = ["HoldemGuesses", "build_guesses", "matched_chips"]

FloatArray = npt.NDArray[np.float64]
MatrixArray = npt.NDArray[np.float32]

MEANS_FORMAT_VERSION: Final = 1  # raised whenever the meaning of the array changes
EMPTY_WEIGHT: Final = 1e-3  # of a uniform law of what follows a pair of buckets, so that unseen pairs have one


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HoldemGuesses:
    """What player 0 is guessed to win, in chips."""

    blueprint: BucketedStrategy  # whose buckets and strategy they come from
    by_buckets: dict[int, FloatArray]  # node: [buckets, buckets] buckets of its street
    shown: dict[Street, FloatArray]  # [buckets, buckets] wins of player 0 less losses, without more bets
    # exact means over the flops that two hands leave, 0 where they share a card; empty unless the hand begins before it
    means: dict[int, MatrixArray]  # end of the first street, with bets to come: [H, H] of the guesses on the flop
    shown_mean: MatrixArray  # [H, H] of `shown` on the flop


def matched_chips(committed: Sequence[int]) -> int:
    """Returns what a player wins or loses heads-up where hands are shown: an uncalled bet goes back before."""
    return min(committed)


def build_guesses(
    blueprint: BucketedStrategy,
    *,
    rng: np.random.Generator,
    num_samples: int = 100_000,
    blind: Mapping[int, PolicyAgent] | None = None,
    on_progress: Callable[[float], None] | None = None,
) -> HoldemGuesses:
    """Returns the values of a blueprint that plays against itself, as far as pairs of buckets say them.

    Args:
        blueprint: the coarser, the faster; not one of those that are measured, or luck is taken for skill nowhere.
        rng: deals the samples.
        num_samples: deals from which the laws of buckets are counted.
        blind: by seat agents that look at no cards, guessed to play as they do and not as the blueprint does.
        on_progress: called now and then with the share done.
    """
    tree = blueprint.tree
    ends = _first_street_ends(tree.betting)
    sizes = [tree.assigner.num_buckets(node.state.street) for node in tree.betting.nodes]
    num_bytes = 8 * sum(size**2 for size in sizes) + 8 * (len(ends) + 1) * tree.spot.deck.num_hands**2
    check_memory(num_bytes, "guesses of every pair of buckets, and of every pair of hands before the flop")
    rows = {seat: BlindRows(agent, tree.betting).table for seat, agent in (blind or {}).items()}
    law = _BucketLaw(blueprint, deal_hands(tree.spot, num_samples, rng=rng))
    values: dict[int, FloatArray] = {}
    for node in reversed(tree.betting.nodes):
        if node.state.street is not Street.PREFLOP:
            values[node.index] = _guess_node(blueprint, node, values, law, rows)
    means: dict[int, MatrixArray] = {}
    shown_mean = np.zeros((0, 0), np.float32)
    if tree.streets[0] is Street.PREFLOP:
        tables = [law.shown[Street.FLOP], *(values[node.children[0]] for node in ends)]
        shown_mean, *found = _load_or_build_means(blueprint, tables, on_progress)
        means = {node.index: mean for node, mean in zip(ends, found, strict=True)}
        law.shown[Street.PREFLOP] = _mean_over_buckets(blueprint, shown_mean)
        for node in reversed(tree.betting.nodes):
            if node.state.street is Street.PREFLOP:
                if node.index in means:
                    values[node.index] = _mean_over_buckets(blueprint, means[node.index])
                else:
                    values[node.index] = _guess_node(blueprint, node, values, law, rows)
    return HoldemGuesses(blueprint=blueprint, by_buckets=values, shown=law.shown, means=means, shown_mean=shown_mean)


def _first_street_ends(betting: BettingTree) -> list[BettingNode]:
    """Returns where the betting before the flop ends and goes on after it."""
    return [
        node
        for node in betting.nodes
        if node.state.street is Street.PREFLOP
        and node.kind is NodeKind.STREET_END
        and betting.nodes[node.children[0]].kind is NodeKind.DECISION
    ]


class _BucketLaw:
    """How pairs of buckets follow each other from street to street, and who wins at the end; counted on deals."""

    def __init__(self, blueprint: BucketedStrategy, deals: HoldemDeals) -> None:
        tree = blueprint.tree
        counts = [tree.assigner.num_buckets(street) for street in tree.streets]
        buckets = find_buckets(tree.assigner, tree.streets, deals)
        keys = [rows[:, 0] * count + rows[:, 1] for rows, count in zip(buckets, counts, strict=True)]
        self.sizes = dict(zip(tree.streets, counts, strict=True))
        self._met: dict[Street, scipy.sparse.csr_array] = {}  # by pairs of buckets: deals from a street to the next
        for place, street in enumerate(tree.streets[:-1]):
            shape = counts[place] ** 2, counts[place + 1] ** 2
            pairs = keys[place], keys[place + 1]
            self._met[street] = scipy.sparse.csr_array((np.ones(len(deals.hands)), pairs), shape=shape)
        last = tree.streets[-1]
        result = _compare(blueprint, deals)
        total = np.bincount(keys[-1], minlength=counts[-1] ** 2) + EMPTY_WEIGHT
        ahead = np.bincount(keys[-1], result, minlength=counts[-1] ** 2) / total
        self.shown = {last: ahead.reshape(counts[-1], counts[-1])}
        for street in reversed(tree.streets[:-1]):
            if street is not Street.PREFLOP:  # exact there, see `build_guesses`
                self.shown[street] = self.before(street, self.shown[Street(street + 1)])

    def before(self, street: Street, values: FloatArray) -> FloatArray:
        """Returns `[buckets, buckets]` the mean on a street of values `[buckets there, buckets there]` on the next."""
        met, size = self._met[street], self.sizes[street]
        total = met.sum(axis=1) + EMPTY_WEIGHT
        mean: FloatArray = (met @ values.ravel() + EMPTY_WEIGHT * values.mean()) / total
        return mean.reshape(size, size)


def _compare(blueprint: BucketedStrategy, deals: HoldemDeals) -> FloatArray:
    """Returns `[deals]` 1 where player 0 wins the showdown, -1 where it loses, 0 where both split."""
    deck = blueprint.tree.spot.deck
    cards = hands_of(deck).cards
    strengths = [
        hand_kernel(deck)
        .evaluate_hands(np.ascontiguousarray(np.hstack([cards[deals.hands[:, seat]], deals.boards])))
        .astype(np.int64)
        for seat in (0, 1)
    ]
    result: FloatArray = np.sign(strengths[0] - strengths[1]).astype(np.float64)
    return result


def _guess_node(
    blueprint: BucketedStrategy,
    node: BettingNode,
    values: dict[int, FloatArray],
    law: _BucketLaw,
    blind: Mapping[int, FloatArray],
) -> FloatArray:
    """Returns `[buckets, buckets]` the guess at a node; what follows is known, means over flops too if they come."""
    street, nodes = node.state.street, blueprint.tree.betting.nodes
    size = law.sizes[street]
    if node.kind is NodeKind.FOLD:
        return np.full((size, size), float(payoffs(node.state)[0]))
    if node.kind is NodeKind.DECISION:
        if node.state.actor in blind:
            shares = np.tile(blind[node.state.actor][node.index, : len(node.actions)], (size, 1))
        else:
            shares = blueprint.tree.bucket_strategy(blueprint.sums, node.index)
        return _mix(shares, node, [values[child] for child in node.children])
    if node.kind is NodeKind.STREET_END and nodes[node.children[0]].kind is NodeKind.DECISION:
        return law.before(street, values[node.children[0]])
    return matched_chips(node.state.committed) * law.shown[street]  # nobody bets again


def _mix(shares: FloatArray, node: BettingNode, below: Sequence[FloatArray]) -> FloatArray:
    """Returns the mean of values below a decision, each row of the actor with its own shares `[rows, A]`."""
    columns = shares.T[:, :, None] if node.state.actor == 0 else shares.T[:, None, :]
    total: FloatArray = np.zeros(below[0].shape)
    for column, values in zip(columns, below, strict=True):
        total += column * values
    return total


def _mean_over_buckets(blueprint: BucketedStrategy, matrix: MatrixArray) -> FloatArray:
    """Returns `[buckets, buckets]` the means of numbers `[H, H]` before the flop over the hands of two buckets."""
    tree = blueprint.tree
    hands, buckets = hands_of(tree.spot.deck), tree.buckets(())
    size = tree.assigner.num_buckets(Street.PREFLOP)
    pick = scipy.sparse.csr_array(
        (np.ones(buckets.size), (buckets, np.arange(buckets.size))), shape=(size, buckets.size)
    )
    is_apart = ((hands.masks[:, None] & hands.masks[None, :]) == 0).astype(np.float64)
    sums, counts = (np.asarray(pick @ (pick @ table.astype(np.float64).T).T) for table in (matrix, is_apart))
    mean: FloatArray = sums / np.maximum(counts, 1.0)
    return mean


def _load_or_build_means(
    blueprint: BucketedStrategy, values: Sequence[FloatArray], on_progress: Callable[[float], None] | None
) -> list[MatrixArray]:
    """Returns what `_mean_over_flops` does, from the cache if it is there: 6 seconds a matrix of the full deck."""
    deck = blueprint.tree.spot.deck
    digest = hashlib.sha256(np.stack(values).astype(np.float32).tobytes()).hexdigest()
    identity = {
        "table": "means over flops",
        "format_version": MEANS_FORMAT_VERSION,
        "deck": format_deck(deck),
        "buckets": json.dumps(blueprint.recipe.as_json()),
        "values": digest,
    }
    file = CacheFile(Kind.TABLE, f"means-{format_deck(deck)}", identity)
    parts = file.read()
    if parts is not None:
        return list(parts["means"])
    return file.fill(lambda: _mean_over_flops(blueprint, values, on_progress), lambda means: {"means": np.stack(means)})


def _mean_over_flops(
    blueprint: BucketedStrategy, values: Sequence[FloatArray], on_progress: Callable[[float], None] | None
) -> list[MatrixArray]:
    """Returns `[H, H]` the means of values `[buckets, buckets]` of the flop over the flops that two hands leave."""
    deck = blueprint.tree.spot.deck
    hands = hands_of(deck)
    permutations = suit_permutations(deck)
    flops, counts = canonical_sets(deck.cards, 3, permutations)
    sums = [np.zeros((hands.num_hands, hands.num_hands), np.float32) for _ in values]
    tables = [np.ascontiguousarray(value, np.float32) for value in values]
    for done, (flop, count) in enumerate(zip(flops.tolist(), counts.tolist(), strict=True)):
        buckets = blueprint.tree.buckets(tuple(flop))
        live = buckets >= 0
        for total, table in zip(sums, tables, strict=True):
            rows = (np.float32(count) * table)[:, np.where(live, buckets, 0)]
            rows[:, ~live] = 0.0
            total[live] += rows[buckets[live]]
        if on_progress is not None and done % 64 == 0:
            on_progress(done / len(flops))
    # a flop stands for all that differ by suits' names
    images = [hand_permutation(permutation, deck) for permutation in permutations]
    is_apart = ((hands.masks[:, None] & hands.masks[None, :]) == 0).astype(np.float32)
    is_apart /= math.comb(deck.num_cards - 4, 3) * len(images)
    return [is_apart * np.sum([total[np.ix_(image, image)] for image in images], axis=0) for total in sums]
