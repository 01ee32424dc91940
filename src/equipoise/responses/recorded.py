# SPDX-License-Identifier: Apache-2.0
"""What players did in recorded hands, counted at the decisions of a spot by buckets of hands: data for responses.

Hands on every board count, put together by how strong they are, since hardly any two hands meet on the same one.
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Callable, Collection, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from equipoise.abstraction.translation import translate_action
from equipoise.core.errors import EquipoiseError, ParseError
from equipoise.games.holdem.betting import CALL, BettingState, pot
from equipoise.games.holdem.betting_tree import NodeKind
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.records import Moment, RecordedHand
from equipoise.trees.holdem.bucketed import BucketedTree

__all__ = ["LEAST_COUNT", "CountedPlay", "count_play"]

LEAST_COUNT: Final = 2.0**-10  # that bucket and action have where nothing was seen: less than any observation
REPORTED_EACH: Final = 64  # hands

ENDED, CROWDED, ABSENT = "ended before", "not between two", "without the player"
HIDDEN, OTHER_STACKS, OTHER_DECK = "cards not shown", "other stacks", "cards of another deck"

OnProgress = Callable[[float, str], None]
LongArray = npt.NDArray[np.int64]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class CountedPlay:
    """What was counted, and which hands were not."""

    sums: npt.NDArray[np.float32]  # [C of buckets] observations; where a bucket has none, `LEAST_COUNT` of calling
    num_hands: int  # given
    num_used: int
    num_decisions: int  # observations
    num_lost: int  # decisions of hands that were used, after the betting left what the spot offers
    num_rows: int  # decisions of the spot by bucket
    num_seen: int  # of these, at least once
    passed: dict[str, int]  # hands that were passed over, by why

    def as_json(self) -> dict[str, Any]:
        """Returns the figures as JSON values."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self) if field.name != "sums"}


class _Found(NamedTuple):
    """A hand that counts: its decisions from the spot's street on, and who takes part."""

    moments: Sequence[Moment]
    live: Sequence[int]  # both seats, the first to act after the flop first
    watched: Collection[int]  # seats


def count_play(
    tree: BucketedTree,
    hands: Sequence[RecordedHand],
    *,
    players: Collection[str] | None = None,
    within: float = 2.0,
    on_progress: OnProgress | None = None,
) -> CountedPlay:
    """Returns how often players took each action of a spot, by bucket of hand.

    Paper: Johanson & Bowling 2009, "Data Biased Robust Counter Strategies", and Johanson, Zinkevich & Bowling 2007,
        "Computing Robust Counter-Strategies", for counts of actions in hands whose cards are known, and for calling
        where nothing was seen.
    Symbols: none.
    Departs from the paper: a bet that the spot lacks is counted as the one that the pseudo-harmonic mapping likes
        best, and hands count whose pot is another if their stacks are nearly as many pots.
    Checked by: tests/responses/test_recorded.py.

    Args:
        tree: the spot in buckets.
        hands: that were played.
        players: whose decisions count; None: everybody's.
        within: by which factor the stacks of a hand, in pots, may differ from the spot's.
        on_progress: called now and then with the share done and what is being done.
    """
    counter = _Counter(tree)
    passed: collections.Counter[str] = collections.Counter()
    for number, hand in enumerate(hands):
        if on_progress is not None and number % REPORTED_EACH == 0:
            on_progress(number / len(hands), f"{number:,} hands")
        try:
            found = _look_at(tree, hand, players, within)
        except EquipoiseError as error:
            raise ParseError(f"hand {hand.number}: {error}") from None
        if isinstance(found, str):
            passed[found] += 1
        else:
            counter.follow(hand, found)
    return counter.finish(len(hands), dict(sorted(passed.items())))


def _look_at(tree: BucketedTree, hand: RecordedHand, players: Collection[str] | None, within: float) -> _Found | str:
    """Returns what counts of a hand, or why nothing does."""
    first = tree.streets[0]
    moments = [moment for moment in hand.moments() if moment.betting.street >= first]
    if not moments:
        return ENDED
    start = moments[0].betting
    live = [seat for seat, is_folded in enumerate(start.is_folded) if not is_folded]
    if len(live) != 2:
        return CROWDED
    watched = [seat for seat in live if players is None or hand.names[seat] in players]
    if not watched:
        return ABSENT
    watched = [seat for seat in watched if hand.hole[seat]]
    if not watched:
        return HIDDEN
    if not set(tree.spot.deck.cards).issuperset([*hand.board, *(card for seat in watched for card in hand.hole[seat])]):
        return OTHER_DECK
    ours, theirs = _depth(tree.betting.root.state, (0, 1)), _depth(start, live)
    if not ours / within <= theirs <= ours * within:
        return OTHER_STACKS
    return _Found(moments, live, watched)


def _depth(state: BettingState, seats: Sequence[int]) -> float:
    """Returns the chips that two players can still win from each other, in pots."""
    return min(state.stacks[seat] for seat in seats) / pot(state)


class _Counter:
    """Observations as they come."""

    def __init__(self, tree: BucketedTree) -> None:
        self.tree, self.hands = tree, hands_of(tree.spot.deck)
        self.cells: dict[int, LongArray] = {node: tree.cells(node) for node in tree.decisions}
        self.counts = np.zeros(tree.rows.num_cells)
        self.num_used = self.num_decisions = self.num_lost = 0

    def follow(self, hand: RecordedHand, found: _Found) -> None:
        """Adds a hand's decisions, as far as the spot's betting goes along."""
        nodes = self.tree.betting.nodes
        node = nodes[0]
        self.num_used += 1
        for number, (seat, betting, _, board, action) in enumerate(found.moments):
            if node.kind is NodeKind.STREET_END and node.children and betting.street > node.state.street:
                node = nodes[node.children[0]]
            column = None
            is_here = node.kind is NodeKind.DECISION and node.state.street == betting.street
            if is_here and node.state.actor == found.live.index(seat):
                shares = translate_action(action, betting, node.state, node.actions)
                likeliest = max(shares, key=lambda one: (shares[one], -one), default=None)
                column = None if likeliest is None else node.actions.index(likeliest)
            if column is None:
                self.num_lost += sum(moment.seat in found.watched for moment in found.moments[number:])
                return
            if seat in found.watched:
                first, second = hand.hole[seat]
                bucket = self.tree.buckets(board)[self.hands.index(first, second)]
                self.counts[self.cells[node.index][bucket, column]] += 1
                self.num_decisions += 1
            node = nodes[node.children[column]]

    def finish(self, num_hands: int, passed: dict[str, int]) -> CountedPlay:
        """Returns what was counted; where nothing was seen, calls have a trace of a count."""
        num_rows = num_seen = 0
        for node, cells in self.cells.items():
            is_seen = self.counts[cells].any(axis=1)
            num_rows, num_seen = num_rows + is_seen.size, num_seen + int(is_seen.sum())
            actions = self.tree.betting.nodes[node].actions
            if CALL in actions:
                self.counts[cells[~is_seen, actions.index(CALL)]] = LEAST_COUNT
        return CountedPlay(
            sums=self.counts.astype(np.float32),
            num_hands=num_hands,
            num_used=self.num_used,
            num_decisions=self.num_decisions,
            num_lost=self.num_lost,
            num_rows=num_rows,
            num_seen=num_seen,
            passed=passed,
        )
