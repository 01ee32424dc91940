# SPDX-License-Identifier: Apache-2.0
"""Traversals of any game through its rules, all in lock-step: the next decisions of all of them are one batch.

Places are rows of features, since nobody has numbered the information states. A traversal that meets an information set
again draws again, as in the paper's listing.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import AbandonedError, ConfigError
from equipoise.core.interruption import IsInterrupted, never
from equipoise.games.base import CHANCE, TERMINAL, Game, classify_actions
from equipoise.learning.deep_cfr.encoding import Encoder, find_encoder
from equipoise.learning.deep_cfr.settings import DeepCFRSettings, Sampling
from equipoise.learning.deep_cfr.walks import AnyArray, Found, Play
from equipoise.solvers.playouts import draw_chance

__all__ = ["RulesWalks"]

FloatArray = npt.NDArray[np.float64]


class _Waiting(NamedTuple):
    """A state on its way, and the traverser's decision and action above it (-1: none)."""

    state: Any
    above: int
    output: int
    cf_reach: float


class _Level(NamedTuple):
    """The traverser's decisions of one batch."""

    above: list[int]
    output: list[int]
    place: AnyArray
    is_legal: npt.NDArray[np.bool_]
    strategy: FloatArray
    cf_reach: FloatArray
    drawn: npt.NDArray[np.int64]  # output that was sampled, -1: all were taken
    share: FloatArray  # with which it was


