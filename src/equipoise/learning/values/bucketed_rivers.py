# SPDX-License-Identifier: Apache-2.0
"""Rivers solved in buckets of strength, as leaves of a search of the turn: what DeepStack has in place of a network.

Hands of a board fall into buckets by their strength, the betting of the river is solved between buckets that block
nothing (`solve_toy_games`), and a hand is worth what a showdown pays it, exactly, plus what betting adds in its bucket
for every unit of mass that it can meet.
"""

from __future__ import annotations

import functools
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.games.holdem.betting import BettingState, Stage, Street
from equipoise.games.holdem.betting_tree import BettingTree, NodeKind, betting_tree
from equipoise.games.holdem.menus import Menu
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.kernels.frontier import BeliefBatch, LeafValues
from equipoise.kernels.toy_games import ToyBetting, solve_toy_games
from equipoise.kernels.value_nets import CurveAxes, StateArrays, ValueFeatures, find_features
from equipoise.learning.values.boards import BoardFacts, find_quantiles, shared_boards
from equipoise.search.leaves import RecentPlans
from equipoise.solvers.rule_notation import parse_rule
from equipoise.solvers.rules import tabulate_discounts

__all__ = ["BucketedRivers", "bind_betting"]

NO_CURVES: Final = CurveAxes(2, 1, 0)  # features are asked for what showdowns pay
KINDS: Final = {NodeKind.DECISION: 0, NodeKind.FOLD: 1, NodeKind.SHOWDOWN: 2}
KEPT_BETTINGS: Final = 256

SingleArray = npt.NDArray[np.float32]
FloatArray = npt.NDArray[np.float64]


def bind_betting(betting: BettingTree, pot: float) -> ToyBetting:
    """Returns the betting of a last street between strengths, amounts in pots.

    Args:
        betting: from its first decision on.
        pot: chips that were put in before it.
    """
    nodes = betting.nodes
    counts = [len(node.children) if node.kind is NodeKind.DECISION else 0 for node in nodes]
    return ToyBetting(
        kind=np.array([KINDS[node.kind] for node in nodes], np.int32),
        player=np.array(
            [node.state.actor if node.kind is NodeKind.DECISION else max(node.folder, 0) for node in nodes], np.int32
        ),
        first_child=np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
        child=np.array(
            [child for node, size in zip(nodes, counts, strict=True) for child in node.children[:size]], np.int32
        ),
        amount=np.array(
            [
                0.0 if node.kind is NodeKind.DECISION else node.state.committed[max(node.folder, 0)] / pot
                for node in nodes
            ],
            np.float32,
        ),
    )


class _Rivers(NamedTuple):
    """What is the same in every question about some states, B of them."""

    boards: list[BoardFacts]
    board_of: npt.NDArray[np.int32]  # [B]
    bucket: npt.NDArray[np.int64]  # [boards, n]
    pot: FloatArray  # [B] chips
    games: list[tuple[ToyBetting, npt.NDArray[np.int64]]]  # betting, and the states that have it


