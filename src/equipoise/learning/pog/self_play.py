# SPDX-License-Identifier: Apache-2.0
"""Sound self-play: episodes of searches, and queries of these searches solved in their turn.

Every episode is played to its end and every query solved before `generate` returns, so that a generator's state is all
that is needed to go on.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.games.base import CHANCE, TERMINAL
from equipoise.games.public import PublicEdge
from equipoise.kernels.public_nets import PublicSizes, StateInputs
from equipoise.learning.columns import Columns
from equipoise.learning.pog.games import SelfPlayGame
from equipoise.learning.pog.settings import RESIGN_NEVER, PogSettings
from equipoise.search.growing_tree import GrowingTree, Query
from equipoise.search.net_leaves import NetLeaves

__all__ = ["SelfPlayCounts", "SoundSelfPlay", "example_shapes"]

LEAST_MASS: Final = 1e-12  # of a player's reach, below which nothing is known of its private states
MOST_EMPTY: Final = 200  # episodes without an example, after which there will be none
NOBODY: Final = -1

FloatArray = npt.NDArray[np.float64]
Reach = tuple[FloatArray, FloatArray]


def example_shapes(sizes: PublicSizes) -> dict[str, tuple[tuple[int, ...], npt.DTypeLike]]:
    """Returns the columns of examples.

    `belief`, `value` and `is_known` have both players' places side by side; `policy` has the actor's rows of action
    places, `num_columns` how many actions share each of them (none: not legal).
    """
    width = sum(sizes.places)
    table = max(own * each for own, each in zip(sizes.places, sizes.actions, strict=True))
    return {
        "feature": ((sizes.features,), np.float32),
        "belief": ((width,), np.float32),
        "value": ((width,), np.float32),
        "is_known": ((width,), np.bool_),
        "is_there": ((width,), np.bool_),
        "actor": ((), np.int8),
        "policy": ((table,), np.float32),
        "num_columns": ((table,), np.uint8),
    }


@dataclasses.dataclass(slots=True)
class SelfPlayCounts:
    """What self-play did so far."""

    episodes: int = 0
    searches: int = 0  # of episodes
    solved: int = 0  # queries
    resigned: int = 0
    asked: int = 0  # rows of the network


@dataclasses.dataclass(frozen=True, slots=True)
class _Found:
    """What a search found at its first state."""

    tree: GrowingTree
    policy: FloatArray | None  # [H, A]
    queries: list[Query]

    def values(self, player: int) -> FloatArray:
        return self.tree.arena.average_values(0, player)


@dataclasses.dataclass(frozen=True, slots=True)
class _Visit:
    """A decision of an episode."""

    state: Any
    own: tuple[int, int]
    reach: Reach
    policy: FloatArray


class SoundSelfPlay:
    """Episodes and solved queries.

    Paper: Schmid et al. 2021, "Player of Games", arXiv:2112.03178 [SG21], Algorithms 2 and 3.
    Symbols: w -> a public state and both private states; beta -> reaches; pi -> what a search found;
        queries_to_solve -> a list that is empty again when an episode's move is made.
    Departs from the paper: searches fix both ranges and begin at the present state; queries are solved at once, by the
        network that asked them; whoever resigns has lost, and the episode is learnt like any other.
    Checked by: tests/learning/pog/test_self_play.py.
    """

    def __init__(self, game: SelfPlayGame, settings: PogSettings, leaves: NetLeaves | None = None) -> None:
        """Keeps the rules; `leaves` is what searches end with."""
        self.game, self.settings, self.leaves = game, settings, leaves
        self.counts = SelfPlayCounts()
        self._made: list[dict[str, npt.NDArray[Any]]] = []

    def generate(self, count: int, *, rng: np.random.Generator) -> Columns:
        """Returns at least so many new examples; all episodes are played to their ends."""
        self._made = []
        last = self.counts.episodes + MOST_EMPTY
        while len(self._made) < count:
            self._play_episode(rng)
            if not self._made and self.counts.episodes >= last:
                raise ConfigError(
                    f"{MOST_EMPTY} episodes of {self.game.form.spec.label} gave nothing to learn: searches of "
                    f"{self.settings.simulations} simulations reach its end"
                )
        return {name: np.stack([one[name] for one in self._made]) for name in self._made[0]}

    # --- searches ---

    def search(self, state: Any, reach: Reach, *, num_queries: int, rng: np.random.Generator) -> _Found:
        """Returns what a search with both ranges fixed finds at a public state."""
        assert self.leaves is not None, "searches need a network"
        game = self.game
        belief = game.belief(state, reach)
        tree = GrowingTree(game.rules, state, belief, self.leaves, growth=self.settings.growth, rng=rng)
        queries = tree.grow(num_queries=num_queries, rng=rng)
        self.counts.asked += tree.num_asked
        policy = tree.policy(0) if game.rules.facts(state).actor >= 0 else None
        return _Found(tree, policy, queries)

    def _solve(self, queries: list[Query], rng: np.random.Generator) -> None:
        """Solves queries, and some that come of them."""
        waiting = list(queries)
        while waiting:
            query = waiting.pop()
            reach = self._normalize(query.reach)
            number = _round_at_random(self.settings.recursive_queries, rng)
            found = self.search(query.state, reach, num_queries=number, rng=rng)
            self.counts.solved += 1
            waiting += found.queries
            self._add(query.state, reach, found.policy, values=(found.values(0), found.values(1)))

    @staticmethod
    def _normalize(reach: Reach) -> Reach:
        """Returns ranges in sum 1, even ones where nobody can be."""
        first, second = (
            own / own.sum() if own.sum() > LEAST_MASS else np.full(own.size, 1.0 / own.size) for own in reach
        )
        return first, second

    # --- episodes ---

    def _play_episode(self, rng: np.random.Generator) -> None:
        settings, form = self.settings, self.game.form
        state, reach, visits = form.initial_state(), self.game.first_reach(), list[_Visit]()
        own = _draw_pair(self.game.rules.facts(state).joint, rng)
        may_resign = settings.resign_below != RESIGN_NEVER and rng.random() >= settings.never_resigns
        self.counts.episodes += 1
        loser = NOBODY
        while (actor := form.actor(state)) != TERMINAL:
            if settings.most_moves and len(visits) >= settings.most_moves:
                break
            policy, column = None, NOBODY
            if actor != CHANCE:
                reach = self._normalize(reach)
                found = self.search(state, reach, num_queries=_round_at_random(settings.queries, rng), rng=rng)
                self.counts.searches += 1
                self._solve(found.queries, rng)
                policy = found.policy
                assert policy is not None
                visits.append(_Visit(state, own, reach, policy))
                if may_resign and self._is_lost(found, state, own, reach):
                    loser = actor
                    self.counts.resigned += 1
                    break
                column = self._choose(state, policy[own[actor]], own[actor], len(visits), rng)
            state, own, reach = self._move(state, own, reach, policy, column, rng)
        if settings.outcomes:
            self._learn_outcome(visits, self._outcome(state, own, loser), rng)

    def _choose(self, state: Any, row: FloatArray, private: int, num_moves: int, rng: np.random.Generator) -> int:
        """Returns the column that is played, by the policy or anyhow."""
        if self.settings.greedy_after and num_moves > self.settings.greedy_after:
            return int(row.argmax())
        if rng.random() < self.settings.exploration:
            return int(rng.choice(np.flatnonzero(self.game.form.legality(state)[private])))
        return int(rng.choice(row.size, p=row / row.sum()))

    def _is_lost(self, found: _Found, state: Any, own: tuple[int, int], reach: Reach) -> bool:
        facts = self.game.rules.facts(state)
        mass = (facts.joint @ reach[1] if facts.actor == 0 else reach[0] @ facts.joint)[own[facts.actor]]
        half = self.game.form.spec.utility_range / 2.0
        return bool(found.values(facts.actor)[own[facts.actor]] < self.settings.resign_below * half * mass)

    def _outcome(self, state: Any, own: tuple[int, int], loser: int) -> float:
        """Returns what player 0 gets; nothing is got where an episode was cut off."""
        form = self.game.form
        if loser != NOBODY:
            half = form.spec.utility_range / 2.0
            return -half if loser == 0 else half
        facts = self.game.rules.facts(state)
        if facts.payoffs is None:
            return 0.0
        return float(facts.payoffs[0][own] / facts.joint[own])

    def _move(
        self,
        state: Any,
        own: tuple[int, int],
        reach: Reach,
        policy: FloatArray | None,
        column: int,
        rng: np.random.Generator,
    ) -> tuple[Any, tuple[int, int], Reach]:
        """Returns where an action, or chance, leads a pair of private states, and both players' reaches there."""
        game, actor = self.game, self.game.form.actor(state)
        ways: list[tuple[int, tuple[int, int], float]] = []
        edges = game.form.edges(state)
        for number, edge in enumerate(edges):
            joint = game.rules.facts(edge.child).joint
            first, second = (
                _targets(edge, player, own[player], column if player == actor else NOBODY) for player in (0, 1)
            )
            ways += [(number, (i, j), p * q * joint[i, j]) for i, p in first for j, q in second if joint[i, j] > 0]
        weights = np.array([weight for _, _, weight in ways])
        number, after, _ = ways[int(rng.choice(len(ways), p=weights / weights.sum()))]
        edge = edges[number]
        below = []
        for player, relation in enumerate(edge.relations):
            flow = relation.weight * reach[player][relation.private]
            if player == actor and policy is not None:
                flow = flow * policy[relation.private, relation.action]
            size = game.form.num_private(edge.child, player)
            below.append(np.bincount(relation.target, weights=flow, minlength=size).astype(np.float64))
        return edge.child, after, (below[0], below[1])

    def _learn_outcome(self, visits: Sequence[_Visit], outcome: float, rng: np.random.Generator) -> None:
        """Adds some of an episode's decisions: values are known at the private states that were there."""
        for visit in visits:
            if rng.random() >= self.settings.outcomes:
                continue
            joint = self.game.rules.facts(visit.state).joint
            masses = joint @ visit.reach[1], visit.reach[0] @ joint
            values = [np.full(own.size, np.nan) for own in visit.reach]
            for player, sign in ((0, 1.0), (1, -1.0)):
                private = visit.own[player]
                values[player][private] = sign * outcome * masses[player][private]
            self._add(visit.state, visit.reach, visit.policy, values=(values[0], values[1]))

    # --- examples ---

    def _add(self, state: Any, reach: Reach, policy: FloatArray | None, *, values: Reach) -> None:
        """Adds an example; values that are no number are not known."""
        assert self.leaves is not None
        book = self.leaves.book(self.game.rules)
        number = book.number(state)
        inputs, sizes = book.pages.inputs(number), self.game.features.sizes
        made = {name: np.zeros(shape, dtype) for name, (shape, dtype) in example_shapes(sizes).items()}
        made["feature"][inputs.feature] = inputs.amount
        for player, first in ((0, 0), (1, sizes.places[0])):
            place = first + inputs.places[player]
            is_known = np.isfinite(values[player])
            made["belief"][place] = reach[player] / reach[player].sum()
            unit = inputs.unit * reach[1 - player].sum()
            made["value"][place] = np.where(is_known, values[player], 0.0) / unit
            made["is_known"][place] = is_known
            made["is_there"][place] = True
        made["actor"] = np.array(inputs.actor, np.int8)
        if policy is not None:
            self._add_policy(made, state, inputs, policy)
        self._made.append(made)

    def _add_policy(
        self, made: dict[str, npt.NDArray[Any]], state: Any, inputs: StateInputs, policy: FloatArray
    ) -> None:
        num_actions = self.game.features.sizes.actions[inputs.actor]
        rows, columns = np.nonzero(self.game.form.legality(state))
        cells = inputs.places[inputs.actor][rows] * num_actions + inputs.actions[columns]
        np.add.at(made["policy"], cells, policy[rows, columns])
        np.add.at(made["num_columns"], cells, 1)


def _round_at_random(number: float, rng: np.random.Generator) -> int:
    """Returns a whole number that is another on average."""
    return int(number) + int(rng.random() < number - int(number))


def _draw_pair(joint: FloatArray, rng: np.random.Generator) -> tuple[int, int]:
    first, second = np.unravel_index(int(rng.choice(joint.size, p=joint.ravel() / joint.sum())), joint.shape)
    return int(first), int(second)


def _targets(edge: PublicEdge[Any], player: int, private: int, column: int) -> list[tuple[int, float]]:
    """Returns where an edge takes a private state, after an action if its player moved."""
    relation = edge.relations[player]
    is_way = relation.private == private
    if column != NOBODY:
        is_way &= relation.action == column
    return list(zip(relation.target[is_way].tolist(), relation.weight[is_way].tolist(), strict=True))
