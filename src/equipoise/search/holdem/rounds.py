# SPDX-License-Identifier: Apache-2.0
"""Solving from the beginning of a betting round: sampled to its end for many players, to the hand's end for two."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from equipoise.abstraction.blueprints import StoredBlueprint
from equipoise.abstraction.bucketed_strategy import BucketedStrategy, BucketRecipe
from equipoise.core.errors import ConfigError
from equipoise.games.holdem.betting import CALL, NOBODY, BettingState, Street
from equipoise.games.holdem.betting_tree import BettingTree, betting_tree
from equipoise.games.holdem.cards import Deck
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.menus import BetSize, Menu, RoundMenu, SizeKind
from equipoise.games.holdem.ranges import Range
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.kernels.arrays import draw_generator
from equipoise.kernels.blueprints import CardDeals
from equipoise.kernels.round_search import PlanArrays, RoundKernel
from equipoise.search.holdem.round_tree import RoundTree
from equipoise.search.running import run_for
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.holdem.bucketed import BucketedSolver
from equipoise.solvers.rules import LinearCFR
from equipoise.trees.holdem.bucketed import build_bucketed_tree
from equipoise.trees.holdem.locks import NodeLock
from equipoise.trees.holdem.places import HoldemPlace
from equipoise.trees.holdem.tree import HoldemTree, build_holdem_tree
from equipoise.trees.vector import TreeStrategy

__all__ = [
    "Kept",
    "RoundSettings",
    "SolvedRound",
    "SolvedStreet",
    "add_bets",
    "follow_nearest",
    "plan_behind",
    "solve_round",
    "solve_to_end",
]

LEAST_PERIODS: Final = 2  # however late it is
Steps = tuple[int, ...]
FloatArray = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class RoundSettings:
    """How a round is solved by sampling.

    Paper: Brown 2020 (thesis) [B20], sections 5.2.2 (four biased continuations) and 6.6 (the searcher chooses as well,
        rounds are solved from their beginning, linear MCCFR).
    Symbols: none.
    Departs from the paper: averages are linear means of what is played at the ends of `periods` equal parts, all hands
        at once. Ranges hold cards of players who are left; those who have folded hold any. What others did that the
        tree lacks is in it where it was done. The factor 5 is an account's of Pluribus; the thesis says 10 for Modicum.
    Checked by: tests/search/test_rounds.py.
    """

    deals: int = 20_000  # each traversed by everybody who is left
    periods: int = 20  # after the n-th of which everything is multiplied by n / (n + 1)
    num_rollouts: int = 1  # of each continuation tried at a leaf
    bias: float = 5.0  # by how much an action is likelier in a continuation that leans to its kind; 1: all are alike
    seconds: float = 0.0  # 0: no limit

    def __post_init__(self) -> None:
        if self.deals < 1 or self.periods < 1 or self.num_rollouts < 1:
            raise ConfigError("deals, periods and rollouts of a search must be at least 1")
        if not (self.bias > 0 and 0 <= self.seconds < math.inf):
            raise ConfigError("bias must be positive, seconds 0 or more")


class Kept(NamedTuple):
    """What is played at a decision whatever is found."""

    actions: Steps
    rows: FloatArray  # [H, A]

    def at(self, offered: Sequence[int]) -> FloatArray:
        """Returns `[H, A]` for what a decision offers, which may be more."""
        out = np.zeros((len(self.rows), len(offered)))
        for column, action in enumerate(self.actions):
            out[:, list(offered).index(action)] = self.rows[:, column]
        return out


class RoundQuestion(NamedTuple):
    """What is asked of a round."""

    begin: BettingState  # when it began
    board: tuple[int, ...]
    ranges: FloatArray  # [players, H] with what everybody came there; zeros for who holds no cards
    line: Steps = ()  # what was done in it and must be in the answer
    fixed: Mapping[Steps, Kept] = MappingProxyType({})  # what is played at some decisions, by their paths


class RoundSolution(Protocol):
    """What was found for a round; a path is what was done since its beginning, raises as totals of the hand."""

    def actor(self, path: Steps) -> int:
        """Returns who decides; `NOBODY` where nobody does."""
        ...

    def actions(self, path: Steps) -> Steps:
        """Returns what a decision offers."""
        ...

    def rows(self, path: Steps) -> FloatArray:
        """Returns `[H, A]` what every hand plays there."""
        ...


class SolvedRound:
    """A round solved by sampling."""

    def __init__(self, tree: RoundTree, kernel: RoundKernel) -> None:
        """Keeps them."""
        self.tree, self.kernel = tree, kernel

    def find(self, path: Steps) -> int:
        """Returns the node of a path."""
        node = 0
        for action in path:
            node = self.tree.child(node, action)
        return node

    def actor(self, path: Steps) -> int:
        """Returns who decides; `NOBODY` where nobody does."""
        return self.tree.states[self.find(path)].actor

    def actions(self, path: Steps) -> Steps:
        """Returns what a decision offers."""
        return self.tree.actions[self.find(path)]

    def rows(self, path: Steps) -> FloatArray:
        """Returns `[H, A]` what every hand plays there."""
        node = self.find(path)
        num_actions = len(self.tree.actions[node])
        if num_actions == 1:
            return np.ones((self.kernel.num_hands, 1))
        return self.kernel.average(node)


class SolvedStreet:
    """The rest of a hand of two players, solved with all hands from the beginning of a street."""

    def __init__(
        self,
        strategy: TreeStrategy[HoldemTree] | BucketedStrategy,
        spot: HoldemSpot,
        *,
        seats: Sequence[int],
        offset: int,
    ) -> None:
        """Keeps a strategy.

        Args:
            strategy: of the street and what follows.
            spot: whose.
            seats: of its two players.
            offset: what a total of the hand is above one of the spot.
        """
        self.strategy, self.spot, self.seats, self.offset = strategy, spot, (*seats, NOBODY), offset

    def find(self, path: Steps) -> int:
        """Returns the node of a path."""
        return _find_node(self.strategy.tree.betting, path, self.offset)

    def state(self, path: Steps) -> BettingState:
        """Returns where the betting stands, in chips of the spot."""
        return self.strategy.tree.betting.nodes[self.find(path)].state

    def actor(self, path: Steps) -> int:
        """Returns who decides; `NOBODY` where nobody does."""
        return self.seats[self.strategy.tree.betting.nodes[self.find(path)].state.actor]

    def actions(self, path: Steps) -> Steps:
        """Returns what a decision offers."""
        return tuple(
            a if a <= CALL else a + self.offset for a in self.strategy.tree.betting.nodes[self.find(path)].actions
        )

    def rows(self, path: Steps) -> FloatArray:
        """Returns `[H, A]` what every hand plays there."""
        return self.strategy.probabilities(HoldemPlace(self.find(path), self.spot.board))


def follow_nearest(solution: RoundSolution, path: Steps) -> Steps:
    """Returns a path through a solution nearest to what was done; shorter where no action is of the kind."""
    found: Steps = ()
    for step in path:
        offered = solution.actions(found)
        raises = [action for action in offered if action > CALL]
        if solution.actor(found) == NOBODY:
            break
        if step in offered:
            found = (*found, step)
        elif step > CALL and raises:
            found = (*found, min(raises, key=lambda total: abs(total - step)))
        else:
            break
    return found


def plan_behind(blueprint: StoredBlueprint) -> PlanArrays:
    """Returns what is played behind the end of a round, as `solve_round` takes it."""
    arrays = blueprint.betting.arrays
    return PlanArrays(
        plan_nodes=arrays.nodes,
        plan_side_pots=arrays.side_pots,
        plan_width=arrays.width,
        plan_start=blueprint.start,
        plan_cells=blueprint.cells,
    )


def solve_round(
    question: RoundQuestion,
    tree: RoundTree,
    plan: PlanArrays,
    cards: CardDeals,
    *,
    settings: RoundSettings,
    rng: np.random.Generator,
) -> SolvedRound:
    """Returns a round solved from its beginning.

    Args:
        question: what is asked.
        tree: of the round.
        plan: the blueprint behind its end.
        cards: with the blueprint's buckets.
        settings: how.
        rng: of deals.
    """
    board = np.array(question.board, np.uint8)
    held = np.where(np.isin(cards.hole_cards, board).any(axis=1), 0.0, question.ranges)
    arrays = tree.arrays
    rows, starts, begin = [], arrays.fixed_row.copy(), 0
    for path, given in question.fixed.items():
        node = 0
        for action in path:
            node = tree.child(node, action)
        starts[node] = begin
        rows.append(given.at(tree.actions[node]).astype(np.float32).reshape(-1))
        begin += rows[-1].size
    arrays = dataclasses.replace(
        arrays, fixed_row=starts, fixed=np.concatenate(rows) if rows else np.zeros(0, np.float32)
    )
    kernel = RoundKernel(arrays, plan, cards, board=board, street=question.begin.street, ranges=held)
    words = draw_generator(rng)
    began, each = time.perf_counter(), -(-settings.deals // settings.periods)
    for period in range(1, settings.periods + 1):
        kernel.train(words, each, num_rollouts=settings.num_rollouts, bias=settings.bias)
        kernel.end_period(1.0, period / (period + 1))  # [B20] 3.1.5, by periods
        spent = time.perf_counter() - began
        if settings.seconds and period >= LEAST_PERIODS and spent * (period + 1) / period > settings.seconds:
            break
    return SolvedRound(tree, kernel)


def solve_to_end(
    question: RoundQuestion,
    deck: Deck,
    menu: Menu,
    *,
    big_blind: int,
    iterations: int,
    seconds: float = 0.0,
    num_threads: int = 1,
    recipe: BucketRecipe | None = None,
) -> SolvedStreet:
    """Returns the rest of a hand of two players from the beginning of a street, solved with all hands or in buckets.

    Args:
        question: what is asked.
        deck: of the game.
        menu: what is considered; what was done is added.
        big_blind: of the game.
        iterations: of linear CFR, fewer if there is a time.
        seconds: 0: no limit.
        num_threads: of the solve.
        recipe: of the buckets that hands play by; nothing is fixed, and iterations count. None: hands themselves.
    """
    state, board = question.begin, question.board
    seats = [seat for seat, is_folded in enumerate(state.is_folded) if not is_folded]
    held = [np.where(hands_of(deck).blocked(board), 0.0, question.ranges[seat]) for seat in seats]
    first, second = (Range(weights / weights.max(), deck) for weights in held)
    pot = sum(state.committed)
    pot -= pot % 2  # an odd chip of who has folded
    spot = HoldemSpot(
        board=board,
        pot=pot,
        stacks=(state.stacks[seats[0]], state.stacks[seats[1]]),
        ranges=(first, second),
        menu=add_bets(menu, state.street, [step - state.price for step in question.line if step > CALL]),
        big_blind=big_blind,
        deck=deck,
    )
    offset = state.price - pot // 2
    if recipe is not None:
        in_buckets = BucketedSolver(build_bucketed_tree(spot, recipe.build(spot)), rng=np.random.default_rng(0))
        in_buckets.iterate(iterations)
        return SolvedStreet(BucketedStrategy.of(in_buckets, recipe), spot, seats=seats, offset=offset)
    betting = betting_tree(spot.betting_rules, spot.menu)
    locks = []
    for path, kept in question.fixed.items():
        node = betting.nodes[_find_node(betting, path, offset)]
        rows = kept.at([a if a <= CALL else a + offset for a in node.actions])
        locks.append(NodeLock(node=node.index, strategy=rows[spot.live_weights(node.state.actor) > 0]))
    tree = build_holdem_tree(spot, locks=locks, betting=betting)
    solver = CFRSolver(tree, LinearCFR(), dtype=np.float32, num_threads=num_threads, locks=locks)
    run_for(seconds or None)(solver, iterations)
    return SolvedStreet(TreeStrategy(tree=tree, sums=solver.tables.strategy_sum), spot, seats=seats, offset=offset)


def _find_node(betting: BettingTree, path: Steps, offset: int) -> int:
    """Returns the node of a path whose totals are so much above those of the betting."""
    node = betting.root
    for action in path:
        own = action if action <= CALL else action - offset
        node = betting.nodes[node.children[node.actions.index(own)]]
    return node.index


def add_bets(menu: Menu, street: Street, bets: Sequence[int]) -> Menu:
    """Returns a menu that offers the n-th bet of a street, in chips of the street, wherever there have been n before.

    >>> from equipoise.games.holdem import format_menu, parse_menu
    >>> format_menu(add_bets(parse_menu("50%; turn: 100%, a; turn cap: 1"), Street.TURN, [170, 600])).split("; ")[2]
    'turn: 100%, a, 170c / 100%, a, 600c / 100%, a'
    """
    if not bets:
        return menu

    def extend(own: RoundMenu) -> RoundMenu:
        lists = list(own.sizes) or [()]
        lists += [lists[-1]] * (len(bets) + 1 - len(lists))
        added = [(*lists[number], BetSize(SizeKind.CHIPS, chips)) for number, chips in enumerate(bets)]
        cap = None if own.max_raises is None else max(own.max_raises, len(bets))
        donk = None if own.donk is None else (*own.donk, BetSize(SizeKind.CHIPS, bets[0]))
        return dataclasses.replace(own, sizes=(*added, *lists[len(bets) :]), donk=donk, max_raises=cap)

    rounds = list(menu.rounds)
    rounds[street] = (extend(rounds[street][0]), extend(rounds[street][1]))
    return dataclasses.replace(menu, rounds=tuple(rounds), merge_percent=0.0, force_percent=0.0)
