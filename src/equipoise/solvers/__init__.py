# SPDX-License-Identifier: Apache-2.0
"""Equilibrium finding: rules, full-width and sampled CFR, first-order methods, the LP, best responses."""

from typing import TYPE_CHECKING

from equipoise.core.lazy import lazy_names

if TYPE_CHECKING:
    from equipoise.solvers.best_response import Evaluation, evaluate
    from equipoise.solvers.cfr import CFRSolver
    from equipoise.solvers.driver import Solver
    from equipoise.solvers.egt import EGTConfig, EGTSolver
    from equipoise.solvers.fictitious_play import FictitiousPlaySolver
    from equipoise.solvers.game_views import GameViews, StateView
    from equipoise.solvers.holdem.mccfr import HoldemMCCFRSolver
    from equipoise.solvers.holdem.push_fold import PushFold, PushFoldChart, solve_push_fold
    from equipoise.solvers.holdem.solved_spot import SolvedSpot
    from equipoise.solvers.holdem.view import NodeView, PlayerView, SpotViews
    from equipoise.solvers.infostate_rows import InfostateRows
    from equipoise.solvers.mccfr import MCCFRConfig, MCCFRSolver
    from equipoise.solvers.methods import METHODS
    from equipoise.solvers.openspiel_policies import from_openspiel, to_openspiel
    from equipoise.solvers.parametric import ParametricSolver, TransferReport, load_parametric_run
    from equipoise.solvers.pruning import PrunedSolver, Pruning
    from equipoise.solvers.rule_notation import format_rule, parse_rule, rule_names
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
        Rule,
        ScheduledDCFR,
        Thresholded,
    )
    from equipoise.solvers.saved_run import RunConfig, RunRecord
    from equipoise.solvers.sequence_lp import Equilibrium, solve_sequence_lp
    from equipoise.solvers.solution_file import SolutionFile, SolvedGame
    from equipoise.solvers.stopping import Form, Stopping, StopReason
    from equipoise.solvers.strategy import TabularStrategy, mix_strategies
    from equipoise.solvers.substitution import WarmStart, WarmStartReport
    from equipoise.solvers.treeless_mccfr import TreelessMCCFRSolver

__all__ = [
    "CFR",
    "DCFR",
    "METHODS",
    "CFRPlus",
    "CFRSolver",
    "DCFRPlus",
    "EGTConfig",
    "EGTSolver",
    "Equilibrium",
    "Evaluation",
    "FictitiousPlaySolver",
    "Form",
    "GameViews",
    "Hedge",
    "HoldemMCCFRSolver",
    "InfostateRows",
    "LinearCFR",
    "LinearCFRPlus",
    "MCCFRConfig",
    "MCCFRSolver",
    "NodeView",
    "NormalHedge",
    "Optimistic",
    "ParametricSolver",
    "PlayerView",
    "PredictiveCFRPlus",
    "PrunedSolver",
    "Pruning",
    "PushFold",
    "PushFoldChart",
    "Rule",
    "RunConfig",
    "RunRecord",
    "ScheduledDCFR",
    "SolutionFile",
    "SolvedGame",
    "SolvedSpot",
    "Solver",
    "SpotViews",
    "StateView",
    "StopReason",
    "Stopping",
    "TabularStrategy",
    "Thresholded",
    "TransferReport",
    "TreelessMCCFRSolver",
    "WarmStart",
    "WarmStartReport",
    "evaluate",
    "format_rule",
    "from_openspiel",
    "load_parametric_run",
    "mix_strategies",
    "parse_rule",
    "rule_names",
    "solve_push_fold",
    "solve_sequence_lp",
    "to_openspiel",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(__name__, __all__)
