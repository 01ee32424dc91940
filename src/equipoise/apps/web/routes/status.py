# SPDX-License-Identifier: Apache-2.0
"""`/api/status`: how the server is."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from equipoise.apps.web.jobs import FINAL
from equipoise.apps.web.models.status import Status
from equipoise.apps.web.services import UsedServices
from equipoise.core.machine import num_usable_cores
from equipoise.core.memory import available_bytes
from equipoise.core.provenance import find_commit, version

__all__ = ["router"]

router = APIRouter(tags=["status"])


@router.get("/status", response_model=Status)
def show_status(services: UsedServices) -> Any:
    """Returns how the server is."""
    return {
        "version": version(),
        "commit": find_commit(),
        "cores": num_usable_cores(),
        "bytes_free": available_bytes(),
        "job_bytes": services.settings.find_job_bytes(),
        "first": services.find_first(),
        "token": services.settings.token is not None,
        "events": services.events.last,
        "runs": sum(job.state not in FINAL for job in services.jobs.list_jobs()),
    }
