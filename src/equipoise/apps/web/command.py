# SPDX-License-Identifier: Apache-2.0
"""`equipoise serve`: the page on this machine."""

from __future__ import annotations

import dataclasses
import importlib
import secrets
import threading
import time
import urllib.parse
import urllib.request
import webbrowser
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Final

import typer

from equipoise.abstraction.solutions import open_solution
from equipoise.apps.display import make_console
from equipoise.apps.web.ids import make_id
from equipoise.apps.web.settings import DEFAULT_PORT, LOOPBACK, ServerSettings, default_runs_folder
from equipoise.core.errors import ConfigError, MissingExtraError
from equipoise.games.holdem.line_notation import format_address, parse_line, shorten_line
from equipoise.solvers.holdem.solved_spot import SolvedSpot

__all__ = ["ServeOptions", "open_page", "serve", "serve_files"]

SECONDS_TO_START: Final = 20.0
SECONDS_TO_FINISH: Final = 3  # that answers under way have when the server ends


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    """What `equipoise serve` is told."""

    sample_commands: ClassVar[tuple[str, ...]] = ("equipoise serve", "equipoise serve out/turn.eq --open")
    aliases: ClassVar[Mapping[str, tuple[str, ...]]] = {"workers": ("--jobs",)}

    files: Annotated[
        list[Path] | None, typer.Argument(help="Files written by `solve --out`, to list.", show_default=False)
    ] = None
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: one that is free.")] = DEFAULT_PORT
    open: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False
    runs: Annotated[
        Path | None,
        typer.Option(
            help="Folder of jobs, uploads and runs (default: in the user's data).", metavar="DIR", show_default=False
        ),
    ] = None
    host: Annotated[
        str, typer.Option(help="Another address than this machine's own; then a token is needed.", metavar="HOST")
    ] = LOOPBACK[0]
    token: Annotated[
        str | None, typer.Option(help="What visitors must show (default: a new one if need be).", show_default=False)
    ] = None
    workers: Annotated[int, typer.Option("--workers", "-w", min=1, max=64, help="Jobs at once.")] = 1
    threads: Annotated[
        int | None,
        typer.Option("--threads", "-t", min=1, help="Of a job (default: as many as help).", show_default=False),
    ] = None
    memory: Annotated[
        float | None,
        typer.Option(help="Most gigabytes of a job (default: half of what is free).", metavar="GB", show_default=False),
    ] = None
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Do not say where the page is.")] = False


def serve(options: ServeOptions) -> None:
    """Show solutions, solve spots, train and play in a browser; Ctrl-C ends it and keeps running jobs for next time."""
    is_loopback = options.host in LOOPBACK
    if options.memory is not None and options.memory <= 0:
        raise ConfigError(f"memory must be positive, got {options.memory}")
    settings = ServerSettings(
        runs=options.runs or default_runs_folder(),
        files=tuple(options.files or ()),
        host=options.host,
        port=options.port,
        token=options.token or (None if is_loopback else secrets.token_urlsafe(16)),
        num_workers=options.workers,
        threads=options.threads,
        job_bytes=None if options.memory is None else int(options.memory * 1e9),
    )
    serve_files(settings, opens=options.open, is_quiet=options.quiet)


def open_page(path: Path, line: str) -> None:
    """Serves a file and opens a place of it in a browser, until Ctrl-C.

    Args:
        path: of a solution.
        line: of a spot a line, of a game a public state; empty: where it begins.
    """
    with open_solution(path) as solution:
        where = f"g/{make_id(path.stem)}/{urllib.parse.quote(line)}"
        if isinstance(solution, SolvedSpot):
            spot, betting = solution.spot, solution.tree.betting
            steps = shorten_line(betting, parse_line(line, betting, spot.board, spot.deck))
            where = f"s/{make_id(path.stem)}/{format_address(steps)}"
    settings = ServerSettings(runs=default_runs_folder(), files=(path,), port=0)
    serve_files(settings, opens=True, path=f"/{where}")


def serve_files(settings: ServerSettings, *, opens: bool, path: str = "/", is_quiet: bool = False) -> None:
    """Serves until Ctrl-C.

    Args:
        settings: of the server.
        opens: whether a browser is opened.
        path: of the page that is opened.
        is_quiet: whether nothing is said.
    """
    try:
        runner = importlib.import_module("equipoise.apps.web.running")
    except ModuleNotFoundError as error:
        raise MissingExtraError(error.name or "fastapi", "web", "the page") from None
    console = make_console(is_quiet=is_quiet)

    def announce(address: str) -> None:
        shown = address + path
        if settings.token is not None:
            shown += f"?token={urllib.parse.quote(settings.token)}"
        console.print(f"the page is at {shown}  (Ctrl-C ends the server)", soft_wrap=True)
        if opens:
            threading.Thread(target=_open_when_ready, args=(address, shown), daemon=True).start()

    runner.run(settings, announce, seconds_to_finish=SECONDS_TO_FINISH)


def _open_when_ready(address: str, shown: str) -> None:
    """Opens a browser once the server answers anything at all."""
    until = time.monotonic() + SECONDS_TO_START
    while time.monotonic() < until:
        try:
            urllib.request.urlopen(f"{address}/", timeout=1).close()
        except urllib.error.HTTPError:
            break
        except OSError:
            time.sleep(0.05)
            continue
        break
    webbrowser.open(shown)
