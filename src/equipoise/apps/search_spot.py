# SPDX-License-Identifier: Apache-2.0
"""`equipoise search` for hold'em: a decision of a solved spot or a blueprint in buckets, solved again."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from rich.console import Group
from rich.table import Table

from equipoise.agents.files import load_policy
from equipoise.apps.display import format_duration
from equipoise.apps.parse_search import parse_leaf_choices, parse_method
from equipoise.apps.search_options import SearchOptions
from equipoise.core.errors import ConfigError, EquipoiseError, ParseError
from equipoise.core.files import format_bytes
from equipoise.games.holdem.betting import BettingState, check_action, pot
from equipoise.games.holdem.betting_tree import DEALING, BettingTree, NodeKind, cut_betting
from equipoise.games.holdem.cards import check_board, format_board
from equipoise.games.holdem.hands import format_hand, hands_of
from equipoise.games.holdem.line_notation import Line, format_line, name_actions, parse_last_bet
from equipoise.games.holdem.menu_notation import parse_menu
from equipoise.games.holdem.menus import POSITIONS
from equipoise.games.holdem.public_text import parse_steps
from equipoise.search.holdem_depth_limit import OnLine
from equipoise.search.holdem_nested import (
    HoldemNestedSearch,
    HoldemResult,
    HoldemSearchSettings,
    HoldemStage,
    Reply,
)
from equipoise.solvers.hand_policy import HandPolicy
from equipoise.solvers.holdem import HoldemSolver, estimate_holdem_bytes
from equipoise.solvers.rules import Rule

__all__ = ["Place", "SpotSearch", "find_place"]

FloatArray = npt.NDArray[np.float64]

WORTH_SAYING = 50_000_000  # bytes
LAST_ITERATIONS = 10_000  # on the last street, unless others are asked for; the worst of many hands settles late
EARLY_ITERATIONS = 100  # where a street follows, unless more are asked for
LEAF_ITERATIONS = 300  # where it is left out


class Place(NamedTuple):
    """Where a search begins: a decision, and perhaps an action there that the strategy lacks."""

    node: int
    board: tuple[int, ...]
    reply: Reply | None = None


def find_place(policy: HandPolicy, text: str) -> Place:
    """Returns the decision that a line (`check, bet 50%`) or a public state (`Ks7h2d5c9h:cr750`) leads to.

    The last action may be a bet that the strategy does not know.
    """
    spot = policy.spot
    if ":" not in text:
        line, total = parse_last_bet(text, policy.betting, spot.board, spot.deck)
        return Place(line.node, line.board, None if total is None else Reply(total))
    steps, board = parse_steps(text.strip())
    try:
        check_board(board, spot.deck)
    except ConfigError as error:
        raise ParseError(f"state {text!r}: {error}") from None
    if set(board[: len(spot.board)]) != set(spot.board):
        raise ParseError(f"state {text!r} is not on the board of the spot, {format_board(spot.board)}")
    node = 0
    for count, step in enumerate(steps):
        here = policy.betting.nodes[node]
        if step == DEALING and here.kind is NodeKind.STREET_END:
            node = here.children[0]
        elif step in here.actions:
            node = here.children[here.actions.index(step)]
        else:
            return _unknown_step(policy, text, node, step, is_last=count == len(steps) - 1, board=board)
    here = policy.betting.nodes[node]
    if here.kind is not NodeKind.DECISION:
        what = "cards come next" if here.kind is NodeKind.STREET_END else f"the hand is over by {here.kind.value}"
        raise ParseError(f"nobody acts at {text!r}: {what}")
    _check_num_cards(text, board, here.state)
    return Place(node, board)


def _check_num_cards(text: str, board: tuple[int, ...], state: BettingState) -> None:
    if len(board) != state.street.num_board_cards:
        raise ParseError(f"{text!r} has {len(board)} cards on the {state.street.name.lower()}")


def _unknown_step(
    policy: HandPolicy, text: str, node: int, step: int, *, is_last: bool, board: tuple[int, ...]
) -> Place:
    here = policy.betting.nodes[node]
    if here.kind is not NodeKind.DECISION:
        raise ParseError(f"state {text!r}: nobody acts before its step {step}, it is a {here.kind.value} there")
    if step == DEALING:
        raise ParseError(f"state {text!r} deals cards where player {here.state.actor} acts")
    known = ", ".join(map(str, here.actions))
    if not is_last:
        raise ParseError(
            f"state {text!r}: the strategy has actions {known} where {step} is taken, and only the last action may be "
            "one that it lacks"
        )
    _check_num_cards(text, board, here.state)
    try:
        check_action(policy.betting.rules, here.state, step)
    except EquipoiseError as error:
        raise ParseError(f"state {text!r}: {error}") from None
    return Place(node, board, Reply(step))


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
        self.options = options
        policy = load_policy(options.file)
        self.spot, self.betting = policy.spot, policy.betting
        self.place = find_place(policy, options.state)
        here = self.betting.nodes[self.place.node]
        self.searcher = self._find_searcher(here.state)
        self.opponent = 1 - self.searcher
        settings = HoldemSearchSettings(
            method=parse_method(options.method),
            iterations=options.iterations or LAST_ITERATIONS,
            early_iterations=options.iterations or EARLY_ITERATIONS,
            rule=rule,
            menu=None if options.menu is None else parse_menu(options.menu),
            leaf_choices=None if options.leaves is None else parse_leaf_choices(options.leaves),
            leaf_iterations=options.iterations or LEAF_ITERATIONS,
            is_expensive=options.expensive,
            num_threads=options.threads,
        )
        self.is_expensive = settings.begins_before
        search = HoldemNestedSearch(policy, self.searcher, settings)
        self._say_leaves(search, on_plan)
        self.iterations = 0

        def run_shown(solver: HoldemSolver, num_iterations: int) -> None:
            stack.close()
            needed = estimate_holdem_bytes(solver.tree, rule, num_threads=options.threads)
            if needed >= WORTH_SAYING:
                on_plan(f"{solver.tree.spot.name}: {len(solver.tree.boards)} boards, {needed / 1e6:,.0f} MB")
            self.iterations = run(solver.iterate, num_iterations)

        began = time.perf_counter()
        stage = search.begin()
        with contextlib.ExitStack() as stack:
            on_line = None if options.leaves is None else stack.enter_context(show_lines())
            found = search.search(
                stage, self.place.node, self.place.board, self.place.reply, run=run_shown, on_line=on_line
            )
        if found is None:
            raise ConfigError(f"player {self.searcher} never plays to {options.state!r}: there is nothing to search")
        self.result: HoldemResult = found
        self.seconds = time.perf_counter() - began
        self.before = stage if self.place.reply is None and options.menu is None else None

    def _say_leaves(self, search: HoldemNestedSearch, on_plan: Callable[[str], None]) -> None:
        """Tells what leaves will take; `ConfigError` where there can be none."""
        if search.settings.leaf_choices is None:
            return
        if self.place.reply is not None:
            raise ConfigError("the strategy lacks the last bet, so that nothing is known behind it: leave --leaves out")
        part = cut_betting(self.betting, self.place.node)
        if not search.has_leaves(part):
            raise ConfigError(
                f"--leaves is for the street before the last one, and {self.options.state!r} is on the "
                f"{part.root.state.street.name.lower()}"
            )
        size = search.estimate_leaves(part, self.place.board)
        on_plan(f"a table of leaves first, at most {format_bytes(size)}; then the street alone")

    def _find_searcher(self, state: BettingState) -> int:
        given = self.options.player
        if self.place.reply is None:
            return state.actor if given is None else given
        if given is not None and given == state.actor:
            raise ConfigError(
                f"player {given} made the last bet of {self.options.state!r}, which the strategy lacks: its reply is "
                f"searched for player {1 - given}"
            )
        return 1 - state.actor

    @property
    def is_safe(self) -> bool:
        """Returns whether there are alternatives."""
        return self.options.method != "unsafe"

    @property
    def root(self) -> BettingState:
        """Returns where the betting stands when the search begins, behind a bet that the strategy lacks."""
        return self.result.stage.betting.nodes[self.result.node].state

    def actions(self) -> tuple[str, ...]:
        """Returns the searcher's actions where the search begins; none if the other acts there."""
        stage = self.result.stage
        return name_actions(stage.betting, self.result.node) if self.root.actor == self.searcher else ()

    def responses(self) -> tuple[float | None, float]:
        """Returns the share of the pot that the opponent's best response has, before and after, over its hands."""
        result, weights = self.result, self._opponent_weights()
        paid = self.root.committed[self.opponent] if self.place.reply is None else self._paid_before()
        before = None
        if self.is_safe:
            before = float(weights @ (result.alternative - result.stage.gifts)) + paid
        return before, float(weights @ result.value) + paid

    def _paid_before(self) -> int:
        return self.betting.nodes[self.place.node].state.committed[self.opponent]

    def _opponent_weights(self) -> FloatArray:
        """Returns `[H]` how likely the opponent's hands are, as far as its strategy so far says."""
        reach = self.result.stage.reach
        own = reach[self.opponent] if reach[self.opponent].any() else self.result.possible.astype(np.float64)
        odds = own * hands_of(self.spot.deck).compatible(reach[self.searcher]) * self.result.possible
        weights: FloatArray = odds / odds.sum() if odds.sum() > 0 else odds
        return weights

    def decisions(self) -> list[dict[str, Any]]:
        """Returns what the searcher's hands do where the search begins, the likeliest and highest first."""
        names = self.actions()
        if not names:
            return []
        after = self._strategy(self.result.stage, self.result.node)
        before = None if self.before is None else self._strategy(self.before, self.place.node)
        reach = self.result.stage.reach[self.searcher]
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
        reach = self.result.stage.reach_at(self.result.node, self.place.board)
        odds = reach[self.searcher] * hands_of(self.spot.deck).compatible(reach[self.opponent])
        odds = odds if odds.any() else reach[self.searcher]
        odds = odds / odds.sum()
        before = None if self.before is None else odds @ self._strategy(self.before, self.place.node)
        return {
            "before": None if before is None else _shares(names, before),
            "after": _shares(names, odds @ self._strategy(self.result.stage, self.result.node)),
        }

    def _strategy(self, stage: HoldemStage, node: int) -> FloatArray:
        return stage.policy.hand_strategy(node, self.place.board)

    def margins(self) -> list[dict[str, Any]]:
        """Returns alternative, new value and margin of the opponent's hands, the least margin first."""
        result, weights = self.result, self._opponent_weights()
        paid = self._paid_before()
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
            "board": format_board(self.place.board),
            "pot": pot(self.root),
            "player": self.searcher,
            "search_method": options.method,
            "search_rule": options.rule,
            "search_iterations": self.iterations,
            "is_expensive": None if self.place.reply is None else self.is_expensive,
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
        where = describe_place(self.betting, self.place)
        if self.place.reply is not None and self.is_expensive:
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


def describe_place(betting: BettingTree, place: Place) -> str:
    """Returns a place in words."""
    line = format_line(betting, Line(place.node, place.board)) or "root"
    return f"{line}, then an unknown raise to {place.reply.action}" if place.reply else line


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
