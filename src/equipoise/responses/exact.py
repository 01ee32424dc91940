# SPDX-License-Identifier: Apache-2.0
"""Responses that pick the best member of a fixed set, exactly: all of them pretty good."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.core.formatting import show_given
from equipoise.kernels.history import HistoryKernel
from equipoise.responses.forms import PlayForm, PlayTree, Table
from equipoise.responses.on_tree import OnTree
from equipoise.solvers.best_response import bind_history_kernel
from equipoise.trees.history import HistoryTree
from equipoise.trees.merging import MergedTree, merge_infosets

__all__ = ["AbstractBestResponse", "BestResponse", "LibraryResponse", "RandomLibraryResponse", "StaticResponse"]


class BestResponse(OnTree):
    """The best of all strategies; training against it is CFR-BR, and its value is exploitability.

    >>> from equipoise.games import make_game
    >>> from equipoise.responses import solve_against
    >>> from equipoise.trees import build_history_tree
    >>> tree = build_history_tree(make_game("kuhn"))
    >>> solve_against(tree, BestResponse(tree), iterations=200).evaluation.exploitability < 0.05
    True
    """

    name = "best"
    deterministic = True
    is_pretty_good = True

    def respond(self, strategy: Table, seat: int, rng: np.random.Generator) -> Table:
        """Returns `[Q]` a pure best response, the first of equally good actions."""
        _, best = self.form.answer(strategy, seat)
        return self.combine(strategy, best, seat)


class AbstractBestResponse(OnTree):
    """The best of the strategies that play alike in merged information sets.

    Paper: [D15] 3.3 and 3.4.
    Symbols: beta -> groups.
    Departs from the paper: nothing is bucketed here, groups are given; actions are not taken away.
    Checked by: tests/responses/test_exact.py.

    >>> from equipoise.games import make_game
    >>> from equipoise.trees import build_history_tree
    >>> tree = build_history_tree(make_game("kuhn"))
    >>> response = AbstractBestResponse(tree, np.arange(tree.size.num_infosets))  # every set in a group of its own
    >>> response.name
    'abstract-best'
    """

    deterministic = True
    is_pretty_good = True

    def __init__(self, tree: HistoryTree, groups: npt.ArrayLike, *, name: str = "abstract-best") -> None:
        """Merges information sets.

        Args:
            tree: the game.
            groups: `[I]` the number of each information set's group, for both players; see `merge_infosets`.
            name: as tables print it.
        """
        super().__init__(tree)
        self.name = name
        self.merged = tuple(merge_infosets(tree, groups, players=(seat,)) for seat in (0, 1))
        self.merged_kernels = tuple(bind_history_kernel(merged.tree) for merged in self.merged)

    def num_infosets(self, seat: int) -> int:
        """Returns how many information sets the responder tells apart."""
        return int(np.diff(self.merged[seat].tree.infoset_start)[seat])

    def respond(self, strategy: Table, seat: int, rng: np.random.Generator) -> Table:
        """Returns `[Q]` a pure best response within the abstraction: values are merged before actions are compared."""
        best = respond_merged(self.merged[seat], self.merged_kernels[seat], strategy, seat)
        return self.combine(strategy, best, seat)


class StaticResponse(OnTree):
    """One strategy, whatever it meets; its value is that of a match.

    >>> from equipoise.games import make_game
    >>> from equipoise.responses import solve_against
    >>> from equipoise.solvers import CFRSolver
    >>> from equipoise.trees import build_history_tree
    >>> tree = build_history_tree(make_game("kuhn"))
    >>> uniform = CFRSolver(tree).average_strategy()
    >>> found = solve_against(tree, StaticResponse(tree, uniform), iterations=100)
    >>> found.seats[0].average_value.mean > 0.4  # what it wins from a uniform opponent
    True
    """

    deterministic = True
    is_pretty_good = True

    def __init__(self, tree: PlayTree | PlayForm, strategy: Table, *, name: str = "static") -> None:
        super().__init__(tree)
        self.check_strategy("a static strategy", strategy)
        self.name = name
        self.strategy = strategy

    def respond(self, strategy: Table, seat: int, rng: np.random.Generator) -> Table:
        """Returns `[Q]` the strategy that was given."""
        return self.combine(strategy, self.strategy, seat)


class LibraryResponse(OnTree):
    """The best of a finite list of strategies: the worst case of a row of a cross-table.

    >>> from equipoise.games import make_game
    >>> from equipoise.responses import solve_against
    >>> from equipoise.solvers import CFRSolver
    >>> from equipoise.trees import build_history_tree
    >>> tree = build_history_tree(make_game("kuhn"))
    >>> uniform = CFRSolver(tree).average_strategy()
    >>> solve_against(tree, LibraryResponse(tree, [uniform]), iterations=20).seats[0].seat
    0
    """

    deterministic = True
    is_pretty_good = True

    def __init__(self, tree: PlayTree | PlayForm, strategies: Sequence[Table], *, name: str = "library") -> None:
        super().__init__(tree)
        if not isinstance(strategies, Sequence):
            raise ConfigError(f"a library is a list of strategies, got {show_given(strategies)}")
        if not strategies:
            raise ConfigError("a library needs at least one strategy, got none")
        for place, member in enumerate(strategies):
            self.check_strategy(f"strategy {place} of a library", member)
        self.name = name
        self.strategies = tuple(strategies)
        self.plans = tuple(self.form.realize(member) for member in self.strategies)

    def values(self, strategy: Table, seat: int) -> npt.NDArray[np.float64]:
        """Returns what each member earns in `seat`."""
        facing = self.form.face(self.form.realize(strategy), seat)
        return np.array([self.form.earn(plan, seat, facing) for plan in self.plans])

    def respond(self, strategy: Table, seat: int, rng: np.random.Generator) -> Table:
        """Returns `[Q]` the member that earns most, the first of equals."""
        best = self.strategies[int(np.argmax(self.values(strategy, seat)))]
        return self.combine(strategy, best, seat)


class RandomLibraryResponse(LibraryResponse):
    """The best of a few members drawn from a list, whatever they meet: every draw is a pretty-good response.

    >>> from equipoise.games import make_game
    >>> from equipoise.solvers import CFRSolver
    >>> from equipoise.trees import build_history_tree
    >>> tree = build_history_tree(make_game("kuhn"))
    >>> uniform = CFRSolver(tree).average_strategy()
    >>> RandomLibraryResponse(tree, [uniform, uniform], num_drawn=1).name
    'random-library'
    """

    deterministic = False

    def __init__(
        self,
        tree: PlayTree | PlayForm,
        strategies: Sequence[Table],
        *,
        num_drawn: int,
        name: str = "random-library",
    ) -> None:
        super().__init__(tree, strategies, name=name)
        if not 1 <= num_drawn <= len(strategies):
            raise ConfigError(
                f"a draw from {len(strategies)} strategies must have 1 to {len(strategies)}, got {num_drawn}"
            )
        self.num_drawn = num_drawn

    def respond(self, strategy: Table, seat: int, rng: np.random.Generator) -> Table:
        """Returns `[Q]` the member that earns most among those drawn."""
        drawn = rng.choice(len(self.strategies), self.num_drawn, replace=False)
        best = drawn[int(np.argmax(self.values(strategy, seat)[drawn]))]
        return self.combine(strategy, self.strategies[best], seat)


def respond_merged(merged: MergedTree, kernel: HistoryKernel, strategy: Table, seat: int) -> Table:
    """Returns `[Q]` of the full tree, the best response of a player whose information sets alone are merged."""
    _, best = kernel.best_response(seat, kernel.realize(merged.lower(strategy)))
    return merged.lift(best)
