# SPDX-License-Identifier: Apache-2.0
"""Profiles and subgames on public trees.

Values are counterfactual unless said otherwise: those of a player at the root are weighted by `mass`, how likely chance
and the other player come to each private state. Nothing here searches.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.core.formatting import brief_repr
from equipoise.games.base import CHANCE, TERMINAL
from equipoise.kernels.arithmetic import multiply
from equipoise.kernels.frontier import Frontier
from equipoise.kernels.public import PublicKernel
from equipoise.search.beliefs import PublicBelief
from equipoise.search.leaves import LeafEvaluator
from equipoise.search.limits import DepthLimit, Step
from equipoise.search.posing import Standing
from equipoise.search.profiles import Opening, Reply
from equipoise.search.settings import DEFAULT_ITERATIONS, SearchSettings
from equipoise.solvers.best_response import Evaluation, bind_public_kernel, evaluate
from equipoise.trees.history import check_tree
from equipoise.trees.joint import Joint
from equipoise.trees.public import PublicTree
from equipoise.trees.public_edges import find_children, read_policy, relation_matrices, trace_back, write_policy
from equipoise.trees.public_pairs import joint_weights
from equipoise.trees.subtree import Subtree, cut_subtree
from equipoise.trees.vector import Strategy, TreeStrategy

__all__ = ["PublicProfile", "PublicSubgame", "be_there"]

FloatArray = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class PublicSubgame:
    """What is played from a public state on."""

    part: Subtree
    place: int  # node of the whole tree
    beliefs: PublicBelief  # at the root, unnormalised
    strategy: FloatArray  # [C] both players' strategy so far
    kernel: PublicKernel
    frontier: Frontier | None = None  # of a tree that ends before the game does, unless choices stand there
    whole: PublicSubgame | None = None  # to the end of the game, if this one is cut from it

    __repr__ = brief_repr

    @property
    def tree(self) -> PublicTree:
        """Returns the public tree of the subgame."""
        return self.part.tree

    @property
    def reach(self) -> tuple[FloatArray, FloatArray]:
        """Returns `[H]` both players' reaches of the root."""
        return self.beliefs.reach

    def mass(self, player: int) -> FloatArray:
        """Returns `[H]` how likely chance and the other player come to each of a player's private states."""
        return self.beliefs.mass(player)

    def to_rows(self, player: int, values: FloatArray) -> FloatArray:
        """Returns numbers of a player's private states `[H]`, which are in order already."""
        return np.ascontiguousarray(values)

    @property
    def root_reach(self) -> tuple[FloatArray, FloatArray]:
        """Returns `[H]` both players' reaches of the root."""
        return self.beliefs.reach

    def finish(self, sums: FloatArray) -> FloatArray:
        """Returns `[C]` the sums of a run's averages as probabilities."""
        return self.kernel.normalize(sums)

    def end_at(self, limit: DepthLimit, evaluator: LeafEvaluator) -> PublicSubgame:
        """Returns it down to where a limit says, leaves valued by an evaluator."""
        leaves = limit.leaves(self.tree, 0).tolist()
        if not leaves:
            return self
        part = cut_subtree(self.tree, 0, leaves=leaves)
        joint = [self.tree.joint_at(leaf) for leaf in leaves]
        found = [self.tree.states[leaf] for leaf in leaves]
        states = [state.state if isinstance(state, Step) else state for state in found]  # of trees grown from rules
        return dataclasses.replace(
            self,
            part=part,
            strategy=part.restrict(self.strategy),
            kernel=bind_public_kernel(part.tree),
            frontier=bind_leaves(part.tree, part.leaves.tolist(), states, joint, evaluator),
            whole=self,
        )

    def complete(self, found: FloatArray) -> tuple[PublicSubgame, FloatArray]:
        """Returns the subgame to the end of the game, and `[C]` what is played in it once this one was searched."""
        if self.whole is None:
            return self, found
        out = self.whole.strategy.copy()
        self.part.insert(found, out)
        return self.whole, out

    @property
    def num_bytes(self) -> int:
        """Returns about what keeping it and a strategy takes."""
        return self.tree.size.num_bytes + self.strategy.nbytes

    def realize(self, strategy: FloatArray, *, reach: tuple[FloatArray, FloatArray] | None = None) -> FloatArray:
        """Returns `[C]` reaches under a strategy, from the beliefs' reaches at the root or others."""
        root = np.zeros(self.kernel.num_cells)
        for cells, own in zip(self.kernel.root_cells, reach or self.beliefs.reach, strict=True):
            root[cells] = own
        return self.kernel.realize(strategy, root_reach=root)

    def best_values(self, player: int, strategy: FloatArray) -> FloatArray:
        """Returns `[H]` what a player's best response earns at the root against the other's strategy `[C]`."""
        if self.frontier is not None:
            return self._values(strategy, is_best=True)[player]
        reach = self.realize(strategy)
        _, best = self.kernel.best_response(player, reach)
        return self.kernel.strategy_values(player, best, reach)[self.kernel.root_cells[player]]

    def strategy_values(self, player: int, own: FloatArray, strategy: FloatArray) -> FloatArray:
        """Returns `[H]` what a player's own strategy `[C]` earns at the root against the other's strategy `[C]`."""
        if self.frontier is not None:
            return self._values(np.where(self.kernel.is_own(player)[: own.size], own, strategy), is_best=False)[player]
        reach = self.realize(strategy)
        return self.kernel.strategy_values(player, own, reach)[self.kernel.root_cells[player]]

    def _values(self, strategy: FloatArray, *, is_best: bool) -> tuple[FloatArray, ...]:
        reach, leaves = self.beliefs.reach, self.frontier
        return self.kernel.values(strategy, is_best=is_best, root_reach=reach, frontier=leaves)


