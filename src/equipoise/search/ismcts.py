# SPDX-License-Identifier: Apache-2.0
"""Information-set Monte Carlo tree search: what it is told, what it found, and searches on a history tree.

`equipoise.search.rules_ismcts` searches the rules themselves where no tree fits.
"""

from __future__ import annotations

import dataclasses
import enum
import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.kernels.arrays import draw_generator
from equipoise.kernels.calls import check_integer
from equipoise.kernels.ismcts import SearchKernel, SearchTables, WorldArrays
from equipoise.solvers.mccfr import lay_out_for_sampling
from equipoise.trees.history import HistoryTree
from equipoise.trees.node_reach import find_node_reach
from equipoise.trees.segments import flatten_ranges, starts

__all__ = ["FinalPolicy", "ISMCTSConfig", "TreeISMCTS", "choose_finally", "lay_out_worlds"]

IntArray = npt.NDArray[np.int32]
FloatArray = npt.NDArray[np.float64]

SIMULATIONS_PER_CALL = 2_000_000  # a fifth of a second, after which an interruption is looked for


class FinalPolicy(enum.StrEnum):
    """How a search's statistics become play; of equal maxima one is drawn.

    >>> [policy.value for policy in FinalPolicy]
    ['visits', 'max-visits', 'max-value']
    """

    VISITS = "visits"  # in proportion to the simulations that took the action
    MAX_VISITS = "max-visits"
    MAX_VALUE = "max-value"  # the largest mean return among actions tried


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ISMCTSConfig:
    """How a search is run and read. The defaults are the best cell of Player of Games, Table 5 (for Leduc).

    >>> ISMCTSConfig(num_simulations=500).final
    <FinalPolicy.MAX_VISITS: 'max-visits'>
    """

    num_simulations: int = 10_000  # of one search; the first opens the root and counts for no action
    exploration: float = 13.0  # C of `mean + C sqrt(ln N / n)`, in the game's unit of utility
    final: FinalPolicy = FinalPolicy.MAX_VISITS

    def __post_init__(self) -> None:
        check_integer("num_simulations", self.num_simulations, 1)
        if not 0 <= self.exploration < math.inf:
            raise ConfigError(f"exploration must be finite and at least 0, got {self.exploration}")


def choose_finally(
    final: FinalPolicy,
    visits: FloatArray,
    return_sum: FloatArray,
    num_actions: npt.NDArray[np.integer],
    *,
    rng: np.random.Generator,
) -> FloatArray:
    """Returns `[E]` the probability of each action at information sets with `num_actions` `[I]` actions.

    Args:
        final: how statistics become play.
        visits: `[E]` simulations that took each action; all zero at a set that was not searched, which plays uniformly.
        return_sum: `[E]` what they returned.
        num_actions: `[I]`.
        rng: draws among equal maxima.

    >>> found = np.array([5.0, 2.0, 0.0]), np.array([1.0, 1.0, 0.0])
    >>> choose_finally(FinalPolicy.MAX_VALUE, *found, np.array([3]), rng=np.random.default_rng(0))
    array([0., 1., 0.])
    """
    first = starts(num_actions)[:-1]
    if final is FinalPolicy.VISITS:
        weight = visits
    else:
        score = visits if final is FinalPolicy.MAX_VISITS else _mean_return(visits, return_sum)
        is_best = score == np.repeat(np.maximum.reduceat(score, first), num_actions)
        lot = np.where(is_best, 1.0 - rng.random(score.size), 0.0)
        weight = (lot == np.repeat(np.maximum.reduceat(lot, first), num_actions)).astype(np.float64)
    is_searched = np.repeat(np.add.reduceat(visits, first) > 0, num_actions)
    weight = np.where(is_searched, weight, 1.0)
    out: FloatArray = weight / np.repeat(np.add.reduceat(weight, first), num_actions)
    return out


def _mean_return(visits: FloatArray, return_sum: FloatArray) -> FloatArray:
    """Returns the mean return of every action, the worst possible where it was never tried."""
    return np.where(visits > 0, return_sum / np.maximum(visits, 1.0), -math.inf)


