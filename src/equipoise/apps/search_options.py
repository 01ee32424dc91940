# SPDX-License-Identifier: Apache-2.0
"""What `equipoise search` is told."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from equipoise.apps.shared_options import Json, Quiet
from equipoise.kernels.calls import MAX_THREADS
from equipoise.search.notation import LEAF_CHOICES, METHODS
from equipoise.trees.history import DEFAULT_MAX_HISTORIES

__all__ = ["SearchOptions"]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """What `equipoise search` is told."""

    panels: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "How": ("method", "player", "iterations", "rule"),
        "Of a spot": ("menu", "leaves", "expensive"),
        "What it may take": ("max_histories", "threads"),
        "What is shown": ("limit", "json", "quiet"),
    }
    aliases: ClassVar[Mapping[str, tuple[str, ...]]] = {"line": ("--state", "--node")}
    sample_commands: ClassVar[tuple[str, ...]] = (
        "equipoise search leduc.eq --line 'crc/Qs:'",
        "equipoise search turn.eq --line 'check, check, [9h]'",
    )

    file: Annotated[Path, typer.Argument(help="A file written by `solve --out`, or CSV: the blueprint.")]
    line: Annotated[
        str,
        typer.Option(
            "--line", "-s", help="The public state, as `show` writes it after the bar; of a spot a line of play."
        ),
    ]
    game: Annotated[str | None, typer.Option("--game", "-g", help="Of a blueprint as CSV: what it plays.")] = None
    parameters: Annotated[
        list[str] | None, typer.Option("--parameter", "-p", help="A parameter of --game.", metavar="KEY=VALUE")
    ] = None
    method: Annotated[str, typer.Option("--method", "-m", help=f"{', '.join(METHODS)}.")] = "reach-maxmargin"
    player: Annotated[
        int | None, typer.Option(min=0, max=1, help="Who searches (default: who meets unknown bets, or moves there).")
    ] = None
    iterations: Annotated[
        int | None,
        typer.Option(
            "--iterations",
            "-n",
            min=1,
            help="Of CFR (default 1,000; of a spot 10,000, before its last street 100, with leaves 300).",
        ),
    ] = None
    rule: Annotated[str, typer.Option(help="Variant of CFR, as for `solve`.")] = "cfr+linear"
    limit: Annotated[int, typer.Option(min=0, help="Show at most so many private states of each side; 0: all.")] = 50
    menu: Annotated[str | None, typer.Option(help="Of a spot: bets to consider from there on.")] = None
    leaves: Annotated[
        str | None,
        typer.Option(
            help="Of a turn: end with it; the opponent, or both, choose among biased forms of the strategy so far.",
            metavar="|".join(LEAF_CHOICES),
        ),
    ] = None
    expensive: Annotated[
        bool,
        typer.Option(
            "--expensive",
            help="Of a spot: behind a bet that the strategy lacks, solve from before it on, all other bets included.",
        ),
    ] = False
    threads: Annotated[
        int, typer.Option("--threads", "-t", min=1, max=MAX_THREADS, help="Of a spot: size of the team.")
    ] = 1
    max_histories: Annotated[int, typer.Option(min=1, help="Refuse games with more.")] = DEFAULT_MAX_HISTORIES
    json: Json = False
    quiet: Quiet = False
