# SPDX-License-Identifier: Apache-2.0
"""Continual re-solving: every decision is searched anew, from what the search before it found.

Carried from one search to the next are the searcher's own range and what the opponent's private states were worth, both
as averaged over the search before; no tree of the whole game is needed, and no strategy of it, though one may be given.
Searches are straight from the rules of a public game, or by hands of hold'em, where an unknown bet makes one too.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any, Final, Protocol, cast

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError, InvalidStateError
from equipoise.core.formatting import settings_repr
from equipoise.games.base import CHANCE
from equipoise.games.holdem.betting import Street
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.games.public import PublicGame
from equipoise.kernels.growing import Watched
from equipoise.search.beliefs import PublicBelief
from equipoise.search.gadgets import Exact, Given, Method, Resolve, SelfPlay, Unsafe
from equipoise.search.growing_tree import GrowingTree, Growth, RuleBook
from equipoise.search.holdem.profile import HoldemProfile
from equipoise.search.leaf_choices import PolicyLeaves, RememberedLeaves
from equipoise.search.leaves import LeafEvaluator
from equipoise.search.limits import DepthLimit
from equipoise.search.nested import NestedSearch
from equipoise.search.partial_games import PartialGame, extract_subgame, follow_policy
from equipoise.search.posing import begin_gate, check_deviation, pose
from equipoise.search.public import PublicProfile, PublicSubgame, be_there
from equipoise.search.resolving import SubgameSolver
from equipoise.search.settings import DEFAULT_ITERATIONS, SearchSettings
from equipoise.search.walks import SearchPlan, SearchWalk, SearchWhen
from equipoise.solvers.rules import CFRPlus, Rule
from equipoise.trees.holdem.places import HoldemPlace, HoldemStrategy, SpotPlaces
from equipoise.trees.public import DEFAULT_MAX_NODES
from equipoise.trees.public_edges import read_policy
from equipoise.trees.subtree import Subtree
from equipoise.trees.vector import Strategy, UniformStrategy

__all__ = ["ContinualSearch", "ContinualSettings", "HoldemChain"]

FloatArray = npt.NDArray[np.float64]
Path = tuple[int, ...]

MIXED: Final = Resolve(share=0.2)  # Player of Games
UNIFORM_LEAVES: Final = PolicyLeaves()


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ContinualSettings:
    """How every decision is searched.

    >>> ContinualSettings(iterations=100).method.share
    0.2
    """

    iterations: int = DEFAULT_ITERATIONS  # of CFR, for each search
    method: Method = MIXED  # its alternatives are the values of the search before
    rule: Rule = dataclasses.field(default_factory=lambda: CFRPlus(gamma=1.0))
    limit: DepthLimit | None = None  # where a search ends; None: where the game does
    leaves: PolicyLeaves | LeafEvaluator = UNIFORM_LEAVES  # what leaves are worth, if there are any
    max_nodes: int = DEFAULT_MAX_NODES  # most public states of a search
    is_wide: bool = False  # what lies beside the way to a decision is searched too; else it is leaves
    is_shared: bool = False  # one chain of searches for both players, whoever acts; else each player has its own
    is_watchful: bool = False  # a seat's chain also searches at the opponent's turns, whose play it then believes in
    first_round: int = 0  # with a blueprint: searches begin once chance has moved in public so often
    growth: Growth | None = None  # trees that grow, by this much in each search; None: whole trees, to the limit
    seed: int = 0  # of walks in trees that grow
    holdem: SearchSettings = dataclasses.field(default_factory=SearchSettings)  # of hold'em: bets, streets and memory

    __repr__ = settings_repr

    def __post_init__(self) -> None:
        if self.iterations < 1:
            raise ConfigError(f"iterations must be at least 1, got {self.iterations}")
        if self.first_round < 0:
            raise ConfigError(f"first_round must be at least 0, got {self.first_round}")
        if not isinstance(self.method, Unsafe) and (
            not isinstance(self.method.alternatives, Exact) or self.method.reach is not None
        ):
            raise ConfigError("continual search finds its alternatives itself, and has no gifts: leave them out")
        check_deviation(self.method, "continual search")
        if self.growth is not None and (self.limit is not None or not isinstance(self.leaves, LeafEvaluator)):
            raise ConfigError(
                "a tree that grows ends where it has grown to: leave the limit out, and give an evaluator"
            )

    @property
    def plan(self) -> SearchPlan:
        """Returns the searches of hold'em: at every decision of the seat's, and behind every unknown bet."""
        method = self.method
        if not isinstance(method, Unsafe):
            method = dataclasses.replace(method, alternatives=SelfPlay())
        search = dataclasses.replace(self.holdem, method=method, rule=self.rule, iterations=self.iterations)
        if self.limit is not None:
            if self.holdem.streets is not None:
                raise ConfigError("a street at a time ends with its street: leave the limit out")
            if not isinstance(self.leaves, LeafEvaluator):
                raise ConfigError("searches of hold'em that end with a street need an evaluator of leaves")
            search = dataclasses.replace(search, limit=self.limit, leaves=self.leaves)
        first = Street.PREFLOP
        return SearchPlan(
            search=search,
            when=SearchWhen.DECISIONS,
            first_street=first,
            first_reply=first,
            is_there=True,
            replies_to_all=search.streets is not None,
        )


class _Chain(Protocol):
    """Searches of one seat, each from what the one before it found."""

    def policy_at(self, path: Sequence[Any]) -> FloatArray:
        """Returns `[H, A]` what the seat does at one of its decisions, after all searches on the way to it."""
        ...


class ContinualSearch:
    """One seat's searches, each remembered by the way that led to it.

    Paper: Moravcik et al. 2017, "DeepStack"; Schmid et al. 2021, "Player of Games", arXiv:2112.03178, section 2.3 and
        appendix B.1 [SG21].
    Symbols: s_last -> where a search begins; vbar -> alternatives; alpha -> `Resolve.share`.
    Departs from the paper: trees grow within a search only where `growth` is given; what lies beside the way from
        s_last to the present state is leaves, or searched as well ([SG21] leaves it open); nothing is searched at the
        opponent's turns, unless both players share one chain or `is_watchful` is set (appendix B.5); a state to which
        the searcher's averages never come is searched as if all its private states had. In hold'em a search begins at
        the decision itself.
    Checked by: tests/search/test_continual_search.py, tests/search/test_growing_tree.py.

    >>> from equipoise.games import make_game
    >>> from equipoise.trees import derive_public_game
    >>> game = derive_public_game(make_game("kuhn"))
    >>> search = ContinualSearch(game, 0, ContinualSettings(iterations=50))
    >>> search.policy_at([]).shape  # hands by actions, before anything has happened
    (3, 2)
    """

    def __init__(
        self,
        game: PublicGame[Any] | HoldemSpot,
        seat: int,
        settings: ContinualSettings | None = None,
        *,
        blueprint: Strategy[Any] | HoldemStrategy | None = None,
    ) -> None:
        """Keeps the rules.

        Args:
            game: a public game, of which only what searches look at is ever expanded, or a spot of hold'em.
            seat: who searches.
            settings: how.
            blueprint: what is played before the first search, against which the opponent's first alternatives are
                measured; None: the first search begins with the game. Of hold'em a strategy of the spot.
        """
        settings = settings or ContinualSettings()
        self.chain: _Chain
        if isinstance(game, HoldemSpot):
            self.chain = HoldemChain(game, seat, settings, cast("HoldemStrategy | None", blueprint))
        else:
            self.chain = _RulesChain(game, seat, settings, cast("Strategy[Any] | None", blueprint))

    def policy_at(self, path: Sequence[Any]) -> FloatArray:
        """Returns `[H, A]` what the seat does at one of its decisions, after all searches on the way to it.

        Args:
            path: from the beginning on, numbers of observations; of hold'em actions, and cards of deals as tuples.
        """
        return self.chain.policy_at(path)

    def values_at(self, path: Sequence[Any]) -> FloatArray | None:
        """Returns `[H, A]` what actions are worth at a decision of the seat if both go on as its last search found.

        Given that the private state is there; None where that is not known: of hold'em, of trees that grew or were cut
        short, and before the first search.
        """
        return self.chain.values_at(path) if isinstance(self.chain, _RulesChain) else None


class HoldemChain:
    """Searches in hold'em: the rest of the hand each time, or the street with choices or values at its end.

    A street at a time (`SearchSettings.streets`) no tree reaches beyond the street of its search: what both players'
    hands are worth between two streets comes from evaluators, and a blueprint has no place.
    """

    def __init__(
        self, spot: HoldemSpot, seat: int, settings: ContinualSettings, blueprint: HoldemStrategy | None
    ) -> None:
        """Keeps a spot; without a blueprint its first search, from the beginning on, is run when it is asked for."""
        self.spot, self.seat, self.settings, self.blueprint = spot, seat, settings, blueprint

    @functools.cached_property
    def walk(self) -> SearchWalk[HoldemPlace]:
        """Returns the searches, from the blueprint or from the first one on."""
        plan, known = self.settings.plan, self.blueprint
        if plan.search.streets is not None:
            if known is not None:
                raise ConfigError("a street at a time is searched from the first decision on: leave the blueprint out")
            search = dataclasses.replace(plan.search, menu=plan.search.menu or self.spot.menu)
            plan, profile = dataclasses.replace(plan, search=search), HoldemProfile.unknown(self.spot)
        else:
            profile = HoldemProfile(UniformStrategy(SpotPlaces.of(self.spot)) if known is None else known)
        if known is None:
            first = NestedSearch(profile, self.seat, dataclasses.replace(plan.search, method=Unsafe()))
            found = first.search(first.begin(), profile.tree.root_place)
            assert found is not None
            assert found.stage is not None
            return SearchWalk(found.stage.profile, self.seat, plan, name="continual", is_searched=True)
        return SearchWalk(profile, self.seat, plan, name="continual")

    def policy_at(self, path: Sequence[Any]) -> FloatArray:
        """Returns `[H, A]` what the seat's hands do at one of its decisions."""
        stage, place = self.walk.stage_at(path, str(path))
        return stage.profile.probabilities(place)


