# SPDX-License-Identifier: Apache-2.0
"""Leduc as value networks see it: the beginnings of its second round, and random situations there, solved.

Once the public card lies there, a private card is a pair or stands somewhere in the order of the other ranks: what the
public card is does not matter any more, and buckets are (place in the order, suit), the public card's suit first.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.games.base import CHANCE
from equipoise.games.leduc import CALL, FOLD, NO_CARD, Leduc, LeducState
from equipoise.games.public import PublicGame
from equipoise.games.registry import format_game, parse_game
from equipoise.kernels.arithmetic import multiply
from equipoise.learning.values.bucket_states import BucketPlan, BucketState
from equipoise.learning.values.shards import Arrays
from equipoise.learning.values.situations import draw_ranges
from equipoise.search.leaves import LeafPart
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rules import DCFR
from equipoise.trees.derive import derive_public_game
from equipoise.trees.public import build_public_tree
from equipoise.trees.subtree import cut_subtree

__all__ = ["LeducSource", "LeducStates", "find_leduc", "round_range"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

LEAST_SHARE = 1e-7  # of a range, that every card has: who never comes has no values that mean anything


def find_leduc(text: str) -> Leduc:
    """Returns the form of Leduc that a text names; raises `ConfigError` if it names another game."""
    game = parse_game(text)
    if not isinstance(game, Leduc):
        raise ConfigError(f"networks of small games are for Leduc, got {text}")
    return game


class _Opening(NamedTuple):
    """A beginning of the second round, by the rules."""

    board: int
    chips: float  # of each player in the pot
    showdown: dict[tuple[int, int], float]  # by pair of private cards, what player 0 wins if nobody bets


class LeducStates:
    """The public states of Leduc at which the second round begins, as networks see them."""

    def __init__(self, game: Leduc, public: PublicGame[Any] | None = None) -> None:
        """Plays the first round through.

        Args:
            game: any form of Leduc.
            public: the same game over public states, whose states will be asked for; derived here if None.
        """
        self.game = game
        self.public = derive_public_game(game) if public is None else public
        self._openings = _find_openings(game)
        self._known: dict[Any, BucketState] = {}

    @property
    def num_buckets(self) -> int:
        """Returns the places in the order of strength, times the suits."""
        return _orbits(self.game).size

    @property
    def orbits(self) -> IntArray:
        """Returns `[buckets]` the place of each bucket in the order of strength: its suits play no part."""
        return _orbits(self.game)

    @property
    def _copies(self) -> int:
        """Returns the cards of a rank that are told apart."""
        return 1 if self.game.merge_suits else self.game.suits

    def find(self, state: Any) -> BucketState:
        """Returns what is known of a public state."""
        if state not in self._known:
            self._known[state] = self._describe(state)
        return self._known[state]

    def opening(self, label: str) -> _Opening:
        """Returns the opening of a public state's label."""
        if label not in self._openings:
            raise ConfigError(f"networks of {self.game.name} know where the second round begins, not {label!r}")
        return self._openings[label]

    def labels(self) -> list[str]:
        """Returns public states with chips behind, one for each pot: what the public card is does not matter."""
        one_of: dict[float, str] = {}
        for label, opening in self._openings.items():
            if self._behind(opening) > 0:
                one_of.setdefault(opening.chips, label)
        return list(one_of.values())

    def _behind(self, opening: _Opening) -> float:
        if self.game.stack < math.inf:
            return self.game.stack - opening.chips
        return self.game.max_raises * self.game.second_sizes[-1]

    def _describe(self, state: Any) -> BucketState:
        opening = self.opening(self.public.public_state(state))
        cards = [self._cards(state, player) for player in (0, 1)]
        weights = self.public.joint_weights(state)
        scale = float(weights.max())
        pot = 2.0 * opening.chips
        pays = np.array([[opening.showdown.get((own, other), 0.0) for other in cards[1]] for own in cards[0]])
        return BucketState(
            pot=pot,
            ratio=self._behind(opening) / pot,
            bucket=(self._buckets(opening.board, cards[0]), self._buckets(opening.board, cards[1])),
            matching=weights / scale,
            equity=weights / scale * pays / pot,
            scale=scale,
        )

    def _cards(self, state: Any, player: int) -> list[int]:
        """Returns the card that each private state is."""
        start = self.game.initial_state()
        number = {self.game.action_name(start, card): card for card, _ in self.game.chance_outcomes(start)}
        infostates = [
            self.public.infostate(state, player, private) for private in range(self.public.num_private(state, player))
        ]
        return [number[text.partition("|")[0]] for text in infostates]

    def _buckets(self, board: int, cards: list[int]) -> IntArray:
        """Returns the bucket of each private card: pairs are the strongest, other ranks keep their order."""
        (rank, suit), (board_rank, board_suit) = (
            np.divmod(np.array(cards, np.int64), self._copies),
            divmod(board, self._copies),
        )
        place = np.where(rank == board_rank, self.game.ranks - 1, rank - (rank > board_rank))
        named = np.where(suit == board_suit, 0, suit + (suit < board_suit))
        buckets: IntArray = place * self._copies + named
        return buckets


