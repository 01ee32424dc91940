# SPDX-License-Identifier: Apache-2.0
"""What a solved hold'em spot says at one decision: reach, strategy, values and equity of every hand.

All of it is computed when asked from the stored averages; nothing but the tables is kept. Values are a hand's share of
the pot as it stands: chips that it ends up with beyond those now behind, on average over what the other player may
hold there. Folding is worth 0, and both players' averages sum to the pot less the rake.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.games.holdem.betting import Street, pot
from equipoise.games.holdem.betting_tree import NO_PARENT
from equipoise.games.holdem.equity import compute_equity
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.isomorphism import hand_permutation
from equipoise.games.holdem.menu_notation import parse_menu
from equipoise.games.holdem.ranges import Range
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.kernels.holdem.sweeps import HoldemKernel, TableArray
from equipoise.solvers.cfr import CFRSolver
from equipoise.trees.holdem.tree import HoldemTree, build_holdem_tree
from equipoise.trees.vector import CellTable

__all__ = ["NodeView", "PlayerView", "view_average", "view_node"]

IntArray = npt.NDArray[np.int32]
FloatArray = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlayerView:
    """One player's hands at a decision."""

    hands: IntArray  # [H] numbers of the hands, ascending
    weights: FloatArray  # [H] weight in the range times the probability to have played this far
    matches: FloatArray  # [H] weight of the other player's hands that share no card with it
    values: FloatArray  # [H] share of the pot in chips; NaN where nothing matches
    equities: FloatArray  # [H] share of the pot, 0 to 1, if nobody bets again; NaN where nothing matches, and before
    # the flop of games that end before the river

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
    """A decision of the betting tree on a board."""

    node: int
    board: tuple[int, ...]
    pot: int  # chips, bets that are not called included
    actor: int
    actions: tuple[int, ...]  # fold (0), call (1), totals raised to
    strategy: FloatArray  # [H, A] of the actor's hands
    action_values: FloatArray  # [H, A] their share of the pot after each action
    players: tuple[PlayerView, PlayerView]

    @property
    def frequencies(self) -> FloatArray:
        """Returns `[A]` how often each action is taken; NaN where nobody comes."""
        odds = self.players[self.actor].odds
        total = odds.sum()
        shares: FloatArray = odds @ self.strategy / total if total > 0 else np.full(len(self.actions), np.nan)
        return shares


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
    """Returns what both players hold, do and get at a decision if they play in proportion to `sums` `[C]`.

    Args:
        tree: What is played.
        sums: Of both players; one that is not an array is read along the line to the decision alone.
        board: Any board of the decision's street, merged with another one or not.
        node: Of the betting tree.
        kernel: Of the tree, with the locks that both strategies keep to; None: no values, which need all of `sums`.
        num_threads: Size of the team.
    """
    if node not in tree.decisions:
        raise ConfigError(f"node must be a decision of the betting tree, got {node}")
    index, relabelling = tree.locate(board)
    strategy = tree.normalize(sums, index, node)
    reach = _play_down(tree, sums, index, node)
    matches = _count_matches(tree.spot, reach)
    values = [np.full(held.size, np.nan) for held in tree.hands[index]]
    action_values = np.full(strategy.shape, np.nan)
    if kernel is not None:
        if not isinstance(sums, np.ndarray):
            raise ConfigError("values need the whole table in memory")
        values, action_values = _find_values(tree, sums, index, node, matches, kernel, num_threads)
    equities = _find_equities(tree, index, reach, matches)
    back = np.argsort(hand_permutation(relabelling, tree.spot.deck)).astype(np.int32)
    players, orders = [], []
    for player in (0, 1):
        held = tree.hands[index][player]
        order = np.argsort(back[held])
        rows = held[order]
        players.append(
            PlayerView(
                hands=back[rows],
                weights=reach[player][rows],
                matches=matches[player][rows],
                values=values[player][order],
                equities=equities[player][rows],
            )
        )
        orders.append(order)
    betting = tree.betting.nodes[node]
    actor = betting.state.actor
    return NodeView(
        node=node,
        board=tuple(board),
        pot=pot(betting.state),
        actor=actor,
        actions=betting.actions,
        strategy=strategy[orders[actor]],
        action_values=action_values[orders[actor]],
        players=(players[0], players[1]),
    )


