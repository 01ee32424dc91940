# SPDX-License-Identifier: Apache-2.0
"""Torch, or a message that says how to get it: the one place of this room that imports it."""

from __future__ import annotations

from equipoise.core.errors import MissingExtraError

try:
    import torch
except ModuleNotFoundError:
    raise MissingExtraError("torch", "learn", "training networks") from None

__all__ = ["torch"]
