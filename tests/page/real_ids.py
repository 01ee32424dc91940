# SPDX-License-Identifier: Apache-2.0
"""Gives requests that schemathesis makes up ids that there are, three times of four; `scripts/test-page` names them.

Loaded by schemathesis (SCHEMATHESIS_HOOKS), which knows nothing of what a server has and would ask for it in vain.
"""

from __future__ import annotations

import json
import os
from typing import Any

import schemathesis

IDS: dict[str, list[str]] = json.loads(os.environ["EQUIPOISE_IDS"])  # by the beginning of a path, the longest first
MADE_UP = 4  # one of so many is left as it is


def _pick(path: str, made_up: str) -> str | None:
    """Returns an id for a path; the same one for the same text, so that runs can be made again."""
    number = sum(map(ord, made_up)) + len(made_up)
    ids = next((ids for begin, ids in IDS.items() if path.startswith(begin)), [])
    return ids[number % len(ids)] if ids and number % MADE_UP else None


@schemathesis.hook
def map_path_parameters(context: Any, path_parameters: dict[str, Any] | None) -> dict[str, Any] | None:
    """Returns the parameters of a path, with an id that there is; what is removed for good is a copy."""
    if not path_parameters or not isinstance(path_parameters.get("id"), str):
        return path_parameters
    operation = context.operation
    removed = "remove:" if operation.method.upper() == "DELETE" else ""
    found = _pick(removed + operation.path, path_parameters["id"])
    return path_parameters if found is None else {**path_parameters, "id": found}
