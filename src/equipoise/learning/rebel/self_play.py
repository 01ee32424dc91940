# SPDX-License-Identifier: Apache-2.0
"""Self-play over beliefs: every search gives values to learn, and one of its iterations leads to the next search.

Many episodes are under way at a time. Those that stand at public states of one kind are solved together, the kinds
farthest from the beginning first, so that few wait; the beginning is solved once for many episodes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.kernels.belief_search import (
    LANES,
    BeliefDraws,
    BeliefNetKernel,
    BeliefResult,
    BeliefSearchSettings,
)
from equipoise.learning.rebel.policies import PolicyExamples, PolicyGuide, collect_policies
from equipoise.learning.rebel.settings import BeliefSource, RebelSettings, SearchRecipe
from equipoise.search.belief_games import BeliefGame
from equipoise.search.random_iteration import iteration_chances
from equipoise.solvers.rules import tabulate_discounts

__all__ = ["BeliefSearcher", "Examples", "SelfPlay"]

IntArray = npt.NDArray[np.int32]
SingleArray = npt.NDArray[np.float32]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Examples:
    """Beliefs and what searches found private states to be worth."""

    kind: IntArray  # [B]
    belief: SingleArray  # [B, 2, width]
    value: SingleArray  # [B, 2, width] zero-sum under the beliefs
    policies: PolicyExamples | None = None  # of all decisions of these searches, if they are to be learnt

    def __len__(self) -> int:
        return len(self.kind)


class BeliefSearcher:
    """Solves subgames of a game by one recipe, with a network at their leaves."""

    def __init__(
        self,
        game: BeliefGame,
        recipe: SearchRecipe,
        *,
        lanes: int = LANES[-1],
        net: BeliefNetKernel | None = None,
        guide: PolicyGuide | None = None,
    ) -> None:
        """Keeps what searches need.

        Args:
            game: what is played.
            recipe: how subgames are solved.
            lanes: beliefs that are solved at a time; what is found does not depend on it.
            net: values leaves.
            guide: proposes what searches begin with; uniform strategies if None.
        """
        self.game, self.recipe, self.lanes, self.net, self.guide = game, recipe, lanes, net, guide
        self.first_iteration = 1 if guide is None else guide.iterations + 1  # that can be drawn
        rule = recipe.parsed
        self._settings = {
            size: BeliefSearchSettings(
                rule=rule.kernel,
                discounts=tabulate_discounts(rule, 1, recipe.iterations),
                mode=recipe.method.mode,
                is_alternating=recipe.method.is_alternating,
                num_lanes=size,
            )
            for size in LANES
            if size <= lanes
        }
        chances = iteration_chances(rule, recipe.iterations)
        chances[: self.first_iteration - 1] = 0.0
        self._chances = np.cumsum(chances)
        self.net_seconds = 0.0  # that were spent within the network

    def draw_iterations(self, count: int, *, rng: np.random.Generator) -> IntArray:
        """Returns iterations, each as often as it counts in the average."""
        found = np.searchsorted(self._chances, rng.random(count) * self._chances[-1], side="right")
        drawn: IntArray = (np.minimum(found, self.recipe.iterations - 1) + 1).astype(np.int32)
        return drawn

    def search(self, kind: int, belief: SingleArray, draws: BeliefDraws | None = None, **wanted: bool) -> BeliefResult:
        """Returns what solving a kind of subgame for beliefs `[B, 2, width]` gives; `wanted` as in `BeliefKernel`."""
        # no more lanes than there is use for
        size = min((size for size in self._settings if size >= len(belief)), default=self.lanes)
        kernel = self.game.subgames[kind].kernel
        prior = None if self.guide is None else self.guide.propose(kind, belief)
        found = kernel.search(
            np.ascontiguousarray(belief), self.net, self._settings[size], draws, prior=prior, **wanted
        )
        self.net_seconds += found.net_seconds
        return found

    def play(self, kind: int, belief: SingleArray, lane: IntArray, iteration: IntArray) -> SingleArray:
        """Returns `[draws, C]` what is played in iterations `[draws]` of searches for beliefs `[B, 2, width]`, by lane.

        Searches that can end early run beside each other: lanes stop together.
        """
        last = np.zeros(len(belief), np.int32)
        np.maximum.at(last, lane, iteration)
        order = np.argsort(last, kind="stable")
        place = np.empty(len(belief), np.int32)
        place[order] = np.arange(len(belief), dtype=np.int32)
        draws = BeliefDraws.of(place[lane], iteration)
        found = self.search(kind, belief[order], draws, wants_leaves=False, wants_drawn_policy=True, wants_values=False)
        return found.drawn_policy


class SelfPlay:
    """Episodes under way, and the searches that move them on.

    Paper: Brown et al. 2020, "Combining Deep Reinforcement Learning and Search for Imperfect-Information Games",
        Algorithm 1; Brown 2020, PhD thesis, Algorithms 4 and 5.
    Symbols: T -> recipe.iterations; t_sample -> drawn with the weight that iterations have in the average; epsilon ->
        exploration; D_v -> what `generate` returns.
    Departs from the paper: half of the iterations are drawn alike (Algorithm 4) and half by their weights (Algorithm
        5); the beginning of the game is solved once for many episodes, and not learnt; a leaf is drawn
        by its probability under the iteration's strategies, not by a walk, which is the same law.
    Checked by: tests/learning/rebel/test_self_play.py.
    """

    def __init__(self, game: BeliefGame, settings: RebelSettings, recipe: SearchRecipe | None = None) -> None:
        """Begins without an episode; searches are those of the settings' training unless told otherwise."""
        self.game, self.settings = game, settings
        self.searcher = BeliefSearcher(game, recipe or settings.training, lanes=settings.lanes)
        self.pools: list[SingleArray] = [self._no_beliefs() for _ in game.subgames]
        self.num_searches = np.zeros(game.num_kinds, np.int64)
        self._policies: list[PolicyExamples] = []

    def search_with(self, recipe: SearchRecipe, net: BeliefNetKernel, guide: PolicyGuide | None = None) -> None:
        """Goes on with other searches, or other networks."""
        if recipe != self.searcher.recipe or (guide is None) != (self.searcher.guide is None):
            self.searcher = BeliefSearcher(self.game, recipe, lanes=self.settings.lanes, guide=guide)
        self.searcher.net, self.searcher.guide = net, guide

    def _no_beliefs(self) -> SingleArray:
        return np.zeros((0, 2, self.game.width), np.float32)

    def generate(self, count: int, *, rng: np.random.Generator, is_finished: bool = False) -> Examples:
        """Returns at least so many new examples.

        Args:
            count: of examples.
            rng: draws iterations, leaves and who explores.
            is_finished: whether all episodes are played to their ends.
        """
        if self.game.num_kinds == 1:
            self.refuse()
        made: list[Examples] = []
        num_made = 0
        if self.settings.beliefs is BeliefSource.RANDOM:
            while num_made < count:
                made.append(self._make_random(rng))
                num_made += len(made[-1])
        while num_made < count or (is_finished and any(map(len, self.pools))):
            least = self.searcher.lanes if num_made < count else 1
            deepest_first = range(self.game.num_kinds - 1, 0, -1)
            kind = next((kind for kind in deepest_first if len(self.pools[kind]) >= least), 0)
            if kind == 0:
                self._begin_episodes(rng)
                continue
            some = self.pools[kind][-self.searcher.lanes :]
            self.pools[kind] = self.pools[kind][: -self.searcher.lanes]
            examples = self._advance(kind, some, rng)
            made.append(examples)
            num_made += len(examples)
        policies, self._policies = self._policies, []
        return Examples(
            kind=np.concatenate([each.kind for each in made]),
            belief=np.concatenate([each.belief for each in made]),
            value=np.concatenate([each.value for each in made]),
            policies=PolicyExamples.join(policies) if policies else None,
        )

    def _make_random(self, rng: np.random.Generator) -> Examples:
        """Returns examples of one kind of states, any as likely as another, with any beliefs."""
        kind = int(rng.integers(1, self.game.num_kinds))
        # shares that add up to 1, each such list as likely, of the private states that chance can deal
        drawn = rng.exponential(size=(self.searcher.lanes, 2, self.game.width))
        drawn *= self.game.subgames[kind].arrays.root_weight > 0.0
        belief = (drawn / drawn.sum(axis=2, keepdims=True)).astype(np.float32)
        self.num_searches[kind] += len(belief)
        return self._make_examples(kind, belief, self._solve(kind, belief).value)

    def refuse(self) -> None:
        """Raises `ConfigError`: searches never end before the game."""
        raise ConfigError(
            f"searches of {self.game.public.spec.label} with horizon {self.settings.horizon} reach its end: there is "
            "nothing to learn"
        )

    def _begin_episodes(self, rng: np.random.Generator) -> None:
        self._search(0, self.game.root_belief()[None], np.zeros(self.settings.root_draws, np.int32), rng)

    def _advance(self, kind: int, belief: SingleArray, rng: np.random.Generator) -> Examples:
        value = self._search(kind, belief, np.arange(len(belief), dtype=np.int32), rng).value
        return self._make_examples(kind, belief, value)

    def _make_examples(self, kind: int, belief: SingleArray, value: SingleArray) -> Examples:
        left = (belief * value).sum(axis=(1, 2), keepdims=True)
        zero_sum = value - np.float32(0.5) * left * self.game.is_live[kind]
        return Examples(kind=np.full(len(belief), kind, np.int32), belief=belief, value=zero_sum)

    def _search(self, kind: int, belief: SingleArray, lane: IntArray, rng: np.random.Generator) -> BeliefResult:
        """Solves subgames, and puts the leaves that draws lead to where episodes wait."""
        draws = BeliefDraws(
            lane=lane,
            iteration=self._draw_iterations(lane.size, rng),
            explorer=rng.integers(0, 2, lane.size).astype(np.int8),
            point=rng.random(lane.size),
            exploration=self.settings.exploration,
        )
        found = self._solve(kind, belief, draws)
        self.num_searches[kind] += len(belief)
        reached = self.game.subgames[kind].leaf_kind
        kinds = np.append(reached, -1)[found.leaf]
        for next_kind in np.unique(kinds[kinds >= 0]).tolist():
            self.pools[next_kind] = np.concatenate([self.pools[next_kind], found.belief[kinds == next_kind]])
        return found

    def _solve(self, kind: int, belief: SingleArray, *draws: BeliefDraws) -> BeliefResult:
        """Solves subgames, and remembers strategies if they are to be learnt."""
        if not self.settings.warm_start:
            return self.searcher.search(kind, belief, *draws)
        found = self.searcher.search(kind, belief, *draws, wants_policy=True)
        self._policies.append(collect_policies(self.game, kind, belief, found.policy))
        return found

    def _draw_iterations(self, count: int, rng: np.random.Generator) -> IntArray:
        """Returns iterations by their weights, some of them any as likely as another."""
        weighted = self.searcher.draw_iterations(count, rng=rng)
        uniform = rng.integers(self.searcher.first_iteration, self.searcher.recipe.iterations + 1, count)
        is_uniform = rng.random(count) < self.settings.uniform_draws
        return np.where(is_uniform, uniform, weighted).astype(np.int32)

    # --- kept states ---

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Returns the episodes under way."""
        return {
            "pool": np.concatenate(self.pools),
            "pool_size": np.array([len(pool) for pool in self.pools], np.int64),
            "num_searches": self.num_searches,
        }

    def restore(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Goes back to a state."""
        ends = np.cumsum(arrays["pool_size"])
        if ends.size != self.game.num_kinds or arrays["pool"].shape != (ends[-1], 2, self.game.width):
            raise ConfigError("the saved episodes are of another game")
        self.pools = [np.array(part) for part in np.split(arrays["pool"], ends[:-1])]
        self.num_searches = np.array(arrays["num_searches"])
