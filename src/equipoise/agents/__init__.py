# SPDX-License-Identifier: Apache-2.0
"""Who plays: the protocol of agents, the simplest ones, and agents that play strategies from files."""

from typing import TYPE_CHECKING

from equipoise.core.lazy import lazy_names

if TYPE_CHECKING:
    from equipoise.agents.base import (
        Agent,
        Observation,
        PolicyAgent,
        PublicAgent,
        PublicDecision,
        describe_decision,
        observe_state,
    )
    from equipoise.agents.continual import ContinualAgent
    from equipoise.agents.files import load_agent
    from equipoise.agents.holdem.push_fold import PushFoldAgent
    from equipoise.agents.holdem.translated import HoldemTranslatingAgent
    from equipoise.agents.ismcts import RulesISMCTSAgent, TreeISMCTSAgent, make_ismcts_agent
    from equipoise.agents.notation import make
    from equipoise.agents.search import SearchAgent, SearchPlan, SearchWhen
    from equipoise.agents.simple import ClassAgent, UniformAgent
    from equipoise.agents.strategies import StrategyAgent

__all__ = [
    "Agent",
    "ClassAgent",
    "ContinualAgent",
    "HoldemTranslatingAgent",
    "Observation",
    "PolicyAgent",
    "PublicAgent",
    "PublicDecision",
    "PushFoldAgent",
    "RulesISMCTSAgent",
    "SearchAgent",
    "SearchPlan",
    "SearchWhen",
    "StrategyAgent",
    "TreeISMCTSAgent",
    "UniformAgent",
    "describe_decision",
    "load_agent",
    "make",
    "make_ismcts_agent",
    "observe_state",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(__name__, __all__)
