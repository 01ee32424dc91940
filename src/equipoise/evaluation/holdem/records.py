# SPDX-License-Identifier: Apache-2.0
"""A blueprint beside hands that somebody else played: how often it would prefer what was done, and habits of both."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from equipoise.agents.holdem.blueprint import BlueprintAgent
from equipoise.core.errors import ConfigError
from equipoise.games.holdem.betting import NOBODY, Street
from equipoise.games.holdem.records import Moment, RecordedHand

__all__ = [
    "BIG_BLIND_SEAT",
    "DONK",
    "HABITS",
    "Compared",
    "Habit",
    "RecordedDecision",
    "compare",
    "compare_decisions",
    "count_habits",
    "habit_of",
]

FOLDS, CALLS, RAISES = range(3)  # classes of actions, by what `BlueprintAgent.class_shares` gives
SMALL_BLIND_SEAT, BIG_BLIND_SEAT = 0, 1  # with three players or more
FloatArray = npt.NDArray[np.float64]


class Habit(NamedTuple):
    """A situation, and the class of actions that is looked at there."""

    name: str
    action_class: int


LIMP: Final = Habit("limp", CALLS)  # the first to enter calls the big blind
SMALL_BLIND_LIMP: Final = Habit("limp of the small blind", CALLS)
DONK: Final = Habit("donk bet", RAISES)  # a bet into who raised last in the round before
HABITS: Final = (LIMP, SMALL_BLIND_LIMP, DONK)


class RecordedDecision(NamedTuple):
    """What somebody did, and what a blueprint would do."""

    street: Street
    done: int  # class of actions
    shares: FloatArray  # [3] of the blueprint
    habit: Habit | None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """How often the class that a blueprint prefers is the one that was taken."""

    num_decisions: int
    num_agreed: int
    mean_share: float  # that the blueprint gives to what was taken

    @property
    def share(self) -> float:
        """Returns the share of decisions."""
        return self.num_agreed / self.num_decisions


def habit_of(moment: Moment) -> Habit | None:
    """Returns which habit could show at a decision of three players or more, None if none could."""
    betting = moment.betting
    if betting.num_raises:
        return None
    if betting.street is Street.PREFLOP:
        is_first = all(
            betting.is_folded[seat] or betting.committed[seat] <= betting.base
            for seat in range(len(betting.stacks))
            if seat not in (SMALL_BLIND_SEAT, BIG_BLIND_SEAT)
        )
        if not is_first or moment.seat == BIG_BLIND_SEAT:
            return None
        return SMALL_BLIND_LIMP if moment.seat == SMALL_BLIND_SEAT else LIMP
    leader = betting.initiative
    is_ahead = (
        leader != NOBODY and not betting.is_folded[leader] and leader > moment.seat and betting.stacks[leader] > 0
    )
    return DONK if is_ahead else None


def compare_decisions(agent: BlueprintAgent, hands: Iterable[RecordedHand], name: str) -> Iterator[RecordedDecision]:
    """Yields the decisions of a player in hands whose cards are known; what was done is followed.

    Args:
        agent: the blueprint.
        hands: with the blueprint's stacks and blinds.
        name: of the player.
    """
    rules = agent.blueprint.spec.rules
    for hand in hands:
        if hand.rules != rules:
            raise ConfigError(
                f"hand {hand.number} has stacks {hand.rules.stacks} and blinds {hand.rules.small_blind} and "
                f"{hand.rules.big_blind}, the blueprint {rules.stacks}, {rules.small_blind} and {rules.big_blind}"
            )
        if name not in hand.names or not hand.hole[hand.names.index(name)]:
            continue
        seat = hand.names.index(name)
        agent.begin_game(seat)
        rng = np.random.default_rng([hand.number, *map(int, hand.hole[seat])])
        for moment in hand.moments():
            if moment.seat == seat:
                shares = agent.class_shares(seat, moment.public_state, hand.hole[seat], rng=rng)
                yield RecordedDecision(moment.betting.street, min(moment.action, RAISES), shares, habit_of(moment))


def compare(decisions: Iterable[RecordedDecision]) -> Compared | None:
    """Returns how often the preferred class is the one that was taken, None for no decisions."""
    agreed = [(int(one.shares.argmax()) == one.done, float(one.shares[one.done])) for one in decisions]
    if not agreed:
        return None
    return Compared(
        num_decisions=len(agreed),
        num_agreed=sum(is_same for is_same, _ in agreed),
        mean_share=float(np.mean([share for _, share in agreed])),
    )


def count_habits(hands: Iterable[RecordedHand]) -> dict[tuple[str, str], tuple[int, int]]:
    """Returns how often each player could have shown a habit and how often it did, by player and habit."""
    counts: dict[tuple[str, str], tuple[int, int]] = {}
    for hand in hands:
        for moment in hand.moments():
            habit = habit_of(moment)
            if habit is not None:
                key = hand.names[moment.seat], habit.name
                could, did = counts.get(key, (0, 0))
                counts[key] = could + 1, did + (min(moment.action, RAISES) == habit.action_class)
    return counts
