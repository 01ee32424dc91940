# SPDX-License-Identifier: Apache-2.0
"""The command line in a process of its own, as users start it."""

import os
import subprocess
import sys

QUIET = "from equipoise.apps import cli; cli.main()"
TALKATIVE = "from equipoise.apps import cli, display; display.SECONDS_BETWEEN_LINES = 0.01; cli.main()"


def run_command(program, directory, *arguments, **environment):
    """Returns how a command ended that was run in a directory; a traceback fails the test."""
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        cwd=directory,
        env={**os.environ, "COLUMNS": "80", **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr
    return done
