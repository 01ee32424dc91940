# SPDX-License-Identifier: Apache-2.0
"""Stand-ins on which searches are compared: games of two rounds, the second of which a blueprint sees in buckets.

Leduc games with suits merged, and hold'em with a reduced deck that ends on the flop, merged by suits as well.
"""

from __future__ import annotations

import copy
import dataclasses
import enum
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from equipoise.abstraction.kmeans import cluster
from equipoise.abstraction.tied import TiedSolver
from equipoise.core.errors import ConfigError
from equipoise.games.base import CHANCE, ActionClass
from equipoise.games.holdem.merged_suits import SuitMergedHoldem
from equipoise.games.holdem.rules import Holdem
from equipoise.games.leduc import Leduc
from equipoise.games.public import PublicGame
from equipoise.games.registry import parse_game
from equipoise.kernels.buckets import find_nearest
from equipoise.search.public import PublicProfile
from equipoise.solvers.best_response import evaluate
from equipoise.trees.derive import derive_public_game
from equipoise.trees.public import PublicTree, build_public_tree
from equipoise.trees.public_edges import trace_back

__all__ = [
    "ALL_IN",
    "MIDDLE",
    "STAND_INS",
    "BucketedBlueprint",
    "Bucketing",
    "SecondRound",
    "assign_buckets",
    "bucket_rows",
    "describe_games",
    "draw_all_bucketings",
    "draw_bucketings",
    "find_sizes",
    "holdem_with_three_bets",
    "leduc_with_three_bets",
    "make_public_game",
    "parse_bucketing",
    "round_value",
    "solve_in_buckets",
]

STAND_INS: Final = {  # by the names that studies call them
    "leduc-6": "leduc(ranks=6,merge_suits=true)",
    "leduc-6-nolimit": (
        "leduc(ranks=6,merge_suits=true,sizing=pot,first_sizes=0.5,second_sizes=0.5,1,stack=40,max_raises=2)"
    ),
    # no-limit hold'em with 9, 12, 16 and 12 cards, twenty big blinds and a showdown after the flop
    "flop-least": "holdem(deck=QKA/cdh,last_street=flop,stacks=2000,2000,menu=100%,max_raises=1,1)",
    "flop-tiny": "holdem(deck=QKA/cdhs,last_street=flop,stacks=2000,2000,menu=100%,max_raises=1,2)",
    "flop-small": "holdem(deck=JQKA/cdhs,last_street=flop,stacks=2000,2000,menu=100%,max_raises=2,2)",
    "flop-large": "holdem(deck=JQKA/cdh,last_street=flop,stacks=2000,2000,menu=50%,100%,max_raises=2,2)",
}
NUM_SIZES: Final = 3  # of games with an unknown bet: half, three quarters of and the whole pot
MIDDLE: Final = 1  # the unknown one
ALL_IN: Final = NUM_SIZES
MOST_LLOYD_ITERATIONS: Final = 100
SEEDS_TRIED: Final = 25  # for every bucketing that is wanted

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
Pair = tuple[str, str]  # what a player holds and the board, as information states are written


class Bucketing(enum.StrEnum):
    """How pairs of a holding and a board are put into buckets."""

    CUTS = "cuts"  # in the order of their strength, cut at random
    KMEANS = "kmeans"  # k-means of their strength from a random start


def parse_bucketing(text: str) -> Bucketing:
    """Returns the bucketing of that name."""
    if text not in {str(kind) for kind in Bucketing}:
        raise ConfigError(f"bucketing must be {' or '.join(Bucketing)}, got {text!r}")
    return Bucketing(text)


def describe_games(names: Sequence[str]) -> tuple[str, ...]:
    """Returns a line for each stand-in among some games, with its parameters."""
    return tuple(f"{name} is {STAND_INS[name]}." for name in names if name in STAND_INS)


def make_public_game(text: str) -> PublicGame[Any]:
    """Returns the public form of a stand-in or of a game as it is typed; hold'em is merged by suits."""
    game = parse_game(STAND_INS.get(text, text))
    return SuitMergedHoldem(game) if isinstance(game, Holdem) else derive_public_game(game)


def leduc_with_three_bets(ranks: int, max_raises: int) -> str:
    """Returns Leduc with bets of half, three quarters of and the whole pot, deep enough for every line."""
    return (
        f"leduc(ranks={ranks},first_sizes=0.5,0.75,1,second_sizes=0.5,0.75,1,sizing=pot,merge_suits=true,"
        f"stack={10 * 4 ** (2 * max_raises)},max_raises={max_raises})"
    )


