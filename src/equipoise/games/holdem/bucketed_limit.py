# SPDX-License-Identifier: Apache-2.0
"""Limit hold'em in which cards are buckets: the rules, and the same game over public states.

On every street both players learn which of k equally likely groups their hand is in, weakest first, and remember the
groups of the streets before; nobody sees a board. Which pair of paths comes, and who wins with it, is the joint law of
the real cards (`bucket_law`), so what two strategies earn from each other here is what they earn in hold'em.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import ClassVar, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.games.base import (
    CHANCE,
    TERMINAL,
    ActionClass,
    GameSpec,
    derived,
    duel_spec,
    illegal_action,
    no_returns,
    parameter,
)
from equipoise.games.holdem.betting import (
    CALL,
    FOLD,
    BettingRules,
    BettingState,
    Stage,
    Street,
    apply_action,
    initial_betting,
    legal_actions,
    name_action,
    next_street,
    payoffs,
)
from equipoise.games.holdem.bucket_law import NUM_STREETS, BucketLaw, find_law
from equipoise.games.parameters import check_parameters
from equipoise.games.public import NO_ACTION, PublicEdge, PublicGame, Relation

__all__ = ["BIG_BLIND", "MILLI_BLINDS", "BucketLine", "BucketedLimitHoldem", "BucketedLimitLines", "BucketedState"]

SMALL_BLIND: Final = 1
BIG_BLIND: Final = 2
BET_SIZES: Final = (2, 2, 4, 4)
MILLI_BLINDS: Final = 1000 / BIG_BLIND  # to a chip: mbb/g
STACK: Final = 1_000  # more than nine raises on every street take
MOST_RAISES: Final = 9
WIN, TIE, LOSS = range(3)  # outcomes of a showdown for player 0
RESULT_NAMES: Final = ("win", "tie", "loss")

FloatArray = npt.NDArray[np.float64]


class BucketedState(NamedTuple):
    """Buckets dealt and where the betting stands."""

    buckets: tuple[tuple[int, ...], tuple[int, ...]]  # by player, as far as dealt
    betting: BettingState
    result: int | None  # of the showdown, once it is known
    public: str


class BucketLine(NamedTuple):
    """A public state: the betting so far."""

    betting: BettingState
    public: str


class _StreetLaw(NamedTuple):
    """What chance does on a street, as lists: single entries of arrays are slow to read."""

    pairs: list[list[float]]  # [k^s, k^s] probability of both players' paths
    results: list[list[list[float]]]  # [3, k^s, k^s] and of the results of a showdown after this street


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class BucketedLimitHoldem:
    """Heads-up limit hold'em with k nested percentile buckets of E[HS^2] a street in the place of cards.

    Betting, seats and chips are those of `holdem_limit`: player 0 posts the big blind of 2, player 1 the small one and
    acts first before the flop; bets of 2, 2, 4, 4. Chance deals a bucket to player 0, then to player 1, on each street,
    and at a showdown who wins. With fewer streets the showdown comes after the last one's betting, whatever the board
    will be. 476,934 information states with 3 buckets, 3,624,290 with 5.

    Paper: Davis 2015 (thesis), section 5.2.2; perfect recall of buckets follows from the count it gives, 3.6e6.
    Departs from the paper: nothing known; the thesis does not say how it breaks ties between equal strengths.
    Checked by: tests/games/holdem/test_bucketed_limit.py.
    """

    name: ClassVar[str] = "bucketed_limit_holdem"

    buckets: int = parameter(3, "buckets on every street, within each one of the street before", low=1, high=6)
    streets: int = parameter(4, "rounds of betting before the showdown", low=1, high=NUM_STREETS)
    max_raises: tuple[int, ...] = parameter((3, 4, 4, 4), "most bets and raises by street, blinds not counted")
    spec: GameSpec = derived()
    betting_rules: BettingRules = derived()

    def __post_init__(self) -> None:
        check_parameters(self)
        if len(self.max_raises) != NUM_STREETS or not all(0 <= most <= MOST_RAISES for most in self.max_raises):
            given = ",".join(map(str, self.max_raises))
            raise ConfigError(f"max_raises must be {NUM_STREETS} numbers from 0 to {MOST_RAISES}, got {given}")
        rules = BettingRules(
            stacks=(STACK, STACK),
            small_blind=SMALL_BLIND,
            big_blind=BIG_BLIND,
            bet_sizes=BET_SIZES,
            max_raises=self.max_raises,
            last_street=Street(self.streets - 1),
        )
        object.__setattr__(self, "betting_rules", rules)
        object.__setattr__(self, "spec", self._make_spec())

    def initial_state(self) -> BucketedState:
        """Returns the state after the blinds and before the deal."""
        return BucketedState(((), ()), initial_betting(self.betting_rules), None, "deal 0")

    def actor(self, state: BucketedState) -> int:
        """Returns the player to move, `CHANCE` or `TERMINAL`."""
        if self._is_deal(state):
            return CHANCE
        stage = state.betting.stage
        if stage is Stage.SHOWDOWN and state.result is None:
            return CHANCE
        return state.betting.actor if stage is Stage.ACT else TERMINAL

    def legal_actions(self, state: BucketedState) -> tuple[int, ...]:
        """Returns fold (0) when facing a bet, call (1), and the total that may be raised to."""
        return legal_actions(self.betting_rules, state.betting) if self.actor(state) >= 0 else ()

    def chance_outcomes(self, state: BucketedState) -> tuple[tuple[int, float], ...]:
        """Returns the next player's buckets, or whether player 0 wins (0), ties (1) or loses (2)."""
        if self.actor(state) != CHANCE:
            return ()
        if self._is_deal(state):
            weights = self._bucket_weights(state)
        else:
            first, second = (self._path(path) for path in state.buckets)
            weights = [table[first][second] for table in self._law(self.streets - 1).results]
        total = sum(weights)
        return tuple((outcome, weight / total) for outcome, weight in enumerate(weights) if weight > 0.0)

    def apply(self, state: BucketedState, action: int) -> BucketedState:
        """Returns the state after a bucket is dealt, a player acts or the cards are turned up."""
        actor = self.actor(state)
        if actor == CHANCE:
            if action not in dict(self.chance_outcomes(state)):
                raise illegal_action(self, state, action)
            return self._deal(state, action) if self._is_deal(state) else self._turn_up(state, action)
        if action not in self.legal_actions(state):
            raise illegal_action(self, state, action)
        betting = apply_action(self.betting_rules, state.betting, action)
        public = state.public + _word(action)
        if betting.stage is Stage.DEAL:
            betting, public = next_street(self.betting_rules, betting), f"{public}/deal 0"
        return state._replace(betting=betting, public=public)

    def returns(self, state: BucketedState) -> tuple[float, ...]:
        """Returns chips won by each player."""
        if self.actor(state) != TERMINAL:
            raise no_returns(self, state)
        strengths: tuple[int, ...] = ()
        if state.result is not None:
            strengths = (LOSS - state.result, state.result)
        return tuple(float(chips) for chips in payoffs(state.betting, strengths))

    def infostate(self, state: BucketedState, player: int) -> str:
        """Returns the player's buckets, one figure a street, then the betting."""
        return f"{_digits(state.buckets[player])}|{state.public}"

    def public_state(self, state: BucketedState) -> str:
        """Returns the betting, and how many of a street's buckets are dealt."""
        return state.public

    def action_name(self, state: BucketedState, action: int) -> str:
        """Returns the bucket dealt, the result of the showdown, or fold, check, call, bet or raise with its amount."""
        if self.actor(state) != CHANCE:
            return name_action(state.betting, action)
        return f"bucket {action}" if self._is_deal(state) else RESULT_NAMES[action]

    def action_class(self, state: BucketedState, action: int) -> ActionClass:
        """Returns fold, call or raise."""
        return ActionClass.OTHER if self.actor(state) == CHANCE else _action_class(action)

    def describe(self, state: BucketedState) -> str:
        """Returns buckets, chips and betting in words."""
        paths = " ".join(_digits(path) for path in state.buckets)
        chips = " ".join(str(amount) for amount in state.betting.committed)
        return f"buckets {paths}, put in {chips}, play {state.public}"

    def public_form(self) -> PublicGame[BucketLine]:
        """Returns the game over public states, which are lines of betting."""
        return BucketedLimitLines(self)

    def count_infosets(self) -> int:
        """Returns the number of information states, those that no cards lead to included.

        >>> BucketedLimitHoldem(buckets=5).count_infosets()
        3624290
        """
        return sum(count * self.buckets ** (street + 1) for street, count in enumerate(self.count_decisions()))

    def count_decisions(self) -> list[int]:
        """Returns the lines of betting, by street, in which somebody decides.

        >>> BucketedLimitHoldem().count_decisions()
        [8, 70, 630, 5670]
        """
        counts, num_lines, betting = [], 1, initial_betting(self.betting_rules)
        for _ in range(self.streets):
            pending, num_decisions, ends = [betting], 0, []
            while pending:
                state = pending.pop()
                if state.stage is not Stage.ACT:
                    ends.append(state)
                    continue
                num_decisions += 1
                pending += [
                    apply_action(self.betting_rules, state, action)
                    for action in legal_actions(self.betting_rules, state)
                ]
            counts.append(num_lines * num_decisions)
            going_on = [end for end in ends if end.stage is Stage.DEAL]
            num_lines *= len(going_on)
            if going_on:  # every line goes on alike: nobody is ever all-in
                betting = next_street(self.betting_rules, going_on[0])
        return counts

    def _law(self, street: int) -> _StreetLaw:
        return _street_law(self.buckets, street)

    def _path(self, buckets: tuple[int, ...]) -> int:
        return functools.reduce(lambda path, bucket: path * self.buckets + bucket, buckets, 0)

    def _is_deal(self, state: BucketedState) -> bool:
        return state.betting.stage is Stage.ACT and len(state.buckets[1]) <= state.betting.street

    def _bucket_weights(self, state: BucketedState) -> list[float]:
        """Returns the weight of each bucket that the next player may get, given what both have."""
        first, second = state.buckets
        street, options = state.betting.street, range(self.buckets)
        pairs = self._law(street).pairs
        if len(first) == len(second):
            above, other = self._path(first) * self.buckets, self._path(second) * self.buckets
            return [sum(pairs[above + bucket][other : other + self.buckets]) for bucket in options]
        row, other = pairs[self._path(first)], self._path(second) * self.buckets
        return [row[other + bucket] for bucket in options]

    def _deal(self, state: BucketedState, bucket: int) -> BucketedState:
        first, second = state.buckets
        before = state.public.removesuffix("deal 0").removesuffix("deal 1")
        if len(first) == len(second):
            return state._replace(buckets=((*first, bucket), second), public=f"{before}deal 1")
        return state._replace(buckets=(first, (*second, bucket)), public=before)

    def _turn_up(self, state: BucketedState, result: int) -> BucketedState:
        return state._replace(result=result, public=f"{state.public} {RESULT_NAMES[result]}")

    def _make_spec(self) -> GameSpec:
        stake = BIG_BLIND + sum(
            most * size for most, size in zip(self.max_raises[: self.streets], BET_SIZES, strict=False)
        )
        num_deals, num_showdowns, num_passive = 2 * self.streets, 1, 2 * self.streets
        return duel_spec(
            self,
            most=float(stake),
            max_length=num_deals + num_showdowns + num_passive + sum(self.max_raises[: self.streets]),
        )


