# SPDX-License-Identifier: Apache-2.0
"""k-means under the L1 distance: on distribution functions that is the earth mover's distance in one dimension."""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.kernels.buckets import find_nearest

__all__ = ["Clusters", "cluster"]

FloatArray = npt.NDArray[np.float32]


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Clusters:
    """What k-means found."""

    centroids: FloatArray  # [clusters, F] in ascending order of the sum of their features
    cost: float  # weighted mean of the points' distances to their centroids
    num_iterations: int


def cluster(
    points: FloatArray,
    weights: npt.NDArray[np.float64],
    num_clusters: int,
    *,
    max_iterations: int,
    rng: np.random.Generator,
) -> Clusters:
    """Returns clusters of weighted points: k-means++ start, then Lloyd's iterations until no point moves.

    Paper: Johanson, Burch, Valenzano & Bowling 2013, "Evaluating State-Space Abstractions in Extensive-Form Games",
        AAMAS, for k-means with the earth mover's distance; Arthur & Vassilvitskii 2007 for the start.
    Symbols: D(x) -> distance to the nearest centre so far.
    Departs from the paper: centroids are means, which minimise squared and not absolute differences, so an iteration
        may raise the cost: the best centroids seen are returned. No triangle inequality; one start.
    Checked by: tests/abstraction/test_kmeans.py.

    Args:
        points: `[B, F]`.
        weights: `[B]` positive.
        num_clusters: where fewer points differ, some centroids are equal and their clusters empty.
        max_iterations: at most so many.
        rng: for the start.
    """
    if not len(points):
        raise ConfigError("k-means needs at least one point")
    centroids = _start(points, weights, num_clusters, rng)
    nearest, distance = find_nearest(points, centroids)
    best = centroids
    cost = best_cost = float(np.average(distance, weights=weights))
    num_iterations = 0
    while num_iterations < max_iterations:
        num_iterations += 1
        centroids = _means(points, weights, nearest, centroids)
        before = nearest
        nearest, distance = find_nearest(points, centroids)
        cost = float(np.average(distance, weights=weights))
        if cost < best_cost:
            best, best_cost = centroids, cost
        if np.array_equal(before, nearest):
            break
    order = np.argsort(best.sum(axis=1, dtype=np.float64), kind="stable")
    return Clusters(np.ascontiguousarray(best[order]), best_cost, num_iterations)


def _start(
    points: FloatArray, weights: npt.NDArray[np.float64], num_clusters: int, rng: np.random.Generator
) -> FloatArray:
    """Returns points drawn one by one, each in proportion to weight times squared distance to those drawn before."""
    chosen = [int(rng.choice(len(points), p=weights / weights.sum()))]
    distance = find_nearest(points, points[chosen])[1].astype(np.float64)
    while len(chosen) < num_clusters:
        shares = weights * distance**2
        total = shares.sum()
        index = int(rng.choice(len(points), p=shares / total)) if total > 0 else chosen[0]
        chosen.append(index)
        distance = np.minimum(distance, find_nearest(points, points[[index]])[1])
    return np.ascontiguousarray(points[chosen])


def _means(
    points: FloatArray, weights: npt.NDArray[np.float64], nearest: npt.NDArray[np.int32], centroids: FloatArray
) -> FloatArray:
    """Returns the mean of each cluster; an empty one keeps its centroid."""
    size = len(centroids)
    totals = np.bincount(nearest, weights, minlength=size)
    sums = np.stack([np.bincount(nearest, weights * column, minlength=size) for column in points.T], axis=1)
    is_empty = totals == 0
    means = sums / np.where(is_empty, 1.0, totals)[:, None]
    return np.where(is_empty[:, None], centroids, means).astype(np.float32)
