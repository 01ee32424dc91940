# SPDX-License-Identifier: Apache-2.0
"""Search: parts of a game solved again while it is played, safely, in nests, and to a limited depth."""

from typing import TYPE_CHECKING

from equipoise.core.lazy import lazy_names

if TYPE_CHECKING:
    from equipoise.search.continual import ContinualSearch, ContinualSettings
    from equipoise.search.decomposition import DecomposedSolver, Decomposition
    from equipoise.search.gadgets import Maxmargin, Method, Reach, Resolve, Unsafe
    from equipoise.search.growing_tree import GrowingTree, Growth
    from equipoise.search.holdem.profile import HoldemProfile
    from equipoise.search.ismcts import FinalPolicy, ISMCTSConfig, TreeISMCTS
    from equipoise.search.leaves import LeafEvaluator
    from equipoise.search.maxmargin_lp import solve_maxmargin_lp
    from equipoise.search.nested import NestedSearch
    from equipoise.search.notation import parse_method
    from equipoise.search.public import PublicProfile
    from equipoise.search.resolving import SearchResult, SubgameSolver, search_everywhere, solve_subgame
    from equipoise.search.rules_ismcts import RulesISMCTS
    from equipoise.search.settings import SearchSettings

__all__ = [
    "ContinualSearch",
    "ContinualSettings",
    "DecomposedSolver",
    "Decomposition",
    "FinalPolicy",
    "GrowingTree",
    "Growth",
    "HoldemProfile",
    "ISMCTSConfig",
    "LeafEvaluator",
    "Maxmargin",
    "Method",
    "NestedSearch",
    "PublicProfile",
    "Reach",
    "Resolve",
    "RulesISMCTS",
    "SearchResult",
    "SearchSettings",
    "SubgameSolver",
    "TreeISMCTS",
    "Unsafe",
    "parse_method",
    "search_everywhere",
    "solve_maxmargin_lp",
    "solve_subgame",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(__name__, __all__)
