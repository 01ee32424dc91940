# SPDX-License-Identifier: Apache-2.0
"""Types the quick start and the tutorials into an installed Equipoise: `PYTHON try_tutorials.py [PAGE ...]`.

As a new user would: each page in an empty folder, from top to bottom, in a process of its own; files are saved where
the page says so, what a prompt prints is compared with the page, commands are run. The package must be an installed
one, and nothing beside its own `bin` is on the path, so no compiler is.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
PAGES: Final = (
    "docs/quickstart.md",
    *sorted(f"docs/tutorials/{path.name}" for path in ROOT.glob("docs/tutorials/*.md")),
)
COMPILERS: Final = ("c++", "g++", "gcc", "cc", "clang", "clang++", "cmake", "ninja", "make")


def say(line: str) -> None:
    """Prints a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def run_command(line: str) -> None:
    """Runs a line of a page, which must succeed."""
    words = shlex.split(line, comments=True)
    program = shutil.which(words[0])
    if program is None:
        raise SystemExit(f"{words[0]} is not on the path {os.environ['PATH']}")
    done = subprocess.run([program, *words[1:]], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{line}\nended with {done.returncode}: {done.stderr}")


def type_page(page: str) -> None:
    """Types a page in the folder that this process is in."""
    import equipoise  # noqa: PLC0415 - of the environment that is tried

    home = Path(equipoise.__file__).resolve()
    if ROOT / "src" in home.parents:
        raise SystemExit(f"this interpreter imports the source, {home}: give one that has a wheel installed")
    found = [name for name in COMPILERS if shutil.which(name)]
    if found:
        raise SystemExit(f"on the path there are {', '.join(found)}")
    sys.path[:0] = [str(Path.cwd()), str(ROOT)]  # the reader's own files; and how the suite reads pages
    from tests.docs.blocks import find_blocks, find_commands, read_page, run_python  # noqa: PLC0415 - see above

    namespace: dict[str, Any] = {}
    for block in find_blocks(read_page(page)):
        if block.file is not None:
            Path(block.file).write_text(block.text, encoding="utf8")
        elif block.language == "python":
            run_python(block, page, namespace)
        else:
            for line in find_commands(block):
                run_command(line)


def try_page(page: str) -> bool:
    """Types a page in a process and a folder of its own; returns whether all of it worked."""
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            "PATH": str(Path(sys.executable).parent),
            "HOME": folder,
            "EQUIPOISE_CACHE": f"{folder}/.cache",
            "LANG": "C.UTF-8",
        }
        command = [sys.executable, str(Path(__file__).resolve()), "--here", page]
        done = subprocess.run(command, cwd=folder, env=environment, check=False)
    say(f"  {page}: {'typed' if done.returncode == 0 else 'FAILED'} in {time.perf_counter() - began:.0f} s")
    return done.returncode == 0


def main() -> None:
    """Reads the options and types the pages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="*", default=PAGES, help="paths in the repository; all of them if none is named")
    parser.add_argument("--here", metavar="PAGE", help="type one page in this process and folder")
    options = parser.parse_args()
    if options.here:
        type_page(options.here)
    elif not all([try_page(page) for page in options.pages]):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
