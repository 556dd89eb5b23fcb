# SPDX-License-Identifier: BSD-3-Clause
"""L-BFGS: where it ends, when it stops and what it reports."""

from __future__ import annotations

import numpy as np
import pytest

from sklearn_latent._optim import Report, minimize_lbfgs


def quadratic(n: int = 20, seed: int = 0, condition: float = 100.0, bottom: float = 0.0):
    """A convex quadratic, its minimiser, and a log of the points asked for."""
    rng = np.random.default_rng(seed)
    q, _ = np.linalg.qr(rng.standard_normal((n, n)))
    A = q @ np.diag(np.geomspace(1.0, condition, n)) @ q.T
    target = rng.standard_normal(n)
    asked = []

    def fun(x):
        asked.append(x.copy())
        d = x - target
        return float(0.5 * d @ A @ d) + bottom, A @ d

    return fun, target, asked


def solve(fun, x0, *, max_iter=500, tol=1e-10, callback=None, verbose=0):
    return minimize_lbfgs(fun, x0, max_iter=max_iter, tol=tol, report=Report(verbose, callback, max_iter))


def test_a_convex_quadratic():
    fun, target, _ = quadratic()
    out = solve(fun, np.zeros(20))
    assert out.converged and not out.stopped
    # A gradient entry of 1e-10 and a smallest curvature of 1.
    np.testing.assert_allclose(out.x, target, rtol=0.0, atol=1e-9)
    assert out.grad_norm <= 1e-10 and out.objective == fun(out.x)[0]
    assert out.grad_norm == np.abs(fun(out.x)[1]).max()
    assert out.n_iter == len(out.loss_curve) > 5
    assert out.loss_curve[-1] == out.objective
    assert (np.diff(out.loss_curve) <= 0).all()


def test_gradient_rule_stops_at_the_first_point_that_meets_it():
    fun, _, _ = quadratic()
    seen = []
    out = solve(fun, np.zeros(20), tol=1e-3, callback=lambda info: seen.append(info.grad_norm))
    assert out.converged
    assert (seen[-1] <= 1e-3) == (out.grad_norm <= 1e-3)
    assert all(g > 1e-3 for g in seen[:-1])


def test_objective_rule_looks_back_ten_iterations():
    # A bottom of 1e6 and a tolerance of 1e-4: a fall of 100 is little, while no gradient entry is below 1e-4.
    fun, _, _ = quadratic(n=60, condition=1e6, bottom=1e6)
    start = fun(np.zeros(60))[0]
    out = solve(fun, np.zeros(60), tol=1e-4)
    assert out.converged and out.grad_norm > 1e-4
    values = [start, *out.loss_curve]
    falls = [values[k - 10] - values[k] for k in range(10, len(values))]
    assert falls[-1] < 1e-4 * values[-1] and all(f >= 1e-4 * v for f, v in zip(falls[:-1], values[10:-1], strict=True))
    assert out.n_iter >= 10


def test_max_iter():
    fun, _, _ = quadratic(condition=1e4)
    out = solve(fun, np.zeros(20), max_iter=4)
    assert out.n_iter == 4 and not out.converged and not out.stopped
    assert out.objective == fun(out.x)[0] < fun(np.zeros(20))[0]


def test_max_iter_of_zero_gives_the_start_back():
    fun, target, _ = quadratic()
    out = solve(fun, np.ones(20), max_iter=0)
    assert out.n_iter == 0 and not out.converged and out.loss_curve == []
    np.testing.assert_array_equal(out.x, np.ones(20))
    assert out.objective == fun(np.ones(20))[0]
    assert "converged" not in out.message
    assert solve(fun, target, max_iter=0).converged


def test_a_start_at_the_optimum():
    fun, target, asked = quadratic()
    out = solve(fun, target)
    assert out.converged and out.n_iter == 0 and len(asked) == 1
    np.testing.assert_array_equal(out.x, target)


def test_no_variable_at_all():
    out = solve(lambda x: (3.0, np.empty(0)), np.empty(0))
    assert out.converged and out.objective == 3.0 and len(out.x) == 0


def test_the_callback_sees_each_iteration_and_can_stop():
    fun, _, asked = quadratic(condition=1e4)
    infos = []

    def callback(info):
        infos.append(info)
        assert info.objective == fun(asked[-1])[0]
        return info.n_iter == 3

    out = solve(fun, np.zeros(20), callback=callback)
    assert out.stopped and not out.converged and out.n_iter == 3
    assert [info.n_iter for info in infos] == [1, 2, 3]
    assert [info.objective for info in infos] == out.loss_curve
    assert out.objective == infos[-1].objective == fun(out.x)[0]
    assert out.grad_norm == infos[-1].grad_norm
    assert 0 <= infos[0].seconds <= infos[1].seconds <= infos[2].seconds


def test_the_true_of_a_numpy_comparison_stops():
    fun, _, _ = quadratic(condition=1e4)
    limit = np.float64(fun(np.zeros(20))[0])
    out = solve(fun, np.zeros(20), callback=lambda info: limit > info.objective)
    assert out.stopped and out.n_iter == 1


@pytest.mark.parametrize("answer", [None, False, np.False_, 1, "yes"])
def test_only_true_stops(answer):
    fun, _, _ = quadratic()
    assert not solve(fun, np.zeros(20), callback=lambda info: answer).stopped


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_start_without_a_finite_value(value):
    with pytest.raises(ValueError, match=str(value)):
        solve(lambda x: (value, np.zeros(2)), np.zeros(2))


def test_a_start_without_a_finite_gradient():
    with pytest.raises(ValueError, match="gradient"):
        solve(lambda x: (1.0, np.array([0.0, np.nan])), np.zeros(2))


@pytest.mark.parametrize("beyond", [np.inf, np.nan])
def test_a_wall_in_the_way(beyond):
    # Not finite from 1 on, and the first steps lead there: what comes back is the last point that was fine.
    def fun(x):
        if x[0] >= 1.0:
            return beyond, np.array([beyond])
        return float(-np.log1p(-x[0]) - 100.0 * x[0]), np.array([1.0 / (1.0 - x[0]) - 100.0])

    out = solve(fun, np.array([0.0]), tol=1e-6)
    assert not out.converged and out.message
    assert out.x[0] < 1.0 and out.objective == fun(out.x)[0] and out.grad_norm == abs(fun(out.x)[1][0])


def test_no_step_lowers_the_objective_any_more():
    # With a tolerance of zero only rounding ends it: that is as converged as double precision allows.
    fun, target, _ = quadratic(bottom=1e8)
    out = solve(fun, np.zeros(20), tol=0.0)
    assert out.converged
    np.testing.assert_allclose(out.x, target, rtol=0.0, atol=1e-3)


def test_errors_of_the_function_come_through():
    def fun(x):
        raise KeyError("from inside")

    with pytest.raises(KeyError, match="from inside"):
        solve(fun, np.zeros(2))


def test_nothing_is_printed_unless_asked(capsys):
    fun, _, _ = quadratic(condition=1e4)
    solve(fun, np.zeros(20))
    assert capsys.readouterr().out == ""
    out = solve(fun, np.zeros(20), verbose=2)
    assert len(capsys.readouterr().out.splitlines()) == out.n_iter
    out = solve(fun, np.zeros(20), verbose=1, max_iter=100)
    assert 5 <= len(capsys.readouterr().out.splitlines()) <= 26
