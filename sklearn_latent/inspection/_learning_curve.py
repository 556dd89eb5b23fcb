# SPDX-License-Identifier: BSD-3-Clause
"""The objective over the iterations of training."""

from __future__ import annotations

import numpy as np

from ._fitted import FittedTagger
from ._plotting import COLORS, pyplot

__all__ = ["LearningCurveDisplay"]

#: Objectives that fell by more than this factor are drawn on a logarithmic axis.
_MANY_FOLD = 20.0


class LearningCurveDisplay:
    """The training objective after each iteration, and the held-out likelihood where there was one.

    Not to be confused with scikit-learn's display of the same name, which draws scores against the size of the training
    set; a tagger can be given to that one too.

    Parameters
    ----------
    objective : array-like of float of shape (n_iterations,)
        ``-sum_i w_i log P(y_i | x_i) + ||theta||^2 / (2 sigma^2)``, in nats.
    validation_scores : array-like of float of shape (n_iterations,), default=None
        Mean log-likelihood a held-out token, in nats.
    solver : str, default=None
    converged : bool, default=None

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
    validation_ax_ : matplotlib Axes or None
        The axis on the right, of `validation_scores`.
    """

    def __init__(self, objective, validation_scores=None, *, solver=None, converged=None):
        self.objective = objective
        self.validation_scores = validation_scores
        self.solver = solver
        self.converged = converged

    @classmethod
    def from_estimator(cls, estimator, *, ax=None) -> LearningCurveDisplay:
        """Draw the ``loss_curve_`` of a fitted tagger.

        Parameters
        ----------
        estimator : fitted LatentCRFTagger or SPNCRFTagger, or a Pipeline that ends in one
        ax : matplotlib Axes, default=None
            None: a new figure.

        Returns
        -------
        LearningCurveDisplay

        Raises
        ------
        ValueError
            If the tagger was made from weights or trained for no iteration.
        """
        tagger = FittedTagger(estimator).tagger
        if not tagger.loss_curve_:
            raise ValueError("loss_curve_ is empty: the tagger was not trained, or for no iteration")
        validation = getattr(tagger, "validation_scores_", None)
        return cls(
            np.array(tagger.loss_curve_),
            None if not validation else np.array(validation),
            solver=tagger.solver,
            converged=bool(tagger.converged_),
        ).plot(ax=ax)

    def plot(self, *, ax=None) -> LearningCurveDisplay:
        """Draw the curve.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None: a new figure.

        Returns
        -------
        LearningCurveDisplay
        """
        from matplotlib.ticker import MaxNLocator

        plt = pyplot()
        if ax is None:
            _, ax = plt.subplots(figsize=(6.0, 4.0), layout="constrained")
        iterations = np.arange(1, len(self.objective) + 1)
        marker = "o" if len(iterations) <= 30 else None
        lines = ax.plot(iterations, self.objective, color=COLORS[0], marker=marker, markersize=4, label="objective")
        low, high = float(np.min(self.objective)), float(np.max(self.objective))
        if low > 0 and high / low > _MANY_FOLD:
            ax.set_yscale("log")
        ax.set_xlabel("iteration" if self.solver in (None, "lbfgs") else "pass over the corpus")
        ax.set_ylabel("objective (nats)")
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.grid(alpha=0.3)
        self.validation_ax_ = None
        if self.validation_scores is not None:
            right = self.validation_ax_ = ax.twinx()
            passes = np.arange(1, len(self.validation_scores) + 1)
            lines += right.plot(passes, self.validation_scores, color=COLORS[1], linestyle="--", label="held-out")
            right.set_ylabel("log-likelihood a held-out token (nats)")
            best = int(np.argmax(self.validation_scores))
            lines += right.plot(passes[best], self.validation_scores[best], "D", color=COLORS[1], label="weights kept")
            ax.legend(handles=lines, loc="center right")
        if self.solver is not None:
            ended = {True: ", converged", False: ", not converged", None: ""}[self.converged]
            ax.set_title(f"{self.solver}{ended}", fontsize=10, loc="left")
        self.ax_, self.figure_ = ax, ax.figure
        return self
