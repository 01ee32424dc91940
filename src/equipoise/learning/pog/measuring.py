# SPDX-License-Identifier: Apache-2.0
"""How exploitable play by search is, exactly: strategies composed of a search at every decision, seed by seed."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.core.interruption import never
from equipoise.games.public import PublicGame
from equipoise.search.continual import ContinualSearch, ContinualSettings
from equipoise.solvers.best_response import Evaluation, bind_public_kernel, evaluate
from equipoise.trees.public import PublicTree
from equipoise.trees.public_edges import find_children, write_policy

__all__ = ["compose", "measure_composed"]

FloatArray = npt.NDArray[np.float64]


def compose(
    form: PublicGame[Any],
    tree: PublicTree,
    settings: ContinualSettings,
    *,
    on_progress: Callable[[float], None] | None = None,
    is_interrupted: Callable[[], bool] = never,
) -> FloatArray | None:
    """Returns `[C]` what both players' chains of searches play at every decision, None if it was interrupted.

    Args:
        form: what is played.
        tree: all of it.
        settings: how decisions are searched.
        on_progress: called with the share of decisions done.
        is_interrupted: asked before every decision.
    """
    chains = [ContinualSearch(form, seat, settings) for seat in (0, 1)]
    strategy = np.array(tree.legal_share)
    decisions = np.flatnonzero(np.asarray(tree.actor) >= 0).tolist()
    paths = _find_paths(tree)
    for done, node in enumerate(decisions):
        if is_interrupted():
            return None
        write_policy(tree, node, chains[int(tree.actor[node])].policy_at(paths[node]), strategy)
        if on_progress is not None:
            on_progress((done + 1) / len(decisions))
    return strategy


def _find_paths(tree: PublicTree) -> dict[int, tuple[int, ...]]:
    """Returns the edges that lead to each node."""
    paths: dict[int, tuple[int, ...]] = {0: ()}
    waiting = [0]
    while waiting:
        node = waiting.pop()
        for edge, child in enumerate(find_children(tree, node).tolist()):
            paths[child] = (*paths[node], edge)
            waiting.append(child)
    return paths


def measure_composed(
    form: PublicGame[Any],
    tree: PublicTree,
    settings: ContinualSettings,
    seeds: Sequence[int],
    *,
    on_progress: Callable[[float], None] | None = None,
    is_interrupted: Callable[[], bool] = never,
) -> tuple[Evaluation, ...]:
    """Returns the exact values of composed strategies, one for each seed of walks; those so far if interrupted.

    Paper: Schmid et al. 2021, "Player of Games", arXiv:2112.03178, section 4.1 and Figure 7.
    Departs from the paper: nothing.
    Checked by: tests/learning/pog/test_measuring.py.
    """
    if not seeds:
        raise ConfigError("searches are measured under at least one seed, got none")
    kernel, found = bind_public_kernel(tree), list[Evaluation]()
    for done, seed in enumerate(seeds):
        strategy = compose(
            form,
            tree,
            dataclasses.replace(settings, seed=seed),
            on_progress=None if on_progress is None else _Part(on_progress, done, len(seeds)),
            is_interrupted=is_interrupted,
        )
        if strategy is None:
            break
        found.append(evaluate(tree, strategy, kernel=kernel))
    return tuple(found)


@dataclasses.dataclass(frozen=True, slots=True)
class _Part:
    """Progress of one of several like parts."""

    tell: Callable[[float], None]
    done: int
    count: int

    def __call__(self, share: float) -> None:
        self.tell((self.done + share) / self.count)
