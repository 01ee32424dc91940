# SPDX-License-Identifier: Apache-2.0
"""Learning from games played: tabular, and with networks (the extra `[learn]`), which no other room needs."""

from typing import TYPE_CHECKING

from equipoise.core.lazy import lazy_names

if TYPE_CHECKING:
    from equipoise.learning.a2c import A2CConfig, A2CLearner
    from equipoise.learning.dqn import DQNConfig, DQNLearner
    from equipoise.learning.learner import SelfPlayLearner, play_greedily
    from equipoise.learning.q_learning import QLearner, QLearningConfig
    from equipoise.learning.values.leaves import NetworkLeaves
    from equipoise.learning.values.presets import PRESETS, find_preset
    from equipoise.learning.values.settings import TrainingSettings
    from equipoise.learning.values.training import ValueTrainer
    from equipoise.learning.values.weights import StoredNet

__all__ = [
    "PRESETS",
    "A2CConfig",
    "A2CLearner",
    "DQNConfig",
    "DQNLearner",
    "NetworkLeaves",
    "QLearner",
    "QLearningConfig",
    "SelfPlayLearner",
    "StoredNet",
    "TrainingSettings",
    "ValueTrainer",
    "find_preset",
    "play_greedily",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(__name__, __all__)
