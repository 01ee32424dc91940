# SPDX-License-Identifier: Apache-2.0
"""`equipoise search` for hold'em: a decision of a solved spot or a blueprint in buckets, solved again."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import numpy.typing as npt
from rich.console import Group
from rich.table import Table

from equipoise.agents.files import load_policy
from equipoise.apps.search_options import SearchOptions
from equipoise.apps.search_place import find_place, follow_stretch
from equipoise.core.errors import ConfigError
from equipoise.core.files import format_bytes
from equipoise.core.formatting import format_duration
from equipoise.games.holdem.betting import BettingState, pot
from equipoise.games.holdem.betting_tree import cut_betting
from equipoise.games.holdem.cards import format_board
from equipoise.games.holdem.hands import format_hand, hands_of
from equipoise.games.holdem.line_notation import Stretch, name_actions
from equipoise.games.holdem.menu_notation import parse_menu
from equipoise.games.holdem.menus import POSITIONS
from equipoise.search.holdem.depth_limit import OnLine
from equipoise.search.holdem.profile import HoldemProfile, has_leaves
from equipoise.search.nested import NestedSearch
from equipoise.search.notation import parse_leaf_choices, parse_method
from equipoise.search.profiles import Reply, Stage
from equipoise.search.resolving import SearchResult, SubgameSolver
from equipoise.search.settings import SearchSettings
from equipoise.solvers.cfr import estimate_bytes
from equipoise.solvers.rules import Rule
from equipoise.trees.holdem.places import HoldemPlace
from equipoise.trees.holdem.tree import HoldemTree

__all__ = ["SpotSearch"]

FloatArray = npt.NDArray[np.float64]

WORTH_SAYING = 50_000_000  # bytes
LAST_ITERATIONS = 10_000  # on the last street, unless others are asked for; the worst of many hands settles late
EARLY_ITERATIONS = 100  # where a street follows, unless more are asked for
LEAF_ITERATIONS = 300  # where it is left out


class SpotSearch:
    """A search in hold'em, done, for people and for programs."""

    def __init__(
        self,
        options: SearchOptions,
        rule: Rule,
        run: Callable[[Callable[[int], None], int], int],
        *,
        on_plan: Callable[[str], None],
        show_lines: Callable[[], AbstractContextManager[OnLine]],
    ) -> None:
        """Searches.

        Args:
            options: of the command.
            rule: of CFR.
            run: runs iterations as it is told how to, and says how many were run.
            on_plan: is told what will be done.
            show_lines: gives what is told how far a table of leaves is, for as long as it is computed.
        """
        self.options, self._rule, self._run, self._on_plan = options, rule, run, on_plan
        policy = load_policy(options.file)
        self.spot = policy.tree.spot
        settings = self._make_settings()
        self.place = find_place(policy, options.state, settings.menu)
        self.searcher = self._find_searcher()
        self.opponent = 1 - self.searcher
        self.is_expensive = settings.begins_before
        self._say_leaves(HoldemProfile(policy), settings)
        self.iterations = 0
        began = time.perf_counter()
        with contextlib.ExitStack() as stack:
            on_line = None if options.leaves is None else stack.enter_context(show_lines())
            profile = HoldemProfile(policy, on_line=on_line)
            self.before, self.node, self.result = self._search(NestedSearch(profile, self.searcher, settings), stack)
        assert self.result.stage is not None
        assert isinstance(self.result.stage.profile, HoldemProfile)
        self.after = self.result.stage.profile
        self.now: HoldemPlace = self.result.stage.place
        self.seconds = time.perf_counter() - began
        self.has_before = self.place.last.total is None and options.menu is None

    def _make_settings(self) -> SearchSettings:
        options = self.options
        return SearchSettings(
            method=parse_method(options.method),
            iterations=options.iterations or LAST_ITERATIONS,
            early_iterations=options.iterations or EARLY_ITERATIONS,
            rule=self._rule,
            menu=None if options.menu is None else parse_menu(options.menu),
            leaf_choices=None if options.leaves is None else parse_leaf_choices(options.leaves),
            leaf_iterations=options.iterations or LEAF_ITERATIONS,
            is_expensive=options.expensive,
            num_threads=options.threads,
        )

    def _search(
        self, search: NestedSearch[HoldemPlace], stack: contextlib.ExitStack
    ) -> tuple[HoldemProfile, int, SearchResult]:
        """Returns the strategy so far, its decision and what the last search found; one search an unknown bet."""

        def run_shown(solver: SubgameSolver, num_iterations: int) -> None:
            stack.close()
            tree = solver.subgame.tree
            assert isinstance(tree, HoldemTree)
            needed = estimate_bytes(tree, self._rule, num_threads=self.options.threads)
            if needed >= WORTH_SAYING:
                self._on_plan(f"{tree.spot.name}: {len(tree.boards)} boards, {needed / 1e6:,.0f} MB")
            self.iterations = self._run(solver.iterate, num_iterations)

        def search_at(stage: Stage[HoldemPlace], node: int, stretch: Stretch) -> SearchResult:
            reply = None if stretch.total is None else Reply(stretch.total)
            found = search.search(stage, HoldemPlace(node, stretch.line.board), reply, run=run_shown)
            if found is None:
                raise ConfigError(
                    f"player {self.searcher} never plays to {self.options.state!r}: there is nothing to search"
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
            raise ConfigError("the strategy lacks a bet, so that nothing is known behind it: leave --leaves out")
        part = cut_betting(self.place.last.tree, self.place.last.line.node)
        if not has_leaves(part, settings):
            raise ConfigError(
                f"--leaves is for the street before the last one, and {self.options.state!r} is on the "
                f"{part.root.state.street.name.lower()}"
            )
        size = profile.estimate_leaves(part, self.place.last.line.board, settings)
        self._on_plan(f"a table of leaves first, at most {format_bytes(size)}; then the street alone")

    def _find_searcher(self) -> int:
        """Returns who searches: as asked, or the one who meets unknown bets, or who acts."""
        given, strangers = self.options.player, self.place.strangers
        if len(strangers) > 1:
            raise ConfigError(
                f"both players make bets in {self.options.state!r} that the strategy lacks: the searcher's own must be "
                "its strategy's, or there is no range to search with"
            )
        if not strangers:
            return self.place.state.actor if given is None else given
        (stranger,) = strangers
        if given == stranger:
            raise ConfigError(
                f"player {given} makes a bet in {self.options.state!r} that the strategy lacks: replies to it are "
                f"searched for player {1 - given}"
            )
        return 1 - stranger

    @property
    def is_safe(self) -> bool:
        """Returns whether there are alternatives."""
        return self.options.method != "unsafe"

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
                "alternative": float(result.alternative[hand]) + paid if self.is_safe else None,
                "value": float(result.value[hand]) + paid,
                "margin": float(result.margin[hand]) if self.is_safe else None,
            }
            for hand in hands[np.argsort(key, kind="stable")].tolist()
        ]

    def as_json(self) -> dict[str, Any]:
        """Returns everything under the documented keys."""
        before, after = self.responses()
        options = self.options
        return {
            "file": str(options.file),
            "label": self.spot.name,
            "state": options.state,
            "board": format_board(self.place.last.line.board),
            "pot": pot(self.root),
            "player": self.searcher,
            "search_method": options.method,
            "search_rule": options.rule,
            "search_iterations": self.iterations,
            "is_expensive": self.is_expensive if self.place.strangers else None,
            "least_margin": self.result.least_margin if self.is_safe else None,
            "best_response_before": before,
            "best_response_after": after,
            "frequencies": self.frequencies(),
            "strategy": self.decisions(),
            "margins": self.margins(),
            "seconds": self.seconds,
        }

    def as_text(self) -> Group:
        """Returns both tables and the price in a line."""
        limit = self.options.limit or None
        state = self.root
        where = self.place.describe()
        if self.place.last.total is not None and self.is_expensive:
            where += ", solved from before it on"
        parts: list[Any] = [
            f"{self.spot.name}, {where}: {pot(state):,} in the pot, {min(state.stacks):,} behind, "
            f"{POSITIONS[self.searcher]} searches"
        ]
        names, frequencies = self.actions(), self.frequencies()
        if names:
            table = Table(title=f"{POSITIONS[self.searcher]}, strategy so far > now", title_justify="left")
            for name in ("hand", "weight", *names):
                table.add_column(name, justify="left" if name == "hand" else "right")
            table.add_row("all", "", *_pair_up(names, frequencies["before"], frequencies["after"]))
            for row in self.decisions()[:limit]:
                table.add_row(row["hand"], f"{row['weight']:.3g}", *_pair_up(names, row["before"], row["after"]))
            parts.append(table)
        other = POSITIONS[self.opponent]
        margins = Table(title=f"{other}, share of the pot in chips with each hand", title_justify="left")
        for name in ("hand", "weight", "alternative", "value now", "margin"):
            margins.add_column(name, justify="left" if name == "hand" else "right")
        for row in self.margins()[:limit]:
            figures = (_chips(row[key]) for key in ("alternative", "value", "margin"))
            margins.add_row(row["hand"], f"{row['weight']:.2%}", *figures)
        parts += [margins, self._price()]
        return Group(*parts)

    def _price(self) -> str:
        before, after = self.responses()
        least = f"least margin {_chips(self.result.least_margin)}; " if self.is_safe else ""
        was = "" if before is None else f"{_chips(before)} > "
        return (
            f"{self.options.method}, {self.iterations:,} iterations in {format_duration(self.seconds)}; {least}"
            f"{POSITIONS[self.opponent]}'s best response has {was}{_chips(after)} of the pot"
        )


def _profile(stage: Stage[HoldemPlace]) -> HoldemProfile:
    assert isinstance(stage.profile, HoldemProfile)
    return stage.profile


def _chips(amount: float | None) -> str:
    """Returns chips to a ten-thousandth, nothing if there are none to say."""
    return "" if amount is None else f"{round(amount, 4) + 0.0:.4g}"


def _shares(names: Sequence[str], shares: FloatArray) -> dict[str, float]:
    return dict(zip(names, shares.tolist(), strict=True))


def _pair_up(names: Sequence[str], before: dict[str, float] | None, after: dict[str, float] | None) -> list[str]:
    assert after is not None
    if before is None:
        return [f"{after[name]:.3f}" for name in names]
    return [f"{before[name]:.3f} > {after[name]:.3f}" for name in names]
