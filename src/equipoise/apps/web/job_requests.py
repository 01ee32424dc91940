# SPDX-License-Identifier: Apache-2.0
"""From forms to jobs, and jobs with all that pages show of them."""

from __future__ import annotations

import dataclasses
from typing import Any, Final

from equipoise.apps.web.errors import ApiError, naming_id
from equipoise.apps.web.flops import ROW, average_rows
from equipoise.apps.web.job_text import FLOPS, SOLVE, JobSpec
from equipoise.apps.web.jobs import Job
from equipoise.apps.web.listing import find_game
from equipoise.apps.web.models.jobs import JobForm
from equipoise.apps.web.models.spots import SpotForm
from equipoise.apps.web.services import Services
from equipoise.apps.web.spots import MOST_NODES, add_locks, check_wishes, form_of, naming, plan_spot, read_form
from equipoise.core.errors import EquipoiseError
from equipoise.games.holdem.betting_tree import betting_tree
from equipoise.games.holdem.cards import format_board, parse_board
from equipoise.games.holdem.flop_subsets import parse_boards
from equipoise.games.holdem.line_notation import parse_decision
from equipoise.games.holdem.spot_file import SpotFile, format_spot, parse_spot, read_label
from equipoise.games.holdem.targets import parse_target
from equipoise.games.registry import format_game
from equipoise.runs.request import RunRequest
from equipoise.runs.sizing import choose_menu
from equipoise.solvers.cfr import estimate_bytes
from equipoise.solvers.holdem.push_fold import find_push_fold
from equipoise.solvers.rules import DCFR

__all__ = ["describe_job", "describe_report", "list_reports", "make_spec"]

LIMITS: Final = ("iterations", "target", "seconds")
DEFAULT_FLOPS: Final = 25
MOST_SOLVED_NODES: Final = 1_000_000  # of betting that was solved before, anywhere
DRAWN: Final = ("iteration", "seconds", "exploitability", "game_value", "iterations_per_second", "seconds_left")


def make_spec(form: JobForm, services: Services) -> tuple[JobSpec, int | None]:
    """Returns the job of a form and about what it takes; what is wrong is refused under the name of its field."""
    if form.kind == "solve" and form.game is not None:
        return _solve_game(form), None
    if form.kind == "solve":
        if form.spot is None:
            raise ApiError(422, "a spot or a game is missing", field="spot")
        return _solve_spot(read_form(form.spot), form, services)
    if form.kind == "resolve":
        return _resolve(form, services)
    return _report_flops(form, services)


def _solve_game(form: JobForm) -> JobSpec:
    assert form.game is not None
    game = find_game(form.game, form.parameters)
    request = _read_request(form)
    with naming("target"):
        RunRequest(**request).parse_target()
    label = format_game(game)
    return JobSpec(kind=SOLVE, title=_read_title(form) or label, game=label, request=request)


def _read_title(form: JobForm) -> str | None:
    """Returns the title of a form, None where there is none."""
    if not (form.title or "").strip():
        return None
    with naming("title"):
        return read_label(form.title)


def _read_request(form: JobForm) -> dict[str, Any]:
    """Returns what a form asks of a run, checked as far as that needs no tree."""
    check_wishes(rule=form.rule, method=form.method, iterations=form.iterations, seconds=form.seconds)
    request = {name: getattr(form, name) for name in (*LIMITS, "rule", "method")}
    return {name: value for name, value in request.items() if value is not None}


def _solve_spot(
    file: SpotFile, form: JobForm, services: Services, origin: str | None = None, most_nodes: int = MOST_NODES
) -> tuple[JobSpec, int | None]:
    request = _read_request(form)
    if "target" in request:
        with naming("target"):
            parse_target(str(request["target"]))
    if not file.locks and find_push_fold(file.spot) is not None:
        raise ApiError(422, "push or fold has an exact chart: `equipoise pushfold` shows it", field="menu")
    title = _read_title(form)
    if title is not None:
        file = dataclasses.replace(file, title=title)
    settings = services.settings
    threads = settings.find_threads()
    file = choose_menu(file, precision=file.precision or "float32", num_threads=threads)
    try:
        plan = plan_spot(file, most_nodes=most_nodes)
        num_bytes = int(estimate_bytes(plan, DCFR(), dtype=file.precision or "float32", num_threads=threads))
    except EquipoiseError as error:
        raise ApiError.of(error) from None
    most = settings.find_job_bytes()
    if num_bytes > most:
        raise ApiError(
            422, f"{num_bytes / 1e9:.3g} GB needed, a job may take {most / 1e9:.3g} GB", code="too_large", field="menu"
        )
    if settings.threads is not None:
        request["num_threads"] = settings.threads
    spec = JobSpec(kind=SOLVE, title=file.name, spot=format_spot(file), request=request, origin=origin)
    return spec, num_bytes


