# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from scipy import stats

from equipoise.abstraction.kmeans import cluster
from equipoise.abstraction.percentiles import percentile_ranks
from equipoise.core.errors import ConfigError
from equipoise.kernels.buckets import find_nearest
from tests.reference import buckets as reference


def random_points(count, features, seed):
    return np.random.default_rng(seed).random((count, features), np.float32)


def run(points, num_clusters, seed=0, max_iterations=50, weights=None):
    weights = np.ones(len(points)) if weights is None else weights
    return cluster(points, weights, num_clusters, max_iterations=max_iterations, rng=np.random.default_rng(seed))


@pytest.mark.parametrize("num_clusters", [1, 3, 17])
def test_nearest_equals_the_twin(num_clusters):
    points, centroids = random_points(50, 9, 0), random_points(num_clusters, 9, 1)
    nearest, distance = find_nearest(points, centroids)
    expected, least = reference.nearest(points, centroids)
    np.testing.assert_array_equal(nearest, expected)
    np.testing.assert_allclose(distance, least, rtol=1e-5)


def test_l1_of_distribution_functions_is_the_earth_movers_distance():
    rng = np.random.default_rng(0)
    first, second = rng.dirichlet(np.ones(8)), rng.dirichlet(np.ones(8))
    above = [np.cumsum(histogram[::-1])[-2::-1].astype(np.float32) for histogram in (first, second)]
    _, distance = find_nearest(above[0][None], above[1][None])
    bins = np.arange(8)
    assert distance[0] == pytest.approx(stats.wasserstein_distance(bins, bins, first, second), rel=1e-5)


def test_blobs_are_found():
    centres = np.array([[0, 0], [5, 5], [10, 0]], np.float32)
    points = np.concatenate([centre + random_points(40, 2, i) for i, centre in enumerate(centres)])
    found = run(points, 3)
    nearest, _ = find_nearest(points, found.centroids)
    assert [set(nearest[i : i + 40].tolist()) for i in (0, 40, 80)] == [{0}, {1}, {2}]
    np.testing.assert_allclose(found.centroids[0], points[:40].mean(axis=0), rtol=1e-5)


def test_iterations_lower_the_cost_and_centroids_ascend():
    points = random_points(400, 6, 0)
    start, end = run(points, 12, max_iterations=1), run(points, 12)
    assert end.cost < start.cost
    assert end.cost == pytest.approx(reference.nearest(points, end.centroids)[1].mean(), rel=1e-5)
    sums = end.centroids.sum(axis=1, dtype=np.float64)
    assert (np.diff(sums) >= 0).all()


def test_the_seed_decides():
    points = random_points(300, 4, 0)
    np.testing.assert_array_equal(run(points, 9, seed=1).centroids, run(points, 9, seed=1).centroids)
    assert not np.array_equal(run(points, 9, seed=1).centroids, run(points, 9, seed=2).centroids)


def test_weights_count_as_copies():
    points = random_points(5, 3, 0)
    copies = np.repeat(points, [3, 1, 1, 1, 1], axis=0)
    weighted = run(points, 1, weights=np.array([3.0, 1, 1, 1, 1]))
    np.testing.assert_allclose(weighted.centroids, run(copies, 1).centroids, rtol=1e-6)


def test_fewer_points_than_clusters():
    points = np.array([[0.0], [1.0]], np.float32)
    found = run(points, 4)
    assert found.cost == 0.0
    assert set(found.centroids[:, 0].tolist()) == {0.0, 1.0}


def test_no_points_are_refused():
    with pytest.raises(ConfigError, match="at least one point"):
        run(np.empty((0, 3), np.float32), 2)


def test_percentiles_share_the_weight():
    counts = np.random.default_rng(0).integers(0, 50, (3, 400))
    ranks = percentile_ranks(counts, 8)
    assert (np.diff(ranks.astype(int), axis=1) >= 0).all()
    for row, own in zip(counts, ranks, strict=True):
        weights = np.bincount(own, row, minlength=8)
        assert abs(weights - row.sum() / 8).max() <= 50  # a score is never split


def test_rows_without_weight_rank_nothing():
    assert percentile_ranks(np.zeros((1, 5), np.int64), 3).tolist() == [[0] * 5]


def test_a_heavy_score_takes_several_percentiles():
    assert percentile_ranks(np.array([[1, 98, 1]]), 10).tolist() == [[0, 5, 9]]
