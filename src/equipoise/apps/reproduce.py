# SPDX-License-Identifier: Apache-2.0
"""`equipoise reproduce`: list the studies, or run one."""

from __future__ import annotations

import contextlib
import dataclasses
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final

import typer
from rich.table import Table

from equipoise.apps.completion import complete_study
from equipoise.apps.display import make_console
from equipoise.apps.output import write_json
from equipoise.apps.shared_options import Json, Quiet
from equipoise.apps.signals import SignalFlag
from equipoise.apps.task_display import TaskDisplay
from equipoise.core.errors import ConfigError
from equipoise.core.files import format_bytes
from equipoise.core.formatting import format_duration
from equipoise.core.runs import RunFolder
from equipoise.games.parameters import parse_parameters
from equipoise.studies.costs import describe_cost
from equipoise.studies.registry import STUDIES, find_study
from equipoise.studies.report import check_output_directory, print_result, write_result
from equipoise.studies.reproduction import configure_study

__all__ = ["ReproduceOptions", "reproduce"]

NARROW: Final = 60  # columns below which a list has names and costs alone
KIND: Final = "study"  # of a run's folder


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ReproduceOptions:
    """What `equipoise reproduce` is told."""

    sample_commands: ClassVar[tuple[str, ...]] = (
        "equipoise reproduce",
        "equipoise reproduce coin-toss",
        "equipoise reproduce coin-toss --out results",
    )

    name: Annotated[
        str | None, typer.Argument(help="A study; without it all are listed.", autocompletion=complete_study)
    ] = None
    full: Annotated[bool, typer.Option("--full", help="As large as published, not the quick form.")] = False
    param: Annotated[
        list[str] | None, typer.Option("--param", "-p", help="Change a setting of the study.", metavar="KEY=VALUE")
    ] = None
    data: Annotated[Path | None, typer.Option(help="Directory of the data that a study needs.", metavar="DIR")] = None
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write NAME.json, .png and .txt here.")] = None
    run: Annotated[
        Path | None,
        typer.Option(
            help="Keep the study in this folder: what was asked for, events, the files of --out.", metavar="DIR"
        ),
    ] = None
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing --run.")] = False
    json: Json = False
    quiet: Quiet = False


def reproduce(options: ReproduceOptions) -> None:
    """Compute a published figure or table again: ours beside the paper's, with a verdict on what its text states.

    Ctrl-C keeps what was computed, marked as partial.
    """
    if options.name is None:
        _list_studies(options)
        return
    study = find_study(options.name)
    changes = parse_parameters(options.param or [])
    configuration = configure_study(study, is_full=options.full, changes=changes, data=options.data)
    if options.out is not None:
        check_output_directory(options.out, study.name)
    console = make_console(is_quiet=options.quiet)
    with SignalFlag() as flag, contextlib.ExitStack() as stack:
        folder: RunFolder | None = None
        if options.run is not None:
            folder = RunFolder.create(options.run, KIND, dataclasses.asdict(options), is_overwritten=options.overwrite)
            stack.enter_context(folder.writing())
            folder.record("begin", study=study.name)
        with TaskDisplay(console, study.name) as display:

            def on_step(share: float, step: str) -> None:
                display.update(share, step)
                if folder is not None:
                    folder.record("progress", share=share, step=step)

            result = study.run(configuration, on_step, flag)
        if options.json:
            write_json(result.as_json())
        else:
            print_result(result, make_console(is_stderr=False, is_quiet=options.quiet))
        for directory in (options.out, options.run):
            if directory is not None:
                paths = write_result(study, result, directory)
                console.print(f"written: {', '.join(str(path) for path in paths)}")
        if folder is not None:
            claims = [claim.as_row() for claim in result.conclusion.claims]
            folder.record("end", is_partial=result.is_partial, seconds=result.seconds, claims=claims)
    if flag():
        console.print("interrupted: the result is partial", style="yellow")
        raise typer.Exit(flag.exit_code)


def _list_studies(options: ReproduceOptions) -> None:
    if options.full or options.param or options.out is not None or options.data is not None or options.run is not None:
        raise ConfigError(f"name a study to run: {', '.join(STUDIES)}")
    rows: list[dict[str, Any]] = [
        {
            "name": study.name,
            "title": study.title,
            "source": study.source,
            "paper": study.paper,
            "data": study.data,
            "quick": dict(describe_cost(study.name)),
            "sizes": {str(size): dataclasses.asdict(configuration) for size, configuration in study.sizes.items()},
        }
        for study in STUDIES.values()
    ]
    if options.json:
        write_json(rows)
        return
    output = make_console(is_stderr=False, is_quiet=options.quiet)
    is_narrow = output.width < NARROW
    for paper in sorted({row["paper"] for row in rows}):
        table = Table(title=paper, title_justify="left", title_style="bold", expand=True, show_lines=is_narrow)
        table.add_column("study", no_wrap=True)
        if not is_narrow:
            table.add_column("shows", overflow="fold", ratio=1)
            table.add_column("of", overflow="fold", ratio=1)
        table.add_column("quick: CPU, memory, data", overflow="fold", width=13)
        for row in (one for one in rows if one["paper"] == paper):
            place = row["source"].removeprefix(paper).lstrip(",: ")
            table.add_row(row["name"], *([] if is_narrow else [row["title"], place]), _say_cost(row))
        output.print(table)
    output.print(
        "equipoise reproduce NAME runs one in its quick size, --full as published, which takes much longer; "
        "--out DIR keeps it."
    )


def _say_cost(row: dict[str, Any]) -> str:
    """Returns what a quick study takes; where that was not measured, how long a kept result took on the clock."""
    cost = row["quick"]
    if cost["cpu_seconds"] is not None:
        said = [format_duration(cost["cpu_seconds"]), format_bytes(cost["peak_bytes"])]
    elif cost["elapsed_seconds"] is not None:
        said = [f"{format_duration(cost['elapsed_seconds'])} by the clock, {cost['size']} size"]
    else:
        said = ["not measured"]
    return "\n".join([*said, *([f"--data: {row['data']}"] if row["data"] else [])])
