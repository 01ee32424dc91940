# SPDX-License-Identifier: Apache-2.0
"""Stand-ins on which searches are compared: Leduc games whose second round a blueprint sees in buckets of cards."""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt

from equipoise.abstraction.tied import TiedSolver
from equipoise.games.base import CHANCE
from equipoise.games.registry import parse_game
from equipoise.search.subgames import Blueprint
from equipoise.solvers.best_response import evaluate
from equipoise.trees.derive import derive_public_game
from equipoise.trees.public import PublicTree, build_public_tree

__all__ = ["BucketedBlueprint", "SecondRound", "bucket_rows", "make_bucketed_blueprint"]

FloatArray = npt.NDArray[np.float64]


class SecondRound:
    """A Leduc game with suits merged, as a public tree, and the public states that open its second round."""

    def __init__(self, text: str) -> None:
        """Builds the tree of a game as it is typed."""
        game = parse_game(text)
        self.num_ranks, self.num_suits = int(game.spec.parameters["ranks"]), int(game.spec.parameters["suits"])
        self.tree: PublicTree = build_public_tree(derive_public_game(game))
        is_open = (self.tree.actor >= 0) & (self.tree.actor[self.tree.parent] == CHANCE)
        self.uniform = Blueprint(self.tree, self.tree.legal_share)  # its parts serve all blueprints
        self.roots: list[int] = [int(node) for node in np.flatnonzero(is_open) if node]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BucketedBlueprint:
    """A solution of a game's abstraction."""

    blueprint: Blueprint
    last: FloatArray  # [C] the strategies of the last iteration: an estimate of what a best response does
    exploitability: float  # in the whole game


def bucket_rows(game: SecondRound, num_buckets: int, rng: np.random.Generator) -> list[str]:
    """Returns a row's name for every information state: its own in the first round, its bucket's in the second.

    Pairs of a private and a public rank are sorted by how often they win against a random card and cut into buckets of
    random sizes; a bucket is told apart from others by the betting alone, boards are forgotten.
    """
    ranks = sorted({label.split("|")[0] for label in game.tree.infoset_labels}, key="23456789TJQKA".index)
    pairs = [(own, board) for own in range(len(ranks)) for board in range(len(ranks))]
    strength = np.array([_strength(own, board, game.num_ranks, game.num_suits) for own, board in pairs])
    order = np.argsort(strength + 1e-9 * rng.random(strength.size))
    cuts = np.sort(rng.choice(np.arange(1, len(pairs)), num_buckets - 1, replace=False))
    bucket = np.empty(len(pairs), np.int64)
    bucket[order] = np.searchsorted(cuts, np.arange(len(pairs)), side="right")
    number = {pair: int(bucket[index]) for index, pair in enumerate(pairs)}
    rows = []
    for label in game.tree.infoset_labels:
        own, public = label.split("|")
        if "/" not in public:
            rows.append(label)
            continue
        before, after = public.split("/")
        board, betting = after.split(":")
        rows.append(f"{number[ranks.index(own), ranks.index(board)]}|{before}/{betting}")
    return rows


def _strength(own: int, board: int, num_ranks: int, num_suits: int) -> float:
    """Returns how often a rank wins against a random other card, ties counted half."""
    left = [num_suits - (rank == own) - (rank == board) for rank in range(num_ranks)]
    mine = num_ranks if own == board else own
    wins = sum(
        count * (1.0 if mine > theirs else 0.5 if mine == theirs else 0.0)
        for rank, count in enumerate(left)
        for theirs in (num_ranks if rank == board else rank,)
    )
    return wins / sum(left)


def make_bucketed_blueprint(game: SecondRound, num_buckets: int, seed: int, iterations: int) -> BucketedBlueprint:
    """Returns a solution of the game in so many buckets, drawn by a seed."""
    solver = TiedSolver(game.tree, bucket_rows(game, num_buckets, np.random.default_rng(seed)))
    solver.iterate(iterations)
    average = solver.average_strategy()
    return BucketedBlueprint(
        blueprint=Blueprint(game.tree, average, like=game.uniform),
        last=solver.current_strategy(),
        exploitability=evaluate(game.tree, average).exploitability,
    )
