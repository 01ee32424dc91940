# SPDX-License-Identifier: Apache-2.0
"""Trainings of values of beliefs as folders: settings, events, weights, and the state from which they go on.

Reading a run and playing with it needs no torch.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any, Final

from equipoise.core.errors import CheckpointError, ConfigError
from equipoise.core.files import StrPath
from equipoise.core.runs import RunFolder
from equipoise.games.base import Game
from equipoise.games.registry import format_game, parse_game
from equipoise.learning.rebel.nets import bind_belief_net, bind_elsewhere, check_belief_net
from equipoise.learning.rebel.policies import bind_guide
from equipoise.learning.rebel.self_play import BeliefSearcher
from equipoise.learning.rebel.settings import RebelSettings, SearchRecipe
from equipoise.learning.shipped import WEIGHTS, find_folder, list_folders
from equipoise.learning.values.configuration import NetKind
from equipoise.learning.values.weights import StoredNet
from equipoise.search.belief_games import BeliefGame, parse_horizon

__all__ = ["KIND", "NET", "POLICY", "SHIPPED", "STATE", "RebelRun", "check_same_settings", "find_run", "list_shipped"]

KIND: Final = "rebel"  # of a run's folder
NET: Final = "net.safetensors"
POLICY: Final = "policy.safetensors"
STATE: Final = "state.eq"
SHIPPED: Final = WEIGHTS / "rebel"

# what may differ when a run goes on: it does not change what is learnt
FREE: Final = frozenset({"checks", "check_playthroughs", "playthroughs"})


@dataclasses.dataclass(frozen=True, kw_only=True)
class RebelRun:
    """A training that can be played with."""

    path: Path
    game: Game[Any]
    settings: RebelSettings
    net: StoredNet
    policy: StoredNet | None  # that proposes what searches begin with

    @classmethod
    def open(cls, path: StrPath) -> RebelRun:
        """Returns the run in a folder; raises `CheckpointError` or `ConfigError` if there is none that can play."""
        folder = RunFolder(path)
        folder.check_kind(KIND)
        game = parse_game(str(folder.config.get("game", "")))
        settings = RebelSettings.from_dict(folder.config.get("settings", {}))
        for name in (NET, POLICY) if settings.warm_start else (NET,):
            if not (folder.path / name).exists():
                raise CheckpointError(f"{path} has no {name} yet: nothing was learnt so far")
        net = StoredNet.load(folder.path / NET)
        check_belief_net(net, game)
        policy = StoredNet.load(folder.path / POLICY) if settings.warm_start else None
        if policy is not None:
            check_belief_net(policy, game, kind=NetKind.POLICY)
        return cls(path=folder.path, game=game, settings=settings, net=net, policy=policy)

    def check_game(self, game: Game[Any]) -> None:
        """Raises `ConfigError` unless the run is of a game."""
        check_belief_net(self.net, game)

    def searcher(self, recipe: SearchRecipe | None = None, *, horizon: str | None = None) -> BeliefSearcher:
        """Returns how the run plays: as it was tested, unless told otherwise.

        Raises:
            ConfigError: the network is of another form of the game, or no search of its training ended where those of
                the horizon would.
        """
        form = BeliefGame.of(self.game, parse_horizon(self.settings.horizon))
        if (form.num_kinds, form.width) != (self.net.config.kinds, self.net.config.buckets):
            raise ConfigError(
                f"{self.path / NET} knows {self.net.config.kinds} kinds of public states, and {format_game(self.game)} "
                f"has {form.num_kinds}"
            )
        if horizon is None:
            net = bind_belief_net(self.net)
        else:
            trained, form = form, form.with_limit(parse_horizon(horizon))
            net = bind_elsewhere(self.net, trained, form)
        guide = bind_guide(form, self.policy, self.settings)
        return BeliefSearcher(form, recipe or self.settings.test, net=net, guide=guide)


def check_same_settings(folder: RunFolder, game: Game[Any], settings: RebelSettings) -> None:
    """Raises `ConfigError` unless a run that goes on has the game and the settings that it began with."""
    began = RebelSettings.from_dict(folder.config.get("settings", {}))  # settings that are newer than the run: defaults
    folder.check_same({"game": format_game(game), **settings.as_dict()}, free=FREE, began=began.as_dict())


def list_shipped() -> list[str]:
    """Returns the runs that come with the package."""
    return list_folders(SHIPPED)


def find_run(text: str) -> Path:
    """Returns the folder of a run: one that there is, or one that comes with the package, by name."""
    return find_folder(text, SHIPPED)