def round_range(own: FloatArray) -> FloatArray:
    """Returns `[n]` a reach as it is kept and solved: a range in 32 bits, every private state having some of it."""
    total = own.sum()
    shares = own / total if total > 0 else np.full(own.size, 1.0 / own.size)
    shares = np.maximum(shares, LEAST_SHARE)
    rounded: FloatArray = (shares / shares.sum()).astype(np.float32).astype(np.float64)
    return rounded


def _orbits(game: Leduc) -> IntArray:
    """Returns `[buckets]` the place of each bucket in the order of strength."""
    return np.repeat(np.arange(game.ranks), 1 if game.merge_suits else game.suits)


def _find_openings(game: Leduc) -> dict[str, _Opening]:
    """Returns the beginnings of the second round by public state."""
    found: dict[str, _Opening] = {}
    pending: list[LeducState] = [game.initial_state()]
    while pending:
        state = pending.pop()
        if state.board != NO_CARD:
            opening = found.setdefault(state.public, _Opening(state.board, state.chips[0], {}))
            end = state
            while game.actor(end) >= 0:
                end = game.apply(end, CALL)
            opening.showdown[state.private[0], state.private[1]] = game.returns(end)[0]
            continue
        if game.actor(state) == CHANCE:
            actions = [card for card, _ in game.chance_outcomes(state)]
        else:
            actions = [action for action in game.legal_actions(state) if action != FOLD]
        pending += [game.apply(state, action) for action in reversed(actions)]
    return dict(sorted(found.items()))


class _Part(NamedTuple):
    """What follows a public state, ready to be solved."""

    state: BucketState
    rest: LeafPart
    place: tuple[IntArray, IntArray]  # [H] by player, of private states in the order of strength


