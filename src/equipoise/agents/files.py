# SPDX-License-Identifier: Apache-2.0
"""Agents from files: strategies and runs of games, solved hold'em spots, blueprints in buckets."""

from __future__ import annotations

import dataclasses
import hashlib
import os
from pathlib import Path
from typing import Any

import numpy as np

from equipoise.abstraction.bucketed_strategy import SolvedBuckets
from equipoise.abstraction.solutions import is_table_text, open_solution
from equipoise.agents.base import PolicyAgent
from equipoise.agents.holdem.translated import HoldemTranslatingAgent
from equipoise.agents.search import SearchAgent, SearchPlan, SearchWhen
from equipoise.agents.strategies import StrategyAgent
from equipoise.core.checkpoint import DIGEST_BYTES, Kind, digest_file
from equipoise.core.checks import check_path
from equipoise.core.errors import ConfigError
from equipoise.core.files import StrPath, describe_os_error
from equipoise.games.base import Game
from equipoise.games.holdem.betting import Street
from equipoise.games.holdem.rules import Holdem
from equipoise.games.holdem.spot_game import game_of_spot
from equipoise.search.gadgets import Method
from equipoise.search.holdem.profile import HoldemProfile
from equipoise.search.last_iterates import find_response, needs_response
from equipoise.search.public import PublicProfile
from equipoise.search.settings import SearchSettings
from equipoise.solvers.holdem.solved_spot import SolvedSpot
from equipoise.solvers.solution_file import SolvedGame
from equipoise.trees.cache import load_or_build_public_tree
from equipoise.trees.holdem.places import HoldemStrategy

__all__ = [
    "FileSearch",
    "digest_of_file",
    "game_of_file",
    "is_holdem_file",
    "load_agent",
    "load_policy",
    "load_profile",
    "load_search_agent",
    "load_translating_agent",
]


def load_agent(path: StrPath, game: Game[Any] | None = None) -> PolicyAgent:
    """Returns an agent that plays the strategy in a file.

    Args:
        path: a strategy, a run, a solved spot or a blueprint.
        game: what will be played; the file's own game if None.

    >>> import tempfile
    >>> from equipoise.runs import match, solve
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     solve("kuhn", iterations=100).save(f"{folder}/kuhn.eq")
    ...     agent = load_agent(f"{folder}/kuhn.eq")
    >>> match(agent, "uniform", game="kuhn", hands=100).estimate().mean > 0
    True
    """
    name = _name_of(path)
    solution = open_solution(path, game=game if is_table_text(path) else None)
    if not isinstance(solution, SolvedGame):
        return StrategyAgent(_take_strategy(solution), game, name=name)
    with solution:
        _check_game(solution, game)
        return StrategyAgent(solution.table, name=name, is_partial=solution.is_partial)


def game_of_file(path: StrPath) -> Game[Any] | None:
    """Returns the game that a file's strategy is for, None for a table that does not say."""
    if is_table_text(path):
        return None
    with open_solution(path) as solution:
        return solution.game


def digest_of_file(path: StrPath) -> str:
    """Returns a short hash over the content of an agent's file."""
    if not is_table_text(path):
        return digest_file(path)
    try:
        return hashlib.blake2b(Path(path).read_bytes(), digest_size=DIGEST_BYTES).hexdigest()
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {describe_os_error(error)}") from None


def is_holdem_file(path: StrPath) -> bool:
    """Returns whether a file has a strategy by hands."""
    if is_table_text(path):
        return False
    with open_solution(path) as solution:
        return not isinstance(solution, SolvedGame)


def load_policy(path: StrPath) -> HoldemStrategy:
    """Returns what every hand plays by a solved spot or a blueprint in buckets."""
    solution = open_solution(path, Kind.SPOT, Kind.BLUEPRINT)
    assert not isinstance(solution, SolvedGame)
    return _take_strategy(solution)


def load_profile(path: StrPath, method: Method) -> HoldemProfile:
    """Returns a solved spot or a blueprint in buckets as searches by a method ask for it."""
    solution = open_solution(path, Kind.SPOT, Kind.BLUEPRINT)
    assert not isinstance(solution, SolvedGame)
    response = find_response(solution) if needs_response(method) else None
    return HoldemProfile(_take_strategy(solution), response=response)


