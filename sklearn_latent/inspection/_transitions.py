# SPDX-License-Identifier: BSD-3-Clause
"""Weights of moves between latent states, as a picture."""

from __future__ import annotations

import numpy as np

from ._fitted import FittedTagger
from ._plotting import DIVERGING, pyplot

__all__ = ["TransitionDisplay"]

#: More cells than this have no number in them.
_MOST_NUMBERS = 144
#: Of more labels than this only some are named.
_MOST_NAMES = 60


class TransitionDisplay:
    """Transition weights as a matrix whose rows and columns are latent states, grouped by label.

    Parameters
    ----------
    weights : ndarray of float of shape (n_states, n_states)
        Log-score of going from row to column, NaN where that is forbidden.
    start, end : ndarray of float of shape (n_states,)
        Log-scores of beginning and ending a sequence with a state, NaN where that is forbidden.
    state_labels : ndarray of int of shape (n_states,)
        Index into `classes` of each state's label; ascending.
    classes : sequence of labels

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes

    See Also
    --------
    transitions_table : The same weights as a data frame.
    """

    def __init__(self, weights, start, end, state_labels, classes):
        self.weights = weights
        self.start = start
        self.end = end
        self.state_labels = state_labels
        self.classes = classes

    @classmethod
    def from_estimator(cls, estimator, *, ax=None) -> TransitionDisplay:
        """Draw the transition weights of a fitted tagger.

        Parameters
        ----------
        estimator : fitted LatentCRFTagger or SPNCRFTagger, or a Pipeline that ends in one
            Of `SPNCRFTagger` the weights of pairs of labels; those of longer n-grams are in `transitions_table`.
        ax : matplotlib Axes, default=None
            None: a new figure.

        Returns
        -------
        TransitionDisplay

        Raises
        ------
        ValueError
            If the model is normalised locally: it has no such weights.
        """
        fitted = FittedTagger(estimator)
        tagger, labels = fitted.tagger, fitted.state_labels
        if not hasattr(tagger._model, "transitions"):
            raise ValueError("a locally normalised model has no transition weights")
        moves, first, last = tagger._model.allowed()
        return cls(
            np.where(moves[np.ix_(labels, labels)], tagger.transition_coef_, np.nan),
            np.where(first[labels], tagger.start_coef_, np.nan),
            np.where(last[labels], tagger.end_coef_, np.nan),
            labels,
            fitted.classes,
        ).plot(ax=ax)

    def plot(self, *, ax=None) -> TransitionDisplay:
        """Draw the matrix, with the start as its first row and the end as its last column.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None: a new figure.

        Returns
        -------
        TransitionDisplay
        """
        plt = pyplot()
        n = len(self.weights)
        table = np.full((n + 1, n + 1), np.nan)
        table[0, :n], table[1:, n], table[1:, :n] = self.start, self.end, self.weights
        if ax is None:
            side = min(14.0, 2.2 + 0.42 * (n + 1))
            _, ax = plt.subplots(figsize=(side + 1.2, side), layout="constrained")
        most = max(float(np.nanmax(np.abs(table), initial=0.0)), 1e-12)
        ax.set_facecolor("0.85")
        image = ax.pcolormesh(
            np.ma.masked_invalid(table),
            cmap=DIVERGING,
            vmin=-most,
            vmax=most,
            edgecolors="white",
            linewidth=0.5 if n <= _MOST_NAMES else 0.0,
        )
        ax.invert_yaxis()
        ax.set_aspect("equal")
        if table.size <= _MOST_NUMBERS:
            for (row, column), value in np.ndenumerate(table):
                if np.isfinite(value):
                    color = "white" if abs(value) > 0.65 * most else "black"
                    ax.text(column + 0.5, row + 0.5, f"{value:.1f}", ha="center", va="center", fontsize=8, color=color)
        self._name_labels(ax)
        states = " (latent states grouped by label)" if n > len(self.classes) else ""
        ax.set_xlabel(f"to{states}")
        ax.set_ylabel(f"from{states}")
        hint = "; grey: forbidden" if np.isnan(table[1:, :n]).any() else ""
        ax.figure.colorbar(image, ax=ax, label=f"weight (natural log{hint})", shrink=0.8)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _name_labels(self, ax) -> None:
        """Lines between the labels and their names; of many labels some names and no lines."""
        n, counts = len(self.weights), np.bincount(self.state_labels, minlength=len(self.classes))
        bounds, step = np.cumsum(counts), -(-len(counts) // _MOST_NAMES)
        for edge in (0, *bounds) if step == 1 else (0, n):
            ax.axhline(edge + 1, color="black", linewidth=1.0)
            ax.axvline(edge, color="black", linewidth=1.0)
        size = 9 if n <= 24 else 7
        middle, names = (bounds - counts / 2)[::step], [str(label) for label in self.classes[::step]]
        turn = 90 if max(map(len, names)) > 2 else 0
        ax.set_yticks([0.5, *(middle + 1)], ["start", *names], fontsize=size)
        ax.set_xticks([*middle, n + 0.5], [*names, "end"], fontsize=size, rotation=turn)
        ax.tick_params(length=0)
