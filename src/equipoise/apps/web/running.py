# SPDX-License-Identifier: Apache-2.0
"""Runs the application in this process, on a port that it binds itself so that it can be said."""

from __future__ import annotations

import socket
from collections.abc import Callable

import uvicorn

from equipoise.apps.web.server import make_app
from equipoise.apps.web.services import Services
from equipoise.apps.web.settings import ServerSettings
from equipoise.core.errors import ConfigError
from equipoise.core.files import describe_os_error

__all__ = ["run"]


def run(settings: ServerSettings, announce: Callable[[str], None], *, seconds_to_finish: int) -> None:
    """Serves until a signal.

    Args:
        settings: of the server.
        announce: called with the address once it is taken.
        seconds_to_finish: that answers under way have at the end.
    """
    with _bind(settings) as bound, Services(settings) as services:
        port = bound.getsockname()[1]
        name = f"[{settings.host}]" if ":" in settings.host else settings.host
        app = make_app(settings, services=services)
        config = uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=seconds_to_finish,
            ws_max_size=65_536,
            limit_concurrency=500,
            h11_max_incomplete_event_size=65_536,
        )
        announce(f"http://{name}:{port}")
        server = uvicorn.Server(config)
        server.run(sockets=[bound])


def _bind(settings: ServerSettings) -> socket.socket:
    """Returns a socket at the address of a server; raises `ConfigError` where that cannot be had."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((settings.host, settings.port))
    except OSError as error:
        bound.close()
        raise ConfigError(
            f"cannot serve at {settings.host}:{settings.port}: {describe_os_error(error)}; --port 0 takes a free one"
        ) from None
    return bound
