# SPDX-License-Identifier: Apache-2.0
"""Equipoise solves, learns, searches, plays and measures games with hidden information.

The names below are loaded when they are first used, so that importing the package costs nothing::

    import equipoise

    solution = equipoise.solve("turn.toml", rule="dcfr", target="0.5%")  # or a game: "leduc"
    solution.save("turn.eq")
    print(solution, solution.view("check, bet 50%").frequencies)
    found = equipoise.load("turn.eq").search("check", "reach-maxmargin")
    print(equipoise.match("search:turn.eq", "file:turn.eq", hands=1000).estimate())

>>> import equipoise
>>> equipoise.__version__.count(".")
2
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from equipoise.core.lazy import lazy_names

if TYPE_CHECKING:
    from equipoise import (
        abstraction,
        agents,
        core,
        distributed,
        evaluation,
        games,
        learning,
        responses,
        runs,
        search,
        solvers,
        studies,
        trees,
    )
    from equipoise.core.errors import CheckpointError, ConfigError, EquipoiseError, GameTooLargeError, ParseError
    from equipoise.core.progress import Progress
    from equipoise.evaluation.matches import MatchResult
    from equipoise.evaluation.plots import plot_convergence
    from equipoise.games.base import Game
    from equipoise.games.base_game import BaseGame
    from equipoise.games.conformance import check_game
    from equipoise.games.holdem.spot import HoldemSpot
    from equipoise.games.holdem.spot_file import SpotFile
    from equipoise.games.registry import game_names, make_game, parse_game
    from equipoise.responses.exact import AbstractBestResponse, BestResponse, LibraryResponse, StaticResponse
    from equipoise.responses.mixtures import MixedResponse
    from equipoise.responses.outcomes import AgainstSolution, solve_against
    from equipoise.responses.protocol import Response
    from equipoise.responses.sampled import FBRResponse, UCTResponse
    from equipoise.runs.evaluation import evaluate
    from equipoise.runs.matches import match
    from equipoise.runs.request import RunRequest, load_spot
    from equipoise.runs.run import Run
    from equipoise.runs.solution import Solution, load, prepare_run, solve
    from equipoise.solvers.best_response import Evaluation
    from equipoise.solvers.holdem.view import NodeView
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
    from equipoise.studies.reproduction import reproduce
    from equipoise.trees.history import HistoryTree, build_history_tree

__all__ = [
    "CFR",
    "DCFR",
    "AbstractBestResponse",
    "AgainstSolution",
    "BaseGame",
    "BestResponse",
    "CFRPlus",
    "CheckpointError",
    "ConfigError",
    "DCFRPlus",
    "EquipoiseError",
    "Evaluation",
    "FBRResponse",
    "Form",
    "Game",
    "GameTooLargeError",
    "Hedge",
    "HistoryTree",
    "HoldemSpot",
    "LibraryResponse",
    "LinearCFR",
    "LinearCFRPlus",
    "MatchResult",
    "Minimizer",
    "MinimizerSite",
    "MixedResponse",
    "NodeView",
    "NormalHedge",
    "Optimistic",
    "ParseError",
    "PredictiveCFRPlus",
    "Progress",
    "Response",
    "Run",
    "RunRequest",
    "Solution",
    "SpotFile",
    "StaticResponse",
    "TabularStrategy",
    "UCTResponse",
    "__version__",
    "abstraction",
    "agents",
    "build_history_tree",
    "check_game",
    "core",
    "distributed",
    "evaluate",
    "evaluation",
    "game_names",
    "games",
    "learning",
    "load",
    "load_spot",
    "make_game",
    "match",
    "mix_strategies",
    "parse_game",
    "plot_convergence",
    "prepare_run",
    "reproduce",
    "responses",
    "runs",
    "search",
    "solve",
    "solve_against",
    "solvers",
    "studies",
    "trees",
]

__version__ = "0.1.0"

if not TYPE_CHECKING:  # or a misspelt name would be of type Any to users
    __getattr__, __dir__ = lazy_names(__name__, __all__)
