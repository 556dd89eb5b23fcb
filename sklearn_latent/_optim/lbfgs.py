# SPDX-License-Identifier: BSD-3-Clause
"""L-BFGS, by SciPy, with the stopping rules of CRF training."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize

from .report import Report, Result, Watch

__all__ = ["minimize_lbfgs"]

#: Iterations over which the objective has to fall.
PERIOD = 10
#: Pairs of steps kept. Six is what CRF packages use: the history is most of the memory of a large model.
HISTORY = 6


def minimize_lbfgs(
    fun: Callable[[np.ndarray], tuple[float, np.ndarray]],
    x0: np.ndarray,
    *,
    max_iter: int,
    tol: float,
    report: Report,
    watch: Watch | None = None,
) -> Result:
    """Minimise a smooth function.

    Converged means that the objective fell by less than `tol` of its value over the last `PERIOD` iterations,
    that no gradient entry is above `tol`, or that no step lowers the objective any more in double precision.

    Parameters
    ----------
    fun : callable
        Takes a vector of shape (n,), returns the value and the gradient.
    x0 : ndarray of shape (n,)
    max_iter : int
    tol : float
    report : Report
    watch : Watch, default=None
        Early stopping; the result is then the point of its best score.

    Returns
    -------
    Result
    """
    state = _State(fun, report, tol, watch)
    value, grad = state.begin(x0)
    if not np.isfinite(value):
        raise ValueError(f"the objective is {value} at the start: the scores are beyond what floating point holds")
    if not np.isfinite(grad).all():
        raise ValueError("the gradient is not finite at the start: the scores are beyond what floating point holds")
    done = state.grad_norm <= tol
    if done or len(x0) == 0 or max_iter == 0:
        message = "converged at the start" if done else "no iteration was allowed"
        return Result(x0, value, state.grad_norm, 0, done, report.curve, message)
    out = minimize(
        state.evaluate,
        x0,
        jac=True,
        method="L-BFGS-B",
        callback=state.after_iteration,
        options={"maxiter": max_iter, "maxfun": np.iinfo(np.int32).max, "maxcor": HISTORY, "ftol": 0.0, "gtol": tol},
    )
    # SciPy hands back the last accepted point, which is the one whose value was last reported; but with the value that
    # made a line search fail if that was NaN, and a search that met infinity looks like one that found nothing lower.
    if state.met_wall:
        out.fun, out.jac = fun(out.x)
        out.success, out.message = False, "the objective is not finite along the search direction"
    if watch is not None and watch.best is not None and watch.best_iteration < len(report.curve) - 1:
        out.x = watch.best
        out.fun, out.jac = fun(out.x)
    grad_norm = float(np.abs(out.jac).max())
    converged = state.watch_stopped or state.fell_little or bool(out.success) or grad_norm <= tol
    return Result(
        x=out.x,
        objective=float(out.fun),
        grad_norm=grad_norm,
        n_iter=len(report.curve),
        converged=converged and not state.stopped,
        loss_curve=report.curve,
        message=str(out.message),
        stopped=state.stopped,
    )


class _State:
    """Remembers the last evaluation, since SciPy's callback shows the value but not the gradient."""

    def __init__(self, fun: Callable, report: Report, tol: float, watch: Watch | None):
        self.fun = fun
        self.report = report
        self.tol = tol
        self.watch = watch
        self.watch_stopped = False
        self.grad_norm = np.inf
        self.fell_little = False
        self.stopped = False
        self.first = np.inf
        self.met_wall = False  # in the last line search
        self._wall = False

    def begin(self, x0: np.ndarray) -> tuple[float, np.ndarray]:
        """Evaluate the start, and remember it: SciPy begins by asking for it again."""
        self._start = None
        value, grad = self.evaluate(x0)
        self._start = (np.array(x0), value, np.array(grad))
        return value, grad

    def evaluate(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        start, self._start = self._start, None
        value, grad = start[1:] if start is not None and np.array_equal(start[0], x) else self.fun(x)
        if self.first == np.inf:
            self.first = value
        self._wall = self._wall or not np.isfinite(value)
        self.met_wall = self.met_wall or self._wall
        self.grad_norm = float(np.abs(grad).max(initial=0.0))
        return value, grad

    def after_iteration(self, intermediate_result) -> None:
        # The point accepted is the last one evaluated, so its gradient is the one remembered.
        self.met_wall, self._wall = self._wall, False
        value = float(intermediate_result.fun)
        self.stopped = self.report.iteration(value, self.grad_norm)
        values = [self.first, *self.report.curve]
        if len(values) > PERIOD and values[-PERIOD - 1] - value < self.tol * abs(value):
            self.fell_little = True
        self.watch_stopped = self.watch is not None and self.watch(intermediate_result.x)
        if self.stopped or self.fell_little or self.watch_stopped:
            raise StopIteration
