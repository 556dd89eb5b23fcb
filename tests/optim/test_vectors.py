# SPDX-License-Identifier: BSD-3-Clause
"""The passes over vectors against the same sums in plain numpy, and the two loops against the textbook's."""

from __future__ import annotations

import numpy as np
import pytest

from sklearn_latent._optim import _vectors, lbfgs


def history(n: int, kind, seed: int = 0):
    rng = np.random.default_rng(seed)
    return rng, rng.standard_normal((6, n)).astype(kind), rng.standard_normal((6, n)).astype(kind)


# Lengths around the stretches that the kernels work in.
LENGTHS = [1, 7, 1023, 1024, 1025, 3000]


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("n", LENGTHS)
def test_store_pair(n, kind):
    rng, s, y = history(n, kind)
    direction, grad, before = rng.standard_normal((3, n))
    dots, first, last = np.full((6, 4), np.nan), n // 5, n - n // 7
    kept_s, kept_y = s.copy(), y.copy()
    _vectors.store_pair(0.3, direction, grad, before, s, y, 2, 4, dots, first, last)
    part = slice(first, last)
    kept_s[2, part] = (0.3 * direction[part]).astype(kind)
    kept_y[2, part] = (grad - before)[part].astype(kind)
    np.testing.assert_array_equal(s, kept_s)
    np.testing.assert_array_equal(y, kept_y)
    wide_s, wide_y = s[:4, part].astype(float), y[:4, part].astype(float)
    expected = np.stack([wide_s @ wide_y[2], wide_y @ wide_y[2], wide_s @ grad[part], wide_y @ grad[part]], axis=1)
    np.testing.assert_allclose(dots[:4], expected, rtol=1e-12, atol=1e-12 * n)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("n", LENGTHS)
def test_project(n, kind):
    rng, s, y = history(n, kind)
    grad, dots = rng.standard_normal(n), np.full((6, 4), np.nan)
    _vectors.project(grad, s, y, 5, dots, 0, n)
    np.testing.assert_allclose(dots[:5, 2], s[:5].astype(float) @ grad, rtol=1e-12, atol=1e-12 * n)
    np.testing.assert_allclose(dots[:5, 3], y[:5].astype(float) @ grad, rtol=1e-12, atol=1e-12 * n)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("n", LENGTHS)
def test_combine_and_move(n, kind):
    rng, s, y = history(n, kind)
    grad, x = rng.standard_normal((2, n))
    of_s, of_y, sums = rng.standard_normal(3), rng.standard_normal(3), np.empty(2)
    direction, trial = np.zeros(n), np.zeros(n)
    _vectors.combine(grad, -0.7, s, y, of_s, of_y, x, 0.25, direction, trial, sums, 0, n)
    expected = -0.7 * grad + of_s @ s[:3].astype(float) + of_y @ y[:3].astype(float)
    np.testing.assert_allclose(direction, expected, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(trial, x + 0.25 * direction, rtol=1e-14, atol=1e-15)
    np.testing.assert_allclose(sums, [grad @ direction, direction @ direction], rtol=1e-12, atol=1e-12 * n)
    _vectors.move(x, 0.125, direction, trial, 0, n)
    np.testing.assert_allclose(trial, x + 0.125 * direction, rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("n", LENGTHS)
def test_slope(n):
    grad, direction = np.random.default_rng(n).standard_normal((2, n))
    sums = np.empty(2)
    _vectors.slope(grad, direction, sums, 0, n)
    np.testing.assert_allclose(sums[0], grad @ direction, rtol=1e-12, atol=1e-12 * n)
    assert sums[1] == np.abs(grad).max()
    grad[n // 2] = np.nan
    _vectors.slope(grad, direction, sums, 0, n)
    assert np.isnan(sums[0])


def test_empty_ranges():
    none, sums = np.empty(0), np.empty(2)
    _vectors.slope(none, none, sums, 0, 0)
    _vectors.move(none, 1.0, none, none, 0, 0)
    assert sums.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("n_pairs", [0, 1, 3, 6, 9])
def test_the_two_loops_of_the_textbook(n_pairs):
    # Nocedal and Wright (2006), algorithm 7.4, on vectors; more pairs than the history holds drop the oldest.
    n, rng = 50, np.random.default_rng(n_pairs)
    A = np.diag(rng.uniform(0.5, 5.0, n))
    vectors = lbfgs._Vectors(n, map)
    x = rng.standard_normal(n)
    pairs = []
    for _ in range(n_pairs):
        d = rng.standard_normal(n)
        grad = A @ (x + 0.5 * d)
        vectors.update(0.5, d, grad, A @ x, curvature=0.5 * d @ (grad - A @ x), slope=-1.0)
        pairs.append((0.5 * d, grad - A @ x))
        x = x + 0.5 * d
    grad = A @ x
    q, alphas, pairs = grad.copy(), [], pairs[-lbfgs.HISTORY :]
    for s, y in reversed(pairs):
        alphas.append((s @ q) / (s @ y))
        q -= alphas[-1] * y
    if pairs:
        s, y = pairs[-1]
        q *= (s @ y) / (y @ y)
    for (s, y), alpha in zip(pairs, reversed(alphas), strict=True):
        q += s * (alpha - (y @ q) / (s @ y))
    direction, trial = np.empty(n), np.empty(n)
    slope, length = vectors.combine(grad, x, 1.0, direction, trial)
    np.testing.assert_allclose(direction, -q, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose([slope, length], [-grad @ q, q @ q], rtol=1e-9)


def test_a_pair_without_curvature_is_left_out():
    rng = np.random.default_rng(0)
    vectors = lbfgs._Vectors(4, map)
    d, before, grad = rng.standard_normal((3, 4))
    vectors.update(1.0, d, before + d, before, curvature=d @ d, slope=-1.0)
    vectors.update(1.0, d, grad, before, curvature=-1.0, slope=-1.0)
    assert vectors.n_used == 1
    np.testing.assert_allclose(vectors.along[:, 0], [d @ grad, d @ grad])
