# SPDX-License-Identifier: Apache-2.0
"""What a solved hold'em spot says at one decision: reach, strategy, values and equity of every hand.

All of it is computed when asked from the stored averages; what decisions share (values of a street's lines, equities
against a range) is kept for the next one. Values are a hand's share of the pot as it stands: chips that it ends up with
beyond those now behind, on average over what the other player may hold there. Folding is worth 0, and both players'
averages sum to the pot less the rake.
"""

from __future__ import annotations

import dataclasses
import functools
import threading
from collections.abc import Sequence
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.core.markup import html_line, join_html, svg_grid
from equipoise.games.holdem.betting import Street, pot
from equipoise.games.holdem.betting_tree import NO_PARENT
from equipoise.games.holdem.cards import Deck, format_board
from equipoise.games.holdem.equity import compute_equity
from equipoise.games.holdem.hand_classes import CLASSES, DRAWS, classify_hands
from equipoise.games.holdem.hands import format_hand, hands_of
from equipoise.games.holdem.isomorphism import hand_permutation
from equipoise.games.holdem.line_notation import name_actions
from equipoise.games.holdem.menu_notation import parse_menu
from equipoise.games.holdem.ranges import Range
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.kernels.holdem.sweeps import HoldemKernel
from equipoise.solvers.cfr import CFRSolver
from equipoise.trees.holdem.places import HoldemPlace
from equipoise.trees.holdem.tree import HoldemTree, build_holdem_tree
from equipoise.trees.joint import CardRemoval
from equipoise.trees.vector import CellTable

__all__ = ["BestView", "NodeView", "PlayerView", "Slots", "SpotViews", "view_average", "view_node"]

IntArray = npt.NDArray[np.int32]
FloatArray = npt.NDArray[np.float64]
Slots = tuple[FloatArray, FloatArray]  # by player

