# SPDX-License-Identifier: Apache-2.0
"""From errors to answers: one shape, the field named, no trace."""

from __future__ import annotations

import contextlib
import logging
import re
from collections.abc import Iterator
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from equipoise.core.errors import (
    CheckpointError,
    ConfigError,
    EquipoiseError,
    GameTooLargeError,
    IllegalActionError,
    InvalidStateError,
    ParseError,
    UnknownNameError,
)
from equipoise.core.files import describe_os_error

__all__ = ["ApiError", "answer_error", "install_handlers", "name_field", "naming_id"]

LOGGER = logging.getLogger(__name__)
FIELD: Final = re.compile(r"^((?:[a-z_]+)(?:\.[a-z_]+|\[\d+\])*): ")
QUOTED: Final = re.compile(r"got ('[^']*'|.+?)(?: \(|; |$)")
LONGEST_SHOWN: Final = 200
PLAIN: Final = {  # kinds of errors of forms whose own words are not plain
    "missing": "is missing",
    "extra_forbidden": "is no field of this form",
    "model_attributes_type": "must be an object with fields",
}
CODES: Final = {
    400: "bad_request",
    401: "token",
    403: "forbidden",
    404: "not_found",
    405: "method",
    409: "conflict",
    413: "body_too_large",
    415: "bad_request",
    422: "parse",
    429: "busy",
}
STATUSES: Final[dict[type[EquipoiseError], tuple[int, str]]] = {
    UnknownNameError: (422, "config"),
    GameTooLargeError: (422, "too_large"),
    ParseError: (422, "parse"),
    ConfigError: (422, "config"),
    IllegalActionError: (422, "config"),
    InvalidStateError: (409, "conflict"),
    CheckpointError: (409, "failed"),
}


class ApiError(Exception):
    """A refusal: a status and the one shape that errors have."""

    def __init__(
        self, status: int, message: str, *, code: str | None = None, field: str | None = None, got: Any = None
    ) -> None:
        super().__init__(message)
        self.status, self.message, self.field = status, message, field
        self.code = code or CODES.get(status, "failed")
        self.got = None if got is None else _shorten(got)
        self.hint: str | None = None

    @classmethod
    def of(cls, error: EquipoiseError, *, field: str | None = None) -> ApiError:
        """Returns what an error of the library is to a client; `field` is where the text came from."""
        status, code = next((STATUSES[kind] for kind in type(error).__mro__ if kind in STATUSES), (409, "failed"))
        message = " ".join(str(error).split())
        found = FIELD.match(message)
        if found is not None and field is None:
            message = message[found.end() :]
        got = QUOTED.search(message)
        return cls(
            status,
            message,
            code=code,
            field=field or (found[1] if found is not None else None),
            got=None if got is None else got[1].strip("'"),
        )

    def answer(self) -> JSONResponse:
        """Returns the answer."""
        return answer_error(self.status, self.code, self.message, field=self.field, got=self.got, hint=self.hint)


@contextlib.contextmanager
def naming_id(field: str) -> Iterator[None]:
    """While entered, an id that is refused is that of a field."""
    try:
        yield
    except ApiError as error:
        if error.field == "id":
            error.field = field
        raise


def answer_error(
    status: int, code: str, message: str, *, field: str | None = None, got: str | None = None, hint: str | None = None
) -> JSONResponse:
    """Returns an answer in the shape that all errors have."""
    content = {"code": code, "message": message, "field": field, "got": got, "hint": hint}
    shown = {name: None if text is None else _printable(text) for name, text in content.items()}
    return JSONResponse({"error": shown}, status_code=status)


def name_field(parts: tuple[Any, ...]) -> str | None:
    """Returns the path of a field of a request, without the words for where requests carry it."""
    text = ""
    for part in parts:
        if isinstance(part, int):
            text += f"[{part}]"
        elif str(part) not in ("body", "query", "path", "spot") or text:
            text += f".{part}" if text else str(part)
    return text or None


def _drop_branches(parts: tuple[Any, ...], body: Any) -> tuple[Any, ...]:
    """Returns the way to a field that a body has without the names of types that it might have had."""
    if parts[:1] != ("body",) or not isinstance(body, dict):
        return parts
    found, here = [], body
    for part in parts[1:]:
        if (isinstance(here, dict) and part in here) or (isinstance(here, list) and isinstance(part, int)):
            here = here[part]
            found.append(part)
    return tuple(found)


def install_handlers(app: FastAPI) -> None:
    """Makes an application answer errors in the one shape."""

    @app.exception_handler(ApiError)
    def _refuse(_request: Request, error: ApiError) -> JSONResponse:
        return error.answer()

    @app.exception_handler(EquipoiseError)
    def _explain(_request: Request, error: EquipoiseError) -> JSONResponse:
        return ApiError.of(error).answer()

    @app.exception_handler(RequestValidationError)
    def _name(_request: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        is_body = first.get("type") == "json_invalid"
        kind = str(first.get("type"))
        message = "the body is not JSON" if is_body else PLAIN.get(kind) or str(first.get("msg", "not allowed")).lower()
        is_missing = kind == "missing"
        parts = tuple(first.get("loc", ()))
        got = None if is_body or is_missing else _shorten(first.get("input"))
        field = None if is_body else name_field(parts if is_missing else _drop_branches(parts, error.body))
        return answer_error(422, "parse", message, field=field, got=got)

    @app.exception_handler(HTTPException)
    def _plain(_request: Request, error: HTTPException) -> JSONResponse:
        return answer_error(error.status_code, CODES.get(error.status_code, "failed"), str(error.detail).lower())

    @app.exception_handler(OSError)
    def _tell(request: Request, error: OSError) -> JSONResponse:
        LOGGER.warning("%s %s: %s", request.method, request.url.path, error)
        return answer_error(409, "failed", f"a file cannot be read or written: {describe_os_error(error)}")

    @app.exception_handler(Exception)
    def _fail(request: Request, error: Exception) -> JSONResponse:
        LOGGER.error("%s %s failed", request.method, request.url.path, exc_info=error)
        return answer_error(500, "failed", "the server failed; its log says why")


def _printable(text: str) -> str:
    """Returns a text that can be sent: halves of characters, which JSON can name, are written out."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _shorten(value: Any) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 3] + "..."
