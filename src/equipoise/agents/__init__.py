# SPDX-License-Identifier: Apache-2.0
"""Who plays: the protocol of agents, the simplest ones, and agents that play strategies from files."""

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
from equipoise.agents.holdem_translated import HoldemTranslatingAgent
from equipoise.agents.ismcts import RulesISMCTSAgent, TreeISMCTSAgent, make_ismcts_agent
from equipoise.agents.search import SearchAgent, SearchPlan, SearchWhen
from equipoise.agents.simple import ClassAgent, UniformAgent
from equipoise.agents.tables import TableAgent

__all__ = [
    "Agent",
    "ClassAgent",
    "ContinualAgent",
    "HoldemTranslatingAgent",
    "Observation",
    "PolicyAgent",
    "PublicAgent",
    "PublicDecision",
    "RulesISMCTSAgent",
    "SearchAgent",
    "SearchPlan",
    "SearchWhen",
    "TableAgent",
    "TreeISMCTSAgent",
    "UniformAgent",
    "describe_decision",
    "load_agent",
    "make_ismcts_agent",
    "observe_state",
]
