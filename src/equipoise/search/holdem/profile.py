# SPDX-License-Identifier: Apache-2.0
"""Profiles of hold'em: a strategy by hands, whose parts are copied into trees of their own where they are measured.

Values by hand are given that it is held, in chips won since the hand began; hands are numbered as in the deck.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError, GameTooLargeError
from equipoise.games.holdem.betting import (
    FOLD,
    BettingRules,
    BettingState,
    Stage,
    Street,
    apply_action,
    initial_betting,
    next_street,
)
from equipoise.games.holdem.betting_tree import (
    DEALING,
    NO_PARENT,
    BettingNode,
    BettingTree,
    NodeKind,
    add_to_root,
    betting_tree,
    cut_betting,
)
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.isomorphism import hand_permutation
from equipoise.games.holdem.ranges import Range
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.search.gadgets import Unsafe
from equipoise.search.holdem.copying import copy_strategy
from equipoise.search.holdem.depth_limit import OnLine, estimate_leaf_bytes, limit_depth
from equipoise.search.holdem.leaves import AfterDeal, HoldemState, bind_lines, place_spot, trace_line
from equipoise.search.holdem.streets import StreetLeaves, StreetStart, plant_root
from equipoise.search.holdem.subgame import HoldemSubgame
from equipoise.search.leaves import LeafEvaluator
from equipoise.search.limits import RoundLimit
from equipoise.search.posing import Standing
from equipoise.search.profiles import Opening, Reply, Table, given_there
from equipoise.search.settings import DEFAULT_ITERATIONS, LAST_ITERATIONS, MAX_BYTES, SearchSettings
from equipoise.solvers.cfr import estimate_bytes
from equipoise.solvers.rules import CFRPlus, Rule
from equipoise.trees.holdem.places import HoldemPlace, HoldemPlaces, HoldemStrategy, SpotPlaces
from equipoise.trees.holdem.tree import HoldemTree, plan_first_street, plan_holdem_tree
from equipoise.trees.vector import TreeStrategy, UniformStrategy, follow_reach

__all__ = ["HoldemProfile", "Limits", "count_deals", "has_leaves"]

FloatArray = npt.NDArray[np.float64]
Reaches = tuple[FloatArray, FloatArray]

SAME: Final = 1e-6  # of the largest alternative: within it hands of other suits count as worth the same


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What trees of parts may take."""

    max_bytes: int = MAX_BYTES
    rule: Rule = dataclasses.field(default_factory=lambda: CFRPlus(gamma=1.0))  # that they are solved by
    num_threads: int = 1


