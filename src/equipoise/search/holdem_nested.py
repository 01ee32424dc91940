# SPDX-License-Identifier: Apache-2.0
"""Hold'em solved again while it is played: from any decision on, and behind bets that the strategy so far lacks.

The first stage is a blueprint, a later one the last search (`holdem_stages.py`).
Values by hand are given that it is held, in chips won since the hand began; hands are numbered as in the deck.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Final

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError, GameTooLargeError
from equipoise.games.holdem.betting import FOLD, BettingRules, BettingState, Stage, apply_action
from equipoise.games.holdem.betting_tree import (
    DEALING,
    NO_PARENT,
    BettingNode,
    BettingTree,
    add_to_root,
    betting_tree,
    cut_betting,
)
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.isomorphism import hand_permutation
from equipoise.games.holdem.menus import Menu
from equipoise.games.holdem.ranges import Range
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.kernels.holdem.leaves import HoldemLeaves
from equipoise.kernels.holdem.sweeps import TableArray
from equipoise.search.gadgets import Exact, GiftBound, Given, Maxmargin, Method, Reach, Unsafe, check_deviation
from equipoise.search.holdem import HoldemSearch, find_mass, measure_alternatives
from equipoise.search.holdem_depth_limit import (
    HoldemBlueprint,
    LeafChoices,
    LimitedSpot,
    OnLine,
    estimate_leaf_bytes,
    limit_depth,
)
from equipoise.search.holdem_parts import copy_strategy
from equipoise.search.holdem_stages import Board, HoldemResult, HoldemStage
from equipoise.solvers.cfr import CFRSolver, estimate_bytes
from equipoise.solvers.rules import CFRPlus, Rule
from equipoise.trees.holdem.places import HoldemPlace, HoldemStrategy
from equipoise.trees.holdem.tree import HoldemTree, plan_holdem_tree
from equipoise.trees.vector import TreeStrategy

__all__ = [
    "HoldemNestedSearch",
    "HoldemSearchSettings",
    "Reply",
    "count_deals",
]

FloatArray = npt.NDArray[np.float64]
SingleArray = npt.NDArray[np.float32]

Run = Callable[[CFRSolver[HoldemTree], int], None]

REACH_MAXMARGIN: Final = Maxmargin(reach=Reach())
SAME: Final = 1e-6  # of the largest alternative: within it hands of other suits count as worth the same


def run_at_once(solver: CFRSolver[HoldemTree], num_iterations: int) -> None:
    """Runs so many iterations."""
    solver.iterate(num_iterations)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class HoldemSearchSettings:
    """How a part of a hand is solved again."""

    method: Method = REACH_MAXMARGIN  # alternatives are best responses to the strategy so far
    iterations: int = 2000  # of CFR, on the last street; with fewer a good strategy may get worse (river_iterations.py)
    early_iterations: int = 50  # likewise where a street follows, which takes some fifty times as long
    rule: Rule = dataclasses.field(default_factory=lambda: CFRPlus(gamma=1.0))
    menu: Menu | None = None  # bets that searches consider; None: those of the strategy so far
    leaf_choices: LeafChoices | None = None  # on the turn: end with it, the river being the strategy so far's
    leaf_iterations: int = 300  # of CFR, on a turn that does
    is_expensive: bool = False  # solve from before an unknown action on, all others there included
    num_threads: int = 1
    max_bytes: int = 1_000_000_000  # a search that takes more is refused: a minute and more

    def __post_init__(self) -> None:
        for name in ("iterations", "early_iterations", "leaf_iterations", "num_threads", "max_bytes"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.leaf_choices is not None and self.menu is not None:
            raise ConfigError("what leaves are worth is known for the bets of the strategy so far: leave menu out")
        if not isinstance(self.method, Unsafe) and not isinstance(self.method.alternatives, Exact):
            raise ConfigError("search in hold'em finds its alternatives itself: leave them at their default")
        check_deviation(self.method, "search in hold'em")

    @property
    def begins_before(self) -> bool:
        """Returns whether replies are found from before the action on: unsafe search needs its probability anyway."""
        return self.is_expensive or isinstance(self.method, Unsafe)


@dataclasses.dataclass(frozen=True, slots=True)
class Reply:
    """An action of the opponent that the strategy so far does not know."""

    action: int  # total raised to


class HoldemNestedSearch:
    """Searches of one player.

    Paper: Brown 2020, PhD thesis, sections 5.1.2, 5.1.3 and 5.1.7 (both forms).
    Symbols: sigma -> the stage's policy; CB~V(I_1) -> `_measure`; g -> gifts; a -> the reply's action.
    Departs from the paper: every hand that the opponent may have been dealt counts as dealt alike at the gate, which
        moves no margin; where the searcher never comes by its own strategy it can be searched as if all its hands had.
    Checked by: tests/search/test_holdem_nested.py.
    """

    def __init__(self, policy: HoldemStrategy, searcher: int, settings: HoldemSearchSettings | None = None) -> None:
        """Keeps a strategy.

        Args:
            policy: of a whole spot without rake.
            searcher: who searches.
            settings: how.
        """
        if policy.tree.spot.rake_rate:
            raise ConfigError(
                f"search is for games in sum 0, and the spot has a rake of {policy.tree.spot.rake_rate:g}"
            )
        self.policy, self.searcher, self.opponent = policy, searcher, 1 - searcher
        self.settings = settings or HoldemSearchSettings()
        self._dealt = np.asarray(policy.tree.spot.live_weights(self.opponent) > 0, np.float64)

    def begin(self) -> HoldemStage:
        """Returns the first stage: the strategy that was given."""
        first, second = (np.array(self.policy.tree.spot.live_weights(player)) for player in (0, 1))
        return HoldemStage(policy=self.policy, reach=(first, second), gifts=np.zeros(first.size))

    def search(
        self,
        stage: HoldemStage,
        node: int,
        board: Board,
        reply: Reply | None = None,
        *,
        is_there: bool = False,
        run: Run = run_at_once,
        on_line: OnLine | None = None,
    ) -> HoldemResult | None:
        """Returns what is played from a decision on, solved again.

        None where the searcher's own strategy never comes, unless it is there: there is nothing to search for.

        Args:
            stage: the strategy so far.
            node: a decision of its betting; the opponent's if it takes an unknown action there.
            board: cards that lie there.
            reply: that action, behind which the search begins, or before which in the expensive form.
            is_there: search as if all hands of the searcher came where none does.
            run: runs iterations, all of them unless it has a reason not to.
            on_line: is told how far the table of leaves is, where there is one.
        """
        here = stage.betting.nodes[node]
        if not is_there and not stage.reach_at(node, board)[self.searcher].any():
            return None
        reach = self._reach_at(stage, node, board)
        gifts = stage.gifts + self._gifts(stage, node, board)
        is_safe = not isinstance(self.settings.method, Unsafe)
        alternative = np.zeros(gifts.size)
        if is_safe:
            alternative = self._measure(stage, node, board) + gifts
        spot = self._spot(here.state, board, reach)
        betting = self._find_betting(stage, here, spot.betting_rules, reply)
        if reply is None and self.has_leaves(betting):
            tree, blueprint = self._copy_part(stage, node, board)
            limited = self._limit(spot, tree, blueprint, on_line)
            known = alternative, reach[self.opponent]
            sums: TableArray = self._solve_street(limited, tree, blueprint, known, run)
        else:
            tree, sums = self._solve(spot, betting, alternative, reach[self.opponent], run)
        following = HoldemStage(policy=TreeStrategy(tree, sums), reach=reach, gifts=gifts)
        value = self._by_hand(tree, measure_alternatives(tree, sums, self.opponent))
        possible = self._by_hand(tree, find_mass(tree, self.opponent)) > 0
        place = 0
        if reply is not None and self.settings.begins_before:
            place = betting.root.children[betting.root.actions.index(reply.action)]
        return HoldemResult(
            searcher=self.searcher,
            stage=following,
            node=place,
            tree=tree,
            alternative=alternative,
            value=value,
            possible=possible,
        )

    def _find_betting(
        self, stage: HoldemStage, here: BettingNode, rules: BettingRules, reply: Reply | None
    ) -> BettingTree:
        """Returns what is bet from where a search begins on."""
        menu = self.settings.menu
        if reply is not None and not self.settings.begins_before:
            return betting_tree(rules, menu or stage.betting.menu, root=apply_action(rules, here.state, reply.action))
        betting = cut_betting(stage.betting, here.index) if menu is None else betting_tree(rules, menu, root=here.state)
        return betting if reply is None else add_to_root(betting, reply.action)

    def has_leaves(self, betting: BettingTree) -> bool:
        """Returns whether a search of known bets ends with their first street: one more follows, and it shall."""
        streets = betting.rules.last_street - betting.root.state.street
        return self.settings.leaf_choices is not None and streets == 1

    def estimate_leaves(self, betting: BettingTree, board: Board) -> int:
        """Returns the most bytes that the table of leaves can take where betting goes on like that, on a board."""
        first, second = (np.asarray(self.policy.tree.spot.live_weights(player) > 0, np.float64) for player in (0, 1))
        spot = self._spot(betting.root.state, board, (first, second))
        return estimate_leaf_bytes(spot, self.settings.leaf_choices, betting=betting)

    def _reach_at(self, stage: HoldemStage, node: int, board: Board) -> tuple[FloatArray, FloatArray]:
        """Returns `[H]` both players' reaches of a node, the searcher's as at the beginning if it never comes."""
        reach = stage.reach_at(node, board)
        if reach[self.searcher].any():
            return reach
        own = np.array(self.policy.tree.spot.live_weights(self.searcher))
        own[hands_of(self.policy.tree.spot.deck).blocked(board)] = 0.0
        return _with(reach, self.searcher, own)

    def _spot(self, state: BettingState, board: Board, reach: tuple[FloatArray, FloatArray]) -> HoldemSpot:
        """Returns the spot of the street on which a state is; safe searches give the opponent every hand."""
        spot = self.policy.tree.spot
        held = list(reach)
        if not isinstance(self.settings.method, Unsafe) or not held[self.opponent].any():
            held[self.opponent] = self._dealt
        first, second = (Range(own / own.max(), spot.deck) for own in held)
        if not board:
            return dataclasses.replace(spot, ranges=(first, second))
        behind = tuple(paid + left - state.base for paid, left in zip(state.committed, state.stacks, strict=True))
        return dataclasses.replace(
            spot, board=board, pot=2 * state.base, stacks=(behind[0], behind[1]), ranges=(first, second)
        )

    def _solve(
        self, spot: HoldemSpot, betting: BettingTree, alternative: FloatArray, prior: FloatArray, run: Run
    ) -> tuple[HoldemTree, TableArray]:
        """Returns the tree of a search and the average that it comes to, `[C]`.

        Args:
            spot: what is solved.
            betting: from where on.
            alternative: `[H]` of the opponent's hands.
            prior: `[H]` their reach as far as the strategy so far says, for methods that mix it in.
            run: runs iterations.
        """
        settings = self.settings
        tree = self._build(spot, betting)
        is_safe = not isinstance(settings.method, Unsafe)
        if is_safe and not (_is_alike(tree, alternative) and _is_alike(tree, prior)):
            tree = self._build(spot, betting, merges_suits=False)
        solver = self._begin(tree, None, alternative, prior)
        is_last = betting.root.state.street == betting.rules.last_street
        run(solver, settings.iterations if is_last else settings.early_iterations)
        return tree, solver.tables.strategy_sum

    def _begin(
        self, tree: HoldemTree, leaves: HoldemLeaves | None, alternative: FloatArray, prior: FloatArray
    ) -> CFRSolver[HoldemTree]:
        """Returns a run that has not begun, behind the method's gate."""
        settings = self.settings
        if isinstance(settings.method, Unsafe):
            return CFRSolver(tree, settings.rule, num_threads=settings.num_threads, frontier=leaves)
        rows = np.zeros((2, tree.arrays.num_rows(0, self.opponent)))
        hands = tree.hands[0][self.opponent]
        rows[:, : hands.size] = alternative[hands], prior[hands]
        method = dataclasses.replace(settings.method, alternatives=Given(rows[0]), reach=None)
        search = HoldemSearch(tree=tree, searcher=self.searcher, method=method, prior=rows[1], leaves=leaves)
        return search.solver(rule=settings.rule, num_threads=settings.num_threads)

    def _limit(self, spot: HoldemSpot, tree: HoldemTree, sums: SingleArray, on_line: OnLine | None) -> LimitedSpot:
        """Returns a spot that ends with its street, and a strategy that goes on there; refuses what takes too much."""
        settings = self.settings
        needed = estimate_leaf_bytes(spot, settings.leaf_choices, betting=tree.betting)
        if needed > settings.max_bytes:
            raise GameTooLargeError(
                f"the table of the leaves takes {needed / 1e9:,.1f} GB, the limit is {settings.max_bytes / 1e9:,.1f} GB"
            )
        return limit_depth(
            spot,
            HoldemBlueprint(tree=tree, sums=sums),
            self.searcher,
            settings.leaf_choices,
            num_threads=settings.num_threads,
            on_line=on_line,
        )

    def _solve_street(
        self,
        limited: LimitedSpot,
        tree: HoldemTree,
        sums: SingleArray,
        known: tuple[FloatArray, FloatArray],
        run: Run,
    ) -> SingleArray:
        """Returns the strategy so far with its first street solved again; `sums` `[C]` over its tree is overwritten.

        Args:
            limited: what is solved.
            tree: of the strategy so far, down to the last street.
            sums: what it plays.
            known: `[H]` alternatives of the opponent's hands, and their reach as far as the strategy so far says.
            run: runs iterations.
        """
        solver = self._begin(limited.tree, limited.leaves, *known)
        run(solver, self.settings.leaf_iterations)
        found = TreeStrategy(limited.tree, solver.tables.strategy_sum)
        for inner, decision in limited.tree.decisions.items():
            strategy = found.probabilities(HoldemPlace(inner, limited.tree.spot.board))
            sums[tree.cells(0, inner)] = strategy[tree.hands[0][decision.player]]
        return sums

    def _build(self, spot: HoldemSpot, betting: BettingTree, *, merges_suits: bool = True) -> HoldemTree:
        """Returns the tree of a spot, if searching it does not take too much."""
        plan = plan_holdem_tree(spot, betting=betting, merges_suits=merges_suits)
        settings = self.settings
        needed = estimate_bytes(plan, settings.rule, num_threads=settings.num_threads)
        if needed > settings.max_bytes:
            raise GameTooLargeError(
                f"searching the {spot.name} takes {needed / 1e9:,.1f} GB, the limit is {settings.max_bytes / 1e9:,.1f} "
                "GB: begin on a later street, or consider fewer bets"
            )
        return plan.build()

    def _measure(self, stage: HoldemStage, node: int, board: Board, only: int | None = None) -> FloatArray:
        """Returns `[H]` what the opponent's best response within a stage earns from a decision on.

        Args:
            stage: the strategy that it responds to.
            node: the decision.
            board: cards that lie there.
            only: the one action that is open at the decision; None: all.
        """
        if only == FOLD:
            committed = stage.betting.nodes[node].state.committed
            return np.full(self._dealt.size, -float(committed[self.opponent]))
        tree, sums = self._copy_part(stage, node, board, only)
        return self._by_hand(tree, measure_alternatives(tree, sums, self.opponent))

    def _copy_part(
        self, stage: HoldemStage, node: int, board: Board, only: int | None = None
    ) -> tuple[HoldemTree, SingleArray]:
        """Returns what a stage plays from a decision on, the opponent having every hand: a tree, and `[C]` over it."""
        here = stage.betting.nodes[node]
        reach = self._reach_at(stage, node, board)
        spot = self._spot(here.state, board, _with(reach, self.opponent, self._dealt))
        tree = self._build(spot, cut_betting(stage.betting, node, only=only), merges_suits=False)
        first = node + 1 if only is None else here.children[here.actions.index(only)]
        outer = {inner: node if inner == 0 else first + inner - 1 for inner in tree.decisions}
        if only is not None:
            del outer[0]  # one action, whatever the table says
        return tree, copy_strategy(stage.policy, tree, outer)

    def _by_hand(self, tree: HoldemTree, rows: FloatArray) -> FloatArray:
        """Returns `[H]` by number of a hand the numbers of the opponent's rows at the root."""
        hands = tree.hands[0][self.opponent]
        out = np.zeros(tree.spot.deck.num_hands)
        out[hands] = rows[: hands.size]
        return out

    def _gifts(self, stage: HoldemStage, node: int, board: Board) -> FloatArray:
        """Returns `[H]` what the opponent's hands gave away between the root of a stage and a node, scaled."""
        total = np.zeros(self._dealt.size)
        reach = None if isinstance(self.settings.method, Unsafe) else self.settings.method.reach
        if reach is None or reach.scale == 0:
            return total
        for above, below in stage.path(node):
            if above.state.actor == self.opponent:
                taken = above.actions[above.children.index(below)]
                total += self._gift(stage, above, taken, board[: above.state.street.num_board_cards], reach.bound)
        outcomes = 1 if reach.is_split else count_deals(stage.betting, node, self.policy.tree.spot.deck.num_cards)
        return total * reach.scale * outcomes

    def _gift(self, stage: HoldemStage, above: BettingNode, taken: int, board: Board, bound: GiftBound) -> FloatArray:
        """Returns `[H]` by how much an action falls short of the best one that counts."""
        if bound is GiftBound.LOWER and not _final_actions(stage.betting, above, taken):
            return np.zeros(self._dealt.size)
        value = self._measure(stage, above.index, board, only=taken)
        if bound is GiftBound.EXACT:
            return np.maximum(self._measure(stage, above.index, board) - value, 0.0)
        finals = [
            self._measure(stage, above.index, board, only=action)
            for action in _final_actions(stage.betting, above, taken)
        ]
        gift: FloatArray = np.max([value, *finals], axis=0) - value
        gift[hands_of(self.policy.tree.spot.deck).blocked(board)] = 0.0
        return gift


