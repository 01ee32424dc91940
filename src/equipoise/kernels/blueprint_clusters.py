# SPDX-License-Identifier: Apache-2.0
"""Blueprints trained apart by cluster of flops: a head asks about the first street's ends, clusters answer."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

import equipoise._native as _native
from equipoise.core.errors import ConfigError
from equipoise.kernels.arrays import check_array, check_generator, check_range
from equipoise.kernels.blueprints import MAX_REGRET, BlueprintKernel, BlueprintPruning, CardDeals, TrainingCounts
from equipoise.kernels.calls import check_integer

__all__ = ["Questions", "answer", "ask", "learn"]

FLOP = 3  # cards
IntArray = npt.NDArray[np.int32]
ByteArray = npt.NDArray[np.uint8]
FloatArray = npt.NDArray[np.float32]


class Questions(NamedTuple):
    """What a head asks of every cluster: deal, player, node and chips paid where a walk leaves the first street."""

    hole: ByteArray  # [deals, 2 * players] cards
    asked: IntArray  # [questions, 4] in the order of the head's walk
    walks: IntArray  # [walks, 4] for the average, chips unread
    taken: ByteArray  # what others did at the head, for the head alone
    touched: int  # nodes of the first street


def ask(
    kernel: BlueprintKernel,
    deals: CardDeals,
    words: npt.NDArray[np.uint64],
    num_deals: int,
    *,
    first: int = 0,
    walk_every: int = 1,
) -> Questions:
    """Returns what a head asks about deals of hole cards that it draws; walks of the first street add to averages.

    Args:
        kernel: of the head.
        deals: with buckets within a cluster.
        words: `[4]` of a generator, which goes on from where it is.
        num_deals: of them.
        first: how many there were before.
        walk_every: deals from one walk for the average to the next; 0: none.
    """
    check_generator(words)
    check_integer("num_deals", num_deals, 0)
    check_integer("walk_every", walk_every, 0)
    if deals.streets[:2] != [0, 1]:
        raise ConfigError("a hand must begin before the flop and have one")
    settings = kernel.bind_settings(deals, scale=1.0, floor=-MAX_REGRET, pruning=None)
    hole = np.zeros((num_deals, 2 * kernel.num_players), np.uint8)
    every = walk_every if kernel.walked_streets else 0
    with kernel.one_caller:
        asked, walks, taken, touched = _native.ask_clusters(
            kernel.form, deals.form, settings, words, first, every, hole=hole
        )
    return Questions(hole, _as_rows(asked), _as_rows(walks), np.frombuffer(taken, np.uint8), touched)


def _as_rows(content: bytes) -> IntArray:
    return np.frombuffer(content, np.int32).reshape(-1, 4)


def learn(
    kernel: BlueprintKernel, deals: CardDeals, questions: Questions, values: FloatArray, *, scale: float, floor: int
) -> bool:
    """Adds to a head's regrets what its `[questions]` were worth; returns whether a block had no room."""
    check_array("values", values, np.float32, (len(questions.asked),))
    settings = kernel.bind_settings(deals, scale=scale, floor=floor, pruning=None)
    with kernel.one_caller:
        is_full: bool = _native.learn_from_clusters(
            kernel.form, deals.form, settings, hole=questions.hole, taken=questions.taken, values=values
        )
    return is_full


def answer(
    kernel: BlueprintKernel,
    deals: CardDeals,
    flops: ByteArray,
    questions: Questions,
    words: npt.NDArray[np.uint64],
    *,
    scale: float,
    floor: int,
    pruning: BlueprintPruning | None = None,
) -> tuple[FloatArray, IntArray, TrainingCounts]:
    """Returns `[questions]` what their players win on a flop of a cluster, and `[deals]` how many flops it had left.

    The cluster's tables learn from what follows.

    Args:
        kernel: of the cluster.
        deals: with buckets within it.
        flops: `[flops, 3]` all that belong to it, whatever the order of suits.
        questions: a head's.
        words: `[4]` of a generator, which goes on from where it is.
        scale: regret of a chip.
        floor: where regrets stop falling.
        pruning: what is left out; None: nothing.
    """
    check_generator(words)
    check_array("flops", flops, np.uint8, (len(flops), FLOP))
    num_deals, num_nodes = len(questions.hole), len(kernel.betting.nodes)
    check_array("hole", questions.hole, np.uint8, (num_deals, 2 * kernel.num_players))
    for name in ("asked", "walks"):
        rows = getattr(questions, name)
        check_array(name, rows, np.int32, (len(rows), 4))
        for column, end in ((0, num_deals), (1, kernel.num_players), (2, num_nodes)):
            check_range(name, rows[:, column], 0, end)
    settings = kernel.bind_settings(deals, scale=scale, floor=floor, pruning=pruning)
    values, fits = np.zeros(len(questions.asked), np.float32), np.zeros(num_deals, np.int32)
    with kernel.one_caller:
        counts = _native.answer_for_cluster(
            kernel.form,
            deals.form,
            settings,
            words,
            flops=flops,
            hole=questions.hole,
            asked=questions.asked,
            walks=questions.walks,
            values=values,
            fits=fits,
        )
    return values, fits, TrainingCounts(*counts)