KEPT_LINES: Final = 16  # of betting on a board whose values are at hand; those of a river may take megabytes
KEPT_RANGES: Final = 256  # against which equities are at hand


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlayerView:
    r"""One player's hands at a decision.

    >>> from equipoise.runs import load_spot, solve
    >>> text = "board = 'Ks7h2d5c9h'\npot = 20\nstacks = 30\nmenu = '50%'\nranges = {oop = 'AA', ip = 'KK, QQ'}"
    >>> first, second = solve(load_spot(text), iterations=100).view("root").players
    >>> len(first.hands), len(second.hands)
    (6, 9)
    """

    hands: IntArray  # [H] numbers of the hands, ascending
    weights: FloatArray  # [H] weight in the range times the probability to have played this far
    matches: FloatArray  # [H] weight of the other player's hands that share no card with it
    values: FloatArray  # [H] share of the pot in chips; NaN where nothing matches
    equities: FloatArray  # [H] share of the pot, 0 to 1, if nobody bets again; NaN where nothing matches, and before
    # the flop of games that end before the river

    def __repr__(self) -> str:
        return f"<PlayerView of {np.count_nonzero(self.odds):,} hands worth {self.value:.4g} chips>"

    @property
    def odds(self) -> FloatArray:
        """Returns `[H]` how likely each hand is, up to a factor."""
        return self.weights * self.matches

    @property
    def value(self) -> float:
        """Returns the value of all hands, weighted by how often they are there; NaN if they never are."""
        is_there = (self.weights > 0) & (self.matches > 0)
        odds = (self.weights * self.matches)[is_there]
        return float(odds @ self.values[is_there] / odds.sum()) if odds.size else float("nan")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NodeView:
    r"""A decision of the betting tree on a board.

    >>> from equipoise.runs import load_spot, solve
    >>> text = "board = 'Ks7h2d5c9h'\npot = 20\nstacks = 30\nmenu = '50%'\nranges = {oop = 'AA', ip = 'KK, QQ'}"
    >>> view = solve(load_spot(text), iterations=100).view("check")
    >>> view.names, view.frequencies.shape
    (('check', 'all-in'), (2,))
    """

    node: int
    board: tuple[int, ...]
    pot: int  # chips, bets that are not called included
    actor: int
    actions: tuple[int, ...]  # fold (0), call (1), totals raised to
    names: tuple[str, ...]  # [A] of the actions, as lines have them
    deck: Deck
    strategy: FloatArray  # [H, A] of the actor's hands
    action_values: FloatArray  # [H, A] their share of the pot after each action
    players: tuple[PlayerView, PlayerView]

    def __repr__(self) -> str:
        played = ", ".join(f"{name} {share:.1%}" for name, share in zip(self.names, self.frequencies, strict=True))
        board = f" on {format_board(self.board)}" if self.board else ""
        return f"<NodeView of player {self.actor}{board}, pot {self.pot}: {played}>"

    def _repr_html_(self) -> str:
        shares, held = self.grid()
        names = hands_of(self.deck).class_names
        return join_html(html_line(repr(self)), svg_grid(names, shares.tolist(), held.tolist(), self.names))

    def grid(self) -> tuple[FloatArray, FloatArray]:
        """Returns what classes of hands do, in the order of `Hands.class_names`.

        Returns:
            `[classes, A]` how often each class takes each action, hands weighted by how likely they are here;
            and `[classes]` how much of the class is here, from 0 to 1, 1 being the likeliest hand.
        """
        hands, own = hands_of(self.deck), self.players[self.actor]
        odds, strategy = np.zeros(hands.num_hands), np.zeros((hands.num_hands, len(self.actions)))
        odds[own.hands] = own.odds / max(float(own.odds.max(initial=0.0)), 1e-300)
        strategy[own.hands] = self.strategy
        shares = np.stack([hands.grid(column, odds).ravel() for column in strategy.T], axis=1)
        return np.nan_to_num(shares), np.nan_to_num(hands.grid(odds).ravel())

    def columns(self) -> dict[str, list[str] | list[float]]:
        """Returns what `show --csv` writes, as columns over the actor's hands, the strongest ranks first.

        Weight, equity, value in chips, how often each action is taken and what it is worth (`ev NAME`), and from the
        flop on what players call the hand.
        """
        own = self.players[self.actor]
        held = np.flatnonzero(own.weights > 0)[::-1]
        hands = own.hands[held]
        numbers = {"weight": own.weights, "equity": own.equities, "value": own.values}
        played = dict(zip(self.names, self.strategy.T, strict=True))
        worth = {f"ev {name}": column for name, column in zip(self.names, self.action_values.T, strict=True)}
        columns: dict[str, list[str] | list[float]] = {
            "hand": [format_hand(hand, self.deck) for hand in hands.tolist()],
            **{name: column[held].tolist() for name, column in (numbers | played | worth).items()},
        }
        if self.board:
            found = classify_hands(tuple(self.board), self.deck)
            columns["class"] = [CLASSES[number] for number in found.classes[hands].tolist()]
            columns["draw"] = [DRAWS[number] for number in found.draws[hands].tolist()]
        return columns

    @property
    def frequencies(self) -> FloatArray:
        """Returns `[A]` how often each action is taken; NaN where nobody comes."""
        odds = self.players[self.actor].odds
        total = odds.sum()
        shares: FloatArray = odds @ self.strategy / total if total > 0 else np.full(len(self.actions), np.nan)
        return shares


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BestView:
    """What hands would be worth at a decision if their player answered the other's strategy best from there on."""

    values: tuple[FloatArray, FloatArray]  # [H] by player, in the order of a `NodeView`'s hands
    action_values: FloatArray  # [H, A] of the actor's hands after each action

    def gains(self, view: NodeView) -> tuple[FloatArray, FloatArray]:
        """Returns `[H]` by player what a best response wins more than what is played; never negative, NaN as values."""
        first, second = (
            np.maximum(best - shown.values, 0.0) for best, shown in zip(self.values, view.players, strict=True)
        )
        return first, second


