# SPDX-License-Identifier: Apache-2.0
"""Equipoise solves, learns, searches, plays and measures games with hidden information.

The names below are loaded when they are first used, so that importing the package costs nothing::

    import equipoise

    solution = equipoise.solve("turn.toml", rule="dcfr", target="0.5%")  # or a game: "leduc"
    solution.save("turn.eq")
    print(solution, solution.view("check, bet 50%").frequencies)
    found = equipoise.load("turn.eq").search("check", "reach-maxmargin")
    print(equipoise.match("search:turn.eq", "file:turn.eq", hands=1000).estimate())
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from equipoise import agents
    from equipoise.core.errors import EquipoiseError
    from equipoise.core.progress import Progress
    from equipoise.games.base_game import BaseGame
    from equipoise.games.conformance import check_game
    from equipoise.games.registry import game_names, make_game, parse_game
    from equipoise.responses.exact import AbstractBestResponse, BestResponse, LibraryResponse, StaticResponse
    from equipoise.responses.mixtures import MixedResponse
    from equipoise.responses.protocol import Response
    from equipoise.responses.sampled import FBRResponse, UCTResponse
    from equipoise.responses.solve_against import AgainstSolution, solve_against
    from equipoise.runs.matches import match
    from equipoise.runs.request import RunRequest, load_spot
    from equipoise.runs.run import Run
    from equipoise.runs.solution import Solution, load, prepare_run, solve
    from equipoise.solvers.best_response import Evaluation, evaluate
    from equipoise.solvers.own_minimizers import Minimizer, MinimizerSite
    from equipoise.solvers.rules import (
        CFR,
        DCFR,
        CFRPlus,
        DCFRPlus,
        Hedge,
        LinearCFR,
        LinearCFRPlus,
        NormalHedge,
        Optimistic,
        PredictiveCFRPlus,
    )
    from equipoise.solvers.stopping import Form
    from equipoise.solvers.strategy import TabularStrategy, mix_strategies
    from equipoise.trees.history import HistoryTree, build_history_tree

__all__ = [
    "CFR",
    "DCFR",
    "AbstractBestResponse",
    "AgainstSolution",
    "BaseGame",
    "BestResponse",
    "CFRPlus",
    "DCFRPlus",
    "EquipoiseError",
    "Evaluation",
    "FBRResponse",
    "Form",
    "Hedge",
    "HistoryTree",
    "LibraryResponse",
    "LinearCFR",
    "LinearCFRPlus",
    "Minimizer",
    "MinimizerSite",
    "MixedResponse",
    "NormalHedge",
    "Optimistic",
    "PredictiveCFRPlus",
    "Progress",
    "Response",
    "Run",
    "RunRequest",
    "Solution",
    "StaticResponse",
    "TabularStrategy",
    "UCTResponse",
    "__version__",
    "agents",
    "build_history_tree",
    "check_game",
    "evaluate",
    "game_names",
    "load",
    "load_spot",
    "make_game",
    "match",
    "mix_strategies",
    "parse_game",
    "prepare_run",
    "solve",
    "solve_against",
]

__version__ = "0.1.0"

_HOMES: Final = {
    "equipoise.core.errors": ("EquipoiseError",),
    "equipoise.core.progress": ("Progress",),
    "equipoise.games.base_game": ("BaseGame",),
    "equipoise.games.conformance": ("check_game",),
    "equipoise.games.registry": ("game_names", "make_game", "parse_game"),
    "equipoise.responses.exact": ("AbstractBestResponse", "BestResponse", "LibraryResponse", "StaticResponse"),
    "equipoise.responses.mixtures": ("MixedResponse",),
    "equipoise.responses.protocol": ("Response",),
    "equipoise.responses.sampled": ("FBRResponse", "UCTResponse"),
    "equipoise.responses.solve_against": ("AgainstSolution", "solve_against"),
    "equipoise.solvers.best_response": ("Evaluation", "evaluate"),
    "equipoise.solvers.own_minimizers": ("Minimizer", "MinimizerSite"),
    "equipoise.solvers.rules": (
        "CFR",
        "DCFR",
        "CFRPlus",
        "DCFRPlus",
        "Hedge",
        "LinearCFR",
        "LinearCFRPlus",
        "NormalHedge",
        "Optimistic",
        "PredictiveCFRPlus",
    ),
    "equipoise.runs.matches": ("match",),
    "equipoise.runs.request": ("RunRequest", "load_spot"),
    "equipoise.runs.run": ("Run",),
    "equipoise.runs.solution": ("Solution", "load", "prepare_run", "solve"),
    "equipoise.solvers.stopping": ("Form",),
    "equipoise.solvers.strategy": ("TabularStrategy", "mix_strategies"),
    "equipoise.trees.history": ("HistoryTree", "build_history_tree"),
}
_ROOMS: Final = ("agents",)  # that are used by their own name
_HOME_OF: Final = {name: home for home, names in _HOMES.items() for name in names}


if not TYPE_CHECKING:  # or a misspelt name would be of type Any to users

    def __getattr__(name: str) -> Any:
        if name in _ROOMS:
            return importlib.import_module(f"equipoise.{name}")
        if name not in _HOME_OF:
            raise AttributeError(f"module 'equipoise' has no attribute {name!r}")
        value = getattr(importlib.import_module(_HOME_OF[name]), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
