# SPDX-License-Identifier: Apache-2.0
"""Regret minimisers written in Python, one object an information state, on a sweep that is the obvious one.

Slow: Python at every information state in every iteration, far slower than the native sweeps. It is for trying a rule
out on a small game; a rule that holds its own is then written as data (`rules.py`) and a policy map.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import math
from collections.abc import Callable, Sequence
from typing import Final, Protocol, TypeGuard

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.core.formatting import show_given
from equipoise.core.own_code import find_text, load_class, parse_class_text
from equipoise.kernels.arithmetic import dot
from equipoise.kernels.calls import check_integer
from equipoise.solvers import rules
from equipoise.solvers.best_response import Evaluation, bind_history_kernel, evaluate
from equipoise.solvers.payoffs import payoff_ranges
from equipoise.solvers.saved_state import SavedArrays, overwrite_tables, read_count
from equipoise.trees.history import HistoryTree

__all__ = ["MakeMinimizer", "Minimizer", "MinimizerSite", "MinimizerSolver", "is_minimizer", "load_minimizer"]

SUM_TOLERANCE: Final = 1e-9  # by which a strategy's probabilities may miss 1
METHODS: Final = ("next_strategy", "observe")
MEMORY, MEMORY_SIZES = "memory", "memory_sizes"  # in saved runs, with the name of an attribute
REAL_KINDS: Final = "biuf"  # of arrays: truth values, whole numbers, floats
NUMBERS: Final = (np.ndarray, np.generic, bool, int, float, list, tuple)

FloatArray = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class MinimizerSite:
    """The information state that a minimiser decides at.

    >>> MinimizerSite(player=0, infostate="K:", actions=("check", "bet"), payoff_range=4.0).num_actions
    2
    """

    player: int
    infostate: str
    actions: tuple[str, ...]  # [A] their names
    payoff_range: float  # between the largest and the smallest utility that the player may still end with

    @property
    def num_actions(self) -> int:
        """Returns how many actions there are."""
        return len(self.actions)


class Minimizer(Protocol):
    """Who decides at one information state, iteration after iteration.

    A minimiser may also have `average_weight(t)`, the weight of iteration t (from 1) in the average strategy; without
    it all weigh the same. What it remembers as numbers and rows of numbers is saved with a run, which then can go on.

    >>> class BestAction:
    ...     def __init__(self, site: MinimizerSite) -> None:
    ...         self.total = np.zeros(site.num_actions)
    ...     def next_strategy(self):
    ...         return (self.total == self.total.max()) / (self.total == self.total.max()).sum()
    ...     def observe(self, values):
    ...         self.total += values
    >>> import equipoise
    >>> equipoise.solve("kuhn", BestAction, iterations=50).exploitability < 0.2
    True
    """

    def next_strategy(self) -> Sequence[float] | FloatArray:
        """Returns `[A]` the probability of each action in the next iteration."""
        ...

    def observe(self, values: FloatArray) -> None:
        """Takes in `[A]` the counterfactual value of each action, under the strategies of the iteration."""
        ...


MakeMinimizer = Callable[[MinimizerSite], Minimizer]


def is_minimizer(rule: object) -> TypeGuard[MakeMinimizer]:
    """Returns whether a rule is a minimiser's class, with or without arguments bound, or a function that makes one."""
    if isinstance(rule, functools.partial):
        return is_minimizer(rule.func)
    if inspect.isclass(rule):
        return rule is not Minimizer and all(callable(getattr(rule, name, None)) for name in METHODS)
    return inspect.isfunction(rule) and rule.__module__ != rules.__name__  # CFRPlus, where CFRPlus() is meant


def load_minimizer(text: str) -> MakeMinimizer:
    """Returns the user's class that a text such as `file.py:Class` names."""
    own = parse_class_text(text)
    if own is None or own.rest:
        raise ConfigError(f"a minimiser of your own is written file.py:Class, got {text!r}")
    kind = load_class(own)
    if not is_minimizer(kind):
        raise ConfigError(f"{own} is not a regret minimiser: it lacks {' or '.join(METHODS)}")
    return kind


