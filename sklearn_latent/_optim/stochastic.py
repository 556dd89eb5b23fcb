# SPDX-License-Identifier: BSD-3-Clause
"""Stochastic solvers: averaged SGD, Adam, and ADF; they know a function of batches and a vector, no model."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from .report import Report, Result, Watch

__all__ = ["STEPPERS", "Adam", "AveragedSGD", "FrequencyAdaptive", "Sampled", "Stepper", "minimize_stochastic"]


class Sampled(Protocol):
    """A sum of losses over samples plus ``precision ||x||^2 / 2``."""

    n_samples: int
    total_weight: float

    @property
    def precision(self) -> float:
        """Factor of the prior's derivative, ``x``."""
        ...

    def evaluate(self, x: np.ndarray, samples: np.ndarray) -> tuple[float, float, np.ndarray | slice, np.ndarray]:
        """Loss of some samples, their weight, and the derivative as (index, values)."""
        ...


class Stepper(Protocol):
    """One update rule. What it remembers is in `state`, arrays and numbers, so that training can go on later."""

    batch_size: int
    state: dict[str, Any]

    @staticmethod
    def knows(state: dict[str, Any]) -> bool:
        """Whether `state` is this rule's own, or empty."""
        ...

    def begin(self, problem: Sampled, x: np.ndarray, rng: np.random.RandomState) -> None:
        """Get ready for `problem`; keeps what is remembered of an earlier one."""
        ...

    def step(self, x: np.ndarray, index: np.ndarray | slice, grad: np.ndarray, shrink: float, n_samples: int) -> None:
        """Change `x` in place; `grad` is the mean loss's derivative, ``shrink * x`` that of the prior's share."""
        ...

    def answer(self, x: np.ndarray) -> np.ndarray:
        """The point to hand out: `x`, or its average."""
        ...


class AveragedSGD:
    """Stochastic gradient descent whose answer is a mean of its points that favours later ones.

    Parameters
    ----------
    learning_rate : float or "auto"
        First step length. "auto" tries powers of two on some samples, as Bottou's programs do.
    batch_size : int

    Notes
    -----
    Step ``t`` has length ``rate / (1 + rate * decay * t)``, ``decay`` the prior's share. The mean is that of Shamir
    and Zhang (2013, polynomial decay): point ``k`` moves it by ``(MEMORY + 1) / (MEMORY + k)`` of the way.
    """

    MEMORY = 8

    def __init__(self, learning_rate: float | str = "auto", batch_size: int = 32):
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.state: dict[str, Any] = {}

    @staticmethod
    def knows(state: dict[str, Any]) -> bool:
        """Whether `state` is this rule's own, or empty."""
        return not state or "rate" in state

    def begin(self, problem: Sampled, x: np.ndarray, rng: np.random.RandomState) -> None:
        """Choose the first step length, once."""
        self.state.setdefault("t", 0)
        if "rate" not in self.state:
            self.state["rate"] = (
                self._calibrated(problem, x, rng) if self.learning_rate == "auto" else self.learning_rate
            )

    def step(self, x: np.ndarray, index: np.ndarray | slice, grad: np.ndarray, shrink: float, n_samples: int) -> None:
        """One step, and its share of the mean."""
        state = self.state
        length = state["rate"] / (1.0 + state["rate"] * shrink * state["t"])
        if shrink:
            x *= 1.0 - min(1.0, length * shrink)
        x[index] -= length * grad
        state["t"] += 1
        if "mean" not in state:
            state["mean"] = x.copy()
        else:
            state["mean"] += (x - state["mean"]) * ((self.MEMORY + 1.0) / (self.MEMORY + state["t"]))

    def answer(self, x: np.ndarray) -> np.ndarray:
        """The mean, once there is one."""
        return self.state.get("mean", x)

    def _calibrated(self, problem: Sampled, x: np.ndarray, rng: np.random.RandomState) -> float:
        """The power of two that lowers the loss of some samples most in one go through them."""
        samples = np.sort(rng.permutation(problem.n_samples)[: max(256, self.batch_size)])
        batches = [samples[k : k + self.batch_size] for k in range(0, len(samples), self.batch_size)]
        best = (np.inf, 1.0)
        worse = 0
        for exponent in range(-10, 8):
            rate, trial = 2.0**exponent, x.copy()
            with np.errstate(over="ignore", invalid="ignore"):
                for batch in batches:
                    _, weight, index, grad = problem.evaluate(trial, batch)
                    trial[index] -= rate * grad / weight
                loss = problem.evaluate(trial, samples)[0] if np.isfinite(trial).all() else np.inf
            if loss < best[0]:
                best, worse = (loss, rate), 0
            else:
                worse += 1
                if worse == 3:
                    break
        # The best on a few samples is a little too long for all.
        return best[1] / 2.0


