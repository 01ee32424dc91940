# SPDX-License-Identifier: Apache-2.0
"""Files of hands that were played, whatever their format."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from equipoise.core.errors import ConfigError
from equipoise.games.holdem.acpc import read_log
from equipoise.games.holdem.betting import BettingRules
from equipoise.games.holdem.phh import read_phh
from equipoise.games.holdem.records import RecordedHand

__all__ = ["is_log", "read_hands"]

LOG_SUFFIXES: Final = (".log", ".acpc")


def is_log(path: Path) -> bool:
    """Returns whether a file is called as logs of the ACPC are, which do not say blinds and stacks."""
    return path.suffix.lower() in LOG_SUFFIXES


def read_hands(path: Path, rules: BettingRules) -> list[RecordedHand]:
    """Returns the hands of a file: a log of the ACPC, played by `rules`, if it is called .log or .acpc, else PHH."""
    hands = list(read_log(path, rules) if is_log(path) else read_phh(path))
    if not hands:
        raise ConfigError(f"{path} has no hands")
    return hands
