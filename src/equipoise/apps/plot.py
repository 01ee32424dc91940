# SPDX-License-Identifier: Apache-2.0
"""`equipoise plot`: curves of runs that are kept in files, and pictures of studies from their JSON."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar

import typer

from equipoise.abstraction.solutions import open_solution
from equipoise.apps.display import make_console
from equipoise.core.checkpoint import Kind
from equipoise.core.errors import ConfigError, ParseError
from equipoise.core.files import describe_os_error
from equipoise.core.progress import Progress
from equipoise.core.runs import RunFolder
from equipoise.evaluation.plots import check_plot_path, plot_convergence
from equipoise.solvers.holdem.solved_spot import SolvedSpot
from equipoise.solvers.solution_file import SolvedGame
from equipoise.studies.registry import find_study
from equipoise.studies.report import draw_result
from equipoise.studies.study import StudyResult

__all__ = ["PlotOptions", "plot"]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class PlotOptions:
    """What `equipoise plot` is told."""

    sample_commands: ClassVar[tuple[str, ...]] = (
        "equipoise plot a.eq b.eq -o curves.png",
        "equipoise plot docs/results/coin-toss.json -o coin-toss.svg",
    )

    files: Annotated[
        list[Path],
        typer.Argument(
            help="Runs (`solve --out`, `--run DIR`, `solve --json`), a comparison, or one study.", metavar="FILE..."
        ),
    ]
    out: Annotated[Path, typer.Option("--out", "-o", help="The picture: .png, .svg or .pdf.")]
    title: Annotated[str | None, typer.Option(help="Above the picture.")] = None
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing --out.")] = False
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No messages.")] = False


def plot(options: PlotOptions) -> None:
    """Draw how runs converged, side by side, or a study's picture again from its JSON."""
    if options.out.exists() and not options.overwrite:
        raise ConfigError(f"{options.out} exists: --overwrite replaces it")
    check_plot_path(options.out)
    contents = {path: _read(path) for path in options.files}
    studies = [path for path, content in contents.items() if "study" in content]
    if studies:
        _plot_study(options, studies, contents)
    else:
        curves: dict[str, Sequence[Progress]] = {}
        for path, content in contents.items():
            for name, records in _list_curves(path, content).items():
                curves[name if name not in curves else f"{path}: {name}"] = records
        plot_convergence(curves if len(curves) > 1 else next(iter(curves.values())), options.out, title=_title(options))
    make_console(is_quiet=options.quiet).print(f"drawn in {options.out}")


def _plot_study(options: PlotOptions, studies: list[Path], contents: dict[Path, dict[str, Any]]) -> None:
    if len(contents) > 1:
        raise ConfigError(f"a study has a picture of its own: draw {studies[0]} alone")
    result = StudyResult.from_json(contents[studies[0]])
    if options.title is not None:
        result = dataclasses.replace(result, title=options.title)
    if not draw_result(find_study(result.study), result, options.out):
        raise ConfigError(f"{studies[0]} has no curves to draw")


def _title(options: PlotOptions) -> str:
    return options.title or ""


def _read(path: Path) -> dict[str, Any]:
    """Returns a JSON document, of anything else only where it is."""
    if path.suffix.lower() != ".json":
        return {}
    try:
        found = json.loads(path.read_text(encoding="utf8"))
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {describe_os_error(error)}") from None
    except ValueError:
        raise ParseError(f"{path} is no JSON") from None
    if not isinstance(found, dict):
        raise ParseError(f"{path} must be the result of a run, a comparison or a study, got a list or a number")
    return found


def _list_curves(path: Path, content: dict[str, Any]) -> dict[str, Sequence[Progress]]:
    """Returns the records of what a file holds, by name."""
    if path.suffix.lower() != ".json":
        with open_solution(RunFolder(path).result if path.is_dir() else path, Kind.RUN, Kind.SPOT) as run:
            assert isinstance(run, SolvedGame | SolvedSpot)
            return {path.stem: run.progress}
    rows = content.get("rows") if "rows" in content else [content]
    if not isinstance(rows, list) or not all(isinstance(row, dict) and "progress" in row for row in rows):
        raise ParseError(f"{path} must be the result of a run, a comparison or a study; nothing in it converges")
    try:
        return {
            _name_row(path, row, is_alone=len(rows) == 1): [Progress.from_json(one) for one in row["progress"]]
            for row in rows
        }
    except (TypeError, AttributeError):
        raise ParseError(f"{path} has records of progress that cannot be read") from None


def _name_row(path: Path, row: dict[str, Any], *, is_alone: bool) -> str:
    if is_alone:
        return path.stem
    parts = [row.get("method") if row.get("method") != "cfr" else None, row.get("rule")]
    return ":".join(str(part) for part in parts if part) or path.stem
