# SPDX-License-Identifier: Apache-2.0
"""An agent that solves the rest of the game again while it plays."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from equipoise.agents.base import Observation, PolicyAgent
from equipoise.core.errors import ConfigError, InvalidStateError
from equipoise.games.base import CHANCE, Game
from equipoise.search.gadgets import Maxmargin, Method, Reach, pose
from equipoise.search.resolving import DEFAULT_ITERATIONS, SubgameSolver
from equipoise.search.subgames import Blueprint
from equipoise.solvers.rules import CFRPlus, Rule
from equipoise.solvers.strategy import TabularStrategy
from equipoise.trees.cache import load_or_build_public_tree

__all__ = ["SearchAgent", "SearchSettings", "SearchWhen"]

FloatArray = npt.NDArray[np.float64]
REACH_MAXMARGIN: Final = Maxmargin(reach=Reach())


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
    remembered, so that the agent plays one fixed strategy, and a match costs each of them once.
    """

    def __init__(self, blueprint: Blueprint, *, search: SearchSettings | None = None, name: str = "search") -> None:
        """Keeps a blueprint.

        Args:
            blueprint: of a whole game.
            search: how and where; Reach-Maxmargin at every later round if None.
            name: for tables of results.
        """
        self.blueprint, self.search = blueprint, search or SearchSettings()
        self._name = name
        tree = blueprint.tree
        self._node = {label: node for node, label in enumerate(tree.public_labels)}
        players = tree.infoset_player().tolist()
        self._infoset = {key: row for row, key in enumerate(zip(players, tree.infoset_labels, strict=True))}
        self._found: dict[tuple[int, int], FloatArray] = {}  # by seat and root: the whole strategy from there on

    @classmethod
    def from_table(
        cls, game: Game[Any], strategy: TabularStrategy, *, search: SearchSettings | None = None, name: str = "search"
    ) -> SearchAgent:
        """Returns an agent whose blueprint is a table of information states."""
        tree = load_or_build_public_tree(game)
        return cls(Blueprint(tree, strategy.to_tree(tree)), search=search, name=name)

    @property
    def name(self) -> str:
        """Returns the name that was given."""
        return self._name

    def probabilities(self, observation: Observation, *, rng: np.random.Generator) -> Sequence[float]:
        """Returns `[A]` what is played at an information state, after all searches on the way to it."""
        key = (observation.seat, observation.infostate)
        if observation.public_state not in self._node or key not in self._infoset:
            raise InvalidStateError(
                f"{self.blueprint.tree.game_label} has no information state {observation.infostate!r} of player "
                f"{observation.seat} at {observation.public_state!r}"
            )
        tree, infoset = self.blueprint.tree, self._infoset[key]
        strategy = self.strategy_at(observation.seat, self._node[observation.public_state])
        cells = tree.sequence_cell[tree.infoset_start[infoset] : tree.infoset_start[infoset + 1]]
        shares: list[float] = strategy[cells].tolist()
        return shares

    def strategy_at(self, seat: int, node: int) -> FloatArray:
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
        if self.search.when is SearchWhen.DECISIONS:
            return bool(tree.actor[node] == seat)
        return bool(node != 0 and tree.actor[node] >= 0 and tree.actor[tree.parent[node]] == CHANCE)

    def _solve(self, seat: int, root: int, strategy: FloatArray) -> FloatArray:
        """Returns the strategy so far with the seat's part of a subgame solved again."""
        so_far = Blueprint(self.blueprint.tree, strategy, like=self.blueprint)
        subgame = so_far.subgame(root)
        if not subgame.beliefs.reach[seat].any():
            return strategy  # never played to: nothing to search for
        solver = SubgameSolver(subgame, pose(so_far, subgame, seat, self.search.method), rule=self.search.rule)
        solver.iterate(self.search.iterations)
        out = strategy.copy()
        subgame.part.insert(solver.average_strategy(), out, players=(seat,))
        return out

    def compose(self) -> FloatArray:
        """Returns `[C]` what the agent plays in both seats at every public state: its price is exact."""
        tree = self.blueprint.tree
        out = self.blueprint.strategy.copy()
        for node in np.flatnonzero(tree.actor >= 0).tolist():
            strategy = self.strategy_at(int(tree.actor[node]), node)
            rows = slice(tree.table_start[node], tree.table_start[node] + tree.num_actions[node] * tree.stride[node])
            out[rows] = strategy[rows]
        return out
