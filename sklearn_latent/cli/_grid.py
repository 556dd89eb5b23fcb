# SPDX-License-Identifier: BSD-3-Clause
"""Choosing parameters: every combination on the same splits, and the table of their scores."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

from ._progress import terminal_bar

__all__ = ["Trial", "cross_validation_splits", "search", "trial_table"]


@dataclass(frozen=True)
class Trial:
    """One combination: its parameters, its score on each split in [0, 1], and the seconds that took."""

    params: dict
    scores: list[float]
    seconds: float

    @property
    def mean(self) -> float:
        """Mean score."""
        return math.fsum(self.scores) / len(self.scores)

    @property
    def deviation(self) -> float:
        """Standard deviation of the scores."""
        return math.sqrt(math.fsum((score - self.mean) ** 2 for score in self.scores) / len(self.scores))


def cross_validation_splits(n_folds: int, documents: Sequence[int]) -> list:
    """Folds of whole documents if there are enough, else of neighbouring sequences.

    Raises
    ------
    ValueError
        If there are fewer sequences than folds.
    """
    from sklearn.model_selection import GroupKFold, KFold

    order = range(len(documents))
    if len(set(documents)) >= n_folds:
        return list(GroupKFold(n_folds).split(order, groups=documents))
    return list(KFold(n_folds).split(order))


def search(tagger, X: list, y, grid: dict[str, list], splits: list, scoring, trials: list[Trial], quiet: bool) -> None:
    """Score each combination of `grid`; `trials` gets them one by one, so that none is lost if it is interrupted."""
    from sklearn.base import clone
    from sklearn.model_selection import ParameterGrid, cross_val_score

    n_fits = len(ParameterGrid(grid)) * len(splits)
    with terminal_bar(total=n_fits, unit="fit", disable=quiet or None) as bar:  # None: only on a terminal
        for params in ParameterGrid(grid):
            began, scores = time.perf_counter(), []
            for split in splits:
                model = clone(tagger).set_params(**params)
                scores += cross_val_score(model, X, y, cv=[split], scoring=scoring, error_score="raise").tolist()
                bar.update()
            trials.append(Trial(params, scores, time.perf_counter() - began))


def trial_table(trials: list[Trial], title: str) -> str:
    """A line a combination, a star before the best."""
    names = list(trials[0].params)
    best = max(trials, key=lambda trial: trial.mean)
    head = [*names, title, "sd", "seconds"]
    rows = [
        [
            *(str(trial.params[name]) for name in names),
            f"{100 * trial.mean:.2f}", f"{100 * trial.deviation:.2f}", f"{trial.seconds:.1f}",
        ]
        for trial in trials
    ]  # fmt: skip
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    marks = ["  ", *("* " if trial is best else "  " for trial in trials)]
    lines = [
        mark + "  ".join(f"{cell:>{width}}" for cell, width in zip(row, widths, strict=True))
        for mark, row in zip(marks, [head, *rows], strict=True)
    ]
    return "\n".join(lines) + "\n"
