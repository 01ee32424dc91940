# SPDX-License-Identifier: Apache-2.0
"""Baselines of sampled values: guesses of what was not sampled, learnt along the way."""

from __future__ import annotations

import dataclasses
import enum

import numpy as np

from equipoise.core.errors import ConfigError
from equipoise.kernels.sampling import NO_BASELINES, BaselineArrays
from equipoise.solvers.sampled_pruning import edge_sequences
from equipoise.trees.history import HistoryTree

__all__ = ["BaselineKey", "Baselines", "lay_out_baselines"]


class BaselineKey(enum.StrEnum):
    """What shares a guess."""

    NONE = "none"
    INFOSET = "infoset"  # an action of an information set, whatever the history; chance has none
    HISTORY = "history"  # an action at a history, chance included


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Baselines:
    """Control variates of sampled values: what was not sampled is worth its guess, what was corrects its own.

    Whatever the guesses, values are unbiased, because they do not depend on the traversal under way; the better they
    are, the less sampled values vary. Every player has guesses of its own value at everybody's actions.

    Paper: Schmid, Burch, Lanctot, Moravcik, Kadlec & Bowling 2019, "Variance Reduction in Monte Carlo Counterfactual
        Regret Minimization (VR-MCCFR) for Extensive Form Games using Baselines", arXiv:1809.03057 [S19]; Davis, Schmid
        & Bowling 2020, "Low-Variance and Zero-Variance Baselines for Extensive-Form Games", for guesses by history.
    Symbols: b_i(I,a) -> a guess; alpha -> rate; u^b -> what `traverse` of native/sampling.hpp returns; xi -> sampling
        probabilities.
    Departs from the paper: a guess learns from the value of the action's child, where the paper has the corrected value
        of the action, whose error is divided by its sampling probability. Guesses change after the traversal. At
        others' actions a guess goes by the actor's information set, not by what the traverser knows of it.
    Checked by: tests/solvers/test_baselines.py, tests/kernels/test_baselines.py.
    """

    key: BaselineKey = BaselineKey.NONE
    rate: float = 0.5  # share of a guess that a sample replaces, in (0, 1]; [S19] has 0.5

    def __post_init__(self) -> None:
        if not 0 < self.rate <= 1:
            raise ConfigError(f"rate of baselines must be above 0 and at most 1, got {self.rate}")


def lay_out_baselines(baselines: Baselines, tree: HistoryTree) -> BaselineArrays:
    """Returns which guess stands for the value of which edge of a tree."""
    if baselines.key is BaselineKey.NONE:
        return NO_BASELINES
    if baselines.key is BaselineKey.INFOSET:
        return BaselineArrays(
            edge_guess=edge_sequences(tree), num_guesses=int(tree.sequence_start[-1]), rate=baselines.rate
        )
    num_edges = tree.edge_child.size
    return BaselineArrays(edge_guess=np.arange(num_edges, dtype=np.int32), num_guesses=num_edges, rate=baselines.rate)
