# SPDX-License-Identifier: Apache-2.0
"""Agents from files: strategies and runs of games, solved hold'em spots, blueprints in buckets."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from typing import Any

from equipoise.abstraction.bucketed_strategy import BucketedStrategy
from equipoise.agents.base import PolicyAgent
from equipoise.agents.holdem import HoldemAgent
from equipoise.agents.holdem_search import HoldemSearchAgent, HoldemSearchPlan
from equipoise.agents.holdem_translated import HoldemTranslatingAgent
from equipoise.agents.search import SearchAgent, SearchSettings, SearchWhen
from equipoise.agents.tables import TableAgent
from equipoise.core import checkpoint
from equipoise.core.checkpoint import Checkpoint, CheckpointReader, Kind
from equipoise.core.errors import CheckpointError, ConfigError
from equipoise.core.files import StrPath
from equipoise.games.base import Game
from equipoise.games.holdem.betting import Street
from equipoise.games.holdem.rules import Holdem
from equipoise.games.holdem.spot_game import game_of_spot
from equipoise.games.registry import make_game, parse_game
from equipoise.search.gadgets import Method
from equipoise.search.holdem_nested import HoldemSearchSettings
from equipoise.solvers.holdem.file import StoredSpot
from equipoise.solvers.solve import Form
from equipoise.solvers.strategy import TabularStrategy
from equipoise.trees.holdem.places import HoldemStrategy
from equipoise.trees.vector import TreeStrategy

__all__ = [
    "FileSearch",
    "game_of_file",
    "game_of_metadata",
    "is_holdem_file",
    "load_agent",
    "load_policy",
    "load_search_agent",
    "load_translating_agent",
]

LARGEST_READ_BYTES = 256_000_000  # of a spot's table that is kept in memory; of larger ones boards are read


def load_agent(path: StrPath, game: Game[Any] | None = None) -> PolicyAgent:
    """Returns an agent that plays the strategy in a file.

    Args:
        path: a strategy, a run, a solved spot or a blueprint.
        game: what will be played; the file's own game if None.
    """
    name = _name_of(path)
    if is_holdem_file(path):
        policy = load_policy(path)
        return HoldemAgent(policy, _play_holdem(policy, game), name=name)
    content, _ = _load_table(path, game)
    is_partial = content.metadata.get("form") == Form.GAME
    return TableAgent(TabularStrategy.decode(content), name=name, is_partial=is_partial)


def game_of_file(path: StrPath) -> Game[Any]:
    """Returns the game that a file's strategy is for."""
    kind = kind_of_file(path)
    if kind is Kind.SPOT:
        with StoredSpot(path) as stored:
            return game_of_spot(stored.file.spot)
    if kind is Kind.BLUEPRINT:
        return game_of_spot(BucketedStrategy.load(path).tree.spot)
    return game_of_metadata(path, checkpoint.load(path, Kind.RUN, Kind.STRATEGY).metadata)


def kind_of_file(path: StrPath) -> Kind:
    """Returns what a file holds; raises `CheckpointError` if it is none of ours."""
    with CheckpointReader(path) as reader:
        return reader.kind


def is_holdem_file(path: StrPath) -> bool:
    """Returns whether a file has a strategy by hands."""
    return kind_of_file(path) in (Kind.SPOT, Kind.BLUEPRINT)


def load_policy(path: StrPath) -> HoldemStrategy:
    """Returns what every hand plays by a solved spot or a blueprint in buckets."""
    if kind_of_file(path) is Kind.BLUEPRINT:
        return BucketedStrategy.load(path)
    stored = StoredSpot(path)
    if stored.strategy_sum.num_bytes > LARGEST_READ_BYTES:
        return TreeStrategy(stored.tree, stored.strategy_sum)  # the open file is the agent's
    with stored:
        return TreeStrategy(stored.tree, stored.strategy_sum.read())


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

    def for_tree(self, path: StrPath) -> SearchSettings:
        """Returns how a game other than hold'em by hands is searched; raises where what is wanted is not for it."""
        wanted = {"a first street": self.first_street, "a number of early iterations": self.early_iterations}
        wanted["the expensive form"] = self.is_expensive or None
        for name, value in wanted.items():
            if value is not None:
                raise ConfigError(f"{name} is for searches of hold'em, and {path} is a strategy of another game")
        return SearchSettings(**_given(method=self.method, iterations=self.iterations, when=self.when))

    def for_holdem(self) -> HoldemSearchPlan:
        """Returns how and where hold'em is searched."""
        how = _given(method=self.method, iterations=self.iterations, early_iterations=self.early_iterations)
        search = HoldemSearchSettings(is_expensive=self.is_expensive, **how)
        where = _given(when=self.when, first_street=self.first_street)
        if self.first_street is not None:
            where["first_reply"] = min(HoldemSearchPlan().first_reply, self.first_street)
        return HoldemSearchPlan(search=search, **where)


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
    name = _name_of(path)
    if is_holdem_file(path):
        policy = load_policy(path)
        return HoldemSearchAgent(policy, _play_holdem(policy, game), plan=search.for_holdem(), name=name)
    settings = search.for_tree(path)
    content, own = _load_table(path, game)
    return SearchAgent.from_table(own, TabularStrategy.decode(content), search=settings, name=name)


def load_translating_agent(path: StrPath, game: Game[Any] | None) -> HoldemTranslatingAgent:
    """Returns an agent that plays a file's strategy of hold'em and takes unknown bets for known ones."""
    if not is_holdem_file(path):
        raise ConfigError(f"translation is for bets of hold'em, and {path} has no strategy by hands")
    policy = load_policy(path)
    name = _name_of(path)
    return HoldemTranslatingAgent(policy, _play_holdem(policy, game), name=name)


def _load_table(path: StrPath, game: Game[Any] | None) -> tuple[Checkpoint, Game[Any]]:
    """Returns a file of information states and its game; raises unless that is the game to be played."""
    content = checkpoint.load(path, Kind.RUN, Kind.STRATEGY)
    own = game_of_metadata(path, content.metadata)
    if game is not None and game.spec.label != own.spec.label:
        raise ConfigError(f"{path} is a strategy for {own.spec.label}, the game is {game.spec.label}")
    return content, own


def _name_of(path: StrPath) -> str:
    return os.path.splitext(os.path.basename(path))[0]


def _play_holdem(policy: HoldemStrategy, game: Game[Any] | None) -> Holdem:
    """Returns the game that is played, which is the policy's own if none is given."""
    if game is None:
        return game_of_spot(policy.tree.spot)
    if not isinstance(game, Holdem):
        raise ConfigError(f"a strategy of hold'em plays hold'em, got the game {game.spec.name}")
    return game


def game_of_metadata(path: StrPath, found: Mapping[str, Any]) -> Game[Any]:
    """Returns the game that the metadata of a strategy or a run name; raises if its rules have changed since."""
    if "game" not in found:
        return parse_game(str(found.get("game_label")))
    name, parameters = found["game"], found.get("parameters")
    if not isinstance(name, str) or not isinstance(parameters, dict) or "game_version" not in found:
        raise CheckpointError(f"{path} does not describe its game: it has {name!r} with parameters {parameters!r}")
    game = make_game(name, **parameters)
    if game.spec.version != found["game_version"]:
        raise CheckpointError(
            f"{path} was solved under version {found['game_version']} of {game.spec.name}, "
            f"this is version {game.spec.version}"
        )
    return game
