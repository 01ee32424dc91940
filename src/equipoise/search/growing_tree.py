# SPDX-License-Identifier: Apache-2.0
"""Growing-tree CFR: sweeps over the part of a public tree that is there, and walks that say where it should grow.

The tree begins with a public state and what follows it; leaves are worth what an evaluator says for the reaches of
each sweep. Any `PublicGame` will do: with one private state each it is a game of perfect information.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Hashable, Sequence
from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.core.formatting import settings_repr
from equipoise.games.base import TERMINAL
from equipoise.kernels.frontier import BeliefBatch, LeafValues
from equipoise.kernels.gates import RootGate
from equipoise.kernels.growing import GrowingArena, Opening, Watched
from equipoise.kernels.public_nets import GrowingRun, RunBudget
from equipoise.search.beliefs import PublicBelief
from equipoise.search.leaves import LeafEvaluator
from equipoise.search.net_leaves import NetLeaves, RunBook
from equipoise.search.rule_book import Children, RuleBook
from equipoise.solvers.rules import CFRPlus, Rule, tabulate_discounts
from equipoise.trees.joint import DenseJoint

__all__ = ["GrowingTree", "Growth", "Query", "RuleBook"]

FloatArray = npt.NDArray[np.float64]
Path = tuple[int, ...]
NOWHERE: Final = -1


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """How far a tree grows and how: PoG(s, c) of the paper is `Growth(simulations=s, per_sweep=c)`.

    >>> Growth(simulations=400)
    Growth(simulations=400)
    """

    simulations: int = 100  # s: walks in all
    per_sweep: float = 1.0  # c: walks for each sweep; below 1, sweeps for each walk are its inverse
    exploration: float = 1.0  # weight of the prior against values in walks
    share_of_values: float = 0.5  # of a walk's decisions by value and prior; the others are the strategy's
    first_children: int | None = None  # k: actions that a leaf gets; None: as many as private states, 0: all
    uses_prior: bool = True  # whether the evaluator's policies, if it has any, weigh actions in walks
    is_alternating: bool = False  # whether a sweep updates one player after the other
    has_last_sweep: bool = False  # one more sweep, so that the last walk's nodes are part of one
    rule: Rule = dataclasses.field(default_factory=lambda: CFRPlus(gamma=1.0))

    __repr__ = settings_repr

    def __post_init__(self) -> None:
        if self.simulations < 0:
            raise ConfigError(f"simulations must be at least 0, got {self.simulations}")
        if not 0 < self.per_sweep < math.inf:
            raise ConfigError(f"walks for each sweep must be above 0 and finite, got {self.per_sweep}")
        if not 0 <= self.share_of_values <= 1:
            raise ConfigError(f"share of decisions by value must be between 0 and 1, got {self.share_of_values}")
        if not 0 <= self.exploration < math.inf:
            raise ConfigError(f"exploration must be finite and at least 0, got {self.exploration}")
        if self.first_children is not None and self.first_children < 0:
            raise ConfigError(f"children of a leaf must be at least 0, got {self.first_children}")

    @property
    def rounds(self) -> tuple[int, int, int]:
        """Returns how many rounds there are, and sweeps and walks of each.

        >>> Growth(simulations=10, per_sweep=0.1).rounds, Growth(simulations=100, per_sweep=10).rounds
        ((10, 10, 1), (10, 1, 10))
        """
        if self.per_sweep < 1:
            return self.simulations, round(1 / self.per_sweep), 1
        walks = round(self.per_sweep)
        return math.ceil(self.simulations / walks), 1, walks


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Query:
    """Beliefs about which an evaluator was asked."""

    state: Any
    reach: tuple[FloatArray, FloatArray]  # [H]


class GrowingTree:
    """A public tree that grows while it is solved.

    Paper: Schmid et al. 2021, "Player of Games", arXiv:2112.03178 [SG21], section 3.2 (GT-CFR), Algorithm 1.
    Symbols: s, c -> `Growth.simulations`, `per_sweep`; k -> `first_children`; L -> the tree; f_theta -> evaluator.
    Departs from the paper: loops are counted so that there are s walks and s/c sweeps in all (as printed, c below 1
        gives more of both); an action may be played once all that it can lead to is there; all outcomes of chance are
        added at once; leaves get enough actions that every private state has one.
    Checked by: tests/search/test_growing_tree.py.

    >>> from equipoise.games import PerfectInformationGame, make_game
    >>> from equipoise.search.leaves import ZeroLeaves
    >>> form = PerfectInformationGame(make_game("tic_tac_toe"))
    >>> belief = PublicBelief(reach=(np.ones(1), np.ones(1)), joint=np.ones((1, 1)))
    >>> rules, growth, rng = RuleBook(form), Growth(simulations=20, first_children=1), np.random.default_rng(0)
    >>> tree = GrowingTree(rules, form.initial_state(), belief, ZeroLeaves(), growth=growth, rng=rng)
    >>> _ = tree.grow()
    >>> tree.num_sweeps, len(tree.states)  # the root, what follows it, and one public state for each walk
    (20, 30)
    """

    def __init__(
        self,
        rules: RuleBook,
        state: Any,
        belief: PublicBelief,
        evaluator: LeafEvaluator,
        *,
        growth: Growth,
        rng: np.random.Generator,
        focus: Path = (),
        gate: RootGate | None = None,
        keeps_queries: bool = False,
        watched: Watched | None = None,
    ) -> None:
        """Begins with a public state, the way to the one that the search is about, and all that follows both.

        Args:
            rules: of the game.
            state: where the tree begins.
            belief: both players' reaches there.
            evaluator: what leaves are worth; its prior, if it has one, weighs actions in walks.
            growth: how far and how the tree grows.
            rng: seeds the walks.
            focus: edges from the first state to the one that the search is about.
            gate: through which the opponent enters.
            keeps_queries: whether all that the evaluator is asked is remembered.
            watched: what values will be asked for below that state; None: those of the first state alone.
        """
        self.rules, self.evaluator, self.growth, self.gate = rules, evaluator, growth, gate
        self.arena = GrowingArena(growth.rule.kernel)
        self._states: list[Any] = []  # [N]
        self._node: dict[Path, int] = {}
        self.queries: list[Query] = []
        self.num_sweeps = self.num_walks = self.num_asked = 0
        self._paths: list[Path] = []
        self._priors: dict[int, FloatArray] = {}  # of leaves, as last said
        self._new_points: list[int] = []  # leaves with one private state each that have no values yet
        self._keeps_queries = keeps_queries
        self._book: RunBook | None = None
        if isinstance(evaluator, NetLeaves) and not keeps_queries:
            self._book = evaluator.book(rules)
        self._words = rng.integers(1, 2**63, 4, dtype=np.uint64)
        self._scale = 2.0 / max(rules.game.spec.utility_range, 1e-300)
        self._buffers = _Buffers()
        self._add(state, ())
        for player in (0, 1):
            self.arena.set_reach(player, np.ascontiguousarray(belief.reach[player], np.float64))
        if gate is not None:
            self.arena.set_reach(gate.player, gate.reach)
        for length in range(len(focus)):
            self._expand_whole(self.node[focus[:length]])
        self.start = self.node[focus]
        if watched is not None:
            self.arena.set_focus(self.start, watched)
        self._expand_whole(self.start)

    @property
    def states(self) -> list[Any]:
        """Returns `[N]` the public state of each node."""
        self._catch_up()
        return self._states

    @property
    def node(self) -> dict[Path, int]:
        """Returns nodes by the edges that lead to them from the first state."""
        self._catch_up()
        return self._node

    def grow(self, *, num_queries: int = 0, rng: np.random.Generator | None = None) -> list[Query]:
        """Sweeps and walks as often as `Growth` says.

        Args:
            num_queries: of what a network is asked within the core, to be returned; each is as likely to be drawn.
            rng: draws them; by default what the tree was made with decides.
        """
        if self._book is not None:
            return self._grow_in_core(self._book, num_queries, rng)
        num_rounds, sweeps, walks = self.growth.rounds
        for _ in range(num_rounds):
            for _ in range(sweeps):
                self.sweep()
            for _ in range(min(walks, self.growth.simulations - self.num_walks)):
                self.walk()
            self.arena.end_walks()
        if self.growth.has_last_sweep or not self.num_sweeps:
            self.sweep()
        return []

    def _grow_in_core(self, book: RunBook, num_queries: int, rng: np.random.Generator | None) -> list[Query]:
        """Does the same in one call of the core, but for public states of which it is not known what follows."""
        growth, net = self.growth, self.evaluator
        assert isinstance(net, NetLeaves)
        children = -1 if growth.first_children is None else growth.first_children
        flags = growth.is_alternating, growth.has_last_sweep, growth.uses_prior
        weights = growth.exploration, growth.share_of_values, self._scale
        budget = RunBudget(growth.rounds, growth.simulations, *flags, children, *weights)
        rounds, sweeps, _ = growth.rounds
        run = GrowingRun(
            self.arena,
            book.pages,
            net.kernel,
            budget,
            start=self.start,
            discounts=_tabulate(cast("Hashable", growth.rule), max(1, rounds * sweeps + growth.has_last_sweep)),
            random_words=self._words,
            num_queries=num_queries,
            query_words=None if rng is None else rng.integers(1, 2**63, 4, dtype=np.uint64),
            gate=self.gate,
        )
        while (missing := run.go_on()) is not None:
            book.look_up(*missing)
        self.num_sweeps, self.num_walks, self.num_asked = run.counts
        return [Query(book.states[number], reach) for number, reach in run.queries()]

    def _catch_up(self) -> None:
        """Finds out what nodes are that were added within the core."""
        book = self._book
        for number in range(len(self._states), self.arena.num_nodes):
            assert book is not None, "only runs within the core add nodes by themselves"
            page, parent, edge = self.arena.origin(number)
            path = (*self._paths[parent], edge)
            self._states.append(book.states[page])
            self._paths.append(path)
            self._node[path] = number

    def sweep(self) -> None:
        """Does one iteration of CFR over the tree as it is."""
        self._value_points()
        self.num_sweeps += 1
        discount = tabulate_discounts(self.growth.rule, self.num_sweeps, 1)
        for updated in ((True, False), (False, True)) if self.growth.is_alternating else ((True, True),):
            leaves = self.arena.leaves()
            batch = self._buffers.batch(self, leaves)
            self.arena.descend(batch.reach)
            self.arena.ascend(self._ask(batch, leaves), discount, updated=updated)
            if self.gate is not None and updated[self.gate.player]:
                self.arena.pass_gate(self.gate, discount, self.num_sweeps)

    def walk(self) -> None:
        """Walks once through the tree and lets it grow where the walk leaves it."""
        self.num_walks += 1
        growth = self.growth
        node, column = self.arena.walk(
            self.start,
            self._words,
            exploration=growth.exploration,
            share=growth.share_of_values,
            scale=self._scale,
        )
        if node == NOWHERE:
            return
        if column == NOWHERE:
            self._expand_leaf(node)
        else:
            self._expand(node, [column])

    def policy(self, node: int) -> FloatArray:
        """Returns `[H, A]` the average strategy at a decision; where nobody came, the present one."""
        total = self.arena.read_table("average", node)
        reached = total.sum(axis=1, keepdims=True)
        return np.where(
            reached > 0, total / np.where(reached > 0, reached, 1.0), self.arena.read_table("strategy", node)
        )

    def average_reach(self, path: Path) -> tuple[FloatArray, FloatArray]:
        """Returns `[H]` both players' reaches of a node under the average strategy, the gate's prior at the root."""
        node = 0
        reach = [self.arena.read_block("reach", 0, player) for player in (0, 1)]
        if self.gate is not None:
            reach[self.gate.player] = self.gate.prior.copy()
        for edge in path:
            node, reach = self.arena.child(node, edge), self._follow(node, edge, reach)
        return reach[0], reach[1]

    def _follow(self, node: int, edge: int, reach: Sequence[FloatArray]) -> list[FloatArray]:
        state = self.states[node]
        actor = self.rules.facts(state).actor
        policy = self.policy(node) if actor >= 0 else None
        following = self.rules.game.edges(state)[edge]
        below: list[FloatArray] = []
        for player, relation in enumerate(following.relations):
            share = relation.weight * reach[player][relation.private]
            if player == actor and policy is not None:
                share = share * policy[relation.private, relation.action]
            size = self.rules.game.num_private(following.child, player)
            below.append(np.bincount(relation.target, weights=share, minlength=size).astype(np.float64))
        return below

    def _add(self, state: Any, path: Path) -> int:
        facts = self.rules.facts(state)
        node = self.arena.add_node(facts)
        self._states.append(state)
        self._paths.append(path)
        self._node[path] = node
        if self._book is not None:
            parent, edge = (self._node[path[:-1]], path[-1]) if path else (NOWHERE, NOWHERE)
            self.arena.set_origin(node, self._book.number(state), parent, edge)
        if facts.actor != TERMINAL and facts.joint.size == 1:
            self._new_points.append(node)
        return node

    def _open(self, node: int) -> tuple[Opening, Children]:
        opening, children = self.rules.opening(self.states[node])
        prior = self._priors.pop(node, None)
        if prior is not None:
            rows, columns = opening.legal.shape
            prior = np.where(opening.legal, prior[:rows, :columns], 0.0)
            total = prior.sum(axis=1, keepdims=True)
            prior = np.ascontiguousarray(prior / np.where(total > 0.0, total, 1.0))
        self.arena.open(node, opening, prior)
        return opening, children

    def _expand_whole(self, node: int) -> None:
        opening, _ = self._open(node)
        self._attach(node, range(opening.sizes.shape[0]))

    def _expand_leaf(self, node: int) -> None:
        """Gives a leaf its first children: the best actions by prior, enough for every private state; at chance all."""
        opening, _ = self._open(node)
        actor = self.rules.facts(self.states[node]).actor
        if actor < 0:
            self._attach(node, range(opening.sizes.shape[0]))
            return
        prior = self.arena.read_table("prior", node)
        reach = self.arena.read_block("reach", node, actor)
        weight = np.cumsum(reach[:, None] * prior, axis=0)[-1]  # added up row by row, as in the core
        order = np.argsort(-weight, kind="stable").tolist()
        columns = order[: self._num_first(opening)]
        for own in np.flatnonzero(~opening.legal[:, columns].any(axis=1)).tolist():
            if not opening.legal[own, columns].any():
                columns.append(next(column for column in order if opening.legal[own, column]))
        self._expand(node, columns)

    def _num_first(self, opening: Opening) -> int:
        rows, columns = int(opening.legal.shape[0]), int(opening.legal.shape[1])
        wanted = self.growth.first_children
        if wanted is None:
            wanted = max(rows, 1)
        return columns if wanted == 0 else min(columns, wanted)

    def _expand(self, node: int, columns: Sequence[int]) -> None:
        opening, _ = self.rules.opening(self.states[node])
        edges = sorted({edge for column in columns for edge in opening.edges_of[column]})
        self._attach(node, [edge for edge in edges if self.arena.child(node, edge) == NOWHERE])

    def _attach(self, node: int, edges: Sequence[int]) -> None:
        _, children = self.rules.opening(self.states[node])
        for edge in edges:
            self.arena.attach(node, edge, self._add(children[edge], (*self._paths[node], edge)))
        self.arena.settle_children(node)

    def _value_points(self) -> None:
        """Asks once about leaves with one private state each: their values only scale with reaches."""
        if not self._new_points:
            return
        batch = BeliefBatch(
            states=[self.states[node] for node in self._new_points],
            reach=(np.ones((len(self._new_points), 1)), np.ones((len(self._new_points), 1))),
            num_private=np.ones((len(self._new_points), 2), np.int32),
            joint=[DenseJoint(self.rules.facts(self.states[node]).joint) for node in self._new_points],
        )
        first, second = self._ask(batch, self._new_points)
        for row, node in enumerate(self._new_points):
            self.arena.set_unit(node, float(first[row, 0]), float(second[row, 0]))
        self._new_points = []

    def _ask(self, batch: BeliefBatch, leaves: Sequence[int]) -> tuple[FloatArray, FloatArray]:
        if not leaves:
            return batch.reach
        self.num_asked += len(leaves)
        found: LeafValues = self.evaluator.evaluate(batch)
        for values, own in zip(found.cfv, batch.reach, strict=True):
            if values.shape != own.shape:
                raise ValueError(f"values of leaves must have shape {own.shape}, got {values.shape}")
        if found.prior is not None and self.growth.uses_prior:
            self._priors.update(zip(leaves, found.prior, strict=True))
        if self._keeps_queries:
            counts = batch.num_private.tolist()
            self.queries += [
                Query(state, (batch.reach[0][row, :first].copy(), batch.reach[1][row, :second].copy()))
                for row, (state, (first, second)) in enumerate(zip(batch.states, counts, strict=True))
            ]
        return np.ascontiguousarray(found.cfv[0]), np.ascontiguousarray(found.cfv[1])


@functools.lru_cache(8)
def _tabulate(rule: Hashable, count: int) -> FloatArray:
    """Returns `[iterations, 6]` discounts of all sweeps of a run."""
    return tabulate_discounts(cast("Rule", rule), 1, count)


class _Buffers:
    """The batch of a tree's leaves, made anew when these have changed."""

    def __init__(self) -> None:
        self._leaves: list[int] | None = None
        self._batch: BeliefBatch | None = None

    def batch(self, tree: GrowingTree, leaves: list[int]) -> BeliefBatch:
        """Returns the batch of some leaves, reaches to be filled in."""
        if self._batch is None or leaves != self._leaves:
            facts = [tree.rules.facts(tree.states[node]) for node in leaves]
            counts = np.array([one.joint.shape for one in facts], np.int32).reshape(-1, 2)
            most = counts.max(axis=0, initial=1)
            self._leaves = leaves
            self._batch = BeliefBatch(
                states=[tree.states[node] for node in leaves],
                reach=(np.zeros((len(leaves), int(most[0]))), np.zeros((len(leaves), int(most[1])))),
                num_private=counts,
                joint=[DenseJoint(one.joint) for one in facts],
            )
        return self._batch