def bind_leaves(
    tree: PublicTree, leaves: Sequence[int], states: Sequence[Any], joint: Sequence[Joint], evaluator: LeafEvaluator
) -> Frontier:
    """Returns leaves of a tree, valued by an evaluator.

    Args:
        tree: that ends with them.
        leaves: nodes of it.
        states: `[B]` the public states that they are.
        joint: `[B]` chance's weights of pairs there.
        evaluator: what they are worth.
    """
    first, second = ([tree.private_cells(leaf, player) for leaf in leaves] for player in (0, 1))
    return Frontier(evaluator.evaluate, (first, second), states=states, joint=joint)


class _Cuts:
    """What profiles on one tree share: its kernel, its parts with theirs, joint weights."""

    def __init__(self, tree: PublicTree) -> None:
        self.tree = tree
        self._parts: dict[int, tuple[Subtree, PublicKernel]] = {}
        self._joint: dict[int, FloatArray] = {}

    @functools.cached_property
    def kernel(self) -> PublicKernel:
        return bind_public_kernel(self.tree)

    def joint(self, node: int) -> FloatArray:
        if node not in self._joint:
            self._joint[node] = joint_weights(self.tree, node)
        return self._joint[node]

    def part(
        self, node: int, leaves: npt.ArrayLike, without: npt.ArrayLike, landmarks: npt.ArrayLike
    ) -> tuple[Subtree, PublicKernel]:
        """Returns a part and its kernel; those that go on to the end of the game are kept."""
        is_plain = all(np.size(given) == 0 for given in (leaves, without, landmarks))
        if is_plain and node in self._parts:
            return self._parts[node]
        part = cut_subtree(self.tree, node, leaves=leaves, without=without, landmarks=landmarks)
        found = part, bind_public_kernel(part.tree)
        if is_plain:
            self._parts[node] = found
        return found