class _Search(Protocol):
    """One search, done; its public states are told by the way from the beginning of the game."""

    @property
    def root(self) -> Path:
        """Returns where it begins."""
        ...

    def has(self, path: Path) -> bool:
        """Returns whether a public state is in it."""
        ...

    def reach(self, path: Path) -> tuple[FloatArray, FloatArray]:
        """Returns `[H]` both players' average reaches."""
        ...

    def values(self, path: Path, player: int) -> FloatArray:
        """Returns `[H]` a player's counterfactual values, averaged over the search."""
        ...

    def policy(self, path: Path) -> FloatArray:
        """Returns `[H, A]` the average strategy at a decision."""
        ...

    def action_values(self, path: Path, player: int) -> FloatArray | None:
        """Returns `[H, A]` a player's counterfactual values of its actions under the averages; None if not known."""
        ...


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class _SolvedSearch:
    """A search over a tree that was there from its beginning."""

    root: Path
    subgame: PublicSubgame
    solver: SubgameSolver
    strategy: FloatArray  # [C] average
    node: dict[Path, int]  # of the subgame's tree, by the way from the beginning of the game

    def has(self, path: Path) -> bool:
        """Returns whether a public state is in it."""
        return path in self.node

    def reach(self, path: Path) -> tuple[FloatArray, FloatArray]:
        """Returns `[H]` both players' average reaches."""
        cells = self.subgame.realize(self.strategy)
        tree, node = self.subgame.tree, self.node[path]
        first, second = (cells[tree.private_cells(node, player)] for player in (0, 1))
        return first, second

    def values(self, path: Path, player: int) -> FloatArray:
        """Returns `[H]` a player's counterfactual values, averaged over the search."""
        return self.solver.average_values(player, self.node[path])

    def policy(self, path: Path) -> FloatArray:
        """Returns `[H, A]` the average strategy at a decision."""
        return read_policy(self.subgame.tree, self.node[path], self.strategy)

    def action_values(self, path: Path, player: int) -> FloatArray | None:
        """Returns `[H, A]` a player's counterfactual values of its actions under the averages."""
        subgame = self.subgame
        if subgame.frontier is not None:
            return None
        reach = subgame.realize(self.strategy)
        values = subgame.kernel.strategy_values(player, self.strategy, reach)
        return subgame.tree.rows_at(values, self.node[path])


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class _GrownSearch:
    """A search over a tree that grew."""

    root: Path
    tree: GrowingTree

    def has(self, path: Path) -> bool:
        """Returns whether a public state is in it."""
        return path[: len(self.root)] == self.root and path[len(self.root) :] in self.tree.node

    def reach(self, path: Path) -> tuple[FloatArray, FloatArray]:
        """Returns `[H]` both players' average reaches."""
        return self.tree.average_reach(path[len(self.root) :])

    def values(self, path: Path, player: int) -> FloatArray:
        """Returns `[H]` a player's counterfactual values, averaged over the search."""
        return self.tree.arena.average_values(self.tree.node[path[len(self.root) :]], player)

    def policy(self, path: Path) -> FloatArray:
        """Returns `[H, A]` the average strategy at a decision."""
        return self.tree.policy(self.tree.node[path[len(self.root) :]])

    def action_values(self, path: Path, player: int) -> None:
        """Returns nothing: a tree that grew keeps no values of actions."""


