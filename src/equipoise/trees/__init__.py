# SPDX-License-Identifier: Apache-2.0
"""Games become arrays: history trees for any game, public trees for the vector form."""

from typing import TYPE_CHECKING

from equipoise.core.lazy import lazy_names

if TYPE_CHECKING:
    from equipoise.trees.cache import load_or_build_history_tree, load_or_build_public_tree
    from equipoise.trees.derive import derive_public_game
    from equipoise.trees.history import HistoryTree, TreeSize, build_history_tree, estimate_num_histories
    from equipoise.trees.holdem.bucketed import BucketedTree, build_bucketed_tree
    from equipoise.trees.holdem.locks import NodeLock
    from equipoise.trees.holdem.places import HoldemPlace
    from equipoise.trees.holdem.tree import HoldemTree, build_holdem_tree
    from equipoise.trees.merging import MergedTree, merge_infosets
    from equipoise.trees.parametric import ParametricTree, build_parametric_tree
    from equipoise.trees.perturbation import perturb_payoffs
    from equipoise.trees.public import PublicTree, PublicTreeSize, build_public_tree
    from equipoise.trees.vector import Strategy, TreeStrategy, UniformStrategy, VectorTree

__all__ = [
    "BucketedTree",
    "HistoryTree",
    "HoldemPlace",
    "HoldemTree",
    "MergedTree",
    "NodeLock",
    "ParametricTree",
    "PublicTree",
    "PublicTreeSize",
    "Strategy",
    "TreeSize",
    "TreeStrategy",
    "UniformStrategy",
    "VectorTree",
    "build_bucketed_tree",
    "build_history_tree",
    "build_holdem_tree",
    "build_parametric_tree",
    "build_public_tree",
    "derive_public_game",
    "estimate_num_histories",
    "load_or_build_history_tree",
    "load_or_build_public_tree",
    "merge_infosets",
    "perturb_payoffs",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(__name__, __all__)
