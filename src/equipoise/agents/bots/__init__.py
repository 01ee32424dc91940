# SPDX-License-Identifier: Apache-2.0
"""Machines that made history, each a short file of parts: `train blueprint NAME` trains one, `NAME:FOLDER` plays it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from equipoise.agents.bots.baby_tartanian8 import BABY_TARTANIAN8
from equipoise.agents.bots.claudico import CLAUDICO
from equipoise.agents.bots.libratus import LIBRATUS
from equipoise.agents.bots.machine import Machine
from equipoise.agents.bots.modicum import MODICUM
from equipoise.agents.bots.pluribus import PLURIBUS
from equipoise.agents.bots.tartanian7 import TARTANIAN7

__all__ = ["MACHINES", "Machine"]

MACHINES: Final[Mapping[str, Machine]] = {
    machine.name: machine for machine in (BABY_TARTANIAN8, CLAUDICO, LIBRATUS, MODICUM, PLURIBUS, TARTANIAN7)
}