class HoldemProfile:
    r"""What both players play from somewhere in a hand on: the root of its strategy's betting.

    >>> from equipoise.runs import load_spot, solve
    >>> text = "board = 'Ks7h2d5c9h'\npot = 20\nstacks = 30\nmenu = '50%'\nranges = {oop = 'AA', ip = 'KK, QQ'}"
    >>> profile = HoldemProfile(solve(load_spot(text), iterations=10).strategy)
    >>> len(profile.betting.nodes)
    9
    """

    def __init__(
        self,
        strategy: HoldemStrategy,
        *,
        root_reach: Reaches | None = None,
        begin: HoldemSpot | None = None,
        line: tuple[int, ...] = (),
        response: HoldemStrategy | None = None,
        limits: Limits | None = None,
        on_line: OnLine | None = None,
        streets: StreetLeaves | None = None,
    ) -> None:
        """Keeps a strategy.

        Args:
            strategy: of a spot without rake.
            root_reach: `[H]` both players' reaches of its root; the spot's ranges if None.
            begin: the spot with which the hand began, and all that was dealt; the strategy's own if None.
            line: actions that led from there to its root.
            response: what estimates go by, unless they say it themselves.
            limits: of memory.
            on_line: is told how far a table of leaves is, where a search has one.
            streets: what streets are worth, if searches look no further than their own.
        """
        self.begin = strategy.tree.spot if begin is None else begin
        if self.begin.rake_rate:
            raise ConfigError(f"search is for games in sum 0, and the spot has a rake of {self.begin.rake_rate:g}")
        self.strategy, self.response, self.line = strategy, response, line
        first, second = (np.array(self.begin.live_weights(player)) for player in (0, 1))
        self.root_reach = (first, second) if root_reach is None else root_reach
        self.limits, self.on_line, self.streets = limits or Limits(), on_line, streets
        self._part: HoldemSubgame | None = None  # the last one that was measured, until a search begins
        self._values: dict[tuple[HoldemPlace, int, int, bool], FloatArray] = {}

    @classmethod
    def unknown(cls, spot: HoldemSpot, *, state: BettingState | None = None, **where: Any) -> HoldemProfile:
        """Returns a profile that knows where play is and nothing of what is played there, not even the bets.

        Args:
            spot: with which the street begins.
            state: where its betting stands; as it begins if None.
            where: as for a profile.
        """
        state = initial_betting(spot.betting_rules) if state is None else state
        places = SpotPlaces(spot, plant_root(spot.betting_rules, spot.menu, state))
        return cls(UniformStrategy(places), **where)

    @property
    def tree(self) -> HoldemPlaces:
        """Returns the places that it may be asked about."""
        return self.strategy.tree

    @property
    def betting(self) -> BettingTree:
        """Returns the bets that it knows."""
        return self.strategy.tree.betting

    def probabilities(self, place: HoldemPlace) -> FloatArray:
        """Returns `[H, A]` what the actor of a place does."""
        return self.strategy.probabilities(place)

    def reach(self, place: HoldemPlace) -> Reaches:
        """Returns `[H]` both players' reaches, without the hands that the board blocks."""
        return follow_reach(self.tree, self.strategy, self.root_reach, place)

    def reach_there(self, place: HoldemPlace, searcher: int) -> Reaches:
        """Returns `[H]` both players' reaches, the searcher's as at the beginning if it never comes."""
        reach = self.reach(place)
        if reach[searcher].any():
            return reach
        own = np.array(self.begin.live_weights(searcher))
        own[hands_of(self.begin.deck).blocked(place.board)] = 0.0
        return (own, reach[1]) if searcher == 0 else (reach[0], own)

    def dealt(self, player: int) -> FloatArray:
        """Returns `[H]` 1 for every hand that a player may have been dealt."""
        return np.asarray(self.begin.live_weights(player) > 0, np.float64)

    def mass(self, place: HoldemPlace, player: int) -> FloatArray:
        """Returns `[H]` how likely the other player comes to each of a player's hands, as if it were there."""
        return self.tree.joint_at(place).mass(player, self.reach_there(place, 1 - player)[1 - player])

    def action_values(
        self,
        place: HoldemPlace,
        player: int,
        *,
        columns: Sequence[int] | None = None,
        response: HoldemStrategy | None = None,
    ) -> FloatArray:
        """Returns `[H, A]` what the actions of a player at a decision of its own are worth, given that it is there."""
        actions = self.betting.nodes[place.node].actions
        out = np.zeros((self.begin.deck.num_hands, len(actions)))
        for column in range(len(actions)) if columns is None else columns:
            key = (place, player, column, response is None)
            if response not in (None, self.response):
                out[:, column] = self._measure(place, player, actions[column], response)
                continue
            if key not in self._values:
                self._values[key] = self._measure(place, player, actions[column], response)
            out[:, column] = self._values[key]
        return out

    def _measure(
        self, place: HoldemPlace, player: int, action: int, response: HoldemStrategy | None = None
    ) -> FloatArray:
        """Returns `[H]` what an action is worth to a player at a decision of its own."""
        if action == FOLD:
            committed = self.betting.nodes[place.node].state.committed
            return np.full(self.begin.deck.num_hands, -float(committed[player]))
        part = self.subgame(place, 1 - player, only=action)
        if response is None:
            values = part.best_values(player, part.strategy)
        else:
            values = part.strategy_values(player, self.copy(response, part), part.strategy)
        return given_there(values, part.mass(player))

    def final_actions(self, place: HoldemPlace) -> npt.NDArray[np.bool_]:
        """Returns `[H, A]` which actions of a decision end the hand at once."""
        children = self.betting.nodes[place.node].children
        ends = [self.betting.nodes[child].state.stage in (Stage.FOLD, Stage.SHOWDOWN) for child in children]
        return np.broadcast_to(np.array(ends), (self.begin.deck.num_hands, len(ends)))

    def num_outcomes(self, place: HoldemPlace) -> int:
        """Returns how many sets of cards the deck could deal right above a place, 1 if none are dealt there."""
        return count_deals(self.betting, place.node, self.begin.deck.num_cards)

    def subgame(self, place: HoldemPlace, searcher: int, *, only: int | None = None) -> HoldemSubgame:
        """Returns what is played from a decision on, the searcher's opponent having every hand.

        Args:
            place: the decision.
            searcher: who is there, with all its hands if it never comes.
            only: the one action that is open at the decision; None: all.
        """
        here = self.betting.nodes[place.node]
        reach = self.reach_there(place, searcher)
        spot = self.spot_at(here.state, place.board, reach, everybody=1 - searcher)
        line = self._line_to(place.node)
        tree, ends = self._lay_out(spot, cut_betting(self.betting, place.node, only=only), line, merges_suits=False)
        first = place.node + 1 if only is None else here.children[here.actions.index(only)]
        outer = {inner: place.node if inner == 0 else first + inner - 1 for inner in tree.decisions}
        if only is not None:
            outer.pop(0, None)  # one action, whatever the table says
        sums = copy_strategy(self.strategy, tree, outer)
        part = HoldemSubgame(place=place, tree=tree, reach=reach, line=line, outer=outer, sums=sums, **ends)
        if only is None:
            self._part = part
        return part

    def copy(self, strategy: HoldemStrategy, subgame: HoldemSubgame) -> Table:
        """Returns `[C]` over a subgame's tree what a strategy of the same bets plays there."""
        return copy_strategy(strategy, subgame.tree, subgame.outer)

    def spot_at(
        self, state: BettingState, board: tuple[int, ...], reach: Reaches, *, everybody: int | None
    ) -> HoldemSpot:
        """Returns the spot of the street on which a state is.

        Args:
            state: where the betting stands.
            board: cards that lie there.
            reach: `[H]` both players'.
            everybody: who has every hand that it may have been dealt in place of its reach, if anybody.
        """
        held = [self.dealt(player) if player == everybody or not own.any() else own for player, own in enumerate(reach)]
        first, second = (Range(own / own.max(), self.begin.deck) for own in held)
        return place_spot(self.begin, state, board, (first, second))

    def _line_to(self, node: int) -> tuple[int, ...]:
        return self.line + trace_line(self.betting, node)

    def _build(self, spot: HoldemSpot, betting: BettingTree, *, merges_suits: bool = True) -> HoldemTree:
        """Returns the tree of a spot, if searching it does not take too much."""
        plan = plan_holdem_tree(spot, betting=betting, merges_suits=merges_suits)
        limits = self.limits
        needed = estimate_bytes(plan, limits.rule, num_threads=limits.num_threads)
        if needed > limits.max_bytes:
            raise GameTooLargeError(
                f"searching the {spot.name} takes {needed / 1e9:,.1f} GB, the limit is {limits.max_bytes / 1e9:,.1f} "
                "GB: begin on a later street, or consider fewer bets"
            )
        return plan.build()

    # --- a street at a time ---

    def standpoint(self, place: HoldemPlace, searcher: int) -> HoldemSubgame | StreetStart:
        """Returns where the opponent is measured: where nothing is known by what the beginning of a street is worth."""
        state, opponent = self.betting.nodes[place.node].state, 1 - searcher
        if self.streets is None or self.betting.nodes[place.node].children:
            return self.subgame(place, searcher)
        reach = self.reach_there(place, searcher)
        own = reach[opponent] if reach[opponent].any() else self.dealt(opponent)
        joint = self.tree.joint_at(place)
        return StreetStart(
            place=place,
            state=HoldemState(self._line_to(place.node), state, place.board),
            joint=joint,
            reach=(own, reach[1]) if opponent == 0 else (reach[0], own),
            evaluator=self.streets.start_of(state.street),
        )

    def _end_of(self, street: Street) -> LeafEvaluator | None:
        """Returns who values the lines that leave a street, None where searches go on to the end of the hand."""
        return None if self.streets is None else self.streets.ends.get(street)

    def _lay_out(
        self, spot: HoldemSpot, betting: BettingTree, line: tuple[int, ...], *, merges_suits: bool
    ) -> tuple[HoldemTree, dict[str, Any]]:
        """Returns the tree of some betting, and what a subgame says of its leaves if it is one street alone."""
        evaluator = self._end_of(betting.root.state.street)
        if evaluator is None:
            return self._build(spot, betting, merges_suits=merges_suits), {}
        tree = plan_first_street(spot, betting=betting).build()
        return tree, {"frontier": bind_lines(tree, line, evaluator)}

    def deal(self, place: HoldemPlace, step: Any) -> HoldemProfile | None:
        """Returns what is known behind cards that come where a street is all that there is; None elsewhere.

        It is where play stands and who may be there: what follows has not been searched.
        """
        here = self.betting.nodes[place.node]
        if here.kind is not NodeKind.STREET_END or here.children:
            return None
        board = (*place.board, *step)
        is_held = ~hands_of(self.begin.deck).blocked(board)
        first, second = (own * is_held for own in self.reach(place))
        state = next_street(self.begin.betting_rules, here.state)
        held = [own if own.any() else self.dealt(player) * is_held for player, own in enumerate((first, second))]
        spot = self.spot_at(state, board, (held[0], held[1]), everybody=None)
        return HoldemProfile.unknown(
            spot,
            state=state,
            root_reach=(first, second),
            begin=self.begin,
            line=self._line_to(place.node),
            limits=self.limits,
            on_line=self.on_line,
            streets=self.streets,
        )

    # --- searches ---

    keeps_better = True

    def step(self, place: HoldemPlace, step: int | tuple[int, ...]) -> HoldemPlace | None:
        """Returns where an action, or the cards of a deal, lead to; None where it does not know the bet."""
        here = self.betting.nodes[place.node]
        if isinstance(step, tuple):
            return HoldemPlace(here.children[0], (*place.board, *step))
        return HoldemPlace(here.children[here.actions.index(step)], place.board) if step in here.actions else None

    def opens_round(self, place: HoldemPlace) -> bool:
        """Returns whether cards were just dealt; at the root of a spot they were."""
        return self.betting.nodes[place.node].action == DEALING

    def street_at(self, place: HoldemPlace) -> Street:
        """Returns the street."""
        return self.betting.nodes[place.node].state.street

    def prepare(self, settings: SearchSettings) -> HoldemProfile:
        """Returns the profile with the memory and threads that settings allow."""
        if settings.limit is not None and (not isinstance(settings.limit, RoundLimit) or settings.limit.rounds > 1):
            raise ConfigError(f"hold'em ends with a street, RoundLimit(), got {settings.limit}")
        if settings.streets is not None and settings.menu is None:
            raise ConfigError("searches of a street at a time need a menu: nothing says what is bet behind it")
        limits = Limits(max_bytes=settings.max_bytes, rule=settings.rule, num_threads=settings.num_threads)
        return HoldemProfile(
            self.strategy,
            root_reach=self.root_reach,
            begin=self.begin,
            line=self.line,
            response=self.response,
            limits=limits,
            on_line=self.on_line,
            streets=settings.streets,
        )

    def num_iterations(self, subgame: HoldemSubgame, settings: SearchSettings) -> int:
        """Returns how long a subgame is solved."""
        if subgame.frontier is not None:
            return settings.leaf_iterations if settings.streets is None else settings.iterations or DEFAULT_ITERATIONS
        betting = subgame.tree.betting
        is_last = betting.root.state.street == betting.rules.last_street
        return (settings.iterations or LAST_ITERATIONS) if is_last else settings.early_iterations

    def open(
        self, place: HoldemPlace, searcher: int, reply: Reply | None, settings: SearchSettings, standing: Standing
    ) -> Opening:
        """Returns what is solved where a search begins; see `Profile.open`."""
        here, opponent = self.betting.nodes[place.node], 1 - searcher
        is_safe = not isinstance(settings.method, Unsafe)
        part, self._part = self._part, None
        if part is not None and (part.place != place or not is_safe):
            part = None
        reach = self.reach_there(self._find_behind(place, reply, settings), searcher)
        if self.streets is not None:
            reach = self._scale_opponent(reach, place.board, opponent)
        spot = self.spot_at(here.state, place.board, reach, everybody=opponent if is_safe else None)
        betting = self._find_betting(here, spot.betting_rules, reply, settings)
        hands: npt.NDArray[np.int32] = np.arange(self.begin.deck.num_hands, dtype=np.int32)
        is_known = reply is None and settings.menu is None
        is_limited = has_leaves(betting, settings) and (is_known or settings.leaves is not None)
        if is_limited and is_known:
            subgame = self._limit(part or self.subgame(place, searcher), spot, searcher, settings)
            self._part = None
            return Opening(subgame, hands, subgame.tree.root_place)
        node, line = 0, self._line_to(place.node)
        if reply is not None and settings.begins_before:
            node = betting.root.children[betting.root.actions.index(reply.action)]
        elif reply is not None:
            line = (*line, reply.action)
        tree, ends = self._lay_out(spot, betting, line, merges_suits=not is_limited)
        told = (standing.alternative, standing.deviation, reach[opponent])
        if is_safe and not all(_is_alike(tree, values) for values in told):
            tree = part.tree if part is not None and is_known else self._build(spot, betting, merges_suits=False)
        subgame = HoldemSubgame(
            place=place, tree=tree, reach=reach, line=line, outer={}, num_threads=settings.num_threads, **ends
        )
        if is_limited:
            subgame = self._limit(subgame, spot, searcher, settings)
        return Opening(subgame, hands, HoldemPlace(node, tuple(tree.spot.board)))

    def _find_betting(
        self, here: BettingNode, rules: BettingRules, reply: Reply | None, settings: SearchSettings
    ) -> BettingTree:
        """Returns what is bet from where a search begins on."""
        menu, ends = settings.menu, self._end_of(here.state.street) is not None
        if reply is not None and not settings.begins_before:
            state = apply_action(rules, here.state, reply.action)
            return betting_tree(rules, menu or self.betting.menu, root=state, is_one_round=ends)
        if menu is None:
            betting = cut_betting(self.betting, here.index)
        else:
            betting = betting_tree(rules, menu, root=here.state, is_one_round=ends)
        return betting if reply is None else add_to_root(betting, reply.action, is_one_round=ends)

    def _scale_opponent(self, reach: Reaches, board: tuple[int, ...], opponent: int) -> Reaches:
        """Returns reaches of which the opponent's are as large as a gate's, at most 1; all hands if it never comes."""
        own = reach[opponent] if reach[opponent].any() else self.dealt(opponent)
        own = np.where(hands_of(self.begin.deck).blocked(board), 0.0, own / own.max())
        return (own, reach[1]) if opponent == 0 else (reach[0], own)

    def _find_behind(self, place: HoldemPlace, reply: Reply | None, settings: SearchSettings) -> HoldemPlace:
        """Returns the place by which both players' reaches go: behind a reply that is known after all."""
        if reply is None or settings.begins_before:
            return place
        return self.step(place, reply.action) or place

    def _limit(self, whole: HoldemSubgame, spot: HoldemSpot, searcher: int, settings: SearchSettings) -> HoldemSubgame:
        """Returns a subgame that ends with its street; refuses what takes too much."""
        if settings.leaves is not None:
            is_after = isinstance(settings.limit, RoundLimit) and settings.limit.is_after_deal
            evaluator = AfterDeal(settings.leaves, self.begin) if is_after else settings.leaves
            return dataclasses.replace(whole.end_with_street(spot, evaluator), num_threads=settings.num_threads)
        needed = estimate_leaf_bytes(spot, settings.leaf_choices, betting=whole.tree.betting)
        if needed > settings.max_bytes:
            raise GameTooLargeError(
                f"the table of the leaves takes {needed / 1e9:,.1f} GB, the limit is {settings.max_bytes / 1e9:,.1f} GB"
            )
        limited = limit_depth(
            spot,
            TreeStrategy(tree=whole.tree, sums=whole.strategy),
            searcher,
            settings.leaf_choices,
            num_threads=settings.num_threads,
            on_line=self.on_line,
        )
        return dataclasses.replace(
            limited,
            reach=whole.reach,
            place=whole.place,
            line=whole.line,
            whole=whole,
            num_threads=settings.num_threads,
        )

    def follow(self, subgame: HoldemSubgame, strategy: Table, response: Table | None) -> HoldemProfile:
        """Returns what is played from where a subgame begins on, `[C]` over its tree, and by what estimates go."""
        return HoldemProfile(
            TreeStrategy(subgame.tree, strategy),
            root_reach=subgame.reach,
            begin=self.begin,
            line=subgame.line,
            response=None if response is None else TreeStrategy(subgame.tree, response),
            limits=self.limits,
            on_line=self.on_line,
            streets=self.streets,
        )

    def estimate_leaves(self, betting: BettingTree, board: tuple[int, ...], settings: SearchSettings) -> int:
        """Returns the most bytes that the table of leaves can take where betting goes on like that, on a board."""
        spot = self.spot_at(betting.root.state, board, (self.dealt(0), self.dealt(1)), everybody=None)
        return estimate_leaf_bytes(spot, settings.leaf_choices, betting=betting)


def has_leaves(betting: BettingTree, settings: SearchSettings) -> bool:
    """Returns whether a search ends with its first street: more follow, just one if there are choices."""
    streets = betting.rules.last_street - betting.root.state.street
    return streets == 1 if settings.leaf_choices is not None else settings.leaves is not None and streets > 0


def _is_alike(tree: HoldemTree, values: FloatArray) -> bool:
    """Returns whether values `[H]` are the same under the relabellings of suits by which a tree merges boards."""
    slack = SAME * max(1.0, float(np.abs(values).max()))
    deck = tree.spot.deck
    return all(
        np.allclose(values[hand_permutation(relabelling, deck)], values, rtol=0, atol=slack)
        for relabelling in tree.symmetries
    )


def count_deals(betting: BettingTree, node: int, num_cards: int) -> int:
    """Returns how many sets of cards a deck could deal right above a node, 1 if none are dealt there."""
    here = betting.nodes[node]
    if here.parent == NO_PARENT or here.action != DEALING:
        return 1
    before = betting.nodes[here.parent].state.street.num_board_cards
    return math.comb(num_cards - before, here.state.street.num_board_cards - before)
