# SPDX-License-Identifier: Apache-2.0
"""A decision of a solved spot or a blueprint in buckets, solved again."""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.core.files import format_bytes
from equipoise.core.reporting import OnStep, Reporter
from equipoise.games.holdem.betting import BettingState, pot
from equipoise.games.holdem.betting_tree import cut_betting
from equipoise.games.holdem.cards import format_board
from equipoise.games.holdem.hands import format_hand, hands_of
from equipoise.games.holdem.line_notation import Stretch, name_actions
from equipoise.games.holdem.menu_notation import parse_menu
from equipoise.games.holdem.place_notation import find_place, follow_stretch
from equipoise.runs.search_request import DoneSearch, RunIterations, SearchRequest, run_in_pieces
from equipoise.search.holdem.profile import HoldemProfile, has_leaves
from equipoise.search.last_iterates import needs_response
from equipoise.search.nested import NestedSearch
from equipoise.search.notation import parse_leaf_choices, parse_method
from equipoise.search.profiles import Reply, Stage
from equipoise.search.resolving import SearchResult, SubgameSolver
from equipoise.search.settings import SearchSettings
from equipoise.solvers.cfr import estimate_bytes
from equipoise.solvers.rule_notation import parse_rule
from equipoise.trees.holdem.places import HoldemPlace, HoldemStrategy
from equipoise.trees.holdem.tree import HoldemTree

__all__ = ["SpotSearch"]

FloatArray = npt.NDArray[np.float64]

WORTH_SAYING = 50_000_000  # bytes
LAST_ITERATIONS = 10_000  # on the last street, unless others are asked for; the worst of many hands settles late
EARLY_ITERATIONS = 100  # where a street follows, unless more are asked for
LEAF_ITERATIONS = 300  # where it is left out


