# SPDX-License-Identifier: Apache-2.0
"""What every response over a tree has: the tree as responses read it, and profiles of what both players do."""

from __future__ import annotations

from typing import Any

import numpy as np

from equipoise.core.errors import ConfigError
from equipoise.core.formatting import show_given
from equipoise.core.interruption import IsInterrupted, never
from equipoise.responses.forms import PlayForm, PlayTree, Table, bind_form
from equipoise.solvers.best_response import Evaluation

__all__ = ["OnTree"]


class OnTree:
    """A two-player zero-sum tree as a response reads it, whatever its layout."""

    def __init__(self, tree: PlayTree | PlayForm) -> None:
        """Binds a tree, or shares one that is bound."""
        self.form = tree if isinstance(tree, PlayForm) else bind_form(tree)
        self.is_interrupted: IsInterrupted = never

    def __repr__(self) -> str:
        return f"<{' '.join([type(self).__name__, *filter(None, [getattr(self, 'name', None)])])}>"

    @property
    def kernel(self) -> Any:
        """Returns the kernel of the layout."""
        return self.form.kernel

    @property
    def tree(self) -> Any:
        """Returns the tree, a `PlayTree`."""
        return self.form.tree

    @property
    def own_cells(self) -> tuple[Any, Any]:
        """Returns by seat which cells of a plan `[C]` are the player's."""
        return self.form.own_cells

    @property
    def table_cells(self) -> tuple[Any, Any]:
        """Returns by seat which cells of a strategy `[Q]` are the player's."""
        return self.form.table_cells

    def listen(self, is_interrupted: IsInterrupted) -> None:
        """Lets long answers ask whether they are still wanted; see `Listener`."""
        self.is_interrupted = is_interrupted

    def combine(self, strategy: Table, answer: Table, seat: int) -> Table:
        """Returns `[Q]` a profile: `answer` for the player in `seat`, `strategy` for the other."""
        return self.form.combine(strategy, answer, seat)

    def value(self, profile: Table, seat: int) -> float:
        """Returns what the player in `seat` earns under a profile `[Q]`."""
        return self.form.value(profile, seat)

    def evaluate(self, profile: Table, *, num_threads: int = 1) -> Evaluation:
        """Returns the exact values and best-response values of a profile `[Q]`."""
        return Evaluation(
            values=(self.value(profile, 0), self.value(profile, 1)),
            best_response_values=tuple(self.form.answer(profile, seat, num_threads=num_threads)[0] for seat in (0, 1)),
        )

    def check_strategy(self, name: str, strategy: Table) -> None:
        """Raises `ConfigError` unless a strategy has the tree's size."""
        expected = (self.form.num_table_cells,)
        if not isinstance(strategy, np.ndarray):
            how = "an array such as strategy.to_tree(tree)"
            raise ConfigError(f"{name} must be {how} on {self.form.label}, got {show_given(strategy)}")
        if strategy.shape != expected:
            raise ConfigError(f"{name} must have shape {expected} on {self.form.label}, got {strategy.shape}")
