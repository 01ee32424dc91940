# SPDX-License-Identifier: Apache-2.0
"""An agent that solves the rest of the game again while it plays."""

from __future__ import annotations

import dataclasses
import enum
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from equipoise.agents.base import Observation, PolicyAgent
from equipoise.agents.public_paths import Path, PublicPaths
from equipoise.core.errors import ConfigError, InvalidStateError
from equipoise.games.base import CHANCE, Game
from equipoise.search.gadgets import Maxmargin, Method, Reach
from equipoise.search.lazy import RulesBlueprint
from equipoise.search.posing import pose
from equipoise.search.public import PublicProfile
from equipoise.search.resolving import SubgameSolver
from equipoise.search.settings import DEFAULT_ITERATIONS
from equipoise.solvers.rules import CFRPlus, Rule
from equipoise.solvers.strategy import TabularStrategy
from equipoise.trees.cache import load_or_build_public_tree

__all__ = ["SearchAgent", "SearchSettings", "SearchWhen"]

FloatArray = npt.NDArray[np.float64]
REACH_MAXMARGIN: Final = Maxmargin(reach=Reach())
KEPT_CELLS: Final = 20_000_000  # of trees that are grown from rules; others are grown and searched again if need be


class SearchWhen(enum.StrEnum):
    """Where a search begins."""

    ROUNDS = "rounds"  # at public states that follow a public move of chance
    DECISIONS = "decisions"  # at every decision of the agent's own
    REPLIES = "replies"  # of hold'em: only behind bets that the strategy so far lacks, where all of them search


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SearchSettings:
    """How an agent searches."""

    method: Method = REACH_MAXMARGIN  # alternatives are measured against what was played so far
    when: SearchWhen = SearchWhen.ROUNDS
    iterations: int = DEFAULT_ITERATIONS  # of CFR, for every search
    rule: Rule = dataclasses.field(default_factory=lambda: CFRPlus(gamma=1.0))

    def __post_init__(self) -> None:
        if self.iterations < 1:
            raise ConfigError(f"iterations must be at least 1, got {self.iterations}")
        if self.when is SearchWhen.REPLIES:
            raise ConfigError("a blueprint of a whole tree knows every action: search it by rounds or decisions")


class SearchAgent(PolicyAgent):
    """Plays a blueprint, and from where it searches on what its searches found, the last one first.

    A search below another is nested: reaches and alternatives are those of what is played so far. Searches are
    remembered, so that the agent plays one fixed strategy, and a match costs each of them once. Of a blueprint over
    rules, the tree of what lies below a hand's first search is built when play comes there; gifts count from there on.
    """

    def __init__(
        self, blueprint: PublicProfile | RulesBlueprint, *, search: SearchSettings | None = None, name: str = "search"
    ) -> None:
        """Keeps a blueprint.

        Args:
            blueprint: of a whole game, on its tree or over its rules.
            search: how and where; Reach-Maxmargin at every later round if None.
            name: for tables of results.
        """
        self.blueprint, self.search = blueprint, search or SearchSettings()
        self._name = name
        self._searches: _TreeSearches | _RulesSearches
        if isinstance(blueprint, PublicProfile):
            self._searches = _TreeSearches(blueprint, self.search)
        else:
            self._searches = _RulesSearches(blueprint, self.search)

    @classmethod
    def from_table(
        cls, game: Game[Any], strategy: TabularStrategy, *, search: SearchSettings | None = None, name: str = "search"
    ) -> SearchAgent:
        """Returns an agent whose blueprint is a table of information states."""
        tree = load_or_build_public_tree(game)
        return cls(PublicProfile(tree, strategy.to_tree(tree)), search=search, name=name)

    @property
    def name(self) -> str:
        """Returns the name that was given."""
        return self._name

    def begin_game(self, seat: int) -> None:
        """Goes back to the beginning."""
        self._searches.begin_game()

    def observe(self, observation: Observation) -> None:
        """Follows the game."""
        self._searches.observe(observation.public_state)

    def probabilities(self, observation: Observation, *, rng: np.random.Generator) -> Sequence[float]:
        """Returns `[A]` what is played at an information state, after all searches on the way to it."""
        return self._searches.shares(observation)


