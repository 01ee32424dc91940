# SPDX-License-Identifier: Apache-2.0
"""Places of a spot that is solved or being solved, looked at: by a run under way, or in a file that stays on disk."""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from equipoise.core.checks import check_text
from equipoise.core.errors import ConfigError, UnknownNameError
from equipoise.core.formatting import format_optional
from equipoise.core.progress import Progress
from equipoise.games.holdem.betting import Street
from equipoise.games.holdem.betting_tree import NodeKind
from equipoise.games.holdem.line_notation import Line, format_line, parse_decision, parse_line
from equipoise.games.holdem.spot_file import SpotFile
from equipoise.games.holdem.units import format_chips
from equipoise.search.last_iterates import find_response
from equipoise.solvers.holdem.description import SolvedPlaces, describe_spot_node
from equipoise.solvers.holdem.gains import describe_gain
from equipoise.solvers.holdem.lines import list_lines
from equipoise.solvers.holdem.runouts import describe_runouts, find_deal
from equipoise.solvers.holdem.solved_spot import SolvedSpot
from equipoise.solvers.holdem.view import NodeView, SpotViews
from equipoise.solvers.saved_run import RunConfig
from equipoise.solvers.stopping import StopReason
from equipoise.trees.holdem.places import HoldemPlace
from equipoise.trees.holdem.tree import HoldemTree
from equipoise.trees.vector import TreeStrategy

__all__ = ["SpotPlaces", "StoredSpot"]


class SpotPlaces(abc.ABC):
    """What can be asked about the places of a spot, wherever its tables are."""

    file: SpotFile
    tree: HoldemTree

    @abc.abstractmethod
    def _look(self, is_enough: Callable[[SpotViews], bool]) -> AbstractContextManager[SolvedPlaces]:
        """While entered, what is played stays as it is; views of a part will do if they are enough."""

    def view(self, line: str = "", *, has_values: bool = True) -> NodeView:
        """Returns what both players' hands do and are worth at a decision: `"check, bet 50%"`; the root if empty."""
        spot = self.file.spot
        place = HoldemPlace(*parse_decision(line, self.tree.betting, spot.board, spot.deck))
        with self._look(lambda views: not has_values or views.has_values(place)) as places:
            return places.views.view(place)

    def describe_place(self, line: str = "") -> dict[str, Any]:
        """Returns a place, be it a decision, the end of a street or of the hand, under the keys of docs/spots.md."""
        spot, betting = self.file.spot, self.tree.betting
        place = HoldemPlace(*parse_line(line, betting, spot.board, spot.deck))
        is_decision = betting.nodes[place.node].kind is NodeKind.DECISION
        with self._look(lambda views: not is_decision or views.has_values(place)) as places:
            return describe_spot_node(places, line)

    def describe_runouts(self, line: str) -> dict[str, Any]:
        """Returns every card that may come where a street ends, under the keys of docs/spots.md."""
        node = find_deal(self.tree, line).node
        with self._look(lambda views: views.has_values_after(node)) as places:
            return describe_runouts(places, line)

    def describe_gain(self, line: str = "", *, respects_locks: bool = True) -> dict[str, Any]:
        """Returns what best responses would win more at a decision, under the keys of docs/spots.md."""
        with self._look(lambda views: views.kernel is not None) as places:
            return describe_gain(places, line, respects_locks=respects_locks)

    def list_lines(
        self, street: str | None = None, *, min_reach: float = 0.0, depth: int | None = None
    ) -> list[dict[str, Any]]:
        """Returns the lines of a street, the first unless named, with how often each is played; see `list_lines`."""
        names = {one.name.lower(): one for one in Street}
        if street is not None:
            check_text("street", street)
        if street is not None and street not in names:
            raise UnknownNameError("street", street, names)
        wanted = None if street is None else names[street]
        with self._look(lambda views: True) as places:
            return list_lines(places, street=wanted, min_reach=min_reach, depth=depth)

    def list_children(self, line: str = "") -> tuple[str, ...]:
        """Returns the lines that are one step longer: by an action, or by a card."""
        spot, betting = self.file.spot, self.tree.betting
        here = parse_line(line, betting, spot.board, spot.deck)
        node = betting.nodes[here.node]
        if node.kind is not NodeKind.STREET_END:
            return tuple(format_line(betting, Line(child, here.board)) for child in node.children)
        if not here.board:
            raise ConfigError(f"the flop comes next: add one, as in '{line}, [Ks7h2d]'")
        cards = (card for card in spot.deck.cards if card not in here.board)
        return tuple(format_line(betting, Line(node.children[0], (*here.board, card))) for card in cards)


class StoredSpot(SpotPlaces):
    """A run in a file too large to be read unasked: a board at a time, all of it for what needs the whole table.

    The file is closed once neither this nor a strategy of it is in use.
    """

    def __init__(self, solved: SolvedSpot) -> None:
        """Takes over an open file, of which nothing but the header and the layout is read."""
        self.solved, self.file, self.tree = solved, solved.file, solved.tree
        solved.reader.close_when_unused()

    @property
    def label(self) -> str:
        """Returns what the run computes, in a few words."""
        return f"{self.file.name} · {self.config.rule or self.config.method}"

    @property
    def config(self) -> RunConfig:
        """Returns what was computed."""
        return self.solved.config

    @property
    def records(self) -> tuple[Progress, ...]:
        """Returns the records of the run."""
        return self.solved.progress

    @property
    def stopped_by(self) -> StopReason | None:
        """Returns what ended the run."""
        found = self.solved.stopped_by
        return None if found is None else StopReason(found)

    @property
    def target(self) -> float | None:
        """Returns the exploitability that the spot's file asks for, in chips."""
        return None if self.file.target is None else self.file.target.chips(self.file.spot)

    def strategy(self) -> TreeStrategy[HoldemTree]:
        """Returns what every hand plays; boards are read as they are asked for."""
        return self.solved.strategy

    def last_iterate(self) -> TreeStrategy[HoldemTree]:
        """Returns what the run's regrets play."""
        found: TreeStrategy[HoldemTree] = find_response(self.solved)
        return found

    def format_exploitability(self, value: float | None) -> str:
        """Returns an exploitability in chips, percent of the pot and mbb."""
        return format_optional(value) if value is None else format_chips(self.file.spot, value)

    @contextmanager
    def _look(self, is_enough: Callable[[SpotViews], bool]) -> Iterator[SolvedPlaces]:
        if not is_enough(self.solved.views):
            self.solved.read_values()
        yield self.solved
