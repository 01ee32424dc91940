# SPDX-License-Identifier: Apache-2.0
"""Leduc searched with a value network at the end of its first round, and the situations that such searches meet."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.games.base import CHANCE
from equipoise.games.leduc import Leduc
from equipoise.games.public import PublicGame
from equipoise.games.registry import format_game
from equipoise.kernels.frontier import BeliefBatch, LeafValues
from equipoise.learning.values.bucket_states import BucketState
from equipoise.learning.values.leduc import LeducSource, LeducStates, round_range
from equipoise.learning.values.net_files import NetFile
from equipoise.learning.values.shards import Arrays
from equipoise.learning.values.small_games import SmallGameLeaves, SmallGameValues
from equipoise.learning.values.weights import StoredNet
from equipoise.search.continual import ContinualSearch, ContinualSettings
from equipoise.search.gadgets import Resolve
from equipoise.search.leaves import LeafEvaluator
from equipoise.search.limits import RoundLimit
from equipoise.solvers.rules import DCFR
from equipoise.trees.derive import derive_public_game

__all__ = ["MetSource", "leduc_leaves", "leduc_settings"]

FloatArray = npt.NDArray[np.float64]
Path = tuple[int, ...]

ITERATIONS: Final = (50.0, 500.0)  # of searches whose situations are kept
KEPT_CALLS, KEPT_LEAVES = 0.2, 6  # share of iterations that are looked at, and leaves of each


def leduc_leaves(stored: StoredNet, game: Leduc, public: PublicGame[Any] | None = None) -> SmallGameLeaves:
    """Returns a network as leaves of searches.

    Args:
        stored: made for the game.
        game: a form of Leduc.
        public: the same over public states, as searches see it; derived here if None.
    """
    if stored.config.game != format_game(game):
        made_for = stored.config.game or "hold'em"
        raise ConfigError(f"the network was made for {made_for}, not for {format_game(game)}")
    return SmallGameLeaves(SmallGameValues(stored), LeducStates(game, public))


def leduc_settings(leaves: LeafEvaluator | None, *, iterations: int = 1000) -> ContinualSettings:
    """Returns how Leduc is searched: the first round down to the public card, the second to the end.

    Args:
        leaves: what the second round is worth; None: the first round is searched to the end of the game as well.
        iterations: of every search.
    """
    plain = ContinualSettings(iterations=iterations, rule=DCFR(), method=Resolve(share=0.2), is_wide=True)
    if leaves is None:
        return plain
    return dataclasses.replace(plain, limit=RoundLimit(is_after_deal=True), leaves=leaves)


class _Question(NamedTuple):
    """A leaf that a search has asked about."""

    state: BucketState
    reach: tuple[FloatArray, FloatArray]  # [H] by player


class _Notes:
    """Leaves of a network, some of which are written down as they are asked for."""

    def __init__(self, leaves: SmallGameLeaves, rng: np.random.Generator) -> None:
        self.leaves, self.rng = leaves, rng
        self.asked: list[_Question] = []

    def evaluate(self, batch: BeliefBatch) -> LeafValues:
        """Returns what the network says."""
        if self.rng.random() < KEPT_CALLS:
            size = len(batch.states)
            for leaf in self.rng.choice(size, min(KEPT_LEAVES, size), replace=False).tolist():
                state = self.leaves.states.find(batch.states[leaf])
                rows = [own[leaf, : bucket.size].copy() for own, bucket in zip(batch.reach, state.bucket, strict=True)]
                if state.ratio > 0:
                    self.asked.append(_Question(state, (rows[0], rows[1])))
        return self.leaves.evaluate(batch)


@dataclasses.dataclass(frozen=True, kw_only=True)
class MetSource:
    """Situations that searches with an earlier network come to ask about, solved.

    Ranges of play are few and lie where both players hardly care what they do: values change quickly there, and random
    ranges seldom come near. Most are moved a little, so that a network learns what lies around them too.
    """

    net: NetFile
    game: Leduc
    iterations: int = 500
    gamma: float = 4.0  # of discounted CFR
    moved_share: float = 0.7  # of ranges that are moved
    deviation: float = 0.5  # of the logarithms by which they are
    per_shard: int = 2000
    seed: int = 0

    @property
    def config(self) -> dict[str, Any]:
        """Returns what shards are made from, as JSON values."""
        named = {"game": format_game(self.game), "source": self.net.name}
        return {name: value for name, value in dataclasses.asdict(self).items() if name != "net"} | named

    @property
    def labels(self) -> LeducSource:
        """Returns the source of random situations whose states `part` of a shard numbers, and how they are solved."""
        return LeducSource(game=self.game, iterations=self.iterations, gamma=self.gamma)

    def make(self, number: int) -> Arrays:
        """Returns the arrays of a shard, as those of `LeducSource`."""
        rng = np.random.default_rng([self.seed, 1, number])
        asked = self._play(rng)
        parts = {part.state.pot: index for index, part in enumerate(self.labels.parts)}
        rows = []
        for index in rng.choice(len(asked), self.per_shard, replace=len(asked) < self.per_shard).tolist():
            question = asked[index]
            part = parts[question.state.pot]
            ranges = np.stack([self._move(own, rng) for own in self._sort(question, self.labels.parts[part].state)])
            rows.append((part, ranges, self.labels.solve(part, ranges)))
        return {
            "part": np.array([part for part, _, _ in rows], np.int32),
            "range": np.stack([ranges for _, ranges, _ in rows]).astype(np.float32),
            "value": np.stack([value for _, _, value in rows]).astype(np.float32),
        }

    def _play(self, rng: np.random.Generator) -> list[_Question]:
        """Returns leaves that both players' searches ask about, at every decision of the first round."""
        public = _derive(self.game)
        notes = _Notes(leduc_leaves(StoredNet.load(self.net.path), self.game, public), rng)
        low, high = (math.log(number) for number in ITERATIONS)
        settings = leduc_settings(notes, iterations=round(math.exp(rng.uniform(low, high))))
        searches = [ContinualSearch(public, seat, settings) for seat in (0, 1)]
        for path, actor in _first_round(public, public.initial_state()):
            searches[actor].policy_at(path)
        return notes.asked

    def _sort(self, question: _Question, state: BucketState) -> Iterator[FloatArray]:
        """Yields both players' reaches in the order of another public state with the same pot."""
        for player in (0, 1):
            out = np.zeros(state.bucket[player].size)
            out[np.argsort(state.bucket[player])] = question.reach[player][np.argsort(question.state.bucket[player])]
            yield out

    def _move(self, own: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Returns a reach as a range, perhaps moved a little."""
        if rng.random() < self.moved_share:
            own = own * np.exp(rng.normal(0.0, self.deviation, own.size))
        return round_range(own)


@functools.lru_cache(4)
def _derive(game: Leduc) -> PublicGame[Any]:
    return derive_public_game(game)


def _first_round(public: PublicGame[Any], state: Any, path: Path = ()) -> Iterator[tuple[Path, int]]:
    """Yields the decisions before chance moves in public, with who moves there."""
    actor = public.actor(state)
    if actor < 0:
        return
    yield path, actor
    for place, edge in enumerate(public.edges(state)):
        if public.actor(edge.child) != CHANCE:
            yield from _first_round(public, edge.child, (*path, place))