def holdem_with_three_bets(deck: str, first_raises: int, flop_raises: int) -> str:
    """Returns hold'em that ends on the flop with the same bets, raised so often before it and on it, deep enough."""
    return (
        f"holdem(deck={deck},last_street=flop,stacks=200000,200000,menu=50%,75%,100%,"
        f"max_raises={first_raises},{flop_raises})"
    )


def find_sizes(game: PublicGame[Any], tree: PublicTree) -> IntArray:
    """Returns `[N]` which of the three bets leads to each node, `ALL_IN` where that does, -1 elsewhere."""
    sizes = np.full(tree.actor.size, -1)
    for node in range(1, tree.actor.size):
        above = int(tree.parent[node])
        actor = int(tree.actor[above])
        if actor < 0:
            continue
        state, names = tree.states[above], tree.action_labels[above]
        actions = game.legal_actions(state)
        raises = [
            column for column, action in enumerate(actions) if game.action_class(state, action) is ActionClass.RAISE
        ]
        bets = [column for column in raises if names[column] != "all-in"]
        if raises and len(bets) != NUM_SIZES:
            raise ConfigError(
                f"{tree.game_label} must offer {NUM_SIZES} bets or none beside all-in, it offers {len(bets)} at "
                f"{tree.public_labels[above]!r}"
            )
        column = int(trace_back(tree, node, actor)[1][0])
        if column in raises:
            sizes[node] = bets.index(column) if column in bets else ALL_IN
    return sizes


class SecondRound:
    """A game of two rounds as a public tree, and the public states that open the second one."""

    def __init__(self, text: str) -> None:
        """Builds the tree of a stand-in or of a game as it is typed."""
        self.form = form = make_public_game(text)
        self._take(build_public_tree(form))
        game = parse_game(STAND_INS.get(text, text))
        if isinstance(form, SuitMergedHoldem):
            self.strengths, self.weights = self._holdem_strengths(form)
        elif isinstance(game, Leduc):
            self.strengths = _leduc_strengths(game)
            self.weights = dict.fromkeys(self.strengths, 1.0)
        else:
            raise ConfigError(f"blueprints in buckets are of leduc or hold'em, got {text!r}")

    def _take(self, tree: PublicTree) -> None:
        self.tree = tree
        is_open = (tree.actor >= 0) & (tree.actor[tree.parent] == CHANCE)
        self.uniform = PublicProfile(tree, tree.legal_share)  # its parts serve all blueprints
        self.roots: list[int] = [int(node) for node in np.flatnonzero(is_open) if node]

    def on(self, tree: PublicTree) -> SecondRound:
        """Returns the same cards on another tree of the game, one without some of its bets: buckets serve both."""
        other = copy.copy(self)
        other._take(tree)
        return other

    def _holdem_strengths(self, form: SuitMergedHoldem) -> tuple[dict[Pair, float], dict[Pair, float]]:
        """Returns how often every pair wins a showdown, and how often it comes up if everybody stays."""
        strengths: dict[Pair, float] = {}
        weights: dict[Pair, float] = {}
        by_board: dict[object, Any] = {}
        for root in self.roots:  # what is dealt does not depend on the betting
            by_board.setdefault(self.tree.states[root].board, self.tree.states[root])
        for state in by_board.values():
            found, joint = form.strengths(state.board), form.joint_weights(state).sum(axis=1)
            for private in range(found.size):
                own, _, board, _ = _parse_label(form.infostate(state, 0, private))
                strengths[own, board], weights[own, board] = float(found[private]), float(joint[private])
        return strengths, weights


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BucketedBlueprint:
    """A solution of a game's abstraction."""

    blueprint: PublicProfile
    last: FloatArray  # [C] the strategies of the last iteration: an estimate of what a best response does
    exploitability: float  # in the whole game


def assign_buckets(
    game: SecondRound, num_buckets: int, rng: np.random.Generator, bucketing: Bucketing = Bucketing.CUTS
) -> IntArray:
    """Returns the bucket of every pair of `game.strengths`, in its order; stronger ones have higher numbers."""
    pairs = list(game.strengths)
    if not 1 <= num_buckets < len(pairs):
        raise ConfigError(f"buckets of {game.tree.game_label} must be from 1 to {len(pairs) - 1}, got {num_buckets}")
    strength = np.array(list(game.strengths.values()))
    if bucketing is Bucketing.KMEANS:
        points = strength.astype(np.float32)[:, None]
        weights = np.array([game.weights[pair] for pair in pairs])
        found = cluster(points, weights, num_buckets, max_iterations=MOST_LLOYD_ITERATIONS, rng=rng)
        return find_nearest(points, found.centroids)[0].astype(np.int64)
    order = np.argsort(strength + 1e-9 * rng.random(strength.size))
    cuts = np.sort(rng.choice(np.arange(1, len(pairs)), num_buckets - 1, replace=False))
    bucket = np.empty(len(pairs), np.int64)
    bucket[order] = np.searchsorted(cuts, np.arange(len(pairs)), side="right")
    return bucket