class MinimizerSolver:
    """A run of CFR in which a minimiser of the user's decides at every information state.

    Paper: Zinkevich et al. 2007, "Regret Minimization in Games with Incomplete Information"; any minimiser of external
        regret may stand at an information state.
    Symbols: sigma -> strategy; pi_i -> realization; the sum of the average -> strategy_sum.
    Departs from the paper: alternating updates by default; iterations may weigh as the minimiser says.
    Checked by: tests/solvers/test_own_minimizers.py.
    """

    def __init__(self, tree: HistoryTree, make: MakeMinimizer, *, is_alternating: bool = True) -> None:
        """Makes a minimiser for every information state.

        Args:
            tree: what is solved.
            make: called with each `MinimizerSite`.
            is_alternating: whether each player sees the other's update of the same iteration.
        """
        self.tree = tree
        self.is_alternating = is_alternating
        made = make.func if isinstance(make, functools.partial) else make
        self.name = getattr(made, "__name__", type(made).__name__)
        self.text = find_text(make) if inspect.isclass(make) else None  # by which others find it
        self.kernel = bind_history_kernel(tree)
        self.iteration = 0
        self._why_not: str | None = None  # a run that was restored cannot go on
        self.minimizers = [make(site) for site in _list_sites(tree)]
        for minimizer in self.minimizers[:1]:
            if missing := [name for name in METHODS if not callable(getattr(minimizer, name, None))]:
                raise ConfigError(f"{self.name} makes no regret minimiser: what it makes lacks {' and '.join(missing)}")
        self.strategy = np.ones(self.kernel.num_sequences)  # [Q] of the next iteration
        self.strategy_sum = np.zeros(self.kernel.num_sequences)  # [Q]
        for infoset in range(tree.num_actions.size):
            self._decide(infoset)

    @property
    def nodes_touched(self) -> int:
        """Returns the nodes visited so far: all histories, once per player and iteration."""
        return self.iteration * self.tree.num_players * self.tree.num_nodes

    def iterate(self, num_iterations: int) -> None:
        """Runs iterations, each of which updates every player once."""
        check_integer("num_iterations", num_iterations, 0)
        if self._why_not is not None and num_iterations:
            raise ConfigError(f"the run cannot go on: {self._why_not}")
        players = range(self.tree.num_players)
        for _ in range(num_iterations):
            self.iteration += 1
            if self.is_alternating:
                for player in players:
                    self._update(player, self._find_values(player))
            else:
                for player, values in enumerate([self._find_values(player) for player in players]):
                    self._update(player, values)

    def average_strategy(self) -> FloatArray:
        """Returns `[Q]` the average strategy, the one that converges."""
        return self.kernel.normalize(self.strategy_sum)

    def current_strategy(self) -> FloatArray:
        """Returns `[Q]` the strategy that the next iteration plays."""
        return self.strategy.copy()

    def evaluate(self) -> Evaluation:
        """Returns the exact quality of the average strategy."""
        return evaluate(self.tree, self.average_strategy(), kernel=self.kernel)

    def state(self) -> dict[str, npt.NDArray[np.generic]]:
        """Returns the average, and what minimisers remember as far as that is numbers (`collect_memory`)."""
        state = {"strategy_sum": self.strategy_sum, "strategy": self.strategy, "iteration": np.array(self.iteration)}
        try:
            return {**state, **collect_memory(self.minimizers)}
        except ConfigError:  # said when somebody wants to go on; the strategy is worth keeping all the same
            return state

    def restore(self, state: SavedArrays) -> None:
        """Overwrites the average and what minimisers remember with what was saved."""
        iteration = read_count(state, "iteration")
        tables = {"strategy_sum": self.strategy_sum}
        overwrite_tables({**tables, "strategy": self.strategy} if "strategy" in state else tables, state)
        self.iteration = iteration
        try:
            names = collect_memory(self.minimizers).keys()
            if "strategy" not in state or not names <= state.keys():
                raise ConfigError(f"what the minimisers of {self.name} remember is not saved with it")
            spread_memory(self.minimizers, state)
        except ConfigError as error:
            self._why_not = str(error)

    def _find_values(self, player: int) -> FloatArray:
        """Returns `[Q]` the counterfactual value of each sequence of a player, which is what follows from it."""
        tree = self.tree
        realization = self.kernel.realize(self.strategy)
        weight = tree.utility[player] * tree.terminal_chance
        for other in range(tree.num_players):
            if other != player:
                weight = weight * realization[tree.terminal_sequence[other]]
        values = np.bincount(tree.terminal_sequence[player], weight, minlength=self.strategy.size).astype(np.float64)
        for infoset in reversed(range(tree.infoset_start[player], tree.infoset_start[player + 1])):
            own = self._actions(infoset)
            values[tree.parent_sequence[infoset]] += dot(self.strategy[own], values[own])
        return values

    def _update(self, player: int, values: FloatArray) -> None:
        """Adds a player's strategy to its average, and lets its minimisers see what actions were worth."""
        tree = self.tree
        own = slice(tree.sequence_start[player], tree.sequence_start[player + 1])
        infosets = range(tree.infoset_start[player], tree.infoset_start[player + 1])
        weigh = getattr(self.minimizers[infosets.start], "average_weight", None) if infosets else None
        weight = 1.0 if weigh is None else self._read_weight(weigh(self.iteration))
        self.strategy_sum[own] += weight * self.kernel.realize(self.strategy)[own]
        for infoset in infosets:
            self.minimizers[infoset].observe(values[self._actions(infoset)].copy())
            self._decide(infoset)

    def _read_weight(self, given: object) -> float:
        """Returns what a minimiser says that an iteration weighs; raises `ConfigError` if that is no weight."""
        if not isinstance(given, int | float | np.integer | np.floating) or not 0 <= given < math.inf:
            raise ConfigError(
                f"average_weight of {self.name} must be at least 0 and finite in iteration {self.iteration}, got "
                f"{show_given(given)}"
            )
        return float(given)

    def _decide(self, infoset: int) -> None:
        """Asks a minimiser for its next strategy; raises `ConfigError` if that is none."""
        where = self._actions(infoset)
        answer = self.minimizers[infoset].next_strategy()
        try:
            given = np.asarray(answer)
        except ValueError:  # rows of different lengths
            given = np.empty(0)
        if (
            given.dtype.kind not in REAL_KINDS
            or given.shape != (where.stop - where.start,)
            or not (given >= 0).all()
            or not abs(given.sum() - 1) <= SUM_TOLERANCE
        ):
            shown = show_given(given.tolist() if given.size else answer)
            raise ConfigError(
                f"{self.name} must play {where.stop - where.start} probabilities that sum to 1 at "
                f"{self.tree.infoset_labels[infoset]!r} after {self.iteration} iterations, got {shown}"
            )
        self.strategy[where] = given

    def _actions(self, infoset: int) -> slice:
        first = int(self.tree.first_sequence[infoset])
        return slice(first, first + int(self.tree.num_actions[infoset]))


