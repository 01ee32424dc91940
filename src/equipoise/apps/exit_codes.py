# SPDX-License-Identifier: Apache-2.0
"""The exit codes that scripts may rely on; docs/cli.md lists them."""

from __future__ import annotations

import enum

__all__ = ["ExitCode"]


class ExitCode(enum.IntEnum):
    """How a command ended."""

    OK = 0
    FAILED = 1  # the work began and could not be finished: a full disk, an internal error
    BAD_INPUT = 2  # an unknown name, a parameter that is not allowed, a file that cannot be used, a game too large
    TARGET_NOT_REACHED = 3  # --target was given and another limit came first; the result is still there
    HUNG_UP = 129  # SIGHUP: the terminal was closed
    INTERRUPTED = 130  # Ctrl-C
    TERMINATED = 143  # SIGTERM
