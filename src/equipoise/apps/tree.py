# SPDX-License-Identifier: Apache-2.0
"""`equipoise tree`: a small game as a tree, on the terminal or as a picture."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from equipoise.abstraction.solutions import open_solution
from equipoise.apps.completion import complete_game
from equipoise.apps.display import make_console
from equipoise.apps.output import write_json
from equipoise.apps.shared_options import GameParameters
from equipoise.core.checkpoint import Kind
from equipoise.core.errors import ConfigError
from equipoise.core.files import check_writable, write_text
from equipoise.evaluation.game_trees import MOST_HISTORIES, build_game_tree
from equipoise.games.registry import parse_game_options
from equipoise.solvers.solution_file import SolvedGame

__all__ = ["TreeOptions", "tree"]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class TreeOptions:
    """What `equipoise tree` is told."""

    sample_commands: ClassVar[tuple[str, ...]] = (
        "equipoise tree kuhn -o kuhn.svg --strategy kuhn.eq",
        "equipoise tree leduc --after 'Jh, Qh, check, check'",
    )

    game: Annotated[str, typer.Argument(help="A small game.", autocompletion=complete_game)]
    parameters: GameParameters = None
    strategy: Annotated[
        Path | None,
        typer.Option(help="Of `solve --out`, or CSV: shows probabilities and values.", metavar="FILE"),
    ] = None
    after: Annotated[
        str | None, typer.Option(help="Begin behind these actions and cards: 'K, Q, check'.", metavar="ACTIONS")
    ] = None
    most: Annotated[int, typer.Option(min=1, max=20_000, help="Histories that are drawn at most.")] = MOST_HISTORIES
    out: Annotated[Path | None, typer.Option("--out", "-o", help="A picture: FILE.svg.")] = None
    json: Annotated[bool, typer.Option("--json", help="Write the tree as JSON to standard output.")] = False
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing --out.")] = False
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No messages.")] = False


def tree(options: TreeOptions) -> None:
    """Draw a small game as a tree: every history, with what a strategy does there and what that is worth.

    Values are player 0's where two players play for the same chips, else everybody's.
    """
    game = parse_game_options(options.game, options.parameters or [])
    if options.out is not None:
        _check_out(options.out, is_overwritten=options.overwrite)
    table = None
    if options.strategy is not None:
        with open_solution(options.strategy, Kind.RUN, Kind.STRATEGY, game=game) as solution:
            assert isinstance(solution, SolvedGame)
            table = solution.table
    after = [name for name in (options.after or "").split(",") if name.strip()]
    drawn = build_game_tree(game, table, after=[name.strip() for name in after], most_histories=options.most)
    if options.out is not None:
        write_text(options.out, drawn.as_svg())
        make_console(is_quiet=options.quiet).print(f"{len(drawn.histories):,} histories drawn in {options.out}")
    if options.json:
        write_json(drawn.as_json())
    elif options.out is None and not options.quiet:
        typer.echo(drawn.as_text(), nl=False)


def _check_out(path: Path, *, is_overwritten: bool) -> None:
    if path.suffix.lower() != ".svg":
        raise ConfigError(f"a tree is drawn as FILE.svg, got {path}")
    if path.exists() and not is_overwritten:
        raise ConfigError(f"{path} exists: --overwrite replaces it")
    check_writable(path)
