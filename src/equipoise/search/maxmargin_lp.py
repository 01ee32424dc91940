# SPDX-License-Identifier: Apache-2.0
"""The least margin maximised exactly, by a linear program over the cells of a subgame's tree."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from equipoise.core.errors import NotConvergedError
from equipoise.kernels.public import DECISION, Step
from equipoise.search.posing import RootProblem
from equipoise.search.public import PublicSubgame
from equipoise.search.resolving import SearchResult, summarize
from equipoise.trees.public import PublicTree
from equipoise.trees.segments import flatten_ranges

__all__ = ["solve_maxmargin_lp"]

FloatArray = npt.NDArray[np.float64]

TOLERANCE = 1e-10  # of feasibility, the tightest that HiGHS takes; in units of the utility range


def solve_maxmargin_lp(subgame: PublicSubgame, problem: RootProblem) -> SearchResult:
    """Returns a strategy of the searcher whose least margin is as large as can be.

    Paper: Moravcik et al. 2016, "Refining Subgames in Large Imperfect Information Games"; Brown 2020, PhD thesis,
        section 5.1.2.
    Symbols: sequence-form weights -> reach of the searcher's cells; values of the opponent's information sets -> rows.
    Departs from the paper: cells of the public tree stand for sequences, so that merged private states are served too.
    Checked by: tests/search/test_gadgets.py.

    Args:
        subgame: zero-sum.
        problem: who searches, and the opponent's alternatives; its gate is not used.

    Raises:
        NotConvergedError: the linear-programming solver gave up; its message is passed on.

    >>> from equipoise.games import make_game
    >>> from equipoise.search import Maxmargin, PublicProfile
    >>> from equipoise.search.posing import pose
    >>> from equipoise.solvers import CFRSolver
    >>> from equipoise.trees import build_public_tree, derive_public_game
    >>> tree = build_public_tree(derive_public_game(make_game("kuhn")))
    >>> profile = PublicProfile(tree, CFRSolver(tree).average_strategy())
    >>> subgame = profile.subgame(tree.public_labels.index("p"))
    >>> solve_maxmargin_lp(subgame, pose(profile, subgame, 1, Maxmargin())).least_margin >= 0
    True
    """
    program = _Program(subgame, problem)
    result = program.solve()
    if result.x is None or result.status != 0:
        raise NotConvergedError(f"the linear program of {subgame.tree.game_label} was not solved: {result.message}")
    reach = np.maximum(result.x[: subgame.kernel.num_table_cells], 0.0)
    return summarize(subgame, problem, subgame.kernel.normalize(reach))


class _Program:
    """Variables: reach or value of every cell, by whose it is; value of every row of the opponent; the least margin."""

    def __init__(self, subgame: PublicSubgame, problem: RootProblem) -> None:
        self.tree, self.searcher = subgame.tree, problem.searcher
        self.scale = subgame.tree.utility_range or 1.0
        self.num_cells, self.num_rows = self.tree.cells.num_cells, self.tree.cells.num_rows
        self.least = self.num_cells + self.num_rows  # column of the least margin
        self.entries: dict[bool, list[tuple[npt.NDArray[Any], ...]]] = {True: [], False: []}  # by whether equal
        self.sides: dict[bool, list[FloatArray]] = {True: [], False: []}
        self.count = {True: 0, False: 0}
        opponent = 1 - self.searcher
        given = np.zeros(self.num_cells)
        given[subgame.kernel.root_cells[self.searcher]] = subgame.beliefs.reach[self.searcher]
        self._flow(given)
        self._back_up(opponent)
        mass = subgame.mass(opponent)
        possible = np.flatnonzero(mass > 0)
        # the least margin is at most what the alternative pays beyond entering
        roots = subgame.kernel.root_cells[opponent][possible]
        rows = self._new_rows(False, problem.alternative[possible] / self.scale)
        self._add(False, rows, roots, 1.0 / mass[possible])
        self._add(False, rows, np.full(rows.size, self.least), np.ones(rows.size))

    def _new_rows(self, is_equal: bool, sides: FloatArray) -> npt.NDArray[np.int64]:
        rows = self.count[is_equal] + np.arange(sides.size)
        self.count[is_equal] += sides.size
        self.sides[is_equal].append(sides)
        return rows

    def _add(
        self, is_equal: bool, rows: npt.NDArray[Any], columns: npt.NDArray[Any], weights: npt.NDArray[Any]
    ) -> None:
        self.entries[is_equal].append((rows, columns, weights))

    def _steps(self, player: int) -> list[Step]:
        start = self.tree.cells.step_start
        return [Step(*fields) for fields in self.tree.cells.steps[start[player] : start[player + 1]].tolist()]

    def _flow(self, given: FloatArray) -> None:
        """Adds how the searcher's reach flows: actions of an information state sum to what comes in."""
        cells = self.tree.cells
        own = self.tree.private_cells(0, self.searcher)
        rows = self._new_rows(True, given[own])
        self._add(True, rows, own, np.ones(own.size))
        for step in self._steps(self.searcher):
            if step.kind == DECISION:
                above, table, legal = _decision_cells(self.tree, step)
                rows = self._new_rows(True, np.zeros(above.size))
                self._add(True, rows, above, -np.ones(above.size))
                where = np.nonzero(legal)
                self._add(True, rows[where[1]], table[where], np.ones(where[0].size))
                continue
            items = slice(step.first_index, step.first_index + step.num_items)
            target, inverse = np.unique(cells.entry_target[items], return_inverse=True)
            rows = self._new_rows(True, np.zeros(target.size))
            self._add(True, rows, target, -np.ones(target.size))
            self._add(True, rows[inverse], cells.entry_source[items], cells.entry_weight[items])

    def _back_up(self, opponent: int) -> None:
        """Adds what the opponent's cells are worth: terminals, best actions below, relations."""
        tree, cells = self.tree, self.tree.cells
        mine = np.concatenate(
            [np.arange(cells.cell_start[run], cells.cell_start[run + 1]) for run in (opponent, opponent + 2)]
        )
        rows = self._new_rows(True, np.zeros(mine.size))
        row_of = np.full(self.num_cells, -1, np.int64)
        row_of[mine] = rows
        self._add(True, rows, mine, -np.ones(mine.size))
        num_pairs = np.diff(tree.payoff_start)[tree.payoff_table]
        node, factor = np.repeat(tree.terminal_node, num_pairs), np.repeat(tree.payoff_factor, num_pairs)
        entry = flatten_ranges(tree.payoff_start[tree.payoff_table], num_pairs)
        ends = [
            tree.block_start[node, player]
            + tree.slot[tree.slot_start[2 * node + player] + tree.payoff_private[player, entry]]
            for player in (0, 1)
        ]
        worth = factor * tree.payoff[opponent, entry] / self.scale
        self._add(True, row_of[ends[opponent]], ends[1 - opponent], worth)
        for step in self._steps(opponent):
            if step.kind == DECISION:
                above, table, legal = _decision_cells(tree, step)
                value = self.num_cells + step.first_row + np.arange(above.size)
                is_real = legal.any(axis=0)
                self._add(True, row_of[above[is_real]], value[is_real], np.ones(np.count_nonzero(is_real)))
                where = np.nonzero(legal)
                below = self._new_rows(False, np.zeros(where[0].size))
                self._add(False, below, table[where], np.ones(below.size))
                self._add(False, below, value[where[1]], -np.ones(below.size))
                continue
            items = slice(step.first_index, step.first_index + step.num_items)
            self._add(True, row_of[cells.entry_source[items]], cells.entry_target[items], cells.entry_weight[items])

    def solve(self) -> Any:
        """Returns what the solver says."""
        num_columns = self.least + 1
        # Any, because the stubs of linprog know dense matrices alone
        matrices: dict[bool, Any] = {}
        for is_equal, parts in self.entries.items():
            rows, columns, weights = (np.concatenate([part[k] for part in parts]) for k in range(3))
            shape = (self.count[is_equal], num_columns)
            matrices[is_equal] = scipy.sparse.coo_array((weights, (rows, columns)), shape=shape).tocsr()
        objective = np.zeros(num_columns)
        objective[self.least] = -1.0
        lower = np.full(num_columns, -np.inf)
        start = self.tree.cells.cell_start
        for run in (self.searcher, self.searcher + 2):
            lower[start[run] : start[run + 1]] = 0.0
        return scipy.optimize.linprog(
            objective,
            A_ub=matrices[False],
            b_ub=np.concatenate(self.sides[False]),
            A_eq=matrices[True],
            b_eq=np.concatenate(self.sides[True]),
            bounds=[(bound, np.inf) for bound in lower.tolist()],
            method="highs",
            options={"primal_feasibility_tolerance": TOLERANCE, "dual_feasibility_tolerance": TOLERANCE},
        )


def _decision_cells(
    tree: PublicTree, step: Step
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Returns `[R]` the cell above each row of a step, `[A, R]` the cells of its actions and which are legal."""
    item, column = (part.ravel() for part in np.mgrid[: step.num_items, : step.stride])
    above = tree.cells.source[step.first_index + item].astype(np.int64) + column
    first = step.first_cell + item * step.num_actions * step.stride + column
    table = first + step.stride * np.arange(step.num_actions)[:, None]
    return above, table, tree.legal_share[table] > 0
