# SPDX-License-Identifier: Apache-2.0
"""Checks dataclasses whose values came from a file: a checksum tells that they are as written, not that they fit."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping
from typing import Any

__all__ = ["check_types"]


def check_types(record: Any) -> None:
    """Raises `TypeError` naming the first field of a dataclass, or of one inside it, that is not of its declared type.

    Fields may be numbers, texts, None, other dataclasses, tuples of one type and mappings from texts to texts.
    """
    hints = typing.get_type_hints(type(record))
    for field in dataclasses.fields(record):
        value = getattr(record, field.name)
        if not _fits(value, hints[field.name]):
            raise TypeError(f"{field.name} cannot be {value!r}")


def _fits(value: Any, kind: Any) -> bool:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return any(_fits(value, one) for one in arguments)
    if origin is tuple:
        return isinstance(value, tuple) and all(_fits(item, arguments[0]) for item in value)
    if origin is Mapping:
        return isinstance(value, Mapping) and all(isinstance(item, str) for item in (*value, *value.values()))
    if dataclasses.is_dataclass(kind) and isinstance(value, typing.cast("type[Any]", kind)):
        check_types(value)
        return True
    if isinstance(value, bool):
        return kind is bool
    return isinstance(value, (int, float) if kind is float else kind)
