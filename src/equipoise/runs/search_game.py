# SPDX-License-Identifier: Apache-2.0
"""A strategy's subgame at one public state of a game, solved again. Of hold'em by hands: `search_spot`."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final

from equipoise.core.errors import ConfigError
from equipoise.core.reporting import Reporter
from equipoise.games.base import TERMINAL, Game
from equipoise.runs.preparation import build_vector_tree
from equipoise.runs.search_request import DoneSearch, RunIterations, SearchRequest, run_in_pieces
from equipoise.search.last_iterates import needs_response
from equipoise.search.notation import parse_method
from equipoise.search.posing import pose
from equipoise.search.public import PublicProfile
from equipoise.search.resolving import SubgameSolver
from equipoise.solvers.best_response import evaluate
from equipoise.solvers.game_views import find_public_state
from equipoise.solvers.rule_notation import parse_rule
from equipoise.solvers.strategy import TabularStrategy
from equipoise.trees.public import PublicTree
from equipoise.trees.public_edges import read_policy
from equipoise.trees.subtree import find_private_labels

__all__ = ["GameSearch", "find_state"]

DEFAULT_ITERATIONS: Final = 1000


class GameSearch(DoneSearch):
    """A search in a game other than hold'em by hands, done.

    >>> from equipoise.runs import solve
    >>> found = solve("kuhn", iterations=20).search("p", "maxmargin", iterations=50)
    >>> isinstance(found, GameSearch), found.searcher
    (True, 1)
    """

    def __init__(
        self,
        game: Game[Any],
        strategy: TabularStrategy,
        request: SearchRequest,
        *,
        is_partial: bool = False,
        run: RunIterations = run_in_pieces,
        reporter: Reporter | None = None,
        find_response: Callable[[PublicTree], Any] | None = None,
    ) -> None:
        """Searches.

        Args:
            game: what is played.
            strategy: the blueprint.
            request: where and how.
            is_partial: whether the blueprint moves uniformly where it has nothing.
            run: runs iterations as it is told how to, and says how many were run.
            reporter: is told what is built.
            find_response: gives by what alternatives are estimated, on the public tree, for methods that ask for it.
        """
        self.request = request
        given = {"menu": request.menu, "leaves": request.leaves, "expensive": request.expensive or None}
        for name, value in given.items():
            if value is not None:
                raise ConfigError(f"`{name}` is for spots of hold'em, and {game.spec.name} is another game")
        if game.spec.num_players != 2:
            raise ConfigError(f"search is for 2 players, and {game.spec.label} has {game.spec.num_players}")
        tree = build_vector_tree(game, max_histories=request.max_histories, reporter=reporter or Reporter())
        self.node = find_state(tree, request.state)
        self.searcher = request.player if request.player is not None else int(tree.actor[self.node])
        if self.searcher < 0:
            raise ConfigError(f"chance moves at {request.state!r}: say who searches with `player` 0 or 1")
        self.opponent = 1 - self.searcher
        method = parse_method(request.method)
        response = find_response(tree) if find_response is not None and needs_response(method) else None
        played = strategy.to_tree(tree, is_partial=is_partial)
        self.blueprint = blueprint = PublicProfile(tree, played, response=response)
        self.subgame = blueprint.subgame(self.node)
        if not self.subgame.beliefs.reach[self.searcher].any():
            raise ConfigError(f"player {self.searcher} never plays to {request.state!r}: there is nothing to search")
        began = time.perf_counter()
        problem = pose(blueprint, self.subgame, self.searcher, method)
        solver = SubgameSolver(self.subgame, problem, rule=parse_rule(request.rule))
        self.iterations = run(solver.iterate, request.iterations or DEFAULT_ITERATIONS)
        self.seconds, self.result = time.perf_counter() - began, solver.result()
        self.after = blueprint.strategy.copy()
        self.subgame.part.insert(self.result.strategy, self.after, players=(self.searcher,))

    def responses(self) -> tuple[float, float]:
        """Returns what the opponent's best response to the whole strategy earns, before and after."""
        before = self.blueprint.evaluate().best_response_values[self.opponent]
        return before, evaluate(self.blueprint.tree, self.after).best_response_values[self.opponent]

    def decisions(self) -> list[dict[str, Any]]:
        """Returns what the searcher does in each private state at the public state, if it moves there."""
        tree = self.blueprint.tree
        if tree.actor[self.node] != self.searcher:
            return []
        labels = find_private_labels(tree, self.node, self.searcher)
        names = tree.action_labels[self.node]
        policies = [read_policy(tree, self.node, strategy) for strategy in (self.blueprint.strategy, self.after)]
        legal = read_policy(tree, self.node, tree.legal_share) > 0
        return [
            {
                "infostate": label,
                **{
                    key: {name: float(policy[k, a]) for a, name in enumerate(names) if legal[k, a]}
                    for key, policy in zip(("before", "after"), policies, strict=True)
                },
            }
            for k, label in enumerate(labels)
        ]

    def margins(self) -> list[dict[str, Any]]:
        """Returns alternative, new value and margin of every private state of the opponent."""
        labels = find_private_labels(self.blueprint.tree, self.node, self.opponent)
        return [{"private": label, **self.margin_of(k)} for k, label in enumerate(labels) if self.result.possible[k]]


def find_state(tree: PublicTree, text: str) -> int:
    """Returns the node of a public state that can be searched."""
    node = find_public_state(tree, text)
    if tree.actor[node] == TERMINAL:
        raise ConfigError(f"the game is over at {text!r}: there is nothing to search")
    return node