def _play_down(
    tree: HoldemTree, sums: CellTable, board: int, node: int, *, stops_at_street: bool = False
) -> tuple[FloatArray, FloatArray]:
    """Returns by number of a hand `[H]` each player's reach of a decision, or of where its street begins."""
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
            dealt = tree.boards.index(tree.boards[board][: above.state.street.num_board_cards])
            player = tree.decisions[above.index].player
            strategy = tree.normalize(sums, dealt, above.index)
            reach[player][tree.hands[dealt][player]] *= strategy[:, above.children.index(below.index)]
        below = above
    return reach[0], reach[1]


def _count_matches(spot: HoldemSpot, reach: tuple[FloatArray, FloatArray]) -> tuple[FloatArray, FloatArray]:
    """Returns `[H]` by player the other's reach over hands that share no card."""
    masks = hands_of(spot.deck).masks
    is_apart = (masks[:, None] & masks[None, :]) == 0
    return is_apart @ reach[1], is_apart @ reach[0]


def _find_values(
    tree: HoldemTree,
    sums: TableArray,
    board: int,
    node: int,
    matches: tuple[FloatArray, FloatArray],
    kernel: HoldemKernel,
    num_threads: int,
) -> tuple[list[FloatArray], FloatArray]:
    """Returns by row each player's values `[H]` and the actor's by action `[H, A]`."""
    decision, state = tree.decisions[node], tree.betting.nodes[node].state
    entering = _play_down(tree, sums, board, node, stops_at_street=True)
    rows = []
    for player in (0, 1):
        held = tree.hands[board][player]
        padded = np.zeros(tree.arrays.num_rows(board, player))
        padded[: held.size] = entering[player][held]
        rows.append(padded)
    slots = kernel.slot_values(sums, board, decision.line, (rows[0], rows[1]), num_threads=num_threads)
    shares = []
    for player in (0, 1):
        held = tree.hands[board][player]
        met = matches[player][held]
        share = np.full((held.size, slots[player].shape[1]), np.nan)
        np.divide(slots[player][: held.size], met[:, None], out=share, where=met[:, None] > 0)
        shares.append(share + state.committed[player])
    actor = decision.player
    first = int(tree.arrays.streets[decision.street, 0]) + decision.first_cell
    action_values = shares[actor][:, first : first + decision.num_actions]
    values = [share[:, slot] for share, slot in zip(shares, decision.slots, strict=True)]
    # the actor's slot also leads to the other player's other moves
    values[actor] = (tree.normalize(sums, board, node) * action_values).sum(axis=1)
    return values, action_values


def _find_equities(
    tree: HoldemTree, board: int, reach: tuple[FloatArray, FloatArray], matches: tuple[FloatArray, FloatArray]
) -> tuple[FloatArray, FloatArray]:
    """Returns `[H]` by player and number of a hand; NaN where no hand of the other player matches."""
    found = []
    for player in (0, 1):
        # a hand's own weight does not change its equity
        held = np.zeros(tree.spot.deck.num_hands)
        held[tree.hands[board][player]] = matches[player][tree.hands[board][player]] > 0
        other = reach[1 - player]
        if held.any():
            found.append(_check_down(tree.spot, tree.boards[board], held, other / other.max()))
        else:
            found.append(np.full(held.size, np.nan))
    return found[0], found[1]


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
    met = _count_matches(silent, (held, second.without(board).weights))[0][rows] / second.without(board).weights.sum()
    equities[rows] = 0.5 + 0.5 * values / met
    return equities
