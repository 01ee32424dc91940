# SPDX-License-Identifier: Apache-2.0
"""One spot on many boards: a queue of solves spread over a pool, kept in a folder as they are done, in one table.

The folder is that of a run (`core.runs`): `config.json` has the spot and the boards, and every solved board is one line
of `events.jsonl`. A process that is killed loses the boards that were being solved and nothing else.
"""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from equipoise.core import memory
from equipoise.core.errors import ConfigError, EquipoiseError, GameTooLargeError, ParseError
from equipoise.core.files import format_bytes
from equipoise.core.interruption import IsInterrupted, never
from equipoise.core.pool import Pool, Supervision
from equipoise.core.reporting import Reporter
from equipoise.core.runs import RunFolder
from equipoise.games.holdem.cards import format_board, parse_board
from equipoise.games.holdem.flop_subsets import BoardChoice, describe_texture, list_flops, parse_boards
from equipoise.games.holdem.spot_file import SpotFile, format_spot, parse_spot, parse_spot_table
from equipoise.runs.request import RunRequest, choose_spot_menu
from equipoise.runs.sizing import choose_menu, list_sizes
from equipoise.runs.spot_run import SpotRun, prepare_spot

__all__ = [
    "REPORT_KIND",
    "BoardReport",
    "ReportSpec",
    "average_rows",
    "check_report_memory",
    "describe_spec",
    "load_report",
    "load_spec",
    "mean_of_column",
    "report_columns",
    "restore_spec",
    "run_report",
    "solve_on_board",
    "summarize_decision",
]

REPORT_KIND: Final = "report"  # of a run's folder
ROW_EVENT: Final = "row"
SOLUTIONS: Final = "solutions"  # folder of files that are kept


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ReportSpec:
    """A spot and the boards that it is solved on."""

    file: SpotFile  # on the first of them
    boards: tuple[BoardChoice, ...]

    def on(self, board: Sequence[int]) -> SpotFile:
        """Returns the spot on a board; raises `ConfigError` if no two hands can be there."""
        return dataclasses.replace(self.file, spot=dataclasses.replace(self.file.spot, board=tuple(board)))


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class BoardTask:
    """One board to be solved, as it is sent to a worker."""

    board: str
    count: float
    spot: str  # TOML
    request: Mapping[str, Any]
    out: str | None  # where the solution is kept


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class BoardReport:
    """What a folder holds."""

    spec: Mapping[str, Any]  # as it was asked for
    rows: list[dict[str, Any]]  # of boards that are done, in the order in which they were asked for
    num_boards: int

    @property
    def is_whole(self) -> bool:
        """Returns whether all boards are done."""
        return len(self.rows) == self.num_boards


def load_spec(
    path: str | Path, boards: str | None = None, *, menu: str | None = None, precision: str | None = None
) -> ReportSpec:
    """Returns a spot's file with the boards that it names (`boards = ...`), or that are asked for.

    Args:
        path: of the TOML.
        boards: in place of the file's.
        menu: bets, in place of the file's.
        precision: of tables, by which a menu is chosen where none is named.
    """
    place = Path(path)
    try:
        table = tomllib.loads(place.expanduser().read_text(encoding="utf-8"))
    except OSError as error:
        raise ParseError(f"cannot read {path}: {(error.strerror or str(error)).lower()}") from None
    except (ValueError, RecursionError) as error:
        raise ParseError(f"{path} is no TOML that can be read: {error}") from None
    of_file = table.pop("boards", None)
    named = of_file if boards is None else boards
    if named is None:
        raise ParseError(f"{path}: no boards are named: give `boards`, or write boards = 'spread 25' in the file")
    table.pop("board", None)
    if table.get("locks"):
        raise ParseError(f"{path}: locks are of one board's hands: leave them out of a report")
    try:
        file = _parse_somewhere(table, named, place.parent)
        chosen = parse_boards(named, file.spot.ranges, file.spot.deck)
        file = choose_spot_menu(file, menu)
        first = dataclasses.replace(file, spot=dataclasses.replace(file.spot, board=chosen[0].board))
    except EquipoiseError as error:
        raise ParseError(f"{path}: {error}") from None
    return ReportSpec(file=choose_menu(first, precision=precision or file.precision or "float32"), boards=tuple(chosen))


def _parse_somewhere(table: Mapping[str, Any], named: object, folder: Path) -> SpotFile:
    """Returns the spot on the first board that leaves both players hands."""
    candidates: list[str] = []
    if isinstance(named, list) and named and isinstance(named[0], str):
        candidates = [named[0]]
    elif isinstance(named, str) and not named.strip().lower().startswith(("all", "spread")):
        candidates = [named.split(",")[0]]
    problem: EquipoiseError | None = None
    for text in candidates or (format_board(flop.board) for flop in reversed(list_flops())):
        try:
            return parse_spot_table({**table, "board": text}, folder=folder)
        except EquipoiseError as error:
            problem = problem or error
            if not str(error).startswith("ranges"):
                raise
    assert problem is not None
    raise problem


