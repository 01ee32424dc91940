# SPDX-License-Identifier: Apache-2.0
"""How good agents are: matches, low-variance estimates, local best responses, ratings and rankings."""

from typing import TYPE_CHECKING

from equipoise.core.lazy import lazy_names

if TYPE_CHECKING:
    from equipoise.evaluation.assembly import (
        SeededExploitability,
        assemble_public_strategy,
        assemble_strategy,
        measure_seeds,
    )
    from equipoise.evaluation.cross_table import CrossTable, play_cross_table
    from equipoise.evaluation.holdem.lbr import HoldemLbr, measure_holdem_lbr
    from equipoise.evaluation.lbr import LocalResponse, measure_lbr, respond_locally
    from equipoise.evaluation.matches import MatchConfig, MatchResult, load_match
    from equipoise.evaluation.play import play_game
    from equipoise.evaluation.plots import PanelLabels, plot_bars, plot_convergence, plot_grids, plot_panels
    from equipoise.evaluation.ratings import Ratings, fit_elo, rank_by_bankroll, rank_by_runoff
    from equipoise.evaluation.statistics import Estimate, estimate_mean

__all__ = [
    "CrossTable",
    "Estimate",
    "HoldemLbr",
    "LocalResponse",
    "MatchConfig",
    "MatchResult",
    "PanelLabels",
    "Ratings",
    "SeededExploitability",
    "assemble_public_strategy",
    "assemble_strategy",
    "estimate_mean",
    "fit_elo",
    "load_match",
    "measure_holdem_lbr",
    "measure_lbr",
    "measure_seeds",
    "play_cross_table",
    "play_game",
    "plot_bars",
    "plot_convergence",
    "plot_grids",
    "plot_panels",
    "rank_by_bankroll",
    "rank_by_runoff",
    "respond_locally",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(__name__, __all__)