@dataclasses.dataclass(frozen=True, slots=True)
class BucketedLimitLines:
    """Bucketed limit hold'em as a `PublicGame`: public states are lines of betting, private states are bucket paths.

    Deals are part of the edge that ends a street, showdowns pay what the law expects. All terminals of one street that
    end in a fold share a matrix, and so do all showdowns.
    """

    game: BucketedLimitHoldem

    @property
    def spec(self) -> GameSpec:
        """Returns the facts of the game."""
        return self.game.spec

    def initial_state(self) -> BucketLine:
        """Returns the line after the blinds."""
        return BucketLine(initial_betting(self.game.betting_rules), "")

    def actor(self, state: BucketLine) -> int:
        """Returns the player to move or `TERMINAL`."""
        return state.betting.actor if state.betting.stage is Stage.ACT else TERMINAL

    def num_private(self, state: BucketLine, player: int) -> int:
        """Returns the number of bucket paths."""
        return int(self.game.buckets ** (state.betting.street + 1))

    def legal_actions(self, state: BucketLine) -> tuple[int, ...]:
        """Returns the actions of the line; every path has them all."""
        return legal_actions(self.game.betting_rules, state.betting) if self.actor(state) >= 0 else ()

    def legality(self, state: BucketLine) -> npt.NDArray[np.bool_]:
        """Returns `[H, A]` ones."""
        return np.ones((self.num_private(state, 0), len(self.legal_actions(state))), np.bool_)

    def edges(self, state: BucketLine) -> tuple[PublicEdge[BucketLine], ...]:
        """Returns one edge per action; the last one of a street deals the next buckets."""
        rules, actor, num_paths = self.game.betting_rules, self.actor(state), self.num_private(state, 0)
        edges = []
        for column, action in enumerate(self.legal_actions(state)):
            betting, public = apply_action(rules, state.betting, action), state.public + _word(action)
            num_children = 1
            if betting.stage is Stage.DEAL:
                betting, public, num_children = next_street(rules, betting), f"{public}/", self.game.buckets
            moved, waited = _extend(num_paths, num_children, column), _extend(num_paths, num_children, NO_ACTION)
            relations = (moved, waited) if actor == 0 else (waited, moved)
            edges.append(PublicEdge(BucketLine(betting, public), relations))
        return tuple(edges)

    def joint_weights(self, state: BucketLine) -> FloatArray:
        """Returns `[H, H]` the probability of both players' paths."""
        return self._law.pair_weights(state.betting.street)

    def payoffs(self, state: BucketLine) -> FloatArray:
        """Returns `[2, H, H]` probability times chips won."""
        _, stake = self.payoff_table(state)
        if state.betting.stage is Stage.FOLD:
            first = stake * self.joint_weights(state)
        else:
            win, _, loss = self._law.showdown_weights(state.betting.street)
            first = stake * (win - loss)
        return np.stack([first, -first])

    def payoff_table(self, state: BucketLine) -> tuple[str, float]:
        """Returns the street of a fold, or the showdown, and what player 0 gets (if it wins)."""
        betting = state.betting
        if betting.stage is Stage.FOLD:
            return f"fold {betting.street}", float(payoffs(betting)[0])
        return "showdown", float(betting.committed[0])

    def infostate(self, state: BucketLine, player: int, private: int) -> str:
        """Returns the buckets and the betting, as the game writes them."""
        return f"{_format_path(private, self.game.buckets, state.betting.street)}|{state.public}"

    def public_state(self, state: BucketLine) -> str:
        """Returns the betting."""
        return state.public

    def action_name(self, state: BucketLine, action: int) -> str:
        """Returns fold, check, call, bet or raise with its amount."""
        return name_action(state.betting, action)

    def action_class(self, state: BucketLine, action: int) -> ActionClass:
        """Returns fold, call or raise."""
        return _action_class(action)

    @property
    def _law(self) -> BucketLaw:
        return find_law(self.game.buckets)


@functools.cache
def _street_law(num_buckets: int, street: int) -> _StreetLaw:
    law = find_law(num_buckets)
    return _StreetLaw(law.pair_weights(street).tolist(), law.showdown_weights(street).tolist())


@functools.cache
def _extend(num_paths: int, num_children: int, action: int) -> Relation:
    """Returns the relation in which every path goes on in as many ways."""
    return Relation.pick(np.repeat(np.arange(num_paths), num_children), action=action)


@functools.cache
def _format_path(path: int, num_buckets: int, street: int) -> str:
    buckets = []
    for _ in range(street + 1):
        path, bucket = divmod(path, num_buckets)
        buckets.append(bucket)
    return _digits(tuple(reversed(buckets)))


def _digits(buckets: tuple[int, ...]) -> str:
    return "".join(map(str, buckets)) or "?"


def _word(action: int) -> str:
    return {FOLD: "f", CALL: "c"}.get(action, "r")


def _action_class(action: int) -> ActionClass:
    return {FOLD: ActionClass.FOLD, CALL: ActionClass.CALL}.get(action, ActionClass.RAISE)
