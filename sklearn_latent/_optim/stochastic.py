# SPDX-License-Identifier: BSD-3-Clause
"""Stochastic solvers: averaged SGD, Adam, and ADF; they know a function of batches and a vector, no model.

A batch of a large sparse model touches few of its weights, so all that passes between a problem and a rule are these:
`Sampled.draw` says which they are, `Stepper.values` brings them up to date, `Sampled.evaluate` gets them and returns
the derivative in them. What happens to every weight at every step, the prior and the mean, is written as a few numbers
for all until `Stepper.settle`, once a pass.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from . import _step_kernels
from .report import Report, Result, Watch

__all__ = ["STEPPERS", "Adam", "AveragedSGD", "Drawn", "FrequencyAdaptive", "Sampled", "Stepper", "minimize_stochastic"]


class Drawn(Protocol):
    """A batch."""

    @property
    def index(self) -> np.ndarray | slice:
        """Weights that have a derivative, none twice, or ``slice(None)`` for all."""
        ...


class Sampled(Protocol):
    """A sum of losses over samples plus ``precision ||x||^2 / 2``."""

    n_samples: int
    total_weight: float

    @property
    def precision(self) -> float:
        """Factor of the prior's derivative, ``x``."""
        ...

    def draw(self, samples: np.ndarray) -> Drawn:
        """The batch of some samples; it can be evaluated many times."""
        ...

    def evaluate(self, values: np.ndarray, batch: Any) -> tuple[float, float, np.ndarray]:
        """Loss of a batch, its weight, and the derivative, given the values of the weights at ``batch.index``."""
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

    def values(self, x: np.ndarray, index: np.ndarray | slice) -> np.ndarray:
        """The point's entries at `index`. Between `begin` or `settle` and the next `settle`, `x` may hold the point in
        a form of the rule's own.
        """
        ...

    def step(self, x: np.ndarray, index: np.ndarray | slice, grad: np.ndarray, shrink: float, n_samples: int) -> None:
        """Change `x` in place; `grad` is the mean loss's derivative, ``shrink * x`` that of the prior's share."""
        ...

    def settle(self, x: np.ndarray) -> None:
        """Make `x` the point itself."""
        ...

    def answer(self, x: np.ndarray) -> np.ndarray:
        """The point to hand out, after `settle`: `x`, or its average."""
        ...


