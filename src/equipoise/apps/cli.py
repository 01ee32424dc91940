# SPDX-License-Identifier: Apache-2.0
"""The command line: which commands there are, and the one place where errors become messages and exit codes."""

from __future__ import annotations

import io
import os
import sys
import threading
from typing import Annotated, Any

import typer

from equipoise.apps.commands import COMMANDS, LazyGroup
from equipoise.apps.display import make_console
from equipoise.apps.exit_codes import ExitCode
from equipoise.apps.help_page import format_examples
from equipoise.apps.signals import exit_code_of_interrupt, raise_at_signals
from equipoise.apps.usage import USAGE_ERROR, describe_usage_error, is_call_for_help
from equipoise.core.errors import AgentFailedError, CheckpointError, EquipoiseError, NotConvergedError
from equipoise.core.files import describe_os_error
from equipoise.core.own_code import describe_exception, find_own_line
from equipoise.core.provenance import find_commit, version
from equipoise.kernels.cores import core_name

__all__ = ["app", "main"]


class ReportingGroup(LazyGroup):
    """A group of commands whose errors are one line on the error stream and an exit code, never a traceback."""

    entries = COMMANDS

    def main(self, *args: Any, **settings: Any) -> Any:
        """Runs the program; what is wrong with the line itself is told as all errors are."""
        is_whole = settings.pop("standalone_mode", True)
        settings["standalone_mode"] = False
        if not is_whole:
            return super().main(*args, **settings)
        try:
            code = super().main(*args, **settings)
        except USAGE_ERROR as error:
            if is_call_for_help(error):
                error.show()
            else:
                report_error(describe_usage_error(error))
            sys.exit(ExitCode.BAD_INPUT)
        except typer.Abort:
            report_error("the input ended")
            sys.exit(ExitCode.FAILED)
        sys.exit(code if isinstance(code, int) else ExitCode.OK)

    def invoke(self, ctx: Any) -> Any:
        """Runs the command and turns what it raises into a message and an exit code."""
        try:
            return super().invoke(ctx)
        except EquipoiseError as error:
            report_error(str(error))
            raise typer.Exit(exit_code_of(error)) from None
        except MemoryError:
            report_error("memory ran out")
            raise typer.Exit(ExitCode.FAILED) from None
        except Exception as error:
            if find_own_line(error) is None:
                raise
            report_error(f"a class of your own raised {describe_exception(error)}")
            raise typer.Exit(ExitCode.BAD_INPUT) from None
        except KeyboardInterrupt as error:
            console = make_console()
            console.show_cursor()  # a signal may have come while it was being hidden
            console.print("interrupted" + (f" by {error}" if str(error) else ""), style="yellow")
            raise typer.Exit(exit_code_of_interrupt(error)) from None


def report_error(message: str) -> None:
    """Says in one line why a command failed, also where a library's message has several."""
    make_console().print(f"error: {' '.join(message.splitlines())}", style="red")


def exit_code_of(error: EquipoiseError) -> ExitCode:
    """Returns the exit code of an error: bad input, unless work was under way that a disk or a solver cut short."""
    is_failure = isinstance(error, NotConvergedError | AgentFailedError) or (
        isinstance(error, CheckpointError) and isinstance(error.__cause__, OSError)
    )
    return ExitCode.FAILED if is_failure else ExitCode.BAD_INPUT


app = typer.Typer(
    name="equipoise",
    cls=ReportingGroup,
    help="Solves, measures and shows games with hidden information.",
    epilog=format_examples(("equipoise solve leduc --target 1e-3 --out leduc.eq", "equipoise show leduc.eq")),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def print_version(is_asked: bool) -> None:
    """Prints the version and ends, if it is asked for."""
    if is_asked:
        core = core_name()
        known = [text for text in (find_commit(), core and f"core {core}") if text]
        typer.echo(f"equipoise {version()}" + (f" ({', '.join(known)})" if known else ""))
        raise typer.Exit()


@app.callback()
def options(
    _version: Annotated[
        bool, typer.Option("--version", callback=print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Solves, measures and shows games with hidden information."""


def main() -> None:
    """Runs the command line and ends the process."""
    streams = [stream for stream in (sys.stdout, sys.stderr) if isinstance(stream, io.TextIOWrapper)]  # if open
    for stream in streams:
        stream.reconfigure(errors="backslashreplace")  # names of games and files may have letters that it lacks
    code: int | None = None
    try:
        with raise_at_signals():
            code = _run()
    except KeyboardInterrupt as error:  # it came after the work, while handlers were put back
        code = exit_code_of_interrupt(error) if code is None else code
    for stream in streams:
        _settle(stream)
    if any(thread.daemon for thread in threading.enumerate()):
        os._exit(code)  # see `call_interruptibly`
    sys.exit(code)


def _run() -> int:
    """Runs the command line and returns its exit code."""
    try:
        app(args=sys.argv[1:])
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else ExitCode.OK
    except KeyboardInterrupt as error:
        return exit_code_of_interrupt(error)
    except OSError as error:
        # whatever reads or writes files says so itself: what is left is standard output
        report_error(f"cannot write to standard output: {describe_os_error(error)}")
        return ExitCode.FAILED
    return ExitCode.OK


def _settle(stream: io.TextIOWrapper) -> None:
    """Writes out what a stream still holds; what it does not take is dropped, or Python would complain at its end."""
    try:
        stream.flush()
    except OSError:
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), stream.fileno())
