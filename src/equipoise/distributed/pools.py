# SPDX-License-Identifier: Apache-2.0
"""Which pool a user asked for: processes of this machine, or a Ray cluster. Ray is imported only for the latter."""

from __future__ import annotations

from equipoise.core.local_pool import LocalPool
from equipoise.core.pool import SupervisedPool

__all__ = ["open_pool"]


def open_pool(num_workers: int | None, ray_address: str | None = None) -> SupervisedPool:
    """Returns workers that end when the pool, once entered, is left.

    Args:
        num_workers: processes, or tasks at once on a cluster; None: one, or as many as the cluster has processors.
        ray_address: of a cluster's head (`HOST:PORT`, `auto`, `local`); None: this machine works alone. Raises
            `MissingExtraError` if Ray is not installed, `ConfigError` if there is no cluster.

    >>> open_pool(2).num_workers
    2
    """
    if ray_address is None:
        # a process of its own even if it is the only one: it can be interrupted, and replaced if it dies
        return LocalPool(1 if num_workers is None else num_workers, in_process=False)
    from equipoise.distributed.ray_pool import RayPool  # noqa: PLC0415  # an extra

    return RayPool(ray_address, num_workers=num_workers)
