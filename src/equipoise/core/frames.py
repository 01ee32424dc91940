# SPDX-License-Identifier: Apache-2.0
"""Columns as a data frame of whichever library is there: pandas or polars; neither is needed for anything else."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Final

from equipoise.core.checks import check_text
from equipoise.core.errors import MissingExtraError, UnknownNameError

__all__ = ["make_frame"]

LIBRARIES: Final = ("pandas", "polars")


def make_frame(columns: Mapping[str, Sequence[Any]], library: str | None = None) -> Any:
    """Returns columns of one length as a `DataFrame`.

    Args:
        columns: by name.
        library: `"pandas"` or `"polars"`; by default the one that the program has imported, else the one installed.

    Raises:
        MissingExtraError: neither is installed.
    """
    if library is not None:
        check_text("library", library)
    if library is not None and library not in LIBRARIES:
        raise UnknownNameError("library of data frames", library, LIBRARIES)
    wanted = LIBRARIES if library is None else (library,)
    for name in sorted(wanted, key=lambda one: one not in sys.modules):
        if name in sys.modules or importlib.util.find_spec(name) is not None:
            return importlib.import_module(name).DataFrame(dict(columns))
    raise MissingExtraError(" or ".join(wanted), "frames", "a data frame")
