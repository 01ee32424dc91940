# SPDX-License-Identifier: Apache-2.0
"""Nested search: parts of a game solved again while it is played, and behind actions that the strategy so far lacks.

The first stage is a blueprint, a later one the last search. When the opponent takes an action that the stage does not
know, what follows it (the inexpensive form) or what follows the decision before it (the expensive form) is solved, and
the result is the strategy so far for what comes below. Written against profiles of any layout.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any, Generic, cast

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.search.gadgets import Estimate, Unsafe
from equipoise.search.posing import Standing, measure, pose
from equipoise.search.profiles import Profile, Reply, Stage
from equipoise.search.public import PublicProfile
from equipoise.search.resolving import SearchResult, SubgameSolver, summarize
from equipoise.search.running import Run, run_for
from equipoise.search.settings import SearchSettings
from equipoise.trees.subtree import cut_subtree
from equipoise.trees.vector import Place

__all__ = ["NestedSearch"]

FloatArray = npt.NDArray[np.float64]


class NestedSearch(Generic[Place]):
    """Searches of one player, stage upon stage.

    Paper: Brown 2020, PhD thesis, sections 5.1.2, 5.1.3 and 5.1.7 (both forms).
    Symbols: sigma -> the stage's profile; I_1 -> private states before the unknown action; CB~V(I_1) -> what `measure`
        finds there; g -> gifts; a -> the reply's action.
    Departs from the paper: alternatives are best responses within what the stage knows (CB~V); gifts of earlier stages
        are kept as they were found. In hold'em every hand that the opponent may have been dealt counts as dealt alike
        at the gate, which moves no margin. Where the searcher never comes by its own strategy it can be searched as if
        it did with everything.
    Checked by: tests/search/test_nested.py, tests/search/test_holdem_nested.py.

    >>> from equipoise.games import make_game
    >>> from equipoise.search import PublicProfile, SearchSettings
    >>> from equipoise.solvers import CFRSolver
    >>> from equipoise.trees import build_public_tree, derive_public_game
    >>> tree = build_public_tree(derive_public_game(make_game("kuhn")))
    >>> profile = PublicProfile(tree, CFRSolver(tree).average_strategy())
    >>> nested = NestedSearch(profile, 1, SearchSettings(iterations=100))
    >>> found = nested.search(nested.begin(), tree.public_labels.index("p"))
    >>> found.least_margin >= 0
    True
    """

    def __init__(self, profile: Profile[Place], searcher: int, settings: SearchSettings | None = None) -> None:
        """Keeps a strategy.

        Args:
            profile: of the whole game, without the actions that it does not know.
            searcher: who searches.
            settings: how.
        """
        self.settings = settings or SearchSettings()
        self.profile = profile.prepare(self.settings)
        self.searcher, self.opponent = searcher, 1 - searcher

    def begin(self) -> Stage[Place]:
        """Returns the first stage: the strategy that was given."""
        tree = self.profile.tree
        gifts = np.zeros(tree.num_private_at(tree.root_place, self.opponent))
        return Stage(self.profile, gifts, tree.root_place)

    def search(
        self,
        stage: Stage[Place],
        place: Place,
        reply: Reply | None = None,
        *,
        is_there: bool = False,
        run: Run | None = None,
    ) -> SearchResult | None:
        """Returns what is played from a place on, solved again.

        None where the searcher's own strategy never comes, unless it is there: there is nothing to search for.

        Args:
            stage: the strategy so far.
            place: of its tree; a decision of the opponent if it takes an unknown action there.
            reply: that action, behind which the search begins, or before which in the expensive form.
            is_there: search as if the searcher came with everything where it never does.
            run: runs iterations, all of them unless it has a reason not to; by default for as long as settings say.
        """
        profile, method = stage.profile, self.settings.method
        if not is_there and not profile.reach(place)[self.searcher].any():
            return None
        standing = self.measure(stage, place)
        opening = profile.open(place, self.searcher, reply, self.settings, standing)
        standing = standing.follow(opening.private)
        problem = pose(profile, opening.subgame, self.searcher, method, standing)
        solver = SubgameSolver(
            opening.subgame,
            problem,
            rule=self.settings.rule,
            is_alternating=self.settings.is_alternating,
            num_threads=self.settings.num_threads,
        )
        run = run or run_for(self.settings.seconds)
        run(solver, profile.num_iterations(opening.subgame, self.settings))
        subgame, strategy = opening.subgame.complete(opening.subgame.finish(solver.average_sums))
        keeps = not isinstance(method, Unsafe) and isinstance(method.alternatives, Estimate)
        response = opening.subgame.complete(solver.tables.regret_sum)[1] if keeps else None
        following = profile.follow(subgame, strategy, response)
        stage = Stage(following, standing.gifts, opening.place)
        return dataclasses.replace(summarize(subgame, problem, strategy), stage=stage)

    def measure(self, stage: Stage[Place], place: Place) -> Standing:
        """Returns what the opponent has at a place of a stage, gifts of earlier stages included."""
        profile, method = stage.profile, self.settings.method
        if isinstance(method, Unsafe):
            nothing = np.zeros(profile.tree.num_private_at(place, self.opponent))
            return Standing(nothing, nothing, nothing)
        found = measure(profile, profile.standpoint(place, self.searcher), self.opponent, method)
        if not stage.gifts.any():
            return found
        private: npt.NDArray[Any] = np.arange(found.gifts.size)
        for _, below in reversed(profile.tree.way_to(place)):
            private = profile.tree.trace_back(below, self.opponent)[0][private]
        return found._replace(gifts=stage.gifts[private] + found.gifts)

    # --- every reply, on public trees ---

    def surprises(self, stage: Stage[int]) -> Iterator[tuple[int, Reply]]:
        """Yields the places of a stage at which the opponent may take an unknown action, with that action."""
        yield from _as_public(stage).surprises(self.opponent, stage.place)

    def everywhere(self) -> FloatArray:
        """Returns `[C]` the searcher's replies to all unknown actions, at every stage, over the strategy given.

        What the opponent does is the first stage's where it is known, and means nothing elsewhere.
        """
        first: Stage[Any] = self.begin()
        ground = _as_public(first).ground
        out = ground.whole.legal_share.copy()
        ground.insert(_as_public(first).strategy, out)
        pending = [first]
        while pending:
            stage = pending.pop()
            for place, reply in self.surprises(stage):
                found = self.search(stage, cast("Place", place), reply)
                if found is None:
                    continue
                assert found.stage is not None
                self._insert(found.stage, out)
                pending.append(found.stage)
        return out

    def _insert(self, stage: Stage[int], out: FloatArray) -> None:
        """Overwrites `out` `[C]` with what the searcher plays of a stage: what lies below the action."""
        profile = _as_public(stage)
        part = profile.ground
        strategy = profile.strategy
        if stage.place != 0:
            everything = part.whole.legal_share.copy()
            part.insert(strategy, everything)
            part = cut_subtree(part.whole, int(part.nodes[stage.place]), without=profile.off_tree)
            strategy = part.restrict(everything)
        part.insert(strategy, out, players=(self.searcher,))


def _as_public(stage: Stage[Any]) -> PublicProfile:
    if not isinstance(stage.profile, PublicProfile):
        raise ConfigError("all replies can be listed on a public tree alone")
    return stage.profile