def view_average(solver: CFRSolver[HoldemTree], board: Sequence[int], node: int = 0) -> NodeView:
    """Returns what a run's averages say at a decision on any board, see `view_node`."""
    return view_node(
        solver.tree, solver.average_sums, board, node, kernel=solver.kernel, num_threads=solver.num_threads
    )


def view_node(
    tree: HoldemTree,
    sums: CellTable,
    board: Sequence[int],
    node: int,
    *,
    kernel: HoldemKernel | None,
    num_threads: int = 1,
) -> NodeView:
    """Returns what both players hold, do and get at one decision; see `SpotViews`."""
    return SpotViews(tree, sums, kernel=kernel, num_threads=num_threads).view(HoldemPlace(node, tuple(board)))


class BoardTables(Protocol):
    """Tables that are read a board at a time."""

    @property
    def kernel(self) -> HoldemKernel:
        """Returns what sweeps them."""
        ...

    def read_below(self, board: int) -> npt.NDArray[Any]:
        """Returns a table of which the cells of a board, by index, and of all that follow it can be relied on."""
        ...


class SpotViews:
    r"""What both players hold, do and get at decisions of a spot if they play in proportion to a table.

    >>> from equipoise.runs import load_spot
    >>> from equipoise.solvers import CFRSolver
    >>> from equipoise.trees import build_holdem_tree
    >>> spot = load_spot("board = 'Ks7h2d5c9h'\npot = 20\nstacks = 30\nranges = {oop = 'AA', ip = 'KK, QQ'}").spot
    >>> solver = CFRSolver(build_holdem_tree(spot))
    >>> solver.iterate(10)
    >>> views = SpotViews(solver.tree, solver.average_sums, kernel=None)
    >>> round(float(views.frequencies(HoldemPlace(0, spot.board)).sum()), 6)
    1.0
    """

    def __init__(
        self,
        tree: HoldemTree,
        sums: CellTable,
        *,
        kernel: HoldemKernel | None,
        first_slots: Slots | None = None,
        tables: BoardTables | None = None,
        num_threads: int = 1,
    ) -> None:
        """Keeps what is asked for.

        Args:
            tree: What is played.
            sums: Of both players; one that is not an array is read along the line to a decision alone.
            kernel: Of the tree, with the locks that both strategies keep to; values need it, and all of `sums`.
            first_slots: What `find_first_slots` found before; with them the first street has values without a kernel.
            tables: What later streets have values from without a kernel: each needs its own boards alone.
            num_threads: Size of the team.
        """
        if kernel is not None and not isinstance(sums, np.ndarray):
            raise ConfigError("values need the whole table in memory")
        self.tree, self.sums, self.kernel, self.num_threads = tree, sums, kernel, num_threads
        self._index = {cards: index for index, cards in enumerate(tree.boards)}
        self._first_slots, self._tables = first_slots, tables
        self._slots = functools.lru_cache(KEPT_LINES)(self._find_slots)
        self._equities = functools.lru_cache(KEPT_RANGES)(self._check_down)
        self._sweeping = threading.Lock()  # a kernel serves one thread at a time

    def has_values(self, place: HoldemPlace) -> bool:
        """Returns whether it is known what hands are worth at a place."""
        if self.kernel is not None:
            return True
        return (self._first_slots if self._is_on_first_street(place.node) else self._tables) is not None

    def has_values_after(self, node: int) -> bool:
        """Returns whether values after every card that may come at a betting node are found from less than all."""
        return self.kernel is not None or (self._tables is not None and not self._is_on_first_street(node))

    def find_first_slots(self) -> Slots:
        """Returns `[H, slots]` each player's values on the first street, which a file may keep."""
        first, second = self._slots(0, 0, 0, False, True)
        return first[: self.tree.hands[0][0].size].copy(), second[
            : self.tree.hands[0][1].size
        ].copy()  # rows fill tiles

    def _is_on_first_street(self, node: int) -> bool:
        nodes = self.tree.betting.nodes
        return nodes[node].state.street == nodes[0].state.street

    def view(self, place: HoldemPlace, *, has_values: bool = True) -> NodeView:
        """Returns a decision on any board of its street, merged with another one or not; values if they are known."""
        tree, node = self.tree, place.node
        if node not in tree.decisions:
            raise ConfigError(f"node must be a decision of the betting tree, got {node}")
        index, relabelling = tree.locate(place.board)
        strategy = tree.normalize(self.sums, index, node)
        reach = self._play_down(index, node)
        matches = _count_matches(tree.spot.deck, tree.boards[index], reach)
        values = [np.full(held.size, np.nan) for held in tree.hands[index]]
        action_values = np.full(strategy.shape, np.nan)
        if has_values and self.has_values(place):
            values, action_values = self._find_values(index, node, matches)
        equities = self._find_equities(index, reach, matches)
        back = np.argsort(hand_permutation(relabelling, tree.spot.deck)).astype(np.int32)
        players, orders = [], self._order_rows(index, back)
        for player, order in enumerate(orders):
            rows = tree.hands[index][player][order]
            players.append(
                PlayerView(
                    hands=back[rows],
                    weights=reach[player][rows],
                    matches=matches[player][rows],
                    values=values[player][order],
                    equities=equities[player][rows],
                )
            )
        betting = tree.betting.nodes[node]
        actor = betting.state.actor
        return NodeView(
            node=node,
            board=tuple(place.board),
            pot=pot(betting.state),
            actor=actor,
            actions=betting.actions,
            names=name_actions(tree.betting, node),
            deck=tree.spot.deck,
            strategy=strategy[orders[actor]],
            action_values=action_values[orders[actor]],
            players=(players[0], players[1]),
        )

    def view_best(self, place: HoldemPlace, *, respects_locks: bool = True) -> BestView:
        """Returns what best responses to the other's play are worth at a decision, without solving anything again.

        Args:
            place: the decision.
            respects_locks: whether a player who answers keeps to its own locks.
        """
        if self.kernel is None:
            raise ConfigError("best responses need the whole table in memory")
        if place.node not in self.tree.decisions:
            raise ConfigError(f"node must be a decision of the betting tree, got {place.node}")
        index, relabelling = self.tree.locate(place.board)
        matches = _count_matches(self.tree.spot.deck, self.tree.boards[index], self._play_down(index, place.node))
        values, action_values = self._find_values(
            index, place.node, matches, is_best=True, respects_locks=respects_locks
        )
        back = np.argsort(hand_permutation(relabelling, self.tree.spot.deck)).astype(np.int32)
        orders = self._order_rows(index, back)
        actor = self.tree.decisions[place.node].player
        return BestView(values=(values[0][orders[0]], values[1][orders[1]]), action_values=action_values[orders[actor]])

    def find_values(self, place: HoldemPlace) -> tuple[FloatArray, FloatArray]:
        """Returns `[H]` by hand of the deck each player's share of the pot at a decision; NaN where nothing matches."""
        tree = self.tree
        index, relabelling = tree.locate(place.board)
        matches = _count_matches(tree.spot.deck, tree.boards[index], self._play_down(index, place.node))
        there = hand_permutation(relabelling, tree.spot.deck)
        first, second = (np.full(hands_of(tree.spot.deck).num_hands, np.nan) for _ in matches)
        for held, values, out in zip(
            tree.hands[index], self._find_values(index, place.node, matches)[0], (first, second), strict=True
        ):
            out[held] = values
        return first[there], second[there]

    def _order_rows(self, board: int, back: IntArray) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Returns by player the rows of a board, hands ascending once they are called as on the board asked for."""
        first, second = (np.argsort(back[held]) for held in self.tree.hands[board])
        return first, second

    def reach(self, place: HoldemPlace) -> tuple[FloatArray, FloatArray]:
        """Returns `[H]` by hand of the deck each player's reach of any node of the betting on a board."""
        index, relabelling = self.tree.locate(place.board)
        first, second = self._play_down(index, place.node)
        there = hand_permutation(relabelling, self.tree.spot.deck)
        return first[there], second[there]

    def frequencies(self, place: HoldemPlace) -> FloatArray:
        """Returns `[A]` how often each action of a decision is taken; NaN where nobody comes."""
        tree = self.tree
        index, _ = tree.locate(place.board)
        actor = tree.decisions[place.node].player
        held = tree.hands[index][actor]
        reach = self._play_down(index, place.node)
        odds = (reach[actor] * hands_of(tree.spot.deck).compatible(reach[1 - actor]))[held]
        shares: FloatArray = odds @ tree.normalize(self.sums, index, place.node)
        return shares / odds.sum() if odds.sum() > 0 else np.full(shares.size, np.nan)

    def _play_down(self, board: int, node: int, *, stops_at_street: bool = False) -> tuple[FloatArray, FloatArray]:
        """Returns by number of a hand `[H]` each player's reach of a node, or of where its street begins."""
        tree = self.tree
        reach = tuple(np.array(tree.spot.live_weights(player)) for player in (0, 1))
        blocked = hands_of(tree.spot.deck).blocked(tree.boards[board])
        for weights in reach:
            weights[blocked] = 0.0
        below = tree.betting.nodes[node]
        last_street = below.state.street
        while below.parent != NO_PARENT:
            above = tree.betting.nodes[below.parent]
            is_left_out = stops_at_street and above.state.street == last_street
            if above.index in tree.decisions and not is_left_out:
                dealt = self._index[tree.boards[board][: above.state.street.num_board_cards]]
                player = tree.decisions[above.index].player
                strategy = tree.normalize(self.sums, dealt, above.index)
                reach[player][tree.hands[dealt][player]] *= strategy[:, above.children.index(below.index)]
            below = above
        return reach[0], reach[1]

    def _find_slots(self, board: int, line: int, node: int, is_best: bool, respects_locks: bool) -> Slots:
        """Returns `[H, slots]` each player's counterfactual values on a board after a line that enters its street.

        Args:
            board: index of the board.
            line: of those that enter the street.
            node: where the line does.
            is_best: whether players answer each other best.
            respects_locks: whether such answers keep to locks.
        """
        tree = self.tree
        entering = self._play_down(board, node, stops_at_street=True)
        rows = []
        for player in (0, 1):
            held = tree.hands[board][player]
            padded = np.zeros(tree.arrays.num_rows(board, player))
            padded[: held.size] = entering[player][held]
            rows.append(padded)
        with self._sweeping:
            if self.kernel is not None:
                assert isinstance(self.sums, np.ndarray)
                kernel, sums = self.kernel, self.sums
            else:
                assert self._tables is not None
                kernel, sums = self._tables.kernel, self._tables.read_below(board)
            return kernel.slot_values(
                sums,
                board,
                line,
                (rows[0], rows[1]),
                is_best=is_best,
                respects_locks=respects_locks,
                num_threads=self.num_threads,
            )

    def _find_values(
        self,
        board: int,
        node: int,
        matches: tuple[FloatArray, FloatArray],
        *,
        is_best: bool = False,
        respects_locks: bool = True,
    ) -> tuple[list[FloatArray], FloatArray]:
        """Returns by row each player's values `[H]` and the actor's by action `[H, A]`."""
        tree = self.tree
        decision, state = tree.decisions[node], tree.betting.nodes[node].state
        if self.kernel is None and self._is_on_first_street(node):
            assert self._first_slots is not None
            slots = self._first_slots
        else:
            slots = self._slots(board, decision.line, self._begin_of_street(node), is_best, respects_locks)
        shares = []
        for player in (0, 1):
            held = tree.hands[board][player]
            met = matches[player][held]
            share = np.full((held.size, slots[player].shape[1]), np.nan)
            np.divide(slots[player][: held.size], met[:, None], out=share, where=met[:, None] > 0)
            shares.append(share + state.committed[player])
        actor = decision.player
        first = tree.arrays.street(decision.street).num_lines + decision.first_cell
        action_values = shares[actor][:, first : first + decision.num_actions]
        values = [share[:, slot] for share, slot in zip(shares, decision.slots, strict=True)]
        # the actor's slot also leads to the other player's other moves
        values[actor] = (tree.normalize(self.sums, board, node) * action_values).sum(axis=1)
        if is_best:
            is_free = ~self._find_locked(board, node) if respects_locks else np.ones(values[actor].size, np.bool_)
            values[actor] = np.where(is_free, action_values.max(axis=1), values[actor])
        return values, action_values

    def _find_locked(self, board: int, node: int) -> npt.NDArray[np.bool_]:
        """Returns `[H]` by row which of the actor's hands play what a lock says."""
        assert self.kernel is not None
        first_cells = self.tree.cells(board, node)[:, 0]
        locks = self.kernel.locks
        return np.zeros(first_cells.size, np.bool_) if locks is None else np.isin(first_cells, locks.cells)

    def _begin_of_street(self, node: int) -> int:
        """Returns the first node of a node's street on its line."""
        nodes = self.tree.betting.nodes
        street = nodes[node].state.street
        while nodes[node].parent != NO_PARENT and nodes[nodes[node].parent].state.street == street:
            node = nodes[node].parent
        return node

    def _find_equities(
        self, board: int, reach: tuple[FloatArray, FloatArray], matches: tuple[FloatArray, FloatArray]
    ) -> tuple[FloatArray, FloatArray]:
        """Returns `[H]` by player and number of a hand; NaN where no hand of the other player matches."""
        found = []
        for player in (0, 1):
            # a hand's own weight does not change its equity
            held = np.zeros(self.tree.spot.deck.num_hands)
            held[self.tree.hands[board][player]] = matches[player][self.tree.hands[board][player]] > 0
            other = reach[1 - player]
            if not held.any():
                found.append(np.full(held.size, np.nan))
                continue
            # a player's own moves leave the other's range, and so the equities against it, as they are
            found.append(self._equities(board, held.tobytes(), (other / other.max()).tobytes()))
        return found[0], found[1]

    def _check_down(self, board: int, held: bytes, other: bytes) -> FloatArray:
        return _check_down(self.tree.spot, self.tree.boards[board], np.frombuffer(held), np.frombuffer(other))


