# SPDX-License-Identifier: Apache-2.0
"""What every refusal looks like."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

__all__ = ["ERRORS", "ErrorAnswer", "ErrorDetail", "describe_text"]


class ErrorDetail(BaseModel):
    """What was wrong, where, what was given, and what would do."""

    code: str
    message: str
    field: str | None = None
    got: str | None = None
    hint: str | None = None


class ErrorAnswer(BaseModel):
    """The body of every answer from 400 on."""

    error: ErrorDetail


# what any route may answer, for the document
ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorAnswer, "description": text}
    for status, text in {
        400: "The request cannot be read.",
        401: "The token is missing or wrong.",
        403: "The request comes from elsewhere.",
        404: "There is no such thing.",
        409: "It cannot be done now, or not there.",
        413: "The body is too large.",
        415: "The body is of another type.",
        422: "The content is refused; `field` says which part.",
        429: "The queue is full.",
    }.items()
}


def describe_text(kind: str) -> dict[int | str, dict[str, Any]]:
    """Returns what the document says of an answer that is no JSON; refusals are JSON as everywhere."""
    return {200: {"description": "The text.", "content": {kind: {"schema": {"type": "string"}}}}}