class AveragedSGD:
    """Stochastic gradient descent whose answer is a mean of its points that favours later ones.

    Parameters
    ----------
    learning_rate : float or "auto"
        First step length, the same for all weights. "auto": each weight has its own, which falls with the derivatives
        that the weight has had (AdaGrad); their common factor is the best power of two on some samples.
    batch_size : int

    Notes
    -----
    Given a rate, step ``t`` has length ``rate / (1 + rate * decay * t)`` (Bottou 2010), ``decay`` the prior's share.
    With "auto" it is ``rate / sqrt(1 + squares)`` (Duchi, Hazan, Singer 2011), ``squares`` the sum of a weight's
    squared derivatives, those of a batch's summed loss: a frequent feature soon takes short steps, a rare one is learnt
    from the few times it occurs. The prior is then applied to a weight when it is touched, with what it missed
    meanwhile, implicitly (Duchi and Singer 2009). The one stands for the derivative of a feature of value one at one
    wrong label, so that derivatives far below it don't count as much as it does; for features of other scales the
    factor makes up.

    The mean is that of Shamir and Zhang (2013, polynomial decay): point ``k`` moves it by
    ``(MEMORY + 1) / (MEMORY + k)`` of the way.

    Prior and mean change every weight at every step, the loss only those that a batch touches. Within a pass the point
    is ``scale * x`` and the mean ``kept * (ahead * x + rest)`` (as in Xu 2011, section 4.2): what changes all weights
    is then a change of three numbers, and a step changes `x` and `rest` where the batch touches them.
    """

    _ahead: float  # of the factored mean
    MEMORY = 8
    #: Samples that rates are tried on, and others that judge them.
    TRIED, JUDGING = 512, 256

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
        state = self.state
        state.setdefault("t", 0)
        if "rate" not in state:
            if self.learning_rate == "auto":
                state.update(rate=self._calibrated(problem, x, rng), **self._fresh(len(x)))
            else:
                state["rate"] = self.learning_rate
        self._open(x)

    def values(self, x: np.ndarray, index: np.ndarray | slice) -> np.ndarray:
        """The point's entries at `index`."""
        return _gathered(x, index, self._scale)

    def step(self, x: np.ndarray, index: np.ndarray | slice, grad: np.ndarray, shrink: float, n_samples: int) -> None:
        """One step, and its share of the mean."""
        state = self.state
        if "squares" in state:
            state["samples"] += n_samples
            self._shrink = shrink
            _step_kernels.scaled_step(
                x, self._rest, state["squares"], state["last"], _positions(x, index), grad,
                state["rate"], shrink, self._ahead, state["samples"], n_samples,
            )  # fmt: skip
        else:
            length = state["rate"] / (1.0 + state["rate"] * shrink * state["t"])
            self._shrink_all(x, max(0.0, 1.0 - length * shrink))
            length /= self._scale
            _step_kernels.averaged_step(x, self._rest, _positions(x, index), grad, length, self._ahead * length)
        state["t"] += 1
        share = (self.MEMORY + 1.0) / (self.MEMORY + state["t"])
        if state["t"] == 1:
            self._kept, self._ahead = 1.0, self._scale
            self._rest[:] = 0.0
            return
        self._kept *= 1.0 - share
        self._ahead += share * self._scale / self._kept
        if self._kept < _SMALL:
            self.settle(x)

    def settle(self, x: np.ndarray) -> None:
        """Make `x` the point itself, and remember the mean."""
        state = self.state
        if "squares" in state:
            _step_kernels.scaled_prior(
                x, self._rest, state["squares"], state["last"],
                state["rate"], self._shrink, self._ahead, state["samples"],
            )  # fmt: skip
        if state["t"]:
            mean = self._rest
            mean += self._ahead * x
            mean *= self._kept
            state["mean"] = mean
        if self._scale != 1.0:
            x *= self._scale
        self._open(x)

    def answer(self, x: np.ndarray) -> np.ndarray:
        """The mean, once there is one."""
        return self.state.get("mean", x)

    @staticmethod
    def _fresh(n: int) -> dict[str, Any]:
        """What steps of a length for each weight need."""
        return {"squares": np.zeros(n), "last": np.zeros(n), "samples": 0}

    def _open(self, x: np.ndarray) -> None:
        # A copy, so that what is remembered stays a mean if a pass breaks off.
        self._rest = self.state["mean"].copy() if "mean" in self.state else np.zeros(len(x))
        self._scale, self._kept, self._ahead, self._shrink = 1.0, 1.0, 0.0, 0.0

    def _shrink_all(self, x: np.ndarray, factor: float) -> None:
        """Multiply the point by `factor`."""
        if self._scale * factor < _SMALL:
            self.settle(x)
            x *= factor
        else:
            self._scale *= factor

    def _calibrated(self, problem: Sampled, x: np.ndarray, rng: np.random.RandomState) -> float:
        """The power of two whose mean point has the least loss on other samples.

        Two passes over some samples: with large batches the first steps swing, and one pass would say too little about
        those that follow.
        """
        order = rng.permutation(problem.n_samples)
        n = min(self.TRIED, max(1, 2 * len(order) // 3))
        tried, judging = order[:n], np.sort(order[n : n + self.JUDGING])
        batches = [problem.draw(np.sort(tried[k : k + self.batch_size])) for k in range(0, n, self.batch_size)]
        judge = problem.draw(judging if len(judging) else tried)
        trial, rule = x.copy(), AveragedSGD(1.0, self.batch_size)

        def loss(exponent: int) -> float:
            rule.state = {"t": 0, "rate": 2.0**exponent, **self._fresh(len(x))}
            trial[:] = x
            rule._open(trial)
            with np.errstate(over="ignore", invalid="ignore"):
                for k, batch in enumerate([*batches, *batches]):
                    _, weight, grad = problem.evaluate(rule.values(trial, batch.index), batch)
                    grad /= weight
                    k = k % len(batches) * self.batch_size
                    rule.step(trial, batch.index, grad, 0.0, min(self.batch_size, n - k))
                found = rule._kept * (rule._ahead * trial[judge.index] + rule._rest[judge.index])
                return problem.evaluate(found, judge)[0] if np.isfinite(found).all() else np.inf

        # Features of any scale: up from a half while it helps, else down until it no longer does.
        losses = {-1: loss(-1)}
        best = at = -1
        direction = 1
        while abs(at) < 200:
            at += direction
            losses[at] = loss(at)
            if losses[at] < losses[best] or (direction < 0 and not np.isfinite(losses[best])):
                best = at
            elif direction > 0 and best == -1:
                direction, at = -1, -1
            else:
                break
        return 2.0**best


class Adam:
    """Adam (Kingma and Ba 2015), with the usual constants.

    Parameters
    ----------
    learning_rate : float or "auto"
        "auto": 0.03, falling with the square root of the passes.
    batch_size : int

    Notes
    -----
    Its moments move every weight at every step, touched or not.
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
        self._grad = np.zeros(len(x))

    def values(self, x: np.ndarray, index: np.ndarray | slice) -> np.ndarray:
        """The point's entries at `index`."""
        return _gathered(x, index)

    def step(self, x: np.ndarray, index: np.ndarray | slice, grad: np.ndarray, shrink: float, n_samples: int) -> None:
        """One step."""
        state = self.state
        whole = self._grad
        whole[index] = grad
        state["t"] += 1
        t, rate = state["t"], self.learning_rate
        if rate == "auto":
            rate = 0.03 / np.sqrt(1.0 + (t - 1) // state["a_pass"])
        _step_kernels.adam_step(
            x, state["first"], state["second"], whole, shrink, rate / (1.0 - 0.9**t), 1.0 - 0.999**t
        )
        whole[index] = 0.0

    def settle(self, x: np.ndarray) -> None:
        """Nothing to do."""

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

    def values(self, x: np.ndarray, index: np.ndarray | slice) -> np.ndarray:
        """The point's entries at `index`."""
        return _gathered(x, index)

    def step(self, x: np.ndarray, index: np.ndarray | slice, grad: np.ndarray, shrink: float, n_samples: int) -> None:
        """One step of the active weights."""
        state = self.state
        state["t"] += n_samples
        _step_kernels.adaptive_step(
            x, state["length"], state["count"], state["last"], _positions(x, index), grad,
            shrink, state["t"], n_samples,
        )  # fmt: skip
        if state["t"] % state["period"] < n_samples:
            _step_kernels.slow_down(state["length"], state["count"], state["period"], self.slow, self.fast)

    def settle(self, x: np.ndarray) -> None:
        """Nothing to do."""

    def answer(self, x: np.ndarray) -> np.ndarray:
        """The last point."""
        return x


#: Below this the numbers that stand for all weights are multiplied out.
_SMALL = 1e-100


def _positions(x: np.ndarray, index: np.ndarray | slice) -> np.ndarray:
    """`index` as positions."""
    return np.arange(len(x))[index] if isinstance(index, slice) else index


def _gathered(x: np.ndarray, index: np.ndarray | slice, factor: float = 1.0) -> np.ndarray:
    """``factor * x[index]``"""
    if isinstance(index, slice):
        return factor * x[index]
    out = np.empty(len(index))
    _step_kernels.gather(x, index, factor, out)
    return out


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
            batch = problem.draw(np.sort(order[k : k + stepper.batch_size]))
            value, weight, grad = problem.evaluate(stepper.values(x, batch.index), batch)
            loss += value
            grad /= weight
            grad_norm = max(grad_norm, float(grad.max(initial=0.0)), -float(grad.min(initial=0.0)))
            stepper.step(x, batch.index, grad, decay, min(stepper.batch_size, len(order) - k))
        stepper.settle(x)
        objective = loss + 0.5 * problem.precision * float(x @ x)
        if not np.isfinite(objective) or not np.isfinite(x).all():
            raise ValueError(
                f"training diverged: the objective is {objective} in pass {n_pass + 1}; lower learning_rate, or "
                "scale the features down"
            )
        enough = watch is not None and watch(stepper.answer(x))
        stopped = report.iteration(objective, grad_norm)
        if enough:
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
