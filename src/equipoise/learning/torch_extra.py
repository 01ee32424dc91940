# SPDX-License-Identifier: Apache-2.0
"""Torch, or a message that says how to get it: the one place of this room that imports it."""

from __future__ import annotations

from equipoise.core.errors import ConfigError, MissingExtraError

try:
    import torch
except ModuleNotFoundError:
    raise MissingExtraError("torch", "learn", "training networks") from None

__all__ = ["find_device", "torch"]


def find_device(name: str | torch.device = "") -> torch.device:
    """Returns a device by torch's name for it, or raises `ConfigError` if it is not there.

    Args:
        name: of the device; empty: CUDA where there is one, else the processor.
    """
    if not name:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError:
        raise ConfigError(f"torch knows no device {name}") from None
    if device.type == "cuda" and not torch.cuda.is_available():
        raise ConfigError("there is no CUDA device here, or torch was built without it")
    return device
