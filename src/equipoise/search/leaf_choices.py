# SPDX-License-Identifier: Apache-2.0
"""What stands for the rest of a public game at leaves, straight from its rules: players choose among a few strategies.

What strategies, given as functions of public states, make of the rest is found without a tree. Nothing here searches.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.games.base import TERMINAL
from equipoise.games.public import NO_ACTION, PublicGame, Relation
from equipoise.kernels.arithmetic import multiply
from equipoise.solvers.rules_strategy import RulesPlaces
from equipoise.trees.grafting import Choice
from equipoise.trees.vector import Strategy, UniformStrategy

__all__ = ["LeafSource", "PolicyLeaves", "RememberedLeaves", "continuation_payoffs", "follow_edge"]

FloatArray = npt.NDArray[np.float64]


def follow_edge(relation: Relation, size: int, policy: FloatArray | None, above: int) -> FloatArray:
    """Returns `[H above, H below]` how a player's reach flows along an edge.

    Args:
        relation: of the player.
        size: its private states below.
        policy: `[H, A]` what it does above, if it moves there.
        above: its private states there.
    """
    weight = relation.weight
    if policy is not None:
        taken = relation.action != NO_ACTION
        weight = weight * np.where(taken, policy[relation.private, relation.action], 1.0)
    out = np.zeros((above, size))
    np.add.at(out, (relation.private, relation.target), weight)
    return out


def continuation_payoffs(
    game: PublicGame[Any],
    state: Any,
    policies: tuple[Strategy[Any], Strategy[Any]],
    *,
    rng: np.random.Generator | None = None,
) -> FloatArray:
    """Returns `[H0, H1]` joint weight times what player 0 earns from a public state on, both playing their policies.

    Only the way to one public state is in memory at a time.

    Args:
        game: what is played.
        state: where it has come to.
        policies: of both players.
        rng: if given, one public observation is drawn at each state, evenly, and counted for all: an unbiased guess.
    """
    actor = game.actor(state)
    if actor == TERMINAL:
        payoffs: FloatArray = game.payoffs(state)[0]
        return payoffs
    policy = policies[actor].probabilities(state) if actor >= 0 else None
    num_private = game.num_private(state, 0), game.num_private(state, 1)
    edges, factor = game.edges(state), 1.0
    if rng is not None and len(edges) > 1:
        edges, factor = (edges[int(rng.integers(len(edges)))],), float(len(edges))
    out = np.zeros(num_private)
    for edge in edges:
        below = continuation_payoffs(game, edge.child, policies, rng=rng)
        ways = [
            follow_edge(edge.relations[player], below.shape[player], policy if player == actor else None, num)
            for player, num in enumerate(num_private)
        ]
        out += factor * multiply(multiply(ways[0], below), ways[1].T)
    return out


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class PolicyLeaves:
    """What leaves are worth: each player chooses one of its policies for the rest of the game, in each private state.

    With one policy each a leaf has one value, and a search may then play anything that is worth as much against it.
    """

    opponent: tuple[Strategy[Any], ...] | None = None  # by public states; None: uniform play
    searcher: tuple[Strategy[Any], ...] | None = None
    num_samples: int | None = None  # None: exact, every public state below; else so many lines are drawn
    seed: int = 0  # of the lines: the same for all policies of a leaf

    def __post_init__(self) -> None:
        if () in (self.opponent, self.searcher):
            raise ConfigError("each player needs at least one policy for what follows leaves")
        if self.num_samples is not None and self.num_samples < 1:
            raise ConfigError(f"num_samples must be at least 1, got {self.num_samples}")

    def choice(self, game: PublicGame[Any], state: Any, searcher: int) -> Choice:
        """Returns what stands for the rest of the game at a leaf."""
        rows = []
        uniform = (UniformStrategy(RulesPlaces(game)),)
        for theirs in self.opponent or uniform:
            pairs = [(ours, theirs) if searcher == 0 else (theirs, ours) for ours in self.searcher or uniform]
            rows.append([self._payoff(game, state, pair) for pair in pairs])
        return Choice(chooser=1 - searcher, payoff=np.array(rows))

    def _payoff(self, game: PublicGame[Any], state: Any, pair: tuple[Strategy[Any], Strategy[Any]]) -> FloatArray:
        if self.num_samples is None:
            return continuation_payoffs(game, state, pair)
        rng = np.random.default_rng(self.seed)  # common random numbers: choices differ by what they do alone
        found = [continuation_payoffs(game, state, pair, rng=rng) for _ in range(self.num_samples)]
        mean: FloatArray = np.mean(found, axis=0)
        return mean


class LeafSource(Protocol):
    """Says what stands for the rest of a game at leaves."""

    def choice(self, game: PublicGame[Any], state: Any, searcher: int) -> Choice:
        """Returns what players choose from at a leaf."""
        ...


class RememberedLeaves:
    """Leaves that successive searches meet again, evaluated once."""

    def __init__(self, leaves: LeafSource, *, most: int = 4096) -> None:
        """Keeps what says their worth, and at most so many of its answers; public states must be hashable."""
        self.leaves, self.most = leaves, most
        self._known: dict[tuple[Any, int], Choice] = {}

    def choice(self, game: PublicGame[Any], state: Any, searcher: int) -> Choice:
        """Returns what players choose from at a leaf."""
        key = (state, searcher)
        if key not in self._known:
            if len(self._known) >= self.most:
                self._known.clear()
            self._known[key] = self.leaves.choice(game, state, searcher)
        return self._known[key]
