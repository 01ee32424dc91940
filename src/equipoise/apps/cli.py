# SPDX-License-Identifier: Apache-2.0
"""The command line: which commands there are, and the one place where errors become messages and exit codes."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from equipoise.apps.bench.commands import bench_app
from equipoise.apps.comparison import CompareOptions, compare
from equipoise.apps.display import make_console
from equipoise.apps.exit_codes import ExitCode
from equipoise.apps.inspection import EvaluateOptions, ShowOptions, evaluate, show
from equipoise.apps.listing import GamesOptions, games
from equipoise.apps.options import make_command
from equipoise.apps.push_fold import PushFoldOptions, push_fold
from equipoise.apps.reproduce.commands import reproduce_app
from equipoise.apps.solve import SolveOptions, solve
from equipoise.core.errors import CheckpointError, EquipoiseError, NotConvergedError
from equipoise.core.provenance import find_commit, version

__all__ = ["app", "main"]


class ReportingGroup(TyperGroup):
    """A group of commands whose errors are one line on the error stream and an exit code, never a traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Runs the command and turns what it raises into a message and an exit code."""
        try:
            return super().invoke(ctx)
        except EquipoiseError as error:
            make_console().print(f"error: {error}", style="red")
            raise typer.Exit(exit_code_of(error)) from None
        except KeyboardInterrupt:
            make_console().print("interrupted", style="yellow")
            raise typer.Exit(ExitCode.INTERRUPTED) from None


def exit_code_of(error: EquipoiseError) -> ExitCode:
    """Returns the exit code of an error: bad input, unless work was under way that a disk or a solver cut short."""
    is_failure = isinstance(error, NotConvergedError) or (
        isinstance(error, CheckpointError) and isinstance(error.__cause__, OSError)
    )
    return ExitCode.FAILED if is_failure else ExitCode.BAD_INPUT


app = typer.Typer(
    name="equipoise",
    cls=ReportingGroup,
    help="Solves, measures and shows games with hidden information.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def print_version(is_asked: bool) -> None:
    """Prints the version and ends, if it is asked for."""
    if is_asked:
        commit = find_commit()
        typer.echo(f"equipoise {version()}" + (f" ({commit})" if commit else ""))
        raise typer.Exit()


@app.callback()
def options(
    _version: Annotated[
        bool, typer.Option("--version", callback=print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Solves, measures and shows games with hidden information."""


app.command("games")(make_command(GamesOptions, games))
app.command("solve")(make_command(SolveOptions, solve))
app.command("evaluate")(make_command(EvaluateOptions, evaluate))
app.command("show")(make_command(ShowOptions, show))
app.command("pushfold")(make_command(PushFoldOptions, push_fold))
app.command("compare")(make_command(CompareOptions, compare))
app.add_typer(bench_app, name="bench")
app.add_typer(reproduce_app)


def main() -> None:
    """Runs the command line."""
    app(args=sys.argv[1:])
