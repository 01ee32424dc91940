# SPDX-License-Identifier: Apache-2.0
"""Searches on the way to a public state: where they begin as play goes on, each upon the last, and remembered."""

from __future__ import annotations

import dataclasses
import enum
import functools
import math
import time
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, Final, Generic

import numpy as np

from equipoise.core.errors import ConfigError, InvalidStateError
from equipoise.core.formatting import settings_repr
from equipoise.games.holdem.betting import Street
from equipoise.search.gadgets import Exact, Unsafe
from equipoise.search.nested import NestedSearch
from equipoise.search.profiles import Profile, Reply, Stage
from equipoise.search.resolving import SearchResult
from equipoise.search.running import run_until
from equipoise.search.settings import SearchSettings
from equipoise.trees.vector import Place

__all__ = ["SearchPlan", "SearchWalk", "SearchWhen"]

KEPT_BYTES: Final = 512_000_000  # of searches that are remembered; others are run again if need be


class SearchWhen(enum.StrEnum):
    """Where a search begins.

    >>> [when.value for when in SearchWhen]
    ['rounds', 'decisions', 'replies']
    """

    ROUNDS = "rounds"  # at public states that follow a public move of chance
    DECISIONS = "decisions"  # at every decision of the searcher's own
    REPLIES = "replies"  # only behind actions that the strategy so far lacks, where all of them search


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SearchPlan:
    """How and where searches begin; streets are of hold'em alone.

    >>> SearchPlan(search=SearchSettings(iterations=100)).when
    <SearchWhen.ROUNDS: 'rounds'>
    """

    search: SearchSettings = dataclasses.field(default_factory=SearchSettings)
    when: SearchWhen = SearchWhen.ROUNDS
    first_street: Street = Street.RIVER  # no search begins before it, unless an unknown bet makes one
    first_reply: Street = Street.FLOP  # unknown bets before it are refused; whole-deck flops are too large as well
    is_there: bool = False  # search where the strategy so far never comes as if it came with everything
    replies_to_all: bool = False  # whatever the opponent does counts as unknown: it keeps what it had before

    __repr__ = settings_repr

    def __post_init__(self) -> None:
        if self.first_reply > self.first_street:
            first, reply = self.first_street.name.lower(), self.first_reply.name.lower()
            raise ConfigError(f"first_reply must not be after the {first}, where searches begin, got the {reply}")