@dataclasses.dataclass(frozen=True, kw_only=True)
class LeducSource:
    """Random situations at the beginning of the second round, solved: a shard follows from this and its number.

    Paper: Moravcik et al. 2017, "DeepStack", supplement; the ranges are those of `draw_ranges`.
    Departs from the paper: pots are those that the game reaches, unless more are asked for.
    Checked by: tests/learning/values/test_leduc.py.
    """

    game: Leduc
    iterations: int = 500
    gamma: float = 4.0  # of discounted CFR
    num_pots: int = 0  # from the ante to the stack; 0: those that the game reaches
    even_share: float = 0.0  # of situations in which cards of a rank are held alike, as all play from the beginning is
    per_shard: int = 2000
    seed: int = 0

    def __post_init__(self) -> None:
        if self.iterations < 1 or self.per_shard < 1 or self.num_pots < 0:
            raise ConfigError(f"iterations and situations must be positive and pots not negative, got {self}")
        if not 0 <= self.even_share <= 1:
            raise ConfigError(f"even_share must lie between 0 and 1, got {self.even_share}")
        if self.num_pots and self.game.stack == math.inf:
            raise ConfigError("pots between the ante and the stack need a stack, got a game without one")

    @property
    def config(self) -> dict[str, Any]:
        """Returns what shards are made from, as JSON values."""
        return {**dataclasses.asdict(self), "game": format_game(self.game)}

    def make(self, number: int) -> Arrays:
        """Returns the arrays of a shard: `part` `[B]` of `states`, `range` and `value` in pots, both `[B, 2, n]`."""
        rng = np.random.default_rng([self.seed, number])
        parts = self.parts
        which = rng.integers(len(parts), size=self.per_shard)
        ranges = [self._draw_both(parts[index], rng) for index in which.tolist()]
        values = [self.solve(index, own) for index, own in zip(which.tolist(), ranges, strict=True)]
        return {
            "part": which.astype(np.int32),
            "range": np.stack(ranges).astype(np.float32),
            "value": np.stack(values).astype(np.float32),
        }

    def states(self) -> BucketPlan:
        """Returns the public states that `part` of a shard numbers."""
        return BucketPlan.of([part.state for part in self.parts], _orbits(self.game))

    @property
    def parts(self) -> tuple[_Part, ...]:
        """Returns what is solved, by public state."""
        return _find_parts(self.game, self.num_pots)

    def solve(self, index: int, ranges: FloatArray) -> FloatArray:
        """Returns `[2, n]` what private states are worth in pots at one of the states, for ranges `[2, n]`."""
        part = self.parts[index]
        reach = np.ascontiguousarray(ranges[0]), np.ascontiguousarray(ranges[1])
        solver = CFRSolver(
            part.rest.tree, DCFR(gamma=self.gamma), dtype=np.float64, kernel=part.rest.kernel, root_reach=reach
        )
        solver.iterate(self.iterations)
        values = part.rest.values(solver.average_strategy(), reach)
        found: FloatArray = np.stack(values) / (part.state.scale * part.state.pot)
        return found

    def _draw_both(self, part: _Part, rng: np.random.Generator) -> FloatArray:
        """Returns `[2, n]` ranges."""
        is_even = rng.random() < self.even_share
        return np.stack([self._draw(place, is_even, rng) for place in part.place])

    def _draw(self, place: IntArray, is_even: bool, rng: np.random.Generator) -> FloatArray:
        """Returns `[n]` a range, in the order of private states."""
        out = np.zeros(place.size)
        out[np.lexsort((rng.random(place.size), place))] = draw_ranges((), place.size, rng)
        if is_even:
            is_same = (place[:, None] == place).astype(np.float64)
            out = multiply(out, is_same) / is_same.sum(axis=0)
        return round_range(out)


@functools.lru_cache(4)
def _find_parts(game: Leduc, num_pots: int) -> tuple[_Part, ...]:
    """Returns what is solved: from each opening that the game reaches on, or from the first of games of other antes."""
    if not num_pots:
        return _cut_parts(game, is_checked=False)
    spread = game.ante + (game.stack - game.ante) * (np.arange(num_pots) + 0.5) / num_pots
    antes = np.round(spread * 64.0) / 64.0  # amounts of chips are multiples of this
    games = [dataclasses.replace(game, ante=float(ante)) for ante in antes]
    return tuple(part for one in games for part in _cut_parts(one, is_checked=True))


def _cut_parts(game: Leduc, *, is_checked: bool) -> tuple[_Part, ...]:
    """Returns the rests of a game after its openings, or after those alone before which nobody bet."""
    states = LeducStates(game)
    tree = build_public_tree(states.public)
    node = {label: number for number, label in enumerate(tree.public_labels)}
    parts = []
    for label in states.labels():
        state = states.find(tree.states[node[label]])
        if is_checked and state.pot > 2.0 * game.ante:
            continue
        cut = cut_subtree(tree, node[label])
        copies = states.num_buckets // game.ranks
        first, second = (own // copies for own in state.bucket)
        parts.append(_Part(state, LeafPart(tree=cut.tree, copy=cut.restrict), (first, second)))
    return tuple(parts)
