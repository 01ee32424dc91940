# SPDX-License-Identifier: Apache-2.0
"""Work as a user asks for it: a solve of a game or a spot from its options to its file, searches in it, matches."""

from typing import TYPE_CHECKING

from equipoise.core.lazy import lazy_names

if TYPE_CHECKING:
    from equipoise.runs.evaluation import evaluate
    from equipoise.runs.export import export_spot
    from equipoise.runs.game_run import GameRun
    from equipoise.runs.locking import add_locks
    from equipoise.runs.matches import MatchRequest, match
    from equipoise.runs.request import RunRequest, load_spot
    from equipoise.runs.run import Run, RunSizes
    from equipoise.runs.search_game import GameSearch
    from equipoise.runs.search_request import DoneSearch, SearchRequest
    from equipoise.runs.search_spot import SpotSearch
    from equipoise.runs.solution import Solution, load, prepare_run, solve
    from equipoise.runs.spot_run import SpotRun

__all__ = [
    "DoneSearch",
    "GameRun",
    "GameSearch",
    "MatchRequest",
    "Run",
    "RunRequest",
    "RunSizes",
    "SearchRequest",
    "Solution",
    "SpotRun",
    "SpotSearch",
    "add_locks",
    "evaluate",
    "export_spot",
    "load",
    "load_spot",
    "match",
    "prepare_run",
    "solve",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(__name__, __all__)
