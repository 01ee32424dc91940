# SPDX-License-Identifier: Apache-2.0
"""Options that several commands have, spelt and said once, so that one thing has one name everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from equipoise.apps.completion import complete_game
from equipoise.kernels.calls import MAX_THREADS

__all__ = [
    "MOST_WORKERS",
    "FileGame",
    "GameParameters",
    "Json",
    "LearnHours",
    "LearnOut",
    "LearnRay",
    "LearnSeed",
    "LearnSettings",
    "LearnWorkers",
    "LearntGame",
    "OverwriteOut",
    "PlayWorkers",
    "Quiet",
    "ResumeOut",
    "TensorBoard",
    "Threads",
]

MOST_WORKERS: Final = 256

Json = Annotated[bool, typer.Option("--json", help="Write the result as JSON to standard output.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No messages, progress or tables.")]
ResumeOut = Annotated[bool, typer.Option("--resume", help="Go on with what is in --out.")]
OverwriteOut = Annotated[bool, typer.Option("--overwrite", help="Train anew in --out.")]

GameParameters = Annotated[
    list[str] | None, typer.Option("--parameter", "-p", help="A parameter of the game.", metavar="KEY=VALUE")
]
FileGame = Annotated[
    str | None,
    typer.Option("--game", "-g", help="What is played (default: the file's game).", autocompletion=complete_game),
]
LearntGame = Annotated[str, typer.Argument(help="What is played, as in `solve`.", metavar="GAME")]

Threads = Annotated[
    int | None,
    typer.Option(
        "--threads",
        "-t",
        min=1,
        max=MAX_THREADS,
        help="Size of the team (default: as many as help).",
        show_default=False,
    ),
]
PlayWorkers = Annotated[int, typer.Option("--workers", "-w", min=1, max=MOST_WORKERS, help="Processes that play.")]
LearnWorkers = Annotated[
    int, typer.Option("--workers", "-w", min=1, help="Processes that play while this one learns; 1: in turn.")
]
LearnRay = Annotated[
    str | None, typer.Option(help="Play on this Ray cluster: an address, or local.", metavar="ADDRESS")
]
LearnOut = Annotated[Path, typer.Option("--out", "-o", help="Folder of what is learnt, state and log.", metavar="DIR")]
LearnHours = Annotated[float | None, typer.Option(min=0.001, help="Stop after this time; --resume goes on.")]
LearnSettings = Annotated[
    list[str] | None,
    typer.Option("--setting", "-s", help="Any setting of the preset, as config.json has them.", metavar="KEY=VALUE"),
]
LearnSeed = Annotated[int, typer.Option(min=0, help="Of everything that is drawn.")]
TensorBoard = Annotated[
    bool | None,
    typer.Option(
        "--tensorboard/--no-tensorboard",
        help="Write curves for TensorBoard; by default if it is installed.",
        show_default=False,
    ),
]
