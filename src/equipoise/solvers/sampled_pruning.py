# SPDX-License-Identifier: Apache-2.0
"""Negative-regret pruning of external sampling, as data: which actions are left out, when, and how they catch up."""

from __future__ import annotations

import dataclasses
import math
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.games.base import CHANCE, TERMINAL
from equipoise.kernels.calls import MAX_INTEGER
from equipoise.kernels.holdem.sampling import DEAL, FOLD, SHOWDOWN, BettingArrays
from equipoise.kernels.skipping import NO_SKIPPING, SkipKind, Skipping
from equipoise.trees.history import HistoryTree

__all__ = [
    "LIBRATUS",
    "PLURIBUS",
    "REGRET_BASED_SAMPLING",
    "SampledPruning",
    "SkipKind",
    "edge_sequences",
    "prune_betting",
    "prune_tree",
]

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int32]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SampledPruning:
    """Which of the traverser's actions external sampling leaves out because of their regrets.

    Only actions that are played with probability 0 are left out, so values above do not change. What is left out is not
    updated, and neither are the opponents' averages below it: an information set behind such an action keeps the
    average of earlier iterations, which were the worse ones. `is_weighted` makes what is explored stand for what was
    left out: divided by the probability of being explored (COIN, PROBABILISTIC), sampled regrets are unbiased again;
    times the visits missed (REGRET_BASED), they catch up.

    Paper: Brown 2020, thesis sections 6.3 (regret-based sampling of Baby Tartanian8), 6.4 (Libratus) and 6.6 (Pluribus)
        [B20].
    Symbols: C -> threshold; K -> softness; R(a) -> regret_sum; U(I,a), L(I) of section 3.3 -> bounds in `prune_tree`.
    Departs from the paper: thresholds are in payoff ranges of the game, because the text gives no numbers; windows are
        in nodes touched; the weighted forms are ours. Regret-based: the text counts iterations, here the visits in
        which a regret could have risen, each by at most U(I,a) - L(I). What is left out is played with probability 0,
        which the text does not ask for where all regrets of an information set are negative.
    Checked by: tests/solvers/test_sampled_pruning.py, tests/kernels/test_skipping.py.
    """

    kind: SkipKind = SkipKind.NONE
    threshold: float = 0.0  # at most 0, in payoff ranges: actions with regrets below it may be left out
    softness: float = 20.0  # PROBABILISTIC alone, positive, in payoff ranges: half are left out so far below
    probability: float = 0.95  # COIN alone, in [0, 1): share of iterations that leave actions out
    floor: float = -math.inf  # at most the threshold, in payoff ranges: where regrets stop falling
    first_node: int = 0  # nodes touched before actions are left out
    end_node: int = MAX_INTEGER  # nodes touched after which none is: what was missed is made up for
    prunes_last_round: bool = True  # whether actions are left out where no chance move can follow
    prunes_ends: bool = True  # whether actions are left out that end the game
    is_weighted: bool = False  # whether what is explored stands for what was left out

    def __post_init__(self) -> None:
        self.scale(1.0, np.zeros(0, np.uint8), np.zeros(0))

    def scale(self, payoff_range: float, may_skip: npt.NDArray[np.uint8], rise: FloatArray) -> Skipping:
        """Returns the rule in the unit of a game's regrets; checks every number."""
        return Skipping(
            kind=self.kind,
            is_weighted=self.is_weighted,
            threshold=self.threshold * payoff_range,
            softness=self.softness * payoff_range,
            probability=self.probability,
            floor=self.floor * payoff_range,
            first_node=self.first_node,
            end_node=self.end_node,
            may_skip=may_skip,
            rise=rise,
        )


# thresholds of our own, which do no harm in Leduc; larger games gain with less negative ones (docs/methods/mccfr.md)
REGRET_BASED_SAMPLING: Final = SampledPruning(kind=SkipKind.REGRET_BASED)
LIBRATUS: Final = SampledPruning(kind=SkipKind.PROBABILISTIC, threshold=-20.0)
PLURIBUS: Final = SampledPruning(
    kind=SkipKind.COIN,
    threshold=-20.0,
    floor=-20.0 * 31 / 30,  # accounts of Pluribus outside the thesis have -310 and -300 million
    prunes_last_round=False,
    prunes_ends=False,
)


class _Limits(NamedTuple):
    """What actions can lead to."""

    rise: FloatArray  # most that a visit can add to the regret of each
    has_round_below: BoolArray  # a chance move can follow
    is_end: BoolArray  # it ends the game


