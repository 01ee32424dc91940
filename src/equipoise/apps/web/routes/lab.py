# SPDX-License-Identifier: Apache-2.0
"""`/api/runs`: everything in the folder of runs."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from equipoise.apps.web.errors import ApiError
from equipoise.apps.web.models.lab import Differences, PointList, RunDetails, RunList
from equipoise.apps.web.services import UsedServices

__all__ = ["router"]

router = APIRouter(prefix="/runs", tags=["lab"])


@router.get("", response_model=RunList)
def list_runs(services: UsedServices) -> Any:
    """Returns every run, the newest first."""
    return {"runs": services.lab.list_runs()}


@router.get("/differences", response_model=Differences)
def compare_runs(services: UsedServices, ids: Annotated[str, Query(max_length=4000)]) -> Any:
    """Returns where the configurations of runs differ; ids between commas."""
    listed = [id for id in ids.split(",") if id]
    if not 1 <= len(listed) <= 50:
        raise ApiError(422, "name from 1 to 50 runs", field="ids", got=ids)
    return services.lab.compare(listed)


@router.get("/{id}", response_model=RunDetails)
def show_run(id: str, services: UsedServices) -> Any:
    """Returns a run with its configuration."""
    return services.lab.describe(id)


@router.get("/{id}/points", response_model=PointList)
def show_points(id: str, services: UsedServices, after: Annotated[int, Query(ge=0, le=2**53)] = 0) -> Any:
    """Returns the numbers that a run has recorded since an event."""
    return services.lab.list_points(id, after)