class Adam:
    """Adam (Kingma and Ba 2015), with the usual constants.

    Parameters
    ----------
    learning_rate : float or "auto"
        "auto": 0.03, falling with the square root of the passes.
    batch_size : int
    """

    def __init__(self, learning_rate: float | str = "auto", batch_size: int = 32):
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.state: dict[str, Any] = {}

    @staticmethod
    def knows(state: dict[str, Any]) -> bool:
        """Whether `state` is this rule's own, or empty."""
        return not state or "first" in state

    def begin(self, problem: Sampled, x: np.ndarray, rng: np.random.RandomState) -> None:
        """Set the moments to zero, once."""
        state = self.state
        state["a_pass"] = -(-problem.n_samples // self.batch_size)
        if "t" not in state:
            state.update(t=0, first=np.zeros(len(x)), second=np.zeros(len(x)))

    def step(self, x: np.ndarray, index: np.ndarray | slice, grad: np.ndarray, shrink: float, n_samples: int) -> None:
        """One step."""
        state = self.state
        full = shrink * x
        full[index] += grad
        state["t"] += 1
        t, rate = state["t"], self.learning_rate
        if rate == "auto":
            rate = 0.03 / np.sqrt(1.0 + (t - 1) // state["a_pass"])
        first, second = state["first"], state["second"]
        first += 0.1 * (full - first)
        full *= full
        second += 0.001 * (full - second)
        scale = np.sqrt(second / (1.0 - 0.999**t))
        scale += 1e-8
        x -= (rate / (1.0 - 0.9**t)) * first / scale

    def answer(self, x: np.ndarray) -> np.ndarray:
        """The last point."""
        return x


class FrequencyAdaptive:
    """ADF: each weight has a step length that falls with how often its feature occurs (Sun, Wang, Li 2012).

    Parameters
    ----------
    learning_rate : float or "auto"
        First step length of every weight, "auto": 0.1.
    batch_size : int
        Samples a step.

    Notes
    -----
    Ten times a pass the step length of weight *i* is multiplied by ``0.995 - u_i (0.995 - 0.95)``, ``u_i`` the share of
    the samples since in which it was active. The prior is applied to a weight when it is active, with what it missed
    meanwhile.
    """

    fast, slow = 0.95, 0.995

    def __init__(self, learning_rate: float | str = "auto", batch_size: int = 1):
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.state: dict[str, Any] = {}

    @staticmethod
    def knows(state: dict[str, Any]) -> bool:
        """Whether `state` is this rule's own, or empty."""
        return not state or "length" in state

    def begin(self, problem: Sampled, x: np.ndarray, rng: np.random.RandomState) -> None:
        """Give every weight its first step length, once."""
        state, n = self.state, len(x)
        state["period"] = max(1, problem.n_samples // 10)
        if "length" not in state:
            rate = 0.1 if self.learning_rate == "auto" else self.learning_rate
            state.update(t=0, length=np.full(n, float(rate)), count=np.zeros(n), last=np.zeros(n))

    def step(self, x: np.ndarray, index: np.ndarray | slice, grad: np.ndarray, shrink: float, n_samples: int) -> None:
        """One step of the active weights."""
        state = self.state
        state["t"] += n_samples
        length = state["length"][index]
        if shrink:
            missed = state["t"] - state["last"][index]
            x[index] *= np.maximum(0.0, 1.0 - length * shrink) ** (missed / n_samples)
            state["last"][index] = state["t"]
        x[index] -= length * grad
        state["count"][index] += n_samples
        if state["t"] % state["period"] < n_samples:
            self._slow_down()

    def answer(self, x: np.ndarray) -> np.ndarray:
        """The last point."""
        return x

    def _slow_down(self) -> None:
        state = self.state
        share = np.minimum(1.0, state["count"] / state["period"])
        state["length"] *= self.slow - share * (self.slow - self.fast)
        state["count"][:] = 0.0


STEPPERS: dict[str, type] = {"sgd": AveragedSGD, "adam": Adam, "adf": FrequencyAdaptive}


def minimize_stochastic(
    problem: Sampled,
    x0: np.ndarray,
    stepper: Stepper,
    *,
    max_iter: int,
    tol: float,
    n_iter_no_change: int,
    rng: np.random.RandomState,
    report: Report,
    prior_weight: float | None = None,
    watch: Watch | None = None,
) -> Result:
    """Pass over the samples in batches until the objective no longer falls.

    Parameters
    ----------
    problem : Sampled
    x0 : ndarray of shape (n,)
    stepper : Stepper
    max_iter : int
        Passes.
    tol : float
        Converged when no pass of `n_iter_no_change` lowered the objective by more than `tol` of its value. The
        objective of a pass is that of its batches, each before its step.
    n_iter_no_change : int
    rng : RandomState
        Draws the order of the samples.
    report : Report
    prior_weight : float, default=None
        Weight that the prior is spread over; None: that of all samples.
    watch : Watch, default=None
        Early stopping; sees the answer after each pass.

    Returns
    -------
    Result
        Its objective is that of the last pass.

    Raises
    ------
    ValueError
        If the objective is no longer finite.
    """
    x = np.array(x0, dtype=np.float64)
    stepper.begin(problem, x, rng)
    decay = problem.precision / (prior_weight or problem.total_weight)
    best, since, converged, stopped = np.inf, 0, False, False
    grad_norm = np.inf
    for n_pass in range(max_iter):
        order = rng.permutation(problem.n_samples)
        loss, grad_norm = 0.0, 0.0
        for k in range(0, len(order), stepper.batch_size):
            batch = np.sort(order[k : k + stepper.batch_size])
            value, weight, index, grad = problem.evaluate(x, batch)
            loss += value
            grad /= weight
            grad_norm = max(grad_norm, float(np.abs(grad).max(initial=0.0)))
            stepper.step(x, index, grad, decay, len(batch))
        objective = loss + 0.5 * problem.precision * float(x @ x)
        if not np.isfinite(objective) or not np.isfinite(x).all():
            raise ValueError(
                f"training diverged: the objective is {objective} in pass {n_pass + 1}; lower learning_rate"
            )
        stopped = report.iteration(objective, grad_norm)
        if watch is not None and watch(stepper.answer(x)):
            converged = True
            break
        if objective < best - tol * abs(objective):
            since = 0
        else:
            since += 1
        best = min(best, objective)
        if stopped:
            break
        if since >= n_iter_no_change:
            converged = True
            break
    return Result(
        x=x,
        objective=report.curve[-1] if report.curve else np.nan,
        grad_norm=grad_norm,
        n_iter=len(report.curve),
        converged=converged and not stopped,
        loss_curve=report.curve,
        message=f"the objective still fell by more than {tol} of its value",
        stopped=stopped,
    )
