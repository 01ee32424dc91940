# SPDX-License-Identifier: Apache-2.0
"""Trainings by Deep CFR as folders: settings, events, strategies that play, and the state from which they go on.

Playing a game that has a tree needs no torch: its strategies are kept as tables.
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
from equipoise.learning.deep_cfr.settings import DeepCFRSettings, Player

__all__ = ["KIND", "NET", "STATE", "TABLES", "DeepCFRRun", "check_same_settings"]

KIND: Final = "deep-cfr"  # of a run's folder
STATE: Final = "state.eq"
NET: Final = "policy.safetensors"  # of games without a tree
TABLES: Final = {Player.POLICY: "policy.eq", Player.VALUES: "values.eq"}  # of games with one

# what may differ when a run goes on: it does not change what is learnt
FREE: Final = frozenset({"checks", "player", "policy_steps", "iterations"})


@dataclasses.dataclass(frozen=True, kw_only=True)
class DeepCFRRun:
    """A training that can be played with."""

    path: Path
    game: Game[Any]
    settings: DeepCFRSettings

    @classmethod
    def open(cls, path: StrPath) -> DeepCFRRun:
        """Returns the run in a folder; raises `CheckpointError` or `ConfigError` if there is none."""
        folder = RunFolder(path)
        folder.check_kind(KIND)
        return cls(
            path=folder.path,
            game=parse_game(str(folder.config.get("game", ""))),
            settings=DeepCFRSettings.from_dict(folder.config.get("settings", {})),
        )

    def check_game(self, game: Game[Any]) -> None:
        """Raises `ConfigError` unless the run is of a game."""
        if format_game(game) != format_game(self.game):
            raise ConfigError(f"{self.path} was trained on {format_game(self.game)}, not on {format_game(game)}")

    def find_table(self, player: Player | None = None) -> Path | None:
        """Returns the file of what plays, None where a network does; raises `CheckpointError` if there is neither yet.

        Args:
            player: what plays; None: as the run was told, or what there is.
        """
        wanted = [player] if player is not None else [self.settings.player, *Player]
        for one in wanted:
            if (self.path / TABLES[one]).exists():
                return self.path / TABLES[one]
        if (self.path / NET).exists() and player is not Player.VALUES:
            return None
        missing = NET if player is None else TABLES[player]
        raise CheckpointError(f"{self.path} has no {missing}: nothing that plays so was learnt yet")


def check_same_settings(folder: RunFolder, game: Game[Any], settings: DeepCFRSettings) -> None:
    """Raises `ConfigError` unless a run that goes on has the game and the settings that it began with."""
    began = DeepCFRSettings.from_dict(folder.config.get("settings", {})).as_dict()
    folder.check_same({"game": format_game(game), **settings.as_dict()}, free=FREE, began=began)