def check_report_memory(spec: ReportSpec, num_workers: int, precision: str | None, reporter: Reporter) -> None:
    """Says what the solves take at once; raises `GameTooLargeError` if that is more than there is."""
    wanted = precision or spec.file.precision or "float32"
    first = next(
        (size for menu, kind, size in list_sizes(spec.file, num_threads=1) if kind == wanted), 0
    )  # of its own menu
    need = num_workers * first
    reporter.say(
        f"{len(spec.boards):,} boards, about {format_bytes(first)} each, {num_workers} at once: {format_bytes(need)}"
    )
    available = memory.available_bytes()
    if available is not None and need > available:
        raise GameTooLargeError(
            f"{num_workers} solves at once need {format_bytes(need)}, {format_bytes(available)} are available: take "
            "fewer `workers`, or a smaller `menu`"
        )


def run_report(
    spec: ReportSpec,
    folder: RunFolder,
    pool: Pool,
    request: RunRequest,
    *,
    keeps_solutions: bool = False,
    is_interrupted: IsInterrupted = never,
    reporter: Reporter | None = None,
) -> BoardReport:
    """Solves the boards of a report that are not done yet; returns all that are.

    Args:
        spec: what is solved.
        folder: where rows are kept; the caller is its writer.
        pool: workers; one thread each.
        request: how each board is solved.
        keeps_solutions: whether whole solutions are written to the folder as well.
        is_interrupted: asked now and then; boards under way are then dropped.
        reporter: is told how far it is.
    """
    done = {row["board"] for row in _read_rows(folder)}
    if keeps_solutions:
        (folder.path / SOLUTIONS).mkdir(exist_ok=True)
    tasks = list(_list_tasks(spec, request, folder.path / SOLUTIONS if keeps_solutions else None, done))
    supervision = Supervision(
        is_interrupted=is_interrupted,
        num_ahead=1,
        on_lost=lambda task, why: _keep(folder, {"board": task.board, "count": task.count, "error": why}),
    )
    with (reporter or Reporter()).task("boards") as on_step:
        total = len(spec.boards)
        on_step(len(done) / total, f"{len(done)} of {total}")
        for row in pool.map(solve_board, tasks, in_order=False, supervision=supervision):
            _keep(folder, row)
            done.add(row["board"])
            on_step(len(done) / total, f"{len(done)} of {total}, {row['board']}")
    return load_report(folder)


def load_report(folder: RunFolder) -> BoardReport:
    """Returns the rows of a folder's report that are done."""
    folder.check_kind(REPORT_KIND)
    boards = [str(board) for board in folder.config["boards"]]
    rows = {row["board"]: row for row in _read_rows(folder)}
    return BoardReport(
        spec=folder.config, rows=[rows[board] for board in boards if board in rows], num_boards=len(boards)
    )


def describe_spec(spec: ReportSpec, request: RunRequest) -> dict[str, Any]:
    """Returns what a folder's configuration says of a report."""
    asked = {name: value for name, value in dataclasses.asdict(request).items() if value is not None}
    return {
        "spot": format_spot(spec.file),
        "boards": {format_board(choice.board): choice.num_boards for choice in spec.boards},
        "request": asked,
    }


def restore_spec(folder: RunFolder) -> tuple[ReportSpec, RunRequest]:
    """Returns what a folder's report was asked for."""
    config = folder.config
    try:
        file = parse_spot(str(config["spot"]))
        boards = [
            BoardChoice(parse_board(board, file.spot.deck), float(count)) for board, count in config["boards"].items()
        ]
        return ReportSpec(file=file, boards=tuple(boards)), RunRequest.restore(config["request"])
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ConfigError(f"{folder.path} does not describe its report: {error}") from None


def _keep(folder: RunFolder, row: Mapping[str, Any]) -> None:
    folder.record(ROW_EVENT, row=dict(row))


def _read_rows(folder: RunFolder) -> list[dict[str, Any]]:
    return [event["row"] for event in folder.events() if event["event"] == ROW_EVENT]


def _list_tasks(spec: ReportSpec, request: RunRequest, out: Path | None, done: set[str]) -> Iterator[BoardTask]:
    asked = dataclasses.asdict(dataclasses.replace(request, num_threads=1))
    for choice in spec.boards:
        name = format_board(choice.board)
        if name in done:
            continue
        try:
            text = format_spot(spec.on(choice.board))
        except ConfigError as error:  # said by the row
            text = f"# {error}"
        place = None if out is None else str(out / f"{name}.eq")
        yield BoardTask(board=name, count=choice.num_boards, spot=text, request=asked, out=place)


def solve_on_board(
    file: SpotFile,
    board: Sequence[int],
    request: RunRequest,
    reporter: Reporter,
    *,
    is_interrupted: IsInterrupted = never,
) -> SpotRun:
    """Returns the run of a spot on a board once it has ended; raises `ConfigError` if no two hands can be there."""
    spot = dataclasses.replace(file.spot, board=tuple(board))
    run = prepare_spot(dataclasses.replace(file, spot=spot), request, reporter)
    for _ in run.advance(is_interrupted=is_interrupted):
        pass
    return run


