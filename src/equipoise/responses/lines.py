# SPDX-License-Identifier: Apache-2.0
"""Sampled responses on bucketed limit hold'em: frequentist best response and UCT over lines of betting.

They are the responses of the same names on history trees, for a game whose histories are too many to list.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.games.holdem.bucketed_limit import BucketedLimitHoldem, BucketedLimitLines
from equipoise.games.registry import parse_game
from equipoise.kernels.arrays import draw_generator
from equipoise.kernels.calls import check_integer
from equipoise.kernels.lines import LineKernel
from equipoise.responses.on_tree import OnTree
from equipoise.responses.sampled import DEFAULT_EXPLORATION, FrequentistResponse, name_uct
from equipoise.trees.history import HistoryTree
from equipoise.trees.holdem.bucket_lines import list_lines
from equipoise.trees.public import PublicTree

__all__ = ["LineFBR", "LineUCT", "Lines", "find_lines"]

FloatArray = npt.NDArray[np.float64]


class Lines:
    """A tree of bucketed limit hold'em as sampled responses read it; several responses may share one."""

    def __init__(self, tree: PublicTree) -> None:
        game = parse_game(tree.game_label)
        if not isinstance(game, BucketedLimitHoldem):
            raise ConfigError(f"walks down lines of betting are for bucketed limit hold'em, got {tree.game_label}")
        arrays = list_lines(tree, BucketedLimitLines(game))
        self.on_tree = OnTree(tree)
        self.kernel = LineKernel(arrays)
        self.always_call = np.zeros(tree.cells.num_table_cells)
        decisions = np.flatnonzero(arrays.actor >= 0)
        for node, call in zip(decisions.tolist(), arrays.call[decisions].tolist(), strict=True):
            first = tree.table_start[node] + call * tree.stride[node]
            self.always_call[first : first + tree.num_private[node, tree.actor[node]]] = 1.0


def find_lines(tree: HistoryTree | PublicTree) -> Lines | None:
    """Returns the lines of a tree whose game is walked by lines of betting, None for other trees."""
    if isinstance(tree, PublicTree) and tree.game_label.partition("(")[0] == BucketedLimitHoldem.name:
        return Lines(tree)
    return None


class LineFBR(FrequentistResponse):
    """The frequentist best response over lines; model, response and what is modelled live in the game's buckets."""

    def __init__(self, lines: Lines, num_hands: int) -> None:
        super().__init__(lines.on_tree.form, num_hands)
        self.lines = lines

    def model(self, strategy: FloatArray, seat: int, rng: np.random.Generator) -> FloatArray:
        """Returns `[Q]` what the hands say that the opponent of `seat` does; it calls where none came by."""
        return self.lines.kernel.model_by_probe(
            1 - seat,
            strategy,
            num_hands=self.num_hands,
            default=self.lines.always_call,
            random_words=draw_generator(rng),
            is_interrupted=self.is_interrupted,
        )


class LineUCT(OnTree):
    """UCT from an empty tree against a fixed strategy: pure, the best mean where it has been, calling elsewhere.

    Paper: Davis 2015 (thesis) [D15], 5.1.1 and 5.2.
    Symbols: UCT-n -> num_iterations.
    Departs from the paper: the exploration constant, which it does not give, is a parameter; UCT plays with the
        buckets of the game, where the paper's plays with cards.
    Checked by: tests/responses/test_lines.py.
    """

    deterministic = False
    is_pretty_good = False

    def __init__(self, lines: Lines, num_iterations: int, *, exploration: float = DEFAULT_EXPLORATION) -> None:
        check_integer("num_iterations", num_iterations, 0)
        super().__init__(lines.on_tree.form)
        self.lines, self.num_iterations, self.exploration = lines, num_iterations, exploration
        self.name = name_uct(num_iterations, exploration)

    def respond(self, strategy: FloatArray, seat: int, rng: np.random.Generator) -> FloatArray:
        """Returns `[Q]` what a search of the player in `seat` finds best against the other."""
        self.check_strategy("strategy", strategy)
        answer = self.lines.kernel.search_uct(
            seat,
            strategy,
            num_iterations=self.num_iterations,
            exploration=self.exploration,
            default=self.lines.always_call,
            random_words=draw_generator(rng),
            is_interrupted=self.is_interrupted,
        )
        return self.combine(strategy, answer, seat)
