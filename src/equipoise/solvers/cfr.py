# SPDX-License-Identifier: Apache-2.0
"""Full-width CFR under any rule, over histories or, a vector of private states at a time, over public states.

Paper: Zinkevich et al. 2007, "Regret Minimization in Games with Incomplete Information"; Brown 2020 [B20] section
    2.3.5 for the form used here.
Symbols: R -> regret_sum; pi_i -> realization; the sum in (2.22) -> strategy_sum.
Departs from the paper: the average is weighted by own reach ([B20] prints the others' in (2.22)); alternating updates
    by default.
Checked by: tests/solvers/test_cfr.py, tests/solvers/test_public_cfr.py, tests/solvers/test_holdem.py,
    tests/solvers/test_convergence.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import CheckpointError, ConfigError
from equipoise.core.formatting import run_repr
from equipoise.core.memory import check_memory
from equipoise.kernels.calls import check_integer, check_num_threads
from equipoise.kernels.frontier import Frontier
from equipoise.kernels.gates import RootGate
from equipoise.kernels.holdem.leaves import HoldemLeaves
from equipoise.kernels.holdem.sweeps import QUICK_TYPES, HoldemKernel, HoldemTables
from equipoise.kernels.rules import KernelRule
from equipoise.kernels.sweeps import SweepKernel, SweepTables
from equipoise.kernels.vector import Hooks, Reaches, VectorKernel, WatchedValues
from equipoise.solvers.best_response import Evaluation, bind_kernel, evaluate
from equipoise.solvers.holdem.locks import estimate_lock_bytes
from equipoise.solvers.payoffs import find_scales
from equipoise.solvers.rules import DCFR, Rule, check_rule, tabulate_discounts
from equipoise.solvers.saved_state import SavedArrays, name_tables, overwrite_tables, read_array, read_count
from equipoise.trees.history import HistoryTree
from equipoise.trees.holdem.locks import NodeLock
from equipoise.trees.holdem.tree import HoldemPlan, HoldemTree
from equipoise.trees.public import PublicTree

__all__ = ["COUNTS", "CFRSolver", "Tree", "allocate_tables", "estimate_bytes"]

FloatArray = npt.NDArray[np.float64]
Tree = TypeVar("Tree", bound=HistoryTree | PublicTree | HoldemTree)
Value = TypeVar("Value")

DISCOUNTS_AT_ONCE: Final = 64  # of a run in small steps; twice as many each time that they run out
MOST_DISCOUNTS_AT_ONCE: Final = 1024
LEAST_QUICK_SHARE: Final = 1e-5  # of the pot; smaller exploitabilities are computed in float64
PAUSE_PLACES, PAUSE_SUMS = "pause_places", "pause_sums"  # of an iteration that was interrupted, saved with the run
COUNTS: Final = ("iteration", "skipped_iterations", "start_passes")  # of a full-width run, saved with it


class _TableSizes(NamedTuple):
    """How many numbers the tables of a run hold."""

    table: int  # sequences, or cells of decisions
    realization: int  # sequences, or all cells
    infosets: int  # information sets, or rows
    bound: int  # what the kernel keeps beside the tree


def _table_sizes(tree: HistoryTree | PublicTree) -> _TableSizes:
    if isinstance(tree, PublicTree):
        return _TableSizes(tree.cells.num_table_cells, tree.cells.num_cells, tree.cells.num_rows, 0)
    sequences = int(tree.sequence_start[-1])
    weights = tree.terminal_node.size * (1 if tree.is_zero_sum and tree.num_players == 2 else tree.num_players)
    return _TableSizes(sequences, sequences, tree.num_actions.size, weights)


def estimate_bytes(
    tree: HistoryTree | PublicTree | HoldemTree | HoldemPlan,
    rule: Rule,
    *,
    dtype: npt.DTypeLike | None = None,
    num_threads: int = 1,
    locks: Sequence[NodeLock] = (),
) -> int:
    """Returns the bytes that a run of this rule allocates beside the tree; of hold'em, the tree's arrays too.

    Args:
        tree: what is solved; a plan of it will do in hold'em.
        rule: of the run.
        dtype: of its tables; by default the kernel's.
        num_threads: size of the team.
        locks: laid out beside the tables.
    """
    kernel = rule.kernel
    if isinstance(tree, HoldemTree | HoldemPlan):
        tables = HoldemTables.estimate_bytes(tree.arrays, np.float32 if dtype is None else dtype, kernel)
        # what iterations work with is kept between calls; evaluations work in float64
        own_bytes = 8 if dtype is not None and np.dtype(dtype) == np.float64 else 4
        workspace = tree.arrays.estimate_workspace(8 + own_bytes, num_threads)
        return tree.arrays.num_bytes + tables + estimate_lock_bytes(tree, locks) + workspace
    sizes = _table_sizes(tree)
    walks = sizes.realization * (1 + num_threads)  # own reach, and one value table a thread
    scales = sizes.infosets * (kernel.needs_scale + 2 * kernel.tracks_variance)
    return 8 * (3 * sizes.table + walks + scales + sizes.bound)


def allocate_tables(tree: HistoryTree | PublicTree, kernel: SweepKernel, rule: KernelRule) -> SweepTables:
    """Returns the tables of a run that has not begun: no regrets, no strategy yet."""
    return kernel.allocate_tables(rule, scale=find_scales(tree, rule))


def _watch(tree: HistoryTree | PublicTree | HoldemTree, nodes: Sequence[int]) -> WatchedValues | None:
    """Returns sums of values at nodes, None without nodes.

    Nodes of a public tree are the root and landmarks; those of a hold'em tree the root (0) and betting nodes at which
    the first street is left.
    """
    if not nodes:
        return None
    if isinstance(tree, HistoryTree):
        raise ConfigError("values are watched on trees of public states")
    if isinstance(tree, HoldemTree):
        cells = [[tree.watched_cells(node, player) for node in nodes] for player in (0, 1)]
        return WatchedValues(nodes, (cells[0], cells[1]))
    missing = [node for node in nodes if node not in tree.landmarks and node != 0]
    if missing:
        raise ConfigError(f"watched nodes must be landmarks of the tree, and {missing[0]} is none")
    first, second = ([tree.private_cells(node, player) for node in nodes] for player in (0, 1))
    return WatchedValues(nodes, (first, second))


class _Given(Generic[Value]):
    """An attribute that bound iterations have read: once it is set, they are bound anew."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._place = f"_{name}"

    def __get__(self, run: CFRSolver[Any], owner: type) -> Value:
        value: Value = getattr(run, self._place)
        return value

    def __set__(self, run: CFRSolver[Any], value: Value) -> None:
        setattr(run, self._place, value)
        run._step = _no_steps