def draw_bucketings(
    game: SecondRound,
    num_buckets: int,
    count: int,
    bucketing: Bucketing = Bucketing.CUTS,
    *,
    seen: set[bytes] | None = None,
) -> Iterator[IntArray]:
    """Yields bucketings that differ from each other, from the seeds 0, 1, 2, ...

    Few pairs of cards differ in strength, and many seeds then find the same buckets: counted as blueprints of their
    own, they would make a sign test too sure.

    Args:
        game: whose cards are put into buckets.
        num_buckets: at most so many.
        count: how many bucketings are wanted.
        bucketing: how pairs are put into buckets.
        seen: those that they must differ from as well; what is yielded is added.
    """
    seen = set() if seen is None else seen
    wanted = len(seen) + count
    for seed in range(SEEDS_TRIED * count):
        bucket = assign_buckets(game, num_buckets, np.random.default_rng(seed), bucketing)
        _, first, number = np.unique(bucket, return_index=True, return_inverse=True)
        key = np.argsort(np.argsort(first))[number].tobytes()  # numbers are only names
        if key not in seen:
            seen.add(key)
            yield bucket
        if len(seen) == wanted:
            return
    raise ConfigError(
        f"{SEEDS_TRIED * count} seeds find {count + len(seen) - wanted} different bucketings of "
        f"{game.tree.game_label} into {num_buckets}, {count} are wanted"
    )


def draw_all_bucketings(
    game: SecondRound, numbers: Sequence[int], count: int, bucketing: Bucketing
) -> Iterator[tuple[int, int, IntArray]]:
    """Yields so many bucketings of each number of buckets: the number, which of them it is, and the buckets."""
    seen: set[bytes] = set()
    for num_buckets in numbers:
        for index, bucket in enumerate(draw_bucketings(game, num_buckets, count, bucketing, seen=seen)):
            yield num_buckets, index, bucket


def bucket_rows(game: SecondRound, bucket: IntArray) -> list[str]:
    """Returns a row's name for every information state: its own in the first round, its bucket's in the second.

    A bucket is told apart from others by the betting alone, boards are forgotten.
    """
    number = dict(zip(game.strengths, bucket.tolist(), strict=True))
    rows = []
    for label in game.tree.infoset_labels:
        own, before, board, betting = _parse_label(label)
        rows.append(f"{number[own, board]}|{before}/{betting}" if board else label)
    return rows


def _parse_label(label: str) -> tuple[str, str, str, str]:
    """Returns what the player holds, the first round's betting, the board and the second round's betting."""
    own, public = label.split("|")
    before, _, after = public.partition("/")
    board, _, betting = after.partition(":")
    return own, before, board, betting


def _leduc_strengths(game: Leduc) -> dict[Pair, float]:
    """Returns how often every pair of ranks wins against a random other card, ties counted half."""
    names = ("23456789TJQKA" if game.ranks == 13 else "23456789TJQK")[-game.ranks :]
    return {
        (own_name, board_name): _leduc_strength(own, board, game.ranks, game.suits)
        for own, own_name in enumerate(names)
        for board, board_name in enumerate(names)
    }


def _leduc_strength(own: int, board: int, num_ranks: int, num_suits: int) -> float:
    left = [num_suits - (rank == own) - (rank == board) for rank in range(num_ranks)]
    mine = num_ranks if own == board else own
    wins = sum(
        count * (1.0 if mine > theirs else 0.5 if mine == theirs else 0.0)
        for rank, count in enumerate(left)
        for theirs in (num_ranks if rank == board else rank,)
    )
    return wins / sum(left)


def solve_in_buckets(game: SecondRound, bucket: IntArray, iterations: int) -> BucketedBlueprint:
    """Returns a solution of the game in which pairs of a bucket are not told apart."""
    solver = TiedSolver(game.tree, bucket_rows(game, bucket))
    solver.iterate(iterations)
    average = solver.average_strategy()
    return BucketedBlueprint(
        blueprint=PublicProfile(game.tree, average, like=game.uniform),
        last=solver.current_strategy(),
        exploitability=evaluate(game.tree, average).exploitability,
    )


def round_value(value: float | None) -> float | None:
    """Returns a number to four digits, as points of studies keep it."""
    return None if value is None else float(f"{value:.4g}")