class BucketedRivers:
    """Both players' values at the start of rivers, from the solution of each in buckets of strength.

    Paper: Moravcik et al. 2017, "DeepStack": "on the turn it solves to the end of the game using a bucketed abstraction
        for all river actions", in the words of Zarick et al. 2020, section 3, who add that its details were never
        presented.
    Departs from the paper: buckets are of equal size by strength on every board; rivers are solved anew for the ranges
        of every question; what cards block counts in full at showdowns, and in betting by the mass that a hand meets.
    Checked by: tests/learning/values/test_bucketed_rivers.py.
    """

    def __init__(
        self,
        spot: HoldemSpot,
        *,
        menu: Menu | None = None,
        num_buckets: int = 60,
        iterations: int = 60,
        rule: str = "dcfr(1.5,0,4)",
    ) -> None:
        """Says how rivers are solved.

        Args:
            spot: with which hands begin.
            menu: bets of the river, the spot's if None.
            num_buckets: of strength on a board; hands of equal strength stay together.
            iterations: of discounted CFR.
            rule: of it.
        """
        if num_buckets < 2 or iterations < 1:
            raise ConfigError(f"rivers need two buckets and an iteration, got {num_buckets} and {iterations}")
        self.rules, self.menu, self.deck = spot.betting_rules, menu or spot.menu, spot.deck
        self.num_buckets = num_buckets
        weights = tabulate_discounts(parse_rule(rule), 1, iterations)
        self._discounts = np.ascontiguousarray(weights[:, :3])
        self._plans = RecentPlans(self._plan, size=64)  # `AfterDeal` may ask about a few cards at a time
        self._bind = functools.lru_cache(KEPT_BETTINGS)(self._find_betting)

    def evaluate(self, batch: BeliefBatch) -> LeafValues:
        """Returns the values of the solutions."""
        out = np.zeros(batch.reach[0].shape), np.zeros(batch.reach[1].shape)
        if not batch.states:
            return LeafValues(out)
        plan = self._plans.find(batch)
        first, second = (np.ascontiguousarray(own, np.float64) for own in batch.reach)
        found = find_features(
            NO_CURVES, StateArrays([facts.bound for facts in plan.boards], plan.board_of, (first, second))
        )
        value = found.base + found.matched * self._add_betting(plan, found)
        for player, met in enumerate((second, first)):
            scale = plan.pot * met.sum(axis=1)
            for row, board in enumerate(plan.board_of.tolist()):
                out[player][row, plan.boards[board].hands] = scale[row] * value[row, player]
        return LeafValues(out)

    def _add_betting(self, plan: _Rivers, found: ValueFeatures) -> SingleArray:
        """Returns `[B, 2, n]` what betting adds to a showdown, for every unit of mass that a hand can meet."""
        added = np.zeros(found.range.shape, np.float32)
        for betting, rows in plan.games:
            bucket = plan.bucket[plan.board_of[rows]]  # [ranges, n]
            mass = self._gather(found.range[rows], bucket)
            earned = solve_toy_games(betting, mass, self._discounts)
            below = np.cumsum(mass, axis=2) - mass
            paid = 0.5 * (2.0 * below + mass - mass.sum(axis=2, keepdims=True))[:, ::-1]  # at a showdown
            gain = (earned - paid).astype(np.float32)
            added[rows] = np.take_along_axis(gain, np.repeat(bucket[:, None], 2, axis=1), axis=2)
        return added

    def _gather(self, ranges: SingleArray, bucket: npt.NDArray[np.int64]) -> SingleArray:
        """Returns `[ranges, 2, buckets]` ranges `[ranges, 2, n]` by bucket."""
        lines = np.arange(2 * len(ranges)).reshape(-1, 2, 1) * self.num_buckets
        places = (lines + bucket[:, None]).ravel()
        sums = np.bincount(places, ranges.ravel(), minlength=2 * len(ranges) * self.num_buckets)
        return sums.reshape(len(ranges), 2, self.num_buckets).astype(np.float32)

    def _plan(self, batch: BeliefBatch) -> _Rivers:
        rows: dict[tuple[int, ...], int] = {}
        games: dict[BettingState, list[int]] = {}
        for place, state in enumerate(batch.states):
            if len(state.board) != Street.RIVER.num_board_cards:
                raise ConfigError(f"buckets of strength value rivers, they were asked about {len(state.board)} cards")
            rows.setdefault(tuple(sorted(state.board)), len(rows))
            if min(state.stacks) > 0:
                games.setdefault(state.betting, []).append(place)
        boards = shared_boards(self.deck).find(list(rows))
        bucket = [
            np.minimum((find_quantiles(facts.key) * self.num_buckets).astype(np.int64), self.num_buckets - 1)
            for facts in boards
        ]
        return _Rivers(
            boards,
            np.array([rows[tuple(sorted(state.board))] for state in batch.states], np.int32),
            np.stack(bucket),
            np.array([2.0 * min(state.betting.committed) for state in batch.states]),
            [(self._bind(betting), np.array(places)) for betting, places in games.items()],
        )

    def _find_betting(self, state: BettingState) -> ToyBetting:
        if state.stage is not Stage.ACT:
            raise ConfigError("rivers are valued before anybody has bet")
        return bind_betting(betting_tree(self.rules, self.menu, root=state), 2.0 * min(state.committed))
