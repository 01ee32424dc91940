# SPDX-License-Identifier: Apache-2.0
"""AIVAT for heads-up hold'em: beliefs are ranges, guesses those of a blueprint in few buckets.

Players may be anything that says what every hand does, and may bet what the guesses' menu lacks: such hands are guessed
by nodes that they are taken for (`images`). What is guessed has no influence on the mean: chance counts with the cards
that are left, known players with what they said.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from equipoise.agents.base import PublicDecision
from equipoise.agents.holdem.hands import check_holdem_game, describe_holdem_decision
from equipoise.core.errors import ConfigError, InvalidStateError
from equipoise.evaluation.aivat import KnownMove
from equipoise.evaluation.holdem.guesses import HoldemGuesses, matched_chips
from equipoise.evaluation.holdem.images import LOST, ImageWalk, Point
from equipoise.evaluation.holdem.odds import find_range_odds
from equipoise.games.base import CHANCE
from equipoise.games.holdem.betting import (
    CALL,
    FOLD,
    BettingRules,
    BettingState,
    Stage,
    Street,
    next_street,
    payoffs,
    pot,
)
from equipoise.games.holdem.betting_tree import BettingTree
from equipoise.games.holdem.cards import parse_board
from equipoise.games.holdem.dealing import HAND_SIZE, parse_ranges
from equipoise.games.holdem.hands import Hands, hands_of
from equipoise.games.holdem.rules import Holdem, HoldemState
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.kernels.buckets import sum_bucket_pairs

__all__ = ["Acted", "DealtBoard", "DealtHands", "HoldemBeliefs", "HoldemForm", "group_actions"]

FloatArray = npt.NDArray[np.float64]
BucketArray = npt.NDArray[np.int32]
MOST_GUESSED: Final = 24  # actions of a decision, each by itself
RESULTS: Final = ((1, 0), (0, 1), (1, 1))  # strengths: player 0 wins, loses, ties


class DealtHands(NamedTuple):
    """The deal of all hands."""

    hands: tuple[int, ...]  # number of each seat's hand; those of known seats are not read


class DealtBoard(NamedTuple):
    """The deal of a round's cards."""

    board: tuple[int, ...]  # all of it


class Acted(NamedTuple):
    """An action, and what a known player might have done instead."""

    action: int
    asked: KnownMove | None