def _count_matches(
    deck: Deck, board: tuple[int, ...], reach: tuple[FloatArray, FloatArray]
) -> tuple[FloatArray, FloatArray]:
    """Returns `[H]` by player the other's reach over hands that share no card."""
    joint = CardRemoval(deck, board)
    return joint.mass(0, reach[1]), joint.mass(1, reach[0])


def _check_down(spot: HoldemSpot, board: tuple[int, ...], held: FloatArray, other: FloatArray) -> FloatArray:
    """Returns `[H]` the share of the pot of hands against a range if nobody bets again."""
    first, second = Range(held, spot.deck), Range(other, spot.deck)
    if spot.last_street is Street.RIVER:
        found: FloatArray = compute_equity(first, second, board, spot.deck).hand_equities[0]
        return found
    equities: FloatArray = np.full(held.size, np.nan)
    if not board:
        return equities
    # hands that are shown before the river: the value of a spot without bets, for one chip each
    silent = HoldemSpot(
        board=board,
        pot=2,
        stacks=(1, 1),
        ranges=(first, second),
        menu=parse_menu("none"),
        big_blind=1,
        last_street=spot.last_street,
        deck=spot.deck,
    )
    tree = build_holdem_tree(silent)
    values = HoldemKernel(tree.arrays).values(np.zeros(tree.arrays.num_cells), is_best=False)[0]
    rows = tree.hands[0][0]
    met = CardRemoval(spot.deck, board).mass(0, second.weights)[rows] / second.without(board).weights.sum()
    equities[rows] = 0.5 + 0.5 * values / met
    return equities
