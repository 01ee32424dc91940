# SPDX-License-Identifier: Apache-2.0
"""Games of a study in parts: an interrupted study keeps them, and the next one with the same folder goes on."""

from __future__ import annotations

import dataclasses
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from equipoise.core.local_pool import LocalPool
from equipoise.evaluation.matches import ChunkPlayer, MatchConfig, MatchResult, run_match

__all__ = ["name_file", "play_in_parts"]

LONGEST_NAME: Final = 120


def name_file(*parts: str) -> str:
    """Returns a file's name for games of such agents.

    >>> name_file("supremus:nets=a/b", "call")
    'supremus-nets-a-b-call.eq'
    """
    return re.sub(r"[^A-Za-z0-9+.]+", "-", "-".join(parts))[:LONGEST_NAME] + ".eq"


def play_in_parts(
    play: ChunkPlayer, config: MatchConfig, *, label: str, keep: str = "", name: str = "games.eq", workers: int = 1
) -> Iterator[MatchResult]:
    """Yields the games so far, chunk by chunk, those of an earlier study in the same folder first.

    Args:
        play: who plays.
        config: how many deals, and what stops before.
        label: of the game.
        keep: a folder for games; none: they are forgotten.
        name: of the file in it.
        workers: processes that play.
    """
    with tempfile.TemporaryDirectory() as temporary, LocalPool(workers) as pool:
        folder = Path(keep or temporary)
        folder.mkdir(parents=True, exist_ok=True)
        num_deals = 0
        while num_deals < config.num_deals:
            wanted = dataclasses.replace(config, num_deals=min(num_deals + config.deals_per_chunk, config.num_deals))
            result = run_match(play, wanted, pool=pool, path=folder / name, is_resumed=True, label=label)
            num_deals = result.num_deals
            yield result
            if result.stopped_by == "precision":
                return
