# SPDX-License-Identifier: Apache-2.0
"""Arithmetic of our own beside that of the libraries that it stands for."""

import math

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.kernels.arithmetic import dot, exponential, logarithm, multiply, power, powers

LAST_BITS = 4e-16  # relative: less than two of them


def test_exponential_is_right_to_the_last_bits():
    numbers = np.concatenate([np.linspace(-700.0, 709.0, 20_001), np.linspace(-1.0, 1.0, 20_001)])
    np.testing.assert_allclose(exponential(numbers), np.exp(numbers), rtol=LAST_BITS)
    tiny = np.linspace(-745.0, -709.0, 100)  # too small to be normal: absolute errors
    np.testing.assert_allclose(exponential(tiny), np.exp(tiny), rtol=0, atol=1e-323)


def test_exponential_at_its_ends():
    assert exponential([0.0, -math.inf, -1e300, math.inf, 1e300]).tolist() == [1.0, 0.0, 0.0, math.inf, math.inf]
    assert math.isnan(exponential([math.nan])[0])


def test_logarithm_is_right_to_the_last_bits():
    numbers = np.concatenate([np.geomspace(1e-320, 1e308, 20_001), np.linspace(0.5, 2.0, 20_001)])
    np.testing.assert_allclose(logarithm(numbers), np.log(numbers), rtol=LAST_BITS)


def test_logarithm_at_its_ends():
    assert logarithm([1.0, 0.0, math.inf]).tolist() == [0.0, -math.inf, math.inf]
    assert np.isnan(logarithm([-1.0, math.nan])).all()


@pytest.mark.parametrize("exponent", [0.0, 0.3, 0.5, 1.0, 1.5, 1.7, 2.0, 3.0, -0.5])
def test_powers(exponent):
    bases = (1e-3, 0.5, 1.0, 7.0, 12345.0)
    for base in bases:
        assert power(base, exponent) == pytest.approx(base**exponent, rel=1e-14)
    assert powers(np.array(bases), exponent).tolist() == [power(base, exponent) for base in bases]
    if exponent >= 0:
        assert power(0.0, exponent) == 0.0**exponent


@pytest.mark.parametrize("shapes", [((3, 5), (5, 4)), ((5,), (5, 4)), ((3, 5), (5,)), ((5,), (5,)), ((2, 0), (0, 3))])
def test_products_are_those_of_numpy(shapes):
    rng = np.random.default_rng(0)
    first, second = (rng.normal(size=shape) for shape in shapes)
    first[np.abs(first) < 0.3] = 0.0
    found = multiply(first, second)
    assert found.shape == (first @ second).shape
    np.testing.assert_allclose(found, first @ second, atol=1e-14)
    np.testing.assert_allclose(multiply(first, second[::-1][::-1]), found, rtol=0)  # whatever the strides


def test_products_are_added_from_left_to_right():
    first = np.array([1e16, 1.0, -1e16, 1.0])
    assert dot(first, np.ones(4)) == ((1e16 + 1.0) - 1e16) + 1.0


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(ConfigError, match=r"shapes \(2, 3\) and \(2,\) have no product"):
        multiply(np.ones((2, 3)), np.ones(2))