class PublicProfile:
    """A strategy for a whole public tree, with what searches ask of it again and again.

    >>> from equipoise.games import make_game
    >>> from equipoise.solvers import CFRSolver
    >>> from equipoise.trees import build_public_tree, derive_public_game
    >>> tree = build_public_tree(derive_public_game(make_game("kuhn")))
    >>> solver = CFRSolver(tree)
    >>> solver.iterate(100)
    >>> PublicProfile(tree, solver.average_strategy()).evaluate().exploitability < 0.01
    True
    """

    def __init__(
        self,
        tree: PublicTree,
        strategy: FloatArray,
        *,
        root_reach: tuple[FloatArray, FloatArray] | None = None,
        like: PublicProfile | None = None,
        response: Strategy[int] | None = None,
        part: Subtree | None = None,
        off_tree: npt.ArrayLike = (),
        is_grown: bool = False,
    ) -> None:
        """Keeps a strategy.

        Args:
            tree: of a zero-sum game, or of a part of one.
            strategy: `[C]` both players'.
            root_reach: `[H]` both players' reaches of the root, ones if None: the tree is a whole game.
            like: another profile on the same tree, whose parts and kernels are used again.
            response: what estimates go by, unless they say it themselves.
            part: which part of a larger tree the tree is, if it is one.
            off_tree: nodes of that larger tree which unknown actions lead to, of both players.
            is_grown: whether the tree was grown from rules where a search begins.
        """
        check_tree(tree, PublicTree)
        if not tree.is_zero_sum:
            raise ConfigError(f"search needs a zero-sum game, and {tree.game_label} is not")
        if strategy.shape != tree.legal_share.shape:
            raise ConfigError(
                f"a strategy on {tree.game_label} must have shape {tree.legal_share.shape}, got {strategy.shape}"
            )
        self.tree = tree
        self.strategy = strategy
        self.root_reach, self.response, self.part = root_reach, response, part
        self.is_grown = is_grown
        self.off_tree: npt.NDArray[np.int64] = np.unique(np.asarray(off_tree, np.int64))
        self._best_cfv: dict[int, FloatArray] = {}
        self._response_cfv: dict[int, tuple[Strategy[int], FloatArray]] = {}  # the last response asked for, its values
        self._response: tuple[Strategy[int], FloatArray] | None = None  # the same as a table
        self._beliefs: dict[int, PublicBelief] = {}
        if like is not None and like.tree is not tree:
            raise ConfigError("a profile can only share parts with one on the same tree")
        self._cuts: _Cuts = like._cuts if like is not None else _Cuts(tree)

    @classmethod
    def without(cls, tree: PublicTree, strategy: FloatArray, off_tree: npt.ArrayLike) -> PublicProfile:
        """Returns a strategy `[C]` for a whole tree on the part of it that lacks some actions.

        Args:
            tree: with every action.
            strategy: of both players.
            off_tree: nodes that the actions lead to which strategies do not know.
        """
        part = cut_subtree(tree, 0, without=off_tree)
        return cls(part.tree, part.restrict(strategy), part=part, off_tree=off_tree)

    @property
    def ground(self) -> Subtree:
        """Returns which part of a larger tree the tree is."""
        if self.part is None:
            raise ConfigError(f"the strategy of {self.tree.game_label} is for the whole tree: no action is unknown")
        return self.part

    @property
    def kernel(self) -> PublicKernel:
        """Returns the kernel of the whole tree."""
        return self._cuts.kernel

    @functools.cached_property
    def realization(self) -> FloatArray:
        """Returns `[C]` both players' reaches."""
        if self.root_reach is None:
            return self.kernel.realize(self.strategy)
        root = np.zeros(self.kernel.num_cells)
        for cells, own in zip(self.kernel.root_cells, self.root_reach, strict=True):
            root[cells] = own
        return self.kernel.realize(self.strategy, root_reach=root)

    def evaluate(self) -> Evaluation:
        """Returns the exact quality of the strategy."""
        return evaluate(self.tree, self.strategy, kernel=self.kernel)

    def beliefs(self, node: int) -> PublicBelief:
        """Returns the beliefs at a node."""
        if node not in self._beliefs:
            first, second = (self.realization[self.tree.private_cells(node, player)] for player in (0, 1))
            self._beliefs[node] = PublicBelief(reach=(first, second), joint=self._cuts.joint(node))
        return self._beliefs[node]

    def best_cfv(self, player: int) -> FloatArray:
        """Returns `[C]` values of all cells of a player that responds best everywhere, reached or not."""
        if player not in self._best_cfv:
            _, best = self.kernel.best_response(player, self.realization)
            self._best_cfv[player] = self.kernel.strategy_values(player, best, self.realization)
        return self._best_cfv[player]

    def response_cfv(self, player: int, response: Strategy[int]) -> FloatArray:
        """Returns `[C]` values of all cells of a player that plays a response, which must not change later."""
        known = self._response_cfv.get(player)
        if known is None or known[0] is not response:  # every subgame asks for the same
            known = response, self.kernel.strategy_values(player, self._write(response), self.realization)
            self._response_cfv[player] = known
        return known[1]

    def _write(self, response: Strategy[int]) -> FloatArray:
        """Returns `[C]` a strategy as a table."""
        if self._response is None or self._response[0] is not response:
            if (
                isinstance(response, TreeStrategy)
                and response.tree is self.tree
                and isinstance(response.sums, np.ndarray)
            ):
                table = self.kernel.normalize(np.maximum(response.sums, 0.0))
            else:
                table = self.tree.legal_share.copy()
                for node in np.flatnonzero(self.tree.actor >= 0).tolist():
                    write_policy(self.tree, node, response.probabilities(node), table)
            self._response = response, table
        return self._response[1]

    def copy(self, strategy: Strategy[int], subgame: PublicSubgame) -> FloatArray:
        """Returns `[C]` over a subgame's tree what a strategy for the whole tree does there."""
        return subgame.part.restrict(self._write(strategy))

    def probabilities(self, place: int) -> FloatArray:
        """Returns `[H, A]` what the actor of a node does."""
        return read_policy(self.tree, place, self.strategy)

    def reach(self, place: int) -> tuple[FloatArray, FloatArray]:
        """Returns `[H]` both players' reaches of a node."""
        return self.beliefs(place).reach

    def mass(self, place: int, player: int) -> FloatArray:
        """Returns `[H]` how likely chance and the other player come to each of a player's private states."""
        return self.beliefs(place).mass(player)

    def action_values(
        self,
        place: int,
        player: int,
        *,
        columns: Sequence[int] | None = None,
        response: Strategy[int] | None = None,
    ) -> FloatArray:
        """Returns `[H, A]` what the actions of a player at a decision of its own are worth, given that it is there.

        All of them, whichever are asked for, if the player goes on by a response, its best one if None.
        """
        cfv = self.best_cfv(player) if response is None else self.response_cfv(player, response)
        mass = self.mass(place, player)
        return self.tree.rows_at(cfv, place) / np.where(mass > 0, mass, np.inf)[:, None]

    def final_actions(self, place: int) -> npt.NDArray[np.bool_]:
        """Returns `[H, A]` which actions of a decision end the game at once."""
        tree, player = self.tree, int(self.tree.actor[place])
        is_final = np.ones((int(tree.num_private[place, player]), int(tree.num_actions[place])), np.bool_)
        for child in find_children(tree, place).tolist():
            if tree.actor[child] != TERMINAL:
                entries = slice(*tree.relation_start[2 * child + player : 2 * child + player + 2].tolist())
                is_final[tree.relation_private[entries], tree.relation_action[entries]] = False
        return is_final

    def num_outcomes(self, place: int) -> int:
        """Returns the number of public outcomes of the chance move right above a node, 1 if there is none."""
        above = int(self.tree.parent[place])
        if above < 0 or self.tree.actor[above] != CHANCE:
            return 1
        return int(find_children(self.tree, above).size)

    def subgame(
        self,
        node: int,
        searcher: int | None = None,
        *,
        leaves: npt.ArrayLike = (),
        without: npt.ArrayLike = (),
        landmarks: npt.ArrayLike = (),
    ) -> PublicSubgame:
        """Returns what is played from a node on.

        Args:
            node: of the tree, any at which the game is not over.
            searcher: who is there, with everything if it never comes.
            leaves: nodes of the tree at which it ends early (see `limits`).
            without: nodes of the tree that are left out, with the actions that lead there.
            landmarks: nodes of the tree whose values will be asked for.
        """
        part, kernel = self._cuts.part(node, leaves, without, landmarks)
        beliefs = self.beliefs(node)
        return PublicSubgame(
            part=part,
            place=node,
            beliefs=beliefs if searcher is None else be_there(beliefs, searcher),
            strategy=part.restrict(self.strategy),
            kernel=kernel,
        )

    # --- searches ---

    keeps_better = False

    def step(self, place: int, step: int) -> int | None:
        """Returns the node of its tree that a node of the larger one is; None where it is left out."""
        if self.part is None:
            return step
        below = int(np.searchsorted(self.part.nodes, step))
        return below if below < self.part.nodes.size and self.part.nodes[below] == step else None

    def opens_round(self, place: int) -> bool:
        """Returns whether chance has just moved in public; of a tree that was grown for a search its root does."""
        if place == 0:
            return self.is_grown
        return bool(self.tree.actor[self.tree.parent[place]] == CHANCE)

    def standpoint(self, place: int, searcher: int) -> PublicSubgame:
        """Returns the subgame."""
        return self.subgame(place, searcher)

    def deal(self, place: int, step: Any) -> None:
        """Returns nothing: it goes on to the end of the game."""

    def street_at(self, place: int) -> None:
        """Returns nothing: streets are of hold'em."""

    def prepare(self, settings: SearchSettings) -> PublicProfile:
        """Returns itself; refuses settings that are for hold'em alone."""
        if settings.menu is not None or settings.leaf_choices is not None or settings.streets is not None:
            raise ConfigError(f"menus and choices at leaves are for hold'em, got the tree of {self.tree.game_label}")
        return self

    def num_iterations(self, subgame: PublicSubgame, settings: SearchSettings) -> int:
        """Returns how long a subgame is solved."""
        return settings.iterations or DEFAULT_ITERATIONS

    def open(
        self, place: int, searcher: int, reply: Reply | None, settings: SearchSettings, standing: Standing
    ) -> Opening:
        """Returns what is solved where a search begins; see `Profile.open`."""
        private: npt.NDArray[np.int32] = np.arange(self.tree.num_private[place, 1 - searcher], dtype=np.int32)
        if reply is None:
            return Opening(_limit(self.subgame(place, searcher), settings), private, 0)
        whole, node, beliefs = self.ground.whole, reply.action, be_there(self.beliefs(place), searcher)
        if settings.begins_before:
            part = cut_subtree(whole, int(self.ground.nodes[place]), without=np.setdiff1d(self.off_tree, [node]))
        else:
            part = cut_subtree(whole, node, without=self.off_tree)
            private, _ = trace_back(whole, node, 1 - searcher)
            first, second = (multiply(beliefs.reach[player], _follow_all(whole, node, player)) for player in (0, 1))
            beliefs = PublicBelief(reach=(first, second), joint=joint_weights(whole, node))
        kernel = bind_public_kernel(part.tree)
        subgame = PublicSubgame(part=part, place=place, beliefs=beliefs, strategy=part.tree.legal_share, kernel=kernel)
        return Opening(_limit(subgame, settings), private, int(np.searchsorted(part.nodes, node)))

    def follow(self, subgame: PublicSubgame, strategy: FloatArray, response: FloatArray | None) -> PublicProfile:
        """Returns what is played from where a subgame begins on, `[C]` over its tree, and by what estimates go."""
        part = subgame.part
        if self.part is not None and part.whole is self.tree:
            part = Subtree(
                whole=self.part.whole,
                tree=part.tree,
                nodes=self.part.nodes[part.nodes],
                leaves=part.leaves,
                infosets=self.part.infosets[part.infosets],
                sequences=self.part.sequences[part.sequences],
            )
        return PublicProfile(
            subgame.tree,
            strategy,
            root_reach=subgame.reach,
            response=None if response is None else TreeStrategy(subgame.tree, response),
            part=part,
            off_tree=self.off_tree,
        )

    def surprises(self, opponent: int, place: int) -> Iterator[tuple[int, Reply]]:
        """Yields the nodes at and below one at which the opponent may take an unknown action, with that action."""
        whole, begins, off_tree = self.ground.whole, int(self.ground.nodes[place]), self.off_tree
        below = off_tree[whole.descendants.has(begins, off_tree) & (off_tree != begins)]
        above = whole.parent[below]
        for node in below[np.isin(above, self.ground.nodes) & (whole.actor[above] == opponent)].tolist():
            yield int(np.searchsorted(self.ground.nodes, whole.parent[node])), Reply(node)


def _limit(subgame: PublicSubgame, settings: SearchSettings) -> PublicSubgame:
    """Returns a subgame down to where settings say."""
    if settings.limit is None or settings.leaves is None:
        return subgame
    return subgame.end_at(settings.limit, settings.leaves)


def _follow_all(tree: PublicTree, node: int, player: int) -> FloatArray:
    """Returns how reach flows into a node, its mover's as if everybody took the action that leads there."""
    above = int(tree.parent[node])
    if tree.actor[above] != player:
        return relation_matrices(tree, node, player)
    everybody = np.ones((int(tree.num_private[above, player]), int(tree.num_actions[above])))
    return relation_matrices(tree, node, player, everybody)


def be_there(beliefs: PublicBelief, player: int) -> PublicBelief:
    """Returns beliefs in which a player is there, with everything if it never comes."""
    if beliefs.reach[player].any():
        return beliefs
    own = np.ones(beliefs.reach[player].size)
    first, second = (own, beliefs.reach[1]) if player == 0 else (beliefs.reach[0], own)
    return dataclasses.replace(beliefs, reach=(first, second))
