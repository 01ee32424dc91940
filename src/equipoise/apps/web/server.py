# SPDX-License-Identifier: Apache-2.0
"""The application: the gate before it, the interface under `/api`, the page for everything else."""

from __future__ import annotations

import contextlib
import importlib.resources
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

from fastapi import APIRouter, FastAPI
from fastapi.responses import FileResponse, HTMLResponse, Response

from equipoise.apps.web.errors import answer_error, install_handlers
from equipoise.apps.web.gate import Gate
from equipoise.apps.web.models.errors import ERRORS
from equipoise.apps.web.routes import games, jobs, lab, play, solutions, spots, status, train
from equipoise.apps.web.services import Services
from equipoise.apps.web.settings import ServerSettings
from equipoise.core.provenance import version

__all__ = ["make_app", "page_folder"]

ASSETS: Final = "assets"
MISSING_PAGE: Final = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Equipoise</title>
<p>The page is not part of this installation; the interface is at <a href="/api/openapi.json">/api</a>.</p></html>
"""
DESCRIPTION: Final = """Solved spots and games, solving, training, play and runs. Chips are chips, probabilities 0 to 1,
null is what cannot be said. Files, games and agents are named by ids that the lists give; nothing else is accepted."""


def page_folder() -> Path:
    """Returns where the files of the page are."""
    return Path(str(importlib.resources.files("equipoise.apps.web"))) / "page"


def make_app(settings: ServerSettings, *, page: Path | None = None, services: Services | None = None) -> FastAPI:
    """Returns the application.

    Args:
        settings: of the server.
        page: folder with `index.html` and `assets`; None: the one that comes along.
        services: what answers, and lives as long as it is entered; None: made when the application starts.
    """

    @contextlib.asynccontextmanager
    async def live(app: FastAPI) -> AsyncIterator[None]:
        with contextlib.nullcontext(services) if services is not None else Services(settings) as used:
            app.state.services = used
            yield

    app = FastAPI(
        title="Equipoise",
        version=version(),
        description=DESCRIPTION,
        openapi_url="/api/openapi.json",
        docs_url=None,  # their scripts would come from elsewhere
        redoc_url=None,
        lifespan=live,
    )
    install_handlers(app)
    interface = APIRouter(prefix="/api", responses=ERRORS)
    for part in (status, solutions, games, spots, jobs, train, play, lab):
        interface.include_router(part.router)
    app.include_router(interface)
    _serve_page(app, page or page_folder())
    app.add_middleware(Gate, settings=settings)
    return app


def _serve_page(app: FastAPI, folder: Path) -> None:
    """Answers everything outside the interface: files of the page by name, the page itself for its own addresses."""

    @app.get("/{path:path}", include_in_schema=False)
    def serve(path: str) -> Response:
        if path == "api" or path.startswith("api/"):
            return answer_error(404, "not_found", "there is no such address")
        known = _list_files(folder)
        if path in known:
            is_asset = path.startswith(f"{ASSETS}/")
            caching = "public, max-age=31536000, immutable" if is_asset else "no-cache"
            return FileResponse(known[path], headers={"Cache-Control": caching})
        if path.startswith(f"{ASSETS}/"):
            return answer_error(404, "not_found", "there is no such file")
        if "index.html" in known:
            return FileResponse(known["index.html"], headers={"Cache-Control": "no-cache"})
        return HTMLResponse(MISSING_PAGE)


def _list_files(folder: Path) -> dict[str, Path]:
    """Returns the files of the page by name; a name that is not among them is no path to anything."""
    if not folder.is_dir():
        return {}
    found: dict[str, Any] = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    return found
