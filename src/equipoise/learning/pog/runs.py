# SPDX-License-Identifier: Apache-2.0
"""Trainings of values and policies as folders: settings, events, weights, and the state from which they go on.

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
from equipoise.learning.pog.games import SelfPlayGame, check_public_net
from equipoise.learning.pog.settings import PogSettings
from equipoise.learning.shipped import WEIGHTS, find_folder, list_folders
from equipoise.learning.values.weights import StoredNet
from equipoise.search.continual import ContinualSettings
from equipoise.search.gadgets import Resolve
from equipoise.search.growing_tree import Growth
from equipoise.search.net_leaves import NetLeaves

__all__ = [
    "KIND",
    "NET",
    "SHIPPED",
    "STATE",
    "PogRun",
    "check_same_settings",
    "find_run",
    "list_shipped",
    "play_settings",
]

KIND: Final = "pog"  # of a run's folder
NET: Final = "net.safetensors"
STATE: Final = "state.eq"
SHIPPED: Final = WEIGHTS / "pog"

# what may differ when a run goes on: it does not change what is learnt
FREE: Final = frozenset({"checks", "check_seeds", "seeds", "share"})


def play_settings(settings: PogSettings, leaves: NetLeaves, growth: Growth | None = None) -> ContinualSettings:
    """Returns how decisions are searched in play: again and safely, at both players' turns."""
    return ContinualSettings(
        growth=growth or settings.growth,
        leaves=leaves,
        method=Resolve(share=settings.share),
        is_watchful=True,
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class PogRun:
    """A training that can be played with."""

    path: Path
    game: SelfPlayGame
    settings: PogSettings
    net: StoredNet

    @classmethod
    def open(cls, path: StrPath) -> PogRun:
        """Returns the run in a folder; raises `CheckpointError` or `ConfigError` if there is none that can play."""
        folder = RunFolder(path)
        folder.check_kind(KIND)
        if not (folder.path / NET).exists():
            raise CheckpointError(f"{path} has no {NET} yet: nothing was learnt so far")
        game = SelfPlayGame(parse_game(str(folder.config.get("game", ""))))
        settings = PogSettings.from_dict(folder.config.get("settings", {}))
        net = StoredNet.load(folder.path / NET)
        check_public_net(net, game.game)
        if net.config.public_sizes != game.features.sizes:
            raise ConfigError(
                f"{folder.path / NET} was made for {net.config.public_sizes}, and {format_game(game.game)} has "
                f"{game.features.sizes}"
            )
        return cls(path=folder.path, game=game, settings=settings, net=net)

    def check_game(self, game: Game[Any]) -> None:
        """Raises `ConfigError` unless the run is of a game."""
        check_public_net(self.net, game)

    def leaves(self) -> NetLeaves:
        """Returns the network as searches ask it."""
        return self.game.leaves(self.net, temperature=self.settings.prior_temperature)

    def play(self, growth: Growth | None = None, *, share: float | None = None, seed: int = 0) -> ContinualSettings:
        """Returns how decisions are searched, as in the run's tests unless told otherwise."""
        settings = self.settings if share is None else dataclasses.replace(self.settings, share=share)
        found = play_settings(settings, self.leaves(), growth)
        return dataclasses.replace(found, seed=seed)


def check_same_settings(folder: RunFolder, game: Game[Any], settings: PogSettings) -> None:
    """Raises `ConfigError` unless a run that goes on has the game and the settings that it began with."""
    began = PogSettings.from_dict(folder.config.get("settings", {})).as_dict()
    folder.check_same({"game": format_game(game), **settings.as_dict()}, free=FREE, began=began)


def list_shipped() -> list[str]:
    """Returns the runs that come with the package."""
    return list_folders(SHIPPED)


def find_run(text: str) -> Path:
    """Returns the folder of a run: one that there is, or one that comes with the package, by name."""
    return find_folder(text, SHIPPED)