def _no_steps(first_t: int, num_iterations: int) -> int:
    """Returns that these iterations have not been done: they take a call of the kernel's `iterate`."""
    return -1


class CFRSolver(Generic[Tree]):
    """A run of full-width CFR: tables over a tree, advanced by `iterate`.

    Tables of hold'em trees are float32 unless asked otherwise (float64, or int16 with an exponent for every hand and
    decision, which takes about 60 % of the memory), those of other trees float64. Values and best responses are
    computed in float64 from the stored tables.

    >>> from equipoise.games import make_game
    >>> from equipoise.trees import build_history_tree
    >>> from equipoise.solvers import CFRPlus
    >>> solver = CFRSolver(build_history_tree(make_game("kuhn")), CFRPlus())
    >>> solver.iterate(1000)
    >>> round(solver.evaluate().values[0], 3)
    -0.056
    """

    is_alternating = _Given[bool]()
    num_threads = _Given[int]()
    gate = _Given[RootGate | None]()
    frontier = _Given[Frontier | HoldemLeaves | None]()
    watched = _Given[WatchedValues | None]()
    root_reach = _Given[Reaches | None]()

    def __init__(  # noqa: PLR0913  # hooks of a run, all with defaults
        self,
        tree: Tree,
        rule: Rule | None = None,
        *,
        dtype: npt.DTypeLike | None = None,
        is_alternating: bool = True,
        num_threads: int = 1,
        locks: Sequence[NodeLock] = (),
        gate: RootGate | None = None,
        frontier: Frontier | HoldemLeaves | None = None,
        watched: Sequence[int] = (),
        root_reach: Reaches | None = None,
        kernel: VectorKernel | None = None,
    ) -> None:
        """Begins a run.

        Args:
            tree: what is solved.
            rule: discounted CFR if None.
            dtype: of regrets; the kernel's default if None.
            is_alternating: whether each player sees the other's update of the same iteration.
            num_threads: size of the team.
            locks: strategies that some private states keep to.
            gate: through which one player's private states enter, in place of their reach at the root.
            frontier: what the tree's leaves are worth, if it ends before the game does.
            watched: nodes whose counterfactual values are averaged, see `average_values`; 0 is the root.
            root_reach: `[H]` of both players at the root; by default the tree's.
            kernel: of the tree with these locks and this frontier, if it is bound already.
        """
        check_num_threads(num_threads)
        self.tree: Tree = tree
        self.rule = rule = DCFR() if rule is None else rule
        check_rule("rule", rule)
        self.is_alternating = is_alternating
        self.num_threads = num_threads
        self.gate, self.frontier, self.root_reach = gate, frontier, root_reach
        layout: type[VectorKernel] = HoldemKernel if isinstance(tree, HoldemTree) else SweepKernel
        form = layout if kernel is None else type(kernel)
        dtype = form.dtypes[0] if dtype is None else dtype
        form.check_run(rule.kernel, dtype, name=rule.name, threshold=rule.discounts(1).threshold)
        if isinstance(tree, HoldemTree):
            num_bytes = estimate_bytes(tree, rule, dtype=dtype, num_threads=num_threads, locks=locks)
            check_memory(num_bytes, "the spot")
        # a VectorKernel and its tables; which ones follows from the tree's layout
        self.kernel: Any = kernel or bind_kernel(tree, locks=locks, frontier=frontier)
        self.tables: Any = self.kernel.allocate_tables(rule.kernel, dtype, find_scales(tree, rule.kernel))
        self.watched = _watch(tree, watched)
        self._kernel_rule = rule.kernel
        self._step: Callable[[int, int], int] = _no_steps
        self._known, self._known_from = np.zeros((0, 6)), 1
        self.begin_after(0)

    __repr__ = run_repr

    @property
    def nodes_touched(self) -> int:
        """Returns the nodes visited so far: all histories (or public states), once per player and iteration."""
        num_run = self.iteration - self.skipped_iterations
        return (num_run * self.tree.num_players + self.start_passes) * self.tree.num_nodes

    @property
    def average_sums(self) -> npt.NDArray[Any]:
        """Returns `[C]` what the average strategies are in proportion to: the table itself, in the tree's layout."""
        sums: npt.NDArray[Any] = self.tables.strategy_sum
        return sums

    def begin_after(self, iteration: int, *, num_passes: int = 0) -> None:
        """Takes the sums as they stand for those of a run after an iteration, which it has not run itself.

        Args:
            iteration: the last one that they stand for.
            num_passes: over the tree, one player each, that it took to find them.
        """
        self.iteration = self.skipped_iterations = iteration
        self.start_passes = num_passes
        self._forget_pause()
        self.kernel.begin(self.tables, root_reach=self.root_reach, gate=self.gate)

    def reset(self) -> None:
        """Begins the run again."""
        for name, table in name_tables(self.tables).items():
            if name != "scale":
                table[...] = np.zeros(1, table.dtype)
        for memory in (self.gate, self.frontier, self.watched):
            if memory is not None:
                memory.reset()
        self.begin_after(0)

    def change_rule(self, rule: Rule) -> None:
        """Goes on by another rule with the same tables, such as the same one with another delay of its average."""
        if rule.kernel != self._kernel_rule:
            raise ConfigError(f"a run of {self.rule.name} cannot go on by {rule.name}: it has other tables")
        self.rule, self._known, self._known_from = rule, np.zeros((0, 6)), 1
        self._step = _no_steps

    def iterate(self, num_iterations: int) -> None:
        """Runs iterations, each of which updates every player once.

        What the frontier's evaluator raises comes out; `iteration` then counts what was done before.
        """
        try:
            num_done = self._step(self.iteration + 1, num_iterations)
            if num_done < 0:
                num_done = self._iterate_unbound(num_iterations)
        except BaseException as error:
            if isinstance(error, TypeError):  # looked at here alone: a step that is bound checks nothing
                check_integer("num_iterations", num_iterations, 0)
            if isinstance(self.frontier, Frontier):  # whoever values leaves raised it; iterations before count
                self.iteration += self.frontier.take_done()
            raise
        self.iteration += num_done

    def _iterate_unbound(self, num_iterations: int) -> int:
        """Runs iterations by a call that checks and binds everything; binds further small steps. Returns its count."""
        discounts = self._find_discounts(self.iteration + 1, num_iterations)
        hooks = Hooks(gate=self.gate, frontier=self.frontier, watched=self.watched, root_reach=self.root_reach)
        how: dict[str, Any] = {"is_alternating": self.is_alternating, "num_threads": self.num_threads, "hooks": hooks}
        if num_iterations < DISCOUNTS_AT_ONCE:
            steps = self.kernel.bind_steps(self._kernel_rule, self.tables, **how)
            if steps is not None:
                steps.know(self._known, self._known_from)
                self._step = steps.step
        num_done: int = self.kernel.iterate(
            self._kernel_rule, discounts, self.tables, first_t=self.iteration + 1, **how
        )
        return num_done

    @property
    def can_stop(self) -> bool:
        """Returns whether `stop` ends an iteration under way: on hold'em trees, where one may take minutes."""
        return (
            isinstance(self.kernel, HoldemKernel) and self.gate is None and self.frontier is None and not self.watched
        )

    def stop(self) -> None:
        """Ends the call under way, from whatever thread.

        What the iteration has done by then stays in the tables, board by board, and is measured and saved with them;
        `iteration` does not count it. The next call does the rest of it, and then all is as if nobody had interrupted.
        """
        if self.can_stop:
            self.kernel.stop()

    @property
    def is_within_iteration(self) -> bool:
        """Returns whether an iteration was interrupted and not finished."""
        return isinstance(self.kernel, HoldemKernel) and self.kernel.is_paused(self.tables)

    def _forget_pause(self) -> None:
        if isinstance(self.kernel, HoldemKernel):
            self.kernel.forget_pause(self.tables)

    def _find_discounts(self, first_t: int, num_iterations: int) -> FloatArray:
        """Returns rows of discounts; a run in small steps finds those of many at once."""
        check_integer("num_iterations", num_iterations, 0)
        if num_iterations >= DISCOUNTS_AT_ONCE:
            return tabulate_discounts(self.rule, first_t, num_iterations)
        begin = first_t - self._known_from
        if not 0 <= begin <= len(self._known) - num_iterations:
            goes_on = begin == len(self._known)
            size = min(2 * begin, MOST_DISCOUNTS_AT_ONCE) if goes_on and begin else DISCOUNTS_AT_ONCE
            self._known_from, begin = first_t, 0
            self._known = tabulate_discounts(self.rule, first_t, size)
        return self._known[begin : begin + num_iterations]

    def average_strategy(self) -> FloatArray:
        """Returns `[C]` the average strategy, the one that converges."""
        average: FloatArray = self.kernel.normalize(self.average_sums)
        return average

    def current_strategy(self) -> FloatArray:
        """Returns `[C]` the strategy that the next iteration plays; not on hold'em trees, which do not store it."""
        if not isinstance(self.tables, SweepTables):
            raise ConfigError("hold'em trees do not store the strategy of an iteration")
        strategy: FloatArray = self.tables.strategy.copy()
        return strategy

    def average_values(self, player: int, node: int = 0) -> FloatArray:
        """Returns `[H]` a player's counterfactual values at a watched node, averaged as the strategies are.

        They go with the average strategies: reaches of these are averages of the reaches that the values were seen
        with. Player of Games calls them self-play values and makes them the alternatives of the next search.
        """
        if self.watched is None:
            raise ConfigError(f"node {node} is not watched: nothing is")
        return self.watched.average(player, node)

    def evaluate(self, *, respects_locks: bool = True) -> Evaluation:
        """Returns the exact quality of the average strategy, in the game's unit of utility.

        Private states count as the tree has them at its root, whatever `root_reach` or a gate let into the run.

        Args:
            respects_locks: Whether best responses keep to the locks. If so, what is left to gain goes to nothing as the
                run goes on; if not, locks are counted as mistakes too.
        """
        sums = self.average_sums if isinstance(self.tree, HoldemTree) else self.average_strategy()
        return evaluate(
            self.tree,
            sums,
            kernel=self.kernel,
            respects_locks=respects_locks,
            frontier=self.frontier,
            num_threads=self.num_threads,
        )

    @property
    def can_evaluate_quickly(self) -> bool:
        """Returns whether `evaluate_quickly` is quicker: on hold'em trees without rake and leaves, but in float64."""
        return (
            isinstance(self.tree, HoldemTree)
            and isinstance(self.kernel, HoldemKernel)
            and self.average_sums.dtype in QUICK_TYPES
            and self.kernel.leaves is None
            and not self.tree.arrays.flat_rake.size
        )

    def evaluate_quickly(self) -> Evaluation:
        """Returns what `evaluate` does, in a quarter of the time where it can.

        Best responses are found in float32, right to some 1e-7 of the pot; figures of less than a hundred times that
        are left to `evaluate`. What both players win adds up to nothing, so that best responses say all of
        exploitability. The values are the middle of what they leave possible.
        """
        if not (self.can_evaluate_quickly and isinstance(self.tree, HoldemTree)):
            return self.evaluate()
        tree = self.tree
        found = self.kernel.values(self.average_sums, is_best=True, is_quick=True, num_threads=self.num_threads)
        best = tree.mean_value(0, found[0]), tree.mean_value(1, found[1])
        middle = (best[0] - best[1]) / 2
        quick = Evaluation(values=(middle, -middle), best_response_values=best)
        return quick if quick.exploitability > LEAST_QUICK_SHARE * tree.spot.root_pot else self.evaluate()

    def state(self) -> dict[str, npt.NDArray[np.generic]]:
        """Returns the arrays from which the run goes on to the bit; of hooks, only a gate's and watched values."""
        counts = {name: np.array(getattr(self, name)) for name in COUNTS}
        pause = self.kernel.describe_pause(self.tables) if isinstance(self.kernel, HoldemKernel) else {}
        return {**name_tables(self.tables), **self._hook_memory(), **counts, **pause}

    def restore(self, state: SavedArrays) -> None:
        """Overwrites the run with a saved state of the same tree, rule, dtype and hooks."""
        counts = {name: read_count(state, name) for name in COUNTS}
        overwrite_tables({**name_tables(self.tables), **self._hook_memory()}, state)
        for name, count in counts.items():
            setattr(self, name, count)
        self.kernel.write_locks(self.tables)
        self._forget_pause()
        if isinstance(self.kernel, HoldemKernel) and PAUSE_PLACES in state:
            self._restore_pause(state)

    def _restore_pause(self, state: SavedArrays) -> None:
        """Takes over an iteration that was interrupted when the state was saved."""
        places = read_array(state, PAUSE_PLACES, np.int64, None)
        if not self.kernel.restore_pause(self.tables, places, read_array(state, PAUSE_SUMS, np.float64, None)):
            raise CheckpointError(
                "the saved run was interrupted within an iteration, and what it says of that is damaged"
            )

    def _hook_memory(self) -> dict[str, npt.NDArray[np.generic]]:
        memory: dict[str, npt.NDArray[np.generic]] = {}
        if self.gate is not None:
            memory |= {"gate_regret": self.gate.regret, "gate_reach": self.gate.reach}
        if self.watched is not None:
            memory |= {"watched_sum": self.watched.value_sum, "watched_weight": self.watched.weight}
        return memory