def _list_sites(tree: HistoryTree) -> list[MinimizerSite]:
    """Returns `[I]` where minimisers decide."""
    ranges = payoff_ranges(tree)
    return [
        MinimizerSite(
            player=player,
            infostate=tree.infoset_labels[infoset],
            actions=tree.sequence_labels[tree.first_sequence[infoset] :][: tree.num_actions[infoset]],
            payoff_range=float(ranges[infoset]),
        )
        for infoset, player in enumerate(tree.infoset_player().tolist())
    ]


def collect_memory(minimizers: Sequence[Minimizer]) -> dict[str, npt.NDArray[np.generic]]:
    """Returns what minimisers remember, by attribute: the numbers of all of them in a row, and how many each has.

    Raises `ConfigError` for an attribute that is neither a number nor a row of them. Texts, None and the site are not
    kept: they are as the constructor makes them.
    """
    memory: dict[str, npt.NDArray[np.generic]] = {}
    rows = [_list_attributes(one) for one in minimizers]
    for name in sorted({name for row in rows for name in row}):
        memory[f"{MEMORY}.{name}"] = np.concatenate([row[name].reshape(-1) for row in rows if name in row])
        memory[f"{MEMORY_SIZES}.{name}"] = np.array([row[name].size if name in row else -1 for row in rows])
    return memory


def spread_memory(minimizers: Sequence[Minimizer], state: SavedArrays) -> None:
    """Gives minimisers back what `collect_memory` took, each attribute in the kind that its constructor made."""
    names = [key.removeprefix(f"{MEMORY}.") for key in state if key.startswith(f"{MEMORY}.")]
    for name in names:
        numbers, sizes = np.asarray(state[f"{MEMORY}.{name}"]), np.asarray(state[f"{MEMORY_SIZES}.{name}"])
        end = np.cumsum(np.maximum(sizes, 0))
        if name.startswith("__") or sizes.size != len(minimizers) or (end.size and end[-1] != numbers.size):
            raise ConfigError(f"what the minimisers remember as {name} does not fit the game")
        for minimizer, size, last in zip(minimizers, sizes.tolist(), end.tolist(), strict=True):
            if size >= 0:
                setattr(minimizer, name, _like(getattr(minimizer, name, None), numbers[last - size : last].copy()))


def _list_attributes(minimizer: Minimizer) -> dict[str, npt.NDArray[np.generic]]:
    """Returns the attributes of a minimiser that are numbers; raises `ConfigError` for one that cannot be kept."""
    kept = {}
    for name, value in getattr(minimizer, "__dict__", {"__slots__": None}).items():
        if (value is None and name != "__slots__") or isinstance(value, MinimizerSite | str):
            continue
        numbers = np.asarray(value) if isinstance(value, NUMBERS) else None
        if numbers is None or numbers.dtype.kind not in "biuf" or numbers.ndim > 1:
            raise ConfigError(
                f"{type(minimizer).__name__} remembers {name}, {type(value).__name__}: only numbers and rows of "
                "numbers are saved with a run"
            )
        kept[name] = numbers
    return kept


def _like(made: object, numbers: npt.NDArray[np.generic]) -> object:
    """Returns saved numbers in the kind of what the constructor made."""
    if isinstance(made, list | tuple):
        return type(made)(numbers.tolist())
    if isinstance(made, np.ndarray):
        return numbers.astype(made.dtype, copy=False) if made.dtype.kind == numbers.dtype.kind else numbers
    if isinstance(made, bool | int | float) and numbers.size == 1:
        return numbers[0].item()
    return numbers
