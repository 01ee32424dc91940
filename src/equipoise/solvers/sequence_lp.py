# SPDX-License-Identifier: Apache-2.0
"""The sequence-form linear program: exact equilibria of two-player zero-sum trees that fit a simplex solver."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from equipoise.core.errors import ConfigError, NotConvergedError
from equipoise.core.formatting import brief_repr
from equipoise.solvers.best_response import bind_history_kernel
from equipoise.trees.history import HistoryTree, check_tree
from equipoise.trees.segments import flatten_ranges

__all__ = ["Equilibrium", "solve_sequence_lp"]

FloatArray = npt.NDArray[np.float64]

TOLERANCE = 1e-10  # of feasibility, the tightest that HiGHS takes; in units of the utility range


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Equilibrium:
    """An exact equilibrium of a two-player zero-sum tree.

    >>> from equipoise.games import make_game
    >>> from equipoise.trees import build_history_tree
    >>> found = solve_sequence_lp(build_history_tree(make_game("kuhn")))
    >>> round(found.value, 6), found.strategy.size
    (-0.055556, 26)
    """

    value: float  # player 0's utility
    strategy: FloatArray  # [Q] both players'; uniform at information sets that their owner does not reach

    __repr__ = brief_repr


def solve_sequence_lp(tree: HistoryTree) -> Equilibrium:
    """Returns the value and an equilibrium of a two-player zero-sum tree.

    Paper: Koller, Megiddo & von Stengel 1996, "Efficient Computation of Equilibria for Extensive Two-Person Games";
        von Stengel 1996, "Efficient Computation of Behavior Strategies".
    Symbols: x -> reach of player 0's sequences; v -> values of player 1's information sets, the first that of its
        empty sequence; A -> payoffs; E, F -> flow_constraints of players 0 and 1.
    Departs from the paper: player 1's strategy is read off the dual of the same program; payoffs are divided by the
        utility range while it is solved.
    Checked by: tests/solvers/test_sequence_lp.py.

    Args:
        tree: of two players, zero-sum.

    Raises:
        ConfigError: the tree has another number of players or is not zero-sum.
        NotConvergedError: the linear-programming solver gave up; its message is passed on.

    >>> from equipoise.games import make_game
    >>> from equipoise.trees import build_history_tree
    >>> round(solve_sequence_lp(build_history_tree(make_game("kuhn"))).value, 6)
    -0.055556
    """
    check_tree(tree, HistoryTree)
    if tree.num_players != 2:
        raise ConfigError(f"the sequence-form LP needs two players, and {tree.game_label} has {tree.num_players}")
    if not tree.is_zero_sum:
        raise ConfigError(f"the sequence-form LP needs a zero-sum game, and {tree.game_label} is not")
    scale = float(np.abs(tree.utility).max()) or 1.0
    payoff = payoff_matrix(tree) / scale
    flow0, flow1 = flow_constraints(tree, 0), flow_constraints(tree, 1)
    num_sequences0, num_sets1 = payoff.shape[0], flow1.shape[0]
    # maximise v_0 over x, v subject to F'v - A'x <= 0, E x = e, x >= 0
    objective = np.zeros(num_sequences0 + num_sets1)
    objective[num_sequences0] = -1.0
    start = np.zeros(flow0.shape[0])
    start[0] = 1.0
    reach_bounds: list[tuple[float, float]] = [(0.0, np.inf)] * num_sequences0
    value_bounds = [(-np.inf, np.inf)] * num_sets1
    # Any, because the stubs of linprog know dense matrices alone
    at_most: Any = scipy.sparse.hstack([-payoff.T, flow1.T], format="csr")
    equal: Any = scipy.sparse.hstack([flow0, scipy.sparse.csr_array((flow0.shape[0], num_sets1))], format="csr")
    result = scipy.optimize.linprog(
        objective,
        A_ub=at_most,
        b_ub=np.zeros(payoff.shape[1]),
        A_eq=equal,
        b_eq=start,
        bounds=reach_bounds + value_bounds,
        method="highs",
        options={"primal_feasibility_tolerance": TOLERANCE, "dual_feasibility_tolerance": TOLERANCE},
    )
    if result.x is None or result.fun is None or result.status != 0:
        raise NotConvergedError(f"the linear program of {tree.game_label} was not solved: {result.message}")
    reach = np.concatenate([result.x[:num_sequences0], -result.ineqlin.marginals])
    strategy = bind_history_kernel(tree).normalize(np.maximum(reach, 0.0))
    return Equilibrium(value=0.0 - float(result.fun) * scale, strategy=strategy)


def payoff_matrix(tree: HistoryTree) -> scipy.sparse.csr_array:
    """Returns player 0's payoff of each pair of sequences, chance included; rows are player 0's sequences."""
    rows = tree.terminal_sequence[0] - tree.sequence_start[0]
    columns = tree.terminal_sequence[1] - tree.sequence_start[1]
    shape = tuple(int(size) for size in np.diff(tree.sequence_start))
    entries = tree.utility[0] * tree.terminal_chance
    return scipy.sparse.coo_array((entries, (rows, columns)), shape=(shape[0], shape[1])).tocsr()


def flow_constraints(tree: HistoryTree, player: int) -> scipy.sparse.csr_array:
    """Returns the rows by which reach flows through a player's forest.

    The first row says that the empty sequence is reached; that of each information set says that its sequences sum to
    the one above.
    """
    infosets = slice(tree.infoset_start[player], tree.infoset_start[player + 1])
    origin = int(tree.sequence_start[player])
    num_actions = tree.num_actions[infosets]
    num_sets = num_actions.size
    below = np.arange(1, num_sets + 1)
    rows = np.concatenate([[0], np.repeat(below, num_actions), below])
    own = flatten_ranges(tree.first_sequence[infosets], num_actions) - origin
    columns = np.concatenate([[0], own, tree.parent_sequence[infosets] - origin])
    entries = np.concatenate([np.ones(1 + own.size), -np.ones(num_sets)])
    shape = (num_sets + 1, int(tree.sequence_start[player + 1]) - origin)
    return scipy.sparse.coo_array((entries, (rows, columns)), shape=shape).tocsr()
