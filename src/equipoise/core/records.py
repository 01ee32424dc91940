# SPDX-License-Identifier: Apache-2.0
"""Records on their way to and from files: values that JSON has; fields of the types that a dataclass declares.

A checksum tells that values are as they were written, not that they fit.
"""

from __future__ import annotations

import dataclasses
import math
import os
import types
import typing
from collections.abc import Mapping
from typing import Any

__all__ = ["check_types", "make_finite"]


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


def make_finite(value: Any) -> Any:
    """Returns a value in which numbers that JSON lacks are None, tuples lists, and paths text, however deep they are.

    >>> make_finite({"a": (1.0, float("inf"))})
    {'a': [1.0, None]}
    """
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: make_finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [make_finite(item) for item in value]
    return str(value) if isinstance(value, os.PathLike) else value