class _TreeSearches:
    """Searches of both seats over a blueprint on a tree."""

    def __init__(self, blueprint: PublicProfile, search: SearchSettings, *, is_root_searched: bool = False) -> None:
        """Keeps a blueprint.

        Args:
            blueprint: of a whole game, or of what follows one of its public states.
            search: how and where.
            is_root_searched: whether a search begins at the root; else only where the settings say.
        """
        self.blueprint, self.search, self._is_root_searched = blueprint, search, is_root_searched
        tree = blueprint.tree
        self._node = {label: node for node, label in enumerate(tree.public_labels)}
        players = tree.infoset_player().tolist()
        self._infoset = {key: row for row, key in enumerate(zip(players, tree.infoset_labels, strict=True))}
        self._found: dict[tuple[int, int], FloatArray] = {}  # by seat and root: the whole strategy from there on

    def begin_game(self) -> None:
        """Has nothing to forget."""

    def observe(self, label: str) -> None:
        """Has nothing to follow: every label is known."""

    def shares(self, observation: Observation) -> list[float]:
        """Returns `[A]` what is played at an information state."""
        key = (observation.seat, observation.infostate)
        if observation.public_state not in self._node or key not in self._infoset:
            raise InvalidStateError(
                f"{self.blueprint.tree.game_label} has no information state {observation.infostate!r} of player "
                f"{observation.seat} at {observation.public_state!r}"
            )
        tree, infoset = self.blueprint.tree, self._infoset[key]
        strategy = self._strategy_at(observation.seat, self._node[observation.public_state])
        cells = tree.sequence_cell[tree.infoset_start[infoset] : tree.infoset_start[infoset + 1]]
        shares: list[float] = strategy[cells].tolist()
        return shares

    def _strategy_at(self, seat: int, node: int) -> FloatArray:
        """Returns `[C]` the strategy that is played once a node has come up, from the last search above it on."""
        path = [node]
        while path[-1] != 0:
            path.append(int(self.blueprint.tree.parent[path[-1]]))
        strategy = self.blueprint.strategy
        for root in reversed(path):
            if not self._is_root(seat, root):
                continue
            if (seat, root) not in self._found:
                self._found[seat, root] = self._solve(seat, root, strategy)
            strategy = self._found[seat, root]
        return strategy

    def _is_root(self, seat: int, node: int) -> bool:
        tree = self.blueprint.tree
        if node == 0 and self._is_root_searched:
            return True
        if self.search.when is SearchWhen.DECISIONS:
            return bool(tree.actor[node] == seat)
        return bool(node != 0 and tree.actor[node] >= 0 and tree.actor[tree.parent[node]] == CHANCE)

    def _solve(self, seat: int, root: int, strategy: FloatArray) -> FloatArray:
        """Returns the strategy so far with the seat's part of a subgame solved again."""
        so_far = PublicProfile(self.blueprint.tree, strategy, root_reach=self.blueprint.root_reach, like=self.blueprint)
        subgame = so_far.subgame(root)
        if not subgame.beliefs.reach[seat].any():
            return strategy  # never played to: nothing to search for
        solver = SubgameSolver(subgame, pose(so_far, subgame, seat, self.search.method), rule=self.search.rule)
        solver.iterate(self.search.iterations)
        out = strategy.copy()
        subgame.part.insert(solver.average_strategy(), out, players=(seat,))
        return out


class _RulesSearches:
    """Searches of both seats over a blueprint on rules: from the first of a hand on those over a tree grown there."""

    def __init__(self, blueprint: RulesBlueprint, search: SearchSettings) -> None:
        self.blueprint, self.search = blueprint, search
        self._paths = PublicPaths(blueprint.game)
        self._trees: OrderedDict[Path, _TreeSearches] = OrderedDict()

    def begin_game(self) -> None:
        """Goes back to the beginning."""
        self._paths.begin_game()

    def observe(self, label: str) -> None:
        """Follows the game, so that no public state needs to be looked for from the beginning."""
        self._paths.observe(label)

    def shares(self, observation: Observation) -> list[float]:
        """Returns `[A]` what is played at an information state."""
        path = self._paths.locate(observation.public_state)
        root = self._find_first(observation.seat, path)
        return self._ask_policy(observation, path) if root is None else self._tree_at(root).shares(observation)

    def _find_first(self, seat: int, path: Path) -> Path | None:
        """Returns where a seat's first search on a way begins, None if none does."""
        game, is_dealt = self.blueprint.game, False
        for length in range(len(path) + 1):
            actor = game.actor(self._paths.state_at(path[:length]))
            is_own = actor == seat if self.search.when is SearchWhen.DECISIONS else is_dealt and actor >= 0
            if is_own:
                return path[:length]
            is_dealt = actor == CHANCE
        return None

    def _tree_at(self, root: Path) -> _TreeSearches:
        if root not in self._trees:
            grown = self.blueprint.grow(root, self._paths.state_at(root))
            self._trees[root] = _TreeSearches(grown, self.search, is_root_searched=True)
            while len(self._trees) > 1 and self._num_cells() > KEPT_CELLS:
                self._trees.popitem(last=False)
        self._trees.move_to_end(root)
        return self._trees[root]

    def _num_cells(self) -> int:
        return sum(kept.blueprint.strategy.size for kept in self._trees.values())

    def _ask_policy(self, observation: Observation, path: Path) -> list[float]:
        """Returns `[A]` what the blueprint says before any search."""
        game, state, seat = self.blueprint.game, self._paths.state_at(path), observation.seat
        for private in range(game.num_private(state, seat)):
            if game.infostate(state, seat, private) == observation.infostate:
                rows = self.blueprint.policy.policy(game, state)
                shares: list[float] = rows[private, game.legality(state)[private]].tolist()
                return shares
        raise InvalidStateError(
            f"{game.spec.label} has no information state {observation.infostate!r} of player {seat} at "
            f"{observation.public_state!r}"
        )
