# SPDX-License-Identifier: BSD-3-Clause
"""L-BFGS (Liu and Nocedal 1989) with the stopping rules of CRF training.

The method, its line search and its constants are those of SciPy's L-BFGS-B without bounds, and so are its iterates,
but for rounding. What differs is the traffic: with millions of weights an iteration is bound by passes over vectors of
their length. The two loops over the history are done on inner products alone (Chen, Wang and Zhou 2014), which one
pass over the history yields after each step, and a second pass makes the direction and the next point. Large histories
are kept in single precision: they shape the direction only, never the objective, and so not the optimum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from . import _vectors
from .line_search import LineSearch
from .report import Report, Result, Watch

__all__ = ["minimize_lbfgs"]

#: Iterations over which the objective has to fall.
PERIOD = 10
#: Pairs of steps kept. Six is what CRF packages use: the history is most of the memory of a large model.
HISTORY = 6
#: Variables from which on the history is kept in single precision.
SINGLE = 1 << 20
#: Evaluations of one line search.
TRIALS = 20
#: Largest gradient entry, relative to the objective, at which a line search without success counts as the end.
_EXHAUSTED = 1e-7


def minimize_lbfgs(
    fun: Callable[[np.ndarray], tuple[float, np.ndarray]],
    x0: np.ndarray,
    *,
    max_iter: int,
    tol: float,
    report: Report,
    watch: Watch | None = None,
    run: Callable[[Callable, Iterable], Iterable] = map,
    recycle: Callable[[np.ndarray], None] = lambda _: None,
) -> Result:
    """Minimise a smooth function.

    Converged means that the objective fell by less than `tol` of its value over the last `PERIOD` iterations,
    that no gradient entry is above `tol`, or that no step lowers the objective any more in double precision.

    Parameters
    ----------
    fun : callable
        Takes a vector of shape (n,), returns the value and the gradient. It must not keep or write to either vector.
    x0 : ndarray of shape (n,)
    max_iter : int
    tol : float
    report : Report
    watch : Watch, default=None
        Early stopping; the result is then the point of its best score.
    run : callable, default=map
        Maps a function over tasks, results in order; may use threads, which changes no bit of the result.
    recycle : callable
        Told of each gradient that is needed no more, so that `fun` may write the next one there.

    Returns
    -------
    Result
    """
    value, grad = fun(x0)
    if not np.isfinite(value):
        raise ValueError(f"the objective is {value} at the start: the scores are beyond what floating point holds")
    if not np.isfinite(grad).all():
        raise ValueError("the gradient is not finite at the start: the scores are beyond what floating point holds")
    grad_norm = float(np.abs(grad).max(initial=0.0))
    done = grad_norm <= tol
    if done or len(x0) == 0 or max_iter == 0:
        message = "converged at the start" if done else "no iteration was allowed"
        return Result(x0, value, grad_norm, 0, done, report.curve, message)

    vectors = _Vectors(len(x0), run)
    x, trial, direction = np.array(x0, dtype=np.float64), np.empty(len(x0)), np.empty(len(x0))
    first, converged, stopped, message = value, False, False, "max_iter was reached"
    while len(report.curve) < max_iter:
        step = 1.0 if report.curve else 0.0
        slope, length = vectors.combine(grad, x, step, direction, trial)
        if not report.curve:
            # Nothing is known of the scale yet: a first step of length one.
            step = min(1.0 / np.sqrt(length), 1e10)
            vectors.move(x, step, direction, trial)
        found = None if slope >= 0.0 else _search(fun, vectors, x, value, slope, step, direction, trial, recycle)
        if found is _WALL:
            message = "the objective is not finite along the search direction"
            break
        if found is None:
            if vectors.n_used:
                vectors.forget()
                continue
            converged = grad_norm <= _EXHAUSTED * max(1.0, abs(value))
            message = "the line search found no lower point"
            break
        step, new_value, new_slope, new_grad, grad_norm = found
        x, trial = trial, x
        fall, value = value - new_value, new_value
        enough = watch is not None and watch(x)
        stopped = report.iteration(value, grad_norm)
        values = [first, *report.curve[-PERIOD:]] if len(report.curve) <= PERIOD else report.curve[-PERIOD - 1 :]
        if len(values) > PERIOD and values[0] - value < tol * abs(value):
            converged, message = True, f"the objective fell by less than tol over {PERIOD} iterations"
        if enough:
            converged, message = True, "the validation score stopped rising"
        if grad_norm <= tol:
            converged, message = True, "no entry of the gradient is above tol"
        if fall <= 0.0:
            converged, message = True, "no step lowers the objective any more"
        if stopped:
            converged, message = False, "the callback stopped it"
        if converged or stopped:
            break
        vectors.update(step, direction, new_grad, grad, curvature=step * (new_slope - slope), slope=step * slope)
        recycle(grad)
        grad = new_grad

    if watch is not None and watch.best is not None and watch.best_iteration < len(report.curve) - 1:
        x = watch.best
        value, grad = fun(x)
        grad_norm = float(np.abs(grad).max())
    return Result(
        x=x,
        objective=float(value),
        grad_norm=grad_norm,
        n_iter=len(report.curve),
        converged=converged,
        loss_curve=report.curve,
        message=message,
        stopped=stopped,
    )


#: The objective was not finite at a trial point.
_WALL = object()


def _search(fun, vectors: _Vectors, x, value, slope, step, direction, trial, recycle):
    """A step along the direction: step, value, slope, gradient, its largest entry; the point is in `trial`. Or None."""
    search = LineSearch(float(value), slope, step)
    for k in range(TRIALS):
        if k:
            vectors.move(x, search.step, direction, trial)
        new_value, grad = fun(trial)
        new_slope, grad_norm = vectors.slope(grad, direction)
        if not (np.isfinite(new_value) and np.isfinite(new_slope)):
            return _WALL
        at = search.step
        if search.accepts(float(new_value), new_slope):
            return at, float(new_value), new_slope, grad, grad_norm
        recycle(grad)
    return None


class _Vectors:
    """The history of steps s and gradient changes y, and the passes over vectors, range by range.

    Ranges depend on the length only and their sums are added in order, so that threads change no bit.
    """

    def __init__(self, n: int, run: Callable):
        n_ranges = max(1, min(16, n >> 16))
        cuts = [n * k // n_ranges for k in range(n_ranges + 1)]
        self.ranges = list(zip(cuts[:-1], cuts[1:], strict=True))
        self.run = run
        kind = np.float32 if n >= SINGLE else np.float64
        self.s, self.y = np.empty((HISTORY, n), dtype=kind), np.empty((HISTORY, n), dtype=kind)
        self.forget()

    def forget(self) -> None:
        """Begin again with steepest descent."""
        self.order: list[int] = []  # slots of the pairs, oldest first
        self.steps = np.zeros((HISTORY, HISTORY))  # s_i . y_j, for pairs i no younger than j
        self.changes = np.zeros((HISTORY, HISTORY))  # y_i . y_j
        self.along = np.zeros((2, HISTORY))  # s_i . grad, y_i . grad

    @property
    def n_used(self) -> int:
        """Pairs in the history."""
        return len(self.order)

    def _sums(self, f: Callable, *shape: int) -> list[np.ndarray]:
        """Run ``f(sums, first, last)`` over the ranges; the sums of each."""

        def task(bounds: tuple[int, int]) -> np.ndarray:
            out = np.zeros(shape)
            f(out, *bounds)
            return out

        return list(self.run(task, self.ranges))

    def update(self, step: float, direction, grad, before, *, curvature: float, slope: float) -> None:
        """Add the pair of an accepted step, unless its curvature s.y is lost in rounding."""
        if curvature <= np.finfo(float).eps * -slope:
            if self.order:
                self._project(grad)
            return
        slot = len(self.order) if len(self.order) < HISTORY else self.order.pop(0)
        self.order.append(slot)
        n_used = len(self.order)
        head = (float(step), direction, grad, before, self.s, self.y, slot, n_used)
        dots = np.sum(self._sums(lambda out, a, b: _vectors.store_pair(*head, out, a, b), HISTORY, 4), axis=0)
        self.steps[:n_used, slot] = dots[:n_used, 0]
        self.changes[:n_used, slot] = self.changes[slot, :n_used] = dots[:n_used, 1]
        self.along[:] = dots[:, 2:].T

    def _project(self, grad) -> None:
        n_used = len(self.order)
        dots = self._sums(lambda out, a, b: _vectors.project(grad, self.s, self.y, n_used, out, a, b), HISTORY, 4)
        self.along[:] = np.sum(dots, axis=0)[:, 2:].T

    def coefficients(self) -> tuple[float, np.ndarray, np.ndarray]:
        """The direction as a sum of the gradient, the steps and the changes: the two loops, on inner products alone."""
        order, steps, changes, (s_grad, y_grad) = self.order, self.steps, self.changes, self.along
        alpha, of_s, of_y = np.zeros(HISTORY), np.zeros(HISTORY), np.zeros(HISTORY)
        if not order:
            return -1.0, of_s, of_y
        for k in range(len(order) - 1, -1, -1):
            i = order[k]
            younger = order[k + 1 :]
            alpha[i] = (s_grad[i] - steps[i, younger] @ alpha[younger]) / steps[i, i]
        newest = order[-1]
        scale = steps[newest, newest] / changes[newest, newest]
        for k, i in enumerate(order):
            older = order[:k]
            # y_i . r, where r = scale (grad - sum_j alpha_j y_j) + sum of what the older pairs added.
            reached = scale * (y_grad[i] - changes[i, order] @ alpha[order]) + steps[older, i] @ of_s[older]
            of_s[i] = alpha[i] - reached / steps[i, i]
            of_y[i] = -scale * alpha[i]
        return -scale, -of_s, -of_y

    def combine(self, grad, x, step: float, direction, trial) -> tuple[float, float]:
        """Write the direction and ``x + step * direction``; the slope along it and its squared length."""
        of_grad, of_s, of_y = self.coefficients()
        n = self.n_used
        head = (grad, of_grad, self.s, self.y, of_s[:n], of_y[:n], x, float(step), direction, trial)
        slope, length = np.sum(self._sums(lambda out, a, b: _vectors.combine(*head, out, a, b), 2), axis=0)
        return float(slope), float(length)

    def move(self, x, step: float, direction, trial) -> None:
        """Write ``x + step * direction``."""
        self._sums(lambda _, a, b: _vectors.move(x, float(step), direction, trial, a, b), 0)

    def slope(self, grad, direction) -> tuple[float, float]:
        """Slope along the direction, and the largest absolute entry of the gradient."""
        sums = self._sums(lambda out, a, b: _vectors.slope(grad, direction, out, a, b), 2)
        return float(sum(s[0] for s in sums)), float(max(s[1] for s in sums))
