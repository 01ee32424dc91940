# SPDX-License-Identifier: Apache-2.0
"""Ray, or a message that says how to get it: the one place that imports it."""

from __future__ import annotations

from equipoise.core.errors import MissingExtraError

try:
    import ray
    import ray.exceptions
except ModuleNotFoundError:
    raise MissingExtraError("ray", "scale", "work on several machines") from None

__all__ = ["ray"]