def _choose(
    pruning: SampledPruning, label: str, payoff_range: float, is_action: BoolArray, limits: _Limits
) -> Skipping:
    """Returns the rule over actions; raises `ConfigError` if it exempts all of them."""
    may_skip = is_action.copy()
    if not pruning.prunes_last_round:
        may_skip &= limits.has_round_below
    if not pruning.prunes_ends:
        may_skip &= ~limits.is_end
    if not may_skip.any():
        raise ConfigError(
            f"nothing would be pruned in {label}: every action ends the game or stands where no chance move follows, "
            "and both are exempt; rbs and libratus prune there too, as prunes_last_round and prunes_ends say"
        )
    return pruning.scale(payoff_range, may_skip.astype(np.uint8), limits.rise)


def edge_sequences(tree: HistoryTree) -> IntArray:
    """Returns `[E]` the sequence that each edge continues, -1 at edges of chance."""
    above = np.repeat(np.arange(tree.actor.size), np.diff(tree.first_edge))
    infoset = tree.infoset[above]
    sequence = tree.first_sequence[infoset] + np.arange(above.size) - tree.first_edge[above]
    return np.where(infoset >= 0, sequence, -1).astype(np.int32)


def prune_tree(pruning: SampledPruning, tree: HistoryTree) -> Skipping:
    """Returns a pruning over the sequences of a tree."""
    if pruning.kind is SkipKind.NONE:
        return NO_SKIPPING
    num_sequences = int(tree.sequence_start[-1])
    sequence = edge_sequences(tree)
    is_decision = sequence >= 0
    is_end = np.ones(num_sequences, np.bool_)
    is_end[sequence[is_decision & (tree.actor[tree.edge_child] != TERMINAL)]] = False
    num_chance = np.concatenate([[0], np.cumsum(tree.actor == CHANCE)])
    has_chance = num_chance[tree.subtree_end] > num_chance[np.arange(tree.actor.size)]  # at or below the node
    has_round_below = np.zeros(num_sequences, np.bool_)
    owner = tree.sequence_infoset()
    infoset_has_round = np.zeros(tree.num_actions.size, np.bool_)
    is_own = tree.infoset >= 0
    np.logical_or.at(infoset_has_round, tree.infoset[is_own], has_chance[is_own])
    is_action = owner >= 0
    has_round_below[is_action] = infoset_has_round[owner[is_action]]
    limits = _Limits(_bound_rises(tree, owner), has_round_below, is_end)
    return _choose(pruning, tree.game_label, tree.utility_range, is_action, limits)


def _bound_rises(tree: HistoryTree, owner: IntArray) -> FloatArray:
    """Returns `[Q]` the largest return below a sequence minus the smallest at its information set, at least 0."""
    num_sequences = owner.size
    high, low = np.full(num_sequences, -np.inf), np.full(num_sequences, np.inf)
    for player in range(tree.num_players):
        np.maximum.at(high, tree.terminal_sequence[player], tree.utility[player])
        np.minimum.at(low, tree.terminal_sequence[player], tree.utility[player])
    smallest = np.zeros(tree.num_actions.size)
    for infoset in reversed(range(tree.num_actions.size)):  # what is below an information set comes after it
        first, above = tree.first_sequence[infoset], tree.parent_sequence[infoset]
        here = slice(first, first + tree.num_actions[infoset])
        smallest[infoset] = low[here].min()
        low[above] = min(low[above], smallest[infoset])
        high[above] = max(high[above], high[here].max())
    rise = np.zeros(num_sequences)
    is_action = owner >= 0
    rise[is_action] = np.maximum(high[is_action] - smallest[owner[is_action]], 0.0)
    return rise


def prune_betting(pruning: SampledPruning, betting: BettingArrays, label: str) -> Skipping:
    """Returns a pruning over the children of a hold'em tree's betting; the range is that of its ends."""
    if pruning.kind is SkipKind.NONE:
        return NO_SKIPPING
    kind, first, count = betting.kind, betting.first_child, betting.num_children
    low, high = (betting.scale * np.where(kind == SHOWDOWN, sign - betting.rake, 1.0) for sign in (-1, 1))
    has_deal = kind == DEAL
    rise, has_round_below = np.zeros(betting.children.size), np.zeros(betting.children.size, np.bool_)
    is_action = np.zeros(betting.children.size, np.bool_)
    for node in reversed(range(kind.size)):  # children come after their parents
        if not count[node]:
            continue
        edges = slice(first[node], first[node] + count[node])
        below = betting.children[edges]
        low[:, node], high[:, node] = low[:, below].min(axis=1), high[:, below].max(axis=1)
        has_deal[node] |= has_deal[below].any()
        if kind[node] < FOLD:
            rise[edges] = np.maximum(high[kind[node], below] - low[kind[node], node], 0.0)
            has_round_below[edges], is_action[edges] = has_deal[node], True
    is_end = np.isin(kind[betting.children], (FOLD, SHOWDOWN))
    payoff_range = float(high[:, 0].max() - low[:, 0].min())
    return _choose(pruning, label, payoff_range, is_action, _Limits(rise, has_round_below, is_end))