def _final_actions(betting: BettingTree, node: BettingNode, taken: int) -> list[int]:
    """Returns the actions beside the one taken that end the hand at once."""
    pairs = zip(node.actions, node.children, strict=True)
    return [
        action
        for action, child in pairs
        if action != taken and betting.nodes[child].state.stage in (Stage.FOLD, Stage.SHOWDOWN)
    ]


def count_deals(betting: BettingTree, node: int, num_cards: int) -> int:
    """Returns how many sets of cards a deck could deal right above a node, 1 if none are dealt there."""
    here = betting.nodes[node]
    if here.parent == NO_PARENT or here.action != DEALING:
        return 1
    before = betting.nodes[here.parent].state.street.num_board_cards
    return math.comb(num_cards - before, here.state.street.num_board_cards - before)


def _is_alike(tree: HoldemTree, values: FloatArray) -> bool:
    """Returns whether values `[H]` are the same under the relabellings of suits by which a tree merges boards."""
    slack = SAME * max(1.0, float(np.abs(values).max()))
    deck = tree.spot.deck
    return all(
        np.allclose(values[hand_permutation(relabelling, deck)], values, rtol=0, atol=slack)
        for relabelling in tree.symmetries
    )


def _with(reach: tuple[FloatArray, FloatArray], player: int, own: FloatArray) -> tuple[FloatArray, FloatArray]:
    return (own, reach[1]) if player == 0 else (reach[0], own)