class _RulesChain:
    """Searches over the rules of a public game."""

    def __init__(
        self, game: PublicGame[Any], seat: int, settings: ContinualSettings, blueprint: Strategy[Any] | None
    ) -> None:
        if not game.spec.is_zero_sum:
            raise ConfigError(f"search needs a zero-sum game, and {game.spec.label} is not")
        self.game, self.seat, self.settings = game, seat, settings
        self.blueprint = blueprint
        leaves = settings.leaves
        self._leaves = leaves if isinstance(leaves, LeafEvaluator) else RememberedLeaves(leaves)
        self._rule_book = RuleBook(game)
        self._found: dict[Path, _Search] = {}
        self._states: dict[Path, Any] = {(): game.initial_state()}

    def state_at(self, path: Sequence[int]) -> Any:
        """Returns the public state that edges from the beginning lead to."""
        path = tuple(path)
        if path not in self._states:
            edges = self.game.edges(self.state_at(path[:-1]))
            if not 0 <= path[-1] < len(edges):
                raise InvalidStateError(f"{len(edges)} observations can follow, got number {path[-1]}")
            self._states[path] = edges[path[-1]].child
        return self._states[path]

    def policy_at(self, path: Sequence[int]) -> FloatArray:
        """Returns `[H, A]` what the seat does at one of its decisions, after all searches on the way to it."""
        search = self._last_search(tuple(path))
        if search is None:
            assert self.blueprint is not None
            return self.blueprint.probabilities(self.state_at(path))
        return search.policy(tuple(path))

    def values_at(self, path: Sequence[int]) -> FloatArray | None:
        """Returns `[H, A]` what actions are worth to the seat by the last search; None if that is not known."""
        path = tuple(path)
        search = self._last_search(path)
        values = None if search is None else search.action_values(path, self.seat)
        if search is None or values is None:
            return None
        belief = PublicBelief(reach=search.reach(path), joint=self.game.joint_weights(self.state_at(path)))
        mass = belief.mass(self.seat)
        given: FloatArray = np.divide(values, mass[:, None], out=np.full(values.shape, np.nan), where=mass[:, None] > 0)
        return given

    def _last_search(self, path: Path) -> _Search | None:
        """Returns the last of all searches on the way to a decision of the seat; None before the first."""
        if self.game.actor(self.state_at(path)) != self.seat:
            raise InvalidStateError(
                f"player {self.seat} does not move at {self.game.public_state(self.state_at(path))!r}"
            )
        search = self._begin() if self.blueprint is None else None
        num_deals = 0
        for length in range(len(path) + 1):
            actor = self.game.actor(self.state_at(path[:length]))
            num_deals += actor == CHANCE
            shared = self.settings.is_shared
            is_searched = actor >= 0 if shared or self.settings.is_watchful else actor == self.seat
            if is_searched and (search is not None or num_deals >= self.settings.first_round):
                search = self._search_at(path[:length], search, actor if shared else self.seat)
        return search

    def _begin(self) -> _Search:
        """Returns the first search: from the beginning of the game, where beliefs are chance's."""
        if () not in self._found:
            state = self.state_at(())
            first, second = (np.ones(self.game.num_private(state, player)) for player in (0, 1))
            beliefs = PublicBelief(reach=(first, second), joint=self.game.joint_weights(state))
            self._found[()] = self._run((), (), beliefs, Unsafe(), self.seat)
        return self._found[()]

    def _search_at(self, path: Path, before: _Search | None, searcher: int) -> _Search:
        """Returns the search at a decision, from the one before it, or from the blueprint if it is the first."""
        if before is not None and path == before.root:
            return before
        if path not in self._found:
            found = self._begin_at(path, searcher) if before is None else self._continue_at(path, before, searcher)
            self._found[path] = found
        return self._found[path]

    def _begin_at(self, path: Path, searcher: int) -> _Search:
        """Returns the first search over a blueprint: the opponent may have what its best response earns there."""
        assert self.blueprint is not None
        beliefs = follow_policy(self.game, path, self.blueprint)
        return self._run(path, (), be_there(beliefs, searcher), self.settings.method, searcher)

    def _continue_at(self, path: Path, before: _Search, searcher: int) -> _Search:
        """Returns a search from what the one before it found."""
        length = max(k for k in range(len(path) + 1) if before.has(path[:k]))
        root = path[:length]
        joint = self.game.joint_weights(self.state_at(root))
        beliefs = be_there(PublicBelief(reach=before.reach(root), joint=joint), searcher)
        method = self.settings.method
        if not isinstance(method, Unsafe):
            values = before.values(root, 1 - searcher)
            given = Given.from_counterfactual(values, beliefs.mass(1 - searcher))
            method = dataclasses.replace(method, alternatives=given)
        return self._run(root, path[length:], beliefs, method, searcher)

    def _run(self, root: Path, focus: Path, beliefs: PublicBelief, method: Method, searcher: int) -> _Search:
        """Returns a search, done."""
        if self.settings.growth is not None:
            return self._grow(root, focus, beliefs, method, searcher)
        settings = self.settings
        partial = PartialGame(
            self.game, self.state_at(root), focus=focus, limit=settings.limit, is_wide=settings.is_wide
        )
        subgame = extract_subgame(
            partial,
            beliefs,
            searcher,
            watched=(0, 1) if settings.is_shared or settings.is_watchful else (searcher,),
            leaves=self._leaves,
            blueprint=self.blueprint,
            max_nodes=settings.max_nodes,
        )
        nothing = PublicProfile(subgame.tree, subgame.tree.legal_share)  # only gifts would be measured by it
        solver = SubgameSolver(
            subgame,
            pose(nothing, subgame, searcher, method),
            rule=settings.rule,
            watched=subgame.tree.landmarks.tolist(),
        )
        solver.iterate(settings.iterations)
        known = np.flatnonzero(subgame.part.nodes != Subtree.ADDED).tolist()
        node = {root + subgame.tree.states[number].path: number for number in known}
        return _SolvedSearch(root, subgame, solver, solver.average_strategy(), node)

    def _grow(self, root: Path, focus: Path, beliefs: PublicBelief, method: Method, searcher: int) -> _Search:
        """Returns a search over a tree that grows, done; its walks have a seed of their own for every public state."""
        growth, leaves = self.settings.growth, self.settings.leaves
        assert growth is not None
        assert isinstance(leaves, LeafEvaluator)
        gate = None
        if not isinstance(method, Unsafe):
            assert isinstance(method.alternatives, Given)
            opponent = 1 - searcher
            values, prior = method.alternatives.values, beliefs.reach[opponent]
            gate = begin_gate(method, opponent, mass=beliefs.mass(opponent), value=values, prior=prior)
        tree = GrowingTree(
            self._rule_book,
            self.state_at(root),
            beliefs,
            leaves,
            growth=growth,
            rng=np.random.default_rng((self.settings.seed, searcher, *root, len(root), *focus)),
            focus=focus,
            gate=gate,
            watched=Watched.NEXT if self.settings.is_watchful or self.settings.is_shared else Watched.MOVES,
        )
        tree.grow()
        return _GrownSearch(root, tree)