def summarize_decision(run: SpotRun, line: str = "") -> dict[str, Any]:
    """Returns who acts on a line, how often each action is taken, and both ranges in sum; EV in chips."""
    place = run.describe_place(line)
    if place["kind"] != "decision":
        raise ConfigError(f"nobody acts at {line!r}, it is a {place['kind']}: name a decision of the flop")
    quality = run.records[-1].exploitability
    summaries = [player["summary"] for player in place["players"]]
    return {
        "player": place["player"],
        "ids": [action["id"] for action in place["actions"]],
        "names": [action["name"] for action in place["actions"]],
        "frequency": [action["frequency"] for action in place["actions"]],
        **{key: [one[key] for one in summaries] for key in ("combos", "ev", "equity", "eqr")},
        "percent_of_pot": None if quality is None else 100 * quality / run.file.spot.root_pot,
    }


def solve_board(task: BoardTask) -> dict[str, Any]:
    """Returns the row of a board once it is solved, or why it cannot be; what workers do."""
    row: dict[str, Any] = {"board": task.board, "count": task.count, "error": None}
    try:
        if task.spot.startswith("# "):
            raise ConfigError(task.spot.removeprefix("# "))
        file = parse_spot(task.spot)
        run = solve_on_board(file, file.spot.board, RunRequest.restore(task.request), Reporter())
        if task.out is not None:
            run.save(task.out)
    except EquipoiseError as error:
        return {**row, "error": str(error)}
    return {**row, **_describe_run(run)}


def _describe_run(run: SpotRun) -> dict[str, Any]:
    """Returns the figures of a solved board."""
    spot, place, last = run.file.spot, run.describe_place(), run.records[-1]
    check = next((action for action in place["actions"] if action["kind"] == "check"), None)
    reply = None
    if check is not None and check["next"] == "decision":
        below = summarize_decision(run, ",".join(check["line"]))
        reply = {key: below[key] for key in ("player", "names", "frequency")}
    return {
        **summarize_decision(run),
        "texture": describe_texture(spot.board),
        "odds": spot.pair_weight(),
        "pot": place["pot"],
        "big_blind": spot.big_blind,
        "seats": place["seats"],
        "reply": reply,
        "exploitability": last.exploitability,
        "iterations": last.iteration,
        "seconds": last.seconds,
        "stopped_by": str(run.stopped_by),
    }


def report_columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Returns rows that are solved as columns, EV in chips; None where a board lacks an action."""
    solved = [row for row in rows if row["error"] is None]
    columns: dict[str, list[Any]] = {
        "board": [row["board"] for row in solved],
        "texture": [row["texture"] for row in solved],
        "weight": _weigh(solved).tolist(),
    }
    if not solved:
        return columns
    for key in ("equity", "ev", "eqr"):
        for player, seat in enumerate(solved[0]["seats"]):
            columns[f"{key} {seat}"] = [row[key][player] for row in solved]
    for name in dict.fromkeys(name for row in solved for name in _name_actions(row)):
        columns[name] = [_name_actions(row).get(name) for row in solved]
    for key in ("exploitability", "percent_of_pot", "iterations", "seconds"):
        columns[key] = [row[key] for row in solved]
    return columns


def average_rows(columns: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    """Returns the mean of every column of numbers, boards as often as they come; None where nothing is known."""
    means: dict[str, Any] = {"board": "all", "texture": "", "weight": 1.0}
    return means | {
        name: mean_of_column(column, columns["weight"]) for name, column in columns.items() if name not in means
    }


def mean_of_column(column: Sequence[float | None], weights: Sequence[float]) -> float | None:
    """Returns the mean of what is known of a column; None if nothing is.

    >>> mean_of_column([1.0, None, 4.0], [1.0, 5.0, 2.0])
    3.0
    """
    numbers = np.array([np.nan if value is None else value for value in column], np.float64)
    known = np.where(np.isnan(numbers), 0.0, np.array(weights, np.float64))
    return float(known @ np.nan_to_num(numbers) / known.sum()) if known.sum() > 0 else None


def _weigh(rows: Sequence[Mapping[str, Any]]) -> Any:
    """Returns how often each board comes, in sum 1: boards stood for, times pairs of hands that it leaves."""
    weights = np.array([row["count"] * row["odds"] for row in rows], np.float64)
    return weights / weights.sum() if weights.size else weights


def _name_actions(row: Mapping[str, Any]) -> dict[str, float | None]:
    """Returns how often the first actions of both players are taken, by seat and name."""
    first = row["seats"][row["player"]]
    found = {f"{first} {name}": share for name, share in zip(row["names"], row["frequency"], strict=True)}
    reply = row["reply"]
    if reply is not None:
        seat = row["seats"][reply["player"]]
        found |= {f"{seat} {name}": share for name, share in zip(reply["names"], reply["frequency"], strict=True)}
    return found
