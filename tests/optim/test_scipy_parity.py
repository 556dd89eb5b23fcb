# SPDX-License-Identifier: BSD-3-Clause
"""Our L-BFGS takes the steps that SciPy's L-BFGS-B takes, and ends where it ends."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize, rosen, rosen_der

from sklearn_latent._optim import Report, lbfgs, minimize_lbfgs


def logistic(n: int = 60, d: int = 25, seed: int = 0, sigma: float = 3.0):
    """A penalised logistic regression, the plainest relative of a CRF."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * np.geomspace(0.1, 3.0, d)
    y = np.sign(X @ rng.standard_normal(d) + rng.standard_normal(n))

    def fun(w):
        margin = y * (X @ w)
        value = np.logaddexp(0.0, -margin).sum() + 0.5 * w @ w / sigma**2
        return float(value), -(X.T @ (y / (1.0 + np.exp(margin)))) + w / sigma**2

    return fun, d


def valley(x):
    """Rosenbrock's, whose line searches take many trials."""
    return float(rosen(x)), rosen_der(x)


def ours(fun, x0, *, max_iter, tol=0.0, run=map):
    points = []

    def watch(x):
        points.append(x.copy())
        return False

    watch.best = None
    out = minimize_lbfgs(fun, x0, max_iter=max_iter, tol=tol, report=Report(0, None, max_iter), watch=watch, run=run)
    return out, points


def scipys(fun, x0, *, max_iter, tol=0.0):
    points = []
    options = {"maxiter": max_iter, "maxcor": lbfgs.HISTORY, "ftol": 0.0, "gtol": tol, "maxfun": 10**6}
    callback = lambda x: points.append(np.array(x))  # noqa: E731
    out = minimize(fun, x0, jac=True, method="L-BFGS-B", callback=callback, options=options)
    return out, points


@pytest.mark.parametrize("seed", range(4))
def test_same_iterates_on_a_logistic_regression(seed):
    fun, d = logistic(seed=seed)
    _, mine = ours(fun, np.zeros(d), max_iter=15)
    _, theirs = scipys(fun, np.zeros(d), max_iter=15)
    assert len(mine) == len(theirs) == 15
    # Rounding, 1e-16 a step, grows by a factor of some units with each step.
    np.testing.assert_allclose(mine, theirs, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("n", [2, 5, 10])
def test_same_iterates_where_line_searches_work_hard(n):
    x0 = np.where(np.arange(n) % 2, 1.0, -1.2)
    _, mine = ours(valley, x0, max_iter=12)
    _, theirs = scipys(valley, x0, max_iter=12)
    np.testing.assert_allclose(mine, theirs, rtol=1e-6, atol=1e-7)


def test_same_number_of_evaluations():
    fun, d = logistic()
    counts = []
    for solve in (ours, scipys):
        asked = []

        def counting(x, asked=asked):
            asked.append(1)
            return fun(x)

        solve(counting, np.zeros(d), max_iter=15)
        counts.append(len(asked))
    assert counts[0] == counts[1]


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(2, 40),
    d=st.integers(1, 30),
    sigma=st.sampled_from([0.3, 1.0, 10.0]),
)
def test_same_optimum(seed, n, d, sigma):
    fun, d = logistic(n, d, seed % 1000, sigma)
    # With a tolerance of zero rounding ends both: 1e-14 of an objective near 100, a curvature of at least 0.01.
    mine, _ = ours(fun, np.zeros(d), max_iter=1000)
    theirs, _ = scipys(fun, np.zeros(d), max_iter=1000)
    assert mine.converged
    np.testing.assert_allclose(mine.x, theirs.x, rtol=0.0, atol=1e-5)
    np.testing.assert_allclose(mine.objective, theirs.fun, rtol=1e-12)


def test_history_in_single_precision_has_the_same_optimum(monkeypatch):
    fun, d = logistic(200, 40)
    double, _ = ours(fun, np.zeros(d), max_iter=1000)
    monkeypatch.setattr(lbfgs, "SINGLE", 1)
    single, _ = ours(fun, np.zeros(d), max_iter=1000)
    assert double.converged and single.converged
    # Rounding of the objective hides what is left to gain below about 1e-14.
    np.testing.assert_allclose(single.objective, double.objective, rtol=1e-13)
    np.testing.assert_allclose(single.x, double.x, rtol=0.0, atol=1e-5)
    assert single.n_iter <= 1.2 * double.n_iter + 5


def test_threads_change_no_bit(monkeypatch):
    rng = np.random.default_rng(0)
    n = 5 << 16
    scale, target = rng.uniform(0.5, 50.0, n), rng.standard_normal(n)

    def fun(x):
        d = x - target
        return float(0.5 * (scale * d) @ d), scale * d

    one, _ = ours(fun, np.zeros(n), max_iter=12)
    with ThreadPoolExecutor(3) as pool:
        three, _ = ours(fun, np.zeros(n), max_iter=12, run=pool.map)
    assert one.loss_curve == three.loss_curve
    np.testing.assert_array_equal(one.x, three.x)
    monkeypatch.setattr(lbfgs, "SINGLE", 1)
    with ThreadPoolExecutor(2) as pool:
        single = ours(fun, np.zeros(n), max_iter=12, run=pool.map)[0]
    np.testing.assert_array_equal(single.x, ours(fun, np.zeros(n), max_iter=12)[0].x)


def test_a_direction_without_descent_begins_again():
    # Curvature that changes sign: pairs with s.y <= 0 are left out, and the search goes on from there.
    def fun(x):
        return float(np.cos(x).sum() + 0.01 * x @ x), -np.sin(x) + 0.02 * x

    out, _ = ours(fun, np.linspace(0.1, 2.0, 7), max_iter=200, tol=1e-8)
    assert out.converged and np.abs(fun(out.x)[1]).max() < 1e-8
