# SPDX-License-Identifier: Apache-2.0
"""Depth-limited search by multi-valued states: at a leaf players choose how the game goes on, among a few strategies.

Payoffs of these choices do not depend on beliefs, so they are computed once a search; the depth-limited subgame is then
an ordinary one. One value a leaf would not do: in rock, paper, scissors every first move is worth the same against an
equilibrium, and a search that sees only that plays anything.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.games.base import ActionClass
from equipoise.games.public import PublicGame
from equipoise.search.gadgets import Unsafe
from equipoise.search.limits import DepthLimit
from equipoise.search.posing import pose
from equipoise.search.public import PublicProfile, PublicSubgame
from equipoise.search.resolving import SubgameSolver
from equipoise.search.settings import DEFAULT_ITERATIONS
from equipoise.solvers.best_response import bind_public_kernel
from equipoise.solvers.rules import Rule
from equipoise.trees.grafting import Choice, attach_choices
from equipoise.trees.public import PublicTree
from equipoise.trees.public_pairs import leaf_payoffs
from equipoise.trees.subtree import cut_subtree

__all__ = ["Continuations", "LeafTable", "bias_continuations", "depth_limited_subgame", "generate_continuations"]

FloatArray = npt.NDArray[np.float64]

BIAS = 10.0  # thesis section 5.2.2
BIASED_CLASSES = (ActionClass.FOLD, ActionClass.CALL, ActionClass.RAISE)


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Continuations:
    """Strategies among which players choose at leaves, each `[C]` over the whole tree.

    Paper: Brown, Sandholm & Amos 2018, "Depth-Limited Solving for Imperfect-Information Games"; Brown 2020, PhD
        thesis, section 5.2.2. With choices of the searcher's own: Pluribus, section 6.6.
    Symbols: sigma_2^1..k -> opponent; sigma_1 -> searcher.
    Departs from the paper: payoffs are exact, from the whole tree.
    Checked by: tests/search/test_multi_valued.py.
    """

    opponent: tuple[FloatArray, ...]
    searcher: tuple[FloatArray, ...]

    def __post_init__(self) -> None:
        if not self.opponent or not self.searcher:
            raise ConfigError("each player needs at least one continuation")


def bias_continuations(
    game: PublicGame[Any], tree: PublicTree, strategy: FloatArray, *, factor: float = BIAS
) -> tuple[FloatArray, ...]:
    """Returns a strategy `[C]` and three that are biased towards folding, calling and raising.

    Args:
        game: says what kind of move an action is; the tree's states are its public states.
        tree: its public tree.
        strategy: of both players.
        factor: by which probabilities of the favoured kind are multiplied before all are normalised.
    """
    kernel = bind_public_kernel(tree)
    found = [strategy]
    for favoured in BIASED_CLASSES:
        weights = np.ones(strategy.size)
        for node in np.flatnonzero(tree.actor >= 0).tolist():
            state = tree.states[node]
            for column, action in enumerate(game.legal_actions(state)):
                if game.action_class(state, action) is favoured:
                    first = tree.table_start[node] + column * tree.stride[node]
                    weights[first : first + tree.stride[node]] = factor
        found.append(kernel.normalize(strategy * weights))
    return tuple(found)


def combine(tree: PublicTree, player: int, own: FloatArray, other: FloatArray) -> FloatArray:
    """Returns `[C]` what a player does in `own` and the other player in `other`."""
    out = other.copy()
    cells = slice(*tree.cells.cell_start[player : player + 2].tolist())  # tables stand player after player
    out[cells] = own[cells]
    return out


class LeafTable:
    """What leaves pay under pairs of continuations, each computed once: later searches ask for most of them again."""

    def __init__(self) -> None:
        """Begins with nothing."""
        self._payoffs: dict[tuple[int, int, int], FloatArray] = {}
        self._continuations: list[FloatArray] = []  # kept, so that no other array gets their identity

    def look_up(
        self, blueprint: PublicProfile, leaf: int, opponent: int, theirs: FloatArray, ours: FloatArray
    ) -> FloatArray:
        """Returns `[H0, H1]` joint weight times what player 0 earns from a leaf on."""
        key = leaf, id(theirs), id(ours)
        if key not in self._payoffs:
            self._continuations += [theirs, ours]
            played = combine(blueprint.tree, opponent, theirs, ours)
            self._payoffs[key] = leaf_payoffs(blueprint.tree, leaf, played)
        return self._payoffs[key]


def depth_limited_subgame(
    blueprint: PublicProfile,
    node: int,
    searcher: int,
    leaves: npt.ArrayLike,
    continuations: Continuations,
    *,
    table: LeafTable | None = None,
) -> PublicSubgame:
    """Returns what is played from a node on down to leaves, where players choose how the game goes on.

    Args:
        blueprint: what was played above.
        node: of its tree.
        searcher: who searches; the other is the opponent of `continuations`.
        leaves: nodes of its tree (see `limits`).
        continuations: what there is to choose from.
        table: payoffs of leaves that earlier searches with the same blueprint have found.
    """
    table = table or LeafTable()
    tree, opponent = blueprint.tree, 1 - searcher
    part = cut_subtree(tree, node, leaves=leaves)
    choices = {}
    for leaf in part.leaves.tolist():
        payoff = [
            [table.look_up(blueprint, int(part.nodes[leaf]), opponent, theirs, ours) for ours in continuations.searcher]
            for theirs in continuations.opponent
        ]
        choices[leaf] = Choice(chooser=opponent, payoff=np.array(payoff))
    grown = attach_choices(part, choices)
    return PublicSubgame(
        part=grown,
        place=node,
        beliefs=blueprint.beliefs(node),
        strategy=grown.restrict(blueprint.strategy),
        kernel=bind_public_kernel(grown.tree),
    )


def generate_continuations(
    blueprint: PublicProfile,
    searcher: int,
    limit: DepthLimit,
    count: int,
    *,
    first: Sequence[FloatArray] = (),
    iterations: int = DEFAULT_ITERATIONS,
    rule: Rule | None = None,
    table: LeafTable | None = None,
) -> tuple[FloatArray, ...]:
    """Returns strategies of the opponent `[C]`, each a best response to a search against those before it.

    The self-generative approach: solve the depth-limited game from its beginning with the continuations so far, let the
    opponent respond best to that (and to the blueprint behind the limit), add the response.

    Args:
        blueprint: of the whole game.
        searcher: who is responded to.
        limit: where searches end.
        count: how many there shall be, the blueprint's own included.
        first: what to begin with; the blueprint's own strategy if nothing.
        iterations: of CFR, for each search.
        rule: CFR+ with linear averaging if None.
        table: payoffs of leaves that earlier calls with the same blueprint have found.
    """
    if count < 1:
        raise ConfigError(f"there must be at least 1 continuation, got {count}")
    found = list(first) or [blueprint.strategy]
    leaves, table = limit.leaves(blueprint.tree, 0), table or LeafTable()
    while len(found) < count:
        subgame = depth_limited_subgame(
            blueprint, 0, searcher, leaves, Continuations(tuple(found), (blueprint.strategy,)), table=table
        )
        solver = SubgameSolver(subgame, pose(blueprint, subgame, searcher, Unsafe()), rule=rule)
        solver.iterate(iterations)
        played = blueprint.strategy.copy()
        subgame.part.insert(solver.average_strategy(), played, players=(searcher,))
        found.append(respond(blueprint, 1 - searcher, played))
    return tuple(found[:count])


def respond(blueprint: PublicProfile, player: int, strategy: FloatArray) -> FloatArray:
    """Returns `[C]` a player's best response, pure, to the other's part of a strategy `[C]`, which is kept."""
    _, best = blueprint.kernel.best_response(player, blueprint.kernel.realize(strategy))
    return combine(blueprint.tree, player, best, strategy)
