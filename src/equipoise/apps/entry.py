# SPDX-License-Identifier: Apache-2.0
"""Where the `equipoise` command starts; it imports next to nothing, so that Ctrl-C is quiet while the rest loads."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType

from equipoise.apps.exit_codes import ExitCode
from equipoise.core.errors import ConfigError

__all__ = ["main"]


def main() -> None:
    """Loads the command line and runs it; Ctrl-C before it is loaded ends the process without a word."""
    # a shell that starts us in the background may have Ctrl-C ignored: that stays
    is_interruptible = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_interruptible:
        signal.signal(signal.SIGINT, _leave)
    try:
        from equipoise.apps.cli import main as run_command_line  # noqa: PLC0415 - half a second
    except ConfigError as error:  # a core that this machine does not have
        sys.stderr.write(f"error: {error}\n")
        sys.exit(ExitCode.BAD_INPUT)

    if is_interruptible:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        run_command_line()
    finally:
        if is_interruptible:  # all is said and saved: one more Ctrl-C ends the process without a word
            signal.signal(signal.SIGINT, signal.SIG_DFL)


def _leave(number: int, _frame: FrameType | None) -> None:
    # an exception would come out of some module's import, which may turn it into an error of its own or print it
    os._exit(128 + number)