class SpotSearch(DoneSearch):
    r"""A search in hold'em, done.

    >>> from equipoise.runs import load_spot, solve
    >>> text = "board = 'Ks7h2d5c9h'\npot = 20\nstacks = 30\nmenu = '50%'\nranges = {oop = 'AA', ip = 'KK, QQ'}"
    >>> found = solve(load_spot(text), iterations=20).search("check", "maxmargin", iterations=50)
    >>> isinstance(found, SpotSearch), found.searcher
    (True, 1)
    """

    def __init__(
        self,
        strategy: HoldemStrategy,
        request: SearchRequest,
        *,
        run: RunIterations = run_in_pieces,
        reporter: Reporter | None = None,
        find_response: Callable[[], Any] | None = None,
    ) -> None:
        """Searches.

        Args:
            strategy: the blueprint.
            request: where and how.
            run: runs iterations as it is told how to, and says how many were run.
            reporter: is told what will be done, and how far a table of leaves is.
            find_response: gives by what alternatives are estimated, for methods that ask for it.
        """
        self.request, self._rule, self._run = request, parse_rule(request.rule), run
        self._reporter = reporter or Reporter()
        self.spot = strategy.tree.spot
        settings = self._make_settings()
        self.place = find_place(self.spot, strategy.tree.betting, request.state, settings.menu)
        self.searcher = self._find_searcher()
        self.opponent = 1 - self.searcher
        self.is_expensive = settings.begins_before
        response = find_response() if find_response is not None and needs_response(settings.method) else None
        profile = HoldemProfile(strategy, response=response)
        self._say_leaves(profile, settings)
        self.iterations = 0
        began = time.perf_counter()
        with contextlib.ExitStack() as stack:
            if request.leaves is not None:
                on_step = stack.enter_context(self._reporter.task("table"))
                profile.on_line = functools.partial(_tell_lines, on_step)
            self.before, self.node, self.result = self._search(NestedSearch(profile, self.searcher, settings), stack)
        assert self.result.stage is not None
        assert isinstance(self.result.stage.profile, HoldemProfile)
        self.after = self.result.stage.profile
        self.now: HoldemPlace = self.result.stage.place
        self.seconds = time.perf_counter() - began
        self.has_before = self.place.last.total is None and request.menu is None

    def _make_settings(self) -> SearchSettings:
        options = self.request
        return SearchSettings(
            method=parse_method(options.method),
            iterations=options.iterations or LAST_ITERATIONS,
            early_iterations=options.iterations or EARLY_ITERATIONS,
            rule=self._rule,
            menu=None if options.menu is None else parse_menu(options.menu),
            leaf_choices=None if options.leaves is None else parse_leaf_choices(options.leaves),
            leaf_iterations=options.iterations or LEAF_ITERATIONS,
            is_expensive=options.expensive,
            num_threads=options.num_threads,
        )

    def _search(
        self, search: NestedSearch[HoldemPlace], stack: contextlib.ExitStack
    ) -> tuple[HoldemProfile, int, SearchResult]:
        """Returns the strategy so far, its decision and what the last search found; one search an unknown bet."""

        def run_shown(solver: SubgameSolver, num_iterations: int) -> None:
            stack.close()
            tree = solver.subgame.tree
            assert isinstance(tree, HoldemTree)
            needed = estimate_bytes(tree, self._rule, num_threads=self.request.num_threads)
            if needed >= WORTH_SAYING:
                self._reporter.say(f"{tree.spot.name}: {len(tree.boards)} boards, {needed / 1e6:,.0f} MB")
            self.iterations = self._run(solver.iterate, num_iterations)

        def search_at(stage: Stage[HoldemPlace], node: int, stretch: Stretch) -> SearchResult:
            reply = None if stretch.total is None else Reply(stretch.total)
            found = search.search(stage, HoldemPlace(node, stretch.line.board), reply, run=run_shown)
            if found is None:
                raise ConfigError(
                    f"player {self.searcher} never plays to {self.request.state!r}: there is nothing to search"
                )
            return found

        *middle, last = self.place.stretches
        stage = search.begin()
        for stretch in middle:
            found = search_at(stage, follow_stretch(stretch, _profile(stage).betting, stage.place.node), stretch)
            assert found.stage is not None
            stage = found.stage
        node = follow_stretch(last, _profile(stage).betting, stage.place.node)
        return _profile(stage), node, search_at(stage, node, last)

    def _say_leaves(self, profile: HoldemProfile, settings: SearchSettings) -> None:
        """Tells what leaves will take; `ConfigError` where there can be none."""
        if settings.leaf_choices is None:
            return
        if self.place.strangers:
            raise ConfigError("the strategy lacks a bet, so that nothing is known behind it: leave `leaves` out")
        part = cut_betting(self.place.last.tree, self.place.last.line.node)
        if not has_leaves(part, settings):
            raise ConfigError(
                f"`leaves` is for the street before the last one, and {self.request.state!r} is on the "
                f"{part.root.state.street.name.lower()}"
            )
        size = profile.estimate_leaves(part, self.place.last.line.board, settings)
        self._reporter.say(f"a table of leaves first, at most {format_bytes(size)}; then the street alone")

    def _find_searcher(self) -> int:
        """Returns who searches: as asked, or the one who meets unknown bets, or who acts."""
        given, strangers = self.request.player, self.place.strangers
        if len(strangers) > 1:
            raise ConfigError(
                f"both players make bets in {self.request.state!r} that the strategy lacks: the searcher's own must be "
                "its strategy's, or there is no range to search with"
            )
        if not strangers:
            return self.place.state.actor if given is None else given
        (stranger,) = strangers
        if given == stranger:
            raise ConfigError(
                f"player {given} makes a bet in {self.request.state!r} that the strategy lacks: replies to it are "
                f"searched for player {1 - given}"
            )
        return 1 - stranger

    @property
    def root(self) -> BettingState:
        """Returns where the betting stands when the search begins, behind a bet that the strategy lacks."""
        return self.after.betting.nodes[self.now.node].state

    def actions(self) -> tuple[str, ...]:
        """Returns the searcher's actions where the search begins; none if the other acts there."""
        return name_actions(self.after.betting, self.now.node) if self.root.actor == self.searcher else ()

    def responses(self) -> tuple[float | None, float]:
        """Returns the share of the pot that the opponent's best response has, before and after, over its hands."""
        before, after = self.result.responses()
        paid = self.place.state.committed[self.opponent]
        return (before + paid if self.is_safe else None), after + paid

    def decisions(self) -> list[dict[str, Any]]:
        """Returns what the searcher's hands do where the search begins, the likeliest and highest first."""
        names = self.actions()
        if not names:
            return []
        after = self._strategy(self.after, self.now.node)
        before = self._strategy(self.before, self.node) if self.has_before else None
        reach = self.result.subgame.reach[self.searcher]
        order = [hand for hand in np.lexsort((-np.arange(reach.size), -reach)).tolist() if reach[hand] > 0]
        return [
            {
                "hand": format_hand(hand, self.spot.deck),
                "weight": float(reach[hand]),
                "before": None if before is None else _shares(names, before[hand]),
                "after": _shares(names, after[hand]),
            }
            for hand in order
        ]

    def frequencies(self) -> dict[str, dict[str, float] | None]:
        """Returns how often each action is taken, before and after."""
        names = self.actions()
        if not names:
            return {"before": None, "after": None}
        reach = self.after.reach(self.now)
        odds = reach[self.searcher] * hands_of(self.spot.deck).compatible(reach[self.opponent])
        odds = odds if odds.any() else reach[self.searcher]
        odds = odds / odds.sum()
        before = odds @ self._strategy(self.before, self.node) if self.has_before else None
        return {
            "before": None if before is None else _shares(names, before),
            "after": _shares(names, odds @ self._strategy(self.after, self.now.node)),
        }

    def _strategy(self, profile: HoldemProfile, node: int) -> FloatArray:
        return profile.probabilities(HoldemPlace(node, self.place.last.line.board))

    def margins(self) -> list[dict[str, Any]]:
        """Returns alternative, new value and margin of the opponent's hands, the least margin first."""
        result, weights = self.result, self.result.opponent_weights()
        paid = self.place.state.committed[self.opponent]
        hands = np.flatnonzero(result.possible)
        key = result.margin[hands] if self.is_safe else -result.value[hands]
        return [
            {
                "hand": format_hand(hand, self.spot.deck),
                "weight": float(weights[hand]),
                **self.margin_of(hand, paid=paid),
            }
            for hand in hands[np.argsort(key, kind="stable")].tolist()
        ]

    def as_json(self) -> dict[str, Any]:
        """Returns everything under the documented keys."""
        return {
            "label": self.spot.name,
            "board": format_board(self.place.last.line.board),
            "pot": pot(self.root),
            "is_expensive": self.is_expensive if self.place.strangers else None,
            "frequencies": self.frequencies(),
            **super().as_json(),
        }


def _profile(stage: Stage[HoldemPlace]) -> HoldemProfile:
    assert isinstance(stage.profile, HoldemProfile)
    return stage.profile


def _tell_lines(on_step: OnStep, done: int, total: int) -> None:
    on_step(done / total, f"{done} of {total} lines")


def _shares(names: Sequence[str], shares: FloatArray) -> dict[str, float]:
    return dict(zip(names, shares.tolist(), strict=True))
