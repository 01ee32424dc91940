# SPDX-License-Identifier: Apache-2.0
"""What is given at the edges of the library, looked at before it is used."""

from __future__ import annotations

import numbers
import os
from typing import Any

from equipoise.core.errors import ConfigError
from equipoise.core.formatting import show_given

__all__ = ["check_callable", "check_flag", "check_number", "check_path", "check_text"]


def check_text(name: str, value: Any) -> None:
    """Raises `ConfigError` unless a text is given.

    >>> check_text("line", 5)
    Traceback (most recent call last):
        ...
    equipoise.core.errors.ConfigError: line must be a text, got 5
    """
    if not isinstance(value, str):
        raise ConfigError(f"{name} must be a text, got {show_given(value)}")


def check_callable(name: str, value: Any) -> None:
    """Raises `ConfigError` unless something is given that can be called, or nothing at all.

    >>> check_callable("on_progress", 5)
    Traceback (most recent call last):
        ...
    equipoise.core.errors.ConfigError: on_progress must be a function, got 5
    """
    if value is not None and not callable(value):
        raise ConfigError(f"{name} must be a function, got {show_given(value)}")


def check_flag(name: str, value: Any) -> None:
    """Raises `ConfigError` unless true or false is given.

    >>> check_flag("progress", "yes")
    Traceback (most recent call last):
        ...
    equipoise.core.errors.ConfigError: progress must be True or False, got 'yes'
    """
    if not isinstance(value, bool):
        raise ConfigError(f"{name} must be True or False, got {show_given(value)}")


def check_number(name: str, value: Any) -> None:
    """Raises `ConfigError` unless a number is given; true and false are none.

    >>> check_number("alpha", "x")
    Traceback (most recent call last):
        ...
    equipoise.core.errors.ConfigError: alpha must be a number, got 'x'
    """
    if not isinstance(value, numbers.Real) or isinstance(value, bool):
        raise ConfigError(f"{name} must be a number, got {show_given(value)}")


def check_path(value: Any) -> None:
    """Raises `ConfigError` unless the path of a file is given.

    >>> check_path(5)
    Traceback (most recent call last):
        ...
    equipoise.core.errors.ConfigError: a file is given by its path, got 5
    """
    if not isinstance(value, str | os.PathLike) or not os.fspath(value):
        raise ConfigError(f"a file is given by its path, got {show_given(value)}")