class RulesWalks:
    """Traversals through a game's rules.

    >>> from equipoise.games import make_game
    >>> walks = RulesWalks(make_game("kuhn"), DeepCFRSettings(), rng=np.random.default_rng(0))
    >>> found = walks.collect(0, lambda player, place, legal: legal / legal.sum(axis=1, keepdims=True), 100)
    >>> found.regret.shape[1], len(found.met_place) >= 100
    (2, True)
    """

    def __init__(
        self, game: Game[Any], settings: DeepCFRSettings, *, rng: np.random.Generator, encoder: Encoder | None = None
    ) -> None:
        if game.spec.num_players != 2:
            raise ConfigError(f"games without a tree are learnt by two players, got {game.spec.num_players}")
        self.game, self.settings, self.rng = game, settings, rng
        self.encoder = encoder or find_encoder(game)
        self.num_players = 2
        self.num_actions = self.encoder.num_actions
        self.num_features = self.encoder.layout.num_columns
        self.place_shape: tuple[tuple[int, ...], npt.DTypeLike] = ((self.num_features,), np.float16)
        self.nodes_touched = 0
        self._is_interrupted = never

    def features(self, place: AnyArray) -> npt.NDArray[np.float32]:
        """Returns `[B, F]` places as networks take them."""
        return place.astype(np.float32)

    def forget(self, player: int) -> None:
        """Does nothing: no strategy is kept."""

    def state(self) -> dict[str, AnyArray]:
        """Returns the stream of random numbers and the counter."""
        words = json.dumps(self.rng.bit_generator.state).encode()
        return {"rng": np.frombuffer(words, np.uint8).copy(), "nodes_touched": np.array([self.nodes_touched])}

    def restore(self, arrays: dict[str, AnyArray]) -> None:
        """Goes back to them."""
        self.rng.bit_generator.state = json.loads(bytes(arrays["rng"].tobytes()))
        self.nodes_touched = int(arrays["nodes_touched"][0])

    def collect(self, player: int, play: Play, count: int, *, is_interrupted: IsInterrupted = never) -> Found:
        """Returns what so many traversals of a player find; raises `AbandonedError` once it is interrupted."""
        self._is_interrupted = is_interrupted
        first = self.game.initial_state()
        waiting = [_Waiting(first, -1, 0, 1.0) for _ in range(count)]
        levels: list[_Level] = []
        paid: list[list[tuple[int, int, float]]] = []  # by level: decision, output, what the game paid
        met: list[tuple[AnyArray, npt.NDArray[np.bool_], FloatArray, FloatArray]] = []
        num_own = 0
        while waiting:
            arrived, ended = self._advance(waiting, player)
            paid.append(ended)
            sides = [[one for one in arrived if self.game.actor(one.state) == seat] for seat in (player, 1 - player)]
            waiting = []
            if sides[0]:
                level, after = self._decide(player, sides[0], play, num_own)
                levels.append(level)
                num_own += len(sides[0])
                waiting += after
            if sides[1]:
                meeting, after = self._meet(1 - player, sides[1], play)
                met.append(meeting)
                waiting += after
        return self._gather(levels, [one for some in paid for one in some], met, num_own)

    def _advance(self, waiting: list[_Waiting], player: int) -> tuple[list[_Waiting], list[tuple[int, int, float]]]:
        """Returns the decisions that chance leads to, and what games that end pay."""
        game, arrived, ended = self.game, [], []
        for one in waiting:
            self._look()
            state = one.state
            self.nodes_touched += 1
            while (actor := game.actor(state)) == CHANCE:
                state = game.apply(state, draw_chance(game, state, self.rng.random()))
                self.nodes_touched += 1
            if actor == TERMINAL:
                ended.append((one.above, one.output, float(game.returns(state)[player])))
            else:
                arrived.append(one._replace(state=state))
        return arrived, ended

    def _look(self) -> None:
        if self._is_interrupted():
            raise AbandonedError("traversals were interrupted")

    def _ask(
        self, player: int, some: list[_Waiting], play: Play
    ) -> tuple[AnyArray, npt.NDArray[np.bool_], FloatArray, list[list[int]], list[tuple[int, ...]]]:
        """Returns places, legal outputs, strategies, and each state's outputs and actions."""
        game, encoder = self.game, self.encoder
        actions = [tuple(game.legal_actions(one.state)) for one in some]
        outputs = [
            encoder.outputs(classify_actions(game, one.state, own)) for one, own in zip(some, actions, strict=True)
        ]
        is_legal = np.zeros((len(some), self.num_actions), np.bool_)
        for row, own in zip(is_legal, outputs, strict=True):
            if max(own) >= self.num_actions:
                raise ConfigError(f"a decision has {len(own)} actions, more than the network's {self.num_actions}")
            row[own] = True
        rows = []
        for one in some:
            self._look()
            rows.append(encoder.encode(player, game.infostate(one.state, player)))
        place = np.stack(rows).astype(np.float16)
        return place, is_legal, play(player, place, is_legal), outputs, actions

    def _decide(self, player: int, some: list[_Waiting], play: Play, first: int) -> tuple[_Level, list[_Waiting]]:
        """Returns the traverser's decisions and what comes after them."""
        place, is_legal, strategy, outputs, actions = self._ask(player, some, play)
        drawn, share = np.full(len(some), -1), np.ones(len(some))
        after: list[_Waiting] = []
        for row, (one, own, acts) in enumerate(zip(some, outputs, actions, strict=True)):
            above = first + row
            if self.settings.sampling is Sampling.EXTERNAL:
                after += [
                    _Waiting(self.game.apply(one.state, action), above, output, one.cf_reach)
                    for output, action in zip(own, acts, strict=True)
                ]
                continue
            exploration = self.settings.exploration
            shares = exploration / len(own) + (1.0 - exploration) * strategy[row, own]
            chosen = self._draw(shares)
            drawn[row], share[row] = own[chosen], shares[chosen]
            state = self.game.apply(one.state, acts[chosen])
            after.append(_Waiting(state, above, own[chosen], one.cf_reach / shares[chosen]))
        level = _Level(
            above=[one.above for one in some],
            output=[one.output for one in some],
            place=place,
            is_legal=is_legal,
            strategy=strategy,
            cf_reach=np.array([one.cf_reach for one in some]),
            drawn=drawn,
            share=share,
        )
        return level, after

    def _meet(
        self, player: int, some: list[_Waiting], play: Play
    ) -> tuple[tuple[AnyArray, npt.NDArray[np.bool_], FloatArray, FloatArray], list[_Waiting]]:
        """Returns the other player's decisions, and what comes after one drawn action of each."""
        place, is_legal, strategy, outputs, actions = self._ask(player, some, play)
        after = []
        for row, (one, own, acts) in enumerate(zip(some, outputs, actions, strict=True)):
            chosen = self._draw(strategy[row, own])
            after.append(one._replace(state=self.game.apply(one.state, acts[chosen])))
        weight = np.array([one.cf_reach for one in some])
        return (place, is_legal, strategy, weight), after

    def _draw(self, shares: FloatArray) -> int:
        """Returns an index drawn with probabilities that sum to 1 up to rounding."""
        ends = np.cumsum(shares)
        return int(np.searchsorted(ends, self.rng.random() * ends[-1], side="right").clip(max=len(shares) - 1))

    def _gather(
        self,
        levels: list[_Level],
        paid: list[tuple[int, int, float]],
        met: list[tuple[AnyArray, npt.NDArray[np.bool_], FloatArray, FloatArray]],
        num_own: int,
    ) -> Found:
        """Returns regrets, values carried up from the last decisions to the first."""
        value = np.zeros((num_own, self.num_actions))
        regret = np.zeros((num_own, self.num_actions))
        for above, output, amount in paid:
            if above >= 0:
                value[above, output] = amount
        end = num_own
        for level in reversed(levels):
            own = slice(end - len(level.above), end)
            end -= len(level.above)
            found = value[own]
            is_sampled = level.drawn >= 0
            found[is_sampled] /= level.share[is_sampled, None]
            worth = (level.strategy * found).sum(axis=1)
            regret[own] = level.cf_reach[:, None] * np.where(level.is_legal, found - worth[:, None], 0.0)
            for above, output, one in zip(level.above, level.output, worth.tolist(), strict=True):
                if above >= 0:
                    value[above, output] = one
        features, actions = (0, self.num_features), (0, self.num_actions)

        def join(parts: list[Any], shape: tuple[int, ...], dtype: npt.DTypeLike) -> Any:
            return np.concatenate([np.zeros(shape, dtype), *parts])

        return Found(
            place=join([level.place for level in levels], features, np.float16),
            is_legal=join([level.is_legal for level in levels], actions, np.bool_),
            regret=regret,
            met_place=join([one[0] for one in met], features, np.float16),
            met_is_legal=join([one[1] for one in met], actions, np.bool_),
            met_strategy=join([one[2] for one in met], actions, np.float64),
            met_weight=join([one[3] for one in met], (0,), np.float64),
        )
