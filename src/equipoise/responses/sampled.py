# SPDX-License-Identifier: Apache-2.0
"""Responses that watch a sampled number of hands: the more of them, the stronger; none is known to be pretty good."""

from __future__ import annotations

import abc
from typing import Final

import numpy as np
import numpy.typing as npt

from equipoise.core.checks import check_number
from equipoise.core.errors import ConfigError
from equipoise.games.base import ActionClass
from equipoise.kernels.arrays import draw_generator
from equipoise.kernels.calls import check_integer
from equipoise.kernels.history import HistoryKernel
from equipoise.kernels.walks import WalkKernel
from equipoise.responses.exact import respond_merged
from equipoise.responses.forms import PlayForm, PlayTree, Table
from equipoise.responses.on_tree import OnTree
from equipoise.solvers.best_response import bind_history_kernel
from equipoise.solvers.mccfr import lay_out_for_sampling
from equipoise.trees.history import ACTION_CODES, HistoryTree
from equipoise.trees.merging import MergedTree, merge_infosets
from equipoise.trees.segments import flatten_ranges

__all__ = [
    "DEFAULT_EXPLORATION",
    "FBRResponse",
    "FrequentistResponse",
    "UCTResponse",
    "find_calls",
    "name_uct",
    "probe_strategy",
]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int32]

DEFAULT_EXPLORATION: Final = 2.0  # chips: ours, picked after the fact; [D15] does not print its constant


def find_calls(tree: HistoryTree) -> IntArray:
    """Returns `[I]` which action is a call or check; where there is none, the first that is no fold, or the first."""
    rank = np.ones(len(ACTION_CODES), np.int8)
    rank[ACTION_CODES[ActionClass.CALL]] = 0
    rank[ACTION_CODES[ActionClass.FOLD]] = 2
    rank = rank[tree.action_class]
    out = np.zeros(tree.num_actions.size, np.int32)
    for infoset, (first, count) in enumerate(zip(tree.first_sequence.tolist(), tree.num_actions.tolist(), strict=True)):
        out[infoset] = np.argmin(rank[first : first + count])
    return out


def probe_strategy(tree: HistoryTree) -> FloatArray:
    """Returns `[Q]` play that never folds: all other actions alike, a call and a raise with one half each."""
    sequences = flatten_ranges(tree.first_sequence, tree.num_actions)
    shares = np.zeros(int(tree.sequence_start[-1]))
    shares[sequences] = tree.action_class[sequences] != ACTION_CODES[ActionClass.FOLD]
    return bind_history_kernel(tree).normalize(shares)


def name_uct(num_iterations: int, exploration: float) -> str:
    """Returns the name of a search, with its constant if that is another than the default."""
    return f"uct:{num_iterations}" + ("" if exploration == DEFAULT_EXPLORATION else f",{exploration:g}")


class UCTResponse(OnTree):
    """What a search of n iterations finds against a fixed opponent.

    Paper: [D15] 5.1.1; Kocsis & Szepesvari 2006, "Bandit based Monte-Carlo Planning".
    Symbols: n -> num_iterations; C -> exploration, in units of utility.
    Departs from the paper: nothing that it prints. It leaves open the constant C (2 here), what is done where a node is
        added (a call) or an action is untried (one is drawn), and ties (the first action). In games without calls the
        first action that is no fold takes their place.
    Checked by: tests/kernels/test_walks.py, tests/responses/test_sampled.py.

    >>> from equipoise.games import make_game
    >>> from equipoise.responses import solve_against
    >>> from equipoise.trees import build_history_tree
    >>> tree = build_history_tree(make_game("kuhn"))
    >>> solve_against(tree, UCTResponse(tree, 100), iterations=20).progress[-1].iteration
    20
    """

    deterministic = False
    is_pretty_good = False

    def __init__(
        self,
        tree: HistoryTree,
        num_iterations: int,
        *,
        exploration: float = DEFAULT_EXPLORATION,
        groups: npt.ArrayLike | None = None,
    ) -> None:
        """Lays the tree out for searches.

        Args:
            tree: the game.
            num_iterations: of each search, in one seat.
            exploration: the constant of UCB1.
            groups: `[I]` information sets that the search takes for one, see `merge_infosets`; None: none.
        """
        super().__init__(tree)
        check_integer("iterations of UCT", num_iterations, 0)
        check_number("exploration of UCT", exploration)
        if not 0 <= exploration < np.inf:
            raise ConfigError(f"exploration of UCT must be at least 0 and finite, got {exploration}")
        self.num_iterations, self.exploration = num_iterations, exploration
        self.name = name_uct(num_iterations, exploration)
        self.merged: tuple[MergedTree, ...] = ()
        if groups is not None:
            self.merged = tuple(merge_infosets(tree, groups, players=(seat,)) for seat in (0, 1))
        searched = [one.tree for one in self.merged] or [tree]
        self.walks = [WalkKernel(lay_out_for_sampling(one)) for one in searched]
        self.fallback = [find_calls(one) for one in searched]

    def respond(self, strategy: FloatArray, seat: int, rng: np.random.Generator) -> FloatArray:
        """Returns `[Q]` the actions of the best mean; a call wherever the search has not been."""
        which = seat if self.merged else 0
        answer = self.walks[which].search_uct(
            seat,
            self.merged[seat].lower(strategy) if self.merged else strategy,
            num_iterations=self.num_iterations,
            exploration=self.exploration,
            fallback=self.fallback[which],
            random_words=draw_generator(rng),
            is_interrupted=self.is_interrupted,
        )
        return self.combine(strategy, self.merged[seat].lift(answer) if self.merged else answer, seat)