class HoldemForm:
    """Hold'em as AIVAT follows it."""

    def __init__(self, game: Holdem, guesses: HoldemGuesses) -> None:
        """Keeps the guesses.

        Args:
            game: what is played; heads-up.
            guesses: of the same cards and chips; the game may offer other bets.
        """
        tree = guesses.blueprint.tree
        self.guesses = guesses
        self._lay_out(game, tree.betting, tree.spot)

    def _lay_out(self, game: Holdem, betting: BettingTree | BettingRules, spot: HoldemSpot | None = None) -> None:
        """Keeps what is played, and what guesses know of it: betting, and the spot that they are of."""
        if game.spec.num_players != 2:
            raise ConfigError(f"guesses of hold'em are for two players, {game.spec.name} has {game.spec.num_players}")
        if spot is not None:
            check_holdem_game(spot, game)
        self.game, self.deck = game, game.card_deck
        self.board = parse_board(game.board, self.deck)
        if spot is not None and set(self.board) != set(spot.board):
            raise ConfigError(f"the guesses are of another board than {game.spec.label}")
        self.hands: Hands = hands_of(self.deck)
        self.walk = ImageWalk(betting)
        is_live = ~self.hands.blocked(self.board)
        if game.ranges:
            held = parse_ranges(game.ranges, self.deck, self.board)
            self.ranges = [own.without(self.board).weights for own in held]
        else:
            self.ranges = [is_live.astype(np.float64)] * 2

    def describe(self, state: HoldemState) -> PublicDecision:
        """Returns the decision of the player to move, with all hands."""
        return describe_holdem_decision(self.game, state)

    def begin(self, known: frozenset[int]) -> HoldemBeliefs:
        """Returns the beliefs before the deal."""
        board = _Board(self, self.board)
        return HoldemBeliefs(self, known, self.walk.begin(), board, self.ranges)

    def trace(self, states: Sequence[HoldemState], asked: Sequence[KnownMove | None]) -> Iterator[object]:
        """Yields the moves of a hand, given all of its states; those within a deal make one move."""
        num_hole_cards = HAND_SIZE * self.game.spec.num_players
        for place, after in enumerate(states[1:]):
            state = states[place]
            if self.game.actor(state) != CHANCE:
                yield Acted(_last_action(state, after), asked[place])
            elif len(after.hole) == num_hole_cards > len(state.hole):
                cards = [after.hole[first : first + HAND_SIZE] for first in range(0, num_hole_cards, HAND_SIZE)]
                yield DealtHands(tuple(self.hands.index(*own) for own in cards))
            elif after.betting.street != state.betting.street:
                yield DealtBoard(after.board)

    def table(self, point: Point) -> FloatArray:
        """Returns `[buckets, buckets]` the guesses of pairs of buckets where nothing has ended."""
        betting, total = point.betting, None
        for node, share in point.images:
            table = self.guesses.shown[betting.street] if node == LOST else self.guesses.by_buckets[node]
            weight = share * self._scale(node, betting)
            part = table if weight == 1.0 else weight * table
            total = part if total is None else total + part
        assert total is not None
        return total

    def mean_over_flops(self, point: Point, reach: Sequence[FloatArray]) -> float:
        """Returns the sum over pairs of hands of the mean of the guesses on the flops that follow.

        Args:
            point: on the flop.
            reach: of both seats, `[H]`.
        """
        total = 0.0
        for node, share in point.images:
            above = LOST if node == LOST else self.walk.nodes[node].parent
            matrix, weight = self.guesses.means.get(above), share * self._scale(node, point.betting)
            if matrix is None:
                chips = 1 if node == LOST else matched_chips(self.walk.nodes[node].state.committed)
                matrix, weight = self.guesses.shown_mean, weight * chips
            total += weight * _bilinear(matrix, reach)
        return total

    def mean_over_cards(self, point: Point, board: tuple[int, ...], reach: Sequence[FloatArray]) -> float:
        """Returns the sum over pairs of hands of the mean of the guesses over the cards that may follow a board.

        Args:
            point: on the turn or the river.
            board: before the card.
            reach: of both seats, `[H]`.
        """
        left = [card for card in self.deck.cards if card not in board]
        sums = self.sum_pairs(point, self.assign([(*board, card) for card in left]), reach)
        return float(sums.sum()) / (len(left) - 2 * HAND_SIZE)  # each pair of hands leaves so many cards

    def score(self, betting: BettingState, board: tuple[int, ...], reach: Sequence[FloatArray]) -> tuple[float, float]:
        """Returns what player 0 wins where nobody bets any more, summed over pairs of hands and boards, and these."""
        rules = self.walk.rules
        while betting.stage is Stage.DEAL:
            betting = next_street(rules, betting)
        if betting.stage is not Stage.SHOWDOWN:
            raise InvalidStateError(f"the hand has not ended, {betting.stage.value} is next")
        odds = find_range_odds(reach[1], board, self.deck, num_board_cards=rules.last_street.num_board_cards)
        won, tied, met = (float(reach[0] @ numbers) for numbers in (odds.won, odds.tied, odds.met))
        pays = [payoffs(betting, result)[0] for result in RESULTS]
        return pays[0] * won + pays[1] * (met - won - tied) + pays[2] * tied, met

    def assign(self, boards: Sequence[tuple[int, ...]]) -> BucketArray:
        """Returns `[B, H]` the bucket of each hand on boards of one street, -1 where a board blocks it."""
        tree = self.guesses.blueprint.tree
        together = getattr(tree.assigner, "assign_boards", None)
        if together is None:
            return np.stack([tree.buckets(board) for board in boards])
        rows: BucketArray = together(boards)
        return rows

    def sum_pairs(self, point: Point, buckets: BucketArray, reach: Sequence[FloatArray]) -> FloatArray:
        """Returns `[B]` the guesses where nothing has ended, summed over pairs of hands on boards by their buckets."""
        return sum_bucket_pairs(self.table(point), buckets, self.hands.cards, reach[0], reach[1])

    def _scale(self, node: int, betting: BettingState) -> float:
        """Returns by how much a hand has more chips in play than the node it is taken for."""
        if node == LOST:
            return float(matched_chips(betting.committed))
        image = self.walk.nodes[node].state
        return 1.0 if image.committed == betting.committed else pot(betting) / pot(image)


