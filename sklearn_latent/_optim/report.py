# SPDX-License-Identifier: BSD-3-Clause
"""What a solver tells about its progress, and what it returns."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

__all__ = ["IterationInfo", "Report", "Result", "Watch"]


@dataclass(frozen=True)
class IterationInfo:
    """One finished iteration.

    Attributes
    ----------
    n_iter : int
        Iterations done.
    objective : float
        Objective after it.
    grad_norm : float
        Largest absolute entry of the gradient.
    seconds : float
        Since training began.
    validation_score : float or None
        Score of the held-out part, with early stopping.
    """

    n_iter: int
    objective: float
    grad_norm: float
    seconds: float
    validation_score: float | None = None


@dataclass(frozen=True)
class Result:
    """Where a solver ended."""

    x: np.ndarray
    objective: float
    grad_norm: float
    n_iter: int
    converged: bool
    loss_curve: list[float]
    message: str
    stopped: bool = False  # by the callback


@dataclass
class Report:
    """Keeps the history of the objective, prints progress if asked, and asks the callback whether to go on.

    Parameters
    ----------
    verbose : int
        0: nothing is printed; 1: about twenty lines; 2 or more: every iteration.
    callback : callable or None
        Called with an `IterationInfo`; True stops.
    max_iter : int
    validation_score : float or None
        Of the iteration to come, with early stopping.
    """

    verbose: int = 0
    callback: Callable[[IterationInfo], bool | None] | None = None
    max_iter: int = 0
    curve: list[float] = field(default_factory=list)
    began: float = field(default_factory=time.perf_counter)
    validation_score: float | None = None

    def iteration(self, objective: float, grad_norm: float) -> bool:
        """Record an iteration; True means stop."""
        self.curve.append(float(objective))
        seconds = time.perf_counter() - self.began
        info = IterationInfo(len(self.curve), float(objective), float(grad_norm), seconds, self.validation_score)
        n = info.n_iter
        if self.verbose >= 2 or (self.verbose == 1 and (n <= 5 or n % max(1, self.max_iter // 20) == 0)):
            judged = "" if self.validation_score is None else f"validation score {self.validation_score:.6g}  "
            self.line(
                f"iteration {n:4d}  objective {info.objective:.6g}  {judged}largest gradient {info.grad_norm:.3g}  "
                f"{info.seconds:.1f} s"
            )
        answer = None if self.callback is None else self.callback(info)
        # Not any truthy object, but also the True of a comparison of numpy numbers.
        return isinstance(answer, (bool, np.bool_)) and bool(answer)

    def line(self, text: str) -> None:
        """Print a line of progress; but for the command, the package prints nowhere else."""
        if self.verbose:
            print(text, flush=True)


class Watch:
    """Early stopping: scores each iteration's point, keeps the best, and says when to stop.

    Parameters
    ----------
    score : callable
        Takes a point and returns a number, larger is better.
    patience : int
        Iterations without a better score after which to stop.
    report : Report

    Attributes
    ----------
    scores : list of float
        One an iteration.
    best : ndarray or None
        Copy of the point of the best score.
    best_iteration : int
        Counted from zero.
    """

    def __init__(self, score: Callable[[np.ndarray], float], patience: int, report: Report):
        self.score = score
        self.patience = patience
        self.report = report
        self.scores: list[float] = []
        self.best: np.ndarray | None = None
        self.best_iteration = -1

    def __call__(self, x: np.ndarray) -> bool:
        """Look at the point of an iteration before it is reported; True means stop."""
        score = float(self.score(x))
        self.scores.append(score)
        if self.best is None or score > self.scores[self.best_iteration]:
            self.best, self.best_iteration = np.array(x), len(self.scores) - 1
        self.report.validation_score = score
        return len(self.scores) - 1 - self.best_iteration >= self.patience