class SearchWalk(Generic[Place]):
    """One seat's searches over a profile; what is played depends on public states alone.

    In hold'em a search of known bets after which the opponent's best response has more than before, over its hands, is
    not played: with so few iterations a strategy that was solved for longer is better.
    """

    def __init__(
        self, profile: Profile[Place], seat: int, plan: SearchPlan, *, name: str = "search", is_searched: bool = False
    ) -> None:
        """Keeps a strategy.

        Args:
            profile: of the whole game, or of what follows one of its public states.
            seat: who searches.
            plan: how and where.
            name: of the player, for messages.
            is_searched: whether the profile is what a search at its root found.
        """
        self.search = NestedSearch(profile, seat, plan.search)
        self.seat, self.plan, self.name, self.is_searched = seat, plan, name, is_searched
        self.found: OrderedDict[tuple[Any, ...], SearchResult | None] = OrderedDict()  # by the way to where they begin

    def stage_at(self, steps: Sequence[Any], text: str) -> tuple[Stage[Place], Place]:
        """Returns the last search's stage on the way to a decision of the seat, and the decision in it.

        Args:
            steps: from the profile's root on, as its `step` takes them.
            text: the public state, for messages.
        """
        stage, is_new = self.search.begin(), self.is_searched  # whether a search has just begun there
        place = stage.place
        seconds = self.plan.search.seconds
        deadline = math.inf if seconds is None else time.perf_counter() + seconds
        for count in range(len(steps) + 1):
            if not is_new and self._begins(stage, place):
                stage, place = self._enter(tuple(steps[:count]), stage, place, None, deadline)
            if count == len(steps):
                break
            step, is_new = steps[count], False
            dealt = stage.profile.deal(place, step)
            if dealt is not None:
                nothing = np.zeros(dealt.tree.num_private_at(dealt.tree.root_place, 1 - self.seat))
                stage = Stage(dealt, nothing, dealt.tree.root_place)
                place = stage.place
                continue
            below = stage.profile.step(place, step)
            if below is not None and not self._answers(stage, place, below):
                place = below
            elif stage.profile.tree.actor_at(place) == 1 - self.seat:
                self._check_reply(stage, place, step, text)
                stage, place = self._enter(tuple(steps[: count + 1]), stage, place, Reply(step), deadline)
                is_new = True
            else:
                raise InvalidStateError(f"{self.name} does not play to {text!r}: it would not raise to {step}")
        if stage.profile.tree.actor_at(place) != self.seat:
            raise InvalidStateError(f"player {self.seat} does not act at {text!r}")
        return stage, place

    def _begins(self, stage: Stage[Place], place: Place) -> bool:
        """Returns whether a search begins at a place that was come to."""
        actor, street = stage.profile.tree.actor_at(place), stage.profile.street_at(place)
        if actor < 0 or (street is not None and street < self.plan.first_street):
            return False
        if self.plan.when is SearchWhen.DECISIONS:
            return actor == self.seat
        return self.plan.when is SearchWhen.ROUNDS and stage.profile.opens_round(place)

    def _answers(self, stage: Stage[Place], place: Place, below: Place) -> bool:
        """Returns whether a known action is searched for as if it were not known."""
        tree = stage.profile.tree
        return self.plan.replies_to_all and tree.actor_at(place) == 1 - self.seat and tree.actor_at(below) == self.seat

    def _check_reply(self, stage: Stage[Place], place: Place, step: Any, text: str) -> None:
        street = stage.profile.street_at(place)
        if street is not None and street < self.plan.first_reply:
            raise InvalidStateError(
                f"{self.name} has no bet to {step} on the way to {text!r}, and searches no reply before the "
                f"{self.plan.first_reply.name.lower()}"
            )

    def _enter(
        self, key: tuple[Any, ...], stage: Stage[Place], place: Place, reply: Reply | None, deadline: float
    ) -> tuple[Stage[Place], Place]:
        """Returns the stage of a search, and where play is in it."""
        if key not in self.found:
            # nothing else is known behind an unknown action; elsewhere there is the strategy so far
            is_there = reply is not None or self.plan.is_there
            found = self.search.search(
                stage, place, reply, is_there=is_there, run=functools.partial(run_until, deadline=deadline)
            )
            self.found[key] = None if found is not None and reply is None and self._is_worse(stage, found) else found
            self._forget(key)
        self.found.move_to_end(key)
        result = self.found[key]
        if result is None or result.stage is None:  # never played to: nothing to search; or nothing better was found
            return stage, place
        return result.stage, result.stage.place

    def _forget(self, key: tuple[Any, ...]) -> None:
        """Drops the oldest searches where they take too much, but none on the way: what was played would change."""
        for old in [old for old in self.found if old != key[: len(old)]]:
            if self._num_bytes() <= KEPT_BYTES:
                return
            del self.found[old]

    def _num_bytes(self) -> int:
        return sum(kept.subgame.num_bytes for kept in self.found.values() if kept)

    def _is_worse(self, stage: Stage[Place], found: SearchResult) -> bool:
        """Returns whether a search has stopped short of a strategy so far that was nearer to its limit."""
        search = self.plan.search
        is_exact = not isinstance(search.method, Unsafe) and isinstance(search.method.alternatives, Exact)
        if not stage.profile.keeps_better or not is_exact or search.menu is not None:
            return False  # nothing is known from before, or not of the same bets
        before, after = found.responses()
        return after > before and found.least_margin < 0