class HoldemBeliefs:
    """Ranges of known players and hands of the others at one point of a hand."""

    def __init__(
        self,
        form: HoldemForm,
        known: frozenset[int],
        point: Point,
        board: _Board,
        reach: Sequence[FloatArray],
    ) -> None:
        """Keeps them.

        Args:
            form: of the game.
            known: seats whose strategies are known.
            point: where the betting stands.
            board: its cards.
            reach: by seat `[H]` weights of the hands that it may hold.
        """
        self.form, self.known, self.point, self.board = form, known, point, board
        self.reach = reach
        self._weight = float(reach[0] @ form.hands.compatible(reach[1]))
        if not self._weight > 0:
            raise InvalidStateError("a player did what it says that it never does")
        self._guess: float | None = None

    def follow(self, move: object) -> tuple[FloatArray, HoldemBeliefs]:
        """Returns `[2]` the mean guess over all that might have followed, and the beliefs after what did."""
        if isinstance(move, DealtHands):
            return self.guess(), self._deal_hands(move.hands)
        if isinstance(move, DealtBoard):
            expected = _both(self._expect_board() / self._weight)
            board = _Board(self.form, move.board)
            reach = [np.where(board.is_live, own, 0.0) for own in self.reach]
            return expected, self._with(self.form.walk.deal(self.point), reach, board)
        assert isinstance(move, Acted)
        seat = self.point.betting.actor
        if seat in self.known:
            assert move.asked is not None
            return self._expect_action(seat, move.action, move.asked)
        after = self._with(self.form.walk.act(self.point, move.action), self.reach)
        return after.guess(), after

    def guess(self) -> FloatArray:
        """Returns `[2]` the mean of the guesses."""
        if self._guess is None:
            self._guess = self.board.sum(self.point, self.reach)
        return _both(self._guess / self._weight)

    def payoff(self) -> FloatArray:
        """Returns `[2]` the mean of what each player has won, over all cards to come if nobody bets any more."""
        betting = self.point.betting
        if betting.stage is Stage.FOLD:
            return _both(float(payoffs(betting)[0]))
        total, weight = self.form.score(betting, self.board.cards, self.reach)
        return _both(total / weight)

    def _with(self, point: Point, reach: Sequence[FloatArray], board: _Board | None = None) -> HoldemBeliefs:
        return HoldemBeliefs(self.form, self.known, point, board or self.board, reach)

    def _deal_hands(self, hands: tuple[int, ...]) -> HoldemBeliefs:
        """Returns the beliefs after the deal: those who are not known hold their hand."""
        reach = []
        for seat, own in enumerate(self.reach):
            held = own
            if seat not in self.known:
                held = np.zeros_like(own)
                held[hands[seat]] = own[hands[seat]]
            reach.append(held)
        return self._with(self.point, reach)

    def _expect_action(self, seat: int, action: int, asked: KnownMove) -> tuple[FloatArray, HoldemBeliefs]:
        """Returns the mean guess over a known player's actions, and the beliefs after the one taken."""
        shares = asked.shares(self.reach[seat] > 0)
        expected, came, after = 0.0, 0.0, None
        for group in group_actions(asked.actions, np.flatnonzero(self.reach[seat] @ shares)):
            image = self.form.walk.act(self.point, asked.actions[group[len(group) // 2]])
            moved = self._move(seat, shares[:, group].sum(axis=1))
            total = self.board.sum(image, moved)
            expected += total
            taken = [column for column in group if asked.actions[column] == action]
            if taken:
                moved = moved if len(group) == 1 else self._move(seat, shares[:, taken[0]])
                after = self._with(self.form.walk.act(self.point, action), moved)
                came = (total if len(group) == 1 else self.board.sum(image, moved)) / after._weight
        if after is None:
            raise InvalidStateError(f"{asked.name} did what it says that it never does")
        # what came is compared by the guess that its group was given, not by its own
        return _both(expected / self._weight - came) + after.guess(), after

    def _move(self, seat: int, shares: FloatArray) -> list[FloatArray]:
        """Returns the reach after a seat's action that its hands take in shares `[H]`."""
        return [own * shares if player == seat else own for player, own in enumerate(self.reach)]

    def _expect_board(self) -> float:
        """Returns the mean over the cards that may come of what is guessed then, summed over pairs of hands."""
        form, cards = self.form, self.board.cards
        below = form.walk.deal(self.point)
        if below.betting.stage is Stage.SHOWDOWN:  # not guessed
            total, weight = form.score(below.betting, cards, self.reach)
            return total * self._weight / weight
        if self.point.betting.street is Street.PREFLOP:
            return form.mean_over_flops(below, self.reach)
        return form.mean_over_cards(below, cards, self.reach)


class _Board:
    """Sums of guesses over pairs of hands on one board."""

    def __init__(self, form: HoldemForm, cards: tuple[int, ...]) -> None:
        self.form, self.cards = form, cards
        self.is_live = ~form.hands.blocked(cards)
        self._buckets: BucketArray | None = None

    def sum(self, point: Point, reach: Sequence[FloatArray]) -> float:
        """Returns the sum of guesses over pairs of hands that share no card, weighted by their reach."""
        form, betting = self.form, point.betting
        if betting.stage is Stage.FOLD:  # ends are not guessed
            return float(payoffs(betting)[0] * (reach[0] @ form.hands.compatible(reach[1])))
        if betting.stage is Stage.SHOWDOWN:
            return form.score(betting, self.cards, reach)[0]
        if self._buckets is None:
            self._buckets = form.assign([self.cards])
        return float(form.sum_pairs(point, self._buckets, reach)[0])


def group_actions(actions: Sequence[int], columns: npt.NDArray[np.intp]) -> list[list[int]]:
    """Returns columns of a decision that are guessed alike: each alone, or of very many raises those of similar size.

    Args:
        actions: of the decision.
        columns: of those that may be taken.
    """
    if columns.size <= MOST_GUESSED:
        return [[column] for column in columns.tolist()]
    raises = [column for column in columns.tolist() if actions[column] > CALL]
    totals = [actions[column] for column in raises]
    edges = np.geomspace(totals[0], totals[-1] + 1, MOST_GUESSED)
    groups: dict[int, list[int]] = {}
    for column, place in zip(raises, np.digitize(totals, edges).tolist(), strict=True):
        groups.setdefault(place, []).append(column)
    return [[column] for column in columns.tolist() if actions[column] <= CALL] + list(groups.values())


def _bilinear(matrix: npt.NDArray[np.float32], reach: Sequence[FloatArray]) -> float:
    """Returns the sum of a matrix `[H, H]` weighted by both seats' reach, over the hands that have any."""
    rows, columns = (np.flatnonzero(own) for own in reach)
    held, other = reach[0][rows], reach[1].astype(np.float32)
    part = matrix if rows.size == len(matrix) else matrix[rows]
    if 2 * columns.size < len(matrix):
        part, other = part[:, columns], other[columns]
    # no product of BLAS: its threads wait in loops for work that takes a millisecond
    return float(held @ np.einsum("hk,k->h", part, other).astype(np.float64))


def _both(first: float) -> FloatArray:
    """Returns what both players win if the first wins so much."""
    return np.array([first, -first])


def _last_action(state: HoldemState, after: HoldemState) -> int:
    """Returns the action between two states."""
    word = after.public[len(state.public) :].rstrip("/")
    return {"f": FOLD, "c": CALL}[word] if word in "fc" else int(word[1:])