def _take_strategy(solution: SolvedSpot | SolvedBuckets) -> HoldemStrategy:
    """Returns the strategy of a file, which is closed unless boards are still to be read from it."""
    strategy = solution.strategy
    if isinstance(strategy.sums, np.ndarray):
        solution.close()
    return strategy


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class FileSearch:
    """What is wanted of searches over a file; what is None is left to the agent that plays the file."""

    method: Method | None = None
    iterations: int | None = None  # of CFR for every search; in hold'em of those on the last street
    when: SearchWhen | None = None
    # of hold'em alone
    early_iterations: int | None = None  # of CFR where a street follows
    first_street: Street | None = None  # no search begins before it, unless an unknown bet makes one
    is_expensive: bool = False  # unknown bets are solved from before them on

    def check_tree(self, path: StrPath) -> None:
        """Raises where what is wanted is not for searches of a game other than hold'em by hands."""
        wanted = {"a first street": self.first_street, "a number of early iterations": self.early_iterations}
        wanted["the expensive form"] = self.is_expensive or None
        for name, value in wanted.items():
            if value is not None:
                raise ConfigError(f"{name} is for searches of hold'em, and {path} is a strategy of another game")

    @property
    def plan(self) -> SearchPlan:
        """Returns how and where an agent searches."""
        how = _given(method=self.method, iterations=self.iterations, early_iterations=self.early_iterations)
        where = _given(when=self.when, first_street=self.first_street)
        if self.first_street is not None:
            where["first_reply"] = min(SearchPlan().first_reply, self.first_street)
        return SearchPlan(search=SearchSettings(is_expensive=self.is_expensive, **how), **where)


def _given(**values: Any) -> dict[str, Any]:
    """Returns what is not None."""
    return {name: value for name, value in values.items() if value is not None}


def load_search_agent(path: StrPath, game: Game[Any] | None, search: FileSearch) -> PolicyAgent:
    """Returns an agent that searches over the strategy in a file.

    Args:
        path: as for `load_agent`.
        game: what will be played; the file's own game if None.
        search: how and where it searches.
    """
    name, plan = _name_of(path), search.plan
    if is_holdem_file(path):
        profile = load_profile(path, plan.search.method)
        return SearchAgent(profile, game=_play_holdem(profile.strategy, game), plan=plan, name=name)
    with open_solution(path, game=game if is_table_text(path) else None) as solution:
        assert isinstance(solution, SolvedGame)
        search.check_tree(path)
        tree = load_or_build_public_tree(_check_game(solution, game))
        response = find_response(solution, tree) if needs_response(plan.search.method) else None
        blueprint = PublicProfile(tree, solution.table.to_tree(tree), response=response)
        return SearchAgent(blueprint, plan=plan, name=name)


def load_translating_agent(path: StrPath, game: Game[Any] | None) -> HoldemTranslatingAgent:
    """Returns an agent that plays a file's strategy of hold'em and takes unknown bets for known ones."""
    if not is_holdem_file(path):
        raise ConfigError(f"translation is for bets of hold'em, and {path} has no strategy by hands")
    policy = load_policy(path)
    return HoldemTranslatingAgent(policy, _play_holdem(policy, game), name=_name_of(path))


def _check_game(solution: SolvedGame, game: Game[Any] | None) -> Game[Any]:
    """Returns the game of a file; raises unless that is the game to be played."""
    own = solution.game
    if game is not None and game.spec.label != own.spec.label:
        raise ConfigError(f"{solution.path} is a strategy for {own.spec.label}, the game is {game.spec.label}")
    return own


def _name_of(path: StrPath) -> str:
    check_path(path)
    return os.path.splitext(os.path.basename(path))[0]


def _play_holdem(policy: HoldemStrategy, game: Game[Any] | None) -> Holdem:
    """Returns the game that is played, which is the policy's own if none is given."""
    if game is None:
        return game_of_spot(policy.tree.spot)
    if not isinstance(game, Holdem):
        raise ConfigError(f"a strategy of hold'em plays hold'em, got the game {game.spec.name}")
    return game
