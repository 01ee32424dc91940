# SPDX-License-Identifier: Apache-2.0
"""Which native core is loaded, under the one name `equipoise._native`.

An installation from source has one core, built for the machine at hand. A portable wheel has one for each level of
x86-64 (docs/installing.md), and the best that the processor runs is loaded; all give the same bits. Only one is ever
loaded: the types that they register would get in each other's way.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Mapping
from typing import Final

import equipoise
from equipoise.core.errors import ConfigError, UnknownNameError

__all__ = ["CORES", "ENVIRONMENT_VARIABLE", "choose_core", "core_name", "find_level", "load_core"]

ENVIRONMENT_VARIABLE: Final = "EQUIPOISE_CORE"
CORES: Final[Mapping[str, int]] = {"x86-64": 1, "x86-64-v3": 3, "x86-64-v4": 4}  # and the level that each one needs
_NATIVE: Final = "equipoise._native"
_PROCESSOR: Final = "equipoise._processor"


def choose_core(asked: str, level: int) -> str:
    """Returns the core to load on a processor of this level: the one asked for, or the best if none is.

    >>> choose_core("", 3), choose_core("x86-64", 3)
    ('x86-64-v3', 'x86-64')
    """
    if not asked:
        return max((name for name in CORES if CORES[name] <= level), key=CORES.__getitem__)
    if asked not in CORES:
        raise UnknownNameError(f"core in {ENVIRONMENT_VARIABLE}", asked, CORES)
    if CORES[asked] > level:
        known = ", ".join(name for name in CORES if CORES[name] <= level)
        raise ConfigError(
            f"{ENVIRONMENT_VARIABLE}={asked} needs a processor of level {CORES[asked]}, and this one is of level "
            f"{level}, which runs {known}"
        )
    return asked


def load_core() -> None:
    """Makes `equipoise._native` what there is to import, if it is not yet: a wheel's cores have names of their own."""
    asked = os.environ.get(ENVIRONMENT_VARIABLE, "")
    if importlib.util.find_spec(_NATIVE) is not None:
        if asked and core_name() is None:
            raise ConfigError(
                f"{ENVIRONMENT_VARIABLE} chooses among the cores of a portable wheel, and this installation has one "
                f"core, built for one kind of processor: got {asked!r}, expected nothing"
            )
    elif importlib.util.find_spec(_PROCESSOR) is not None:
        core = importlib.import_module(_module_of(choose_core(asked, find_level())))
        sys.modules[_NATIVE] = vars(equipoise)["_native"] = core


def find_level() -> int:
    """Returns the level of x86-64 that this machine runs, from 1 to 4; portable wheels know."""
    level: int = importlib.import_module(_PROCESSOR).x86_64_level()
    return level


def core_name() -> str | None:
    """Returns which core of a portable wheel is loaded, None where there is only one."""
    loaded = getattr(sys.modules.get(_NATIVE), "__name__", _NATIVE)
    return next((name for name in CORES if _module_of(name) == loaded), None)


def _module_of(core: str) -> str:
    return f"{_NATIVE}_{core.replace('-', '_')}"
