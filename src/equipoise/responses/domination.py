# SPDX-License-Identifier: Apache-2.0
"""The domination value: how much a strategy loses to the equilibrium strategy that hurts it most."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from equipoise.core.errors import NotConvergedError
from equipoise.responses.on_tree import OnTree
from equipoise.solvers.sequence_lp import TOLERANCE, flow_constraints, payoff_matrix, solve_sequence_lp
from equipoise.trees.history import HistoryTree

__all__ = ["DominationResponse"]

FloatArray = npt.NDArray[np.float64]

SLACK = 1e-8  # of the payoff range by which an equilibrium strategy may fall short of the game's value


class DominationResponse(OnTree):
    """The best of the strategies that belong to some equilibrium, by a linear program as large as the game.

    Paper: [D15] 3.2, definition 11.
    Symbols: the constraints are those of `solve_sequence_lp` in the responder's seat, with its value fixed.
    Departs from the paper: equilibria may be off by `SLACK`, which the solver's tolerance needs.
    Checked by: tests/responses/test_domination.py.

    >>> from equipoise.games import make_game
    >>> from equipoise.responses import solve_against
    >>> from equipoise.trees import build_history_tree
    >>> tree = build_history_tree(make_game("kuhn"))
    >>> solve_against(tree, DominationResponse(tree), iterations=10).progress[-1].iteration
    10
    """

    name = "domination"
    deterministic = True
    is_pretty_good = True

    def __init__(self, tree: HistoryTree) -> None:
        super().__init__(tree)
        self.game_value = solve_sequence_lp(tree).value
        payoff = payoff_matrix(tree)
        self.scale = float(np.abs(tree.utility).max()) or 1.0
        self.flow = [flow_constraints(tree, player) for player in (0, 1)]
        # rows are the responder's sequences
        self.payoff = [payoff / self.scale, scipy.sparse.csr_array(-payoff.T) / self.scale]

    def respond(self, strategy: FloatArray, seat: int, rng: np.random.Generator) -> FloatArray:
        """Returns `[Q]` the equilibrium strategy that earns most."""
        payoff, own, other = self.payoff[seat], self.flow[seat], self.flow[1 - seat]
        num_sequences, num_sets = payoff.shape[0], other.shape[0]
        earned = self.kernel.terminal_values(seat, self.kernel.realize(strategy))[self.own_cells[seat]] / self.scale
        worst = (self.game_value if seat == 0 else -self.game_value) / self.scale - SLACK
        start = np.zeros(own.shape[0])
        start[0] = 1.0
        bounds: list[tuple[float, float]] = [(0.0, np.inf)] * num_sequences + [(-np.inf, np.inf)] * num_sets
        bounds[num_sequences] = (worst, np.inf)  # what the worst opponent leaves the responder
        # Any, because the stubs of linprog know dense matrices alone
        at_most: Any = scipy.sparse.hstack([-payoff.T, other.T], format="csr")
        equal: Any = scipy.sparse.hstack([own, scipy.sparse.csr_array((own.shape[0], num_sets))], format="csr")
        result = scipy.optimize.linprog(
            -np.concatenate([earned, np.zeros(num_sets)]),
            A_ub=at_most,
            b_ub=np.zeros(payoff.shape[1]),
            A_eq=equal,
            b_eq=start,
            bounds=bounds,
            method="highs",
            options={"primal_feasibility_tolerance": TOLERANCE, "dual_feasibility_tolerance": TOLERANCE},
        )
        if result.x is None or result.status != 0:
            raise NotConvergedError(
                f"the linear program of equilibria of {self.tree.game_label} was not solved: {result.message}"
            )
        reach = np.zeros(self.kernel.num_table_cells)
        reach[self.own_cells[seat]] = np.maximum(result.x[:num_sequences], 0.0)
        return self.combine(strategy, self.kernel.normalize(reach), seat)