def _resolve(form: JobForm, services: Services) -> tuple[JobSpec, int | None]:
    if form.solution is None:
        raise ApiError(422, "the solution to solve again is missing", field="solution")
    if not form.locks:
        raise ApiError(422, "what is to be fixed is missing", field="locks")
    with naming_id("solution"), services.library.opened_spot(form.solution) as (opened, solved):
        file, path = solved.file, opened.listed.path
    spec, num_bytes = _solve_spot(add_locks(file, form.locks), form, services, form.solution, MOST_SOLVED_NODES)
    return dataclasses.replace(spec, start=str(path)), num_bytes


def _report_flops(form: JobForm, services: Services) -> tuple[JobSpec, int | None]:
    if form.spot is None:
        raise ApiError(422, "the spot is missing", field="spot")
    asked: Any = form.flops or f"spread {form.count or DEFAULT_FLOPS}"
    with naming("flops" if form.flops else "count"):
        chosen = parse_boards(asked)
    if any(len(one.board) != 3 for one in chosen):
        raise ApiError(422, "a flop has three cards", field="flops")
    flops = {format_board(one.board): one.num_boards for one in chosen}
    file = _read_somewhere(form.spot, list(flops))
    spec, num_bytes = _solve_spot(file, form, services)
    line = ",".join(form.line) if isinstance(form.line, list) else form.line or ""
    assert spec.spot is not None
    _check_line(parse_spot(spec.spot), list(flops), line)
    title = _read_title(form) or f"{len(flops)} flop{'s' * (len(flops) > 1)}"
    spec = dataclasses.replace(spec, kind=FLOPS, title=title, flops=flops, line=line)
    return spec, num_bytes


def _check_line(file: SpotFile, flops: list[str], line: str) -> None:
    """Refuses a line that leads to no decision on any flop; on some its cards may be on the board."""
    spot = file.spot
    betting = betting_tree(spot.betting_rules, spot.menu)
    for place, flop in enumerate(flops):
        try:
            parse_decision(line, betting, parse_board(flop, spot.deck), spot.deck)
            return
        except EquipoiseError as error:
            if place == len(flops) - 1:
                raise ApiError.of(error, field="line") from None


def _read_somewhere(form: SpotForm, flops: list[str]) -> SpotFile:
    """Returns a spot on the first flop that leaves both players hands; what else is wrong is refused at once."""
    for place, flop in enumerate(flops):
        try:
            return read_form(form.model_copy(update={"board": flop}))
        except ApiError as error:
            if error.field != "ranges" or place == len(flops) - 1:
                raise
    raise AssertionError("there is a flop")


def describe_job(job: Job, services: Services) -> dict[str, Any]:
    """Returns a job with its curve and what it solves."""
    folder = services.jobs.folder_of(job)
    spec = JobSpec.from_json(folder.config)
    file = None if spec.spot is None else parse_spot(spec.spot)
    pot = None if file is None else file.spot.root_pot
    points = []
    for event in folder.events():
        if event["event"] == "progress":
            quality = event.get("exploitability")
            percent = None if quality is None or pot is None else 100 * quality / pot
            points.append({**{name: event.get(name) for name in DRAWN}, "percent_of_pot": percent})
    described = services.jobs.describe(job)
    if described["progress"] is None and points:
        described["progress"] = points[-1]
    return {
        **described,
        "points": points,
        "spot": None if file is None else form_of(file),
        "game": spec.game,
    }


def list_reports(services: Services) -> list[dict[str, Any]]:
    """Returns the reports over flops, the newest first."""
    return [_summarize(job, services) for job in services.jobs.list_jobs() if job.kind == FLOPS]


def _summarize(job: Job, services: Services) -> dict[str, Any]:
    folder = services.jobs.folder_of(job)
    done = sum(event["event"] == ROW for event in folder.events())
    count = len(JobSpec.from_json(folder.config).flops)
    return {"id": job.id, "title": job.title, "state": job.state, "num_done": done, "num_flops": count}


def describe_report(id: str, services: Services) -> dict[str, Any]:
    """Returns one line over many flops, as far as it is done."""
    job = services.jobs.find(id)
    if job.kind != FLOPS:
        raise ApiError(404, "this job is no report over flops", field="id", got=id)
    folder = services.jobs.folder_of(job)
    spec = JobSpec.from_json(folder.config)
    assert spec.spot is not None
    file = parse_spot(spec.spot)
    rows = [event for event in folder.events() if event["event"] == ROW]
    solved = next((row for row in rows if row["ids"]), None)
    return {
        **_summarize(job, services),
        "line": [step for step in spec.line.split(",") if step],
        "player": None if solved is None else solved["player"],
        "big_blind": file.spot.big_blind,
        "pot": file.spot.root_pot,
        "seats": list(file.seat_names),
        "ids": [] if solved is None else solved["ids"],
        "names": [] if solved is None else solved["names"],
        "rows": rows,
        "average": average_rows(rows),
    }
