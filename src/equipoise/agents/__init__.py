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
from equipoise.agents.files import load_agent
from equipoise.agents.simple import ClassAgent, UniformAgent
from equipoise.agents.tables import TableAgent

__all__ = [
    "Agent",
    "ClassAgent",
    "Observation",
    "PolicyAgent",
    "PublicAgent",
    "PublicDecision",
    "TableAgent",
    "UniformAgent",
    "describe_decision",
    "load_agent",
    "observe_state",
]
