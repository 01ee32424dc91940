# SPDX-License-Identifier: Apache-2.0
"""What play by random iterations amounts to: policies of whole playthroughs, averaged, and their exact exploitability.

A playthrough solves every subgame that it can come to, each once, and plays one iteration of it, drawn at random;
what is solved below begins with the beliefs of that iteration. Whoever cannot see the draws meets the average.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Final

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.core.interruption import never
from equipoise.learning.rebel.self_play import BeliefSearcher
from equipoise.responses.forms import SequenceForm
from equipoise.solvers.best_response import Evaluation, evaluate

__all__ = ["AverageSearcher", "PlayedAverage", "PolicySums", "measure_playthroughs", "play_through"]

LEAST_REACH: Final = 1e-12  # of both players together, below which nobody need know what is played
FOLDS: Final = 8  # parts of playthroughs, each judged by a response to the others
DRAWS_AT_ONCE: Final = 4096

FloatArray = npt.NDArray[np.float64]
SingleArray = npt.NDArray[np.float32]
OnProgress = Callable[[float], None]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PolicySums:
    """Policies of playthroughs, added up by how likely their player comes there."""

    sums: FloatArray  # [C] over the cells of the tree's tables
    count: int  # of playthroughs


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class PlayedAverage:
    """How exploitable play by random iterations is.

    `exploitability` is exact for the average of so many playthroughs, and on average above that of play itself, the
    average of infinitely many. Each part of the playthroughs is also met by best responses to the others: what these
    gain is on average below it.
    """

    evaluation: Evaluation  # of the average policy
    playthroughs: int
    lower: float  # mean over parts of what responses to the others gain
    lower_error: float  # standard error of it

    @property
    def exploitability(self) -> float:
        """Returns that of the average policy: the upper end."""
        return self.evaluation.exploitability


class AverageSearcher(BeliefSearcher):
    """Plays the averages of searches and believes them: unsound, for comparison with random iterations."""

    def play(
        self, kind: int, belief: SingleArray, lane: npt.NDArray[np.int32], iteration: npt.NDArray[np.int32]
    ) -> SingleArray:
        """Returns `[D, C]` the averages of searches, whatever is drawn."""
        del iteration
        return self.search(kind, belief, wants_leaves=False, wants_policy=True).policy[lane]


class _Level:
    """Where playthroughs stand: nodes with both players' reach, player by player of the tree."""

    def __init__(self) -> None:
        self.parts: dict[int, list[FloatArray]] = {}

    def add(self, node: int, reach: FloatArray) -> None:
        """Adds playthroughs that stand at a node with reach `[B, 2, width]`; those of no reach are left out."""
        kept = reach[reach.sum(axis=(1, 2)) > LEAST_REACH]
        if len(kept):
            self.parts.setdefault(node, []).append(kept)


def play_through(
    searcher: BeliefSearcher,
    count: int,
    *,
    rng: np.random.Generator,
    on_progress: OnProgress | None = None,
    is_interrupted: Callable[[], bool] = never,
) -> PolicySums:
    """Returns what so many playthroughs play everywhere.

    Paper: Brown 2020, PhD thesis, sections 5.3.4 and 5.3.10.
    Departs from the paper: equal beliefs are solved once; iterations are drawn for each playthrough.
    Checked by: tests/learning/rebel/test_self_play.py, tests/learning/rebel/test_theorems.py.

    Args:
        searcher: solves subgames.
        count: of playthroughs.
        rng: draws iterations.
        on_progress: called with the share done of a level of subgames.
        is_interrupted: asked between searches; what was played so far is returned.
    """
    game = searcher.game
    sums = np.zeros(game.tree.cells.num_table_cells)
    level = _Level()
    level.add(0, np.ones((count, 2, game.width)) * game.is_live[0][:, :])
    while level.parts and not is_interrupted():
        following = _Level()
        by_kind: dict[int, list[int]] = {}
        for node in level.parts:
            by_kind.setdefault(game.kind_at(node), []).append(node)
        for done, (kind, nodes) in enumerate(by_kind.items()):
            if is_interrupted():
                break
            _play_kind(
                searcher, kind, {node: np.concatenate(level.parts[node]) for node in nodes}, sums, following, rng
            )
            if on_progress is not None:
                on_progress((done + 1) / len(by_kind))
        level = following
    return PolicySums(sums=sums, count=count)