def lay_out_worlds(tree: HistoryTree) -> WorldArrays:
    """Returns the histories of every information set, weighted by chance alone: nobody's play is taken into account."""
    decisions = np.flatnonzero(tree.infoset >= 0)
    by_infoset = decisions[np.argsort(tree.infoset[decisions], kind="stable")]
    return WorldArrays(
        first_world=starts(np.bincount(tree.infoset[decisions], minlength=tree.num_actions.size)),
        world_node=by_infoset.astype(np.int32),
        world_weight=find_node_reach(tree).chance[by_infoset],
    )


class TreeISMCTS:
    """Searches on a history tree, each from nothing and independent of all others.

    Paper: Cowling, Powley & Whitehouse 2012, "Information Set Monte Carlo Tree Search", IEEE Transactions on
        Computational Intelligence and AI in Games 4(2), as in Schmid et al. 2021, "Player of Games", arXiv:2112.03178,
        appendix C.4.1 and Table 5 [SG21].
    Symbols: C -> exploration; mvd, mvis, mval -> FinalPolicy.VISITS, MAX_VISITS, MAX_VALUE.
    Departs from the paper: [SG21] prints no listing. As its library (OpenSpiel) has it, an information set that is met
        for the first time is opened and one uniform playout made from it, which counts for none of its actions; untried
        actions come before bounds are compared; players maximise their own returns over statistics of their own
        information sets. Worlds are drawn by chance's probabilities of the histories that are consistent, whatever the
        others would have to have played. Bounds within 1e-5 count as equal and are drawn among; so are equal maxima of
        the final policy, because the paper speaks of choosing one action.
    Checked by: tests/search/test_ismcts.py, tests/kernels/test_ismcts.py.

    >>> from equipoise.games import make_game
    >>> from equipoise.trees import build_history_tree
    >>> tree = build_history_tree(make_game("kuhn"))
    >>> search = TreeISMCTS(tree, ISMCTSConfig(num_simulations=100), rng=np.random.default_rng(0))
    >>> for done in search.search_everywhere():
    ...     pass
    >>> search.strategy().size == tree.size.num_sequences
    True
    """

    def __init__(self, tree: HistoryTree, config: ISMCTSConfig | None = None, *, rng: np.random.Generator) -> None:
        self.tree = tree
        self.config = config or ISMCTSConfig()
        self.kernel = SearchKernel(lay_out_for_sampling(tree), lay_out_worlds(tree))
        sequences = int(tree.sequence_start[-1])
        self.tables = SearchTables(
            visits=np.zeros(sequences),
            return_sum=np.zeros(sequences),
            random_words=np.zeros(4, np.uint64),
        )
        self.reseed(rng)

    def reseed(self, rng: np.random.Generator) -> None:
        """Has what follows drawn from another generator."""
        self.rng = rng
        self.tables.random_words[:] = draw_generator(rng)

    def search(self, infosets: npt.ArrayLike) -> None:
        """Searches from each of some information sets; what an earlier search found there is forgotten."""
        self.kernel.search(
            np.ascontiguousarray(infosets, np.int32),
            self.tables,
            num_simulations=self.config.num_simulations,
            exploration=self.config.exploration,
        )

    def search_everywhere(self) -> Iterator[int]:
        """Searches from every information set of every player; yields, now and then, how many were searched since."""
        num_infosets = self.tree.num_actions.size
        batch = max(1, SIMULATIONS_PER_CALL // self.config.num_simulations)
        for first in range(0, num_infosets, batch):
            last = min(first + batch, num_infosets)
            self.search(np.arange(first, last))
            yield last - first

    def strategy(self, final: FinalPolicy | None = None) -> FloatArray:
        """Returns `[Q]` the play that the searches amount to, uniform where there was none."""
        tree = self.tree
        cells = flatten_ranges(tree.first_sequence, tree.num_actions)
        out = np.ones(int(tree.sequence_start[-1]))
        out[cells] = choose_finally(
            final or self.config.final,
            self.tables.visits[cells],
            self.tables.return_sum[cells],
            tree.num_actions,
            rng=self.rng,
        )
        return out
