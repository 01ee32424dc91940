# SPDX-License-Identifier: Apache-2.0
"""What is given at the edges of the library, looked at before it is used."""

from __future__ import annotations

from typing import Any

from equipoise.core.errors import ConfigError

__all__ = ["check_text"]


def check_text(name: str, value: Any) -> None:
    """Raises `ConfigError` unless a text is given.

    >>> check_text("line", 5)
    Traceback (most recent call last):
        ...
    equipoise.core.errors.ConfigError: line must be a text, got 5
    """
    if not isinstance(value, str):
        raise ConfigError(f"{name} must be a text, got {value!r}")
