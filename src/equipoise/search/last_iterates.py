# SPDX-License-Identifier: Apache-2.0
"""By what estimated alternatives go, from the file of a blueprint: the last iterate, or a response within its buckets.

Paper: Brown 2020, PhD thesis, section 5.1.4.
Departs from the paper: the best response within an abstraction is learnt by sampling; whatever the rule of a run, its
    last iterate is play in proportion to positive regrets.
Checked by: tests/apps/test_search_command.py, tests/agents/test_holdem_search.py.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from equipoise.abstraction.bucketed_strategy import SolvedBuckets
from equipoise.abstraction.solutions import AnySolution
from equipoise.core.errors import ConfigError
from equipoise.kernels.holdem.sampling import RunoutKernel
from equipoise.search.gadgets import Estimate, Method, Unsafe
from equipoise.solvers.best_response import bind_kernel
from equipoise.solvers.holdem.bucketed import Runouts, learn_responses
from equipoise.solvers.holdem.solved_spot import LARGEST_READ_BYTES, SolvedSpot
from equipoise.solvers.solution_file import STATE_PREFIX, SolvedGame, StoredTable
from equipoise.solvers.stopping import Form
from equipoise.trees.cache import load_or_build_history_tree
from equipoise.trees.history import HistoryTree
from equipoise.trees.holdem.bucketed import BucketedTree
from equipoise.trees.holdem.places import HoldemPlace
from equipoise.trees.public import PublicTree
from equipoise.trees.vector import TreeStrategy

__all__ = ["BucketedResponses", "find_response", "needs_response", "play_regrets"]

REGRETS: Final = STATE_PREFIX + "regret_sum"
NUM_LEARNT: Final = 1000  # runouts from which a response in buckets learns
SEED: Final = 0
FloatArray = npt.NDArray[np.float64]


def needs_response(method: Method) -> bool:
    """Returns whether a method's alternatives are estimated by what the blueprint names itself."""
    if isinstance(method, Unsafe) or not isinstance(method.alternatives, Estimate):
        return False
    return method.alternatives.response is None


def find_response(solution: AnySolution, tree: PublicTree | None = None) -> Any:
    """Returns a strategy for the tree of a file's strategy, by what it may be estimated what opponents earn.

    Args:
        solution: open; what it needs of it is read now, but for the boards of large tables.
        tree: of a game's strategy: the public tree on which it is searched.
    """
    if isinstance(solution, SolvedBuckets):
        strategy = solution.strategy
        runouts = Runouts(strategy.tree, RunoutKernel(strategy.tree.arrays))
        rng = np.random.default_rng(SEED)
        return BucketedResponses(strategy.tree, learn_responses(runouts, strategy.sums, rng=rng, num_learnt=NUM_LEARNT))
    if REGRETS not in solution.reader.names:
        raise ConfigError(f"{solution.path} has no regrets: estimates go by the last iterate of a run")
    table = StoredTable(solution.reader, REGRETS)
    if isinstance(solution, SolvedSpot):
        return TreeStrategy(solution.tree, table.read() if table.num_bytes <= LARGEST_READ_BYTES else table)
    assert tree is not None
    return TreeStrategy(tree, _to_public(solution, table.read(), tree))


def _to_public(solution: SolvedGame, regrets: npt.NDArray[Any], tree: PublicTree) -> npt.NDArray[Any]:
    """Returns `[C]` what a run's regrets play, over a public tree."""
    if solution.metadata.get("form") == Form.VECTOR and regrets.shape == tree.legal_share.shape:
        return regrets
    if solution.metadata.get("form") != Form.HISTORY:
        raise ConfigError(f"{solution.path} is a run without a tree: its last iterate is not known everywhere")
    return play_regrets(load_or_build_history_tree(solution.game), regrets, tree)


def play_regrets(history: HistoryTree, regrets: npt.NDArray[Any], tree: PublicTree) -> FloatArray:
    """Returns `[C]` over a public tree what the regrets `[Q]` of the same game's history tree play."""
    return tree.strategy_from_history(history, bind_kernel(history).normalize(np.maximum(regrets, 0.0)))


class BucketedResponses:
    """Each player's response to a strategy in buckets, within the same buckets."""

    def __init__(self, tree: BucketedTree, sums: tuple[npt.NDArray[Any], npt.NDArray[Any]]) -> None:
        """Keeps what hands of a bucket play in proportion to, a table `[C]` for each player."""
        self.tree, self.sums = tree, sums

    def probabilities(self, place: HoldemPlace) -> FloatArray:
        """Returns `[H, A]` by hand of the deck; 0 where the board blocks it."""
        return self.tree.normalize(self.sums[self.tree.actor_at(place)], place.node, place.board)
