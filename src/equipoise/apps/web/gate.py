# SPDX-License-Identifier: Apache-2.0
"""Who may ask, and how much: hosts, origins, tokens, sizes of bodies, looked at before anything else.

A page of another site may send requests to a server on this machine, and a name that it controls may be made to point
here. So hosts must be ours, requests must not come from other sites, and bodies must be of a type that plain forms
cannot send. Addresses that others can reach need a token besides.
"""

from __future__ import annotations

import hmac
import http.cookies
import ipaddress
import re
import socket
import urllib.parse
from collections.abc import Mapping
from typing import Final

from fastapi import HTTPException
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from equipoise.apps.web.errors import answer_error
from equipoise.apps.web.settings import LOOPBACK, ServerSettings

__all__ = ["COOKIE", "Gate"]

COOKIE: Final = "equipoise_token"
SAFE: Final = ("GET", "HEAD", "OPTIONS")
OURS: Final = ("same-origin", "none", "")  # of Sec-Fetch-Site; none: typed, or a bookmark
UPLOAD_PATH: Final = "/api/solutions"
HOST: Final = re.compile(r"(?:\[(?P<number>[^\[\]]*)\]|(?P<name>[^:\[\]]+))(?::\d*)?")
SECURITY_HEADERS: Final[Mapping[str, str]] = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
        "font-src 'self' data:; connect-src 'self' ws: wss:; base-uri 'none'; form-action 'self'; "
        "frame-ancestors 'none'; manifest-src 'self'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class Gate:
    """Lets requests through to an application that come from here, and are no larger than they may be."""

    def __init__(self, app: ASGIApp, settings: ServerSettings) -> None:
        self.app, self.settings = app, settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers refused requests itself; others go on to the application."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        refusal = self._find_refusal(scope)
        if scope["type"] == "websocket":
            if refusal is not None:
                await send({"type": "websocket.close", "code": 1008, "reason": "refused"})
                return
            await self.app(scope, receive, send)
            return
        if refusal is not None:
            await refusal(scope, receive, _with_headers(send))
            return
        await self.app(scope, _limit_body(receive, self._most_bytes(scope)), _with_headers(send))

    def _find_refusal(self, scope: Scope) -> Response | None:
        """Returns the answer to a request that goes no further, None for others."""
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if not self._is_own_host(host):
            return answer_error(403, "forbidden", "this host name is not the server's", field="host", got=host[:100])
        foreign = _find_foreign(scope, headers, host)
        if foreign is not None:
            return answer_error(403, "forbidden", "requests from other sites are refused", field="origin", got=foreign)
        if self.settings.token is not None and (refusal := self._check_token(scope, headers)) is not None:
            return refusal
        if scope["type"] == "http" and scope["method"] not in SAFE:
            return self._check_body(scope, headers)
        return None

    def _is_own_host(self, host: str) -> bool:
        name = _strip_port(host).lower()
        if name in LOOPBACK or name == self.settings.host.lower():
            return True
        if self.settings.is_loopback:
            return False
        if name in (socket.gethostname().lower(), socket.getfqdn().lower()):
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True  # a number cannot be made to point elsewhere

    def _check_token(self, scope: Scope, headers: Headers) -> Response | None:
        """Returns the refusal of a request without the token; the one that brings it in its address keeps it."""
        assert self.settings.token is not None
        query = urllib.parse.parse_qs(scope.get("query_string", b"").decode("latin-1"))
        given = query.get("token", [""])[0]
        kept = _find_cookie(headers.get("cookie", ""))
        bearer = headers.get("authorization", "").removeprefix("Bearer ").strip()
        expected = self.settings.token.encode()
        if any(hmac.compare_digest(text.encode(), expected) for text in (bearer, kept)):
            return None
        if given and hmac.compare_digest(given.encode(), expected):
            if scope["type"] == "websocket":
                return None
            answer = RedirectResponse(scope["path"] if not scope["path"].startswith("//") else "/", status_code=303)
            answer.set_cookie(COOKIE, self.settings.token, httponly=True, samesite="strict", max_age=30 * 24 * 3600)
            return answer
        return answer_error(401, "token", "open the address with ?token=..., as `equipoise serve` printed it")

    def _check_body(self, scope: Scope, headers: Headers) -> Response | None:
        length = headers.get("content-length", "0")
        if not length.isdecimal():
            return answer_error(400, "bad_request", "content-length must be a number", got=length[:50])
        most = self._most_bytes(scope)
        if int(length) > most:
            return answer_error(413, "body_too_large", _say_limit(most))
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        expected = "application/octet-stream" if self._is_upload(scope) else "application/json"
        has_body = length != "0" or "transfer-encoding" in headers
        if has_body and kind != expected:
            return answer_error(415, "bad_request", f"the body must be {expected}", field="content-type", got=kind)
        return None

    def _is_upload(self, scope: Scope) -> bool:
        return bool(scope["method"] == "POST" and scope["path"].rstrip("/") == UPLOAD_PATH)

    def _most_bytes(self, scope: Scope) -> int:
        return self.settings.most_upload_bytes if self._is_upload(scope) else self.settings.most_body_bytes


def _limit_body(receive: Receive, most: int) -> Receive:
    """Returns what receives a body piece by piece, and gives up where it is too large, whatever its header says."""
    left = most

    async def wrapped() -> Message:
        nonlocal left
        message = await receive()
        if message["type"] == "http.request":
            left -= len(message.get("body", b""))
            if left < 0:
                raise HTTPException(413, _say_limit(most))
        return message

    return wrapped


def _say_limit(most: int) -> str:
    return f"a body has at most {most:,} bytes"


def _find_foreign(scope: Scope, headers: Headers, host: str) -> str | None:
    """Returns where a request of another site comes from, None if it is ours."""
    is_socket, path = scope["type"] == "websocket", scope["path"]
    for origin in headers.getlist("origin"):
        if origin.lower() not in (f"http://{host.lower()}", f"https://{host.lower()}"):
            return origin[:100]
    site = headers.get("sec-fetch-site", "")
    is_interface = is_socket or path.startswith("/api") or scope.get("method") not in SAFE
    return site if is_interface and site not in OURS else None


def _strip_port(host: str) -> str:
    """Returns the name of a Host header without its port, and without brackets; what is neither stays as it is."""
    found = HOST.fullmatch(host)
    return host if found is None else found["number"] or found["name"]


def _find_cookie(header: str) -> str:
    """Returns the token that a browser kept; empty where there is none, or where nobody can read its cookies."""
    cookie = http.cookies.SimpleCookie()
    try:
        cookie.load(header)
    except http.cookies.CookieError:
        return ""
    return cookie[COOKIE].value if COOKIE in cookie else ""


def _with_headers(send: Send) -> Send:
    """Returns what sends answers with the headers that keep pages of others out."""

    async def wrapped(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in SECURITY_HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return wrapped
