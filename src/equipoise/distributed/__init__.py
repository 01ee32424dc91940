# SPDX-License-Identifier: Apache-2.0
"""Work on several machines, through Ray: the one room that imports it."""

from typing import TYPE_CHECKING

from equipoise.core.lazy import lazy_names

if TYPE_CHECKING:
    from equipoise.distributed.pools import open_pool

__all__ = [
    "open_pool",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(__name__, __all__)