class FrequentistResponse(OnTree, abc.ABC):
    """A best response to what an opponent did in n hands against a probe, whatever the hands are walked on.

    Paper: Davis 2015 (thesis) [D15], 5.2 and 5.2.1; Johanson, Zinkevich & Bowling 2007, "Computing Robust
        Counter-Strategies" (frequentist best response).
    Symbols: FBR-n -> num_hands.
    Departs from the paper: nothing that it prints. The probe calls where it cannot raise, which is left open; cards are
        seen after folds.
    Checked by: tests/responses/test_sampled.py, tests/responses/test_lines.py, tests/responses/test_boards.py.

    >>> from equipoise.games import make_game
    >>> from equipoise.responses import solve_against
    >>> from equipoise.trees import build_history_tree
    >>> tree = build_history_tree(make_game("kuhn"))
    >>> class Exact(FrequentistResponse):
    ...     def model(self, strategy, seat, rng):
    ...         return strategy  # as if infinitely many hands had been seen
    >>> solve_against(tree, Exact(tree, 0), iterations=20).progress[-1].iteration
    20
    """

    deterministic = False
    is_pretty_good = False

    def __init__(self, tree: PlayTree | PlayForm, num_hands: int) -> None:
        super().__init__(tree)
        check_integer("num_hands", num_hands, 0)
        self.num_hands, self.name = num_hands, f"fbr:{num_hands}"

    @abc.abstractmethod
    def model(self, strategy: Table, seat: int, rng: np.random.Generator) -> Table:
        """Returns `[Q]` what the hands say that the opponent of `seat` does; it calls where none came by."""

    def respond(self, strategy: Table, seat: int, rng: np.random.Generator) -> Table:
        """Returns `[Q]` the best response to the model, exactly."""
        self.check_strategy("strategy", strategy)
        return self.combine(strategy, self._answer(self.model(strategy, seat, rng), seat), seat)

    def _answer(self, model: Table, seat: int) -> Table:
        return self.form.answer(model, seat)[1]


class FBRResponse(FrequentistResponse):
    """The frequentist best response on a history tree, the other's model or the response itself in groups.

    >>> from equipoise.games import make_game
    >>> from equipoise.responses import solve_against
    >>> from equipoise.trees import build_history_tree
    >>> tree = build_history_tree(make_game("kuhn"))
    >>> solve_against(tree, FBRResponse(tree, 100), iterations=20).progress[-1].iteration
    20
    """

    def __init__(
        self,
        tree: HistoryTree,
        num_hands: int,
        *,
        model_groups: npt.ArrayLike | None = None,
        groups: npt.ArrayLike | None = None,
    ) -> None:
        """Lays the tree out for sampling.

        Args:
            tree: the game.
            num_hands: watched for each answer.
            model_groups: `[I]` information sets in which the opponent is modelled as one; None: each by itself.
            groups: `[I]` information sets that the response takes for one; None: it tells all apart.
        """
        super().__init__(tree, num_hands)
        self.walks = WalkKernel(lay_out_for_sampling(tree))
        self.probe = probe_strategy(tree)
        calls = find_calls(tree)
        self.model_map = None if model_groups is None else merge_infosets(tree, model_groups).sequence_map
        self.call_sequence = tree.first_sequence + calls
        self.infoset_of = np.repeat(np.arange(tree.num_actions.size), tree.num_actions)
        self.sequences = flatten_ranges(tree.first_sequence, tree.num_actions)
        self.responders: tuple[tuple[MergedTree, HistoryKernel], ...] = ()
        if groups is not None:
            merged = tuple(merge_infosets(tree, groups, players=(seat,)) for seat in (0, 1))
            self.responders = tuple((one, bind_history_kernel(one.tree)) for one in merged)

    def observe(self, strategy: FloatArray, seat: int, rng: np.random.Generator) -> FloatArray:
        """Returns `[Q]` how often the opponent of `seat` took each action against the probe."""
        hands = self.combine(strategy, self.probe, seat)
        counts = self.walks.count_actions(
            1 - seat,
            hands,
            num_hands=self.num_hands,
            random_words=draw_generator(rng),
            is_interrupted=self.is_interrupted,
        )
        if self.model_map is None:
            return counts
        pooled = np.bincount(self.model_map, weights=counts).astype(np.float64)
        return np.take(pooled, self.model_map)

    def fit(self, counts: FloatArray) -> FloatArray:
        """Returns `[Q]` the model: frequencies, and calls where nothing was seen."""
        seen = np.bincount(self.infoset_of, weights=counts[self.sequences], minlength=self.call_sequence.size)
        filled = counts.copy()
        filled[self.call_sequence[seen == 0]] = 1.0
        return self.form.play(filled)

    def model(self, strategy: FloatArray, seat: int, rng: np.random.Generator) -> FloatArray:
        """Returns `[Q]` what the hands say that the opponent of `seat` does; it calls where none came by."""
        return self.fit(self.observe(strategy, seat, rng))

    def _answer(self, model: FloatArray, seat: int) -> FloatArray:
        if not self.responders:
            return super()._answer(model, seat)
        return respond_merged(*self.responders[seat], model, seat)
