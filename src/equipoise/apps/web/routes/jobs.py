# SPDX-License-Identifier: Apache-2.0
"""`/api/jobs`, `/api/flops`, `/api/events`: work in other processes, and what happens to it."""

from __future__ import annotations

import asyncio
import contextlib
import csv
import io
import json
from typing import Annotated, Any

from fastapi import APIRouter, Body, Query, Response, WebSocket
from fastapi.responses import PlainTextResponse

from equipoise.apps.web.job_requests import describe_job, describe_report, list_reports, make_spec
from equipoise.apps.web.models.errors import describe_text
from equipoise.apps.web.models.jobs import (
    EventList,
    FlopReport,
    FlopReportList,
    JobAnswer,
    JobForm,
    JobLimits,
    JobList,
)
from equipoise.apps.web.services import Services, UsedServices

__all__ = ["router"]

router = APIRouter(tags=["jobs"])


@router.get("/jobs", response_model=JobList)
def list_jobs(services: UsedServices) -> Any:
    """Returns all jobs, the newest first."""
    return {"jobs": [services.jobs.describe(job) for job in services.jobs.list_jobs()]}


@router.post("/jobs", status_code=202, response_model=JobAnswer)
def submit(form: JobForm, services: UsedServices) -> Any:
    """Puts a job at the end of the queue."""
    spec, num_bytes = make_spec(form, services)
    return describe_job(services.jobs.submit(spec, num_bytes=num_bytes), services)


@router.get("/jobs/{id}", response_model=JobAnswer)
def show_job(id: str, services: UsedServices) -> Any:
    """Returns a job with its curve."""
    return describe_job(services.jobs.find(id), services)


@router.delete("/jobs/{id}", status_code=204)
def remove_job(id: str, services: UsedServices) -> Response:
    """Forgets a job that is over, and its solution."""
    services.jobs.remove(id)
    services.library.forget(id)
    return Response(status_code=204)


@router.post("/jobs/{id}/pause", response_model=JobAnswer)
def pause(id: str, services: UsedServices) -> Any:
    """Asks a job to hold on."""
    return describe_job(services.jobs.pause(id), services)


@router.post("/jobs/{id}/resume", response_model=JobAnswer)
def resume(id: str, services: UsedServices, limits: Annotated[JobLimits | None, Body()] = None) -> Any:
    """Lets a job go on, to new limits if there are any."""
    totals = {} if limits is None else limits.model_dump(exclude_none=True)
    return describe_job(services.jobs.resume(id, totals), services)


@router.post("/jobs/{id}/stop", response_model=JobAnswer)
def stop(id: str, services: UsedServices) -> Any:
    """Asks a job to end and keep what it has."""
    return describe_job(services.jobs.stop(id), services)


@router.post("/jobs/{id}/cancel", response_model=JobAnswer)
def cancel(id: str, services: UsedServices) -> Any:
    """Ends a job at once and drops what it has."""
    return describe_job(services.jobs.cancel(id), services)


@router.get("/jobs/{id}/events", response_model=EventList)
def list_events(id: str, services: UsedServices, after: Annotated[int, Query(ge=0, le=2**53)] = 0) -> Any:
    """Returns what happened to a job since an event."""
    services.jobs.find(id)
    found, _ = services.events.after(after)
    return {"events": [event for event in found if event.get("job") == id], "last": services.events.last}


@router.get("/events", response_model=EventList)
def list_all_events(services: UsedServices, after: Annotated[int, Query(ge=0, le=2**53)] = 0) -> Any:
    """Returns what happened since an event, for who cannot listen."""
    found, _ = services.events.after(after)
    return {"events": found, "last": services.events.last}


@router.websocket("/events")
async def follow(socket: WebSocket, after: int | None = None) -> None:
    """Sends events as they happen, those that were missed first."""
    services: Services = socket.app.state.services
    await socket.accept()
    seen = services.events.last if after is None else after
    await socket.send_text(json.dumps({"type": "hello", "seq": services.events.last}))
    if services.events.after(seen)[1]:
        seen = services.events.last
        await socket.send_text(json.dumps({"type": "reset", "seq": seen}))
    news, loop = asyncio.Event(), asyncio.get_running_loop()
    listener = asyncio.ensure_future(_hear(socket))

    def tell() -> None:
        loop.call_soon_threadsafe(news.set)

    with services.events.listening(tell), contextlib.suppress(RuntimeError):
        while not listener.done():
            for event in services.events.after(seen)[0]:
                seen = event["seq"]
                await socket.send_text(json.dumps(event))
            waiting = asyncio.ensure_future(news.wait())
            await asyncio.wait({waiting, listener}, return_when=asyncio.FIRST_COMPLETED)
            waiting.cancel()
            news.clear()
    listener.cancel()


async def _hear(socket: WebSocket) -> None:
    """Waits until whoever listens is gone; what it sends is not looked at."""
    with contextlib.suppress(RuntimeError):
        while (await socket.receive())["type"] != "websocket.disconnect":
            pass


@router.get("/flops", response_model=FlopReportList)
def show_reports(services: UsedServices) -> Any:
    """Returns the reports over flops."""
    return {"reports": list_reports(services)}


@router.get("/flops/{id}", response_model=FlopReport)
def show_report(id: str, services: UsedServices) -> Any:
    """Returns one line over many flops."""
    return describe_report(id, services)


@router.get("/flops/{id}/csv", response_model=None, responses=describe_text("text/csv"))
def download_report(id: str, services: UsedServices) -> PlainTextResponse:
    """Returns a report as CSV, a line a flop."""
    report = describe_report(id, services)
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    seats = report["seats"]
    figures = [f"{figure} {seat}" for figure in ("ev", "equity") for seat in seats]
    writer.writerow(["flop", "weight", "texture", *figures, "percent_of_pot", *report["names"]])
    for row in report["rows"]:
        numbers = [*(row["ev"] or [None, None]), *(row["equity"] or [None, None]), row["percent_of_pot"]]
        numbers += row["frequency"]
        shown = ["" if number is None else repr(number) for number in numbers]
        writer.writerow([row["text"], row["weight"], " ".join(row["texture"]), *shown])
    headers = {"Content-Disposition": f'attachment; filename="{id}.csv"'}
    return PlainTextResponse(buffer.getvalue(), media_type="text/csv", headers=headers)