def _play_kind(
    searcher: BeliefSearcher,
    kind: int,
    reaches: dict[int, FloatArray],
    sums: FloatArray,
    following: _Level,
    rng: np.random.Generator,
) -> None:
    """Solves the subgames of one kind, adds what is played and passes on who comes to their leaves."""
    game = searcher.game
    weight = game.subgames[kind].arrays.root_weight
    nodes = np.repeat(list(reaches), [len(reach) for reach in reaches.values()])
    places = [[game.first_player_at(node), 1 - game.first_player_at(node)] for node in reaches]
    reach = np.concatenate([own[:, place] for own, place in zip(reaches.values(), places, strict=True)])
    weighted = reach * weight
    mass = weighted.sum(axis=2, keepdims=True)
    belief = np.where(mass > LEAST_REACH, weighted / np.maximum(mass, LEAST_REACH), weight).astype(np.float32)
    unique, lane = np.unique(belief.reshape(len(belief), -1), axis=0, return_inverse=True)
    order = np.argsort(lane.ravel(), kind="stable")
    nodes, reach, lane = nodes[order], reach[order], lane.ravel()[order].astype(np.int32)
    iteration = searcher.draw_iterations(lane.size, rng=rng)
    unique = unique.reshape(-1, 2, game.width)
    begin = 0
    while begin < lane.size:
        # whole lanes at a time, so that no subgame is solved twice
        end = min(begin + DRAWS_AT_ONCE, lane.size)
        end = int(np.searchsorted(lane, lane[end - 1], side="right"))
        first, last = int(lane[begin]), int(lane[end - 1])
        policy = searcher.play(kind, unique[first : last + 1], lane[begin:end] - np.int32(first), iteration[begin:end])
        _add_played(searcher, kind, nodes[begin:end], reach[begin:end], policy, sums, following)
        begin = end


def _add_played(
    searcher: BeliefSearcher,
    kind: int,
    nodes: npt.NDArray[np.int64],
    reach: FloatArray,
    policy: SingleArray,
    sums: FloatArray,
    following: _Level,
) -> None:
    game, subgame = searcher.game, searcher.game.subgames[kind]
    arrays = subgame.arrays
    tables = [slice(table, table + hands * actions) for _, _, _, table, hands, actions in arrays.decisions.tolist()]
    cells = subgame.spread(reach, lambda number, _: policy[:, tables[number]])
    played = np.zeros(policy.shape)
    for number, (place, _, action, _, hands, actions) in enumerate(arrays.decisions.tolist()):
        played[:, tables[number]] = cells[place][:, action : action + hands * actions]
    for root in np.unique(nodes).tolist():
        is_here = nodes == root
        sums[game.table_cells(root)] += played[is_here].sum(axis=0)
        first = game.first_player_at(root)
        for leaf, starts in zip(game.nodes_of(root)[1].tolist(), arrays.leaf_cell.tolist(), strict=True):
            there = np.zeros((int(is_here.sum()), 2, game.width))
            for place in (0, 1):
                player = first if place == 0 else 1 - first
                hands = int(game.tree.num_private[leaf, player])
                there[:, player, :hands] = cells[place][is_here, starts[place] : starts[place] + hands]
            following.add(leaf, there)


def measure_playthroughs(
    searcher: BeliefSearcher,
    count: int,
    *,
    rng: np.random.Generator,
    on_progress: OnProgress | None = None,
    is_interrupted: Callable[[], bool] = never,
) -> PlayedAverage:
    """Returns how exploitable play by random iterations is, over so many playthroughs.

    Args:
        searcher: solves subgames.
        count: of playthroughs.
        rng: draws iterations.
        on_progress: called with the share done.
        is_interrupted: asked between searches; parts that are whole by then count.
    """
    if count < 1:
        raise ConfigError(f"playthroughs must be at least 1, got {count}")
    tree = searcher.game.tree
    form = SequenceForm(tree)
    num_folds = min(FOLDS, count)
    sizes = [count // num_folds + (fold < count % num_folds) for fold in range(num_folds)]
    parts: list[PolicySums] = []
    for fold, size in enumerate(sizes):
        part = play_through(searcher, size, rng=rng, is_interrupted=is_interrupted)
        if is_interrupted() and parts:
            break
        parts.append(part)
        if on_progress is not None:
            on_progress((fold + 1) / num_folds)
    total = np.sum([part.sums for part in parts], axis=0)
    whole = evaluate(tree, form.play(total), kernel=form.kernel)
    gains = [_held_out(form, total - part.sums, part.sums) for part in parts] if len(parts) > 1 else [0.0]
    error = float(np.std(gains, ddof=1) / np.sqrt(len(gains))) if len(gains) > 1 else 0.0
    return PlayedAverage(
        evaluation=whole,
        playthroughs=sum(part.count for part in parts),
        lower=float(np.mean(gains)),
        lower_error=error,
    )


def _held_out(form: SequenceForm, others: FloatArray, own: FloatArray) -> float:
    """Returns what best responses to some playthroughs gain on others, averaged over players."""
    answered, met = form.play(others), form.play(own)
    gains = [form.value(form.combine(met, form.answer(answered, seat)[1], seat), seat) for seat in (0, 1)]
    return sum(gains) / len(gains)
